//===- LineOp.h - A scan or sort of a kernel ------------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_COMMON_LINEOP_H
#define XC_CODEGEN_COMMON_LINEOP_H

#include "mlir/IR/Operation.h"

#include <optional>

namespace xc::codegen {

/// An op that treats the lines of its operands each on its own: a scan, a sort, or a step of one.
struct LineOp {
  mlir::Operation *op;
  /// The dim of the operands that the elements of a line lie along.
  int64_t axis;
  /// The other dims, which count lines.
  llvm::SmallVector<int64_t> lineDims;
  /// How many elements of a line are scanned or sorted together; 0 if all of them are.
  int64_t segment;
  /// True for a scan that gives the total of each segment, but the last one.
  bool givesTotals;
};

/// Nothing if `op`, which may be null, is anything else.
std::optional<LineOp> matchLineOp(mlir::Operation *op);

} // namespace xc::codegen

#endif // XC_CODEGEN_COMMON_LINEOP_H
