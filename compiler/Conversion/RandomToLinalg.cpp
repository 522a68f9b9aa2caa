//===- RandomToLinalg.cpp - Random bits as functions of indices -----------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each element enciphers its own number, so the generic has no operand but the key, and fuses with
// what uses the bits.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/ArrayToLinalg.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

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

/// The first two words of Philox-4x32 with 10 rounds, of a counter whose last two are 0.
static Words philox(WordBuilder &w, Words key, Words counter) {
  Value zero = w.constant(0);
  Value x[4] = {counter.second, counter.first, zero, zero};
  auto [k0, k1] = key;
  for (unsigned round = 0; round < 10; ++round) {
    if (round > 0) {
      k0 = w.add(k0, 0x9E3779B9);
      k1 = w.add(k1, 0xBB67AE85);
    }
    auto [high0, low0] = w.multiply(x[0], 0xD2511F53);
    auto [high1, low1] = w.multiply(x[2], 0xCD9E8D57);
    Value next[4] = {w.bitXor(w.bitXor(high1, x[1]), k0), low1, w.bitXor(w.bitXor(high0, x[3]), k1),
                     low0};
    std::copy(next, next + 4, x);
  }
  return {x[0], x[1]};
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
          WordBuilder words(b, bodyLoc);
          Words count = countOf(b, bodyLoc, sizes, args.drop_front(2));
          Words key{args[0], args[1]};
          Words block = isPhilox ? philox(words, key, count) : threefry(words, key, count);
          unsigned width = type.getElementTypeBitWidth();
          if (width == 64)
            return words.join(block.first, block.second);
          Value bits = isPhilox ? block.first : words.bitXor(block.first, block.second);
          return width == 32
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

  /// The element's number plus the counter, its high word first.
  static Words countOf(OpBuilder &b, Location loc, ArrayRef<OpFoldResult> sizes,
                       ValueRange counter) {
    WordBuilder words(b, loc);
    int64_t elements = 1;
    for (OpFoldResult size : sizes) {
      int64_t known = getConstantIntValue(size).value_or(INT64_MAX);
      if (llvm::MulOverflow(elements, known, elements))
        elements = INT64_MAX;
    }
    bool isNarrow = counter.empty() && elements <= INT32_MAX;
    Type type = isNarrow ? b.getI32Type() : b.getI64Type();
    Value number = scalarConstant(b, loc, type, 0);
    for (auto [dim, size] : llvm::enumerate(sizes)) {
      Value extent = getConstantIntValue(size)
                         ? scalarConstant(b, loc, type, *getConstantIntValue(size))
                         : Value(arith::IndexCastOp::create(b, loc, type, cast<Value>(size)));
      Value index = arith::IndexCastOp::create(b, loc, type,
                                               linalg::IndexOp::create(b, loc, dim).getResult());
      number = dim == 0
                   ? index
                   : Value(arith::AddIOp::create(
                         b, loc, arith::MulIOp::create(b, loc, number, extent).getResult(), index));
    }
    if (isNarrow)
      return {words.constant(0), number};
    if (!counter.empty())
      number = arith::AddIOp::create(b, loc, number, counter.front());
    return words.split(number);
  }
};

} // namespace

void populateRandomPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<ConvertRandomBits>(converter, patterns.getContext());
}

} // namespace xc
