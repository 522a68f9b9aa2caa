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

static LogicalResult verifyAttribute(func::FuncOp func, NamedAttribute attribute,
                                     const Twine &place) {
  StringRef name = attribute.getName().getValue();
  auto [dialect, word] = name.split('.');
  if (word.empty() || func.getContext()->getOrLoadDialect(dialect))
    return success(); // the dialect's own verifier looks at it
  if (dialect.edit_distance("array", /*AllowReplacements=*/true, kMostEdits) <= kMostEdits)
    return func.emitError() << "attribute '" << name << "' of " << place << ": dialect '" << dialect
                            << "' is unknown; did you mean 'array." << word << "'?";
  func.emitWarning() << "attribute '" << name << "' of " << place << " has no effect: dialect '"
                     << dialect << "' is unknown";
  return success();
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
  return success();
}

} // namespace xc
