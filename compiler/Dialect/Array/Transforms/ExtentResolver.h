//===- ExtentResolver.h - Bounded dynamic dims as arrays and extents ------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A value with bounded dynamic dims is replaced by an array of the bounds' sizes, and for each such
// dim the value that holds its extent: a rank-0 tensor of i64 between 0 and the bound. Ops are
// visited in program order. Each with such an operand has a rule, which builds the op on arrays and
// says which extents its results have; the old op is erased in the end. Rules are in four files:
//   ExtentRules.cpp        elementwise ops, reductions, scans, sorts, products
//   ExtentShapeRules.cpp   sizes, views, joins, and the ops that make and unmake extents
//   ExtentIndexRules.cpp   elements and slices at positions that are data
//   ExtentWindowRules.cpp  convolutions and reductions of windows
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_ARRAY_TRANSFORMS_EXTENTRESOLVER_H
#define XC_DIALECT_ARRAY_TRANSFORMS_EXTENTRESOLVER_H

#include "compiler/Dialect/Array/IR/ExpressionBuilder.h"
#include "compiler/Dialect/Array/Transforms/ExtentEquality.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

namespace xc::array {

/// One for each dim: what holds its extent, null where the host knows the size.
using Extents = llvm::SmallVector<mlir::Value>;

class ExtentResolver {
public:
  explicit ExtentResolver(mlir::func::FuncOp function)
      : function(function), builder(function.getContext()) {}

  mlir::LogicalResult run();

private:
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

  mlir::LogicalResult resolve(mlir::Block &block);
  mlir::LogicalResult resolve(mlir::Operation *op);
  bool hasExtents(mlir::Operation *op) const;
  mlir::LogicalResult applyRule(mlir::Operation *op);
  mlir::LogicalResult applyShapeRule(mlir::Operation *op);
  mlir::LogicalResult applyIndexRule(mlir::Operation *op);
  mlir::LogicalResult refuse(mlir::Operation *op);

  // ResolveExtents.cpp: control flow, and where kernels can save work.
  mlir::LogicalResult resolveWhile(WhileOp op);
  mlir::LogicalResult resolveIf(IfOp op);
  mlir::FailureOr<llvm::SmallVector<mlir::Value>> resolveYield(mlir::Operation *op,
                                                               mlir::Block &block,
                                                               llvm::ArrayRef<Extents> expected,
                                                               mlir::TypeRange types);
  /// Makes `rebuilt` stand for `op`: arrays first, then the extents of those that have any.
  void takeResults(mlir::Operation *op, mlir::Operation *rebuilt, llvm::ArrayRef<Extents> extents);
  /// Says of each of `extents` that it is not above the size of its dim of `array`.
  void setLimits(mlir::Value array, const Extents &extents);
  void markWork();
  /// A loop that carries extents, which are its last values.
  struct Loop {
    WhileOp op;
    llvm::SmallVector<mlir::Value> extents;
  };
  /// Lets `loop` carry one of those extents that are always equal.
  void mergeExtents(const Loop &loop);
  /// `array`, of which only what lies before `extents` is of interest.
  mlir::Value mark(mlir::Value array, llvm::ArrayRef<mlir::Value> extents);

  // ExtentRules.cpp
  mlir::LogicalResult resolveElementwise(mlir::Operation *op);
  mlir::LogicalResult resolveReduce(ReduceOp op);
  mlir::LogicalResult resolveReduceWith(ReduceWithOp op);
  mlir::LogicalResult resolveArg(mlir::Operation *op, int64_t axis, bool keepdims, bool isMax);
  mlir::LogicalResult resolveScan(mlir::Operation *op, int64_t axis, bool reverse,
                                  mlir::TypedAttr neutral);
  mlir::LogicalResult resolveSort(mlir::Operation *op, int64_t axis, bool descending);
  mlir::LogicalResult resolveTopK(TopKOp op);
  mlir::LogicalResult resolveSearchSorted(SearchSortedOp op);
  mlir::LogicalResult resolveMatMul(MatMulOp op);
  mlir::LogicalResult resolveDotGeneral(DotGeneralOp op);
  mlir::LogicalResult maskContracted(mlir::Operation *op, llvm::ArrayRef<int64_t> lhs,
                                     llvm::ArrayRef<int64_t> rhs,
                                     llvm::SmallVectorImpl<mlir::Value> &operands);

  // ExtentShapeRules.cpp
  mlir::LogicalResult resolveSetExtent(SetExtentOp op);
  mlir::LogicalResult resolveDim(mlir::Operation *op, mlir::Value tensor, int64_t dim);
  mlir::LogicalResult resolveSizeArithmetic(mlir::Operation *op);
  mlir::LogicalResult resolveIota(IotaOp op);
  mlir::LogicalResult resolveBroadcast(BroadcastInDimOp op);
  mlir::LogicalResult resolveReshape(ReshapeOp op);
  mlir::LogicalResult resolveTranspose(TransposeOp op);
  mlir::LogicalResult resolveReverse(ReverseOp op);
  mlir::LogicalResult resolveSlice(SliceOp op);
  mlir::LogicalResult resolvePad(PadOp op);
  mlir::LogicalResult resolveCast(mlir::tensor::CastOp op);
  mlir::LogicalResult resolveConcatenate(ConcatenateOp op);
  mlir::LogicalResult resolveAppend(AppendOp op);
  /// The sizes of a sized op's result, of which some are bounded dynamic ones.
  struct ResultShape {
    mlir::RankedTensorType type;
    llvm::SmallVector<mlir::Value> sizes;
    Extents extents;
  };
  mlir::FailureOr<ResultShape> getResultShape(ArraySizedOpInterface op);
  /// `operand` with `update` brought in along `axis` from position `start` on.
  mlir::Value writeAt(mlir::Value operand, int64_t axis, mlir::Value start, mlir::Value update);

  // ExtentIndexRules.cpp
  mlir::LogicalResult resolveTake(TakeOp op);
  mlir::LogicalResult resolveTakeAlongAxis(TakeAlongAxisOp op);
  mlir::LogicalResult resolveGather(GatherOp op);
  mlir::LogicalResult resolveScatter(ScatterOp op);
  mlir::LogicalResult resolveDynamicSlice(DynamicSliceOp op);
  mlir::LogicalResult resolveDynamicUpdateSlice(DynamicUpdateSliceOp op);
  /// `indices` kept below `extent` and not below 0.
  mlir::Value clampIndices(mlir::Value indices, mlir::Value extent);
  /// `value`, or 0 where one of `extents` is 0: what is taken of nothing.
  mlir::Value zeroIfEmpty(mlir::Value value, llvm::ArrayRef<mlir::Value> extents);

  // ExtentWindowRules.cpp
  mlir::LogicalResult resolveConv(ConvOp op);
  mlir::LogicalResult resolveReduceWindow(ReduceWindowOp op);
  mlir::LogicalResult resolveSelectAndScatter(SelectAndScatterOp op);
  mlir::LogicalResult prepareConv(ConvOp op, llvm::SmallVectorImpl<mlir::Value> &operands);
  mlir::LogicalResult endWindow(ConvOp op, int64_t spatial,
                                llvm::SmallVectorImpl<mlir::Value> &operands, Extents &extents);
  mlir::Value countPlacesUnder(ConvOp op, int64_t spatial);
  mlir::LogicalResult refuseGroups(ConvOp op, unsigned operand, int64_t dim);
  mlir::Value fillPadding(mlir::Value array, int64_t dim, mlir::Value extent,
                          const WindowDim &window, mlir::TypedAttr neutral);

  // What rules are made of.
  mlir::Value arrayOf(mlir::Value value) const;
  Extents extentsOf(mlir::Value value) const;
  mlir::Value extentOf(mlir::Value value, int64_t dim) const;
  llvm::SmallVector<mlir::Value> arraysOf(mlir::ValueRange values) const;
  ExpressionBuilder expressions(mlir::Operation *op);
  /// The size that the host knows of dim `dim` of `array`, as data.
  mlir::Value sizeAsData(mlir::Value array, int64_t dim);
  /// `count`, of any integer type, between 0 and size `dim` of `array`.
  mlir::Value clampExtent(mlir::Location loc, mlir::Value count, mlir::Value array, int64_t dim);
  /// Says that `extent` is not above the size of dim `dim` of `array`.
  void setLimit(mlir::Value extent, mlir::Value array, int64_t dim);
  /// `array` with `neutral` in the place of what lies behind `extent`.
  mlir::Value fillBehind(mlir::Value array, int64_t dim, mlir::Value extent, mlir::Value neutral);
  mlir::Value fillBehind(mlir::Value array, int64_t dim, mlir::Value extent,
                         mlir::TypedAttr neutral);
  /// What changes nothing in such a reduction.
  mlir::TypedAttr getNeutral(ReduceKind kind, mlir::Type element);
  /// Truth values in the shape of `array`: whether the index along `dim` is below `extent`.
  mlir::Value isBefore(mlir::Value array, int64_t dim, mlir::Value extent);
  /// The extent that all of `dims` have, null if the host knows all sizes. Dims of size 1 say
  /// nothing with `broadcast`. Anything else is an error of `op`.
  mlir::FailureOr<mlir::Value> unify(mlir::Operation *op, llvm::ArrayRef<OperandDim> dims,
                                     bool broadcast = false);
  mlir::LogicalResult refuseDim(mlir::Operation *op, unsigned operand, int64_t dim,
                                const llvm::Twine &why);
  /// The op on `operands`, of the types that follow from theirs.
  mlir::Operation *rebuild(mlir::Operation *op, mlir::ValueRange operands);
  /// Makes `array` stand for `value`.
  void define(mlir::Value value, mlir::Value array, Extents extents = {});
  void defineAll(mlir::Operation *old, mlir::Operation *rebuilt, const Extents &extents = {});

  mlir::func::FuncOp function;
  mlir::IRRewriter builder;
  llvm::DenseMap<mlir::Value, Bounded> bounded;
  llvm::DenseMap<mlir::Value, Size> sizes;
  ExtentEquality equality;
  /// Arrays with extents, in program order.
  llvm::SmallVector<Bounded> computed;
  llvm::SmallVector<mlir::Operation *> replaced;
  llvm::SmallVector<Loop> loops;
};

/// The smallest and the largest number of `type`, infinities included.
mlir::TypedAttr getLowest(mlir::Type type);
mlir::TypedAttr getHighest(mlir::Type type);

} // namespace xc::array

#endif // XC_DIALECT_ARRAY_TRANSFORMS_EXTENTRESOLVER_H
