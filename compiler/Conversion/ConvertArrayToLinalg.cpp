//===- ConvertArrayToLinalg.cpp - The pass --------------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A dialect conversion over the patterns of all families, then what makes its result obey the
// contract: sizes expressed by function arguments, and no casts between descriptions of one shape.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/ArrayToLinalg.h"
#include "compiler/Conversion/OpRequirements.h"
#include "compiler/Conversion/Passes.h"
#include "compiler/Conversion/SpreadConvToLinalg.h"
#include "compiler/Dialect/Array/IR/PassAttributes.h"
#include "compiler/Dialect/Array/Transforms/Passes.h"
#include "compiler/Dialect/Kernel/IR/KernelOps.h"
#include "compiler/Dialect/Plan/IR/PlanOps.h"
#include "compiler/Dispatch/Requirements.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Func/Transforms/FuncConversions.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace xc {
#define GEN_PASS_DEF_CONVERTARRAYTOLINALG
#include "compiler/Conversion/Passes.h.inc"

namespace {

/// Upstream ops on tensors that only move or describe elements, in other types.
struct ConvertTensorOp : ConversionPattern {
  ConvertTensorOp(const TypeConverter &converter, MLIRContext *context)
      : ConversionPattern(converter, MatchAnyOpTypeTag(), /*benefit=*/1, context) {}

  LogicalResult matchAndRewrite(Operation *op, ArrayRef<Value> operands,
                                ConversionPatternRewriter &rewriter) const override {
    if (!isa_and_present<tensor::TensorDialect>(op->getDialect()) || op->getNumRegions() != 0 ||
        isa<tensor::ExtractOp>(op))
      return rewriter.notifyMatchFailure(op, "not a tensor op without regions");
    SmallVector<Type> types;
    if (failed(getTypeConverter()->convertTypes(op->getResultTypes(), types)))
      return failure();
    OperationState state(op->getLoc(), op->getName().getStringRef(), operands, types,
                         op->getAttrs());
    rewriter.replaceOp(op, rewriter.create(state));
    return success();
  }
};

/// Dense data of `arith`.
struct ConvertArithConstant : OpConversionPattern<arith::ConstantOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(arith::ConstantOp op, OpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto elements = dyn_cast<ElementsAttr>(op.getValue());
    if (!elements)
      return rewriter.notifyMatchFailure(op, "not a tensor");
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(op, storageElements(elements));
    return success();
  }
};

/// A generic of the input on truth values, loaded and stored as bytes, or on unsigned integers,
/// which its body passes on as they are stored.
struct ConvertGeneric : OpConversionPattern<linalg::GenericOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    SmallVector<Type> types;
    if (failed(getTypeConverter()->convertTypes(op->getResultTypes(), types)))
      return failure();
    auto converted = linalg::GenericOp::create(
        rewriter, op.getLoc(), types, adaptor.getInputs(), adaptor.getOutputs(),
        op.getIndexingMapsArray(), op.getIteratorTypesArray(),
        [&](OpBuilder &b, Location, ValueRange args) { buildBody(b, op, args); });
    rewriter.replaceOp(op, converted);
    return success();
  }

private:
  static void buildBody(OpBuilder &b, linalg::GenericOp op, ValueRange args) {
    IRMapping mapping;
    for (auto [old, stored] : llvm::zip_equal(op.getBody()->getArguments(), args)) {
      bool isTruth = old.getType().isInteger(1);
      mapping.map(old, isTruth ? loadScalar(b, op.getLoc(), stored, old.getType()) : stored);
    }
    for (Operation &inner : op.getBody()->without_terminator())
      b.clone(inner, mapping);
    SmallVector<Value> results;
    for (Value value : op.getBody()->getTerminator()->getOperands()) {
      Value result = mapping.lookupOrDefault(value);
      if (result.getType().isInteger(1))
        result = storeScalar(b, op.getLoc(), result, result.getType());
      results.push_back(result);
    }
    linalg::YieldOp::create(b, op.getLoc(), results);
  }
};

/// A body's read of truth values, which are stored as bytes.
struct ConvertExtract : OpConversionPattern<tensor::ExtractOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tensor::ExtractOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (!op.getType().isInteger(1))
      return rewriter.notifyMatchFailure(op, "not a truth value");
    Value stored =
        tensor::ExtractOp::create(rewriter, op.getLoc(), adaptor.getTensor(), adaptor.getIndices());
    rewriter.replaceOp(op, loadScalar(rewriter, op.getLoc(), stored, op.getType()));
    return success();
  }
};

struct ConvertFill : OpConversionPattern<linalg::FillOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(linalg::FillOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Value scalar = adaptor.getInputs()[0];
    if (!scalar.getType().isInteger(1))
      return rewriter.notifyMatchFailure(op, "not a truth value");
    Value stored = storeScalar(rewriter, op.getLoc(), scalar, scalar.getType());
    rewriter.replaceOpWithNewOp<linalg::FillOp>(op, stored, adaptor.getOutputs()[0]);
    return success();
  }
};

/// Calls of outlined regions, on values of other types.
template <typename ControlOp> struct ConvertControl : OpConversionPattern<ControlOp> {
  using OpConversionPattern<ControlOp>::OpConversionPattern;

  LogicalResult matchAndRewrite(ControlOp op, typename ControlOp::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    SmallVector<Type> types;
    if (failed(this->getTypeConverter()->convertTypes(op->getResultTypes(), types)))
      return failure();
    rewriter.replaceOp(
        op, ControlOp::create(rewriter, op.getLoc(), types, adaptor.getOperands(), op->getAttrs()));
    return success();
  }
};

/// The size of an op's result is that of its destination. Goes before upstream's patterns, which
/// ask for the sizes of the op's inputs: each question would walk to where the chain of ops begins.
/// Destinations are made of sizes that are known by then, since ops are visited from the top.
struct DimOfDestination final : OpRewritePattern<tensor::DimOp> {
  DimOfDestination(MLIRContext *context) : OpRewritePattern(context, /*benefit=*/2) {}

  LogicalResult matchAndRewrite(tensor::DimOp op, PatternRewriter &rewriter) const override {
    auto definition = op.getSource().getDefiningOp<DestinationStyleOpInterface>();
    if (!definition)
      return rewriter.notifyMatchFailure(op, "not of a result with a destination");
    Value destination = definition.getTiedOpOperand(cast<OpResult>(op.getSource()))->get();
    rewriter.modifyOpInPlace(op, [&] { op.getSourceMutable().assign(destination); });
    return success();
  }
};

/// An expansion of what is known to be static: one size of a group follows from the others and from
/// what is behind a cast, or all of them are known though the types have a `?`. Takes the place of
/// upstream's ConvertToStaticExpandShape, which reads behind the end of the dynamic sizes where a
/// static one comes before them, or stands for a `?`.
struct ExpandStaticSource final : OpRewritePattern<tensor::ExpandShapeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::ExpandShapeOp op,
                                PatternRewriter &rewriter) const override {
    Value operand = op.getSrc();
    if (auto castOp = operand.getDefiningOp<tensor::CastOp>();
        tensor::canFoldIntoConsumerOp(castOp))
      operand = castOp.getSource();
    ArrayRef<int64_t> known = cast<RankedTensorType>(operand.getType()).getShape();
    SmallVector<int64_t> source(op.getSrcType().getShape());
    SmallVector<OpFoldResult> sizes = op.getMixedOutputShape();
    for (auto [dim, group] : llvm::enumerate(op.getReassociationIndices()))
      if (ShapedType::isDynamic(source[dim]))
        source[dim] =
            inferSizes(rewriter, known[dim], MutableArrayRef(sizes).slice(group[0], group.size()));
    if (source == op.getSrcType().getShape())
      return rewriter.notifyMatchFailure(op, "sizes that do not follow from the source's");
    SmallVector<int64_t> shape(op.getResultType().getShape());
    for (auto [dim, group] : llvm::enumerate(op.getReassociationIndices()))
      for (int64_t result : group)
        if (!ShapedType::isDynamic(source[dim]))
          shape[result] = *getConstantIntValue(sizes[result]);
    Location loc = op.getLoc();
    operand = castTo(rewriter, loc, operand, op.getSrcType().clone(ArrayRef(source)));
    Value view =
        tensor::ExpandShapeOp::create(rewriter, loc, op.getResultType().clone(ArrayRef(shape)),
                                      operand, op.getReassociationIndices(), sizes);
    rewriter.replaceOp(op, castTo(rewriter, loc, view, op.getResultType()));
    return success();
  }

private:
  /// Makes constants of `sizes`, whose product is `count` where that is known, if at most one of
  /// them is none, and returns the product; a dynamic one, where they do not follow.
  static int64_t inferSizes(OpBuilder &builder, int64_t count,
                            MutableArrayRef<OpFoldResult> sizes) {
    int64_t product = 1;
    OpFoldResult *unknown = nullptr;
    for (OpFoldResult &size : sizes) {
      if (std::optional<int64_t> constant = getConstantIntValue(size)) {
        size = builder.getIndexAttr(*constant);
        product *= *constant;
      } else if (unknown) {
        return ShapedType::kDynamic;
      } else {
        unknown = &size;
      }
    }
    if (ShapedType::isDynamic(count))
      return unknown ? ShapedType::kDynamic : product;
    if (!unknown)
      return product == count ? count : ShapedType::kDynamic;
    if (product == 0 || count % product != 0)
      return ShapedType::kDynamic;
    *unknown = builder.getIndexAttr(count / product);
    return count;
  }
};

struct ConvertArrayToLinalgPass : impl::ConvertArrayToLinalgBase<ConvertArrayToLinalgPass> {
  using ConvertArrayToLinalgBase::ConvertArrayToLinalgBase;

  void runOnOperation() override {
    recordDtypes();
    if (failed(decompose()) || failed(stateRequirements(getOperation())) || failed(convert()) ||
        failed(plan::requireStaticSizes(getOperation())) || failed(cleanUp()))
      signalPassFailure();
  }

private:
  /// Keeps what callers see of types that change.
  void recordDtypes() {
    getOperation().walk([](func::FuncOp func) {
      for (auto [index, type] : llvm::enumerate(func.getArgumentTypes()))
        if (StringAttr dtype = dtypeOf(type))
          func.setArgAttr(index, array::kDtypeAttr, dtype);
      for (auto [index, type] : llvm::enumerate(func.getResultTypes()))
        if (StringAttr dtype = dtypeOf(type))
          func.setResultAttr(index, array::kDtypeAttr, dtype);
    });
  }

  /// What `-xc-array-decompose` would have, so that the pass also works alone.
  LogicalResult decompose() {
    WalkResult walk = getOperation().walk([](array::ArrayDecomposableOpInterface op) {
      return op->hasAttr(array::kWholeAttr) ? WalkResult::advance() : WalkResult::interrupt();
    });
    if (!walk.wasInterrupted())
      return success();
    OpPassManager pipeline(ModuleOp::getOperationName());
    pipeline.addPass(array::createDecompose());
    return runPipeline(pipeline, getOperation());
  }

  LogicalResult convert() {
    MLIRContext *context = &getContext();
    StorageTypeConverter converter;
    RewritePatternSet patterns(context);
    populateElementwisePatterns(converter, patterns);
    populateShapePatterns(converter, patterns);
    populateReductionPatterns(converter, patterns);
    populateContractionPatterns(converter, patterns);
    populateConvPatterns(converter, patterns);
    populateSpreadConvPatterns(converter, patterns);
    populatePoolPatterns(converter, patterns);
    populateIndexPatterns(converter, patterns);
    populateLinePatterns(converter, patterns);
    populateRandomPatterns(converter, patterns);
    populateStatePatterns(converter, patterns);
    populateAttentionPatterns(converter, patterns);
    populateCustomPatterns(converter, patterns);
    populateFunctionOpInterfaceTypeConversionPattern<func::FuncOp>(patterns, converter);
    populateReturnOpTypeConversionPattern(patterns, converter);
    populateCallOpTypeConversionPattern(patterns, converter);
    patterns.add<ConvertTensorOp, ConvertArithConstant, ConvertExtract, ConvertGeneric, ConvertFill,
                 ConvertControl<plan::BranchOp>, ConvertControl<plan::LoopOp>>(converter, context);

    ConversionTarget target(*context);
    target.addIllegalDialect<array::ArrayDialect>();
    target
        .addDynamicallyLegalOp<array::ParameterOp, array::VariableReadOp, array::VariableAssignOp>(
            [&](Operation *op) { return converter.isLegal(op); });
    target.addDynamicallyLegalOp<array::VariableOp>(
        [&](array::VariableOp op) { return converter.isLegal(op.getType()); });
    target.addDynamicallyLegalOp<func::FuncOp>([&](func::FuncOp func) {
      return converter.isSignatureLegal(func.getFunctionType()) &&
             converter.isLegal(&func.getBody());
    });
    target.markUnknownOpDynamicallyLegal([&](Operation *op) { return converter.isLegal(op); });
    return applyPartialConversion(getOperation(), target, std::move(patterns));
  }

  LogicalResult cleanUp() {
    MLIRContext *context = &getContext();
    RewritePatternSet patterns(context);
    patterns.add<DimOfDestination, ExpandStaticSource>(context);
    memref::populateResolveRankedShapedTypeResultDimsPatterns(patterns);
    tensor::DimOp::getCanonicalizationPatterns(patterns, context);
    tensor::CastOp::getCanonicalizationPatterns(patterns, context);
    tensor::EmptyOp::getCanonicalizationPatterns(patterns, context);
    tensor::ExtractSliceOp::getCanonicalizationPatterns(patterns, context);
    tensor::InsertSliceOp::getCanonicalizationPatterns(patterns, context);
    tensor::ExpandShapeOp::getCanonicalizationPatterns(patterns, context);
    tensor::CollapseShapeOp::getCanonicalizationPatterns(patterns, context);
    context->getLoadedDialect<linalg::LinalgDialect>()->getCanonicalizationPatterns(patterns);
    linalg::GenericOp::getCanonicalizationPatterns(patterns, context);
    // From the top, so that a size is known where an op further down asks for it.
    GreedyRewriteConfig config;
    config.setUseTopDownTraversal(true);
    FrozenRewritePatternSet frozen(std::move(patterns),
                                   {"(anonymous namespace)::ConvertToStaticExpandShape"});
    if (succeeded(applyPatternsGreedily(getOperation(), frozen, config)))
      return success();
    return getOperation().emitError(
        "sizes could not be simplified: the rewriting did not converge");
  }
};

} // namespace

} // namespace xc
