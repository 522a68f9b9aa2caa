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
// The sum of something times a number for each row is that number times a sum that the program
// computes anyway: so the gradient of a mean is what the gradient of a bias has, too.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/TensorTypes.h"
#include "compiler/Dialect/Array/Transforms/Recognizers.h"
#include "compiler/Dialect/Array/Transforms/RowNumbers.h"

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

//===----------------------------------------------------------------------===//
// Sums of multiples
//===----------------------------------------------------------------------===//

namespace {
/// A value as numbers for each row times another value.
struct Multiple {
  Value rest;
  bool isNegated = false;
  SmallVector<std::pair<Value, bool>> factors; ///< and whether it is divided by
};
} // namespace

static Multiple splitMultiple(Value value, ArrayRef<int64_t> axes) {
  Multiple multiple;
  ArrayRef<int64_t> shape = typeOf(value).getShape();
  auto isWhole = [&](Value operand) { return typeOf(operand).getShape() == shape; };
  while (Operation *op = value.getDefiningOp()) {
    MatchedOps unused;
    auto isFactor = [&](unsigned index) {
      return isWhole(op->getOperand(1 - index)) &&
             isSameAlong(op->getOperand(index), shape.size(), axes);
    };
    if (Value before = skipConverts(value, unused); before != value) {
      value = before;
    } else if (isa<NegOp>(op)) {
      multiple.isNegated = !multiple.isNegated;
      value = op->getOperand(0);
    } else if (isa<MulOp, DivOp>(op) && isFactor(1)) {
      multiple.factors.push_back({op->getOperand(1), isa<DivOp>(op)});
      value = op->getOperand(0);
    } else if (isa<MulOp>(op) && isFactor(0)) {
      multiple.factors.push_back({op->getOperand(0), false});
      value = op->getOperand(1);
    } else {
      break;
    }
  }
  multiple.rest = value;
  return multiple;
}

/// The sum of `value` as `like` sums something up, which is before that.
static ReduceOp findSum(Value value, ReduceOp like) {
  SmallVector<Operation *> users(value.getUsers());
  for (unsigned i = 0; i < users.size(); ++i) {
    if (auto convert = dyn_cast<ConvertOp>(users[i]); convert && isa<FloatType>(elementOf(convert)))
      users.append(convert->user_begin(), convert->user_end());
    auto sum = dyn_cast<ReduceOp>(users[i]);
    if (sum && sum != like && sum.getKind() == ReduceKind::Sum && sum.getType() == like.getType() &&
        sum.getAxes() == like.getAxes() && sum->getBlock() == like->getBlock() &&
        sum->isBeforeInBlock(like))
      return sum;
  }
  return {};
}

/// `factor`, which is the same along the axes of `sum`, for each of its results.
static Value reduceFactor(Value factor, ReduceOp sum, ExpressionBuilder &e) {
  int64_t rank = typeOf(sum.getOperand()).getRank();
  View view = View::of(factor, kRepeats).alignedTo(rank);
  SmallVector<int64_t> order, missing;
  for (int64_t dim : getReducedDims(rank, sum.getAxes(), sum.getKeepdims())) {
    int64_t own = dim == View::kNone ? View::kNone : view.dims[dim];
    if (own == View::kNone)
      missing.push_back(order.size() + missing.size());
    else
      order.push_back(own);
  }
  Value value = arrange(view.source, order, e);
  return missing.empty() ? value : e.make<ExpandDimsOp>(value, missing);
}

Value recognizeScaledSum(Operation *root, ExpressionBuilder &e) {
  auto sum = dyn_cast<ReduceOp>(root);
  if (!sum || sum.getKind() != ReduceKind::Sum || sum.getAxes().empty() ||
      !isa<FloatType>(elementOf(sum)) || !sum.getType().hasStaticShape())
    return {};
  Multiple multiple = splitMultiple(sum.getOperand(), sum.getAxes());
  bool isScaled = multiple.isNegated || !multiple.factors.empty();
  ReduceOp other = isScaled ? findSum(multiple.rest, sum) : ReduceOp();
  if (!other)
    return {};
  Value result = e.widen(other.getResult());
  for (auto [factor, isDivisor] : llvm::reverse(multiple.factors)) {
    Value number = e.convert(reduceFactor(factor, sum, e), elementOf(result));
    result = isDivisor ? e.div(result, number) : e.mul(result, number);
  }
  if (multiple.isNegated)
    result = e.make<NegOp>(result);
  return e.finish(result, sum.getType());
}

} // namespace xc::array
