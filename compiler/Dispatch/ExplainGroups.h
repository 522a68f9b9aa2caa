//===- ExplainGroups.h - Why ops share a kernel, and others do not --------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Makes what reports say of fusion, and moves it along (FusionRecords.h).
//
//===----------------------------------------------------------------------===//

#ifndef XC_DISPATCH_EXPLAINGROUPS_H
#define XC_DISPATCH_EXPLAINGROUPS_H

#include "compiler/Dialect/Plan/IR/FusionRecords.h"
#include "compiler/Dispatch/DispatchGroups.h"

#include "mlir/IR/BuiltinOps.h"

namespace xc::plan {

/// The records of groups, in their order, which are the groups' numbers.
llvm::SmallVector<mlir::DictionaryAttr> explainGroups(const DispatchGrouping &grouping);

/// Writes a region's record on its kernel's module; `names` has those of regions in front of it.
void setFusion(mlir::ModuleOp kernel, mlir::DictionaryAttr record,
               const llvm::DenseMap<int64_t, mlir::StringAttr> &names);

/// What explains the fusion of a kernel, taken from its module.
struct FusionRecord {
  mlir::ArrayAttr joins, refusals;
};
FusionRecord takeFusion(mlir::ModuleOp kernel);
/// Gives it back.
void restoreFusion(mlir::ModuleOp kernel, const FusionRecord &record);
/// Adds refusals of a kernel of equal code to those of `kernel`.
void addRefusals(mlir::ModuleOp kernel, const FusionRecord &record);
/// Replaces names of kernels in refusals.
void renameRefused(mlir::ModuleOp kernel,
                   const llvm::DenseMap<mlir::StringAttr, mlir::StringAttr> &names);

} // namespace xc::plan

#endif // XC_DISPATCH_EXPLAINGROUPS_H
