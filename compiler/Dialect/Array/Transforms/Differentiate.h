//===- Differentiate.h - Gradients of ops through what they consist of -*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_ARRAY_TRANSFORMS_DIFFERENTIATE_H
#define XC_DIALECT_ARRAY_TRANSFORMS_DIFFERENTIATE_H

#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace xc::array {

/// Builds the cotangents of `op`'s operands at the builder's insertion point from those of its
/// results, by the rules of `ArrayVjpOpInterface`: the op's own gradient, or that of its
/// decomposition. Fails where there is neither.
/// What is not in `dependent`, where that is given, needs none.
mlir::FailureOr<llvm::SmallVector<mlir::Value>>
buildCotangents(mlir::OpBuilder &builder, mlir::Operation *op, mlir::ValueRange cotangents,
                const llvm::DenseSet<mlir::Value> *dependent = nullptr);

/// Sums of what flows back to each value.
class FlowingCotangents {
public:
  FlowingCotangents(mlir::OpBuilder &builder, mlir::Location location)
      : builder(builder), location(location) {}

  /// Adds `cotangent`, which may be null, to that of `value`.
  void add(mlir::Value value, mlir::Value cotangent);
  /// What has flowed back to `value`; null for nothing.
  mlir::Value lookup(mlir::Value value) const { return sums.lookup(value); }

private:
  mlir::OpBuilder &builder;
  mlir::Location location;
  llvm::DenseMap<mlir::Value, mlir::Value> sums;
};

/// Takes what flows back to the results of `op` on to its operands. Fails where `buildCotangents`
/// does.
mlir::LogicalResult pullBack(mlir::OpBuilder &builder, mlir::Operation *op,
                             FlowingCotangents &cotangents,
                             const llvm::DenseSet<mlir::Value> *dependent = nullptr);

/// The same for an op whose result or operand has an extent; fails for all others.
mlir::FailureOr<llvm::SmallVector<mlir::Value>>
buildExtentVjp(mlir::OpBuilder &builder, mlir::Operation *op, mlir::Value cotangent);

/// The ops of `block` that compute with what is in `dependent`, in order; adds their results that
/// hold floats. An error where a variable is assigned what depends.
mlir::FailureOr<llvm::SmallVector<mlir::Operation *>>
findDependent(mlir::Block &block, llvm::DenseSet<mlir::Value> &dependent);

/// Takes what flows back to the results of `ops`, as found by `findDependent`, on to their
/// operands, the last one first. An error at an op that has no gradient.
mlir::LogicalResult pullBackAll(mlir::OpBuilder &builder, llvm::ArrayRef<mlir::Operation *> ops,
                                const llvm::DenseSet<mlir::Value> &dependent,
                                FlowingCotangents &cotangents);

/// The same for an `array.if` or `array.while`: to its operands that are in `dependent`, and to
/// those values from outside that its regions use. May replace the op by another one.
mlir::LogicalResult pullBackControl(mlir::OpBuilder &builder, mlir::Operation *op,
                                    const llvm::DenseSet<mlir::Value> &dependent,
                                    FlowingCotangents &cotangents);

} // namespace xc::array

#endif // XC_DIALECT_ARRAY_TRANSFORMS_DIFFERENTIATE_H
