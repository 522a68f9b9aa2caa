//===- WinogradConv.h - Convolution by fewer products -*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_ARRAY_IR_WINOGRADCONV_H
#define XC_DIALECT_ARRAY_IR_WINOGRADCONV_H

#include "compiler/Dialect/Array/IR/ExpressionBuilder.h"

namespace xc::array {

/// Checks what Winograd's algorithm needs of a convolution.
mlir::LogicalResult verifyWinograd(ConvOp op);

/// The same without an error.
bool canUseWinograd(ConvOp op);

/// Whether all sizes but the batch are known, which blocks are made of.
bool hasWinogradSizes(ConvOp op);

/// The result of `op`, which only pads and has such sizes, as transformed blocks, a batch of matrix
/// products, and the blocks of the result that these transform to.
mlir::Value buildWinogradConv(ConvOp op, mlir::OpBuilder &builder);

} // namespace xc::array

#endif // XC_DIALECT_ARRAY_IR_WINOGRADCONV_H
