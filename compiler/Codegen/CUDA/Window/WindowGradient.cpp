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
// A thread has the sums of one row of the window, so that its registers hold those of several
// channels, and of as many elements of the image as the row is long. One block runs on each
// multiprocessor. Its strips, vectors and workers are those of the least time. The constants of the
// time were fitted to an H200 (36 shapes of four gradients of bf16, within 10 %).
//
// Where the number of rows is symbolic a fixed number of parts share them (plan.shares); the last
// ones may have none.
//
// Left alone: channels that are not innermost or not known, and windows of more elements than
// registers hold sums.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Window/WindowGradient.h"

#include "compiler/Codegen/CUDA/Common/Targets.h"
#include "compiler/Codegen/CUDA/Matmul/SplitProducts.h"
#include "compiler/Dialect/Plan/IR/Products.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;

namespace xc::cuda {

/// What is worth a kernel of its own, in multiply-adds.
static constexpr int64_t kFewestProducts = 1 << 14;
/// Registers of a thread for sums and elements, where it has several channels, and at all.
static constexpr int64_t kRoomyRegisters = 64, kMostRegisters = 100;
/// Neighbouring chunks of channels of a block, at most; and the longest strip.
static constexpr int64_t kMostChunks = 32, kLongestStrip = 56;
/// Instructions of a strip beside its elements, those to load and convert one, and what of the four
/// that a multiprocessor could issue in a cycle it does.
static constexpr double kStripInstructions = 110, kElementInstructions = 1.3, kIssued = 2.6;
/// Cycles that a thread waits for a strip, and for each of its elements and gradients.
static constexpr double kStripWait = 1250, kElementWait = 25;

/// Positions of images of symbolic size, and those of a row; strips that are considered there: what
/// they leave over of a row is computed one by one.
static constexpr int64_t kExpectedPositions = 65536, kExpectedRow = 56;
static constexpr int64_t kOpenStrips[] = {2, 4, 7, 8, 14};

static int64_t multiply(linalg::LinalgOp op, ArrayRef<unsigned> loops) {
  int64_t product = 1;
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  for (unsigned loop : loops)
    product *= ranges[loop]; // in range: they are of a tensor's elements
  return product;
}

int64_t WindowGradient::countTaps() const { return multiply(op, taps); }
int64_t WindowGradient::countWindowRows() const { return multiply(op, windowRows); }

bool WindowGradient::isOpen() const {
  linalg::LinalgOp sum = op; // its methods are not const
  return llvm::is_contained(sum.getStaticLoopRanges(), ShapedType::kDynamic);
}

int64_t WindowGradient::countPositions() const {
  return isOpen() ? kExpectedRow : multiply(op, image.along);
}

int64_t WindowGradient::countRows() const {
  return isOpen() ? kExpectedPositions / kExpectedRow : multiply(op, rows);
}

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
  if (!loops || llvm::is_contained(ranges, 0) || op.hasIndexSemantics())
    return refuse("it is no product");
  for (ArrayRef<unsigned> results : {loops->batch, loops->m, loops->n})
    if (llvm::any_of(results, [&](unsigned loop) { return ShapedType::isDynamic(ranges[loop]); }))
      return refuse("the number of its results is symbolic");
  SmallVector<unsigned> batch = llvm::filter_to_vector(loops->batch, isLong);
  bool hasTaps = llvm::any_of(loops->m, isLong) != llvm::any_of(loops->n, isLong);
  if (batch.size() != 1 || !hasTaps)
    return refuse("its channels are not products of vectors");
  std::optional<WindowImage> image = matchWindowImage(
      op, batch.front(), [&](unsigned loop) { return llvm::is_contained(loops->k, loop); }, reason);
  if (!image)
    return std::nullopt;
  WindowGradient gradient{op, *image, batch.front(), {}, {}, {}};
  // An image of symbolic size may have no elements, and its padding then adds nothing.
  if (auto pad = image->operand->get().getDefiningOp<tensor::PadOp>(); pad && gradient.isOpen()) {
    Value padding = pad.getConstantPaddingValue();
    if (!padding || !matchPattern(padding, m_AnyZeroFloat()))
      return refuse("its image is padded by other numbers than zero");
  }
  AffineMap result = op.getIndexingMapMatchingResult(op->getResult(0));
  for (AffineExpr expr : result.getResults().drop_front(sums ? 1 : 0))
    if (unsigned loop = cast<AffineDimExpr>(expr).getPosition(); loop != gradient.channel)
      gradient.taps.push_back(loop);
  for (unsigned loop : gradient.taps)
    if (loop != image->tap)
      gradient.windowRows.push_back(loop);
  for (OpOperand *input : op.getDpsInputOperands())
    if (op.getMatchingIndexingMap(input).getResults().back() !=
        getAffineDimExpr(gradient.channel, op.getContext()))
      return refuse("channels are not innermost");
  for (unsigned loop : loops->k)
    if (loop != image->along)
      gradient.rows.push_back(loop);
  if (sums && ((!sums->areShares() && sums->index != gradient.getRow().floorDiv(sums->size)) ||
               result.getResults().back() != getAffineDimExpr(gradient.channel, op.getContext())))
    return refuse("its parts are not of rows");
  return gradient;
}

/// How many rows a part has, so that every multiprocessor has a block where `across` blocks share
/// the channels. All, where no quotient says which part a row is of: one that folds does not.
static int64_t choosePartRows(const WindowGradient &gradient, int64_t across,
                              const Target &target) {
  int64_t rows = gradient.countRows();
  int64_t wanted = std::max<int64_t>(1, target.multiprocessors / across);
  if (gradient.isOpen())
    return llvm::divideCeil(rows, wanted);
  AffineExpr row = gradient.getRow();
  for (int64_t size = llvm::divideCeil(rows, wanted); size < rows; ++size) {
    auto binary = dyn_cast<AffineBinaryOpExpr>(row.floorDiv(size));
    if (binary && binary.getKind() == AffineExprKind::FloorDiv && binary.getLHS() == row)
      return size;
  }
  return rows;
}

double estimateGradient(const WindowGradient &gradient, const GradientShape &shape,
                        const Target &target) {
  linalg::LinalgOp op = gradient.op;
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  auto taps = static_cast<double>(ranges[gradient.image.tap]);
  double elements = double(shape.strip - 1) * gradient.image.stride + taps + double(shape.strip);
  double instructions = double(shape.strip) * taps * shape.vector +
                        elements * shape.vector * kElementInstructions + kStripInstructions;
  auto ofRow = static_cast<int64_t>(llvm::divideCeil(gradient.countPositions(), shape.strip));
  int64_t strips = shape.rows * ofRow; // in range: they are of a tensor's elements
  auto iterations = static_cast<double>(llvm::divideCeil(strips, shape.workers));
  int64_t threads = shape.chunks * gradient.countWindowRows() * shape.workers;
  auto warps = static_cast<double>(llvm::divideCeil(threads, 32));
  double issue = instructions * warps / kIssued;
  double wait = kStripWait + elements * kElementWait;
  // The mean of fourth powers: whichever is longer, and more where both are long.
  double cycles = iterations * std::pow(std::pow(issue, 4) + std::pow(wait, 4), 0.25);
  int64_t blocks = ranges[gradient.channel] / (shape.vector * shape.chunks) *
                   static_cast<int64_t>(llvm::divideCeil(gradient.countRows(), shape.rows));
  auto rounds = static_cast<double>(llvm::divideCeil(blocks, target.multiprocessors));
  return rounds * cycles / (target.rates.clock * 1000);
}

/// Strips end where rows do, if that is known.
static SmallVector<int64_t> listStrips(const WindowGradient &gradient) {
  if (gradient.isOpen())
    return llvm::to_vector(kOpenStrips);
  int64_t positions = gradient.countPositions();
  SmallVector<int64_t> strips;
  for (int64_t strip = 1; strip <= std::min(kLongestStrip, positions); ++strip)
    if (positions % strip == 0)
      strips.push_back(strip);
  return strips;
}

/// The parts that a sum gets, each of `rows` rows where that many are known.
static plan::PartialSums describePartialSums(const WindowGradient &gradient, int64_t rows) {
  auto count = static_cast<int64_t>(llvm::divideCeil(gradient.countRows(), rows));
  if (gradient.isOpen())
    return {count, ShapedType::kDynamic, plan::getIndexOfShares(gradient.op, count)};
  return {count, rows, gradient.getRow().floorDiv(rows)};
}

/// Calls `visit` for each shape that may be.
static void visitShapes(const WindowGradient &gradient, const Target &target,
                        llvm::function_ref<void(const GradientShape &)> visit) {
  linalg::LinalgOp op = gradient.op;
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  int64_t channels = ranges[gradient.channel], taps = ranges[gradient.image.tap];
  int64_t bits = getElementTypeOrSelf(gradient.image.operand->get()).getIntOrFloatBitWidth();
  int64_t most = kMostGradientThreads / gradient.countWindowRows();
  if (most == 0)
    return;
  for (int64_t vector = 128 / bits; vector >= 1; vector /= 2) {
    if (channels % vector != 0 ||
        2 * taps * vector > (vector == 1 ? kMostRegisters : kRoomyRegisters))
      continue;
    int64_t all = channels / vector, chunks = std::min({all, kMostChunks, most});
    while (chunks > 1 && all % chunks != 0)
      --chunks;
    int64_t rows = choosePartRows(gradient, all / chunks, target);
    for (int64_t strip : listStrips(gradient))
      for (int64_t workers = 1; workers * chunks <= most; ++workers)
        visit({vector, chunks, workers, strip, rows});
  }
}

std::optional<GradientShape> chooseGradientShape(const WindowGradient &gradient,
                                                 const Target &target) {
  std::optional<GradientShape> best;
  double least = 0;
  visitShapes(gradient, target, [&](const GradientShape &shape) {
    double time = estimateGradient(gradient, shape, target);
    if (!best || time < least) {
      best = shape;
      least = time;
    }
  });
  return best;
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
  std::optional<GradientShape> shape =
      gradient ? chooseGradientShape(*gradient, target) : std::nullopt;
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  Value init = op.getDpsInits().front();
  auto fill = init.getDefiningOp<linalg::FillOp>();
  if (!shape || !fill || !matchPattern(fill.getInputs().front(), m_AnyZeroFloat()) ||
      gradient->countPositions() * ranges[gradient->channel] <
          kFewestProducts / gradient->countRows())
    return false;
  if (shape->rows == gradient->countRows())
    return false;
  plan::PartialSums sums = describePartialSums(*gradient, shape->rows);
  IRRewriter rewriter(op);
  Location loc = op.getLoc();
  // Channels last, so that neighbours are stored together.
  SmallVector<unsigned> own(gradient->taps), to;
  own.push_back(gradient->channel);
  for (AffineExpr expr : op.getIndexingMapsArray().back().getResults())
    to.push_back(cast<AffineDimExpr>(expr).getPosition());
  SmallVector<AffineExpr> exprs;
  SmallVector<int64_t> shapeOfParts;
  for (unsigned loop : own) {
    exprs.push_back(rewriter.getAffineDimExpr(loop));
    shapeOfParts.push_back(ranges[loop]);
  }
  auto type = RankedTensorType::get(shapeOfParts, rewriter.getF32Type());
  auto result = AffineMap::get(op.getNumLoops(), 0, exprs, rewriter.getContext());
  Value parts = makePartialSums(rewriter, op, sums, result, type);
  Value none = tensor::EmptyOp::create(rewriter, loc, type.getShape(), type.getElementType());
  Value zeros = linalg::FillOp::create(rewriter, loc, fill.getInputs().front(), none).getResult(0);
  Value sum = addParts(rewriter, loc, parts, zeros);
  if (own != to)
    sum = reorder(rewriter, sum, own, cast<RankedTensorType>(init.getType()), to);
  rewriter.replaceOp(op, sum);
  return true;
}

} // namespace xc::cuda
