//===- CustomToLinalg.cpp - Kernels that the program brings ---------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/ArrayToLinalg.h"
#include "compiler/Dialect/Array/IR/ArrayOps.h"
#include "compiler/Dialect/Kernel/IR/KernelOps.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace xc {

namespace {

struct ConvertCustomKernel final : OpConversionPattern<array::CustomKernelOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(array::CustomKernelOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (!op.getPtxAttr())
      return op.emitOpError("expected '-xc-read-kernels' to have read '") << *op.getFile() << "'";
    Location loc = op.getLoc();
    ReifiedRankedShapedTypeDims shapes;
    array::SizeBuilder sizeBuilder(rewriter, loc);
    (void)op.reifySizes(sizeBuilder, shapes);
    SmallVector<Value> inits;
    SmallVector<Type> types;
    for (auto [type, sizes] : llvm::zip_equal(op.getOutputs().getTypes(), shapes)) {
      types.push_back(storageType(type));
      Type element = cast<RankedTensorType>(types.back()).getElementType();
      inits.push_back(emptyTensor(rewriter, loc, sizes, element));
    }
    rewriter.replaceOpWithNewOp<kernel::CustomOp>(
        op, types, op.getEntryAttr(), adaptor.getInputs(), op.getScalars(), op.getScalarTypesAttr(),
        inits, op.getGridAttr(), op.getBlockAttr(), op.getSharedAttr(), op.getReuseAttr(),
        op.getReferenceAttr(), op.getPtxAttr());
    return success();
  }
};

} // namespace

void populateCustomPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<ConvertCustomKernel>(converter, patterns.getContext());
}

} // namespace xc
