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

LineSizes<plan::FormulaAttr> getLineSizes(Operation *op, KernelSizes &sizes) {
  return splitLines<plan::FormulaAttr>(op, sizes,
                                       [&](Value tensor) { return sizes.getSizes(tensor); });
}

} // namespace xc::cuda
