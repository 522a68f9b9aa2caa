//===- MatmulPlans.cpp - Tiles of a matrix product on wgmma ---------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Beside tiles of usual widths there are, for each number of rows, the narrowest ones that do in so
// many waves of all multiprocessors. Each is considered by one or two blocks a multiprocessor, with
// its sums split among the blocks of a cluster or operands that they fetch for each other, where
// registers and shared memory allow it.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Matmul/MatmulLimits.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>
#include <limits>
#include <tuple>

namespace xc::cuda {

/// The most registers of sums beside what threads load, where blocks split them.
static constexpr int64_t kSplitSums = 64;
/// Columns of one wgmma, and the most waves that tiles of fitted widths may take.
static constexpr int64_t kMostColumns = 256, kFittedWaves = 8;

/// Bytes of operands that L2 holds beside results on their way to memory.
static constexpr int64_t kSharedOperandBytes = 16 << 20;

namespace {

struct Shape {
  int64_t tileM, tileN, warpgroups;
  bool pingPong = false;

  int64_t getWarpgroupsPerTile() const { return pingPong ? warpgroups / 2 : warpgroups; }
  bool operator==(const Shape &other) const {
    return std::tie(tileM, tileN, warpgroups, pingPong) ==
           std::tie(other.tileM, other.tileN, other.warpgroups, other.pingPong);
  }
};

/// How many blocks split a tile's sums, and rows and columns of such that fetch for each other.
struct Group {
  int64_t split, clusterM = 1, clusterN = 1;
};

} // namespace

static constexpr Group kGroups[] = {{1}, {2}, {4}, {8}, {1, 2}, {1, 1, 2}};
static constexpr Shape kShapes[] = {
    {128, 256, 2},       {256, 128, 2},       {192, 192, 3},      {128, 192, 2},
    {192, 128, 3},       {128, 128, 2},       {128, 96, 2},       {128, 64, 2},
    {64, 256, 1},        {64, 192, 1},        {64, 128, 1},       {64, 96, 1},
    {64, 64, 1},         {64, 32, 1},         {64, 16, 1},        {128, 128, 1},
    {128, 192, 2, true}, {128, 128, 2, true}, {128, 96, 2, true}, {64, 256, 2, true},
    {64, 128, 2, true},
};
/// Bytes that go through registers need 128 rows a warpgroup; others have narrow tiles above.
static constexpr Shape kTallShapes[] = {{128, 64, 1}, {128, 32, 1}, {128, 16, 1}};
/// Tall tiles for products of few columns: each tile takes a multiprocessor 0.33 us beside its
/// bytes, however many blocks there are (401408 x 16 x 32: 64 rows 26.8 us, 128 rows 18.9, 256 rows
/// 15.2).
static constexpr Shape kNarrowShapes[] = {{256, 64, 2}, {256, 32, 2}, {256, 16, 2}};
static constexpr int64_t kNarrowColumns = 64;
/// Numbers of rows whose columns are fitted to the multiprocessors.
static constexpr Shape kFittedShapes[] = {{64, 0, 1},      {128, 0, 2}, {128, 0, 1},
                                          {192, 0, 3},     {256, 0, 2}, {128, 0, 2, true},
                                          {64, 0, 2, true}};

/// Steps under way that hide memory's latency. Where an operand is on its way while the kernel
/// before still runs, a ring may have more, up to so many bytes: over half of a multiprocessor's,
/// so that no second block crowds there, and room is left for a kernel that does not multiply.
static constexpr int64_t kMostStages = 12, kFixedRingBytes = 136 << 10;

/// Fills in the number of stages; false if there is no room for two.
static bool fit(const Target &target, const MatmulProblem &problem, WGMMAPlan &plan) {
  int64_t room = getSharedRoom(target, plan.blocks);
  plan.stages = 1;
  int64_t steps = llvm::divideCeil(countSteps(problem, plan.tileK), plan.split) + 1;
  // More stages than steps, or than hide memory's latency, are of no use.
  while (plan.stages < std::max<int64_t>(steps, 2)) {
    WGMMAPlan more = plan;
    ++more.stages;
    int64_t bytes = getSharedBytes(problem, more);
    bool isEnough = more.stages > kMostStages && (!problem.isFixedB || bytes > kFixedRingBytes);
    if (isEnough || bytes > room)
      break;
    plan = more;
  }
  return plan.stages >= 2;
}

/// The narrowest tiles of `rows` rows that are no more than `waves` waves;
/// nothing if such are too wide.
static std::optional<int64_t> fitColumns(const Target &target, const MatmulProblem &problem,
                                         int64_t rows, const Group &group, int64_t waves) {
  int64_t blocks = group.split * group.clusterM * group.clusterN;
  int64_t groupsM = problem.batch * llvm::divideCeil(problem.m, rows * group.clusterM);
  int64_t groupsN = waves * (getClusterRoom(target, blocks) / blocks) / groupsM;
  if (groupsN == 0)
    return std::nullopt;
  bool hasPanels = problem.hasWholePanels && problem.across == MatmulProblem::Across::B;
  int64_t step =
      std::max(kFragmentColumns * group.split, hasPanels ? kLineBytes / problem.elementBytes : 0);
  int64_t columns = llvm::alignTo(llvm::divideCeil(problem.n, groupsN * group.clusterN), step);
  if (columns > kMostColumns)
    return std::nullopt;
  return columns;
}

/// True if the registers of a block of such tiles hold its sums, and what goes with them.
static bool fitsRegisters(const MatmulProblem &problem, const Shape &shape, int64_t blocks,
                          int64_t split) {
  int64_t sharers = shape.getWarpgroupsPerTile(), parts = shape.tileM / sharers / 64;
  int64_t sums = parts * shape.tileN / 2;
  // Both halves of a step's operand A are in registers where wgmma cannot read it across k.
  bool inRegisters = isReadAcross(problem);
  int64_t fragments = inRegisters ? 16 * parts : 0;
  // Outputs that threads store themselves take places of their own, and so do sums that other
  // blocks send.
  int64_t others = (problem.isStaged ? 40 : 48) + (split > 1 ? 24 : 0);
  WarpgroupRegisters registers =
      getRegisters(problem, shape.tileM, shape.tileN, shape.warpgroups, blocks);
  // Sums of two parts and those that other blocks send do not fit beside what threads load.
  if (problem.isByThreads() && split > 1 && sums > kSplitSums)
    return false;
  // Two blocks a multiprocessor start with so few registers that all of a thread's sums must fit
  // them: ptxas spills otherwise, but where one warpgroup gets the other's in time.
  bool takesAll = sharers == 1 && !inRegisters;
  bool fitsStart = blocks == 1 || takesAll || sums + fragments + 28 <= registers.launched;
  return fitsStart && sums + fragments + others <= registers.consumer &&
         shape.tileN / 2 + 28 <= registers.launched;
}

/// True if `blocks` blocks a multiprocessor can share such tiles' work as `group` says, and none is
/// left without.
static bool canShareWork(const MatmulProblem &problem, const Shape &shape, int64_t tileK,
                         int64_t blocks, const Group &group) {
  int64_t split = group.split, cluster = group.clusterM * group.clusterN;
  // Columns of pixels that blocks fetch for each other were no faster: 22.1 us, not 22.3.
  if (cluster > 1 && (problem.isConvolution() || problem.isAcross()))
    return false;
  // Each block of a group needs a tile of its own.
  if (cluster > 1 && (blocks > 1 || problem.m <= shape.tileM * (group.clusterM - 1) ||
                      problem.n <= shape.tileN * (group.clusterN - 1)))
    return false;
  // Each block of a cluster needs a part of k and of the columns.
  int64_t steps = countSteps(problem, tileK);
  bool canSplit = split == 1 || (shape.tileN % (8 * split) == 0 &&
                                 (split - 1) * llvm::divideCeilSigned(steps, split) < steps);
  // Rows beyond the product's are fetched and added up for nothing.
  bool wastesRows = shape.tileM > 64 && problem.m <= shape.tileM / 2;
  // Where pixels are what takes time, columns that are multiplied for nothing do not show in it.
  bool wastesColumns = problem.isConvolution() && problem.n <= shape.tileN / 2;
  // Ping-pong warpgroups of one multiprocessor do what two blocks would.
  bool isDouble = shape.pingPong && (blocks > 1 || split > 1);
  return canSplit && !wastesRows && !wastesColumns && !isDouble;
}

/// How many rows of tiles are computed column by column.
static int64_t chooseRaster(const Target &target, const MatmulProblem &problem,
                            const WGMMAPlan &plan) {
  // Operands that L2 holds are shared in any order. Memory then takes results fastest that lie
  // behind each other: 4565 x 9561 f32 in 82 us, and 91 by groups of 11 rows.
  int64_t operands = problem.batch * (problem.m + problem.n) * problem.k * problem.elementBytes;
  if (!problem.isConvolution() && !problem.isAcross() && operands <= kSharedOperandBytes)
    return problem.isSwapped ? llvm::divideCeil(problem.m, plan.tileM * plan.clusterM) : 1;
  // Square groups of tiles are shared best.
  double rows = std::sqrt(target.multiprocessors / double(plan.clusterM * plan.clusterN) *
                          plan.tileN * plan.clusterN / (plan.tileM * plan.clusterM));
  return std::max<int64_t>(1, std::lround(rows));
}

/// The plan of such tiles, if there is one.
static std::optional<WGMMAPlan> makePlan(const Target &target, const MatmulProblem &problem,
                                         const Shape &shape, int64_t tileK, int64_t blocks,
                                         const Group &group) {
  if (!canShareWork(problem, shape, tileK, blocks, group) ||
      !fitsRegisters(problem, shape, blocks, group.split))
    return std::nullopt;
  WGMMAPlan plan{};
  plan.tileM = shape.tileM;
  plan.tileN = shape.tileN;
  plan.tileK = tileK;
  plan.warpgroups = shape.warpgroups;
  plan.raster = 1;
  plan.blocks = blocks;
  plan.split = group.split;
  plan.pingPong = shape.pingPong;
  plan.clusterM = group.clusterM;
  plan.clusterN = group.clusterN;
  if (!fit(target, problem, plan) || !checkWGMMAPlan(target, problem, plan).empty())
    return std::nullopt;
  plan.raster = chooseRaster(target, problem, plan);
  plan.microseconds = estimateWGMMAPlan(target, problem, plan);
  return plan;
}

/// Shapes like `shape`, with such columns that no multiprocessor is idle in the last wave, which
/// are not among `others`.
static llvm::SmallVector<Shape> fitShapes(const Target &target, const MatmulProblem &problem,
                                          const Shape &shape, const Group &group,
                                          llvm::ArrayRef<Shape> others) {
  auto isAmongOthers = [&](int64_t columns) {
    return llvm::is_contained(others,
                              Shape{shape.tileM, columns, shape.warpgroups, shape.pingPong});
  };
  llvm::SmallVector<Shape> fitted;
  for (int64_t waves = 1; waves <= kFittedWaves; ++waves) {
    // Ping-pong blocks have two tiles at a time.
    std::optional<int64_t> columns =
        fitColumns(target, problem, shape.tileM, group, shape.pingPong ? waves * 2 : waves);
    bool isKnown = columns && ((!fitted.empty() && fitted.back().tileN == *columns) ||
                               isAmongOthers(*columns));
    if (columns && !isKnown)
      fitted.push_back({shape.tileM, *columns, shape.warpgroups, shape.pingPong});
  }
  return fitted;
}

/// Adds those that are wider than the product, as wide as that. Columns beyond it take time,
/// registers and shared memory for nothing: ping-pong tiles of 128 x 96 took 65.2 us for 64
/// features of 32 x 112 x 112 pixels, and such of 128 x 64 62.4.
static void addNarrowed(const MatmulProblem &problem, llvm::SmallVector<Shape> &shapes) {
  int64_t columns = llvm::alignTo(problem.n, kFragmentColumns);
  for (size_t i = 0, end = shapes.size(); i < end; ++i) {
    Shape narrowed = shapes[i];
    narrowed.tileN = std::min(narrowed.tileN, columns);
    if (!llvm::is_contained(shapes, narrowed))
      shapes.push_back(narrowed);
  }
}

/// Elements of a step along k: lines of 128 bytes. Of few channels shorter ones, which have fewer
/// zeros behind the last channel.
static llvm::SmallVector<int64_t> getStepWidths(const MatmulProblem &problem) {
  llvm::SmallVector<int64_t> widths{kLineBytes / problem.elementBytes};
  for (int64_t bytes : {kLineBytes / 2, kLineBytes / 4}) {
    int64_t width = bytes / problem.elementBytes;
    auto round = [&](int64_t to) { return llvm::alignTo(problem.k, to); };
    if (problem.isConvolution() && width >= 16 && round(width) < round(widths.back()))
      widths.push_back(width);
  }
  return widths;
}

llvm::SmallVector<WGMMAPlan> rankWGMMAPlans(const Target &target, const MatmulProblem &problem) {
  llvm::SmallVector<Shape> shapes(std::begin(kShapes), std::end(kShapes));
  if (isReadAcross(problem))
    llvm::append_range(shapes, kTallShapes);
  if (problem.n <= kNarrowColumns && !problem.isConvolution())
    llvm::append_range(shapes, kNarrowShapes);
  size_t listed = shapes.size();
  addNarrowed(problem, shapes);
  llvm::SmallVector<WGMMAPlan> plans;
  llvm::SmallVector<int64_t> widths = getStepWidths(problem);
  auto consider = [&](const Shape &shape, int64_t blocks, const Group &group) {
    for (int64_t tileK : widths)
      if (std::optional<WGMMAPlan> plan = makePlan(target, problem, shape, tileK, blocks, group))
        plans.push_back(*plan);
  };
  // Of narrowed tiles one block has the ring of a multiprocessor: two with two stages each took
  // 46.5 us for the gradient to 24 channels of 32 x 56 x 56 pixels, where 37.8 are cuDNN's.
  for (auto [number, shape] : llvm::enumerate(shapes))
    for (int64_t blocks = 1; blocks <= (number < listed ? 2 : 1); ++blocks)
      for (const Group &group : kGroups)
        consider(shape, blocks, group);
  if (!problem.isGuess)
    for (const Shape &rows : kFittedShapes)
      for (const Group &group : kGroups)
        for (const Shape &shape : fitShapes(target, problem, rows, group, shapes)) {
          consider(shape, /*blocks=*/1, group);
          // One block on each multiprocessor may leave room for the kernel behind.
          for (int64_t tileK : widths) {
            std::optional<WGMMAPlan> plan =
                makePlan(target, problem, shape, tileK, /*blocks=*/2, group);
            if (plan && countBlocks(problem, *plan) <= target.multiprocessors)
              plans.push_back(*plan);
          }
        }
  llvm::stable_sort(plans, [](const WGMMAPlan &lhs, const WGMMAPlan &rhs) {
    return lhs.microseconds < rhs.microseconds;
  });
  return plans;
}

double estimateBestWGMMAPlan(const Target &target, const MatmulProblem &problem) {
  llvm::SmallVector<WGMMAPlan> plans = rankWGMMAPlans(target, problem);
  return plans.empty() ? std::numeric_limits<double>::infinity() : plans.front().microseconds;
}

} // namespace xc::cuda
