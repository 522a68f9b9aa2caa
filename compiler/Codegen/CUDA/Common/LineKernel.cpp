//===- LineKernel.cpp - Kernels of one scan or sort -----------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Common/LineKernel.h"

#include "compiler/Codegen/Common/LineOp.h"

using namespace mlir;

namespace xc::cuda {

std::optional<LineKernel> matchLineKernel(const KernelInfo &kernel) {
  if (kernel.outputs.empty())
    return std::nullopt;
  std::optional<codegen::LineOp> op =
      codegen::matchLineOp(kernel.outputs.front().tensor.getDefiningOp());
  if (!op || kernel.outputs.size() != op->op->getNumResults())
    return std::nullopt;
  LineKernel lines{op->op, /*results=*/{}};
  for (Value result : lines.op->getResults())
    for (const KernelOutput &output : kernel.outputs)
      if (output.tensor == result)
        lines.results.push_back(output.binding);
  if (lines.results.size() != lines.op->getNumResults())
    return std::nullopt;
  return lines;
}

LineShape getLineShape(Operation *op, PointEmitter &points) {
  IndexBuilder &index = points.index;
  std::optional<codegen::LineOp> lines = codegen::matchLineOp(op);
  assert(lines && "an op on lines");
  SmallVector<Value> sizes = points.getSizes(op->getOperand(0));
  ArrayRef<Value> all(sizes);
  LineShape shape;
  shape.outer = index.product(all.take_front(lines->axis));
  shape.length = sizes[lines->axis];
  shape.inner = index.product(all.drop_front(lines->axis + 1));
  shape.segment = lines->segment ? index.constant(lines->segment) : shape.length;
  shape.segments = lines->segment ? index.ceilDiv(shape.length, index.constant(lines->segment))
                                  : index.constant(1);
  // The last segment has no total.
  if (lines->givesTotals)
    shape.segments = points.getSizes(cast<kernel::ScanOp>(op).getDest())[lines->axis];
  return shape;
}

} // namespace xc::cuda
