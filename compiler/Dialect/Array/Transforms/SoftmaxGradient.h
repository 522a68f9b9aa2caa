//===- SoftmaxGradient.h - What flows through a softmax -*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_ARRAY_TRANSFORMS_SOFTMAXGRADIENT_H
#define XC_DIALECT_ARRAY_TRANSFORMS_SOFTMAXGRADIENT_H

#include "compiler/Dialect/Array/Transforms/Recognizers.h"

namespace xc::array {

/// `factor * p * (g - sum(p * g))` with the weights `p` of a softmax and their cotangent `g`.
struct SoftmaxGradient {
  /// Whether the result of `root` has this value, however it is written.
  static std::optional<SoftmaxGradient> match(mlir::Operation *root);

  SoftmaxOp softmax;        ///< null where it is written in smaller ops
  mlir::Value exponentials; ///< of these, else
  mlir::Value cotangent;
  int64_t axis = 0;
  double factor = 1;
  MatchedOps ops; ///< `root` and all up to the weights and the cotangent
};

} // namespace xc::array

#endif // XC_DIALECT_ARRAY_TRANSFORMS_SOFTMAXGRADIENT_H
