//===- LowerWarpTiles.cpp - Operands and sums of mma.sync -----------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operands in shared memory come by ldmatrix, four matrices of 8 lines of 16 bytes at a time: of
// the first one 16 rows by 32 bytes along k, of the second one 32 bytes along k by 16 columns,
// transposed where the tile's lines do not run along k. ldmatrix transposes 16-bit elements only:
// threads load the words of TF32 fragments one by one then. The swizzles of the tiles put the 8
// lines of a matrix, or the 4 lines by 8 words of one load of words, into different banks.
//
// Fragments of f64 are one element of each thread to a register pair, and an instruction's operands
// are neighbouring registers: threads load 16 bytes where two neighbours are neighbours there, too.
// They are along k in the second operand, and along rows in the first one, if its lines run along
// those: then the tiles are `paired`. Where an operand's lines run the wrong way, threads load
// single elements.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Common/LaneOps.h"
#include "compiler/Codegen/CUDA/Common/TF32.h"
#include "compiler/Codegen/CUDA/Tile/LinePlaces.h"
#include "compiler/Codegen/CUDA/Tile/MMASync.h"
#include "compiler/Codegen/CUDA/Tile/RegisterLowering.h"

using namespace mlir;

namespace xc::cuda {

/// Rows of a first operand, and columns that one instruction multiplies, and of an ldmatrix.
static constexpr int64_t kPieceRows = 16, kPieceColumns = 8, kReadColumns = 16;

/// f16 fragments are pairs to the instruction, f64 are elements, and all others are words.
static Type getRegisterType(tile::WarpType type) {
  Type element = type.getElementType();
  if (type.isAccumulator() || element.isF64())
    return element;
  if (element.isF16())
    return VectorType::get(2, element);
  return IntegerType::get(type.getContext(), 32);
}

namespace {

/// Reads the fragments of one operand.
class OperandReader {
public:
  OperandReader(OpBuilder &builder, tile::ReadOperandOp op, Value tile, Value own, Value k)
      : builder(builder), loc(op.getLoc()), op(op), places(builder, loc), index(places.index),
        type(op.getTile().getType()), tile(tile), own(Line::split(own)), k(k),
        chunk(type.getChunkColumns()), lane(places.getLane()) {}

  SmallVector<Value> run() {
    tile::WarpType result = op.getResult().getType();
    bool isFirst = result.isFirst();
    SmallVector<Value> registers;
    if (result.getElementType().isF64()) {
      if (isFirst)
        return loadDoubleRows();
      for (int64_t column = 0; column < result.getColumns(); column += kPieceColumns)
        llvm::append_range(registers, loadDoubleColumns(column));
      return registers;
    }
    if (isFirst)
      return toRegisters(loadFragment(own, /*isA=*/true));
    for (int64_t column = 0; column < result.getColumns(); column += kReadColumns)
      llvm::append_range(registers,
                         toRegisters(loadFragment({own.base, own.offset + column}, /*isA=*/false)));
    return registers;
  }

private:
  Value plus(Value lhs, Value rhs) { return index.add(lhs, rhs); }
  /// Where k is within the tile's line, or line: that, and some further.
  Line getLineAt(Value line, int64_t further) {
    Line known = Line::split(k);
    if (std::optional<int64_t> number = getConstantIntValue(k))
      known = {index.constant(0), *number};
    return {plus(known.base, line), known.offset + further};
  }
  Value getChunkOfK(int64_t further) { return index.div(index.add(k, further), chunk); }

  SmallVector<Value> toRegisters(SmallVector<Value> words);
  SmallVector<Value> loadFragment(const Line &from, bool isA);
  SmallVector<Value> loadWords(const Line &from, bool isA);
  /// 16 rows of the first operand by k, or 8 columns of the second.
  SmallVector<Value> loadDoubleRows();
  SmallVector<Value> loadDoubleColumns(int64_t column);
  /// `count` neighbours from element `place` of the tile on.
  SmallVector<Value> loadNeighbours(Value place, int64_t count);

  OpBuilder &builder;
  Location loc;
  tile::ReadOperandOp op;
  LinePlaces places;
  IndexBuilder &index;
  tile::SharedType type;
  Value tile;
  Line own;
  Value k;
  int64_t chunk; // elements in 16 bytes
  Value lane;
};

} // namespace

SmallVector<Value> OperandReader::toRegisters(SmallVector<Value> words) {
  for (Value &word : words) {
    if (type.getElementType().isF16())
      word = LLVM::BitcastOp::create(builder, loc, VectorType::get(2, type.getElementType()), word);
    else if (op.getTf32())
      word = roundToTF32(builder, loc,
                         LLVM::BitcastOp::create(builder, loc, type.getElementType(), word));
  }
  return words;
}

SmallVector<Value> OperandReader::loadWords(const Line &from, bool isA) {
  // Lane l has row l / 4 and k l % 4 of each quarter of a fragment.
  Value row = index.div(lane, 4), kLine = index.rem(lane, 4);
  SmallVector<Value> words;
  for (int64_t word = 0; word < 4; ++word) {
    int64_t ownHalf = isA ? word % 2 : word / 2, kHalf = isA ? word / 2 : word % 2;
    Value position = plus(places.toValue(from), index.add(row, ownHalf * 8));
    words.push_back(LLVM::LoadOp::create(
        builder, loc, builder.getI32Type(),
        places.getElementPointer(tile, getLineAt(kLine, kHalf * 4), position)));
  }
  return words;
}

SmallVector<Value> OperandReader::loadFragment(const Line &from, bool isA) {
  if (op.getTransposed() && type.getElementBytes() == 4)
    return loadWords(from, isA);
  // Lane l gives the address of line l % 8 of matrix l / 8. Of A, matrices 1 and 3 are the lower
  // rows and 2 and 3 the later k; of B, matrices 2 and 3 are the later columns and 1 and 3 the
  // later k.
  Value line8 = index.rem(lane, 8), bit3 = index.rem(index.div(lane, 8), 2),
        bit4 = index.div(lane, 16);
  Value ownHalf = isA ? bit3 : bit4, kHalf = isA ? bit4 : bit3;
  Line line;
  Value number;
  if (!op.getTransposed()) {
    line = {plus(from.base, plus(line8, index.mul(ownHalf, 8))), from.offset};
    number = plus(kHalf, getChunkOfK(0));
  } else {
    line = getLineAt(plus(line8, index.mul(kHalf, 8)), 0);
    number = plus(index.div(places.toValue(from), chunk), ownHalf);
  }
  Value pointer = places.getPointer(tile, places.getPlace(type, line, number));
  return loadMatrices(builder, loc, pointer, /*count=*/4, op.getTransposed());
}

SmallVector<Value> OperandReader::loadNeighbours(Value place, int64_t count) {
  SmallVector<Value> values;
  Type element = type.getElementType();
  int64_t together = op.getSingle() ? 1 : count;
  Type loadedType = together == 1 ? element : VectorType::get(together, element);
  for (int64_t first = 0; first < count; first += together) {
    Value loaded = LLVM::LoadOp::create(builder, loc, loadedType,
                                        places.getPointer(tile, index.add(place, first)),
                                        static_cast<unsigned>(together * type.getElementBytes()));
    for (int64_t i = 0; i < together; ++i)
      values.push_back(getLane(builder, loc, loaded, i));
  }
  return values;
}

SmallVector<Value> OperandReader::loadDoubleRows() {
  Value group = index.div(lane, 4), inK = index.rem(lane, 4);
  SmallVector<Value> values;
  if (!op.getTransposed()) {
    for (int64_t i = 0; i < 4; ++i) {
      Line line{plus(own.base, group), own.offset + i % 2 * 8};
      Value number = plus(index.div(inK, chunk), getChunkOfK(i / 2 * 4));
      Value place = plus(places.getPlace(type, line, number), index.rem(inK, chunk));
      llvm::append_range(values, loadNeighbours(place, 1));
    }
    return values;
  }
  // The next line has the same permutation, and 16 rows are as many chunks as it permutes.
  Value number = plus(index.div(own.base, chunk), group);
  Value place =
      index.add(places.getPlace(type, getLineAt(index.mul(inK, 2), 0), number), own.offset);
  for (int64_t half = 0; half < 2; ++half)
    llvm::append_range(values, loadNeighbours(index.add(place, half * type.getColumns()), 2));
  return values;
}

SmallVector<Value> OperandReader::loadDoubleColumns(int64_t further) {
  bool isPaired = op.getResult().getType().getPaired();
  int64_t column = own.offset + further;
  Value group = index.div(lane, 4), inK = index.rem(lane, 4);
  Line line{plus(own.base, group), column};
  if (!op.getTransposed() && isPaired)
    return loadNeighbours(places.getPlace(type, line, plus(inK, getChunkOfK(0))), 2);
  SmallVector<Value> values;
  for (int64_t half = 0; half < 2; ++half) {
    Value place;
    if (!op.getTransposed()) {
      Value number = plus(index.div(inK, chunk), getChunkOfK(half * 4));
      place = plus(places.getPlace(type, line, number), index.rem(inK, chunk));
    } else {
      Value number = plus(index.div(own.base, chunk),
                          index.add(index.div(group, chunk), column % kPieceRows / chunk));
      place = plus(places.getPlace(type, getLineAt(index.mul(inK, 2), 0), number),
                   index.rem(group, chunk));
      place = index.add(place, column / kPieceRows * kPieceRows + half * type.getColumns());
    }
    llvm::append_range(values, loadNeighbours(place, 1));
  }
  return values;
}

namespace {

struct LowerReadOperand final : RegisterPattern<tile::ReadOperandOp> {
  using RegisterPattern::RegisterPattern;

  LogicalResult matchAndRewrite(tile::ReadOperandOp op, Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    OperandReader reader(rewriter, op, adaptor.getTile().front(), adaptor.getOwn().front(),
                         adaptor.getK().front());
    replace(rewriter, op, {reader.run()});
    return success();
  }
};

struct LowerMultiply final : RegisterPattern<tile::MultiplyOp> {
  using RegisterPattern::RegisterPattern;

  LogicalResult matchAndRewrite(tile::MultiplyOp op, Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> sums(adaptor.getSums());
    ValueRange a = adaptor.getA(), b = adaptor.getB();
    Type element = op.getA().getType().getElementType();
    const Target *target = findTarget(op);
    if (element.isF64() && (!target || target->doubleMMA == DoubleMMA::None))
      return rewriter.notifyMatchFailure(op, "the target's tensor cores are not made for f64");
    for (int64_t column = 0; column < op.getSums().getType().getColumns();
         column += kPieceColumns) {
      MutableArrayRef<Value> own = MutableArrayRef(sums).slice(column / kPieceColumns * 4, 4);
      ValueRange right = b.slice(column / kPieceColumns * 2, 2);
      if (element.isF64())
        emitDoubleMMA(rewriter, op.getLoc(), target->doubleMMA, a, right, own);
      else
        emitMMA(rewriter, op.getLoc(),
                {getMMAType(element, op.getUnsignedA()), getMMAType(element, op.getUnsignedB())}, a,
                right, own);
    }
    replace(rewriter, op, {sums});
    return success();
  }
};

struct LowerFragment final : RegisterPattern<tile::FragmentOp> {
  using RegisterPattern::RegisterPattern;

  LogicalResult matchAndRewrite(tile::FragmentOp op, Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    size_t first = op.getColumn() / 2 + op.getHalf() * 2;
    Value pair = fromLanes(rewriter, op.getLoc(), adaptor.getAccumulator().slice(first, 2));
    replace(rewriter, op, {{pair}});
    return success();
  }
};

} // namespace

void addWarpTypeConversions(TypeConverter &converter) {
  converter.addConversion([](tile::WarpType type, SmallVectorImpl<Type> &parts) {
    parts.append(type.getRegisters(), getRegisterType(type));
    return success();
  });
}

void populateWarpPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<LowerReadOperand, LowerMultiply, LowerFragment>(converter, patterns.getContext());
}

void addIllegalWarpOps(ConversionTarget &target) {
  target.addIllegalOp<tile::ReadOperandOp, tile::MultiplyOp, tile::FragmentOp>();
}

} // namespace xc::cuda
