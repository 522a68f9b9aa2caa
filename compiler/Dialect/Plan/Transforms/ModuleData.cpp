//===- ModuleData.cpp - Constants, parameters and variables of a module ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Plan/Transforms/ModuleData.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace xc::plan {

ModuleData::ModuleData(ModuleOp module) : module(module) {
  for (auto variable : module.getOps<array::VariableOp>())
    variables.insert({variable.getSymNameAttr(), variable});
}

unsigned ModuleData::addConstant(ElementsAttr value) {
  return constants.insert({value, constants.size()}).first->second;
}

static DictionaryAttr describeParameter(array::ParameterAttr parameter, Type type,
                                        Attribute dtype) {
  Builder builder(type.getContext());
  NamedAttrList entry;
  entry.set("scope", builder.getStringAttr(parameter.getScope()));
  entry.set("key", builder.getStringAttr(parameter.getKey()));
  entry.set("type", TypeAttr::get(type));
  if (dtype)
    entry.set("dtype", dtype);
  return entry.getDictionary(type.getContext());
}

unsigned ModuleData::addParameter(DictionaryAttr entry) {
  return parameters.insert({entry, parameters.size()}).first->second;
}

unsigned ModuleData::addParameter(array::ParameterOp parameter) {
  return addParameter(describeParameter(parameter.getParameter(), parameter.getType(),
                                        parameter->getAttr("array.dtype")));
}

FailureOr<unsigned> ModuleData::getVariable(StringAttr name, Location loc) {
  auto it = variables.find(name);
  if (it == variables.end())
    return emitError(loc, "expected the name of a variable of this module, got @")
           << name.getValue();
  return static_cast<unsigned>(std::distance(variables.begin(), it));
}

void ModuleData::write() {
  Builder builder(module.getContext());
  SmallVector<Attribute> variableEntries;
  for (auto &[name, variable] : variables) {
    NamedAttrList entry;
    entry.set("name", name);
    entry.set("type", TypeAttr::get(variable.getType()));
    Attribute dtype = variable->getAttr("array.dtype");
    if (dtype)
      entry.set("dtype", dtype);
    Attribute initial = variable.getInitialValueAttr();
    if (auto parameter = dyn_cast_or_null<array::ParameterAttr>(initial))
      entry.set("parameter", builder.getI64IntegerAttr(addParameter(
                                 describeParameter(parameter, variable.getType(), dtype))));
    else if (auto elements = dyn_cast_or_null<ElementsAttr>(initial))
      entry.set("constant", builder.getI64IntegerAttr(addConstant(elements)));
    variableEntries.push_back(entry.getDictionary(module.getContext()));
    variable.erase();
  }
  auto list = [&](const llvm::MapVector<Attribute, unsigned> &entries) {
    SmallVector<Attribute> attributes;
    for (const auto &entry : entries)
      attributes.push_back(entry.first);
    return builder.getArrayAttr(attributes);
  };
  module->setAttr("plan.constants", list(constants));
  module->setAttr("plan.parameters", list(parameters));
  module->setAttr("plan.variables", builder.getArrayAttr(variableEntries));
}

} // namespace xc::plan
