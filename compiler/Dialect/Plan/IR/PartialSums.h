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

/// Partial sums of a product: of the sum's terms, numbered row-major along its loops in the order
/// of `quotient`, each `size` in a row are one.
struct PartialSums {
  int64_t count, size;
  mlir::AffineExpr quotient;
};

/// The partial sums that are the results of `op`, whose first index is such a quotient,
/// `(d2 * 49 + d3 * 7 + d4) floordiv 64` of loops that it reduces. Nothing for other ops. The other
/// results say which product it is: matchProduct (Products.h).
std::optional<PartialSums> getPartialSums(mlir::linalg::LinalgOp op);

} // namespace xc::plan

#endif // XC_DIALECT_PLAN_IR_PARTIALSUMS_H
