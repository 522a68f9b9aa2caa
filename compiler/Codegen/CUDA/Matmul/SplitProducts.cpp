//===- SplitProducts.cpp - Share the sums of few tiles among many blocks --===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Matmul/SplitProducts.h"

#include "compiler/Codegen/CUDA/Matmul/Convolution.h"
#include "compiler/Codegen/CUDA/Matmul/DoubleMMAModel.h"
#include "compiler/Codegen/CUDA/Matmul/FMAModel.h"
#include "compiler/Codegen/CUDA/Matmul/MatmulModel.h"
#include "compiler/Codegen/CUDA/Matmul/OperandAlignment.h"
#include "compiler/Codegen/CUDA/Matmul/ProductParts.h"
#include "compiler/Dialect/Plan/IR/Products.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"

#include <limits>
#include <numeric>

using namespace mlir;

namespace xc::cuda {

/// The side of the smallest tiles without tensor cores.
static constexpr int64_t kSmallestScalarTile = 32;
/// On wgmma clusters share sums by themselves, and parts are what is beyond them: the shortest sum
/// that has parts, and the shortest part.
static constexpr int64_t kLongSum = 1024, kShortestSum = 128;
/// Bytes that equal parts are multiples of: then each begins a line that can be copied.
static constexpr int64_t kPartBytes = 16;
/// The most taps of a filter whose convolution is not split.
static constexpr int64_t kMostTaps = 64;
/// What parts of sums of bytes are multiples of: a step has more of them.
static constexpr int64_t kBytePartStep = 2 * kPartStep;
/// The shortest part of a sum on plain arithmetic, and what parts must be faster by there: that
/// model is within 5 % of most times.
static constexpr int64_t kShortestPlainPart = 64;
static constexpr double kPlainWorthwhile = 0.95;
/// What parts must be faster than the whole by: the model is not that exact.
static constexpr double kWorthwhile = 0.92;

namespace {

/// A loop that is summed over, in how many parts, and how long each is. Where they do not cover the
/// loop, what they leave over is a product of its own; where they are longer, the last one ends
/// early.
struct ProductSplit {
  unsigned loop;
  int64_t parts, size;
};

} // namespace

static bool isBytes(linalg::ContractOp op) {
  return llvm::all_of(op.getDpsInputs(),
                      [](Value operand) { return getElementTypeOrSelf(operand).isInteger(8); });
}

/// True if neighbours in memory of the operand that `map` reads are neighbours along `loops`.
static bool isContiguous(AffineMap map, ArrayRef<unsigned> loops) {
  auto last = dyn_cast<AffineDimExpr>(map.getResults().back());
  return last && llvm::is_contained(loops, last.getPosition());
}

/// What is considered: all parts that are equal, of whole lines of `line` terms; and a few numbers
/// of parts of each magnitude, of whole steps, the last of which ends early.
static SmallVector<ProductSplit> listParts(unsigned loop, int64_t range, int64_t line, int64_t step,
                                           int64_t most) {
  SmallVector<ProductSplit> listed;
  for (int64_t parts = 2; parts <= most; ++parts)
    if (range % (parts * line) == 0)
      listed.push_back({loop, parts, range / parts});
  for (int64_t power = 2; power <= most; power *= 2)
    for (int64_t parts : {power, power + power / 2}) {
      int64_t floor = getPartSize(range, parts, step), ceil = floor + step;
      for (int64_t size : {floor, ceil})
        if (int64_t count = size > 0 ? llvm::divideCeil(range, size) : 0;
            count > 1 && count <= most && range % size != 0)
          listed.push_back({loop, count, size});
    }
  return listed;
}

/// Parts of products that wgmma and mma.sync compute: as many as make the product and their sum
/// fastest, if any.
static std::optional<ProductSplit> choosePartsOnWGMMA(linalg::ContractOp op,
                                                      const linalg::ContractionDimensions &dims,
                                                      const MatmulProblem &problem,
                                                      const Target &target) {
  if (dims.k.size() != 1 || problem.k < kLongSum ||
      countTiles(problem.batch, problem.m, problem.n, kSmallestTile) >= target.multiprocessors)
    return std::nullopt;
  double limit = kWorthwhile * estimatePart(op, problem, problem, /*endsEarly=*/false, target);
  double sumBytes =
      static_cast<double>(problem.batch * problem.m * problem.n * problem.outputBytes);
  int64_t most = std::min(problem.k / kShortestSum, 2 * target.multiprocessors / problem.batch);
  std::optional<ProductSplit> best;
  for (const ProductSplit &split :
       listParts(dims.k.front(), problem.k, kPartBytes / problem.elementBytes,
                 problem.elementBytes == 1 ? kBytePartStep : kPartStep, most)) {
    bool endsEarly = split.parts * split.size > problem.k;
    if (endsEarly && !hasTensorCoreTypes(op))
      continue;
    MatmulProblem part = problem;
    part.batch *= split.parts;
    part.k = split.size;
    double time = estimatePart(op, problem, part, endsEarly, target);
    time += estimateSumOfParts(target, sumBytes * static_cast<double>(split.parts));
    if (time < limit) {
      limit = time;
      best = split;
    }
  }
  return best;
}

/// True if operands and sums are of one type, and no tensor core is asked.
static bool isPlain(linalg::LinalgOp op, const Target &target) {
  Type type = getElementTypeOrSelf(op.getDpsInits().front());
  bool isTF32 = type.isF32() && target.hasMMA16816 && op->hasAttr(plan::kAllowTF32Attr);
  return !isTF32 && type.getIntOrFloatBitWidth() >= 32 &&
         llvm::all_of(op.getDpsInputs(),
                      [&](Value operand) { return getElementTypeOrSelf(operand) == type; });
}

/// The microseconds that the product takes on plain arithmetic, or in f64 on tensor cores where
/// that is faster.
static double estimatePlain(const Target &target, const FMAProblem &problem, bool isDouble) {
  double time = chooseFMAPlan(target, problem).microseconds;
  if (!isDouble || target.doubleMMA == DoubleMMA::None)
    return time;
  DoubleProblem onTensorCores{problem.batch, problem.m, problem.n, problem.k};
  return std::min(time, chooseDoublePlan(target, onTensorCores).microseconds);
}

/// Parts of products on plain arithmetic: as many as make the product and their sum fastest, if
/// any. `problem` has the sizes.
static std::optional<ProductSplit> choosePlainParts(linalg::ContractOp op, ArrayRef<unsigned> k,
                                                    FMAProblem problem, const Target &target) {
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  problem.elementBytes = getElementTypeOrSelf(op.getDpsInits().front()).getIntOrFloatBitWidth() / 8;
  problem.isCopied = isCopiedAhead(target, problem.k) && k.size() == 1;
  problem.canShare = target.hasClusters();
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  if (problem.isCopied && isContiguous(maps[0], k))
    problem.widthA = 1;
  if (problem.isCopied && isContiguous(maps[1], k))
    problem.widthB = 1;
  bool isDouble = getElementTypeOrSelf(op.getDpsInits().front()).isF64();
  double limit = kPlainWorthwhile * estimatePlain(target, problem, isDouble);
  double sumBytes =
      static_cast<double>(problem.batch * problem.m * problem.n * problem.elementBytes);
  // More blocks than this do not fill the GPU any better.
  int64_t most = std::min(problem.k / kShortestPlainPart, 8 * int64_t(target.multiprocessors));
  std::optional<ProductSplit> best;
  for (unsigned loop : k)
    for (int64_t parts = 2; parts <= std::min(ranges[loop], most); ++parts) {
      int64_t step = ranges[loop] % parts == 0 ? 1 : kPartBytes / problem.elementBytes;
      int64_t size = getPartSize(ranges[loop], parts, step), left = ranges[loop] - parts * size;
      if (size == 0)
        continue;
      FMAProblem part = problem, rest = problem;
      part.batch *= parts;
      part.k = problem.k / ranges[loop] * size; // in range: at most problem.k
      rest.k = problem.k / ranges[loop] * left; // in range: likewise
      rest.isCopied &= isCopiedAhead(target, rest.k);
      double time = estimatePlain(target, part, isDouble) +
                    estimateSumOfParts(target, sumBytes * static_cast<double>(parts));
      if (rest.k > 0)
        time += estimatePlain(target, rest, isDouble);
      if (time < limit) {
        limit = time;
        best = ProductSplit{loop, parts, size};
      }
    }
  return best;
}

static std::optional<ProductSplit> chooseParts(linalg::ContractOp op, const Target &target) {
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  FailureOr<linalg::ContractionDimensions> dims = linalg::inferContractionDims(op);
  if (failed(dims) || llvm::any_of(ranges, ShapedType::isDynamic) || !op.hasPureTensorSemantics())
    return std::nullopt;
  auto product = [&](ArrayRef<unsigned> loops) { return multiplyRanges(ranges, loops); };
  std::optional<MatmulProblem> problem;
  if (target.hasWGMMA)
    problem = makeAlignedProblem(op);
  if (problem && (problem->elementBytes != 1 || hasAlignedOperands(op)))
    return choosePartsOnWGMMA(op, *dims, *problem, target);
  // Parts of what is copied anyway would be several copies.
  if (problem && !chooseOperandsToAlign(op, target).empty())
    return std::nullopt;
  if (isPlain(op, target) && product(dims->k) > 0) {
    FMAProblem problem{};
    problem.batch = product(dims->batch);
    problem.m = product(dims->m);
    problem.n = product(dims->n);
    problem.k = product(dims->k);
    return choosePlainParts(op, dims->k, problem, target);
  }
  bool isOnTensorCores = target.hasMMA16816 && hasTensorCoreTypes(op);
  int64_t tile = isOnTensorCores ? kSmallestTile : kSmallestScalarTile;
  int64_t sum = product(dims->k);
  int64_t most = getMostParts(
      countTiles(product(dims->batch), product(dims->m), product(dims->n), tile), sum, target);
  // Tensor cores end the last part early; elsewhere, or of several loops, a rest is left.
  bool canEndEarly = isOnTensorCores && dims->k.size() == 1;
  int64_t step = isBytes(op) ? kBytePartStep : kPartStep;
  std::optional<ProductSplit> best;
  for (unsigned loop : dims->k)
    for (int64_t parts = most; parts > (best ? best->parts : 1); --parts) {
      // Steps of a part are whole: either all of its elements are, or those of this loop.
      bool isEqual = ranges[loop] % parts == 0 && sum / parts % step == 0;
      int64_t size = isEqual       ? ranges[loop] / parts
                     : canEndEarly ? getLongPartSize(ranges[loop], parts, step)
                                   : getPartSize(ranges[loop], parts, step);
      if (int64_t count = canEndEarly ? llvm::divideCeil(ranges[loop], size) : parts;
          size > 0 && count > (best ? best->parts : 1))
        best = ProductSplit{loop, count, size};
    }
  return best;
}

/// `map` over the loops after the one that is split became two.
static AffineMap splitLoop(AffineMap map, unsigned loop) {
  SmallVector<AffineExpr> results;
  for (AffineExpr expr : map.getResults()) {
    unsigned dim = cast<AffineDimExpr>(expr).getPosition();
    if (dim == loop)
      results.push_back(getAffineDimExpr(loop, map.getContext()));
    results.push_back(getAffineDimExpr(dim >= loop ? dim + 1 : dim, map.getContext()));
  }
  return AffineMap::get(map.getNumDims() + 1, 0, results, map.getContext());
}

/// `operand` with the dim that `map` reads along `loop` as two.
static Value expandOperand(OpBuilder &builder, Value operand, AffineMap map, ProductSplit split) {
  auto type = cast<RankedTensorType>(operand.getType());
  SmallVector<int64_t> shape;
  SmallVector<ReassociationIndices> groups;
  for (auto [size, expr] : llvm::zip_equal(type.getShape(), map.getResults())) {
    groups.push_back({static_cast<int64_t>(shape.size())});
    if (cast<AffineDimExpr>(expr).getPosition() == split.loop) {
      shape.push_back(split.parts);
      groups.back().push_back(shape.size());
      shape.push_back(split.size);
    } else {
      shape.push_back(size);
    }
  }
  return tensor::ExpandShapeOp::create(builder, operand.getLoc(),
                                       RankedTensorType::get(shape, type.getElementType()), operand,
                                       groups);
}

/// The elements of `operand` from `begin` to `end` along the loop, which `map` reads.
static Value sliceOperand(OpBuilder &builder, Value operand, AffineMap map, unsigned loop,
                          int64_t begin, int64_t end) {
  auto type = cast<RankedTensorType>(operand.getType());
  SmallVector<int64_t> offsets(type.getRank(), 0), sizes(type.getShape()),
      strides(type.getRank(), 1);
  for (auto [dim, expr] : llvm::enumerate(map.getResults()))
    if (cast<AffineDimExpr>(expr).getPosition() == loop) {
      offsets[dim] = begin;
      sizes[dim] = end - begin;
    }
  if (sizes == type.getShape())
    return operand;
  auto result = RankedTensorType::get(sizes, type.getElementType());
  return tensor::ExtractSliceOp::create(builder, operand.getLoc(), result, operand, ValueRange(),
                                        ValueRange(), ValueRange(), offsets, sizes, strides);
}

Value addParts(OpBuilder &builder, Location loc, Value parts, Value init) {
  auto type = cast<RankedTensorType>(init.getType());
  AffineMap all = builder.getMultiDimIdentityMap(type.getRank() + 1), kept = all.dropResult(0);
  SmallVector<utils::IteratorType> iterators(type.getRank() + 1, utils::IteratorType::parallel);
  iterators.front() = utils::IteratorType::reduction;
  return linalg::GenericOp::create(
             builder, loc, type, parts, init, ArrayRef{all, kept}, iterators,
             [&](OpBuilder &body, Location bodyLoc, ValueRange arguments) {
               Value sum = isa<FloatType>(type.getElementType())
                               ? arith::AddFOp::create(body, bodyLoc, arguments[1], arguments[0])
                                     .getResult()
                               : arith::AddIOp::create(body, bodyLoc, arguments[1], arguments[0])
                                     .getResult();
               linalg::YieldOp::create(body, bodyLoc, sum);
             })
      .getResult(0);
}

Value makeZeroParts(OpBuilder &builder, Location loc, RankedTensorType type, int64_t parts) {
  SmallVector<int64_t> shape(type.getShape());
  shape.insert(shape.begin(), parts);
  Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type.getElementType()));
  Value empty = tensor::EmptyOp::create(builder, loc, shape, type.getElementType());
  return linalg::FillOp::create(builder, loc, zero, empty).getResult(0);
}

/// What `op` says about itself beside its form holds for its parts, too.
static SmallVector<NamedAttribute> getPartAttributes(linalg::ContractOp op) {
  return llvm::filter_to_vector(op->getAttrs(), [&](NamedAttribute attribute) {
    return attribute.getName() != op.getIndexingMapsAttrName();
  });
}

Value makePartialSums(RewriterBase &rewriter, linalg::LinalgOp op, const plan::PartialSums &sums,
                      AffineMap result, RankedTensorType type) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  maps.back() = result.insertResult(sums.index, 0);
  Value start = makeZeroParts(rewriter, op.getLoc(), type, sums.count);
  auto parts = linalg::GenericOp::create(rewriter, op.getLoc(), start.getType(), op.getDpsInputs(),
                                         start, maps, op.getIteratorTypesArray());
  rewriter.cloneRegionBefore(op->getRegion(0), parts.getRegion(), parts.getRegion().begin());
  parts->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  if (sums.areShares())
    parts->setAttr(plan::kSharesAttr, rewriter.getUnitAttr());
  return parts.getResult(0);
}

void replaceByPartialSums(linalg::LinalgOp op, const plan::PartialSums &sums) {
  IRRewriter rewriter(op);
  Value init = op.getDpsInits().front();
  Value parts = makePartialSums(rewriter, op, sums, op.getIndexingMapsArray().back(),
                                cast<RankedTensorType>(init.getType()));
  rewriter.replaceOp(op, addParts(rewriter, op.getLoc(), parts, init));
}

/// The product in equal parts, and one of what they leave over.
static void splitEqually(linalg::ContractOp op, const ProductSplit &split) {
  IRRewriter rewriter(op);
  Location loc = op.getLoc();
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  int64_t range = op.getStaticLoopRanges()[split.loop], covered = split.parts * split.size;
  SmallVector<Value> operands, rest;
  for (auto [operand, map] : llvm::zip(op.getDpsInputs(), maps)) {
    Value equal = sliceOperand(rewriter, operand, map, split.loop, 0, covered);
    operands.push_back(expandOperand(rewriter, equal, map, split));
    if (covered < range)
      rest.push_back(sliceOperand(rewriter, operand, map, split.loop, covered, range));
  }
  Value init = op.getDpsInits().front();
  if (covered < range) {
    rest.push_back(init);
    init = clone(rewriter, op, init.getType(), rest)->getResult(0);
  }
  auto type = cast<RankedTensorType>(init.getType());
  Value start = makeZeroParts(rewriter, loc, type, split.parts);
  for (AffineMap &map : maps)
    map = splitLoop(map, split.loop);
  maps.back() = maps.back().insertResult(rewriter.getAffineDimExpr(split.loop), 0);
  auto parts =
      linalg::ContractOp::create(rewriter, loc, start.getType(), operands, start,
                                 rewriter.getAffineMapArrayAttr(maps), getPartAttributes(op));
  rewriter.replaceOp(op, addParts(rewriter, loc, parts.getResult(0), init));
}

void splitProduct(linalg::ContractOp op, const Target &target) {
  std::optional<ProductSplit> split = chooseParts(op, target);
  if (!split)
    return;
  if (split->parts * split->size <= op.getStaticLoopRanges()[split->loop])
    return splitEqually(op, *split);
  AffineExpr loop = getAffineDimExpr(split->loop, op.getContext());
  replaceByPartialSums(op, {split->parts, split->size, loop.floorDiv(split->size)});
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

/// True if wgmma is to take the convolution: its sums are over innermost, aligned channels.
/// Clusters share them by themselves, and groups of other channels than whole steps would keep
/// columns of pixels from it (Convolution.h). A gradient to a filter has as many taps as there are
/// positions: its sums need more than a cluster.
static bool hasColumnsOfPixels(linalg::GenericOp op, const plan::ProductLoops &loops,
                               const Target &target) {
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  if (!target.hasWGMMA)
    return false;
  bool hasGroups = llvm::any_of(loops.batch, [&](unsigned loop) { return ranges[loop] != 1; });
  return llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *input) {
    AffineMap map = op.getMatchingIndexingMap(input);
    auto channel = dyn_cast<AffineDimExpr>(map.getResults().back());
    if (map.isProjectedPermutation(/*allowZeroInResults=*/true) || !channel ||
        !llvm::is_contained(loops.k, channel.getPosition()))
      return false;
    int64_t bytes = getElementTypeOrSelf(input->get()).getIntOrFloatBitWidth() / 8;
    int64_t channels = ranges[channel.getPosition()], taps = 1;
    for (unsigned loop : loops.k) {
      if (ShapedType::isDynamic(ranges[loop]))
        return false;
      taps *= loop == channel.getPosition() ? 1 : ranges[loop];
    }
    return taps <= kMostTaps && channels * bytes % kPartBytes == 0 &&
           (!hasGroups || channels % kPanelChannels == 0);
  });
}

/// True if an operand is read along the loop alone, which says how long a part of it is.
static bool isReadAlone(linalg::GenericOp op, unsigned loop) {
  return llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *input) {
    return !input->get().getDefiningOp<tensor::PadOp>() &&
           llvm::is_contained(op.getMatchingIndexingMap(input).getResults(),
                              getAffineDimExpr(loop, op.getContext()));
  });
}

/// Neighbours of `input` that threads load at once: of its innermost dim, if that is one loop.
static int64_t getLoadWidth(linalg::GenericOp op, OpOperand *input, ArrayRef<int64_t> ranges) {
  constexpr int64_t most = 4;
  auto loop = dyn_cast<AffineDimExpr>(op.getMatchingIndexingMap(input).getResults().back());
  return loop ? std::gcd(ranges[loop.getPosition()], most) : 1;
}

/// Equal parts of one loop of a convolution's sums on plain arithmetic: as many as make the product
/// and their sum fastest, if any.
static std::optional<ProductSplit> choosePlainWindowParts(linalg::GenericOp op,
                                                          const plan::ProductLoops &loops,
                                                          const Target &target) {
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  auto product = [&](ArrayRef<unsigned> dims) { return multiplyRanges(ranges, dims); };
  FMAProblem problem{};
  problem.batch = product(loops.batch);
  problem.m = product(loops.m);
  problem.n = product(loops.n);
  problem.k = product(loops.k);
  Type type = getElementTypeOrSelf(op.getDpsInits().front());
  problem.elementBytes = type.getIntOrFloatBitWidth() / 8;
  problem.widthA = getLoadWidth(op, op.getDpsInputOperand(0), ranges);
  problem.widthB = getLoadWidth(op, op.getDpsInputOperand(1), ranges);
  // Threads share windows of shorter sums by themselves.
  if (getMostParts(/*tiles=*/1, problem.k, target) == 1)
    return std::nullopt;
  double limit = kPlainWorthwhile * estimatePlain(target, problem, type.isF64());
  double sumBytes =
      static_cast<double>(problem.batch * problem.m * problem.n * problem.elementBytes);
  int64_t most = std::min(problem.k / kShortestPlainPart, 8 * int64_t(target.multiprocessors));
  std::optional<ProductSplit> best;
  for (unsigned loop : loops.k)
    for (int64_t parts = 2; isReadAlone(op, loop) && parts <= std::min(ranges[loop], most);
         ++parts) {
      if (ranges[loop] % parts != 0)
        continue;
      FMAProblem part = problem;
      part.batch *= parts;
      part.k /= parts;
      double time = estimatePlain(target, part, type.isF64()) +
                    estimateSumOfParts(target, sumBytes * static_cast<double>(parts));
      if (time < limit) {
        limit = time;
        best = ProductSplit{loop, parts, ranges[loop] / parts};
      }
    }
  return best;
}

/// Loops of the sums of a convolution's products. Of those of symbolic size there may be any
/// number.
static std::optional<ProductSplit> chooseWindowParts(linalg::GenericOp op, const Target &target) {
  std::optional<plan::ProductLoops> loops = plan::matchProduct(op);
  if (!loops || !plan::isWindowReduction(op) || op.hasIndexSemantics() ||
      !op.getIndexingMapsArray().back().isProjectedPermutation())
    return std::nullopt;
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  auto product = [&](ArrayRef<unsigned> dims, int64_t unknown) {
    SmallVector<int64_t> known(ranges);
    llvm::replace(known, ShapedType::kDynamic, unknown);
    return multiplyRanges(known, dims);
  };
  bool isOnTensorCores = target.hasMMA16816 && (hasHalfOperands(op) || hasTF32Operands(op));
  if (isOnTensorCores && hasColumnsOfPixels(op, *loops, target))
    return std::nullopt;
  // Narrow ones are no tiles; results of unknown number are expected to be enough.
  constexpr int64_t narrow = 4, many = 1 << 20, some = 16;
  int64_t m = product(loops->m, many), n = product(loops->n, many), sum = product(loops->k, some);
  int64_t tile = isOnTensorCores ? kSmallestTile : kSmallestScalarTile;
  if (std::min(m, n) <= narrow)
    return std::nullopt;
  if (isPlain(op, target) && !llvm::is_contained(ranges, ShapedType::kDynamic) &&
      !llvm::is_contained(ranges, 0))
    return choosePlainWindowParts(op, *loops, target);
  int64_t most = getMostParts(countTiles(product(loops->batch, many), m, n, tile), sum, target);
  std::optional<ProductSplit> best;
  for (unsigned loop : loops->k)
    for (int64_t parts = most; isReadAlone(op, loop) && parts > (best ? best->parts : 1); --parts)
      if (!ShapedType::isDynamic(ranges[loop]) && ranges[loop] % parts == 0)
        best = ProductSplit{loop, parts, ranges[loop] / parts};
  return best;
}

/// An input whose dim along the loop becomes two, unless that would come between it and its
/// padding, or it is read at sums: then the loop's place is computed of part and place in it.
static std::pair<Value, AffineMap> splitInput(OpBuilder &builder, Value input, AffineMap map,
                                              ProductSplit split, int64_t size) {
  MLIRContext *context = map.getContext();
  AffineExpr loop = getAffineDimExpr(split.loop, context),
             inPart = getAffineDimExpr(split.loop + 1, context);
  SmallVector<AffineExpr> dims;
  for (unsigned dim = 0; dim < map.getNumDims(); ++dim)
    dims.push_back(getAffineDimExpr(dim > split.loop ? dim + 1 : dim, context));
  dims[split.loop] = loop * (size / split.parts) + inPart;
  bool isPadded = static_cast<bool>(input.getDefiningOp<tensor::PadOp>());
  SmallVector<OpFoldResult> sizes;
  SmallVector<int64_t> shape;
  SmallVector<AffineExpr> exprs;
  SmallVector<ReassociationIndices> groups;
  for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
    groups.push_back({static_cast<int64_t>(exprs.size())});
    if (expr == loop && !isPadded) {
      groups.back().push_back(exprs.size() + 1);
      exprs.append({loop, inPart});
      shape.append({split.parts, size / split.parts});
      sizes.append({builder.getIndexAttr(split.parts), builder.getIndexAttr(size / split.parts)});
      continue;
    }
    exprs.push_back(expr.replaceDims(dims));
    shape.push_back(cast<RankedTensorType>(input.getType()).getDimSize(dim));
    sizes.push_back(tensor::getMixedSize(builder, input.getLoc(), input, dim));
  }
  if (exprs.size() > map.getNumResults())
    input = tensor::ExpandShapeOp::create(builder, input.getLoc(),
                                          cast<RankedTensorType>(input.getType()).clone(shape),
                                          input, groups, sizes);
  return {input, AffineMap::get(map.getNumDims() + 1, 0, exprs, context)};
}

void splitWindowProduct(linalg::GenericOp op, const Target &target) {
  std::optional<ProductSplit> split = chooseWindowParts(op, target);
  auto type = cast<RankedTensorType>(op.getDpsInits().front().getType());
  if (!split || !type.hasStaticShape())
    return;
  IRRewriter rewriter(op);
  Location loc = op.getLoc();
  int64_t size = op.getStaticLoopRanges()[split->loop];
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  for (OpOperand *operand : op.getDpsInputOperands()) {
    auto [input, map] =
        splitInput(rewriter, operand->get(), op.getMatchingIndexingMap(operand), *split, size);
    inputs.push_back(input);
    maps.push_back(map);
  }
  AffineMap result = splitLoop(op.getIndexingMapsArray().back(), split->loop);
  maps.push_back(result.insertResult(rewriter.getAffineDimExpr(split->loop), 0));
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  iterators.insert(iterators.begin() + split->loop, utils::IteratorType::parallel);
  Value start = makeZeroParts(rewriter, loc, type, split->parts);
  auto parts =
      linalg::GenericOp::create(rewriter, loc, start.getType(), inputs, start, maps, iterators);
  rewriter.cloneRegionBefore(op.getRegion(), parts.getRegion(), parts.getRegion().begin());
  parts->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  rewriter.replaceOp(op, addParts(rewriter, loc, parts.getResult(0), op.getDpsInits().front()));
}

} // namespace xc::cuda
