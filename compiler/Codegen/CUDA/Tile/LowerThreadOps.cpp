//===- LowerThreadOps.cpp - What single threads copy, read and write ------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops of one result for each thread, whatever tiles become: which elements are a thread's, and
// vectors on their way to and from tiles whose lines are whole. They become arithmetic on the
// thread's number, before anything looks at arithmetic, and cp.async, loads and stores.
//
// LLVM does not see how addresses of copies of f64 come about: it would keep one of each.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Common/LaneOps.h"
#include "compiler/Codegen/CUDA/Common/Pointers.h"
#include "compiler/Codegen/CUDA/Common/TF32.h"
#include "compiler/Codegen/CUDA/Tile/LinePlaces.h"
#include "compiler/Codegen/CUDA/Tile/MMASync.h"
#include "compiler/Codegen/CUDA/Tile/RegisterLowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace xc::cuda {

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

static SmallVector<Value> lower(OpBuilder &builder, tile::WarpPlaceOp op) {
  LinePlaces places(builder, op.getLoc());
  auto columns = static_cast<int64_t>(op.getColumns());
  Value warp = places.index.div(places.getThread(), tile::kWarpThreads);
  return {places.index.div(warp, columns), places.index.rem(warp, columns)};
}

static SmallVector<Value> lower(OpBuilder &builder, tile::PairPlaceOp op) {
  LinePlaces places(builder, op.getLoc());
  Value lane = places.getLane(), row = places.index.div(lane, 4);
  if (cast<tile::WarpType>(op.getTile()).getPaired())
    row = places.index.mul(row, 2);
  return {row, places.index.mul(places.index.rem(lane, 4), 2)};
}

/// Eight lanes have neighbouring patches, and four those of a chunk.
static SmallVector<Value> lower(OpBuilder &builder, tile::PatchOp op) {
  LinePlaces places(builder, op.getLoc());
  constexpr int64_t kNeighbours = 8, kPerChunk = 4;
  IndexBuilder &index = places.index;
  auto tile = cast<tile::SharedType>(op.getTile());
  auto number = static_cast<int64_t>(op.getNumber()),
       warps = static_cast<int64_t>(op.getThreads()) / tile::kWarpThreads;
  int64_t across = tile.getRows() / (kNeighbours * tile::kPatch);
  Value lane = places.getLane();
  Value unit = index.add(index.div(places.getThread(), tile::kWarpThreads), number * warps);
  Value own = index.add(index.mul(index.rem(unit, across), kNeighbours * tile::kPatch),
                        index.mul(index.rem(lane, kNeighbours), tile::kPatch));
  Value k = index.add(index.mul(index.div(unit, across), tile.getChunkColumns()),
                      index.mul(index.rem(index.div(lane, kNeighbours), kPerChunk), tile::kPatch));
  return {own, k};
}

static SmallVector<Value> lower(OpBuilder &builder, tile::ShareOp op) {
  LinePlaces places(builder, op.getLoc());
  IndexBuilder &index = places.index;
  auto number = static_cast<int64_t>(op.getNumber()), width = static_cast<int64_t>(op.getWidth()),
       length = static_cast<int64_t>(op.getLength()),
       threads = static_cast<int64_t>(op.getThreads()), perLine = length / width;
  Value thread = threads == tile::kWarpThreads ? places.getLane() : places.getThread();
  if (std::optional<int64_t> lines = tile::ShareOp::getLines(length, width, threads))
    return {index.add(index.div(thread, perLine), number * *lines),
            index.mul(index.rem(thread, perLine), width)};
  Value vector = index.add(thread, number * threads);
  return {index.div(vector, perLine), index.mul(index.rem(vector, perLine), width)};
}

//===----------------------------------------------------------------------===//
// Vectors
//===----------------------------------------------------------------------===//

/// A tile that has been waited for is the one that copies filled.
static Value lookThroughWait(Value tile) {
  auto await = tile.getDefiningOp<tile::AwaitCopiesOp>();
  return await ? await.getTiles()[cast<OpResult>(tile).getResultNumber()] : tile;
}

static SmallVector<Value> lower(OpBuilder &builder, tile::StartCopyOp op) {
  Location loc = op.getLoc();
  LinePlaces places(builder, loc);
  tile::SharedType tile = op.getTile().getType();
  Type element = tile.getElementType();
  auto width = static_cast<int64_t>(op.getWidth());
  auto bytes = static_cast<int32_t>(width * tile.getElementBytes());
  auto word = [&](int32_t value) -> Value {
    return arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(value));
  };
  // A copy of no bytes reads nothing, wherever its source points, and writes zeros.
  Value taken = arith::SelectOp::create(builder, loc, op.getInside(), word(bytes), word(0));
  Line line = Line::split(op.getRow());
  Value place =
      places.getPlace(tile, line, places.index.div(op.getColumn(), tile.getChunkColumns()));
  if (width < tile.getChunkColumns())
    place = places.index.add(place, places.index.rem(op.getColumn(), tile.getChunkColumns()));
  Value to = places.getPointer(op.getTile(), place);
  Value from = getPointer(builder, loc, op.getMemory(), op.getPosition());
  if (element.isF64())
    from = hideOrigin(builder, loc, from);
  from = offsetBy(builder, loc, element, from, places.index.constant(op.getDistance()));
  constexpr int32_t kWholeChunk = 16;
  auto modifier =
      bytes == kWholeChunk ? NVVM::LoadCacheModifierKind::CG : NVVM::LoadCacheModifierKind::CA;
  NVVM::CpAsyncOp::create(builder, loc, to, from, bytes, modifier, taken);
  return {};
}

/// How a vector of elements of a tile is aligned.
static unsigned getAlignment(Value values, tile::SharedType tile) {
  return countLanes(values) * tile.getElementBytes();
}

static SmallVector<Value> lower(OpBuilder &builder, tile::WriteOp op) {
  LinePlaces places(builder, op.getLoc());
  tile::SharedType tile = op.getTile().getType();
  Value to = places.getElementPointer(op.getTile(), Line::split(op.getRow()), op.getColumn());
  LLVM::StoreOp::create(builder, op.getLoc(), op.getValues(), to,
                        getAlignment(op.getValues(), tile));
  return {};
}

static SmallVector<Value> lower(OpBuilder &builder, tile::ReadElementsOp op) {
  LinePlaces places(builder, op.getLoc());
  tile::SharedType tile = op.getTile().getType();
  Value from = places.getElementPointer(lookThroughWait(op.getTile()), Line::split(op.getRow()),
                                        op.getColumn());
  return {LLVM::LoadOp::create(builder, op.getLoc(), op.getValues().getType(), from,
                               getAlignment(op.getValues(), tile))};
}

static SmallVector<Value> lower(OpBuilder &builder, tile::RoundOp op) {
  SmallVector<Value> rounded;
  Value values = op.getValues();
  for (int64_t lane = 0, lanes = countLanes(values); lane < lanes; ++lane)
    rounded.push_back(
        roundToTF32(builder, op.getLoc(), getLane(builder, op.getLoc(), values, lane)));
  return {arith::BitcastOp::create(builder, op.getLoc(), values.getType(),
                                   fromLanes(builder, op.getLoc(), rounded))};
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

static SmallVector<Value> lower(OpBuilder &builder, tile::DrainCopiesOp op) {
  NVVM::CpAsyncWaitGroupOp::create(builder, op.getLoc(), 0u);
  return {};
}

static SmallVector<Value> lower(OpBuilder &builder, tile::FenceReadsOp op) {
  auto dialect = LLVM::AsmDialectAttr::get(builder.getContext(), LLVM::AsmDialect::AD_ATT);
  LLVM::InlineAsmOp::create(builder, op.getLoc(), TypeRange(), ValueRange(), "", "~{memory}",
                            /*has_side_effects=*/true, /*is_align_stack=*/false,
                            LLVM::TailCallKind::None, dialect, /*operand_attrs=*/ArrayAttr());
  return {};
}

static SmallVector<Value> lower(OpBuilder &builder, tile::SyncWarpOp op) {
  Value all = arith::ConstantOp::create(builder, op.getLoc(), builder.getI32IntegerAttr(-1));
  NVVM::SyncWarpOp::create(builder, op.getLoc(), all);
  return {};
}

template <typename... Ops> static void lowerAll(func::FuncOp function) {
  IRRewriter rewriter(function.getContext());
  auto lowerOne = [&](auto op) {
    rewriter.setInsertionPoint(op);
    rewriter.replaceOp(op, lower(rewriter, op));
  };
  (function.walk([&](Ops op) { lowerOne(op); }), ...);
}

void lowerThreadOps(func::FuncOp function) {
  // What is computed of places is built first: indices that come of them are as plain then.
  lowerAll<tile::WarpPlaceOp, tile::PairPlaceOp, tile::ShareOp, tile::PatchOp>(function);
  lowerAll<tile::StartCopyOp, tile::RoundOp, tile::DrainCopiesOp, tile::FenceReadsOp,
           tile::SyncWarpOp>(function);
  IRRewriter rewriter(function.getContext());
  auto lowerWhole = [&](auto op) {
    // Others are lowered with the tiles.
    if (op.getTile().getType().hasPanels())
      return;
    rewriter.setInsertionPoint(op);
    rewriter.replaceOp(op, lower(rewriter, op));
  };
  function.walk([&](tile::WriteOp op) { lowerWhole(op); });
  function.walk([&](tile::ReadElementsOp op) { lowerWhole(op); });
}

} // namespace xc::cuda
