//===- cuda_device.h - One GPU ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_RUNTIME_HAL_CUDA_CUDA_DEVICE_H
#define XC_RUNTIME_HAL_CUDA_CUDA_DEVICE_H

#include "runtime/hal/cuda/cuda_callbacks.h"
#include "runtime/hal/cuda/cuda_memory.h"
#include "runtime/hal/device.h"

namespace xc::cuda {

/// How plans are launched. Auto takes a graph where a plan has several commands.
enum class LaunchKind { Auto, Graph, Stream };

/// What the device can do, read once.
struct Capabilities {
  int computeCapability = 0; ///< 90 is 9.0
  bool hasPools = false;
  bool hasVirtualMemory = false;
  /// Graphs may launch a kernel before the one in front of it has ended.
  bool hasProgrammaticEdges = false;
};

class CudaStream;

/// Works in the device's primary context, which it shares with whatever else in the process uses
/// it, or in a context of the caller's. After a sticky error (an illegal address in a kernel, say)
/// the device is lost: every later call says so, and only releasing things still works.
class CudaDevice final : public hal::Device {
public:
  static Status create(const hal::DeviceOptions &options, const Symbols &cu, int ordinal,
                       LaunchKind launchKind, Ref<hal::Device> *out);

  Status checkCode(const fb::Executable &code, uint32_t *score) const override;
  Status loadExecutable(const fb::Executable &code, Span<const uint8_t> image,
                        Ref<hal::Executable> *out) override;
  Status createRecording(const hal::CommandList &list, const hal::RecordingOptions &options,
                         Ref<hal::Recording> *out) override;
  Status allocate(uint64_t size, Ref<hal::Memory> *out) override;
  /// Without a second try after a trim, for callers that have a stream locked.
  Status allocateOnce(uint64_t size, Ref<hal::Memory> *out);
  Status import(void *data, uint64_t size, Ref<hal::Memory> *out) override;
  bool canImportHostMemory() const override { return false; }
  Status read(hal::Memory &source, uint64_t offset, void *data, uint64_t size) override;
  Status write(hal::Memory &target, uint64_t offset, const void *data, uint64_t size) override;
  Status write(hal::Memory &target, uint64_t offset, hal::UploadSource &source,
               uint64_t size) override;
  Status trim() override;
  Status createStream(Ref<hal::Stream> *out) override;
  Status importStream(void *native, Ref<hal::Stream> *out) override;
  Status createEvent(Ref<hal::Event> *out) override;
  Status synchronize() override;

  /// A status that names the call, or success. Remembers sticky errors.
  Status check(CUresult result, const char *call) const;
  /// DEVICE_LOST once a sticky error has been seen.
  Status checkAlive() const;

  /// For a status that tells of \p asked bytes: what the driver has left, and what is held beside
  /// the \p charged bytes that the counter has for them already.
  MemoryBytes memoryBytes(uint64_t asked, uint64_t charged = 0) const;

  bool isLost() const { return lostResult.load(std::memory_order_relaxed) != 0; }

  /// Gives back what allocate took; nothing in flight uses it.
  void freeMemory(uint64_t address, uint64_t room);
  /// A kernel that fills bytes with a pattern of any size and alignment.
  Status getFillKernel(CUfunction *out);
  /// Sets the condition of a graph's node; see condition_kernel.h.
  Status getConditionKernel(CUfunction *out);
  /// Whether a graph can hold ifs and whiles. Drivers have known conditional nodes since 12.3; the
  /// earlier ones refuse empty nodes and changed fills in their bodies, or hang on empty bodies.
  bool hasConditionalNodes() const {
    return cu.driverVersion >= 12080 && cu.cuGraphAddNode && cu.cuGraphConditionalHandleCreate;
  }
  /// Whether they can go into a graph that somebody captures.
  bool canCaptureConditionalNodes() const {
    return hasConditionalNodes() && cu.cuStreamGetCaptureInfo &&
           cu.cuStreamUpdateCaptureDependencies;
  }

  /// The streams that synchronize and trim go over.
  void remember(CudaStream &stream);
  void forget(CudaStream &stream);
  /// Makes the queue of callbacks, once.
  Status startCallbacks();
  CallbackQueue *callbackQueue() const { return callbacks.get(); }

  const Symbols &cu;
  Capabilities capabilities;
  const LaunchKind launchKind;
  CUdevice device = 0;
  CUcontext context = nullptr;

private:
  friend class xc::HostAllocator;
  CudaDevice(const hal::DeviceOptions &options, const Symbols &cu, LaunchKind launchKind,
             uint64_t memoryLimit)
      : hal::Device(options, memoryLimit), cu(cu), launchKind(launchKind),
        foreignContext(static_cast<CUcontext>(options.nativeContext)), memory(*this),
        transfer(*this) {}
  ~CudaDevice() override = default;
  void destroy() override;
  Status describe(int ordinal);
  Status initialise();
  template <typename Function> Status forEachStream(Function function);

  Status findOwner(CUdeviceptr address, int *ordinal) const;
  Status enterForeignContext();
  Status retainPrimaryContext();

  const CUcontext foreignContext; ///< or null
  CudaAllocator memory;
  CudaTransfer transfer;
  Status getKernel(const char *image, const char *name, CUmodule *module, CUfunction *function);

  CUmodule fillModule = nullptr, conditionModule = nullptr;
  CUfunction fillFunction = nullptr, conditionFunction = nullptr;
  Mutex fillMutex, listMutex, callbackMutex;
  CudaStream *streams = nullptr;
  Ref<CallbackQueue> callbacks;
  mutable std::atomic<int> lostResult{0}; ///< the sticky CUresult, once seen
  mutable std::atomic<const char *> lostCall{nullptr};
};

/// Makes the device's context current on this thread for as long as the scope lasts, and tells the
/// driver that what is done there does not belong to a capture of somebody's streams, though he
/// captures in the mode that forbids allocating and waiting to every thread.
class ContextScope {
public:
  /// Whoever releases something has nobody to tell a failure, and tries again.
  enum Purpose { kWork, kRelease };
  explicit ContextScope(const CudaDevice &device, Purpose purpose = kWork);
  ContextScope(const ContextScope &) = delete;
  ~ContextScope();
  Status status() const { return device.check(result, call); }

private:
  const CudaDevice &device;
  CUresult result = CUDA_SUCCESS;
  const char *call = "cuCtxPushCurrent";
  CUstreamCaptureMode captureMode = CU_STREAM_CAPTURE_MODE_RELAXED; ///< outside: the thread's own
  bool isPushed = false, isRelaxed = false;
};

/// Calls the driver and turns the result into a status: XCR_CUDA_CALL(device, cuMemAlloc, &p, n).
#define XCR_CUDA_CALL(device, call, ...) (device).check((device).cu.call(__VA_ARGS__), #call)

} // namespace xc::cuda

#endif // XC_RUNTIME_HAL_CUDA_CUDA_DEVICE_H
