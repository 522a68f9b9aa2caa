//===- Vjps.cpp - Gradients of ops that are not elementwise -===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/ExpressionBuilder.h"

using namespace mlir;

namespace xc::array {

using Values = SmallVector<Value>;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

static bool isFloat(Value value) { return isa<FloatType>(typeOf(value).getElementType()); }

//===----------------------------------------------------------------------===//
// Shape
//===----------------------------------------------------------------------===//

FailureOr<Values> BroadcastInDimOp::buildVjp(OpBuilder &builder, ValueRange cotangents) {
  // Whether a `?` was repeated is known at run time only.
  if (!isFloat(getResult()) || !getOperand().getType().hasStaticShape())
    return failure();
  ExpressionBuilder e(builder, getLoc());
  SmallVector<int64_t> added, repeated;
  for (int64_t dim = 0; dim < getType().getRank(); ++dim)
    if (!llvm::is_contained(getAxes(), dim))
      added.push_back(dim);
  for (auto [dim, axis] : llvm::enumerate(getAxes()))
    if (getOperand().getType().getDimSize(dim) == 1 && getType().getDimSize(axis) != 1)
      repeated.push_back(dim);
  Value sum = e.reduce(ReduceKind::Sum, cotangents.front(), added, /*keepdims=*/false);
  sum = e.reduce(ReduceKind::Sum, sum, repeated);
  return Values{e.finish(sum, getOperand().getType())};
}

FailureOr<Values> ReshapeOp::buildVjp(OpBuilder &builder, ValueRange cotangents) {
  if (!isFloat(getResult()))
    return failure();
  ExpressionBuilder e(builder, getLoc());
  Values sizes = e.dynamicSizes(getOperand());
  return Values{e.make<ReshapeOp>(getOperand().getType(), cotangents.front(), sizes)};
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
  // Static slices only: every operand but the last says where the next begins.
  bool placed = llvm::none_of(getOperands().drop_back(), [&](Value operand) {
    return typeOf(operand).isDynamicDim(getAxis());
  });
  if (!isFloat(getResult()) || !placed)
    return failure();
  ExpressionBuilder e(builder, getLoc());
  int64_t rank = getType().getRank();
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

FailureOr<Values> SliceOp::buildVjp(OpBuilder &builder, ValueRange cotangents) {
  // The amounts to pad are attributes.
  if (!isFloat(getResult()) || !getOperand().getType().hasStaticShape())
    return failure();
  ExpressionBuilder e(builder, getLoc());
  RankedTensorType type = getOperand().getType();
  SmallVector<int64_t> low(getStarts()), high, interior;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    int64_t stride = getStrides()[dim], taken = getType().getDimSize(dim);
    if (ShapedType::isDynamic(taken))
      return failure();
    int64_t span = taken == 0 ? 0 : (taken - 1) * stride + 1;
    high.push_back(type.getDimSize(dim) - low[dim] - span);
    interior.push_back(stride - 1);
  }
  Value g = cotangents.front();
  auto spaces = builder.getDenseI64ArrayAttr(interior);
  return Values{e.make<PadOp>(type, g, e.scalar(0, g), builder.getDenseI64ArrayAttr(low),
                              builder.getDenseI64ArrayAttr(high), spaces)};
}

FailureOr<Values> PadOp::buildVjp(OpBuilder &builder, ValueRange cotangents) {
  if (!isFloat(getResult()) || !getOperand().getType().hasStaticShape())
    return failure();
  ExpressionBuilder e(builder, getLoc());
  Value g = cotangents.front();
  SmallVector<int64_t> limits, strides;
  for (auto [dim, size] : llvm::enumerate(getOperand().getType().getShape())) {
    int64_t stride = getInterior() ? (*getInterior())[dim] + 1 : 1;
    int64_t span = size == 0 ? 0 : (size - 1) * stride + 1;
    limits.push_back(getLow()[dim] + span);
    strides.push_back(stride);
  }
  Value inner = e.make<SliceOp>(g, getLow(), limits, strides);
  // The padding value got what did not come from the operand.
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(0, getType().getRank()));
  Value all = e.reduce(ReduceKind::Sum, g, axes, /*keepdims=*/false);
  Value kept = e.reduce(ReduceKind::Sum, inner, axes, /*keepdims=*/false);
  return Values{e.finish(inner, getOperand().getType()), e.sub(all, kept)};
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// The cotangent of a reduction's result with the reduced dims back, as size 1.
static Value restoreDims(ExpressionBuilder &e, Value g, ArrayRef<int64_t> axes, bool keepdims) {
  return keepdims ? g : e.make<ExpandDimsOp>(g, axes);
}

FailureOr<Values> ReduceOp::buildVjp(OpBuilder &builder, ValueRange cotangents) {
  ReduceKind kind = getKind();
  bool extremum = kind == ReduceKind::Max || kind == ReduceKind::Min;
  if (!isFloat(getResult()) || (kind != ReduceKind::Sum && !extremum))
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
  return Values{e.broadcastLike(g, getOperand())};
}

FailureOr<Values> MeanOp::buildVjp(OpBuilder &builder, ValueRange cotangents) {
  ExpressionBuilder e(builder, getLoc());
  Value g = restoreDims(e, cotangents.front(), getAxes(), getKeepdims());
  Value share = e.div(g, e.count(getOperand(), getAxes()));
  return Values{e.broadcastLike(share, getOperand())};
}

FailureOr<Values> CumSumOp::buildVjp(OpBuilder &builder, ValueRange cotangents) {
  if (!isFloat(getResult()))
    return failure();
  ExpressionBuilder e(builder, getLoc());
  // An element counts in all sums that come after it, so these run backwards.
  Value sum = e.make<CumSumOp>(cotangents.front(), getAxis(), getExclusive(), !getReverse());
  return Values{e.finish(sum, getOperand().getType())};
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

FailureOr<Values> MatMulOp::buildVjp(OpBuilder &builder, ValueRange cotangents) {
  if (!isFloat(getResult()))
    return failure();
  ExpressionBuilder e(builder, getLoc());
  Value g = e.convert(cotangents.front(), getLhs().getType().getElementType());
  bool transposeA = getTransposeA(), transposeB = getTransposeB();
  auto product = [&](Value a, Value b, bool ta, bool tb) {
    return e.make<MatMulOp>(a, b, ta, tb, getAllowTf32());
  };
  // With C = A B: dA = dC B^T and dB = A^T dC; the transposed of that, where the
  // operand came in transposed.
  Value lhs = transposeA ? product(getRhs(), g, transposeB, true)
                         : product(g, getRhs(), false, !transposeB);
  Value rhs = transposeB ? product(g, getLhs(), true, transposeA)
                         : product(getLhs(), g, !transposeA, false);
  return Values{e.sumToShape(lhs, getLhs()), e.sumToShape(rhs, getRhs())};
}

//===----------------------------------------------------------------------===//
// Indexing
//===----------------------------------------------------------------------===//

/// Zeros of the type of `like`.
static Value zerosLike(ExpressionBuilder &e, Value like) {
  return e.make<BroadcastInDimOp>(like.getType(), e.scalar(0, like), e.dynamicSizes(like),
                                  ArrayRef<int64_t>());
}

/// What `gather(operand[indices] axes)` sends back to `operand`. The gather
/// clamps its indices, which a scatter would skip.
static FailureOr<Value> scatterBack(ExpressionBuilder &e, Value g, Value operand, Value indices,
                                    ArrayRef<int64_t> axes) {
  auto element = cast<IntegerType>(typeOf(indices).getElementType());
  auto highest = APInt::getMaxValue(element.getWidth());
  if (!element.isUnsigned())
    highest = APInt::getSignedMaxValue(element.getWidth());
  SmallVector<APInt> limits;
  for (int64_t axis : axes) {
    int64_t size = typeOf(operand).getDimSize(axis);
    if (ShapedType::isDynamic(size))
      return failure();
    uint64_t last = std::min<uint64_t>(std::max<int64_t>(size - 1, 0), highest.getZExtValue());
    limits.emplace_back(element.getWidth(), last);
  }
  auto limitType = RankedTensorType::get(static_cast<int64_t>(axes.size()), element);
  Value limit = e.make<ConstantOp>(DenseElementsAttr::get(limitType, limits));
  Value clamped = e.make<ClampOp>(e.scalar(0, indices), indices, limit);
  return e.make<ScatterOp>(ScatterKind::Add, zerosLike(e, operand), clamped, g, axes,
                           /*unique=*/false);
}

FailureOr<Values> GatherOp::buildVjp(OpBuilder &builder, ValueRange cotangents) {
  if (!isFloat(getResult()))
    return failure();
  ExpressionBuilder e(builder, getLoc());
  FailureOr<Value> back = scatterBack(e, cotangents.front(), getOperand(), getIndices(), getAxes());
  if (failed(back))
    return failure();
  return Values{e.finish(*back, getOperand().getType()), Value()};
}

FailureOr<Values> TakeOp::buildVjp(OpBuilder &builder, ValueRange cotangents) {
  if (!isFloat(getResult()) || getOperand().getType().isDynamicDim(getAxis()))
    return failure();
  ExpressionBuilder e(builder, getLoc());
  int64_t axis = getAxis(), indexRank = getIndices().getType().getRank();
  // Updates have the dims of the indices first.
  SmallVector<int64_t> permutation;
  for (int64_t dim = 0; dim < indexRank; ++dim)
    permutation.push_back(axis + dim);
  for (int64_t dim = 0; dim < getType().getRank(); ++dim)
    if (dim < axis || dim >= axis + indexRank)
      permutation.push_back(dim);
  Value g = e.make<TransposeOp>(cotangents.front(), permutation);
  Value vectors = e.make<ExpandDimsOp>(getIndices(), indexRank);
  FailureOr<Value> back = scatterBack(e, g, getOperand(), vectors, axis);
  if (failed(back))
    return failure();
  return Values{e.finish(*back, getOperand().getType()), Value()};
}

/// True where the index vectors of a scatter lie in its operand, with dims of size 1 for the
/// window.
static FailureOr<Value> isInside(ExpressionBuilder &e, ScatterOp op) {
  Value indices = op.getIndices();
  SmallVector<double> limits;
  for (int64_t axis : op.getAxes()) {
    int64_t size = op.getOperand().getType().getDimSize(axis);
    if (ShapedType::isDynamic(size))
      return failure();
    limits.push_back(static_cast<double>(size));
  }
  Value wide = e.convert(indices, IntegerType::get(op.getContext(), 64));
  Value limit = e.constant(limits, static_cast<int64_t>(limits.size()), wide);
  Value inside = e.make<AndOp>(e.compare(CompareDirection::Ge, wide, e.scalar(0, wide)),
                               e.compare(CompareDirection::Lt, wide, limit));
  int64_t last = typeOf(indices).getRank() - 1;
  inside = e.reduce(ReduceKind::And, inside, last, /*keepdims=*/false);
  SmallVector<int64_t> window;
  for (int64_t dim = last; dim < op.getUpdates().getType().getRank(); ++dim)
    window.push_back(dim);
  return window.empty() ? inside : e.make<ExpandDimsOp>(inside, window);
}

FailureOr<Values> ScatterOp::buildVjp(OpBuilder &builder, ValueRange cotangents) {
  // Of competing updates that replace, it is not known which one counts.
  bool adds = getKind() == ScatterKind::Add,
       replaces = getKind() == ScatterKind::Set && getUnique();
  if (!isFloat(getResult()) || (!adds && !replaces))
    return failure();
  ExpressionBuilder e(builder, getLoc());
  FailureOr<Value> inside = isInside(e, *this);
  if (failed(inside))
    return failure();
  Value g = cotangents.front();
  Value gathered = e.make<GatherOp>(g, getIndices(), getAxes());
  Value updates = e.select(*inside, gathered, e.scalar(0, g));
  Value operand = adds ? g
                       : e.make<ScatterOp>(ScatterKind::Set, g, getIndices(),
                                           zerosLike(e, getUpdates()), getAxes(), /*unique=*/true);
  return Values{e.finish(operand, getOperand().getType()), Value(),
                e.finish(updates, getUpdates().getType())};
}

FailureOr<Values> TakeAlongAxisOp::buildVjp(OpBuilder &builder, ValueRange cotangents) {
  // One element per line, as in a loss over labels: a comparison finds it. More
  // would have to be accumulated.
  RankedTensorType type = getOperand().getType();
  int64_t axis = getAxis(), size = type.getDimSize(axis);
  if (!isFloat(getResult()) || getIndices().getType().getDimSize(axis) != 1 ||
      ShapedType::isDynamic(size))
    return failure();
  ExpressionBuilder e(builder, getLoc());
  Value indices = e.convert(getIndices(), builder.getI64Type());
  Value last = e.scalar(static_cast<double>(size - 1), indices);
  Value clamped = e.make<ClampOp>(e.scalar(0, indices), indices, last);
  Value positions = e.make<IotaOp>(RankedTensorType::get(type.getShape(), builder.getI64Type()),
                                   e.dynamicSizes(getOperand()), axis);
  Value hit = e.compare(CompareDirection::Eq, clamped, positions);
  Value g = cotangents.front();
  return Values{e.finish(e.select(hit, g, e.scalar(0, g)), type), Value()};
}

} // namespace xc::array
