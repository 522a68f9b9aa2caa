//===- PassAttributes.h - Attributes that only passes write ----*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What ops of a gradient, and of what passes make, require of sizes is asked where array ops become
// linalg, and by then a composite op is many simpler ones. Their locations say which op the user
// wrote: locations are kept by all passes and do not keep ops from being equal. What only the
// composite requires is an attribute.
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_ARRAY_IR_PASSATTRIBUTES_H
#define XC_DIALECT_ARRAY_IR_PASSATTRIBUTES_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/Operation.h"

namespace xc::array {

/// On a composite that a target may have a kernel for: decomposition leaves it.
inline constexpr llvm::StringLiteral kWholeAttr = "array.whole";

/// On causal attention that is whole: keys and values that no query sees may be anything, NaN too.
inline constexpr llvm::StringLiteral kOpenEndAttr = "array.open_end";

/// Of an `array.sort`: how many elements its lines must have at least.
inline constexpr llvm::StringLiteral kLeastSizeAttr = "array.least_size";

/// Of an `array.take` or `array.reshape`: what is said where its sizes are not what it requires.
inline constexpr llvm::StringLiteral kRequirementAttr = "array.requirement";

/// Of an `array.iota` and an `array.reduce`: their elements must be no more than their type counts.
inline constexpr llvm::StringLiteral kCountedAttr = "array.counted";

/// Of an `array.conv`: where the size of the filter is not known and that of the result is, the
/// result has the first of the places, of which there may be more; those of a filter without
/// elements are zeros.
inline constexpr llvm::StringLiteral kFirstPlacesAttr = "array.first_places";

/// On a module: what has been recognized in it, and how often.
inline constexpr llvm::StringLiteral kRecognizedAttr = "array.recognized";

/// In a location's metadata: the name of the op that the user wrote. Locations of the user's own
/// have other metadata, or none.
inline constexpr llvm::StringLiteral kOriginAttr = "array.origin";

/// The name that \p loc says, also where passes have fused it with others; null if there is none.
inline mlir::StringAttr findOrigin(mlir::Location loc) {
  mlir::StringAttr found;
  loc->walk([&](mlir::Location part) {
    if (auto fused = mlir::dyn_cast<mlir::FusedLocWith<mlir::DictionaryAttr>>(part))
      found = fused.getMetadata().getAs<mlir::StringAttr>(kOriginAttr);
    return found ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
  });
  return found;
}

/// The location of ops that express \p op, which the user wrote unless its location says otherwise.
inline mlir::Location getOriginLoc(mlir::Operation *op) {
  mlir::Location loc = op->getLoc();
  if (findOrigin(loc))
    return loc;
  mlir::Builder builder(op->getContext());
  auto origin = builder.getNamedAttr(kOriginAttr, op->getName().getIdentifier());
  return mlir::FusedLoc::get({loc}, builder.getDictionaryAttr({origin}), op->getContext());
}

/// The name of the op that the user wrote and that \p op is a part of.
inline llvm::StringRef getOriginName(mlir::Operation *op) {
  if (mlir::StringAttr origin = findOrigin(op->getLoc()))
    return origin.getValue();
  return op->getName().getStringRef();
}

} // namespace xc::array

#endif // XC_DIALECT_ARRAY_IR_PASSATTRIBUTES_H
