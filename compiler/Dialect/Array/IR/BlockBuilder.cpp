//===- BlockBuilder.cpp - What loops over blocks are made of --------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/BlockBuilder.h"
#include "compiler/Dialect/Array/IR/TensorTypes.h"

using namespace mlir;

namespace xc::array {

using Values = SmallVector<Value>;

int64_t BlockBuilder::findMaskDim(Value mask, int64_t fromLast) {
  int64_t at = mask ? typeOf(mask).getRank() - 1 - fromLast : -1;
  return at >= 0 && typeOf(mask).getDimSize(at) != 1 ? at : -1;
}

Value BlockBuilder::number(OpFoldResult size) {
  if (std::optional<int64_t> constant = getConstantIntValue(size))
    return number(*constant);
  return e.make<FromIndexOp>(RankedTensorType::get({}, builder.getI64Type()), sizes.value(size));
}

Values BlockBuilder::getStarts(int64_t rank, ArrayRef<Side> sides) {
  Values starts(rank, number(int64_t(0)));
  for (const Side &side : sides)
    starts[side.dim] = side.begin;
  return starts;
}

Value BlockBuilder::slice(Value value, ArrayRef<Side> sides) {
  RankedTensorType type = typeOf(value);
  SmallVector<OpFoldResult> box = sizes.sizes(value);
  for (const Side &side : sides)
    box[side.dim] = side.size;
  SmallVector<int64_t> shape;
  Values dynamic;
  for (OpFoldResult size : box) {
    shape.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
    if (ShapedType::isDynamic(shape.back()))
      dynamic.push_back(sizes.value(size));
  }
  return e.make<DynamicSliceOp>(type.clone(shape), value, getStarts(type.getRank(), sides),
                                dynamic);
}

Value BlockBuilder::update(Value whole, ArrayRef<Side> sides, Value part) {
  return e.make<DynamicUpdateSliceOp>(whole, part, getStarts(typeOf(whole).getRank(), sides));
}

Value BlockBuilder::zeros(ArrayRef<OpFoldResult> shape, Type element) {
  SmallVector<int64_t> known;
  Values dynamic;
  dispatchIndexOpFoldResults(shape, dynamic, known);
  auto type = RankedTensorType::get(known, element);
  auto zero = DenseElementsAttr::get(RankedTensorType::get({}, element),
                                     cast<Attribute>(builder.getZeroAttr(element)));
  return e.make<BroadcastInDimOp>(type, e.make<ConstantOp>(zero), dynamic, ArrayRef<int64_t>());
}

Values BlockBuilder::loop(Values inits, llvm::function_ref<Value(Value)> isMore,
                          llvm::function_ref<Values(ValueRange)> build) {
  auto loop = WhileOp::create(builder, location, ValueRange(inits).getTypes(), inits);
  SmallVector<Location> places(inits.size(), location);
  OpBuilder::InsertionGuard guard(builder);
  Block *condition = builder.createBlock(&loop.getCondition(), {}, loop.getResultTypes(), places);
  YieldOp::create(builder, location, isMore(condition->getArgument(0)));
  Block *body = builder.createBlock(&loop.getBody(), {}, loop.getResultTypes(), places);
  Values next = build(body->getArguments());
  for (auto [value, type] : llvm::zip_equal(next, loop.getResultTypes()))
    value = e.finish(value, type);
  YieldOp::create(builder, location, next);
  return Values(loop.getResults());
}

Value BlockBuilder::maskRepeated(Value value, int64_t dim, OpFoldResult size, Value start,
                                 Value place) {
  std::optional<int64_t> constant = getConstantIntValue(size);
  Values dynamic;
  if (!constant)
    dynamic.push_back(sizes.value(size));
  auto type = RankedTensorType::get(constant.value_or(ShapedType::kDynamic), builder.getI64Type());
  Value position = e.add(e.make<IotaOp>(type, dynamic, /*axis=*/int64_t(0)), place);
  Value isNew = e.compare(CompareDirection::Ge, position, start);
  SmallVector<int64_t> others;
  for (int64_t other = dim + 1; other < typeOf(value).getRank(); ++other)
    others.push_back(other - dim);
  if (!others.empty())
    isNew = e.make<ExpandDimsOp>(isNew, others);
  return e.select(isNew, value, e.scalar(0, value));
}

} // namespace xc::array
