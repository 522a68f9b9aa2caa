//===- NormalizeInput.cpp - Few forms of linalg on tensors ----------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// linalg on tensors that a program brings becomes the few forms that later phases know:
// contractions, generic ops and fills, with 16-bit floats summed up in f32. Padding and
// concatenation become insertions, but for padding that windows read. Array ops stay.
//
//===----------------------------------------------------------------------===//

#include "compiler/Input/Passes.h"

#include "compiler/Dialect/Plan/IR/PlanOps.h"
#include "compiler/Dialect/Plan/IR/Products.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace xc {
#define GEN_PASS_DEF_NORMALIZEINPUT
#include "compiler/Input/Passes.h.inc"

/// A block argument, or its extension to a wider type.
static BlockArgument extendedArgument(Value value, bool &isUnsigned) {
  if (auto extension = value.getDefiningOp<arith::ExtUIOp>()) {
    isUnsigned = true;
    return dyn_cast<BlockArgument>(extension.getIn());
  }
  Operation *op = value.getDefiningOp();
  if (op && isa<arith::ExtFOp, arith::ExtSIOp>(op))
    return dyn_cast<BlockArgument>(op->getOperand(0));
  return dyn_cast<BlockArgument>(value);
}

/// Whether the body is exactly `acc + lhs * rhs`, with the operands extended to the accumulator's
/// type.
static bool isMultiplyAdd(Block &body, bool &isUnsigned) {
  if (body.getNumArguments() != 3)
    return false;
  Operation *sum = body.getTerminator()->getOperand(0).getDefiningOp();
  if (!sum || !isa<arith::AddFOp, arith::AddIOp>(sum))
    return false;
  Value accumulator = body.getArgument(2);
  Value other = sum->getOperand(0) == accumulator ? sum->getOperand(1) : sum->getOperand(0);
  Operation *product = other.getDefiningOp();
  bool usesAccumulator = sum->getOperand(0) == accumulator || sum->getOperand(1) == accumulator;
  if (!usesAccumulator || !product || !isa<arith::MulFOp, arith::MulIOp>(product))
    return false;
  BlockArgument lhs = extendedArgument(product->getOperand(0), isUnsigned);
  BlockArgument rhs = extendedArgument(product->getOperand(1), isUnsigned);
  return lhs && rhs && lhs.getOwner() == &body && rhs.getOwner() == &body &&
         lhs.getArgNumber() + rhs.getArgNumber() == 1;
}

/// `tensor` in another float type.
static Value convertTensor(OpBuilder &builder, Location loc, Value tensor, Type element) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, tensor);
  Value init = tensor::EmptyOp::create(builder, loc, sizes, element);
  AffineMap identity = builder.getMultiDimIdentityMap(sizes.size());
  SmallVector<utils::IteratorType> iterators(sizes.size(), utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      builder, loc, init.getType(), tensor, init, {identity, identity}, iterators,
      [&](OpBuilder &b, Location bodyLoc, ValueRange args) {
        bool widens = element.getIntOrFloatBitWidth() > args[0].getType().getIntOrFloatBitWidth();
        Value result = widens ? arith::ExtFOp::create(b, bodyLoc, element, args[0]).getResult()
                              : arith::TruncFOp::create(b, bodyLoc, element, args[0]).getResult();
        linalg::YieldOp::create(b, bodyLoc, result);
      });
  return generic.getResult(0);
}

/// A contraction's init in f32: a constant again, where it is one.
static Value widenInit(OpBuilder &builder, Location loc, Value init) {
  Type wide = builder.getF32Type();
  FloatAttr constant;
  auto fill = init.getDefiningOp<linalg::FillOp>();
  if (!fill || !matchPattern(fill.getInputs()[0], m_Constant(&constant)))
    return convertTensor(builder, loc, init, wide);
  Value scalar = arith::ConstantOp::create(builder, loc,
                                           builder.getFloatAttr(wide, constant.getValueAsDouble()));
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, init);
  Value empty = tensor::EmptyOp::create(builder, loc, sizes, wide);
  return linalg::FillOp::create(builder, loc, scalar, empty).getResult(0);
}

/// Whether `index`, of a dim of `size` elements, is surely one of them.
static bool isInRange(Value index, int64_t size) {
  if (ShapedType::isDynamic(size))
    return false;
  if (std::optional<int64_t> constant = getConstantIntValue(index))
    return *constant >= 0 && *constant < size;
  auto loop = index.getDefiningOp<linalg::IndexOp>();
  if (!loop)
    return false;
  int64_t range = cast<linalg::LinalgOp>(loop->getParentOp()).getStaticLoopRanges()[loop.getDim()];
  return !ShapedType::isDynamic(range) && range <= size;
}

/// Moves what a body computes as a position into the tensor that it reads, as gathers do.
static void clampPositions(tensor::ExtractOp extract) {
  auto body = extract->getParentOfType<linalg::LinalgOp>();
  if (!body)
    return;
  Location loc = extract.getLoc();
  Value tensor = extract.getTensor();
  bool isFromOutside = !body->isAncestor(tensor.getParentBlock()->getParentOp());
  OpBuilder inside(extract), outside(body);
  OpBuilder &sizes = isFromOutside ? outside : inside;
  for (auto [dim, position] : llvm::enumerate(extract.getIndicesMutable())) {
    Value index = position.get();
    if (isInRange(index, extract.getTensor().getType().getDimSize(dim)))
      continue;
    Value size = sizes.createOrFold<tensor::DimOp>(loc, tensor, dim);
    Value one = arith::ConstantIndexOp::create(sizes, loc, 1);
    Value last = sizes.createOrFold<arith::SubIOp>(loc, size, one);
    Value zero = arith::ConstantIndexOp::create(inside, loc, 0);
    Value low = arith::MinSIOp::create(inside, loc, index, last);
    position.set(arith::MaxSIOp::create(inside, loc, low, zero));
  }
}

namespace {

struct ToContract : OpInterfaceRewritePattern<linalg::LinalgOp> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(linalg::LinalgOp op, PatternRewriter &rewriter) const override {
    bool isUnsigned = false;
    bool isContract = isa<linalg::ContractOp>(op.getOperation());
    if (!op.hasPureTensorSemantics() || !linalg::isaContractionOpInterface(op) ||
        op->getNumRegions() != 1 || !isMultiplyAdd(*op.getBlock(), isUnsigned))
      return rewriter.notifyMatchFailure(op, "not a product summed up");
    Value init = op.getDpsInits()[0];
    Type element = getElementTypeOrSelf(init.getType());
    bool isNarrow = element.isF16() || element.isBF16();
    if (isContract && !isNarrow)
      return rewriter.notifyMatchFailure(op, "is a contraction already");
    Location loc = op.getLoc();
    if (isNarrow)
      init = widenInit(rewriter, loc, init);
    SmallVector<NamedAttribute> attributes;
    if (isUnsigned)
      attributes.push_back(rewriter.getNamedAttr(
          "cast", linalg::TypeFnAttr::get(rewriter.getContext(), linalg::TypeFn::cast_unsigned)));
    auto contract = linalg::ContractOp::create(
        rewriter, loc, init.getType(), op.getDpsInputs(), init,
        rewriter.getAffineMapArrayAttr(op.getIndexingMapsArray()), attributes);
    Value result = contract.getResult(0);
    rewriter.replaceOp(op, isNarrow ? convertTensor(rewriter, loc, result, element) : result);
    return success();
  }
};

struct Generalize : OpInterfaceRewritePattern<linalg::LinalgOp> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(linalg::LinalgOp op, PatternRewriter &rewriter) const override {
    if (isa<linalg::FillOp, linalg::ContractOp, linalg::GenericOp>(op.getOperation()))
      return rewriter.notifyMatchFailure(op, "stays as it is");
    return linalg::generalizeNamedOp(rewriter, op);
  }
};

/// |value| of a body in f32: the product of its operands, where it is one.
static Value widenTerm(OpBuilder &builder, Value value) {
  auto widen = [&](Value narrow) -> Value {
    return arith::ExtFOp::create(builder, narrow.getLoc(), builder.getF32Type(), narrow);
  };
  if (auto product = value.getDefiningOp<arith::MulFOp>())
    return arith::MulFOp::create(builder, product.getLoc(), widen(product.getLhs()),
                                 widen(product.getRhs()));
  return widen(value);
}

/// Sums and products of 16-bit floats (convolutions, pools, reductions) accumulate in f32.
struct WidenAccumulator : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op, PatternRewriter &rewriter) const override {
    if (op.getNumReductionLoops() == 0 || op->getNumResults() != 1)
      return rewriter.notifyMatchFailure(op, "has no accumulator, or several");
    Value init = op.getDpsInits()[0];
    Type element = getElementTypeOrSelf(init.getType());
    BlockArgument accumulator = op.getMatchingBlockArgument(op.getDpsInitOperand(0));
    Operation *combiner = op.getBlock()->getTerminator()->getOperand(0).getDefiningOp();
    if ((!element.isF16() && !element.isBF16()) || !accumulator.hasOneUse() || !combiner ||
        !isa<arith::AddFOp, arith::MulFOp>(combiner) || *accumulator.getUsers().begin() != combiner)
      return rewriter.notifyMatchFailure(op, "no sum or product of 16-bit floats");
    Location loc = op.getLoc();
    Value wide = widenInit(rewriter, loc, init);
    Value term = combiner->getOperand(combiner->getOperand(0) == accumulator ? 1 : 0);
    auto result = linalg::GenericOp::create(rewriter, loc, wide.getType(), op.getDpsInputs(), wide,
                                            op.getIndexingMapsArray(), op.getIteratorTypesArray());
    rewriter.inlineRegionBefore(op.getRegion(), result.getRegion(), result.getRegion().begin());
    rewriter.setInsertionPoint(combiner);
    accumulator.setType(rewriter.getF32Type());
    OperationState state(combiner->getLoc(), combiner->getName(),
                         {accumulator, widenTerm(rewriter, term)}, {rewriter.getF32Type()},
                         combiner->getAttrs());
    rewriter.replaceOp(combiner, rewriter.create(state));
    rewriter.setInsertionPointAfter(result);
    rewriter.replaceOp(op, convertTensor(rewriter, loc, result.getResult(0), element));
    return success();
  }
};

/// An init that is not read ties the result to a value that has nothing to do with it.
struct DropUnreadInits : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op, PatternRewriter &rewriter) const override {
    bool changed = false;
    for (OpOperand &init : op.getDpsInitsMutable()) {
      // What a result is written at constants of keeps the other elements.
      bool isWhole = op.getMatchingIndexingMap(&init).isProjectedPermutation();
      if (!isWhole || op.payloadUsesValueFromOperand(&init) ||
          init.get().getDefiningOp<tensor::EmptyOp>() ||
          !isa<RankedTensorType>(init.get().getType()))
        continue;
      rewriter.setInsertionPoint(op);
      SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(rewriter, op.getLoc(), init.get());
      Value empty = tensor::EmptyOp::create(rewriter, op.getLoc(), sizes,
                                            getElementTypeOrSelf(init.get().getType()));
      rewriter.modifyOpInPlace(op, [&] { init.set(empty); });
      changed = true;
    }
    return success(changed);
  }
};

/// A result that is written at constants in some dims is computed as a slice, which then is put in
/// its place: later phases know results over all places of loops only.
struct SliceConstantResults : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op, PatternRewriter &rewriter) const override {
    // Without an iteration nothing is written, and no slice is within a tensor without elements.
    if (llvm::is_contained(op.getStaticLoopRanges(), 0))
      return rewriter.notifyMatchFailure(op, "writes nothing");
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    SmallVector<Slice, 1> slices;
    bool isAny = false;
    for (OpOperand &init : op.getDpsInitsMutable()) {
      slices.push_back(Slice(rewriter, op, init.get(), maps[init.getOperandNumber()]));
      isAny |= slices.back().isPart;
    }
    if (!isAny)
      return rewriter.notifyMatchFailure(op, "writes at loops only");
    SmallVector<Value> inits;
    for (auto [slice, init] : llvm::zip_equal(slices, op.getDpsInitsMutable())) {
      inits.push_back(slice.extract(rewriter));
      maps[init.getOperandNumber()] = slice.map;
    }
    auto result =
        linalg::GenericOp::create(rewriter, op.getLoc(), TypeRange(ValueRange(inits)),
                                  op.getDpsInputs(), inits, maps, op.getIteratorTypesArray());
    rewriter.inlineRegionBefore(op.getRegion(), result.getRegion(), result.getRegion().begin());
    SmallVector<Value> results;
    for (auto [slice, part] : llvm::zip_equal(slices, result.getResults()))
      results.push_back(slice.insert(rewriter, part));
    rewriter.replaceOp(op, results);
    return success();
  }

private:
  /// What a result's map gives of its init.
  struct Slice {
    Slice(OpBuilder &builder, linalg::GenericOp op, Value init, AffineMap places)
        : loc(op.getLoc()), init(init), map(places) {
      isPart = llvm::any_of(places.getResults(), llvm::IsaPred<AffineConstantExpr>);
      if (!isPart)
        return;
      SmallVector<AffineExpr> loops;
      sizes = tensor::getMixedSizes(builder, loc, init);
      strides.assign(sizes.size(), builder.getIndexAttr(1));
      for (auto [dim, place] : llvm::enumerate(places.getResults())) {
        auto constant = dyn_cast<AffineConstantExpr>(place);
        offsets.push_back(builder.getIndexAttr(constant ? constant.getValue() : 0));
        if (!constant) {
          loops.push_back(place);
          shape.push_back(cast<RankedTensorType>(init.getType()).getDimSize(dim));
          continue;
        }
        requirePlace(builder, dim, constant.getValue());
        sizes[dim] = builder.getIndexAttr(1);
      }
      map = AffineMap::get(places.getNumDims(), 0, loops, builder.getContext());
    }
    /// The verifier of linalg has seen to static dims.
    void requirePlace(OpBuilder &builder, int64_t dim, int64_t place) {
      auto size = dyn_cast<Value>(sizes[dim]);
      if (!size)
        return;
      std::string what;
      llvm::raw_string_ostream(what) << "linalg.generic: expected place " << place
                                     << " to be in dim " << dim << " of " << init.getType();
      Value end = arith::ConstantIndexOp::create(builder, loc, place + 1);
      plan::RequireOp::create(builder, loc, end, plan::Comparison::AtMost, size, what);
    }
    Value extract(OpBuilder &builder) {
      if (!isPart)
        return init;
      auto type = RankedTensorType::get(shape, getElementTypeOrSelf(init.getType()));
      return tensor::ExtractSliceOp::create(builder, loc, type, init, offsets, sizes, strides);
    }
    Value insert(OpBuilder &builder, Value part) {
      if (!isPart)
        return part;
      return tensor::InsertSliceOp::create(builder, loc, part, init, offsets, sizes, strides);
    }

    Location loc;
    Value init;
    AffineMap map; ///< over the places of the slice
    bool isPart;
    SmallVector<int64_t> shape;
    SmallVector<OpFoldResult> offsets, sizes, strides;
  };
};

/// An op that writes at constants keeps the other elements, so all where it has no iterations.
struct DropEmptyLoops : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op, PatternRewriter &rewriter) const override {
    bool isWhole = llvm::all_of(op.getDpsInitsMutable(), [&](OpOperand &init) {
      return op.getMatchingIndexingMap(&init).isProjectedPermutation();
    });
    if (isWhole || !op.hasPureTensorSemantics() || !llvm::is_contained(op.getStaticLoopRanges(), 0))
      return rewriter.notifyMatchFailure(op, "may have iterations");
    rewriter.replaceOp(op, op.getDpsInits());
    return success();
  }
};

/// Padding becomes an insertion, unless windows of known sizes read it: that is computed where they
/// load, as that of array.conv.
struct DecomposePad : linalg::DecomposePadOpPattern {
  using DecomposePadOpPattern::DecomposePadOpPattern;

  LogicalResult matchAndRewrite(tensor::PadOp op, PatternRewriter &rewriter) const override {
    bool isStatic =
        op.getLow().empty() && op.getHigh().empty() && op.getSourceType().hasStaticShape();
    if (isStatic && plan::isPaddingOfWindows(op) &&
        llvm::any_of(op->getUsers(), plan::isWindowReduction))
      return rewriter.notifyMatchFailure(op, "windows read it");
    return DecomposePadOpPattern::matchAndRewrite(op, rewriter);
  }
};

struct DecomposeSoftmax : OpRewritePattern<linalg::SoftmaxOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::SoftmaxOp op, PatternRewriter &rewriter) const override {
    rewriter.setInsertionPoint(op);
    FailureOr<SmallVector<Value>> results = op.decomposeOperation(rewriter);
    if (failed(results))
      return rewriter.notifyMatchFailure(op, "has no decomposition");
    rewriter.replaceOp(op, *results);
    return success();
  }
};

struct NormalizeInputPass : impl::NormalizeInputBase<NormalizeInputPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    linalg::populateElementwiseToLinalgConversionPatterns(patterns);
    // A contraction must be seen as such before it is generalised.
    patterns.add<ToContract>(&getContext(), /*benefit=*/2);
    patterns.add<Generalize, DecomposeSoftmax, DropEmptyLoops, DropUnreadInits,
                 SliceConstantResults, WidenAccumulator, DecomposePad>(&getContext());
    tensor::populateDecomposeTensorConcatPatterns(patterns);
    // Folds would take away array ops before what they require of sizes has been stated.
    GreedyRewriteConfig config;
    config.enableFolding(false);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns), config))) {
      getOperation().emitError(
          "linalg ops could not be normalised: the rewriting did not converge");
      return signalPassFailure();
    }
    getOperation().walk(clampPositions);
  }
};

} // namespace

} // namespace xc
