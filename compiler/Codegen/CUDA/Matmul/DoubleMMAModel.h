//===- DoubleMMAModel.h - How long an f64 product on tensor cores takes ---===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_MATMUL_DOUBLEMMAMODEL_H
#define XC_CODEGEN_CUDA_MATMUL_DOUBLEMMAMODEL_H

#include "compiler/Codegen/CUDA/Common/Targets.h"

#include <cstdint>

namespace xc::cuda {

/// A product of f64 as the model sees it; a size that is not known is a guess.
struct DoubleProblem {
  int64_t batch, m, n, k;
  /// Threads have registers for large tiles: both operands are copied to shared memory from places
  /// a known distance apart, and indices and outputs take few of them.
  bool isRoomy = true;
  /// B is the instructions' first operand, of which a warp had better have more; see
  /// EmitMatmulMMA.cpp.
  bool isSwapped = false;
};

/// The parameters of #cuda.matmul_mma, and the time that they should take.
struct DoublePlan {
  int64_t tileM, tileN, tileK, warpsM, warpsN, stages;
  double microseconds;
};

/// The microseconds that `plan` should take, whatever they are by its own account.
double estimateDoublePlan(const Target &target, const DoubleProblem &problem, DoublePlan plan);

/// The plan that should be fastest on a target that multiplies f64 on tensor cores. There always is
/// one.
DoublePlan chooseDoublePlan(const Target &target, const DoubleProblem &problem,
                            DoublePlan *second = nullptr);

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_MATMUL_DOUBLEMMAMODEL_H
