//===- Iteration.h - Loops that importers make ----------------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_INPUT_ONNX_ITERATION_H
#define XC_INPUT_ONNX_ITERATION_H

#include "compiler/Input/ONNX/NodeImport.h"

namespace xc::onnx {

/// What one iteration gives: the next states, one value for each array that is collected, and
/// whether there is another iteration (null: there is).
struct Step {
  Results states, collected;
  mlir::Value goesOn;
};

/// The states behind the last iteration, and the collected values stacked along a new dim 0.
struct Iterated {
  Results states, collected;
};

/// How often a loop runs. No count means as long as it goes on; a null `startsAtAll` is true. Only
/// where it `mayEndEarly` a step may say that there is no other iteration.
struct Iterations {
  std::optional<mlir::OpFoldResult> count;
  mlir::Value startsAtAll = {};
  bool mayEndEarly = false;
};

/// The body of a loop, for iteration \p index, a rank-0 tensor of i64.
using StepFunction =
    llvm::function_ref<Step(mlir::Value index, llvm::ArrayRef<mlir::Value> states)>;

/// Runs `step` as \p iterations say. Few of a static number are written out one after the other,
/// others become `array.while`. States keep their shapes. Collecting needs a count. After an error
/// the results are null.
Iterated iterate(NodeImport &n, const Iterations &iterations, llvm::ArrayRef<mlir::Value> states,
                 StepFunction step);

} // namespace xc::onnx

#endif // XC_INPUT_ONNX_ITERATION_H
