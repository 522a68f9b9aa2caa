//===- Requirements.h - What array ops demand of sizes ----------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An op that demands something of its operands' sizes says so in `reifyRequirements`, beside its
// shape function. What types decide is the verifier's; what only the run tells becomes a
// `plan.require` before the op. The interface is attached to the ops when the dialect is loaded:
// their definitions do not know the plan dialect.
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_ARRAY_IR_REQUIREMENTS_H
#define XC_DIALECT_ARRAY_IR_REQUIREMENTS_H

#include "compiler/Dialect/Array/IR/ArrayOps.h"
#include "compiler/Dialect/Plan/IR/PlanOps.h"

namespace xc::array {

/// Which requirements are wanted.
enum class RequirementScope {
  All,
  /// Those that do not follow from the loops of the linalg op that an op becomes.
  BeyondLoops,
};

/// 1 where an array of `sizes` has elements, else 0.
mlir::OpFoldResult isNotEmpty(SizeBuilder &sizeBuilder, llvm::ArrayRef<mlir::OpFoldResult> sizes);

/// Makes the `plan.require`s of one op, before it. Makes nothing where a comparison surely holds.
class RequirementBuilder {
public:
  /// `builder` stands before `op`.
  RequirementBuilder(mlir::OpBuilder &builder, mlir::Operation *op,
                     RequirementScope scope = RequirementScope::All)
      : builder(builder), op(op), scope(scope), sizes(builder, op->getLoc()) {}

  mlir::OpBuilder &getBuilder() { return builder; }
  SizeBuilder &getSizes() { return sizes; }

  /// Demands that two sizes compare so. `what` says what is expected, after the op's name.
  void require(mlir::OpFoldResult left, plan::Comparison comparison, mlir::OpFoldResult right,
               const llvm::Twine &what);

  /// Demands that dim `leftDim` of `left` is as large as dim `rightDim` of `right`.
  void requireEqualDims(mlir::Value left, int64_t leftDim, mlir::Value right, int64_t rightDim);

  /// Demands the same of two dims that one loop of a linalg op goes over.
  void requireAgreement(mlir::Value left, int64_t leftDim, mlir::Value right, int64_t rightDim);
  /// Likewise of an operand's dim and what the type of result number `number` says.
  void requireAgreementWithResult(mlir::Value operand, int64_t operandDim, int64_t resultDim,
                                  int64_t number = 0);
  /// Likewise of an operand's dim and the size of a loop that the result has.
  void requireAgreementWithSize(mlir::Value operand, int64_t operandDim, mlir::OpFoldResult size);
  /// Likewise of all dims of `operand` and those of the result.
  void requireShapeOfResult(mlir::Value operand);

  /// Likewise of the first `dimCount` dims of `operands`, aligned with those of the result before
  /// the last `trailing` ones, where they are not broadcast.
  void requireBroadcastDims(mlir::ValueRange operands, int64_t dimCount, int64_t trailing);

  /// Demands that what the type of the first result says of its dims is what they come to by
  /// `sizes`.
  void requireResultSizes(llvm::ArrayRef<mlir::OpFoldResult> resultSizes);

  /// Demands that `count` elements are no more than `counter`, a signless integer type, counts:
  /// their indices, and their number.
  void requireCounted(mlir::OpFoldResult count, mlir::Type counter);

  /// Demands that dim `dim` of `operand` is not empty where the result, of `resultSizes`, has
  /// elements; `purpose` says what for.
  void requireElement(llvm::ArrayRef<mlir::OpFoldResult> resultSizes, mlir::Value operand,
                      int64_t dim, llvm::StringRef purpose);

  /// Demands that a box of `boxSizes` fits into `operand`.
  void requireBox(mlir::Value operand, llvm::ArrayRef<mlir::OpFoldResult> boxSizes);

  /// Demands that dim `axis` of `operand` has `least` elements.
  void requireLength(mlir::Value operand, int64_t axis, int64_t least);

  /// Demands that the window of `windowSize` elements that the op moves over dim `dim` of `operand`
  /// has as many `positions` there as `known` says, if that is not dynamic: at least as many where
  /// the op takes the first ones.
  void requirePositions(mlir::Value operand, int64_t dim, mlir::OpFoldResult windowSize,
                        mlir::OpFoldResult positions, int64_t known);

private:
  void requireOfLoop(mlir::OpFoldResult left, mlir::Type leftType, mlir::OpFoldResult right,
                     mlir::Type rightType);

  mlir::OpBuilder &builder;
  mlir::Operation *op;
  RequirementScope scope;
  SizeBuilder sizes;
};

// Of single ops, beside their shape functions.
void reifyRequirements(TransposeOp op, RequirementBuilder &requirements);
void reifyRequirements(ReverseOp op, RequirementBuilder &requirements);
void reifyRequirements(SliceOp op, RequirementBuilder &requirements);
void reifyRequirements(DynamicUpdateSliceOp op, RequirementBuilder &requirements);
void reifyRequirements(ConcatenateOp op, RequirementBuilder &requirements);
void reifyRequirements(PadOp op, RequirementBuilder &requirements);
void reifyRequirements(TakeOp op, RequirementBuilder &requirements);
void reifyRequirements(TakeAlongAxisOp op, RequirementBuilder &requirements);
void reifyRequirements(GatherOp op, RequirementBuilder &requirements);
void reifyRequirements(ScatterOp op, RequirementBuilder &requirements);
void reifyRequirements(ArgSortOp op, RequirementBuilder &requirements);
void reifyRequirements(TopKOp op, RequirementBuilder &requirements);
void reifyRequirements(SearchSortedOp op, RequirementBuilder &requirements);
void reifyRequirements(ReduceOp op, RequirementBuilder &requirements);
void reifyRequirements(ReduceWithOp op, RequirementBuilder &requirements);
void reifyRequirements(ArgMaxOp op, RequirementBuilder &requirements);
void reifyRequirements(ArgMinOp op, RequirementBuilder &requirements);
void reifyRequirements(ReduceWindowOp op, RequirementBuilder &requirements);
void reifyRequirements(SelectAndScatterOp op, RequirementBuilder &requirements);
void reifyRequirements(ConvOp op, RequirementBuilder &requirements);
void reifyRequirements(CustomKernelOp op, RequirementBuilder &requirements);
void reifyRequirements(IotaOp op, RequirementBuilder &requirements);
void reifyRequirements(BroadcastInDimOp op, RequirementBuilder &requirements);
void reifyRequirements(ReshapeOp op, RequirementBuilder &requirements);
void reifyRequirements(DynamicSliceOp op, RequirementBuilder &requirements);
void reifyRequirements(MatMulOp op, RequirementBuilder &requirements);
void reifyRequirements(DotGeneralOp op, RequirementBuilder &requirements);

/// Gives ops of the array dialect their requirements.
void attachRequirements(mlir::MLIRContext *context);

} // namespace xc::array

#include "compiler/Dialect/Array/IR/RequirementInterface.h.inc"

#endif // XC_DIALECT_ARRAY_IR_REQUIREMENTS_H
