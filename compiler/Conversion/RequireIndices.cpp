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
// That takes parts for independent, so it says too much of an index in which a loop occurs more
// than once (d0 - d0 mod 4), and of remainders of what goes in steps. It is exact where all parts
// grow with all loops (d0 floordiv 2 + d0). Where all loops of another such index have static
// sizes, and few rounds together, its values are enumerated. Else nothing is demanded of an index
// with a loop that occurs more than once: what it reads is for the program to know.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/ArrayToLinalg.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/MathExtras.h"

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
  auto low = dyn_cast<AffineConstantExpr>(of.low), high = dyn_cast<AffineConstantExpr>(of.high);
  if (!low)
    return {zero, last};
  int64_t period = llvm::divideFloorSigned(low.getValue(), divisor);
  AffineExpr rest = of.high - period * divisor;
  if (high) {
    if (llvm::divideFloorSigned(high.getValue(), divisor) != period)
      return {zero, last};
    return {of.low - period * divisor, rest};
  }
  // 1 where there is more than one period, else 0: the smaller one of two without a minimum.
  constexpr int64_t moreThanAll = int64_t(1) << 48;
  AffineExpr wraps = rest.floorDiv(divisor).ceilDiv(moreThanAll);
  return {zero, rest + wraps * (last - rest)};
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

/// The value of an index in round `at`; its divisors are constants above 0.
static int64_t evaluate(AffineExpr expr, ArrayRef<int64_t> at) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  if (auto loop = dyn_cast<AffineDimExpr>(expr))
    return at[loop.getPosition()];
  auto binary = cast<AffineBinaryOpExpr>(expr);
  int64_t left = evaluate(binary.getLHS(), at), right = evaluate(binary.getRHS(), at);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return left + right;
  case AffineExprKind::Mul:
    return left * right;
  case AffineExprKind::FloorDiv:
    return llvm::divideFloorSigned(left, right);
  case AffineExprKind::CeilDiv:
    return llvm::divideCeilSigned(left, right);
  default: // Mod
    return llvm::mod(left, right);
  }
}

/// The least and the largest value of `index`, by all of them; nothing where they are too many or
/// not known.
static std::optional<IndexBounds> enumerate(AffineExpr index, ArrayRef<AffineExpr> sizes) {
  constexpr int64_t most = int64_t(1) << 16;
  SmallVector<std::pair<unsigned, int64_t>> loops;
  int64_t count = 1;
  for (auto [position, size] : llvm::enumerate(sizes)) {
    if (!index.isFunctionOfDim(position))
      continue;
    auto rounds = dyn_cast<AffineConstantExpr>(size);
    if (!rounds || rounds.getValue() > most / count)
      return std::nullopt;
    count *= rounds.getValue();
    loops.push_back({position, rounds.getValue()});
  }
  SmallVector<int64_t> at(sizes.size(), 0);
  int64_t low = std::numeric_limits<int64_t>::max(), high = std::numeric_limits<int64_t>::min();
  for (int64_t number = 0; number < count; ++number) {
    int64_t rest = number;
    for (auto [position, rounds] : loops) {
      at[position] = rest % rounds;
      rest /= rounds;
    }
    int64_t value = evaluate(index, at);
    low = std::min(low, value);
    high = std::max(high, value);
  }
  MLIRContext *context = index.getContext();
  return IndexBounds{getAffineConstantExpr(low, context), getAffineConstantExpr(high, context)};
}

/// What is to be demanded of `index`.
static std::optional<IndexBounds> boundIndex(AffineExpr index, ArrayRef<AffineExpr> sizes) {
  std::optional<IndexBounds> bounds = bound(index, sizes);
  llvm::SmallDenseSet<unsigned> loops;
  bool isRepeated = false, hasRest = false, falls = false;
  index.walk([&](AffineExpr part) {
    hasRest |= part.getKind() == AffineExprKind::Mod;
    auto number = dyn_cast<AffineConstantExpr>(part);
    falls |= number && number.getValue() < 0;
    if (auto loop = dyn_cast<AffineDimExpr>(part))
      isRepeated |= !loops.insert(loop.getPosition()).second;
  });
  if (!bounds || (!hasRest && (!isRepeated || !falls)))
    return bounds;
  if (std::optional<IndexBounds> exact = enumerate(index, sizes))
    return exact;
  return isRepeated ? std::nullopt : bounds;
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
        if (std::optional<IndexBounds> bounds = boundIndex(index, sizes.exprs))
          requireWithin(builder, op, operand, dim, index, *bounds, sizes.symbols);
  }
}

} // namespace xc
