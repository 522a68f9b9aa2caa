//===- MaskOps.cpp - Elements that a condition picks -===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A running count of what is picked says where each element goes to or comes from.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/ExpressionBuilder.h"
#include "compiler/Dialect/Array/IR/PassAttributes.h"
#include "compiler/Dialect/Array/IR/Requirements.h"

using namespace mlir;

namespace xc::array {

using Values = SmallVector<Value>;

/// `value` as a vector.
static Value flatten(ExpressionBuilder &e, Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getRank() == 1)
    return value;
  int64_t count = type.hasStaticShape() ? type.getNumElements() : ShapedType::kDynamic;
  return e.make<ReshapeOp>(RankedTensorType::get(count, type.getElementType()), value,
                           ValueRange());
}

/// How many elements of vector `mask` are true before each one, as `element`s.
static Value countBefore(ExpressionBuilder &e, Value mask, Type element) {
  return e.make<CumSumOp>(e.convert(mask, element), /*axis=*/0, /*exclusive=*/true,
                          /*reverse=*/false);
}

//===----------------------------------------------------------------------===//
// Masked scatter
//===----------------------------------------------------------------------===//

LogicalResult MaskedScatterOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                                Adaptor adaptor, SmallVectorImpl<Type> &inferred) {
  RuleContext rule{location, getOperationName()};
  auto type = cast<RankedTensorType>(adaptor.getOperand().getType());
  auto mask = cast<RankedTensorType>(adaptor.getMask().getType());
  auto source = cast<RankedTensorType>(adaptor.getSource().getType());
  if (failed(verifyCompatibleShape(type, mask)))
    return rule.error("expected operand and mask of one shape, got ", type, " and ", mask);
  bool isPlace = !llvm::is_contained(type.getShape(), 0);
  if (isPlace && llvm::is_contained(source.getShape(), 0))
    return rule.error("expected a source that is not empty, got ", source);
  inferred.push_back(RankedTensorType::get(type.getShape(), type.getElementType()));
  return checkSameElementType(rule, {adaptor.getOperand(), adaptor.getSource()});
}

LogicalResult MaskedScatterOp::reifySizes(SizeBuilder &sizeBuilder,
                                          ReifiedRankedShapedTypeDims &shapes) {
  return reifyAs(getType(), sizeBuilder.sizes(getOperand()), sizeBuilder, shapes);
}

/// As many elements as the mask has are taken of the source, and put where the operand has one.
void reifyRequirements(MaskedScatterOp op, RequirementBuilder &requirements) {
  if (!llvm::is_contained(op.getOperand().getType().getShape(), 0)) {
    SizeBuilder &sizes = requirements.getSizes();
    OpFoldResult elements = sizes.constant(1);
    for (OpFoldResult size : sizes.sizes(op.getSource()))
      elements = sizes.mul(elements, size);
    SmallVector<OpFoldResult> mask = sizes.sizes(op.getMask());
    if (!op.getSource().getType().hasStaticShape())
      requirements.require(isNotEmpty(sizes, mask), plan::Comparison::AtMost, elements,
                           "expected an element in dim 0 of the operand, to take");
    requirements.requireElementCount(op.getMask(), sizes.sizes(op.getOperand()));
    for (int64_t dim = 0, rank = op.getType().getRank(); dim < rank; ++dim)
      requirements.requireAgreement(op.getMask(), dim, op.getOperand(), dim);
  }
  requirements.requireResultTypes();
}

FailureOr<Values> MaskedScatterOp::decompose(OpBuilder &builder) {
  ExpressionBuilder e(builder, getLoc());
  if (llvm::is_contained(getOperand().getType().getShape(), 0))
    return Values{e.finish(getOperand(), getType())};
  Value before = countBefore(e, flatten(e, getMask()), builder.getI64Type());
  Value taken = e.make<TakeOp>(flatten(e, getSource()), before, /*axis=*/0);
  RankedTensorType type = getOperand().getType();
  Value placed = e.make<ReshapeOp>(type, taken, e.dynamicSizes(getOperand()));
  return Values{e.finish(e.select(getMask(), placed, getOperand()), getType())};
}

//===----------------------------------------------------------------------===//
// Nonzero
//===----------------------------------------------------------------------===//

LogicalResult NonzeroOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                          Adaptor adaptor, SmallVectorImpl<Type> &inferred) {
  RuleContext rule{location, getOperationName()};
  auto type = cast<RankedTensorType>(adaptor.getOperand().getType());
  int64_t size = adaptor.getSize();
  if (size < 0)
    return rule.error("expected a size that is not negative, got ", size);
  // The counts' type is the results' to choose; i64 where nobody does.
  Type i64 = IntegerType::get(context, 64);
  inferred.push_back(RankedTensorType::get({size, type.getRank()}, i64));
  inferred.push_back(RankedTensorType::get({}, i64));
  return success();
}

LogicalResult NonzeroOp::verify() {
  Type first = getIndices().getType().getElementType(),
       second = getCount().getType().getElementType();
  if (first != second)
    return emitOpError("expected indices and count of one type, got ")
           << first << " and " << second;
  return success();
}

LogicalResult NonzeroOp::reifySizes(SizeBuilder &sizeBuilder, ReifiedRankedShapedTypeDims &shapes) {
  SmallVector<OpFoldResult> sizes{sizeBuilder.constant(getSize()),
                                  sizeBuilder.constant(getOperand().getType().getRank())};
  if (failed(reifyAs(getIndices().getType(), sizes, sizeBuilder, shapes)))
    return failure();
  return reifyAs(getCount().getType(), {}, sizeBuilder, shapes);
}

void reifyRequirements(NonzeroOp op, RequirementBuilder &requirements) {
  SizeBuilder &sizes = requirements.getSizes();
  OpFoldResult elements = sizes.constant(1);
  for (OpFoldResult size : sizes.sizes(op.getOperand()))
    elements = sizes.mul(elements, size);
  requirements.requireCounted(elements, op.getIndices().getType().getElementType());
  requirements.requireResultTypes();
}

FailureOr<Values> NonzeroOp::decompose(OpBuilder &builder) {
  ExpressionBuilder e(builder, getLoc());
  RankedTensorType type = getOperand().getType();
  int64_t size = getSize(), rank = type.getRank();
  Type element = getIndices().getType().getElementType();
  Value flat = flatten(e, getOperand());
  Value mask = type.getElementType().isInteger(1)
                   ? flat
                   : e.compare(CompareDirection::Ne, flat, e.scalar(0, flat));
  Value picked = e.convert(mask, element), before = countBefore(e, mask, element);
  auto flatType = cast<RankedTensorType>(flat.getType()).clone(element);
  Value numbers = e.make<IotaOp>(flatType, e.dynamicSizes(flat), /*axis=*/0);
  numbers.getDefiningOp()->setAttr(kCountedAttr, builder.getUnitAttr());
  // What is not picked goes to a row that is not there, each to one of its own: where no two go to
  // one, nothing has to be sorted.
  Value row = e.select(mask, before, e.sub(e.integer(-1, element), numbers));
  Value none = e.make<BroadcastInDimOp>(RankedTensorType::get(size, element), e.scalar(-1, picked),
                                        ValueRange(), ArrayRef<int64_t>());
  int64_t lead = 0;
  Value places = e.make<ScatterOp>(ScatterKind::Set, none, e.make<ExpandDimsOp>(row, int64_t(1)),
                                   numbers, ArrayRef<int64_t>(lead), /*unique=*/true);
  SizeBuilder sizes(builder, getLoc());
  auto sizeOf = [&](int64_t dim) -> Value {
    if (!type.isDynamicDim(dim))
      return e.scalar(static_cast<double>(type.getDimSize(dim)), places);
    Value known = sizes.value(sizes.size(getOperand(), dim));
    return e.make<FromIndexOp>(RankedTensorType::get({}, element), known);
  };
  // Places as index vectors, the last component first.
  auto column = RankedTensorType::get({size, 1}, element);
  Value isNone = e.compare(CompareDirection::Lt, places, e.scalar(0, places));
  Values columns(rank);
  Value rest = places;
  for (int64_t dim = rank - 1; dim >= 0; --dim) {
    Value count = sizeOf(dim);
    Value component = dim == 0 ? rest : e.make<RemOp>(rest, count);
    rest = e.div(rest, count);
    columns[dim] = e.make<ReshapeOp>(column, e.select(isNone, places, component), ValueRange());
  }
  // The index vector of a scalar has no component.
  Value indices =
      rank == 0 ? e.make<BroadcastInDimOp>(RankedTensorType::get({size, 0}, element),
                                           e.scalar(-1, picked), ValueRange(), ArrayRef<int64_t>())
      : rank == 1 ? columns[0]
                  : e.make<ConcatenateOp>(columns, /*axis=*/1);
  Value total = e.reduce(ReduceKind::Sum, picked, ArrayRef<int64_t>(lead), /*keepdims=*/false);
  total.getDefiningOp()->setAttr(kCountedAttr, builder.getUnitAttr());
  return Values{e.finish(indices, getIndices().getType()), e.finish(total, getCount().getType())};
}

//===----------------------------------------------------------------------===//
// Compress
//===----------------------------------------------------------------------===//

void reifyRequirements(CompressOp op, RequirementBuilder &requirements) {
  SizeBuilder &sizes = requirements.getSizes();
  int64_t axis = op.getAxis();
  requirements.requireElementCount(op.getMask(), sizes.size(op.getOperand(), axis));
  RankedTensorType from = op.getOperand().getType();
  for (int64_t dim = 0; dim < from.getRank(); ++dim)
    if (dim != axis)
      requirements.requireSizeOfType(sizes.size(op.getOperand(), dim), from, dim, op.getType());
}

/// The mask, of which is required to have as many elements as there are rows to pick from.
static Value getMaskOfRows(ExpressionBuilder &e, SizeBuilder sizeBuilder, CompressOp op) {
  int64_t rows = op.getOperand().getType().getDimSize(op.getAxis());
  if (!ShapedType::isDynamic(rows) && op.getMask().getType().hasStaticShape())
    return op.getMask();
  llvm::SmallVector<Value> sizes;
  if (ShapedType::isDynamic(rows))
    sizes.push_back(sizeBuilder.value(sizeBuilder.size(op.getOperand(), op.getAxis())));
  return e.make<ReshapeOp>(op.getMask().getType().clone(ArrayRef<int64_t>{rows}), op.getMask(),
                           sizes);
}

FailureOr<Values> CompressOp::decompose(OpBuilder &builder) {
  ExpressionBuilder e(builder, getLoc());
  Type element = builder.getI64Type();
  Value mask = getMaskOfRows(e, SizeBuilder(builder, getLoc()), *this);
  Value before = countBefore(e, mask, element);
  Value numbers = e.make<IotaOp>(before.getType(), e.dynamicSizes(before), /*axis=*/0);
  // What is not picked goes to a row that is not there, each to one of its own.
  Value nowhere = e.sub(e.integer(-1, element), numbers);
  Value row = e.make<ExpandDimsOp>(e.select(mask, before, nowhere), int64_t(1));
  Value places = e.make<ScatterOp>(ScatterKind::Set, e.zerosLike(numbers), row, numbers,
                                   ArrayRef<int64_t>{0}, /*unique=*/true);
  Value taken = e.make<TakeOp>(getOperand(), places, getAxis());
  Value count = e.reduce(ReduceKind::Sum, e.convert(mask, element), {0}, /*keepdims=*/false);
  Dims shape(cast<RankedTensorType>(taken.getType()).getShape());
  shape[getAxis()] = ShapedType::kDynamic;
  Value kept = e.make<SetExtentOp>(getType().clone(shape), taken, count, getAxis());
  return Values{e.finish(kept, getType())};
}

} // namespace xc::array
