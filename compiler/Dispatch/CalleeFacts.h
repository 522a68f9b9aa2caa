//===- CalleeFacts.h - What functions are told of their arguments -*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DISPATCH_CALLEEFACTS_H
#define XC_DISPATCH_CALLEEFACTS_H

#include "compiler/Dialect/Plan/Transforms/SymbolicDims.h"

namespace xc::plan {

/// Tells the functions that are regions of `op`, an if or a loop, how their captures are aligned
/// and what the sizes of their arguments are around it: equal formulas get one name, and what is
/// known of a formula is known of its name.
void recordCalleeFacts(mlir::Operation *op, SymbolicDims &dims, const mlir::SymbolTable &symbols);

/// Writes the symbols' names into the arguments' `array.dims`, so that dims which ops require to be
/// equal stay one symbol when those ops are gone; and what is known of all of a symbol's names.
void recordSymbols(mlir::func::FuncOp func, SymbolicDims &dims);

} // namespace xc::plan

#endif // XC_DISPATCH_CALLEEFACTS_H
