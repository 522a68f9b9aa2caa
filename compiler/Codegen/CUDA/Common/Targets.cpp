//===- Targets.cpp - The table of NVIDIA architectures --------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Common/Targets.h"

#include "compiler/Dialect/Plan/IR/PlanOps.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace xc::cuda {

static constexpr unsigned kKiB = 1024;

// Shared memory, registers, threads and blocks: CUDA C++ Programming Guide, "Technical
// Specifications per Compute Capability"; what the system reserves of shared memory (1 KiB a block)
// and the unit of its allocation: the tuning guides and cuda_occupancy.h. PTX versions: PTX ISA,
// "Release Notes"; the driver is that of the CUDA release which brought it. Multiprocessors: T4,
// A100, RTX 3090, AGX Orin, L4 (AD102 has 142), H200, B200, B300, Thor, RTX 5090, GB10.
// clang-format off
static constexpr Target kTargets[] = {
    // arch     cc   specific ptx driver shared       shared/SM    unit reserved registers threads blocks SMs cp.async mma wgmma f64 sums copies bank order
    {"sm_75",   75,  false, 70, 11000, 64 * kKiB,  64 * kKiB,  256, 0,    65536, 1024, 16, 40,  false, false,  false, DoubleMMA::None, 128, 40, true},
    {"sm_80",   80,  false, 70, 11000, 163 * kKiB, 164 * kKiB, 128, kKiB, 65536, 2048, 32, 108, true,  true,  false, DoubleMMA::M8N8K4, 128, 40, true},
    {"sm_86",   86,  false, 71, 11010, 99 * kKiB,  100 * kKiB, 128, kKiB, 65536, 1536, 16, 82,  true,  true,  false, DoubleMMA::None, 128, 40, true},
    {"sm_87",   87,  false, 74, 11040, 163 * kKiB, 164 * kKiB, 128, kKiB, 65536, 1536, 16, 16,  true,  true,  false, DoubleMMA::None, 128, 40, true},
    {"sm_89",   89,  false, 78, 11080, 99 * kKiB,  100 * kKiB, 128, kKiB, 65536, 1536, 24, 142, true,  true,  false, DoubleMMA::None, 128, 40, true},
    {"sm_90",   90,  false, 78, 11080, 227 * kKiB, 228 * kKiB, 128, kKiB, 65536, 2048, 32, 132, true,  true,  false, DoubleMMA::M16N8K8, 128, 40, true},
    {"sm_90a",  90,  true,  80, 12000, 227 * kKiB, 228 * kKiB, 128, kKiB, 65536, 2048, 32, 132, true,  true,  true, DoubleMMA::M16N8K8, 128, 40, true},
    {"sm_100a", 100, true,  86, 12070, 227 * kKiB, 228 * kKiB, 128, kKiB, 65536, 2048, 32, 148, true,  true,  false, DoubleMMA::M16N8K8, 128, 40, true},
    {"sm_103a", 103, true,  88, 12090, 227 * kKiB, 228 * kKiB, 128, kKiB, 65536, 2048, 32, 148, true,  true,  false, DoubleMMA::None, 128, 40, true},
    {"sm_110a", 110, true,  90, 13000, 227 * kKiB, 228 * kKiB, 128, kKiB, 65536, 1536, 24, 20,  true,  true,  false, DoubleMMA::None, 128, 40, false},
    {"sm_120a", 120, true,  87, 12080, 99 * kKiB,  100 * kKiB, 128, kKiB, 65536, 1536, 24, 170, true,  true,  false, DoubleMMA::None, 64, 32, true},
    {"sm_121a", 121, true,  88, 12090, 99 * kKiB,  100 * kKiB, 128, kKiB, 65536, 1536, 24, 48,  true,  true,  false, DoubleMMA::None, 64, 32, true},
};
// clang-format on

std::string Target::features() const { return "+ptx" + std::to_string(ptxVersion); }

llvm::ArrayRef<Target> getTargets() { return kTargets; }

const Target *findTarget(llvm::StringRef arch) {
  const Target *found =
      llvm::find_if(kTargets, [&](const Target &target) { return target.arch == arch; });
  return found == std::end(kTargets) ? nullptr : found;
}

const Target *findTarget(mlir::Operation *op) {
  plan::TargetAttr target = plan::getTarget(op);
  return target && target.isCUDA() ? findTarget(target.getArch().getValue()) : nullptr;
}

const Target *findTargetOf(unsigned computeCapability) {
  // Code for one compute capability only is the better choice where it is that one; else the newest
  // that is not newer, whose PTX every later GPU takes.
  const Target *best = nullptr;
  for (const Target &target : kTargets)
    if (target.archSpecific ? target.computeCapability == computeCapability
                            : target.computeCapability <= computeCapability)
      best = &target;
  return best;
}

std::string listTargets() {
  return llvm::join(
      llvm::map_range(kTargets, [](const Target &target) { return target.arch.str(); }), ", ");
}

} // namespace xc::cuda
