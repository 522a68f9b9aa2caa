//===- Report.h - What became of each kernel ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_TOOLS_XCOMPILE_REPORT_H
#define XC_TOOLS_XCOMPILE_REPORT_H

#include "tools/xcompile/Options.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/raw_ostream.h"

namespace xc {

/// One line for each function: its launches and peak memory. Always printed.
void printSummary(mlir::ModuleOp module, llvm::raw_ostream &stream);

/// Each kernel of each target: source locations, strategy and why, launches, bytes, FLOPs, what
/// codegen knows, and what fusion saved; with `ReportKind::Fusion` and as JSON each join and
/// refusal.
void printReport(mlir::ModuleOp module, ReportKind kind, llvm::raw_ostream &stream);

} // namespace xc

#endif // XC_TOOLS_XCOMPILE_REPORT_H
