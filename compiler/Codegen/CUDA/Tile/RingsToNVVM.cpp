//===- RingsToNVVM.cpp - Rings of tiles that TMA fills --------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A ring is stages of shared memory with two mbarriers each: one that copies complete, one that
// consumers arrive at when they have read the stage. Instructions of the Tensor Memory Accelerator
// are inline assembly: a copy of pixels has offsets, and a multicast has a mask of blocks.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/IR/CUDAConfig.h"
#include "compiler/Codegen/CUDA/Tile/Products.h"
#include "compiler/Codegen/CUDA/Tile/TileLowering.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace xc::cuda::tile_lowering {

namespace {

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

tile::RingOp getRing(Value ring) { return ring.getDefiningOp<tile::RingOp>(); }

enum class Side { Full, Empty };

/// The barrier of a stage: all full ones, then all empty ones.
Value getBarrier(TileBuilder &b, Value ring, Value stage, Side side) {
  tile::RingOp op = getRing(ring);
  int64_t first =
      *op.getBarriers() +
      (side == Side::Empty ? op.getRing().getType().getStages() * tile::kBarrierBytes : 0);
  return b.advance(b.sharedBase(first), b.mul(b.toWord(stage), tile::kBarrierBytes));
}

struct LowerRing final : TilePattern<tile::RingOp> {
  using TilePattern::TilePattern;

  LogicalResult matchAndRewrite(tile::RingOp op, Adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (!op.getOffset() || (op.hasBarriers() && !op.getBarriers()))
      return rewriter.notifyMatchFailure(op, "has no place in shared memory");
    TileBuilder b(rewriter, op.getLoc());
    if (!op.hasBarriers()) {
      rewriter.replaceOp(op, b.sharedBase(*op.getOffset()));
      return success();
    }
    // One predicated instruction for each barrier, without a branch.
    Value thread = NVVM::ThreadIdXOp::create(rewriter, op.getLoc(), b.i32);
    int64_t stages = op.getRing().getType().getStages();
    std::string text = "{ .reg .pred p; setp.eq.u32 p, $0, 0;";
    for (int64_t barrier = 0; barrier < 2 * stages; ++barrier)
      text += llvm::formatv(" @p mbarrier.init.shared::cta.b64 [$1 + {0}], {1};",
                            barrier * tile::kBarrierBytes,
                            barrier < stages ? op.getArrivals() : op.getConsumers())
                  .str();
    text += " @p fence.mbarrier_init.release.cluster; }";
    b.assembly(text, "r,r,~{memory}", {thread, b.address(b.sharedBase(*op.getBarriers()))});
    rewriter.replaceOp(op, b.sharedBase(*op.getOffset()));
    return success();
  }
};

struct LowerAlloc final : TilePattern<tile::AllocOp> {
  using TilePattern::TilePattern;

  LogicalResult matchAndRewrite(tile::AllocOp op, Adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (!op.getOffset())
      return rewriter.notifyMatchFailure(op, "has no place in shared memory");
    rewriter.replaceOp(op, TileBuilder(rewriter, op.getLoc()).sharedBase(*op.getOffset()));
    return success();
  }
};

/// Where tile `number` of the first stage begins. All stages of the first tile come, then all of
/// the second: the multiplications are by one size.
int64_t getFirstByte(tile::RingType ring, int64_t number) {
  int64_t first = 0;
  for (tile::SharedType tile : ring.getTiles().take_front(number))
    first += ring.getStages() * llvm::alignTo(tile.getBytes(), tile.getAlignment());
  return first;
}

struct LowerSlot final : TilePattern<tile::SlotOp> {
  using TilePattern::TilePattern;

  LogicalResult matchAndRewrite(tile::SlotOp op, Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    TileBuilder b(rewriter, op.getLoc());
    tile::SharedType type = op.getSlot().getType();
    int64_t bytes = llvm::alignTo(type.getBytes(), type.getAlignment());
    Value start = b.advance(adaptor.getRing(), getFirstByte(op.getRing().getType(), op.getTile()));
    rewriter.replaceOp(op, b.advance(start, b.mul(b.toWord(adaptor.getStage()), bytes)));
    return success();
  }
};

struct LowerReuse final : TilePattern<tile::ReuseOp> {
  using TilePattern::TilePattern;

  LogicalResult matchAndRewrite(tile::ReuseOp op, Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    TileBuilder b(rewriter, op.getLoc());
    rewriter.replaceOp(
        op, b.advance(adaptor.getRing(), getFirstByte(op.getRing().getType(), op.getTile())));
    return success();
  }
};

//===----------------------------------------------------------------------===//
// The ring's protocol
//===----------------------------------------------------------------------===//

/// Tries until the phase of parity `parity` of `barrier` has ended.
void waitForPhase(TileBuilder &b, Value barrier, Value parity) {
  b.assembly("{ .reg .pred p; WAIT_${:uid}: mbarrier.try_wait.parity.shared::cta.b64 p, [$0], $1; "
             "@!p bra WAIT_${:uid}; }",
             "r,r,~{memory}", {b.address(barrier), parity});
}

struct LowerWaitFull final : TilePattern<tile::WaitFullOp> {
  using TilePattern::TilePattern;

  LogicalResult matchAndRewrite(tile::WaitFullOp op, Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    TileBuilder b(rewriter, op.getLoc());
    waitForPhase(b, getBarrier(b, op.getRing(), adaptor.getStage(), Side::Full),
                 b.toWord(adaptor.getPhase()));
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerWaitEmpty final : TilePattern<tile::WaitEmptyOp> {
  using TilePattern::TilePattern;

  LogicalResult matchAndRewrite(tile::WaitEmptyOp op, Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    TileBuilder b(rewriter, op.getLoc());
    // A new barrier counts as if the phase before its first, of parity 1, had ended.
    waitForPhase(b, getBarrier(b, op.getRing(), adaptor.getStage(), Side::Empty),
                 b.exclusiveOr(b.toWord(adaptor.getPhase()), b.word(1)));
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerPublish final : TilePattern<tile::PublishOp> {
  using TilePattern::TilePattern;

  LogicalResult matchAndRewrite(tile::PublishOp op, Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    TileBuilder b(rewriter, op.getLoc());
    Value barrier = b.address(getBarrier(b, op.getRing(), adaptor.getStage(), Side::Full));
    if (op.getBytes() == 0)
      b.assembly("mbarrier.arrive.shared::cta.b64 _, [$0];", "r,~{memory}", {barrier});
    else
      b.assembly("mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], $1;", "r,n,~{memory}",
                 {barrier, b.word(op.getBytes())});
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerRelease final : TilePattern<tile::ReleaseOp> {
  using TilePattern::TilePattern;

  LogicalResult matchAndRewrite(tile::ReleaseOp op, Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    TileBuilder b(rewriter, op.getLoc());
    b.assembly("mbarrier.arrive.shared::cta.b64 _, [$0];", "r,~{memory}",
               {b.address(getBarrier(b, op.getRing(), adaptor.getStage(), Side::Empty))});
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerReleaseIn final : TilePattern<tile::ReleaseInOp> {
  using TilePattern::TilePattern;

  LogicalResult matchAndRewrite(tile::ReleaseInOp op, Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    TileBuilder b(rewriter, op.getLoc());
    // A release of cluster scope would wait for all of the thread's memory accesses, each time.
    b.assembly("{ .reg .b32 there; mapa.shared::cluster.u32 there, $0, $1; "
               "mbarrier.arrive.shared::cluster.b64 _, [there]; }",
               "r,r,~{memory}",
               {b.address(getBarrier(b, op.getRing(), adaptor.getStage(), Side::Empty)),
                b.toWord(adaptor.getBlock())});
    rewriter.eraseOp(op);
    return success();
  }
};

/// The threads of a warp need not meet before it.
struct LowerSyncBlocks final : TilePattern<tile::SyncBlocksOp> {
  using TilePattern::TilePattern;

  LogicalResult matchAndRewrite(tile::SyncBlocksOp op, Adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    TileBuilder b(rewriter, op.getLoc());
    b.assembly("barrier.cluster.arrive.release;", "~{memory}", {});
    b.assembly("barrier.cluster.wait.acquire;", "~{memory}", {});
    rewriter.eraseOp(op);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// Coordinates as the instructions want them, innermost dim first, the innermost moved by `offset`.
SmallVector<Value> reverseCoords(TileBuilder &b, ValueRange coords, int64_t offset) {
  SmallVector<Value> words;
  for (Value coord : llvm::reverse(coords))
    words.push_back(b.toWord(coord));
  if (offset)
    words.front() = b.add(words.front(), b.word(offset));
  return words;
}

/// Offsets as the instructions want them, innermost dim first.
SmallVector<Value> reverseOffsets(TileBuilder &b, Location loc, OpBuilder &builder,
                                  ValueRange offsets) {
  SmallVector<Value> halves;
  for (Value offset : llvm::reverse(offsets))
    halves.push_back(LLVM::TruncOp::create(builder, loc, builder.getI16Type(), b.toWord(offset)));
  return halves;
}

/// Copies the panels of `tile` that are `width` wide to `slot` and on, or `only` one of them, each
/// pixel from `offsets` (i16) further if the map is of pixels; `blocks` (i16) says of which blocks,
/// this one alone if it is null.
void copyPanels(TileBuilder &b, tile::SharedType tile, int64_t width, Value slot, Value map,
                ValueRange coords, ArrayRef<Value> offsets, Value barrier, Value blocks,
                std::optional<int64_t> only = std::nullopt) {
  size_t rank = coords.size(), numbers = rank + offsets.size();
  std::string text = llvm::formatv(
      "cp.async.bulk.tensor.{0}d.shared::cluster.global.{1}.mbarrier::complete_tx::bytes{2} [$0], "
      "[$1, {{{3}}], [$2]{4}{5};",
      rank, offsets.empty() ? "tile" : "im2col", blocks ? ".multicast::cluster" : "",
      listOperands(3, rank),
      offsets.empty() ? "" : ", {" + listOperands(3 + rank, offsets.size()) + "}",
      blocks ? ", $" + std::to_string(3 + numbers) : "");
  int64_t whole = tile.getColumns() / tile.getPanelColumns();
  bool isTail = width == tile.getTailColumns();
  int64_t first = only.value_or(isTail ? whole : 0), end = only ? *only + 1 : whole + isTail;
  for (int64_t panel = first; panel < end; ++panel) {
    SmallVector<Value> operands{b.address(b.advance(slot, panel * tile.getPanelBytes())), map,
                                barrier};
    llvm::append_range(operands, reverseCoords(b, coords, (panel - first) * width));
    llvm::append_range(operands, offsets);
    if (blocks)
      operands.push_back(blocks);
    std::string halves;
    for (size_t half = rank; half < numbers + (blocks ? 1 : 0); ++half)
      halves += ",h";
    b.assembly(text, "r,l,r," + repeat("r", rank) + halves + ",~{memory}", operands);
  }
}

struct LowerLoad final : TilePattern<tile::LoadOp> {
  using TilePattern::TilePattern;

  LogicalResult matchAndRewrite(tile::LoadOp op, Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    TileBuilder b(rewriter, op.getLoc());
    Value barrier = b.address(getBarrier(b, op.getRing(), adaptor.getStage(), Side::Full));
    copyPanels(b, op.getSlot().getType(), op.getMap().getType().getBox().back(), adaptor.getSlot(),
               adaptor.getMap(), adaptor.getCoords(),
               reverseOffsets(b, op.getLoc(), rewriter, adaptor.getOffsets()), barrier, Value(),
               op.getPanel());
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerMulticast final : TilePattern<tile::MulticastOp> {
  using TilePattern::TilePattern;

  LogicalResult matchAndRewrite(tile::MulticastOp op, Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    TileBuilder b(rewriter, op.getLoc());
    Value barrier = b.address(getBarrier(b, op.getRing(), adaptor.getStage(), Side::Full));
    Value first = b.mul(b.toWord(adaptor.getRow()), op.getSlot().getType().getLineBytes());
    Value blocks = LLVM::TruncOp::create(rewriter, op.getLoc(), rewriter.getI16Type(),
                                         b.toWord(adaptor.getBlocks()));
    copyPanels(b, op.getSlot().getType(), op.getMap().getType().getBox().back(),
               b.advance(adaptor.getSlot(), first), adaptor.getMap(), adaptor.getCoords(),
               reverseOffsets(b, op.getLoc(), rewriter, adaptor.getOffsets()), barrier, blocks);
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerStore final : TilePattern<tile::StoreOp> {
  using TilePattern::TilePattern;

  LogicalResult matchAndRewrite(tile::StoreOp op, Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    TileBuilder b(rewriter, op.getLoc());
    tile::SharedType tile = op.getTile().getType();
    size_t rank = op.getCoords().size();
    Value start = b.advance(adaptor.getTile(), op.getPanel() * tile.getPanelBytes());
    start = b.advance(start, b.mul(b.toWord(adaptor.getRow()), tile.getLineBytes()));
    SmallVector<Value> operands{adaptor.getMap(), b.address(start)};
    llvm::append_range(operands, reverseCoords(b, adaptor.getCoords(), 0));
    std::string text = llvm::formatv(
        "cp.async.bulk.tensor.{0}d.global.shared::cta.tile.bulk_group [$0, {{{1}}], [$1];", rank,
        listOperands(2, rank));
    b.assembly(text, "l,r," + repeat("r", rank) + ",~{memory}", operands);
    NVVM::CpAsyncBulkCommitGroupOp::create(rewriter, op.getLoc());
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerWaitStores final : TilePattern<tile::WaitStoresOp> {
  using TilePattern::TilePattern;

  LogicalResult matchAndRewrite(tile::WaitStoresOp op, Adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<NVVM::CpAsyncBulkWaitGroupOp>(
        op, static_cast<uint32_t>(op.getPending()), op.getReadAttr());
    return success();
  }
};

struct LowerFenceAsync final : TilePattern<tile::FenceAsyncOp> {
  using TilePattern::TilePattern;

  LogicalResult matchAndRewrite(tile::FenceAsyncOp op, Adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto space = NVVM::SharedSpaceAttr::get(rewriter.getContext(), NVVM::SharedSpace::shared_cta);
    auto kind = NVVM::ProxyKindAttr::get(rewriter.getContext(), NVVM::ProxyKind::async_shared);
    rewriter.replaceOpWithNewOp<NVVM::FenceProxyOp>(op, kind, space);
    return success();
  }
};

} // namespace

void populateRingPatterns(const LLVMTypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<LowerRing, LowerAlloc, LowerSlot, LowerReuse, LowerWaitFull, LowerWaitEmpty,
               LowerPublish, LowerRelease, LowerReleaseIn, LowerSyncBlocks, LowerLoad,
               LowerMulticast, LowerStore, LowerWaitStores, LowerFenceAsync>(converter);
}

} // namespace xc::cuda::tile_lowering
