//===- PartialSums.h - Products whose results are partial sums --*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_PLAN_IR_PARTIALSUMS_H
#define XC_DIALECT_PLAN_IR_PARTIALSUMS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <optional>

namespace xc::plan {

/// Unit, on a product: its results are shares of sums, which only their sum matters of. Each term
/// is in one share; the kernel may choose another one than the first index says, by sizes alone.
inline constexpr llvm::StringLiteral kSharesAttr = "plan.shares";

/// Partial sums of a product: of the sum's terms, numbered row-major along its loops in the order
/// of `index`, each `size` in a row are one. Where sizes are symbolic no such quotient is affine:
/// shares then are of equal size, which is known when inputs are bound.
struct PartialSums {
  int64_t count, size; // kDynamic: of shares
  mlir::AffineExpr index;

  bool areShares() const { return mlir::ShapedType::isDynamic(size); }
};

/// The partial sums that are the results of `op`, whose first index is such a quotient,
/// `(d2 * 49 + d3 * 7 + d4) floordiv 64` of loops that it reduces, or `(d2 + d3 + d4) mod 8` where
/// they are shares. Nothing for other ops. The other results say which product it is: matchProduct
/// (Products.h).
std::optional<PartialSums> getPartialSums(mlir::linalg::LinalgOp op);

/// The first index of the results of `op`, whose sums have `count` shares.
mlir::AffineExpr getIndexOfShares(mlir::linalg::LinalgOp op, int64_t count);

} // namespace xc::plan

#endif // XC_DIALECT_PLAN_IR_PARTIALSUMS_H
