//===- TileLowering.h - What the tile dialect's patterns share -*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_TILE_TILELOWERING_H
#define XC_CODEGEN_CUDA_TILE_TILELOWERING_H

#include "compiler/Codegen/CUDA/IR/CUDAConfig.h"
#include "compiler/Dialect/Tile/IR/TileOps.h"

#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace xc::cuda::tile_lowering {

/// Builds scalar code for one op.
struct TileBuilder {
  TileBuilder(mlir::ConversionPatternRewriter &rewriter, mlir::Location loc)
      : rewriter(rewriter), loc(loc), i32(rewriter.getI32Type()), i64(rewriter.getI64Type()),
        shared(mlir::LLVM::LLVMPointerType::get(rewriter.getContext(), 3)) {}

  mlir::Value constant(mlir::Type type, int64_t value) {
    return mlir::LLVM::ConstantOp::create(rewriter, loc, type,
                                          rewriter.getIntegerAttr(type, value));
  }
  mlir::Value word(int64_t value) { return constant(i32, value); }
  /// An index, of whatever width, as 32 bits.
  mlir::Value toWord(mlir::Value index) {
    if (index.getType() == i32)
      return index;
    return mlir::LLVM::TruncOp::create(rewriter, loc, i32, index);
  }
  mlir::Value add(mlir::Value lhs, mlir::Value rhs) {
    return mlir::LLVM::AddOp::create(rewriter, loc, lhs, rhs);
  }
  mlir::Value mul(mlir::Value lhs, int64_t rhs) {
    return rhs == 1 ? lhs
                    : mlir::LLVM::MulOp::create(rewriter, loc, lhs, constant(lhs.getType(), rhs));
  }
  mlir::Value div(mlir::Value lhs, int64_t rhs) {
    return mlir::LLVM::UDivOp::create(rewriter, loc, lhs, constant(lhs.getType(), rhs));
  }
  mlir::Value both(mlir::Value lhs, int64_t rhs) {
    return mlir::LLVM::AndOp::create(rewriter, loc, lhs, constant(lhs.getType(), rhs));
  }
  mlir::Value exclusiveOr(mlir::Value lhs, mlir::Value rhs) {
    return mlir::LLVM::XOrOp::create(rewriter, loc, lhs, rhs);
  }

  mlir::Value advance(mlir::Value pointer, mlir::Value bytes) {
    return mlir::LLVM::GEPOp::create(rewriter, loc, shared, rewriter.getI8Type(), pointer,
                                     mlir::ArrayRef<mlir::LLVM::GEPArg>{bytes});
  }
  mlir::Value advance(mlir::Value pointer, int64_t bytes) {
    if (bytes == 0)
      return pointer;
    return mlir::LLVM::GEPOp::create(
        rewriter, loc, shared, rewriter.getI8Type(), pointer,
        mlir::ArrayRef<mlir::LLVM::GEPArg>{static_cast<int32_t>(bytes)});
  }
  mlir::Value sharedBase(int64_t offset) {
    return advance(mlir::LLVM::AddressOfOp::create(rewriter, loc, shared, kSharedSymbol), offset);
  }

  /// Assembly with side effects. Pointers to shared memory go in as 32-bit addresses.
  mlir::LLVM::InlineAsmOp assembly(mlir::StringRef text, mlir::StringRef constraints,
                                   mlir::ValueRange operands, mlir::Type result = {}) {
    return mlir::LLVM::InlineAsmOp::create(
        rewriter, loc, result ? mlir::TypeRange(result) : mlir::TypeRange(), operands, text,
        constraints,
        /*has_side_effects=*/true, /*is_align_stack=*/false, mlir::LLVM::TailCallKind::None,
        mlir::LLVM::AsmDialectAttr::get(rewriter.getContext(), mlir::LLVM::AsmDialect::AD_ATT),
        /*operand_attrs=*/mlir::ArrayAttr());
  }
  mlir::Value address(mlir::Value pointer) {
    return mlir::LLVM::PtrToIntOp::create(rewriter, loc, i32, pointer);
  }

  mlir::ConversionPatternRewriter &rewriter;
  mlir::Location loc;
  mlir::Type i32, i64;
  mlir::LLVM::LLVMPointerType shared;
};

/// The bytes from a tile's start to an element.
inline mlir::Value getPlace(TileBuilder &b, tile::SharedType tile, mlir::Value row,
                            mlir::Value column) {
  int64_t bytes = tile.getElementBytes(), line = tile.getLineBytes();
  mlir::Value panel = b.div(column, tile.getPanelColumns());
  mlir::Value within = b.mul(b.both(column, tile.getPanelColumns() - 1), bytes);
  mlir::Value place = b.add(b.mul(row, line), within);
  // Lines shorter than 128 bytes share the banks of one 128-byte span; the swizzle's key is the
  // span's number.
  mlir::Value key = b.both(b.div(place, 128), line / 16 - 1);
  place = b.exclusiveOr(place, b.mul(key, 16));
  return tile.getPanels() == 1 ? place : b.add(place, b.mul(panel, tile.getPanelBytes()));
}

template <typename Op> struct TilePattern : mlir::ConvertOpToLLVMPattern<Op> {
  using mlir::ConvertOpToLLVMPattern<Op>::ConvertOpToLLVMPattern;
  using Adaptor = typename mlir::ConvertOpToLLVMPattern<Op>::OpAdaptor;
};

/// The patterns of TileFragmentsToNVVM.cpp.
void populateFragmentPatterns(const mlir::LLVMTypeConverter &converter,
                              mlir::RewritePatternSet &patterns);

/// The patterns of Tile/RegistersToNVVM.cpp.
void populateRegisterPatterns(const mlir::LLVMTypeConverter &converter,
                              mlir::RewritePatternSet &patterns);

/// The patterns of Tile/RingsToNVVM.cpp, Tile/MatricesToNVVM.cpp and Tile/CopiesToNVVM.cpp.
void populateMatrixPatterns(const mlir::LLVMTypeConverter &converter,
                            mlir::RewritePatternSet &patterns);
void populateRingPatterns(const mlir::LLVMTypeConverter &converter,
                          mlir::RewritePatternSet &patterns);
void populateCopyPatterns(const mlir::LLVMTypeConverter &converter,
                          mlir::RewritePatternSet &patterns);

} // namespace xc::cuda::tile_lowering

#endif // XC_CODEGEN_CUDA_TILE_TILELOWERING_H
