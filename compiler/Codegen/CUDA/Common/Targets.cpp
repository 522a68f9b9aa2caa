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
static constexpr int64_t kMiB = 1 << 20;

// Shared memory, registers, threads and blocks: CUDA C++ Programming Guide, "Technical
// Specifications per Compute Capability"; what the system reserves of shared memory (1 KiB a block)
// and the unit of its allocation: the tuning guides and cuda_occupancy.h. PTX versions: PTX ISA,
// "Release Notes"; the driver is that of the CUDA release which brought it. Multiprocessors, memory
// and L2: T4, A100, RTX 3090, AGX Orin, RTX 6000 Ada (L4 has less), H200, B200, B300, Thor, RTX
// 5090, GB10. Rates of the H200 are measured; those of others scale their data sheets likewise.
// clang-format off
static constexpr Target kTargets[] = {
    // arch     cc   specific ptx driver shared       shared/SM    unit reserved registers threads blocks SMs cp.async mma wgmma f64 sums copies bank order {GHz, mma.sync, f64, memory, L2}
    {"sm_75",   75,  false, 70, 11000, 64 * kKiB,  64 * kKiB,  256, 0,    65536, 1024, 16, 40,  false, false,  false, DoubleMMA::None, 128, 40, true, {1.35, 512, 0, 290, 4 * kMiB}},
    {"sm_80",   80,  false, 70, 11000, 163 * kKiB, 164 * kKiB, 128, kKiB, 65536, 2048, 32, 108, true,  true,  false, DoubleMMA::M8N8K4, 128, 40, true, {1.41, 1024, 16, 1900, 40 * kMiB}},
    {"sm_86",   86,  false, 71, 11010, 99 * kKiB,  100 * kKiB, 128, kKiB, 65536, 1536, 16, 82,  true,  true,  false, DoubleMMA::None, 128, 40, true, {1.70, 256, 0, 900, 6 * kMiB}},
    {"sm_87",   87,  false, 74, 11040, 163 * kKiB, 164 * kKiB, 128, kKiB, 65536, 1536, 16, 16,  true,  true,  false, DoubleMMA::None, 128, 40, true, {1.30, 1024, 0, 200, 4 * kMiB}},
    {"sm_89",   89,  false, 78, 11080, 99 * kKiB,  100 * kKiB, 128, kKiB, 65536, 1536, 24, 142, true,  true,  false, DoubleMMA::None, 128, 40, true, {2.50, 512, 0, 860, 96 * kMiB}},
    {"sm_90",   90,  false, 78, 11080, 227 * kKiB, 228 * kKiB, 128, kKiB, 65536, 2048, 32, 132, true,  true,  false, DoubleMMA::M16N8K8, 128, 40, true, {1.755, 1391, 32, 3900, 50 * kMiB}},
    {"sm_90a",  90,  true,  80, 12000, 227 * kKiB, 228 * kKiB, 128, kKiB, 65536, 2048, 32, 132, true,  true,  true, DoubleMMA::M16N8K8, 128, 40, true, {1.755, 1391, 32, 3900, 50 * kMiB}},
    {"sm_100a", 100, true,  86, 12070, 227 * kKiB, 228 * kKiB, 128, kKiB, 65536, 2048, 32, 148, true,  true,  false, DoubleMMA::M16N8K8, 128, 40, true, {1.85, 1024, 16, 7500, 126 * kMiB}},
    {"sm_103a", 103, true,  88, 12090, 227 * kKiB, 228 * kKiB, 128, kKiB, 65536, 2048, 32, 148, true,  true,  false, DoubleMMA::None, 128, 40, true, {1.85, 1024, 0, 7500, 126 * kMiB}},
    {"sm_110a", 110, true,  90, 13000, 227 * kKiB, 228 * kKiB, 128, kKiB, 65536, 1536, 24, 20,  true,  true,  false, DoubleMMA::None, 128, 40, false, {1.57, 1024, 0, 270, 32 * kMiB}},
    {"sm_120a", 120, true,  87, 12080, 99 * kKiB,  100 * kKiB, 128, kKiB, 65536, 1536, 24, 170, true,  true,  false, DoubleMMA::None, 64, 32, true, {2.41, 256, 0, 1750, 96 * kMiB}},
    {"sm_121a", 121, true,  88, 12090, 99 * kKiB,  100 * kKiB, 128, kKiB, 65536, 1536, 24, 48,  true,  true,  false, DoubleMMA::None, 64, 32, true, {2.40, 256, 0, 270, 24 * kMiB}},
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
