//===- FloatBounds.h - Between which numbers a float lies -----------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_LOWERING_FLOATBOUNDS_H
#define XC_CODEGEN_CUDA_LOWERING_FLOATBOUNDS_H

#include "mlir/IR/Value.h"

#include <limits>

namespace xc::cuda {

/// Every lane of a value is NaN or at least `low` and at most `high`, but for roundings.
struct FloatBounds {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
};

/// What constants, exponentials and the like say of `value` by way of arithmetic.
FloatBounds getFloatBounds(mlir::Value value);

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_LOWERING_FLOATBOUNDS_H
