//===- EmitWindowStrips.cpp - Strips of overlapping windows ---------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A thread computes a vector of channels at some neighbouring positions along a row of the image,
// and goes on to the rows below:
//
//   for each row of positions
//     for each row of the window
//       load the image's elements under the strip, each once
//       for each tap, for each position: combine
//     compute what follows; store
//
// Where windows of several rows of positions overlap, the thread goes down the rows of the image
// instead, and loads each of them once:
//
//   for each row of the image under the rows of positions
//     load its elements under the strip
//     for each row of positions whose windows it is in: for each tap, for each position: combine
//     for the row of positions whose windows end there: compute what follows; store
//
// Neighbouring threads have neighbouring channels, then neighbouring strips. Where the image is
// padded, loads are of the nearest element inside, and the padding is selected in its place: no
// branch keeps a load from starting early. The elements of windows are combined in their order.
//
// Left to other strategies: what matchWindowStrips refuses.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Common/KernelFrame.h"
#include "compiler/Codegen/CUDA/Common/LaneOps.h"
#include "compiler/Codegen/CUDA/Common/OutputStores.h"
#include "compiler/Codegen/CUDA/IR/WindowConfig.h"
#include "compiler/Codegen/CUDA/Passes.h"
#include "compiler/Codegen/CUDA/Window/WindowLoader.h"
#include "compiler/Codegen/CUDA/Window/WindowStrips.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <map>

using namespace mlir;

namespace xc::cuda {

#define GEN_PASS_DEF_EMITWINDOWSTRIPS
#include "compiler/Codegen/CUDA/Passes.h.inc"

namespace {

class StripEmitter {
public:
  StripEmitter(const KernelInfo &kernel, const WindowStrips &strips, WindowStripsAttr config)
      : kernel(kernel), strips(strips), config(config), lanes(config.getVector()),
        op(strips.getOp()), frame(kernel, config.getThreads()), points(frame.points),
        index(points.index), sizes(points.getLoopSizes(op)),
        loops(op.getNumLoops(), Coord::uniform(index.constant(0))),
        image(points, op, strips.image, sizes[strips.image.along], config.getStrip(), lanes) {}

  LogicalResult run();

private:
  /// Of each position those of each result of the reduction.
  using Sums = SmallVector<Value>;
  using Columns = std::map<int64_t, Value>; // of a row of the image

  void emitThread(Value number);
  void emitRows(Value firstRow);
  void emitSharedRows(Value firstRow);
  void emitRow();
  Sums emitInits();
  Columns emitColumns();
  Sums combineColumns(const Columns &columns, Sums sums);
  Sums emitWindow(size_t depth, Sums sums);
  Sums emitWindows(Sums sums);
  void emitOutputs(int64_t position, ValueRange sums);
  void emitStrip(Sums sums);
  MutableArrayRef<Value> getSums(Sums &sums, int64_t position) const {
    return MutableArrayRef<Value>(sums).slice(position * op->getNumResults(), op->getNumResults());
  }

  const KernelInfo &kernel;
  const WindowStrips &strips;
  WindowStripsAttr config;
  int64_t lanes;
  linalg::LinalgOp op;
  KernelFrame frame;
  PointEmitter &points;
  IndexBuilder &index;
  SmallVector<Value> sizes; // of the loops
  SmallVector<Coord> loops; // where the thread is
  WindowLoader image;
  Value start; // of the strip
};

} // namespace

/// The elements under the strip of the row of the image that `loops` say.
StripEmitter::Columns StripEmitter::emitColumns() {
  const WindowImage &slid = strips.image;
  Columns columns;
  for (int64_t position = 0; position < config.getStrip(); ++position)
    for (int64_t tap = 0; tap < strips.countTaps(); ++tap)
      columns[slid.getColumn(position, tap)];
  for (auto &[column, value] : columns)
    value = image.emit(loops, start, column);
  return columns;
}

/// `sums` with the row of their windows that `loops` say, whose elements `columns` are.
StripEmitter::Sums StripEmitter::combineColumns(const Columns &columns, Sums sums) {
  const WindowImage &slid = strips.image;
  for (int64_t tap = 0; tap < strips.countTaps(); ++tap) {
    loops[slid.tap] = Coord::uniform(index.constant(tap));
    for (int64_t position = 0; position < config.getStrip(); ++position) {
      loops[slid.along] = Coord::uniform(index.add(start, position));
      points.provide(slid.operand->get(), columns.at(slid.getColumn(position, tap)));
      MutableArrayRef<Value> own = getSums(sums, position);
      llvm::copy(combineElement(points, strips.combiner, own, loops, lanes), own.begin());
      points.provide(slid.operand->get(), Value());
    }
  }
  return sums;
}

/// The window's loops from `depth` of the outer ones on.
StripEmitter::Sums StripEmitter::emitWindow(size_t depth, Sums sums) {
  if (depth == strips.outerTaps.size())
    return combineColumns(emitColumns(), std::move(sums));
  unsigned loop = strips.outerTaps[depth];
  int64_t count = *getConstantIntValue(sizes[loop]);
  if (strips.countElements() <= kUnrolledWindow) {
    for (int64_t tap = 0; tap < count; ++tap) {
      loops[loop] = Coord::uniform(index.constant(tap));
      sums = emitWindow(depth + 1, std::move(sums));
    }
    return sums;
  }
  return points.emitLoop(index.constant(0), index.constant(count), index.constant(1), sums,
                         [&](Value tap, ValueRange carried) -> Sums {
                           loops[loop] = Coord::uniform(tap);
                           return emitWindow(depth + 1, Sums(carried));
                         });
}

/// All of them; of an image of no elements those of its padding.
StripEmitter::Sums StripEmitter::emitWindows(Sums sums) {
  Value hasElements = image.emitHasElements();
  if (!hasElements)
    return emitWindow(0, std::move(sums));
  Sums found = points.emitIfOrKeep(hasElements, sums, [&] { return emitWindow(0, sums); });
  Value one = arith::ConstantIntOp::create(points.builder, points.loc, 1, 1);
  Value isEmpty = arith::XOrIOp::create(points.builder, points.loc, hasElements, one);
  return points.emitIfOrKeep(isEmpty, found, [&] {
    image.setEmpty(true);
    Sums padding = emitWindow(0, found);
    image.setEmpty(false);
    return padding;
  });
}

void StripEmitter::emitOutputs(int64_t position, ValueRange sums) {
  Value place = index.add(start, position);
  loops[strips.image.along] = Coord::uniform(place);
  Value inside =
      image.isRagged() && position > 0 ? index.isLess(place, sizes[strips.image.along]) : Value();
  points.emitIf(inside, [&] {
    PointEmitter::Scope scope(points);
    for (auto [result, sum] : llvm::zip_equal(op->getResults(), sums))
      points.provide(result, sum);
    AffineMap result = op.getIndexingMapMatchingResult(op->getResult(0));
    Point point{{}, {}, lanes, {}};
    for (AffineExpr expr : result.getResults())
      point.coords.push_back(loops[cast<AffineDimExpr>(expr).getPosition()]);
    // All loads before all stores: a result may be in the memory of an input.
    SmallVector<std::pair<Coord, Value>> values;
    for (const KernelOutput &output : kernel.outputs) {
      Point own = point;
      Coord flat = getStoredPosition(points, output, own);
      values.push_back({flat, points.emit(output.tensor, own)});
    }
    for (auto [output, value] : llvm::zip_equal(kernel.outputs, values))
      points.store(output.binding, value.first, value.second, lanes);
    for (Value tensor : op->getResults())
      points.provide(tensor, Value());
  });
}

void StripEmitter::emitStrip(Sums sums) {
  for (int64_t position = 0; position < config.getStrip(); ++position)
    emitOutputs(position, getSums(sums, position));
}

StripEmitter::Sums StripEmitter::emitInits() {
  loops[strips.image.along] = Coord::uniform(index.constant(0));
  Sums ofPosition, sums;
  for (OpOperand &init : op.getDpsInitsMutable()) {
    Point point{{}, {}, lanes, {}};
    for (AffineExpr expr : op.getMatchingIndexingMap(&init).getResults())
      point.coords.push_back(points.apply(expr, loops, lanes));
    ofPosition.push_back(
        splatTo(points.builder, points.loc, points.emit(init.get(), point), lanes));
  }
  for (int64_t position = 0; position < config.getStrip(); ++position)
    llvm::append_range(sums, ofPosition);
  return sums;
}

void StripEmitter::emitRow() { emitStrip(emitWindows(emitInits())); }

/// Rows of positions from `firstRow` on, whose windows overlap. Rows behind the last one compute
/// what that one does, which is not stored.
void StripEmitter::emitSharedRows(Value firstRow) {
  const WindowDim &slid = *strips.sharedRows;
  Value count = sizes[slid.along];
  std::optional<int64_t> known = getConstantIntValue(count);
  bool isRagged = !known || *known % config.getRows() != 0;
  int64_t taps = *getConstantIntValue(sizes[slid.tap]);
  SmallVector<Value> rows;
  SmallVector<Sums> sums;
  for (int64_t row = 0; row < config.getRows(); ++row) {
    Value place = index.add(firstRow, row);
    rows.push_back(isRagged && row > 0 ? index.min(place, index.add(count, -1)) : place);
    loops[slid.along] = Coord::uniform(rows.back());
    sums.push_back(emitInits());
  }
  auto moveTo = [&](int64_t row, int64_t tap) {
    loops[slid.along] = Coord::uniform(rows[row]);
    loops[slid.tap] = Coord::uniform(index.constant(tap));
  };
  // Which tap of the windows of `row` the image's row is; none of theirs where it is no tap.
  auto getTap = [&](int64_t imageRow, int64_t row) {
    int64_t place = imageRow - row * slid.stride;
    return slid.dilation > 0 ? place : taps - 1 - place;
  };
  auto load = [&](int64_t imageRow) {
    // Of the first row that needs it: if that one is not there, none is.
    int64_t row = std::max<int64_t>(0, llvm::divideCeilSigned(imageRow - taps + 1, slid.stride));
    moveTo(row, getTap(imageRow, row));
    return emitColumns();
  };
  // Windows that are turned begin at their lowest row.
  auto order = llvm::to_vector(llvm::seq<int64_t>((config.getRows() - 1) * slid.stride + taps));
  if (slid.dilation < 0)
    std::reverse(order.begin(), order.end());
  Columns next = load(order.front());
  for (auto [step, imageRow] : llvm::enumerate(order)) {
    // The next row is on its way while this one is combined.
    Columns columns = std::move(next);
    if (step + 1 < order.size())
      next = load(order[step + 1]);
    for (int64_t row = 0; row < config.getRows(); ++row) {
      int64_t tap = getTap(imageRow, row);
      if (tap < 0 || tap >= taps)
        continue;
      moveTo(row, tap);
      sums[row] = combineColumns(columns, std::move(sums[row]));
      if (tap + 1 < taps)
        continue;
      Value isRow = isRagged && row > 0 ? index.isLess(index.add(firstRow, row), count) : Value();
      points.emitIf(isRow, [&] { emitStrip(sums[row]); });
    }
  }
}

void StripEmitter::emitRows(Value firstRow) {
  unsigned loop = *strips.rows;
  if (config.getRows() == 1) {
    loops[loop] = Coord::uniform(firstRow);
    return emitRow();
  }
  if (strips.sharedRows) {
    Value hasElements = image.emitHasElements();
    if (!hasElements)
      return emitSharedRows(firstRow);
    return points.emitIf(
        hasElements, [&] { emitSharedRows(firstRow); },
        [&] {
          image.setEmpty(true);
          emitSharedRows(firstRow);
          image.setEmpty(false);
        });
  }
  Value end = index.min(index.add(firstRow, config.getRows()), sizes[loop]);
  points.emitLoop(firstRow, end, index.constant(1), {},
                  [&](Value row, ValueRange) -> SmallVector<Value> {
                    loops[loop] = Coord::uniform(row);
                    emitRow();
                    return {};
                  });
}

void StripEmitter::emitThread(Value number) {
  SmallVector<Value> counts;
  for (unsigned loop : strips.outer)
    counts.push_back(sizes[loop]);
  if (strips.rows)
    counts.push_back(index.ceilDiv(sizes[*strips.rows], index.constant(config.getRows())));
  counts.push_back(index.ceilDiv(sizes[strips.image.along], index.constant(config.getStrip())));
  counts.push_back(index.div(sizes[strips.channel], lanes));
  SmallVector<Value> place = index.delinearize(number, counts);
  for (auto [loop, own] : llvm::zip(strips.outer, place))
    loops[loop] = Coord::uniform(own);
  Value first = index.mul(place.back(), lanes);
  loops[strips.channel] = lanes == 1 ? Coord::uniform(first) : Coord::consecutive(first);
  place.pop_back();
  start = index.mul(place.pop_back_val(), config.getStrip());
  if (!strips.rows)
    return emitRow();
  emitRows(index.mul(place.back(), config.getRows()));
}

LogicalResult StripEmitter::run() {
  SmallVector<Value> counts{
      index.div(sizes[strips.channel], lanes),
      index.ceilDiv(sizes[strips.image.along], index.constant(config.getStrip()))};
  if (strips.rows)
    counts.push_back(index.ceilDiv(sizes[*strips.rows], index.constant(config.getRows())));
  for (unsigned loop : strips.outer)
    counts.push_back(sizes[loop]);
  return frame.finishThreads(index.product(counts), [&](Value number) { emitThread(number); });
}

namespace {

struct EmitWindowStrips final : impl::EmitWindowStripsBase<EmitWindowStrips> {
  void runOnOperation() override {
    auto config = getOperation()->getAttrOfType<WindowStripsAttr>(plan::kConfigAttr);
    if (!config)
      return;
    FailureOr<KernelInfo> kernel = analyzeKernel(getOperation());
    if (failed(kernel))
      return signalPassFailure();
    std::string reason;
    std::optional<WindowStrips> strips = matchWindowStrips(*kernel, reason);
    if (!strips) {
      getOperation().emitOpError("expected windows of channels for ") << config << ": " << reason;
      return signalPassFailure();
    }
    int64_t channels = strips->getOp().getStaticLoopRanges()[strips->channel];
    if (ShapedType::isDynamic(channels) || channels % config.getVector() != 0) {
      getOperation().emitOpError("expected a multiple of ")
          << config.getVector() << " channels for " << config << ", got " << channels;
      return signalPassFailure();
    }
    if (failed(StripEmitter(*kernel, *strips, config).run()))
      signalPassFailure();
  }
};

} // namespace

} // namespace xc::cuda
