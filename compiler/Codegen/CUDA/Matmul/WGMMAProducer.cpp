//===- WGMMAProducer.cpp - The warpgroup that fills the ring ------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One thread of the producer warpgroup starts all TMA copies. For each step of each tile it waits
// until a stage of the ring is empty, publishes how many bytes will arrive, and starts the boxes of
// both operands. Where threads bring an operand, WGMMACopies.cpp emits the producer instead.
//
// Weights that no call writes need not wait for the kernels in front. So the ring is filled with
// those of the first steps before anything else, while those kernels still run:
//
//   for each of the first steps: publish the bytes; start the boxes of the weights
//   wait for the kernels in front
//   for each step: start the boxes of the other operand, behind the first steps those of both
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Matmul/WGMMAEmitter.h"
#include "compiler/Dialect/Plan/IR/PlanInitOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;

namespace xc::cuda {

using Group = TiledAccess::Group;

//===----------------------------------------------------------------------===//
// Where boxes begin
//===----------------------------------------------------------------------===//

/// The corner of a box: the position in each group's dims; `start` says where M, N or K begin.
SmallVector<Value> WGMMAEmitter::getCoords(const TiledAccess &access, ValueRange taps,
                                           llvm::function_ref<Value(Group)> start) {
  SmallVector<Value> batch = tile.getBatchIndices();
  SmallVector<Value> coords;
  for (const TiledAccess::Dim &dim : access.dims) {
    if (!dim.isSingle()) {
      coords.push_back(start(dim.group));
      continue;
    }
    bool isTap = dim.group == Group::Tap;
    ArrayRef<unsigned> loops = isTap ? contraction.taps : contraction.batch;
    SmallVector<Value> parts;
    for (unsigned loop : dim.loops) {
      size_t place = llvm::find(loops, loop) - loops.begin();
      parts.push_back(isTap ? taps[place] : batch[place]);
    }
    coords.push_back(index.linearize(parts, tile.select(dim.loops)));
  }
  return coords;
}

/// Steps go through the blocks of channels of a tap, then on to the next tap.
SumStep WGMMAEmitter::getStep(Value number) {
  if (contraction.taps.empty()) {
    Value k = index.add(tile.startK, index.mul(number, config.getTileK()));
    // What is behind the end of a share is the next one's. A block that shares it and has nothing
    // to do goes behind the end of all.
    if (contraction.partial && contraction.partial->areShares() && config.getSplit() > 1)
      k = arith::SelectOp::create(
          builder, loc, index.isLess(index.mul(number, config.getTileK()), tile.sumLength), k,
          tile.sizeK);
    return {k, {}};
  }
  Value perTap = index.ceilDiv(tile.sizeK, index.constant(config.getTileK()));
  Value k = index.mul(index.rem(number, perTap), config.getTileK());
  return {k, index.delinearize(index.div(number, perTap), tile.select(contraction.taps))};
}

/// The image that position `pixel` is of, and where its windows begin there.
SmallVector<Value> WGMMAEmitter::getPixelPlace(Value pixel) {
  SmallVector<Value> sizes;
  for (const WindowedImage::Spatial &dim : image->spatial) {
    bool isSymbolic = ShapedType::isDynamic(dim.positions);
    sizes.push_back(isSymbolic ? tile.getLoopSizes()[*dim.position]
                               : index.constant(dim.positions));
  }
  // Rows behind the last image are of another one, which is zero.
  Value perImage = index.product(sizes);
  SmallVector<Value> place{index.div(pixel, perImage)};
  SmallVector<Value> positions = index.delinearize(index.rem(pixel, perImage), sizes);
  for (auto [dim, position] : llvm::zip_equal(image->spatial, positions))
    place.push_back(index.add(index.mul(position, dim.stride), dim.lower));
  return place;
}

std::pair<SmallVector<Value>, SmallVector<Value>>
WGMMAEmitter::getPixelCoords(Value pixel, Value channel, ValueRange taps) {
  SmallVector<Value> coords = getPixelPlace(pixel), offsets;
  for (const WindowedImage::Spatial &dim : image->spatial) {
    Value offset = index.constant(0);
    if (dim.tap) {
      size_t place = llvm::find(image->taps, *dim.tap) - image->taps.begin();
      Value tap = taps[place];
      if (dim.isBackward)
        tap = index.sub(index.sub(tile.getLoopSizes()[*dim.tap], index.constant(1)), tap);
      offset = index.mul(tap, dim.dilation);
    }
    offsets.push_back(offset);
  }
  if (image->group) {
    size_t place = llvm::find(contraction.batch, *image->group) - contraction.batch.begin();
    channel = index.add(channel, index.mul(tile.getBatchIndices()[place], image->channels));
  }
  coords.push_back(channel);
  return {coords, offsets};
}

//===----------------------------------------------------------------------===//
// From global to shared memory
//===----------------------------------------------------------------------===//

void WGMMAEmitter::fetchAcross(const Operand &operand, Value slot, const SumStep &step,
                               Value stage) {
  tile::SharedType type = operand.type;
  int64_t width = type.getPanelColumns();
  Value first = image->isB ? tile.startN : tile.startM;
  SmallVector<Value> batch = tile.getBatchIndices();
  auto load = [&](Value map, Value channel, ValueRange taps, IntegerAttr panel) {
    auto [coords, offsets] = getPixelCoords(step.k, channel, taps);
    tile::LoadOp::create(builder, loc, map, coords, offsets, slot, ring, stage, panel);
  };
  if (!image->hasWholePanels) {
    SmallVector<Value> taps = llvm::map_to_vector(image->taps, [&](unsigned loop) {
      return batch[llvm::find(contraction.batch, loop) - contraction.batch.begin()];
    });
    if (operand.map)
      load(operand.map, first, taps, IntegerAttr());
    if (operand.tailMap)
      load(operand.tailMap, index.add(first, type.getColumns() - type.getTailColumns()), taps,
           IntegerAttr());
    return;
  }
  // Panels beyond the last tap's are those of the last one again, which nobody stores.
  Value last = index.sub(image->isB ? tile.sizeN : tile.sizeM, index.constant(width));
  for (int64_t panel = 0; panel < type.getPanels(); ++panel) {
    Value column = index.min(index.add(first, panel * width), last);
    load(operand.map, index.rem(column, image->channels),
         index.delinearize(index.div(column, image->channels), tile.select(image->taps)),
         builder.getI64IntegerAttr(panel));
  }
}

/// Where the rows that this block fetches begin in the tile; null if it fetches all.
Value WGMMAEmitter::getPartRow(const Operand &operand) {
  return operand.part ? index.mul(operand.part, operand.rows) : Value();
}

/// The first row of the product that this block fetches of an operand with rows along m.
Value WGMMAEmitter::getFirstRow(const Operand &operand) {
  Value row = getPartRow(operand);
  return row ? index.add(tile.startM, row) : tile.startM;
}

/// Starts the copies of the operand's tile from `k` on, or those of this block's part of it.
void WGMMAEmitter::fetch(const Operand &operand, Value slot, const SumStep &step, Value stage) {
  if (operand.image && operand.image->isAcross)
    return fetchAcross(operand, slot, step, stage);
  bool kInnermost = operand.runsAlongK();
  Value row = getPartRow(operand);
  auto fetchFrom = [&](Value map, int64_t column) {
    auto getStart = [&](Group group) {
      Value start = group == Group::K ? step.k : group == Group::M ? tile.startM : tile.startN;
      if ((group == Group::K) == kInnermost)
        return index.add(start, column);
      return row ? index.add(start, row) : start;
    };
    SmallVector<Value> coords, offsets;
    if (operand.image)
      std::tie(coords, offsets) =
          getPixelCoords(getFirstRow(operand), getStart(Group::K), step.taps);
    else
      coords = getCoords(operand.access, step.taps, getStart);
    if (row)
      tile::MulticastOp::create(builder, loc, map, coords, offsets, slot, row, operand.blocks, ring,
                                stage);
    else
      tile::LoadOp::create(builder, loc, map, coords, offsets, slot, ring, stage, IntegerAttr());
  };
  if (operand.map)
    fetchFrom(operand.map, 0);
  if (operand.tailMap)
    fetchFrom(operand.tailMap, operand.type.getColumns() - operand.type.getTailColumns());
}

void WGMMAEmitter::publishBoxes(Value stage) {
  int64_t bytes = 0;
  for (const Operand &operand : operands)
    if (!operand.isByThreads())
      bytes += operand.rows * operand.sharers * operand.type.getColumns() *
               operand.type.getElementBytes();
  tile::PublishOp::create(builder, loc, ring, stage, bytes);
}

void WGMMAEmitter::fetchBoxes(Value stage, const SumStep &step,
                              llvm::function_ref<bool(const Operand &)> isWanted) {
  for (auto [number, operand] : llvm::enumerate(operands))
    if (!operand.isByThreads() && isWanted(operand))
      fetch(operand, tile::SlotOp::create(builder, loc, operand.type, ring, stage, number), step,
            stage);
}

/// Whether boxes bring the operand from memory that no call writes, to this block alone.
bool WGMMAEmitter::isFixed(const Operand &operand) const {
  return !operand.isByThreads() && !operand.image && cluster == 1 &&
         kernel.isFixed(operand.access.binding);
}

/// There are weights to fill the ring with, and each block has a tile.
bool WGMMAEmitter::canFillAhead() {
  return !hasLoadingThreads() &&
         getConstantIntValue(index.mul(tile.batches, index.mul(tile.tilesM, tile.tilesN))) &&
         llvm::any_of(operands, [&](const Operand &operand) { return isFixed(operand); });
}

/// The weights of a first tile's first steps, before what is in front of the kernel has ended.
void WGMMAEmitter::fillAhead(Value end) {
  points.emitLoop(
      firstStep, end, index.constant(1), {}, [&](Value step, ValueRange) -> SmallVector<Value> {
        Value stage = index.sub(step, firstStep);
        publishBoxes(stage);
        fetchBoxes(stage, getStep(step), [&](const Operand &operand) { return isFixed(operand); });
        return {};
      });
  NVVM::GriddepcontrolOp::create(builder, loc, NVVM::GridDepActionKind::wait);
}

/// Rows of a tile are the same pixels in all steps. Where sizes of images are symbolic, no pass
/// moves quotients by them out of a loop; what is built in front of it is reused in it.
void WGMMAEmitter::placePixels() {
  for (const Operand &operand : operands)
    if (operand.image && !operand.image->isAcross)
      getPixelPlace(getFirstRow(operand));
}

void WGMMAEmitter::emitProducer() {
  if (hasLoadingThreads())
    return emitLoadingProducer();
  // One thread starts all copies.
  emitElectedThread(points, thread, [&] {
    // The stage and its phase; and, where the ring is filled ahead, whether this is the first tile.
    SmallVector<Value> inits{index.constant(0), index.constant(0)};
    if (fillsAhead)
      inits.push_back(index.constant(1));
    emitTiles(Value(), inits, [&](ValueRange carried) -> SmallVector<Value> {
      placePixels();
      Value ahead; // steps before it have their weights
      if (fillsAhead) {
        Value end = index.min(index.add(firstStep, config.getStages()), lastStep);
        Value isFirst = index.isEqual(carried[2], index.constant(1));
        points.emitIf(isFirst, [&] { fillAhead(end); });
        ahead = arith::SelectOp::create(builder, loc, isFirst, end, firstStep);
      }
      SmallVector<Value> next =
          points.emitLoop(firstStep, lastStep, index.constant(1), carried.take_front(2),
                          [&](Value step, ValueRange inner) -> SmallVector<Value> {
                            RingState state = fetchStep(step, ahead, {inner[0], inner[1]});
                            return {state.stage, state.phase};
                          });
      RingState behind = fetchSideInputs({next[0], next[1]});
      next = {behind.stage, behind.phase};
      if (fillsAhead)
        next.push_back(index.constant(0));
      return next;
    });
  });
}

/// Both operands of a step, or the others than weights of one before `ahead`, if there is such a
/// one.
RingState WGMMAEmitter::fetchStep(Value step, Value ahead, RingState state) {
  SumStep place = getStep(step);
  auto fixed = [&](const Operand &operand) { return isFixed(operand); };
  auto other = [&](const Operand &operand) { return !isFixed(operand); };
  auto begin = [&] {
    tile::WaitEmptyOp::create(builder, loc, ring, state.stage, state.phase);
    publishBoxes(state.stage);
  };
  if (!ahead) {
    begin();
    fetchBoxes(state.stage, place, [](const Operand &) { return true; });
    return advance(state);
  }
  points.emitIf(index.isAtLeast(step, ahead), [&] {
    begin();
    fetchBoxes(state.stage, place, fixed);
  });
  fetchBoxes(state.stage, place, other);
  return advance(state);
}

} // namespace xc::cuda
