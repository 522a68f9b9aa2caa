//===- WindowModel.cpp - How long a reduction of windows takes ------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A thread that loops over a window waits for what it reads, element after element, as long as the
// window is: where there are few results, that is what counts. Threads that share a window wait
// less, and meet. Where there are many, the multiprocessors are busy either way, with the elements
// or with the lines of memory that neighbouring threads read at a time: of windows that lie apart,
// each thread has a line of its own.
//
// The constants were fitted to an H200 (41 convolutions and pools of f32 and f16).
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Window/WindowModel.h"

#include "compiler/Codegen/CUDA/Common/KernelInfo.h"
#include "compiler/Codegen/CUDA/SelectStrategy.h"
#include "compiler/Dialect/Array/IR/Sizes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <algorithm>
#include <cmath>

using namespace mlir;

namespace xc::cuda {

/// Microseconds of a kernel whose threads loop over windows, share columns, or share rows.
static constexpr double kDirectStart = 1, kColumnStart = 2, kRowStart = 1.25;
/// Microseconds that a thread waits for an element of each of its results; of windows that begin in
/// sectors of their own, longer.
static constexpr double kElementWait = 0.03, kDistantWait = 0.06;
/// Instructions beside those of lanes, for each element of a window, and instructions of warps that
/// a multiprocessor issues in a cycle.
static constexpr double kAccessInstructions = 14, kDirectIssued = 2.2;
/// Threads of a multiprocessor that loop over windows at a time.
static constexpr double kDirectThreads = 1024;
/// Nanoseconds of a multiprocessor for a line that threads of a warp read, for an element of a
/// column, for one of a row, and for each thread of a row to meet the others.
static constexpr double kLine = 0.6, kColumnElement = 0.066, kRowElement = 0.046, kRowThread = 0.29;
static constexpr double kLineBytes = 128, kSectorBytes = 32, kWarp = 32;

/// The size of the innermost loop of `op` that `expr` has and that is of the kind; 1 if it has
/// none.
static int64_t getExtent(linalg::LinalgOp op, AffineExpr expr, utils::IteratorType kind) {
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  int64_t extent = 1;
  for (unsigned dim = 0; dim < op.getNumLoops(); ++dim)
    if (iterators[dim] == kind && expr.isFunctionOfDim(dim) && !ShapedType::isDynamic(ranges[dim]))
      extent = ranges[dim];
  return extent;
}

/// The input that windows slide over; null where they are found otherwise.
static OpOperand *findSlidInput(linalg::LinalgOp op) {
  for (OpOperand *input : op.getDpsInputOperands())
    if (!op.getMatchingIndexingMap(input).isProjectedPermutation(/*allowZeroInResults=*/true))
      return input;
  return nullptr;
}

int64_t guessResultSize(linalg::LinalgOp op) {
  constexpr double manyResults = 1 << 22, fewest = 8;
  double known = 1;
  int64_t symbolic = 0;
  AffineMap written = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  for (auto [dim, range] : llvm::enumerate(op.getStaticLoopRanges())) {
    bool isSymbolic = ShapedType::isDynamic(range);
    if (!written.isFunctionOfDim(dim))
      continue;
    symbolic += isSymbolic;
    known *= isSymbolic ? 1.0 : static_cast<double>(range);
  }
  double size = std::pow(manyResults / std::max(known, 1.0), 1.0 / std::max<int64_t>(symbolic, 1));
  return static_cast<int64_t>(std::max(size, fewest));
}

WindowProblem describeWindows(linalg::LinalgOp op, int64_t elements) {
  WindowProblem problem;
  problem.results = 1;
  problem.elements = elements;
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  int64_t guess = guessResultSize(op);
  AffineMap written = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  for (unsigned dim = 0; dim < op.getNumLoops(); ++dim)
    if (written.isFunctionOfDim(dim))
      problem.results = array::multiplyKnown(
          {problem.results, ShapedType::isDynamic(ranges[dim]) ? guess : ranges[dim]});

  OpOperand *slid = findSlidInput(op);
  if (!slid) {
    problem.run = kLineBytes;
    return problem;
  }
  AffineMap read = op.getMatchingIndexingMap(slid);
  int64_t bytes = getElementBytes(getElementTypeOrSelf(slid->get()));
  problem.run = bytes * getExtent(op, read.getResults().back(), utils::IteratorType::reduction);
  problem.apart = bytes;
  for (AffineExpr expr : llvm::reverse(written.getResults())) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim || ranges[dim.getPosition()] == 1)
      continue;
    if (!read.isFunctionOfDim(dim.getPosition())) {
      problem.features *= std::max<int64_t>(1, ranges[dim.getPosition()]);
      continue;
    }
    // What lies behind the coordinate by which this place is found.
    ArrayRef<int64_t> shape = cast<ShapedType>(slid->get().getType()).getShape();
    for (int64_t i = read.getNumResults() - 1;
         i > 0 && !read.getResult(i).isFunctionOfDim(dim.getPosition()); --i)
      problem.apart = array::multiplyKnown({problem.apart, ShapedType::isDynamic(shape[i])
                                                               ? static_cast<int64_t>(kLineBytes)
                                                               : shape[i]});
    break;
  }
  return problem;
}

SmallVector<OpOperand *> getReadInputs(linalg::LinalgOp op) {
  return llvm::filter_to_vector(op.getDpsInputOperands(), [&](OpOperand *input) {
    return !op.getMatchingBlockArgument(input).use_empty();
  });
}

double countSteps(const Combiner &combiner) {
  auto count = llvm::count_if(combiner.getSteps(), [](Operation *step) {
    return !step->hasTrait<OpTrait::ConstantLike>() && !isa<arith::AndIOp, arith::OrIOp>(step);
  });
  return std::max<double>(1, static_cast<double>(count));
}

double countElementInstructions(linalg::LinalgOp op) {
  SmallVector<OpOperand *> inputs = getReadInputs(op);
  auto count = static_cast<double>(inputs.size());
  for (OpOperand *input : inputs)
    count += getElementBytes(getElementTypeOrSelf(input->get())) < 4;
  // One step comes with what it combines.
  if (FailureOr<Combiner> combiner = Combiner::match(op); succeeded(combiner))
    count += countSteps(*combiner) - 1;
  return count;
}

double countKnownBytes(const KernelInfo &kernel) {
  double bytes = 0;
  for (plan::BindingOp binding : kernel.bindings)
    if (std::optional<int64_t> count = getStaticCount(kernel, binding))
      bytes += static_cast<double>(*count) *
               getElementBytes(cast<MemRefType>(binding.getMemory().getType()).getElementType());
  return bytes;
}

double estimateDirectWindows(const Target &target, const WindowProblem &problem,
                             const WindowWork &work, int64_t vector, int64_t unroll) {
  double elements = static_cast<double>(problem.results) * problem.elements;
  double threads = problem.results / double(vector * unroll);
  double waves = std::max(1.0, threads / (target.multiprocessors * kDirectThreads));
  double wait = (problem.apart < kSectorBytes ? kElementWait : kDistantWait) * problem.elements *
                vector * unroll * waves;
  // Of the places of a thread's vector each is read by itself, unless they are neighbours.
  double places = std::max(1.0, vector / double(problem.features));
  bool areNeighbours = problem.features == 1 && problem.apart * vector <= kLineBytes / 8;
  double distance = problem.apart * (areNeighbours ? 1 : places);
  double served = problem.features * std::clamp(kLineBytes / distance, 1.0, kWarp);
  double lines = elements / served * kLine / target.multiprocessors / 1000;
  double issue = elements * (work.elementInstructions + kAccessInstructions / double(vector)) /
                 (kWarp * kDirectIssued * target.multiprocessors * target.rates.clock * 1000);
  double memory = work.bytes / target.rates.memory / 1000;
  // Whichever takes longer hides most of the other.
  return kDirectStart +
         std::pow(std::pow(std::max({wait, lines, issue}), 4) + std::pow(memory, 4), 0.25);
}

double estimateWindowRows(const Target &target, const WindowProblem &problem, int64_t threads) {
  double served = std::clamp(problem.run / 4.0, 1.0, kWarp);
  double own = std::max(threads * kRowThread + problem.elements * kRowElement,
                        problem.elements / served * kLine);
  return kRowStart + problem.results * own / target.multiprocessors / 1000;
}

double estimateWindowColumns(const Target &target, const WindowProblem &problem) {
  double served = problem.features * std::clamp(kSectorBytes / problem.apart, 1.0, kWarp);
  double own = problem.elements * std::max(kColumnElement, kLine / served);
  return kColumnStart + problem.results * own / target.multiprocessors / 1000;
}

} // namespace xc::cuda
