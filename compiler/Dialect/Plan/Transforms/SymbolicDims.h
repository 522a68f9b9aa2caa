//===- SymbolicDims.h - Sizes as formulas over a function's symbols ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every dynamic size of a function is a formula over its symbols: the `?` of
// its inputs. Two `?` are one symbol if `array.dims` gives them one name, or if
// an op requires that they are equal; the runtime checks such inputs when they
// are bound.
//
// Parts of formulas occur in each other: what is long gets a symbol of its own, and stands where it
// is used by that. Such definitions are formulas over the symbols before them. A chain of ops whose
// sizes name those before them twice, written out, would double with each op.
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_PLAN_TRANSFORMS_SYMBOLICDIMS_H
#define XC_DIALECT_PLAN_TRANSFORMS_SYMBOLICDIMS_H

#include "compiler/Dialect/Array/IR/RuntimeSizes.h"
#include "compiler/Dialect/Plan/Transforms/FormulaBounds.h"
#include "compiler/Dialect/Plan/Transforms/SizeFormulas.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringSet.h"

#include <optional>
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

/// Whether dims of arguments whose sizes an op requires to be equal are one symbol.
enum class UnifySizes { No, Yes };

/// Formulas of the index values and tensor sizes of one function. Built once; valid while the
/// function's arguments and linalg ops are not changed. Of a bounded dynamic dim it is that of the
/// bound; `runtimeSizes` tells which dims are some, in a function of array ops that has any.
class SymbolicDims final : public SizeFormulas {
public:
  explicit SymbolicDims(mlir::func::FuncOp func, UnifySizes unifySizes = UnifySizes::Yes,
                        array::RuntimeSizes *runtimeSizes = nullptr);

  llvm::ArrayRef<SymbolDefinition> getSymbols() const { return symbols; }

  /// Of inputs, and behind them those of formulas that have symbols of their own; later questions
  /// may add some.
  unsigned getSymbolCount() const { return symbols.size() + definitions.size(); }
  /// The formula of a symbol behind those of inputs, over the symbols before it.
  FormulaAttr getDefinition(unsigned symbol) const {
    return definitions[symbol - symbols.size()].formula;
  }

  /// `formula`, where it is long by symbols for its parts or for all of it.
  FormulaAttr shorten(FormulaAttr formula) override;

  /// The larger or smaller one, which is one of the two where ranges tell.
  FormulaAttr makeMax(FormulaAttr lhs, FormulaAttr rhs) override;
  FormulaAttr makeMin(FormulaAttr lhs, FormulaAttr rhs) override;

  /// What follows for a formula from the ranges that the user gave.
  SizeRange getRange(FormulaAttr formula) const;
  /// Whether it is not below 0, as sizes of inputs are not.
  bool isNeverNegative(unsigned symbol) const;
  /// `array.dim_range` of the function, with the names that the symbols have; null where nothing is
  /// known.
  mlir::DictionaryAttr getRanges() const;

  /// Takes ranges that leave no size for unknown: those of a function that is not called then.
  void dropEmptyRanges();

  /// Makes a formula's value of the sizes of the function's arguments. `symbolValues` holds those
  /// of the symbols of inputs, once the first call has made them; definitions are made once, at the
  /// start of the function.
  mlir::Value materialize(mlir::OpBuilder &builder, mlir::Location loc, FormulaAttr formula,
                          llvm::SmallVectorImpl<mlir::Value> &symbolValues);
  /// The same of those sizes alone that the formula names.
  mlir::Value materialize(mlir::OpBuilder &builder, mlir::Location loc, FormulaAttr formula);

private:
  void nameArgumentSymbols();
  void unifyLoopSizes(mlir::Operation *op);
  void unify(FormulaAttr a, FormulaAttr b);
  void numberSymbols();
  mlir::FailureOr<FormulaAttr> computeArgumentDim(mlir::BlockArgument argument,
                                                  int64_t dim) override;
  mlir::FailureOr<FormulaAttr> computeDim(mlir::OpResult result, int64_t dim) override;
  mlir::FailureOr<FormulaAttr> computeBranchDim(mlir::OpResult result, int64_t dim);
  mlir::FailureOr<FormulaAttr> computeArrayDim(mlir::OpResult result, int64_t dim);
  FormulaBounds getBounds(FormulaAttr formula) const;
  FormulaBounds getSymbolBounds(unsigned symbol) const;
  FormulaAttr define(FormulaAttr formula);
  mlir::Value materializeSymbol(mlir::OpBuilder &builder, mlir::Location loc, unsigned symbol);
  mlir::Value materializeDefinition(unsigned index, mlir::Location loc);

  struct Definition {
    FormulaAttr formula;
    FormulaBounds bounds;
    mlir::Value value = {};
  };

  mlir::func::FuncOp func;
  array::RuntimeSizes *runtimeSizes;
  llvm::SmallVector<SymbolDefinition> symbols;
  /// All names that the user gave to dims of arguments.
  llvm::StringSet<> givenNames;
  /// Before numbering: union-find over the candidate symbols. After it: candidate -> final symbol.
  llvm::SmallVector<unsigned> parent;
  llvm::SmallVector<FormulaAttr> finalFormula;
  llvm::DenseMap<std::pair<unsigned, unsigned>, unsigned> argumentSymbol;
  llvm::SmallVector<Definition> definitions;
  llvm::DenseMap<FormulaAttr, FormulaAttr> definedSymbols;
  /// Dims of array ops that have no formula: chains of ops would ask again for each.
  llvm::DenseSet<std::pair<mlir::Value, int64_t>> unknownDims;
  /// At the start of the function: the sizes of its arguments, and the last op that makes a
  /// definition.
  llvm::SmallVector<mlir::Value> firstSymbolValues;
  mlir::Operation *lastDefinition = nullptr;
};

/// Formulas of one function as those of another, in which its symbols are these formulas.
class FormulaTranslation {
public:
  /// `symbols`: for each symbol of an input of `from`; null for what is no formula in `to`.
  FormulaTranslation(const SymbolicDims &from, SymbolicDims &to,
                     llvm::SmallVector<FormulaAttr> symbols)
      : from(from), to(to), symbols(std::move(symbols)) {}

  /// Null where it has a symbol that is no formula.
  FormulaAttr operator()(FormulaAttr formula);

private:
  FormulaAttr translate(FormulaAttr formula);

  const SymbolicDims &from;
  SymbolicDims &to;
  /// Also of the definitions that have been met.
  llvm::SmallVector<FormulaAttr> symbols;
};

} // namespace xc::plan

#endif // XC_DIALECT_PLAN_TRANSFORMS_SYMBOLICDIMS_H
