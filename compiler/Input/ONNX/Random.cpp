//===- Random.cpp - ONNX's random numbers ---------------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Numbers are functions of a key: the bits of the seed, or where there is none the hash of what the
// node computes. So every run gives the same numbers, of the distribution that is asked for.
//
//===----------------------------------------------------------------------===//

#include "compiler/Input/ONNX/NodeImport.h"

#include "llvm/ADT/bit.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace xc::array;

namespace xc::onnx {

static Value makeKey(NodeImport &n) {
  uint64_t bits =
      n.hasAttribute("seed")
          ? uint64_t(llvm::bit_cast<uint32_t>(float(n.number("seed", 0))))
          : llvm::xxh3_64bits(n.node.outputs.empty() ? llvm::StringRef() : n.node.outputs.front());
  Type word = n.getBuilder().getIntegerType(32, /*isSigned=*/false);
  return n.constant({int64_t(bits >> 32), int64_t(bits & 0xffffffff)}, word);
}

/// The sizes of the result: an attribute, or those of the input.
static Numbers readSizes(NodeImport &n) {
  if (n.getNumInputs() > 0)
    return n.sizesOf(n.input(0));
  Numbers sizes;
  for (int64_t size : n.integerList("shape"))
    sizes.push_back(n.index(size));
  return sizes;
}

/// The type of the result: an attribute, or that of the input, or f32.
static Type readType(NodeImport &n) {
  if (n.hasAttribute("dtype"))
    return n.elementType(n.integer("dtype", kFloat));
  return n.getNumInputs() > 0 ? n.elementOf(n.input(0)) : n.getBuilder().getF32Type();
}

static Results importRandomUniform(NodeImport &n) {
  SmallVector<Value> dynamic;
  RankedTensorType type = n.typeFor(readSizes(n), readType(n), dynamic);
  return {n.makeTyped<RandomUniformOp>(type, makeKey(n), ValueRange(dynamic),
                                       llvm::APFloat(n.number("low", 0.0)),
                                       llvm::APFloat(n.number("high", 1.0)))};
}

static Results importRandomNormal(NodeImport &n) {
  SmallVector<Value> dynamic;
  RankedTensorType type = n.typeFor(readSizes(n), readType(n), dynamic);
  Value x = n.makeTyped<RandomNormalOp>(type, makeKey(n), ValueRange(dynamic));
  return {n.add(n.mul(x, n.scalar(n.number("scale", 1.0), x)), n.scalar(n.number("mean", 0.0), x))};
}

static Results importBernoulli(NodeImport &n) {
  Value probability = n.input(0);
  SmallVector<Value> dynamic;
  Numbers sizes = n.sizesOf(probability);
  RankedTensorType type = n.typeFor(sizes, n.getBuilder().getI1Type(), dynamic);
  return {
      n.convert(n.makeTyped<RandomBernoulliOp>(type, makeKey(n), probability, ValueRange(dynamic)),
                readType(n))};
}

llvm::ArrayRef<OpEntry> getRandomOps() {
  static constexpr OpEntry kOps[] = {
      {"Bernoulli", 1, importBernoulli},
      {"RandomNormal", 1, importRandomNormal},
      {"RandomNormalLike", 1, importRandomNormal},
      {"RandomUniform", 1, importRandomUniform},
      {"RandomUniformLike", 1, importRandomUniform},
  };
  return kOps;
}

} // namespace xc::onnx
