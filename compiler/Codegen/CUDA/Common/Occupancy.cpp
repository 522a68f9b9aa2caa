//===- Occupancy.cpp - How many blocks of a kernel a multiprocessor holds -===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Common/Occupancy.h"

#include "llvm/Support/MathExtras.h"

namespace xc::cuda {

static constexpr unsigned kWarpSize = 32;
/// Each schedules its own warps from its own part of the register file.
static constexpr unsigned kQuarters = 4;
/// Registers are given to warps in units of this many.
static constexpr unsigned kRegisterUnit = 256;

static unsigned countByRegisters(const Target &target, unsigned registers, unsigned warps) {
  uint64_t perWarp = llvm::alignTo(uint64_t(registers) * kWarpSize, kRegisterUnit);
  uint64_t warpsThatFit = target.registersPerMultiprocessor / kQuarters / perWarp * kQuarters;
  return warpsThatFit / warps;
}

static unsigned countByShared(const Target &target, unsigned bytes) {
  uint64_t perBlock = llvm::alignTo(uint64_t(bytes) + target.sharedReserved, target.sharedUnit);
  return target.sharedPerMultiprocessor / perBlock;
}

Occupancy computeOccupancy(const Target &target, const BlockNeeds &needs) {
  unsigned warps = llvm::divideCeil(std::max(needs.threads, 1u), kWarpSize);
  unsigned maxWarps = target.threadsPerMultiprocessor / kWarpSize;
  Occupancy result{target.blocksPerMultiprocessor, 0, maxWarps, "blocks"};
  auto limitBy = [&](unsigned blocks, llvm::StringRef what) {
    if (blocks < result.blocks) {
      result.blocks = blocks;
      result.limit = what;
    }
  };
  limitBy(maxWarps / warps, "threads");
  if (needs.registers && *needs.registers > 0)
    limitBy(countByRegisters(target, *needs.registers, warps), "registers");
  if (needs.sharedBytes > 0)
    limitBy(countByShared(target, needs.sharedBytes), "shared memory");
  result.warps = result.blocks * warps;
  return result;
}

bool fillsMultiprocessors(const Target &target, int64_t blocks) {
  return blocks * 8 >= int64_t(target.multiprocessors) * 7;
}

} // namespace xc::cuda
