//===- RopeOp.cpp - Rotary position embedding -===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/ExpressionBuilder.h"

using namespace mlir;

namespace xc::array {

using Values = SmallVector<Value>;

LogicalResult RopeOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                       Adaptor adaptor, SmallVectorImpl<Type> &inferred) {
  RuleContext rule{location, getOperationName()};
  auto type = cast<RankedTensorType>(adaptor.getOperand().getType());
  auto positions = cast<RankedTensorType>(adaptor.getPositions().getType());
  if (type.getRank() == 0 || type.isDynamicDim(type.getRank() - 1) ||
      type.getShape().back() % 2 != 0)
    return rule.error("expected a last dim of even static size, got ", type);
  ArrayRef<int64_t> outer = type.getShape().drop_back();
  FailureOr<Dims> shape =
      broadcastShapes({std::nullopt, getOperationName()}, outer, positions.getShape());
  if (failed(shape) || failed(verifyCompatibleShape(*shape, outer)))
    return rule.error("expected positions that broadcast to ", formatDims(outer), ", got ",
                      positions);
  double base = adaptor.getBase().convertToDouble();
  if (!(base > 0))
    return rule.error("expected a base above 0, got ", base);
  inferred.push_back(RankedTensorType::get(type.getShape(), type.getElementType()));
  return success();
}

LogicalResult RopeOp::reifyResultShapes(OpBuilder &builder, ReifiedRankedShapedTypeDims &shapes) {
  return reifyAs(getType(), SizeBuilder(builder, getLoc()).sizes(getOperand()), builder, shapes);
}

/// The features `start`, `start + stride`, ... of the last dim, `count` of them.
static Value features(ExpressionBuilder &e, Value x, int64_t start, int64_t count, int64_t stride) {
  int64_t rank = cast<RankedTensorType>(x.getType()).getRank();
  SmallVector<int64_t> starts(rank, 0), limits(rank, ShapedType::kDynamic), strides(rank, 1);
  starts.back() = start;
  limits.back() = start + (count - 1) * stride + 1;
  strides.back() = stride;
  return e.make<SliceOp>(x, starts, limits, strides);
}

FailureOr<Values> RopeOp::decompose(OpBuilder &builder) {
  ExpressionBuilder e(builder, getLoc());
  Value x = e.widen(getOperand());
  auto type = cast<RankedTensorType>(x.getType());
  int64_t rank = type.getRank(), size = type.getShape().back(), half = size / 2;
  if (half == 0)
    return Values{e.finish(x, getType())};

  SmallVector<double> frequencies;
  for (int64_t pair = 0; pair < half; ++pair)
    frequencies.push_back(std::pow(getBase().convertToDouble(), -2.0 * pair / size));
  Value positions = e.convert(getPositions(), type.getElementType());
  Value column = e.make<ExpandDimsOp>(positions, getPositions().getType().getRank());
  Value angles = e.mul(column, e.constant(frequencies, half, x));
  Value cos = e.make<CosOp>(angles), sin = e.make<SinOp>(angles);

  bool interleaved = getInterleaved();
  Value first = features(e, x, 0, half, interleaved ? 2 : 1);
  Value second = features(e, x, interleaved ? 1 : half, half, interleaved ? 2 : 1);
  Value newFirst = e.sub(e.mul(first, cos), e.mul(second, sin));
  Value newSecond = e.add(e.mul(second, cos), e.mul(first, sin));
  if (!interleaved) {
    Value joined = e.make<ConcatenateOp>(ValueRange{newFirst, newSecond}, rank - 1);
    return Values{e.finish(joined, getType())};
  }
  // Pairs become a dim of their own, which then merges into the last one.
  Value firsts = e.make<ExpandDimsOp>(newFirst, rank);
  Value seconds = e.make<ExpandDimsOp>(newSecond, rank);
  Value pairs = e.make<ConcatenateOp>(ValueRange{firsts, seconds}, rank);
  Value joined = e.make<ReshapeOp>(type, pairs, e.dynamicSizes(x));
  return Values{e.finish(joined, getType())};
}

FailureOr<Values> RopeOp::buildVjp(OpBuilder &builder, ValueRange cotangents) {
  ExpressionBuilder e(builder, getLoc());
  // A rotation's transposed is the rotation back. Unsigned positions have no negative.
  Value positions = getPositions();
  if (isa<IntegerType>(getElementTypeOrSelf(positions.getType())))
    positions = e.convert(positions, builder.getI64Type());
  Value back = e.make<RopeOp>(cotangents.front(), e.make<NegOp>(positions), getBaseAttr(),
                              getInterleavedAttr());
  return Values{e.finish(back, getOperand().getType()), Value()};
}

} // namespace xc::array
