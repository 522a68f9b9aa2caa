//===- PlanWriter.h - Plans as tables ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_TARGET_PLANWRITER_H
#define XC_TARGET_PLANWRITER_H

#include "compiler/Dialect/Plan/IR/PlanOps.h"
#include "compiler/Target/FormulaTable.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

namespace xc::target {

/// Where the functions (variants) of each kernel module are: exports of one executable.
struct KernelExports {
  uint32_t executable;
  llvm::SmallVector<uint32_t> exports;
  llvm::SmallVector<mlir::DictionaryAttr> descriptions;
};

/// Numbers of a target's constants, parameters and variables in the whole module's lists.
struct DataNumbers {
  llvm::SmallVector<uint32_t> constants, parameters, variables;
};

/// "file:line:column" of the first file location in `loc`, the file without directories, or an
/// empty string.
std::string printLocation(mlir::Location loc);

/// Writes one plan.function as a Plan table. An error is a diagnostic.
mlir::FailureOr<flatbuffers::Offset<fb::Plan>>
writePlan(flatbuffers::FlatBufferBuilder &builder, plan::FunctionOp function, uint32_t target,
          const llvm::StringMap<KernelExports> &kernels, const DataNumbers &numbers);

} // namespace xc::target

#endif // XC_TARGET_PLANWRITER_H
