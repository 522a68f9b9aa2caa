//===- ExpressionBuilder.h - Writes array expressions briefly -*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_ARRAY_IR_EXPRESSIONBUILDER_H
#define XC_DIALECT_ARRAY_IR_EXPRESSIONBUILDER_H

#include "compiler/Dialect/Array/IR/ArrayOps.h"

namespace xc::array {

/// Builds array ops at one location, with inferred types and scalar constants.
class ExpressionBuilder {
public:
  ExpressionBuilder(mlir::OpBuilder &builder, mlir::Location location)
      : builder(builder), location(location) {}

  mlir::OpBuilder &getBuilder() { return builder; }

  /// The op with inferred result types; its first result.
  template <typename OpTy, typename... Args> mlir::Value make(Args &&...args) {
    return OpTy::create(builder, location, std::forward<Args>(args)...)->getResult(0);
  }

  mlir::Value add(mlir::Value lhs, mlir::Value rhs) { return make<AddOp>(lhs, rhs); }
  mlir::Value sub(mlir::Value lhs, mlir::Value rhs) { return make<SubOp>(lhs, rhs); }
  mlir::Value mul(mlir::Value lhs, mlir::Value rhs) { return make<MulOp>(lhs, rhs); }
  mlir::Value div(mlir::Value lhs, mlir::Value rhs) { return make<DivOp>(lhs, rhs); }
  mlir::Value add(mlir::Value lhs, double rhs) { return add(lhs, scalar(rhs, lhs)); }
  mlir::Value mul(mlir::Value lhs, double rhs) { return mul(lhs, scalar(rhs, lhs)); }
  mlir::Value compare(CompareDirection direction, mlir::Value lhs, mlir::Value rhs) {
    return make<CompareOp>(direction, lhs, rhs);
  }
  mlir::Value select(mlir::Value predicate, mlir::Value onTrue, mlir::Value onFalse) {
    return make<SelectOp>(predicate, onTrue, onFalse);
  }

  /// A rank-0 constant of the element type of `like`.
  mlir::Value scalar(double value, mlir::Value like);

  /// A rank-0 constant of `number` in the integer type `element`.
  mlir::Value integer(int64_t number, mlir::Type element);

  /// A size as a rank-0 tensor of `element`.
  mlir::Value number(mlir::OpFoldResult size, mlir::Type element);

  /// Numbers from 0 along dim 0 of shape [size, 1, ...] with `ones` dims of size 1.
  mlir::Value iota(mlir::OpFoldResult size, mlir::Type element, int64_t ones = 0);

  /// A constant of `values` under `shape`, in the element type of `like`.
  mlir::Value constant(llvm::ArrayRef<double> values, llvm::ArrayRef<int64_t> shape,
                       mlir::Value like);

  /// `value` with element type `element`; `value` itself where it has that already.
  mlir::Value convert(mlir::Value value, mlir::Type element);
  /// `value` in `f32` if it holds 16-bit floats, else `value`.
  mlir::Value widen(mlir::Value value);
  /// `value` converted to the element type of `type`, and cast to it.
  mlir::Value finish(mlir::Value value, mlir::Type type);

  /// Reduces over `axes`, which stay as dims of size 1.
  mlir::Value reduce(ReduceKind kind, mlir::Value value, llvm::ArrayRef<int64_t> axes,
                     bool keepdims = true);
  /// How many elements `axes` of `value` hold, less `correction`, as a rank-0
  /// tensor of its element type; not below 0.
  mlir::Value count(mlir::Value value, llvm::ArrayRef<int64_t> axes, int64_t correction = 0);
  /// The mean over `axes`, which stay as dims of size 1.
  mlir::Value mean(mlir::Value value, llvm::ArrayRef<int64_t> axes, bool keepdims = true);

  /// `value` broadcast to the shape of `like`, which has its rank.
  mlir::Value broadcastLike(mlir::Value value, mlir::Value like);
  /// The sum of `value` over what `like` was broadcast along to give its shape.
  mlir::Value sumToShape(mlir::Value value, mlir::Value like);
  /// Zeros in the type and sizes of `like`.
  mlir::Value zerosLike(mlir::Value like);
  /// Size `dim` of `value` less `distance` as a rank-0 tensor of `element`, an integer type.
  mlir::Value sizeLess(mlir::Value value, int64_t dim, int64_t distance, mlir::Type element);
  /// The last index of dim `dim` of `value`: -1 where it is empty.
  mlir::Value lastIndex(mlir::Value value, int64_t dim, mlir::Type element) {
    return sizeLess(value, dim, 1, element);
  }
  /// The sizes of those dims of `value` that are dynamic.
  llvm::SmallVector<mlir::Value> dynamicSizes(mlir::Value value);

private:
  mlir::OpBuilder &builder;
  mlir::Location location;
};

} // namespace xc::array

#endif // XC_DIALECT_ARRAY_IR_EXPRESSIONBUILDER_H
