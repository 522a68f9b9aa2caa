//===- TF32.h - Numbers of f32 for products of TF32 -------------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_COMMON_TF32_H
#define XC_CODEGEN_CUDA_COMMON_TF32_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/SmallVectorExtras.h"

namespace xc::cuda {

/// The bits of an f32 that is rounded to TF32.
inline mlir::Value roundToTF32(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value) {
  return mlir::NVVM::ConvertFloatToTF32Op::create(builder, loc, builder.getI32Type(), value,
                                                  mlir::NVVM::FPRoundingMode::RNA);
}

/// The same number as an f32.
inline mlir::Value roundedToTF32(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value) {
  return mlir::LLVM::BitcastOp::create(builder, loc, value.getType(),
                                       roundToTF32(builder, loc, value));
}

/// The same of each of `words`, the bits of an f32.
inline llvm::SmallVector<mlir::Value> roundToTF32(mlir::OpBuilder &builder, mlir::Location loc,
                                                  llvm::ArrayRef<mlir::Value> words) {
  return llvm::map_to_vector(words, [&](mlir::Value word) -> mlir::Value {
    return roundToTF32(builder, loc,
                       mlir::LLVM::BitcastOp::create(builder, loc, builder.getF32Type(), word));
  });
}

/// Numbers of f32, each the sum of two of TF32: of it rounded, and of the rest, of which tensor
/// cores leave out the last of 24 digits at most. All are words.
struct TF32Halves {
  TF32Halves(mlir::OpBuilder &builder, mlir::Location loc, llvm::ArrayRef<mlir::Value> words) {
    namespace LLVM = mlir::LLVM;
    mlir::Type f32 = builder.getF32Type(), i32 = builder.getI32Type();
    auto makeWord = [&](int32_t bits) -> mlir::Value {
      return LLVM::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(bits));
    };
    // To nearest, ties away from zero.
    mlir::Value half = makeWord(0x1000), kept = makeWord(~0x1fff);
    for (mlir::Value word : words) {
      mlir::Value raised = LLVM::AddOp::create(builder, loc, word, half);
      big.push_back(LLVM::AndOp::create(builder, loc, raised, kept));
      mlir::Value whole = LLVM::BitcastOp::create(builder, loc, f32, word),
                  rounded = LLVM::BitcastOp::create(builder, loc, f32, big.back()),
                  rest = LLVM::FSubOp::create(builder, loc, whole, rounded);
      small.push_back(LLVM::BitcastOp::create(builder, loc, i32, rest));
    }
  }
  llvm::SmallVector<mlir::Value> big, small;
};

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_COMMON_TF32_H
