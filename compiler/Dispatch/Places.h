//===- Places.h - Where ops come from, as reports say it --------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DISPATCH_PLACES_H
#define XC_DISPATCH_PLACES_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"

namespace xc::plan {

/// "file:line:column", without directories: what a module says does not depend on where it was
/// built.
mlir::StringAttr printPlace(mlir::FileLineColLoc loc);

/// The first such place of a location; null if it has none.
mlir::StringAttr findPlace(mlir::Location loc);

} // namespace xc::plan

#endif // XC_DISPATCH_PLACES_H
