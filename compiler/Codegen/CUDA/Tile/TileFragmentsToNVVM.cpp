//===- TileFragmentsToNVVM.cpp - Reading an operand across its lines ------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// wgmma takes operands of other than 16 bits from shared memory only if their lines run along k. A
// tile whose lines run along its rows is read into registers instead, and a product may have its
// rows in any order. The order is such that one access brings a thread all of its rows, and that
// the chunks which one pass of an access touches, after the swizzle has moved them by the line's
// number, are all different:
//
//   4 bytes: the lines of a thread are l % 4 and 4 below, l the lane. Neighbouring values of l / 4
//     are 64 bytes apart, so that they and four lines meet in no chunk.
//   1 byte: a thread needs four lines from 4 * (l % 4) on, and in each one word, its four rows;
//     the words are then transposed. Of the four l % 4, two have the same swizzle:
//     they begin with the third line.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Tile/TileLowering.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace xc::cuda::tile_lowering {

namespace {

struct LowerReadFragmentWords final : TilePattern<tile::ReadFragmentWordsOp> {
  using TilePattern::TilePattern;

  LogicalResult matchAndRewrite(tile::ReadFragmentWordsOp op, Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    TileBuilder b(rewriter, op.getLoc());
    SmallVector<SmallVector<Value>> words(op.getParts());
    if (op.getTile().getType().getElementBytes() == 4)
      readWords(b, op, adaptor, words);
    else
      readBytes(b, op, adaptor, words);
    SmallVector<Value> results;
    for (ArrayRef<Value> part : words)
      llvm::append_range(results, part);
    rewriter.replaceOp(op, results);
    return success();
  }

private:
  struct Thread {
    explicit Thread(TileBuilder &b) {
      Value thread = NVVM::ThreadIdXOp::create(b.rewriter, b.loc, b.i32);
      Value lane = b.both(thread, 31);
      warp = b.both(b.div(thread, 32), tile::kWarpgroupThreads / 32 - 1);
      group = b.div(lane, 4);
      place = b.both(lane, 3);
    }
    Value warp, group, place;
  };

  /// Words of each part.
  static int64_t countWords(tile::ReadFragmentWordsOp op) {
    return static_cast<int64_t>(op.getWords().size()) / static_cast<int64_t>(op.getParts());
  }

  /// Bit `bit` of `value`, moved to be worth `worth`.
  static Value moveBit(TileBuilder &b, Value value, int64_t bit, int64_t worth) {
    return b.mul(b.both(b.div(value, int64_t(1) << bit), 1), worth);
  }

  /// `count` words from `place` on: as assembly, since LLVM would make that many loads of it.
  static SmallVector<Value> load(TileBuilder &b, Value tile, Value place, int64_t bytes,
                                 int64_t count) {
    SmallVector<Type> types(count, b.i32);
    SmallVector<std::string> names;
    for (int64_t i = 0; i < count; ++i)
      names.push_back("$" + std::to_string(i));
    std::string list = llvm::join(names, ", ");
    if (count > 1)
      list = llvm::formatv(".v{0}.b32 {{{1}}", count, list);
    else
      list = ".b32 " + list;
    std::string constraints;
    for (int64_t i = 0; i < count; ++i)
      constraints += "=r,";
    Type type = count == 1 ? b.i32 : LLVM::LLVMStructType::getLiteral(b.i32.getContext(), types);
    Value loaded =
        b.assembly(llvm::formatv("ld.shared{0}, [${1} + {2}];", list, count, bytes).str(),
                   constraints + "r,~{memory}", b.address(b.advance(tile, place)), type)
            .getResult(0);
    if (count == 1)
      return {loaded};
    SmallVector<Value> words;
    for (int64_t i = 0; i < count; ++i)
      words.push_back(LLVM::ExtractValueOp::create(b.rewriter, b.loc, loaded, i));
    return words;
  }

  static void readWords(TileBuilder &b, tile::ReadFragmentWordsOp op, Adaptor adaptor,
                        MutableArrayRef<SmallVector<Value>> words) {
    tile::SharedType tile = op.getTile().getType();
    int64_t parts = words.size();
    Thread thread(b);
    Value column = b.add(b.toWord(adaptor.getRow()), moveBit(b, thread.group, 0, 16));
    if (parts == 2) {
      column = b.add(column, b.mul(thread.warp, 32));
      column = b.add(column, b.mul(b.div(thread.group, 2), 4));
    } else {
      column = b.add(column, b.mul(b.div(thread.warp, 2), 32));
      column = b.add(column, moveBit(b, thread.warp, 0, 8));
      column = b.add(column, moveBit(b, thread.group, 2, 4));
      column = b.add(column, moveBit(b, thread.group, 1, 2));
    }
    // Eight lines on, the swizzle is the same.
    Value places[2] = {getPlace(b, tile, thread.place, column),
                       getPlace(b, tile, b.add(thread.place, b.word(4)), column)};
    for (int64_t step = 0; step < countWords(op) / 4; ++step)
      for (Value place : places) {
        int64_t line = static_cast<int64_t>(op.getK()) + step * 8;
        SmallVector<Value> loaded =
            load(b, adaptor.getTile(), place, line * tile.getLineBytes(), 2 * parts);
        for (auto [i, word] : llvm::enumerate(loaded))
          words[i / 2].push_back(word);
      }
  }

  /// Four bytes out of two words, those that `selector` names (PTX ISA, "prmt").
  static Value permute(TileBuilder &b, Value low, Value high, Value selector) {
    return LLVM::CallIntrinsicOp::create(b.rewriter, b.loc, b.i32,
                                         b.rewriter.getStringAttr("llvm.nvvm.prmt"),
                                         ValueRange{low, high, selector})
        .getResult(0);
  }

  static void readBytes(TileBuilder &b, tile::ReadFragmentWordsOp op, Adaptor adaptor,
                        MutableArrayRef<SmallVector<Value>> words) {
    tile::SharedType tile = op.getTile().getType();
    Thread thread(b);
    Value column =
        b.add(b.toWord(adaptor.getRow()), b.add(b.mul(thread.warp, 32), b.mul(thread.group, 4)));
    Value isLate =
        LLVM::ICmpOp::create(b.rewriter, b.loc, LLVM::ICmpPredicate::uge, thread.place, b.word(2));
    auto select = [&](int64_t late, int64_t early) -> Value {
      return LLVM::SelectOp::create(b.rewriter, b.loc, isLate, b.word(late), b.word(early));
    };
    // The lines in the order that they are read in; sixteen lines on, the swizzle is the same.
    SmallVector<Value> places;
    for (int64_t line = 0; line < 4; ++line)
      places.push_back(
          getPlace(b, tile, b.add(b.mul(thread.place, 4), select(line ^ 2, line)), column));
    Value low = b.word(0x5140), high = b.word(0x7362);
    Value even = select(0x1054, 0x5410), odd = select(0x3276, 0x7632);
    for (int64_t half = 0; half < countWords(op) / 2; ++half) {
      SmallVector<Value> lines;
      for (Value place : places)
        lines.push_back(load(b, adaptor.getTile(), place,
                             (static_cast<int64_t>(op.getK()) + half * 16) * tile.getLineBytes(), 1)
                            .front());
      for (auto [part, selector] : llvm::enumerate(ArrayRef<Value>{low, high})) {
        Value first = permute(b, lines[0], lines[1], selector),
              second = permute(b, lines[2], lines[3], selector);
        words[part].push_back(permute(b, first, second, even));
        words[part].push_back(permute(b, first, second, odd));
      }
    }
  }
};

} // namespace

void populateFragmentPatterns(const LLVMTypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<LowerReadFragmentWords>(converter);
}

} // namespace xc::cuda::tile_lowering
