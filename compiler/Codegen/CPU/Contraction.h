//===- Contraction.h - Matrix products in kernels ---------------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CPU_CONTRACTION_H
#define XC_CODEGEN_CPU_CONTRACTION_H

#include "compiler/Codegen/CPU/KernelAnalysis.h"

namespace xc::cpu {

/// How |op| is a matrix product: acc + lhs * rhs, each loop in the role that its operands give it.
struct ContractionLoops {
  llvm::SmallVector<unsigned> batch;
  unsigned m = 0, n = 0, k = 0;
  bool isFloat = false;
};

/// Whether the body is acc + f(lhs) * g(rhs), where f and g are chains of casts; the product's
/// operands are returned.
bool matchMultiplyAdd(mlir::linalg::GenericOp op, mlir::Operation *&multiply,
                      mlir::Operation *&add);

/// The roles of the loops of |op|, if it is a product with exactly one loop each for rows, columns
/// and the reduced dim.
mlir::FailureOr<ContractionLoops> matchContraction(mlir::linalg::GenericOp op);

/// A result of a kernel with one matrix product, and for each of its dims the dim of the product
/// that it is.
struct ContractionRoot {
  Root root;
  llvm::SmallVector<unsigned> productDims;
};

struct ContractionKernel {
  mlir::linalg::GenericOp op;
  ContractionLoops loops;
  std::vector<ContractionRoot> roots;
  AccessSummary lhs{0}, rhs{0}; // what computing the operands takes; dims are the loops of `op`
  AccessSummary results{0};     // the same for the roots; dims are those of the product
};

/// Takes |kernel| apart into prologue, product and epilogue; fails, saying |why|, if it has another
/// form.
mlir::FailureOr<ContractionKernel> analyzeContraction(mlir::func::FuncOp kernel, std::string &why);

} // namespace xc::cpu

#endif // XC_CODEGEN_CPU_CONTRACTION_H
