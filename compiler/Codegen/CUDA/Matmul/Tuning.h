//===- Tuning.h - Configurations that were measured -----------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_MATMUL_TUNING_H
#define XC_CODEGEN_CUDA_MATMUL_TUNING_H

#include "mlir/IR/Attributes.h"
#include "mlir/IR/Location.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringMap.h"

namespace xc::cuda {

/// Which configuration a product gets, by what identifies it.
class TuningTable {
public:
  /// In a key, before what says how many operations on each element are fused to a product.
  static constexpr llvm::StringLiteral kFused = " fused ";

  /// Reads lines `KEY = CONFIG`; empty ones and those that begin with # say nothing. An error names
  /// the line of `fileName` that is none, or whose configuration does not fit what it is for.
  static mlir::FailureOr<TuningTable> parse(mlir::MLIRContext *context, llvm::StringRef text,
                                            llvm::StringRef fileName);

  /// What was measured on the GPUs of each target; see tools/xtune.
  static mlir::FailureOr<TuningTable> parseShipped(mlir::MLIRContext *context);

  /// A configuration, and the line that it is from.
  struct Entry {
    mlir::Attribute config;
    mlir::Location loc;
  };
  /// The one of the product `key`, or else of that product with nothing fused to it; null if the
  /// table has neither.
  const Entry *lookup(llvm::StringRef key) const;

private:
  llvm::StringMap<Entry> entries;
};

/// The tables that a product is looked up in: what `--tuning` gives goes before all else.
struct ProductTuning {
  TuningTable given, shipped;
};

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_MATMUL_TUNING_H
