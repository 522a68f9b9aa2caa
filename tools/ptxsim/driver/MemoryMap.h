//===- MemoryMap.h - Every range of memory the driver knows ----*- C++ -*--===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PTXSIM_DRIVER_MEMORYMAP_H
#define PTXSIM_DRIVER_MEMORYMAP_H

#include "cuda_abi/cuda_abi.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <vector>

namespace xc::cudasim {

class Pool;

enum class RangeKind {
  Device,         // cuMemAlloc
  Managed,        // cuMemAllocManaged
  Pool,           // cuMemAllocAsync
  Mapping,        // cuMemMap
  ModuleVariable, // of a loaded module
  HostAlloc,      // cuMemHostAlloc
  HostRegistered, // cuMemHostRegister
};

/// A range of memory as the program sees it at the call: a range that is freed in
/// stream order is gone here when cuMemFreeAsync returns, while kernels that
/// were launched before may still use it (what kernels may use is the
/// simulator's Memory).
struct Range {
  uint64_t base = 0;
  uint64_t size = 0;
  RangeKind kind = RangeKind::Device;
  CUcontext context = nullptr;
  unsigned device = 0;
  unsigned flags = 0;          // host memory: as given
  CUmemoryPool pool = nullptr; // Pool: its handle, and the pool itself, which
  std::shared_ptr<Pool> owner; // lives until its last allocation is freed
  uint64_t id = 0;             // unique; set by insert
  bool readWrite = true;       // Mapping: cuMemSetAccess has allowed access

  bool isHost() const { return kind == RangeKind::HostAlloc || kind == RangeKind::HostRegistered; }
  uint64_t end() const { return base + size; }
};

/// Thread-safe.
class MemoryMap {
public:
  /// Returns the id that the range has got, or 0 if it overlaps another.
  uint64_t insert(Range range);
  /// Removes the range that starts at `base`; returns it.
  std::optional<Range> erase(uint64_t base);
  /// Changes the access of the mappings in [base, base + size).
  void setAccess(uint64_t base, uint64_t size, bool readWrite);
  /// The range that holds `address`.
  std::optional<Range> find(uint64_t address) const;
  /// True if [address, address + size) is covered without a gap by accessible
  /// ranges.
  bool covers(uint64_t address, uint64_t size) const;
  /// Every range, lowest first.
  std::vector<Range> all() const;
  void clear();

private:
  mutable std::shared_mutex mutex_;
  std::map<uint64_t, Range> ranges_;
  uint64_t nextId_ = 0;
};

} // namespace xc::cudasim

#endif // PTXSIM_DRIVER_MEMORYMAP_H
