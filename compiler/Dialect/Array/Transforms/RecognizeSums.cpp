//===- RecognizeSums.cpp - Sums that are known ----------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Distances from a mean sum up to 0, times a number for each row as well. The gradient of a
// variance by its mean is such a sum: automatic differentiation leaves it there, and it waits for
// the sums that the gradient by the variance is made of. Without such a number it may be what a
// program corrects a mean by, which rounding has left off, and stays.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/TensorTypes.h"
#include "compiler/Dialect/Array/Transforms/Recognizers.h"
#include "compiler/Dialect/Array/Transforms/RowNumbers.h"
#include "compiler/Dialect/Array/Transforms/Views.h"

using namespace mlir;

namespace xc::array {

/// Whether `value` is the same along `axes` of a tensor of `rank` dims, as an elementwise op reads
/// it.
static bool isSameAlong(Value value, int64_t rank, ArrayRef<int64_t> axes) {
  View view = View::of(value, kRepeats).alignedTo(rank);
  return llvm::all_of(axes, [&](int64_t axis) { return view.dims[axis] == View::kNone; });
}

/// `value` without factors that are the same along `axes`: the operand that has its shape. Null if
/// all of them are constants.
static Value dropFactors(Value value, ArrayRef<int64_t> axes) {
  bool hasFactor = false;
  ArrayRef<int64_t> shape = typeOf(value).getShape();
  auto isWhole = [&](Value operand) { return typeOf(operand).getShape() == shape; };
  auto isFactor = [&](Value operand) {
    if (getSplat(operand))
      return true;
    bool isSame = isSameAlong(operand, shape.size(), axes);
    hasFactor |= isSame;
    return isSame;
  };
  while (Operation *op = value.getDefiningOp()) {
    MatchedOps unused;
    if (Value before = skipConverts(value, unused); before != value)
      value = before;
    else if (isa<NegOp>(op))
      value = op->getOperand(0);
    else if (isa<MulOp, DivOp>(op) && isWhole(op->getOperand(0)) && isFactor(op->getOperand(1)))
      value = op->getOperand(0);
    else if (isa<MulOp>(op) && isWhole(op->getOperand(1)) && isFactor(op->getOperand(0)))
      value = op->getOperand(1);
    else
      break;
  }
  return hasFactor ? value : Value();
}

Value recognizeDistanceSum(Operation *root, ExpressionBuilder &e) {
  auto sum = dyn_cast<ReduceOp>(root);
  if (!sum || sum.getKind() != ReduceKind::Sum || sum.getAxes().empty() ||
      !isa<FloatType>(sum.getType().getElementType()) || !sum.getType().hasStaticShape())
    return {};
  SmallVector<int64_t> axes(sum.getAxes());
  Value rest = dropFactors(sum.getOperand(), axes);
  auto distance = rest ? rest.getDefiningOp<SubOp>() : nullptr;
  if (!distance || typeOf(distance.getLhs()).getShape() != typeOf(distance.getResult()).getShape())
    return {};
  MatchedOps unused;
  SmallVector<int64_t> meanAxes;
  RowNumber mean(distance.getRhs(), typeOf(distance.getResult()).getRank(), unused);
  Value of = mean.takeMean(meanAxes);
  if (!of || meanAxes != axes ||
      skipConverts(of, unused) != skipConverts(distance.getLhs(), unused))
    return {};
  return e.zerosLike(sum.getResult());
}

} // namespace xc::array
