//===- FuseElementwise.cpp - Fuse elementwise producers into their users ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Upstream's producer fusion with a control function of our own: a producer is
// fused where the user reads every element of it once, so that nothing is
// computed twice; where a broadcast reads elements many times, only if it is
// cheap, and a reduction would not read more for it. What several ops read is computed in each of
// them where that reads no more than the tensor between them, which then is in no memory at all. A
// reshape between two elementwise ops is moved out of the way first. Reads at computed places come
// last (ComputeAtGathers.cpp).
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Plan/IR/Products.h"
#include "compiler/Dispatch/BodyCost.h"
#include "compiler/Dispatch/ComputeAtGathers.h"
#include "compiler/Dispatch/Passes.h"
#include "compiler/Dispatch/RepeatRowSums.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace xc::plan {
#define GEN_PASS_DEF_FUSEELEMENTWISE
#include "compiler/Dispatch/Passes.h.inc"
} // namespace xc::plan

using namespace mlir;

namespace xc::plan {

/// Ops in a body that cost about an instruction each; more than this many make recomputation dear.
static constexpr unsigned kCheapOps = 4;
/// The same of ops that save writing and reading each element: that takes as long as more of them.
static constexpr unsigned kMostRepeatedOps = 12;

static bool isCheap(linalg::GenericOp op) {
  unsigned count = 0;
  for (Operation &inner : op.getBody()->without_terminator()) {
    if (isa<math::MathDialect>(inner.getDialect()) || isa<tensor::ExtractOp>(inner))
      return false;
    ++count;
  }
  return count <= kCheapOps;
}

/// Whether the body does nothing but convert one input.
static bool isConversion(linalg::GenericOp op) {
  return op.getNumDpsInputs() == 1 &&
         llvm::all_of(op.getBody()->without_terminator(),
                      [](Operation &inner) { return isa<CastOpInterface>(inner); });
}

/// Whether the op multiplies matrices: with anything but conversions in its body it would be a
/// reduction like others, and leave the tensor cores. What computes its operands joins the kernel
/// of their producer, or is computed as they are loaded (DispatchGroups.cpp).
static bool multipliesMatrices(linalg::GenericOp op) {
  std::optional<ProductLoops> loops = matchProduct(op);
  return loops && !loops->m.empty() && !loops->n.empty();
}

/// Whether `producer` rounds what an op in front of it computes.
static bool narrowsResult(linalg::GenericOp producer) {
  unsigned width = getElementTypeOrSelf(producer.getResult(0)).getIntOrFloatBitWidth();
  return llvm::any_of(producer.getDpsInputs(), [&](Value input) {
    Type element = getElementTypeOrSelf(input);
    return input.getDefiningOp<linalg::LinalgOp>() && element.isIntOrFloat() &&
           element.getIntOrFloatBitWidth() > width;
  });
}

/// Whether a reduction that reads elements of `producer` many times had better find them in memory:
/// to compute them takes reading several others each time, a wider one, or a division. Sums over
/// rows of a matrix times silu(gate) * up read four vectors from the cache for each of the matrix
/// otherwise, and took twice the time that the matrix takes from memory.
static bool isDearToRepeat(linalg::GenericOp producer, linalg::GenericOp consumer) {
  if (consumer.getNumReductionLoops() == 0)
    return false;
  auto isRead = [&](OpOperand *operand) {
    return producer.payloadUsesValueFromOperand(operand) &&
           producer.getMatchingIndexingMap(operand).getNumResults() > 0;
  };
  auto divides = [](Operation &inner) { return isa<arith::DivFOp>(inner); };
  return llvm::count_if(producer.getDpsInputOperands(), isRead) > 1 || narrowsResult(producer) ||
         llvm::any_of(producer.getBody()->without_terminator(), divides);
}

/// Whether the reader of `use` may compute what it reads there by itself, if it is the only one.
static bool mayCompute(OpOperand *use) {
  auto producer = use->get().getDefiningOp<linalg::GenericOp>();
  auto consumer = dyn_cast<linalg::GenericOp>(use->getOwner());
  if (!producer || !consumer || producer->getBlock() != consumer->getBlock())
    return false;
  if (getBodyCost(producer) + getBodyCost(consumer) > kMaxFusedCost)
    return false;
  if (isWindowReduction(consumer) && changesInnermostDim(producer))
    return false;
  if (multipliesMatrices(consumer) && !isConversion(producer))
    return false;
  AffineMap map = consumer.getMatchingIndexingMap(use);
  bool readsEachElementOnce = map.isPermutation();
  return readsEachElementOnce || (isCheap(producer) && !isDearToRepeat(producer, consumer));
}

/// Whether `input`, which `reader` reads, would be in memory without it, too.
static bool hasOtherReaders(Value input, Operation *reader) {
  return !input.getDefiningOp<linalg::LinalgOp>() ||
         llvm::any_of(input.getUsers(), [&](Operation *user) { return user != reader; });
}

/// Whether to compute each element takes a few instructions, and to read no more than the element
/// itself, at its own place, of what is in memory anyway or less: to read it is no better, however
/// many ops do.
static bool readsNoMore(linalg::GenericOp producer) {
  AffineMap place = producer.getIndexingMapsArray().back();
  unsigned read = 0;
  bool isThere = true;
  for (OpOperand *input : producer.getDpsInputOperands()) {
    AffineMap map = producer.getMatchingIndexingMap(input);
    if (!map.isProjectedPermutation() || (map.isPermutation() && map != place))
      return false;
    if (!map.isPermutation())
      continue;
    read += getElementTypeOrSelf(input->get()).getIntOrFloatBitWidth();
    isThere &= hasOtherReaders(input->get(), producer);
  }
  bool isSimple = llvm::all_of(producer.getBody()->without_terminator(), [](Operation &inner) {
    return !isa<math::MathDialect>(inner.getDialect()) && !isa<tensor::ExtractOp>(inner);
  });
  unsigned own = getElementTypeOrSelf(producer.getResult(0)).getIntOrFloatBitWidth();
  return isSimple && getBodyCost(producer) <= kMostRepeatedOps &&
         (read < own || (read == own && isThere));
}

static bool shouldFuse(OpOperand *use) {
  if (!mayCompute(use))
    return false;
  auto producer = use->get().getDefiningOp<linalg::GenericOp>();
  if (use->get().hasOneUse() || (isCheap(producer) && producer.getNumDpsInputs() == 0))
    return true;
  // Where one reader needs it in memory, the others may read it there.
  return producer->getNumResults() == 1 && readsNoMore(producer) &&
         llvm::all_of(use->get().getUses(), [](OpOperand &other) { return mayCompute(&other); });
}

static void addFusionPatterns(RewritePatternSet &patterns) {
  linalg::ControlFusionFn control = shouldFuse;
  linalg::populateElementwiseOpsFusionPatterns(patterns, control);
  linalg::populateFoldReshapeOpsByExpansionPatterns(patterns, [](OpOperand *use) {
    // Expanding a producer's loops brings it next to its user; for anything but one elementwise
    // user it gains nothing.
    auto producer = use->get().getDefiningOp();
    auto isElementwise = [](Operation *op) {
      auto generic = dyn_cast_or_null<linalg::GenericOp>(op);
      return generic && generic.getNumParallelLoops() == generic.getNumLoops();
    };
    return use->get().hasOneUse() && isElementwise(use->getOwner()) && producer &&
           (isElementwise(producer) || (producer->getNumOperands() > 0 &&
                                        isElementwise(producer->getOperand(0).getDefiningOp()) &&
                                        producer->getOperand(0).hasOneUse()));
  });
}

namespace {

/// A reshaped initial value of a static type is an initial value. Upstream's pattern leaves out
/// rank 0.
template <typename Reshape> struct FoldReshapeOfEmpty final : OpRewritePattern<Reshape> {
  using OpRewritePattern<Reshape>::OpRewritePattern;

  LogicalResult matchAndRewrite(Reshape op, PatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getResult().getType());
    if (!op.getSrc().template getDefiningOp<tensor::EmptyOp>() || !type.hasStaticShape())
      return rewriter.notifyMatchFailure(op, "not an initial value of a static type");
    rewriter.replaceOpWithNewOp<tensor::EmptyOp>(op, type.getShape(), type.getElementType());
    return success();
  }
};

/// A reduction over nothing gives what it starts with. It goes before upstream's fusion drops the
/// initial value of one whose body has become a constant, which is right after an iteration only.
struct FoldReductionOfNothing final : OpRewritePattern<linalg::GenericOp> {
  FoldReductionOfNothing(MLIRContext *context) : OpRewritePattern(context, /*benefit=*/2) {}

  LogicalResult matchAndRewrite(linalg::GenericOp op, PatternRewriter &rewriter) const override {
    bool isEmpty = false;
    for (auto [iterator, extent] :
         llvm::zip_equal(op.getIteratorTypesArray(), op.getStaticLoopRanges()))
      isEmpty |= iterator == utils::IteratorType::reduction && extent == 0;
    if (!isEmpty || !op.hasPureTensorSemantics())
      return rewriter.notifyMatchFailure(op, "not known to reduce nothing");
    rewriter.replaceOp(op, op.getDpsInits());
    return success();
  }
};

/// Upstream's fusion keeps a result that nobody reads where only it tells how long a loop is. As an
/// input it tells that, too, and the op has the results that it is there for.
struct TellShapeByInput final : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op, PatternRewriter &rewriter) const override {
    unsigned inputs = op.getNumDpsInputs();
    OpOperand *shape = nullptr;
    for (OpOperand &init : op.getDpsInitsMutable())
      if (op.getTiedOpResult(&init).use_empty() && !op.payloadUsesValueFromOperand(&init) &&
          init.get().getDefiningOp<tensor::EmptyOp>())
        shape = &init;
    if (!shape || op.getNumResults() == 1)
      return rewriter.notifyMatchFailure(op, "no result that only tells a shape");
    unsigned place = shape->getOperandNumber() - inputs;
    SmallVector<Value> operands = op.getDpsInputs(), inits(op.getDpsInits());
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    SmallVector<Type> types(op.getResultTypes());
    operands.push_back(shape->get());
    inits.erase(inits.begin() + place);
    types.erase(types.begin() + place);
    std::rotate(maps.begin() + inputs, maps.begin() + inputs + place,
                maps.begin() + inputs + place + 1);
    auto told = linalg::GenericOp::create(rewriter, op.getLoc(), types, operands, inits, maps,
                                          op.getIteratorTypesArray());
    told->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    rewriter.inlineRegionBefore(op.getRegion(), told.getRegion(), told.getRegion().begin());
    Block *body = told.getBody();
    rewriter.modifyOpInPlace(told, [&] {
      body->insertArgument(inputs, body->getArgument(inputs + place).getType(), op.getLoc());
      body->eraseArgument(inputs + 1 + place);
      body->getTerminator()->eraseOperand(place);
    });
    SmallVector<Value> results(told.getResults());
    results.insert(results.begin() + place, shape->get());
    rewriter.replaceOp(op, results);
    return success();
  }
};

struct FuseElementwise final : impl::FuseElementwiseBase<FuseElementwise> {
  using FuseElementwiseBase::FuseElementwiseBase;

  void runOnOperation() override {
    MLIRContext *context = &getContext();
    RewritePatternSet patterns(context);
    if (fuse) {
      addFusionPatterns(patterns);
      patterns.add<TellShapeByInput>(context);
    }
    linalg::populateConstantFoldLinalgOperations(
        patterns, [](OpOperand *use) { return use->get().hasOneUse(); });
    patterns.add<FoldReductionOfNothing>(context);
    // Reshapes of initial values hide that they are initial values.
    tensor::populateFoldTensorEmptyPatterns(patterns);
    patterns.add<FoldReshapeOfEmpty<tensor::CollapseShapeOp>,
                 FoldReshapeOfEmpty<tensor::ExpandShapeOp>>(context);
    linalg::GenericOp::getCanonicalizationPatterns(patterns, context);
    linalg::FillOp::getCanonicalizationPatterns(patterns, context);
    tensor::ExpandShapeOp::getCanonicalizationPatterns(patterns, context);
    tensor::CollapseShapeOp::getCanonicalizationPatterns(patterns, context);
    context->getLoadedDialect<linalg::LinalgDialect>()->getCanonicalizationPatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      getOperation().emitWarning(
          "elementwise fusion did not converge; the result is right, but may hold more kernels");
    // When chains of elementwise ops are one op each.
    if (!fuse)
      return;
    computeAtGathers(getOperation());
    repeatRowSums(getOperation());
  }
};

} // namespace

} // namespace xc::plan
