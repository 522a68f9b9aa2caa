//===- SplitPositions.cpp - Share the sums of gradients to filters --------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The gradient to a filter sums up all output positions of all images, and has few results. On
// tensor cores positions are k, whatever the sizes of images: each partial sum takes some steps of
// them in a row, wherever images end. So the product's results get one more dim, whose index is the
// quotient of the position:
//
//   parts[(n * 196 + p * 14 + q) floordiv 896, f, r, s, c] += x[n, p + r, q + s, c] * y'[n, p, q,
//   f]
//
// and a sum in the order of parts follows. How many there are is a matter of the model; the last
// one may be shorter.
//
// Of images of symbolic size there is no such quotient. A fixed number of parts are shares of the
// sum (plan.shares), each as many steps as there are for one, where the last ones may have none:
//
//   parts[(n + p + q) mod 44, f, r, s, c] += x[n, p + r, q + s, c] * y'[n, p, q, f]
//
// Left alone: other types than those of 16 bits, results whose number is not known, and products of
// few rows or columns that wgmma does not take.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Common/Accesses.h"
#include "compiler/Codegen/CUDA/Matmul/Contraction.h"
#include "compiler/Codegen/CUDA/Matmul/Convolution.h"
#include "compiler/Codegen/CUDA/Matmul/MatmulModel.h"
#include "compiler/Codegen/CUDA/Matmul/MatmulTiles.h"
#include "compiler/Codegen/CUDA/Matmul/ProductParts.h"
#include "compiler/Codegen/CUDA/Matmul/SplitProducts.h"
#include "compiler/Dialect/Plan/IR/PartialSums.h"
#include "compiler/Dialect/Plan/IR/Products.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace xc::cuda {

/// What is left of a sum in each part at least.
static constexpr int64_t kFewestTerms = 256;
/// Bytes that lines of operands must be multiples of to be copied.
static constexpr int64_t kAlignedBytes = 16;
/// Rows and columns of a product that are too few for tiles.
static constexpr int64_t kNarrow = 4;
/// Positions that images of symbolic size may have: as many as variants are for, and as are
/// expected of others.
static constexpr int64_t kFewPositions = 8192, kManyPositions = 65536;
/// What parts must be faster than the whole by: the model is not that exact.
static constexpr double kWorthwhile = 0.92;

namespace {

/// One input of the product.
struct Side {
  OpOperand *input;
  SmallVector<unsigned> own, k; // its loops of more than one step, in its order
  bool isImage = false;         // windows move over it
  bool hasOwnLines = false;     // its innermost dim is one of its own, in aligned lines
  bool endsInSum = false;       // its innermost dim is one that is summed up
  bool liesInRows = false;      // its innermost dims are all that is summed up
  bool isKContiguous = false;   // its memory runs along the sum
};

class PositionSplitter {
public:
  PositionSplitter(linalg::LinalgOp op, const Target &target)
      : op(op), target(target), ranges(op.getStaticLoopRanges()) {}

  bool run();

private:
  std::optional<Side> matchSide(OpOperand *input, ArrayRef<unsigned> own);
  bool match();
  int64_t countElements(const Side &image, int64_t positions);
  MatmulProblem describe(int64_t positions);
  AffineExpr getPosition() const;
  double estimate(const MatmulProblem &problem) const;
  double estimateParts(const MatmulProblem &whole, int64_t parts, int64_t size) const;
  std::optional<plan::PartialSums> choose();
  std::optional<plan::PartialSums> chooseShares();
  int64_t count(ArrayRef<unsigned> loops) const {
    int64_t product = 1;
    for (unsigned loop : loops)
      product *= ranges[loop]; // in range: they are of a tensor's elements
    return product;
  }

  linalg::LinalgOp op;
  const Target &target;
  SmallVector<int64_t> ranges;
  SmallVector<unsigned> groups; // the loop of a convolution's groups, if there are several
  Side a, b;                    // b has the result's innermost dim
  bool isOpen = false;          // the sum's length is symbolic
  bool isOnWGMMA = false;       // operands are such that wgmma reads them, and the target has it
};

} // namespace

/// The loop of neighbours in memory: that of the innermost dim, or of packed pixels' lines in it.
static AffineDimExpr findInnermost(AffineMap map) {
  AffineExpr expr = map.getResults().back();
  std::optional<plan::PackedLine> line = plan::matchPackedLine(expr);
  return line ? line->element : dyn_cast<AffineDimExpr>(expr);
}

/// True if the innermost dim of `input` is one of its `own`, in lines that can be copied.
static bool hasOwnLines(OpOperand *input, AffineMap map, ArrayRef<unsigned> own) {
  // Packed pixels lie in lines of symbolic length, where that of the image is.
  int64_t line = cast<RankedTensorType>(input->get().getType()).getShape().back();
  bool isPacked = plan::matchPackedLine(map.getResults().back()).has_value();
  if (ShapedType::isDynamic(line) ? !isPacked : line * 2 % kAlignedBytes != 0)
    return false;
  AffineDimExpr innermost = findInnermost(map);
  return innermost && llvm::is_contained(own, innermost.getPosition());
}

/// True if what is summed up lies in a row of the input that `map` reads, as products on wgmma want
/// it.
static bool liesInRows(AffineMap map, const Side &side) {
  SmallVector<unsigned> innermost;
  for (AffineExpr expr : map.getResults().take_back(side.k.size()))
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      innermost.push_back(dim.getPosition());
  return innermost == side.k;
}

/// An input of 16-bit elements.
std::optional<Side> PositionSplitter::matchSide(OpOperand *input, ArrayRef<unsigned> own) {
  auto type = cast<RankedTensorType>(input->get().getType());
  Type element = type.getElementType();
  AffineMap map = op.getMatchingIndexingMap(input);
  if (!(element.isF16() || element.isBF16()) || type.getRank() == 0)
    return std::nullopt;
  Side side{input, {}, {}};
  side.hasOwnLines = hasOwnLines(input, map, own);
  side.isImage = isWindowed(op, input);
  for (AffineExpr expr : map.getResults())
    for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
      if (ranges[loop] != 1 && expr.isFunctionOfDim(loop) && !llvm::is_contained(groups, loop))
        (llvm::is_contained(own, loop) ? side.own : side.k).push_back(loop);
  AffineDimExpr innermost = findInnermost(map);
  side.endsInSum = innermost && llvm::is_contained(side.k, innermost.getPosition());
  side.liesInRows = liesInRows(map, side);
  side.isKContiguous = runsAlongSum(op, input, side.own, side.k);
  return side;
}

bool PositionSplitter::match() {
  std::optional<plan::ProductLoops> loops = plan::matchProduct(op);
  AffineMap result = op.getIndexingMapsArray().back();
  isOpen = llvm::is_contained(ranges, ShapedType::kDynamic);
  if (!target.hasMMA16816 || !loops || llvm::is_contained(ranges, 0) || op.hasIndexSemantics() ||
      !result.isProjectedPermutation() || result.getNumResults() == 0 || !hasTensorCoreTypes(op) ||
      llvm::count_if(loops->batch, [&](unsigned loop) { return ranges[loop] != 1; }) > 1)
    return false;
  for (ArrayRef<unsigned> results : {loops->batch, loops->m, loops->n})
    if (llvm::any_of(results, [&](unsigned loop) { return ShapedType::isDynamic(ranges[loop]); }))
      return false;
  groups = llvm::filter_to_vector(loops->batch, [&](unsigned loop) { return ranges[loop] != 1; });
  std::optional<Side> first = matchSide(op.getDpsInputOperand(0), loops->m),
                      second = matchSide(op.getDpsInputOperand(1), loops->n);
  if (!first || !second || first->own.empty() || second->own.empty())
    return false;
  // Columns of pixels are of whole steps of a group's channels (Convolution.cpp); products of
  // groups that no windows move over are batches, which clusters split.
  const Side &image = first->isImage ? *first : *second;
  bool isColumn = image.isImage && ranges[image.own.back()] % kPanelChannels == 0;
  isOnWGMMA = target.hasWGMMA && first->hasOwnLines && second->hasOwnLines &&
              first->k == second->k && !(first->isImage && second->isImage) &&
              (groups.empty() || isColumn);
  // mma.sync takes any operands; products of few rows or columns are no tiles.
  bool isNarrow = std::min(count(first->own), count(second->own)) <= kNarrow;
  if (!isOnWGMMA && isNarrow)
    return false;
  // Others that wgmma takes have clusters that share their sums. It goes through a convolution's
  // tap after tap, wherever the filter has them.
  bool hasImage = first->isImage || second->isImage;
  auto isReadInRows = [&](const Side &side) {
    return side.hasOwnLines || side.liesInRows || (hasImage && side.endsInSum);
  };
  if (!isOnWGMMA && !isOpen && target.hasWGMMA && isReadInRows(*first) && isReadInRows(*second))
    return false;
  unsigned innermost = 0;
  for (AffineExpr expr : result.getResults())
    if (unsigned loop = cast<AffineDimExpr>(expr).getPosition(); ranges[loop] != 1)
      innermost = loop;
  // Sums along one loop are split as batches of products, which tuning knows.
  if (first->k.size() < 2 && !first->isImage && !second->isImage)
    return false;
  bool isSwapped = llvm::is_contained(first->own, innermost);
  a = isSwapped ? *second : *first;
  b = isSwapped ? *first : *second;
  return true;
}

/// The elements of the image; of one of symbolic size those that `positions` are read of.
int64_t PositionSplitter::countElements(const Side &image, int64_t positions) {
  if (!isOpen)
    return cast<RankedTensorType>(image.input->get().getType()).getNumElements();
  int64_t channels = ranges[image.own.back()], taps = count(image.own) / channels, strides = 1;
  for (AffineExpr expr : op.getMatchingIndexingMap(image.input).getResults())
    if (std::optional<LoopSum> sum = matchLoopSum(expr))
      for (auto [loop, step] : sum->loops)
        if (llvm::is_contained(image.k, loop) && !plan::matchPackedLine(expr))
          strides *= step;
  // Strides that are longer than windows pass over elements.
  return count(groups) * positions * std::min(strides, taps) * channels;
}

/// The product as it stands, of so many positions.
MatmulProblem PositionSplitter::describe(int64_t positions) {
  MatmulProblem problem{};
  problem.batch = count(groups);
  problem.m = count(a.own);
  problem.n = count(b.own);
  problem.k = positions;
  problem.elementBytes = 2;
  problem.outputBytes = 4;
  problem.isStaged = true;
  problem.sharedElements = problem.batch * problem.k * (problem.m + problem.n);
  if ((!a.isImage && !b.isImage) || !isOnWGMMA)
    return problem;
  const Side &image = a.isImage ? a : b;
  problem.across = a.isImage ? MatmulProblem::Across::A : MatmulProblem::Across::B;
  problem.channels = ranges[image.own.back()];
  problem.hasWholePanels = problem.channels % kPanelChannels == 0;
  problem.sharedElements = countElements(image, positions) +
                           problem.batch * problem.k * (a.isImage ? problem.n : problem.m);
  if (!problem.hasWholePanels) {
    int64_t &own = a.isImage ? problem.m : problem.n;
    problem.batch *= own / problem.channels;
    own = problem.channels;
  }
  return problem;
}

/// The number of a position, over the op's loops, in the order in which kernels go through them.
AffineExpr PositionSplitter::getPosition() const {
  AffineExpr position = getAffineConstantExpr(0, b.input->getOwner()->getContext());
  ArrayRef<unsigned> loops = getOrderOfSum(a, b).k;
  for (auto [number, loop] : llvm::enumerate(loops))
    position = position +
               getAffineDimExpr(loop, position.getContext()) * count(loops.drop_front(number + 1));
  return position;
}

/// The microseconds of the product, by the tensor cores' instructions that the target has.
double PositionSplitter::estimate(const MatmulProblem &problem) const {
  if (isOnWGMMA)
    return estimateBestWGMMAPlan(target, problem);
  ProductSize size{problem.batch, problem.m, problem.n};
  size.k = problem.k;
  size.isRagged = true;
  size.isCopied = a.hasOwnLines && b.hasOwnLines;
  return estimateBestMMATiles(target, size);
}

/// The microseconds of `parts` parts of `size` positions each, and of their sum.
double PositionSplitter::estimateParts(const MatmulProblem &whole, int64_t parts,
                                       int64_t size) const {
  MatmulProblem part = whole;
  part.k = size;
  part.batch *= parts;
  int64_t results = whole.batch * whole.m * whole.n;
  double sumBytes = static_cast<double>(results * whole.outputBytes * parts);
  return estimate(part) + estimateSumOfParts(target, sumBytes);
}

std::optional<plan::PartialSums> PositionSplitter::choose() {
  MatmulProblem whole = describe(count(a.k));
  if (whole.k < 2 * kFewestTerms)
    return std::nullopt;
  double limit = kWorthwhile * estimate(whole);
  std::optional<plan::PartialSums> best;
  for (int64_t parts = 2; parts <= whole.k / kFewestTerms; ++parts) {
    int64_t size = llvm::alignTo(llvm::divideCeil(whole.k, parts), kPartStep);
    if (whole.batch * parts > 2 * target.multiprocessors)
      break;
    // Steps that do not go round leave the last parts empty, and a quotient that folds does not say
    // which part a position is of.
    auto quotient = dyn_cast<AffineBinaryOpExpr>(getPosition().floorDiv(size));
    if (llvm::divideCeil(whole.k, size) != static_cast<uint64_t>(parts) || !quotient ||
        quotient.getKind() != AffineExprKind::FloorDiv)
      continue;
    double time = estimateParts(whole, parts, size);
    if (time < limit) {
      limit = time;
      best = plan::PartialSums{parts, size, getPosition().floorDiv(size)};
    }
  }
  return best;
}

/// A number of parts for few positions and for many: that by which the product of both times is
/// least.
std::optional<plan::PartialSums> PositionSplitter::chooseShares() {
  MatmulProblem few = describe(kFewPositions), many = describe(kManyPositions);
  double limit = kWorthwhile * kWorthwhile * estimate(few) * estimate(many);
  std::optional<plan::PartialSums> best;
  for (int64_t parts = 2; many.batch * parts <= 2 * target.multiprocessors; ++parts) {
    auto estimateShares = [&](const MatmulProblem &whole) {
      return estimateParts(whole, parts,
                           llvm::alignTo(llvm::divideCeil(whole.k, parts), kShareStep));
    };
    double time = estimateShares(few) * estimateShares(many);
    if (time < limit) {
      limit = time;
      best = plan::PartialSums{parts, ShapedType::kDynamic, plan::getIndexOfShares(op, parts)};
    }
  }
  return best;
}

bool PositionSplitter::run() {
  if (!match())
    return false;
  std::optional<plan::PartialSums> sums = isOpen ? chooseShares() : choose();
  if (!sums)
    return !isOpen && isOnWGMMA; // whole, or shared by the blocks of a cluster
  replaceByPartialSums(op, *sums);
  return true;
}

bool splitPositions(linalg::LinalgOp op, const Target &target) {
  return PositionSplitter(op, target).run();
}

} // namespace xc::cuda
