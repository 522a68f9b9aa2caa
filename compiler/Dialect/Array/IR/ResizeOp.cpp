//===- ResizeOp.cpp - Resampling dims to other sizes -===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Positions and weights depend on the sizes alone, so they are constants.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/ExpressionBuilder.h"

using namespace mlir;

namespace xc::array {

using Values = SmallVector<Value>;

LogicalResult ResizeOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                         Adaptor adaptor, SmallVectorImpl<Type> &inferred) {
  RuleContext rule{location, getOperationName()};
  auto type = cast<RankedTensorType>(adaptor.getOperand().getType());
  ArrayRef<int64_t> axes = adaptor.getAxes(), sizes = adaptor.getSizes();
  if (failed(checkAxes(rule, axes, type.getRank())))
    return failure();
  if (axes.size() != sizes.size())
    return rule.error("expected a size for each of axes ", formatDims(axes), ", got ",
                      formatDims(sizes));
  Dims shape(type.getShape());
  for (auto [axis, size] : llvm::zip_equal(axes, sizes)) {
    if (ShapedType::isDynamic(shape[axis]) || shape[axis] == 0)
      return rule.error("expected dim ", axis, " to be of static size and not empty, got ", type);
    if (size < 0)
      return rule.error("expected sizes that are not negative, got ", formatDims(sizes));
    shape[axis] = size;
  }
  inferred.push_back(RankedTensorType::get(shape, type.getElementType()));
  return success();
}

LogicalResult ResizeOp::reifyResultShapes(OpBuilder &builder, ReifiedRankedShapedTypeDims &shapes) {
  SmallVector<OpFoldResult> sizes = SizeBuilder(builder, getLoc()).sizes(getOperand());
  for (auto [axis, size] : llvm::zip_equal(getAxes(), getSizes()))
    sizes[axis] = builder.getIndexAttr(size);
  return reifyAs(getType(), std::move(sizes), builder, shapes);
}

/// Where position `o` of `out` lies in a dim of size `in`.
static double sourcePosition(int64_t o, int64_t in, int64_t out, bool alignCorners) {
  double position = (o + 0.5) * in / out - 0.5;
  if (alignCorners)
    position = out == 1 ? 0 : static_cast<double>(o) * (in - 1) / (out - 1);
  return std::clamp<double>(position, 0, in - 1);
}

/// `x` with the elements `positions` of dim `axis`.
static Value pick(ExpressionBuilder &e, Value x, int64_t axis, ArrayRef<int64_t> positions) {
  auto indexType = RankedTensorType::get(static_cast<int64_t>(positions.size()),
                                         IntegerType::get(x.getContext(), 64));
  Value indices = e.make<ConstantOp>(DenseElementsAttr::get(indexType, positions));
  return e.make<TakeOp>(x, indices, axis);
}

static Value resizeAxis(ExpressionBuilder &e, Value x, int64_t axis, int64_t out, ResizeMode mode,
                        bool alignCorners) {
  auto type = cast<RankedTensorType>(x.getType());
  int64_t in = type.getDimSize(axis);
  SmallVector<int64_t> nearest, below, above;
  SmallVector<double> weights;
  for (int64_t o = 0; o < out; ++o) {
    double position = sourcePosition(o, in, out, alignCorners);
    nearest.push_back(std::min<int64_t>(std::floor(position + 0.5), in - 1));
    below.push_back(std::floor(position));
    above.push_back(std::min<int64_t>(below.back() + 1, in - 1));
    weights.push_back(position - below.back());
  }
  if (mode == ResizeMode::Nearest)
    return pick(e, x, axis, nearest);
  // Along the last dims the weights broadcast.
  SmallVector<int64_t> shape(type.getRank() - axis, 1);
  shape.front() = out;
  Value low = pick(e, x, axis, below), high = pick(e, x, axis, above);
  return e.add(low, e.mul(e.sub(high, low), e.constant(weights, shape, x)));
}

FailureOr<Values> ResizeOp::decompose(OpBuilder &builder) {
  ExpressionBuilder e(builder, getLoc());
  bool nearest = getMode() == ResizeMode::Nearest;
  Value x = nearest ? getOperand() : e.widen(getOperand());
  for (auto [axis, size] : llvm::zip_equal(getAxes(), getSizes()))
    x = resizeAxis(e, x, axis, size, getMode(), getAlignCorners());
  return Values{e.finish(x, getType())};
}

} // namespace xc::array
