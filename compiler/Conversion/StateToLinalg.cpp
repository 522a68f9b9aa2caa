//===- StateToLinalg.cpp - Variables and parameters in storage types ------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// These ops stay; only their types change, and `array.dtype` keeps the caller's.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/ArrayToLinalg.h"

using namespace mlir;

namespace xc {

namespace {

struct ConvertVariable : OpConversionPattern<array::VariableOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(array::VariableOp op, OpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    RankedTensorType type = op.getType();
    rewriter.modifyOpInPlace(op, [&] {
      op->setAttr(array::kDtypeAttr, dtypeOf(type));
      op.setType(cast<RankedTensorType>(storageType(type)));
      if (auto elements = dyn_cast_if_present<ElementsAttr>(op.getInitialValueAttr()))
        op.setInitialValueAttr(storageElements(elements));
    });
    return success();
  }
};

struct ConvertParameter : OpConversionPattern<array::ParameterOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(array::ParameterOp op, OpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto replacement = array::ParameterOp::create(rewriter, op.getLoc(), storageType(op.getType()),
                                                  op.getParameter());
    replacement->setAttr(array::kDtypeAttr, dtypeOf(op.getType()));
    rewriter.replaceOp(op, replacement);
    return success();
  }
};

struct ConvertRead : OpConversionPattern<array::VariableReadOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(array::VariableReadOp op, OpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<array::VariableReadOp>(op, storageType(op.getType()),
                                                       op.getVariable());
    return success();
  }
};

struct ConvertAssign : OpConversionPattern<array::VariableAssignOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(array::VariableAssignOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<array::VariableAssignOp>(op, op.getVariable(), adaptor.getValue());
    return success();
  }
};

} // namespace

void populateStatePatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<ConvertVariable, ConvertParameter, ConvertRead, ConvertAssign>(
      converter, patterns.getContext());
}

} // namespace xc
