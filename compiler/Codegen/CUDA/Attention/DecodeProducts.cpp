//===- DecodeProducts.cpp - Products of attention of few queries ----------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a product sums over may be in any order, as long as both operands have the same, and so may
// its rows and columns. Orders are such that each thread has whole vectors of 16 bytes. With t =
// lane % 4 and g = lane / 4 (PTX ISA, "Matrix Fragments for mma.m16n8k16"):
//
//   scores = queries * keys      of 16 queries and twice 8 keys: column g of product u is key
//                                4 (g / 2) + g % 2 + 2 u; a thread's words are those of the 16
//                                bytes t, t + 4, ... of a vector
//   sums += values * weights     of 16 elements and 8 queries: k = 2 t, 2 t + 1, 2 t + 8, 2 t + 9
//                                are keys 4 t to 4 t + 3, of which a thread has the scores; row g
//                                is element 8 g + 2 w of 64 and row g + 8 the next, for each word
//                                w of a vector's 16 bytes
//
// So weights need no exchange, and values only the halves of words of neighbouring keys put
// together.
//
// An element of f32 is a word, and products of TF32 (mma.m16n8k8) have their words in the same
// places, so scores are the same. Sums of values are two products: k = t and t + 4 are keys 4 t and
// 4 t + 1, then 4 t + 2 and 4 t + 3; row g is element 4 g + 2 w of 32 and row g + 8 the next, for
// both pairs w of words. Unless TF32 is allowed, a product is three, of two numbers for each (see
// Tile/MatricesToNVVM.cpp). Tensor cores cut sums, so those of 16 keys are added to those before by
// an addition that rounds.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Attention/DecodeEmitter.h"
#include "compiler/Codegen/CUDA/Common/TF32.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;

namespace xc::cuda {

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

/// An operand of mma.sync: f16 fragments are pairs to the op, all others are words.
Value DecodeEmitter::asFragment(Value word) {
  if (!element.isF16())
    return word;
  return LLVM::BitcastOp::create(builder, loc, VectorType::get(2, element), word);
}

Value DecodeEmitter::permute(Value low, Value high, int64_t selector) {
  Value chosen = arith::ConstantOp::create(
      builder, loc, builder.getI32IntegerAttr(static_cast<int32_t>(selector)));
  return NVVM::PermuteOp::create(builder, loc, builder.getI32Type(), low, high, chosen,
                                 NVVM::PermuteMode::DEFAULT);
}

DecodeEmitter::Values DecodeEmitter::issue(ArrayRef<Value> a, ArrayRef<Value> b,
                                           ArrayRef<Value> sums) {
  Type f32 = builder.getF32Type();
  auto type = LLVM::LLVMStructType::getLiteral(builder.getContext(), {f32, f32, f32, f32});
  auto operand = element.isF16()   ? NVVM::MMATypes::f16
                 : element.isF32() ? NVVM::MMATypes::tf32
                                   : NVVM::MMATypes::bf16;
  int64_t depth = element.isF32() ? 8 : 16;
  Values left, right;
  for (Value word : a)
    left.push_back(asFragment(word));
  for (Value word : b)
    right.push_back(asFragment(word));
  Value product = NVVM::MmaOp::create(builder, loc, type, left, right, sums, {16, 8, depth},
                                      std::nullopt, std::nullopt, std::array{operand, operand},
                                      std::array{NVVM::MMALayout::row, NVVM::MMALayout::col});
  Values results;
  for (int64_t i = 0; i < 4; ++i)
    results.push_back(LLVM::ExtractValueOp::create(builder, loc, product, i));
  return results;
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// Beginning with `sums`, or zeros.
DecodeEmitter::Products DecodeEmitter::makeProducts(ArrayRef<Value> sums) {
  Products products(isExact ? 2 : 1, Values(4, math.f32(0)));
  if (!sums.empty())
    products.front() = Values(sums);
  return products;
}

void DecodeEmitter::multiply(ArrayRef<Value> a, ArrayRef<Value> b, Products &sums) {
  if (isExact) {
    TF32Halves left(builder, loc, a), right(builder, loc, b);
    sums[1] = issue(left.small, right.big, sums[1]);
    sums[1] = issue(left.big, right.small, sums[1]);
    sums[0] = issue(left.big, right.big, sums[0]);
  } else if (element.isF32()) {
    sums[0] = issue(roundToTF32(builder, loc, a), roundToTF32(builder, loc, b), sums[0]);
  } else {
    sums[0] = issue(a, b, sums[0]);
  }
}

DecodeEmitter::Values DecodeEmitter::addUp(const Products &sums) {
  Values added(sums.front());
  if (isExact)
    for (auto [sum, small] : llvm::zip_equal(added, sums.back()))
      sum = math.add(sum, small);
  return added;
}

//===----------------------------------------------------------------------===//
// Scores and values
//===----------------------------------------------------------------------===//

/// Adds the products of some steps of 16 keys to the sums of each 8 of them.
void DecodeEmitter::addScores(ArrayRef<Values> loaded, Range steps,
                              MutableArrayRef<Products> sums) {
  Value none = points.zero(builder.getI32Type());
  int64_t count = steps.last - steps.first;
  for (int64_t step = 0; step < count; ++step) {
    SmallVector<Values> words = getQueryWords(steps.first + step);
    auto query = [&](size_t half, size_t word) {
      return half < words.size() ? words[half][word] : none;
    };
    for (auto [product, own] : llvm::enumerate(sums)) {
      const Values &keyWords = loaded[static_cast<int64_t>(product) * count + step];
      for (size_t word = 0; word < kDecodeChunkWords; word += 2)
        multiply({query(0, word), query(1, word), query(0, word + 1), query(1, word + 1)},
                 {keyWords[word], keyWords[word + 1]}, own);
    }
  }
}

/// The tile `tile` of a step of values: those of 16 elements of four keys of each thread.
void DecodeEmitter::multiplyValues(ArrayRef<Values> keys, int64_t tile, ArrayRef<Value> weights,
                                   Products &sums) {
  if (element.isF32()) {
    int64_t word = tile * 2;
    for (size_t key = 0; key < keys.size(); key += 2)
      multiply({keys[key][word], keys[key][word + 1], keys[key + 1][word], keys[key + 1][word + 1]},
               weights.slice(key, 2), sums);
    return;
  }
  constexpr int64_t lower = 0x5410, upper = 0x7632; // halves of two words
  Values a;
  for (size_t key = 0; key < keys.size(); key += 2)
    for (int64_t selector : {lower, upper})
      a.push_back(permute(keys[key][tile], keys[key + 1][tile], selector));
  multiply(a, weights, sums);
}

/// Adds some steps of the values of 16 keys, each times its weight: `weights` has those of each
/// half of the rows.
void DecodeEmitter::addValues(ArrayRef<Values> loaded, Range steps, ArrayRef<Values> weights,
                              Values &outputs) {
  constexpr int64_t keys = 4;
  for (int64_t step = steps.first; step < steps.last; ++step)
    for (int64_t tile = 0; tile < tilesOfStep; ++tile)
      for (int64_t half = 0; half < halves; ++half) {
        MutableArrayRef<Value> own =
            MutableArrayRef(outputs).slice(((step * tilesOfStep + tile) * halves + half) * 4, 4);
        Products sums = makeProducts(isExact ? ArrayRef<Value>() : own);
        multiplyValues(loaded.slice((step - steps.first) * keys, keys), tile, weights[half], sums);
        for (auto [output, sum] : llvm::zip_equal(own, addUp(sums)))
          output = isExact ? math.add(output, sum) : sum;
      }
}

} // namespace xc::cuda
