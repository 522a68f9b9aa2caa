//===- PlanOps.h - The plan dialect's C++ face ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_PLAN_IR_PLANOPS_H
#define XC_DIALECT_PLAN_IR_PLANOPS_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/DenseMap.h"

#include <optional>

#include "compiler/Dialect/Plan/IR/PlanAttrsInterfaces.h.inc"
#include "compiler/Dialect/Plan/IR/PlanOpsDialect.h.inc"
#include "compiler/Dialect/Plan/IR/PlanOpsEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "compiler/Dialect/Plan/IR/PlanOpsAttrs.h.inc"
#define GET_OP_CLASSES
#include "compiler/Dialect/Plan/IR/PlanOps.h.inc"

namespace xc::plan {

/// Whether the operands of `kind` may change places.
bool commutes(FormulaKind kind);

inline FormulaAttr operator-(int64_t number, FormulaAttr formula) { return formula * -1 + number; }

/// Discardable attributes of kernel modules and kernel functions; docs/architecture.md says who
/// sets them.
inline constexpr llvm::StringLiteral kTargetAttr = "plan.target"; // #plan.target, on kernel modules
inline constexpr llvm::StringLiteral kKernelAttr = "plan.kernel"; // unit, on kernel modules
inline constexpr llvm::StringLiteral kLaunchAttr =
    "plan.launch"; // #plan.launch_config, on kernel functions
inline constexpr llvm::StringLiteral kGuardsAttr =
    "plan.guards"; // array of guards, on kernel functions
inline constexpr llvm::StringLiteral kConfigAttr = "lowering_config"; // on kernel functions
/// i64, on an argument of a region's function: bytes that its address is a multiple of.
inline constexpr llvm::StringLiteral kAlignmentAttr = "plan.alignment";
/// #plan.partial, on a reduction to partial results, which another kernel combines.
inline constexpr llvm::StringLiteral kPartialAttr = "plan.partial";
/// Integer, on a reduction that picks the best of results with their positions: the number of the
/// operand that holds the positions, which ascend along the reduced loop.
inline constexpr llvm::StringLiteral kPositionAttr = "plan.position";
inline constexpr llvm::StringLiteral kLayoutsAttr = "plan.layouts"; // string, on functions
inline constexpr llvm::StringLiteral kReasonAttr = "plan.reason";   // string, on kernel functions
inline constexpr llvm::StringLiteral kImageAttr =
    "plan.image"; // string of bytes, on kernel modules
inline constexpr llvm::StringLiteral kAssemblyAttr = "plan.assembly"; // string, on kernel modules
/// On kernel modules: how many bindings and scalars a dispatch brings, what the bindings are, what
/// the kernel costs, and which source locations it is of.
inline constexpr llvm::StringLiteral kCountsAttr = "plan.counts";
inline constexpr llvm::StringLiteral kOperandsAttr = "plan.operands";
inline constexpr llvm::StringLiteral kBytesAttr = "plan.bytes";
inline constexpr llvm::StringLiteral kFlopsAttr = "plan.flops";
inline constexpr llvm::StringLiteral kLocationsAttr = "plan.locations";
/// A dictionary for each variant of a kernel, on its module.
inline constexpr llvm::StringLiteral kExportsAttr = "plan.exports";
/// What a module file holds beside code, on the module of a target.
inline constexpr llvm::StringLiteral kConstantsAttr = "plan.constants";
inline constexpr llvm::StringLiteral kParametersAttr = "plan.parameters";
inline constexpr llvm::StringLiteral kVariablesAttr = "plan.variables";

/// What `op` is compiled for: `plan.target` of the nearest module around it, or of `op` itself if
/// it is one. Null where that module has none.
TargetAttr getTarget(mlir::Operation *op);

} // namespace xc::plan

#endif // XC_DIALECT_PLAN_IR_PLANOPS_H
