//===- ImportTosaShape.cpp - TOSA's computed shapes as sizes --------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A shape is not a tensor: each op that takes one gets its numbers, constants where they are known
// and arithmetic on sizes of inputs where they are not. What makes shapes is erased behind them.
//
//===----------------------------------------------------------------------===//

#include "compiler/Input/ImportTosa.h"

#include "compiler/Dialect/Array/IR/ShapeRules.h"

#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace xc::array;

namespace xc::tosa_import {

using Number = FailureOr<OpFoldResult>;

/// The result of an op on numbers that are known; none where it is not a number of 63 bits.
static std::optional<int64_t> compute(Operation *op, int64_t lhs, int64_t rhs) {
  int64_t result = 0;
  bool isPositive = rhs > 0;
  return llvm::TypeSwitch<Operation *, std::optional<int64_t>>(op)
      .Case([&](tosa::AddShapeOp) {
        return llvm::AddOverflow(lhs, rhs, result) ? std::nullopt : std::optional(result);
      })
      .Case([&](tosa::SubShapeOp) {
        return llvm::SubOverflow(lhs, rhs, result) ? std::nullopt : std::optional(result);
      })
      .Case([&](tosa::MulShapeOp) {
        return llvm::MulOverflow(lhs, rhs, result) ? std::nullopt : std::optional(result);
      })
      .Case([&](tosa::DivCeilShapeOp) {
        return isPositive ? std::optional(llvm::divideCeilSigned(lhs, rhs)) : std::nullopt;
      })
      .Case([&](tosa::DivFloorShapeOp) {
        return isPositive ? std::optional(llvm::divideFloorSigned(lhs, rhs)) : std::nullopt;
      })
      .Case([&](tosa::ModShapeOp) {
        return isPositive ? std::optional(llvm::mod(lhs, rhs)) : std::nullopt;
      })
      .Case([&](tosa::MaxShapeOp) { return std::optional(std::max(lhs, rhs)); })
      .Case([&](tosa::MinShapeOp) { return std::optional(std::min(lhs, rhs)); })
      .Default([](Operation *) { return std::nullopt; });
}

static std::optional<int64_t> compute(Operation *op, int64_t number) {
  if (isa<tosa::Exp2ShapeOp>(op))
    return number >= 0 && number < 63 ? std::optional(int64_t(1) << number) : std::nullopt;
  if (number < 1)
    return std::nullopt;
  return isa<tosa::Log2CeilShapeOp>(op) ? llvm::Log2_64_Ceil(number) : llvm::Log2_64(number);
}

/// Arithmetic on sizes that are known when inputs are bound; null where there is none.
static OpFoldResult combine(Operation *op, SizeBuilder &sizes, OpFoldResult lhs, OpFoldResult rhs) {
  return llvm::TypeSwitch<Operation *, OpFoldResult>(op)
      .Case([&](tosa::AddShapeOp) { return sizes.add(lhs, rhs); })
      .Case([&](tosa::SubShapeOp) { return sizes.sub(lhs, rhs); })
      .Case([&](tosa::MulShapeOp) { return sizes.mul(lhs, rhs); })
      .Case([&](tosa::DivCeilShapeOp) { return sizes.ceilDiv(lhs, rhs); })
      .Case([&](tosa::DivFloorShapeOp) { return sizes.floorDiv(lhs, rhs); })
      .Case([&](tosa::ModShapeOp) {
        return sizes.sub(lhs, sizes.mul(sizes.floorDiv(lhs, rhs), rhs));
      })
      .Default([](Operation *) { return OpFoldResult(); });
}

/// One number of an elementwise op.
static Number combine(Operation *op, ExpressionBuilder &e, ArrayRef<OpFoldResult> operands) {
  SmallVector<int64_t> known;
  for (OpFoldResult operand : operands)
    if (std::optional<int64_t> constant = getConstantIntValue(operand))
      known.push_back(*constant);
  bool isBinary = operands.size() == 2;
  if (known.size() == operands.size()) {
    std::optional<int64_t> result =
        isBinary ? compute(op, known[0], known[1]) : compute(op, known[0]);
    if (result)
      return OpFoldResult(e.getBuilder().getIndexAttr(*result));
    InFlightDiagnostic error = op->emitError() << "'" << op->getName() << "' has no result of ";
    llvm::interleaveComma(known, error);
    return error;
  }
  bool isDivision = isa<tosa::DivCeilShapeOp, tosa::DivFloorShapeOp, tosa::ModShapeOp>(op);
  std::optional<int64_t> divisor = isDivision ? getConstantIntValue(operands[1]) : std::nullopt;
  if (divisor && *divisor < 1)
    return op->emitError() << "'" << op->getName() << "' divides by " << *divisor
                           << "; expected a divisor of 1 or more";
  SizeBuilder sizes(e.getBuilder(), op->getLoc());
  OpFoldResult result = isBinary ? combine(op, sizes, operands[0], operands[1]) : OpFoldResult();
  if (result)
    return result;
  return op->emitError() << "'" << op->getName()
                         << "' of a size that is known only when inputs are bound is not "
                            "supported; supported of those are sums, differences, products, "
                            "quotients and remainders";
}

static FailureOr<Numbers> sliceShape(tosa::SliceShapeOp op, Numbers numbers) {
  DenseIntElementsAttr start, size;
  if (!matchPattern(op.getStart(), m_Constant(&start)) ||
      !matchPattern(op.getSize(), m_Constant(&size)))
    return op.emitError("'tosa.slice_shape' has a start or size that is not a constant");
  int64_t first = (*start.value_begin<APInt>()).getSExtValue();
  int64_t count = (*size.value_begin<APInt>()).getSExtValue();
  int64_t rank = numbers.size();
  if (first < 0 || count < 0 || first > rank || count > rank - first)
    return op.emitError("'tosa.slice_shape' takes ")
           << count << " numbers from number " << first << " on of a shape that has " << rank;
  return Numbers(ArrayRef(numbers).slice(first, count));
}

FailureOr<Numbers> getNumbers(ExpressionBuilder &e, Value shape) {
  Operation *op = shape.getDefiningOp();
  if (!op)
    return emitError(shape.getLoc(), "a shape comes from outside of the function or region; "
                                     "expected one that ops of shapes compute");
  if (auto constant = dyn_cast<tosa::ConstShapeOp>(op)) {
    Numbers numbers;
    for (const APInt &number : constant.getValues().getValues<APInt>())
      numbers.push_back(e.getBuilder().getIndexAttr(number.getSExtValue()));
    return numbers;
  }
  if (auto dim = dyn_cast<tosa::DimOp>(op))
    return Numbers{SizeBuilder(e.getBuilder(), op->getLoc()).size(dim.getInput1(), dim.getAxis())};
  SmallVector<Numbers> operands;
  for (Value operand : op->getOperands()) {
    if (!isa<tosa::shapeType>(operand.getType()))
      continue;
    FailureOr<Numbers> numbers = getNumbers(e, operand);
    if (failed(numbers))
      return failure();
    operands.push_back(std::move(*numbers));
  }
  if (auto slice = dyn_cast<tosa::SliceShapeOp>(op))
    return sliceShape(slice, operands.front());
  Numbers results;
  if (isa<tosa::ConcatShapeOp>(op)) {
    for (const Numbers &numbers : operands)
      llvm::append_range(results, numbers);
    return results;
  }
  for (size_t i = 0; i < operands.front().size(); ++i) {
    SmallVector<OpFoldResult> numbers;
    for (const Numbers &operand : operands)
      numbers.push_back(operand[i]);
    Number result = combine(op, e, numbers);
    if (failed(result))
      return failure();
    results.push_back(*result);
  }
  return results;
}

FailureOr<SmallVector<int64_t>> getConstants(Operation *op, ExpressionBuilder &e, Value shape,
                                             StringRef name) {
  FailureOr<Numbers> numbers = getNumbers(e, shape);
  if (failed(numbers))
    return failure();
  if (std::optional<SmallVector<int64_t>> constants = getConstantIntValues(*numbers))
    return *constants;
  return op->emitError() << "'" << op->getName() << "' has a " << name
                         << " that is known only when inputs are bound; expected constants";
}

} // namespace xc::tosa_import
