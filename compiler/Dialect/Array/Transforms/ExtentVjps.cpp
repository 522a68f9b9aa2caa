//===- ExtentVjps.cpp - Gradients of ops that set or read extents ---------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All of these move elements, so cotangents are moved back: taken at positions that have the
// extents of what they go to, and 0 where nothing came from. Types do not say which `?` have an
// extent. A take does not need to know: its result has the extent of its indices, which are as many
// as a dim has.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/Transforms/Differentiate.h"

#include "compiler/Dialect/Array/IR/ExpressionBuilder.h"
#include "compiler/Dialect/Array/IR/ShapeRules.h"
#include "compiler/Dialect/Array/IR/TensorTypes.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace xc::array {

using Values = SmallVector<Value>;

namespace {

class ExtentVjps {
public:
  ExtentVjps(OpBuilder &builder, Location location)
      : e(builder, location), sizes(builder, location), element(builder.getI64Type()) {}

  Values build(SetExtentOp op, Value cotangent);
  Values build(CompressOp op, Value cotangent);
  Values build(AppendOp op, Value cotangent);
  Values build(PadToBoundOp op, Value cotangent);

private:
  Value count(Value like, int64_t axis);
  Value getExtent(Value array, int64_t axis) {
    return e.make<ExtentOp>(RankedTensorType::get({}, element), array, axis);
  }
  Value align(Value vector, int64_t rank, int64_t axis);
  Value zeroUnless(Value isKept, Value array, int64_t axis) {
    return e.select(align(isKept, typeOf(array).getRank(), axis), array, e.scalar(0, array));
  }

  ExpressionBuilder e;
  SizeBuilder sizes;
  Type element;
};

} // namespace

/// 0, 1, ... for each element that `like` has along `axis`.
Value ExtentVjps::count(Value like, int64_t axis) {
  OpFoldResult size = sizes.size(like, axis);
  Values dynamic;
  if (!getConstantIntValue(size))
    dynamic.push_back(sizes.value(size));
  auto type =
      RankedTensorType::get(getConstantIntValue(size).value_or(ShapedType::kDynamic), element);
  return e.make<IotaOp>(type, dynamic, /*axis=*/int64_t(0));
}

/// `vector` as an array of `rank` dims that goes along `axis`.
Value ExtentVjps::align(Value vector, int64_t rank, int64_t axis) {
  SmallVector<int64_t> others;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (dim != axis)
      others.push_back(dim);
  return others.empty() ? vector : e.make<ExpandDimsOp>(vector, others);
}

Values ExtentVjps::build(SetExtentOp op, Value cotangent) {
  int64_t axis = op.getAxis();
  Value places = count(op.getOperand(), axis);
  Value isKept = e.compare(CompareDirection::Lt, places, getExtent(op.getResult(), axis));
  Value back = zeroUnless(isKept, e.make<TakeOp>(cotangent, places, axis), axis);
  return {e.finish(back, op.getOperand().getType()), Value()};
}

Values ExtentVjps::build(CompressOp op, Value cotangent) {
  int64_t axis = op.getAxis();
  Value before = e.make<CumSumOp>(e.convert(op.getMask(), element), /*axis=*/0, /*exclusive=*/true,
                                  /*reverse=*/false);
  Value back = zeroUnless(op.getMask(), e.make<TakeOp>(cotangent, before, axis), axis);
  return {e.finish(back, op.getOperand().getType()), Value()};
}

Values ExtentVjps::build(AppendOp op, Value cotangent) {
  int64_t axis = op.getAxis();
  Value old = e.make<TakeOp>(cotangent, count(op.getOperand(), axis), axis);
  Value places = e.add(count(op.getUpdate(), axis), getExtent(op.getOperand(), axis));
  Value fits = e.compare(CompareDirection::Lt, places, getExtent(op.getResult(), axis));
  Value added = zeroUnless(fits, e.make<TakeOp>(cotangent, places, axis), axis);
  return {e.finish(old, op.getOperand().getType()), e.finish(added, op.getUpdate().getType())};
}

Values ExtentVjps::build(PadToBoundOp op, Value cotangent) {
  Value operand = op.getOperand(), back = cotangent, behind = cotangent;
  int64_t rank = typeOf(operand).getRank();
  Value isInside;
  for (int64_t dim = 0; dim < rank; ++dim) {
    if (!typeOf(operand).isDynamicDim(dim))
      continue;
    back = e.make<TakeOp>(back, count(operand, dim), dim);
    Value isBefore = align(
        e.compare(CompareDirection::Lt, count(cotangent, dim), getExtent(operand, dim)), rank, dim);
    isInside = isInside ? e.make<AndOp>(isInside, isBefore) : isBefore;
  }
  behind = isInside ? e.select(isInside, e.scalar(0, cotangent), cotangent) : Value();
  Values results = {e.finish(back, operand.getType()), Value()};
  if (behind)
    results.back() =
        e.finish(e.reduce(ReduceKind::Sum, behind, llvm::to_vector(llvm::seq<int64_t>(0, rank)),
                          /*keepdims=*/false),
                 op.getValue().getType());
  return results;
}

FailureOr<Values> buildExtentVjp(OpBuilder &builder, Operation *op, Value cotangent) {
  if (isa<ExtentOp>(op))
    return Values{Value()}; // a count
  if (!cotangent)
    return failure();
  ExtentVjps vjps(builder, op->getLoc());
  return llvm::TypeSwitch<Operation *, FailureOr<Values>>(op)
      .Case<SetExtentOp, CompressOp, AppendOp, PadToBoundOp>(
          [&](auto extentOp) { return vjps.build(extentOp, cotangent); })
      .Default([](Operation *) { return failure(); });
}

} // namespace xc::array
