//===- SelectProductStrategy.cpp - How matrix products are laid out -------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Common/Guards.h"
#include "compiler/Codegen/CUDA/IR/CUDAConfig.h"
#include "compiler/Codegen/CUDA/Matmul/Convolution.h"
#include "compiler/Codegen/CUDA/Matmul/DoubleMMAModel.h"
#include "compiler/Codegen/CUDA/Matmul/FMAModel.h"
#include "compiler/Codegen/CUDA/Matmul/MatmulLimits.h"
#include "compiler/Codegen/CUDA/Matmul/MatmulTile.h"
#include "compiler/Codegen/CUDA/Matmul/MatmulTiles.h"
#include "compiler/Codegen/CUDA/Matmul/ProductStrategy.h"
#include "compiler/Codegen/CUDA/Matmul/TiledAccess.h"
#include "compiler/Dialect/Plan/IR/Products.h"
#include "compiler/Dialect/Plan/IR/Reductions.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace xc::cuda {

/// Rows or columns of symbolic number, and the length of sums of symbolic length; of sizes that are
/// known to be larger, by how much they are.
static constexpr int64_t kExpectedSize = 4096, kExpectedSum = 1024, kExpectedBeyond = 4;

namespace {

class ProductChooser {
public:
  ProductChooser(const Contraction &contraction, const KernelInfo &kernel, PointEmitter &points,
                 const SelectStrategyOptions &options, const ProductTuning &tuning);

  TuningKey getKey() const { return {key, noKeyReason.empty() && hasKnownSizes()}; }
  std::optional<Choice> chooseWGMMA();
  std::optional<Choice> chooseMMA();
  /// f64 on tensor cores.
  std::optional<Choice> chooseDoubleMMA();
  /// True if `wgmma`, which takes a convolution, is not worth it beside mma.sync.
  bool isFasterByMMA(const Choice &wgmma);
  /// Operands and sums of one type, on plain arithmetic.
  Choice choosePlain();
  /// The configuration next to the one chosen last, with its time, if the model told one.
  std::optional<Choice> next;
  /// Whether tensor cores know the types, but for f64.
  bool hasTensorCoreTypes() const {
    return kernel.target->hasMMA16816 &&
           (contraction.hasHalfOperands() || isTF32 || contraction.hasByteOperands());
  }
  /// Takes what was measured of the product before, and says by which key it can be tuned.
  void finish(Choice &choice);
  /// Says why `config`, which was given, cannot be taken; nothing if it can.
  std::string checkGiven(Attribute config);
  /// The microseconds that the model of the configuration's strategy expects.
  double predict(Attribute config);

private:
  /// What identifies the product in a tuning table; symbolic sizes as what is expected, or a `?`.
  std::string makeKey(bool isExpected);
  /// The product of the sizes of `dims`; where that is symbolic, `guess`, or what ranges and guards
  /// allow.
  int64_t getExpectedSize(ArrayRef<unsigned> dims, int64_t guess);
  int64_t getExpectedRows() { return getExpectedSize(contraction.m, kExpectedSize); }
  int64_t getExpectedColumns() { return getExpectedSize(contraction.n, kExpectedSize); }
  int64_t getExpectedBatch() { return contraction.getProduct(contraction.batch).value_or(1); }
  int64_t getExpectedSum() {
    return contraction.partial ? contraction.partial->size
                               : getExpectedSize(contraction.k, kExpectedSum);
  }
  /// Those of a problem of the product as it stands.
  template <typename Problem> void setExpectedSizes(Problem &problem) {
    problem.batch = getExpectedBatch();
    problem.m = getExpectedRows();
    problem.n = getExpectedColumns();
    problem.k = getExpectedSum();
  }
  /// What was measured of the product, if that is of the strategy that was chosen.
  Choice replaceByShipped(Choice choice);
  FMAProblem makeFMAProblem();
  ProductSize makeMMASize();
  /// The configuration in words, with the time that is expected of it.
  std::string describe(Attribute config);
  DoubleProblem makeDoubleProblem();
  /// True if all sizes are constants, or guards promise what is to be known of them.
  bool hasKnownSizes() const {
    return kernel.getFunction()->hasAttr(plan::kGuardsAttr) ||
           llvm::none_of(contraction.getOp().getStaticLoopRanges(), ShapedType::isDynamic);
  }
  /// True if clusters of blocks may share sums: a grid of them is not folded, and must be known to
  /// fit.
  bool canShareSums() const {
    return kernel.target->hasClusters() && (hasKnownSizes() || fitsNarrowIndices(kernel));
  }
  /// The product as wgmma sees it; nothing, and `refusal`, where that cannot do it.
  std::optional<MatmulProblem> makeProblem();
  std::optional<MatmulProblem> makeConvolutionProblem(ArrayRef<Value> sizes);
  int64_t countPixels(int64_t positions, int64_t taps) const;
  void describeAcross(MatmulProblem &problem);
  std::optional<MatmulProblem> refuse(const Twine &reason) {
    refusal = reason.str();
    return std::nullopt;
  }
  bool canTurn(const Contraction::Side &side, ArrayRef<unsigned> own);
  /// What an operand is beyond a matrix, or a batch of them, in memory; empty if it is just that.
  std::string findNoKeyReason(const Contraction::Side &side, ArrayRef<unsigned> own) const;

  const Contraction &contraction;
  const KernelInfo &kernel;
  PointEmitter &points; // knows the sizes; nothing is emitted
  const SelectStrategyOptions &options;
  const ProductTuning &tuning;
  bool isTF32;             // f32 operands may be rounded
  int64_t outputOps;       // see countOutputOps
  std::string key;         // what identifies the product in a tuning table
  std::string noKeyReason; // why it is not the product that the key stands for; empty if it is
  std::string refusal; // why wgmma, which the target has and which knows the types, is not taken
  std::optional<Convolution> convolution; // what wgmma sees, if columns of pixels are an operand
  std::optional<MatmulProblem> problem;
};

} // namespace

/// Instructions that a function of mathematics is counted as.
static constexpr int64_t kFunction = 12;

/// Instructions that each element of the output takes; a function of mathematics is several.
static int64_t countOutputOps(const KernelInfo &kernel, const Contraction &contraction) {
  int64_t count = 0;
  kernel.getFunction().walk([&](linalg::LinalgOp op) {
    if (op == contraction.getOp() || (op.getNumReductionLoops() > 0 && !plan::getRowPart(op)))
      return;
    for (Operation &inner : op.getBlock()->without_terminator())
      if (!isa<CastOpInterface>(inner))
        count +=
            isa<math::MathDialect>(inner.getDialect()) && !isa<math::FmaOp>(inner) ? kFunction : 1;
  });
  return count;
}

ProductChooser::ProductChooser(const Contraction &contraction, const KernelInfo &kernel,
                               PointEmitter &points, const SelectStrategyOptions &options,
                               const ProductTuning &tuning)
    : contraction(contraction), kernel(kernel), points(points), options(options), tuning(tuning),
      isTF32(contraction.hasSingleOperands() && contraction.getOp()->hasAttr(plan::kAllowTF32Attr)),
      outputOps(countOutputOps(kernel, contraction)), key(makeKey(/*isExpected=*/false)),
      noKeyReason(findNoKeyReason(contraction.a, contraction.m)) {
  if (noKeyReason.empty())
    noKeyReason = findNoKeyReason(contraction.b, contraction.n);
  problem = makeProblem();
}

std::string ProductChooser::findNoKeyReason(const Contraction::Side &side,
                                            ArrayRef<unsigned> own) const {
  linalg::LinalgOp op = contraction.getOp();
  StringRef name = side.operand->getOperandNumber() == 0 ? "operand A" : "operand B";
  plan::BindingOp binding = getSourceBinding(side.operand->get());
  if (!binding)
    return (name + " is computed or a part of a tensor").str();
  if (binding.getAlignment() < kVectorBytes)
    return (name + " is not aligned to 16 bytes").str();
  SmallVector<int64_t> ranges = contraction.getRanges();
  SmallVector<unsigned> expected, dims;
  for (ArrayRef<unsigned> group : {ArrayRef<unsigned>(contraction.batch),
                                   side.isKContiguous ? own : ArrayRef<unsigned>(contraction.k),
                                   side.isKContiguous ? ArrayRef<unsigned>(contraction.k) : own})
    llvm::copy_if(group, std::back_inserter(expected),
                  [&](unsigned dim) { return ranges[dim] != 1; });
  for (AffineExpr expr : op.getMatchingIndexingMap(side.operand).getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (dim && ranges[dim.getPosition()] == 1)
      continue;
    if (!dim)
      return (name + " has other indices than the product").str();
    dims.push_back(dim.getPosition());
  }
  if (dims == expected)
    return {};
  return (name + (dims.size() < expected.size() ? " is the same for several products of the batch"
                                                : " has its dims in another order"))
      .str();
}

/// The type of the elements that the kernel stores; where it only reduces its rows, of the sums.
static Type getOutputType(const Contraction &contraction) {
  ArrayRef<ReductionGroup::Result> results = contraction.group.results;
  return results.empty() ? contraction.accumulatorType
                         : getElementTypeOrSelf(results.front().output.tensor);
}

/// The type of an operand's elements; of bytes without a sign that of the array.
static std::string getTypeName(const Contraction::Side &side) {
  std::string name;
  llvm::raw_string_ostream(name) << getElementTypeOrSelf(side.operand->get());
  return side.isUnsigned() && name[0] == 'i' ? "u" + name.substr(1) : name;
}

std::string ProductChooser::makeKey(bool isExpected) {
  auto getSize = [&](ArrayRef<unsigned> dims, int64_t expected) {
    std::optional<int64_t> size = contraction.getProduct(dims);
    return size || isExpected ? std::to_string(size.value_or(expected)) : "?";
  };
  std::string types;
  llvm::raw_string_ostream stream(types);
  if (isTF32)
    stream << "tf32*tf32";
  else
    stream << getTypeName(contraction.a) << "*" << getTypeName(contraction.b);
  stream << ">" << getOutputType(contraction);
  return llvm::formatv("{0} matmul {1} {2}x{3}x{4}x{5} {6}{7}{8}", kernel.target->arch, types,
                       getSize(contraction.batch, getExpectedBatch()),
                       getSize(contraction.m, getExpectedRows()),
                       getSize(contraction.n, getExpectedColumns()),
                       contraction.partial ? std::to_string(contraction.partial->size)
                                           : getSize(contraction.k, getExpectedSum()),
                       contraction.a.isKContiguous ? "n" : "t",
                       contraction.b.isKContiguous ? "t" : "n",
                       outputOps ? TuningTable::kFused.str() + std::to_string(outputOps) : "")
      .str();
}

static WGMMAPlan toPlan(MatmulWGMMAAttr config) {
  return {config.getTileM(),    config.getTileN(),    config.getTileK(),    config.getWarpgroups(),
          config.getStages(),   config.getRaster(),   config.getBlocks(),   config.getSplit(),
          config.getPingPong(), config.getClusterM(), config.getClusterN(), 0};
}

static MatmulFMAAttr toConfig(MLIRContext *context, const FMAPlan &plan) {
  return MatmulFMAAttr::get(context, plan.tileM, plan.tileN, plan.tileK, plan.threadM, plan.threadN,
                            plan.stages, plan.split);
}

static DoublePlan toDoublePlan(MatmulMMAAttr config) {
  DoublePlan plan{};
  plan.tileM = config.getTileM();
  plan.tileN = config.getTileN();
  plan.tileK = config.getTileK();
  plan.warpsM = config.getWarpsM();
  plan.warpsN = config.getWarpsN();
  plan.stages = config.getStages();
  return plan;
}

static MatmulWGMMAAttr toConfig(MLIRContext *context, const WGMMAPlan &plan) {
  return MatmulWGMMAAttr::get(context, plan.tileM, plan.tileN, plan.tileK, plan.warpgroups,
                              plan.stages, plan.raster, plan.blocks, plan.split, plan.pingPong,
                              plan.clusterM, plan.clusterN);
}

std::string ProductChooser::checkGiven(Attribute config) {
  if (contraction.partial)
    if (std::string wrong = checkPartialSums(*contraction.partial, config); !wrong.empty())
      return wrong;
  if (auto wgmma = dyn_cast<MatmulWGMMAAttr>(config))
    return problem ? checkWGMMAPlan(*kernel.target, *problem, toPlan(wgmma)) : refusal;
  auto fma = dyn_cast<MatmulFMAAttr>(config);
  if (fma && fma.getStages() > 2 &&
      !(kernel.target->hasAsyncCopy && contraction.hasCopiedFactors()))
    return "more than two stages are of operands in memory that are multiplied as they are, and "
           "for "
           "sm_80 or later";
  if (fma && fma.getSplit() > 1 && !canShareSums())
    return "blocks that share a sum are for sm_90 or later, and for sizes that are known to fit";
  if (fma) {
    int64_t bytes = getSharedBytes(toPlan(fma), getElementBytes(contraction.accumulatorType));
    if (bytes > kernel.target->sharedPerBlock)
      return llvm::formatv("a block has {0} bytes of shared memory, not {1}",
                           kernel.target->sharedPerBlock, bytes);
  }
  auto mma = dyn_cast<MatmulMMAAttr>(config);
  if (!mma)
    return contraction.group.rowParts.empty()
               ? ""
               : "its rows are reduced, which only kernels on tensor cores do";
  if (contraction.hasDoubleOperands() && kernel.target->doubleMMA == DoubleMMA::None)
    return llvm::formatv("the tensor cores of {0} are not made for f64", kernel.target->arch);
  int64_t bytes = mma.getStages() * (mma.getTileM() + mma.getTileN()) * mma.getTileK() *
                  getElementBytes(getElementTypeOrSelf(contraction.a.operand->get()));
  if (bytes > kernel.target->sharedPerBlock)
    return llvm::formatv("a block has {0} bytes of shared memory, not {1}",
                         kernel.target->sharedPerBlock, bytes);
  return checkMMATiles(contraction, mma);
}

int64_t ProductChooser::getExpectedSize(ArrayRef<unsigned> dims, int64_t guess) {
  linalg::LinalgOp op = contraction.getOp();
  if (std::optional<int64_t> size = contraction.getProduct(dims))
    return *size;
  MLIRContext *context = op.getContext();
  SmallVector<Value> sizes = getProductSizes(contraction, points);
  AffineExpr formula = getAffineConstantExpr(1, context);
  std::optional<int64_t> most = 1;
  for (unsigned dim : dims) {
    AffineExpr size = getScalarFormula(sizes[dim], context);
    formula = formula && size ? formula * size : AffineExpr();
    std::optional<int64_t> bound = getUpperBound(sizes[dim]);
    most = most && bound ? llvm::checkedMul(*most, std::max<int64_t>(*bound, 1)) : std::nullopt;
  }
  int64_t expected = std::min(guess, most.value_or(guess));
  if (!formula)
    return expected;
  auto [fewest, largest] = getGuardedRange(kernel.getFunction(), formula);
  // Of sizes from a number on, several times that.
  return fewest > guess ? kExpectedBeyond * fewest : std::min(expected, largest);
}

/// See MatmulTile::canTurn; of static sizes, where there is no kernel yet.
bool ProductChooser::canTurn(const Contraction::Side &side, ArrayRef<unsigned> own) {
  constexpr int64_t kWordBytes = 4;
  linalg::LinalgOp op = contraction.getOp();
  plan::BindingOp binding = side.getCopySource();
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  int64_t width = kWordBytes / getElementBytes(getElementTypeOrSelf(side.operand->get()));
  return llvm::none_of(ranges, ShapedType::isDynamic) && binding && !side.getZeroPadding() &&
         side.isVectorizable && binding.getAlignment() >= kWordBytes &&
         op.getMatchingIndexingMap(side.operand).isProjectedPermutation() &&
         llvm::count_if(contraction.k, [&](unsigned dim) { return ranges[dim] != 1; }) == 1 &&
         getInnermostDivisor(points, contraction.group, own) >= width;
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
  SmallVector<Value> sizes = getProductSizes(contraction, points);
  auto getName = [&](const Contraction::Side &side) -> StringRef {
    return side.operand->getOperandNumber() == 0 ? "operand A" : "operand B";
  };
  std::string reason, pixelReason;
  convolution = matchConvolution(contraction, pixelReason);
  if (convolution)
    return makeConvolutionProblem(sizes);
  std::optional<TiledAccess> a = matchTiledOperand(contraction, first, sizes, points.index, reason);
  if (!a)
    return refuse("no boxes can be copied of " + getName(first) + ": " + reason +
                  ", nor columns of pixels: " + pixelReason);
  bool turns = contraction.runsAcrossK();
  if (turns && !canTurn(second, swapped ? contraction.m : contraction.n))
    return refuse("threads cannot transpose " + getName(second));
  std::optional<TiledAccess> b =
      turns ? TiledAccess() : matchTiledOperand(contraction, second, sizes, points.index, reason);
  if (!b)
    return refuse("no boxes can be copied of " + getName(second) + ": " + reason);
  MatmulProblem problem;
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
  problem.partColumns = contraction.getPartColumns();
  problem.isSwapped = swapped;
  problem.isGuess = !contraction.getProduct(contraction.batch) ||
                    !contraction.getProduct(contraction.m) ||
                    !contraction.getProduct(contraction.n);
  problem.isKContiguousA = a->dims.back().group == TiledAccess::Group::K;
  problem.turnsB = turns;
  problem.isKContiguousB = !turns && b->dims.back().group == TiledAccess::Group::K;
  problem.isStaged = isStagedOutput(contraction, sizes, points.index) &&
                     (problem.elementBytes == 2 || problem.isKContiguousA);
  if (problem.elementBytes != 2 && !problem.isKContiguousB && !turns)
    return refuse(getName(second) +
                  " does not run along k, as elements of other than 16 bits must");
  problem.isScattered =
      problem.outputBytes == 4 && !problem.isStaged && hasOddRows(contraction, sizes, points.index);
  problem.outputOps = outputOps;
  if (contraction.partial)
    problem.sharedElements = getExpectedSize(contraction.k, kExpectedSum) * (problem.m + problem.n);
  return problem;
}

/// The same of a convolution, whose filter is copied by boxes, or of its gradient to the filter.
std::optional<MatmulProblem> ProductChooser::makeConvolutionProblem(ArrayRef<Value> sizes) {
  const Contraction &product = convolution->product;
  bool isAcross = convolution->image.isAcross;
  std::string reason;
  std::optional<TiledAccess> other =
      matchTiledOperand(product, convolution->getOther(), sizes, points.index, reason);
  if (!other) {
    convolution = std::nullopt;
    return refuse(Twine("no boxes can be copied of ") +
                  (isAcross ? "what comes back of the outputs: " : "the filter: ") + reason);
  }
  MatmulProblem problem{};
  problem.batch = product.getProduct(product.batch).value_or(1);
  problem.m = getExpectedSize(product.m, kExpectedSize);
  problem.n = getExpectedSize(product.n, kExpectedSize);
  if (problem.m * problem.n * getExpectedSum() == 0) {
    convolution = std::nullopt;
    return refuse("a size is 0");
  }
  problem.elementBytes = getElementBytes(getElementTypeOrSelf(product.a.operand->get()));
  problem.outputBytes = product.group.results.empty() ? 0 : getElementBytes(getOutputType(product));
  problem.partColumns = product.getPartColumns();
  problem.isGuess = !product.getProduct(product.m) || !product.getProduct(product.n);
  problem.isStaged = isStagedOutput(product, sizes, points.index);
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
  return problem;
}

/// Pixels of the image that `positions` output positions are read of under `taps` taps.
int64_t ProductChooser::countPixels(int64_t positions, int64_t taps) const {
  int64_t pixels = positions;
  for (const WindowedImage::Spatial &dim : convolution->image.spatial)
    pixels = llvm::divideCeil(pixels, dim.positions) * dim.size;
  // Strides that are longer than windows pass over the others.
  return std::min(pixels, positions * taps);
}

/// What is of the gradient to a filter alone.
void ProductChooser::describeAcross(MatmulProblem &problem) {
  const WindowedImage &image = convolution->image;
  int64_t positions = getExpectedSize(contraction.k, kExpectedSum);
  problem.k = getExpectedSum();
  problem.across = image.isB ? MatmulProblem::Across::B : MatmulProblem::Across::A;
  problem.channels = image.channels;
  problem.hasWholePanels = image.hasWholePanels;
  int64_t taps = *contraction.getProduct(image.taps);
  int64_t groups = image.group ? contraction.getRanges()[*image.group] : 1;
  problem.sharedElements = groups * (countPixels(positions, taps) * image.channels +
                                     positions * (image.isB ? problem.m : problem.n));
}

/// wgmma where boxes of both operands can be copied, or threads can turn the second one; the model
/// says in which tiles.
std::optional<Choice> ProductChooser::chooseWGMMA() {
  if (!problem)
    return std::nullopt;
  SmallVector<WGMMAPlan> plans = rankWGMMAPlans(*kernel.target, *problem);
  if (plans.empty()) {
    refusal = "no tile fits";
    return std::nullopt;
  }
  MatmulWGMMAAttr config = toConfig(kernel.getFunction().getContext(), plans.front());
  if (plans.size() > 1) {
    MatmulWGMMAAttr second = toConfig(kernel.getFunction().getContext(), plans[1]);
    next = Choice{second, describe(second), predict(second)};
  }
  std::string reason = describe(config);
  if (convolution)
    if (std::optional<Choice> other = chooseMMA())
      reason += "; by mma.sync " + formatTime(predict(other->config));
  return Choice{config, reason};
}

bool ProductChooser::isFasterByMMA(const Choice &wgmma) {
  // Columns of pixels take as long for few channels as for a line of them. The model of mma.sync is
  // no closer than this.
  constexpr double worthwhile = 0.85;
  // Pixels were packed for wgmma, and the other model does not know what rows that overlap cost.
  if (!convolution || convolution->image.hasPackedPixels())
    return false;
  std::optional<Choice> other = chooseMMA();
  return other && predict(other->config) < worthwhile * predict(wgmma.config);
}

ProductSize ProductChooser::makeMMASize() {
  std::optional<int64_t> batch = contraction.getProduct(contraction.batch),
                         m = contraction.getProduct(contraction.m),
                         n = contraction.getProduct(contraction.n), k = contraction.getSumLength();
  int64_t elementBytes = getElementBytes(getElementTypeOrSelf(contraction.a.operand->get()));
  auto getWidth = [&](const Contraction::Side &side, ArrayRef<unsigned> own) -> int64_t {
    ArrayRef<unsigned> inner = side.isKContiguous ? ArrayRef(contraction.k) : own;
    return side.isVectorizable ? getInnermostDivisor(points, contraction.group, inner) : 1;
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
  size.outputBytes =
      contraction.group.results.empty() ? 0 : getElementBytes(getOutputType(contraction));
  bool isSymbolic = !batch || !m || !n || !k;
  size.isWide = isSymbolic && !kernel.getFunction()->hasAttr(plan::kGuardsAttr);
  size.partColumns = contraction.getPartColumns();
  size.isDemanding =
      outputOps >= kFunction || getInnermostDivisor(points, contraction.group, contraction.n) == 1;
  return size;
}

std::optional<Choice> ProductChooser::chooseMMA() {
  if (!hasTensorCoreTypes())
    return std::nullopt;
  MatmulMMAAttr config =
      chooseMMATiles(kernel.getFunction().getContext(), *kernel.target, makeMMASize());
  return Choice{config, describe(config)};
}

DoubleProblem ProductChooser::makeDoubleProblem() {
  DoubleProblem problem;
  setExpectedSizes(problem);
  // Sizes that are not known may need wide indices.
  problem.isRoomy = contraction.hasCopiedFactors() && outputOps < kFunction &&
                    llvm::none_of(contraction.getOp().getStaticLoopRanges(), ShapedType::isDynamic);
  problem.isSwapped = contraction.a.isKContiguous && !contraction.b.isKContiguous;
  return problem;
}

std::optional<Choice> ProductChooser::chooseDoubleMMA() {
  if (kernel.target->doubleMMA == DoubleMMA::None || !contraction.hasDoubleOperands())
    return std::nullopt;
  DoublePlan plan = chooseDoublePlan(*kernel.target, makeDoubleProblem());
  auto config = MatmulMMAAttr::get(kernel.getFunction().getContext(), plan.tileM, plan.tileN,
                                   plan.tileK, plan.warpsM, plan.warpsN, plan.stages,
                                   /*part_steps=*/0);
  return Choice{config, describe(config)};
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
    return std::min<int64_t>(4, getInnermostDivisor(points, contraction.group, inner));
  };
  problem.widthA = getWidth(contraction.a, contraction.m);
  problem.widthB = getWidth(contraction.b, contraction.n);
  return problem;
}

Choice ProductChooser::choosePlain() {
  FMAPlan second;
  FMAPlan plan = chooseFMAPlan(*kernel.target, makeFMAProblem(), &second);
  MLIRContext *context = kernel.getFunction().getContext();
  if (second.microseconds < std::numeric_limits<double>::infinity())
    next = Choice{toConfig(context, second), "", second.microseconds};
  MatmulFMAAttr config = toConfig(context, plan);
  return {config, describe(config), plan.microseconds};
}

double ProductChooser::predict(Attribute config) {
  const Target &target = *kernel.target;
  if (auto wgmma = dyn_cast<MatmulWGMMAAttr>(config))
    return estimateWGMMAPlan(target, *problem, toPlan(wgmma));
  auto mma = dyn_cast<MatmulMMAAttr>(config);
  if (mma && contraction.hasDoubleOperands())
    return estimateDoublePlan(target, makeDoubleProblem(), toDoublePlan(mma));
  if (mma)
    return estimateMMATiles(target, makeMMASize(), mma);
  return estimateFMAPlan(target, makeFMAProblem(), toPlan(cast<MatmulFMAAttr>(config)));
}

std::string ProductChooser::describe(Attribute config) {
  std::string time = formatTime(predict(config));
  if (contraction.partial)
    time = llvm::formatv("{0} partial sums, {1}", contraction.partial->count, time);
  if (auto wgmma = dyn_cast<MatmulWGMMAAttr>(config)) {
    std::string kind = "matrix product by wgmma";
    if (convolution && convolution->image.isAcross)
      kind =
          llvm::formatv("gradient to the filter by wgmma, {0} channels of columns of pixels under "
                        "{1} tap{2}",
                        problem->channels, *contraction.getProduct(convolution->image.taps),
                        convolution->image.taps.empty() ? "" : "s");
    else if (convolution)
      kind =
          llvm::formatv("convolution by wgmma, columns of pixels under {0} tap{1}, {2} channels a "
                        "step",
                        problem->taps, problem->taps == 1 ? "" : "s", wgmma.getTileK());
    return llvm::formatv("{0}: tiles of {1} x {2} by {3} warpgroups{4}, {5} stages, k split {6} "
                         "times, {7}",
                         kind, wgmma.getTileM(), wgmma.getTileN(), wgmma.getWarpgroups(),
                         wgmma.getPingPong() ? ", ping-pong" : "", wgmma.getStages(),
                         wgmma.getSplit(), time);
  }
  auto mma = dyn_cast<MatmulMMAAttr>(config);
  if (mma && contraction.hasDoubleOperands())
    return llvm::formatv("matrix product by mma.sync in f64: tiles of {0} x {1}, k in steps of "
                         "{2}, {3} stages, {4}",
                         mma.getTileM(), mma.getTileN(), mma.getTileK(), mma.getStages(), time);
  if (mma)
    return llvm::formatv("matrix product by mma.sync{0}: tiles of {1} x {2}, k in steps of {3}, "
                         "{4}",
                         isTF32 ? " in TF32" : "", mma.getTileM(), mma.getTileN(), mma.getTileK(),
                         time);
  auto fma = cast<MatmulFMAAttr>(config);
  std::string split;
  if (fma.getSplit() > 1)
    split = llvm::formatv("k split {0} times, ", fma.getSplit());
  return llvm::formatv("matrix product by fused multiply-add: tiles of {0} x {1}, {2} x {3} a "
                       "thread, {4} stages, {5}{6}",
                       fma.getTileM(), fma.getTileN(), fma.getThreadM(), fma.getThreadN(),
                       fma.getStages(), split, time);
}

Choice ProductChooser::replaceByShipped(Choice choice) {
  // What was measured is of products.
  if (convolution)
    return choice;
  const TuningTable::Entry *entry = tuning.shipped.lookup(makeKey(/*isExpected=*/true));
  Attribute measured = entry ? entry->config : Attribute();
  if (!measured || measured.getTypeID() != choice.config.getTypeID() ||
      !checkGiven(measured).empty())
    return choice;
  return {measured, describe(measured) + ", as measured before"};
}

void ProductChooser::finish(Choice &choice) {
  Choice measured = replaceByShipped(choice);
  choice.config = measured.config;
  choice.reason = measured.reason;
  choice.microseconds = predict(choice.config);
  choice.key = key;
  choice.isKeyOwn = noKeyReason.empty();
  // Only what the key stands for can be tuned by it.
  if (noKeyReason.empty())
    choice.reason += "; key: " + key;
  else
    choice.reason += "; no key of its own but lines of " + key + ", since " + noKeyReason;
  std::optional<Choice> wgmma;
  if (isa<MatmulMMAAttr>(choice.config) && convolution)
    wgmma = chooseWGMMA();
  if (wgmma)
    choice.reason += "; by wgmma " + formatTime(predict(wgmma->config));
  if (!isa<MatmulWGMMAAttr>(choice.config) && !refusal.empty())
    choice.reason += "; not by wgmma, since " + refusal;
}

//===----------------------------------------------------------------------===//
// Strategies
//===----------------------------------------------------------------------===//

/// What tiles on tensor cores that are all but empty take of what others do: what is not there is
/// not read.
static constexpr double kEmptyTiles = 0.55;

static ProductChooser makeChooser(KernelQuery &query) {
  return {*query.getContraction(), query.kernel, query.points, query.options, query.tuning};
}

bool canUseWGMMA(KernelQuery &query) { return makeChooser(query).chooseWGMMA().has_value(); }

namespace {

/// A strategy of products, with configurations of type `Config`.
template <typename Config> struct ProductStrategy : Strategy {
  LogicalResult enumerate(KernelQuery &query, SmallVectorImpl<Choice> &choices) const override {
    if (!query.getContraction() || (query.isStreamed() && !isStreaming()))
      return success();
    ProductChooser chooser = makeChooser(query);
    std::optional<Choice> choice = choose(query, chooser);
    if (!choice)
      return success();
    if (!choice->microseconds)
      choice->microseconds = chooser.predict(choice->config);
    if (isa<MatmulMMAAttr>(choice->config) && query.getWindows())
      *choice->microseconds *= kEmptyTiles;
    choices.push_back(*choice);
    if (chooser.next)
      choices.push_back(*chooser.next);
    return success();
  }

  std::optional<std::string> check(KernelQuery &query, Attribute config) const override {
    // A product of a matrix and a vector is streamed, or a reduction, which is not tuned.
    if (!isa<Config>(config) || (query.isStreamed() && !isStreaming()))
      return std::nullopt;
    if (!query.getContraction())
      return "the kernel is no product";
    return makeChooser(query).checkGiven(config);
  }

  std::optional<TuningKey> getKey(KernelQuery &query) const override {
    return query.getContraction() ? std::optional(makeChooser(query).getKey()) : std::nullopt;
  }

  std::optional<double> estimate(KernelQuery &query, Attribute config) const override {
    return makeChooser(query).predict(config);
  }

  void finish(KernelQuery &query, Choice &choice) const override {
    ProductChooser chooser = makeChooser(query);
    if (!isa<MatmulWGMMAAttr>(choice.config))
      (void)chooser.chooseWGMMA(); // finds out why not
    chooser.finish(choice);
  }

  /// Whether the strategy streams a matrix past a vector.
  virtual bool isStreaming() const { return false; }
  virtual std::optional<Choice> choose(KernelQuery &query, ProductChooser &chooser) const = 0;
};

/// On wgmma, tiles copied by the Tensor Memory Accelerator.
struct MatmulWGMMAStrategy final : ProductStrategy<MatmulWGMMAAttr> {
  StringRef getName() const override { return "matmul-wgmma"; }
  bool isStreaming() const override { return true; }
  std::optional<Choice> choose(KernelQuery &query, ProductChooser &chooser) const override {
    return chooser.chooseWGMMA();
  }
  std::unique_ptr<Pass> createEmission() const override { return createEmitMatmulWGMMA(); }
};

/// On mma.sync, at a third of wgmma's rate or less: for what wgmma does not take, and convolutions
/// of few channels.
struct MatmulMMAStrategy final : ProductStrategy<MatmulMMAAttr> {
  StringRef getName() const override { return "matmul-mma"; }
  std::optional<Choice> choose(KernelQuery &query, ProductChooser &chooser) const override {
    std::optional<Choice> wgmma = chooser.chooseWGMMA();
    if (wgmma && !chooser.isFasterByMMA(*wgmma))
      return std::nullopt;
    chooser.next.reset();
    std::optional<Choice> choice = chooser.chooseMMA();
    return choice ? choice : chooser.chooseDoubleMMA();
  }
  std::unique_ptr<Pass> createEmission() const override { return createEmitMatmulMMA(); }
};

/// On plain multiply-adds, which do not reduce the rows of what they compute: for types that no
/// tensor core multiplies, or that it multiplies no faster.
struct MatmulFMAStrategy final : ProductStrategy<MatmulFMAAttr> {
  StringRef getName() const override { return "matmul-fma"; }
  std::optional<Choice> choose(KernelQuery &query, ProductChooser &chooser) const override {
    if (chooser.hasTensorCoreTypes() || !query.getContraction()->group.rowParts.empty())
      return std::nullopt;
    return chooser.choosePlain();
  }
  std::unique_ptr<Pass> createEmission() const override { return createEmitMatmulFMA(); }
};

} // namespace

const Strategy &getMatmulWGMMAStrategy() {
  static const MatmulWGMMAStrategy strategy;
  return strategy;
}
const Strategy &getMatmulMMAStrategy() {
  static const MatmulMMAStrategy strategy;
  return strategy;
}
const Strategy &getMatmulFMAStrategy() {
  static const MatmulFMAStrategy strategy;
  return strategy;
}

} // namespace xc::cuda
