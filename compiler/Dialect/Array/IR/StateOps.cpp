//===- StateOps.cpp - Variables -===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/ArrayOps.h"

using namespace mlir;

namespace xc::array {

LogicalResult VariableOp::verify() {
  std::optional<Attribute> value = getInitialValue();
  if (!value || isa<ParameterAttr>(*value))
    return success();
  auto elements = dyn_cast<ElementsAttr>(*value);
  if (!elements)
    return emitOpError("expected elements or a parameter as initial value, got ") << *value;
  if (elements.getType() != getType())
    return emitOpError("expected an initial value of ")
           << getType() << ", got one of " << elements.getType();
  return success();
}

/// Checks that `name` is a variable of type `type`.
static LogicalResult verifyUse(Operation *op, FlatSymbolRefAttr name, Type type,
                               SymbolTableCollection &symbolTable) {
  auto variable = symbolTable.lookupNearestSymbolFrom<VariableOp>(op, name);
  if (!variable)
    return op->emitOpError("expected the name of an array.variable, got ") << name;
  if (variable.getType() != type) {
    InFlightDiagnostic diagnostic = op->emitOpError("expected ")
                                    << variable.getType() << ", the type of " << name << ", got "
                                    << type;
    diagnostic.attachNote(variable.getLoc()) << "the variable is defined here";
    return diagnostic;
  }
  return success();
}

LogicalResult VariableReadOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  return verifyUse(*this, getVariableAttr(), getType(), symbolTable);
}

void VariableReadOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  effects.emplace_back(MemoryEffects::Read::get(), getVariableAttr(), VariableResource::get());
}

LogicalResult VariableAssignOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  return verifyUse(*this, getVariableAttr(), getValue().getType(), symbolTable);
}

void VariableAssignOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  effects.emplace_back(MemoryEffects::Write::get(), getVariableAttr(), VariableResource::get());
}

} // namespace xc::array
