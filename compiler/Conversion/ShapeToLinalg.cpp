//===- ShapeToLinalg.cpp - Making, moving and viewing elements ------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Views become views of `tensor` (collapse_shape, expand_shape, extract_slice); what moves elements
// becomes a generic, or insert_slice into a new tensor (concatenate, pad).
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/ArrayToLinalg.h"
#include "compiler/Conversion/ClampIndex.h"
#include "compiler/Dialect/Array/IR/PassAttributes.h"

#include "compiler/Dialect/Array/IR/Broadcasts.h"
#include "compiler/Dialect/Array/IR/Sizes.h"
#include "compiler/Dialect/Kernel/IR/KernelOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;

namespace xc {

static RankedTensorType storedType(Value value) {
  return cast<RankedTensorType>(storageType(value.getType()));
}

namespace {

struct ConvertDim : OpConversionPattern<array::DimOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(array::DimOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    OpFoldResult size =
        tensor::getMixedSize(rewriter, op.getLoc(), adaptor.getOperand(), op.getAxis());
    rewriter.replaceOp(op, getValueOrCreateConstantIndexOp(rewriter, op.getLoc(), size));
    return success();
  }
};

struct ConvertFromIndex : OpConversionPattern<array::FromIndexOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(array::FromIndexOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Type element = op.getType().getElementType();
    Value result = buildElementwise(rewriter, op.getLoc(), storageElement(element), {}, {}, {},
                                    [&](OpBuilder &b, Location loc, ValueRange) {
                                      Value number = arith::IndexCastOp::create(
                                          b, loc, b.getI64Type(), adaptor.getOperand());
                                      return convertScalar(b, loc, number, b.getI64Type(), element);
                                    });
    rewriter.replaceOp(op, result);
    return success();
  }
};

struct ConvertIota : OpConversionPattern<array::IotaOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(array::IotaOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Type element = op.getType().getElementType();
    RankedTensorType type = storedType(op.getResult());
    SmallVector<OpFoldResult> sizes = sizesOfSizedOp(rewriter, type, adaptor.getSizes());
    Value result = buildElementwise(rewriter, op.getLoc(), type.getElementType(), sizes, {}, {},
                                    [&](OpBuilder &b, Location loc, ValueRange) {
                                      Value index = linalg::IndexOp::create(b, loc, op.getAxis());
                                      Value number =
                                          arith::IndexCastOp::create(b, loc, b.getI64Type(), index);
                                      return convertScalar(b, loc, number, b.getI64Type(), element);
                                    });
    rewriter.replaceOp(op, castTo(rewriter, op.getLoc(), result, type));
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Within
//===----------------------------------------------------------------------===//

/// In the body of a generic, which fusion takes along: there is no op between those that fuse.
struct ConvertWithin : OpConversionPattern<array::WithinOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(array::WithinOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Value operand = adaptor.getOperand();
    auto type = cast<RankedTensorType>(operand.getType());
    AffineMap maps[] = {rewriter.getMultiDimIdentityMap(type.getRank()),
                        AffineMap::get(type.getRank(), 0, rewriter.getContext())};
    Value result = buildElementwise(
        rewriter, op.getLoc(), type.getElementType(),
        tensor::getMixedSizes(rewriter, op.getLoc(), operand), {operand, adaptor.getExtent()}, maps,
        [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
          Value index = linalg::IndexOp::create(b, loc, op.getAxis());
          Value extent = arith::IndexCastOp::create(b, loc, b.getIndexType(), args[1]);
          return kernel::WithinOp::create(b, loc, args[0], index, extent);
        });
    rewriter.replaceOp(op, castTo(rewriter, op.getLoc(), result, type));
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Broadcast
//===----------------------------------------------------------------------===//

struct ConvertBroadcast : OpConversionPattern<array::BroadcastInDimOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(array::BroadcastInDimOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    RankedTensorType type = storedType(op.getResult());
    SmallVector<OpFoldResult> sizes = sizesOfSizedOp(rewriter, type, adaptor.getSizes());
    SmallVector<array::Repeat> repeats;
    Value operand = adaptor.getOperand();
    for (int64_t dim = 0; dim < storedType(op.getOperand()).getRank(); ++dim)
      repeats.push_back(array::getRepeat(op, dim));
    Value result = llvm::is_contained(repeats, array::Repeat::AtRunTime)
                       ? repeatAtRunTime(rewriter, op, operand, sizes, repeats)
                       : repeatByMap(rewriter, op, operand, sizes, repeats);
    rewriter.replaceOp(op, castTo(rewriter, loc, result, type));
    return success();
  }

private:
  static Value repeatByMap(OpBuilder &builder, array::BroadcastInDimOp op, Value operand,
                           ArrayRef<OpFoldResult> sizes, ArrayRef<array::Repeat> repeats) {
    llvm::SmallBitVector drop(repeats.size());
    SmallVector<AffineExpr> exprs;
    for (auto [dim, repeat] : llvm::enumerate(repeats)) {
      if (repeat == array::Repeat::Always)
        drop.set(dim);
      else
        exprs.push_back(builder.getAffineDimExpr(op.getAxes()[dim]));
    }
    AffineMap map = AffineMap::get(sizes.size(), 0, exprs, builder.getContext());
    return buildElementwise(builder, op.getLoc(), getElementTypeOrSelf(operand.getType()), sizes,
                            dropUnitDims(builder, op.getLoc(), operand, drop), map,
                            [](OpBuilder &, Location, ValueRange args) { return args[0]; });
  }

  /// A `?` that may turn out to be 1: the element's position is computed.
  static Value repeatAtRunTime(OpBuilder &builder, array::BroadcastInDimOp op, Value operand,
                               ArrayRef<OpFoldResult> sizes, ArrayRef<array::Repeat> repeats) {
    Location loc = op.getLoc();
    array::SizeBuilder sizeBuilder(builder, loc);
    SmallVector<Value> operandSizes;
    for (OpFoldResult size : sizeBuilder.sizes(operand))
      operandSizes.push_back(sizeBuilder.value(size));
    return buildElementwise(
        builder, loc, getElementTypeOrSelf(operand.getType()), sizes, {}, {},
        [&](OpBuilder &b, Location bodyLoc, ValueRange) -> Value {
          Value zero = arith::ConstantIndexOp::create(b, bodyLoc, 0),
                one = arith::ConstantIndexOp::create(b, bodyLoc, 1);
          SmallVector<Value> position;
          for (auto [dim, axis, repeat] : llvm::enumerate(op.getAxes(), repeats)) {
            Value index = repeat == array::Repeat::Always
                              ? zero
                              : linalg::IndexOp::create(b, bodyLoc, axis).getResult();
            if (repeat == array::Repeat::AtRunTime) {
              Value isOne = arith::CmpIOp::create(b, bodyLoc, arith::CmpIPredicate::eq,
                                                  operandSizes[dim], one);
              index = arith::SelectOp::create(b, bodyLoc, isOne, zero, index);
            }
            position.push_back(index);
          }
          return tensor::ExtractOp::create(b, bodyLoc, operand, position);
        });
  }
};

//===----------------------------------------------------------------------===//
// Reshape, transpose, reverse
//===----------------------------------------------------------------------===//

struct ConvertReshape : OpConversionPattern<array::ReshapeOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(array::ReshapeOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value operand = adaptor.getOperand();
    auto from = cast<RankedTensorType>(operand.getType());
    RankedTensorType to = storedType(op.getResult());
    SmallVector<OpFoldResult> sizes = resultSizes(rewriter, op, adaptor, to);
    // Of no elements, the number does not say how large a `?` of the result is: no view finds it.
    if (!to.hasStaticShape() && llvm::is_contained(from.getShape(), 0)) {
      Value empty = emptyTensor(rewriter, loc, sizes, to.getElementType());
      rewriter.replaceOp(op, castTo(rewriter, loc, empty, to));
      return success();
    }
    if (from == to && from.getNumDynamicDims() <= 1) {
      rewriter.replaceOp(op, operand);
      return success();
    }
    // More than one `?` on a side may pair up in other ways than by position.
    bool pairsUp =
        from.getNumDynamicDims() <= 1 && to.getNumDynamicDims() == from.getNumDynamicDims();
    std::optional<SmallVector<ReassociationIndices>> groups;
    if (pairsUp && from.getRank() != to.getRank())
      groups = getReassociationIndicesForReshape(from, to);
    if (groups && from.getRank() > to.getRank()) {
      Value view = tensor::CollapseShapeOp::create(rewriter, loc, operand, *groups);
      rewriter.replaceOp(op, castTo(rewriter, loc, view, to));
      return success();
    }
    if (!groups) {
      operand = flatten(rewriter, loc, operand, to);
      groups = SmallVector<ReassociationIndices>(1);
      for (int64_t dim = 0; dim < to.getRank(); ++dim)
        groups->front().push_back(dim);
      if (to.getRank() == 1) {
        rewriter.replaceOp(op, castTo(rewriter, loc, operand, to));
        return success();
      }
      if (to.getRank() == 0) {
        Value view = tensor::CollapseShapeOp::create(rewriter, loc, operand,
                                                     ArrayRef<ReassociationIndices>());
        rewriter.replaceOp(op, view);
        return success();
      }
    }
    rewriter.replaceOp(op,
                       tensor::ExpandShapeOp::create(rewriter, loc, to, operand, *groups, sizes));
    return success();
  }

private:
  /// The sizes of the result, of which a single `?` may have to be found by division.
  static SmallVector<OpFoldResult> resultSizes(OpBuilder &builder, array::ReshapeOp op,
                                               OpAdaptor adaptor, RankedTensorType to) {
    if (!adaptor.getSizes().empty() || to.hasStaticShape())
      return sizesOfSizedOp(builder, to, adaptor.getSizes());
    array::SizeBuilder sizeBuilder(builder, op.getLoc());
    // The known factors apart, so that they cancel.
    auto from = cast<RankedTensorType>(adaptor.getOperand().getType());
    int64_t fromKnown = array::multiplyKnown(from.getShape());
    int64_t toKnown = array::multiplyKnown(to.getShape());
    OpFoldResult inferred = sizeBuilder.constant(1);
    for (auto [dim, size] : llvm::enumerate(from.getShape()))
      if (ShapedType::isDynamic(size))
        inferred = sizeBuilder.mul(inferred, sizeBuilder.size(adaptor.getOperand(), dim));
    if (toKnown == 0) {
      // Any number would do.
      inferred = sizeBuilder.constant(0);
    } else if (fromKnown % toKnown == 0) {
      inferred = sizeBuilder.mul(inferred, sizeBuilder.constant(fromKnown / toKnown));
    } else {
      inferred = sizeBuilder.mul(inferred, sizeBuilder.constant(fromKnown));
      inferred = sizeBuilder.floorDiv(inferred, sizeBuilder.constant(toKnown));
    }
    SmallVector<OpFoldResult> sizes;
    for (int64_t size : to.getShape())
      sizes.push_back(ShapedType::isDynamic(size) ? inferred : sizeBuilder.constant(size));
    return sizes;
  }

  /// All elements in one dim, of the size that `to` says if it is static.
  static Value flatten(OpBuilder &builder, Location loc, Value operand, RankedTensorType to) {
    auto from = cast<RankedTensorType>(operand.getType());
    if (from.getRank() == 0) {
      auto type = RankedTensorType::get({1}, from.getElementType());
      operand = tensor::ExpandShapeOp::create(builder, loc, type, operand,
                                              ArrayRef<ReassociationIndices>());
    } else if (from.getRank() > 1) {
      ReassociationIndices all;
      for (int64_t dim = 0; dim < from.getRank(); ++dim)
        all.push_back(dim);
      operand = tensor::CollapseShapeOp::create(builder, loc, operand,
                                                ArrayRef<ReassociationIndices>{all});
    }
    int64_t count = to.hasStaticShape() ? to.getNumElements() : ShapedType::kDynamic;
    return castTo(builder, loc, operand, RankedTensorType::get({count}, from.getElementType()));
  }
};

struct ConvertTranspose : OpConversionPattern<array::TransposeOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(array::TransposeOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    RankedTensorType type = storedType(op.getResult());
    SmallVector<OpFoldResult> sizes;
    SmallVector<AffineExpr> exprs(type.getRank());
    for (auto [dim, source] : llvm::enumerate(op.getPermutation())) {
      sizes.push_back(tensor::getMixedSize(rewriter, loc, adaptor.getOperand(), source));
      exprs[source] = rewriter.getAffineDimExpr(dim);
    }
    AffineMap map = AffineMap::get(type.getRank(), 0, exprs, rewriter.getContext());
    Value result = buildElementwise(rewriter, loc, type.getElementType(),
                                    refineSizes(rewriter, type, sizes), adaptor.getOperand(), map,
                                    [](OpBuilder &, Location, ValueRange args) { return args[0]; });
    rewriter.replaceOp(op, castTo(rewriter, loc, result, type));
    return success();
  }
};

struct ConvertReverse : OpConversionPattern<array::ReverseOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(array::ReverseOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    RankedTensorType type = storedType(op.getResult());
    Value operand = adaptor.getOperand();
    SmallVector<OpFoldResult> sizes =
        refineSizes(rewriter, type, tensor::getMixedSizes(rewriter, loc, operand));
    array::SizeBuilder sizeBuilder(rewriter, loc);
    SmallVector<Value> last(type.getRank());
    for (int64_t axis : op.getAxes())
      last[axis] = sizeBuilder.value(sizeBuilder.sub(sizes[axis], sizeBuilder.constant(1)));
    Value result =
        buildElementwise(rewriter, loc, type.getElementType(), sizes, {}, {},
                         [&](OpBuilder &b, Location bodyLoc, ValueRange) -> Value {
                           SmallVector<Value> position;
                           for (auto [dim, lastIndex] : llvm::enumerate(last)) {
                             Value index = linalg::IndexOp::create(b, bodyLoc, dim);
                             if (lastIndex)
                               index = arith::SubIOp::create(b, bodyLoc, lastIndex, index);
                             position.push_back(index);
                           }
                           return tensor::ExtractOp::create(b, bodyLoc, operand, position);
                         });
    rewriter.replaceOp(op, castTo(rewriter, loc, result, type));
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Parts and joins
//===----------------------------------------------------------------------===//

struct ConvertSlice : OpConversionPattern<array::SliceOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(array::SliceOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    RankedTensorType type = storedType(op.getResult());
    array::SizeBuilder sizeBuilder(rewriter, loc);
    SmallVector<OpFoldResult> offsets, sizes, strides;
    for (int64_t dim = 0; dim < type.getRank(); ++dim) {
      OpFoldResult start = sizeBuilder.constant(op.getStarts()[dim]);
      OpFoldResult stride = sizeBuilder.constant(op.getStrides()[dim]);
      OpFoldResult limit = ShapedType::isDynamic(op.getLimits()[dim])
                               ? sizeBuilder.size(adaptor.getOperand(), dim)
                               : sizeBuilder.constant(op.getLimits()[dim]);
      offsets.push_back(start);
      strides.push_back(stride);
      OpFoldResult extent = sizeBuilder.sub(limit, start);
      sizes.push_back(op.getStrides()[dim] == 1 ? extent : sizeBuilder.ceilDiv(extent, stride));
    }
    sizes = refineSizes(rewriter, type, sizes);
    Value result;
    // An empty slice may start behind the last element, where no slice op may.
    if (llvm::any_of(sizes, isZeroInteger))
      result = filledTensor(rewriter, loc, sizes,
                            scalarConstant(rewriter, loc, type.getElementType(), 0));
    else
      result = tensor::ExtractSliceOp::create(rewriter, loc, adaptor.getOperand(), offsets, sizes,
                                              strides);
    rewriter.replaceOp(op, castTo(rewriter, loc, result, type));
    return success();
  }
};

/// The starts of a dynamic slice inside a generic's body, moved so that a box of `boxSizes` lies
/// inside.
static SmallVector<Value> clampedStarts(OpBuilder &b, Location loc, ValueRange starts,
                                        TypeRange startTypes, ArrayRef<Value> lastStarts) {
  SmallVector<Value> results;
  for (auto [start, type, last] : llvm::zip_equal(starts, startTypes, lastStarts))
    results.push_back(clampIndex(b, loc, start, getElementTypeOrSelf(type), last));
  return results;
}

/// The largest start for each dim: size - box, which fits.
static SmallVector<Value> lastStarts(OpBuilder &builder, Operation *op, Value operand,
                                     ArrayRef<OpFoldResult> boxSizes) {
  array::SizeBuilder sizeBuilder(builder, op->getLoc());
  SmallVector<Value> results;
  for (auto [dim, box] : llvm::enumerate(boxSizes))
    results.push_back(sizeBuilder.value(sizeBuilder.sub(sizeBuilder.size(operand, dim), box)));
  return results;
}

/// True for a constant 0.
static bool isZeroStart(Value start) {
  DenseIntElementsAttr number;
  return matchPattern(start, m_Constant(&number)) && number.isSplat() &&
         number.getSplatValue<APInt>().isZero();
}

struct ConvertDynamicSlice : OpConversionPattern<array::DynamicSliceOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(array::DynamicSliceOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    RankedTensorType type = storedType(op.getResult());
    SmallVector<OpFoldResult> sizes = sizesOfSizedOp(rewriter, type, adaptor.getSizes());
    // From the first element on it is a view, which others read where it is.
    if (llvm::all_of(op.getStarts(), isZeroStart) && llvm::none_of(sizes, isZeroInteger)) {
      Value whole = adaptor.getOperand();
      SmallVector<OpFoldResult> offsets(sizes.size(), rewriter.getIndexAttr(0)),
          ones(sizes.size(), rewriter.getIndexAttr(1));
      // Of a part, such as the places that a convolution has, it is one view, not two.
      if (auto part = whole.getDefiningOp<tensor::ExtractSliceOp>();
          part && part.hasUnitStride() && part.getSourceType().getRank() == type.getRank()) {
        whole = part.getSource();
        offsets = part.getMixedOffsets();
      }
      Value slice = tensor::ExtractSliceOp::create(rewriter, loc, whole, offsets, sizes, ones);
      rewriter.replaceOp(op, castTo(rewriter, loc, slice, type));
      return success();
    }
    SmallVector<Value> last = lastStarts(rewriter, op, adaptor.getOperand(), sizes);
    SmallVector<AffineMap> maps(op.getStarts().size(),
                                AffineMap::get(type.getRank(), 0, rewriter.getContext()));
    Value result = buildElementwise(
        rewriter, loc, type.getElementType(), sizes, adaptor.getStarts(), maps,
        [&](OpBuilder &b, Location bodyLoc, ValueRange args) -> Value {
          SmallVector<Value> position =
              clampedStarts(b, bodyLoc, args, op.getStarts().getTypes(), last);
          for (auto [dim, index] : llvm::enumerate(position))
            index = arith::AddIOp::create(b, bodyLoc, index,
                                          linalg::IndexOp::create(b, bodyLoc, dim).getResult());
          return tensor::ExtractOp::create(b, bodyLoc, adaptor.getOperand(), position);
        });
    rewriter.replaceOp(op, castTo(rewriter, loc, result, type));
    return success();
  }
};

struct ConvertDynamicUpdateSlice : OpConversionPattern<array::DynamicUpdateSliceOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(array::DynamicUpdateSliceOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    RankedTensorType type = storedType(op.getResult());
    Value operand = adaptor.getOperand(), update = adaptor.getUpdate();
    SmallVector<OpFoldResult> box = tensor::getMixedSizes(rewriter, loc, update);
    auto updateType = cast<RankedTensorType>(update.getType());
    if (updateType.hasStaticShape() && updateType.getNumElements() == 0) {
      rewriter.replaceOp(op, castTo(rewriter, loc, operand, type));
      return success();
    }
    SmallVector<int64_t> unsignedStarts;
    for (auto [dim, start] : llvm::enumerate(op.getStarts()))
      if (getElementTypeOrSelf(start.getType()).isUnsignedInteger())
        unsignedStarts.push_back(dim);
    auto result = kernel::UpdateOp::create(rewriter, loc, operand.getType(), update,
                                           adaptor.getStarts(), operand, unsignedStarts);
    rewriter.replaceOp(op, castTo(rewriter, loc, result.getResult(0), type));
    return success();
  }
};

struct ConvertConcatenate : OpConversionPattern<array::ConcatenateOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(array::ConcatenateOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    RankedTensorType type = storedType(op.getResult());
    array::SizeBuilder sizeBuilder(rewriter, loc);
    int64_t axis = op.getAxis();
    SmallVector<OpFoldResult> offsets(type.getRank(), sizeBuilder.constant(0));
    SmallVector<OpFoldResult> strides(type.getRank(), sizeBuilder.constant(1));
    SmallVector<OpFoldResult> starts, sizes = sizeBuilder.sizes(adaptor.getOperands().front());
    OpFoldResult end = sizeBuilder.constant(0);
    for (Value part : adaptor.getOperands()) {
      starts.push_back(end);
      end = sizeBuilder.add(end, sizeBuilder.size(part, axis));
    }
    sizes[axis] = end;
    Value result =
        emptyTensor(rewriter, loc, refineSizes(rewriter, type, sizes), type.getElementType());
    for (auto [part, start] : llvm::zip_equal(adaptor.getOperands(), starts)) {
      offsets[axis] = start;
      result = tensor::InsertSliceOp::create(rewriter, loc, part, result, offsets,
                                             sizeBuilder.sizes(part), strides);
    }
    rewriter.replaceOp(op, castTo(rewriter, loc, result, type));
    return success();
  }
};

struct ConvertPad : OpConversionPattern<array::PadOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(array::PadOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    RankedTensorType type = storedType(op.getResult());
    array::SizeBuilder sizeBuilder(rewriter, loc);
    SmallVector<OpFoldResult> offsets, strides, sizes,
        partSizes = sizeBuilder.sizes(adaptor.getOperand());
    for (auto [dim, part] : llvm::enumerate(partSizes)) {
      int64_t interior = op.getInterior() ? (*op.getInterior())[dim] : 0;
      offsets.push_back(sizeBuilder.constant(op.getLow()[dim]));
      strides.push_back(sizeBuilder.constant(interior + 1));
      OpFoldResult spread = array::spreadSize(sizeBuilder, part, interior + 1);
      sizes.push_back(
          sizeBuilder.add(spread, sizeBuilder.constant(op.getLow()[dim] + op.getHigh()[dim])));
    }
    sizes = refineSizes(rewriter, type, sizes);
    Value background = buildBackground(rewriter, op, adaptor.getValue(), sizes);
    Value result = tensor::InsertSliceOp::create(rewriter, loc, adaptor.getOperand(), background,
                                                 offsets, partSizes, strides);
    rewriter.replaceOp(op, castTo(rewriter, loc, result, type));
    return success();
  }

private:
  static Value buildBackground(OpBuilder &builder, array::PadOp op, Value value,
                               ArrayRef<OpFoldResult> sizes) {
    ElementsAttr constant;
    Type element = getElementTypeOrSelf(value.getType());
    if (matchPattern(op.getValue(), m_Constant(&constant)))
      if (auto splat = dyn_cast<SplatElementsAttr>(storageElements(constant))) {
        auto scalar = cast<TypedAttr>(splat.getSplatValue<Attribute>());
        return filledTensor(builder, op.getLoc(), sizes,
                            arith::ConstantOp::create(builder, op.getLoc(), scalar));
      }
    AffineMap map = AffineMap::get(sizes.size(), 0, builder.getContext());
    return buildElementwise(builder, op.getLoc(), element, sizes, value, map,
                            [](OpBuilder &, Location, ValueRange args) { return args[0]; });
  }
};

} // namespace

void populateShapePatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<ConvertDim, ConvertFromIndex, ConvertIota, ConvertWithin, ConvertBroadcast,
               ConvertReshape, ConvertTranspose, ConvertReverse, ConvertSlice, ConvertDynamicSlice,
               ConvertDynamicUpdateSlice, ConvertConcatenate, ConvertPad>(converter,
                                                                          patterns.getContext());
}

} // namespace xc
