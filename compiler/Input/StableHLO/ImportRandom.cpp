//===- ImportRandom.cpp - StableHLO's random bits -------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `rng_bit_generator` leaves the bits to the implementation; these are XLA's, so that a program
// computes what JAX computes. The state is a key and a counter of 64 bits each. Block `i` is made
// of counter + i:
//
//   THREE_FRY   Threefry-2x32 with 20 rounds on the two words of the number, the low one first;
//   PHILOX      Philox-4x32 with 10 rounds on the 128-bit number whose low half is the counter and
//               whose high half is the key.
//
// The words of a block come one after the other; 64-bit elements are pairs of them, the low one
// first, and narrower ones the low bits of a word each. (Salmon et al., "Parallel random numbers:
// as easy as 1, 2, 3", SC'11)
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/Sizes.h"
#include "compiler/Input/StableHLO/ImportStableHLO.h"

using namespace mlir;
using namespace xc::array;

namespace xc::stablehlo_import {

namespace shlo = stablehlo;

namespace {

/// Arithmetic on words of 32 bits.
struct Words {
  ExpressionBuilder &e;

  Type word() { return getUnsigned(e, 32); }
  Type pair() { return getUnsigned(e, 64); }
  Value number(int64_t value) { return e.integer(value, word()); }
  Value low(Value value) { return e.convert(value, word()); }
  Value high(Value value) { return low(e.make<ShiftRightLogicalOp>(value, e.integer(32, pair()))); }
  Value xorOf(Value lhs, Value rhs) { return e.make<XorOp>(lhs, rhs); }
  Value rotate(Value value, int64_t distance) {
    return e.make<OrOp>(e.make<ShiftLeftOp>(value, number(distance)),
                        e.make<ShiftRightLogicalOp>(value, number(32 - distance)));
  }
};

} // namespace

/// The two words of each block.
static SmallVector<Value> makeThreefry(Words words, Value key, Value counter) {
  static constexpr int64_t kRotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  ExpressionBuilder &e = words.e;
  SmallVector<Value> keys{words.low(key), words.high(key)};
  keys.push_back(words.xorOf(words.xorOf(keys[0], keys[1]), words.number(0x1BD11BDA)));
  Value first = e.add(words.low(counter), keys[0]), second = e.add(words.high(counter), keys[1]);
  for (int64_t round = 0; round < 5; ++round) {
    for (int64_t distance : kRotations[round % 2]) {
      first = e.add(first, second);
      second = words.xorOf(words.rotate(second, distance), first);
    }
    first = e.add(first, keys[(round + 1) % 3]);
    second = e.add(e.add(second, keys[(round + 2) % 3]), words.number(round + 1));
  }
  return {first, second};
}

/// The four words of each block.
static SmallVector<Value> makePhilox(Words words, Value key, Value counter, Value start) {
  ExpressionBuilder &e = words.e;
  // The carry goes into the high half.
  Value carries = e.compare(CompareDirection::Lt, counter, start);
  Value top = e.add(key, e.convert(carries, words.pair()));
  SmallVector<Value> block{words.low(counter), words.high(counter), words.low(top),
                           words.high(top)};
  Value keys[] = {words.low(key), words.high(key)};
  auto multiply = [&](Value value, int64_t factor) {
    return e.mul(e.convert(value, words.pair()), e.integer(factor, words.pair()));
  };
  for (int64_t round = 0; round < 10; ++round) {
    Value left = multiply(block[0], 0xD2511F53), right = multiply(block[2], 0xCD9E8D57);
    block = {words.xorOf(words.xorOf(words.high(right), block[1]), keys[0]), words.low(right),
             words.xorOf(words.xorOf(words.high(left), block[3]), keys[1]), words.low(left)};
    keys[0] = e.add(keys[0], words.number(0x9E3779B9));
    keys[1] = e.add(keys[1], words.number(0xBB67AE85));
  }
  return block;
}

static Result convertGenerator(shlo::RngBitGeneratorOp op, ExpressionBuilder &e) {
  Words words{e};
  StringRef algorithm = op.getRngAlgorithm().getValue();
  auto type = typeOf(op.getOutput());
  auto element = dyn_cast<IntegerType>(type.getElementType());
  if (op.getInitialState().getType() != RankedTensorType::get(2, words.pair()) ||
      op.getOutputState().getType() != op.getInitialState().getType())
    return Result::refuse("its state is not of type tensor<2xui64>");
  if (!element || element.getWidth() < 8)
    return Result::refuse("its elements are no integers");
  auto getWord = [&](int64_t index) {
    return reshapeTo(e, slice(e, op.getInitialState(), index, index + 1, 1), {});
  };
  Value key = getWord(0), start = getWord(1);
  bool isThreefry = algorithm == "THREE_FRY";
  int64_t wordsPerBlock = isThreefry ? 2 : 4, wordsPerElement = element.getWidth() == 64 ? 2 : 1;
  std::optional<int64_t> known = mulSizes(type.getShape());
  if (!known || *known > kMostElements)
    return Result::refuse("its result has a dynamic size or more than " + Twine(kMostElements) +
                          " elements");
  int64_t count = *known, numWords = count * wordsPerElement; // in range: at most 2 kMostElements
  int64_t blocks = llvm::divideCeil(numWords, wordsPerBlock);
  Value counter = e.add(iota(e, blocks, words.pair(), 0), start);
  SmallVector<Value> block =
      isThreefry ? makeThreefry(words, key, counter) : makePhilox(words, key, counter, start);
  for (Value &word : block)
    word = reshapeTo(e, word, {blocks, 1});
  Value all = e.make<ConcatenateOp>(block, uint64_t(1));
  if (wordsPerElement == 2) {
    Value pairs = e.convert(reshapeTo(e, all, {blocks * wordsPerBlock / 2, 2}), words.pair());
    auto half = [&](int64_t index) {
      return slice(e, pairs, {0, index}, {blocks * wordsPerBlock / 2, index + 1}, {1, 1});
    };
    all = e.make<OrOp>(half(0), e.make<ShiftLeftOp>(half(1), e.integer(32, words.pair())));
  }
  all = reshapeTo(e, all, blocks * wordsPerBlock / wordsPerElement);
  all = e.convert(slice(e, all, 0, count, 1), element);
  Value next = e.add(start, e.integer(blocks, words.pair()));
  Value state = e.make<ConcatenateOp>(
      SmallVector<Value>{reshapeTo(e, key, 1), reshapeTo(e, next, 1)}, uint64_t(0));
  return Result(SmallVector<Value>{state, reshapeTo(e, all, type.getShape())});
}

Replacement convertRandom(Operation *op, ExpressionBuilder &e) {
  if (auto generator = dyn_cast<shlo::RngBitGeneratorOp>(op))
    return convertGenerator(generator, e);
  if (isa<shlo::RngOp>(op))
    return Result::refuse("its numbers are left to the implementation; use a generator with a key");
  return std::nullopt;
}

} // namespace xc::stablehlo_import
