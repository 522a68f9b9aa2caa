//===- SplitDependentReductions.h - Both reductions of a pair in parts ----===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_COMMON_SPLITDEPENDENTREDUCTIONS_H
#define XC_CODEGEN_CUDA_COMMON_SPLITDEPENDENTREDUCTIONS_H

#include "compiler/Codegen/CUDA/Common/Targets.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

#include <optional>

namespace xc::cuda {

/// A reduction along neighbouring loops that adds up squares, or exponentials, of distances from
/// what is computed of the sum, or the maximum, of the same elements.
struct DependentPair {
  /// What the second reduction of a pair adds up distances from: computed of inputs of it that have
  /// one element for each result.
  struct Shift {
    enum class Form { Square, Exp } form = Form::Square;
    mlir::arith::SubFOp distance;
    llvm::SetVector<mlir::OpOperand *> inputs;
    llvm::SetVector<mlir::Operation *> steps;

    /// Makes `parts`, whose body `mapping` has made of the second reduction's, add up distances
    /// from what it has in the place of the first of these inputs.
    void replace(mlir::linalg::GenericOp parts, mlir::IRMapping &mapping) const;
    /// What distances are computed from, where `values` has those of the inputs, in order.
    mlir::Value clone(mlir::OpBuilder &body, mlir::linalg::GenericOp second,
                      mlir::ValueRange values) const;
  };

  mlir::linalg::GenericOp first, second;
  Shift shift;
};

/// The pair whose second reduction is `second`; nothing if there is none. Elementwise inputs of
/// both may be computed in their bodies from here on, where that reads no more.
std::optional<DependentPair> matchDependentPair(mlir::linalg::GenericOp second);

/// The same of bodies as they are, as in a kernel.
std::optional<DependentPair> findDependentPair(mlir::linalg::GenericOp second);

/// The sum of squares of a part's `count` elements' distances from `mean`, theirs, as that of
/// distances from `center`: more by count (mean - center)^2.
mlir::Value moveSquares(mlir::OpBuilder &body, mlir::Location loc, mlir::Value squares,
                        mlir::Value mean, mlir::Value center, mlir::Value count);

/// Where a sum of squares or of exponentials of distances from what another reduction of the same
/// elements gave would get two steps, gives both together two steps, of which the first reads each
/// part once.
void splitDependentReductions(mlir::func::FuncOp function, const Target &target);

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_COMMON_SPLITDEPENDENTREDUCTIONS_H
