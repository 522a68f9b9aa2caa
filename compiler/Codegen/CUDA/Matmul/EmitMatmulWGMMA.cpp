//===- EmitMatmulWGMMA.cpp - Matrix products on wgmma ---------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block stays on its multiprocessor and walks over tiles of the product:
//
//   one warpgroup fetches:                  the others multiply, each its rows of the tile:
//     for each tile                           for each tile
//       for each step along k                   for each step along k
//         wait until the stage is empty           wait until the stage is full
//         start copies of both tiles into it      start the product
//                                                 wait for the product before; release its stage
//                                               compute the outputs; store them
//
// The ring of stages runs on from tile to tile, so that the first steps of a tile are fetched while
// the outputs of the tile before are computed. Where warpgroups take turns, each team works on
// tiles of its own, which follow one another in the ring: the outputs of one team are computed and
// stored while the other team multiplies.
//
// Operands keep their own order: a tile's lines run along k, or along the operand's own dim, which
// wgmma reads transposed if elements have 16 bits. If they have not, such an operand is the first
// factor (the product is then computed transposed, if that is B), and read into registers across
// its lines, one half of a step while the other half's products are under way:
//
//   for each step along k
//     wait until the stage is full
//     read the first half; start its products; wait for the second half of the step before
//     read the second half; start its products; wait for the first half
//
// Where the second factor is such an operand, too, threads turn it: see Emit/WGMMACopies.cpp.
//
// In a cluster of rows and columns of blocks, each block fetches a part of the lines of what it
// shares with others and sends it to all of them; a stage is empty once the consumers of all of
// them have released it. Outputs of 16 bits whose rows are aligned pass through shared memory and
// are stored by boxes, and those of 32 bits if there is room for that; others are stored by the
// threads that hold them.
//
// Tiles may be wider than a whole number of panels: a map of its own has the last, narrower boxes
// of the second factor, and of outputs.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Common/Guards.h"
#include "compiler/Codegen/CUDA/Matmul/MatmulModel.h"
#include "compiler/Codegen/CUDA/Matmul/WGMMAEmitter.h"
#include "compiler/Codegen/CUDA/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace xc::cuda {

#define GEN_PASS_DEF_EMITMATMULWGMMA
#include "compiler/Codegen/CUDA/Passes.h.inc"

using Group = TiledAccess::Group;

static constexpr int64_t kWarps = tile::kWarpgroupThreads / 32;

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

Value WGMMAEmitter::makeMap(const TiledAccess &access, tile::SharedType type, bool isOperand,
                            llvm::function_ref<int64_t(Group)> extent) {
  SmallVector<AffineExpr> sizes, strides;
  SmallVector<int64_t> box;
  for (const TiledAccess::Dim &dim : access.dims) {
    sizes.push_back(dim.size);
    strides.push_back(dim.stride);
    box.push_back(dim.isSingle() ? 1 : extent(dim.group));
  }
  MLIRContext *context = builder.getContext();
  unsigned scalars = countScalars(kernel.getFunction());
  auto getMap = [&](ArrayRef<AffineExpr> exprs) {
    return AffineMapAttr::get(AffineMap::get(0, scalars, exprs, context));
  };
  bool isWhole = access.offset == getAffineConstantExpr(0, context);
  Type elementType = type.getElementType();
  bool rounds = isOperand && elementType.isF32();
  return tile::TensorMapOp::create(
      builder, loc, tile::TensorMapType::get(context, box, elementType, type.getLineBytes()),
      points.getMemory(access.binding), getMap(sizes), getMap(strides),
      isWhole ? AffineMapAttr() : getMap(access.offset),
      rounds ? builder.getUnitAttr() : UnitAttr());
}

LogicalResult WGMMAEmitter::addOperand(const Contraction::Side &side, int64_t own) {
  if (inRegisters && !side.isKContiguous)
    return addTurned(side, own);
  std::string reason;
  std::optional<TiledAccess> access =
      matchTiledOperand(contraction, side, tile.getLoopSizes(), index, reason);
  if (!access)
    return kernel.getFunction().emitOpError("expected operands that can be copied by boxes for ")
           << config << ": " << reason;
  bool kInnermost = access->dims.back().group == Group::K;
  Type elementType = getElementTypeOrSelf(side.operand->get());
  int64_t k = config.getTileK();
  // What boxes have for lines: what can be swizzled, or panels of the longest such lines. wgmma
  // reads the last one of the second factor as far as the tile goes.
  int64_t bytes = own * getElementBytes(elementType);
  bool canEndEarly = !operands.empty() && getElementBytes(elementType) == 2;
  if (!kInnermost && !hasCopiedLines(bytes, canEndEarly))
    return kernel.getFunction().emitOpError("expected rows of 32, 64 or a multiple of 128 bytes "
                                            "(16 from 64 on, of operand B) of "
                                            "an operand that is not contiguous along k for ")
           << config << ", got " << bytes;
  auto [type, rows] = getLines(side, own);
  if (!kInnermost) {
    type = tile::SharedType::get(builder.getContext(), k, own, elementType);
    rows = k / countSharers(side);
  }
  if (!kInnermost && type.getElementBytes() != 2) {
    if (!operands.empty())
      return kernel.getFunction().emitOpError("expected an operand that is contiguous along k for ")
             << config << " of elements of " << type.getElementBytes() << " bytes";
    inRegisters = true;
  }
  addMaps({side, *access, type, rows}, [&, type = type, rows = rows](int64_t columns) {
    return makeMap(*access, type, /*isOperand=*/true, [&](Group group) {
      bool isInnermost = (group == Group::K) == kInnermost;
      return isInnermost ? columns : rows;
    });
  });
  return success();
}

int64_t WGMMAEmitter::countSharers(const Contraction::Side &side) const {
  return &side == &contraction.a ? config.getClusterN() : config.getClusterM();
}

std::pair<tile::SharedType, int64_t> WGMMAEmitter::getLines(const Contraction::Side &side,
                                                            int64_t own) {
  int64_t sharers = countSharers(side);
  std::optional<int64_t> size =
      getLargestSize(kernel.getFunction(), &side == &contraction.a ? tile.sizeM : tile.sizeN);
  // wgmma reads eight rows of the first factor again where there are no more.
  if (sharers == 1 && operands.empty() && size && *size <= tile::kRepeatedRows)
    own = tile::kRepeatedRows;
  auto type = tile::SharedType::get(builder.getContext(), own, config.getTileK(),
                                    getElementTypeOrSelf(side.operand->get()));
  int64_t rows = own / sharers;
  // Rows beyond a small operand are not fetched with each box: filling them with zeros would take
  // longer than the rows that are there.
  if (sharers == 1 && size)
    rows = std::min(rows, std::max<int64_t>(*size, 1));
  return {type, rows};
}

void WGMMAEmitter::addMaps(Operand operand, llvm::function_ref<Value(int64_t)> makeBoxes) {
  tile::SharedType type = operand.type;
  if (type.getColumns() >= type.getPanelColumns())
    operand.map = makeBoxes(type.getPanelColumns());
  if (type.getTailColumns() > 0)
    operand.tailMap = makeBoxes(type.getTailColumns());
  if (countSharers(operand.side) > 1)
    share(operand, &operand.side == &contraction.a);
  operands.push_back(operand);
}

/// The image of a convolution. Rows of the tile are output positions, and each step brings the
/// channels that one tap reads of the image for them; or steps are of positions, and rows of
/// taps and channels.
LogicalResult WGMMAEmitter::addImage(const Contraction::Side &side, int64_t own) {
  tile::SharedType type;
  int64_t rows = config.getTileK();
  if (image->isAcross)
    type = tile::SharedType::get(builder.getContext(), rows, own,
                                 getElementTypeOrSelf(side.operand->get()));
  else
    std::tie(type, rows) = getLines(side, own);
  Operand operand{side, TiledAccess(), type, rows};
  operand.image = image;
  bool isWhole = !image->hasWholePanels || type.getTailColumns() == 0;
  if (image->isAcross && (cluster > 1 || !isWhole))
    return kernel.getFunction().emitOpError("expected ")
           << (isWhole ? "blocks that fetch for themselves" : "whole panels of taps and channels")
           << " for " << config << ", whose columns of pixels do not run along k";
  addMaps(operand, [&, type = type, rows = rows](int64_t channels) {
    return makePixelMap(type, channels, rows);
  });
  return success();
}

LogicalResult WGMMAEmitter::add(const Contraction::Side &side, int64_t own) {
  bool isImage = image && image->isB == (&side == &contraction.b);
  return isImage ? addImage(side, own) : addOperand(side, own);
}

/// A map of columns of `pixels` pixels, `channels` of each.
Value WGMMAEmitter::makePixelMap(tile::SharedType type, int64_t channels, int64_t pixels) {
  MLIRContext *context = builder.getContext();
  plan::BindingOp binding = image->binding;
  ArrayRef<int64_t> shape = cast<MemRefType>(binding.getMemory().getType()).getShape();
  auto number = [&](int64_t value) { return getAffineConstantExpr(value, context); };
  // Spatial sizes and channels are numbers, the number of images may be none.
  SmallVector<AffineExpr> sizes, strides;
  SmallVector<int64_t> lower, upper, steps;
  auto getDistance = [&](unsigned dim) {
    int64_t distance = 1;
    for (int64_t size : shape.drop_front(dim + 1))
      distance *= size;
    return distance;
  };
  int64_t all = getDistance(0) * (image->imageDim ? 1 : shape.front());
  sizes.push_back(image->images ? getScalarFormula(tile.getLoopSizes()[*image->images], context)
                                : number(1));
  strides.push_back(number(image->imageDim ? getDistance(*image->imageDim) : all));
  for (auto [dim, place] : llvm::zip_equal(image->spatial, image->spatialDims)) {
    sizes.push_back(number(dim.size));
    strides.push_back(number(getDistance(place)));
    lower.push_back(dim.lower);
    upper.push_back(dim.upper);
    steps.push_back(dim.stride);
  }
  sizes.push_back(number(image->channels));
  strides.push_back(number(1));
  unsigned scalars = countScalars(kernel.getFunction());
  auto getMap = [&](ArrayRef<AffineExpr> exprs) {
    return AffineMapAttr::get(AffineMap::get(0, scalars, exprs, context));
  };
  Type elementType = type.getElementType();
  auto mapType = tile::TensorMapType::get(context, ArrayRef<int64_t>{pixels, channels}, elementType,
                                          type.getLineBytes(), static_cast<int64_t>(sizes.size()));
  return tile::TensorMapOp::create(
      builder, loc, mapType, points.getMemory(binding), getMap(sizes), getMap(strides),
      image->firstChannel ? getMap(number(image->firstChannel)) : AffineMapAttr(),
      elementType.isF32() ? builder.getUnitAttr() : UnitAttr(), builder.getDenseI64ArrayAttr(lower),
      builder.getDenseI64ArrayAttr(upper), builder.getDenseI64ArrayAttr(steps));
}

/// The blocks of a row of the cluster share rows of A, those of a column share columns of B.
void WGMMAEmitter::share(Operand &operand, bool isA) {
  int64_t columns = config.getClusterN(), first = 0;
  operand.sharers = isA ? columns : config.getClusterM();
  operand.part = isA ? clusterColumn : clusterRow;
  for (int64_t sharer = 0; sharer < operand.sharers; ++sharer)
    first |= 1 << (isA ? sharer : sharer * columns);
  Value shift = isA ? index.mul(clusterRow, columns) : clusterColumn;
  operand.blocks = arith::ShLIOp::create(builder, loc, index.constant(first), shift);
}

void WGMMAEmitter::makeCluster() {
  if (cluster == 1)
    return;
  rank = index.rem(frame.getBlockId(), cluster);
  clusterRow = index.div(rank, config.getClusterN());
  clusterColumn = index.rem(rank, config.getClusterN());
  tile.setGroup(config.getClusterM(), config.getClusterN());
}

void WGMMAEmitter::prepareOutput() {
  ArrayRef<ReductionGroup::Result> results = contraction.group.results;
  if (results.size() != 1 || swapped || inRegisters)
    return;
  const ReductionGroup::Result &result = results.front();
  Type elementType = getElementTypeOrSelf(result.output.tensor);
  int64_t used = scratch ? cast<tile::SharedType>(scratch.getType()).getBytes() : 0;
  for (const Operand &operand : operands)
    used += config.getStages() *
            (llvm::alignTo(operand.type.getBytes(), tile::kTileAlignment) + tile::kBarrierBytes);
  int64_t columns = getStagingColumns(*kernel.target, ownColumns, getElementBytes(elementType),
                                      config.getWarpgroups(), config.getBlocks(), used);
  std::string reason;
  std::optional<TiledAccess> access =
      matchTiledOutput(contraction, result, tile.getLoopSizes(), index, reason);
  if (columns == 0 || !access || access->dims.back().group != Group::N)
    return;
  // A box of a vector is one row, which only the first warpgroup has.
  bool hasRows = llvm::any_of(access->dims, [](const auto &dim) { return dim.group == Group::M; });
  if (!hasRows && config.getTileM() != tile::kWarpgroupRows)
    return;
  auto type = tile::SharedType::get(
      builder.getContext(), config.getWarpgroups() * tile::kWarpgroupRows, columns, elementType);
  output = access;
  auto makeBoxes = [&](int64_t width) {
    return makeMap(*access, type, /*isOperand=*/false,
                   [&](Group group) { return group == Group::N ? width : tile::kWarpgroupRows; });
  };
  if (ownColumns >= type.getPanelColumns())
    outputMap = makeBoxes(type.getPanelColumns());
  if (int64_t tail = ownColumns % type.getPanelColumns())
    outputTailMap = makeBoxes(tail);
  staging = tile::AllocOp::create(builder, loc, type, IntegerAttr());
}

void WGMMAEmitter::makeRing() {
  auto type = tile::RingType::get(builder.getContext(), config.getStages(),
                                  {operands[0].type, operands[1].type});
  // Whoever is sent a part releases the stages of its sender.
  int64_t consumers = (inRegisters ? team * kWarps : team) * countSenders();
  // Of those that fetch, one thread stands for all copies, and one of each warp that stores.
  int64_t arrivals = operands.back().isTurned ? 1 + kWarps : 1;
  ring =
      tile::RingOp::create(builder, loc, type, arrivals, consumers, IntegerAttr(), IntegerAttr());
  for (auto [number, operand] : llvm::enumerate(operands))
    if (operand.rows * operand.sharers < operand.type.getRows())
      clearRows(operand, number);
  // Up to here nothing that the kernel before it may have written is read.
  NVVM::GriddepcontrolOp::create(builder, loc, NVVM::GridDepActionKind::wait);
  if (cluster > 1)
    tile::SyncBlocksOp::create(builder, loc);
  else
    frame.barrier();
  NVVM::GriddepcontrolOp::create(builder, loc, NVVM::GridDepActionKind::launch_dependents);
}

/// Rows that no box brings are zero from the start.
void WGMMAEmitter::clearRows(const Operand &operand, int64_t number) {
  tile::SharedType type = operand.type;
  int64_t width = 16 / type.getElementBytes(), perRow = type.getColumns() / width;
  Value zeros = points.zero(VectorType::get(width, type.getElementType()));
  points.emitLoop(thread, index.constant((type.getRows() - operand.rows) * perRow),
                  index.constant(tile::kWarpgroupThreads * (1 + config.getWarpgroups())), {},
                  [&](Value chunk, ValueRange) -> SmallVector<Value> {
                    Value row = index.add(index.div(chunk, perRow), operand.rows);
                    Value column = index.mul(index.rem(chunk, perRow), width);
                    for (int64_t stage = 0; stage < config.getStages(); ++stage) {
                      Value slot = tile::SlotOp::create(builder, loc, type, ring,
                                                        index.constant(stage), number);
                      tile::WriteOp::create(builder, loc, zeros, slot, row, column);
                    }
                    return {};
                  });
  tile::FenceAsyncOp::create(builder, loc);
}

void WGMMAEmitter::prefetch(Value map) {
  points.emitIf(index.isEqual(thread, index.constant(0)),
                [&] { tile::PrefetchOp::create(builder, loc, map); });
}

/// The steps along k that this block does: all, or its share.
void WGMMAEmitter::makeSteps() {
  Value steps = index.mul(index.product(tile.select(contraction.taps)),
                          index.ceilDiv(tile.sumLength, index.constant(config.getTileK())));
  firstStep = index.constant(0);
  lastStep = steps;
  if (config.getSplit() == 1)
    return;
  rank = index.rem(frame.getBlockId(), config.getSplit());
  Value share = index.ceilDiv(steps, index.constant(config.getSplit()));
  firstStep = index.mul(rank, share);
  lastStep = index.min(steps, index.add(firstStep, share));
}

//===----------------------------------------------------------------------===//
// Schedule
//===----------------------------------------------------------------------===//

Block *WGMMAEmitter::fill(Region &region, unsigned indices, TypeRange carried,
                          llvm::function_ref<void(Block &)> body) {
  OpBuilder::InsertionGuard guard(builder);
  SmallVector<Type> types(indices, builder.getIndexType());
  llvm::append_range(types, carried);
  SmallVector<Location> locations(types.size(), loc);
  Block *block = builder.createBlock(&region, region.end(), types, locations);
  PointEmitter::Scope scope(points);
  body(*block);
  return block;
}

/// Rows and columns of tiles, or of clusters' groups of them.
std::pair<Value, Value> WGMMAEmitter::countGroups() {
  return {index.ceilDiv(tile.tilesM, index.constant(config.getClusterM())),
          index.ceilDiv(tile.tilesN, index.constant(config.getClusterN()))};
}

SmallVector<Value>
WGMMAEmitter::emitTiles(Value turn, ValueRange inits,
                        llvm::function_ref<SmallVector<Value>(ValueRange)> body) {
  auto [groupsM, groupsN] = countGroups();
  if (swapped)
    std::swap(groupsM, groupsN);
  int64_t share = config.getSplit() * cluster;
  auto loop = tile::PersistentOp::create(builder, loc, inits.getTypes(), groupsM, groupsN,
                                         tile.batches, config.getRaster(), share, turn,
                                         turn ? config.getTurns() : 1, inits);
  fill(loop.getBody(), 3, inits.getTypes(), [&](Block &block) {
    Value row = block.getArgument(swapped ? 1 : 0), column = block.getArgument(swapped ? 0 : 1);
    if (cluster > 1) {
      row = index.add(index.mul(row, config.getClusterM()), clusterRow);
      column = index.add(index.mul(column, config.getClusterN()), clusterColumn);
    }
    tile.place(row, column, block.getArgument(2));
    tile::YieldOp::create(builder, loc, body(ValueRange(block.getArguments()).drop_front(3)));
  });
  return SmallVector<Value>(loop.getResults());
}

RingState WGMMAEmitter::advance(RingState state) {
  Value zero = index.constant(0), one = index.constant(1);
  Value next = index.add(state.stage, one);
  Value wraps = index.isEqual(next, index.constant(config.getStages()));
  Value flipped = arith::XOrIOp::create(builder, loc, state.phase, one);
  return {arith::SelectOp::create(builder, loc, wraps, zero, next),
          arith::SelectOp::create(builder, loc, wraps, flipped, state.phase)};
}

RingState WGMMAEmitter::skip(RingState state, Value count) {
  Value place = index.add(state.stage, count);
  Value rounds = index.rem(index.div(place, config.getStages()), 2);
  return {index.rem(place, config.getStages()),
          arith::XOrIOp::create(builder, loc, state.phase, rounds)};
}

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
  if (contraction.taps.empty())
    return {index.add(tile.startK, index.mul(number, config.getTileK())), {}};
  Value perTap = index.ceilDiv(tile.sizeK, index.constant(config.getTileK()));
  Value k = index.mul(index.rem(number, perTap), config.getTileK());
  return {k, index.delinearize(index.div(number, perTap), tile.select(contraction.taps))};
}

std::pair<SmallVector<Value>, SmallVector<Value>>
WGMMAEmitter::getPixelCoords(Value pixel, Value channel, ValueRange taps) {
  SmallVector<Value> sizes, offsets;
  for (const WindowedImage::Spatial &dim : image->spatial)
    sizes.push_back(index.constant(dim.positions));
  // Rows behind the last image are of another one, which is zero.
  Value perImage = index.product(sizes);
  SmallVector<Value> coords{index.div(pixel, perImage)};
  SmallVector<Value> positions = index.delinearize(index.rem(pixel, perImage), sizes);
  for (auto [dim, position] : llvm::zip_equal(image->spatial, positions)) {
    coords.push_back(index.add(index.mul(position, dim.stride), dim.lower));
    Value offset = index.constant(0);
    if (dim.tap) {
      size_t place = llvm::find(image->taps, *dim.tap) - image->taps.begin();
      offset = index.mul(taps[place], dim.dilation);
    }
    offsets.push_back(offset);
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

/// Starts the copies of the operand's tile from `k` on, or those of this block's part of it.
void WGMMAEmitter::fetch(const Operand &operand, Value slot, const SumStep &step, Value stage) {
  if (operand.image && operand.image->isAcross)
    return fetchAcross(operand, slot, step, stage);
  bool kInnermost = operand.runsAlongK();
  Value row = operand.part ? index.mul(operand.part, operand.rows) : Value();
  auto fetchFrom = [&](Value map, int64_t column) {
    auto getStart = [&](Group group) {
      Value start = group == Group::K ? step.k : group == Group::M ? tile.startM : tile.startN;
      if ((group == Group::K) == kInnermost)
        return index.add(start, column);
      return row ? index.add(start, row) : start;
    };
    SmallVector<Value> coords, offsets;
    if (operand.image)
      std::tie(coords, offsets) = getPixelCoords(getStart(Group::M), getStart(Group::K), step.taps);
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

void WGMMAEmitter::fetchBoxes(Value stage, const SumStep &step) {
  int64_t bytes = 0;
  for (const Operand &operand : operands)
    if (!operand.isTurned)
      bytes += operand.rows * operand.sharers * operand.type.getColumns() *
               operand.type.getElementBytes();
  tile::PublishOp::create(builder, loc, ring, stage, bytes);
  for (auto [number, operand] : llvm::enumerate(operands))
    if (!operand.isTurned)
      fetch(operand, tile::SlotOp::create(builder, loc, operand.type, ring, stage, number), step,
            stage);
}

void WGMMAEmitter::emitProducer() {
  if (operands.back().isTurned)
    return emitTurningProducer();
  // One thread starts all copies.
  Value isFirstWarp = index.isLess(thread, index.constant(32));
  Value elected = NVVM::ElectSyncOp::create(builder, loc, builder.getI1Type(), Value());
  points.emitIf(index.both(isFirstWarp, elected), [&] {
    emitTiles(Value(), {index.constant(0), index.constant(0)}, [&](ValueRange carried) {
      return points.emitLoop(firstStep, lastStep, index.constant(1), carried,
                             [&](Value step, ValueRange inner) -> SmallVector<Value> {
                               RingState state{inner[0], inner[1]};
                               SumStep place = getStep(step);
                               tile::WaitEmptyOp::create(builder, loc, ring, state.stage,
                                                         state.phase);
                               fetchBoxes(state.stage, place);
                               RingState next = advance(state);
                               return {next.stage, next.phase};
                             });
    });
  });
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

void WGMMAEmitter::syncWarp() {
  Value all = arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(-1));
  NVVM::SyncWarpOp::create(builder, loc, all);
}

void WGMMAEmitter::release(Value stage, Value condition) {
  // A thread for each sender: those of this block's row of the cluster, then of its column.
  if (cluster > 1) {
    int64_t columns = config.getClusterN();
    Value isOne = index.isLess(threadInWarpgroup, index.constant(countSenders()));
    points.emitIf(index.both(isOne, condition), [&] {
      Value inRow = index.add(index.mul(clusterRow, columns), threadInWarpgroup);
      Value row = index.sub(threadInWarpgroup, index.constant(columns));
      Value isBefore = index.isLess(row, clusterRow);
      row = arith::SelectOp::create(builder, loc, isBefore, row, index.add(row, 1));
      Value inColumn = index.add(index.mul(row, columns), clusterColumn);
      Value isInRow = index.isLess(threadInWarpgroup, index.constant(columns));
      Value block = arith::SelectOp::create(builder, loc, isInRow, inRow, inColumn);
      tile::ReleaseInOp::create(builder, loc, ring, stage, block);
    });
    return;
  }
  // One thread stands for the warpgroup: wgmma's completion is the warpgroup's. What threads read
  // themselves, each warp answers for.
  if (inRegisters)
    syncWarp();
  Value isLeader =
      index.isEqual(inRegisters ? index.rem(thread, 32) : threadInWarpgroup, index.constant(0));
  points.emitIf(index.both(isLeader, condition),
                [&] { tile::ReleaseOp::create(builder, loc, ring, stage); });
}

void WGMMAEmitter::giveTurn(Value team) {
  tile::GiveTurnOp::create(builder, loc, team, config.getWarpgroups());
}

/// The product of the tile at hand: rows of it by the warpgroup that is `place` in its team. When
/// all of it is under way it is the turn of team `other`, which may be null.
RingState WGMMAEmitter::emitProduct(RingState state, Value place, SmallVector<Value> &sums,
                                    Value other) {
  auto type = tile::AccumulatorType::get(builder.getContext(), config.getTileN(),
                                         contraction.accumulatorType);
  int64_t parts = rowsPerWarpgroup / tile::kWarpgroupRows;
  // Behind the state comes the stage before, which counts from the second step on.
  SmallVector<Value> inits{state.stage, state.phase, state.stage};
  auto addUndefined = [&](Type undefined) {
    for (int64_t part = 0; part < parts; ++part)
      inits.push_back(tile::UndefinedOp::create(builder, loc, undefined));
  };
  addUndefined(type);
  if (inRegisters)
    addUndefined(getHalfType());
  Value row = index.mul(place, rowsPerWarpgroup);
  SmallVector<Value> results =
      points.emitLoop(firstStep, lastStep, index.constant(1), inits,
                      [&](Value step, ValueRange carried) -> SmallVector<Value> {
                        RingState current{carried[0], carried[1]};
                        tile::WaitFullOp::create(builder, loc, ring, current.stage, current.phase);
                        Value isLater = arith::CmpIOp::create(
                            builder, loc, arith::CmpIPredicate::ne, step, firstStep);
                        SmallVector<Value> values(carried.drop_front(2));
                        if (inRegisters)
                          emitFragmentStep(current, row, isLater, values);
                        else
                          emitStep(current, row, isLater, values);
                        RingState next = advance(current);
                        values.insert(values.begin(), {next.stage, next.phase});
                        return values;
                      });
  if (other)
    giveTurn(other);
  ArrayRef<Value> last = ArrayRef(results).drop_front(3);
  if (inRegisters)
    tile::WaitFragmentsOp::create(builder, loc, 0, last.take_back(parts));
  auto done = tile::WaitMmaOp::create(builder, loc, 0, last.take_front(parts));
  release(results[2], Value());
  llvm::append_range(sums, done.getResults());
  return {results[0], results[1]};
}

SmallVector<Value> WGMMAEmitter::getSlots(Value stage) {
  SmallVector<Value> slots;
  for (auto [number, operand] : llvm::enumerate(operands))
    slots.push_back(tile::SlotOp::create(builder, loc, operand.type, ring, stage, number));
  return slots;
}

void WGMMAEmitter::emitStep(RingState current, Value row, Value isLater,
                            SmallVector<Value> &carried) {
  SmallVector<Value> slots = getSlots(current.stage);
  int64_t parts = carried.size() - 1;
  for (int64_t part = 0; part < parts; ++part)
    carried[1 + part] = tile::MmaOp::create(
        builder, loc, slots[0], index.add(row, part * tile::kWarpgroupRows), slots[1],
        carried[1 + part], isLater, !operands[0].runsAlongK(), !operands[1].runsAlongK());
  // The step before is done once only this one's products are under way.
  tile::WaitMmaOp::create(builder, loc, parts, ValueRange());
  release(carried[0], isLater);
  carried[0] = current.stage;
}

tile::FragmentsType WGMMAEmitter::getHalfType() const {
  return tile::FragmentsType::get(builder.getContext(), config.getTileK() / 2,
                                  operands[0].type.getElementType());
}

void WGMMAEmitter::emitFragmentStep(RingState current, Value row, Value isLater,
                                    SmallVector<Value> &carried) {
  SmallVector<Value> slots = getSlots(current.stage);
  int64_t parts = (carried.size() - 1) / 2, half = config.getTileK() / 2;
  MutableArrayRef<Value> sums = MutableArrayRef(carried).slice(1, parts),
                         used = MutableArrayRef(carried).take_back(parts);
  SmallVector<Type> types(parts, getHalfType());
  auto multiply = [&](int64_t k, Value accumulate) {
    auto fragments = tile::ReadFragmentsOp::create(builder, loc, types, slots[0], row, k);
    for (auto [sum, fragment] : llvm::zip_equal(sums, fragments.getResults()))
      sum = tile::MmaFragmentsOp::create(builder, loc, fragment, slots[1], k, sum, accumulate);
    return SmallVector<Value>(fragments.getResults());
  };
  SmallVector<Value> first = multiply(0, isLater);
  tile::WaitFragmentsOp::create(builder, loc, parts, used);
  release(carried[0], isLater);
  SmallVector<Value> second =
      multiply(half, arith::ConstantOp::create(builder, loc, builder.getBoolAttr(true)));
  tile::WaitFragmentsOp::create(builder, loc, parts, first);
  llvm::copy(second, used.begin());
  carried[0] = current.stage;
}

/// Adds up the sums of the cluster's blocks; this one keeps its columns.
void WGMMAEmitter::reduce(Value warpgroup, SmallVector<Value> &sums) {
  auto type =
      tile::AccumulatorType::get(builder.getContext(), ownColumns, contraction.accumulatorType);
  int64_t parts = sums.size();
  for (auto [part, value] : llvm::enumerate(sums)) {
    Value place = index.add(index.mul(warpgroup, parts), index.constant(part));
    value =
        tile::ReduceBlocksOp::create(builder, loc, type, value, scratch, place, config.getSplit());
    tile::WaitBlocksOp::create(builder, loc);
  }
  startColumn = index.add(startColumn, index.mul(rank, ownColumns));
}

void WGMMAEmitter::emitConsumer(Value warpgroup) {
  // Each team passes over the stages of the tiles that are the others'.
  Value zero = index.constant(0), turn, other, place = warpgroup;
  RingState first{zero, zero};
  if (config.getTurns() > 1) {
    turn = index.div(warpgroup, team);
    place = index.rem(warpgroup, team);
    first = skip(first, index.mul(turn, lastStep));
    other = index.sub(index.constant(1), turn);
    points.emitIf(index.isEqual(turn, index.constant(1)), [&] { giveTurn(other); });
  }
  Value others = index.mul(lastStep, config.getTurns() - 1);
  emitTiles(turn, {first.stage, first.phase}, [&](ValueRange state) -> SmallVector<Value> {
    SmallVector<Value> sums;
    startColumn = swapped ? tile.startM : tile.startN;
    loadColumnVectors();
    if (turn)
      tile::TakeTurnOp::create(builder, loc, turn, config.getWarpgroups());
    RingState next = emitProduct({state[0], state[1]}, place, sums, other);
    if (config.getSplit() > 1)
      reduce(warpgroup, sums);
    if (output)
      storeBoxes(warpgroup, place, sums);
    else
      storeDirectly(place, sums);
    if (turn)
      next = skip(next, others);
    return {next.stage, next.phase};
  });
  // The block's shared memory must live until it has been read.
  if (output)
    points.emitIf(index.isEqual(threadInWarpgroup, index.constant(0)),
                  [&] { tile::WaitStoresOp::create(builder, loc, 0, /*read=*/false); });
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

WarpgroupRegisters WGMMAEmitter::getThreadRegisters() const {
  const Operand &second = operands.back();
  int64_t words =
      second.isTurned ? countTurnedWords(second.type.getRows(), second.type.getElementBytes()) : 0;
  return getWarpgroupRegisters(config.getWarpgroups(), config.getBlocks(), words);
}

/// Nothing where all threads keep what they start with.
static DenseI64ArrayAttr getRegisters(OpBuilder &builder, const WarpgroupRegisters &registers) {
  if (registers.consumer == registers.launched)
    return {};
  return builder.getDenseI64ArrayAttr({registers.producer, registers.consumer});
}

/// What only some types ask of the tile.
LogicalResult WGMMAEmitter::checkForm() {
  int64_t bytes = operands[0].type.getElementBytes(), columns = config.getTileN();
  if (bytes == 1 && columns != 8 && columns != 24 && columns % 16 != 0)
    return kernel.getFunction().emitOpError("expected 8, 24 or a multiple of 16 columns of i8 for ")
           << config;
  if (!fitsRowParts(contraction.getPartColumns(), swapped, bytes, rowsPerWarpgroup, ownColumns))
    return kernel.getFunction().emitOpError("expected parts of ")
           << contraction.getPartColumns() << " columns, in which rows are reduced, not to be in "
           << "two warps for " << config;
  if (!inRegisters)
    return success();
  if (cluster > 1)
    return kernel.getFunction().emitOpError("expected no blocks that fetch for each other for ")
           << config << ", whose operand A is not contiguous along k";
  bool fits = rowsPerWarpgroup == 2 * tile::kWarpgroupRows ||
              (bytes == 4 && rowsPerWarpgroup == tile::kWarpgroupRows);
  // Beside the sums both halves of a step's fragments, and addresses.
  int64_t parts = rowsPerWarpgroup / tile::kWarpgroupRows,
          available = getThreadRegisters().consumer;
  if (parts * (columns / 2 + 16) + 40 > available)
    return kernel.getFunction().emitOpError("expected sums and fragments that fit ")
           << available << " registers for " << config;
  if (fits && config.getTileK() * bytes % 64 == 0)
    return success();
  return kernel.getFunction().emitOpError("expected 128 rows for each warpgroup (or 64 of f32) and "
                                          "a multiple of 64 bytes along k for ")
         << config << ", whose operand A is not contiguous along k";
}

LogicalResult WGMMAEmitter::run() {
  frame.setFewestBlocks(config.getBlocks());
  kernel.getFunction()->setAttr(kProgrammaticAttr, builder.getUnitAttr());
  thread = frame.getThreadId();
  threadInWarpgroup = index.rem(thread, tile::kWarpgroupThreads);
  makeSteps();
  makeCluster();
  if (failed(add(swapped ? contraction.b : contraction.a, config.getTileM())) ||
      failed(add(swapped ? contraction.a : contraction.b, config.getTileN())) ||
      failed(checkForm()))
    return failure();
  if (config.getSplit() > 1) {
    auto type = tile::SharedType::get(builder.getContext(), config.getTileM(), config.getTileN(),
                                      contraction.accumulatorType);
    scratch = tile::AllocOp::create(builder, loc, type, IntegerAttr());
  }
  prepareOutput();
  SmallVector<Value> maps{outputMap, outputTailMap};
  for (const Operand &operand : operands)
    maps.append({operand.map, operand.tailMap});
  for (Value map : maps)
    if (map)
      prefetch(map);
  makeRing();
  auto roles = tile::WarpSpecializeOp::create(builder, loc, config.getWarpgroups(),
                                              getRegisters(builder, getThreadRegisters()));
  // No block of a cluster ends while others send to it or release its stages.
  auto leaveTogether = [&] {
    if (cluster > 1)
      tile::SyncBlocksOp::create(builder, loc);
  };
  fill(roles.getProducer(), 0, {}, [&](Block &) {
    emitProducer();
    leaveTogether();
    tile::YieldOp::create(builder, loc, ValueRange());
  });
  fill(roles.getConsumer(), 1, {}, [&](Block &block) {
    emitConsumer(block.getArgument(0));
    leaveTogether();
    tile::YieldOp::create(builder, loc, ValueRange());
  });

  Value tiles = index.mul(tile.batches, index.mul(tile.tilesM, tile.tilesN));
  // A cluster has one tile: its blocks wait for each other, and those that fetch must not be waited
  // for.
  if (config.getSplit() > 1)
    return frame.finish(index.mul(tiles, config.getSplit()), config.getSplit());
  // No more blocks than stay on the device at a time.
  int64_t resident = config.getBlocks() * getClusterRoom(*kernel.target, cluster);
  auto [groupsM, groupsN] = countGroups();
  std::optional<int64_t> groups =
      getConstantIntValue(index.mul(tile.batches, index.mul(groupsM, groupsN)));
  return frame.finish(index.constant(groups ? std::min(*groups * cluster, resident) : resident),
                      cluster);
}

namespace {

struct EmitMatmulWGMMA final : impl::EmitMatmulWGMMABase<EmitMatmulWGMMA> {
  void runOnOperation() override {
    auto config = getOperation()->getAttrOfType<MatmulWGMMAAttr>(plan::kConfigAttr);
    if (!config)
      return;
    FailureOr<KernelInfo> kernel = analyzeKernel(getOperation());
    if (failed(kernel))
      return signalPassFailure();
    FailureOr<Contraction> contraction = requireContraction(*kernel, config);
    if (failed(contraction))
      return signalPassFailure();
    if (!kernel->target->hasWGMMA || !contraction->hasWGMMATypes()) {
      getOperation().emitOpError(
          "expected f16, bf16 or f32 operands with f32 sums, or i8 with i32, "
          "and sm_90a for ")
          << config << ", got " << kernel->target->arch;
      return signalPassFailure();
    }
    std::string reason;
    std::optional<Convolution> convolution = matchConvolution(*contraction, reason);
    const WindowedImage *image = convolution ? &convolution->image : nullptr;
    if (failed(
            WGMMAEmitter(*kernel, convolution ? convolution->product : *contraction, image, config)
                .run()))
      signalPassFailure();
  }
};

} // namespace

} // namespace xc::cuda
