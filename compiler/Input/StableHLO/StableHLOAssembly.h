//===- StableHLOAssembly.h - Parts of the ops' own syntax -------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_INPUT_STABLEHLO_STABLEHLOASSEMBLY_H
#define XC_INPUT_STABLEHLO_STABLEHLOASSEMBLY_H

#include "compiler/Input/StableHLO/StableHLO.h"

namespace xc::stablehlo {

/// `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`
mlir::ParseResult parseConvDims(mlir::AsmParser &parser, ConvAttr &dims);
void printConvDims(mlir::AsmPrinter &printer, ConvAttr dims);

} // namespace xc::stablehlo

#endif // XC_INPUT_STABLEHLO_STABLEHLOASSEMBLY_H
