//===- SizeFormulas.h - Sizes of tensors and index values as formulas -----===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The size of a result follows from its op's type, operands and attributes: an analysis reads it
// there, and asking builds no ops. One set of rules serves functions, whose symbols are the dynamic
// sizes of arguments (SymbolicDims.h), and kernels, whose symbols are the scalars of a dispatch
// (Codegen/Common/KernelSizes.h). A subclass says what its symbols are.
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_PLAN_TRANSFORMS_SIZEFORMULAS_H
#define XC_DIALECT_PLAN_TRANSFORMS_SIZEFORMULAS_H

#include "compiler/Dialect/Array/IR/ShapeRules.h"
#include "compiler/Dialect/Plan/IR/PlanOps.h"

#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"

namespace xc::plan {

/// Formulas of index values and of the sizes of tensors and memrefs. They are computed once. Shape
/// functions of array ops take it as the analysis that they make sizes for.
class SizeFormulas : public array::SizeAnalysis {
public:
  /// The formula of an index value, a constant, or a size of this analysis; failure (without a
  /// diagnostic) if it is none.
  mlir::FailureOr<FormulaAttr> getFormula(mlir::Value index);
  mlir::FailureOr<FormulaAttr> getFormula(mlir::OpFoldResult index);

  /// The formula of dimension `dim` of a ranked tensor or a memref.
  mlir::FailureOr<FormulaAttr> getDim(mlir::Value shaped, int64_t dim);

  /// All dims of one.
  mlir::FailureOr<llvm::SmallVector<FormulaAttr>> getShape(mlir::Value shaped);

  // Of array::SizeAnalysis: constants are index attributes, all others formulas.
  mlir::OpFoldResult getDimSize(mlir::Value value, int64_t dim) override;
  mlir::OpFoldResult combineSizes(array::SizeOperation operation, mlir::OpFoldResult lhs,
                                  mlir::OpFoldResult rhs) override;
  mlir::OpFoldResult applyMap(mlir::AffineMap map, mlir::ValueRange operands) override;

  /// Forgets what is known of values: some were erased, and others may lie where those were.
  void forgetValues() {
    formulaCache.clear();
    dimCache.clear();
  }

protected:
  explicit SizeFormulas(mlir::MLIRContext *context) : context(context) {}
  ~SizeFormulas() = default;

  /// The larger or smaller one.
  virtual FormulaAttr makeMax(FormulaAttr lhs, FormulaAttr rhs);
  virtual FormulaAttr makeMin(FormulaAttr lhs, FormulaAttr rhs);
  /// `formula`, or a shorter one of the same value.
  virtual FormulaAttr shorten(FormulaAttr formula) { return formula; }
  /// What an argument of the function says of its own dynamic size.
  virtual mlir::FailureOr<FormulaAttr> computeArgumentDim(mlir::BlockArgument argument,
                                                          int64_t dim) {
    return mlir::failure();
  }
  /// What an op says of a value, and of a dynamic size of a result.
  virtual mlir::FailureOr<FormulaAttr> computeFormula(mlir::Value index);
  virtual mlir::FailureOr<FormulaAttr> computeDim(mlir::OpResult result, int64_t dim);

  mlir::MLIRContext *context;

private:
  mlir::OpFoldResult toSize(mlir::FailureOr<FormulaAttr> formula);
  mlir::FailureOr<FormulaAttr> multiplyDims(mlir::Value source, llvm::ArrayRef<int64_t> dims);

  llvm::DenseMap<mlir::Value, FormulaAttr> formulaCache;
  llvm::DenseMap<std::pair<mlir::Value, int64_t>, FormulaAttr> dimCache;
};

} // namespace xc::plan

#endif // XC_DIALECT_PLAN_TRANSFORMS_SIZEFORMULAS_H
