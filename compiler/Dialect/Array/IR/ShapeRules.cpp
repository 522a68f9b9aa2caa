//===- ShapeRules.cpp - Shape inference shared by array ops -===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/ArrayOps.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace xc::array {

std::string formatDim(int64_t dim) { return ShapedType::isDynamic(dim) ? "?" : llvm::itostr(dim); }

std::string formatDims(ArrayRef<int64_t> dims) {
  return "[" + llvm::join(llvm::map_range(dims, formatDim), ", ") + "]";
}

bool areCompatibleDims(int64_t lhs, int64_t rhs) {
  return ShapedType::isDynamic(lhs) || ShapedType::isDynamic(rhs) || lhs == rhs;
}

int64_t mergeDims(int64_t lhs, int64_t rhs) { return ShapedType::isDynamic(lhs) ? rhs : lhs; }

bool areCompatibleShapes(TypeRange lhs, TypeRange rhs) {
  return llvm::equal(lhs, rhs, [](Type left, Type right) {
    return succeeded(verifyCompatibleShape(left, right));
  });
}

bool areCompatibleTypes(TypeRange lhs, TypeRange rhs) {
  return areCompatibleShapes(lhs, rhs) && llvm::equal(lhs, rhs, [](Type left, Type right) {
           return getElementTypeOrSelf(left) == getElementTypeOrSelf(right);
         });
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

LogicalResult checkAxis(const RuleContext &rule, int64_t axis, int64_t rank) {
  if (axis < 0 || axis >= rank)
    return rule.error("expected axis in [0, ", rank, "), got ", axis);
  return success();
}

LogicalResult checkAxes(const RuleContext &rule, ArrayRef<int64_t> axes, int64_t rank) {
  int64_t previous = -1;
  for (int64_t axis : axes) {
    if (axis <= previous || axis >= rank)
      return rule.error("expected strictly increasing axes in [0, ", rank, "), got ",
                        formatDims(axes));
    previous = axis;
  }
  return success();
}

LogicalResult inferAlongAxis(const RuleContext &rule, Value operand, int64_t axis,
                             SmallVectorImpl<Type> &inferred) {
  auto type = cast<RankedTensorType>(operand.getType());
  inferred.push_back(RankedTensorType::get(type.getShape(), type.getElementType()));
  return checkAxis(rule, axis, type.getRank());
}

LogicalResult checkSameElementType(const RuleContext &rule, ValueRange operands) {
  for (Value operand : operands.drop_front()) {
    Type first = getElementTypeOrSelf(operands.front());
    Type other = getElementTypeOrSelf(operand);
    if (first != other)
      return rule.error("expected operands of one element type, got ", first, " and ", other);
  }
  return success();
}

FailureOr<Dims> broadcastShapes(const RuleContext &rule, ArrayRef<int64_t> lhs,
                                ArrayRef<int64_t> rhs) {
  ArrayRef<int64_t> longer = lhs.size() >= rhs.size() ? lhs : rhs;
  ArrayRef<int64_t> shorter = lhs.size() >= rhs.size() ? rhs : lhs;
  Dims result(longer);
  size_t shift = longer.size() - shorter.size();
  for (auto [index, dim] : llvm::enumerate(shorter)) {
    int64_t &other = result[shift + index];
    if (other == 1) {
      other = dim;
    } else if (dim != 1) {
      if (!areCompatibleDims(other, dim))
        return rule.error("expected shapes that broadcast, got ", formatDims(lhs), " and ",
                          formatDims(rhs));
      other = mergeDims(other, dim);
    }
  }
  return result;
}

FailureOr<Dims> broadcastOperands(const RuleContext &rule, ValueRange operands) {
  FailureOr<Dims> shape = Dims();
  for (Value operand : operands) {
    shape = broadcastShapes(rule, *shape, cast<RankedTensorType>(operand.getType()).getShape());
    if (failed(shape))
      return failure();
  }
  return shape;
}

Dims reducedShape(ArrayRef<int64_t> shape, ArrayRef<int64_t> axes, bool keepdims) {
  Dims result;
  for (auto [index, dim] : llvm::enumerate(shape)) {
    bool reduced = llvm::is_contained(axes, static_cast<int64_t>(index));
    if (!reduced)
      result.push_back(dim);
    else if (keepdims)
      result.push_back(1);
  }
  return result;
}

static LogicalResult inferElementwise(const RuleContext &rule, ValueRange operands, Type element,
                                      SmallVectorImpl<Type> &inferred) {
  if (failed(checkSameElementType(rule, operands)))
    return failure();
  FailureOr<Dims> shape = broadcastOperands(rule, operands);
  if (failed(shape))
    return failure();
  inferred.push_back(RankedTensorType::get(*shape, element));
  return success();
}

LogicalResult inferElementwiseType(StringRef opName, std::optional<Location> location,
                                   ValueRange operands, SmallVectorImpl<Type> &inferred) {
  return inferElementwise({location, opName}, operands, getElementTypeOrSelf(operands.front()),
                          inferred);
}

LogicalResult inferElementwiseTruthType(StringRef opName, std::optional<Location> location,
                                        ValueRange operands, SmallVectorImpl<Type> &inferred) {
  return inferElementwise({location, opName}, operands,
                          IntegerType::get(operands.front().getContext(), 1), inferred);
}

LogicalResult verifyInferredTypes(Operation *op) {
  auto inferable = cast<InferTypeOpInterface>(op);
  SmallVector<Type> inferred;
  if (failed(inferable.inferReturnTypes(op->getContext(), op->getLoc(), op->getOperands(),
                                        op->getDiscardableAttrDictionary(),
                                        op->getPropertiesStorage(), op->getRegions(), inferred)))
    return failure();
  if (inferred.size() != op->getNumResults())
    return op->emitOpError("expected ")
           << inferred.size() << " results, got " << op->getNumResults();
  for (auto [expected, actual] : llvm::zip_equal(inferred, op->getResultTypes()))
    if (!inferable.isCompatibleReturnTypes(expected, actual))
      return op->emitOpError("expected a result compatible with ")
             << expected << ", got " << actual;
  return success();
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

OpFoldResult SizeBuilder::size(Value value, int64_t dim) {
  if (!analysis)
    return tensor::getMixedSize(*builder, location, value, dim);
  int64_t known = cast<RankedTensorType>(value.getType()).getDimSize(dim);
  return ShapedType::isDynamic(known) ? analysis->getDimSize(value, dim) : constant(known);
}

SmallVector<OpFoldResult> SizeBuilder::sizes(Value value) {
  SmallVector<OpFoldResult> sizes;
  for (int64_t dim = 0, rank = cast<RankedTensorType>(value.getType()).getRank(); dim < rank; ++dim)
    sizes.push_back(size(value, dim));
  return sizes;
}

OpFoldResult SizeBuilder::constant(int64_t value) {
  return IntegerAttr::get(IndexType::get(context), value);
}

OpFoldResult SizeBuilder::apply(AffineMap map, ValueRange operands) {
  if (analysis)
    return analysis->applyMap(map, operands);
  return affine::AffineApplyOp::create(*builder, location, map, operands).getResult();
}

Value SizeBuilder::value(OpFoldResult size) {
  assert(builder && "an analysis makes no values");
  return getValueOrCreateConstantIndexOp(*builder, location, size);
}

template <typename OpTy>
OpFoldResult SizeBuilder::fold(SizeOperation operation, OpFoldResult lhs, OpFoldResult rhs) {
  if (analysis)
    return lhs && rhs ? analysis->combineSizes(operation, lhs, rhs) : OpFoldResult();
  return getAsOpFoldResult(builder->createOrFold<OpTy>(location, value(lhs), value(rhs)));
}

OpFoldResult SizeBuilder::add(OpFoldResult lhs, OpFoldResult rhs) {
  return fold<arith::AddIOp>(SizeOperation::Add, lhs, rhs);
}
OpFoldResult SizeBuilder::sub(OpFoldResult lhs, OpFoldResult rhs) {
  return fold<arith::SubIOp>(SizeOperation::Sub, lhs, rhs);
}
OpFoldResult SizeBuilder::mul(OpFoldResult lhs, OpFoldResult rhs) {
  return fold<arith::MulIOp>(SizeOperation::Mul, lhs, rhs);
}
OpFoldResult SizeBuilder::max(OpFoldResult lhs, OpFoldResult rhs) {
  return fold<arith::MaxSIOp>(SizeOperation::Max, lhs, rhs);
}
OpFoldResult SizeBuilder::min(OpFoldResult lhs, OpFoldResult rhs) {
  return fold<arith::MinSIOp>(SizeOperation::Min, lhs, rhs);
}
OpFoldResult SizeBuilder::floorDiv(OpFoldResult lhs, OpFoldResult rhs) {
  return fold<arith::DivUIOp>(SizeOperation::FloorDiv, lhs, rhs);
}
OpFoldResult SizeBuilder::ceilDiv(OpFoldResult lhs, OpFoldResult rhs) {
  return fold<arith::CeilDivUIOp>(SizeOperation::CeilDiv, lhs, rhs);
}

OpFoldResult spreadSize(SizeBuilder &sizes, OpFoldResult count, int64_t distance) {
  if (distance == 1)
    return count;
  OpFoldResult elements = sizes.mul(count, sizes.constant(distance)),
               spread = sizes.sub(elements, sizes.constant(distance - 1));
  return sizes.max(spread, sizes.constant(0));
}

OpFoldResult spreadSizeWithoutMax(SizeBuilder &sizes, OpFoldResult count, int64_t distance) {
  if (distance == 1)
    return count;
  // No tensor has as many elements, so that this is 1 where there is one, or else 0.
  constexpr int64_t moreThanAll = int64_t(1) << 48;
  OpFoldResult isNotEmpty = sizes.ceilDiv(count, sizes.constant(moreThanAll));
  return sizes.sub(sizes.mul(count, sizes.constant(distance)),
                   sizes.mul(isNotEmpty, sizes.constant(distance - 1)));
}

LogicalResult reifyAs(Type type, SmallVector<OpFoldResult> sizes, SizeBuilder &sizeBuilder,
                      ReifiedRankedShapedTypeDims &shapes) {
  bool isOfType = sizeBuilder.getKnownSizes() == SizeBuilder::KnownSizes::OfType;
  for (auto [size, dim] : llvm::zip_equal(sizes, cast<RankedTensorType>(type).getShape()))
    if (isOfType && !ShapedType::isDynamic(dim))
      size = sizeBuilder.constant(dim);
  shapes.push_back(std::move(sizes));
  return success();
}

LogicalResult reifyElementwiseShape(Operation *op, SizeBuilder &sizeBuilder,
                                    ReifiedRankedShapedTypeDims &shapes) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  SmallVector<OpFoldResult> sizes;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    OpFoldResult size = sizeBuilder.constant(1);
    // Backwards, so that the first operand that says something has the last word.
    for (Value operand : llvm::reverse(op->getOperands())) {
      auto operandType = cast<RankedTensorType>(operand.getType());
      int64_t operandDim = dim - (type.getRank() - operandType.getRank());
      // A dim of static size 1 says nothing; any other one is the result's.
      if (operandDim >= 0 && operandType.getDimSize(operandDim) != 1)
        size = sizeBuilder.size(operand, operandDim);
    }
    sizes.push_back(size);
  }
  return reifyAs(type, std::move(sizes), sizeBuilder, shapes);
}

//===----------------------------------------------------------------------===//
// Shape functions asked by ops
//===----------------------------------------------------------------------===//

namespace {

/// MLIR asks for sizes as values.
struct ShapesAsValues : ReifyRankedShapedTypeOpInterface::FallbackModel<ShapesAsValues> {
  LogicalResult reifyResultShapes(Operation *op, OpBuilder &builder,
                                  ReifiedRankedShapedTypeDims &shapes) const {
    SizeBuilder sizeBuilder(builder, op->getLoc());
    return cast<ArrayShapeOpInterface>(op).reifySizes(sizeBuilder, shapes);
  }
  FailureOr<SmallVector<OpFoldResult>> reifyShapeOfResult(Operation *op, OpBuilder &builder,
                                                          int result) const {
    ReifiedRankedShapedTypeDims shapes;
    if (failed(reifyResultShapes(op, builder, shapes)))
      return failure();
    return shapes[result];
  }
  FailureOr<OpFoldResult> reifyDimOfResult(Operation *op, OpBuilder &builder, int result,
                                           int dim) const {
    FailureOr<SmallVector<OpFoldResult>> shape = reifyShapeOfResult(op, builder, result);
    if (failed(shape))
      return failure();
    return (*shape)[dim];
  }
};

} // namespace

void attachShapes(MLIRContext *context) {
  for (RegisteredOperationName name : context->getRegisteredOperations())
    if (name.getDialectNamespace() == ArrayDialect::getDialectNamespace() &&
        name.hasInterface<ArrayShapeOpInterface>())
      name.attachInterface<ShapesAsValues>();
}

} // namespace xc::array
