//===- BlockBuilder.h - What loops over blocks are made of -*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_ARRAY_IR_BLOCKBUILDER_H
#define XC_DIALECT_ARRAY_IR_BLOCKBUILDER_H

#include "compiler/Dialect/Array/IR/ExpressionBuilder.h"
#include "compiler/Dialect/Array/IR/ShapeRules.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace xc::array {

/// Queries, and keys, that are in a block at least, if there are as many: the rows of a product's
/// tile.
inline constexpr int64_t kBlockUnit = 64;

/// Boxes of arrays at positions that are data, and the loop that goes over them.
class BlockBuilder {
public:
  BlockBuilder(mlir::OpBuilder &builder, mlir::Location location)
      : builder(builder), location(location), e(builder, location), sizes(builder, location) {}

protected:
  using Values = llvm::SmallVector<mlir::Value>;
  /// One dim of a box: `size` elements from `begin` on. A begin from which there are fewer is moved
  /// to where there are as many.
  struct Side {
    int64_t dim;
    mlir::Value begin;
    mlir::OpFoldResult size;
  };

  mlir::Value number(int64_t value) { return e.integer(value, builder.getI64Type()); }
  /// A size as data.
  mlir::Value number(mlir::OpFoldResult size);
  /// The box of `value` that has all of the dims without a side.
  mlir::Value slice(mlir::Value value, llvm::ArrayRef<Side> sides);
  /// `whole` with `part` in the place of such a box.
  mlir::Value update(mlir::Value whole, llvm::ArrayRef<Side> sides, mlir::Value part);
  /// `whole` with `part` added to such a box.
  mlir::Value addAt(mlir::Value whole, llvm::ArrayRef<Side> sides, mlir::Value part) {
    return update(whole, sides, e.add(slice(whole, sides), part));
  }
  mlir::Value zeros(llvm::ArrayRef<mlir::OpFoldResult> shape, mlir::Type element);
  /// What a loop begins with that writes all of it, block by block.
  mlir::Value unwritten(llvm::ArrayRef<mlir::OpFoldResult> shape, mlir::Type element) {
    return mlir::tensor::EmptyOp::create(builder, location, shape, element);
  }
  /// Where a block of `size` lies that begins at `start`, but as a last one behind the end of
  /// `all`.
  mlir::Value getPlace(mlir::Value start, mlir::OpFoldResult size, mlir::OpFoldResult all) {
    return e.make<MinOp>(start, number(sizes.sub(all, size)));
  }
  /// `value` of a block of `size` at `place` with zeros for what lies before `start` along `dim`.
  mlir::Value maskRepeated(mlir::Value value, int64_t dim, mlir::OpFoldResult size,
                           mlir::Value start, mlir::Value place);
  /// The values of a loop from `inits` on, whose first one is the condition's.
  Values loop(Values inits, llvm::function_ref<mlir::Value(mlir::Value first)> isMore,
              llvm::function_ref<Values(mlir::ValueRange carried)> build);
  /// The dim of size other than 1 that is `fromLast` before the last one of `mask`, which may be
  /// null; -1 where there is none.
  static int64_t findMaskDim(mlir::Value mask, int64_t fromLast);

  mlir::OpBuilder &builder;
  mlir::Location location;
  ExpressionBuilder e;
  SizeBuilder sizes;

private:
  Values getStarts(int64_t rank, llvm::ArrayRef<Side> sides);
};

} // namespace xc::array

#endif // XC_DIALECT_ARRAY_IR_BLOCKBUILDER_H
