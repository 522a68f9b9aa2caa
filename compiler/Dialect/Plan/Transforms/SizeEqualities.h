//===- SizeEqualities.h - Which sizes requirements make equal -*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_PLAN_TRANSFORMS_SIZEEQUALITIES_H
#define XC_DIALECT_PLAN_TRANSFORMS_SIZEEQUALITIES_H

#include "mlir/IR/AffineExpr.h"
#include "llvm/ADT/MapVector.h"

namespace xc::plan {

/// What follows from formulas that are demanded to be equal, as far as each tells what one symbol
/// is; what does not is forgotten.
class SizeEqualities {
public:
  void add(mlir::AffineExpr left, mlir::AffineExpr right);
  bool areEqual(mlir::AffineExpr left, mlir::AffineExpr right) const;

private:
  mlir::AffineExpr replace(mlir::AffineExpr expr) const;

  /// Symbols, and what they are; no such symbol is in any of these formulas.
  llvm::MapVector<mlir::AffineExpr, mlir::AffineExpr> known;
};

} // namespace xc::plan

#endif // XC_DIALECT_PLAN_TRANSFORMS_SIZEEQUALITIES_H
