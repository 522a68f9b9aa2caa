//===- KernelSizes.h - Sizes in a kernel, before any code is emitted ------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Matching, cost models and the choice of a strategy ask for sizes here: the answer is a formula
// over the kernel's scalars, and the kernel stays as it is. Emission makes its own values.
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_COMMON_KERNELSIZES_H
#define XC_CODEGEN_COMMON_KERNELSIZES_H

#include "compiler/Dialect/Plan/Transforms/FormulaBounds.h"
#include "compiler/Dialect/Plan/Transforms/SizeFormulas.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace xc::codegen {

/// Sizes as formulas, where symbol i is `plan.scalar i` of the kernel. Symbols behind those of
/// scalars stand for sizes that are no formula of scalars: nothing is known of one, but that it is
/// itself.
class KernelSizes final : public plan::SizeFormulas {
public:
  /// Scalars are multiples of what `divisorAttr`, an i64 on them, says; null if nothing does.
  explicit KernelSizes(mlir::func::FuncOp kernel, mlir::StringAttr divisorAttr = {});

  plan::FormulaAttr getSize(mlir::OpFoldResult size) { return *getFormula(size); }
  /// The sizes of a tensor or a memref.
  llvm::SmallVector<plan::FormulaAttr> getSizes(mlir::Value shaped) { return *getShape(shaped); }
  /// The sizes of the iteration space of `op`.
  llvm::SmallVector<plan::FormulaAttr> getLoopSizes(mlir::linalg::LinalgOp op);

  plan::FormulaAttr constant(int64_t number) {
    return plan::FormulaAttr::getConstant(context, number);
  }
  plan::FormulaAttr product(llvm::ArrayRef<plan::FormulaAttr> sizes);
  plan::FormulaAttr ceilDiv(plan::FormulaAttr size, plan::FormulaAttr divisor) {
    return size.ceilDiv(divisor);
  }

  /// As an affine expression over the scalars; null where it is none.
  mlir::AffineExpr toAffine(plan::FormulaAttr size) const;
  /// The largest value that it can have, where scalars say theirs; nothing if it is not bounded.
  std::optional<int64_t> getUpperBound(plan::FormulaAttr size) const;
  /// The largest power of two, up to 2^20, that is known to divide it.
  int64_t getDivisor(plan::FormulaAttr size) const;

private:
  mlir::FailureOr<plan::FormulaAttr> computeFormula(mlir::Value index) override;
  mlir::FailureOr<plan::FormulaAttr> computeDim(mlir::OpResult result, int64_t dim) override;
  plan::FormulaAttr makeUnknown();
  plan::FormulaBounds getBounds(plan::FormulaAttr size) const;

  mlir::StringAttr divisorAttr;
  llvm::SmallVector<plan::ScalarOp> scalars; // by their numbers
  unsigned numUnknown = 0;
};

} // namespace xc::codegen

#endif // XC_CODEGEN_COMMON_KERNELSIZES_H
