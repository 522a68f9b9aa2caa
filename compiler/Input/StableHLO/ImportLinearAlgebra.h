//===- ImportLinearAlgebra.h - What ops of linear algebra say ---*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_INPUT_STABLEHLO_IMPORTLINEARALGEBRA_H
#define XC_INPUT_STABLEHLO_IMPORTLINEARALGEBRA_H

#include "compiler/Input/StableHLO/LinearAlgebra.h"
#include "compiler/Input/StableHLO/StableHLO.h"

#include <optional>

namespace xc::stablehlo_import {

/// How a triangular matrix stands in an equation, and whether it is conjugate there.
struct TriangleForm {
  Triangle how;
  bool isConjugate;
};

/// Nothing where `op` does not say all of it.
std::optional<TriangleForm> readTriangle(stablehlo::TriangularSolveOp op);
std::optional<TriangleForm> readTriangle(stablehlo::CustomCallOp op);

/// Which triangle a call reads: LAPACK has a character, cuSOLVER a flag.
std::optional<bool> isLower(stablehlo::CustomCallOp op);

} // namespace xc::stablehlo_import

#endif // XC_INPUT_STABLEHLO_IMPORTLINEARALGEBRA_H
