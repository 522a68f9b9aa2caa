//===- MemoryUses.h - Until when values are used, and where they go -*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Of the tensors of one function: the last step that uses the memory of each, the results and
// variables that it becomes, and which values have taken over the memory of others.
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_PLAN_TRANSFORMS_MEMORYUSES_H
#define XC_DIALECT_PLAN_TRANSFORMS_MEMORYUSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <limits>

namespace xc::plan {

/// Where a value is used for the last time.
constexpr unsigned kAfterAllCommands = std::numeric_limits<unsigned>::max();

/// What takes a position of its own among the uses of values.
bool isStep(mlir::Operation &op);

class MemoryUses {
public:
  explicit MemoryUses(mlir::func::FuncOp func);

  /// The value whose memory `tensor` is in: its root, or what that has taken the memory of.
  mlir::Value getMemory(mlir::Value tensor) const;
  /// The position of the last step that uses the memory of `tensor`; 0 where none does.
  unsigned getLastUse(mlir::Value tensor) const { return lastUse.lookup(getMemory(tensor)); }
  bool isUsed(mlir::Value root) const { return lastUse.contains(root); }
  /// Whether `root` is a result of the function, or assigned to a variable.
  bool outlivesSteps(mlir::Value root) const { return lastUse.lookup(root) == kAfterAllCommands; }
  bool isReadOnceBy(mlir::Operation *step, mlir::Value memory) const;

  /// Lets `result` be in `memory` from now on.
  void take(mlir::Value result, mlir::Value memory);

  /// The results of the function that `root` is, whole, or becomes a part of.
  llvm::ArrayRef<unsigned> getOutputs(mlir::Value root) const;
  /// The same of the variables that it is assigned to.
  llvm::ArrayRef<mlir::StringAttr> getVariables(mlir::Value root) const;
  /// Whether a root is assigned, whole, to a variable of which `predicate` is true.
  bool hasVariable(llvm::function_ref<bool(mlir::StringAttr)> predicate) const;
  /// The old value of a variable; null where nothing reads it.
  mlir::Value getOldValue(mlir::StringAttr variable) const { return readOf.lookup(variable); }

private:
  void passOnToParts(mlir::func::FuncOp func);

  llvm::DenseMap<mlir::Value, unsigned> lastUse;
  /// Result of a step -> the value whose memory it has taken.
  llvm::DenseMap<mlir::Value, mlir::Value> takenFrom;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<unsigned>> outputsOf;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::StringAttr>> variablesOf;
  llvm::DenseMap<mlir::StringAttr, mlir::Value> readOf;
};

} // namespace xc::plan

#endif // XC_DIALECT_PLAN_TRANSFORMS_MEMORYUSES_H
