//===- IndexToLinalg.cpp - Elements at positions that are data ------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads are generics with tensor.extract in the body, at indices clamped into the operand, so that
// they fuse like any elementwise op. Writes are kernel.scatter, which skips what is outside.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/ArrayToLinalg.h"
#include "compiler/Conversion/ClampIndex.h"
#include "compiler/Dialect/Kernel/IR/KernelOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <limits>

using namespace mlir;

namespace xc {

Value clampIndex(OpBuilder &builder, Location loc, Value stored, Type type, Value last) {
  unsigned width = type.getIntOrFloatBitWidth();
  bool isUnsigned = type.isUnsignedInteger();
  // A target's indices may have 32 bits: what may not fit them is compared on 64.
  bool isWide = width == 64 || (isUnsigned && width == 32);
  Type compared = isWide ? Type(builder.getI64Type()) : builder.getIndexType();
  Value number = stored, limit = last;
  if (isWide) {
    if (width < 64)
      number = arith::ExtUIOp::create(builder, loc, compared, number);
    limit = arith::IndexCastOp::create(builder, loc, compared, last);
  } else if (isUnsigned) {
    number = arith::IndexCastUIOp::create(builder, loc, compared, number);
  } else {
    number = arith::IndexCastOp::create(builder, loc, compared, number);
  }
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(compared, value));
  };
  if (isUnsigned && width == 64)
    number =
        arith::MinUIOp::create(builder, loc, number, constant(std::numeric_limits<int64_t>::max()));
  number = arith::MinSIOp::create(builder, loc, number, limit);
  number = arith::MaxSIOp::create(builder, loc, number, constant(0));
  if (!isWide)
    return number;
  return arith::IndexCastOp::create(builder, loc, builder.getIndexType(), number);
}

/// The last index of a dim.
static Value lastIndex(OpBuilder &builder, Location loc, Value tensor, int64_t dim) {
  array::SizeBuilder sizeBuilder(builder, loc);
  return sizeBuilder.value(sizeBuilder.sub(sizeBuilder.size(tensor, dim), sizeBuilder.constant(1)));
}

/// `indices` as vectors of `components`, where only the run tells how many they have.
static Value castComponents(OpBuilder &builder, Operation *op, Value indices, int64_t components) {
  auto type = cast<RankedTensorType>(indices.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape.back() = components;
  return castTo(builder, op->getLoc(), indices, type.clone(shape));
}

static AffineMap mapOfDims(Builder &builder, int64_t rank, ArrayRef<int64_t> dims) {
  SmallVector<AffineExpr> exprs;
  for (int64_t dim : dims)
    exprs.push_back(builder.getAffineDimExpr(dim));
  return AffineMap::get(rank, 0, exprs, builder.getContext());
}

namespace {

struct ConvertTake : OpConversionPattern<array::TakeOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(array::TakeOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value operand = adaptor.getOperand(), indices = adaptor.getIndices();
    auto type = cast<RankedTensorType>(storageType(op.getType()));
    int64_t axis = op.getAxis(), indexRank = cast<RankedTensorType>(indices.getType()).getRank();
    int64_t operandRank = cast<RankedTensorType>(operand.getType()).getRank();
    array::SizeBuilder sizeBuilder(rewriter, loc);
    SmallVector<OpFoldResult> sizes = sizeBuilder.sizes(operand),
                              indexSizes = sizeBuilder.sizes(indices);
    sizes.erase(sizes.begin() + axis);
    sizes.insert(sizes.begin() + axis, indexSizes.begin(), indexSizes.end());
    sizes = refineSizes(rewriter, type, sizes);
    SmallVector<int64_t> indexDims;
    for (int64_t dim = 0; dim < indexRank; ++dim)
      indexDims.push_back(axis + dim);
    Value last = lastIndex(rewriter, loc, operand, axis);
    Type indexType = getElementTypeOrSelf(op.getIndices().getType());
    Value result =
        buildElementwise(rewriter, loc, type.getElementType(), sizes, indices,
                         mapOfDims(rewriter, type.getRank(), indexDims),
                         [&](OpBuilder &b, Location bodyLoc, ValueRange args) -> Value {
                           SmallVector<Value> position;
                           for (int64_t dim = 0; dim < operandRank; ++dim) {
                             if (dim == axis)
                               position.push_back(clampIndex(b, bodyLoc, args[0], indexType, last));
                             else
                               position.push_back(linalg::IndexOp::create(
                                   b, bodyLoc, dim < axis ? dim : dim + indexRank - 1));
                           }
                           return tensor::ExtractOp::create(b, bodyLoc, operand, position);
                         });
    rewriter.replaceOp(op, castTo(rewriter, loc, result, type));
    return success();
  }
};

struct ConvertTakeAlongAxis : OpConversionPattern<array::TakeAlongAxisOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(array::TakeAlongAxisOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value operand = adaptor.getOperand(), indices = adaptor.getIndices();
    auto type = cast<RankedTensorType>(storageType(op.getType()));
    int64_t axis = op.getAxis();
    Value last = lastIndex(rewriter, loc, operand, axis);
    Type indexType = getElementTypeOrSelf(op.getIndices().getType());
    SmallVector<OpFoldResult> sizes =
        refineSizes(rewriter, type, tensor::getMixedSizes(rewriter, loc, indices));
    Value result =
        buildElementwise(rewriter, loc, type.getElementType(), sizes, indices,
                         rewriter.getMultiDimIdentityMap(type.getRank()),
                         [&](OpBuilder &b, Location bodyLoc, ValueRange args) -> Value {
                           SmallVector<Value> position;
                           for (int64_t dim = 0; dim < type.getRank(); ++dim) {
                             if (dim == axis)
                               position.push_back(clampIndex(b, bodyLoc, args[0], indexType, last));
                             else
                               position.push_back(linalg::IndexOp::create(b, bodyLoc, dim));
                           }
                           return tensor::ExtractOp::create(b, bodyLoc, operand, position);
                         });
    rewriter.replaceOp(op, castTo(rewriter, loc, result, type));
    return success();
  }
};

struct ConvertGather : OpConversionPattern<array::GatherOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(array::GatherOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value operand = adaptor.getOperand();
    Value indices = castComponents(rewriter, op, adaptor.getIndices(), op.getAxes().size());
    auto type = cast<RankedTensorType>(storageType(op.getType()));
    array::SizeBuilder sizeBuilder(rewriter, loc);
    SmallVector<OpFoldResult> sizes = sizeBuilder.sizes(indices),
                              operandSizes = sizeBuilder.sizes(operand);
    sizes.pop_back();
    int64_t batchRank = sizes.size(), operandRank = operandSizes.size();
    SmallVector<Value> lasts;
    for (int64_t dim = 0; dim < operandRank; ++dim) {
      if (llvm::is_contained(op.getAxes(), dim))
        lasts.push_back(lastIndex(rewriter, loc, operand, dim));
      else
        sizes.push_back(operandSizes[dim]);
    }
    Type indexType = getElementTypeOrSelf(op.getIndices().getType());
    sizes = refineSizes(rewriter, type, sizes);
    Value result = buildElementwise(
        rewriter, loc, type.getElementType(), sizes, {}, {},
        [&](OpBuilder &b, Location bodyLoc, ValueRange) -> Value {
          SmallVector<Value> where, position;
          for (int64_t dim = 0; dim < batchRank; ++dim)
            where.push_back(linalg::IndexOp::create(b, bodyLoc, dim));
          int64_t component = 0, window = batchRank;
          for (int64_t dim = 0; dim < operandRank; ++dim) {
            if (!llvm::is_contained(op.getAxes(), dim)) {
              position.push_back(linalg::IndexOp::create(b, bodyLoc, window++));
              continue;
            }
            where.push_back(arith::ConstantIndexOp::create(b, bodyLoc, component));
            Value stored = tensor::ExtractOp::create(b, bodyLoc, indices, where);
            where.pop_back();
            position.push_back(clampIndex(b, bodyLoc, stored, indexType, lasts[component++]));
          }
          return tensor::ExtractOp::create(b, bodyLoc, operand, position);
        });
    rewriter.replaceOp(op, castTo(rewriter, loc, result, type));
    return success();
  }
};

struct ConvertScatter : OpConversionPattern<array::ScatterOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(array::ScatterOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Type indexType = getElementTypeOrSelf(op.getIndices().getType());
    Type element = getElementTypeOrSelf(op.getOperand().getType());
    auto type = cast<RankedTensorType>(storageType(op.getType()));
    Value operand = castTo(rewriter, loc, adaptor.getOperand(), type),
          updates = adaptor.getUpdates();
    Value indices = castComponents(rewriter, op, adaptor.getIndices(), op.getAxes().size());
    // Sums and products of 16-bit floats accumulate in f32, as those of reductions do.
    bool accumulates =
        op.getKind() == array::ScatterKind::Add || op.getKind() == array::ScatterKind::Mul;
    if (accumulates) {
      operand = loadTensor(rewriter, loc, operand, element);
      updates = loadTensor(rewriter, loc, updates, element);
    }
    auto scatter = kernel::ScatterOp::create(
        rewriter, loc, operand.getType(), kindOf(op.getKind()), indices, updates, /*rows=*/Value(),
        /*order=*/Value(), operand, op.getAxes(),
        /*unsigned_indices=*/indexType.isUnsignedInteger(),
        /*unsigned_elements=*/element.isUnsignedInteger(), op.getUnique(), /*in_place=*/false);
    Value result = scatter.getResult(0);
    if (accumulates)
      result = storeTensor(rewriter, loc, result, element);
    rewriter.replaceOp(op, result);
    return success();
  }

private:
  static kernel::ScatterKind kindOf(array::ScatterKind kind) {
    switch (kind) {
    case array::ScatterKind::Set:
      return kernel::ScatterKind::Set;
    case array::ScatterKind::Add:
      return kernel::ScatterKind::Add;
    case array::ScatterKind::Max:
      return kernel::ScatterKind::Max;
    case array::ScatterKind::Min:
      return kernel::ScatterKind::Min;
    case array::ScatterKind::Mul:
      return kernel::ScatterKind::Mul;
    }
    llvm_unreachable("unknown kind of scatter");
  }
};

} // namespace

void populateIndexPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<ConvertTake, ConvertTakeAlongAxis, ConvertGather, ConvertScatter>(
      converter, patterns.getContext());
}

} // namespace xc
