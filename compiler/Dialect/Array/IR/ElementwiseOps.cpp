//===- ElementwiseOps.cpp - Verifiers and rewrites of elementwise ops -===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/ArrayOps.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace xc::array {

//===----------------------------------------------------------------------===//
// Select
//===----------------------------------------------------------------------===//

LogicalResult SelectOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                         ValueRange operands, DictionaryAttr, OpaqueProperties,
                                         RegionRange, SmallVectorImpl<Type> &inferred) {
  RuleContext rule{location, getOperationName()};
  if (failed(checkSameElementType(rule, operands.drop_front())))
    return failure();
  FailureOr<Dims> shape = broadcastOperands(rule, operands);
  if (failed(shape))
    return failure();
  inferred.push_back(RankedTensorType::get(*shape, getElementTypeOrSelf(operands[1])));
  return success();
}

//===----------------------------------------------------------------------===//
// Pow
//===----------------------------------------------------------------------===//

/// True if all elements of constant `value` are the integer or float `number`.
static bool isConstantNumber(Value value, int64_t number) {
  SplatElementsAttr splat;
  if (!matchPattern(value, m_Constant(&splat)))
    return false;
  if (isa<FloatType>(splat.getElementType()))
    return splat.getSplatValue<APFloat>().isExactlyValue(static_cast<double>(number));
  return splat.getSplatValue<APInt>() == static_cast<uint64_t>(number);
}

LogicalResult PowOp::canonicalize(PowOp op, PatternRewriter &rewriter) {
  // Otherwise the exponent broadcasts the base.
  if (op.getLhs().getType() != op.getType())
    return rewriter.notifyMatchFailure(op, "the base does not have the result's type");
  if (isConstantNumber(op.getRhs(), 2)) {
    rewriter.replaceOpWithNewOp<SquareOp>(op, op.getType(), op.getLhs());
    return success();
  }
  bool isFloat = isa<FloatType>(op.getType().getElementType());
  if (isFloat && isConstantNumber(op.getRhs(), -1)) {
    rewriter.replaceOpWithNewOp<ReciprocalOp>(op, op.getType(), op.getLhs());
    return success();
  }
  return rewriter.notifyMatchFailure(op, "the exponent is neither 2 nor -1");
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

static LogicalResult verifySameShape(Operation *op) {
  Type operand = op->getOperand(0).getType();
  Type result = op->getResult(0).getType();
  if (failed(verifyCompatibleShape(operand, result)))
    return op->emitOpError("expected operand and result of one shape, got ")
           << operand << " and " << result;
  return success();
}

LogicalResult ConvertOp::verify() { return verifySameShape(*this); }

LogicalResult BitcastOp::verify() {
  Type from = getOperand().getType().getElementType();
  Type to = getResult().getType().getElementType();
  if (from.getIntOrFloatBitWidth() != to.getIntOrFloatBitWidth())
    return emitOpError("expected element types of equal width, got ") << from << " and " << to;
  return verifySameShape(*this);
}

/// True if every value of `from` is exactly a value of `to`.
static bool isExactConversion(Type from, Type to) {
  if (from == to)
    return true;
  if (auto toFloat = dyn_cast<FloatType>(to)) {
    if (auto fromFloat = dyn_cast<FloatType>(from))
      return APFloat::isRepresentableBy(fromFloat.getFloatSemantics(), toFloat.getFloatSemantics());
    // The sign needs no bit of the mantissa; the lowest number is a power of two.
    unsigned bits =
        from.getIntOrFloatBitWidth() - (from.isSignlessInteger(1) ? 0 : !from.isUnsignedInteger());
    return bits <= toFloat.getFPMantissaWidth();
  }
  auto fromInteger = dyn_cast<IntegerType>(from);
  auto toInteger = cast<IntegerType>(to);
  if (!fromInteger || toInteger.getWidth() == 1)
    return false;
  bool fromUnsigned = fromInteger.isUnsigned() || fromInteger.getWidth() == 1;
  if (fromUnsigned)
    return fromInteger.getWidth() < toInteger.getWidth() ||
           (toInteger.isUnsigned() && fromInteger.getWidth() == toInteger.getWidth());
  return !toInteger.isUnsigned() && fromInteger.getWidth() <= toInteger.getWidth();
}

namespace {
/// convert(convert(x)) -> convert(x), where the first conversion loses nothing.
struct FoldConvertOfConvert : OpRewritePattern<ConvertOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ConvertOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getOperand().getDefiningOp<ConvertOp>();
    if (!inner)
      return rewriter.notifyMatchFailure(op, "operand is not a conversion");
    Type from = inner.getOperand().getType().getElementType();
    Type middle = inner.getType().getElementType(), to = op.getType().getElementType();
    if (!isExactConversion(from, middle))
      return rewriter.notifyMatchFailure(op, "the first conversion may round or wrap");
    // A float saturates where an integer would keep its low bits.
    if (isa<IntegerType>(from) && isa<FloatType>(middle) && isa<IntegerType>(to) &&
        !to.isInteger(1) && !isExactConversion(from, to))
      return rewriter.notifyMatchFailure(op, "an integer that does not fit would saturate");
    rewriter.modifyOpInPlace(op, [&] { op.getOperandMutable().assign(inner.getOperand()); });
    return success();
  }
};
} // namespace

void ConvertOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<FoldConvertOfConvert>(context);
}

} // namespace xc::array
