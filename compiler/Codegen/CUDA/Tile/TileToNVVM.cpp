//===- TileToNVVM.cpp - Patterns from the tile dialect to instructions ----===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Instructions with register lists, predicates or loops are inline assembly: MLIR's ops for them
// have no run-time scale of the accumulator, and their wait carries no dependence on the
// accumulators, so that LLVM could move a use above it. Where an accumulator is in flight it is an
// operand tied to the result.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Tile/TileToNVVM.h"

#include "compiler/Codegen/CUDA/IR/CUDAConfig.h"
#include "compiler/Codegen/CUDA/Tile/Products.h"
#include "compiler/Codegen/CUDA/Tile/TileLowering.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace xc::cuda {

using namespace tile_lowering;

namespace {

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

tile::RingOp getRing(Value ring) { return ring.getDefiningOp<tile::RingOp>(); }

enum class Side { Full, Empty };

/// The barrier of a stage: all full ones, then all empty ones.
Value getBarrier(Builder &b, Value ring, Value stage, Side side) {
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
    Builder b(rewriter, op.getLoc());
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
    rewriter.replaceOp(op, Builder(rewriter, op.getLoc()).sharedBase(*op.getOffset()));
    return success();
  }
};

struct LowerSlot final : TilePattern<tile::SlotOp> {
  using TilePattern::TilePattern;

  LogicalResult matchAndRewrite(tile::SlotOp op, Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Builder b(rewriter, op.getLoc());
    // All stages of the first tile, then all of the second: the multiplications are by one size.
    tile::RingType type = op.getRing().getType();
    int64_t first = 0;
    for (tile::SharedType tile : type.getTiles().take_front(op.getTile()))
      first += type.getStages() * llvm::alignTo(tile.getBytes(), tile::kTileAlignment);
    int64_t bytes = llvm::alignTo(op.getSlot().getType().getBytes(), tile::kTileAlignment);
    Value start = b.advance(adaptor.getRing(), first);
    rewriter.replaceOp(op, b.advance(start, b.mul(b.toWord(adaptor.getStage()), bytes)));
    return success();
  }
};

//===----------------------------------------------------------------------===//
// The ring's protocol
//===----------------------------------------------------------------------===//

/// Tries until the phase of parity `parity` of `barrier` has ended.
void waitForPhase(Builder &b, Value barrier, Value parity) {
  b.assembly("{ .reg .pred p; WAIT_${:uid}: mbarrier.try_wait.parity.shared::cta.b64 p, [$0], $1; "
             "@!p bra WAIT_${:uid}; }",
             "r,r,~{memory}", {b.address(barrier), parity});
}

struct LowerWaitFull final : TilePattern<tile::WaitFullOp> {
  using TilePattern::TilePattern;

  LogicalResult matchAndRewrite(tile::WaitFullOp op, Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Builder b(rewriter, op.getLoc());
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
    Builder b(rewriter, op.getLoc());
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
    Builder b(rewriter, op.getLoc());
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
    Builder b(rewriter, op.getLoc());
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
    Builder b(rewriter, op.getLoc());
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
    Builder b(rewriter, op.getLoc());
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
SmallVector<Value> reverseCoords(Builder &b, ValueRange coords, int64_t offset) {
  SmallVector<Value> words;
  for (Value coord : llvm::reverse(coords))
    words.push_back(b.toWord(coord));
  if (offset)
    words.front() = b.add(words.front(), b.word(offset));
  return words;
}

/// Offsets as the instructions want them, innermost dim first.
SmallVector<Value> reverseOffsets(Builder &b, Location loc, OpBuilder &builder,
                                  ValueRange offsets) {
  SmallVector<Value> halves;
  for (Value offset : llvm::reverse(offsets))
    halves.push_back(LLVM::TruncOp::create(builder, loc, builder.getI16Type(), b.toWord(offset)));
  return halves;
}

/// Copies the panels of `tile` that are `width` wide to `slot` and on, or `only` one of them, each
/// pixel from `offsets` (i16) further if the map is of pixels; `blocks` (i16) says of which blocks,
/// this one alone if it is null.
void copyPanels(Builder &b, tile::SharedType tile, int64_t width, Value slot, Value map,
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
    Builder b(rewriter, op.getLoc());
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
    Builder b(rewriter, op.getLoc());
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
    Builder b(rewriter, op.getLoc());
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

struct LowerSyncWarpgroup final : TilePattern<tile::SyncWarpgroupOp> {
  using TilePattern::TilePattern;

  LogicalResult matchAndRewrite(tile::SyncWarpgroupOp op, Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Builder b(rewriter, op.getLoc());
    // Barrier 0 is the block's.
    Value number = b.add(b.toWord(adaptor.getWarpgroup()), b.word(1));
    b.assembly("bar.sync $0, $1;", "r,n,~{memory}", {number, b.word(tile::kWarpgroupThreads)});
    rewriter.eraseOp(op);
    return success();
  }
};

/// Barriers of teams follow those of warpgroups; one team arrives, the other one waits.
template <typename Op> struct LowerTurn final : TilePattern<Op> {
  using TilePattern<Op>::TilePattern;

  LogicalResult matchAndRewrite(Op op, typename TilePattern<Op>::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Builder b(rewriter, op.getLoc());
    auto consumers = static_cast<int64_t>(op.getConsumers());
    Value number = b.add(b.toWord(adaptor.getTurn()), b.word(1 + consumers));
    b.assembly(std::is_same_v<Op, tile::TakeTurnOp> ? "bar.sync $0, $1;" : "bar.arrive $0, $1;",
               "r,n,~{memory}", {number, b.word(consumers * tile::kWarpgroupThreads)});
    rewriter.eraseOp(op);
    return success();
  }
};

/// Where neighbouring elements of a tile lie, and how they are aligned.
struct Neighbours {
  template <typename Op> Neighbours(Builder &b, Op op, typename Op::Adaptor adaptor) {
    tile::SharedType tile = op.getTile().getType();
    address = b.advance(adaptor.getTile(), getPlace(b, tile, b.toWord(adaptor.getRow()),
                                                    b.toWord(adaptor.getColumn())));
    auto vector = dyn_cast<VectorType>(op.getValues().getType());
    alignment = (vector ? vector.getNumElements() : 1) * tile.getElementBytes();
  }

  Value address;
  unsigned alignment;
};

struct LowerWrite final : TilePattern<tile::WriteOp> {
  using TilePattern::TilePattern;

  LogicalResult matchAndRewrite(tile::WriteOp op, Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Builder b(rewriter, op.getLoc());
    Neighbours to(b, op, adaptor);
    rewriter.replaceOpWithNewOp<LLVM::StoreOp>(op, adaptor.getValues(), to.address, to.alignment);
    return success();
  }
};

struct LowerReadElements final : TilePattern<tile::ReadElementsOp> {
  using TilePattern::TilePattern;

  LogicalResult matchAndRewrite(tile::ReadElementsOp op, Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Builder b(rewriter, op.getLoc());
    Neighbours from(b, op, adaptor);
    rewriter.replaceOpWithNewOp<LLVM::LoadOp>(op, op.getValues().getType(), from.address,
                                              from.alignment);
    return success();
  }
};

struct LowerWriteFragment final : TilePattern<tile::WriteFragmentOp> {
  using TilePattern::TilePattern;

  LogicalResult matchAndRewrite(tile::WriteFragmentOp op, Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Builder b(rewriter, op.getLoc());
    // Lane l gives the address of line l % 8 of matrix l / 8: rows below first, then columns
    // beyond.
    Value lane = NVVM::LaneIdOp::create(rewriter, op.getLoc(), b.i32);
    Value row = b.add(b.toWord(adaptor.getRow()), b.both(lane, 15));
    Value column = b.add(b.toWord(adaptor.getColumn()), b.mul(b.div(lane, 16), 8));
    Value start = b.advance(adaptor.getTile(), getPlace(b, op.getTile().getType(), row, column));
    SmallVector<Value> words;
    for (Value pair : adaptor.getValues())
      words.push_back(LLVM::BitcastOp::create(rewriter, op.getLoc(), b.i32, pair));
    auto shape = NVVM::LdStMatrixShapeAttr::get(rewriter.getContext(), 8, 8);
    NVVM::StMatrixOp::create(rewriter, op.getLoc(), start, words, NVVM::MMALayout::row, shape,
                             NVVM::LdStMatrixEltType::B16);
    rewriter.eraseOp(op);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

struct LowerUndefined final : TilePattern<tile::UndefinedOp> {
  using TilePattern::TilePattern;

  LogicalResult matchAndRewrite(tile::UndefinedOp op, Adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<LLVM::UndefOp>(op, getTypeConverter()->convertType(op.getType()));
    return success();
  }
};

struct LowerMma final : TilePattern<tile::MmaOp> {
  using TilePattern::TilePattern;

  LogicalResult matchAndRewrite(tile::MmaOp op, Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Builder b(rewriter, op.getLoc());
    bool repeats = op.getA().getType().getRows() == tile::kRepeatedRows && !op.getTransposedA();
    Descriptor a(op.getA().getType(), op.getTransposedA(), repeats),
        right(op.getB().getType(), op.getTransposedB());
    // The warpgroup's rows: lines of the tile, or panels of it.
    Value row = b.toWord(adaptor.getRow());
    Value skip = op.getTransposedA()
                     ? b.mul(b.div(row, a.tile.getPanelColumns()), a.tile.getPanelBytes())
                     : b.mul(row, a.tile.getLineBytes());
    Value first = b.address(adaptor.getA());
    Value descriptorA = makeDescriptor(b, repeats ? first : b.add(first, skip), a);
    Value descriptorB = makeDescriptor(b, b.address(adaptor.getB()), right);

    NVVM::WgmmaFenceAlignedOp::create(rewriter, op.getLoc());
    Value sums = adaptor.getAccumulator();
    Value flag = LLVM::ZExtOp::create(rewriter, op.getLoc(), b.i32, adaptor.getAccumulate());
    int64_t steps = op.getK() * a.tile.getElementBytes() / 32;
    Type elementType = a.tile.getElementType();
    std::string order;
    if (a.tile.getElementBytes() == 2)
      order = llvm::formatv(", {0}, {1}", op.getTransposedA() ? 1 : 0, op.getTransposedB() ? 1 : 0);
    for (int64_t step = 0; step < steps; ++step)
      sums = multiply(b, elementType, op.getAccumulator().getType(), sums,
                      advanceDescriptor(b, descriptorA, a.getStep(step)),
                      advanceDescriptor(b, descriptorB, right.getStep(step)),
                      step == 0 ? flag : b.word(1), order);
    NVVM::WgmmaGroupSyncAlignedOp::create(rewriter, op.getLoc());
    rewriter.replaceOp(op, sums);
    return success();
  }
};

struct LowerMmaFragments final : TilePattern<tile::MmaFragmentsOp> {
  using TilePattern::TilePattern;

  LogicalResult matchAndRewrite(tile::MmaFragmentsOp op, Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Builder b(rewriter, op.getLoc());
    Descriptor right(op.getB().getType(), /*transposed=*/false);
    Value descriptor = makeDescriptor(b, b.address(adaptor.getB()), right);
    tile::FragmentsType type = op.getA().getType();
    NVVM::WgmmaFenceAlignedOp::create(rewriter, op.getLoc());
    Value sums = adaptor.getAccumulator();
    Value flag = LLVM::ZExtOp::create(rewriter, op.getLoc(), b.i32, adaptor.getAccumulate());
    int64_t first = op.getK() * type.getElementBytes() / 32;
    // Of 16-bit types wgmma wants to know how the lines of B run.
    StringRef order = type.getElementBytes() == 2 ? ", 0" : "";
    for (int64_t step = 0; step < type.getWords() / 4; ++step) {
      SmallVector<Value> words;
      for (int64_t word = 0; word < 4; ++word)
        words.push_back(
            LLVM::ExtractValueOp::create(rewriter, op.getLoc(), adaptor.getA(), step * 4 + word));
      sums = multiply(b, type.getElementType(), op.getAccumulator().getType(), sums, words,
                      advanceDescriptor(b, descriptor, right.getStep(first + step)),
                      step == 0 ? flag : b.word(1), order);
    }
    NVVM::WgmmaGroupSyncAlignedOp::create(rewriter, op.getLoc());
    rewriter.replaceOp(op, sums);
    return success();
  }
};

struct LowerWaitFragments final : TilePattern<tile::WaitFragmentsOp> {
  using TilePattern::TilePattern;

  LogicalResult matchAndRewrite(tile::WaitFragmentsOp op, Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Builder b(rewriter, op.getLoc());
    // The registers are operands, so that nothing else is put into them before.
    SmallVector<Value> words;
    for (Value fragments : adaptor.getFragments()) {
      size_t count = cast<LLVM::LLVMStructType>(fragments.getType()).getBody().size();
      for (size_t i = 0; i < count; ++i)
        words.push_back(LLVM::ExtractValueOp::create(rewriter, op.getLoc(), fragments, i));
    }
    b.assembly(
        llvm::formatv("wgmma.wait_group.sync.aligned {0};", static_cast<int64_t>(op.getPending()))
            .str(),
        repeat("r", words.size()) + ",~{memory}", words);
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerWaitMma final : TilePattern<tile::WaitMmaOp> {
  using TilePattern::TilePattern;

  LogicalResult matchAndRewrite(tile::WaitMmaOp op, Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Builder b(rewriter, op.getLoc());
    std::string text =
        llvm::formatv("wgmma.wait_group.sync.aligned {0};", static_cast<int64_t>(op.getPending()));
    if (op.getAccumulators().empty()) {
      b.assembly(text, "~{memory}", {});
      rewriter.eraseOp(op);
      return success();
    }
    SmallVector<Value> operands;
    SmallVector<Type> types;
    SmallVector<std::string> outputs, inputs;
    for (Value sums : adaptor.getAccumulators())
      for (auto [i, type] : llvm::enumerate(cast<LLVM::LLVMStructType>(sums.getType()).getBody())) {
        inputs.push_back(std::to_string(operands.size()));
        outputs.push_back(type.isF32() ? "=f" : "=r");
        types.push_back(type);
        operands.push_back(LLVM::ExtractValueOp::create(rewriter, op.getLoc(), sums, i));
      }
    auto all = LLVM::LLVMStructType::getLiteral(rewriter.getContext(), types);
    Value done =
        b.assembly(text, llvm::join(outputs, ",") + "," + llvm::join(inputs, ",") + ",~{memory}",
                   operands, all)
            .getResult(0);
    SmallVector<Value> results;
    size_t next = 0;
    for (Value sums : adaptor.getAccumulators()) {
      auto type = cast<LLVM::LLVMStructType>(sums.getType());
      Value result = LLVM::UndefOp::create(rewriter, op.getLoc(), type);
      for (size_t i = 0; i < type.getBody().size(); ++i, ++next) {
        Value part = LLVM::ExtractValueOp::create(rewriter, op.getLoc(), done, next);
        result = LLVM::InsertValueOp::create(rewriter, op.getLoc(), result, part, i);
      }
      results.push_back(result);
    }
    rewriter.replaceOp(op, results);
    return success();
  }
};

/// Threads meet their own counterparts in the other blocks: what a thread writes of four registers
/// lies beside what the other threads of its warp write, and is read in the same way. All is under
/// way before the first sum.
struct LowerReduceBlocks final : TilePattern<tile::ReduceBlocksOp> {
  using TilePattern::TilePattern;

  LogicalResult matchAndRewrite(tile::ReduceBlocksOp op, Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Builder b(rewriter, op.getLoc());
    Location loc = op.getLoc();
    tile::AccumulatorType from = op.getAccumulator().getType(), to = op.getResult().getType();
    int64_t count = countRegisters(from), kept = countRegisters(to);
    constexpr int64_t kWords = 4; // of an access
    constexpr int64_t kStep = tile::kWarpgroupThreads * kWords * 4;
    Type type = from.getElementType();
    auto group = LLVM::LLVMStructType::getLiteral(op.getContext(), SmallVector<Type>(kWords, type));
    Value thread =
        b.both(NVVM::ThreadIdXOp::create(rewriter, loc, b.i32), tile::kWarpgroupThreads - 1);
    Value own = b.add(b.mul(b.toWord(adaptor.getWarpgroup()), count / kWords * kStep),
                      b.mul(thread, kWords * 4));
    Value base = b.advance(adaptor.getScratch(), own);
    for (int64_t i = 0; i < count; i += kWords) {
      Value words = LLVM::UndefOp::create(rewriter, loc, VectorType::get(kWords, type));
      for (int64_t word = 0; word < kWords; ++word) {
        Value part =
            LLVM::ExtractValueOp::create(rewriter, loc, adaptor.getAccumulator(), i + word);
        words = LLVM::InsertElementOp::create(rewriter, loc, words, part, b.word(word));
      }
      LLVM::StoreOp::create(rewriter, loc, words, b.advance(base, i / kWords * kStep),
                            /*alignment=*/kWords * 4);
    }
    b.assembly("barrier.cluster.arrive.release.aligned;", "~{memory}", {});
    b.assembly("barrier.cluster.wait.acquire.aligned;", "~{memory}", {});
    Value rank = NVVM::BlockInClusterIdXOp::create(rewriter, loc, b.i32);
    Value first = b.add(b.address(base), b.mul(rank, kept / kWords * kStep));
    std::string constraints = repeat(type.isF32() ? "=f" : "=r", kWords) + ",r,~{memory}";
    SmallVector<Value> parts;
    for (int64_t block = 0; block < static_cast<int64_t>(op.getBlocks()); ++block) {
      Value there = b.assembly("mapa.shared::cluster.u32 $0, $1, $2;", "=r,r,r",
                               {first, b.word(block)}, b.i32)
                        .getResult(0);
      for (int64_t i = 0; i < kept; i += kWords) {
        std::string text = llvm::formatv("ld.shared::cluster.v4.b32 {{$0, $1, $2, $3}, [$4 + {0}];",
                                         i / kWords * kStep);
        Value words = b.assembly(text, constraints, {there}, group).getResult(0);
        for (int64_t word = 0; word < kWords; ++word)
          parts.push_back(LLVM::ExtractValueOp::create(rewriter, loc, words, word));
      }
    }
    SmallVector<Value> sums(ArrayRef(parts).take_front(kept));
    for (auto [i, part] : llvm::enumerate(ArrayRef(parts).drop_front(kept))) {
      Value &sum = sums[i % kept];
      sum = type.isF32() ? LLVM::FAddOp::create(rewriter, loc, sum, part).getResult()
                         : b.add(sum, part);
    }
    b.assembly("barrier.cluster.arrive.release.aligned;", "~{memory}", {});
    Value result = LLVM::UndefOp::create(rewriter, loc, getTypeConverter()->convertType(to));
    for (auto [i, sum] : llvm::enumerate(sums))
      result = LLVM::InsertValueOp::create(rewriter, loc, result, sum, i);
    rewriter.replaceOp(op, result);
    return success();
  }
};

/// Without a word on it the one half releases and the other acquires, also in PTX before 8.0.
struct LowerArriveBlocks final : TilePattern<tile::ArriveBlocksOp> {
  using TilePattern::TilePattern;

  LogicalResult matchAndRewrite(tile::ArriveBlocksOp op, Adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Builder(rewriter, op.getLoc()).assembly("barrier.cluster.arrive.aligned;", "~{memory}", {});
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerWaitBlocks final : TilePattern<tile::WaitBlocksOp> {
  using TilePattern::TilePattern;

  LogicalResult matchAndRewrite(tile::WaitBlocksOp op, Adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Builder(rewriter, op.getLoc()).assembly("barrier.cluster.wait.aligned;", "~{memory}", {});
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerStoreIn final : TilePattern<tile::StoreInOp> {
  using TilePattern::TilePattern;

  LogicalResult matchAndRewrite(tile::StoreInOp op, Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Builder b(rewriter, op.getLoc());
    Location loc = op.getLoc();
    Value own = LLVM::GEPOp::create(rewriter, loc, adaptor.getBuffer().getType(),
                                    adaptor.getValue().getType(), adaptor.getBuffer(),
                                    ArrayRef<LLVM::GEPArg>{adaptor.getPosition()});
    auto there = LLVM::LLVMPointerType::get(
        getContext(), static_cast<unsigned>(NVVM::NVVMMemorySpace::SharedCluster));
    Value address = NVVM::MapaOp::create(rewriter, loc, there, own, b.toWord(adaptor.getBlock()));
    LLVM::StoreOp::create(rewriter, loc, adaptor.getValue(), address);
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerPrefetch final : TilePattern<tile::PrefetchOp> {
  using TilePattern::TilePattern;

  LogicalResult matchAndRewrite(tile::PrefetchOp op, Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Builder(rewriter, op.getLoc())
        .assembly("prefetch.tensormap [$0];", "l,~{memory}", {adaptor.getMap()});
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerFragment final : TilePattern<tile::FragmentOp> {
  using TilePattern::TilePattern;

  LogicalResult matchAndRewrite(tile::FragmentOp op, Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Builder b(rewriter, op.getLoc());
    Value pair = LLVM::UndefOp::create(rewriter, op.getLoc(), op.getPair().getType());
    for (int64_t i = 0; i < 2; ++i) {
      Value part = LLVM::ExtractValueOp::create(rewriter, op.getLoc(), adaptor.getAccumulator(),
                                                op.getColumn() / 2 + op.getHalf() * 2 + i);
      pair = LLVM::InsertElementOp::create(rewriter, op.getLoc(), pair, part, b.word(i));
    }
    rewriter.replaceOp(op, pair);
    return success();
  }
};

} // namespace

void addTileTypeConversions(LLVMTypeConverter &converter) {
  auto toShared = [](Type type) { return LLVM::LLVMPointerType::get(type.getContext(), 3); };
  converter.addConversion([=](tile::SharedType type) -> Type { return toShared(type); });
  converter.addConversion([=](tile::RingType type) -> Type { return toShared(type); });
  converter.addConversion([](tile::TensorMapType type) -> Type {
    return LLVM::LLVMPointerType::get(type.getContext());
  });
  converter.addConversion([](tile::FragmentsType type) -> Type {
    SmallVector<Type> registers(type.getWords(), IntegerType::get(type.getContext(), 32));
    return LLVM::LLVMStructType::getLiteral(type.getContext(), registers);
  });
  converter.addConversion([](tile::AccumulatorType type) -> Type {
    SmallVector<Type> registers(countRegisters(type), type.getElementType());
    return LLVM::LLVMStructType::getLiteral(type.getContext(), registers);
  });
}

void populateTileToNVVMPatterns(const LLVMTypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<LowerRing, LowerAlloc, LowerSlot, LowerWaitFull, LowerWaitEmpty, LowerPublish,
               LowerRelease, LowerReleaseIn, LowerSyncBlocks, LowerLoad, LowerMulticast, LowerStore,
               LowerWaitStores, LowerFenceAsync, LowerSyncWarpgroup, LowerTurn<tile::TakeTurnOp>,
               LowerTurn<tile::GiveTurnOp>, LowerWrite, LowerReadElements, LowerWriteFragment,
               LowerUndefined, LowerMma, LowerMmaFragments, LowerWaitFragments, LowerWaitMma,
               LowerFragment, LowerReduceBlocks, LowerArriveBlocks, LowerWaitBlocks, LowerStoreIn,
               LowerPrefetch>(converter);
  populateFragmentPatterns(converter, patterns);
  populateRegisterPatterns(converter, patterns);
  populateMatrixPatterns(converter, patterns);
  populateCopyPatterns(converter, patterns);
}

} // namespace xc::cuda
