//===- CustomToLinalg.cpp - Kernels that the program brings ---------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/ArrayToLinalg.h"
#include "compiler/Dialect/Array/IR/ArrayOps.h"
#include "compiler/Dialect/Kernel/IR/KernelOps.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
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
    requireNarrowScalars(op, rewriter);
    requireSmallGrid(op, rewriter);
    ReifiedRankedShapedTypeDims shapes;
    (void)op.reifyResultShapes(rewriter, shapes);
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

private:
  /// The kernel gets the low half of an i32.
  static void requireNarrowScalars(array::CustomKernelOp op, OpBuilder &builder) {
    for (auto [index, scalar] : llvm::enumerate(op.getScalars()))
      if (cast<TypeAttr>(op.getScalarTypesAttr()[index]).getValue().isInteger(32))
        requireSizes(builder, op, getAsOpFoldResult(scalar), plan::Comparison::AtMost,
                     builder.getIndexAttr(INT32_MAX),
                     "expected scalar " + Twine(index) + " to fit i32");
  }

  static void requireSmallGrid(array::CustomKernelOp op, OpBuilder &builder) {
    constexpr int64_t most[] = {INT32_MAX, 65535, 65535};
    for (int axis = 0; axis < 3; ++axis) {
      AffineMap blocks = op.getGrid().getSubMap({static_cast<unsigned>(axis)});
      if (isa<AffineConstantExpr>(blocks.getResult(0)))
        continue;
      Value count = affine::AffineApplyOp::create(builder, op.getLoc(), blocks, op.getScalars());
      requireSizes(builder, op, count, plan::Comparison::AtMost, builder.getIndexAttr(most[axis]),
                   "expected a grid of at most " + Twine(most[axis]) + " blocks along axis " +
                       Twine(axis));
    }
  }
};

} // namespace

void populateCustomPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<ConvertCustomKernel>(converter, patterns.getContext());
}

} // namespace xc
