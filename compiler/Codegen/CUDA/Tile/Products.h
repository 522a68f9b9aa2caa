//===- Products.h - Instructions of products of tiles -----------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_TILE_PRODUCTS_H
#define XC_CODEGEN_CUDA_TILE_PRODUCTS_H

#include "compiler/Codegen/CUDA/Tile/TileLowering.h"

namespace xc::cuda::tile_lowering {

/// "$2, $3": operands `first` to `first + count - 1`.
std::string listOperands(size_t first, size_t count);
/// `count` times the same constraint of assembly.
std::string repeat(mlir::StringRef constraint, size_t count);

/// How wgmma's descriptors see an operand (PTX ISA, "Matrix descriptor format"): fields in units of
/// 16 bytes.
struct Descriptor {
  Descriptor(tile::SharedType tile, bool transposed, bool repeats = false)
      : tile(tile), transposed(transposed), repeats(repeats) {}

  /// All but the address.
  int64_t getConstantBits() const {
    int64_t line = tile.getLineBytes();
    int64_t swizzle = line == 128 ? 1 : line == 64 ? 2 : 3;
    // Eight lines on, or the same ones again where there are no others; for a transposed operand
    // the leading offset leads to the next panel.
    int64_t stride = repeats ? 0 : 8 * line / 16,
            leading = transposed ? tile.getPanelBytes() / 16 : 1;
    return static_cast<int64_t>(static_cast<uint64_t>(swizzle) << 62) | stride << 32 |
           leading << 16;
  }
  /// Bytes from the tile's start to step `step` of 32 bytes (16 lines, if transposed) along k.
  int64_t getStep(int64_t step) const {
    if (transposed)
      return step * 16 * tile.getLineBytes();
    int64_t perPanel = tile.getLineBytes() / 32;
    return step / perPanel * tile.getPanelBytes() + step % perPanel * 32;
  }

  tile::SharedType tile;
  bool transposed, repeats;
};

mlir::Value makeDescriptor(TileBuilder &b, mlir::Value address, const Descriptor &descriptor);
/// A descriptor some bytes on.
mlir::Value advanceDescriptor(TileBuilder &b, mlir::Value descriptor, int64_t bytes);

/// One wgmma, of operands of `elementType`, that adds to `sums`, registers of `columns` columns:
/// `a` is a descriptor or four registers. `order` is what 16-bit types add about their lines.
/// Returns a struct of the sums.
mlir::Value multiply(TileBuilder &b, mlir::Type elementType, int64_t columns, mlir::ValueRange sums,
                     mlir::ValueRange a, mlir::Value descriptorB, mlir::Value flag,
                     mlir::StringRef order);
/// The registers of a struct.
mlir::SmallVector<mlir::Value> unpack(TileBuilder &b, mlir::Value structure);

} // namespace xc::cuda::tile_lowering

#endif // XC_CODEGEN_CUDA_TILE_PRODUCTS_H
