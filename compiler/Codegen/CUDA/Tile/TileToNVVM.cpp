//===- TileToNVVM.cpp - Patterns from the tile dialect to instructions ----===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Instructions with register lists, predicates or loops are inline assembly. Products are in
// RegistersToNVVM.cpp.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Tile/TileToNVVM.h"
#include "compiler/Codegen/CUDA/Common/Targets.h"

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
// Tiles that threads read and write
//===----------------------------------------------------------------------===//

struct LowerSyncWarpgroup final : TilePattern<tile::SyncWarpgroupOp> {
  using TilePattern::TilePattern;

  LogicalResult matchAndRewrite(tile::SyncWarpgroupOp op, Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    TileBuilder b(rewriter, op.getLoc());
    // Barrier 0 is the block's.
    Value number = b.add(b.toWord(adaptor.getWarpgroup()), b.word(1));
    b.assembly("bar.sync $0, $1;", "r,n,~{memory}", {number, b.word(tile::kWarpgroupThreads)});
    rewriter.eraseOp(op);
    return success();
  }
};

/// Where neighbouring elements of a tile lie, and how they are aligned.
struct Neighbours {
  template <typename Op> Neighbours(TileBuilder &b, Op op, typename Op::Adaptor adaptor) {
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
    TileBuilder b(rewriter, op.getLoc());
    Neighbours to(b, op, adaptor);
    rewriter.replaceOpWithNewOp<LLVM::StoreOp>(op, adaptor.getValues(), to.address, to.alignment);
    return success();
  }
};

struct LowerReadElements final : TilePattern<tile::ReadElementsOp> {
  using TilePattern::TilePattern;

  LogicalResult matchAndRewrite(tile::ReadElementsOp op, Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    TileBuilder b(rewriter, op.getLoc());
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
    TileBuilder b(rewriter, op.getLoc());
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

/// Threads meet their own counterparts in the other blocks: what a thread writes of four registers
/// lies beside what the other threads of its warp write, and is read in the same way. All is under
/// way before the first sum.
struct LowerSumBlocks final : TilePattern<tile::SumBlocksOp> {
  using TilePattern::TilePattern;

  LogicalResult matchAndRewrite(tile::SumBlocksOp op, Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    TileBuilder b(rewriter, op.getLoc());
    Location loc = op.getLoc();
    ValueRange own = adaptor.getSums();
    int64_t count = own.size(), kept = op.getResults().size();
    constexpr int64_t kWords = 4; // of an access
    constexpr int64_t kStep = tile::kWarpgroupThreads * kWords * 4;
    Type type = own.front().getType();
    auto group = LLVM::LLVMStructType::getLiteral(op.getContext(), SmallVector<Type>(kWords, type));
    Value thread =
        b.both(NVVM::ThreadIdXOp::create(rewriter, loc, b.i32), tile::kWarpgroupThreads - 1);
    Value place = b.add(b.mul(b.toWord(adaptor.getWarpgroup()), count / kWords * kStep),
                        b.mul(thread, kWords * 4));
    Value base = b.advance(adaptor.getScratch(), place);
    for (int64_t i = 0; i < count; i += kWords) {
      Value words = LLVM::UndefOp::create(rewriter, loc, VectorType::get(kWords, type));
      for (int64_t word = 0; word < kWords; ++word)
        words = LLVM::InsertElementOp::create(rewriter, loc, words, own[i + word], b.word(word));
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
    rewriter.replaceOp(op, sums);
    return success();
  }
};

/// Without a word on it the one half releases and the other acquires, also in PTX before 8.0, which
/// knows no other. Releasing waits for all of memory.
struct LowerArriveBlocks final : TilePattern<tile::ArriveBlocksOp> {
  using TilePattern::TilePattern;

  LogicalResult matchAndRewrite(tile::ArriveBlocksOp op, Adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    constexpr unsigned kRelaxedVersion = 80;
    const Target *target = findTarget(op);
    bool isRelaxed = op.getRelaxed() && target && target->ptxVersion >= kRelaxedVersion;
    TileBuilder(rewriter, op.getLoc())
        .assembly(isRelaxed ? "barrier.cluster.arrive.relaxed.aligned;"
                            : "barrier.cluster.arrive.aligned;",
                  "~{memory}", {});
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerWaitBlocks final : TilePattern<tile::WaitBlocksOp> {
  using TilePattern::TilePattern;

  LogicalResult matchAndRewrite(tile::WaitBlocksOp op, Adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    TileBuilder(rewriter, op.getLoc()).assembly("barrier.cluster.wait.aligned;", "~{memory}", {});
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerStoreIn final : TilePattern<tile::StoreInOp> {
  using TilePattern::TilePattern;

  LogicalResult matchAndRewrite(tile::StoreInOp op, Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    TileBuilder b(rewriter, op.getLoc());
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
    TileBuilder(rewriter, op.getLoc())
        .assembly("prefetch.tensormap [$0];", "l,~{memory}", {adaptor.getMap()});
    rewriter.eraseOp(op);
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
}

void populateTileToNVVMPatterns(const LLVMTypeConverter &converter, RewritePatternSet &patterns) {
  populateRingPatterns(converter, patterns);
  patterns.add<LowerSyncWarpgroup, LowerWrite, LowerReadElements, LowerWriteFragment,
               LowerSumBlocks, LowerArriveBlocks, LowerWaitBlocks, LowerStoreIn, LowerPrefetch>(
      converter);
  populateFragmentPatterns(converter, patterns);
  populateRegisterPatterns(converter, patterns);
  populateMatrixPatterns(converter, patterns);
  populateCopyPatterns(converter, patterns);
}

} // namespace xc::cuda
