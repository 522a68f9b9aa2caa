//===- SelectStrategy.cpp - How each kernel is compiled -------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One pass decides for each kernel: a matrix product, a reduction, rows of scans and sorts,
// elementwise loops, or else the generic loop nest. Sizes of tiles follow from the vectors of
// the CPU and its caches. A configuration that is given is obeyed.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CPU/Arch.h"
#include "compiler/Codegen/CPU/AttentionKernel.h"
#include "compiler/Codegen/CPU/CPUDialect.h"
#include "compiler/Codegen/CPU/Contraction.h"
#include "compiler/Codegen/CPU/ImageWindows.h"
#include "compiler/Codegen/CPU/KernelAnalysis.h"
#include "compiler/Codegen/CPU/LineKernel.h"
#include "compiler/Codegen/CPU/MatmulTiles.h"
#include "compiler/Codegen/CPU/Passes.h"
#include "compiler/Codegen/CPU/ReductionGroup.h"
#include "compiler/Dialect/Array/Transforms/Passes.h"
#include "compiler/Dialect/Plan/IR/Products.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace xc::cpu {
#define GEN_PASS_DEF_SELECTSTRATEGY
#include "compiler/Codegen/CPU/Passes.h.inc"

/// Elements of lines that a workgroup sorts or scans: enough to be worth a task of a thread.
static constexpr int64_t kLineTile = 8192;

namespace {

struct Choice {
  Attribute config;
  std::string reason;
};

} // namespace

static Choice chooseGeneric(func::FuncOp kernel, StringRef why) {
  return {GenericAttr::get(kernel.getContext(), GenericAttr::kVersion),
          llvm::formatv("generic: plain loops in one workgroup, since {0}", why)};
}

/// Lanes to compute at a time: several registers, so that latencies overlap; fewer where functions
/// need registers too.
static int64_t chooseLanes(func::FuncOp kernel, const Arch &arch, int64_t mathOps) {
  int64_t registerLanes = arch.vectorBytes / getElementBytes(kernel);
  return registerLanes * (mathOps != 0 ? 2 : 4);
}

static SmallVector<AffineExpr> getDims(unsigned rank, MLIRContext *context) {
  SmallVector<AffineExpr> dims;
  for (unsigned dim = 0; dim < rank; ++dim)
    dims.push_back(getAffineDimExpr(dim, context));
  return dims;
}

/// Whether some access steps through memory in an order that is not that of the result.
static bool isTransposed(const AccessSummary &summary, unsigned rank) {
  return llvm::any_of(summary.accesses, [&](const Access &access) {
    for (AffineExpr index : ArrayRef(access.indices).drop_back(access.indices.empty() ? 0 : 1))
      if (index && index.isFunctionOfDim(rank - 1))
        return true;
    return false;
  });
}

static Choice chooseElementwise(func::FuncOp kernel, const Arch &arch,
                                ArrayRef<AccessSummary> summaries, ArrayRef<unsigned> ranks) {
  int64_t mathOps = 0;
  bool scalar = false, transposed = false;
  for (auto [summary, rank] : llvm::zip(summaries, ranks)) {
    mathOps += summary.mathOps;
    scalar |= rank != 0 && summary.guarded[rank - 1];
    transposed |= rank > 1 && isTransposed(summary, rank);
  }
  int64_t lanes = scalar ? 1 : chooseLanes(kernel, arch, mathOps);
  // Transposed reads touch one cache line per column: few columns, so that the lines stay in L1 for
  // the next rows.
  int64_t chunk = transposed ? 128 : 16384;
  int64_t tile = mathOps != 0 ? 16384 : 32768;
  std::string reason = llvm::formatv(
      "elementwise: {0} lanes{1}{2}", lanes, transposed ? ", transposed reads in tiles" : "",
      scalar ? " (the innermost dim is padded or concatenated)" : "");
  return {ElementwiseAttr::get(kernel.getContext(), ElementwiseAttr::kVersion, lanes, chunk, tile),
          reason};
}

/// How badly vectorising along dim |lane| suits |access|: a dim that is not the last one has its
/// elements far apart.
static int64_t getStridedCost(const Access &access, unsigned lane) {
  for (AffineExpr index : ArrayRef(access.indices).drop_back(access.indices.empty() ? 0 : 1))
    if (!index || index.isFunctionOfDim(lane))
      return access.indices.size();
  return 0;
}

/// "rows" where memory is contiguous along what is reduced, "panels" where it is along what is
/// kept. Elements that have to be combined in order leave only kept points for lanes: "columns".
static StringRef chooseDirection(const ReductionGroup &group) {
  unsigned numKept = group.getNumKept();
  if (numKept == 0 || group.keptSizes.back().asConstant() == 1)
    return "rows";
  int64_t rowsCost = 0, columnsCost = 0;
  for (const Step &step : group.steps) {
    for (const Access &access : step.summary.accesses) {
      columnsCost += getStridedCost(access, numKept - 1);
      if (step.dims.size() > numKept)
        rowsCost += getStridedCost(access, step.dims.size() - 1);
    }
  }
  bool readsOnce = llvm::all_of(group.steps, [&](const Step &step) {
    return step.reduction ? step.phase == 0 : step.dims.size() == numKept;
  });
  // A window's few terms lie close together and are read again by the next one: sums of a vector of
  // columns stay in registers. Other rows are read from memory, in long runs.
  bool slides = llvm::any_of(group.steps, [](const Step &step) {
    return step.reduction && plan::isWindowReduction(step.reduction);
  });
  if (columnsCost < rowsCost)
    return readsOnce && !slides ? "panels" : "columns";
  return llvm::any_of(group.steps, std::mem_fn(&Step::isOrdered)) ? "columns" : "rows";
}

/// How many neighbouring windows are reduced at a time, by columns: as many as leave few over
/// between the image's borders; 1 where windows do not slide over the last row loop.
static int64_t chooseStrip(const ReductionGroup &group) {
  constexpr int64_t longest = 8, shortest = 4;
  unsigned numKept = group.getNumKept();
  if (numKept < 2 || !group.steps.front().reduction)
    return 1;
  linalg::GenericOp op = group.steps.front().reduction;
  SmallVector<unsigned> inverse = group.steps.front().getInverse();
  int64_t border = -1;
  for (OpOperand *input : op.getDpsInputOperands()) {
    auto pad = input->get().getDefiningOp<tensor::PadOp>();
    for (auto [dim, expr] : llvm::enumerate(op.getMatchingIndexingMap(input).getResults())) {
      bool isAlong = false, slides = false;
      for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
        if (expr.isFunctionOfDim(loop))
          (inverse[loop] == numKept - 2 ? isAlong : slides) = true;
      if (isAlong && slides)
        border = pad ? pad.getStaticLow()[dim] + pad.getStaticHigh()[dim] : 0;
    }
  }
  std::optional<int64_t> count = group.keptSizes[numKept - 2].asConstant();
  if (border < 0 || (count && *count - border < shortest))
    return border < 0 ? 1 : shortest;
  if (!count)
    return shortest;
  int64_t inner = *count - border, best = shortest;
  for (int64_t strip = shortest + 1; strip <= longest; ++strip)
    if (inner / strip * strip >= inner / best * best)
      best = strip;
  return best;
}

/// The number of at most `most` rows that leaves the fewest of `count` over; the larger one of
/// those.
static int64_t chooseRows(std::optional<int64_t> count, int64_t most) {
  if (!count)
    return most / 2;
  int64_t best = 1;
  for (int64_t rows = 2; rows <= std::min(most, *count); ++rows)
    if (*count / rows * rows >= *count / best * best || rows <= most / 2)
      best = rows;
  return best;
}

/// Bytes of private memory for a band of `rows` x `columns`.
static int64_t countBandBytes(ArrayRef<SlidingImage> images, int64_t rows, int64_t columns,
                              int64_t lanes) {
  int64_t bytes = 0;
  for (const SlidingImage &image : images) {
    int64_t elements = 1;
    for (int64_t size : image.getBandShape(rows, columns, lanes))
      if (llvm::MulOverflow(elements, size, elements))
        return std::numeric_limits<int64_t>::max();
    Type element = cast<RankedTensorType>(image.operand->get().getType()).getElementType();
    bytes += elements * llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
  }
  return bytes;
}

/// Whether lanes along the image's rows take fewer instructions for a result than lanes along the
/// innermost loop of the window, or than none where that is shorter than a vector. Elements a step
/// apart are brought together by as many shuffles as there are pairs of vectors that hold them.
static bool gainsByImages(const ReductionGroup &group, ArrayRef<SlidingImage> images,
                          int64_t lanes) {
  const Step &step = group.steps.front();
  int64_t inner = *step.sizes.back().asConstant(), taps = 1;
  for (plan::FormulaAttr size : ArrayRef(step.sizes).drop_front(group.getNumKept()))
    taps *= *size.asConstant(); // in range: windows have few taps
  int64_t fold = 2 * static_cast<int64_t>(llvm::Log2_64(lanes)), scalar = 2;
  int64_t otherwise =
      inner < lanes ? taps * scalar : taps / inner * llvm::divideCeil(inner, lanes) + fold;
  int64_t ofVector = taps; // for all lanes
  for (const SlidingImage &image : images)
    ofVector += image.getStep() * (image.getStep() + 1);
  return ofVector <= otherwise * lanes;
}

/// Windows that slide along the lanes. Fails where there are none, where other lanes are better,
/// or where taps lie so far apart that a band would not fit the second cache.
static FailureOr<Choice> chooseImages(func::FuncOp kernel, const Arch &arch,
                                      const ReductionGroup &group) {
  constexpr int64_t bandBytes = 32 << 10, mostBytes = 256 << 10, widest = 512, anyWidth = 128;
  FailureOr<SmallVector<SlidingImage>> images = matchSlidingImages(group);
  if (failed(images))
    return failure();
  unsigned numKept = group.getNumKept();
  std::optional<int64_t> width = group.keptSizes.back().asConstant(), height = 1;
  if (numKept > 1)
    height = group.keptSizes[numKept - 2].asConstant();
  int64_t lanes = arch.vectorBytes / getElementBytes(kernel);
  while (width && lanes > 2 && lanes / 2 >= *width)
    lanes /= 2;
  if (!gainsByImages(group, *images, lanes))
    return failure();
  int64_t strip = chooseRows(height, arch.vectorRegisters / 4);
  int64_t chunk = llvm::alignTo(std::min(width.value_or(anyWidth), widest), lanes), band = strip;
  if (countBandBytes(*images, band, chunk, lanes) > mostBytes)
    return failure();
  while ((!height || band < *height) &&
         countBandBytes(*images, band + strip, chunk, lanes) <= bandBytes)
    band += strip;
  std::string reason = llvm::formatv(
      "reduction by images: {0} lanes along rows of the image, {1} rows at a time, of bands of "
      "{2}x{3} points, whose part of the image is copied first",
      lanes, strip, band, chunk);
  return Choice{ReductionAttr::get(kernel.getContext(), ReductionAttr::kVersion, "images", lanes,
                                   chunk, /*tile=*/32768, strip, band),
                reason};
}

static FailureOr<Choice> chooseReduction(func::FuncOp kernel, const Arch &arch, std::string &why) {
  FailureOr<ReductionGroup> group = analyzeReductions(kernel, why);
  if (failed(group))
    return failure();
  if (FailureOr<Choice> images = chooseImages(kernel, arch, *group); succeeded(images))
    return *images;
  StringRef direction = chooseDirection(*group);
  unsigned numKept = group->getNumKept();
  int64_t mathOps = 0;
  bool scalar = false;
  for (const Step &step : group->steps) {
    mathOps += step.summary.mathOps;
    unsigned numDims = step.dims.size();
    if (direction != "rows")
      scalar |= step.summary.guarded[numKept - 1];
    else if (numDims > numKept)
      scalar |= step.summary.guarded[numDims - 1];
  }
  // Where lanes are far from each other in memory, more of them only means more scalar loads.
  bool ordered = llvm::any_of(group->steps, std::mem_fn(&Step::isOrdered));
  int64_t lanes = scalar                              ? 1
                  : ordered && direction == "columns" ? arch.vectorBytes / getElementBytes(kernel)
                                                      : chooseLanes(kernel, arch, mathOps);
  int64_t strip = direction == "columns" && !scalar && !ordered ? chooseStrip(*group) : 1;
  std::string reason =
      llvm::formatv("reduction by {0}: {1} of {2} dims kept, {3} phases, {4} lanes", direction,
                    numKept, group->steps.front().dims.size(), group->numPhases, lanes);
  if (strip > 1)
    reason += llvm::formatv(", windows of {0} neighbours at a time", strip);
  // A panel is wide enough for long runs of memory, and narrow enough to keep some threads busy.
  int64_t chunk = 128;
  if (direction == "panels") {
    int64_t count = group->keptSizes.back().asConstant().value_or(0);
    chunk = llvm::alignTo(std::clamp<int64_t>(count / 8, 256, 1024), lanes);
  }
  return Choice{ReductionAttr::get(kernel.getContext(), ReductionAttr::kVersion, direction, lanes,
                                   chunk, /*tile=*/32768, strip, /*band=*/1),
                reason};
}

/// The number of points of |loops|, if all sizes are known.
static std::optional<int64_t> multiplySizes(ArrayRef<plan::FormulaAttr> sizes,
                                            ArrayRef<unsigned> loops) {
  int64_t product = 1;
  for (unsigned loop : loops) {
    std::optional<int64_t> size = sizes[loop].asConstant();
    if (!size || llvm::MulOverflow(product, *size, product))
      return std::nullopt;
  }
  return product;
}

/// Fails if the kernel is no matrix product, or one so thin that packing would cost more than the
/// product.
static FailureOr<Choice> chooseMatmul(func::FuncOp kernel, const Arch &arch) {
  std::string why;
  FailureOr<ContractionKernel> contraction = analyzeContraction(kernel, why);
  if (failed(contraction))
    return failure();
  SmallVector<plan::FormulaAttr> sizes = codegen::KernelSizes(kernel).getLoopSizes(contraction->op);
  auto size = [&](ArrayRef<unsigned> loops) { return multiplySizes(sizes, loops); };
  std::optional<int64_t> m = size(contraction->loops.m), n = size(contraction->loops.n),
                         k = size(contraction->loops.k);
  if ((m && *m < 2) || (n && *n < 2))
    return failure();
  Type element = cast<RankedTensorType>(contraction->op->getResult(0).getType()).getElementType();
  MatmulShape shape;
  shape.rows = m;
  shape.columns = n;
  shape.terms = k;
  shape.innerTerms = size(contraction->loops.k.back());
  shape.lanes = getLanes(arch, element);
  shape.panelColumns = getPanelColumns(*contraction);
  MatmulTiles tiles = chooseMatmulTiles(arch, shape);
  std::string reason =
      llvm::formatv("matmul: {0}x{1} accumulators of {2} lanes, tiles of {3}x{4}, "
                    "{5} of the reduced dim at a time{6}",
                    tiles.height, tiles.width / shape.lanes, shape.lanes, tiles.rows, tiles.columns,
                    tiles.depth, shape.panelColumns ? ", weights in panels" : "");
  return Choice{MatmulAttr::get(kernel.getContext(), MatmulAttr::kVersion,
                                {tiles.rows, tiles.columns, tiles.depth},
                                {tiles.height, tiles.width}, shape.lanes),
                reason};
}

/// Fails if the kernel is more than a sort or a scan.
static FailureOr<Choice> chooseLines(func::FuncOp kernel) {
  std::string why;
  FailureOr<LineKernel> lines = matchLineKernel(kernel, why);
  if (failed(lines))
    return failure();
  return Choice{LinesAttr::get(kernel.getContext(), LinesAttr::kVersion, kLineTile),
                llvm::formatv("lines: workgroups share those of {0}", lines->op->getName())};
}

/// The largest divisor of |size| that is at most |most|, or |most| where that is less than half of
/// it.
static int64_t chooseDivisor(int64_t size, int64_t most) {
  for (int64_t divisor = most; divisor * 2 > most; --divisor)
    if (size % divisor == 0)
      return divisor;
  return std::min(most, std::max<int64_t>(size, 1));
}

/// Of so few queries that they would not fill vectors.
static Choice chooseFewQueries(func::FuncOp kernel, kernel::AttentionOp attention,
                               const Arch &arch) {
  // Work for several threads, and a block of keys that stays in the first cache, beside values, for
  // all rows. One row needs none again, and memory is faster in long runs.
  constexpr int64_t fewestGroups = 8, mostRows = 8, keyBytes = 16384, mostKeys = 512, longRun = 16;
  ArrayRef<int64_t> shape = attention.getQueryType().getShape();
  int64_t lanes = arch.vectorBytes / 4; // scores and sums are f32
  int64_t rank = attention.getBatchRank();
  int64_t all = attention.getGroupSize() * shape[rank + 1], groups = 1;
  for (int64_t size : shape.take_front(rank + 1))
    groups = llvm::SaturatingMultiply<uint64_t>(groups, ShapedType::isDynamic(size) ? 1 : size);
  groups = std::max<int64_t>(groups / attention.getGroupSize(), 1);
  int64_t blocks = std::min(all, llvm::divideCeilSigned(fewestGroups, groups));
  int64_t rows = std::min(mostRows, llvm::divideCeilSigned(all, blocks));
  // As even as can be.
  rows = llvm::divideCeilSigned(all, llvm::divideCeilSigned(all, rows));
  int64_t keys = llvm::alignTo(keyBytes / (shape.back() * 4) * (rows == 1 ? longRun : 1), lanes);
  SmallVector<int64_t> tile = {rows, std::clamp(keys, lanes, std::max(lanes, mostKeys))};
  int64_t registers = rows == 1 ? arch.vectorRegisters : arch.vectorRegisters / 2;
  return {
      FewQueriesAttr::get(kernel.getContext(), FewQueriesAttr::kVersion, tile, registers, lanes),
      llvm::formatv("attention of few queries: {0} rows for {1} keys at a time, whose elements "
                    "are lanes",
                    tile[0], tile[1])};
}

static Choice chooseAttention(func::FuncOp kernel, kernel::AttentionOp attention,
                              const Arch &arch) {
  int64_t queries = attention.getQueryType().getShape().drop_back().back();
  if (!ShapedType::isDynamic(queries) && queries < array::kFewQueries)
    return chooseFewQueries(kernel, attention, arch);
  constexpr int64_t vectors = 2, keys = 96;
  int64_t lanes = arch.vectorBytes / 4; // scores and sums are f32
  int64_t most = std::min<int64_t>((arch.vectorRegisters - 4) / vectors, 12);
  int64_t elements = chooseDivisor(attention.getValueType().getShape().back(), most);
  SmallVector<int64_t> tile = {vectors * lanes, keys}, registers = {most, elements};
  return {AttentionAttr::get(kernel.getContext(), AttentionAttr::kVersion, tile, registers, lanes),
          llvm::formatv("attention: {0} queries as lanes, {1} keys at a time, of which {2} in "
                        "registers, then {3} elements of the values",
                        tile[0], keys, most, elements)};
}

static bool hasReduction(func::FuncOp kernel) {
  return llvm::any_of(kernel.getOps<linalg::GenericOp>(),
                      [](linalg::GenericOp op) { return op.getNumReductionLoops() != 0; });
}

static Choice chooseStrategy(func::FuncOp kernel, const Arch &arch) {
  std::string whyNot;
  if (FailureOr<AttentionKernel> attention = matchAttentionKernel(kernel, whyNot);
      succeeded(attention))
    return chooseAttention(kernel, attention->op, arch);
  if (hasReduction(kernel)) {
    if (FailureOr<Choice> matmul = chooseMatmul(kernel, arch); succeeded(matmul))
      return *matmul;
    std::string why;
    FailureOr<Choice> choice = chooseReduction(kernel, arch, why);
    return succeeded(choice) ? *choice : chooseGeneric(kernel, why);
  }
  if (FailureOr<Choice> lines = chooseLines(kernel); succeeded(lines))
    return *lines;
  std::vector<AccessSummary> summaries;
  SmallVector<unsigned> ranks;
  for (const Root &root : collectRoots(kernel)) {
    unsigned rank = cast<MemRefType>(root.memory.getType()).getRank();
    AccessSummary summary(rank);
    summarize(root.value, getDims(rank, kernel.getContext()), {}, summary);
    if (Operation *op = summary.unsupported)
      return chooseGeneric(kernel, llvm::formatv("no strategy takes {0}", op->getName()).str());
    summaries.push_back(std::move(summary));
    ranks.push_back(rank);
  }
  return chooseElementwise(kernel, arch, summaries, ranks);
}

namespace {

struct SelectStrategy final : impl::SelectStrategyBase<SelectStrategy> {
  using SelectStrategyBase::SelectStrategyBase;

  void runOnOperation() override {
    FailureOr<Arch> arch = getKernelArch(getOperation(), this->arch);
    if (failed(arch))
      return signalPassFailure();
    for (auto kernel : getOperation().getOps<func::FuncOp>()) {
      if (kernel->hasAttr(plan::kConfigAttr))
        continue;
      if (failed(verifyKernelFunction(kernel)))
        return signalPassFailure();
      Choice choice = chooseStrategy(kernel, *arch);
      kernel->setAttr(plan::kConfigAttr, choice.config);
      kernel->setAttr(plan::kReasonAttr, StringAttr::get(&getContext(), choice.reason));
    }
  }
};

} // namespace
} // namespace xc::cpu
