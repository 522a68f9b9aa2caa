//===- cuda_memory.h - Buffers and transfers of a GPU ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_RUNTIME_HAL_CUDA_CUDA_MEMORY_H
#define XC_RUNTIME_HAL_CUDA_CUDA_MEMORY_H

#include "runtime/base/threads.h"
#include "runtime/base/vector.h"
#include "runtime/hal/cuda/cuda_symbols.h"
#include "runtime/hal/upload_source.h"

namespace xc::cuda {

class CudaDevice;

/// Where buffers come from: a stream-ordered pool of the device's own where the driver has pools,
/// else cuMemAlloc, with what was freed kept for the next allocation of about that size.
/// Thread-safe. The device's context is current in all of its functions.
class CudaAllocator {
public:
  explicit CudaAllocator(CudaDevice &device);

  Status initialise();
  /// For the end of the device; nothing is allocated any more.
  void release();

  /// \p charged: what the device's counter has for it; \p room: what was taken, for free.
  Status allocate(uint64_t bytes, uint64_t charged, CUdeviceptr *address, uint64_t *room);
  /// Nothing in flight uses it.
  void free(CUdeviceptr address, uint64_t room);
  /// Gives the driver what nobody uses.
  Status trim();

private:
  struct Block {
    CUdeviceptr address;
    uint64_t bytes;
  };
  CUresult allocateRaw(uint64_t bytes, CUdeviceptr *address, const char **call);
  bool takeCached(uint64_t bytes, Block *out);
  void dropCached();

  CudaDevice &device;
  CUmemoryPool pool = nullptr;
  CUstream stream = nullptr; ///< allocations and frees are ordered on it
  Mutex mutex;
  Vector<Block> cached; ///< without a pool
};

/// Blocking copies between host and device, on a stream of their own. Large uploads go through a
/// ring of pinned memory, so that reading the source overlaps the transfer. Thread-safe. The
/// device's context is current in all of its functions.
class CudaTransfer {
public:
  explicit CudaTransfer(CudaDevice &device) : device(device) {}

  Status initialise();
  void release();
  Status read(CUdeviceptr source, void *data, uint64_t bytes);
  Status write(CUdeviceptr target, const void *data, uint64_t bytes);
  /// The source reads into the pinned memory: there is no other copy.
  Status write(CUdeviceptr target, hal::UploadSource &source, uint64_t bytes);

private:
  struct Slot {
    void *memory = nullptr;
    CUevent event = nullptr;
  };
  static constexpr unsigned kSlots = 4;
  bool prepareRing();
  Status writeThroughRing(CUdeviceptr target, hal::UploadSource &source, uint64_t bytes);
  Status finish(Status status);

  CudaDevice &device;
  Mutex mutex;
  CUstream stream = nullptr;
  Slot slots[kSlots];
};

} // namespace xc::cuda

#endif // XC_RUNTIME_HAL_CUDA_CUDA_MEMORY_H
