//===- EmitMatmulWGMMA.cpp - Matrix products on wgmma ---------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block stays on its multiprocessor and loops over tiles of the product:
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
// the outputs of the tile before are computed. Ping-pong warpgroups each work on
// tiles of their own, which follow one another in the ring: one computes and stores the outputs of
// its tile while the other one multiplies.
//
// Operands keep their own order: a tile's lines run along k, or along the operand's own dim, which
// wgmma reads transposed if elements have 16 bits. If they have not, such an operand is operand A
// of wgmma (the product is computed transposed if it is the product's B), and read into registers
// across its lines, one half of a step while the other half's products are under way:
//
//   for each step along k
//     wait until the stage is full
//     read the first half; start its products; wait for the second half of the step before
//     read the second half; start its products; wait for the first half
//
// Where operand B of wgmma is such an operand, too, threads transpose it: see WGMMACopies.cpp.
//
// In a cluster of rows and columns of blocks, each block fetches a part of the lines of what it
// shares with others and sends it to all of them; a stage is empty once the consumers of all of
// them have released it. Outputs of 16 bits whose rows are aligned pass through shared memory and
// are stored by boxes, and those of 32 bits if there is room for that. Where rows lie apart as no
// box has them, threads store those of 16 bits from there in chunks. Others are stored by the
// threads that hold them.
//
// Tiles may be wider than a whole number of panels: a map of its own has the last, narrower boxes
// of operand B, and of outputs.
//
// This file prepares the block and joins its roles. The others of the emitter, in the order of what
// they emit:
//
//   WGMMAOperands.cpp   tensor maps of the operands, and what wgmma asks of their layouts
//   WGMMAProducer.cpp   the warpgroup that fetches; WGMMACopies.cpp where it transposes, too
//   WGMMAProducts.cpp   the warpgroups that multiply
//   WGMMASideInputs.cpp what outputs are computed from beside the product
//   WGMMAOutputs.cpp    the epilogue; WGMMAColumnParts.cpp what it reduces of columns
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Common/Guards.h"
#include "compiler/Codegen/CUDA/Matmul/MatmulLimits.h"
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

static constexpr int64_t kGroupWarps = tile::kWarpgroupThreads / 32;

//===----------------------------------------------------------------------===//
// Preparation
//===----------------------------------------------------------------------===//

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
                                      config.getWarpgroups(), config.getBlocks(), used,
                                      /*isNeeded=*/!contraction.group.columnParts.empty());
  if (columns == 0)
    return;
  std::string reason;
  std::optional<TiledAccess> access = matchTiledOutput(contraction, result, knownSizes, reason);
  auto type = tile::SharedType::get(
      builder.getContext(), config.getWarpgroups() * tile::kWarpgroupRows, columns, elementType);
  if (!access)
    rowVector = getRowVector(contraction, result, knownSizes);
  if (rowVector > 0)
    staging = tile::AllocOp::create(builder, loc, type, IntegerAttr());
  if (!access || access->dims.back().group != Group::N)
    return;
  // A box of a vector is one row, which only the first warpgroup has.
  bool hasRows = llvm::any_of(access->dims, [](const auto &dim) { return dim.group == Group::M; });
  if (!hasRows && config.getTileM() != tile::kWarpgroupRows)
    return;
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
  int64_t consumers = (inRegisters ? sharers * kGroupWarps : sharers) * countSenders();
  // Of those that fetch, one thread stands for all copies, and one of each warp that stores.
  int64_t arrivals = hasLoadingThreads() ? 1 + kGroupWarps : 1;
  ring =
      tile::RingOp::create(builder, loc, type, arrivals, consumers, IntegerAttr(), IntegerAttr());
  for (auto [number, operand] : llvm::enumerate(operands))
    if (operand.rows * operand.sharers < operand.type.getRows())
      clearRows(operand, number);
  // Up to here nothing that the kernel before it may have written is read.
  if (!fillsAhead)
    NVVM::GriddepcontrolOp::create(builder, loc, NVVM::GridDepActionKind::wait);
  if (cluster > 1)
    tile::SyncBlocksOp::create(builder, loc);
  else
    frame.barrier();
  if (!fillsAhead)
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
  // A block may have no share: of a sum whose length is not known, or by a configuration that was
  // given. It adds a step of zeros, which boxes behind the end are: without any, its sums would be
  // what its registers held.
  std::optional<int64_t> number = getConstantIntValue(steps);
  bool haveAll =
      number &&
      (config.getSplit() - 1) * llvm::divideCeilSigned(*number, config.getSplit()) < *number;
  if (!haveAll)
    lastStep = index.max(lastStep, index.add(firstStep, 1));
}

//===----------------------------------------------------------------------===//
// Schedule
//===----------------------------------------------------------------------===//

/// Rows and columns of tiles, or of clusters' groups of them.
std::pair<Value, Value> WGMMAEmitter::countGroups() {
  return {index.ceilDiv(tile.tilesM, index.constant(config.getClusterM())),
          index.ceilDiv(tile.tilesN, index.constant(config.getClusterN()))};
}

SmallVector<Value>
WGMMAEmitter::emitTiles(Value half, ValueRange inits,
                        llvm::function_ref<SmallVector<Value>(ValueRange)> body) {
  auto [groupsM, groupsN] = countGroups();
  if (swapped)
    std::swap(groupsM, groupsN);
  int64_t share = config.getSplit() * cluster;
  auto loop =
      tile::PersistentOp::create(builder, loc, inits.getTypes(), groupsM, groupsN, tile.batches,
                                 config.getRaster(), share, half, half ? 2 : 1, inits);
  constexpr unsigned kPlace = 3; // arguments: row, column, batch
  SmallVector<Type> types(kPlace, builder.getIndexType());
  llvm::append_range(types, inits.getTypes());
  SmallVector<Location> locations(types.size(), loc);
  OpBuilder::InsertionGuard guard(builder);
  Block *block = builder.createBlock(&loop.getBody(), {}, types, locations);
  PointEmitter::Scope scope(points);
  Value row = block->getArgument(swapped ? 1 : 0), column = block->getArgument(swapped ? 0 : 1);
  if (cluster > 1) {
    row = index.add(index.mul(row, config.getClusterM()), clusterRow);
    column = index.add(index.mul(column, config.getClusterN()), clusterColumn);
  }
  tile.place(row, column, block->getArgument(2));
  tile::YieldOp::create(builder, loc, body(ValueRange(block->getArguments()).drop_front(kPlace)));
  return SmallVector<Value>(loop.getResults());
}

RingState WGMMAEmitter::skip(RingState state, Value count) {
  Value place = index.add(state.stage, count);
  Value wraps = index.rem(index.div(place, config.getStages()), 2);
  return {index.rem(place, config.getStages()),
          arith::XOrIOp::create(builder, loc, state.phase, wraps)};
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

int64_t WGMMAEmitter::countValues() const {
  int64_t values = 0;
  for (auto [number, operand] : llvm::enumerate(operands)) {
    int64_t own = number == 0 ? config.getTileM() : config.getTileN();
    values += operand.isTurned ? countTransposedWords(own, operand.type.getElementBytes())
                               : countLoadedValues(own, operand.loadsPerWord);
  }
  return values;
}

bool WGMMAEmitter::loadsLines() const {
  return llvm::any_of(operands, [](const Operand &operand) { return operand.loadsPerWord > 0; });
}

int64_t WGMMAEmitter::getDepth() const { return loadsLines() ? getLoadDepth(countValues()) : 1; }

WarpgroupRegisters WGMMAEmitter::getThreadRegisters() const {
  return getWarpgroupRegisters(config.getWarpgroups(), config.getBlocks(),
                               countValues() * getDepth());
}

/// Those of each role; none where all threads keep what they start with.
static SmallVector<int64_t> getRegisters(const WarpgroupRegisters &registers) {
  if (registers.consumer == registers.launched)
    return {};
  return {registers.producer, registers.consumer};
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
  if (failed(checkColumnParts()))
    return failure();
  addSideInputs();
  SmallVector<Value> maps{outputMap, outputTailMap};
  for (const SideInput &side : sideInputs)
    maps.append({side.map, side.tailMap});
  for (const Operand &operand : operands)
    maps.append({operand.map, operand.tailMap});
  for (Value map : maps)
    if (map)
      prefetch(map);
  fillsAhead = canFillAhead();
  makeRing();
  emitWarpgroupRoles(
      points, config.getWarpgroups(), getRegisters(getThreadRegisters()), cluster,
      [&] { emitProducer(); },
      [&](Value warpgroup) {
        if (fillsAhead) {
          NVVM::GriddepcontrolOp::create(builder, loc, NVVM::GridDepActionKind::wait);
          NVVM::GriddepcontrolOp::create(builder, loc, NVVM::GridDepActionKind::launch_dependents);
        }
        emitConsumer(warpgroup);
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
