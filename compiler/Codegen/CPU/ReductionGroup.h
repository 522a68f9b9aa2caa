//===- ReductionGroup.h - Reductions that run point by point ----*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel whose reductions all keep the same dims can be computed one kept point after another:
// softmax keeps the rows, and all that happens to one row is independent of the others. Here a
// kernel is taken apart into steps, each a loop nest over what it does not keep. Sizes are formulas
// over the kernel's scalars: the analysis builds no ops.
//
// The CUDA analysis of the same name (CUDA/Common/ReductionGroup.h) asks for more: that all members
// and results lie in one space, since a block goes over a row of it once, and it sorts what the row
// reads. Here steps may have spaces of their own, and producers are computed wherever a step wants
// them. What both match, the combiner of a reduction and the sizes of loops, is in Codegen/Common.
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CPU_REDUCTIONGROUP_H
#define XC_CODEGEN_CPU_REDUCTIONGROUP_H

#include "compiler/Codegen/CPU/KernelAnalysis.h"
#include "compiler/Codegen/Common/Combiner.h"
#include "compiler/Codegen/Common/KernelSizes.h"

namespace xc::cpu {

/// A reduction, or the store of a result. Its dims are those kept by the group, in the group's
/// order, then its own.
struct Step {
  mlir::linalg::GenericOp reduction; // null for a store
  /// Of a reduction, if each of its results has a neutral element: elements may be combined in any
  /// order then, else only in theirs.
  std::optional<codegen::Combiner> combiner;
  Root root; // of a store
  llvm::SmallVector<unsigned>
      dims; // loops of the reduction, or dims of the root, in the step's order
  llvm::SmallVector<plan::FormulaAttr> sizes;
  AccessSummary summary{0};
  unsigned phase = 0;

  bool isOrdered() const { return reduction && !combiner; }
  /// For each loop of the reduction or dim of the root, the step's dim.
  llvm::SmallVector<unsigned> getInverse() const;
  /// The sizes of its dims as values.
  llvm::SmallVector<mlir::OpFoldResult> buildSizes(mlir::OpBuilder &builder) const;
};

/// A value that several phases need and that costs more to compute than to keep.
struct KeptValue {
  mlir::Value value;
  unsigned phase;                   // that computes it
  mlir::Value memory;               // of the root in which it is kept, or null: on the stack
  llvm::SmallVector<unsigned> dims; // of `value` that the stack buffer has
};

struct ReductionGroup {
  llvm::SmallVector<plan::FormulaAttr> keptSizes;
  std::vector<Step> steps; // sorted by phase
  unsigned numPhases = 0;
  std::vector<KeptValue> keptValues;

  unsigned getNumKept() const { return keptSizes.size(); }
};

/// Takes |kernel| apart; fails, saying |why|, if it does not have the form described above.
mlir::FailureOr<ReductionGroup> analyzeReductions(mlir::func::FuncOp kernel, std::string &why);

} // namespace xc::cpu

#endif // XC_CODEGEN_CPU_REDUCTIONGROUP_H
