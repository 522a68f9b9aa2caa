//===- PlanAttrs.cpp - Checks of the plan dialect's attributes ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Plan/IR/PlanOps.h"

#include "mlir/IR/Diagnostics.h"

using namespace mlir;

namespace xc::plan {

LogicalResult LaunchAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 ArrayRef<FormulaAttr> grid, ArrayRef<int64_t> block,
                                 ArrayRef<int64_t> cluster, int64_t shared, int64_t scratch) {
  if (grid.size() != 3)
    return emitError() << "expected a grid of 3 formulas, got " << grid.size();
  if (block.size() != 3 || cluster.size() != 3)
    return emitError() << "expected 3 block and 3 cluster dims, got " << block.size() << " and "
                       << cluster.size();
  for (int64_t dim : block)
    if (dim < 1)
      return emitError() << "expected positive block dims, got " << dim;
  for (int64_t dim : cluster)
    if (dim < 1)
      return emitError() << "expected positive cluster dims, got " << dim;
  if (shared < 0 || scratch < 0)
    return emitError() << "expected sizes that are not negative, got shared = " << shared
                       << ", scratch = " << scratch;
  return success();
}

LogicalResult PartialAttr::verify(function_ref<InFlightDiagnostic()> emitError, Split split,
                                  int64_t number) {
  bool hasNumber = split != Split::Slices && split != Split::Rest;
  if (hasNumber ? number > 0 : number == 0)
    return success();
  return emitError() << "expected " << (hasNumber ? "a positive number" : "no number")
                     << " behind '" << stringifySplit(split) << "', got " << number;
}

} // namespace xc::plan
