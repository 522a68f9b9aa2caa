//===- Targets.h - The NVIDIA architectures we generate code for ----------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_COMMON_TARGETS_H
#define XC_CODEGEN_CUDA_COMMON_TARGETS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>

namespace mlir {
class Operation;
}

namespace xc::cuda {

/// The mma.sync that multiplies f64 faster than plain instructions do; none where tensor cores are
/// not made for f64, whatever PTX allows.
enum class DoubleMMA : uint8_t { None, M8N8K4, M16N8K8 };

/// What the common product of an architecture does in a given time. Models of kernels start from
/// these numbers; what they add was fitted to measurements of one kind of kernel.
struct Rates {
  double clock;    // GHz under load
  double products; // multiply-adds of a multiprocessor in a cycle: mma.sync, 16-bit types into f32
  double doubles; // multiply-adds of one of its tensor cores in a cycle in f64; 0 without doubleMMA
  double memory;  // bytes a nanosecond from memory, as kernels get them: about 0.93 of the peak
  int64_t cacheSize; // bytes of the L2 cache
};

/// What code generation and reports need to know of one architecture. Sizes are in bytes.
struct Target {
  llvm::StringLiteral arch;   // "sm_90a", as LLVM and ptxas spell it
  unsigned computeCapability; // 90
  bool archSpecific;          // runs on this compute capability only ("a")
  unsigned ptxVersion;        // PTX ISA, 80 = 8.0
  unsigned minDriverVersion; // oldest driver whose JIT reads that PTX, as cuDriverGetVersion counts
  unsigned sharedPerBlock;   // largest dynamic shared memory of a block, opted in
  unsigned sharedPerMultiprocessor;
  unsigned sharedUnit;     // shared memory is given to blocks in multiples of this
  unsigned sharedReserved; // what the system takes of it for each block
  unsigned registersPerMultiprocessor;
  unsigned threadsPerMultiprocessor;
  unsigned blocksPerMultiprocessor;
  unsigned multiprocessors; // of the common product; a default where the device is not known
  bool hasAsyncCopy;        // cp.async, mma.sync for bf16: sm_80 on
  bool hasMMA16816;         // mma.sync m16n8k16: sm_80 on
  bool hasWGMMA;            // wgmma, setmaxnreg, tensor copies by TMA: sm_90a alone
  DoubleMMA doubleMMA;
  // Of f32 products by fused multiply-add: the sums of a thread that ptxas has registers for beside
  // their operands, the copies of a step whose addresses it has registers for, and whether it
  // spills none where the multiply-adds of a step are in the order that keeps their reads in
  // different banks of the register file.
  unsigned maxSumsPerThread;
  unsigned maxCopiesPerThread;
  bool takesBankOrder;
  Rates rates;

  /// Blocks run in clusters whose shared memory all of them reach.
  bool hasClusters() const { return computeCapability >= 90; }
  /// LLVM's feature string: "+ptx80".
  std::string features() const;
};

/// All of them, oldest first.
llvm::ArrayRef<Target> getTargets();

/// The one called `arch`, or null.
const Target *findTarget(llvm::StringRef arch);

/// The one that `op` is compiled for (`plan.target` of the module around it), or null if that is a
/// CPU, not known or not said.
const Target *findTarget(mlir::Operation *op);

/// The best one for a GPU of that compute capability (90 = 9.0), or null where all are newer.
const Target *findTargetOf(unsigned computeCapability);

/// "sm_75, sm_80, ...", for messages.
std::string listTargets();

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_COMMON_TARGETS_H
