//===- ImportTosaElementwise.cpp - TOSA ops on elements -------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Input/ImportTosa.h"

#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace xc::array;

namespace xc::tosa_import {

using Result = FailureOr<SmallVector<Value>>;

/// A maximum or minimum; with \p mode IGNORE, of what is not NaN.
template <typename OpTy>
static Value extreme(ExpressionBuilder &e, Value lhs, Value rhs, tosa::NanPropagationMode mode) {
  if (mode == tosa::NanPropagationMode::PROPAGATE || !isFloat(lhs))
    return e.make<OpTy>(lhs, rhs);
  Value isLhsNan = e.make<IsNanOp>(lhs), isRhsNan = e.make<IsNanOp>(rhs);
  Value extremum = e.make<OpTy>(lhs, rhs);
  return e.select(isLhsNan, rhs, e.select(isRhsNan, lhs, extremum));
}

static Value convertClamp(tosa::ClampOp op, ExpressionBuilder &e) {
  auto bound = [&](Attribute value) -> Value {
    auto type = RankedTensorType::get({}, elementOf(op.getInput()));
    return e.make<ConstantOp>(cast<ElementsAttr>(DenseElementsAttr::get(type, value)));
  };
  Value low = bound(op.getMinValAttr()), high = bound(op.getMaxValAttr()), input = op.getInput();
  if (op.getNanMode() == tosa::NanPropagationMode::IGNORE && isFloat(input))
    input = replaceNans(e, input, low);
  return e.make<ClampOp>(low, input, high);
}

/// Floats go to the nearest integer, ties to even; array.convert would cut them.
static Value convertCast(tosa::CastOp op, ExpressionBuilder &e) {
  Value input = op.getInput();
  Type to = elementOf(op.getOutput());
  if (isFloat(input) && isa<IntegerType>(to) && !to.isInteger(1))
    input = e.make<RoundOp>(input);
  return e.convert(input, to);
}

static Result convertNegate(tosa::NegateOp op, ExpressionBuilder &e) {
  FailureOr<int64_t> from = op.getInput1ZeroPoint(), to = op.getOutputZeroPoint();
  if (failed(from) || failed(to))
    return op.emitError("'tosa.negate' has zero points that are not constants");
  Value input = op.getInput1();
  if (*from == 0 && *to == 0)
    return SmallVector<Value>{e.make<NegOp>(input)};
  // In i32, which holds what 8 and 16 bits give; then saturated.
  auto type = cast<IntegerType>(elementOf(input));
  Value wide = e.convert(input, e.getBuilder().getI32Type());
  wide = e.sub(e.integer(*from + *to, elementOf(wide)), wide);
  int64_t limit = int64_t(1) << (type.getWidth() - 1);
  wide = e.make<ClampOp>(e.integer(-limit, elementOf(wide)), wide,
                         e.integer(limit - 1, elementOf(wide)));
  return SmallVector<Value>{e.convert(wide, type)};
}

/// One array op on the same operands.
template <typename ArrayOp> static Result plain(Operation *op, ExpressionBuilder &e) {
  if constexpr (ArrayOp::template hasTrait<OpTrait::OneOperand>())
    return SmallVector<Value>{e.make<ArrayOp>(op->getOperand(0))};
  else
    return SmallVector<Value>{e.make<ArrayOp>(op->getOperand(0), op->getOperand(1))};
}

static Result compare(Operation *op, ExpressionBuilder &e, CompareDirection direction) {
  return SmallVector<Value>{e.compare(direction, op->getOperand(0), op->getOperand(1))};
}

/// Reduces over one dim, which stays with size 1.
template <typename OpTy> static Result reduce(OpTy op, ExpressionBuilder &e, ReduceKind kind) {
  return SmallVector<Value>{e.reduce(kind, op.getInput(), int64_t(op.getAxis()))};
}

/// A maximum or minimum over one dim; with mode IGNORE, of what is not NaN, and NaN if all is.
template <typename OpTy>
static Result reduceToExtreme(OpTy op, ExpressionBuilder &e, ReduceKind kind) {
  Value input = op.getInput();
  if (op.getNanMode() == tosa::NanPropagationMode::PROPAGATE || !isFloat(input))
    return reduce(op, e, kind);
  double nothing = std::numeric_limits<double>::infinity();
  Value isNan = e.make<IsNanOp>(input);
  Value numbers =
      e.select(isNan, e.scalar(kind == ReduceKind::Max ? -nothing : nothing, input), input);
  int64_t axis = op.getAxis();
  return SmallVector<Value>{e.select(e.reduce(ReduceKind::And, isNan, axis),
                                     e.scalar(std::numeric_limits<double>::quiet_NaN(), input),
                                     e.reduce(kind, numbers, axis))};
}

static Value convertArgMax(tosa::ArgMaxOp op, ExpressionBuilder &e) {
  Value input = op.getInput();
  if (op.getNanMode() == tosa::NanPropagationMode::IGNORE && isFloat(input))
    input = replaceNans(e, input, e.scalar(-std::numeric_limits<double>::infinity(), input));
  return e.make<ArgMaxOp>(op.getType(), input, uint64_t(op.getAxis()), /*keepdims=*/false);
}

static Result convertMatMul(tosa::MatMulOp op, ExpressionBuilder &e) {
  FailureOr<int64_t> lhs = op.getAZeroPoint(), rhs = op.getBZeroPoint();
  if (failed(lhs) || failed(rhs))
    return op.emitError("'tosa.matmul' has zero points that are not constants");
  Value a = op.getA(), b = op.getB();
  // Operands of one type, i32 where one of them has a zero point.
  a = subtractZeroPoint(e, a, *lhs);
  b = subtractZeroPoint(e, b, *rhs);
  a = e.convert(a, elementOf(a).isInteger(8) ? elementOf(b) : elementOf(a));
  b = e.convert(b, elementOf(a));
  return SmallVector<Value>{
      e.make<MatMulOp>(op.getType(), a, b, /*transpose_a=*/false, /*transpose_b=*/false)};
}

static Result convertReductions(Operation *op, ExpressionBuilder &e, bool &isKnown) {
  isKnown = true;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](tosa::ReduceAllOp o) { return reduce(o, e, ReduceKind::And); })
      .Case([&](tosa::ReduceAnyOp o) { return reduce(o, e, ReduceKind::Or); })
      .Case([&](tosa::ReduceMaxOp o) { return reduceToExtreme(o, e, ReduceKind::Max); })
      .Case([&](tosa::ReduceMinOp o) { return reduceToExtreme(o, e, ReduceKind::Min); })
      .Case([&](tosa::ReduceProductOp o) { return reduce(o, e, ReduceKind::Prod); })
      .Case([&](tosa::ReduceSumOp o) { return reduce(o, e, ReduceKind::Sum); })
      .Case([&](tosa::ArgMaxOp o) { return SmallVector<Value>{convertArgMax(o, e)}; })
      .Case([&](tosa::MatMulOp o) { return convertMatMul(o, e); })
      .Default([&](Operation *) {
        isKnown = false;
        return failure();
      });
}

Replacement convertElementwise(Operation *op, ExpressionBuilder &e) {
  bool isKnown = false;
  Result reduced = convertReductions(op, e, isKnown);
  if (isKnown)
    return reduced;
  isKnown = true;
  Result result =
      llvm::TypeSwitch<Operation *, Result>(op)
          .Case([&](tosa::AddOp) { return plain<AddOp>(op, e); })
          .Case([&](tosa::SubOp) { return plain<SubOp>(op, e); })
          .Case([&](tosa::PowOp) { return plain<PowOp>(op, e); })
          .Case([&](tosa::IntDivOp) { return plain<DivOp>(op, e); })
          .Case<tosa::BitwiseAndOp, tosa::LogicalAndOp>([&](auto) { return plain<AndOp>(op, e); })
          .Case<tosa::BitwiseOrOp, tosa::LogicalOrOp>([&](auto) { return plain<OrOp>(op, e); })
          .Case<tosa::BitwiseXorOp, tosa::LogicalXorOp>([&](auto) { return plain<XorOp>(op, e); })
          .Case([&](tosa::LogicalLeftShiftOp) { return plain<ShiftLeftOp>(op, e); })
          .Case([&](tosa::LogicalRightShiftOp) { return plain<ShiftRightLogicalOp>(op, e); })
          .Case([&](tosa::AbsOp) { return plain<AbsOp>(op, e); })
          .Case([&](tosa::BitwiseNotOp) { return plain<BitwiseNotOp>(op, e); })
          .Case([&](tosa::LogicalNotOp) { return plain<LogicalNotOp>(op, e); })
          .Case([&](tosa::CeilOp) { return plain<CeilOp>(op, e); })
          .Case([&](tosa::FloorOp) { return plain<FloorOp>(op, e); })
          .Case([&](tosa::SinOp) { return plain<SinOp>(op, e); })
          .Case([&](tosa::CosOp) { return plain<CosOp>(op, e); })
          .Case([&](tosa::ExpOp) { return plain<ExpOp>(op, e); })
          .Case([&](tosa::LogOp) { return plain<LogOp>(op, e); })
          .Case([&](tosa::ErfOp) { return plain<ErfOp>(op, e); })
          .Case([&](tosa::TanhOp) { return plain<TanhOp>(op, e); })
          .Case([&](tosa::SigmoidOp) { return plain<SigmoidOp>(op, e); })
          .Case([&](tosa::ReciprocalOp) { return plain<ReciprocalOp>(op, e); })
          .Case([&](tosa::RsqrtOp) { return plain<RsqrtOp>(op, e); })
          .Case([&](tosa::EqualOp) { return compare(op, e, CompareDirection::Eq); })
          .Case([&](tosa::GreaterOp) { return compare(op, e, CompareDirection::Gt); })
          .Case([&](tosa::GreaterEqualOp) { return compare(op, e, CompareDirection::Ge); })
          .Case([&](tosa::MaximumOp o) {
            return SmallVector<Value>{
                extreme<MaxOp>(e, o.getInput1(), o.getInput2(), o.getNanMode())};
          })
          .Case([&](tosa::MinimumOp o) {
            return SmallVector<Value>{
                extreme<MinOp>(e, o.getInput1(), o.getInput2(), o.getNanMode())};
          })
          .Case([&](tosa::SelectOp o) {
            return SmallVector<Value>{e.select(o.getInput1(), o.getInput2(), o.getInput3())};
          })
          .Case([&](tosa::ClampOp o) { return SmallVector<Value>{convertClamp(o, e)}; })
          .Case([&](tosa::CastOp o) { return SmallVector<Value>{convertCast(o, e)}; })
          .Case([&](tosa::IdentityOp o) { return SmallVector<Value>{o.getInput1()}; })
          .Case([&](tosa::NegateOp o) { return convertNegate(o, e); })
          .Default([&](Operation *) {
            isKnown = false;
            return failure();
          });
  return isKnown ? Replacement(std::move(result)) : std::nullopt;
}

} // namespace xc::tosa_import
