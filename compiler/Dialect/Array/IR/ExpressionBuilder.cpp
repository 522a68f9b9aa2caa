//===- ExpressionBuilder.cpp - Writes array expressions briefly -===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/ExpressionBuilder.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace xc::array {

Value ExpressionBuilder::scalar(double value, Value like) {
  Type element = getElementTypeOrSelf(like.getType());
  auto type = RankedTensorType::get({}, element);
  Attribute attribute;
  if (auto integer = dyn_cast<IntegerType>(element))
    attribute = builder.getIntegerAttr(integer, static_cast<int64_t>(value));
  else
    attribute = builder.getFloatAttr(element, value);
  return make<ConstantOp>(DenseElementsAttr::get(type, attribute));
}

Value ExpressionBuilder::convert(Value value, Type element) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getElementType() == element)
    return value;
  return make<ConvertOp>(type.clone(element), value);
}

Value ExpressionBuilder::widen(Value value) {
  Type element = getElementTypeOrSelf(value.getType());
  bool narrow = element.isF16() || element.isBF16();
  return narrow ? convert(value, builder.getF32Type()) : value;
}

Value ExpressionBuilder::finish(Value value, Type type) {
  value = convert(value, getElementTypeOrSelf(type));
  if (value.getType() == type)
    return value;
  return make<tensor::CastOp>(type, value);
}

Value ExpressionBuilder::reduce(ReduceKind kind, Value value, ArrayRef<int64_t> axes,
                                bool keepdims) {
  return make<ReduceOp>(kind, value, axes, keepdims);
}

Value ExpressionBuilder::count(Value value, ArrayRef<int64_t> axes, int64_t correction) {
  SizeBuilder sizes(builder, location);
  OpFoldResult elements = sizes.constant(1);
  for (int64_t axis : axes)
    elements = sizes.mul(elements, sizes.size(value, axis));
  if (correction != 0)
    elements = sizes.max(sizes.sub(elements, sizes.constant(correction)), sizes.constant(0));
  if (std::optional<int64_t> constant = getConstantIntValue(elements))
    return scalar(static_cast<double>(*constant), value);
  auto type = RankedTensorType::get({}, getElementTypeOrSelf(value.getType()));
  return make<FromIndexOp>(type, sizes.value(elements));
}

Value ExpressionBuilder::mean(Value value, ArrayRef<int64_t> axes, bool keepdims) {
  Value sum = reduce(ReduceKind::Sum, value, axes, keepdims);
  return make<DivOp>(sum, count(value, axes));
}

} // namespace xc::array
