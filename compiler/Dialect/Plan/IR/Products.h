//===- Products.h - Matrix products and sliding windows ---------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What dispatch formation and the strategies have to agree on: which ops are products of matrices,
// convolutions among them, and which reduce windows.
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_PLAN_IR_PRODUCTS_H
#define XC_DIALECT_PLAN_IR_PRODUCTS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <optional>

namespace xc::plan {

/// Unit, on a product, or attention and its gradient: f32 operands of products may be rounded to
/// TF32.
inline constexpr llvm::StringLiteral kAllowTF32Attr = "plan.allow_tf32";

/// The loops of `c[batch, m, n] += a[batch, m, k] * b[batch, k, n]`, each letter standing for any
/// number of loops.
struct ProductLoops {
  llvm::SmallVector<unsigned> batch, m, n, k;
};

/// The roles of the loops of an op that adds products of its two inputs, each after casts. An input
/// may be indexed by any affine map: in a convolution, a dim of the image runs with one of the
/// result (m) and one of the filter (k). Loops of one iteration count as batch where they have no
/// role. Nothing for other ops.
std::optional<ProductLoops> matchProduct(mlir::linalg::LinalgOp op);

/// `loops` in the order in which the results of `map` use them; without those that they do not use.
/// A product's operand is gone through row-major so.
llvm::SmallVector<unsigned> orderByUse(llvm::ArrayRef<unsigned> loops, mlir::AffineMap map);

/// What lines of an image of packed pixels begin at multiples of: 16 bytes of 16-bit elements.
inline constexpr int64_t kPackedStep = 8;

/// The innermost index of an image whose pixels are packed (-xc-cuda-pack-pixels): lines of
/// elements, which begin `step` apart and may overlap.
struct PackedLine {
  mlir::AffineDimExpr position, element;
  int64_t step;
};

/// `expr` as `position * step + element`, where steps are multiples of `kPackedStep`.
std::optional<PackedLine> matchPackedLine(mlir::AffineExpr expr);

/// True for products of types that tensor cores multiply: kernels copy their operands to shared
/// memory without passing them through registers, unless something is computed on the way.
bool isTensorCoreProduct(mlir::linalg::LinalgOp op);

/// How often the product `op` uses each element of `factor`, one of its operands; the largest
/// number where sizes are not known.
int64_t countUses(mlir::linalg::LinalgOp op, mlir::Value factor);

/// How many products each sum of `op` has; the largest number where sizes are not known.
int64_t countTerms(mlir::linalg::LinalgOp op);

/// True if `op` reduces, and reads an input at sums or multiples of loops: a window that slides.
bool isWindowReduction(mlir::Operation *op);

/// True for an elementwise op that reads an input of its shape with another dim innermost than it
/// writes: a transpose, with what was fused to it. A window, which reads its operands again and
/// again, wants its result in memory.
bool changesInnermostDim(mlir::linalg::LinalgOp op);

/// True for padding by a constant that only such ops, or products, read: it is computed where they
/// load.
bool isPaddingOfWindows(mlir::Operation *op);

} // namespace xc::plan

#endif // XC_DIALECT_PLAN_IR_PRODUCTS_H
