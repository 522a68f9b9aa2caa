//===- OperandAlignment.cpp - Which operands get aligned rows -------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The copy engine takes rows whose distance is a multiple of 16 bytes. An operand whose rows are
// not is brought to shared memory by threads, in few bytes at a time, and as often as there are
// tiles of the other operand, for wgmma or mma.sync to multiply it; or it is copied into wider rows
// for wgmma. Where all sizes are known, the models of the strategies say which of these is
// fastest. Where one is not, the product must have so many operations that the copy is worth it.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Matmul/OperandAlignment.h"

#include "compiler/Codegen/CUDA/Matmul/MatmulTiles.h"
#include "compiler/Codegen/CUDA/Matmul/ProductParts.h"
#include "compiler/Dialect/Array/IR/ArrayOps.h"
#include "compiler/Dialect/Plan/IR/PlanInitOps.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>
#include <limits>
#include <numeric>

using namespace mlir;

namespace xc::cuda {

/// What distances of rows must be multiples of.
static constexpr int64_t kRowBytes = 16;
/// Nanoseconds that wgmma saves for each operation where sizes are not known: what it does in one
/// and what replaces it does (700 and 330 TFLOP/s on an H200; mma.sync in TF32, and plain
/// instructions for i8).
static constexpr double kHalfGain = 1 / 330e3 - 1 / 700e3, kSingleGain = 1 / 165e3 - 1 / 350e3,
                        kByteGain = 1 / 25e3 - 1 / 1200e3;
/// Bytes a nanosecond of a copy, and the nanoseconds of another launch.
static constexpr double kCopyRate = 3800, kLaunchTime = 1750;

static bool isSignedBytes(linalg::ContractOp op) {
  return op.getCast() == linalg::TypeFn::cast_signed &&
         llvm::all_of(op.getDpsInputs(),
                      [](Value operand) { return getElementTypeOrSelf(operand).isInteger(8); });
}

static int64_t getElementBytes(Value tensor) {
  return getElementTypeOrSelf(tensor).getIntOrFloatBitWidth() / 8;
}

/// Nanoseconds an operation that wgmma saves; 0 if it does not know the types.
static double getGain(linalg::ContractOp op) {
  if (hasHalfOperands(op) && getElementTypeOrSelf(op.getDpsInputOperand(0)->get()) ==
                                 getElementTypeOrSelf(op.getDpsInputOperand(1)->get()))
    return kHalfGain;
  if (hasTF32Operands(op))
    return kSingleGain;
  return isSignedBytes(op) ? kByteGain : 0;
}

/// The sizes of the loops; symbolic ones are guessed as for the choice of tiles
/// (ProductProblems.cpp).
static SmallVector<double> getSizes(linalg::ContractOp op) {
  constexpr double outer = 4096, summed = 1024;
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  SmallVector<double> sizes;
  for (auto [dim, range] : llvm::enumerate(op.getStaticLoopRanges())) {
    bool isBatch =
        llvm::all_of(maps, [loop = dim](AffineMap map) { return map.isFunctionOfDim(loop); });
    double guess = isBatch ? 1 : iterators[dim] == utils::IteratorType::reduction ? summed : outer;
    sizes.push_back(ShapedType::isDynamic(range) ? guess : static_cast<double>(range));
  }
  return sizes;
}

static double countFlops(linalg::ContractOp op) {
  double flops = 2;
  for (double size : getSizes(op))
    flops *= size;
  return flops;
}

/// Bytes of the operand's rows; nothing if it has none, or they are of any length.
static std::optional<int64_t> getRowBytes(Value operand) {
  auto type = cast<RankedTensorType>(operand.getType());
  if (type.getRank() < 2 || ShapedType::isDynamic(type.getShape().back()))
    return std::nullopt;
  return type.getShape().back() * getElementBytes(operand);
}

/// The bytes of the operand if its rows need other distances; 0 if they do not, or it has no rows.
/// Where they are parts of longer rows, these count: a copy of 469 of 5589 columns took 30 us, as
/// one of all would.
static double getUnalignedBytes(linalg::ContractOp op, OpOperand *operand) {
  std::optional<int64_t> row = getRowBytes(operand->get());
  if (!row || *row % kRowBytes == 0)
    return 0;
  SmallVector<double> sizes = getSizes(op);
  auto bytes = static_cast<double>(getElementBytes(operand->get()));
  for (AffineExpr expr : op.getMatchingIndexingMap(operand).getResults())
    bytes *= sizes[cast<AffineDimExpr>(expr).getPosition()];
  if (auto slice = operand->get().getDefiningOp<tensor::ExtractSliceOp>())
    if (std::optional<int64_t> whole = getRowBytes(slice.getSource()))
      bytes *= std::max(1.0, static_cast<double>(*whole) / static_cast<double>(*row));
  return bytes;
}

/// True if the last dim of `operand` is one of a sum.
static bool runsAlongK(linalg::ContractOp op, OpOperand *operand) {
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  auto last = dyn_cast<AffineDimExpr>(op.getMatchingIndexingMap(operand).getResults().back());
  return !last || iterators[last.getPosition()] == utils::IteratorType::reduction;
}

/// Whether threads of the kernel transpose operand A, whose rows then need no alignment: wgmma
/// takes 16 bits across k, other types only along it (see MatmulTile).
static bool transposesA(linalg::ContractOp op) {
  return !hasHalfOperands(op) && llvm::none_of(op.getDpsInputOperands(), [&](OpOperand *operand) {
    return runsAlongK(op, operand);
  });
}

/// Whether `tensor` is a parameter, or computed of such once an instance.
static bool isFixed(Value tensor) {
  while (isa_and_present<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::ExtractSliceOp>(
      tensor.getDefiningOp()))
    tensor = tensor.getDefiningOp()->getOperand(0);
  return isa_and_present<array::ParameterOp, plan::PackedOp>(tensor.getDefiningOp());
}

std::optional<MatmulProblem> makeAlignedProblem(linalg::ContractOp op) {
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  FailureOr<linalg::ContractionDimensions> dims = linalg::inferContractionDims(op);
  if (failed(dims) || getGain(op) == 0 || llvm::any_of(ranges, ShapedType::isDynamic) ||
      llvm::is_contained(ranges, 0))
    return std::nullopt;
  auto product = [&](ArrayRef<unsigned> loops) { return multiplyRanges(ranges, loops); };
  MatmulProblem problem{};
  problem.batch = product(dims->batch);
  problem.m = product(dims->m);
  problem.n = product(dims->n);
  problem.k = product(dims->k);
  problem.elementBytes = getElementBytes(op.getDpsInputs().front());
  problem.outputBytes = getElementBytes(op.getDpsInits().front());
  problem.isKContiguousA = runsAlongK(op, op.getDpsInputOperand(0));
  problem.isKContiguousB = runsAlongK(op, op.getDpsInputOperand(1));
  // Other types than those of 16 bits lie across k only as operand A, or are transposed.
  if (problem.elementBytes == 2)
    return problem;
  if (!problem.isKContiguousB) {
    std::swap(problem.m, problem.n);
    std::swap(problem.isKContiguousA, problem.isKContiguousB);
  }
  problem.transposesB = !problem.isKContiguousB;
  // Sums whose operand A went through registers are stored by those who have them.
  int64_t rowBytes = cast<RankedTensorType>(op.getDpsInits().front().getType()).getShape().back() *
                     problem.outputBytes; // in range: of a tensor
  problem.isStaged = problem.isKContiguousA;
  problem.hasOddRows = rowBytes % kRowBytes != 0;
  return problem;
}

bool hasAlignedOperands(linalg::ContractOp op) {
  return llvm::all_of(op.getDpsInputs(), [](Value operand) {
    return cast<RankedTensorType>(operand.getType()).getShape().back() * getElementBytes(operand) %
               kRowBytes ==
           0;
  });
}

/// The product as mma.sync sees it where its operands are in memory.
static ProductSize makeMMASize(linalg::ContractOp op, const MatmulProblem &problem) {
  ProductSize size{problem.batch, problem.m, problem.n};
  size.elementBytes = problem.elementBytes;
  size.outputBytes = problem.outputBytes;
  size.k = problem.k;
  size.isRagged = problem.m % 256 != 0 || problem.n % 256 != 0 || problem.k % 64 != 0;
  size.isDemanding = problem.n % 2 != 0;
  auto output = cast<RankedTensorType>(op.getDpsInits().front().getType());
  size.hasOddRows = output.getShape().back() % 2 != 0;
  size.copyBytes = kRowBytes;
  for (OpOperand *operand : op.getDpsInputOperands()) {
    int64_t length = cast<RankedTensorType>(operand->get().getType()).getShape().back();
    auto width = static_cast<int64_t>(length & -length); // its largest power of two
    size.copyBytes = std::min(size.copyBytes, width * problem.elementBytes);
    size.isScattered |= width < 4;
  }
  size.isCopied = size.copyBytes >= kFewestCopiedBytes;
  return size;
}

/// How many loads make a word of the operand where threads of a kernel on wgmma load it as it lies;
/// 0 if they do not.
static int64_t countLoads(linalg::ContractOp op, OpOperand *operand) {
  constexpr int64_t kWordBytes = 4;
  int64_t bytes = getElementBytes(operand->get());
  std::optional<int64_t> row = getRowBytes(operand->get());
  bool isKnown = !op.hasDynamicShape() && row && bytes > 1;
  return !isKnown ? 0 : *row % kWordBytes == 0 ? 1 : kWordBytes / bytes;
}

/// Microseconds of wgmma where threads load the operands of `loaded` as they lie; infinite if they
/// cannot.
static double estimateLoaded(linalg::ContractOp op, MatmulProblem problem,
                             ArrayRef<OpOperand *> loaded, const Target &target) {
  // Whether the model's operand A is the op's B: see makeAlignedProblem.
  bool isSwapped = problem.elementBytes != 2 && !runsAlongK(op, op.getDpsInputOperand(1));
  for (OpOperand *operand : loaded) {
    int64_t loads = countLoads(op, operand);
    if (loads == 0)
      return std::numeric_limits<double>::infinity();
    bool isA = (operand == op.getDpsInputOperand(0)) != isSwapped;
    (isA ? problem.loadsA : problem.loadsB) = loads;
  }
  return estimateBestWGMMAPlan(target, problem);
}

/// Microseconds that mma.sync takes for `problem`, whose operands lie as those of `op` do.
static double estimateInPlace(linalg::ContractOp op, const MatmulProblem &problem,
                              const Target &target) {
  return estimateBestMMATiles(target, makeMMASize(op, problem));
}

namespace {

/// Operands whose rows boxes cannot bring, and the nanoseconds of copying each of them.
struct Unaligned {
  SmallVector<OpOperand *> operands;
  SmallVector<double> costs;

  double getCost() const { return std::accumulate(costs.begin(), costs.end(), 0.0); }
};

} // namespace

/// Nothing where operand A is to be transposed, and cannot be.
static Unaligned findUnaligned(linalg::ContractOp op) {
  auto operands = op.getDpsInputOperands();
  if (transposesA(op)) {
    // Words are transposed: four bytes, or one number of 32 bits; and only of known sizes.
    std::optional<int64_t> row = getRowBytes(operands.front()->get());
    if (llvm::is_contained(op.getStaticLoopRanges(), ShapedType::kDynamic) || !row || *row % 4 != 0)
      return {};
    operands.erase(operands.begin());
  }
  Unaligned found;
  for (OpOperand *operand : operands)
    if (double bytes = getUnalignedBytes(op, operand)) {
      found.operands.push_back(operand);
      found.costs.push_back(isFixed(operand->get()) ? 0 : 2 * bytes / kCopyRate + kLaunchTime);
    }
  return found;
}

double estimatePart(linalg::ContractOp op, const MatmulProblem &whole, const MatmulProblem &part,
                    bool endsEarly, const Target &target) {
  if (hasAlignedOperands(op))
    return estimateBestWGMMAPlan(target, part);
  Unaligned unaligned = findUnaligned(op);
  double inPlace = estimateInPlace(op, part, target);
  if (!unaligned.operands.empty())
    inPlace = std::min(inPlace, estimateLoaded(op, part, unaligned.operands, target));
  // The rows of parts along k are as far apart as whole rows, and are not copied; nor are operands
  // of partial sums. Copies of a part of each row take as long as those of all of it.
  bool isInParts = part.batch != whole.batch;
  bool isAlongK =
      llvm::any_of(unaligned.operands, [&](OpOperand *operand) { return runsAlongK(op, operand); });
  if (unaligned.operands.empty() || endsEarly || (isInParts && isAlongK))
    return inPlace;
  double share = isAlongK ? 1
                          : static_cast<double>(part.batch * part.k) /
                                static_cast<double>(whole.batch * whole.k);
  return std::min(inPlace,
                  estimateBestWGMMAPlan(target, part) + share * unaligned.getCost() / 1000);
}

/// Those of `unaligned` that are best copied, while threads load the others as they lie; none where
/// mma.sync does without.
static SmallVector<OpOperand *> chooseCopies(linalg::ContractOp op, const MatmulProblem &problem,
                                             const Unaligned &unaligned, const Target &target) {
  SmallVector<OpOperand *> best;
  double shortest = estimateInPlace(op, problem, target);
  for (unsigned copies = 0; copies < 1u << unaligned.operands.size(); ++copies) {
    SmallVector<OpOperand *> copied, loaded;
    double cost = 0;
    for (auto [number, operand] : llvm::enumerate(unaligned.operands)) {
      bool isCopied = copies >> number & 1;
      (isCopied ? copied : loaded).push_back(operand);
      cost += isCopied ? unaligned.costs[number] / 1000 : 0;
    }
    double time = estimateLoaded(op, problem, loaded, target) + cost;
    if (time < shortest) {
      shortest = time;
      best = copied;
    }
  }
  return best;
}

SmallVector<OpOperand *> chooseOperandsToAlign(linalg::ContractOp op, const Target &target) {
  if (!target.hasWGMMA || getGain(op) == 0)
    return {};
  Unaligned unaligned = findUnaligned(op);
  if (unaligned.operands.empty())
    return {};
  std::optional<MatmulProblem> problem = makeAlignedProblem(op);
  // Bytes whose model knows no patches are not compared.
  if (problem && problem->elementBytes > 1)
    return chooseCopies(op, *problem, unaligned, target);
  return countFlops(op) * getGain(op) < unaligned.getCost() ? SmallVector<OpOperand *>()
                                                            : unaligned.operands;
}

} // namespace xc::cuda
