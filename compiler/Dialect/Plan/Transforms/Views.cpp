//===- Views.cpp - Ops that only look at memory in another way ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Plan/Transforms/Views.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace xc::plan {

bool isContiguousSlice(tensor::ExtractSliceOp slice) {
  auto source = slice.getSourceType();
  bool mustBeWhole = false;
  for (int64_t dim = 0; dim < source.getRank(); ++dim) {
    if (getConstantIntValue(slice.getMixedStrides()[dim]) != 1)
      return false;
    std::optional<int64_t> size = getConstantIntValue(slice.getMixedSizes()[dim]);
    if (mustBeWhole) {
      if (!size || source.isDynamicDim(dim) || *size != source.getDimSize(dim))
        return false;
    } else if (!size || *size != 1) {
      mustBeWhole = true;
    }
  }
  return true;
}

bool isFarSlice(Value tensor) {
  if (auto expand = tensor.getDefiningOp<tensor::ExpandShapeOp>())
    tensor = expand.getSrc();
  auto slice = tensor.getDefiningOp<tensor::ExtractSliceOp>();
  return slice && !isContiguousSlice(slice);
}

bool isView(Operation *op) {
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return isContiguousSlice(slice);
  return isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp>(op);
}

Value getRoot(Value tensor) {
  while (Operation *op = tensor.getDefiningOp()) {
    if (!isView(op))
      break;
    tensor = op->getOperand(0);
  }
  return tensor;
}

bool isWholeRoot(Value tensor) {
  while (Operation *op = tensor.getDefiningOp()) {
    if (!isView(op))
      return true;
    if (isa<tensor::ExtractSliceOp>(op))
      return false;
    tensor = op->getOperand(0);
  }
  return true;
}

} // namespace xc::plan
