//===- Requirements.h - What array ops require of sizes ----------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An op that requires something of its operands' sizes says so in `reifyRequirements`, beside its
// shape function, a composite in terms of its own operands. What types decide is the verifier's.
// What only the run tells becomes a requirement of who asks: a `plan.require` before the op, or a
// comparison of formulas, for which no op is made. The interface is attached to the ops when the
// dialect is loaded: their definitions do not know the plan dialect.
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_ARRAY_IR_REQUIREMENTS_H
#define XC_DIALECT_ARRAY_IR_REQUIREMENTS_H

#include "compiler/Dialect/Array/IR/ArrayOps.h"
#include "compiler/Dialect/Array/IR/RuntimeSizes.h"
#include "compiler/Dialect/Plan/IR/PlanOps.h"

namespace xc::array {

class AttentionGradientOp;

/// 1 where an array of `sizes` has elements, else 0.
mlir::OpFoldResult isNotEmpty(SizeBuilder &sizeBuilder, llvm::ArrayRef<mlir::OpFoldResult> sizes);

/// What an op requires of two sizes.
struct SizeRequirement {
  mlir::OpFoldResult left;
  plan::Comparison comparison;
  mlir::OpFoldResult right;
  /// What is expected, in a sentence that names the op.
  std::string what;
  /// Whether it is only that operands agree in a dim, of which other requirements have better
  /// words.
  bool isAgreement;
};

/// Takes what one op requires. Leaves out what surely holds.
class RequirementBuilder {
public:
  /// Makes `plan.require`s at `builder`, which stands before `op`. Leaves out what follows from the
  /// loops of the linalg op that `op` becomes.
  RequirementBuilder(mlir::OpBuilder &builder, mlir::Operation *op)
      : builder(&builder), op(op), sizes(builder, op->getLoc()) {}

  /// Hands requirements to `take`, which outlives it, in sizes of `analysis`. What types of results
  /// say of `runtimeSizes` is not required: they are another matter than bounds.
  RequirementBuilder(SizeAnalysis &analysis, RuntimeSizes &runtimeSizes, mlir::Operation *op,
                     llvm::function_ref<void(SizeRequirement)> take)
      : op(op), sizes(analysis, op->getLoc()), runtimeSizes(&runtimeSizes), take(take) {}

  SizeBuilder &getSizes() { return sizes; }

  /// Requires that two sizes compare so. `what` says what is expected, after the op's name.
  void require(mlir::OpFoldResult left, plan::Comparison comparison, mlir::OpFoldResult right,
               const llvm::Twine &what);

  /// Requires that dim `leftDim` of `left` is as large as dim `rightDim` of `right`.
  void requireEqualDims(mlir::Value left, int64_t leftDim, mlir::Value right, int64_t rightDim);

  /// Requires the same of two dims that one loop of a linalg op goes over.
  void requireAgreement(mlir::Value left, int64_t leftDim, mlir::Value right, int64_t rightDim);
  /// Likewise of an operand's dim and what the type of result number `number` says.
  void requireAgreementWithResult(mlir::Value operand, int64_t operandDim, int64_t resultDim,
                                  int64_t number = 0);
  /// Likewise of an operand's dim and the size of a loop that the result has.
  void requireAgreementWithSize(mlir::Value operand, int64_t operandDim, mlir::OpFoldResult size);
  /// Likewise of two sizes, of tensors of these types.
  void requireAgreementOfSizes(mlir::OpFoldResult left, mlir::Type leftType,
                               mlir::OpFoldResult right, mlir::Type rightType) {
    requireOfLoop(left, leftType, right, rightType);
  }
  /// Likewise of all dims of `operand` and those of the result.
  void requireShapeOfResult(mlir::Value operand);

  /// Likewise of the first `dimCount` dims of `operands`, aligned with those of the result before
  /// the last `trailing` ones, where they are not broadcast; and of the result, unless that is
  /// left to requireResultTypes().
  void requireBroadcastDims(mlir::ValueRange operands, int64_t dimCount, int64_t trailing,
                            bool withResult = true);

  /// Of a composite: requires that what the types of its results say of their dims is what they
  /// come to by its operands.
  void requireResultTypes();
  /// The same of one dim: `size` is what it comes to, in a tensor of type `from`.
  void requireSizeOfType(mlir::OpFoldResult size, mlir::RankedTensorType from, int64_t dim,
                         mlir::RankedTensorType to);
  /// Requires that `operand` has as many elements as a tensor of sizes `to`.
  void requireElementCount(mlir::Value operand, llvm::ArrayRef<mlir::OpFoldResult> to);

  /// Requires that what the type of the first result says of its dims is what they come to by
  /// `sizes`.
  void requireResultSizes(llvm::ArrayRef<mlir::OpFoldResult> resultSizes);

  /// Requires that `count` elements are no more than `counter`, a signless integer type, counts:
  /// their indices, and their number.
  void requireCounted(mlir::OpFoldResult count, mlir::Type counter);

  /// Requires that dim `dim` of `operand` is not empty where the result, of `resultSizes`, has
  /// elements; `purpose` says what for.
  void requireElement(llvm::ArrayRef<mlir::OpFoldResult> resultSizes, mlir::Value operand,
                      int64_t dim, llvm::StringRef purpose);
  /// The same in other words.
  void requireElementFor(llvm::ArrayRef<mlir::OpFoldResult> resultSizes, mlir::Value operand,
                         int64_t dim, const llvm::Twine &what);

  /// Requires that a box of `boxSizes` fits into `operand`.
  void requireBox(mlir::Value operand, llvm::ArrayRef<mlir::OpFoldResult> boxSizes);

  /// Requires that dim `axis` of `operand` has `least` elements.
  void requireLength(mlir::Value operand, int64_t axis, int64_t least);

  /// Requires that the window of `windowSize` elements that the op moves over dim `dim` of
  /// `operand` has as many `positions` there as `known` says, if that is not dynamic: at least as
  /// many where the op takes the first ones. They are dim `resultDim` of the result.
  void requirePositions(mlir::Value operand, int64_t dim, int64_t resultDim,
                        mlir::OpFoldResult windowSize, mlir::OpFoldResult positions, int64_t known);

private:
  void add(mlir::OpFoldResult left, plan::Comparison comparison, mlir::OpFoldResult right,
           std::string what, bool isAgreement = false);
  void requireOfLoop(mlir::OpFoldResult left, mlir::Type leftType, mlir::OpFoldResult right,
                     mlir::Type rightType);
  bool isAsked() const { return !builder; }
  /// Whether dim `dim` of result number `number` is made of runtime sizes.
  bool isRuntimeSize(int64_t number, int64_t dim);

  /// Null where an analysis asks.
  mlir::OpBuilder *builder = nullptr;
  mlir::Operation *op;
  SizeBuilder sizes;
  RuntimeSizes *runtimeSizes = nullptr;
  llvm::function_ref<void(SizeRequirement)> take;
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
void reifyRequirements(AppendOp op, RequirementBuilder &requirements);
void reifyRequirements(PadToBoundOp op, RequirementBuilder &requirements);

// Of composites.
void reifyRequirements(ClampOp op, RequirementBuilder &requirements);
void reifyRequirements(ExpandDimsOp op, RequirementBuilder &requirements);
void reifyRequirements(SqueezeOp op, RequirementBuilder &requirements);
void reifyRequirements(SplitOp op, RequirementBuilder &requirements);
void reifyRequirements(LayerNormOp op, RequirementBuilder &requirements);
void reifyRequirements(RmsNormOp op, RequirementBuilder &requirements);
void reifyRequirements(BatchNormInferenceOp op, RequirementBuilder &requirements);
void reifyRequirements(BatchNormTrainingOp op, RequirementBuilder &requirements);
void reifyRequirements(GroupNormOp op, RequirementBuilder &requirements);
void reifyRequirements(RopeOp op, RequirementBuilder &requirements);
void reifyRequirements(ResizeOp op, RequirementBuilder &requirements);
void reifyRequirements(PartitionOp op, RequirementBuilder &requirements);
void reifyRequirements(MaskedScatterOp op, RequirementBuilder &requirements);
void reifyRequirements(NonzeroOp op, RequirementBuilder &requirements);
void reifyRequirements(CompressOp op, RequirementBuilder &requirements);
void reifyRequirements(RandomBernoulliOp op, RequirementBuilder &requirements);
void reifyRequirements(GroupedMatMulOp op, RequirementBuilder &requirements);
void reifyRequirements(AttentionOp op, RequirementBuilder &requirements);
void reifyRequirements(AttentionGradientOp op, RequirementBuilder &requirements);
void reifyRequirements(PagedAttentionOp op, RequirementBuilder &requirements);

/// Gives ops of the array dialect their requirements.
void attachRequirements(mlir::MLIRContext *context);

} // namespace xc::array

#include "compiler/Dialect/Array/IR/RequirementInterface.h.inc"

#endif // XC_DIALECT_ARRAY_IR_REQUIREMENTS_H
