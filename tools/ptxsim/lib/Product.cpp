//===- Product.cpp - Products of warpgroups -------------------------------===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX, "Asynchronous Warpgroup Level Matrix Instructions". An operand is made of
// parts of 16 bytes. Without a swizzle eight of them, one per row, are adjacent; with
// one, rows of 32, 64 or 128 bytes are, eight of them repeating at the stride.
//
//===----------------------------------------------------------------------===//

#include "Product.h"
#include "CutSum.h"

#include <algorithm>

using namespace xc::ptxsim;

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

TileAddress::TileAddress(uint64_t descriptor, bool transposed) : transposed(transposed) {
  start = static_cast<uint32_t>(descriptor & 0x3fff) << 4;
  leading = static_cast<uint32_t>(descriptor >> 16 & 0x3fff) << 4;
  stride = static_cast<uint32_t>(descriptor >> 32 & 0x3fff) << 4;
  base = descriptor >> 49 & 7;
  unsigned mode = descriptor >> 62;
  bits = mode ? 4 - mode : 0;
  span = 16u << bits;
}

uint32_t TileAddress::at(unsigned major, unsigned part) const {
  uint32_t address = start;
  if (bits == 0) {
    if (transposed)
      address += part * stride + major % 8 * 16 + major / 8 * leading;
    else
      address += major / 8 * stride + major % 8 * 16 + part * leading;
    return address & 0x3ffff;
  }
  unsigned width = 1u << bits;
  if (transposed)
    address += part % width * 16 + part / width * leading + major % 8 * span + major / 8 * stride;
  else
    address += major / 8 * stride + major % 8 * span + part * 16;
  address ^= (((address >> 7) - base) & (width - 1)) << 4;
  return address & 0x3ffff;
}

//===----------------------------------------------------------------------===//
// Operands as numbers
//===----------------------------------------------------------------------===//

namespace {

constexpr unsigned kRows = 64, kMaxColumns = 256, kMaxK = 32;

/// The elements of a product, K-major: a[k][row], b[k][column].
template <typename T> struct Elements {
  std::vector<T> a = std::vector<T>(kMaxK * kRows);
  std::vector<T> b = std::vector<T>(kMaxK * kMaxColumns);
  std::vector<T> c = std::vector<T>(16 * kMaxColumns); // of one warp
  std::vector<T> aPowers, bPowers;
};

template <Type kType, typename T> T elementAt(const uint8_t *at) {
  if constexpr (kType == Type::F16 || kType == Type::BF16) {
    uint16_t bits;
    std::memcpy(&bits, at, 2);
    return kType == Type::F16 ? halfToFloat(bits) : bfloatToFloat(bits);
  } else if constexpr (kType == Type::TF32) {
    uint32_t bits;
    std::memcpy(&bits, at, 4);
    return bitCast<float>(bits & 0xffffe000u);
  } else if constexpr (kType == Type::S8) {
    return static_cast<int8_t>(*at);
  } else if constexpr (kType == Type::U8) {
    return *at;
  } else {
    static const std::vector<T> table = [] {
      std::vector<T> values(256);
      for (unsigned i = 0; i < 256; ++i)
        values[i] = static_cast<T>(decodeFloat(i, kType == Type::E4M3 ? kE4m3Format : kE5m2Format));
      return values;
    }();
    return table[*at];
  }
}

template <Type kType>
constexpr unsigned kSizeOf = kType == Type::TF32                         ? 4
                             : kType == Type::F16 || kType == Type::BF16 ? 2
                                                                         : 1;

/// An operand in shared memory; |pitch| is the number of elements of a row of |to|.
template <Type kType, typename T>
void gatherTile(const Block &block, uint64_t descriptor, bool transposed, unsigned extent,
                unsigned pitch, T *to) {
  constexpr unsigned kSize = kSizeOf<kType>, kCount = 16 / kSize;
  TileAddress tile(descriptor, transposed);
  const uint8_t *shared = block.shared.data();
  forTileParts(tile, extent, transposed, [&](unsigned major, unsigned part, uint32_t place) {
    const uint8_t *from = shared + place;
    for (unsigned i = 0; i < kCount; ++i) {
      T value = elementAt<kType, T>(from + i * kSize);
      if (transposed)
        to[major * pitch + part * kCount + i] = value;
      else
        to[(part * kCount + i) * pitch + major] = value;
    }
    return true;
  });
}

/// A in registers, as the fragments of mma for each warp.
template <Type kType, typename T>
void gatherRegisters(const Block &block, unsigned warpgroup, const ProductOp &op, T *to) {
  constexpr unsigned kSize = kSizeOf<kType>, kCount = 4 / kSize;
  for (unsigned w = 0; w < 4; ++w) {
    const Warp &warp = block.warps[warpgroup * 4 + w];
    for (unsigned j = 0; j < 4; ++j) {
      const auto *row = warp.row<uint8_t>(op.aRows[j]);
      for (unsigned lane = 0; lane < kWarpSize; ++lane)
        for (unsigned s = 0; s < kCount; ++s) {
          unsigned m = 16 * w + lane / 4 + 8 * (j & 1);
          unsigned k = lane % 4 * kCount + s + 4 * kCount * (j >> 1);
          to[k * kRows + m] = elementAt<kType, T>(row + 4 * lane + s * kSize);
        }
    }
  }
}

template <Type kType, typename T>
void gatherA(const Block &block, unsigned warpgroup, const ProductOp &op, const Product &product,
             T *to) {
  if (op.aRows.empty())
    gatherTile<kType>(block, product.a, op.transposeA, kRows, kRows, to);
  else
    gatherRegisters<kType>(block, warpgroup, op, to);
}

template <typename F> void forType(Type type, F function) {
  switch (type) {
  case Type::F16:
    return function(std::integral_constant<Type, Type::F16>());
  case Type::BF16:
    return function(std::integral_constant<Type, Type::BF16>());
  case Type::TF32:
    return function(std::integral_constant<Type, Type::TF32>());
  case Type::E4M3:
    return function(std::integral_constant<Type, Type::E4M3>());
  default:
    return function(std::integral_constant<Type, Type::E5M2>());
  }
}

//===----------------------------------------------------------------------===//
// Accumulators
//===----------------------------------------------------------------------===//

/// Register i of a lane: element i, or elements 2i and 2i + 1 if they are halves.
/// Element e is at row lane / 4 + 8 (e >> 1 & 1), column 8 (e >> 2) + 2 (lane % 4) + (e & 1).
unsigned rowOf(unsigned lane, unsigned e) { return lane / 4 + 8 * (e >> 1 & 1); }
unsigned columnOf(unsigned lane, unsigned e) { return 8 * (e >> 2) + 2 * (lane % 4) + (e & 1); }

void loadSums(const Warp &warp, const ProductOp &op, double *c) {
  for (unsigned i = 0; i < op.dRows.size(); ++i) {
    const auto *row = warp.row<uint32_t>(op.dRows[i]);
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
      if (op.d == Type::F32) {
        c[rowOf(lane, i) * op.n + columnOf(lane, i)] = bitCast<float>(row[lane]);
        continue;
      }
      c[rowOf(lane, 2 * i) * op.n + columnOf(lane, 2 * i)] =
          halfToFloat(static_cast<uint16_t>(row[lane]));
      c[rowOf(lane, 2 * i) * op.n + columnOf(lane, 2 * i + 1)] =
          halfToFloat(static_cast<uint16_t>(row[lane] >> 16));
    }
  }
}

uint32_t encodeHalf(double value) { return encodeFloat(value, kF16Format, Rounding::NearestEven); }

void storeSums(const Warp &warp, const ProductOp &op, const double *c) {
  for (unsigned i = 0; i < op.dRows.size(); ++i) {
    auto *row = warp.row<uint32_t>(op.dRows[i]);
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
      if (op.d == Type::F32) {
        row[lane] = encodeSum(c[rowOf(lane, i) * op.n + columnOf(lane, i)], op.a);
        continue;
      }
      const double *pair = &c[rowOf(lane, 2 * i) * op.n + columnOf(lane, 2 * i)];
      row[lane] = encodeHalf(pair[0]) | encodeHalf(pair[1]) << 16;
    }
  }
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

void fillPowers(const std::vector<double> &values, double least, std::vector<double> &powers) {
  powers.resize(values.size());
  powersOf(values.data(), least, powers.data(), values.size());
}

void multiplyFloats(Block &block, unsigned warpgroup, const ProductOp &op, const Product &product) {
  thread_local Elements<double> e;
  forType(op.a, [&](auto type) {
    gatherA<decltype(type)::value>(block, warpgroup, op, product, e.a.data());
  });
  forType(op.b, [&](auto type) {
    gatherTile<decltype(type)::value>(block, product.b, op.transposeB, op.n, kMaxColumns,
                                      e.b.data());
  });
  if (op.negateA != op.negateB)
    for (double &value : e.a)
      value = -value;
  fillPowers(e.a, leastOf(op.a), e.aPowers);
  fillPowers(e.b, leastOf(op.b), e.bPowers);
  RoundTowardsZero rounding;
  for (unsigned w = 0; w < 4; ++w) {
    const Warp &warp = block.warps[warpgroup * 4 + w];
    std::fill_n(e.c.begin(), 16 * op.n, 0.0);
    if (product.accumulate)
      loadSums(warp, op, e.c.data());
    for (unsigned row = 0; row < 16; ++row)
      cutSum({&e.a[16 * w + row], &e.aPowers[16 * w + row], kRows},
             {e.b.data(), e.bPowers.data(), kMaxColumns}, &e.c[row * op.n], leastOf(op.d), op.n,
             op.k, cutFraction(op.a));
    storeSums(warp, op, e.c.data());
  }
}

void multiplyIntegers(Block &block, unsigned warpgroup, const ProductOp &op,
                      const Product &product) {
  thread_local Elements<int32_t> e;
  if (op.a == Type::S8)
    gatherA<Type::S8>(block, warpgroup, op, product, e.a.data());
  else
    gatherA<Type::U8>(block, warpgroup, op, product, e.a.data());
  if (op.b == Type::S8)
    gatherTile<Type::S8>(block, product.b, false, op.n, kMaxColumns, e.b.data());
  else
    gatherTile<Type::U8>(block, product.b, false, op.n, kMaxColumns, e.b.data());
  for (unsigned w = 0; w < 4; ++w) {
    const Warp &warp = block.warps[warpgroup * 4 + w];
    std::fill_n(e.c.begin(), 16 * op.n, 0);
    for (unsigned row = 0; row < 16; ++row)
      for (unsigned k = 0; k < op.k; ++k) {
        int32_t a = e.a[k * kRows + 16 * w + row], *sums = &e.c[row * op.n];
        const int32_t *b = &e.b[k * kMaxColumns];
        PTXSIM_LANES
        for (unsigned j = 0; j < op.n; ++j)
          sums[j] += a * b[j];
      }
    for (unsigned i = 0; i < op.dRows.size(); ++i) {
      auto *d = warp.row<int32_t>(op.dRows[i]);
      for (unsigned lane = 0; lane < kWarpSize; ++lane) {
        int64_t sum = (product.accumulate ? int64_t(d[lane]) : 0) +
                      e.c[rowOf(lane, i) * op.n + columnOf(lane, i)];
        d[lane] = static_cast<int32_t>(op.satfinite ? std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX)
                                                    : sum);
      }
    }
  }
}

} // namespace

void xc::ptxsim::multiply(Block &block, unsigned warpgroup, const ProductOp &op,
                          const Product &product) {
  if (op.d == Type::S32)
    multiplyIntegers(block, warpgroup, op, product);
  else
    multiplyFloats(block, warpgroup, op, product);
}
