//===- TMTensor.h - What stands beside linalg in Torch-MLIR -----*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_INPUT_TMTENSOR_TMTENSOR_H
#define XC_INPUT_TMTENSOR_TMTENSOR_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "compiler/Input/TMTensor/TMTensorOpsDialect.h.inc"
#define GET_OP_CLASSES
#include "compiler/Input/TMTensor/TMTensorOps.h.inc"

#endif // XC_INPUT_TMTENSOR_TMTENSOR_H
