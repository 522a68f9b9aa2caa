//===- ArrayOps.td - All operations of the array dialect ---*- tablegen -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_ARRAY_IR_ARRAYOPS_TD
#define XC_DIALECT_ARRAY_IR_ARRAYOPS_TD

include "compiler/Dialect/Array/IR/ArrayElementwiseOps.td"
include "compiler/Dialect/Array/IR/ArrayFunctionOps.td"
include "compiler/Dialect/Array/IR/ArrayShapeOps.td"
include "compiler/Dialect/Array/IR/ArrayRearrangeOps.td"
include "compiler/Dialect/Array/IR/ArrayReductionOps.td"
include "compiler/Dialect/Array/IR/ArrayScanOps.td"
include "compiler/Dialect/Array/IR/ArraySortOps.td"
include "compiler/Dialect/Array/IR/ArrayRandomOps.td"
include "compiler/Dialect/Array/IR/ArrayMatMulOps.td"
include "compiler/Dialect/Array/IR/ArrayIndexOps.td"
include "compiler/Dialect/Array/IR/ArrayExtentOps.td"
include "compiler/Dialect/Array/IR/ArrayStateOps.td"
include "compiler/Dialect/Array/IR/ArrayCompositeOps.td"
include "compiler/Dialect/Array/IR/ArrayWindowOps.td"
include "compiler/Dialect/Array/IR/ArrayAttentionOps.td"
include "compiler/Dialect/Array/IR/ArrayAttentionGradientOp.td"
include "compiler/Dialect/Array/IR/ArrayControlOps.td"
include "compiler/Dialect/Array/IR/ArrayCustomOps.td"

#endif // XC_DIALECT_ARRAY_IR_ARRAYOPS_TD
