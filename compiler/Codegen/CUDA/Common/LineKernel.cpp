//===- LineKernel.cpp - Kernels of one scan or sort -----------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Common/LineKernel.h"

using namespace mlir;

namespace xc::cuda {

std::optional<LineKernel> matchLineKernel(const KernelInfo &kernel) {
  if (kernel.outputs.empty())
    return std::nullopt;
  Operation *op = kernel.outputs.front().tensor.getDefiningOp();
  if (!isa_and_nonnull<kernel::CountDigitsOp, kernel::MergeOp, kernel::ScanOp, kernel::SortDigitOp,
                       kernel::SortOp>(op) ||
      kernel.outputs.size() != op->getNumResults())
    return std::nullopt;
  LineKernel lines{op, {}};
  for (Value result : op->getResults())
    for (const KernelOutput &output : kernel.outputs)
      if (output.tensor == result)
        lines.results.push_back(output.binding);
  if (lines.results.size() != op->getNumResults())
    return std::nullopt;
  return lines;
}

LineShape getLineShape(Operation *op, PointEmitter &points) {
  IndexBuilder &index = points.index;
  auto scan = dyn_cast<kernel::ScanOp>(op);
  auto sort = dyn_cast<kernel::SortOp>(op);
  SmallVector<Value> sizes = points.getSizes(op->getOperand(0));
  ArrayRef<Value> all(sizes);
  size_t axis = scan ? scan.getAxis() : sizes.size() - 1;
  LineShape shape;
  shape.outer = index.product(all.take_front(axis));
  shape.length = sizes[axis];
  shape.inner = index.product(all.drop_front(axis + 1));
  int64_t segment = scan ? scan.getSegment() : sort ? sort.getSegment() : 0;
  shape.segment = segment ? index.constant(segment) : shape.length;
  shape.segments =
      segment ? index.ceilDiv(shape.length, index.constant(segment)) : index.constant(1);
  // The last segment has no total.
  if (scan && scan.getTotals())
    shape.segments = points.getSizes(scan.getDest())[axis];
  return shape;
}

} // namespace xc::cuda
