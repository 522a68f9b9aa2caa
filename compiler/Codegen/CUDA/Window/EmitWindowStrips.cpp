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
  using Sums = SmallVector<Value>;

  void emitThread(Value number);
  void emitRow();
  Sums emitWindow(size_t depth, Sums sums);
  Sums emitWindows(Sums sums);
  Sums emitWindowRow(Sums sums);
  void emitOutputs(int64_t position, Value sum);

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

StripEmitter::Sums StripEmitter::emitWindowRow(Sums sums) {
  const WindowImage &slid = strips.image;
  std::map<int64_t, Value> columns;
  for (int64_t position = 0; position < config.getStrip(); ++position)
    for (int64_t tap = 0; tap < strips.countTaps(); ++tap)
      columns[slid.getColumn(position, tap)];
  for (auto &[column, value] : columns)
    value = image.emit(loops, start, column);
  for (int64_t tap = 0; tap < strips.countTaps(); ++tap) {
    loops[slid.tap] = Coord::uniform(index.constant(tap));
    for (auto [position, sum] : llvm::enumerate(sums)) {
      loops[slid.along] = Coord::uniform(index.add(start, position));
      points.provide(slid.operand->get(),
                     columns[slid.getColumn(static_cast<int64_t>(position), tap)]);
      Value leaf = splatTo(points.builder, points.loc,
                           points.emitLeaves(strips.combiner, loops, lanes, {}).front(), lanes);
      points.provide(slid.operand->get(), Value());
      sum = combineLeaf(points, strips.combiner, sum, leaf);
    }
  }
  return sums;
}

/// The window's loops from `depth` of the outer ones on.
StripEmitter::Sums StripEmitter::emitWindow(size_t depth, Sums sums) {
  if (depth == strips.outerTaps.size())
    return emitWindowRow(std::move(sums));
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

void StripEmitter::emitOutputs(int64_t position, Value sum) {
  Value place = index.add(start, position);
  loops[strips.image.along] = Coord::uniform(place);
  Value inside =
      image.isRagged() && position > 0 ? index.isLess(place, sizes[strips.image.along]) : Value();
  points.emitIf(inside, [&] {
    PointEmitter::Scope scope(points);
    points.provide(op->getResult(0), sum);
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
    points.provide(op->getResult(0), Value());
  });
}

void StripEmitter::emitRow() {
  OpOperand &init = op.getDpsInitsMutable()[0];
  Sums sums;
  for (int64_t position = 0; position < config.getStrip(); ++position) {
    loops[strips.image.along] = Coord::uniform(index.constant(0));
    Point point{{}, {}, lanes, {}};
    for (AffineExpr expr : op.getMatchingIndexingMap(&init).getResults())
      point.coords.push_back(points.apply(expr, loops, lanes));
    sums.push_back(splatTo(points.builder, points.loc, points.emit(init.get(), point), lanes));
  }
  sums = emitWindows(std::move(sums));
  for (auto [position, sum] : llvm::enumerate(sums))
    emitOutputs(static_cast<int64_t>(position), sum);
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
  unsigned loop = *strips.rows;
  Value firstRow = index.mul(place.back(), config.getRows());
  if (config.getRows() == 1) {
    loops[loop] = Coord::uniform(firstRow);
    return emitRow();
  }
  Value end = index.min(index.add(firstRow, config.getRows()), sizes[loop]);
  points.emitLoop(firstRow, end, index.constant(1), {},
                  [&](Value row, ValueRange) -> SmallVector<Value> {
                    loops[loop] = Coord::uniform(row);
                    emitRow();
                    return {};
                  });
}

LogicalResult StripEmitter::run() {
  SmallVector<Value> counts{
      index.div(sizes[strips.channel], lanes),
      index.ceilDiv(sizes[strips.image.along], index.constant(config.getStrip()))};
  if (strips.rows)
    counts.push_back(index.ceilDiv(sizes[*strips.rows], index.constant(config.getRows())));
  for (unsigned loop : strips.outer)
    counts.push_back(sizes[loop]);
  Value total = index.product(counts), threads = index.constant(config.getThreads());
  Value number = index.add(index.mul(frame.getBlockId(), threads), frame.getThreadId());
  std::optional<int64_t> known = getConstantIntValue(total);
  Value inside = known && *known % config.getThreads() == 0 ? Value() : index.isLess(number, total);
  points.emitIf(inside, [&] { emitThread(number); });
  return frame.finish(index.ceilDiv(total, threads));
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
