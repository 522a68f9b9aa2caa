//===- IndexBuilder.h - Index arithmetic that folds as it is built --------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_COMMON_INDEXBUILDER_H
#define XC_CODEGEN_CUDA_COMMON_INDEXBUILDER_H

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/ScopedHashTable.h"

#include <tuple>

namespace xc::cuda {

/// Builds arithmetic on values of type `index`. Constants fold, and an expression that was built
/// before in an enclosing scope is reused, so that equal indices are the same SSA value:
/// memoisation relies on that. Indices are not negative, except between the steps of a bounds
/// check.
class IndexBuilder {
public:
  using Key = std::tuple<const void *, const void *, const void *>;
  using Table = llvm::ScopedHashTable<Key, mlir::Value>;
  using Scope = Table::ScopeTy;

  IndexBuilder(mlir::OpBuilder &builder, mlir::Location loc)
      : builder(builder), loc(loc), root(table) {}

  /// A `Scope` over this table: what is built until its end is not reused after it. Open one for
  /// each region entered.
  Table &getTable() { return table; }

  mlir::Value constant(int64_t value);
  mlir::Value get(mlir::OpFoldResult value);
  mlir::Value add(mlir::Value lhs, mlir::Value rhs);
  mlir::Value sub(mlir::Value lhs, mlir::Value rhs);
  mlir::Value mul(mlir::Value lhs, mlir::Value rhs);
  /// Quotient and remainder of numbers that are not negative.
  mlir::Value div(mlir::Value lhs, mlir::Value rhs);
  mlir::Value rem(mlir::Value lhs, mlir::Value rhs);
  mlir::Value ceilDiv(mlir::Value lhs, mlir::Value rhs);
  mlir::Value min(mlir::Value lhs, mlir::Value rhs);
  mlir::Value max(mlir::Value lhs, mlir::Value rhs);
  /// i1, of signed numbers.
  mlir::Value isLess(mlir::Value lhs, mlir::Value rhs);
  mlir::Value isAtLeast(mlir::Value lhs, mlir::Value rhs);
  mlir::Value isEqual(mlir::Value lhs, mlir::Value rhs);
  /// i1 conjunction; a null operand stands for true.
  mlir::Value both(mlir::Value lhs, mlir::Value rhs);

  mlir::Value add(mlir::Value lhs, int64_t rhs) { return add(lhs, constant(rhs)); }
  mlir::Value mul(mlir::Value lhs, int64_t rhs) { return mul(lhs, constant(rhs)); }
  mlir::Value div(mlir::Value lhs, int64_t rhs) { return div(lhs, constant(rhs)); }
  mlir::Value rem(mlir::Value lhs, int64_t rhs) { return rem(lhs, constant(rhs)); }

  /// The product of `sizes`.
  mlir::Value product(llvm::ArrayRef<mlir::Value> sizes);
  /// Row-major position of `coords` in `sizes`, and back.
  mlir::Value linearize(llvm::ArrayRef<mlir::Value> coords, llvm::ArrayRef<mlir::Value> sizes);
  llvm::SmallVector<mlir::Value> delinearize(mlir::Value position,
                                             llvm::ArrayRef<mlir::Value> sizes);

private:
  template <typename Op> mlir::Value build(mlir::Value lhs, mlir::Value rhs);

  mlir::OpBuilder &builder;
  mlir::Location loc;
  Table table;
  Scope root;
  llvm::DenseMap<int64_t, mlir::Value> constants;
};

/// The largest power of two, up to 2^20, that is known to divide `value`.
int64_t knownDivisor(mlir::Value value);

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_COMMON_INDEXBUILDER_H
