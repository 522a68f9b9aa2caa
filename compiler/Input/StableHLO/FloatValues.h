//===- FloatValues.h - Numbers that functions are made of -----*- C++ -*---===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_INPUT_STABLEHLO_FLOATVALUES_H
#define XC_INPUT_STABLEHLO_FLOATVALUES_H

#include "compiler/Dialect/Array/IR/ExpressionBuilder.h"

#include <limits>

namespace xc::stablehlo_import {

/// Where `x` equals `y`, of the same shape.
inline mlir::Value isEqual(array::ExpressionBuilder &e, mlir::Value x, mlir::Value y) {
  return e.compare(array::CompareDirection::Eq, x, y);
}

/// Infinity, of the type of `like`.
inline mlir::Value infinity(array::ExpressionBuilder &e, mlir::Value like) {
  return e.scalar(std::numeric_limits<double>::infinity(), like);
}

} // namespace xc::stablehlo_import

#endif // XC_INPUT_STABLEHLO_FLOATVALUES_H
