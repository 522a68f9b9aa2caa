//===- StableHLO.h - The dialects that JAX prints ---------------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops and attributes of `stablehlo` and `chlo`, written from their specification, to be parsed and
// imported. Enumerations are one attribute (a kind and a word), and so are all that have named
// fields, so that the text of a newer release parses, too.
//
//===----------------------------------------------------------------------===//

#ifndef XC_INPUT_STABLEHLO_STABLEHLO_H
#define XC_INPUT_STABLEHLO_STABLEHLO_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "compiler/Input/StableHLO/StableHLOOpsDialect.h.inc"
#define GET_ATTRDEF_CLASSES
#include "compiler/Input/StableHLO/StableHLOOpsAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "compiler/Input/StableHLO/StableHLOOpsTypes.h.inc"

namespace xc::stablehlo {

/// Lists are written `array<i64: 1, 2>`, by older releases `dense<[1, 2]> : tensor<2xi64>`.
bool isNumbers(mlir::Attribute attribute);
bool isNumberTable(mlir::Attribute attribute);
bool isFlags(mlir::Attribute attribute);
bool isWord(mlir::Attribute attribute, llvm::StringRef kind);
bool isRecord(mlir::Attribute attribute, llvm::StringRef kind);

/// The numbers of a list or table, row by row; empty where there is no attribute.
llvm::SmallVector<int64_t> getNumbers(mlir::Attribute attribute);
llvm::SmallVector<bool> getFlags(mlir::Attribute attribute);
/// The same, or `count` times `otherwise` where there is no attribute.
llvm::SmallVector<int64_t> getNumbers(mlir::Attribute attribute, size_t count, int64_t otherwise);

/// Whether `op` is a custom call that is its operand, as marks for several devices are.
bool isMark(mlir::Operation *op);

mlir::LogicalResult verifySameTypeButScales(mlir::Operation *op);

/// Operands and results have one type, but that scales of quantized numbers may differ.
template <typename ConcreteOp>
class SameTypeButScales : public mlir::OpTrait::TraitBase<ConcreteOp, SameTypeButScales> {
public:
  static mlir::LogicalResult verifyTrait(mlir::Operation *op) {
    return verifySameTypeButScales(op);
  }
};

} // namespace xc::stablehlo

#define GET_OP_CLASSES
#include "compiler/Input/StableHLO/StableHLOOps.h.inc"

#include "compiler/Input/StableHLO/CHLOOpsDialect.h.inc"
#define GET_OP_CLASSES
#include "compiler/Input/StableHLO/CHLOOps.h.inc"

#endif // XC_INPUT_STABLEHLO_STABLEHLO_H
