//===- ComputePlaces.h - Places that constants list -------------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DISPATCH_COMPUTEPLACES_H
#define XC_DISPATCH_COMPUTEPLACES_H

#include "compiler/Dialect/Plan/IR/RegularPlaces.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace xc::plan {

/// What `index`, in the body of `op` and along a dim of `size` elements, is if a constant lists it
/// and the list goes up evenly.
std::optional<RegularPlace> findListedPlace(mlir::linalg::GenericOp op, mlir::Value index,
                                            int64_t size);

} // namespace xc::plan

#endif // XC_DISPATCH_COMPUTEPLACES_H
