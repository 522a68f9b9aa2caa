//===- TMTensorDialect.cpp - What stands beside linalg in Torch-MLIR ------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Verifiers check what the import relies on: how many tensors there are, and of which ranks.
//
//===----------------------------------------------------------------------===//

#include "compiler/Input/TMTensor/TMTensor.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace xc::tm_tensor;

#include "compiler/Input/TMTensor/TMTensorOpsDialect.cpp.inc"

void TMTensorDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "compiler/Input/TMTensor/TMTensorOps.cpp.inc"
      >();
}

static int64_t rankOf(Value value) { return cast<RankedTensorType>(value.getType()).getRank(); }

static LogicalResult verifyCounts(Operation *op, OperandRange inputs, OperandRange outputs,
                                  size_t least, size_t most, size_t wantedOutputs) {
  if (inputs.size() < least || inputs.size() > most)
    return op->emitOpError("expected ")
           << least << (most > least ? " or " + std::to_string(most) : "") << " inputs, got "
           << inputs.size();
  if (outputs.size() != wantedOutputs)
    return op->emitOpError("expected ") << wantedOutputs << " outputs, got " << outputs.size();
  if (op->getNumResults() != outputs.size())
    return op->emitOpError("expected a result for each of ")
           << outputs.size() << " outputs, got " << op->getNumResults();
  return success();
}

/// A body of `arguments` scalars that gives one.
static LogicalResult verifyBody(Operation *op, size_t arguments) {
  Block &body = op->getRegion(0).front();
  if (body.getNumArguments() != arguments)
    return op->emitOpError("expected a body of ")
           << arguments << " arguments, got " << body.getNumArguments();
  auto yield = dyn_cast<YieldOp>(body.getTerminator());
  if (!yield || yield.getOperands().size() != 1)
    return op->emitOpError("expected a body that ends with a tm_tensor.yield of one value");
  return success();
}

static LogicalResult verifyDimension(Operation *op, int64_t dimension, Value tensor) {
  if (dimension < 0 || dimension >= rankOf(tensor))
    return op->emitOpError("expected a dimension of ") << tensor.getType() << ", got " << dimension;
  return success();
}

LogicalResult ScanOp::verify() {
  if (failed(verifyCounts(*this, getInputs(), getOutputs(), 1, 1, 2)) ||
      failed(verifyBody(*this, 2)))
    return failure();
  Value input = getInputs()[0];
  if (rankOf(getOutputs()[0]) != rankOf(input) || rankOf(getOutputs()[1]) != rankOf(input) - 1)
    return emitOpError("expected outputs of ranks ")
           << rankOf(input) << " and " << rankOf(input) - 1 << ", got " << rankOf(getOutputs()[0])
           << " and " << rankOf(getOutputs()[1]);
  return verifyDimension(*this, getDimension(), input);
}

LogicalResult ScatterOp::verify() {
  if (failed(verifyCounts(*this, getInputs(), getOutputs(), 2, 2, 1)) ||
      failed(verifyBody(*this, 2)))
    return failure();
  auto indices = cast<RankedTensorType>(getInputs()[1].getType());
  auto depth = static_cast<int64_t>(getDimensionMap().size());
  if (indices.getRank() != 2 || indices.getDimSize(1) != depth ||
      !isa<IntegerType>(indices.getElementType()))
    return emitOpError("expected rows of ") << depth << " integers as indices, got " << indices;
  if (rankOf(getInputs()[0]) < 1)
    return emitOpError("expected an update for each row of indices, got ")
           << getInputs()[0].getType();
  for (int64_t dim : getDimensionMap())
    if (failed(verifyDimension(*this, dim, getOutputs()[0])))
      return failure();
  return success();
}

LogicalResult SortOp::verify() {
  size_t count = getOutputs().size();
  if (failed(verifyCounts(*this, getInputs(), getOutputs(), 0, 0, std::max<size_t>(count, 1))) ||
      failed(verifyBody(*this, count + count)))
    return failure();
  for (Value output : getOutputs())
    if (failed(verifyDimension(*this, getDimension(), output)))
      return failure();
  return success();
}

LogicalResult TopKOp::verify() {
  if (failed(verifyCounts(*this, getInputs(), getOutputs(), 1, 2, 2)) ||
      failed(verifyBody(*this, 2)))
    return failure();
  for (Value tensor : getOperands())
    if (rankOf(tensor) != rankOf(getInputs()[0]))
      return emitOpError("expected tensors of one rank, got ")
             << getInputs()[0].getType() << " and " << tensor.getType();
  return verifyDimension(*this, getDimension(), getInputs()[0]);
}

LogicalResult AttentionOp::verify() {
  if (failed(verifyCounts(*this, getInputs(), getOutputs(), 3, 4, 1)))
    return failure();
  for (Value tensor : getOperands())
    if (rankOf(tensor) < 2 || rankOf(tensor) != rankOf(getInputs()[0]))
      return emitOpError("expected tensors of one rank of at least 2, got ")
             << getInputs()[0].getType() << " and " << tensor.getType();
  return success();
}

#define GET_OP_CLASSES
#include "compiler/Input/TMTensor/TMTensorOps.cpp.inc"
