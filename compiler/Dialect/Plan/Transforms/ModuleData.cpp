//===- ModuleData.cpp - Constants, parameters and variables of a module ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Plan/Transforms/ModuleData.h"

#include "compiler/Dialect/Array/IR/AttributeNames.h"
#include "compiler/Dialect/Plan/IR/PlanOps.h"

#include "mlir/IR/Builders.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace xc::plan {

ModuleData::ModuleData(ModuleOp module) : module(module), symbols(module) {
  for (auto variable : module.getOps<array::VariableOp>())
    variables.insert({variable.getSymNameAttr(), variable});
}

/// Bytes that a module may hold of one value: they are written out, where the program has one.
static constexpr int64_t kMostRepeatedBytes = int64_t(1) << 30;

FailureOr<unsigned> ModuleData::addConstant(ElementsAttr value, Location loc) {
  auto type = cast<ShapedType>(value.getShapedType());
  int64_t bytes = type.getNumElements() * llvm::divideCeil(type.getElementTypeBitWidth(), 8);
  if (value.isSplat() && bytes > kMostRepeatedBytes)
    return emitError(loc) << "expected at most " << kMostRepeatedBytes
                          << " bytes in the module for a value that is repeated, got " << bytes;
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
                                        parameter->getAttr(array::kDtypeAttr)));
}

FailureOr<unsigned> ModuleData::getVariable(StringAttr name, Location loc) {
  auto it = variables.find(name);
  if (it == variables.end())
    return emitError(loc, "expected the name of a variable of this module, got @")
           << name.getValue();
  return static_cast<unsigned>(std::distance(variables.begin(), it));
}

/// Zeros are what a variable has without an initial value.
static bool isZero(ElementsAttr elements) {
  auto dense = dyn_cast<DenseElementsAttr>(elements);
  return dense && dense.isSplat() &&
         llvm::all_of(dense.getRawData(), [](char c) { return c == 0; });
}

LogicalResult ModuleData::write() {
  Builder builder(module.getContext());
  SmallVector<Attribute> variableEntries;
  for (auto &[name, variable] : variables) {
    NamedAttrList entry;
    entry.set("name", name);
    entry.set("type", TypeAttr::get(variable.getType()));
    Attribute dtype = variable->getAttr(array::kDtypeAttr);
    if (dtype)
      entry.set("dtype", dtype);
    Attribute initial = variable.getInitialValueAttr();
    auto elements = dyn_cast_or_null<ElementsAttr>(initial);
    if (auto parameter = dyn_cast_or_null<array::ParameterAttr>(initial)) {
      entry.set("parameter", builder.getI64IntegerAttr(addParameter(
                                 describeParameter(parameter, variable.getType(), dtype))));
    } else if (elements && !isZero(elements)) {
      FailureOr<unsigned> constant = addConstant(elements, variable.getLoc());
      if (failed(constant))
        return failure();
      entry.set("constant", builder.getI64IntegerAttr(*constant));
    }
    variableEntries.push_back(entry.getDictionary(module.getContext()));
    variable.erase();
  }
  auto list = [&](const llvm::MapVector<Attribute, unsigned> &entries) {
    SmallVector<Attribute> attributes;
    for (const auto &entry : entries)
      attributes.push_back(entry.first);
    return builder.getArrayAttr(attributes);
  };
  module->setAttr(kConstantsAttr, list(constants));
  module->setAttr(kParametersAttr, list(parameters));
  module->setAttr(kVariablesAttr, builder.getArrayAttr(variableEntries));
  return success();
}

} // namespace xc::plan
