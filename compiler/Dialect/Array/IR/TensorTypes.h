//===- TensorTypes.h - What the type of an array says -------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Short questions about values of array programs, whose types are tensors.
///
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_ARRAY_IR_TENSORTYPES_H
#define XC_DIALECT_ARRAY_IR_TENSORTYPES_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/Sequence.h"

namespace xc::array {

/// The type of a value that is a tensor.
inline mlir::RankedTensorType typeOf(mlir::Value value) {
  return mlir::cast<mlir::RankedTensorType>(value.getType());
}

/// The type of the elements of a value that is a tensor.
inline mlir::Type elementOf(mlir::Value value) { return typeOf(value).getElementType(); }

/// Whether the elements of `value`, or `value` itself, are floats.
inline bool isFloat(mlir::Value value) {
  return mlir::isa<mlir::FloatType>(mlir::getElementTypeOrSelf(value.getType()));
}

/// Whether `type` is a tensor of floats, what has a gradient.
inline bool isFloatTensorType(mlir::Type type) {
  auto tensor = mlir::dyn_cast<mlir::RankedTensorType>(type);
  return tensor && mlir::isa<mlir::FloatType>(tensor.getElementType());
}
inline bool isFloatTensor(mlir::Value value) { return isFloatTensorType(value.getType()); }

/// Every dim of `value` but `axis`.
inline llvm::SmallVector<int64_t> otherAxes(mlir::Value value, int64_t axis) {
  auto axes = llvm::to_vector(llvm::seq<int64_t>(0, typeOf(value).getRank()));
  axes.erase(axes.begin() + axis);
  return axes;
}

} // namespace xc::array

#endif // XC_DIALECT_ARRAY_IR_TENSORTYPES_H
