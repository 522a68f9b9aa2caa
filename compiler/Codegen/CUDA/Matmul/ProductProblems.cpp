//===- ProductProblems.cpp - What models of matrix products are told ------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each strategy of products has a model, which sees a product as a few numbers: its sizes, how its
// operands lie in memory, and what becomes of its outputs. Symbolic sizes are guessed here, within
// what ranges and guards allow.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Matmul/ProductChooser.h"
#include "compiler/Codegen/CUDA/Matmul/SideInputs.h"
#include "compiler/Codegen/CUDA/Matmul/TiledAccess.h"

#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace xc::cuda {

/// Rows or columns of symbolic number, and the length of sums of symbolic length; of sizes that are
/// known to be larger, by how much they are.
static constexpr int64_t kExpectedSize = 4096, kExpectedSum = 1024, kExpectedBeyond = 4;
/// Positions of convolutions, where sizes of images or their number are symbolic.
static constexpr int64_t kExpectedPositions = 65536;

Type getOutputType(const Contraction &contraction) {
  ArrayRef<ReductionGroup::Result> results = contraction.group.results;
  return results.empty() ? contraction.accumulatorType
                         : getElementTypeOrSelf(results.front().output.tensor);
}

/// Places that are stored for each output, of the result that is written whole.
static int64_t countOutputPlaces(const Contraction &contraction) {
  int64_t places = 1;
  for (const ReductionGroup::Result &result : contraction.group.results)
    if (result.output.spread)
      places = std::max(places, result.output.spread->countUsualPlaces());
  return places;
}

int64_t ProductChooser::getExpectedSize(ArrayRef<unsigned> dims, int64_t guess) {
  linalg::LinalgOp op = contraction.getOp();
  if (std::optional<int64_t> size = contraction.getProduct(dims))
    return *size;
  SmallVector<plan::FormulaAttr> loops = getProductSizes(contraction, sizes);
  AffineExpr formula = getAffineConstantExpr(1, op.getContext());
  std::optional<int64_t> most = 1;
  for (unsigned dim : dims) {
    AffineExpr size = sizes.toAffine(loops[dim]);
    formula = formula && size ? formula * size : AffineExpr();
    std::optional<int64_t> bound = sizes.getUpperBound(loops[dim]);
    most = most && bound ? llvm::checkedMul(*most, std::max<int64_t>(*bound, 1)) : std::nullopt;
  }
  int64_t expected = std::min(guess, most.value_or(guess));
  if (!formula)
    return expected;
  auto [fewest, largest] = getGuardedRange(kernel.getFunction(), formula);
  // Of sizes from a number on, several times that.
  return fewest > guess ? kExpectedBeyond * fewest : std::min(expected, largest);
}

/// A guess for the product of the sizes of `dims`, which is symbolic: `guess`, or the number of
/// positions, which several loops of a convolution count.
static int64_t guessSize(const Contraction &contraction, ArrayRef<unsigned> dims, int64_t guess) {
  return contraction.countsPositions(dims) ? kExpectedPositions : guess;
}

int64_t ProductChooser::getExpectedRows() {
  return getExpectedSize(contraction.m, guessSize(contraction, contraction.m, kExpectedSize));
}

int64_t ProductChooser::getExpectedColumns() {
  return getExpectedSize(contraction.n, guessSize(contraction, contraction.n, kExpectedSize));
}

int64_t ProductChooser::getExpectedSum() {
  if (contraction.partial && !contraction.partial->areShares())
    return contraction.partial->size;
  int64_t whole =
      getExpectedSize(contraction.k, guessSize(contraction, contraction.k, kExpectedSum));
  if (!contraction.partial)
    return whole;
  return llvm::alignTo(llvm::divideCeil(whole, contraction.partial->count), kShareStep);
}

/// See MatmulTile::canTranspose; of static sizes, where there is no kernel yet.
bool ProductChooser::canTranspose(const Contraction::Side &side, ArrayRef<unsigned> own) {
  constexpr int64_t kWordBytes = 4;
  linalg::LinalgOp op = contraction.getOp();
  plan::BindingOp binding = side.getCopySource();
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  int64_t width = kWordBytes / getElementBytes(getElementTypeOrSelf(side.operand->get()));
  return llvm::none_of(ranges, ShapedType::isDynamic) && binding && !side.getZeroPadding() &&
         side.isVectorizable && binding.getAlignment() >= kWordBytes &&
         op.getMatchingIndexingMap(side.operand).isProjectedPermutation() &&
         llvm::count_if(contraction.k, [&](unsigned dim) { return ranges[dim] != 1; }) == 1 &&
         getInnermostDivisor(sizes, contraction.group, own) >= width;
}

int64_t ProductChooser::countLoadsPerWord(const Contraction::Side &side, ArrayRef<unsigned> own) {
  constexpr int64_t kWordBytes = 4, kMostDistance = 1 << 20;
  linalg::LinalgOp op = contraction.getOp();
  plan::BindingOp binding = side.getCopySource();
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  int64_t bytes = getElementBytes(getElementTypeOrSelf(side.operand->get()));
  auto isOneLoop = [&](ArrayRef<unsigned> dims) {
    return llvm::count_if(dims, [&](unsigned dim) { return ranges[dim] != 1; }) == 1;
  };
  if (bytes == 1 || llvm::any_of(ranges, ShapedType::isDynamic) || !binding ||
      side.getZeroPadding() || !side.isVectorizable || !isOneLoop(contraction.k) ||
      !isOneLoop(own) || static_cast<int64_t>(binding.getAlignment()) < bytes ||
      !op.getMatchingIndexingMap(side.operand).isProjectedPermutation())
    return 0;
  // How far apart the lines are.
  int64_t distance = 1;
  AffineMap map = op.getMatchingIndexingMap(side.operand);
  ArrayRef<unsigned> between = side.isKContiguous ? own : ArrayRef<unsigned>(contraction.k);
  for (AffineExpr expr : llvm::reverse(map.getResults())) {
    unsigned dim = cast<AffineDimExpr>(expr).getPosition();
    if (llvm::is_contained(between, dim) && ranges[dim] != 1)
      break;
    if (llvm::MulOverflow(distance, ranges[dim], distance))
      return 0;
  }
  if (distance > kMostDistance)
    return 0;
  ArrayRef<unsigned> inner = side.isKContiguous ? ArrayRef<unsigned>(contraction.k) : own;
  int64_t width = kWordBytes / bytes;
  bool hasWords = getInnermostDivisor(sizes, contraction.group, inner) % width == 0 &&
                  static_cast<int64_t>(binding.getAlignment()) >= kWordBytes;
  return hasWords ? 1 : width;
}

std::optional<MatmulProblem> ProductChooser::makeProblem() {
  if (!kernel.target->hasWGMMA ||
      !(contraction.hasHalfOperands() || isTF32 || contraction.hasSignedByteOperands()))
    return std::nullopt;
  if (!options.wgmma)
    return refuse("it is switched off");
  // The sums' rows are those of operand A.
  bool swapped = contraction.beginsWithB();
  const Contraction::Side &first = swapped ? contraction.b : contraction.a,
                          &second = swapped ? contraction.a : contraction.b;
  // Where sizes are symbolic, guards keep them from being zero or too large.
  if (!hasKnownSizes())
    return refuse("sizes may be zero, or too large");
  auto getName = [&](const Contraction::Side &side) -> StringRef {
    return side.operand->getOperandNumber() == 0 ? "operand A" : "operand B";
  };
  std::string reason, pixelReason;
  convolution = matchConvolution(contraction, pixelReason);
  if (convolution)
    return makeConvolutionProblem();
  ArrayRef<unsigned> firstOwn = swapped ? contraction.n : contraction.m,
                     secondOwn = swapped ? contraction.m : contraction.n;
  MatmulProblem problem{};
  std::optional<TiledAccess> a = matchTiledOperand(contraction, first, sizes, reason);
  if (!a)
    problem.loadsA = countLoadsPerWord(first, firstOwn);
  if (!a && !problem.loadsA)
    return refuse("no boxes can be copied of " + getName(first) + ": " + reason +
                  ", nor columns of pixels: " + pixelReason);
  bool transposes = contraction.runsAcrossK();
  if (transposes && !canTranspose(second, secondOwn))
    return refuse("threads cannot transpose " + getName(second));
  std::optional<TiledAccess> b =
      transposes ? std::nullopt : matchTiledOperand(contraction, second, sizes, reason);
  if (!b && !transposes)
    problem.loadsB = countLoadsPerWord(second, secondOwn);
  if (!b && !transposes && !problem.loadsB)
    return refuse("no boxes can be copied of " + getName(second) + ": " + reason);
  problem.batch = getExpectedBatch();
  problem.m = swapped ? getExpectedColumns() : getExpectedRows();
  problem.n = swapped ? getExpectedRows() : getExpectedColumns();
  problem.k = getExpectedSum();
  // An empty tensor has no description; a sum of nothing never starts; and where k is 1, boxes have
  // no dim for the rows of tiles that run along m or n.
  if (problem.batch * problem.m * problem.n * problem.k == 0 || problem.k == 1)
    return refuse("a size is 0, or k is 1");
  problem.elementBytes = getElementBytes(getElementTypeOrSelf(first.operand->get()));
  problem.outputBytes =
      contraction.group.results.empty() ? 0 : getElementBytes(getOutputType(contraction));
  problem.outputPlaces = countOutputPlaces(contraction);
  problem.partColumns = contraction.getPartColumns();
  problem.hasColumnParts = contraction.getPartRows() > 1;
  problem.isSwapped = swapped;
  problem.isGuess = !contraction.getProduct(contraction.batch) ||
                    !contraction.getProduct(contraction.m) ||
                    !contraction.getProduct(contraction.n);
  auto runsAlongK = [](const std::optional<TiledAccess> &access, const Contraction::Side &side) {
    return access ? access->dims.back().group == TiledAccess::Group::K : side.isKContiguous;
  };
  problem.isKContiguousA = runsAlongK(a, first);
  problem.transposesB = transposes;
  problem.isKContiguousB = !transposes && runsAlongK(b, second);
  problem.isFixedB = b && !problem.loadsA && kernel.isFixed(b->binding);
  problem.isStaged =
      isStagedOutput(contraction, sizes) && (problem.elementBytes == 2 || problem.isKContiguousA);
  if (problem.elementBytes != 2 && !problem.isKContiguousB && !transposes)
    return refuse(getName(second) +
                  " does not run along k, as elements of other than 16 bits must");
  problem.hasOddRows = problem.outputBytes == 4 && hasOddRows(contraction, sizes);
  problem.outputOps = outputOps;
  describeSideInputs(problem, contraction, sizes);
  if (contraction.partial)
    problem.sharedElements =
        getExpectedSize(contraction.k, guessSize(contraction, contraction.k, kExpectedSum)) *
        (problem.m + problem.n);
  return problem;
}

/// The same of a convolution, whose filter is copied by boxes, or of its gradient to the filter.
std::optional<MatmulProblem> ProductChooser::makeConvolutionProblem() {
  const Contraction &product = convolution->product;
  bool isAcross = convolution->image.isAcross;
  std::string reason;
  if (!describePixels(convolution->image, product, sizes)) {
    convolution = std::nullopt;
    return refuse("the image's sizes are no formulas, or its pixels not aligned to 16 bytes");
  }
  // Rows of one tap's product are not those of the result.
  if (product.getPartRows() > 1 && product.getProduct(product.batch) != 1) {
    convolution = std::nullopt;
    return refuse("columns are reduced over taps, each of which is a product of its own");
  }
  std::optional<TiledAccess> other =
      matchTiledOperand(product, convolution->getOther(), sizes, reason);
  if (!other) {
    convolution = std::nullopt;
    return refuse(Twine("no boxes can be copied of ") +
                  (isAcross ? "what comes back of the outputs: " : "the filter: ") + reason);
  }
  MatmulProblem problem{};
  problem.batch = product.getProduct(product.batch).value_or(1);
  problem.m = getExpectedSize(product.m, guessSize(product, product.m, kExpectedSize));
  problem.n = getExpectedSize(product.n, guessSize(product, product.n, kExpectedSize));
  if (problem.m * problem.n * getExpectedSum() == 0) {
    convolution = std::nullopt;
    return refuse("a size is 0");
  }
  problem.elementBytes = getElementBytes(getElementTypeOrSelf(product.a.operand->get()));
  problem.outputBytes = product.group.results.empty() ? 0 : getElementBytes(getOutputType(product));
  problem.outputPlaces = countOutputPlaces(product);
  problem.partColumns = product.getPartColumns();
  problem.hasColumnParts = product.getPartRows() > 1;
  problem.isGuess = !product.getProduct(product.m) || !product.getProduct(product.n);
  problem.isStaged = isStagedOutput(product, sizes);
  problem.outputOps = outputOps;
  if (isAcross) {
    describeAcross(problem);
    return problem;
  }
  problem.k = convolution->image.channels;
  problem.taps = *product.getProduct(product.taps);
  problem.pixels = countPixels(problem.m, problem.taps);
  problem.isKContiguousA = true;
  problem.isKContiguousB = other->dims.back().group == TiledAccess::Group::K;
  describeSideInputs(problem, product, sizes);
  return problem;
}

/// Pixels of the image that `positions` output positions are read of under `taps` taps.
int64_t ProductChooser::countPixels(int64_t positions, int64_t taps) const {
  int64_t pixels = positions;
  for (const WindowedImage::Spatial &dim : convolution->image.spatial) {
    bool isSymbolic = ShapedType::isDynamic(dim.upper);
    pixels = isSymbolic ? pixels * dim.stride : llvm::divideCeil(pixels, dim.positions) * dim.size;
  }
  // Strides that are longer than windows pass over the others.
  return std::min(pixels, positions * taps);
}

/// What is of the gradient to a filter alone.
void ProductChooser::describeAcross(MatmulProblem &problem) {
  const WindowedImage &image = convolution->image;
  int64_t positions =
      getExpectedSize(contraction.k, guessSize(contraction, contraction.k, kExpectedSum));
  problem.k = getExpectedSum();
  problem.across = image.isB ? MatmulProblem::Across::B : MatmulProblem::Across::A;
  problem.channels = image.channels;
  problem.hasWholePanels = image.hasWholePanels;
  int64_t taps = *contraction.getProduct(image.taps);
  int64_t groups = image.group ? contraction.getRanges()[*image.group] : 1;
  problem.sharedElements = groups * (countPixels(positions, taps) * image.channels +
                                     positions * (image.isB ? problem.m : problem.n));
}

ProductSize ProductChooser::makeMMASize() {
  std::optional<int64_t> batch = contraction.getProduct(contraction.batch),
                         m = contraction.getProduct(contraction.m),
                         n = contraction.getProduct(contraction.n), k = contraction.getSumLength();
  int64_t elementBytes = getElementBytes(getElementTypeOrSelf(contraction.a.operand->get()));
  auto getWidth = [&](const Contraction::Side &side, ArrayRef<unsigned> own) -> int64_t {
    ArrayRef<unsigned> inner = side.isKContiguous ? ArrayRef(contraction.k) : own;
    return side.isVectorizable ? getInnermostDivisor(sizes, contraction.group, inner) : 1;
  };
  // The bytes that cp.async moves of an operand at a time; 0 if it cannot.
  auto getCopyBytes = [&](const Contraction::Side &side, ArrayRef<unsigned> own) -> int64_t {
    plan::BindingOp binding = side.getCopySource();
    int64_t bytes = std::min(kVectorBytes, getWidth(side, own) * elementBytes);
    bool isCopied = binding && static_cast<int64_t>(binding.getAlignment()) >= bytes &&
                    bytes >= kFewestCopiedBytes && (elementBytes > 1 || side.isKContiguous);
    return isCopied ? bytes : 0;
  };
  ProductSize size{batch.value_or(1), getExpectedRows(), getExpectedColumns()};
  size.isRagged = !m || !n || !k || *m % 256 != 0 || *n % 256 != 0 || *k % 64 != 0;
  int64_t copyBytes = std::min(getCopyBytes(contraction.a, contraction.m),
                               getCopyBytes(contraction.b, contraction.n));
  size.isCopied = copyBytes > 0;
  if (size.isCopied)
    size.copyBytes = copyBytes;
  size.isScattered =
      std::min(getWidth(contraction.a, contraction.m), getWidth(contraction.b, contraction.n)) < 4;
  size.elementBytes = elementBytes;
  size.k = k;
  if (contraction.group.results.empty())
    size.outputBytes = 0;
  else
    size.outputBytes = getElementBytes(getOutputType(contraction)) * countOutputPlaces(contraction);
  bool isSymbolic = !batch || !m || !n || !k;
  size.isWide = isSymbolic && !kernel.getFunction()->hasAttr(plan::kGuardsAttr);
  size.partColumns = contraction.getPartColumns();
  size.partRows = contraction.getPartRows();
  // The size decides that is known; a symbolic one need not be odd.
  size.hasOddRows = n && getInnermostDivisor(sizes, contraction.group, contraction.n) % 2 != 0;
  size.isDemanding = outputOps >= kFunctionOps ||
                     getInnermostDivisor(sizes, contraction.group, contraction.n) == 1;
  return size;
}

DoubleProblem ProductChooser::makeDoubleProblem() {
  DoubleProblem problem;
  setExpectedSizes(problem);
  // Sizes that are not known may need wide indices.
  problem.isRoomy = contraction.hasCopiedFactors() && outputOps < kFunctionOps &&
                    llvm::none_of(contraction.getOp().getStaticLoopRanges(), ShapedType::isDynamic);
  problem.isSwapped = contraction.a.isKContiguous && !contraction.b.isKContiguous;
  return problem;
}

FMAProblem ProductChooser::makeFMAProblem() {
  FMAProblem problem;
  setExpectedSizes(problem);
  problem.elementBytes = getElementBytes(contraction.accumulatorType);
  problem.isCopied = isCopiedAhead(*kernel.target, problem.k) && contraction.hasCopiedFactors();
  problem.canShare = canShareSums();
  // What is fused to a batched product reads tensors by several strides each. Where sizes are
  // symbolic, each of these strides takes a register.
  problem.isRoomy = outputOps == 0 || contraction.batch.empty() ||
                    llvm::none_of(contraction.getOp().getStaticLoopRanges(), ShapedType::isDynamic);
  auto getWidth = [&](const Contraction::Side &side, ArrayRef<unsigned> own) -> int64_t {
    // What runs along k is transposed as it is copied, element by element.
    if (!side.isVectorizable || (problem.isCopied && side.isKContiguous))
      return 1;
    ArrayRef<unsigned> inner = side.isKContiguous ? ArrayRef(contraction.k) : own;
    return std::min<int64_t>(4, getInnermostDivisor(sizes, contraction.group, inner));
  };
  problem.widthA = getWidth(contraction.a, contraction.m);
  problem.widthB = getWidth(contraction.b, contraction.n);
  return problem;
}

} // namespace xc::cuda
