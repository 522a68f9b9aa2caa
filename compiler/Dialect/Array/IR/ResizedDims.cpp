//===- ResizedDims.cpp - Shapes in which some dims have other sizes -===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/ResizedDims.h"

using namespace mlir;

namespace xc::array {

LogicalResult inferResized(const RuleContext &rule, Type operand, ArrayRef<int64_t> axes,
                           ArrayRef<int64_t> sizes, ValueRange dynamicSizes,
                           SmallVectorImpl<Type> &inferred) {
  auto type = cast<RankedTensorType>(operand);
  if (failed(checkAxes(rule, axes, type.getRank())))
    return failure();
  if (axes.size() != sizes.size())
    return rule.error("expected a size for each of axes ", formatDims(axes), ", got ",
                      formatDims(sizes));
  size_t dynamic = llvm::count_if(sizes, ShapedType::isDynamic);
  if (dynamic != dynamicSizes.size())
    return rule.error("expected ", dynamic, " values for sizes ", formatDims(sizes), ", got ",
                      dynamicSizes.size());
  Dims shape(type.getShape());
  for (auto [axis, size] : llvm::zip_equal(axes, sizes)) {
    if (size < 0 && !ShapedType::isDynamic(size))
      return rule.error("expected sizes that are not negative, got ", formatDims(sizes));
    shape[axis] = size;
  }
  inferred.push_back(RankedTensorType::get(shape, type.getElementType()));
  return success();
}

LogicalResult reifyResized(Operation *op, Value operand, ArrayRef<int64_t> axes,
                           ArrayRef<OpFoldResult> sizes, SizeBuilder &sizeBuilder,
                           ReifiedRankedShapedTypeDims &shapes) {
  SmallVector<OpFoldResult> all = sizeBuilder.sizes(operand);
  for (auto [axis, size] : llvm::zip_equal(axes, sizes))
    all[axis] = size;
  return reifyAs(cast<RankedTensorType>(op->getResult(0).getType()), std::move(all), sizeBuilder,
                 shapes);
}

} // namespace xc::array
