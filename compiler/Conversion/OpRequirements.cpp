//===- OpRequirements.cpp - What a module's ops require of sizes -----------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/OpRequirements.h"

#include "compiler/Conversion/RequireSizes.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace xc {

/// Of a linalg op of the input, which may say any index: array ops make maps that are within their
/// operands.
static LogicalResult requireIndicesOfInput(array::RequirementBuilder &requirements,
                                           linalg::LinalgOp op) {
  if (failed(requireIndices(requirements, op)))
    return failure();
  op->walk([&](tensor::ExtractOp extract) {
    if (extract->getParentOfType<linalg::LinalgOp>() == op)
      requireElements(requirements, extract);
  });
  return success();
}

LogicalResult stateRequirements(Operation *op, array::RequirementBuilder &requirements) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case(
          [&](linalg::LinalgOp linalgOp) { return requireIndicesOfInput(requirements, linalgOp); })
      .Case([&](tensor::ExtractSliceOp slice) {
        requireSlice(requirements, slice, slice.getSource());
        return success();
      })
      .Case([&](tensor::InsertSliceOp slice) {
        requireSlice(requirements, slice, slice.getDest());
        requireInsertion(requirements, slice);
        return success();
      })
      .Case([&](tensor::ExpandShapeOp expand) {
        requireExpansion(requirements, expand);
        return success();
      })
      .Case([&](array::RequirementOpInterface arrayOp) {
        arrayOp.reifyRequirements(requirements);
        return success();
      })
      .Default([](Operation *) { return success(); });
}

LogicalResult stateRequirements(ModuleOp module) {
  WalkResult walk = module.walk([&](Operation *op) {
    OpBuilder builder(op);
    array::RequirementBuilder requirements(builder, op);
    return failed(stateRequirements(op, requirements)) ? WalkResult::interrupt()
                                                       : WalkResult::advance();
  });
  return failure(walk.wasInterrupted());
}

} // namespace xc
