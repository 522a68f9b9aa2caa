//===- cpu_arena.h - Scratch memory of a stream at a fixed address -------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_RUNTIME_HAL_CPU_CPU_ARENA_H
#define XC_RUNTIME_HAL_CPU_CPU_ARENA_H

#include "runtime/base/status.h"
#include "runtime/hal/memory.h"

namespace xc::cpu {

/// Reserves far more addresses than it will use and gets memory for them as
/// the need grows, so that the base never moves. Not thread-safe.
class CpuArena {
public:
  CpuArena(const HostAllocator &allocator, hal::MemoryCounter &counter)
      : allocator(allocator), counter(counter) {}
  ~CpuArena();

  /// OUT_OF_MEMORY past the device's limit or what the system gives.
  Status grow(uint64_t size);
  /// Gives the memory back; the base stays.
  void trim();

  uint64_t base() const { return reinterpret_cast<uint64_t>(memory); }
  uint64_t size() const { return committed; }

private:
  Status reserve(uint64_t size);

  const HostAllocator &allocator;
  hal::MemoryCounter &counter;
  char *memory = nullptr;
  uint64_t reserved = 0, committed = 0;
};

} // namespace xc::cpu

#endif // XC_RUNTIME_HAL_CPU_CPU_ARENA_H
