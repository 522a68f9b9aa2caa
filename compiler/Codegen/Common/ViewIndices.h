//===- ViewIndices.h - Where elements of views are in their sources -*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An element of a view is an element of the view's source at other indices. Which ones is said here
// once, for analyses and for both targets. What an index is differs: an expression over loops,
// lanes of a vector, a coordinate of a thread. So the functions take an `Arithmetic`, which has
//
//   Index                        an index
//   get(OpFoldResult)            the index that is this number
//   add(Index, Index)            a sum
//   scale(Index, OpFoldResult)   a product with a size, an offset or a stride that is not 1
//   split(Index, sizes)          the indices of a row-major position in two or more dims, none of
//                                which is known to be of size 1
//   getSizes(Value)              the sizes of a tensor
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_COMMON_VIEWINDICES_H
#define XC_CODEGEN_COMMON_VIEWINDICES_H

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

namespace xc::codegen {

/// The indices in the source of `op` of its element at `indices`.
template <typename Arithmetic>
llvm::SmallVector<typename Arithmetic::Index>
getSourceIndices(Arithmetic &arithmetic, mlir::tensor::ExtractSliceOp op,
                 llvm::ArrayRef<typename Arithmetic::Index> indices) {
  using Index = typename Arithmetic::Index;
  llvm::SmallVector<Index> source;
  llvm::SmallBitVector dropped = op.getDroppedDims();
  size_t next = 0;
  for (auto [dim, offset, stride] : llvm::enumerate(op.getMixedOffsets(), op.getMixedStrides())) {
    if (dropped[dim]) {
      source.push_back(arithmetic.get(offset));
      continue;
    }
    Index index = indices[next++];
    if (!mlir::isConstantIntValue(stride, 1))
      index = arithmetic.scale(index, stride);
    source.push_back(mlir::isZeroInteger(offset) ? index
                                                 : arithmetic.add(index, arithmetic.get(offset)));
  }
  return source;
}

/// Likewise. Dims of size 1 do not count.
template <typename Arithmetic>
llvm::SmallVector<typename Arithmetic::Index>
getSourceIndices(Arithmetic &arithmetic, mlir::tensor::ExpandShapeOp op,
                 llvm::ArrayRef<typename Arithmetic::Index> indices) {
  using Index = typename Arithmetic::Index;
  llvm::SmallVector<Index> source;
  llvm::SmallVector<mlir::OpFoldResult> sizes = op.getMixedOutputShape();
  for (const mlir::ReassociationIndices &group : op.getReassociationIndices()) {
    std::optional<Index> position;
    for (int64_t dim : group)
      if (!mlir::isConstantIntValue(sizes[dim], 1))
        position = position ? arithmetic.add(arithmetic.scale(*position, sizes[dim]), indices[dim])
                            : indices[dim];
    source.push_back(position ? *position
                              : arithmetic.get(mlir::IntegerAttr::get(
                                    mlir::IndexType::get(op.getContext()), 0)));
  }
  return source;
}

/// Likewise.
template <typename Arithmetic>
llvm::SmallVector<typename Arithmetic::Index>
getSourceIndices(Arithmetic &arithmetic, mlir::tensor::CollapseShapeOp op,
                 llvm::ArrayRef<typename Arithmetic::Index> indices) {
  using Index = typename Arithmetic::Index;
  Index zero = arithmetic.get(mlir::IntegerAttr::get(mlir::IndexType::get(op.getContext()), 0));
  llvm::SmallVector<Index> source(op.getSrcType().getRank(), zero);
  llvm::SmallVector<mlir::OpFoldResult> sizes = arithmetic.getSizes(op.getSrc());
  for (auto [group, position] : llvm::zip_equal(op.getReassociationIndices(), indices)) {
    llvm::SmallVector<int64_t> dims = llvm::filter_to_vector(
        group, [&](int64_t dim) { return !mlir::isConstantIntValue(sizes[dim], 1); });
    if (dims.size() == 1) {
      source[dims.front()] = position;
    } else if (!dims.empty()) {
      llvm::SmallVector<mlir::OpFoldResult> longSizes;
      for (int64_t dim : dims)
        longSizes.push_back(sizes[dim]);
      for (auto [dim, index] : llvm::zip_equal(dims, arithmetic.split(position, longSizes)))
        source[dim] = index;
    }
  }
  return source;
}

/// Of any of them; the source is the first operand.
template <typename Arithmetic>
llvm::SmallVector<typename Arithmetic::Index>
getSourceIndices(Arithmetic &arithmetic, mlir::Operation *view,
                 llvm::ArrayRef<typename Arithmetic::Index> indices) {
  if (auto slice = mlir::dyn_cast<mlir::tensor::ExtractSliceOp>(view))
    return getSourceIndices(arithmetic, slice, indices);
  if (auto expand = mlir::dyn_cast<mlir::tensor::ExpandShapeOp>(view))
    return getSourceIndices(arithmetic, expand, indices);
  return getSourceIndices(arithmetic, mlir::cast<mlir::tensor::CollapseShapeOp>(view), indices);
}

/// Indices that are expressions over loops; null where one is not known. What is no constant makes
/// those unknown that it goes into.
struct IndexExpressions {
  using Index = mlir::AffineExpr;

  mlir::AffineExpr get(mlir::OpFoldResult number) const {
    std::optional<int64_t> constant = mlir::getConstantIntValue(number);
    return constant ? mlir::getAffineConstantExpr(*constant, context) : mlir::AffineExpr();
  }
  mlir::AffineExpr add(mlir::AffineExpr lhs, mlir::AffineExpr rhs) const {
    return lhs && rhs ? lhs + rhs : mlir::AffineExpr();
  }
  mlir::AffineExpr scale(mlir::AffineExpr index, mlir::OpFoldResult factor) const {
    std::optional<int64_t> constant = mlir::getConstantIntValue(factor);
    if (index && index == 0)
      return index;
    return index && constant ? index * *constant : mlir::AffineExpr();
  }
  llvm::SmallVector<mlir::OpFoldResult> getSizes(mlir::Value tensor) const {
    llvm::SmallVector<mlir::OpFoldResult> sizes;
    for (int64_t size : mlir::cast<mlir::ShapedType>(tensor.getType()).getShape())
      sizes.push_back(mlir::IntegerAttr::get(mlir::IndexType::get(context), size));
    return sizes;
  }

  mlir::MLIRContext *context;
};

} // namespace xc::codegen

#endif // XC_CODEGEN_COMMON_VIEWINDICES_H
