//===- ExtentOps.cpp - Dims whose size is data ----------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/ArrayOps.h"
#include "compiler/Dialect/Array/IR/Requirements.h"

using namespace mlir;

namespace xc::array {

/// Checks that `result` is `?` in dim `axis`, where it has an extent, and like `operand` elsewhere.
static LogicalResult verifyExtentResult(Operation *op, RankedTensorType operand, int64_t axis,
                                        RankedTensorType result) {
  if (failed(checkAxis({op->getLoc(), op->getName().getStringRef()}, axis, operand.getRank())))
    return failure();
  Dims shape(operand.getShape());
  shape[axis] = ShapedType::kDynamic;
  RankedTensorType expected = operand.clone(shape);
  if (!areCompatibleTypes(expected, result) || !result.isDynamicDim(axis))
    return op->emitOpError("expected a result like ") << expected << ", got " << result;
  return success();
}

LogicalResult SetExtentOp::verify() {
  return verifyExtentResult(*this, getOperand().getType(), getAxis(), getType());
}

LogicalResult ExtentOp::verify() {
  return checkAxis({getLoc(), getOperationName()}, getAxis(), getOperand().getType().getRank());
}

LogicalResult PadToBoundOp::verify() {
  RankedTensorType operand = getOperand().getType();
  if (!areCompatibleTypes(operand, getType()))
    return emitOpError("expected a result like ") << operand << ", got " << getType();
  Type value = getValue().getType().getElementType();
  if (value != operand.getElementType())
    return emitOpError("expected a value of the operand's element type ")
           << operand.getElementType() << ", got " << value;
  return success();
}

LogicalResult AppendOp::verify() {
  RankedTensorType operand = getOperand().getType(), update = getUpdate().getType();
  int64_t axis = getAxis();
  if (failed(verifyExtentResult(*this, operand, axis, getType())))
    return failure();
  if (!operand.isDynamicDim(axis))
    return emitOpError("expected dim ") << axis << " of the operand to be ?, got " << operand;
  if (update.getRank() != operand.getRank() || update.getElementType() != operand.getElementType())
    return emitOpError("expected an update like ") << operand << ", got " << update;
  for (auto [dim, sizes] : llvm::enumerate(llvm::zip_equal(operand.getShape(), update.getShape())))
    if (static_cast<int64_t>(dim) != axis &&
        !areCompatibleDims(std::get<0>(sizes), std::get<1>(sizes)))
      return emitOpError("expected operand and update equal in all dims but ")
             << axis << ", got " << operand << " and " << update;
  return success();
}

void reifyRequirements(AppendOp op, RequirementBuilder &requirements) {
  int64_t axis = op.getAxis();
  for (int64_t dim = 0, rank = op.getType().getRank(); dim < rank; ++dim)
    if (dim != axis)
      requirements.requireEqualDims(op.getUpdate(), dim, op.getOperand(), dim);
}

/// What the result's type says of the bound is so.
void reifyRequirements(PadToBoundOp op, RequirementBuilder &requirements) {
  RankedTensorType from = op.getOperand().getType();
  for (int64_t dim = 0; dim < from.getRank(); ++dim)
    requirements.requireSizeOfType(requirements.getSizes().size(op.getOperand(), dim), from, dim,
                                   op.getType());
}

LogicalResult CompressOp::verify() {
  RankedTensorType operand = getOperand().getType(), mask = getMask().getType();
  int64_t axis = getAxis();
  if (failed(verifyExtentResult(*this, operand, axis, getType())))
    return failure();
  if (mask.getRank() != 1 || !areCompatibleDims(mask.getDimSize(0), operand.getDimSize(axis)))
    return emitOpError("expected a mask of ")
           << formatDim(operand.getDimSize(axis)) << " elements, got " << mask;
  return success();
}

LogicalResult WithinOp::verify() {
  return checkAxis({getLoc(), getOperationName()}, getAxis(), getOperand().getType().getRank());
}

} // namespace xc::array
