//===- VerifySlices.cpp - Numbers that name places of tensors -------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The verifiers of tensor and linalg look at attributes only, and only where dims are static. Here
// an index counts as a constant wherever it comes from.
//
//===----------------------------------------------------------------------===//

#include "compiler/Input/VerifySlices.h"
#include "compiler/Dialect/Array/IR/Sizes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace xc {

/// A number of an op, where it is known, lies in [least, most].
static LogicalResult verifyNumber(Operation *op, OpFoldResult number, StringRef what, size_t dim,
                                  int64_t least, int64_t most) {
  std::optional<int64_t> known = getConstantIntValue(number);
  if (!known || (*known >= least && *known <= most))
    return success();
  return op->emitError() << "'" << op->getName() << "' expected " << what << " of dim " << dim
                         << " in [" << least << ", " << most << "], got " << *known;
}

static LogicalResult verifySlice(OffsetSizeAndStrideOpInterface op, RankedTensorType whole) {
  for (auto [dim, offset, size, stride] :
       llvm::enumerate(op.getMixedOffsets(), op.getMixedSizes(), op.getMixedStrides())) {
    if (failed(verifyNumber(op, offset, "an offset", dim, 0, array::kMostElements)) ||
        failed(verifyNumber(op, size, "a size", dim, 0, array::kMostElements)) ||
        failed(verifyNumber(op, stride, "a stride", dim, 1, array::kMostElements)))
      return failure();
    std::optional<int64_t> first = getConstantIntValue(offset), count = getConstantIntValue(size),
                           step = getConstantIntValue(stride);
    if (!first || !count || !step || *count == 0)
      continue;
    std::optional<int64_t> span = array::mulSizes(*count - 1, *step),
                           last = span ? array::addSizes(*first, *span) : std::nullopt;
    int64_t room = whole.isDynamicDim(dim) ? array::kMostElements : whole.getDimSize(dim);
    if (last && *last < room)
      continue;
    return op->emitError() << "'" << op->getName() << "' expected a slice within dim " << dim
                           << " of " << whole << ", got offset " << *first << ", size " << *count
                           << " and stride " << *step;
  }
  return success();
}

static LogicalResult verifyPad(tensor::PadOp op) {
  for (auto [dim, low, high] : llvm::enumerate(op.getMixedLowPad(), op.getMixedHighPad()))
    if (failed(verifyNumber(op, low, "a low padding", dim, 0, array::kMostAmount)) ||
        failed(verifyNumber(op, high, "a high padding", dim, 0, array::kMostAmount)))
      return failure();
  return success();
}

/// Strides and dilations of named ops, which their indexing maps multiply loops by.
static LogicalResult verifyWindow(linalg::LinalgOp op) {
  for (StringRef name : {"strides", "dilations"}) {
    auto numbers = op->getAttrOfType<DenseIntElementsAttr>(name);
    if (!numbers)
      continue;
    for (auto [dim, number] : llvm::enumerate(numbers.getValues<int64_t>()))
      if (number < 1 || number > array::kMostAmount)
        return op->emitError() << "'" << op->getName() << "' expected " << name << " in [1, "
                               << array::kMostAmount << "], got " << number << " for dim " << dim
                               << " of the window";
  }
  return success();
}

LogicalResult verifySliceNumbers(Operation *op) {
  if (auto extract = dyn_cast<tensor::ExtractSliceOp>(op))
    return verifySlice(extract, extract.getSourceType());
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
    return verifySlice(insert, insert.getDestType());
  if (auto pad = dyn_cast<tensor::PadOp>(op))
    return verifyPad(pad);
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return verifyWindow(linalgOp);
  return success();
}

} // namespace xc
