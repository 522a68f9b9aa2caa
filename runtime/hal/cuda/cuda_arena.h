//===- cuda_arena.h - Scratch memory of a stream ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_RUNTIME_HAL_CUDA_CUDA_ARENA_H
#define XC_RUNTIME_HAL_CUDA_CUDA_ARENA_H

#include "runtime/hal/cuda/cuda_device.h"

namespace xc::cuda {

/// Reserves addresses for all of the device's memory and maps physical memory behind what is in
/// use already as the need grows, so that the base never moves. A device without virtual memory
/// management gets one allocation, which cannot grow. Not thread-safe.
class CudaArena {
public:
  explicit CudaArena(CudaDevice &device) : device(device), handles(device.allocator) {}
  ~CudaArena() { release(); }

  Status grow(uint64_t size);
  /// Gives the physical memory back; the base stays. Nothing in flight uses it.
  void trim();

  uint64_t base() const { return address; }
  uint64_t size() const { return committed; }

private:
  Status growWithoutMapping(uint64_t size);
  Status reserve();
  Status map(uint64_t bytes);
  void release();

  struct Piece {
    CUmemGenericAllocationHandle handle;
    uint64_t bytes;
  };
  CudaDevice &device;
  Vector<Piece> handles;
  Ref<hal::Memory> plain; ///< without virtual memory management
  CUdeviceptr address = 0;
  uint64_t reserved = 0, committed = 0, granularity = 0;
};

} // namespace xc::cuda

#endif // XC_RUNTIME_HAL_CUDA_CUDA_ARENA_H
