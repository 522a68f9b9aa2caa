//===- ReductionOps.cpp - Reductions -===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/ArrayOps.h"

using namespace mlir;

namespace xc::array {

//===----------------------------------------------------------------------===//
// What reductions share
//===----------------------------------------------------------------------===//

template <typename AdaptorT>
static LogicalResult inferReduction(const RuleContext &rule, AdaptorT adaptor,
                                    SmallVectorImpl<Type> &inferred) {
  auto type = cast<RankedTensorType>(adaptor.getOperand().getType());
  if (failed(checkAxes(rule, adaptor.getAxes(), type.getRank())))
    return failure();
  inferred.push_back(
      RankedTensorType::get(reducedShape(type.getShape(), adaptor.getAxes(), adaptor.getKeepdims()),
                            type.getElementType()));
  return success();
}

static LogicalResult reifyReduction(OpBuilder &builder, Value operand, ArrayRef<int64_t> axes,
                                    bool keepdims, Value result,
                                    ReifiedRankedShapedTypeDims &shapes) {
  SmallVector<OpFoldResult> sizes = SizeBuilder(builder, result.getLoc()).sizes(operand);
  for (int64_t axis : llvm::reverse(axes)) {
    if (keepdims)
      sizes[axis] = builder.getIndexAttr(1);
    else
      sizes.erase(sizes.begin() + axis);
  }
  return reifyAs(result.getType(), std::move(sizes), builder, shapes);
}

//===----------------------------------------------------------------------===//
// Reduce
//===----------------------------------------------------------------------===//

LogicalResult ReduceOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                         Adaptor adaptor, SmallVectorImpl<Type> &inferred) {
  return inferReduction({location, getOperationName()}, adaptor, inferred);
}

LogicalResult ReduceOp::reifyResultShapes(OpBuilder &builder, ReifiedRankedShapedTypeDims &shapes) {
  return reifyReduction(builder, getOperand(), getAxes(), getKeepdims(), getResult(), shapes);
}

LogicalResult verifyReduction(Operation *op, ReduceKind kind, Type element) {
  bool bitwise = kind == ReduceKind::And || kind == ReduceKind::Or;
  if (bitwise && isa<FloatType>(element))
    return op->emitOpError("expected truth values or integers to reduce with ")
           << stringifyReduceKind(kind) << ", got " << element;
  if (!bitwise && element.isSignlessInteger(1))
    return op->emitOpError("expected numbers to reduce with ")
           << stringifyReduceKind(kind) << ", got " << element;
  return success();
}

LogicalResult ReduceOp::verify() {
  return verifyReduction(*this, getKind(), getOperand().getType().getElementType());
}

OpFoldResult ReduceOp::fold(FoldAdaptor) {
  // Over no axes nothing is combined.
  if (getAxes().empty() && getOperand().getType() == getType())
    return getOperand();
  return {};
}

//===----------------------------------------------------------------------===//
// Moments and logsumexp
//===----------------------------------------------------------------------===//

LogicalResult MeanOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                       Adaptor adaptor, SmallVectorImpl<Type> &inferred) {
  return inferReduction({location, getOperationName()}, adaptor, inferred);
}

LogicalResult MeanOp::reifyResultShapes(OpBuilder &builder, ReifiedRankedShapedTypeDims &shapes) {
  return reifyReduction(builder, getOperand(), getAxes(), getKeepdims(), getResult(), shapes);
}

LogicalResult VarOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                      Adaptor adaptor, SmallVectorImpl<Type> &inferred) {
  return inferReduction({location, getOperationName()}, adaptor, inferred);
}

LogicalResult VarOp::reifyResultShapes(OpBuilder &builder, ReifiedRankedShapedTypeDims &shapes) {
  return reifyReduction(builder, getOperand(), getAxes(), getKeepdims(), getResult(), shapes);
}

LogicalResult VarOp::verify() {
  int64_t correction = getCorrection();
  if (correction < 0)
    return emitOpError("expected a correction that is not negative, got ") << correction;
  return success();
}

LogicalResult LogSumExpOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                            Adaptor adaptor, SmallVectorImpl<Type> &inferred) {
  return inferReduction({location, getOperationName()}, adaptor, inferred);
}

LogicalResult LogSumExpOp::reifyResultShapes(OpBuilder &builder,
                                             ReifiedRankedShapedTypeDims &shapes) {
  return reifyReduction(builder, getOperand(), getAxes(), getKeepdims(), getResult(), shapes);
}

//===----------------------------------------------------------------------===//
// Argmax and argmin
//===----------------------------------------------------------------------===//

template <typename AdaptorT>
static LogicalResult inferArg(const RuleContext &rule, AdaptorT adaptor,
                              SmallVectorImpl<Type> &inferred) {
  auto type = cast<RankedTensorType>(adaptor.getOperand().getType());
  int64_t axis = adaptor.getAxis();
  if (failed(checkAxis(rule, axis, type.getRank())))
    return failure();
  if (type.getDimSize(axis) == 0)
    return rule.error("expected dim ", axis, " not to be empty, got ", type);
  // The count's type is the result's to choose; i64 where nobody does.
  inferred.push_back(
      RankedTensorType::get(reducedShape(type.getShape(), axis, adaptor.getKeepdims()),
                            IntegerType::get(type.getContext(), 64)));
  return success();
}

LogicalResult ArgMaxOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                         Adaptor adaptor, SmallVectorImpl<Type> &inferred) {
  return inferArg({location, getOperationName()}, adaptor, inferred);
}

LogicalResult ArgMaxOp::reifyResultShapes(OpBuilder &builder, ReifiedRankedShapedTypeDims &shapes) {
  int64_t axis = getAxis();
  return reifyReduction(builder, getOperand(), axis, getKeepdims(), getResult(), shapes);
}

LogicalResult ArgMinOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                         Adaptor adaptor, SmallVectorImpl<Type> &inferred) {
  return inferArg({location, getOperationName()}, adaptor, inferred);
}

LogicalResult ArgMinOp::reifyResultShapes(OpBuilder &builder, ReifiedRankedShapedTypeDims &shapes) {
  int64_t axis = getAxis();
  return reifyReduction(builder, getOperand(), axis, getKeepdims(), getResult(), shapes);
}

} // namespace xc::array
