//===- FixedOps.h - What depends on parameters and constants alone --------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DISPATCH_FIXEDOPS_H
#define XC_DISPATCH_FIXEDOPS_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

namespace xc::plan {

/// True for a constant that is a tensor of more than one number.
bool isConstantTensor(mlir::Operation *op);

/// Operands of `op`, and what its regions use from above.
llvm::SmallVector<mlir::Value> getOperandsAndCaptures(mlir::Operation *op);

/// The ops of a block that are *fixed*: parameters, constants, and what is computed of fixed values
/// alone. Variables are not, since the host or a call may write them.
class FixedOps {
public:
  /// The parameters and constants that a value is made of.
  using Roots = llvm::SmallSetVector<mlir::Value, 4>;

  explicit FixedOps(mlir::Block &block);

  bool contains(mlir::Operation *op) const { return fixed.contains(op); }
  const Roots &getRoots(mlir::Operation *op) const { return fixed.find(op)->second; }

  /// True for what values are made of.
  static bool isRoot(mlir::Operation *op);

private:
  llvm::DenseMap<mlir::Operation *, Roots> fixed;
};

} // namespace xc::plan

#endif // XC_DISPATCH_FIXEDOPS_H
