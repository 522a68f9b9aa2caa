//===- AttentionToLinalg.cpp - Attention that is left whole ---------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/ArrayToLinalg.h"
#include "compiler/Dialect/Array/IR/AttentionGradientOp.h"
#include "compiler/Dialect/Array/IR/PassAttributes.h"
#include "compiler/Dialect/Kernel/IR/AttentionGradientOp.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace xc {

namespace {

/// `operand`, which may be null, with the sizes that the queries' type says it has: kernel ops ask
/// for equal types, where those of array ops may have a `?` on either side.
Value castToShape(OpBuilder &builder, Location loc, Value operand, ArrayRef<int64_t> shape) {
  if (!operand)
    return operand;
  return castTo(builder, loc, operand, cast<RankedTensorType>(operand.getType()).clone(shape));
}

/// The same of sinks: one for each head of `query`.
Value castSinks(OpBuilder &builder, Location loc, Value sinks, Value query) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(query.getType()).getShape();
  return castToShape(builder, loc, sinks, shape.take_back(3).front());
}

/// What `-xc-array-keep-attention` has marked; all other attention is decomposed.
struct ConvertAttention : OpConversionPattern<array::AttentionOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(array::AttentionOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (!op->hasAttr(array::kWholeAttr))
      return rewriter.notifyMatchFailure(op, "is to be decomposed");
    Location loc = op.getLoc();
    SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(rewriter, loc, adaptor.getQuery());
    int64_t rank = static_cast<int64_t>(sizes.size());
    sizes.back() = tensor::getMixedSize(rewriter, loc, adaptor.getValue(), rank - 1);
    SmallVector<Value> dests;
    for (Value result : op.getResults()) {
      if (!result)
        continue;
      auto type = cast<RankedTensorType>(result.getType());
      ArrayRef<OpFoldResult> own = ArrayRef(sizes).take_front(type.getRank());
      dests.push_back(emptyTensor(rewriter, loc, own, type.getElementType()));
    }
    auto attention = kernel::AttentionOp::create(
        rewriter, loc, ValueRange(dests).getTypes(), adaptor.getQuery(), adaptor.getKey(),
        adaptor.getValue(), adaptor.getMask(), adaptor.getOffset(),
        castSinks(rewriter, loc, adaptor.getSinks(), adaptor.getQuery()),
        /*table=*/Value(), /*lengths=*/Value(), dests, op.getCausalAttr(), op.getWindowAttr(),
        op.getSoftcapAttr(), op.getScaleAttr());
    attention.setOpenEnd(op->hasAttr(array::kOpenEndAttr));
    SmallVector<Value> results;
    for (auto [value, result] : llvm::zip_equal(attention.getResults(), op.getResults()))
      results.push_back(castTo(rewriter, loc, value, storageType(result.getType())));
    rewriter.replaceOp(op, results);
    return success();
  }
};

struct ConvertPagedAttention : OpConversionPattern<array::PagedAttentionOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(array::PagedAttentionOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (!op->hasAttr(array::kWholeAttr))
      return rewriter.notifyMatchFailure(op, "is to be decomposed");
    Location loc = op.getLoc();
    SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(rewriter, loc, adaptor.getQuery());
    sizes.back() = tensor::getMixedSize(rewriter, loc, adaptor.getValues(), 3);
    Value dest = emptyTensor(rewriter, loc, sizes, op.getType().getElementType());
    // What takes few queries alone is chosen when the target is known.
    auto attention = kernel::AttentionOp::create(
        rewriter, loc, TypeRange(dest.getType()), adaptor.getQuery(), adaptor.getKeys(),
        adaptor.getValues(), /*mask=*/Value(), /*offset=*/Value(), /*sinks=*/Value(),
        adaptor.getTable(), adaptor.getLengths(), dest, /*causal=*/UnitAttr(),
        /*window=*/IntegerAttr(), op.getSoftcapAttr(), op.getScaleAttr());
    rewriter.replaceOp(
        op, castTo(rewriter, loc, attention.getResults().front(), storageType(op.getType())));
    return success();
  }
};

/// One op for all gradients: a target without a kernel computes them together.
struct ConvertAttentionGradient : OpConversionPattern<array::AttentionGradientOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(array::AttentionGradientOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (!op->hasAttr(array::kWholeAttr))
      return rewriter.notifyMatchFailure(op, "is to be decomposed");
    Location loc = op.getLoc();
    SmallVector<Value> dests;
    SmallVector<Value> wanted{adaptor.getQuery(), adaptor.getKey(), adaptor.getValue()};
    if (op.getWithMask())
      wanted.push_back(adaptor.getMask());
    for (Value operand : wanted)
      dests.push_back(emptyTensor(rewriter, loc, tensor::getMixedSizes(rewriter, loc, operand),
                                  cast<RankedTensorType>(operand.getType()).getElementType()));
    ArrayRef<int64_t> query = cast<RankedTensorType>(adaptor.getQuery().getType()).getShape();
    auto castRows = [&](Value rows) { return castToShape(rewriter, loc, rows, query.drop_back()); };
    auto gradient = kernel::AttentionGradientOp::create(
        rewriter, loc, ValueRange(dests).getTypes(), adaptor.getQuery(), adaptor.getKey(),
        adaptor.getValue(), adaptor.getCotangent(), castRows(adaptor.getLogsumexp()),
        castRows(adaptor.getDelta()), adaptor.getMask(), adaptor.getOffset(),
        castSinks(rewriter, loc, adaptor.getSinks(), adaptor.getQuery()),
        castRows(adaptor.getLogsumexpCotangent()), dests, op.getCausalAttr(), op.getWindowAttr(),
        op.getSoftcapAttr(), op.getScaleAttr(),
        /*only_keys=*/UnitAttr(),
        /*only_values=*/UnitAttr(), /*only_mask=*/UnitAttr());
    SmallVector<Value> results;
    for (auto [value, result] : llvm::zip_equal(gradient.getResults(), op.getResults()))
      results.push_back(castTo(rewriter, loc, value, storageType(result.getType())));
    rewriter.replaceOp(op, results);
    return success();
  }
};

} // namespace

void populateAttentionPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<ConvertAttention, ConvertPagedAttention, ConvertAttentionGradient>(
      converter, patterns.getContext());
}

} // namespace xc
