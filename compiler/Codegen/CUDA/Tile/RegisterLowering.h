//===- RegisterLowering.h - What becomes the registers of a thread -*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_TILE_REGISTERLOWERING_H
#define XC_CODEGEN_CUDA_TILE_REGISTERLOWERING_H

#include "compiler/Dialect/Tile/IR/TileOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/DialectConversion.h"

namespace xc::cuda {

/// A pattern of -xc-cuda-lower-registers: each tile in registers is several values.
template <typename Op> struct RegisterPattern : mlir::OpConversionPattern<Op> {
  using mlir::OpConversionPattern<Op>::OpConversionPattern;
  using Adaptor = typename mlir::OpConversionPattern<Op>::OneToNOpAdaptor;

  size_t count(mlir::Type type) const {
    llvm::SmallVector<mlir::Type> parts;
    (void)this->getTypeConverter()->convertType(type, parts);
    return parts.size();
  }
};

inline void replace(mlir::ConversionPatternRewriter &rewriter, mlir::Operation *op,
                    llvm::SmallVector<llvm::SmallVector<mlir::Value>> values) {
  rewriter.replaceOpWithMultiple(op, std::move(values));
}

/// What a thread holds of a tile of a warp.
void addWarpTypeConversions(mlir::TypeConverter &converter);

/// The patterns of LowerWarpTiles.cpp, and their ops.
void populateWarpPatterns(const mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns);
void addIllegalWarpOps(mlir::ConversionTarget &target);

/// The patterns of LowerCopies.cpp, and their ops.
void populateRegisterCopyPatterns(const mlir::TypeConverter &converter,
                                  mlir::RewritePatternSet &patterns);
void addIllegalCopyOps(mlir::ConversionTarget &target);

/// Lowers the ops that say which elements are a thread's, and those that move single vectors to and
/// from tiles whose lines are whole; see LowerThreadOps.cpp.
void lowerThreadOps(mlir::func::FuncOp function);

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_TILE_REGISTERLOWERING_H
