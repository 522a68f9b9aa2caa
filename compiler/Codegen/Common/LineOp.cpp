//===- LineOp.cpp - A scan or sort of a kernel ----------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/Common/LineOp.h"

#include "compiler/Dialect/Kernel/IR/KernelOps.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace xc::codegen {

/// The dim beside `lineDims`, which are in order.
static int64_t findAxis(ArrayRef<int64_t> lineDims) {
  for (auto [dim, lineDim] : llvm::enumerate(lineDims))
    if (static_cast<int64_t>(dim) != lineDim)
      return dim;
  return lineDims.size();
}

template <typename Op> static LineOp describe(Op op) {
  SmallVector<int64_t> lineDims = op.getLineDims();
  return {op, findAxis(lineDims), lineDims, /*segment=*/0, /*givesTotals=*/false};
}

std::optional<LineOp> matchLineOp(Operation *op) {
  if (!op)
    return std::nullopt;
  return llvm::TypeSwitch<Operation *, std::optional<LineOp>>(op)
      .Case<kernel::ScanOp>([](auto scan) {
        LineOp lines = describe(scan);
        lines.segment = scan.getSegment();
        lines.givesTotals = scan.getTotals();
        return lines;
      })
      .Case<kernel::SortOp>([](auto sort) {
        LineOp lines = describe(sort);
        lines.segment = sort.getSegment();
        return lines;
      })
      .Case<kernel::MergeOp, kernel::CountDigitsOp, kernel::SortDigitOp>(
          [](auto step) { return describe(step); })
      .Default([](Operation *) { return std::nullopt; });
}

} // namespace xc::codegen
