//===- ImportTosa.h - TOSA ops as array ops -------------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_INPUT_IMPORTTOSA_H
#define XC_INPUT_IMPORTTOSA_H

#include "compiler/Dialect/Array/IR/ExpressionBuilder.h"
#include "compiler/Dialect/Array/IR/TensorTypes.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/TypeUtilities.h"

#include <optional>

namespace xc::tosa_import {

/// What replaces an op's results: nothing where another family of ops has to be asked; failure
/// where it has been refused with a diagnostic.
using Replacement = std::optional<mlir::FailureOr<llvm::SmallVector<mlir::Value>>>;

Replacement convertElementwise(mlir::Operation *op, array::ExpressionBuilder &e);
Replacement convertInteger(mlir::Operation *op, array::ExpressionBuilder &e);
Replacement convertMovement(mlir::Operation *op, array::ExpressionBuilder &e);
Replacement convertWindow(mlir::Operation *op, array::ExpressionBuilder &e);
Replacement convertTransform(mlir::Operation *op, array::ExpressionBuilder &e);
Replacement convertControl(mlir::Operation *op, array::ExpressionBuilder &e);

//===--- For the converters ---------------------------------------------===//

using array::elementOf;
using array::isFloat;

/// `operand` as a tensor of `rank` dims, ones in front, or as one of rank 0 from one element.
mlir::Value reshapeTo(array::ExpressionBuilder &e, mlir::Value operand,
                      llvm::ArrayRef<int64_t> shape);

/// The numbers of a shape, each a constant or an `index`.
using Numbers = llvm::SmallVector<mlir::OpFoldResult>;

/// What `shape` says at the builder's place; an error where that cannot be computed.
mlir::FailureOr<Numbers> getNumbers(array::ExpressionBuilder &e, mlir::Value shape);

/// The same where constants are needed. Errors say that they are of `op`, and its `name`.
mlir::FailureOr<llvm::SmallVector<int64_t>> getConstants(mlir::Operation *op,
                                                         array::ExpressionBuilder &e,
                                                         mlir::Value shape, llvm::StringRef name);

/// \p value minus its zero point, in i32, where it holds integers with one that is not 0.
mlir::Value subtractZeroPoint(array::ExpressionBuilder &e, mlir::Value value, int64_t zeroPoint);

/// \p value with its NaNs replaced by \p with, a rank-0 tensor.
mlir::Value replaceNans(array::ExpressionBuilder &e, mlir::Value value, mlir::Value with);

} // namespace xc::tosa_import

#endif // XC_INPUT_IMPORTTOSA_H
