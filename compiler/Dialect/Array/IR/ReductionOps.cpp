//===- ReductionOps.cpp - Reductions -===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/ArrayOps.h"
#include "compiler/Dialect/Array/IR/ElementwiseFolds.h"
#include "compiler/Dialect/Array/IR/PassAttributes.h"
#include "compiler/Dialect/Array/IR/Requirements.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"

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

static LogicalResult reifyReduction(SizeBuilder &sizeBuilder, Value operand, ArrayRef<int64_t> axes,
                                    bool keepdims, Value result,
                                    ReifiedRankedShapedTypeDims &shapes) {
  SmallVector<OpFoldResult> sizes = sizeBuilder.sizes(operand);
  for (int64_t axis : llvm::reverse(axes)) {
    if (keepdims)
      sizes[axis] = sizeBuilder.constant(1);
    else
      sizes.erase(sizes.begin() + axis);
  }
  return reifyAs(result.getType(), std::move(sizes), sizeBuilder, shapes);
}

/// Requires that what the types of `results` say of the dims that are kept is what `operand` says.
static void requireKeptDims(Value operand, ArrayRef<int64_t> axes, bool keepdims,
                            unsigned resultCount, RequirementBuilder &requirements) {
  int64_t kept = 0;
  for (int64_t dim = 0, rank = cast<RankedTensorType>(operand.getType()).getRank(); dim < rank;
       ++dim) {
    bool isReduced = llvm::is_contained(axes, dim);
    if (!isReduced)
      for (unsigned number = 0; number < resultCount; ++number)
        requirements.requireAgreementWithResult(operand, dim, kept, number);
    if (!isReduced || keepdims)
      ++kept;
  }
}

//===----------------------------------------------------------------------===//
// Reduce
//===----------------------------------------------------------------------===//

LogicalResult ReduceOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                         Adaptor adaptor, SmallVectorImpl<Type> &inferred) {
  return inferReduction({location, getOperationName()}, adaptor, inferred);
}

LogicalResult ReduceOp::reifySizes(SizeBuilder &sizeBuilder, ReifiedRankedShapedTypeDims &shapes) {
  return reifyReduction(sizeBuilder, getOperand(), getAxes(), getKeepdims(), getResult(), shapes);
}

void reifyRequirements(ReduceOp op, RequirementBuilder &requirements) {
  if (op->hasAttr(kCountedAttr))
    requirements.requireCounted(requirements.getSizes().size(op.getOperand(), op.getAxes().front()),
                                op.getType().getElementType());
  requireKeptDims(op.getOperand(), op.getAxes(), op.getKeepdims(), 1, requirements);
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

/// Two elements combined, as bits; nothing for floats whose result depends on the order.
static std::optional<APInt> combineElements(ReduceKind kind, Type element, const APInt &a,
                                            const APInt &b) {
  bool isMax = kind == ReduceKind::Max, isExtremum = isMax || kind == ReduceKind::Min;
  if (auto type = dyn_cast<FloatType>(element)) {
    if (!isExtremum)
      return std::nullopt;
    APFloat x(type.getFloatSemantics(), a), y(type.getFloatSemantics(), b);
    return (isMax ? llvm::maximum(x, y) : llvm::minimum(x, y)).bitcastToAPInt();
  }
  bool isLess = element.isUnsignedInteger() ? a.ult(b) : a.slt(b);
  if (isExtremum)
    return isLess == isMax ? b : a;
  switch (kind) {
  case ReduceKind::Sum:
    return a + b;
  case ReduceKind::Prod:
    return a * b;
  case ReduceKind::And:
    return a & b;
  default:
    return a | b;
  }
}

/// What one element makes of the neutral one: a sum of -0 is 0, as that of any number of them.
static APInt combineFirst(ReduceKind kind, Type element, const APInt &value) {
  auto type = dyn_cast<FloatType>(element);
  if (!type || kind != ReduceKind::Sum)
    return value;
  APFloat number(type.getFloatSemantics(), value);
  return number.isNegZero() ? APInt::getZero(value.getBitWidth()) : value;
}

/// A reduction of a constant that holds elements.
static DenseElementsAttr foldReduction(ReduceOp op, DenseElementsAttr constant) {
  RankedTensorType from = op.getOperand().getType(), to = op.getType();
  if (!to.hasStaticShape() || constant.empty() || constant.getNumElements() > maxFoldedElements)
    return {};
  SmallVector<APInt> bits = elementBits(constant);
  SmallVector<std::optional<APInt>> sums(to.getNumElements());
  SmallVector<int64_t> strides = computeStrides(
                           reducedShape(from.getShape(), op.getAxes(), /*keepdims=*/true)),
                       position(from.getRank(), 0);
  for (int64_t i = 0; i < from.getNumElements(); ++i) {
    int64_t place = 0;
    for (auto [dim, at] : llvm::enumerate(position))
      if (!llvm::is_contained(op.getAxes(), static_cast<int64_t>(dim)))
        place += at * strides[dim]; // in range: within the constant
    const APInt &value = bits.size() == 1 ? bits.front() : bits[i];
    std::optional<APInt> &sum = sums[place];
    sum = sum ? combineElements(op.getKind(), from.getElementType(), *sum, value)
              : combineFirst(op.getKind(), from.getElementType(), value);
    if (!sum)
      return {};
    for (int64_t dim = from.getRank() - 1; dim >= 0 && ++position[dim] == from.getDimSize(dim);
         --dim)
      position[dim] = 0;
  }
  return elementsFromBits(to, llvm::map_to_vector(sums, [](const auto &sum) { return *sum; }));
}

OpFoldResult ReduceOp::fold(FoldAdaptor adaptor) {
  // Over no axes nothing is combined.
  if (getAxes().empty() && getOperand().getType() == getType())
    return getOperand();
  if (auto constant = dyn_cast_if_present<DenseElementsAttr>(adaptor.getOperand()))
    return foldReduction(*this, constant);
  return {};
}

//===----------------------------------------------------------------------===//
// Reduce with a body
//===----------------------------------------------------------------------===//

LogicalResult ReduceWithOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                             Adaptor adaptor, SmallVectorImpl<Type> &inferred) {
  RuleContext rule{location, getOperationName()};
  if (adaptor.getOperands().empty())
    return rule.error("expected at least one operand");
  auto first = cast<RankedTensorType>(adaptor.getOperands().front().getType());
  Dims shape(first.getShape());
  for (Value operand : adaptor.getOperands()) {
    auto type = cast<RankedTensorType>(operand.getType());
    if (failed(verifyCompatibleShape(type.getShape(), shape)))
      return rule.error("expected operands of one shape, got ", first, " and ", type);
    for (auto [size, other] : llvm::zip_equal(shape, type.getShape()))
      size = mergeDims(size, other);
  }
  if (failed(checkAxes(rule, adaptor.getAxes(), first.getRank())))
    return failure();
  for (Value operand : adaptor.getOperands())
    inferred.push_back(
        RankedTensorType::get(reducedShape(shape, adaptor.getAxes(), adaptor.getKeepdims()),
                              getElementTypeOrSelf(operand.getType())));
  return success();
}

LogicalResult ReduceWithOp::reifySizes(SizeBuilder &sizeBuilder,
                                       ReifiedRankedShapedTypeDims &shapes) {
  for (Value result : getResults())
    if (failed(reifyReduction(sizeBuilder, getOperands().front(), getAxes(), getKeepdims(), result,
                              shapes)))
      return failure();
  return success();
}

void reifyRequirements(ReduceWithOp op, RequirementBuilder &requirements) {
  Value first = op.getOperands().front();
  // What is not reduced stays what it is.
  int64_t rank = op.getAxes().empty() ? 0 : cast<RankedTensorType>(first.getType()).getRank();
  for (Value operand : op.getOperands().drop_front())
    for (int64_t dim = 0; dim < rank; ++dim)
      requirements.requireEqualDims(first, dim, operand, dim);
  requireKeptDims(first, op.getAxes(), op.getKeepdims(), op.getNumResults(), requirements);
}

LogicalResult ReduceWithOp::verifyRegions() {
  if (getInit().size() != getOperands().size())
    return emitOpError("expected an initial value for each of ")
           << getOperands().size() << " operands, got " << getInit().size();
  SmallVector<Type> scalars;
  for (auto [value, operand] : llvm::zip_equal(getInit(), getOperands())) {
    Type element = getElementTypeOrSelf(operand.getType());
    auto number = dyn_cast<TypedAttr>(value);
    if (!isa<IntegerAttr, FloatAttr>(value) || number.getType() != element)
      return emitOpError("expected an initial value of ") << element << ", got " << value;
    scalars.push_back(RankedTensorType::get({}, element));
  }
  SmallVector<Type> arguments(scalars);
  llvm::append_range(arguments, scalars);
  Block &block = getBody().front();
  if (TypeRange(block.getArgumentTypes()) != TypeRange(arguments))
    return emitOpError("expected its body to take (")
           << arguments << "), got (" << block.getArgumentTypes() << ")";
  for (Operation &op : block.without_terminator()) {
    bool isScalar = llvm::all_of(op.getResultTypes(), [](Type type) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      return tensor && tensor.getRank() == 0;
    });
    if (!isScalar || !isa<ConstantOp, ArrayElementwiseOpInterface>(op)) {
      InFlightDiagnostic diagnostic =
          emitOpError("expected constants and elementwise ops on rank-0 tensors in its body");
      diagnostic.attachNote(op.getLoc()) << "got '" << op.getName() << "'";
      return diagnostic;
    }
  }
  TypeRange yielded = block.getTerminator()->getOperandTypes();
  if (yielded != TypeRange(scalars))
    return emitOpError("expected its body to yield (") << scalars << "), got (" << yielded << ")";
  return success();
}

//===----------------------------------------------------------------------===//
// Moments and logsumexp
//===----------------------------------------------------------------------===//

LogicalResult MeanOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                       Adaptor adaptor, SmallVectorImpl<Type> &inferred) {
  return inferReduction({location, getOperationName()}, adaptor, inferred);
}

LogicalResult MeanOp::reifySizes(SizeBuilder &sizeBuilder, ReifiedRankedShapedTypeDims &shapes) {
  return reifyReduction(sizeBuilder, getOperand(), getAxes(), getKeepdims(), getResult(), shapes);
}

LogicalResult VarOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                      Adaptor adaptor, SmallVectorImpl<Type> &inferred) {
  return inferReduction({location, getOperationName()}, adaptor, inferred);
}

LogicalResult VarOp::reifySizes(SizeBuilder &sizeBuilder, ReifiedRankedShapedTypeDims &shapes) {
  return reifyReduction(sizeBuilder, getOperand(), getAxes(), getKeepdims(), getResult(), shapes);
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

LogicalResult LogSumExpOp::reifySizes(SizeBuilder &sizeBuilder,
                                      ReifiedRankedShapedTypeDims &shapes) {
  return reifyReduction(sizeBuilder, getOperand(), getAxes(), getKeepdims(), getResult(), shapes);
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

/// Requires an element to find for each line, and that its index can be counted.
template <typename Op> static void requireIndexOfExtreme(Op op, RequirementBuilder &requirements) {
  Value operand = op.getOperand();
  int64_t axis = op.getAxis();
  SizeBuilder &sizes = requirements.getSizes();
  SmallVector<OpFoldResult> keptSizes;
  for (int64_t dim = 0, rank = op.getOperand().getType().getRank(); dim < rank; ++dim)
    if (dim != axis)
      keptSizes.push_back(sizes.size(operand, dim));
  requirements.requireElement(keptSizes, operand, axis, ", to find the index of");
  requirements.requireCounted(sizes.size(operand, axis), op.getType().getElementType());
  requireKeptDims(operand, axis, op.getKeepdims(), 1, requirements);
}

LogicalResult ArgMaxOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                         Adaptor adaptor, SmallVectorImpl<Type> &inferred) {
  return inferArg({location, getOperationName()}, adaptor, inferred);
}

LogicalResult ArgMaxOp::reifySizes(SizeBuilder &sizeBuilder, ReifiedRankedShapedTypeDims &shapes) {
  int64_t axis = getAxis();
  return reifyReduction(sizeBuilder, getOperand(), axis, getKeepdims(), getResult(), shapes);
}

void reifyRequirements(ArgMaxOp op, RequirementBuilder &requirements) {
  requireIndexOfExtreme(op, requirements);
}

LogicalResult ArgMinOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                         Adaptor adaptor, SmallVectorImpl<Type> &inferred) {
  return inferArg({location, getOperationName()}, adaptor, inferred);
}

LogicalResult ArgMinOp::reifySizes(SizeBuilder &sizeBuilder, ReifiedRankedShapedTypeDims &shapes) {
  int64_t axis = getAxis();
  return reifyReduction(sizeBuilder, getOperand(), axis, getKeepdims(), getResult(), shapes);
}

void reifyRequirements(ArgMinOp op, RequirementBuilder &requirements) {
  requireIndexOfExtreme(op, requirements);
}

} // namespace xc::array
