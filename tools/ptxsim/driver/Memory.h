//===- Memory.h - Allocation, mapping, copies and fills --------*- C++ -*--===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PTXSIM_DRIVER_MEMORY_H
#define PTXSIM_DRIVER_MEMORY_H

#include "MemoryMap.h"
#include "cuda_abi/cuda_abi.h"
#include "ptxsim/ptxsim.h"

#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace xc::cudasim {

class Context;
class Device;
class Pool;

//===----------------------------------------------------------------------===//
// Allocations
//===----------------------------------------------------------------------===//

/// Allocates device memory of a kind that kernels may use at once.
CUresult allocateDevice(Context &context, RangeKind kind, uint64_t bytes, CUdeviceptr &pointer);

/// Hands out memory of `pool`; kernels may use it once `makeAccessible` ran, in
/// stream order.
CUresult allocateFromPool(Context &context, CUmemoryPool handle, const std::shared_ptr<Pool> &pool,
                          uint64_t bytes, Range &range);
void makeAccessible(const Range &range);

/// Makes a range that the memory map has given up unusable for kernels, and gives
/// its memory back.
void releaseRange(const Range &range);

/// The same two as operations of a stream: what uses the memory must come after the one
/// and before the other.
void runAllocation(Context &context, const Range &range);
void runFree(Context &context, const Range &range);

//===----------------------------------------------------------------------===//
// Tasks
//===----------------------------------------------------------------------===//

/// The task of an operation that is no kernel, after what the operation comes after.
ptxsim::Task beginTask(const char *name);
/// Notes that it touches the bytes, and reports a race with another task. |verb| says what
/// it does to them, if it neither reads nor writes.
bool noteTask(Context &context, const ptxsim::Task &task, Device *device, uint64_t address,
              uint64_t bytes, bool writes, const char *verb = nullptr);

/// Pinned host memory: `owned` is allocated here, else `pointer` is registered.
CUresult pinHost(Context &context, void *&pointer, uint64_t bytes, unsigned flags, bool owned);

//===----------------------------------------------------------------------===//
// Virtual memory
//===----------------------------------------------------------------------===//

/// Memory that cuMemCreate made; lives until its handle is released and its last
/// mapping is gone.
struct Physical {
  ~Physical();
  Device *device = nullptr;
  uint64_t bytes = 0;
  int fd = -1;
  /// Its bytes may hold values: it has been mapped before.
  bool used = false;
};

/// Reservations and mappings. Thread-safe.
class VirtualMemory {
public:
  static constexpr uint64_t kGranularity = uint64_t(2) << 20;

  CUresult reserve(uint64_t bytes, uint64_t alignment, CUdeviceptr &pointer);
  CUresult free(CUdeviceptr pointer, uint64_t bytes);
  CUresult map(CUdeviceptr pointer, uint64_t bytes, uint64_t offset,
               std::shared_ptr<Physical> physical);
  CUresult unmap(CUdeviceptr pointer, uint64_t bytes);
  CUresult setAccess(CUdeviceptr pointer, uint64_t bytes, unsigned device, CUmemAccess_flags flags);
  void totals(uint64_t &count, uint64_t &bytes);

private:
  struct Mapping {
    uint64_t bytes;
    std::shared_ptr<Physical> physical;
    bool accessible = false;
  };
  /// True if mappings cover [pointer, pointer + bytes) exactly.
  bool tiledLocked(CUdeviceptr pointer, uint64_t bytes);

  std::mutex mutex_;
  std::map<uint64_t, uint64_t> reservations_; // base -> bytes
  std::map<uint64_t, Mapping> mappings_;      // by base
};

//===----------------------------------------------------------------------===//
// Copies and fills
//===----------------------------------------------------------------------===//

/// A copy of `depth` slices of `height` rows of `width` bytes, addresses resolved.
struct Copy {
  uint64_t destination = 0, source = 0;
  uint64_t width = 0, height = 1, depth = 1;
  uint64_t destinationPitch = 0, destinationSlice = 0;
  uint64_t sourcePitch = 0, sourceSlice = 0;
  /// The devices the sides are on; null for host memory.
  Device *destinationDevice = nullptr, *sourceDevice = nullptr;
  /// Host memory that the driver knows nothing of.
  bool destinationPageable = false, sourcePageable = false;
  CUmemorytype destinationType = CU_MEMORYTYPE_UNIFIED;
  CUmemorytype sourceType = CU_MEMORYTYPE_UNIFIED;

  bool isEmpty() const { return !width || !height || !depth; }
};

/// Resolves the two sides of a plain copy. A side that is declared to be device
/// memory must lie in memory that the driver knows.
CUresult resolveCopy(uint64_t destination, CUmemorytype destinationType, uint64_t source,
                     CUmemorytype sourceType, uint64_t bytes, Copy &copy);
CUresult resolveCopy(const CUDA_MEMCPY3D &params, Copy &copy);
CUresult resolveCopy(const CUDA_MEMCPY2D &params, Copy &copy);

/// Carries the copy out. Memory that has gone since it was resolved ends
/// `context`.
void runCopy(Context &context, const Copy &copy);

/// A fill of `height` rows of `width` elements.
struct Fill {
  uint64_t destination = 0, pitch = 0;
  uint64_t width = 0, height = 1;
  unsigned value = 0, elementSize = 1;
  Device *device = nullptr; // null: pinned host memory
};

CUresult resolveFill(const CUDA_MEMSET_NODE_PARAMS &params, Fill &fill);
void runFill(Context &context, const Fill &fill);

} // namespace xc::cudasim

#endif // PTXSIM_DRIVER_MEMORY_H
