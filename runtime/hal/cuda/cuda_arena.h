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
/// use already as the need grows, so that the base never moves. On a device without virtual memory
/// management it is one allocation, and another one when it grows: who uses the old one holds it.
/// Not thread-safe.
class CudaArena {
public:
  explicit CudaArena(CudaDevice &device)
      : device(device), handles(device.allocator), pinned(device.allocator) {}
  ~CudaArena() { release(); }

  /// \p hasMoved: the base is another one; for the first allocation, too.
  Status grow(uint64_t size, bool *hasMoved);
  /// Gives the physical memory back; the base stays. Nothing in flight uses it.
  void trim();
  /// Maps again what trim has taken.
  Status restore(uint64_t size);
  /// A graph of somebody else's uses it: it stays for good.
  void pin() { isPinned = true; }
  /// What keeps the memory at the base, where that may move; else null.
  const Ref<hal::Memory> &holder() const { return plain; }

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
  Ref<hal::Memory> plain;          ///< without virtual memory management
  Vector<Ref<hal::Memory>> pinned; ///< earlier ones that graphs use
  bool isPinned = false;
  CUdeviceptr address = 0;
  uint64_t reserved = 0, committed = 0, granularity = 0;
};

} // namespace xc::cuda

#endif // XC_RUNTIME_HAL_CUDA_CUDA_ARENA_H
