//===- ArrayOps.h - Everything the array dialect declares -*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_ARRAY_IR_ARRAYOPS_H
#define XC_DIALECT_ARRAY_IR_ARRAYOPS_H

#include "compiler/Dialect/Array/IR/ArrayDialect.h"
#include "compiler/Dialect/Array/IR/ElementwiseFolds.h"
#include "compiler/Dialect/Array/IR/ShapeRules.h"
#include "compiler/Dialect/Array/IR/Windows.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace mlir {
class PatternRewriter;
} // namespace mlir

namespace xc::array {

/// The memory that variables live in. Nothing else touches it.
struct VariableResource : public mlir::SideEffects::Resource::Base<VariableResource> {
  llvm::StringRef getName() final { return "array.variable"; }
};

} // namespace xc::array

#include "compiler/Dialect/Array/IR/ArrayInterfaces.h.inc"
#include "compiler/Dialect/Array/IR/ArrayOpsEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "compiler/Dialect/Array/IR/ArrayOpsAttrs.h.inc"

#define GET_OP_CLASSES
#include "compiler/Dialect/Array/IR/ArrayOps.h.inc"

namespace xc::array {

/// The most static type that the result of `op` can be given, from constant sizes
/// and, for a reshape, from the number of elements. `remaining` gets the sizes
/// that the type then needs. The type that `op` has, where nothing more is known.
mlir::RankedTensorType refineSizedType(ArraySizedOpInterface op,
                                       llvm::SmallVectorImpl<mlir::Value> &remaining);

/// Checks the element type of a product's result, and that tf32 is allowed for f32 only.
mlir::LogicalResult verifyProduct(mlir::Operation *op, bool allowTf32);
/// Checks that elements of this type can be reduced so.
mlir::LogicalResult verifyReduction(mlir::Operation *op, ReduceKind kind, mlir::Type element);

} // namespace xc::array

#endif // XC_DIALECT_ARRAY_IR_ARRAYOPS_H
