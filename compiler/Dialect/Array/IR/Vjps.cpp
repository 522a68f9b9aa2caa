//===- Vjps.cpp - Gradients of ops that are not elementwise -===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/Broadcasts.h"
#include "compiler/Dialect/Array/IR/ExpressionBuilder.h"
#include "compiler/Dialect/Array/IR/Sizes.h"
#include "compiler/Dialect/Array/IR/TensorTypes.h"

using namespace mlir;

namespace xc::array {

using Values = SmallVector<Value>;

//===----------------------------------------------------------------------===//
// Shape
//===----------------------------------------------------------------------===//

/// The sum of `value` over what dim `dim` of `like`, of size 1 or that of `value`, was repeated to:
/// each element is repeated as many times as the sizes' quotient says.
static Value sumRepeats(ExpressionBuilder &e, Value value, Value like, int64_t dim) {
  SizeBuilder sizeBuilder(e.getBuilder(), value.getLoc());
  SmallVector<OpFoldResult> sizes = sizeBuilder.sizes(value);
  OpFoldResult one = sizeBuilder.constant(1), count = sizeBuilder.size(like, dim);
  OpFoldResult repeats = sizeBuilder.floorDiv(sizes[dim], sizeBuilder.max(count, one));
  sizes[dim] = count;
  sizes.insert(sizes.begin() + dim + 1, repeats);
  SmallVector<int64_t> shape;
  Values dynamic;
  dispatchIndexOpFoldResults(sizes, dynamic, shape);
  Value split = e.make<ReshapeOp>(RankedTensorType::get(shape, typeOf(value).getElementType()),
                                  value, dynamic);
  return e.reduce(ReduceKind::Sum, split, dim + 1, /*keepdims=*/false);
}

FailureOr<Values> BroadcastInDimOp::buildVjp(OpBuilder &builder, ValueRange cotangents) {
  if (!isFloat(getResult()))
    return failure();
  ExpressionBuilder e(builder, getLoc());
  SmallVector<int64_t> added, repeated;
  for (int64_t dim = 0; dim < getType().getRank(); ++dim)
    if (!llvm::is_contained(getAxes(), dim))
      added.push_back(dim);
  for (int64_t dim = 0; dim < getOperand().getType().getRank(); ++dim)
    if (getRepeat(*this, dim) == Repeat::Always)
      repeated.push_back(dim);
  Value sum = e.reduce(ReduceKind::Sum, cotangents.front(), added, /*keepdims=*/false);
  sum = e.reduce(ReduceKind::Sum, sum, repeated);
  for (int64_t dim = 0; dim < getOperand().getType().getRank(); ++dim)
    if (getRepeat(*this, dim) == Repeat::AtRunTime)
      sum = sumRepeats(e, sum, getOperand(), dim);
  Values results(getNumOperands());
  results.front() = e.finish(sum, getOperand().getType());
  return results;
}

FailureOr<Values> ReshapeOp::buildVjp(OpBuilder &builder, ValueRange cotangents) {
  if (!isFloat(getResult()))
    return failure();
  ExpressionBuilder e(builder, getLoc());
  Values sizes = e.dynamicSizes(getOperand()), results(getNumOperands());
  results.front() = e.make<ReshapeOp>(getOperand().getType(), cotangents.front(), sizes);
  return results;
}

FailureOr<Values> TransposeOp::buildVjp(OpBuilder &builder, ValueRange cotangents) {
  if (!isFloat(getResult()))
    return failure();
  ExpressionBuilder e(builder, getLoc());
  SmallVector<int64_t> inverse(getPermutation().size());
  for (auto [to, from] : llvm::enumerate(getPermutation()))
    inverse[from] = to;
  Value moved = e.make<TransposeOp>(cotangents.front(), inverse);
  return Values{e.finish(moved, getOperand().getType())};
}

FailureOr<Values> ConcatenateOp::buildVjp(OpBuilder &builder, ValueRange cotangents) {
  if (!isFloat(getResult()))
    return failure();
  ExpressionBuilder e(builder, getLoc());
  int64_t rank = getType().getRank();
  // Every operand but the last says where the next begins.
  if (llvm::any_of(getOperands().drop_back(),
                   [&](Value operand) { return typeOf(operand).isDynamicDim(getAxis()); })) {
    Values starts(rank, e.integer(0, builder.getI64Type())), parts;
    Value &start = starts[getAxis()];
    for (Value operand : getOperands()) {
      parts.push_back(e.make<DynamicSliceOp>(operand.getType(), cotangents.front(), starts,
                                             e.dynamicSizes(operand)));
      start = e.add(start, e.sizeLess(operand, getAxis(), 0, builder.getI64Type()));
    }
    return parts;
  }
  SmallVector<int64_t> starts(rank, 0), limits(rank, ShapedType::kDynamic), strides(rank, 1);
  Values parts;
  for (Value operand : getOperands()) {
    int64_t size = typeOf(operand).getDimSize(getAxis());
    bool open = ShapedType::isDynamic(size);
    limits[getAxis()] = open ? size : starts[getAxis()] + size;
    Value part = e.make<SliceOp>(cotangents.front(), starts, limits, strides);
    parts.push_back(e.finish(part, operand.getType()));
    starts[getAxis()] = limits[getAxis()];
  }
  return parts;
}

FailureOr<Values> ReverseOp::buildVjp(OpBuilder &builder, ValueRange cotangents) {
  if (!isFloat(getResult()))
    return failure();
  ExpressionBuilder e(builder, getLoc());
  Value reversed = e.make<ReverseOp>(cotangents.front(), getAxes());
  return Values{e.finish(reversed, getOperand().getType())};
}

/// Rank-0 constants of type i64.
static Values makeStarts(ExpressionBuilder &e, ArrayRef<int64_t> starts) {
  return llvm::map_to_vector(
      starts, [&](int64_t start) { return e.integer(start, e.getBuilder().getI64Type()); });
}

FailureOr<Values> SliceOp::buildVjp(OpBuilder &builder, ValueRange cotangents) {
  if (!isFloat(getResult()))
    return failure();
  ExpressionBuilder e(builder, getLoc());
  RankedTensorType type = getOperand().getType();
  Value g = cotangents.front();
  SmallVector<int64_t> low(getStarts()), high, interior;
  // The amounts to pad are attributes, so they have to be known; a box can be put anywhere.
  bool isPadded = true, isBox = true;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    int64_t stride = getStrides()[dim], taken = getType().getDimSize(dim),
            size = type.getDimSize(dim);
    interior.push_back(stride - 1);
    isBox &= stride == 1;
    if (ShapedType::isDynamic(size)) {
      isPadded &= low[dim] == 0 && ShapedType::isDynamic(getLimits()[dim]) && stride == 1;
      high.push_back(0);
      continue;
    }
    int64_t span = spreadKnown(taken, stride);
    high.push_back(size - low[dim] - span);
  }
  if (!isPadded) {
    if (!isBox) {
      SmallVector<int64_t> none(type.getRank(), 0);
      g = e.make<PadOp>(g, e.scalar(0, g), none, none, builder.getDenseI64ArrayAttr(interior));
    }
    Value placed =
        e.make<DynamicUpdateSliceOp>(e.zerosLike(getOperand()), g, makeStarts(e, getStarts()));
    return Values{e.finish(placed, type)};
  }
  auto spaces = builder.getDenseI64ArrayAttr(interior);
  return Values{e.make<PadOp>(type, g, e.scalar(0, g), builder.getDenseI64ArrayAttr(low),
                              builder.getDenseI64ArrayAttr(high), spaces)};
}

/// The elements of `value` that come from `operand`, which was padded by `low` and spread: a box
/// that reaches from its first element to its last one, without what lies between them.
static Value takePadded(ExpressionBuilder &e, Value value, Value operand, ArrayRef<int64_t> low,
                        ArrayRef<int64_t> strides) {
  SizeBuilder sizeBuilder(e.getBuilder(), value.getLoc());
  SmallVector<OpFoldResult> sizes = sizeBuilder.sizes(operand);
  OpFoldResult zero = sizeBuilder.constant(0), one = sizeBuilder.constant(1);
  for (auto [size, stride] : llvm::zip_equal(sizes, strides))
    if (stride != 1) {
      OpFoldResult gaps = sizeBuilder.max(sizeBuilder.sub(size, one), zero);
      size = sizeBuilder.add(size, sizeBuilder.mul(gaps, sizeBuilder.constant(stride - 1)));
    }
  SmallVector<int64_t> shape;
  Values dynamic;
  dispatchIndexOpFoldResults(sizes, dynamic, shape);
  auto type = RankedTensorType::get(shape, typeOf(value).getElementType());
  Value box = e.make<DynamicSliceOp>(type, value, makeStarts(e, low), dynamic);
  if (llvm::all_of(strides, [](int64_t stride) { return stride == 1; }))
    return box;
  SmallVector<int64_t> starts(shape.size(), 0), limits(shape.size(), ShapedType::kDynamic);
  return e.make<SliceOp>(box, starts, limits, strides);
}

FailureOr<Values> PadOp::buildVjp(OpBuilder &builder, ValueRange cotangents) {
  if (!isFloat(getResult()))
    return failure();
  ExpressionBuilder e(builder, getLoc());
  Value g = cotangents.front();
  SmallVector<int64_t> limits, strides;
  // A slice has to know its end; a box does not.
  bool isSlice = true;
  for (auto [dim, size] : llvm::enumerate(getOperand().getType().getShape())) {
    int64_t stride = getInterior() ? (*getInterior())[dim] + 1 : 1;
    strides.push_back(stride);
    if (ShapedType::isDynamic(size)) {
      isSlice &= getLow()[dim] == 0 && getHigh()[dim] == 0 && stride == 1;
      limits.push_back(size);
      continue;
    }
    int64_t span = spreadKnown(size, stride);
    limits.push_back(getLow()[dim] + span);
  }
  Value inner = isSlice ? e.make<SliceOp>(g, getLow(), limits, strides)
                        : takePadded(e, g, getOperand(), getLow(), strides);
  // The padding value got what did not come from the operand.
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(0, getType().getRank()));
  Value all = e.reduce(ReduceKind::Sum, g, axes, /*keepdims=*/false);
  Value kept = e.reduce(ReduceKind::Sum, inner, axes, /*keepdims=*/false);
  return Values{e.finish(inner, getOperand().getType()), e.sub(all, kept)};
}

FailureOr<Values> DynamicSliceOp::buildVjp(OpBuilder &builder, ValueRange cotangents) {
  if (!isFloat(getResult()))
    return failure();
  ExpressionBuilder e(builder, getLoc());
  Value placed =
      e.make<DynamicUpdateSliceOp>(e.zerosLike(getOperand()), cotangents.front(), getStarts());
  Values results(getNumOperands());
  results.front() = e.finish(placed, getOperand().getType());
  return results;
}

FailureOr<Values> DynamicUpdateSliceOp::buildVjp(OpBuilder &builder, ValueRange cotangents) {
  if (!isFloat(getResult()))
    return failure();
  ExpressionBuilder e(builder, getLoc());
  Value g = cotangents.front();
  Value kept = e.make<DynamicUpdateSliceOp>(g, e.zerosLike(getUpdate()), getStarts());
  Values results(getNumOperands());
  results[0] = e.finish(kept, getOperand().getType());
  results[1] =
      e.make<DynamicSliceOp>(getUpdate().getType(), g, getStarts(), e.dynamicSizes(getUpdate()));
  return results;
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// The cotangent of a reduction's result with the reduced dims back, as size 1.
static Value restoreDims(ExpressionBuilder &e, Value g, ArrayRef<int64_t> axes, bool keepdims) {
  return keepdims ? g : e.make<ExpandDimsOp>(g, axes);
}

/// `g` times the product of all others along `axes`, for each element of `x`. Products leave zeros
/// out: with one zero only its place gets something, with more none does.
static Value productSlope(ExpressionBuilder &e, Value g, Value x, ArrayRef<int64_t> axes) {
  x = e.widen(x);
  Value zero = e.scalar(0, x);
  Value isZero = e.compare(CompareDirection::Eq, x, zero);
  Value others = e.select(isZero, e.scalar(1, x), x);
  Value zeros = e.reduce(ReduceKind::Sum, e.convert(isZero, e.getBuilder().getI64Type()), axes);
  auto hasZeros = [&](double count) {
    return e.compare(CompareDirection::Eq, zeros, e.scalar(count, zeros));
  };
  Value product = e.mul(e.widen(g), e.reduce(ReduceKind::Prod, others, axes));
  return e.select(isZero, e.select(hasZeros(1), product, zero),
                  e.select(hasZeros(0), e.div(product, others), zero));
}

FailureOr<Values> ReduceOp::buildVjp(OpBuilder &builder, ValueRange cotangents) {
  ReduceKind kind = getKind();
  bool extremum = kind == ReduceKind::Max || kind == ReduceKind::Min;
  if (!isFloat(getResult()))
    return failure();
  ExpressionBuilder e(builder, getLoc());
  Value g = restoreDims(e, cotangents.front(), getAxes(), getKeepdims());
  if (extremum) {
    // All elements that attain the extremum share it evenly.
    Value result = restoreDims(e, getResult(), getAxes(), getKeepdims());
    Value attains = e.compare(CompareDirection::Eq, getOperand(), result);
    Value ones = e.convert(attains, getType().getElementType());
    Value share = e.div(g, e.reduce(ReduceKind::Sum, ones, getAxes()));
    return Values{e.finish(e.select(attains, share, e.scalar(0, g)), getOperand().getType())};
  }
  if (kind == ReduceKind::Prod)
    return Values{e.finish(productSlope(e, g, getOperand(), getAxes()), getOperand().getType())};
  return Values{e.broadcastLike(g, getOperand())};
}

FailureOr<Values> MeanOp::buildVjp(OpBuilder &builder, ValueRange cotangents) {
  ExpressionBuilder e(builder, getLoc());
  Value g = restoreDims(e, cotangents.front(), getAxes(), getKeepdims());
  Value share = e.div(g, e.count(getOperand(), getAxes()));
  return Values{e.broadcastLike(share, getOperand())};
}

FailureOr<Values> SoftmaxOp::buildVjp(OpBuilder &builder, ValueRange cotangents) {
  ExpressionBuilder e(builder, getLoc());
  int64_t axis = getAxis();
  Value g = cotangents.front(), y = getResult();
  Value sum = e.reduce(ReduceKind::Sum, e.mul(g, y), axis);
  return Values{e.finish(e.mul(y, e.sub(g, sum)), getOperand().getType())};
}

FailureOr<Values> LogSoftmaxOp::buildVjp(OpBuilder &builder, ValueRange cotangents) {
  ExpressionBuilder e(builder, getLoc());
  int64_t axis = getAxis();
  Value g = cotangents.front();
  Value sum = e.reduce(ReduceKind::Sum, g, axis);
  Value spread = e.mul(e.make<ExpOp>(getResult()), sum);
  return Values{e.finish(e.sub(g, spread), getOperand().getType())};
}

//===----------------------------------------------------------------------===//
// Matmul
//===----------------------------------------------------------------------===//

/// The product of two stacks of matrices, summed up over the stacks: one product, over both. `sums`
/// are the dims of their matrices that it sums over, 0 or 1.
static Value productOfStacks(ExpressionBuilder &e, Value lhs, int64_t lhsSum, Value rhs,
                             int64_t rhsSum, bool allowTf32) {
  int64_t batch = typeOf(lhs).getRank() - 2;
  auto lhsDims = llvm::to_vector(llvm::seq<int64_t>(0, batch)), rhsDims = lhsDims;
  lhsDims.push_back(batch + lhsSum);
  rhsDims.push_back(batch + rhsSum);
  ArrayRef<int64_t> none;
  return e.make<DotGeneralOp>(lhs, rhs, none, none, lhsDims, rhsDims, allowTf32);
}

FailureOr<Values> MatMulOp::buildVjp(OpBuilder &builder, ValueRange cotangents) {
  if (!isFloat(getResult()))
    return failure();
  ExpressionBuilder e(builder, getLoc());
  Value g = e.convert(cotangents.front(), getLhs().getType().getElementType());
  bool transposeA = getTransposeA(), transposeB = getTransposeB();
  auto product = [&](Value a, Value b, bool ta, bool tb) {
    return e.make<MatMulOp>(a, b, ta, tb, getAllowTf32());
  };
  // What one matrix gets that all of a stack have been multiplied with.
  bool isStack = getType().getRank() > 2;
  auto stacks = [&](Value a, int64_t sumA, Value b, int64_t sumB, Value like) {
    return e.finish(productOfStacks(e, a, sumA, b, sumB, getAllowTf32()), like.getType());
  };
  // With C = A B: dA = dC B^T and dB = A^T dC; the transposed of that, where the
  // operand came in transposed.
  Value lhs, rhs;
  if (isStack && getLhs().getType().getRank() == 2)
    lhs = transposeA ? stacks(getRhs(), !transposeB, g, 1, getLhs())
                     : stacks(g, 1, getRhs(), !transposeB, getLhs());
  else
    lhs = e.sumToShape(transposeA ? product(getRhs(), g, transposeB, true)
                                  : product(g, getRhs(), false, !transposeB),
                       getLhs());
  if (isStack && getRhs().getType().getRank() == 2)
    rhs = transposeB ? stacks(g, 0, getLhs(), transposeA, getRhs())
                     : stacks(getLhs(), transposeA, g, 0, getRhs());
  else
    rhs = e.sumToShape(transposeB ? product(g, getLhs(), true, transposeA)
                                  : product(getLhs(), g, !transposeA, false),
                       getRhs());
  return Values{lhs, rhs};
}

/// The cotangent of one operand of a dot_general, `operand`, from that of the result and the other
/// operand. The result's dims that come from `other` begin at `otherDims`.
static Value dotBack(ExpressionBuilder &e, Value g, Value operand, ArrayRef<int64_t> batch,
                     ArrayRef<int64_t> contract, ArrayRef<int64_t> freeDims, Value other,
                     ArrayRef<int64_t> otherBatch, ArrayRef<int64_t> otherContract,
                     ArrayRef<int64_t> otherFree, int64_t otherDims, bool allowTf32) {
  auto batchDims = llvm::to_vector(llvm::seq<int64_t>(0, batch.size()));
  auto summedDims = llvm::to_vector(llvm::seq<int64_t>(otherDims, otherDims + otherFree.size()));
  Value product =
      e.make<DotGeneralOp>(g, other, batchDims, otherBatch, summedDims, otherFree, allowTf32);
  // Its dims: batch, the operand's own, those that were contracted in the order of `other`.
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, contract.size()));
  llvm::sort(order, [&](int64_t a, int64_t b) { return otherContract[a] < otherContract[b]; });
  SmallVector<int64_t> owners(batch);
  llvm::append_range(owners, freeDims);
  for (int64_t pair : order)
    owners.push_back(contract[pair]);
  SmallVector<int64_t> permutation(owners.size());
  for (auto [position, dim] : llvm::enumerate(owners))
    permutation[dim] = position;
  return e.finish(e.make<TransposeOp>(product, permutation), operand.getType());
}

FailureOr<Values> DotGeneralOp::buildVjp(OpBuilder &builder, ValueRange cotangents) {
  if (!isFloat(getResult()))
    return failure();
  ExpressionBuilder e(builder, getLoc());
  Value g = e.convert(cotangents.front(), getLhs().getType().getElementType());
  SmallVector<int64_t> lhsFree = getFreeDims(getLhs(), getLhsBatch(), getLhsContract()),
                       rhsFree = getFreeDims(getRhs(), getRhsBatch(), getRhsContract());
  int64_t batch = getLhsBatch().size(), rows = lhsFree.size();
  return Values{dotBack(e, g, getLhs(), getLhsBatch(), getLhsContract(), lhsFree, getRhs(),
                        getRhsBatch(), getRhsContract(), rhsFree, batch + rows, getAllowTf32()),
                dotBack(e, g, getRhs(), getRhsBatch(), getRhsContract(), rhsFree, getLhs(),
                        getLhsBatch(), getLhsContract(), lhsFree, batch, getAllowTf32())};
}

} // namespace xc::array
