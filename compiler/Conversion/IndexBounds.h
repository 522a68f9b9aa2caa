//===- IndexBounds.h - The least and largest values of indices -*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An index of a linalg op is a formula over its loops: sums, products by constants, quotients and
// remainders by constants above 0.
//
//===----------------------------------------------------------------------===//

#ifndef XC_CONVERSION_INDEXBOUNDS_H
#define XC_CONVERSION_INDEXBOUNDS_H

#include "mlir/IR/AffineExpr.h"

namespace xc {

/// What an index is at least and at most: formulas over the sizes of loops.
struct IndexBounds {
  mlir::AffineExpr low, high;
};

/// The bounds of `index` while loop i goes over [0, sizes[i]); sizes are constants, or formulas
/// over symbols, and above 0. Some iteration takes each bound, but for a remainder of several
/// loops, of one in steps, or of one and a constant, whose value may count as any below the
/// divisor. Nothing where a loop occurs more than once and what the others do with it cannot be
/// told:
///
///   - several loops of unknown size, one of which lets the index rise and fall;
///   - one that does so in more than 64 steps before it repeats itself;
///   - a period of more than 65,536 iterations, of all loops together.
std::optional<IndexBounds> boundIndex(mlir::AffineExpr index,
                                      llvm::ArrayRef<mlir::AffineExpr> sizes);

} // namespace xc

#endif // XC_CONVERSION_INDEXBOUNDS_H
