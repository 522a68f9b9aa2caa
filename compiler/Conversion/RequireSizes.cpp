//===- RequireSizes.cpp - Indices and slices within their tensors ---------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where an indexing map gives a loop as an index, the dim says how often it runs. Other indices are
// formulas over the loops; linalg's verifier compares them with dims that are static, at the first
// and last iteration only. Here their bounds (IndexBounds.h) become requirements of the sizes; an
// index without bounds is refused.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/RequireSizes.h"

#include "compiler/Conversion/ArrayToLinalg.h"
#include "compiler/Conversion/IndexBounds.h"
#include "compiler/Dialect/Array/IR/Requirements.h"

#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;

namespace xc {

/// The largest index of a dim that a formula may name: what is computed from it and from the
/// iterations that are looked at (IndexBounds.cpp) fits into 63 bits.
static constexpr uint64_t kMostPlace = uint64_t(1) << 46;

namespace {

/// The sizes of an op's loops: constants, or symbols.
struct LoopSizes {
  SmallVector<AffineExpr> exprs;
  SmallVector<OpFoldResult> symbols;
};

} // namespace

static LoopSizes getLoopSizes(array::SizeBuilder &sizeBuilder, linalg::LinalgOp op) {
  LoopSizes sizes;
  Builder builder(op.getContext());
  sizes.exprs.resize(op.getNumLoops());
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

static std::string describe(AffineExpr index) {
  std::string text;
  llvm::raw_string_ostream(text) << index;
  return text;
}

/// Requires that `bounds` of an index lie in dim `dim` of `operand`.
static void requireWithin(array::RequirementBuilder &requirements, OpOperand &operand, int64_t dim,
                          AffineExpr index, IndexBounds bounds, ArrayRef<OpFoldResult> symbols) {
  array::SizeBuilder &sizeBuilder = requirements.getSizes();
  // Without an iteration there is no index.
  OpFoldResult isRun = array::isNotEmpty(sizeBuilder, symbols);
  auto require = [&](AffineExpr left, OpFoldResult right, StringRef before, StringRef after) {
    std::string what;
    llvm::raw_string_ostream(what) << "expected " << before << describe(index) << after << dim
                                   << " of " << operand.get().getType();
    left = simplifyAffineExpr(left, /*numDims=*/0, symbols.size());
    requirements.require(sizeBuilder.mul(isRun, build(sizeBuilder, left, symbols)),
                         plan::Comparison::AtMost, right, what);
  };
  require(bounds.high + 1, sizeBuilder.size(operand.get(), dim), "all places ", " to be in dim ");
  auto low = dyn_cast<AffineConstantExpr>(bounds.low);
  if (low && low.getValue() >= 0)
    return;
  // Both sides are no less than 0: what is subtracted on the left, against the constant it is
  // subtracted from.
  SmallVector<AffineExpr> zeros(symbols.size(), getAffineConstantExpr(0, index.getContext()));
  auto start = cast<AffineConstantExpr>(bounds.low.replaceSymbols(zeros));
  int64_t room = std::max<int64_t>(start.getValue(), 0);
  require(room - bounds.low, sizeBuilder.constant(room), "no place ", " before the start of dim ");
}

/// The largest absolute value of `index` and of what it is computed from, or more than that. A loop
/// of unknown size counts as one with two iterations: products with sizes are checked when those
/// are known.
static uint64_t getMagnitude(AffineExpr index, ArrayRef<AffineExpr> sizes) {
  if (auto constant = dyn_cast<AffineConstantExpr>(index))
    return llvm::AbsoluteValue(constant.getValue());
  if (auto loop = dyn_cast<AffineDimExpr>(index)) {
    auto size = dyn_cast<AffineConstantExpr>(sizes[loop.getPosition()]);
    return size ? size.getValue() : 1;
  }
  auto binary = cast<AffineBinaryOpExpr>(index);
  uint64_t left = getMagnitude(binary.getLHS(), sizes),
           right = getMagnitude(binary.getRHS(), sizes);
  return index.getKind() == AffineExprKind::Mul ? llvm::SaturatingMultiply(left, right)
                                                : llvm::SaturatingAdd(left, right);
}

void requireElements(array::RequirementBuilder &requirements, tensor::ExtractOp op) {
  auto body = op->getParentOfType<linalg::LinalgOp>();
  Value tensor = op.getTensor();
  if (!body || body->isAncestor(tensor.getParentBlock()->getParentOp()))
    return;
  array::SizeBuilder &sizeBuilder = requirements.getSizes();
  LoopSizes loops = getLoopSizes(sizeBuilder, body);
  if (llvm::is_contained(loops.exprs, getAffineConstantExpr(0, op.getContext())))
    return;
  OpFoldResult isRun = array::isNotEmpty(sizeBuilder, loops.symbols);
  for (int64_t dim = 0, rank = op.getTensor().getType().getRank(); dim < rank; ++dim) {
    std::string what;
    llvm::raw_string_ostream(what)
        << "expected an element to extract in dim " << dim << " of " << tensor.getType();
    requirements.require(isRun, plan::Comparison::AtMost, sizeBuilder.size(tensor, dim), what);
  }
}

void requireExpansion(array::RequirementBuilder &requirements, tensor::ExpandShapeOp op) {
  array::SizeBuilder &sizeBuilder = requirements.getSizes();
  SmallVector<OpFoldResult> sizes = op.getMixedOutputShape();
  for (auto [dim, inner] : llvm::enumerate(op.getReassociationIndices())) {
    OpFoldResult product = sizeBuilder.constant(1);
    for (int64_t each : inner) {
      requirements.require(sizes[each], plan::Comparison::AtLeast, sizeBuilder.constant(0),
                           "expected a size of at least 0 in dim " + Twine(each));
      product = sizeBuilder.mul(product, sizes[each]);
    }
    std::string what;
    llvm::raw_string_ostream(what) << "expected dim " << dim << " of " << op.getSrcType()
                                   << " to have the elements of the dims that it is split into";
    requirements.require(sizeBuilder.size(op.getSrc(), dim), plan::Comparison::Equal, product,
                         what);
  }
}

void requireInsertion(array::RequirementBuilder &requirements, tensor::InsertSliceOp op) {
  llvm::SmallBitVector dropped = op.getDroppedDims();
  int64_t sourceDim = 0;
  for (auto [dim, size] : llvm::enumerate(op.getMixedSizes())) {
    if (dropped.test(dim))
      continue;
    std::string what;
    llvm::raw_string_ostream(what) << "expected dim " << sourceDim << " of " << op.getSourceType()
                                   << " to be as large as the slice";
    requirements.require(requirements.getSizes().size(op.getSource(), sourceDim++),
                         plan::Comparison::Equal, size, what);
  }
}

void requireSlice(array::RequirementBuilder &requirements, OffsetSizeAndStrideOpInterface op,
                  Value whole) {
  array::SizeBuilder &sizeBuilder = requirements.getSizes();
  OpFoldResult one = sizeBuilder.constant(1),
               isRead = array::isNotEmpty(sizeBuilder, op.getMixedSizes());
  for (auto [dim, offset, size, stride] :
       llvm::enumerate(op.getMixedOffsets(), op.getMixedSizes(), op.getMixedStrides())) {
    auto requireAtLeast = [&, dim = dim](StringRef what, OpFoldResult number, int64_t least) {
      requirements.require(number, plan::Comparison::AtLeast, sizeBuilder.constant(least),
                           "expected " + what + " of at least " + Twine(least) + " in dim " +
                               Twine(dim));
    };
    requireAtLeast("an offset", offset, 0);
    requireAtLeast("a size", size, 0);
    requireAtLeast("a stride", stride, 1);
    OpFoldResult last =
        sizeBuilder.add(offset, sizeBuilder.mul(sizeBuilder.sub(size, one), stride));
    std::string what;
    llvm::raw_string_ostream(what)
        << "expected a slice within dim " << dim << " of " << whole.getType();
    requirements.require(sizeBuilder.mul(isRead, sizeBuilder.add(last, one)),
                         plan::Comparison::AtMost, sizeBuilder.size(whole, dim), what);
  }
}

LogicalResult requireIndices(array::RequirementBuilder &requirements, linalg::LinalgOp op) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  auto isLoop = [](AffineExpr expr) { return isa<AffineDimExpr>(expr); };
  if (llvm::all_of(maps, [&](AffineMap map) { return llvm::all_of(map.getResults(), isLoop); }))
    return success();
  LoopSizes sizes = getLoopSizes(requirements.getSizes(), op);
  if (llvm::is_contained(sizes.exprs, getAffineConstantExpr(0, op.getContext())) ||
      llvm::is_contained(sizes.exprs, AffineExpr()))
    return success();
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<RankedTensorType>(operand.get().getType()))
      continue;
    for (auto [dim, index] : llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults())) {
      if (isLoop(index))
        continue;
      if (getMagnitude(index, sizes.exprs) > kMostPlace)
        return op.emitOpError("expected places ")
               << describe(index) << " in dim " << dim << " of " << operand.get().getType()
               << " that are made of numbers up to " << kMostPlace << ", got larger ones";
      std::optional<IndexBounds> bounds = boundIndex(index, sizes.exprs);
      if (!bounds)
        return op.emitOpError("cannot tell the places ")
               << describe(index) << " in dim " << dim << " of " << operand.get().getType()
               << " from sizes: a loop that occurs more than once lets them rise and fall, with "
                  "another of unknown size, or in too many steps";
      requireWithin(requirements, operand, dim, index, *bounds, sizes.symbols);
    }
  }
  return success();
}

} // namespace xc
