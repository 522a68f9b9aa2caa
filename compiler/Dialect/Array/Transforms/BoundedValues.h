//===- BoundedValues.h - What stands for bounded dynamic values --*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A value with bounded dynamic dims is replaced by an array of the bounds' sizes, and for each such
// dim the value that holds its extent: a rank-0 tensor of i64 between 0 and the bound. Here is what
// is known of such values while a function is gone through, and what rules of ops are made of.
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_ARRAY_TRANSFORMS_BOUNDEDVALUES_H
#define XC_DIALECT_ARRAY_TRANSFORMS_BOUNDEDVALUES_H

#include "compiler/Dialect/Array/IR/ExpressionBuilder.h"
#include "compiler/Dialect/Array/Transforms/ExtentEquality.h"

#include "mlir/IR/PatternMatch.h"

namespace xc::array {

/// One for each dim: what holds its extent, null where the host knows the size.
using Extents = llvm::SmallVector<mlir::Value>;

class BoundedValues {
public:
  /// What stands for a value with bounded dynamic dims.
  struct Bounded {
    mlir::Value array;
    Extents extents;
  };
  /// What stands for a size that depends on an extent. There is no bound where the size could be
  /// larger for a smaller extent.
  struct Size {
    mlir::Value bound;
    mlir::Value extent;
  };
  /// Dim `dim` of operand `operand` of an op.
  struct OperandDim {
    unsigned operand;
    int64_t dim;
  };

  explicit BoundedValues(mlir::MLIRContext *context) : builder(context) {}

  //===--- What is known --------------------------------------------------===//

  mlir::Value arrayOf(mlir::Value value) const;
  Extents extentsOf(mlir::Value value) const;
  mlir::Value extentOf(mlir::Value value, int64_t dim) const;
  llvm::SmallVector<mlir::Value> arraysOf(mlir::ValueRange values) const;
  /// Whether an operand of `op` has an extent, or is a size that depends on one.
  bool hasExtents(mlir::Operation *op) const;
  /// The extent that all of `dims` have, null if the host knows all sizes. Dims of size 1 say
  /// nothing with `broadcast`. Anything else is an error of `op`.
  mlir::FailureOr<mlir::Value> unify(mlir::Operation *op, llvm::ArrayRef<OperandDim> dims,
                                     bool broadcast = false);

  //===--- Saying more ----------------------------------------------------===//

  /// Makes `array`, which has been computed for it, stand for `value`.
  void define(mlir::Value value, mlir::Value array, Extents extents = {});
  void defineAll(mlir::Operation *old, mlir::Operation *rebuilt, const Extents &extents = {});
  /// Makes `array`, which others may look at as well, stand for `value`.
  void setArray(mlir::Value value, mlir::Value array, Extents extents);
  /// Says that `extent` is not above the size of dim `dim` of `array`.
  void setLimit(mlir::Value extent, mlir::Value array, int64_t dim);
  /// Arrays with extents that have been computed, in program order.
  llvm::ArrayRef<Bounded> getComputed() const { return computed; }
  /// `op` has been replaced: eraseReplaced() erases it.
  void eraseLater(mlir::Operation *op) { replaced.push_back(op); }
  void eraseReplaced();

  //===--- Building -------------------------------------------------------===//

  ExpressionBuilder expressions(mlir::Operation *op);
  /// The op on `operands`, of the types that follow from theirs.
  mlir::Operation *rebuild(mlir::Operation *op, mlir::ValueRange operands);
  /// The size that the host knows of dim `dim` of `array`, as data.
  mlir::Value sizeAsData(mlir::Value array, int64_t dim);
  /// `count`, of any integer type, between 0 and size `dim` of `array`.
  mlir::Value clampExtent(mlir::Location loc, mlir::Value count, mlir::Value array, int64_t dim);
  /// Truth values in the shape of `array`: whether the index along `dim` is below `extent`.
  mlir::Value isBefore(mlir::Value array, int64_t dim, mlir::Value extent);
  /// `array` with `neutral` in the place of what lies behind `extent`.
  mlir::Value fillBehind(mlir::Value array, int64_t dim, mlir::Value extent, mlir::Value neutral);
  mlir::Value fillBehind(mlir::Value array, int64_t dim, mlir::Value extent,
                         mlir::TypedAttr neutral);
  /// `array`, of which only what lies before `extents` is of interest.
  mlir::Value mark(mlir::Value array, llvm::ArrayRef<mlir::Value> extents);

  //===--- Refusing -------------------------------------------------------===//

  mlir::LogicalResult refuse(mlir::Operation *op);
  mlir::LogicalResult refuseDim(mlir::Operation *op, unsigned operand, int64_t dim,
                                const llvm::Twine &why);

  /// Inserts before the op that is being replaced.
  mlir::IRRewriter builder;
  /// Which extents are always equal.
  ExtentEquality equality;
  llvm::DenseMap<mlir::Value, Size> sizes;

private:
  llvm::DenseMap<mlir::Value, Bounded> bounded;
  llvm::SmallVector<Bounded> computed;
  llvm::SmallVector<mlir::Operation *> replaced;
};

} // namespace xc::array

#endif // XC_DIALECT_ARRAY_TRANSFORMS_BOUNDEDVALUES_H
