//===- EmitWindowGradient.cpp - Partial sums of gradients to filters ------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block has some rows of positions, and some channels. Its threads share the strips of these
// rows and the rows of the window, and each holds the sums of a row of taps for a few channels in
// registers:
//
//   for each of the thread's strips whose row of the image is not padding
//     for each position of the strip (of what is left of a row of symbolic length: for each)
//       load the gradient of the output and the image's elements, each once
//       for each tap: multiply and add
//   for some taps at a time
//     put the sums in shared memory; add up those of all threads, in their order; store
//
// Neighbouring threads have neighbouring channels.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Common/KernelFrame.h"
#include "compiler/Codegen/CUDA/Common/LaneOps.h"
#include "compiler/Codegen/CUDA/IR/WindowConfig.h"
#include "compiler/Codegen/CUDA/Passes.h"
#include "compiler/Codegen/CUDA/Window/WindowGradient.h"
#include "compiler/Codegen/CUDA/Window/WindowLoader.h"

#include "compiler/Codegen/CUDA/Common/CombineResults.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <map>

using namespace mlir;

namespace xc::cuda {

#define GEN_PASS_DEF_EMITWINDOWGRADIENT
#include "compiler/Codegen/CUDA/Passes.h.inc"

/// Bytes of shared memory in which threads exchange their sums.
static constexpr int64_t kExchangeBytes = 32 << 10;

namespace {

class GradientEmitter {
public:
  GradientEmitter(const KernelInfo &kernel, const WindowGradient &gradient,
                  const Combiner &combiner, const plan::PartialSums &parts,
                  WindowGradientAttr config)
      : kernel(kernel), gradient(gradient), combiner(combiner), parts(parts), config(config),
        op(gradient.op), lanes(config.getVector()), windowRows(gradient.countWindowRows()),
        frame(kernel, config.getChunks() * windowRows * config.getWorkers()), points(frame.points),
        index(points.index), sizes(points.getLoopSizes(op)),
        loops(op.getNumLoops(), Coord::uniform(index.constant(0))), isOpen(gradient.isOpen()),
        image(points, op, gradient.image, sizes[gradient.image.along],
              isOpen ? 1 : config.getStrip(), lanes) {}

  LogicalResult run();

private:
  using Sums = SmallVector<Value>;

  SmallVector<Value> select(ArrayRef<unsigned> of) {
    return llvm::map_to_vector(of, [&](unsigned loop) { return sizes[loop]; });
  }
  void place();
  void countRows();
  Value countStrips();
  Sums emitStrips();
  Sums emitStrip(Value number, Sums sums);
  Value emitFactor(Value position);
  void placeWindowRow(Value number);
  Sums emitPositions(Value start, int64_t count, Sums sums);
  Sums emitPart(Value strip, Sums sums);
  Value getTapNumber(Value row, Value tap);
  void exchange(ArrayRef<Value> sums);
  void addUp(Value buffer, int64_t first, int64_t count);

  const KernelInfo &kernel;
  const WindowGradient &gradient;
  const Combiner &combiner;
  plan::PartialSums parts;
  WindowGradientAttr config;
  linalg::LinalgOp op;
  int64_t lanes, windowRows;
  KernelFrame frame;
  PointEmitter &points;
  IndexBuilder &index;
  SmallVector<Value> sizes; // of the loops
  SmallVector<Coord> loops; // where the thread is
  bool isOpen;              // rows are of symbolic length
  WindowLoader image;
  OpOperand *factor = nullptr; // the gradient of the outputs
  Value part, thread, worker;
  Value firstRow, rows; // of the block's part
  Value windowRow;      // the thread's
  Value channel;        // the block's first one
};

} // namespace

void GradientEmitter::place() {
  Value block = frame.getBlockId();
  thread = frame.getThreadId();
  int64_t own = lanes * config.getChunks();
  Value across = index.div(sizes[gradient.channel], own);
  part = index.div(block, across);
  channel = index.mul(index.rem(block, across), own);
  Value behind = index.div(thread, config.getChunks());
  windowRow = index.rem(behind, windowRows);
  worker = index.div(behind, windowRows);
  Value first = index.add(channel, index.mul(index.rem(thread, config.getChunks()), lanes));
  loops[gradient.channel] = lanes == 1 ? Coord::uniform(first) : Coord::consecutive(first);
  for (OpOperand *input : op.getDpsInputOperands())
    if (input != gradient.image.operand)
      factor = input;
}

/// The gradient of the output at `position` of the row.
Value GradientEmitter::emitFactor(Value position) {
  loops[gradient.image.along] = Coord::uniform(position);
  Point point{{}, {}, lanes, {}};
  for (AffineExpr expr : op.getMatchingIndexingMap(factor).getResults())
    point.coords.push_back(points.apply(expr, loops, lanes));
  return splatTo(points.builder, points.loc, points.emit(factor->get(), point), lanes);
}

/// Goes to the row of the window with this number.
void GradientEmitter::placeWindowRow(Value number) {
  for (auto [loop, place] :
       llvm::zip_equal(gradient.windowRows, index.delinearize(number, select(gradient.windowRows))))
    loops[loop] = Coord::uniform(place);
}

/// Adds `count` positions from `start` on. What is loaded is needed in the order of positions, and
/// few of it at a time.
GradientEmitter::Sums GradientEmitter::emitPositions(Value start, int64_t count, Sums sums) {
  const WindowImage &slid = gradient.image;
  std::map<int64_t, Value> columns;
  for (int64_t position = 0; position < count; ++position) {
    Value value = emitFactor(index.add(start, position));
    for (auto [tap, sum] : llvm::enumerate(sums)) {
      int64_t column = slid.getColumn(position, static_cast<int64_t>(tap));
      if (!columns[column])
        columns[column] = image.emit(loops, start, column);
      loops[slid.tap] = Coord::uniform(index.constant(static_cast<int64_t>(tap)));
      points.provide(slid.operand->get(), columns[column]);
      points.provide(factor->get(), value);
      sum = combineElement(points, combiner, sum, loops, lanes).front();
      points.provide(slid.operand->get(), Value());
      points.provide(factor->get(), Value());
    }
  }
  return sums;
}

/// The strips of a row; where its length is symbolic, and one for what is left of it.
Value GradientEmitter::countStrips() {
  Value whole = index.div(sizes[gradient.image.along], config.getStrip());
  return isOpen ? index.add(whole, 1) : whole;
}

/// Adds a strip of the row.
GradientEmitter::Sums GradientEmitter::emitPart(Value strip, Sums sums) {
  Value start = index.mul(strip, config.getStrip());
  auto emitWhole = [&] { return emitPositions(start, config.getStrip(), sums); };
  if (!isOpen)
    return emitWhole();
  Value end = sizes[gradient.image.along];
  Value isWhole = index.isAtLeast(end, index.add(start, config.getStrip()));
  sums = points.emitIfOrKeep(isWhole, sums, emitWhole);
  Value first = arith::SelectOp::create(points.builder, points.loc, isWhole, end, start);
  return points.emitLoop(first, end, index.constant(1), sums,
                         [&](Value position, ValueRange carried) -> Sums {
                           return emitPositions(position, 1, Sums(carried));
                         });
}

GradientEmitter::Sums GradientEmitter::emitStrip(Value number, Sums sums) {
  Value strips = countStrips();
  Value row = index.add(firstRow, index.div(number, strips));
  Value strip = index.rem(number, strips);
  for (auto [loop, place] :
       llvm::zip_equal(gradient.rows, index.delinearize(row, select(gradient.rows))))
    loops[loop] = Coord::uniform(place);
  placeWindowRow(windowRow);
  auto emit = [&] { return emitPart(strip, sums); };
  // Zeros add nothing: a branch costs less than to select them.
  Value inside = image.emitIsRowInside(loops);
  return inside ? points.emitIfOrKeep(inside, sums, emit) : emit();
}

/// The rows of the block's part. The last one may have fewer; where they are shares, some may have
/// none.
void GradientEmitter::countRows() {
  Value all = index.product(select(gradient.rows));
  rows = parts.areShares() ? index.ceilDiv(all, index.constant(parts.count))
                           : index.constant(parts.size);
  firstRow = index.mul(part, rows);
  if (parts.areShares())
    rows = index.max(index.min(rows, index.sub(all, firstRow)), index.constant(0));
  else if (gradient.countRows() % parts.size != 0)
    rows = index.min(rows, index.sub(all, firstRow));
  // Zeros add nothing.
  if (Value hasElements = image.emitHasElements())
    rows =
        arith::SelectOp::create(points.builder, points.loc, hasElements, rows, index.constant(0));
}

/// The thread's share of the strips of its block's rows.
GradientEmitter::Sums GradientEmitter::emitStrips() {
  countRows();
  Value count = index.mul(rows, countStrips());
  Type type = cast<TypedAttr>(combiner.getNeutral(0)).getType();
  Value zero = points.zero(lanes == 1 ? type : VectorType::get(lanes, type));
  return points.emitLoop(
      worker, count, index.constant(config.getWorkers()),
      Sums(gradient.countTaps() / windowRows, zero),
      [&](Value number, ValueRange carried) -> Sums { return emitStrip(number, Sums(carried)); });
}

/// The number, in the result's order, of a tap of a row of the window.
Value GradientEmitter::getTapNumber(Value row, Value tap) {
  placeWindowRow(row);
  loops[gradient.image.tap] = Coord::uniform(tap);
  SmallVector<Value> places =
      llvm::map_to_vector(gradient.taps, [&](unsigned loop) { return loops[loop].first(); });
  return index.linearize(places, select(gradient.taps));
}

/// Adds up what all threads have of their `count` sums from `first` on.
void GradientEmitter::addUp(Value buffer, int64_t first, int64_t count) {
  int64_t own = lanes * config.getChunks(),
          threads = own / lanes * windowRows * config.getWorkers();
  points.emitLoop(
      thread, index.constant(count * windowRows * own), index.constant(threads), {},
      [&](Value element, ValueRange) -> SmallVector<Value> {
        Value line = index.div(element, own), place = index.rem(element, own);
        Value start = index.add(index.mul(line, own * config.getWorkers()), place);
        auto load = [&](Value of) -> Value {
          return memref::LoadOp::create(points.builder, points.loc, buffer,
                                        index.add(start, index.mul(of, own)));
        };
        Value total = points
                          .emitLoop(index.constant(1), index.constant(config.getWorkers()),
                                    index.constant(1), load(index.constant(0)),
                                    [&](Value of, ValueRange sum) {
                                      return combineResults(points.builder, points.loc, combiner,
                                                            sum.front(), load(of));
                                    })
                          .front();
        Value tap = getTapNumber(index.rem(line, windowRows),
                                 index.add(index.div(line, windowRows), first));
        Value flat = index.add(index.mul(part, gradient.countTaps()), tap);
        flat = index.add(index.mul(flat, sizes[gradient.channel]), index.add(channel, place));
        points.store(kernel.outputs.front().binding, Coord::uniform(flat), total, 1);
        return {};
      });
}

void GradientEmitter::exchange(ArrayRef<Value> sums) {
  Type type = getElementTypeOrSelf(sums.front().getType());
  int64_t own = lanes * config.getChunks(), ofSum = own * windowRows * config.getWorkers();
  int64_t together =
      std::clamp<int64_t>(kExchangeBytes / (ofSum * 4), 1, static_cast<int64_t>(sums.size()));
  Value buffer = frame.allocateShared(type, together * ofSum);
  Value line = index.add(index.mul(windowRow, config.getWorkers()), worker);
  Value place =
      index.add(index.mul(line, own), index.mul(index.rem(thread, config.getChunks()), lanes));
  for (int64_t first = 0; first < static_cast<int64_t>(sums.size()); first += together) {
    int64_t count = std::min<int64_t>(together, sums.size() - first);
    if (first > 0)
      frame.barrier();
    for (int64_t number = 0; number < count; ++number) {
      Value at = index.add(place, number * ofSum);
      if (lanes == 1)
        memref::StoreOp::create(points.builder, points.loc, sums[first + number], buffer, at);
      else
        vector::StoreOp::create(points.builder, points.loc, sums[first + number], buffer, at,
                                /*nontemporal=*/false,
                                llvm::MaybeAlign(std::min<int64_t>(16, lanes * 4)));
    }
    frame.barrier();
    addUp(buffer, first, count);
  }
}

LogicalResult GradientEmitter::run() {
  frame.setFewestBlocks(1);
  place();
  exchange(emitStrips());
  Value across = index.div(sizes[gradient.channel], lanes * config.getChunks());
  return frame.finish(index.mul(across, parts.count));
}

namespace {

struct EmitWindowGradient final : impl::EmitWindowGradientBase<EmitWindowGradient> {
  void runOnOperation() override {
    auto config = getOperation()->getAttrOfType<WindowGradientAttr>(plan::kConfigAttr);
    if (!config)
      return;
    FailureOr<KernelInfo> kernel = analyzeKernel(getOperation());
    if (failed(kernel))
      return signalPassFailure();
    std::string reason = "it reduces nothing, or more than once";
    SmallVector<linalg::LinalgOp> reductions = kernel->getReductions();
    std::optional<WindowGradient> gradient;
    std::optional<plan::PartialSums> parts;
    if (reductions.size() == 1 && kernel->outputs.size() == 1 &&
        kernel->outputs.front().tensor.getDefiningOp() == reductions.front()) {
      gradient = matchWindowGradient(reductions.front(), reason);
      parts = plan::getPartialSums(reductions.front());
    }
    FailureOr<Combiner> combiner =
        gradient ? Combiner::match(gradient->op) : FailureOr<Combiner>(failure());
    if (!gradient || !parts || failed(combiner)) {
      getOperation().emitOpError("expected partial sums of a gradient to a filter for ")
          << config << ": " << reason;
      return signalPassFailure();
    }
    SmallVector<int64_t> ranges = gradient->op.getStaticLoopRanges();
    bool isCut = !gradient->isOpen() && ranges[gradient->image.along] % config.getStrip() != 0;
    if (ranges[gradient->channel] % (config.getVector() * config.getChunks()) != 0 || isCut) {
      getOperation().emitOpError("expected whole chunks of channels and whole strips for ")
          << config << ", got " << ranges[gradient->channel] << " channels and rows of "
          << ranges[gradient->image.along];
      return signalPassFailure();
    }
    int64_t rows = gradient->countWindowRows();
    if (rows * config.getChunks() * config.getWorkers() > kMostGradientThreads) {
      getOperation().emitOpError("expected at most ")
          << kMostGradientThreads << " threads for " << config << ", got a window of " << rows
          << " rows";
      return signalPassFailure();
    }
    if (failed(GradientEmitter(*kernel, *gradient, *combiner, *parts, config).run()))
      signalPassFailure();
  }
};

} // namespace

} // namespace xc::cuda
