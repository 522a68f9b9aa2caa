//===- BoundedValues.cpp - What stands for bounded dynamic values ---------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/Transforms/BoundedValues.h"

#include "compiler/Dialect/Array/IR/ArrayOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace xc::array {

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Value BoundedValues::arrayOf(Value value) const {
  auto known = bounded.find(value);
  return known == bounded.end() ? value : known->second.array;
}

SmallVector<Value> BoundedValues::arraysOf(ValueRange values) const {
  return llvm::map_to_vector(values, [&](Value value) { return arrayOf(value); });
}

Extents BoundedValues::extentsOf(Value value) const {
  auto known = bounded.find(value);
  if (known != bounded.end())
    return known->second.extents;
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return Extents(type ? type.getRank() : 0);
}

Value BoundedValues::extentOf(Value value, int64_t dim) const {
  auto known = bounded.find(value);
  return known == bounded.end() ? Value() : known->second.extents[dim];
}

bool BoundedValues::hasExtents(Operation *op) const {
  return llvm::any_of(op->getOperands(),
                      [&](Value value) { return bounded.count(value) || sizes.count(value); });
}

void BoundedValues::setArray(Value value, Value array, Extents extents) {
  // The value's type may say more of dims without an extent than the array's does.
  RankedTensorType type = typeOf(value), arrayType = typeOf(array);
  Dims shape(arrayType.getShape());
  for (auto [dim, extent] : llvm::enumerate(extents))
    if (!extent)
      shape[dim] = mergeDims(shape[dim], type.getDimSize(dim));
  if (arrayType.getShape() != ArrayRef<int64_t>(shape))
    array = tensor::CastOp::create(builder, value.getLoc(), arrayType.clone(shape), array);
  bounded[value] = {array, std::move(extents)};
}

void BoundedValues::define(Value value, Value array, Extents extents) {
  if (llvm::any_of(extents, [](Value extent) { return static_cast<bool>(extent); })) {
    setArray(value, array, extents);
    computed.push_back({array, extents});
    return;
  }
  if (array.getType() != value.getType())
    array = tensor::CastOp::create(builder, value.getLoc(), value.getType(), array);
  value.replaceAllUsesWith(array);
}

void BoundedValues::defineAll(Operation *old, Operation *rebuilt, const Extents &extents) {
  for (auto [value, array] : llvm::zip_equal(old->getResults(), rebuilt->getResults()))
    define(value, array, extents);
  replaced.push_back(old);
}

void BoundedValues::eraseReplaced() {
  // Users before what they use.
  for (Operation *op : llvm::reverse(replaced)) {
    assert(op->use_empty() && "all users of an op with extents have been replaced");
    op->erase();
  }
  replaced.clear();
}

Operation *BoundedValues::rebuild(Operation *op, ValueRange operands) {
  Operation *clone = builder.clone(*op);
  clone->setOperands(operands);
  auto inferable = dyn_cast<InferTypeOpInterface>(clone);
  SmallVector<Type> inferred;
  if (inferable && succeeded(inferable.inferReturnTypes(clone->getContext(), std::nullopt, operands,
                                                        clone->getDiscardableAttrDictionary(),
                                                        clone->getPropertiesStorage(),
                                                        clone->getRegions(), inferred))) {
    // Element types may be the op's own to choose.
    for (auto [result, type] : llvm::zip_equal(clone->getResults(), inferred))
      result.setType(cast<RankedTensorType>(type).clone(getElementTypeOrSelf(result.getType())));
  }
  return clone;
}

ExpressionBuilder BoundedValues::expressions(Operation *op) {
  return ExpressionBuilder(builder, op->getLoc());
}

namespace {

/// Tells which sizes a shape function takes as they are: a number names the dim of an operand, and
/// a unit what has been computed.
class SizeOrigins final : public SizeAnalysis {
public:
  explicit SizeOrigins(MLIRContext *context) : context(context) {}

  /// The dim that `size` is; nothing where it is none.
  std::optional<std::pair<Value, int64_t>> find(OpFoldResult size) const {
    if (auto number = dyn_cast_if_present<ArrayAttr>(dyn_cast_if_present<Attribute>(size)))
      return dims[cast<IntegerAttr>(number[0]).getInt()];
    auto value = dyn_cast_if_present<Value>(size);
    auto from = value ? value.getDefiningOp<tensor::DimOp>() : tensor::DimOp();
    std::optional<int64_t> place = from ? from.getConstantIndex() : std::nullopt;
    if (!place)
      return std::nullopt;
    return std::pair(Value(from.getSource()), *place);
  }

  OpFoldResult getDimSize(Value value, int64_t dim) override {
    dims.push_back({value, dim});
    return Builder(context).getI64ArrayAttr(static_cast<int64_t>(dims.size()) - 1);
  }
  /// A neutral operand leaves the other one as it is.
  OpFoldResult combineSizes(SizeOperation operation, OpFoldResult lhs, OpFoldResult rhs) override {
    bool isSum = operation == SizeOperation::Add || operation == SizeOperation::Sub;
    bool isMinMax = operation == SizeOperation::Max || operation == SizeOperation::Min;
    int64_t neutral = isSum ? 0 : 1;
    if (!isMinMax && isConstantIntValue(rhs, neutral))
      return lhs;
    bool commutes = operation == SizeOperation::Add || operation == SizeOperation::Mul;
    return commutes && isConstantIntValue(lhs, neutral) ? rhs : UnitAttr::get(context);
  }
  OpFoldResult applyMap(AffineMap, ValueRange) override { return UnitAttr::get(context); }

private:
  MLIRContext *context;
  SmallVector<std::pair<Value, int64_t>> dims;
};

} // namespace

/// Goes from a dim to that of an array which it takes its size from, as far as that is one.
static std::pair<Value, int64_t> traceSize(Value array, int64_t dim) {
  while (auto result = dyn_cast<OpResult>(array)) {
    auto source = dyn_cast<ArrayShapeOpInterface>(result.getOwner());
    if (!source)
      break;
    SizeOrigins origins(result.getContext());
    SizeBuilder sizes(origins, result.getLoc());
    ReifiedRankedShapedTypeDims shapes;
    std::optional<std::pair<Value, int64_t>> from;
    if (succeeded(source.reifySizes(sizes, shapes)))
      from = origins.find(shapes[result.getResultNumber()][dim]);
    if (!from)
      break;
    std::tie(array, dim) = *from;
  }
  return {array, dim};
}

Value BoundedValues::sizeAsData(Value array, int64_t dim) {
  // Two results may have one size, which is to be one value: keys and values of as many tokens.
  if (cast<RankedTensorType>(array.getType()).isDynamicDim(dim))
    std::tie(array, dim) = traceSize(array, dim);
  return ExpressionBuilder(builder, array.getLoc()).sizeLess(array, dim, 0, builder.getI64Type());
}

//===----------------------------------------------------------------------===//
// Extents
//===----------------------------------------------------------------------===//

Value BoundedValues::clampExtent(Location loc, Value count, Value array, int64_t dim) {
  int64_t bound = cast<RankedTensorType>(array.getType()).getDimSize(dim);
  if (!ShapedType::isDynamic(bound))
    if (Value known = equality.getExtentWithin(count, bound))
      return known;
  ExpressionBuilder e(builder, loc);
  Type element = builder.getI64Type();
  // All that does not fit into i64 is more than any bound.
  if (getElementTypeOrSelf(count.getType()).isUnsignedInteger(64))
    count =
        e.make<MinOp>(count, e.make<ConstantOp>(cast<ElementsAttr>(DenseElementsAttr::get(
                                 cast<RankedTensorType>(count.getType()), APInt(64, INT64_MAX)))));
  Value wide = e.convert(count, element);
  Value extent = e.make<MinOp>(e.make<MaxOp>(wide, e.integer(0, element)), sizeAsData(array, dim));
  equality.setOrigin(extent, ExtentEquality::Kind::Set, count);
  setLimit(extent, array, dim);
  return extent;
}

void BoundedValues::setLimit(Value extent, Value array, int64_t dim) {
  int64_t bound = cast<RankedTensorType>(array.getType()).getDimSize(dim);
  if (!ShapedType::isDynamic(bound))
    equality.setLimit(extent, bound);
}

Value BoundedValues::isBefore(Value array, int64_t dim, Value extent) {
  ExpressionBuilder e(builder, array.getLoc());
  auto type = cast<RankedTensorType>(array.getType());
  int64_t bound = type.getDimSize(dim);
  // Narrow where all indices fit.
  bool isNarrow = !ShapedType::isDynamic(bound) && bound <= INT32_MAX;
  Type element = isNarrow ? builder.getI32Type() : builder.getI64Type();
  Value index = e.make<IotaOp>(type.clone(element), e.dynamicSizes(array), dim);
  return e.compare(CompareDirection::Lt, index, e.convert(extent, element));
}

Value BoundedValues::fillBehind(Value array, int64_t dim, Value extent, Value neutral) {
  ExpressionBuilder e(builder, array.getLoc());
  return e.select(isBefore(array, dim, extent), array, neutral);
}

Value BoundedValues::fillBehind(Value array, int64_t dim, Value extent, TypedAttr neutral) {
  auto type = RankedTensorType::get({}, neutral.getType());
  ExpressionBuilder e(builder, array.getLoc());
  Value scalar = e.make<ConstantOp>(
      cast<ElementsAttr>(DenseElementsAttr::get(type, ArrayRef<Attribute>(neutral))));
  return fillBehind(array, dim, extent, scalar);
}

Value BoundedValues::mark(Value array, ArrayRef<Value> extents) {
  for (auto [dim, extent] : llvm::enumerate(extents))
    if (extent)
      array = WithinOp::create(builder, array.getLoc(), array, extent, dim);
  return array;
}

FailureOr<Value> BoundedValues::unify(Operation *op, ArrayRef<OperandDim> dims, bool broadcast) {
  Value extent;
  OperandDim from{};
  for (OperandDim place : dims)
    if (Value found = extentOf(op->getOperand(place.operand), place.dim); found && !extent) {
      extent = found;
      from = place;
    }
  if (!extent)
    return Value();
  auto sizeOf = [&](OperandDim place) {
    Value array = arrayOf(op->getOperand(place.operand));
    return cast<RankedTensorType>(array.getType()).getDimSize(place.dim);
  };
  for (OperandDim place : dims) {
    Value other = extentOf(op->getOperand(place.operand), place.dim);
    if (!other) {
      if (broadcast && sizeOf(place) == 1)
        continue;
      return FailureOr<Value>(
          refuseDim(op, from.operand, from.dim,
                    "and dim " + Twine(place.dim) + " of operand #" + Twine(place.operand) +
                        ", which has to be equal, has a size on the host (" +
                        formatDim(sizeOf(place)) + "); array.set_extent gives it the same one"));
    }
    if (!areCompatibleDims(sizeOf(from), sizeOf(place)) || !equality.areEqual(op, extent, other)) {
      return FailureOr<Value>(
          refuseDim(op, from.operand, from.dim,
                    "and dim " + Twine(place.dim) + " of operand #" + Twine(place.operand) +
                        ", which has to be equal, has another one (bounds " +
                        formatDim(sizeOf(from)) + " and " + formatDim(sizeOf(place)) + ")"));
    }
  }
  return extent;
}

//===----------------------------------------------------------------------===//
// Refusing
//===----------------------------------------------------------------------===//

/// What is said to use instead, where an op has no rule.
static StringRef getAdvice(Operation *op) {
  if (isa<func::ReturnOp>(op))
    return "; return array.pad_to_bound of it and array.extent";
  return "; array.pad_to_bound makes it an array of its bound";
}

LogicalResult BoundedValues::refuse(Operation *op) {
  for (OpOperand &operand : op->getOpOperands()) {
    Extents extents = extentsOf(operand.get());
    for (auto [dim, extent] : llvm::enumerate(extents))
      if (extent)
        return refuseDim(op, operand.getOperandNumber(), dim,
                         "which it cannot take" + getAdvice(op));
  }
  return op->emitOpError(
      "needs on the host a size that depends on a runtime size in device memory; "
      "array.extent and array.from_index give it as data");
}

LogicalResult BoundedValues::refuseDim(Operation *op, unsigned operand, int64_t dim,
                                       const Twine &why) {
  InFlightDiagnostic diagnostic = op->emitOpError("dim ") << dim << " of operand #" << operand
                                                          << " is a bounded dynamic dim, " << why;
  if (Value extent = extentOf(op->getOperand(operand), dim))
    diagnostic.attachNote(extent.getLoc()) << "its runtime size comes from here";
  return diagnostic;
}

} // namespace xc::array
