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

/// Ping-pong barriers follow those of warpgroups; one half of the consumer warpgroups arrives, the
/// other waits.
template <typename Op> struct LowerPingPong final : TilePattern<Op> {
  using TilePattern<Op>::TilePattern;

  LogicalResult matchAndRewrite(Op op, typename TilePattern<Op>::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    TileBuilder b(rewriter, op.getLoc());
    auto consumers = static_cast<int64_t>(op.getConsumers());
    Value number = b.add(b.toWord(adaptor.getHalf()), b.word(1 + consumers));
    b.assembly(std::is_same_v<Op, tile::WaitPingPongOp> ? "bar.sync $0, $1;" : "bar.arrive $0, $1;",
               "r,n,~{memory}", {number, b.word(consumers * tile::kWarpgroupThreads)});
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
    TileBuilder b(rewriter, op.getLoc());
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
    TileBuilder b(rewriter, op.getLoc());
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
    TileBuilder b(rewriter, op.getLoc());
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
    TileBuilder b(rewriter, op.getLoc());
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
    TileBuilder b(rewriter, op.getLoc());
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

struct LowerFragment final : TilePattern<tile::FragmentOp> {
  using TilePattern::TilePattern;

  LogicalResult matchAndRewrite(tile::FragmentOp op, Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    TileBuilder b(rewriter, op.getLoc());
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
  populateRingPatterns(converter, patterns);
  patterns.add<LowerSyncWarpgroup, LowerPingPong<tile::WaitPingPongOp>,
               LowerPingPong<tile::ArrivePingPongOp>, LowerWrite, LowerReadElements,
               LowerWriteFragment, LowerUndefined, LowerMma, LowerMmaFragments, LowerWaitFragments,
               LowerWaitMma, LowerFragment, LowerReduceBlocks, LowerArriveBlocks, LowerWaitBlocks,
               LowerStoreIn, LowerPrefetch>(converter);
  populateFragmentPatterns(converter, patterns);
  populateRegisterPatterns(converter, patterns);
  populateMatrixPatterns(converter, patterns);
  populateCopyPatterns(converter, patterns);
}

} // namespace xc::cuda
