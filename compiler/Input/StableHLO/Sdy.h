//===- Sdy.h - Shardings, to be read and dropped ----------------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_INPUT_STABLEHLO_SDY_H
#define XC_INPUT_STABLEHLO_SDY_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "compiler/Input/StableHLO/SdyOpsDialect.h.inc"
#define GET_ATTRDEF_CLASSES
#include "compiler/Input/StableHLO/SdyOpsAttrs.h.inc"
#define GET_OP_CLASSES
#include "compiler/Input/StableHLO/SdyOps.h.inc"

#endif // XC_INPUT_STABLEHLO_SDY_H
