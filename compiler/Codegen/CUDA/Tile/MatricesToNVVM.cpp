//===- MatricesToNVVM.cpp - Synchronous products become mma.sync ----------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each of a warpgroup's four warps has 16 rows. Operands in shared memory come by ldmatrix, four
// matrices of 8 lines of 16 bytes at a time: of the first one 16 rows by 32 bytes along k, of the
// second one 32 bytes along k by 16 columns, transposed where the tile's lines do not run along k.
// The eight lines of a matrix follow one another, so that the swizzle puts their chunks into
// different banks.
//
// Matrices begin at multiples of 8 rows, after which the swizzle repeats, and of two chunks of a
// line. So a lane's place is one of at most four (its own, with the chunk's number in the panel
// flipped in by an exclusive or), plus a constant.
//
// ldmatrix transposes 16-bit elements alone. Of f32 lanes load single elements of lines that do not
// run along k: lane l those of column l / 4 and of lines 2 * (l % 4) and the next. The four lines
// of a warp's load are of even numbers, or odd ones, and a swizzle with those leads the two chunks
// of a line to eight different ones: no two lanes meet in a bank.
//
// A product of f32 is three of TF32, which has 11 digits: with x = big + small, where big is x
// rounded to TF32 and small the rest, it is big * big + (big * small + small * big). What small
// loses in TF32 is the last of the 24 digits of x at most; tensor cores do not look at what TF32
// does not have. They cut sums towards zero, so the small products have sums of their own or, of
// many columns, come first, and those of this product are added to what there was before by an
// addition that rounds.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Common/TF32.h"
#include "compiler/Codegen/CUDA/Tile/MMASync.h"
#include "compiler/Codegen/CUDA/Tile/Products.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;

namespace xc::cuda::tile_lowering {

namespace {

/// A place in a tile, and those some chunks, rows and panels on.
class TilePlace {
public:
  TilePlace(TileBuilder &b, tile::SharedType tile, Value start, Value row, Value column)
      : b(b), tile(tile), start(start), place(getPlace(b, tile, row, column)) {}

  /// `row` is a multiple of 8, `column` of two chunks.
  Value getPointer(int64_t row, int64_t column) {
    int64_t panel = column / tile.getPanelColumns(),
            chunk = column % tile.getPanelColumns() / tile.getChunkColumns();
    Value own = b.advance(start, b.exclusiveOr(place, b.word(chunk * 16)));
    return b.advance(own, row * tile.getLineBytes() + panel * tile.getPanelBytes());
  }

private:
  TileBuilder &b;
  tile::SharedType tile;
  Value start, place;
};

/// A tile that the lanes of a warp read matrices of.
class Matrices {
public:
  /// `row` and `column` are where this lane's line begins, of matrices at the tile's start.
  Matrices(TileBuilder &b, tile::SharedType tile, Value start, Value row, Value column,
           bool transposed)
      : b(b), place(b, tile, start, row, column), transposed(transposed) {}

  /// `count` (2 or 4) matrices from that row and column on, multiples of 8 and of two chunks.
  SmallVector<Value> load(int64_t row, int64_t column, int64_t count = 4) {
    return loadMatrices(b.rewriter, b.loc, place.getPointer(row, column), count, transposed);
  }

private:
  TileBuilder &b;
  TilePlace place;
  bool transposed;
};

/// This thread's lane, by the parts that say which line of which matrix it gives the address of.
struct Lane {
  explicit Lane(TileBuilder &b) {
    Value thread = NVVM::ThreadIdXOp::create(b.rewriter, b.loc, b.i32);
    warp = b.both(b.div(thread, 32), tile::kWarpgroupThreads / 32 - 1);
    line = b.both(thread, 7);
    odd = b.both(b.div(thread, 8), 1);    // of matrices 1 and 3
    upper = b.both(b.div(thread, 16), 1); // of matrices 2 and 3
    group = b.div(b.both(thread, 31), 4);
    place = b.both(thread, 3);
  }
  Value warp, line, odd, upper, group, place;
};

/// The first operand of this warp: 16 rows, of the warpgroup's from `row` on.
Matrices getFirst(TileBuilder &b, Lane &lane, tile::SharedType tile, Value start, Value row,
                  bool transposed) {
  Value own = b.add(b.add(b.toWord(row), b.mul(lane.warp, 16)), b.mul(lane.odd, 8));
  if (transposed)
    return {b, tile, start, b.add(b.mul(lane.upper, 8), lane.line), own, transposed};
  Value column = b.mul(lane.upper, tile.getChunkColumns());
  return {b, tile, start, b.add(own, lane.line), column, transposed};
}

/// The second operand of a product.
class Second {
public:
  Second(TileBuilder &b, Lane &lane, tile::SharedType tile, Value start, bool transposed)
      : b(b), transposed(transposed) {
    if (transposed && tile.getElementBytes() == 4) {
      Value line = b.mul(lane.place, 2);
      for (int64_t next : {0, 1})
        lines.emplace_back(b, tile, start, b.add(line, b.word(next)), lane.group);
      return;
    }
    int64_t own = transposed ? 8 : tile.getChunkColumns();
    Value row = b.mul(transposed ? lane.odd : lane.upper, 8),
          column = b.mul(transposed ? lane.upper : lane.odd, own);
    matrices.emplace(b, tile, start, b.add(row, lane.line), column, transposed);
  }

  /// Two words for each 8 of `columns` columns (8 or 16) from `column` on, of the step at `k`.
  SmallVector<Value> load(int64_t k, int64_t column, int64_t columns) {
    if (matrices)
      return transposed ? matrices->load(k, column, columns / 4)
                        : matrices->load(column, k, columns / 4);
    SmallVector<Value> words;
    for (int64_t first = column; first < column + columns; first += 8)
      for (TilePlace &line : lines)
        words.push_back(LLVM::LoadOp::create(b.rewriter, b.loc, b.i32, line.getPointer(k, first),
                                             /*alignment=*/4));
    return words;
  }

private:
  TileBuilder &b;
  bool transposed;
  std::optional<Matrices> matrices;
  SmallVector<TilePlace> lines; // of single elements: even ones, odd ones
};

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
  NVVM::MMATypes type = getMMAType(element);
  emitMMA(b.rewriter, b.loc, {type, type}, left, right, sums);
}

/// Steps of a product of f32 for which the first operand is halved at a time.
constexpr int64_t kTogether = 4;
/// Columns beside whose sums registers hold those of big and of small products apart.
constexpr int64_t kMostColumns = 128;

/// Emits one product.
class ProductEmitter {
public:
  ProductEmitter(TileBuilder &b, tile::IssueOp op, tile::IssueOp::Adaptor adaptor)
      : b(b), op(op), adaptor(adaptor), lane(b),
        second(b, lane, op.getB().getType(), adaptor.getB(), op.getTransposedB()),
        element(op.getB().getType().getElementType()), step(op.getB().getType().getStepColumns()),
        columns(static_cast<int64_t>(op.getColumns())), length(static_cast<int64_t>(op.getK())) {
    if (op.getA())
      first.emplace(getFirst(b, lane, op.getA().getType(), adaptor.getA(), adaptor.getRow(),
                             op.getTransposedA()));
  }

  SmallVector<Value> run() {
    SmallVector<Value> sums(adaptor.getSums());
    if (element.isF32() && !op.getTf32())
      return sums.empty() ? emitWhole() : emitPartsOf(sums);
    if (sums.empty())
      sums = makeZeros(columns / 2);
    for (int64_t k = 0; k < length; k += step) {
      SmallVector<Value> a = round(loadFirst(k));
      forColumns([&](int64_t column, int64_t count) {
        SmallVector<Value> words = round(second.load(k, column, count));
        for (int64_t part = 0; part < count; part += 8)
          multiply(b, element, a, ArrayRef(words).slice(part / 4, 2), getSums(sums, column + part));
      });
    }
    return sums;
  }

private:
  SmallVector<Value> makeZeros(int64_t count) {
    return SmallVector<Value>(
        count, LLVM::ConstantOp::create(b.rewriter, b.loc, b.rewriter.getF32FloatAttr(0)));
  }
  SmallVector<Value> round(SmallVector<Value> words) {
    return element.isF32() ? roundToTF32(b.rewriter, b.loc, words) : words;
  }
  SmallVector<Value> loadFirst(int64_t k) {
    if (!first)
      return SmallVector<Value>(adaptor.getWords().slice(k / step * 4, 4));
    return op.getTransposedA() ? first->load(k, 0) : first->load(0, k);
  }
  void forColumns(llvm::function_ref<void(int64_t, int64_t)> body) {
    for (int64_t column = 0; column < columns; column += 16)
      body(column, std::min<int64_t>(columns - column, 16));
  }
  static MutableArrayRef<Value> getSums(MutableArrayRef<Value> sums, int64_t column) {
    return sums.slice(column / 8 * 4, 4);
  }
  Value addFloats(Value lhs, Value rhs) {
    return LLVM::FAddOp::create(b.rewriter, b.loc, lhs, rhs);
  }
  /// Adds the three products of TF32 of a step, of `count` columns from `column` on.
  void multiplyHalves(const TF32Halves &a, int64_t k, int64_t column, int64_t count,
                      MutableArrayRef<Value> big, MutableArrayRef<Value> small) {
    TF32Halves words(b.rewriter, b.loc, second.load(k, column, count));
    for (int64_t part = 0; part < count; part += 8) {
      ArrayRef<Value> bigWords = ArrayRef(words.big).slice(part / 4, 2),
                      smallWords = ArrayRef(words.small).slice(part / 4, 2);
      multiply(b, element, a.small, bigWords, getSums(small, part));
      multiply(b, element, a.big, smallWords, getSums(small, part));
      multiply(b, element, a.big, bigWords, getSums(big, part));
    }
  }
  SmallVector<Value> emitWhole();
  SmallVector<Value> emitPartsOf(SmallVector<Value> sums);
  void addInOrder(ArrayRef<TF32Halves> a, int64_t begin, int64_t column,
                  MutableArrayRef<Value> sums);

  TileBuilder &b;
  tile::IssueOp op;
  tile::IssueOp::Adaptor adaptor;
  Lane lane;
  Second second;
  std::optional<Matrices> first;
  Type element;
  int64_t step, columns, length;
};

/// A product of f32 of its own: a step of all columns at a time, so that the first operand is read
/// and halved once.
SmallVector<Value> ProductEmitter::emitWhole() {
  SmallVector<Value> big = makeZeros(columns / 2), small = big;
  for (int64_t k = 0; k < length; k += step) {
    TF32Halves a(b.rewriter, b.loc, loadFirst(k));
    forColumns([&](int64_t column, int64_t count) {
      multiplyHalves(a, k, column, count, MutableArrayRef(big).slice(column / 2, count / 2),
                     MutableArrayRef(small).slice(column / 2, count / 2));
    });
  }
  for (auto [sum, rest] : llvm::zip_equal(big, small))
    sum = addFloats(sum, rest);
  return big;
}

/// Adds the steps from `begin` on to the sums of 8 columns: the small products first, so that they
/// and the big ones share sums of their own, and no more is cut.
void ProductEmitter::addInOrder(ArrayRef<TF32Halves> a, int64_t begin, int64_t column,
                                MutableArrayRef<Value> sums) {
  SmallVector<TF32Halves> words;
  for (int64_t number = 0; number < static_cast<int64_t>(a.size()); ++number)
    words.emplace_back(b.rewriter, b.loc, second.load(begin + number * step, column, 8));
  SmallVector<Value> own = makeZeros(4);
  for (auto [first, next] : llvm::zip_equal(a, words)) {
    multiply(b, element, first.small, next.big, own);
    multiply(b, element, first.big, next.small, own);
  }
  for (auto [first, next] : llvm::zip_equal(a, words))
    multiply(b, element, first.big, next.big, own);
  for (auto [sum, more] : llvm::zip_equal(sums, own))
    sum = addFloats(sum, more);
}

/// One that is added to sums: a few steps for some columns at a time, so that few of its own sums,
/// and few halves of the first operand, are held beside those.
SmallVector<Value> ProductEmitter::emitPartsOf(SmallVector<Value> sums) {
  for (int64_t begin = 0; begin < length; begin += kTogether * step) {
    SmallVector<TF32Halves> a;
    for (int64_t k = begin; k < std::min(length, begin + kTogether * step); k += step)
      a.emplace_back(b.rewriter, b.loc, loadFirst(k));
    if (columns > kMostColumns) {
      for (int64_t column = 0; column < columns; column += 8)
        addInOrder(a, begin, column, getSums(sums, column));
      continue;
    }
    forColumns([&](int64_t column, int64_t count) {
      SmallVector<Value> big = makeZeros(count / 2), small = big;
      for (auto [number, halves] : llvm::enumerate(a))
        multiplyHalves(halves, begin + static_cast<int64_t>(number) * step, column, count, big,
                       small);
      for (int64_t i = 0; i < count / 2; ++i) {
        Value &sum = sums[column / 2 + i];
        sum = addFloats(sum, addFloats(big[i], small[i]));
      }
    });
  }
  return sums;
}

struct LowerSynchronousIssue final : TilePattern<tile::IssueOp> {
  using TilePattern::TilePattern;

  LogicalResult matchAndRewrite(tile::IssueOp op, Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (!op.getSynchronous())
      return rewriter.notifyMatchFailure(op, "is one of wgmma");
    TileBuilder b(rewriter, op.getLoc());
    rewriter.replaceOp(op, ProductEmitter(b, op, adaptor).run());
    return success();
  }
};

struct LowerReadWords final : TilePattern<tile::ReadWordsOp> {
  using TilePattern::TilePattern;

  LogicalResult matchAndRewrite(tile::ReadWordsOp op, Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    TileBuilder b(rewriter, op.getLoc());
    Lane lane(b);
    tile::SharedType type = op.getTile().getType();
    Matrices tile =
        getFirst(b, lane, type, adaptor.getTile(), adaptor.getRow(), /*transposed=*/false);
    SmallVector<Value> words;
    for (int64_t k = 0; words.size() < op.getWords().size(); k += type.getStepColumns())
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
