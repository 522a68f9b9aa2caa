//===- StateRequirements.cpp - What a module's ops demand of sizes --------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/StateRequirements.h"

#include "compiler/Conversion/ArrayToLinalg.h"
#include "compiler/Conversion/RequireSizes.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace xc {

/// Array ops make maps that are within their operands; those of the input may say anything.
static LogicalResult requireIndicesOfInput(ModuleOp module) {
  WalkResult walk = module.walk([](linalg::LinalgOp op) {
    OpBuilder builder(op);
    return failed(requireIndices(builder, op)) ? WalkResult::interrupt() : WalkResult::advance();
  });
  module.walk([](OffsetSizeAndStrideOpInterface op) {
    OpBuilder builder(op);
    if (auto extract = dyn_cast<tensor::ExtractSliceOp>(*op))
      requireSlice(builder, op, extract.getSource());
    if (auto insert = dyn_cast<tensor::InsertSliceOp>(*op)) {
      requireSlice(builder, op, insert.getDest());
      requireInsertion(builder, insert);
    }
  });
  module.walk([](tensor::ExpandShapeOp op) {
    OpBuilder builder(op);
    requireExpansion(builder, op);
  });
  module.walk([](tensor::ExtractOp op) {
    if (auto body = op->getParentOfType<linalg::LinalgOp>()) {
      OpBuilder builder(body);
      requireElements(builder, op);
    }
  });
  return failure(walk.wasInterrupted());
}

LogicalResult stateRequirements(ModuleOp module, array::RequirementScope scope) {
  if (failed(requireIndicesOfInput(module)))
    return failure();
  module.walk([&](array::RequirementOpInterface op) {
    OpBuilder builder(op);
    array::RequirementBuilder requirements(builder, op, scope);
    op.reifyRequirements(requirements);
  });
  return success();
}

} // namespace xc
