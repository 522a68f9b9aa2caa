//===- NarrowFloats.cpp - f32 elements as bf16 or f16 ---------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// On the bits: models have billions of weights, which APFloat would take a minute for.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/Transforms/NarrowFloats.h"

#include "llvm/ADT/bit.h"

#include <cstring>

using namespace mlir;

namespace xc::array {

static constexpr uint32_t kInfinity = 0x7f800000;

static uint16_t toBF16(uint32_t bits) {
  bool isNaN = (bits & ~(1u << 31)) > kInfinity;
  // Half of the last place kept, less a bit where that place is even. A NaN must not round to
  // infinity; it keeps its sign and becomes quiet.
  return isNaN ? (bits >> 16) | 0x40 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

static uint16_t toF16(uint32_t bits) {
  constexpr uint32_t beyond = 0x47800000;   // 65536
  constexpr uint32_t smallest = 0x38800000; // 2^-14, below which halves are denormal
  uint16_t sign = bits >> 16 & 0x8000;
  bits &= ~(1u << 31);
  if (bits >= beyond)
    return sign | (bits > kInfinity ? 0x7e00 : 0x7c00);
  if (bits < smallest) // the last place of 0.5 is that of a denormal half, so the sum rounds to it
    return sign | (llvm::bit_cast<uint32_t>(llvm::bit_cast<float>(bits) + 0.5f) -
                   llvm::bit_cast<uint32_t>(0.5f));
  uint32_t isOdd = bits >> 13 & 1;
  return sign | (bits - (112u << 23) + 0xfff + isOdd) >> 13;
}

SmallVector<uint16_t, 0> narrowFloats(ArrayRef<char> wide, NarrowType type, std::string &problem) {
  size_t count = wide.size() / sizeof(uint32_t);
  SmallVector<uint16_t, 0> narrow;
  narrow.resize_for_overwrite(count);
  bool isBF16 = type == NarrowType::BF16;
  uint16_t infinity = isBF16 ? 0x7f80 : 0x7c00;
  const char *next = wide.data();
  for (size_t i = 0; i < count; ++i) {
    uint32_t bits;
    std::memcpy(&bits, next, sizeof(bits));
    next += sizeof(bits);
    narrow[i] = isBF16 ? toBF16(bits) : toF16(bits);
    bool isFinite = (bits & kInfinity) != kInfinity;
    if (isFinite && (narrow[i] & 0x7fff) == infinity) {
      problem = "element " + std::to_string(i) + " is " +
                std::to_string(llvm::bit_cast<float>(bits)) + ", beyond the largest " +
                (isBF16 ? "bf16" : "f16, 65504");
      return {};
    }
  }
  return narrow;
}

} // namespace xc::array
