//===- ConvLoops.h - The loops of a convolution ---------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What convolutions of all kinds become has in common: a linalg.generic that multiplies and adds,
// whose loops are dims of the result, then those that only the filter has.
//
//===----------------------------------------------------------------------===//

#ifndef XC_CONVERSION_CONVLOOPS_H
#define XC_CONVERSION_CONVLOOPS_H

#include "compiler/Dialect/Array/IR/ArrayOps.h"

#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"

namespace xc {

class ConvLoops {
protected:
  /// `isBackward`: the op's filter is `filter`, reversed along its spatial dims.
  ConvLoops(mlir::OpBuilder &builder, array::ConvOp op, mlir::Value input, mlir::Value filter,
            bool isBackward)
      : builder(builder), op(op), loc(op.getLoc()), dims(op.getDims()), input(input),
        filter(filter), isBackward(isBackward), positions(dims.getSpatialRank()),
        taps(dims.getSpatialRank()) {}

  /// Begins a dim of the result; loops that are added to it follow one another in memory.
  void beginResultDim() { resultDims.emplace_back(); }
  mlir::AffineExpr addResultLoop(mlir::OpFoldResult size);
  /// Adds the loops that only the filter has: behind those of the result.
  void addFilterLoops();
  /// The tap of spatial dim `label` in the order of `filter`, which has `size` of them.
  mlir::AffineExpr getTap(int64_t label, int64_t size) const {
    return isBackward ? size - 1 - taps[label] : taps[label];
  }
  /// The sums of products of `input` and `filter` at such indices, in the type of sums.
  mlir::Value buildGeneric(mlir::Value filter, llvm::ArrayRef<mlir::AffineExpr> inputExprs,
                           llvm::ArrayRef<mlir::AffineExpr> filterExprs);
  /// `result` with one dim for each that the op's result has.
  mlir::Value joinResultDims(mlir::Value result);

  mlir::OpBuilder &builder;
  array::ConvOp op;
  mlir::Location loc;
  array::ConvDimsAttr dims;
  mlir::Value input, filter;
  bool isBackward;
  llvm::SmallVector<mlir::utils::IteratorType> iterators;
  mlir::AffineExpr channel;                            // of the filter's inputs
  llvm::SmallVector<mlir::AffineExpr> positions, taps; // of each spatial dim
  llvm::SmallVector<mlir::AffineExpr> resultExprs;
  llvm::SmallVector<mlir::OpFoldResult> resultSizes;
  llvm::SmallVector<mlir::ReassociationIndices> resultDims; // loops that make a dim of the result

private:
  mlir::AffineExpr addLoop(mlir::utils::IteratorType type);
  mlir::Value multiplyAdd(mlir::OpBuilder &b, mlir::Location bodyLoc, mlir::ValueRange args);
};

} // namespace xc

#endif // XC_CONVERSION_CONVLOOPS_H
