//===- Moments.h - Sums and squares of distances from a mean ----*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A variance needs the mean before it can add up squares of distances from it. A thread that takes
// a few elements at a time need not wait for that: it adds up squares of distances from the mean of
// those few, and moves what it has to the mean of all of them, exactly but for rounding (Chan,
// Golub and LeVeque, "Updating Formulae and a Pairwise Algorithm for Computing Sample Variances").
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_COLUMNS_MOMENTS_H
#define XC_CODEGEN_CUDA_COLUMNS_MOMENTS_H

#include "mlir/IR/Builders.h"

#include <optional>

namespace xc::cuda {

/// Of some elements: how many, a scalar of their type; their sum, and that of the squares of their
/// distances from their mean, in as many lanes as elements have.
struct Moments {
  mlir::Value count, sum, squares;
};

/// An element, and an i1 that is false where it counts for nothing; null where it always counts.
struct CountedElement {
  mlir::Value value, mask;
};

/// The moments of no elements of `type`.
Moments makeNoMoments(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type type);

/// The moments of `elements`, at least one.
Moments makeMoments(mlir::OpBuilder &builder, mlir::Location loc,
                    llvm::ArrayRef<CountedElement> elements);

/// The moments of the elements of both; `few` are some.
Moments joinMoments(mlir::OpBuilder &builder, mlir::Location loc, const Moments &all,
                    const Moments &few);

/// The sum of squares of the distances of such elements from `center`, whatever that is. `count` is
/// their number where it is known.
mlir::Value makeSquaresAbout(mlir::OpBuilder &builder, mlir::Location loc, const Moments &moments,
                             mlir::Value center, std::optional<int64_t> count);

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_COLUMNS_MOMENTS_H
