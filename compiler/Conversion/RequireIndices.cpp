//===- RequireIndices.cpp - Indices of linalg ops within their operands ---===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where an indexing map gives a loop as an index, the dim says how often it runs. Other indices are
// formulas over the loops; linalg's verifier compares them with dims that are static, at the first
// and last round only. Their least and largest values follow from the bounds of their parts, as
// formulas over the numbers of rounds:
//
//   d0 * 2 + d1    lies in [0, (n0 - 1) * 2 + n1 - 1]
//   d0 floordiv 2  lies in [0, (n0 - 1) floordiv 2]
//   7 - d0         lies in [7 - (n0 - 1), 7]
//   d0 mod 4       lies in [0, min(n0 - 1, 3)]
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/ArrayToLinalg.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace xc {

namespace {

/// What an index is at least and at most, over the sizes of loops.
struct IndexBounds {
  AffineExpr low, high;
};

/// The sizes of an op's loops: constants, or symbols.
struct LoopSizes {
  SmallVector<AffineExpr> exprs;
  SmallVector<OpFoldResult> symbols;
};

} // namespace

static LoopSizes getLoopSizes(OpBuilder &builder, linalg::LinalgOp op) {
  LoopSizes sizes;
  sizes.exprs.resize(op.getNumLoops());
  array::SizeBuilder sizeBuilder(builder, op.getLoc());
  // All dims that a loop goes over are as large: one that is static says most.
  for (bool isStatic : {true, false})
    for (OpOperand &operand : op->getOpOperands()) {
      auto type = dyn_cast<RankedTensorType>(operand.get().getType());
      if (!type)
        continue;
      for (auto [dim, expr] : llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults())) {
        auto loop = dyn_cast<AffineDimExpr>(expr);
        if (!loop || sizes.exprs[loop.getPosition()] || type.isDynamicDim(dim) == isStatic)
          continue;
        AffineExpr &size = sizes.exprs[loop.getPosition()];
        if (isStatic) {
          size = builder.getAffineConstantExpr(type.getDimSize(dim));
          continue;
        }
        size = builder.getAffineSymbolExpr(sizes.symbols.size());
        sizes.symbols.push_back(sizeBuilder.size(operand.get(), dim));
      }
    }
  return sizes;
}

/// `expr` mod `divisor`, given the bounds of `expr`.
static IndexBounds boundRest(IndexBounds of, int64_t divisor) {
  MLIRContext *context = of.low.getContext();
  AffineExpr zero = getAffineConstantExpr(0, context),
             last = getAffineConstantExpr(divisor - 1, context);
  auto high = dyn_cast<AffineConstantExpr>(of.high);
  if (of.low != zero || (high && high.getValue() >= divisor))
    return {zero, last};
  if (high)
    return of;
  // 1 where there is more than one period, else 0: the smaller one of two without a minimum.
  constexpr int64_t moreThanAll = int64_t(1) << 48;
  AffineExpr wraps = of.high.floorDiv(divisor).ceilDiv(moreThanAll);
  return {zero, of.high + wraps * (last - of.high)};
}

/// Nothing for what no parser accepts: a product or quotient of loops.
static std::optional<IndexBounds> bound(AffineExpr expr, ArrayRef<AffineExpr> sizes) {
  MLIRContext *context = expr.getContext();
  if (isa<AffineConstantExpr>(expr))
    return IndexBounds{expr, expr};
  if (auto loop = dyn_cast<AffineDimExpr>(expr))
    return IndexBounds{getAffineConstantExpr(0, context), sizes[loop.getPosition()] - 1};
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return std::nullopt;
  std::optional<IndexBounds> left = bound(binary.getLHS(), sizes);
  if (expr.getKind() == AffineExprKind::Add) {
    std::optional<IndexBounds> right = bound(binary.getRHS(), sizes);
    if (!left || !right)
      return std::nullopt;
    return IndexBounds{left->low + right->low, left->high + right->high};
  }
  auto constant = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (!left || !constant)
    return std::nullopt;
  int64_t number = constant.getValue();
  if (expr.getKind() == AffineExprKind::Mul)
    return number < 0 ? IndexBounds{left->high * number, left->low * number}
                      : IndexBounds{left->low * number, left->high * number};
  if (number < 1)
    return std::nullopt;
  if (expr.getKind() == AffineExprKind::FloorDiv)
    return IndexBounds{left->low.floorDiv(number), left->high.floorDiv(number)};
  if (expr.getKind() == AffineExprKind::CeilDiv)
    return IndexBounds{left->low.ceilDiv(number), left->high.ceilDiv(number)};
  return boundRest(*left, number);
}

/// The value of a formula over `symbols`.
static OpFoldResult build(array::SizeBuilder &sizeBuilder, AffineExpr expr,
                          ArrayRef<OpFoldResult> symbols) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return sizeBuilder.constant(constant.getValue());
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return symbols[symbol.getPosition()];
  auto binary = cast<AffineBinaryOpExpr>(expr);
  OpFoldResult left = build(sizeBuilder, binary.getLHS(), symbols),
               right = build(sizeBuilder, binary.getRHS(), symbols);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return sizeBuilder.add(left, right);
  case AffineExprKind::Mul:
    return sizeBuilder.mul(left, right);
  case AffineExprKind::FloorDiv:
    return sizeBuilder.floorDiv(left, right);
  case AffineExprKind::CeilDiv:
    return sizeBuilder.ceilDiv(left, right);
  default: // Mod
    return sizeBuilder.sub(left, sizeBuilder.mul(sizeBuilder.floorDiv(left, right), right));
  }
}

/// Demands that `bounds` of an index lie in dim `dim` of `operand`.
static void requireWithin(OpBuilder &builder, linalg::LinalgOp op, OpOperand &operand, int64_t dim,
                          AffineExpr index, IndexBounds bounds, ArrayRef<OpFoldResult> symbols) {
  array::SizeBuilder sizeBuilder(builder, op.getLoc());
  // Without a round there is no index.
  OpFoldResult isRun = isNotEmpty(sizeBuilder, symbols);
  auto require = [&](AffineExpr left, OpFoldResult right, StringRef before, StringRef after) {
    std::string what;
    llvm::raw_string_ostream(what)
        << "expected " << before << index << after << dim << " of " << operand.get().getType();
    left = simplifyAffineExpr(left, /*numDims=*/0, symbols.size());
    requireSizes(builder, op, sizeBuilder.mul(isRun, build(sizeBuilder, left, symbols)),
                 plan::Comparison::AtMost, right, what);
  };
  require(bounds.high + 1, sizeBuilder.size(operand.get(), dim), "all places ", " to be in dim ");
  auto low = dyn_cast<AffineConstantExpr>(bounds.low);
  if (low && low.getValue() >= 0)
    return;
  // Both sides are no less than 0: what is subtracted on the left, against the constant it is
  // subtracted from.
  SmallVector<AffineExpr> zeros(symbols.size(), builder.getAffineConstantExpr(0));
  auto start = cast<AffineConstantExpr>(bounds.low.replaceSymbols(zeros));
  int64_t room = std::max<int64_t>(start.getValue(), 0);
  require(room - bounds.low, sizeBuilder.constant(room), "no place ", " before the start of dim ");
}

void requireIndices(OpBuilder &builder, linalg::LinalgOp op) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  auto isLoop = [](AffineExpr expr) { return isa<AffineDimExpr>(expr); };
  if (llvm::all_of(maps, [&](AffineMap map) { return llvm::all_of(map.getResults(), isLoop); }))
    return;
  LoopSizes sizes = getLoopSizes(builder, op);
  if (llvm::is_contained(sizes.exprs, builder.getAffineConstantExpr(0)) ||
      llvm::is_contained(sizes.exprs, AffineExpr()))
    return;
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<RankedTensorType>(operand.get().getType()))
      continue;
    for (auto [dim, index] : llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults()))
      if (!isLoop(index))
        if (std::optional<IndexBounds> bounds = bound(index, sizes.exprs))
          requireWithin(builder, op, operand, dim, index, *bounds, sizes.symbols);
  }
}

} // namespace xc
