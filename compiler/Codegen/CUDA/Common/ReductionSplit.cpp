//===- ReductionSplit.cpp - Which reductions get two steps ----------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Common/ReductionSplit.h"

#include "compiler/Codegen/CUDA/Common/Occupancy.h"
#include "compiler/Codegen/CUDA/Common/ReductionGroup.h"
#include "compiler/Codegen/CUDA/Common/Targets.h"
#include "compiler/Dialect/Array/IR/Sizes.h"
#include "compiler/Dialect/Plan/IR/PlanOps.h"
#include "compiler/Dialect/Plan/IR/Products.h"

#include "mlir/Dialect/Linalg/Transforms/Transforms.h"

using namespace mlir;

namespace xc::cuda {

/// Parts of a column reduction: enough blocks for the GPU, few enough for their results to cost
/// little. From kWideColumns on fewer.
static constexpr int64_t kMostColumnParts = 128, kMostWideColumnParts = 64, kWideColumns = 2048;
/// Bytes that neighbouring threads read of a row at least.
static constexpr int64_t kCacheLineBytes = 128;
/// From this many columns on, blocks are enough without parts.
static constexpr int64_t kEnoughColumns = 32768;
/// Elements below which a second kernel costs more than it brings.
static constexpr int64_t kFewElements = 1 << 18;
/// Fewest rows of a part of a column reduction, and parts that would not fill the GPU either.
static constexpr int64_t kFewestRows = 8, kFewColumnParts = 15;
/// Elements of a column that registers of a block hold, bytes of its rows, and such blocks for each
/// multiprocessor that are enough.
static constexpr int64_t kLongestHeldColumn = 1024, kHeldBytes = 64, kHeldBlocks = 2;
/// Rows from which on blocks that loop over them are more than there are multiprocessors.
static constexpr int64_t kManyLoopedRows = 32768;
/// Elements of a row that a block holds in registers beside the sums of as many columns, and blocks
/// that share a row.
static constexpr int64_t kRowElements = 8192, kMostRowBlocks = 8;
/// Multiprocessors of a group that clusters are launched on as a whole: all groups have as many.
static constexpr int64_t kGroupMultiprocessors = 16;
/// Results of a row reduction from which on blocks are enough, and elements of a row that one block
/// reduces as fast as two kernels do; more where the row is needed again after its reduction.
static constexpr int64_t kEnoughRows = 66, kShortRow = 32768, kShortReusedRow = 131072;
/// The same where the blocks of a cluster share a row.
static constexpr int64_t kShortClusterRow = 262145;
/// Results up to which all reductions of a row that is not written are in the kernel that holds it:
/// clusters for more do not run at the same time, and parts are as fast.
static constexpr int64_t kFewClusterRows = 16;
static constexpr int64_t kMostRowParts = 1024, kFewestPartElements = 1024;
/// Parts of a loop of symbolic length: of rows, which are as many blocks, and of columns, of which
/// each part has as many blocks as the columns need.
static constexpr int64_t kSymbolicRowParts = 512, kSymbolicColumnParts = 128;
/// Results of all parts of a column reduction of symbolic length.
static constexpr int64_t kPartialResults = 65536;
/// Parts where the number of columns is symbolic, and rows of such a part that make its results few
/// beside what it reads.
static constexpr int64_t kNarrowColumnParts = 32, kFewestNarrowRows = 16;
/// Rows of symbolic length that are needed again after a reduction are split where there are no
/// more of them than this: one kernel for short ones is worth more than many for long ones.
static constexpr int64_t kFewReusedRows = 2;
/// The length of a part is a multiple of this, so that its elements are read by wide accesses.
static constexpr int64_t kWideAccess = 8;

bool hasPlainMaps(linalg::GenericOp op) {
  return op.hasPureTensorSemantics() && llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) {
           return map.isProjectedPermutation();
         });
}

/// The most parts up to `limit` of a loop of `size` iterations whose parts are equal, have at least
/// `fewest` iterations, and a multiple of `multiple`; 1 if there are none.
static int64_t getParts(int64_t size, int64_t limit, int64_t fewest, int64_t multiple) {
  for (int64_t parts = std::min(limit, size / fewest); parts > 1; --parts)
    if (size % parts == 0 && size / parts % multiple == 0)
      return parts;
  return 1;
}

/// The most parts that leave few iterations over, of those between three quarters of `limit` and
/// `limit`. One iteration is none that a reduction is seen in.
static int64_t getUnevenParts(int64_t size, int64_t limit, int64_t multiple) {
  auto getRest = [&](int64_t parts) {
    int64_t rest = size % (parts * multiple);
    return rest == 1 ? size : rest;
  };
  int64_t best = limit;
  for (int64_t parts = limit; parts > std::max<int64_t>(limit * 3 / 4, 1); --parts)
    if (getRest(parts) < getRest(best))
      best = parts;
  return best;
}

/// The product of the ranges of `dims`, dynamic if one of them is.
static int64_t getCount(ArrayRef<int64_t> ranges, ArrayRef<unsigned> dims) {
  int64_t count = 1;
  for (unsigned dim : dims) {
    if (ShapedType::isDynamic(ranges[dim]))
      return ShapedType::kDynamic;
    count = array::multiplyKnown({count, ranges[dim]});
  }
  return count;
}

/// True if `isWanted` holds for an op that follows `op`, near or far.
static bool isFollowedBy(linalg::GenericOp op, llvm::function_ref<bool(linalg::GenericOp)> isWanted,
                         unsigned depth = 0) {
  return depth < 8 && llvm::any_of(
                          op->getUsers(),
                          [&](Operation *user) {
                            auto next = dyn_cast<linalg::GenericOp>(user);
                            return next &&
                                   (isWanted(next) || isFollowedBy(next, isWanted, depth + 1));
                          });
}

/// True if a reduction over the space of `root`, and of `loops` of it where these are given, comes
/// before `op`, near or far: `root` then is not the first to need the rows that it reduces.
static bool followsReduction(linalg::GenericOp op, linalg::GenericOp root,
                             ArrayRef<utils::IteratorType> loops = {}, unsigned depth = 0) {
  auto isOne = [&](linalg::GenericOp producer) {
    return producer.getNumReductionLoops() > 0 &&
           producer.getStaticLoopRanges() == root.getStaticLoopRanges() &&
           (loops.empty() || ArrayRef(producer.getIteratorTypesArray()) == loops);
  };
  return depth < 8 && llvm::any_of(
                          op.getInputs(),
                          [&](Value input) {
                            auto producer = input.getDefiningOp<linalg::GenericOp>();
                            return producer && (isOne(producer) ||
                                                followsReduction(producer, root, loops, depth + 1));
                          });
}

/// True if an op that follows `op` goes over its whole space again.
static bool isNeededAgain(linalg::GenericOp op, int64_t kept) {
  return isFollowedBy(op, [&](linalg::GenericOp next) {
    return array::multiplyKnown(next.getStaticLoopRanges()) > kept;
  });
}

/// True if an op that follows `op` computes something for all of a space of symbolic size, and
/// results are not that few: then one kernel had better hold what `op` reduces.
static bool feedsSymbolicSpace(linalg::GenericOp op, int64_t kept) {
  bool isFew = !ShapedType::isDynamic(kept) && kept <= kFewReusedRows;
  return !isFew && isFollowedBy(op, [](linalg::GenericOp next) {
    return next.getNumReductionLoops() == 0 &&
           llvm::any_of(next.getStaticLoopRanges(), ShapedType::isDynamic);
  });
}

/// Where the number of columns is symbolic they may be few, so a few parts are made in any case.
static std::optional<Split> chooseNarrowColumnSplit(linalg::GenericOp op,
                                                    const ReductionGroup &group) {
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  unsigned loop = group.reductionDims.front();
  bool isNeeded = isFollowedBy(op, [&](linalg::GenericOp next) {
    return next.getNumParallelLoops() > group.parallelDims.size();
  });
  if (isNeeded)
    return std::nullopt;
  if (ShapedType::isDynamic(ranges[loop]))
    return Split{op, loop, kNarrowColumnParts, /*isColumn=*/true, /*hasRest=*/true};
  int64_t limit = std::min(kNarrowColumnParts, ranges[loop] / kFewestNarrowRows);
  if (limit < 4)
    return std::nullopt;
  int64_t parts = getParts(ranges[loop], limit, kFewestNarrowRows, 1);
  if (parts * 2 > limit)
    return Split{op, loop, parts, /*isColumn=*/true};
  return Split{op, loop, getUnevenParts(ranges[loop], limit, 1), /*isColumn=*/true,
               /*hasRest=*/true};
}

/// True if `op` multiplies a vector by a matrix whose rows have a line of memory for a block on
/// each multiprocessor, but few: each reads its lines down all of the matrix, many rows at a time,
/// at the rate of memory, and spares the sum of parts.
static bool streamsMatrix(linalg::GenericOp op, int64_t columns) {
  const Target *target = findTarget(op);
  if (!target || !plan::matchProduct(op))
    return false;
  int64_t bytes = 0;
  for (Value input : op.getInputs())
    bytes = std::max<int64_t>(
        bytes, llvm::divideCeil(getElementTypeOrSelf(input).getIntOrFloatBitWidth(), 8));
  return fillsMultiprocessors(*target, columns * bytes / kCacheLineBytes);
}

/// True if one kernel had better hold the columns that `op` reduces, which are needed again: they
/// are short enough for registers, and so many that every multiprocessor has some blocks for them.
static bool holdsColumns(linalg::GenericOp op, int64_t columns, int64_t length) {
  const Target *target = findTarget(op);
  if (!target || length > kLongestHeldColumn ||
      !(isNeededAgain(op, columns) || followsReduction(op, op, op.getIteratorTypesArray())))
    return false;
  int64_t bytes = 1;
  for (Value input : op.getInputs())
    bytes = std::max<int64_t>(
        bytes, llvm::divideCeil(getElementTypeOrSelf(input).getIntOrFloatBitWidth(), 8));
  return columns * bytes >= kHeldBytes * kHeldBlocks * target->multiprocessors;
}

static std::optional<Split> chooseColumnSplit(linalg::GenericOp op, const ReductionGroup &group) {
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  int64_t kept = getCount(ranges, group.parallelDims),
          reduced = getCount(ranges, group.reductionDims);
  // Tiles of a product read few columns as well as many.
  if (ShapedType::isDynamic(kept))
    return multipliesMatrices(op) ? std::nullopt : chooseNarrowColumnSplit(op, group);
  if (kept >= kEnoughColumns || streamsMatrix(op, kept))
    return std::nullopt;
  if (ShapedType::isDynamic(reduced)) {
    unsigned loop = *llvm::find_if(
        group.reductionDims, [&](unsigned dim) { return ShapedType::isDynamic(ranges[dim]); });
    int64_t parts = std::min(kSymbolicColumnParts, kPartialResults / kept);
    if (parts < 4)
      return std::nullopt;
    return Split{op, loop, parts, /*isColumn=*/true, /*hasRest=*/true};
  }
  if (array::multiplyKnown({kept, reduced}) < kFewElements || holdsColumns(op, kept, reduced))
    return std::nullopt;
  // Along the outermost dim that gives most parts.
  int64_t limit = kept < kWideColumns ? kMostColumnParts : kMostWideColumnParts;
  auto getFewest = [&](unsigned dim) {
    return std::max<int64_t>(1, kFewestRows * ranges[dim] / reduced); // in range: a tensor's dim
  };
  std::optional<Split> best;
  for (unsigned dim : group.reductionDims)
    if (int64_t parts = getParts(ranges[dim], limit, getFewest(dim), 1);
        parts > (best ? best->parts : kFewColumnParts))
      best = Split{op, dim, parts, /*isColumn=*/true};
  if (best)
    return best;
  unsigned longest = *llvm::max_element(
      group.reductionDims, [&](unsigned a, unsigned b) { return ranges[a] < ranges[b]; });
  limit = std::min(limit, ranges[longest] / getFewest(longest));
  if (limit <= kFewColumnParts)
    return std::nullopt;
  return Split{op, longest, getUnevenParts(ranges[longest], limit, 1), /*isColumn=*/true,
               /*hasRest=*/true};
}

static std::optional<Split> chooseRowSplit(linalg::GenericOp op, const ReductionGroup &group) {
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  int64_t kept = getCount(ranges, group.parallelDims),
          reduced = getCount(ranges, group.reductionDims);
  unsigned loop = group.reductionDims.front();
  int64_t inner = getCount(ranges, ArrayRef(group.reductionDims).drop_front());
  int64_t multiple = inner == 1 ? kWideAccess : 1;
  if (kept >= kEnoughRows)
    return std::nullopt;
  if (ShapedType::isDynamic(reduced)) {
    if (!ShapedType::isDynamic(ranges[loop]) || feedsSymbolicSpace(op, kept))
      return std::nullopt;
    return Split{op,      loop, kSymbolicRowParts / kept, /*isColumn=*/false, /*hasRest=*/true,
                 multiple};
  }
  const Target *target = findTarget(op);
  int64_t shortReused = target && target->hasClusters() ? kShortClusterRow : kShortReusedRow;
  bool isReused = isNeededAgain(op, kept) || (kept <= kFewClusterRows && followsReduction(op, op));
  if (reduced < (isReused ? shortReused : kShortRow))
    return std::nullopt;
  constexpr int64_t few = 4;
  int64_t fewest = std::max<int64_t>(1, kFewestPartElements / inner);
  int64_t limit = std::min(kMostRowParts / kept, ranges[loop] / fewest);
  if (limit < few)
    return std::nullopt;
  // Equal parts, if they are blocks enough, or not far from as many as there may be.
  int64_t parts = getParts(ranges[loop], limit, fewest, multiple);
  if (parts >= few && (parts * kept >= kEnoughRows || parts * 2 >= limit))
    return Split{op, loop, parts, /*isColumn=*/false};
  return Split{op,   loop,    getUnevenParts(ranges[loop], limit, multiple), /*isColumn=*/false,
               true, multiple};
}

/// True for a reduction of something, whose results have one shape.
static bool isPlainReduction(linalg::GenericOp op) {
  return op.getNumReductionLoops() > 0 && hasPlainMaps(op) && op.getNumDpsInputs() > 0 &&
         llvm::all_of(op->getResults(), [&](OpResult result) {
           return op.getIndexingMapMatchingResult(result) ==
                  op.getIndexingMapMatchingResult(op->getResult(0));
         });
}

std::optional<Split> chooseSplit(linalg::GenericOp op) {
  if (!isPlainReduction(op))
    return std::nullopt;
  ReductionGroup group;
  orderDims(op, group);
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  int64_t kept = getCount(ranges, group.parallelDims);
  // Where the number of rows is symbolic, they are expected to be enough.
  if ((ShapedType::isDynamic(kept) && group.reducesContiguousDim) || kept == 0 ||
      llvm::is_contained(ranges, 0))
    return std::nullopt;
  return group.reducesContiguousDim ? chooseRowSplit(op, group) : chooseColumnSplit(op, group);
}

std::optional<int64_t> countRowBlocks(int64_t length, const Target &target) {
  int64_t blocks = 1;
  while (blocks < kMostRowBlocks && blocks * kRowElements < length)
    blocks *= 2;
  if (blocks * kRowElements < length || (blocks > 1 && !target.hasClusters()))
    return std::nullopt;
  return blocks;
}

/// Clusters of `blocks` that run at the same time, with one block on a multiprocessor.
static int64_t countClusters(int64_t blocks, const Target &target) {
  int64_t multiprocessors = target.multiprocessors;
  if (blocks > 2)
    multiprocessors = multiprocessors / kGroupMultiprocessors * kGroupMultiprocessors;
  return multiprocessors / blocks;
}

bool multipliesMatrices(linalg::GenericOp op) {
  std::optional<plan::ProductLoops> loops = plan::matchProduct(op);
  return loops && !loops->m.empty() && !loops->n.empty();
}

std::optional<int64_t> chooseCyclicParts(linalg::GenericOp op, const Target &target) {
  if (!isPlainReduction(op) || multipliesMatrices(op))
    return std::nullopt;
  ReductionGroup group;
  orderDims(op, group);
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  int64_t kept = getCount(ranges, group.parallelDims), rows = getCount(ranges, group.reductionDims);
  if (group.reducesContiguousDim || ShapedType::isDynamic(kept) || kept == 0 || rows == 0)
    return std::nullopt;
  std::optional<int64_t> blocks = countRowBlocks(kept, target);
  if (!blocks)
    return std::nullopt;
  int64_t multiprocessors = countClusters(*blocks, target);
  if (ShapedType::isDynamic(rows))
    return kept < kWideColumns ? 2 * multiprocessors : multiprocessors;
  if (kept * rows < kFewElements)
    return std::nullopt;
  int64_t limit = rows < kManyLoopedRows || *blocks > 1 ? multiprocessors : 2 * multiprocessors;
  limit = std::min<int64_t>(limit, llvm::divideCeil(rows, kFewestRows));
  if (limit <= kFewColumnParts)
    return std::nullopt;
  // As few iterations of several rows as any number of parts takes; of such numbers one where no
  // iteration lacks a row, else the greatest.
  auto countIterations = [&](int64_t parts) { return llvm::divideCeil(rows, parts * kFewestRows); };
  int64_t best = limit;
  for (int64_t parts = limit;
       parts > limit * 3 / 4 && countIterations(parts) == countIterations(limit); --parts)
    if (rows % (parts * kFewestRows) == 0) {
      best = parts;
      break;
    }
  return best;
}

bool isWideColumnReduction(linalg::GenericOp op) {
  if (op.getNumReductionLoops() == 0 || !hasPlainMaps(op) || op.getNumDpsInputs() == 0)
    return false;
  ReductionGroup group;
  orderDims(op, group);
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  int64_t kept = getCount(ranges, group.parallelDims),
          reduced = getCount(ranges, group.reductionDims);
  if (group.reducesContiguousDim || ShapedType::isDynamic(kept))
    return false;
  return kept >= kEnoughColumns ||
         (!ShapedType::isDynamic(reduced) && holdsColumns(op, kept, reduced));
}

bool hasRunOfReducedLoops(linalg::GenericOp op) {
  SmallVector<unsigned> dims;
  op.getReductionDims(dims);
  return !dims.empty() && dims.back() - dims.front() + 1 == dims.size() && hasPlainMaps(op) &&
         !op.hasIndexSemantics();
}

linalg::GenericOp mergeReducedLoops(linalg::GenericOp op) {
  SmallVector<unsigned> dims;
  op.getReductionDims(dims);
  SmallVector<ReassociationIndices> folded(1);
  llvm::append_range(folded.front(), dims);
  if (dims.size() < 2 || !linalg::areDimSequencesPreserved(op.getIndexingMapsArray(), folded))
    return op;
  IRRewriter rewriter(op);
  FailureOr<linalg::CollapseResult> collapsed =
      linalg::collapseOpIterationDims(op, folded, rewriter);
  if (failed(collapsed))
    return op;
  rewriter.replaceOp(op, collapsed->results);
  return cast<linalg::GenericOp>(collapsed->collapsedOp);
}

linalg::GenericOp collapseReducedLoops(linalg::GenericOp op) {
  SmallVector<unsigned> dims;
  op.getReductionDims(dims);
  if (dims.size() < 2 || !hasRunOfReducedLoops(op))
    return op;
  std::optional<Split> split = chooseSplit(op);
  SmallVector<unsigned> kept;
  op.getParallelDims(kept);
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  int64_t reduced = getCount(ranges, dims);
  bool isLong = ShapedType::isDynamic(reduced) ? !feedsSymbolicSpace(op, getCount(ranges, kept))
                                               : reduced >= kShortRow;
  // Parts that are neither all of the loop nor blocks for all of the GPU are not good enough.
  bool isFine = split && !split->hasRest &&
                (split->isColumn || split->parts * getCount(ranges, kept) >= kEnoughRows);
  if (split ? isFine : !isLong)
    return op;
  return mergeReducedLoops(op);
}

} // namespace xc::cuda
