//===- RowNumbers.cpp - A number for each row and how it was computed -----===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/Transforms/RowNumbers.h"

#include "compiler/Dialect/Array/IR/Sizes.h"
#include "compiler/Dialect/Array/IR/TensorTypes.h"

using namespace mlir;

namespace xc::array {

RowNumber::RowNumber(Value value, int64_t rank, MatchedOps &ops) : ops(ops) {
  isValid = typeOf(value).getRank() <= rank;
  if (isValid)
    view = View::of(value).alignedTo(rank);
  look();
}

void RowNumber::moveTo(Value operand) {
  isValid = isValid && typeOf(operand).getShape() == typeOf(view.source).getShape();
  if (!isValid)
    return;
  ops.add(view.source.getDefiningOp());
  view.source = operand;
  look();
}

void RowNumber::look() {
  for (Operation *op = isValid ? view.source.getDefiningOp() : nullptr; op;
       op = view.source.getDefiningOp()) {
    if (!view.step(kRepeats))
      return;
    ops.add(op);
  }
}

/// How many elements `axes` hold; nothing where that is not known.
static std::optional<int64_t> countAlong(Value value, ArrayRef<int64_t> axes) {
  return mulSizes(
      llvm::map_to_vector(axes, [&](int64_t axis) { return typeOf(value).getDimSize(axis); }));
}

Value RowNumber::takeMean(SmallVectorImpl<int64_t> &axes) {
  std::optional<double> divisor;
  if (auto div = as<DivOp>()) {
    divisor = getSplat(div.getRhs());
    moveTo(div.getLhs());
  } else if (auto mul = as<MulOp>()) {
    std::optional<double> factor = getSplat(mul.getRhs());
    if (factor && *factor != 0)
      divisor = 1 / *factor;
    moveTo(mul.getLhs());
  }
  SmallVector<int64_t> map;
  Value operand;
  if (auto mean = as<MeanOp>(); mean && !divisor) {
    axes.assign(mean.getAxes().begin(), mean.getAxes().end());
    operand = mean.getOperand();
    map = getReducedDims(typeOf(operand).getRank(), axes, mean.getKeepdims());
  } else if (auto sum = as<ReduceOp>(); sum && divisor && sum.getKind() == ReduceKind::Sum) {
    axes.assign(sum.getAxes().begin(), sum.getAxes().end());
    operand = sum.getOperand();
    map = getReducedDims(typeOf(operand).getRank(), axes, sum.getKeepdims());
  }
  if (!operand || axes.empty() || typeOf(operand).getRank() != int64_t(view.dims.size()))
    return {};
  std::optional<int64_t> count = countAlong(operand, axes);
  if (divisor && (!count || std::abs(*divisor - double(*count)) > 1e-6 * double(*count)))
    return {};
  ops.add(view.source.getDefiningOp());
  view.follow(operand, map);
  for (auto [dim, own] : llvm::enumerate(view.dims))
    if (own != View::kNone && own != int64_t(dim))
      return {};
  return operand;
}

Value skipConverts(Value value, MatchedOps &ops) {
  while (auto convert = value.getDefiningOp<ConvertOp>()) {
    if (!isa<FloatType>(typeOf(convert.getOperand()).getElementType()))
      break;
    ops.add(convert);
    value = convert.getOperand();
  }
  return value;
}

} // namespace xc::array
