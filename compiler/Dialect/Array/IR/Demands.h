//===- Demands.h - What decomposed ops demand, and in whose name -*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What sizes must be like is known where array ops become linalg, and by then a composite op is
// many simpler ones. Their locations say which op the user wrote: locations are kept by all passes
// and do not keep ops from being equal. What only the composite demands is an attribute.
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_ARRAY_IR_DEMANDS_H
#define XC_DIALECT_ARRAY_IR_DEMANDS_H

#include "mlir/IR/Location.h"
#include "mlir/IR/Operation.h"

namespace xc::array {

/// Of an `array.sort`: how many elements its lines must have at least.
inline constexpr llvm::StringLiteral kLeastSizeAttr = "array.least_size";

/// The location of ops that express \p op, which the user wrote unless its location says otherwise.
inline mlir::Location getOriginLoc(mlir::Operation *op) {
  mlir::Location loc = op->getLoc();
  if (mlir::isa<mlir::FusedLocWith<mlir::StringAttr>>(loc))
    return loc;
  return mlir::FusedLoc::get({loc}, op->getName().getIdentifier(), op->getContext());
}

/// The name of the op that the user wrote and that \p op is a part of.
inline llvm::StringRef getOriginName(mlir::Operation *op) {
  if (auto origin = mlir::dyn_cast<mlir::FusedLocWith<mlir::StringAttr>>(op->getLoc()))
    return origin.getMetadata().getValue();
  return op->getName().getStringRef();
}

} // namespace xc::array

#endif // XC_DIALECT_ARRAY_IR_DEMANDS_H
