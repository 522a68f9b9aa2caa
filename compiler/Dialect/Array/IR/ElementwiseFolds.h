//===- ElementwiseFolds.h - Constant folding shared by elementwise ops -*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_ARRAY_IR_ELEMENTWISEFOLDS_H
#define XC_DIALECT_ARRAY_IR_ELEMENTWISEFOLDS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"

namespace xc::array {

/// Constants with more elements than this are not folded (unless all operands
/// are splats): the compiler would hold and write what the device can compute.
constexpr int64_t maxFoldedElements = 4096;

/// Folds `op`, an elementwise op, given its operands' constant values (null
/// where unknown): identities such as `x + 0`, then constants.
mlir::OpFoldResult foldElementwise(mlir::Operation *op, llvm::ArrayRef<mlir::Attribute> operands);

/// The value of elementwise `op` for one element of each operand, all as bits.
/// Nothing where it is not folded: the math functions, whose last bit must be
/// the device's.
std::optional<llvm::APInt> evaluateElement(mlir::Operation *op, llvm::ArrayRef<llvm::APInt> bits);

/// The elements of `elements` as bits; one where they are all equal.
llvm::SmallVector<llvm::APInt> elementBits(mlir::DenseElementsAttr elements);
/// A constant of `type` from its elements' bits; from one of them where all are equal.
mlir::DenseElementsAttr elementsFromBits(mlir::RankedTensorType type,
                                         llvm::ArrayRef<llvm::APInt> bits);

} // namespace xc::array

#endif // XC_DIALECT_ARRAY_IR_ELEMENTWISEFOLDS_H
