//===- cuda_stream.h - Streams of a GPU ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_RUNTIME_HAL_CUDA_CUDA_STREAM_H
#define XC_RUNTIME_HAL_CUDA_CUDA_STREAM_H

#include "runtime/hal/cuda/cuda_arena.h"

namespace xc::cuda {

/// The driver's stream, with what its work in flight needs. Objects are held in batches: a batch is
/// closed with an event, and dropped when the event is reached.
class CudaStream final : public hal::Stream {
public:
  static Status create(CudaDevice &device, Ref<hal::Stream> *out);

  Status launch(Ref<hal::Recording> recording, uint64_t arenaBytes, hal::LaunchMode mode) override;
  Status synchronize() override;
  Status query(bool *isDone) override;
  Status record(Ref<hal::Event> event) override;
  Status wait(Ref<hal::Event> event) override;
  Status addCallback(xcr_host_callback_t callback, void *userData) override;
  Status copy(Ref<hal::Memory> source, uint64_t sourceOffset, Ref<hal::Memory> target,
              uint64_t targetOffset, uint64_t size) override;
  Status fill(Ref<hal::Memory> target, uint64_t offset, uint64_t size, uint64_t pattern,
              uint32_t patternSize) override;
  Status read(Ref<hal::Memory> source, uint64_t offset, void *data, uint64_t size) override;
  Status write(Ref<hal::Memory> target, uint64_t offset, const void *data, uint64_t size) override;
  void releaseLater(RefCounted *object) override;
  Status reserveArena(uint64_t size, uint64_t *base) override;

private:
  friend class xc::HostAllocator;

  struct Batch {
    explicit Batch(const HostAllocator &allocator) : objects(allocator) {}
    CUevent event = nullptr;
    Vector<Ref<RefCounted>> objects;
  };
  /// A callback that has been given to the driver.
  struct Callback {
    CudaStream *stream;
    xcr_host_callback_t function;
    void *userData;
    std::atomic<bool> isDone{false};
    Callback *next;
  };

  explicit CudaStream(CudaDevice &device)
      : hal::Stream(device), cudaDevice(device), allocator(device.allocator), arena(device),
        open(device.allocator), closed(device.allocator), freeEvents(device.allocator) {}
  ~CudaStream() override = default;
  void destroy() override;

  Status hold(Ref<RefCounted> object);
  Status closeBatch();
  void dropReached();
  void dropAll();
  Status takeEvent(CUevent *out);
  Callback *takeEndedCallbacks(bool takeAll);
  void finishCallbacks(Callback *list, const Status &status);
  static void runCallback(void *data);

  CudaDevice &cudaDevice;
  const HostAllocator allocator;
  Mutex mutex;
  CUstream stream = nullptr;
  /// Runs callbacks, so that the driver's cost of one is not on the compute stream.
  CUstream callbackStream = nullptr;
  Callback *callbacks = nullptr;
  CudaArena arena;
  Batch open;
  Vector<Batch> closed;
  Vector<CUevent> freeEvents;
};

} // namespace xc::cuda

#endif // XC_RUNTIME_HAL_CUDA_CUDA_STREAM_H
