//===- Report.h - What became of each kernel ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_TOOLS_XCOMPILE_REPORT_H
#define XC_TOOLS_XCOMPILE_REPORT_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/raw_ostream.h"

namespace xc {

/// One line for each function: its launches and peak memory. Always printed.
void printSummary(mlir::ModuleOp module, llvm::raw_ostream &stream);

/// Each kernel of each target: source locations, strategy and why, launches, bytes, FLOPs, and what
/// codegen knows.
void printReport(mlir::ModuleOp module, bool json, llvm::raw_ostream &stream);

} // namespace xc

#endif // XC_TOOLS_XCOMPILE_REPORT_H
