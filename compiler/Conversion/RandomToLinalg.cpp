//===- RandomToLinalg.cpp - Random bits as functions of indices -----------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each element enciphers the number of its block, so the generic has no operand but the key, and
// fuses with what uses the bits. Several elements of Philox share a block: its number is a quotient
// of the innermost index where it can be, which code generators know to be the same for neighbours.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/ArrayToLinalg.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <array>

using namespace mlir;

namespace xc {

namespace {

/// Builds arithmetic on words of 32 bits.
class WordBuilder {
public:
  WordBuilder(OpBuilder &b, Location loc) : b(b), loc(loc) {}

  Value constant(uint32_t value) {
    return arith::ConstantOp::create(b, loc, b.getIntegerAttr(b.getI32Type(), APInt(32, value)));
  }
  Value add(Value x, Value y) { return arith::AddIOp::create(b, loc, x, y); }
  Value add(Value x, uint32_t y) { return add(x, constant(y)); }
  Value bitXor(Value x, Value y) { return arith::XOrIOp::create(b, loc, x, y); }
  Value select(Value condition, Value x, Value y) {
    return arith::SelectOp::create(b, loc, condition, x, y);
  }
  Value isEqual(Value x, int64_t y) {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, x,
                                 scalarConstant(b, loc, x.getType(), y));
  }
  Value rotateLeft(Value x, unsigned count) {
    Value high = arith::ShLIOp::create(b, loc, x, constant(count)),
          low = arith::ShRUIOp::create(b, loc, x, constant(32 - count));
    return arith::OrIOp::create(b, loc, high, low);
  }
  /// The high and the low word of a product.
  std::pair<Value, Value> multiply(Value x, uint32_t factor) {
    Type i64 = b.getI64Type();
    Value wide = arith::ExtUIOp::create(b, loc, i64, x);
    Value constant64 = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(factor));
    Value product = arith::MulIOp::create(b, loc, wide, constant64);
    return split(product);
  }
  std::pair<Value, Value> split(Value wide) {
    Value shift = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(32));
    Value high = arith::ShRUIOp::create(b, loc, wide, shift);
    return {arith::TruncIOp::create(b, loc, b.getI32Type(), high),
            arith::TruncIOp::create(b, loc, b.getI32Type(), wide)};
  }
  Value join(Value high, Value low) {
    Type i64 = b.getI64Type();
    Value shift = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(32));
    Value top =
        arith::ShLIOp::create(b, loc, arith::ExtUIOp::create(b, loc, i64, high).getResult(), shift);
    return arith::OrIOp::create(b, loc, top, arith::ExtUIOp::create(b, loc, i64, low).getResult());
  }

private:
  OpBuilder &b;
  Location loc;
};

using Words = std::pair<Value, Value>;

} // namespace

/// Threefry-2x32 with 20 rounds.
static Words threefry(WordBuilder &w, Words key, Words counter) {
  static constexpr unsigned rotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  Value parity = w.bitXor(w.bitXor(key.first, key.second), w.constant(0x1BD11BDA));
  Value schedule[3] = {key.first, key.second, parity};
  Value x0 = w.add(counter.first, schedule[0]), x1 = w.add(counter.second, schedule[1]);
  for (unsigned group = 0; group < 5; ++group) {
    for (unsigned rotation : rotations[group % 2]) {
      x0 = w.add(x0, x1);
      x1 = w.bitXor(w.rotateLeft(x1, rotation), x0);
    }
    x0 = w.add(x0, schedule[(group + 1) % 3]);
    x1 = w.add(w.add(x1, schedule[(group + 2) % 3]), group + 1);
  }
  return {x0, x1};
}

/// Philox-4x32 with 10 rounds, of a counter whose last two words are 0.
static std::array<Value, 4> philox(WordBuilder &w, Words key, Words counter) {
  Value zero = w.constant(0);
  std::array<Value, 4> x{counter.second, counter.first, zero, zero};
  auto [k0, k1] = key;
  for (unsigned round = 0; round < 10; ++round) {
    if (round > 0) {
      k0 = w.add(k0, 0x9E3779B9);
      k1 = w.add(k1, 0xBB67AE85);
    }
    auto [high0, low0] = w.multiply(x[0], 0xD2511F53);
    auto [high1, low1] = w.multiply(x[2], 0xCD9E8D57);
    x = {w.bitXor(w.bitXor(high1, x[1]), k0), low1, w.bitXor(w.bitXor(high0, x[3]), k1), low0};
  }
  return x;
}

//===----------------------------------------------------------------------===//
// Which block an element takes its bits from
//===----------------------------------------------------------------------===//

namespace {

/// The number of an element's block, its high word first, and the element's number in the block.
struct Place {
  Words block;
  Value element;
};

/// Finds the places of the elements of a result of `sizes` whose blocks make `perBlock` each.
class PlaceBuilder {
public:
  PlaceBuilder(OpBuilder &b, Location loc, ArrayRef<OpFoldResult> sizes, unsigned perBlock)
      : b(b), loc(loc), sizes(sizes.begin(), sizes.end()), perBlock(perBlock) {}

  /// `counter` is empty, or what the first block's number is.
  Place build(ValueRange counter) {
    bool isNarrow = counter.empty() && countElements() <= INT32_MAX;
    type = isNarrow ? b.getI32Type() : b.getI64Type();
    auto [block, element] = divide();
    WordBuilder words(b, loc);
    if (isNarrow)
      return {{words.constant(0), block}, element};
    if (!counter.empty())
      block = arith::AddIOp::create(b, loc, block, counter.front());
    return {words.split(block), element};
  }

private:
  int64_t countElements() const {
    int64_t elements = 1;
    for (OpFoldResult size : sizes) {
      int64_t known = getConstantIntValue(size).value_or(INT64_MAX);
      if (llvm::MulOverflow(elements, known, elements))
        return INT64_MAX;
    }
    return elements;
  }

  Value constant(int64_t value) { return scalarConstant(b, loc, type, value); }
  Value castIndex(Value index) { return arith::IndexCastOp::create(b, loc, type, index); }

  /// The block, of `type`, and the element's number in it, an index or of `type`.
  std::pair<Value, Value> divide() {
    if (perBlock == 1)
      return {linearize(sizes.size()), Value()};
    size_t last = sizes.size();
    while (last > 0 && getConstantIntValue(sizes[last - 1]) == std::optional<int64_t>(1))
      --last;
    if (last == 0)
      return {constant(0), constant(0)};
    std::optional<int64_t> width = getConstantIntValue(sizes[last - 1]);
    if (last > 1 && (!width || *width % perBlock != 0)) {
      Value number = linearize(last), divisor = constant(perBlock);
      return {arith::DivUIOp::create(b, loc, number, divisor),
              arith::RemUIOp::create(b, loc, number, divisor)};
    }
    // Rows begin with a block.
    Value index = linalg::IndexOp::create(b, loc, last - 1),
          divisor = arith::ConstantIndexOp::create(b, loc, perBlock);
    Value block = castIndex(arith::DivUIOp::create(b, loc, index, divisor)),
          element = arith::RemUIOp::create(b, loc, index, divisor);
    if (last > 1) {
      Value row = linearize(last - 1);
      block = arith::AddIOp::create(
          b, loc, arith::MulIOp::create(b, loc, row, constant(*width / perBlock)), block);
    }
    return {block, element};
  }

  /// The row-major number along the first `rank` dims.
  Value linearize(size_t rank) {
    Value number = constant(0);
    for (size_t dim = 0; dim < rank; ++dim) {
      Value index = castIndex(linalg::IndexOp::create(b, loc, dim));
      if (dim == 0) {
        number = index;
        continue;
      }
      std::optional<int64_t> known = getConstantIntValue(sizes[dim]);
      Value extent = known ? constant(*known) : castIndex(cast<Value>(sizes[dim]));
      number = arith::AddIOp::create(b, loc, arith::MulIOp::create(b, loc, number, extent), index);
    }
    return number;
  }

  OpBuilder &b;
  Location loc;
  SmallVector<OpFoldResult> sizes;
  unsigned perBlock;
  Type type;
};

} // namespace

/// The bits of an element of `width` bits that is made of one block of Threefry.
static Value takeThreefry(WordBuilder &w, Words block, unsigned width) {
  return width == 64 ? w.join(block.first, block.second) : w.bitXor(block.first, block.second);
}

/// The bits of element number `element` of a block of Philox: two words of it for 64 bits, else
/// one.
static Value takePhilox(WordBuilder &w, const std::array<Value, 4> &block, Value element,
                        unsigned width) {
  if (width == 64) {
    Value isFirst = w.isEqual(element, 0);
    return w.join(w.select(isFirst, block[0], block[2]), w.select(isFirst, block[1], block[3]));
  }
  Value word = block[3];
  for (unsigned number : {2, 1, 0})
    word = w.select(w.isEqual(element, number), block[number], word);
  return word;
}

namespace {

struct ConvertRandomBits : OpConversionPattern<array::RandomBitsOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(array::RandomBitsOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto type = cast<RankedTensorType>(storageType(op.getType()));
    SmallVector<OpFoldResult> sizes = sizesOfSizedOp(rewriter, type, adaptor.getSizes());
    SmallVector<Value> inputs{wordOf(rewriter, loc, adaptor.getKey(), 0),
                              wordOf(rewriter, loc, adaptor.getKey(), 1)};
    if (Value counter = adaptor.getCounter())
      inputs.push_back(counter);
    SmallVector<AffineMap> maps(inputs.size(),
                                AffineMap::get(type.getRank(), 0, rewriter.getContext()));
    bool isPhilox = op.getAlgorithm() == array::RandomAlgorithm::Philox;
    Value result = buildElementwise(
        rewriter, loc, type.getElementType(), sizes, inputs, maps,
        [&](OpBuilder &b, Location bodyLoc, ValueRange args) -> Value {
          unsigned width = type.getElementTypeBitWidth();
          unsigned perBlock = !isPhilox ? 1 : width == 64 ? 2 : 4;
          WordBuilder words(b, bodyLoc);
          Words key{args[0], args[1]};
          Place place = PlaceBuilder(b, bodyLoc, sizes, perBlock).build(args.drop_front(2));
          Value bits =
              isPhilox ? takePhilox(words, philox(words, key, place.block), place.element, width)
                       : takeThreefry(words, threefry(words, key, place.block), width);
          return width >= 32
                     ? bits
                     : Value(arith::TruncIOp::create(b, bodyLoc, type.getElementType(), bits));
        });
    rewriter.replaceOp(op, castTo(rewriter, loc, result, type));
    return success();
  }

private:
  /// One word of the key, as a rank-0 tensor.
  static Value wordOf(OpBuilder &builder, Location loc, Value key, int64_t word) {
    auto one = RankedTensorType::get({}, builder.getI32Type());
    SmallVector<OpFoldResult> offsets{builder.getIndexAttr(word)}, sizes{builder.getIndexAttr(1)},
        strides{builder.getIndexAttr(1)};
    return tensor::ExtractSliceOp::create(builder, loc, one, key, offsets, sizes, strides);
  }
};

} // namespace

void populateRandomPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<ConvertRandomBits>(converter, patterns.getContext());
}

} // namespace xc
