//===- CopiesToNVVM.cpp - Copies to tiles become cp.async -----------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A panel's line has at most eight chunks of 16 bytes. As many neighbouring threads as its chunks,
// rounded up to a power of two, copy a line together, and the lines of a thread are a multiple of
// eight apart, after which the swizzle repeats: all its places in shared memory are one address
// plus constants. So are those in global memory, as far as strides are known: an address each would
// be a register pair that a loop over tiles carries. A chunk that is outside of the rows or the
// columns is copied as no bytes of 16, which reads nothing and writes zeros.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Tile/TileLowering.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace xc::cuda::tile_lowering {

namespace {

struct LowerIssueCopy final : TilePattern<tile::IssueCopyOp> {
  using TilePattern::TilePattern;

  LogicalResult matchAndRewrite(tile::IssueCopyOp op, Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    TileBuilder b(rewriter, op.getLoc());
    tile::SharedType tile = op.getTile().getType();
    int64_t columns = llvm::alignTo(static_cast<int64_t>(op.getColumns()), tile.getStepColumns());
    int64_t whole = static_cast<int64_t>(op.getColumns()) / tile.getPanelColumns(),
            rest = whole * tile.getPanelColumns();
    if (whole > 0)
      copyPanels(b, op, adaptor, 0, tile.getPanelColumns() / tile.getChunkColumns(), whole);
    if (rest < columns)
      copyPanels(b, op, adaptor, rest, (columns - rest) / tile.getChunkColumns(), 1);
    NVVM::CpAsyncCommitGroupOp::create(rewriter, op.getLoc());
    rewriter.eraseOp(op);
    return success();
  }

private:
  static Value both(TileBuilder &b, Value lhs, Value rhs) {
    return lhs && rhs ? LLVM::AndOp::create(b.rewriter, b.loc, lhs, rhs).getResult()
           : lhs      ? lhs
                      : rhs;
  }
  static Value isBelow(TileBuilder &b, Value lhs, Value rhs) {
    return LLVM::ICmpOp::create(b.rewriter, b.loc, LLVM::ICmpPredicate::ult, lhs, rhs);
  }
  static void copyPanels(TileBuilder &b, tile::IssueCopyOp op, Adaptor adaptor, int64_t first,
                         int64_t chunks, int64_t panels);
  /// So many bytes behind an address.
  struct Place {
    Value start;
    int64_t offset;
  };
  /// How many elements behind `start` row `row` is, which is below `rows` if it is `inside`.
  static Value placeInPages(TileBuilder &b, tile::IssueCopyOp op, Adaptor adaptor, Value row,
                            Value inside);
  static void copyChunk(TileBuilder &b, Place to, Place from, Value inside, Value isOwn);
};

/// One copy of 16 bytes: of zeros where `inside` is false, and by threads for which `isOwn` is true
/// alone.
void LowerIssueCopy::copyChunk(TileBuilder &b, Place to, Place from, Value inside, Value isOwn) {
  Value bytes = LLVM::SelectOp::create(b.rewriter, b.loc, inside, b.word(16), b.word(0));
  std::string copy = llvm::formatv("cp.async.cg.shared.global [$0 + {0}], [$1 + {1}], 16, $2;",
                                   to.offset, from.offset)
                         .str();
  SmallVector<Value> operands{b.address(to.start), from.start, bytes};
  if (!isOwn) {
    b.assembly(copy, "r,l,r,~{memory}", operands);
    return;
  }
  operands.push_back(LLVM::ZExtOp::create(b.rewriter, b.loc, b.i32, isOwn));
  b.assembly("{ .reg .pred p; setp.ne.b32 p, $3, 0; @p " + copy + " }", "r,l,r,r,~{memory}",
             operands);
}

Value LowerIssueCopy::placeInPages(TileBuilder &b, tile::IssueCopyOp op, Adaptor adaptor, Value row,
                                   Value inside) {
  Value entry = adaptor.getPaging()[0], size = adaptor.getPaging()[1],
        apart = adaptor.getPaging()[2], count = adaptor.getPaging()[3];
  Type index = row.getType();
  ConversionPatternRewriter &rewriter = b.rewriter;
  // A row that nobody copies is in the first page, which the table has where there are rows.
  row = LLVM::SelectOp::create(rewriter, b.loc, inside, row, b.constant(index, 0));
  Value number = LLVM::UDivOp::create(rewriter, b.loc, row, size);
  Value before = LLVM::MulOp::create(rewriter, b.loc, number, size);
  Value place = LLVM::SubOp::create(rewriter, b.loc, row, before);
  Type stored = cast<MemRefType>(op.getTable().getType()).getElementType();
  Value from =
      LLVM::GEPOp::create(rewriter, b.loc, adaptor.getTable().getType(), stored, adaptor.getTable(),
                          ArrayRef<LLVM::GEPArg>{b.add(entry, number)});
  Value page = LLVM::LoadOp::create(rewriter, b.loc, stored, from);
  if (stored.getIntOrFloatBitWidth() < 64)
    page = LLVM::SExtOp::create(rewriter, b.loc, b.i64, page);
  if (index != b.i64)
    count = LLVM::ZExtOp::create(rewriter, b.loc, b.i64, count);
  Value last = b.add(count, b.constant(b.i64, -1));
  page = LLVM::SMinOp::create(rewriter, b.loc, page, last);
  page = LLVM::SMaxOp::create(rewriter, b.loc, page, b.constant(b.i64, 0));
  if (index != b.i64)
    page = LLVM::TruncOp::create(rewriter, b.loc, index, page);
  page = LLVM::MulOp::create(rewriter, b.loc, page, apart);
  return b.add(page, LLVM::MulOp::create(rewriter, b.loc, place, adaptor.getStride()));
}

/// The `chunks` chunks of each line of `panels` panels, of which the first one begins at column
/// `first`.
void LowerIssueCopy::copyPanels(TileBuilder &b, tile::IssueCopyOp op, Adaptor adaptor,
                                int64_t first, int64_t chunks, int64_t panels) {
  tile::SharedType tile = op.getTile().getType();
  Type element = tile.getElementType(), index = adaptor.getStart().getType();
  int64_t chunkColumns = tile.getChunkColumns();
  auto threads = static_cast<int64_t>(op.getThreads()),
       columns = static_cast<int64_t>(op.getColumns());
  int64_t width = llvm::bit_ceil(static_cast<uint64_t>(chunks)), lines = threads / width;
  Value thread = NVVM::ThreadIdXOp::create(b.rewriter, b.loc, b.i32);
  Value line = b.div(thread, width), chunk = b.both(thread, width - 1);
  Value column = b.add(b.mul(chunk, chunkColumns), b.word(first));
  Value isOwn = width == chunks ? Value() : isBelow(b, chunk, b.word(chunks));
  Value isColumn =
      first + chunks * chunkColumns <= columns ? Value() : isBelow(b, column, b.word(columns));
  Value to = b.advance(adaptor.getTile(), getPlace(b, tile, line, column));
  auto toIndex = [&](Value word) -> Value {
    return index == b.i32 ? word : LLVM::ZExtOp::create(b.rewriter, b.loc, index, word);
  };
  Value row = b.add(adaptor.getRow(), toIndex(line));
  Value start = b.add(adaptor.getStart(), toIndex(column));
  auto global = cast<LLVM::LLVMPointerType>(adaptor.getMemory().getType());
  auto point = [&](Value place) -> Value {
    return LLVM::GEPOp::create(b.rewriter, b.loc, global, element, adaptor.getMemory(),
                               ArrayRef<LLVM::GEPArg>{b.add(start, place)});
  };
  bool isPaged = static_cast<bool>(op.getTable());
  Value from;
  if (!isPaged)
    from = point(LLVM::MulOp::create(b.rewriter, b.loc, row, adaptor.getStride()));
  Value apart = b.mul(adaptor.getStride(), lines);
  std::optional<int64_t> stride = getConstantIntValue(op.getStride());
  int64_t elementBytes = tile.getElementBytes(), skipped = 0;
  // What an address takes as a constant.
  constexpr int64_t mostBytes = 1 << 24;
  bool isNear = stride && *stride * tile.getRows() * elementBytes <= mostBytes;
  for (int64_t done = 0; done < tile.getRows(); done += lines) {
    Value ownRow = b.add(row, b.constant(index, done));
    Value inside = isBelow(b, ownRow, adaptor.getRows());
    if (isPaged)
      from = point(placeInPages(b, op, adaptor, ownRow, inside));
    // The last lines may be fewer than threads have.
    Value isLine =
        done + lines <= tile.getRows() ? Value() : isBelow(b, line, b.word(tile.getRows() - done));
    for (int64_t panel = 0; panel < panels; ++panel)
      copyChunk(b, {to, done * tile.getLineBytes() + panel * tile.getPanelBytes()},
                {from, skipped + panel * tile.getPanelColumns() * elementBytes},
                both(b, inside, isColumn), both(b, isOwn, isLine));
    if (isPaged)
      continue;
    if (isNear)
      skipped += *stride * lines * elementBytes;
    else
      from = LLVM::GEPOp::create(b.rewriter, b.loc, global, element, from,
                                 ArrayRef<LLVM::GEPArg>{apart});
  }
}

struct LowerRetireCopies final : TilePattern<tile::RetireCopiesOp> {
  using TilePattern::TilePattern;

  LogicalResult matchAndRewrite(tile::RetireCopiesOp op, Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    NVVM::CpAsyncWaitGroupOp::create(rewriter, op.getLoc(), static_cast<uint32_t>(op.getPending()));
    if (op.getFenced())
      tile::FenceAsyncOp::create(rewriter, op.getLoc());
    if (!op.getHeld().empty()) {
      rewriter.replaceOp(op, hold(rewriter, op.getLoc(), adaptor.getHeld()));
      return success();
    }
    // That of all threads, as `gpu.barrier` is.
    NVVM::Barrier0Op::create(rewriter, op.getLoc());
    rewriter.eraseOp(op);
    return success();
  }

private:
  /// A barrier that gives a number, which is zero, that the results depend on.
  static SmallVector<Value> hold(ConversionPatternRewriter &rewriter, Location loc,
                                 ValueRange held) {
    TileBuilder b(rewriter, loc);
    Value none = b.assembly("{ .reg .pred p; setp.ne.u32 p, 0, 0; bar.red.popc.u32 $0, 0, p; }",
                            "=r,~{memory}", {}, b.i32)
                     .getResult(0);
    Type words = VectorType::get(2, b.i32);
    return llvm::map_to_vector(held, [&](Value value) -> Value {
      Value pair = LLVM::BitcastOp::create(rewriter, loc, words, value), zero = b.word(0);
      Value low = LLVM::ExtractElementOp::create(rewriter, loc, pair, zero);
      low = LLVM::OrOp::create(rewriter, loc, low, none);
      pair = LLVM::InsertElementOp::create(rewriter, loc, pair, low, zero);
      return LLVM::BitcastOp::create(rewriter, loc, value.getType(), pair);
    });
  }
};

} // namespace

void populateCopyPatterns(const LLVMTypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<LowerIssueCopy, LowerRetireCopies>(converter);
}

} // namespace xc::cuda::tile_lowering
