//===- SymbolicDims.h - Sizes as formulas over a function's symbols ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every dynamic size of a function is a formula over its symbols: the `?` of
// its inputs. Two `?` are one symbol if `array.dims` gives them one name, or if
// an op demands that they are equal; the runtime checks such inputs when they
// are bound.
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_PLAN_TRANSFORMS_SYMBOLICDIMS_H
#define XC_DIALECT_PLAN_TRANSFORMS_SYMBOLICDIMS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringSet.h"

#include <string>

namespace xc::plan {

/// What is known of a size: its bounds, -1 for none above, and a number that divides it.
struct SizeRange {
  int64_t min = 0, max = -1, divisor = 1;

  bool isEmpty() const { return max >= 0 && max / divisor * divisor < min; }
  bool isTrivial() const { return min == 0 && max == -1 && divisor == 1; }
  /// What holds where both hold.
  static SizeRange intersect(SizeRange a, SizeRange b);
};

/// One symbolic dimension and the input dimension that defines it. Where several names have turned
/// out to be one size, the first that was given, and what is known of any of them.
struct SymbolDefinition {
  std::string name;
  unsigned input;
  unsigned dim;
  bool isNamed;
  SizeRange range;
};

/// That one size is at least as large as another.
struct SizeOrder {
  mlir::Location loc;
  mlir::AffineExpr smaller, larger;
};

/// Whether dims of arguments whose sizes an op demands to be equal are one symbol.
enum class UnifySizes { No, Yes };

/// Formulas of the index values and tensor sizes of one function. Built once; valid while the
/// function's arguments and linalg ops are not changed.
class SymbolicDims {
public:
  explicit SymbolicDims(mlir::func::FuncOp func, UnifySizes unifySizes = UnifySizes::Yes);

  llvm::ArrayRef<SymbolDefinition> getSymbols() const { return symbols; }

  /// The formula of an index value or of a constant; failure (without a diagnostic) if it is none.
  mlir::FailureOr<mlir::AffineExpr> getExpr(mlir::Value index);
  mlir::FailureOr<mlir::AffineExpr> getExpr(mlir::OpFoldResult index);

  /// The formula of dimension `dim` of a ranked tensor.
  mlir::FailureOr<mlir::AffineExpr> getDim(mlir::Value tensor, int64_t dim);

  /// All dims of a ranked tensor.
  mlir::FailureOr<llvm::SmallVector<mlir::AffineExpr>> getShape(mlir::Value tensor);

  /// What the formulas that were asked for rely on: that a size that clamps are in, one in another,
  /// is not below 0, as the formula would double with one more clamp.
  llvm::ArrayRef<SizeOrder> getAssumptions() const { return assumptions; }

  /// What follows for a formula from the ranges that the user gave.
  SizeRange getRange(mlir::AffineExpr expr) const;
  /// `array.dim_range` of the function, with the names that the symbols have; null where nothing is
  /// known.
  mlir::DictionaryAttr getRanges() const;

  /// Takes ranges that leave no size for unknown: those of a function that is not called then.
  void dropEmptyRanges();

  /// The map with no dims, one symbol for each symbol of the function, and these results.
  mlir::AffineMap getMap(llvm::ArrayRef<mlir::AffineExpr> results) const;

  /// Forgets what is known of values: some were erased, and others may lie where those were.
  void forgetValues() {
    exprCache.clear();
    dimCache.clear();
  }

  /// Makes a formula's value of the sizes of the function's arguments. `symbolValues` holds those
  /// of the symbols, once the first call has made them.
  mlir::Value materialize(mlir::OpBuilder &builder, mlir::Location loc, mlir::AffineExpr expr,
                          llvm::SmallVectorImpl<mlir::Value> &symbolValues);

private:
  void nameArgumentSymbols();
  void unifyLoopSizes(mlir::Operation *op);
  void unify(mlir::AffineExpr a, mlir::AffineExpr b);
  void numberSymbols();
  mlir::FailureOr<mlir::AffineExpr> computeDim(mlir::OpResult result, int64_t dim);
  mlir::FailureOr<mlir::AffineExpr> computeBranchDim(mlir::OpResult result, int64_t dim);
  mlir::FailureOr<mlir::AffineExpr> computeExpr(mlir::Value index);
  SizeOrder explainOrder(mlir::Operation *op, mlir::AffineExpr smaller, mlir::AffineExpr larger);
  mlir::AffineExpr makeMax(mlir::Operation *op, mlir::AffineExpr lhs, mlir::AffineExpr rhs);
  mlir::AffineExpr replaceSymbols(mlir::Operation *op, mlir::AffineExpr expr,
                                  llvm::ArrayRef<mlir::AffineExpr> symbolExprs);

  mlir::func::FuncOp func;
  mlir::MLIRContext *context;
  llvm::SmallVector<SymbolDefinition> symbols;
  /// All names that the user gave to dims of arguments.
  llvm::StringSet<> givenNames;
  /// Before numbering: union-find over the candidate symbols. After it: candidate -> final symbol.
  llvm::SmallVector<unsigned> parent;
  llvm::SmallVector<mlir::AffineExpr> finalExpr;
  llvm::DenseMap<std::pair<unsigned, unsigned>, unsigned> argumentSymbol;
  llvm::SmallVector<SizeOrder> assumptions;
  llvm::DenseMap<mlir::Value, mlir::AffineExpr> exprCache;
  llvm::DenseMap<std::pair<mlir::Value, int64_t>, mlir::AffineExpr> dimCache;
};

} // namespace xc::plan

#endif // XC_DIALECT_PLAN_TRANSFORMS_SYMBOLICDIMS_H
