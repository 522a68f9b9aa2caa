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
// them where that reads no more than the tensor between them, which then is in no memory at all.
// Where two products meet, a scale or a bias stays with the product that it follows. A reshape
// between two elementwise ops is moved out of the way first. Reads at computed places come last
// (ComputeAtGathers.cpp).
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
static bool multipliesMatrices(linalg::LinalgOp op) {
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

/// The one tensor of its own shape that an elementwise op with one result reads, beside vectors and
/// scalars; null if there is not just one.
static OpOperand *getOnlySource(linalg::LinalgOp op) {
  if (op->getNumResults() != 1 || op.getNumReductionLoops() > 0)
    return nullptr;
  OpOperand *source = nullptr;
  for (OpOperand *input : op.getDpsInputOperands()) {
    if (!op.getMatchingIndexingMap(input).isPermutation())
      continue;
    if (source)
      return nullptr;
    source = input;
  }
  return source;
}

/// The product in whose epilogue `value` can be computed: of its result alone, element by element.
/// Null if there is none.
static linalg::LinalgOp findProduct(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op)) {
      value = op->getOperand(0);
      continue;
    }
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    if (!linalgOp || multipliesMatrices(linalgOp))
      return linalgOp;
    OpOperand *source = getOnlySource(linalgOp);
    if (!source)
      return nullptr;
    value = source->get();
  }
  return nullptr;
}

/// Whether `op` reads a vector: a scale or a bias, say.
static bool readsVectors(linalg::LinalgOp op) {
  return llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *input) {
    AffineMap map = op.getMatchingIndexingMap(input);
    return map.getNumResults() > 0 && !map.isPermutation();
  });
}

/// The only use of `value`; null if there is not just one. Producers that have been fused stay for
/// a while, unread.
static OpOperand *getOnlyUse(Value value) {
  OpOperand *only = nullptr;
  for (OpOperand &use : value.getUses()) {
    if (isOpTriviallyDead(use.getOwner()))
      continue;
    if (only)
      return nullptr;
    only = &use;
  }
  return only;
}

/// Where elementwise ops, each of which reads only the one before and vectors, end behind `value`:
/// the operand of what reads the last one. Null if several ops read one of them.
static OpOperand *findEnd(Value value) {
  OpOperand *use = getOnlyUse(value);
  while (use) {
    Operation *reader = use->getOwner();
    auto linalgOp = dyn_cast<linalg::LinalgOp>(reader);
    bool isReshape = isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(reader);
    if (!isReshape && (!linalgOp || getOnlySource(linalgOp) != use))
      return use;
    use = getOnlyUse(reader->getResult(0));
  }
  return nullptr;
}

/// Whether a reduction reads what `op` computes, and nothing else does: its kernel will compute it.
static bool isForReduction(linalg::LinalgOp op) {
  OpOperand *end = op->getNumResults() == 1 ? findEnd(op->getResult(0)) : nullptr;
  auto reader = end ? dyn_cast<linalg::LinalgOp>(end->getOwner()) : linalg::LinalgOp();
  return reader && reader.getNumReductionLoops() > 0 && !multipliesMatrices(reader);
}

/// Whether two products have a factor in common, so that they may become one (MergeProducts.cpp).
static bool shareFactor(linalg::LinalgOp first, linalg::LinalgOp second) {
  return llvm::any_of(first.getDpsInputs(), [&](Value factor) {
    return llvm::is_contained(second.getDpsInputs(), factor);
  });
}

/// Whether what follows a product ends there, and its reader will be in the epilogue of another
/// product, behind that.
static bool meetsLaterProduct(OpOperand *use) {
  auto reader = dyn_cast<linalg::LinalgOp>(use->getOwner());
  linalg::LinalgOp product = findProduct(use->get());
  if (!reader || reader.getNumReductionLoops() > 0 || !product ||
      findEnd(product->getResult(0)) != use || isForReduction(reader))
    return false;
  return llvm::any_of(reader.getDpsInputs(), [&](Value input) {
    linalg::LinalgOp other = findProduct(input);
    return other && other->getBlock() == product->getBlock() && product->isBeforeInBlock(other) &&
           !shareFactor(product, other);
  });
}

/// Whether the epilogue of another product would read, by `use`, the vectors of the product before,
/// beside its own. That takes more registers and saves no byte: the result of the product before is
/// in memory either way. Convolved shortcuts in residual networks are such.
static bool belongsToOtherProduct(OpOperand *use) {
  auto producer = use->get().getDefiningOp<linalg::GenericOp>();
  return getOnlySource(producer) && readsVectors(producer) && meetsLaterProduct(use);
}

static bool shouldFuse(OpOperand *use) {
  if (!mayCompute(use) || belongsToOtherProduct(use))
    return false;
  auto producer = use->get().getDefiningOp<linalg::GenericOp>();
  if (use->get().hasOneUse() || (isCheap(producer) && producer.getNumDpsInputs() == 0))
    return true;
  // Where one reader needs it in memory, the others may read it there.
  return producer->getNumResults() == 1 && readsNoMore(producer) &&
         llvm::all_of(use->get().getUses(), [](OpOperand &other) { return mayCompute(&other); });
}

/// Fuses `op` with those before it where they follow one product up to where that meets a later
/// one. This is one op before anything else is fused: of several the last one alone would be
/// compared.
static void fuseBehindProduct(linalg::GenericOp op) {
  while (true) {
    OpOperand *source = getOnlySource(op);
    OpOperand *end = source ? findEnd(source->get()) : nullptr;
    if (!end || !meetsLaterProduct(end) || !linalg::areElementwiseOpsFusable(source) ||
        !shouldFuse(source))
      return;
    Operation *producer = source->get().getDefiningOp();
    IRRewriter rewriter(op);
    FailureOr<linalg::ElementwiseOpFusionResult> fused =
        linalg::fuseElementwiseOps(rewriter, source);
    if (failed(fused))
      return;
    rewriter.replaceOp(op, llvm::map_to_vector(op->getResults(), [&](OpResult result) {
                         return fused->replacements.lookup(result);
                       }));
    if (producer->use_empty())
      rewriter.eraseOp(producer);
    op = cast<linalg::GenericOp>(fused->fusedOp);
  }
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

/// What is widened before it is padded is padded first, so that windows over it widen what they
/// read.
struct PadBeforeWidening final : OpRewritePattern<tensor::PadOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::PadOp pad, PatternRewriter &rewriter) const override {
    auto widen = pad.getSource().getDefiningOp<linalg::GenericOp>();
    if (!widen || !widen->hasOneUse() || !isConversion(widen) || !isPaddingOfWindows(pad) ||
        !llvm::all_of(widen.getIndexingMapsArray(), [](AffineMap map) { return map.isIdentity(); }))
      return rewriter.notifyMatchFailure(pad, "not a padding of what is converted for it alone");
    Value narrow = widen.getDpsInputs()[0];
    auto type = dyn_cast<FloatType>(getElementTypeOrSelf(narrow));
    FloatAttr value;
    bool isPlain = llvm::hasSingleElement(widen.getBody()->without_terminator()) &&
                   isa<arith::ExtFOp>(widen.getBody()->front()) && !pad.getNofold();
    if (!isPlain || !type || !matchPattern(pad.getConstantPaddingValue(), m_Constant(&value)))
      return rewriter.notifyMatchFailure(pad, "not a widening of floats");
    llvm::APFloat rounded = value.getValue();
    bool losesInfo = false;
    rounded.convert(type.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
    if (losesInfo)
      return rewriter.notifyMatchFailure(pad, "the padding is no number of the narrow type");
    Location loc = pad.getLoc();
    Value around = arith::ConstantOp::create(rewriter, loc, rewriter.getFloatAttr(type, rounded));
    auto padded = tensor::PadOp::create(rewriter, loc, pad.getResultType().clone(type), narrow,
                                        pad.getMixedLowPad(), pad.getMixedHighPad(), around);
    Value empty =
        tensor::EmptyOp::create(rewriter, loc, tensor::getMixedSizes(rewriter, loc, padded),
                                pad.getResultType().getElementType());
    Operation *widened = clone(rewriter, widen, empty.getType(), {padded, empty});
    rewriter.replaceOp(pad, widened);
    return success();
  }
};

struct FuseElementwise final : impl::FuseElementwiseBase<FuseElementwise> {
  using FuseElementwiseBase::FuseElementwiseBase;

  void runOnOperation() override {
    if (fuse)
      getOperation().walk([](linalg::GenericOp op) { fuseBehindProduct(op); });
    MLIRContext *context = &getContext();
    RewritePatternSet patterns(context);
    if (fuse) {
      addFusionPatterns(patterns);
      patterns.add<TellShapeByInput, PadBeforeWidening>(context);
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
