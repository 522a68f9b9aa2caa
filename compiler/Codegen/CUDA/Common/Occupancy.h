//===- Occupancy.h - How many blocks of a kernel a multiprocessor holds ---===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_COMMON_OCCUPANCY_H
#define XC_CODEGEN_CUDA_COMMON_OCCUPANCY_H

#include "compiler/Codegen/CUDA/Common/Targets.h"

#include <optional>

namespace xc::cuda {

/// What one block of a kernel takes of a multiprocessor.
struct BlockNeeds {
  unsigned threads = 1;
  std::optional<unsigned> registers; // a thread; unknown without ptxas
  unsigned sharedBytes = 0;          // static and dynamic
};

struct Occupancy {
  unsigned blocks;       // on one multiprocessor; 0: the kernel cannot be launched
  unsigned warps;        // of these blocks
  unsigned maxWarps;     // that the multiprocessor can hold
  llvm::StringRef limit; // what runs out first: "blocks", "threads", "registers", "shared memory"
};

/// Computes the largest number of blocks of `needs` that a multiprocessor of `target` holds at
/// once, by the rules of the CUDA C++ Programming Guide ("Maximize Utilization", "Technical
/// Specifications per Compute Capability") and of NVIDIA's occupancy calculator (cuda_occupancy.h):
/// the least of
///   blocks         the target's limit on resident blocks
///   threads        resident warps / warps of a block, partial warps counted whole
///   registers      a warp takes 32 x registers, rounded up to 256, from its quarter of the
///                  register file; the warps that fit in four quarters / warps of a block
///   shared memory  shared memory / what a block takes, what the system reserves included, rounded
///                  up to the allocation unit
/// Where the registers are not known the result is an upper bound.
Occupancy computeOccupancy(const Target &target, const BlockNeeds &needs);

/// True if so many blocks leave at most one in eight multiprocessors without one.
bool fillsMultiprocessors(const Target &target, int64_t blocks);

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_COMMON_OCCUPANCY_H
