//===- VerifyAttributes.cpp - Attributes of dialects unknown ------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Input/VerifyAttributes.h"

using namespace mlir;

namespace xc {

/// Edits that turn a misspelt dialect into ours.
static constexpr unsigned kMostEdits = 2;

static StringRef getDialectName(NamedAttribute attribute) {
  return attribute.getName().getValue().split('.').first;
}

/// A dialect that is known looks at its own attributes.
static bool isOfUnknownDialect(MLIRContext *context, NamedAttribute attribute) {
  return attribute.getName().getValue().contains('.') &&
         !context->getOrLoadDialect(getDialectName(attribute));
}

static bool isMisspelt(NamedAttribute attribute) {
  return getDialectName(attribute).edit_distance("array", /*AllowReplacements=*/true, kMostEdits) <=
         kMostEdits;
}

static LogicalResult refuse(Operation *op, NamedAttribute attribute, const Twine &place) {
  auto [dialect, word] = attribute.getName().getValue().split('.');
  return op->emitError() << "attribute '" << attribute.getName().getValue() << "' of " << place
                         << ": dialect '" << dialect << "' is unknown; did you mean 'array." << word
                         << "'?";
}

static LogicalResult verifyAttribute(func::FuncOp func, NamedAttribute attribute,
                                     const Twine &place) {
  if (!isOfUnknownDialect(func.getContext(), attribute))
    return success();
  if (isMisspelt(attribute))
    return refuse(func, attribute, place);
  func.emitWarning() << "attribute '" << attribute.getName().getValue() << "' of " << place
                     << " has no effect: dialect '" << getDialectName(attribute) << "' is unknown";
  return success();
}

/// Ops of other exporters carry many attributes of theirs, so only what is misspelt is said.
static LogicalResult verifyBody(func::FuncOp func) {
  WalkResult walk = func.getBody().walk([](Operation *op) -> WalkResult {
    for (NamedAttribute attribute : op->getDiscardableAttrs())
      if (isOfUnknownDialect(op->getContext(), attribute) && isMisspelt(attribute))
        return refuse(op, attribute, "'" + op->getName().getStringRef() + "'");
    return success();
  });
  return failure(walk.wasInterrupted());
}

LogicalResult verifyAttributes(func::FuncOp func) {
  StringRef name = func.getName();
  for (NamedAttribute attribute : func->getDiscardableAttrs())
    if (failed(verifyAttribute(func, attribute, "'" + name + "'")))
      return failure();
  for (unsigned index = 0; index < func.getNumArguments(); ++index)
    for (NamedAttribute attribute : function_interface_impl::getArgAttrs(func, index))
      if (failed(
              verifyAttribute(func, attribute, "argument " + Twine(index) + " of '" + name + "'")))
        return failure();
  for (unsigned index = 0; index < func.getNumResults(); ++index)
    for (NamedAttribute attribute : function_interface_impl::getResultAttrs(func, index))
      if (failed(verifyAttribute(func, attribute, "result " + Twine(index) + " of '" + name + "'")))
        return failure();
  return verifyBody(func);
}

} // namespace xc
