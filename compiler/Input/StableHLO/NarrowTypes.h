//===- NarrowTypes.h - Programs without numbers of few bits -----*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_INPUT_STABLEHLO_NARROWTYPES_H
#define XC_INPUT_STABLEHLO_NARROWTYPES_H

#include "compiler/Input/Unsupported.h"

#include "mlir/IR/BuiltinOps.h"

namespace xc::stablehlo_import {

/// Holds the numbers of `module` that have few bits, or are quantized, in types of array ops. A
/// public function has ui8 for floats of few bits, which are their bits, i8 or ui8 for integers,
/// and the storage type for quantized numbers. Ops that are not supported on them are added to
/// `unsupported`; whether there are none.
bool widenNarrowTypes(mlir::ModuleOp module, UnsupportedOps &unsupported);

} // namespace xc::stablehlo_import

#endif // XC_INPUT_STABLEHLO_NARROWTYPES_H
