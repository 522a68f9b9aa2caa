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

/// `[1, 2]`, in either form of attribute that an op may have them in.
mlir::ParseResult parseNumbers(mlir::OpAsmParser &parser, mlir::Attribute &numbers);
void printNumbers(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::Attribute numbers);

} // namespace xc::stablehlo

#endif // XC_INPUT_STABLEHLO_STABLEHLOASSEMBLY_H
