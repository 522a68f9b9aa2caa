//===- CPUDialect.h - The cpu dialect's C++ face ----------------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CPU_CPUDIALECT_H
#define XC_CODEGEN_CPU_CPUDIALECT_H

#include "compiler/Dialect/Plan/IR/PlanOps.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "compiler/Codegen/CPU/CPUDialectDialect.h.inc"
#define GET_ATTRDEF_CLASSES
#include "compiler/Codegen/CPU/CPUDialectAttrs.h.inc"
#define GET_OP_CLASSES
#include "compiler/Codegen/CPU/CPUDialect.h.inc"

#endif // XC_CODEGEN_CPU_CPUDIALECT_H
