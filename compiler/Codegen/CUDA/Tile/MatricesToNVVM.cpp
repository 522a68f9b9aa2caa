//===- MatricesToNVVM.cpp - Synchronous products become mma.sync ----------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each of a warpgroup's four warps has 16 rows. Operands in shared memory come by ldmatrix, four
// matrices of 8 x 8 at a time: of the first one 16 rows by 16 along k, of the second one 16 along k
// by 16 columns, transposed where the tile's lines do not run along k. The eight lines of a matrix
// follow one another, so that the swizzle puts their chunks into different banks.
//
// Matrices begin at multiples of 16 rows, after which the swizzle repeats, and of two chunks of a
// line. So a lane's place is one of at most four (its own, with the chunk's number in the panel
// flipped in by an exclusive or), plus a constant.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Tile/TileLowering.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;

namespace xc::cuda::tile_lowering {

namespace {

/// A tile that the lanes of a warp read matrices of.
class Matrices {
public:
  /// `row` and `column` are where this lane's line begins, of matrices at the tile's start.
  Matrices(TileBuilder &b, tile::SharedType tile, Value start, Value row, Value column,
           bool transposed)
      : b(b), tile(tile), start(start), place(getPlace(b, tile, row, column)),
        transposed(transposed) {}

  /// `count` (2 or 4) matrices from that row and column on, multiples of 16.
  SmallVector<Value> load(int64_t row, int64_t column, int64_t count = 4) {
    int64_t panel = column / tile.getPanelColumns(),
            chunk = column % tile.getPanelColumns() / kChunk;
    Value own = b.advance(start, b.exclusiveOr(place, b.word(chunk * 16)));
    Value pointer = b.advance(own, row * tile.getLineBytes() + panel * tile.getPanelBytes());
    auto type =
        LLVM::LLVMStructType::getLiteral(b.rewriter.getContext(), SmallVector<Type>(count, b.i32));
    auto shape = NVVM::LdStMatrixShapeAttr::get(b.rewriter.getContext(), 8, 8);
    Value matrices =
        NVVM::LdMatrixOp::create(b.rewriter, b.loc, type, pointer, static_cast<uint32_t>(count),
                                 transposed ? NVVM::MMALayout::col : NVVM::MMALayout::row, shape,
                                 NVVM::LdStMatrixEltType::B16);
    SmallVector<Value> words;
    for (int64_t i = 0; i < count; ++i)
      words.push_back(LLVM::ExtractValueOp::create(b.rewriter, b.loc, matrices, i));
    return words;
  }

private:
  TileBuilder &b;
  tile::SharedType tile;
  Value start, place;
  bool transposed;
};

/// This thread's lane, by the parts that say which line of which matrix it gives the address of.
struct Lane {
  explicit Lane(TileBuilder &b) {
    Value thread = NVVM::ThreadIdXOp::create(b.rewriter, b.loc, b.i32);
    warp = b.both(b.div(thread, 32), tile::kWarpgroupThreads / 32 - 1);
    line = b.both(thread, 7);
    odd = b.mul(b.both(b.div(thread, 8), 1), 8);    // of matrices 1 and 3
    upper = b.mul(b.both(b.div(thread, 16), 1), 8); // of matrices 2 and 3
  }
  Value warp, line, odd, upper;
};

/// The first operand of this warp: 16 rows, of the warpgroup's from `row` on.
Matrices getFirst(TileBuilder &b, Lane &lane, tile::SharedType tile, Value start, Value row,
                  bool transposed) {
  Value own = b.add(b.add(b.toWord(row), b.mul(lane.warp, 16)), lane.odd);
  if (transposed)
    return {b, tile, start, b.add(lane.upper, lane.line), own, transposed};
  return {b, tile, start, b.add(own, lane.line), lane.upper, transposed};
}

/// The second operand.
Matrices getSecond(TileBuilder &b, Lane &lane, tile::SharedType tile, Value start,
                   bool transposed) {
  if (transposed)
    return {b, tile, start, b.add(lane.odd, lane.line), lane.upper, transposed};
  return {b, tile, start, b.add(lane.upper, lane.line), lane.odd, transposed};
}

/// One mma.sync of 16 rows and 8 columns.
void multiply(TileBuilder &b, Type element, ValueRange a, ValueRange second,
              MutableArrayRef<Value> sums) {
  auto toFragment = [&](Value word) -> Value {
    // f16 fragments are pairs to the op, all others are words.
    if (!element.isF16())
      return word;
    return LLVM::BitcastOp::create(b.rewriter, b.loc, VectorType::get(2, element), word);
  };
  SmallVector<Value> left = llvm::map_to_vector(a, toFragment),
                     right = llvm::map_to_vector(second, toFragment);
  Type f32 = b.rewriter.getF32Type();
  auto type = LLVM::LLVMStructType::getLiteral(b.rewriter.getContext(), {f32, f32, f32, f32});
  auto operand = element.isF16() ? NVVM::MMATypes::f16 : NVVM::MMATypes::bf16;
  Value product =
      NVVM::MmaOp::create(b.rewriter, b.loc, type, left, right, ValueRange(sums), {16, 8, kStep},
                          std::nullopt, std::nullopt, std::array{operand, operand},
                          std::array{NVVM::MMALayout::row, NVVM::MMALayout::col});
  for (auto [i, sum] : llvm::enumerate(sums))
    sum = LLVM::ExtractValueOp::create(b.rewriter, b.loc, product, i);
}

struct LowerSynchronousIssue final : TilePattern<tile::IssueOp> {
  using TilePattern::TilePattern;

  LogicalResult matchAndRewrite(tile::IssueOp op, Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (!op.getSynchronous())
      return rewriter.notifyMatchFailure(op, "is one of wgmma");
    TileBuilder b(rewriter, op.getLoc());
    Lane lane(b);
    auto columns = static_cast<int64_t>(op.getColumns());
    SmallVector<Value> sums(adaptor.getSums());
    if (sums.empty())
      sums.assign(columns / 2,
                  LLVM::ConstantOp::create(rewriter, op.getLoc(), rewriter.getF32FloatAttr(0)));
    std::optional<Matrices> first;
    if (op.getA())
      first.emplace(getFirst(b, lane, op.getA().getType(), adaptor.getA(), adaptor.getRow(),
                             op.getTransposedA()));
    bool transposed = op.getTransposedB();
    Matrices second = getSecond(b, lane, op.getB().getType(), adaptor.getB(), transposed);
    Type element = op.getB().getType().getElementType();
    for (int64_t k = 0; k < static_cast<int64_t>(op.getK()); k += kStep) {
      SmallVector<Value> a = !first ? SmallVector<Value>(adaptor.getWords().slice(k / 4, 4))
                             : op.getTransposedA() ? first->load(k, 0)
                                                   : first->load(0, k);
      for (int64_t column = 0; column < columns; column += 16) {
        int64_t count = column + 16 <= columns ? 4 : 2;
        SmallVector<Value> words =
            transposed ? second.load(k, column, count) : second.load(column, k, count);
        for (int64_t half = 0; half < count / 2; ++half)
          multiply(b, element, a, ArrayRef(words).slice(half * 2, 2),
                   MutableArrayRef(sums).slice((column / 8 + half) * 4, 4));
      }
    }
    rewriter.replaceOp(op, sums);
    return success();
  }
};

struct LowerReadWords final : TilePattern<tile::ReadWordsOp> {
  using TilePattern::TilePattern;

  LogicalResult matchAndRewrite(tile::ReadWordsOp op, Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    TileBuilder b(rewriter, op.getLoc());
    Lane lane(b);
    Matrices tile = getFirst(b, lane, op.getTile().getType(), adaptor.getTile(), adaptor.getRow(),
                             /*transposed=*/false);
    SmallVector<Value> words;
    for (int64_t k = 0; words.size() < op.getWords().size(); k += kStep)
      llvm::append_range(words, tile.load(0, k));
    rewriter.replaceOp(op, words);
    return success();
  }
};

} // namespace

void populateMatrixPatterns(const LLVMTypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<LowerSynchronousIssue, LowerReadWords>(converter);
}

} // namespace xc::cuda::tile_lowering
