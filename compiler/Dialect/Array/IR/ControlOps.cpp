//===- ControlOps.cpp - Choices and loops that depend on data -------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/ArrayOps.h"

using namespace mlir;

namespace xc::array {

/// Checks that what `region` yields can stand for values of `types`.
static LogicalResult verifyYield(Operation *op, Region &region, StringRef name, TypeRange types) {
  auto yield = cast<YieldOp>(region.front().getTerminator());
  if (yield.getValues().size() == types.size() &&
      areCompatibleTypes(yield.getValues().getTypes(), types))
    return success();
  InFlightDiagnostic diagnostic = op->emitOpError("expected its ")
                                  << name << " to yield (" << types << "), got ("
                                  << yield.getValues().getTypes() << ")";
  diagnostic.attachNote(yield.getLoc()) << "yielded here";
  return diagnostic;
}

/// Checks that the arguments of `region` can stand for values of `types`.
static LogicalResult verifyArguments(Operation *op, Region &region, StringRef name,
                                     TypeRange types) {
  TypeRange arguments = region.front().getArgumentTypes();
  if (arguments.size() == types.size() && areCompatibleTypes(arguments, types))
    return success();
  return op->emitOpError("expected its ")
         << name << " to take (" << types << "), got (" << arguments << ")";
}

LogicalResult IfOp::verifyRegions() {
  if (failed(verifyYield(*this, getThenRegion(), "first region", getResultTypes())))
    return failure();
  return verifyYield(*this, getElseRegion(), "second region", getResultTypes());
}

LogicalResult WhileOp::verifyRegions() {
  TypeRange inits = getInits().getTypes();
  if (getNumResults() != inits.size() || !areCompatibleTypes(getResultTypes(), inits))
    return emitOpError("expected results of the types of its inits (")
           << inits << "), got (" << getResultTypes() << ")";
  if (inits.empty())
    return emitOpError("expected at least one value that the loop changes, got none");
  Type truth = RankedTensorType::get({}, IntegerType::get(getContext(), 1));
  if (failed(verifyArguments(*this, getCondition(), "condition", inits)) ||
      failed(verifyArguments(*this, getBody(), "body", inits)) ||
      failed(verifyYield(*this, getCondition(), "condition", truth)))
    return failure();
  return verifyYield(*this, getBody(), "body", inits);
}

} // namespace xc::array
