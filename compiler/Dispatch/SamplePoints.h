//===- SamplePoints.h - Points of ops that checks look at -----------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DISPATCH_SAMPLEPOINTS_H
#define XC_DISPATCH_SAMPLEPOINTS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/AffineExpr.h"

#include <string>

namespace xc::plan {

/// An index for each loop of an op, or for each dim of a tensor.
using Point = llvm::SmallVector<int64_t, 6>;

/// All combinations of sampled indices, or fewer indices of each loop where those are too many. The
/// first two indices of each loop and the last one show any difference between maps that only name,
/// repeat or drop loops. Sizes that are known when inputs are bound count as 3.
llvm::SmallVector<Point> samplePoints(mlir::linalg::LinalgOp op);

/// What `expr`, over dims, is at `point`.
int64_t evaluate(mlir::AffineExpr expr, llvm::ArrayRef<int64_t> point);

/// "(0, 2)".
std::string toString(llvm::ArrayRef<int64_t> indices);

} // namespace xc::plan

#endif // XC_DISPATCH_SAMPLEPOINTS_H
