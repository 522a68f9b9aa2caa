//===- ScalarRaiser.h - The scalars of a function as tensors ----*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CONVERSION_SCALARRAISER_H
#define XC_CONVERSION_SCALARRAISER_H

#include "compiler/Conversion/TensorInterpreter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace xc {

/// Whether `op` is one of arith or math on scalars.
bool isScalarOp(mlir::Operation *op);

/// The scalars of one function.
class Raiser {
public:
  explicit Raiser(mlir::MLIRContext *context) : builder(context) {}

  mlir::LogicalResult run(mlir::Block &block);
  /// Behind all blocks: until then values are known by where they lie in memory.
  void eraseDead();

private:
  bool fold(mlir::Operation *op);
  bool foldExtract(mlir::tensor::ExtractOp extract);
  bool evaluate(mlir::Operation *op);
  void visit(mlir::Operation *op);
  void visitScalar(mlir::Operation *op);
  mlir::LogicalResult verifyRaised(mlir::Operation *op);
  mlir::LogicalResult visitAssert(mlir::cf::AssertOp op);
  bool require(mlir::arith::CmpIOp compare, llvm::StringRef message);
  void visitBodies(mlir::Operation *op);
  void raiseFill(mlir::linalg::FillOp fill);
  void raiseElements(mlir::tensor::FromElementsOp op);
  void raiseSlice(mlir::tensor::ExtractSliceOp slice);
  void raiseInsertedSlice(mlir::tensor::InsertSliceOp insert);
  void raiseInsertedElement(mlir::tensor::InsertOp insert);
  void raiseSelect(mlir::arith::SelectOp select);
  void raisePad(mlir::tensor::PadOp pad);
  void visitRegions(mlir::Operation *op);
  /// `update` in `whole`, at `starts`.
  mlir::Value put(mlir::Location loc, mlir::Value update, mlir::Value whole,
                  llvm::ArrayRef<mlir::OpFoldResult> starts);

  bool isData(mlir::Value value) const { return raised.contains(value); }
  /// Whether another value stands for this one now.
  bool isReplaced(mlir::Value value) const { return isData(value) || indices.contains(value); }
  /// Whether bodies cannot read `value` of outside: they read constants, indices and tensors.
  bool isForeign(mlir::Value value) const {
    mlir::Operation *op = value.getDefiningOp();
    return isReplaced(value) || (op && isScalarOp(op) && !value.getType().isIndex());
  }
  /// `op`, of type index.
  void computeAsIndex(mlir::Operation *op);
  /// `op` in a linalg op without loops.
  void raise(mlir::Operation *op);
  /// A linalg op over `shape` that reads nothing but what its body extracts.
  mlir::Value compute(mlir::Location loc, mlir::RankedTensorType type,
                      llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Location)> body);
  /// What a body has for `value`, which may be one that was raised.
  mlir::Value inBody(mlir::OpBuilder &body, mlir::Location loc, mlir::Value value);
  /// `value`, of any scalar type, as a tensor of rank 0.
  mlir::Value asTensor(mlir::Location loc, mlir::Value value);

  mlir::OpBuilder builder;
  TensorInterpreter interpreter;
  /// The tensor of rank 0 that a scalar of data became.
  llvm::DenseMap<mlir::Value, mlir::Value> raised;
  /// The index that an integer computed of sizes is.
  llvm::DenseMap<mlir::Value, mlir::Value> indices;
  /// The ops that were visited, those of inner blocks first.
  llvm::SmallVector<llvm::SmallVector<mlir::Operation *>> blocks;
  /// What was found in the regions of array.while and array.if.
  mlir::LogicalResult inner = mlir::success();
};

} // namespace xc

#endif // XC_CONVERSION_SCALARRAISER_H
