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

Value ExpressionBuilder::constant(ArrayRef<double> values, ArrayRef<int64_t> shape, Value like) {
  Type element = getElementTypeOrSelf(like.getType());
  SmallVector<Attribute> attributes;
  for (double value : values) {
    if (auto integer = dyn_cast<IntegerType>(element))
      attributes.push_back(builder.getIntegerAttr(integer, static_cast<int64_t>(value)));
    else
      attributes.push_back(builder.getFloatAttr(element, value));
  }
  auto type = RankedTensorType::get(shape, element);
  return make<ConstantOp>(DenseElementsAttr::get(type, attributes));
}

Value ExpressionBuilder::scalar(double value, Value like) { return constant(value, {}, like); }

Value ExpressionBuilder::integer(int64_t number, Type element) {
  auto type = RankedTensorType::get({}, element);
  return make<ConstantOp>(
      cast<ElementsAttr>(DenseElementsAttr::get(type, builder.getIntegerAttr(element, number))));
}

Value ExpressionBuilder::number(OpFoldResult size, Type element) {
  auto type = RankedTensorType::get({}, element);
  if (std::optional<int64_t> constant = getConstantIntValue(size))
    return isa<FloatType>(element)
               ? make<ConstantOp>(cast<ElementsAttr>(DenseElementsAttr::get(
                     type, builder.getFloatAttr(element, static_cast<double>(*constant)))))
               : integer(*constant, element);
  return make<FromIndexOp>(type, SizeBuilder(builder, location).value(size));
}

Value ExpressionBuilder::iota(OpFoldResult size, Type element, int64_t ones) {
  SmallVector<int64_t> shape(1 + ones, 1);
  SmallVector<Value> sizes;
  std::optional<int64_t> constant = getConstantIntValue(size);
  shape[0] = constant.value_or(ShapedType::kDynamic);
  if (!constant)
    sizes.push_back(SizeBuilder(builder, location).value(size));
  return make<IotaOp>(RankedTensorType::get(shape, element), sizes, /*axis=*/uint64_t(0));
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
  if (std::optional<int64_t> constant = getConstantIntValue(elements))
    return scalar(static_cast<double>(std::max<int64_t>(*constant - correction, 0)), value);
  auto type = RankedTensorType::get({}, getElementTypeOrSelf(value.getType()));
  Value result = make<FromIndexOp>(type, sizes.value(elements));
  if (correction == 0)
    return result;
  // Not on sizes, which are not negative.
  result = make<SubOp>(result, scalar(static_cast<double>(correction), value));
  return make<MaxOp>(result, scalar(0, value));
}

Value ExpressionBuilder::mean(Value value, ArrayRef<int64_t> axes, bool keepdims) {
  Value sum = reduce(ReduceKind::Sum, value, axes, keepdims);
  return make<DivOp>(sum, count(value, axes));
}

Value ExpressionBuilder::zerosLike(Value like) {
  return make<BroadcastInDimOp>(like.getType(), scalar(0, like), dynamicSizes(like),
                                ArrayRef<int64_t>());
}

Value ExpressionBuilder::sizeLess(Value value, int64_t dim, int64_t distance, Type element) {
  SizeBuilder sizes(builder, location);
  OpFoldResult size = sizes.size(value, dim);
  if (std::optional<int64_t> constant = getConstantIntValue(size))
    return integer(*constant - distance, element);
  // Not on sizes, which are not negative.
  Value count = make<FromIndexOp>(RankedTensorType::get({}, element), sizes.value(size));
  return distance == 0 ? count : sub(count, integer(distance, element));
}

SmallVector<Value> ExpressionBuilder::dynamicSizes(Value value) {
  SizeBuilder sizeBuilder(builder, location);
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<Value> sizes;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (type.isDynamicDim(dim))
      sizes.push_back(sizeBuilder.value(sizeBuilder.size(value, dim)));
  return sizes;
}

Value ExpressionBuilder::broadcastLike(Value value, Value like) {
  auto shape = cast<RankedTensorType>(like.getType()).getShape();
  auto type = cast<RankedTensorType>(value.getType()).clone(shape);
  if (value.getType() == type)
    return value;
  auto axes = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  return make<BroadcastInDimOp>(type, value, dynamicSizes(like), axes);
}

Value ExpressionBuilder::sumToShape(Value value, Value like) {
  auto type = cast<RankedTensorType>(value.getType());
  auto wanted = cast<RankedTensorType>(like.getType());
  int64_t added = type.getRank() - wanted.getRank();
  SmallVector<int64_t> leading = llvm::to_vector(llvm::seq<int64_t>(0, added));
  SmallVector<int64_t> axes = leading;
  for (int64_t dim = 0; dim < wanted.getRank(); ++dim)
    if (wanted.getDimSize(dim) == 1 && type.getDimSize(added + dim) != 1)
      axes.push_back(added + dim);
  if (!axes.empty())
    value = reduce(ReduceKind::Sum, value, axes);
  if (!leading.empty())
    value = make<SqueezeOp>(value, leading);
  return finish(value, wanted);
}

} // namespace xc::array
