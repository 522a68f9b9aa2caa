//===- ArrayToLinalgSupport.cpp - What the families of patterns share -----===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/ArrayToLinalg.h"
#include "compiler/Dialect/Array/IR/Demands.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace xc {

//===----------------------------------------------------------------------===//
// Types and constants
//===----------------------------------------------------------------------===//

Type storageElement(Type element) {
  auto integer = dyn_cast<IntegerType>(element);
  if (!integer)
    return element;
  return IntegerType::get(element.getContext(), integer.getWidth() == 1 ? 8 : integer.getWidth());
}

Type storageType(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? Type(tensor.clone(storageElement(tensor.getElementType()))) : type;
}

StringAttr dtypeOf(Type type) {
  auto integer = dyn_cast<IntegerType>(getElementTypeOrSelf(type));
  if (!integer || storageElement(integer) == integer)
    return {};
  std::string name = (integer.isUnsigned() ? "u" : "i") + std::to_string(integer.getWidth());
  return StringAttr::get(type.getContext(), name);
}

ElementsAttr storageElements(ElementsAttr value) {
  auto type = cast<RankedTensorType>(value.getType());
  auto storage = cast<RankedTensorType>(storageType(type));
  if (storage == type)
    return value;
  // Resources hold a truth value in a byte already.
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(value))
    return DenseResourceElementsAttr::get(storage, resource.getRawHandle());
  unsigned width = storage.getElementTypeBitWidth();
  return cast<DenseElementsAttr>(value).mapValues(
      storage.getElementType(), [&](const APInt &element) { return element.zextOrTrunc(width); });
}

StorageTypeConverter::StorageTypeConverter() {
  addConversion([](Type type) { return storageType(type); });
  auto materialize = [](OpBuilder &builder, Type type, ValueRange inputs, Location loc) -> Value {
    return UnrealizedConversionCastOp::create(builder, loc, type, inputs).getResult(0);
  };
  addSourceMaterialization(materialize);
  addTargetMaterialization(materialize);
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

Type computeElement(Type element) {
  return element.isF16() || element.isBF16() ? Float32Type::get(element.getContext()) : element;
}

Value scalarConstant(OpBuilder &builder, Location loc, Type type, int64_t value) {
  if (isa<FloatType>(type))
    return arith::ConstantOp::create(builder, loc,
                                     builder.getFloatAttr(type, static_cast<double>(value)));
  return arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(type, value));
}

Value loadScalar(OpBuilder &builder, Location loc, Value stored, Type element) {
  if (element.isInteger(1)) {
    Value zero = scalarConstant(builder, loc, stored.getType(), 0);
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, stored, zero);
  }
  if (computeElement(element) != element)
    return arith::ExtFOp::create(builder, loc, computeElement(element), stored);
  return stored;
}

Value storeScalar(OpBuilder &builder, Location loc, Value value, Type element) {
  if (element.isInteger(1))
    return arith::ExtUIOp::create(builder, loc, storageElement(element), value);
  if (computeElement(element) != element)
    return arith::TruncFOp::create(builder, loc, element, value);
  return value;
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

Value emptyTensor(OpBuilder &builder, Location loc, ArrayRef<OpFoldResult> sizes, Type element) {
  return tensor::EmptyOp::create(builder, loc, sizes, element);
}

Value filledTensor(OpBuilder &builder, Location loc, ArrayRef<OpFoldResult> sizes, Value scalar) {
  Value empty = emptyTensor(builder, loc, sizes, scalar.getType());
  return linalg::FillOp::create(builder, loc, scalar, empty).getResult(0);
}

SmallVector<OpFoldResult> refineSizes(OpBuilder &builder, RankedTensorType type,
                                      SmallVector<OpFoldResult> sizes) {
  for (auto [size, dim] : llvm::zip_equal(sizes, type.getShape()))
    if (!ShapedType::isDynamic(dim))
      size = builder.getIndexAttr(dim);
  return sizes;
}

SmallVector<OpFoldResult> sizesOfSizedOp(OpBuilder &builder, RankedTensorType type,
                                         ValueRange dynamicSizes) {
  SmallVector<OpFoldResult> sizes;
  size_t next = 0;
  for (int64_t dim : type.getShape()) {
    if (ShapedType::isDynamic(dim))
      sizes.push_back(getAsOpFoldResult(dynamicSizes[next++]));
    else
      sizes.push_back(builder.getIndexAttr(dim));
  }
  return sizes;
}

Value dropUnitDims(OpBuilder &builder, Location loc, Value tensor,
                   const llvm::SmallBitVector &drop) {
  if (drop.none())
    return tensor;
  // Each dim that stays takes the dropped dims before it, the last also those behind it.
  SmallVector<ReassociationIndices> groups;
  ReassociationIndices current;
  for (unsigned dim = 0; dim < drop.size(); ++dim) {
    current.push_back(dim);
    if (drop.test(dim))
      continue;
    groups.push_back(current);
    current.clear();
  }
  if (!groups.empty())
    groups.back().append(current);
  return tensor::CollapseShapeOp::create(builder, loc, tensor, groups);
}

Value padTensor(OpBuilder &builder, Location loc, Value tensor, ArrayRef<int64_t> low,
                ArrayRef<int64_t> high, TypedAttr value) {
  auto isZero = [](int64_t amount) { return amount == 0; };
  if (llvm::all_of(low, isZero) && llvm::all_of(high, isZero))
    return tensor;
  Value scalar = arith::ConstantOp::create(builder, loc, value);
  return tensor::PadOp::create(builder, loc, /*resultType=*/Type(), tensor,
                               getAsIndexOpFoldResult(builder.getContext(), low),
                               getAsIndexOpFoldResult(builder.getContext(), high), scalar);
}

Value cutUnreached(OpBuilder &builder, Location loc, Value tensor, ArrayRef<int64_t> reached) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, tensor);
  bool isCut = false;
  for (auto [dim, count] : llvm::enumerate(reached)) {
    if (ShapedType::isDynamic(count) || count == type.getDimSize(dim))
      continue;
    sizes[dim] = builder.getIndexAttr(count);
    isCut = true;
  }
  if (!isCut)
    return tensor;
  SmallVector<OpFoldResult> offsets(sizes.size(), builder.getIndexAttr(0));
  SmallVector<OpFoldResult> strides(sizes.size(), builder.getIndexAttr(1));
  return tensor::ExtractSliceOp::create(builder, loc, tensor, offsets, sizes, strides);
}

Value castTo(OpBuilder &builder, Location loc, Value tensor, Type type) {
  return tensor.getType() == type ? tensor : tensor::CastOp::create(builder, loc, type, tensor);
}

static bool isKnownToHold(OpFoldResult left, plan::Comparison comparison, OpFoldResult right) {
  if (left == right)
    return true;
  std::optional<int64_t> a = getConstantIntValue(left), b = getConstantIntValue(right);
  switch (comparison) {
  case plan::Comparison::Equal:
    return a && a == b;
  case plan::Comparison::AtMost:
    return a && (*a == 0 || (b && *a <= *b));
  case plan::Comparison::OneOrEqual:
    return a && (*a == 1 || a == b);
  case plan::Comparison::AtLeast:
    return a && b && *a >= *b;
  }
  llvm_unreachable("unknown comparison");
}

void requireSizes(OpBuilder &builder, Operation *op, OpFoldResult left, plan::Comparison comparison,
                  OpFoldResult right, const Twine &what) {
  if (isKnownToHold(left, comparison, right))
    return;
  Location loc = op->getLoc();
  array::SizeBuilder sizeBuilder(builder, loc);
  plan::RequireOp::create(builder, loc, sizeBuilder.value(left), comparison,
                          sizeBuilder.value(right), (array::getOriginName(op) + ": " + what).str());
}

void requireResultSizes(OpBuilder &builder, Operation *op, int64_t number,
                        ArrayRef<OpFoldResult> sizes) {
  auto type = cast<RankedTensorType>(op->getResult(number).getType());
  for (auto [dim, size] : llvm::enumerate(sizes)) {
    if (type.isDynamicDim(dim))
      continue;
    std::string what;
    llvm::raw_string_ostream(what)
        << "expected dim " << dim << " of the result to be that of " << type;
    requireSizes(builder, op, size, plan::Comparison::Equal,
                 builder.getIndexAttr(type.getDimSize(dim)), what);
  }
}

/// No tensor has as many elements.
static constexpr int64_t kMoreThanAll = int64_t(1) << 48;

OpFoldResult isNotEmpty(array::SizeBuilder &sizeBuilder, ArrayRef<OpFoldResult> sizes) {
  // Each on its own: loops may have more rounds together than a tensor has elements.
  OpFoldResult result = sizeBuilder.constant(1);
  for (OpFoldResult size : sizes)
    result = sizeBuilder.mul(result, sizeBuilder.ceilDiv(size, sizeBuilder.constant(kMoreThanAll)));
  return result;
}

void requireElement(OpBuilder &builder, Operation *op, ArrayRef<OpFoldResult> sizes, Value operand,
                    int64_t dim, StringRef purpose) {
  int64_t size = cast<RankedTensorType>(operand.getType()).getDimSize(dim);
  if (!ShapedType::isDynamic(size) && size > 0)
    return;
  array::SizeBuilder sizeBuilder(builder, op->getLoc());
  std::string what =
      ("expected an element in dim " + Twine(dim) + " of the operand" + purpose).str();
  if (auto demand = op->getAttrOfType<StringAttr>(array::kDemandAttr))
    what = demand.str();
  requireSizes(builder, op, isNotEmpty(sizeBuilder, sizes), plan::Comparison::AtMost,
               sizeBuilder.size(operand, dim), what);
}

void requireCounted(OpBuilder &builder, Operation *op, OpFoldResult count, Type counter) {
  // No tensor has more elements than an i64 counts.
  if (counter.isInteger(64))
    return;
  int64_t most = llvm::maxIntN(counter.getIntOrFloatBitWidth());
  std::string what;
  llvm::raw_string_ostream(what) << "expected at most " << most << " elements to count in "
                                 << counter;
  requireSizes(builder, op, count, plan::Comparison::AtMost, builder.getIndexAttr(most), what);
}

void requirePlaces(OpBuilder &builder, Operation *op, Value operand, int64_t dim,
                   OpFoldResult windowSize, OpFoldResult places, int64_t known) {
  bool isStatic = !cast<RankedTensorType>(operand.getType()).isDynamicDim(dim) &&
                  getConstantIntValue(windowSize);
  if (isStatic || ShapedType::isDynamic(known))
    return;
  array::SizeBuilder sizeBuilder(builder, op->getLoc());
  OpFoldResult wanted = sizeBuilder.constant(known);
  if (op->hasAttr(array::kFirstPlacesAttr))
    return requireSizes(builder, op, sizeBuilder.mul(wanted, isNotEmpty(sizeBuilder, windowSize)),
                        plan::Comparison::AtMost, places,
                        "expected at least as many positions of the window along dim " +
                            Twine(dim) + " of the operand as the result has");
  requireSizes(builder, op, places, plan::Comparison::Equal, wanted,
               "expected as many positions of the window along dim " + Twine(dim) +
                   " of the operand as the result has");
}

void requireEqualDims(OpBuilder &builder, Operation *op, Value left, int64_t leftDim, Value right,
                      int64_t rightDim) {
  array::SizeBuilder sizeBuilder(builder, op->getLoc());
  std::string what;
  llvm::raw_string_ostream(what) << "expected dim " << leftDim << " of " << left.getType()
                                 << " to be dim " << rightDim << " of " << right.getType();
  requireSizes(builder, op, sizeBuilder.size(left, leftDim), plan::Comparison::Equal,
               sizeBuilder.size(right, rightDim), what);
}

Value buildElementwise(OpBuilder &builder, Location loc, Type element, ArrayRef<OpFoldResult> sizes,
                       ValueRange inputs, ArrayRef<AffineMap> inputMaps, BodyBuilder body) {
  Value init = emptyTensor(builder, loc, sizes, element);
  SmallVector<AffineMap> maps(inputMaps);
  maps.push_back(builder.getMultiDimIdentityMap(sizes.size()));
  SmallVector<utils::IteratorType> iterators(sizes.size(), utils::IteratorType::parallel);
  auto generic =
      linalg::GenericOp::create(builder, loc, init.getType(), inputs, init, maps, iterators,
                                [&](OpBuilder &b, Location bodyLoc, ValueRange args) {
                                  Value result = body(b, bodyLoc, args.drop_back());
                                  linalg::YieldOp::create(b, bodyLoc, result);
                                });
  return generic.getResult(0);
}

static Value convertTensor(OpBuilder &builder, Location loc, Value tensor, Type resultElement,
                           BodyBuilder body) {
  if (getElementTypeOrSelf(tensor.getType()) == resultElement)
    return tensor;
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, tensor);
  return buildElementwise(builder, loc, resultElement, sizes, tensor,
                          builder.getMultiDimIdentityMap(sizes.size()), body);
}

Value loadTensor(OpBuilder &builder, Location loc, Value tensor, Type element) {
  return convertTensor(builder, loc, tensor, computeElement(storageElement(element)),
                       [&](OpBuilder &b, Location bodyLoc, ValueRange args) {
                         return loadScalar(b, bodyLoc, args[0], storageElement(element));
                       });
}

Value storeTensor(OpBuilder &builder, Location loc, Value tensor, Type element) {
  return convertTensor(builder, loc, tensor, storageElement(element),
                       [&](OpBuilder &b, Location bodyLoc, ValueRange args) {
                         return storeScalar(b, bodyLoc, args[0], storageElement(element));
                       });
}

} // namespace xc
