//===- LinesToLinalg.cpp - Scans, sorts and searches ----------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scans and sorts are kernel ops. Sorts work along the last dim, so other dims are brought there.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/ArrayToLinalg.h"
#include "compiler/Dialect/Array/IR/Requirements.h"
#include "compiler/Dialect/Kernel/IR/KernelOps.h"
#include "compiler/Dialect/Kernel/IR/Order.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;

namespace xc {

//===----------------------------------------------------------------------===//
// Scans
//===----------------------------------------------------------------------===//

namespace {

template <typename Op, kernel::ScanKind kind> struct ConvertScan : OpConversionPattern<Op> {
  using OpConversionPattern<Op>::OpConversionPattern;

  LogicalResult matchAndRewrite(Op op, typename Op::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto type = cast<RankedTensorType>(storageType(op.getType()));
    Value operand = castTo(rewriter, loc, adaptor.getOperand(), type);
    SmallVector<OpFoldResult> sizes =
        refineSizes(rewriter, type, tensor::getMixedSizes(rewriter, loc, operand));
    Value dest =
        castTo(rewriter, loc, emptyTensor(rewriter, loc, sizes, type.getElementType()), type);
    auto scan = kernel::ScanOp::create(
        rewriter, loc, TypeRange(type), kind, operand, /*carry=*/Value(), dest, op.getAxis(),
        /*segment=*/0, /*totals=*/false, op.getExclusive(), op.getReverse(),
        getElementTypeOrSelf(op.getOperand().getType()).isUnsignedInteger());
    rewriter.replaceOp(op, scan.getResult(0));
    return success();
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Sorts
//===----------------------------------------------------------------------===//

/// `tensor` with its dims permuted; dim i of the result is dim `permutation[i]` of it.
static Value permute(OpBuilder &builder, Location loc, Value tensor,
                     ArrayRef<int64_t> permutation) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<OpFoldResult> from = tensor::getMixedSizes(builder, loc, tensor), sizes;
  SmallVector<AffineExpr> exprs(type.getRank());
  for (auto [dim, source] : llvm::enumerate(permutation)) {
    sizes.push_back(from[source]);
    exprs[source] = builder.getAffineDimExpr(dim);
  }
  AffineMap map = AffineMap::get(type.getRank(), 0, exprs, builder.getContext());
  return buildElementwise(builder, loc, type.getElementType(), sizes, tensor, map,
                          [](OpBuilder &, Location, ValueRange args) { return args[0]; });
}

namespace {

/// What is sorted, and how.
struct SortRequest {
  Value operand;
  Type element; // of the array op
  int64_t axis;
  bool descending;
  int64_t keep; // 0: all
  Type indexType;
};

} // namespace

/// The sorted values and their indices, along the operand's axis.
static std::pair<Value, Value> sortLines(OpBuilder &builder, Location loc,
                                         const SortRequest &request) {
  int64_t rank = cast<RankedTensorType>(request.operand.getType()).getRank();
  SmallVector<int64_t> toLast, back;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (dim != request.axis)
      toLast.push_back(dim);
  toLast.push_back(request.axis);
  back = invertPermutationVector(toLast);
  bool isLast = request.axis == rank - 1;
  Value keys = isLast ? request.operand : permute(builder, loc, request.operand, toLast);
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, keys);
  if (request.keep != 0)
    sizes.back() = builder.getIndexAttr(request.keep);
  Value values = emptyTensor(builder, loc, sizes, getElementTypeOrSelf(keys.getType()));
  Value indices = emptyTensor(builder, loc, sizes, request.indexType);
  auto sort = kernel::SortOp::create(builder, loc, TypeRange{values.getType(), indices.getType()},
                                     keys, /*payload=*/Value(), values, indices, request.descending,
                                     request.element.isUnsignedInteger(), request.keep,
                                     /*segment=*/0);
  if (isLast)
    return {sort.getResult(0), sort.getResult(1)};
  return {permute(builder, loc, sort.getResult(0), back),
          permute(builder, loc, sort.getResult(1), back)};
}

namespace {

struct ConvertSort : OpConversionPattern<array::SortOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(array::SortOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    int64_t axis = op.getAxis();
    SortRequest request{adaptor.getOperand(), op.getType().getElementType(), axis,
                        op.getDescending(),
                        /*keep=*/0,           rewriter.getI32Type()};
    // Positions have to tell all elements of a line apart.
    int64_t size = op.getOperand().getType().getDimSize(axis);
    if (ShapedType::isDynamic(size) || size > INT32_MAX)
      request.indexType = rewriter.getI64Type();
    Value values = sortLines(rewriter, op.getLoc(), request).first;
    rewriter.replaceOp(op, castTo(rewriter, op.getLoc(), values, storageType(op.getType())));
    return success();
  }
};

struct ConvertArgSort : OpConversionPattern<array::ArgSortOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(array::ArgSortOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    SortRequest request{adaptor.getOperand(),
                        op.getOperand().getType().getElementType(),
                        static_cast<int64_t>(op.getAxis()),
                        op.getDescending(),
                        /*keep=*/0,
                        op.getType().getElementType()};
    Value indices = sortLines(rewriter, op.getLoc(), request).second;
    rewriter.replaceOp(op, castTo(rewriter, op.getLoc(), indices, op.getType()));
    return success();
  }
};

struct ConvertTopK : OpConversionPattern<array::TopKOp> {
  using OpConversionPattern::OpConversionPattern;

  /// Lines of dynamic size pass through fast memory that holds twice as many elements.
  static constexpr int64_t kMaxDynamicK = 4096;

  LogicalResult matchAndRewrite(array::TopKOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    int64_t axis = op.getAxis(), k = op.getK();
    RankedTensorType operandType = op.getOperand().getType();
    if (operandType.isDynamicDim(axis) && k > kMaxDynamicK)
      return op.emitOpError("expected a k of at most ")
             << kMaxDynamicK << " along a dim of dynamic size, got " << k;
    auto valuesType = cast<RankedTensorType>(storageType(op.getValues().getType()));
    RankedTensorType indicesType = op.getIndices().getType();
    Value values, indices;
    if (k == 0) {
      SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(rewriter, loc, adaptor.getOperand());
      sizes[axis] = rewriter.getIndexAttr(0);
      auto noneOf = [&](Type element) {
        return filledTensor(rewriter, loc, sizes, scalarConstant(rewriter, loc, element, 0));
      };
      values = noneOf(valuesType.getElementType());
      indices = noneOf(indicesType.getElementType());
    } else {
      SortRequest request{adaptor.getOperand(),
                          operandType.getElementType(),
                          axis,
                          /*descending=*/!op.getSmallest(),
                          k,
                          indicesType.getElementType()};
      std::tie(values, indices) = sortLines(rewriter, loc, request);
    }
    rewriter.replaceOp(op, {castTo(rewriter, loc, values, valuesType),
                            castTo(rewriter, loc, indices, indicesType)});
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Searchsorted
//===----------------------------------------------------------------------===//

/// A binary search whose steps are all written out: as many as the longest vector needs, those
/// that come too late changing nothing.
struct ConvertSearchSorted : OpConversionPattern<array::SearchSortedOp> {
  using OpConversionPattern::OpConversionPattern;

  /// Steps for a vector of dynamic size.
  static constexpr unsigned kDynamicSteps = 40;

  LogicalResult matchAndRewrite(array::SearchSortedOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    RankedTensorType type = op.getType();
    Value sorted = adaptor.getSorted(), values = adaptor.getValues();
    int64_t known = op.getSorted().getType().getDimSize(0);
    unsigned steps = ShapedType::isDynamic(known) ? kDynamicSteps : llvm::Log2_64_Ceil(known + 1);
    OpFoldResult count = tensor::getMixedSize(rewriter, loc, sorted, 0);
    Value size = getValueOrCreateConstantIndexOp(rewriter, loc, count);
    bool isUnsigned = op.getSorted().getType().getElementType().isUnsignedInteger();
    auto search = [&](Value keys) {
      return buildElementwise(
          rewriter, loc, type.getElementType(), tensor::getMixedSizes(rewriter, loc, keys), keys,
          rewriter.getMultiDimIdentityMap(cast<RankedTensorType>(keys.getType()).getRank()),
          [&](OpBuilder &b, Location bodyLoc, ValueRange args) -> Value {
            Value key =
                kernel::buildOrderKey(b, bodyLoc, args[0], isUnsigned, /*descending=*/false);
            Value low = arith::ConstantIndexOp::create(b, bodyLoc, 0), high = size;
            for (unsigned step = 0; step < steps; ++step)
              searchStep(b, bodyLoc, sorted, key, isUnsigned, op.getRight(), low, high);
            return arith::IndexCastOp::create(b, bodyLoc, type.getElementType(), low);
          });
    };
    Value result = ShapedType::isDynamic(known)
                       ? searchWhereNotEmpty(rewriter, loc, sorted, values, type, search)
                       : search(values);
    rewriter.replaceOp(op, castTo(rewriter, loc, result, type));
    return success();
  }

private:
  /// Every search of a vector without elements gives 0, and none may look at one: of the values
  /// none are searched for then.
  static Value searchWhereNotEmpty(OpBuilder &builder, Location loc, Value sorted, Value values,
                                   RankedTensorType type, function_ref<Value(Value)> search) {
    array::SizeBuilder sizeBuilder(builder, loc);
    bool isScalar = type.getRank() == 0;
    if (isScalar) {
      auto one = RankedTensorType::get({1}, getElementTypeOrSelf(values.getType()));
      values = tensor::ExpandShapeOp::create(builder, loc, one, values,
                                             ArrayRef<ReassociationIndices>());
    }
    SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, values), searched = sizes;
    SmallVector<OpFoldResult> offsets(sizes.size(), builder.getIndexAttr(0)),
        strides(sizes.size(), builder.getIndexAttr(1));
    OpFoldResult isSearched = array::isNotEmpty(sizeBuilder, sizeBuilder.size(sorted, 0));
    searched[0] = sizeBuilder.mul(sizes[0], isSearched);
    Value keys = tensor::ExtractSliceOp::create(builder, loc, values, offsets, searched, strides);
    Value zeros =
        filledTensor(builder, loc, sizes, scalarConstant(builder, loc, type.getElementType(), 0));
    Value result = tensor::InsertSliceOp::create(builder, loc, search(keys), zeros, offsets,
                                                 searched, strides);
    if (isScalar)
      result = tensor::CollapseShapeOp::create(builder, loc, type, result,
                                               ArrayRef<ReassociationIndices>());
    return result;
  }

  /// Halves [low, high), at whose end the first element lies that comes behind the key.
  static void searchStep(OpBuilder &b, Location loc, Value sorted, Value key, bool isUnsigned,
                         bool right, Value &low, Value &high) {
    using arith::CmpIPredicate;
    Value zero = arith::ConstantIndexOp::create(b, loc, 0),
          one = arith::ConstantIndexOp::create(b, loc, 1);
    Value isOpen = arith::CmpIOp::create(b, loc, CmpIPredicate::slt, low, high);
    Value middle =
        arith::ShRUIOp::create(b, loc, arith::AddIOp::create(b, loc, low, high).getResult(), one);
    // A closed range may lie behind the last element.
    Value place = arith::SelectOp::create(b, loc, isOpen, middle, zero);
    Value element = tensor::ExtractOp::create(b, loc, sorted, place);
    Value other = kernel::buildOrderKey(b, loc, element, isUnsigned, /*descending=*/false);
    Value isBefore =
        arith::CmpIOp::create(b, loc, right ? CmpIPredicate::ule : CmpIPredicate::ult, other, key);
    Value goesUp = arith::AndIOp::create(b, loc, isOpen, isBefore);
    Value next = arith::AddIOp::create(b, loc, middle, one);
    low = arith::SelectOp::create(b, loc, goesUp, next, low);
    high =
        arith::SelectOp::create(b, loc, goesUp, high, arith::MinSIOp::create(b, loc, middle, high));
  }
};

} // namespace

void populateLinePatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  using kernel::ScanKind;
  patterns.add<
      ConvertScan<array::CumSumOp, ScanKind::Sum>, ConvertScan<array::CumProdOp, ScanKind::Prod>,
      ConvertScan<array::CumMaxOp, ScanKind::Max>, ConvertScan<array::CumMinOp, ScanKind::Min>,
      ConvertScan<array::LogCumSumExpOp, ScanKind::LogAddExp>, ConvertSort, ConvertArgSort,
      ConvertTopK, ConvertSearchSorted>(converter, patterns.getContext());
}

} // namespace xc
