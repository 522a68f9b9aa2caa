//===- cpu_device.h - The processor as a device --------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_RUNTIME_HAL_CPU_CPU_DEVICE_H
#define XC_RUNTIME_HAL_CPU_CPU_DEVICE_H

#include "runtime/hal/cpu/thread_pool.h"
#include "runtime/hal/device.h"

namespace xc::cpu {

class CpuStream;

/// Device memory is host memory; kernels run on a pool of threads.
class CpuDevice final : public hal::Device {
public:
  /// \p threads: those that run kernels, the caller's included; at least 1.
  static Status create(const hal::DeviceOptions &options, uint32_t threads, Ref<hal::Device> *out);

  Status checkCode(const fb::Executable &code, uint32_t *score) const override;
  Status loadExecutable(const fb::Executable &code, Span<const uint8_t> image,
                        Ref<hal::Executable> *out) override;
  Status createRecording(const hal::CommandList &list, const hal::RecordingOptions &options,
                         Ref<hal::Recording> *out) override;
  Status allocate(uint64_t size, Ref<hal::Memory> *out) override;
  Status import(void *data, uint64_t size, Ref<hal::Memory> *out) override;
  bool canImportHostMemory() const override { return true; }
  Status read(hal::Memory &source, uint64_t offset, void *data, uint64_t size) override;
  Status write(hal::Memory &target, uint64_t offset, const void *data, uint64_t size) override;
  Status write(hal::Memory &target, uint64_t offset, hal::UploadSource &source,
               uint64_t size) override;
  Status trim() override;
  Status createStream(Ref<hal::Stream> *out) override;
  Status createEvent(Ref<hal::Event> *out) override;
  Status synchronize() override;

  /// A stream is about to go.
  void forget(CpuStream &stream);

private:
  friend class xc::HostAllocator;
  CpuDevice(const hal::DeviceOptions &options, uint64_t memoryLimit)
      : hal::Device(options, memoryLimit), pool(options.allocator) {}
  void destroy() override;
  template <typename Function> Status forEachStream(Function function);

  ThreadPool pool;
  Mutex listMutex;
  CpuStream *streams = nullptr; ///< every one there is, under listMutex
};

/// Bytes of memory that this process may use: the machine's, or what its
/// control group allows.
uint64_t hostMemoryBytes();

} // namespace xc::cpu

#endif // XC_RUNTIME_HAL_CPU_CPU_DEVICE_H
