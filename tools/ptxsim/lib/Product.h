//===- Product.h - Products of warpgroups -----------------------*- C++ -*-===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The arithmetic of wgmma.mma_async, and where its operands are in shared memory.
//
//===----------------------------------------------------------------------===//

#ifndef PTXSIM_LIB_PRODUCT_H
#define PTXSIM_LIB_PRODUCT_H

#include "Machine.h"

namespace xc::ptxsim {

/// A matrix descriptor, decoded: the places of a matrix's 16-byte parts.
class TileAddress {
public:
  TileAddress(uint64_t descriptor, bool transposed);

  /// |major|: the row, or if transposed the row of K. |part|: which 16 bytes along K,
  /// or if transposed along the rows.
  uint32_t at(unsigned major, unsigned part) const;

private:
  uint32_t start, leading, stride;
  unsigned base, bits; // of the address that are swizzled
  uint32_t span;       // bytes of a swizzled row
  bool transposed;
};

/// Calls |function| with the place of each 16 bytes of an operand of |extent| rows (A:
/// 64, B: n); stops when it returns false.
template <typename F>
bool forTileParts(const TileAddress &tile, unsigned extent, bool transposed, F function) {
  // Both have 32 bytes along K to a row: two parts, or 16 rows of K of 16-bit elements.
  unsigned majors = transposed ? 16 : extent, parts = transposed ? extent / 8 : 2;
  for (unsigned major = 0; major < majors; ++major)
    for (unsigned part = 0; part < parts; ++part)
      if (!function(major, part, tile.at(major, part)))
        return false;
  return true;
}

/// Carries out |product|, whose operands are in order, for the four warps.
void multiply(Block &block, unsigned warpgroup, const ProductOp &op, const Product &product);

/// Carries out the products of |warpgroup| below number |end|, which all its warps
/// have issued. False after a fault.
bool executeProducts(Block &block, unsigned warpgroup, uint64_t end);

} // namespace xc::ptxsim

#endif // PTXSIM_LIB_PRODUCT_H
