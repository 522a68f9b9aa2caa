//===- ShapeFolds.cpp - Folds of ops that move elements -===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/ArrayOps.h"
#include "compiler/Dialect/Array/IR/Sizes.h"

#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace xc::array {

/// A constant of `type` whose element at each index is `elements`' at the index
/// that `source` gives. Null where that is not small.
static DenseElementsAttr
foldMove(Attribute elements, RankedTensorType type,
         function_ref<void(ArrayRef<int64_t> index, MutableArrayRef<int64_t> from)> source) {
  auto constant = dyn_cast_if_present<DenseElementsAttr>(elements);
  if (!constant || constant.empty() || !type.hasStaticShape())
    return {};
  if (constant.isSplat())
    return constant.resizeSplat(type);
  ArrayRef<int64_t> fromShape = constant.getType().getShape();
  if (constant.getNumElements() > maxFoldedElements || type.getNumElements() > maxFoldedElements)
    return {};
  SmallVector<APInt> bits = elementBits(constant), result;
  SmallVector<int64_t> index(type.getRank(), 0), from(fromShape.size(), 0);
  for (int64_t element = 0; element < type.getNumElements(); ++element) {
    source(index, from);
    int64_t position = 0;
    for (auto [size, i] : llvm::zip_equal(fromShape, from))
      position = position * size + i; // in range: within the constant
    result.push_back(bits[position]);
    for (int64_t dim = type.getRank() - 1; dim >= 0 && ++index[dim] == type.getDimSize(dim); --dim)
      index[dim] = 0;
  }
  return elementsFromBits(type, result);
}

//===----------------------------------------------------------------------===//
// Transpose and reverse
//===----------------------------------------------------------------------===//

OpFoldResult TransposeOp::fold(FoldAdaptor adaptor) {
  ArrayRef<int64_t> permutation = getPermutation();
  if (llvm::equal(permutation, llvm::seq<int64_t>(0, permutation.size())) &&
      getOperand().getType() == getType())
    return getOperand();
  if (auto inner = getOperand().getDefiningOp<TransposeOp>()) {
    SmallVector<int64_t> composed;
    for (int64_t dim : permutation)
      composed.push_back(inner.getPermutation()[dim]);
    setOperand(inner.getOperand());
    setPermutation(composed);
    return getResult();
  }
  return foldMove(adaptor.getOperand(), getType(),
                  [&](ArrayRef<int64_t> index, MutableArrayRef<int64_t> from) {
                    for (auto [dim, i] : llvm::zip_equal(permutation, index))
                      from[dim] = i;
                  });
}

OpFoldResult ReverseOp::fold(FoldAdaptor adaptor) {
  bool allTrivial = llvm::all_of(
      getAxes(), [&](int64_t axis) { return getOperand().getType().getDimSize(axis) == 1; });
  if (allTrivial && getOperand().getType() == getType())
    return getOperand();
  auto inner = getOperand().getDefiningOp<ReverseOp>();
  if (inner && inner.getAxes() == getAxes() && inner.getOperand().getType() == getType())
    return inner.getOperand();
  return foldMove(adaptor.getOperand(), getType(),
                  [&](ArrayRef<int64_t> index, MutableArrayRef<int64_t> from) {
                    llvm::copy(index, from.begin());
                    for (int64_t axis : getAxes())
                      from[axis] = getType().getDimSize(axis) - 1 - index[axis];
                  });
}

//===----------------------------------------------------------------------===//
// Slice, concatenate, pad
//===----------------------------------------------------------------------===//

/// The operand of `joined` that `slice` takes as it is; null if there is none.
static Value findSlicedPart(SliceOp slice, ConcatenateOp joined) {
  int64_t axis = joined.getAxis(), begin = 0;
  for (auto [dim, start, stride] : llvm::enumerate(slice.getStarts(), slice.getStrides()))
    if (stride != 1 || (int64_t(dim) != axis && start != 0))
      return {};
  for (Value part : joined.getOperands()) {
    auto type = cast<RankedTensorType>(part.getType());
    if (type.isDynamicDim(axis))
      return {};
    if (begin == slice.getStarts()[axis] && type == slice.getType() && type.hasStaticShape())
      return part;
    begin += type.getDimSize(axis);
  }
  return {};
}

OpFoldResult SliceOp::fold(FoldAdaptor adaptor) {
  if (auto joined = getOperand().getDefiningOp<ConcatenateOp>())
    if (Value part = findSlicedPart(*this, joined))
      return part;
  auto isWhole = [&](auto range) {
    auto [start, limit, stride, size] = range;
    return start == 0 && stride == 1 && (ShapedType::isDynamic(limit) || limit == size);
  };
  auto ranges =
      llvm::zip_equal(getStarts(), getLimits(), getStrides(), getOperand().getType().getShape());
  if (llvm::all_of(ranges, isWhole) && getOperand().getType() == getType())
    return getOperand();
  return foldMove(
      adaptor.getOperand(), getType(), [&](ArrayRef<int64_t> index, MutableArrayRef<int64_t> from) {
        for (auto [dim, i] : llvm::enumerate(index))
          from[dim] = getStarts()[dim] + i * getStrides()[dim]; // in range: within the operand
      });
}

OpFoldResult ConcatenateOp::fold(FoldAdaptor adaptor) {
  if (getOperands().size() == 1 && getOperands().front().getType() == getType())
    return getOperands().front();
  RankedTensorType type = getType();
  if (!type.hasStaticShape() || type.getNumElements() > maxFoldedElements)
    return {};
  // Row-major order: the operands' blocks of the dims from `axis` on alternate.
  SmallVector<SmallVector<APInt>> parts;
  SmallVector<int64_t> blocks;
  for (auto [operand, attribute] : llvm::zip_equal(getOperands(), adaptor.getOperands())) {
    auto constant = dyn_cast_if_present<DenseElementsAttr>(attribute);
    if (!constant)
      return {};
    blocks.push_back(multiplyKnown(constant.getType().getShape().drop_front(getAxis())));
    parts.push_back(constant.empty() ? SmallVector<APInt>() : elementBits(constant));
    if (!parts.back().empty())
      parts.back().resize(constant.getNumElements(), parts.back().front());
  }
  int64_t outer = multiplyKnown(type.getShape().take_front(getAxis()));
  SmallVector<APInt> result;
  for (int64_t row = 0; row < outer; ++row)
    for (auto [part, block] : llvm::zip_equal(parts, blocks))
      llvm::append_range(result, ArrayRef<APInt>(part).slice(row * block, block));
  return elementsFromBits(type, result);
}

namespace {
/// Drops empty operands, and joins what joins along the same dim already.
struct FlattenConcatenate : OpRewritePattern<ConcatenateOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ConcatenateOp op, PatternRewriter &rewriter) const override {
    SmallVector<Value> operands;
    for (Value operand : op.getOperands()) {
      auto inner = operand.getDefiningOp<ConcatenateOp>();
      if (inner && inner.getAxis() == op.getAxis())
        llvm::append_range(operands, inner.getOperands());
      else if (cast<RankedTensorType>(operand.getType()).getDimSize(op.getAxis()) != 0)
        operands.push_back(operand);
    }
    if (operands.empty() || llvm::equal(operands, op.getOperands()))
      return rewriter.notifyMatchFailure(op, "no operand is empty or joined along this dim");
    SmallVector<Type> inferred;
    if (failed(ConcatenateOp::inferReturnTypes(op.getContext(), std::nullopt, operands,
                                               op->getDiscardableAttrDictionary(),
                                               op->getPropertiesStorage(), {}, inferred)) ||
        !areCompatibleTypes(inferred, op->getResultTypes()))
      return rewriter.notifyMatchFailure(op, "the operands contradict each other");
    rewriter.replaceOpWithNewOp<ConcatenateOp>(op, op.getType(), operands, op.getAxis());
    return success();
  }
};
} // namespace

void ConcatenateOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<FlattenConcatenate>(context);
}

OpFoldResult PadOp::fold(FoldAdaptor adaptor) {
  auto isZero = [](int64_t amount) { return amount == 0; };
  bool noInterior = !getInterior() || llvm::all_of(*getInterior(), isZero);
  if (llvm::all_of(getLow(), isZero) && llvm::all_of(getHigh(), isZero) && noInterior &&
      getOperand().getType() == getType())
    return getOperand();
  auto splat = dyn_cast_if_present<SplatElementsAttr>(adaptor.getOperand());
  auto value = dyn_cast_if_present<SplatElementsAttr>(adaptor.getValue());
  if (splat && value && getType().hasStaticShape() && elementBits(splat) == elementBits(value))
    return splat.resizeSplat(getType());
  return {};
}

} // namespace xc::array
