//===- Contraction.h - Matrix products in kernels ---------------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which op is a product, and in which roles its loops are, both targets ask plan::matchProduct and
// plan::matchMultiplyAdd. Here is what the CPU makes of it: operands are packed to panels, so that
// anything may compute them and the roots of the kernel only have to know their dims of the
// product. CUDA/Matmul/Contraction.h asks how operands lie in memory instead, for copies to shared
// memory.
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CPU_CONTRACTION_H
#define XC_CODEGEN_CPU_CONTRACTION_H

#include "compiler/Codegen/CPU/KernelAnalysis.h"
#include "compiler/Dialect/Plan/IR/MultiplyAdd.h"
#include "compiler/Dialect/Plan/IR/Products.h"

namespace xc::cpu {

/// How |op| is a matrix product: acc + lhs * rhs, each loop in the role that its operands give it.
/// A role may have several loops, of which the last is the innermost. So a convolution is a
/// product, too: its rows are positions of the result, and it reduces over taps of the filter and
/// channels.
struct ContractionLoops : plan::ProductLoops {
  unsigned lhs = 0, rhs = 1; // which inputs of the op they are
};

/// The body of |op|, if it multiplies and adds after casts that a producer can do instead.
std::optional<plan::MultiplyAdd> matchMultiplyAdd(mlir::linalg::GenericOp op);

/// The roles of the loops of |op|, if it is a product. The last dim of the result belongs to the
/// columns.
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

/// A map of an operand whose columns, a loop, lie in panels of |width|: batch loops, the panel, the
/// reduced loops in their order, and the column in the panel.
mlir::AffineMap getPanelMap(llvm::ArrayRef<unsigned> batch, unsigned column,
                            llvm::ArrayRef<unsigned> reduced, int64_t width, unsigned numLoops,
                            mlir::MLIRContext *context);

/// The columns of a panel, where the operand of the columns is memory that has such a map. The
/// product reads it where it is.
std::optional<int64_t> getPanelColumns(const ContractionKernel &contraction);

} // namespace xc::cpu

#endif // XC_CODEGEN_CPU_CONTRACTION_H
