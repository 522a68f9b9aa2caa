//===- WindowGradient.cpp - Gradients to filters of single channels -------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A depthwise convolution's gradient to its filter has few results, each a long sum. Blocks take
// some rows of positions each, and what they come to is added up by another kernel:
//
//   parts[(n * 56 + p) floordiv 7, r, s, c] += x[n, p + r, q + s, c] * y'[n, p, q, c]
//
// Left alone: sizes that are not known, channels that are not innermost, and windows of more
// elements than registers hold sums.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Window/WindowGradient.h"

#include "compiler/Codegen/CUDA/Common/Targets.h"
#include "compiler/Codegen/CUDA/Matmul/SplitProducts.h"
#include "compiler/Dialect/Plan/IR/Products.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace xc::cuda {

/// What is worth a kernel of its own, in multiply-adds; blocks of a multiprocessor; threads of one.
static constexpr int64_t kFewestProducts = 1 << 14, kBlocks = 2, kThreads = 256;
/// Registers for a thread's sums that leave room for two blocks of a multiprocessor.
static constexpr int64_t kRoomySums = 64;
/// Neighbouring chunks of channels of a block, at most; and the longest strip.
static constexpr int64_t kMostChunks = 32, kLongestStrip = 8;

static int64_t multiply(linalg::LinalgOp op, ArrayRef<unsigned> loops) {
  int64_t product = 1;
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  for (unsigned loop : loops)
    product *= ranges[loop]; // in range: they are of a tensor's elements
  return product;
}

int64_t WindowGradient::countTaps() const { return multiply(op, taps); }
int64_t WindowGradient::countRows() const { return multiply(op, rows); }

AffineExpr WindowGradient::getRow() const {
  AffineExpr row = getAffineConstantExpr(0, image.operand->getOwner()->getContext());
  for (auto [number, loop] : llvm::enumerate(rows))
    row = row + getAffineDimExpr(loop, row.getContext()) *
                    multiply(op, ArrayRef(rows).drop_front(number + 1));
  return row;
}

std::optional<WindowGradient> matchWindowGradient(linalg::LinalgOp op, std::string &reason) {
  auto refuse = [&](StringRef why) {
    reason = why.str();
    return std::nullopt;
  };
  std::optional<plan::ProductLoops> loops = plan::matchProduct(op);
  std::optional<plan::PartialSums> sums = plan::getPartialSums(op);
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  auto isLong = [&](unsigned loop) { return ranges[loop] != 1; };
  if (!loops || llvm::is_contained(ranges, ShapedType::kDynamic) || llvm::is_contained(ranges, 0) ||
      op.hasIndexSemantics())
    return refuse("it is no product of known sizes");
  SmallVector<unsigned> batch = llvm::filter_to_vector(loops->batch, isLong);
  bool hasTaps = llvm::any_of(loops->m, isLong) != llvm::any_of(loops->n, isLong);
  if (batch.size() != 1 || !hasTaps)
    return refuse("its channels are not products of vectors");
  std::optional<WindowImage> image = matchWindowImage(
      op, batch.front(), [&](unsigned loop) { return llvm::is_contained(loops->k, loop); }, reason);
  if (!image)
    return std::nullopt;
  WindowGradient gradient{op, *image, batch.front(), {}, {}};
  AffineMap result = op.getIndexingMapMatchingResult(op->getResult(0));
  for (AffineExpr expr : result.getResults().drop_front(sums ? 1 : 0))
    if (unsigned loop = cast<AffineDimExpr>(expr).getPosition(); loop != gradient.channel)
      gradient.taps.push_back(loop);
  for (OpOperand *input : op.getDpsInputOperands())
    if (op.getMatchingIndexingMap(input).getResults().back() !=
        getAffineDimExpr(gradient.channel, op.getContext()))
      return refuse("channels are not innermost");
  for (unsigned loop : loops->k)
    if (loop != image->along)
      gradient.rows.push_back(loop);
  if (sums && (sums->quotient != gradient.getRow().floorDiv(sums->size) ||
               result.getResults().back() != getAffineDimExpr(gradient.channel, op.getContext())))
    return refuse("its parts are not of rows");
  return gradient;
}

std::optional<GradientShape> chooseGradientShape(const WindowGradient &gradient) {
  linalg::LinalgOp op = gradient.op;
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  int64_t channels = ranges[gradient.channel], taps = gradient.countTaps();
  int64_t bits = getElementTypeOrSelf(gradient.image.operand->get()).getIntOrFloatBitWidth();
  GradientShape shape{128 / bits, 0, 0, kLongestStrip};
  // Few registers leave room for more threads; narrower accesses than words are slow.
  auto fits = [&](int64_t most) { return taps * shape.vector <= most; };
  while (shape.vector > 1 &&
         (channels % shape.vector != 0 || !fits(shape.vector > 2 ? kRoomySums : kGradientSums)))
    shape.vector /= 2;
  if (!fits(kGradientSums))
    return std::nullopt;
  int64_t all = channels / shape.vector;
  shape.chunks = std::min(all, kMostChunks);
  while (all % shape.chunks != 0)
    --shape.chunks;
  shape.workers = std::max<int64_t>(1, kThreads / shape.chunks);
  // Strips end where rows do.
  while (ranges[gradient.image.along] % shape.strip != 0)
    --shape.strip;
  return shape;
}

/// How many parts the rows are shared by, so that every multiprocessor has its blocks. Nothing
/// where no quotient says which part a row is of: one that folds does not.
static std::optional<plan::PartialSums>
chooseParts(const WindowGradient &gradient, const GradientShape &shape, const Target &target) {
  linalg::LinalgOp op = gradient.op;
  int64_t across = op.getStaticLoopRanges()[gradient.channel] / (shape.vector * shape.chunks);
  int64_t wanted = std::max<int64_t>(1, kBlocks * target.multiprocessors / across);
  int64_t rows = gradient.countRows();
  AffineExpr row = gradient.getRow();
  for (int64_t size = llvm::divideCeil(rows, wanted); size < rows; ++size) {
    AffineExpr quotient = row.floorDiv(size);
    auto binary = dyn_cast<AffineBinaryOpExpr>(quotient);
    if (binary && quotient.getKind() == AffineExprKind::FloorDiv && binary.getLHS() == row)
      return plan::PartialSums{static_cast<int64_t>(llvm::divideCeil(rows, size)), size, quotient};
  }
  return std::nullopt;
}

/// `value`, whose dims are the loops `from` of `op`, with those of `to`.
static Value reorder(RewriterBase &rewriter, Value value, ArrayRef<unsigned> from,
                     RankedTensorType type, ArrayRef<unsigned> to) {
  AffineMap identity = rewriter.getMultiDimIdentityMap(to.size());
  SmallVector<AffineExpr> exprs = llvm::map_to_vector(from, [&](unsigned loop) {
    return rewriter.getAffineDimExpr(llvm::find(to, loop) - to.begin());
  });
  Value empty =
      tensor::EmptyOp::create(rewriter, value.getLoc(), type.getShape(), type.getElementType());
  SmallVector<utils::IteratorType> iterators(to.size(), utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             rewriter, value.getLoc(), type, value, empty,
             ArrayRef{AffineMap::get(to.size(), 0, exprs, rewriter.getContext()), identity},
             iterators,
             [](OpBuilder &b, Location loc, ValueRange arguments) {
               linalg::YieldOp::create(b, loc, arguments.front());
             })
      .getResult(0);
}

bool splitWindowGradient(linalg::LinalgOp op, const Target &target) {
  std::string reason;
  if (plan::getPartialSums(op) || !getElementTypeOrSelf(op->getResult(0)).isF32())
    return false;
  std::optional<WindowGradient> gradient = matchWindowGradient(op, reason);
  std::optional<GradientShape> shape = gradient ? chooseGradientShape(*gradient) : std::nullopt;
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  Value init = op.getDpsInits().front();
  auto fill = init.getDefiningOp<linalg::FillOp>();
  if (!shape || !fill || !matchPattern(fill.getInputs().front(), m_AnyZeroFloat()) ||
      multiply(op, {gradient->image.along, gradient->channel}) <
          kFewestProducts / gradient->countRows())
    return false;
  std::optional<plan::PartialSums> sums = chooseParts(*gradient, *shape, target);
  if (!sums)
    return false;
  IRRewriter rewriter(op);
  Location loc = op.getLoc();
  // Channels last, so that neighbours are stored together.
  SmallVector<unsigned> own(gradient->taps), to;
  own.push_back(gradient->channel);
  for (AffineExpr expr : op.getIndexingMapsArray().back().getResults())
    to.push_back(cast<AffineDimExpr>(expr).getPosition());
  SmallVector<AffineExpr> exprs{sums->quotient};
  SmallVector<int64_t> shapeOfParts;
  for (unsigned loop : own) {
    exprs.push_back(rewriter.getAffineDimExpr(loop));
    shapeOfParts.push_back(ranges[loop]);
  }
  auto type = RankedTensorType::get(shapeOfParts, rewriter.getF32Type());
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  maps.back() = AffineMap::get(op.getNumLoops(), 0, exprs, rewriter.getContext());
  Value start = makeZeroParts(rewriter, loc, type, sums->count);
  auto parts = linalg::GenericOp::create(rewriter, loc, start.getType(), op.getDpsInputs(), start,
                                         maps, op.getIteratorTypesArray());
  rewriter.cloneRegionBefore(op->getRegion(0), parts.getRegion(), parts.getRegion().begin());
  Value none = tensor::EmptyOp::create(rewriter, loc, type.getShape(), type.getElementType());
  Value zeros = linalg::FillOp::create(rewriter, loc, fill.getInputs().front(), none).getResult(0);
  Value sum = addParts(rewriter, loc, parts.getResult(0), zeros);
  if (own != to)
    sum = reorder(rewriter, sum, own, cast<RankedTensorType>(init.getType()), to);
  rewriter.replaceOp(op, sum);
  return true;
}

} // namespace xc::cuda
