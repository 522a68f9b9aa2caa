//===- ElementwiseToLinalg.cpp - Elementwise array ops and constants ------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One linalg.generic for each op. A dim that is broadcast is left out of its operand's map, a dim
// of size 1 that is collapsed away before; splat constants move into the body.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/ArrayToLinalg.h"
#include "compiler/Dialect/Array/IR/PassAttributes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;

namespace xc {

namespace {

/// An operand as the generic reads it.
struct Operand {
  TypedAttr constant; // the stored scalar, for splat constants
  Value tensor;       // else
  AffineMap map;
};

/// The array op's constant operand, if it is one value throughout.
static TypedAttr splatOf(Value operand) {
  ElementsAttr elements;
  if (!matchPattern(operand, m_Constant(&elements)))
    return {};
  auto splat = dyn_cast<SplatElementsAttr>(storageElements(elements));
  return splat ? cast<TypedAttr>(splat.getSplatValue<Attribute>()) : TypedAttr();
}

/// Aligns `tensor` with the last dims of `resultType`, and leaves out what is broadcast.
static Operand alignOperand(OpBuilder &builder, Location loc, Value tensor,
                            RankedTensorType resultType) {
  auto type = cast<RankedTensorType>(tensor.getType());
  int64_t shift = resultType.getRank() - type.getRank();
  llvm::SmallBitVector drop(type.getRank());
  SmallVector<AffineExpr> exprs;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    if (type.getDimSize(dim) == 1 && resultType.getDimSize(dim + shift) != 1)
      drop.set(dim);
    else
      exprs.push_back(builder.getAffineDimExpr(dim + shift));
  }
  AffineMap map = AffineMap::get(resultType.getRank(), 0, exprs, builder.getContext());
  return {TypedAttr(), dropUnitDims(builder, loc, tensor, drop), map};
}

/// The result's sizes: what its type knows, else from an operand that is not broadcast along the
/// dim.
static SmallVector<OpFoldResult> elementwiseSizes(OpBuilder &builder, Location loc,
                                                  ValueRange operands,
                                                  RankedTensorType resultType) {
  SmallVector<OpFoldResult> sizes;
  for (auto [dim, size] : llvm::enumerate(resultType.getShape())) {
    OpFoldResult known = builder.getIndexAttr(size);
    if (ShapedType::isDynamic(size)) {
      known = builder.getIndexAttr(1);
      for (Value operand : operands) {
        auto type = cast<RankedTensorType>(operand.getType());
        int64_t operandDim = static_cast<int64_t>(dim) - (resultType.getRank() - type.getRank());
        if (operandDim < 0 || type.getDimSize(operandDim) == 1)
          continue;
        known = tensor::getMixedSize(builder, loc, operand, operandDim);
        break;
      }
    }
    sizes.push_back(known);
  }
  return sizes;
}

struct ConvertElementwise : OpInterfaceConversionPattern<array::ArrayElementwiseOpInterface> {
  using OpInterfaceConversionPattern::OpInterfaceConversionPattern;

  LogicalResult matchAndRewrite(array::ArrayElementwiseOpInterface op, ArrayRef<Value> operands,
                                ConversionPatternRewriter &rewriter) const override {
    // Composite ops are decomposed instead.
    if (isa<array::ArrayDecomposableOpInterface>(op.getOperation()) ||
        isa<array::BitcastOp>(op.getOperation()))
      return rewriter.notifyMatchFailure(op, "has a pattern of its own");
    Location loc = op.getLoc();
    auto resultType = cast<RankedTensorType>(storageType(op->getResult(0).getType()));
    SmallVector<OpFoldResult> sizes = elementwiseSizes(rewriter, loc, operands, resultType);
    SmallVector<Operand> aligned;
    SmallVector<Value> inputs;
    SmallVector<AffineMap> maps;
    for (auto [original, converted] : llvm::zip_equal(op->getOperands(), operands)) {
      Operand operand;
      operand.constant = splatOf(original);
      if (!operand.constant) {
        operand = alignOperand(rewriter, loc, converted, resultType);
        inputs.push_back(operand.tensor);
        maps.push_back(operand.map);
      }
      aligned.push_back(operand);
    }
    bool failed = false;
    Value result = buildElementwise(
        rewriter, loc, resultType.getElementType(), sizes, inputs, maps,
        [&](OpBuilder &b, Location, ValueRange args) -> Value {
          FailureOr<Value> scalar = buildBody(b, op, aligned, args);
          failed = mlir::failed(scalar);
          return failed ? scalarConstant(b, loc, resultType.getElementType(), 0) : *scalar;
        });
    if (failed)
      return rewriter.notifyMatchFailure(op, "no scalar form");
    rewriter.replaceOp(op, castTo(rewriter, loc, result, resultType));
    return success();
  }

private:
  static FailureOr<Value> buildBody(OpBuilder &b, Operation *op, ArrayRef<Operand> operands,
                                    ValueRange args) {
    SmallVector<Value> scalars;
    size_t next = 0;
    for (auto [index, operand] : llvm::enumerate(operands)) {
      Value stored = operand.constant
                         ? Value(arith::ConstantOp::create(b, op->getLoc(), operand.constant))
                         : args[next++];
      // A choice moves its values as they are.
      bool isMoved = isa<array::SelectOp>(op) && index > 0;
      Type element = getElementTypeOrSelf(op->getOperand(index).getType());
      scalars.push_back(isMoved ? stored : loadScalar(b, op->getLoc(), stored, element));
    }
    if (isa<array::SelectOp>(op))
      return Value(arith::SelectOp::create(b, op->getLoc(), scalars[0], scalars[1], scalars[2]));
    return buildElementwiseScalar(b, op, scalars);
  }
};

struct ConvertBitcast : OpConversionPattern<array::BitcastOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(array::BitcastOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Value operand = adaptor.getOperand();
    auto type = cast<RankedTensorType>(storageType(op.getType()));
    if (getElementTypeOrSelf(operand.getType()) == type.getElementType()) {
      rewriter.replaceOp(op, castTo(rewriter, op.getLoc(), operand, type));
      return success();
    }
    AffineMap identity = rewriter.getMultiDimIdentityMap(type.getRank());
    SmallVector<OpFoldResult> sizes =
        refineSizes(rewriter, type, tensor::getMixedSizes(rewriter, op.getLoc(), operand));
    Value result =
        buildElementwise(rewriter, op.getLoc(), type.getElementType(), sizes, operand, identity,
                         [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
                           return arith::BitcastOp::create(b, loc, type.getElementType(), args[0]);
                         });
    rewriter.replaceOp(op, castTo(rewriter, op.getLoc(), result, type));
    return success();
  }
};

struct ConvertConstant : OpConversionPattern<array::ConstantOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(array::ConstantOp op, OpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(op, storageElements(op.getValue()));
    return success();
  }
};

} // namespace

void populateElementwisePatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<ConvertElementwise, ConvertBitcast, ConvertConstant>(converter,
                                                                    patterns.getContext());
}

} // namespace xc
