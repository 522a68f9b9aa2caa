//===- ArrayToLinalgSupport.cpp - What the families of patterns share -----===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/ArrayToLinalg.h"
#include "compiler/Dialect/Array/IR/PassAttributes.h"

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
