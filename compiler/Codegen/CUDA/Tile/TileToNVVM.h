//===- TileToNVVM.h - Patterns from the tile dialect to instructions ------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_TILE_TILETONVVM_H
#define XC_CODEGEN_CUDA_TILE_TILETONVVM_H

namespace mlir {
class LLVMTypeConverter;
class RewritePatternSet;
} // namespace mlir

namespace xc::cuda {

/// Tiles and rings become pointers to shared memory, accumulators structs of registers, tensor maps
/// pointers to kernel parameters.
void addTileTypeConversions(mlir::LLVMTypeConverter &converter);

/// Lowers all ops of the tile dialect but the schedule's and `tile.tensor_map`, which is a matter
/// of the kernel's signature.
void populateTileToNVVMPatterns(const mlir::LLVMTypeConverter &converter,
                                mlir::RewritePatternSet &patterns);

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_TILE_TILETONVVM_H
