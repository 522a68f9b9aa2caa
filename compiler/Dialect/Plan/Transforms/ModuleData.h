//===- ModuleData.h - Constants, parameters and variables of a module ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_PLAN_TRANSFORMS_MODULEDATA_H
#define XC_DIALECT_PLAN_TRANSFORMS_MODULEDATA_H

#include "compiler/Dialect/Array/IR/ArrayOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/MapVector.h"

namespace xc::plan {

/// Numbers the data that the plans of one target's module refer to, equal data once.
class ModuleData {
public:
  explicit ModuleData(mlir::ModuleOp module);

  /// The number of a constant; an error at `loc` where it is too large for a module.
  mlir::FailureOr<unsigned> addConstant(mlir::ElementsAttr value, mlir::Location loc);
  unsigned addParameter(array::ParameterOp parameter);

  /// The function that is a region of an if or a while; null where the module has none of that
  /// name.
  mlir::func::FuncOp getRegion(mlir::StringAttr name) const {
    return symbols.lookup<mlir::func::FuncOp>(name);
  }

  /// The number of a variable; an error at `loc` where the module has none of that name.
  mlir::FailureOr<unsigned> getVariable(mlir::StringAttr name, mlir::Location loc);

  /// Lists everything on the module: `plan.constants` (elements), `plan.parameters` ({scope, key,
  /// type, dtype}) and `plan.variables` ({name, type, dtype, constant | parameter}). Erases the
  /// variables' ops.
  mlir::LogicalResult write();

private:
  unsigned addParameter(mlir::DictionaryAttr entry);

  mlir::ModuleOp module;
  mlir::SymbolTable symbols;
  llvm::MapVector<mlir::Attribute, unsigned> constants;
  llvm::MapVector<mlir::Attribute, unsigned> parameters;
  llvm::MapVector<mlir::StringAttr, array::VariableOp> variables;
};

} // namespace xc::plan

#endif // XC_DIALECT_PLAN_TRANSFORMS_MODULEDATA_H
