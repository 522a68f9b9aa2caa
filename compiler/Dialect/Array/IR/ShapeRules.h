//===- ShapeRules.h - Shape inference shared by array ops -*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_ARRAY_IR_SHAPERULES_H
#define XC_DIALECT_ARRAY_IR_SHAPERULES_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"

namespace xc::array {

/// Dims, `ShapedType::kDynamic` where they are `?`.
using Dims = llvm::SmallVector<int64_t>;

/// Where and for which op a rule is checked. Reports nothing without a location.
struct RuleContext {
  std::optional<mlir::Location> location;
  llvm::StringRef opName;

  template <typename... Args> mlir::LogicalResult error(Args &&...args) const {
    return mlir::emitOptionalError(location, "'", opName, "' op ", std::forward<Args>(args)...);
  }
};

/// `[4, ?, 1]`, for messages.
std::string formatDims(llvm::ArrayRef<int64_t> dims);
/// `4` or `?`, for messages.
std::string formatDim(int64_t dim);

/// True unless both are static and different.
bool areCompatibleDims(int64_t lhs, int64_t rhs);
/// The size of a dim of which two descriptions are known to agree.
int64_t mergeDims(int64_t lhs, int64_t rhs);
/// Tensor types that may describe one value: equal ranks, no two different static dims.
bool areCompatibleShapes(mlir::TypeRange lhs, mlir::TypeRange rhs);
/// As `areCompatibleShapes`, and of equal element types.
bool areCompatibleTypes(mlir::TypeRange lhs, mlir::TypeRange rhs);

mlir::LogicalResult checkAxis(const RuleContext &rule, int64_t axis, int64_t rank);
/// Checks that `axes` is strictly increasing and within `[0, rank)`.
mlir::LogicalResult checkAxes(const RuleContext &rule, llvm::ArrayRef<int64_t> axes, int64_t rank);
/// `inferReturnTypes` of ops on lines along dim `axis`, whose result is like their operand.
mlir::LogicalResult inferAlongAxis(const RuleContext &rule, mlir::Value operand, int64_t axis,
                                   llvm::SmallVectorImpl<mlir::Type> &inferred);
mlir::LogicalResult checkSameElementType(const RuleContext &rule, mlir::ValueRange operands);

/// The broadcasting rule of the dialect (see its description).
mlir::FailureOr<Dims> broadcastShapes(const RuleContext &rule, llvm::ArrayRef<int64_t> lhs,
                                      llvm::ArrayRef<int64_t> rhs);
/// The broadcast shape of any number of tensors.
mlir::FailureOr<Dims> broadcastOperands(const RuleContext &rule, mlir::ValueRange operands);
/// The shape that remains when `axes` are reduced.
Dims reducedShape(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> axes, bool keepdims);

/// `inferReturnTypes` of elementwise ops with one element type throughout.
mlir::LogicalResult inferElementwiseType(llvm::StringRef opName,
                                         std::optional<mlir::Location> location,
                                         mlir::ValueRange operands,
                                         llvm::SmallVectorImpl<mlir::Type> &inferred);
/// `inferReturnTypes` of elementwise ops that return truth values.
mlir::LogicalResult inferElementwiseTruthType(llvm::StringRef opName,
                                              std::optional<mlir::Location> location,
                                              mlir::ValueRange operands,
                                              llvm::SmallVectorImpl<mlir::Type> &inferred);

mlir::LogicalResult reifyElementwiseShape(mlir::Operation *op, mlir::OpBuilder &builder,
                                          mlir::ReifiedRankedShapedTypeDims &shapes);

/// Checks that the results of `op` are compatible with the types that it infers.
mlir::LogicalResult verifyInferredTypes(mlir::Operation *op);

/// Gives an op `verifyInferredTypes` as a verifier.
template <typename ConcreteOp>
struct InferenceVerified : mlir::OpTrait::TraitBase<ConcreteOp, InferenceVerified> {
  static mlir::LogicalResult verifyTrait(mlir::Operation *op) { return verifyInferredTypes(op); }
};

/// Arithmetic on sizes that folds constants; what remains becomes `arith` ops.
class SizeBuilder {
public:
  SizeBuilder(mlir::OpBuilder &builder, mlir::Location location)
      : builder(builder), location(location) {}

  /// Size `dim` of tensor `value`.
  mlir::OpFoldResult size(mlir::Value value, int64_t dim);
  /// Every size of tensor `value`.
  llvm::SmallVector<mlir::OpFoldResult> sizes(mlir::Value value);
  mlir::OpFoldResult constant(int64_t value);
  mlir::OpFoldResult add(mlir::OpFoldResult lhs, mlir::OpFoldResult rhs);
  mlir::OpFoldResult sub(mlir::OpFoldResult lhs, mlir::OpFoldResult rhs);
  mlir::OpFoldResult mul(mlir::OpFoldResult lhs, mlir::OpFoldResult rhs);
  mlir::OpFoldResult max(mlir::OpFoldResult lhs, mlir::OpFoldResult rhs);
  mlir::OpFoldResult min(mlir::OpFoldResult lhs, mlir::OpFoldResult rhs);
  mlir::OpFoldResult floorDiv(mlir::OpFoldResult lhs, mlir::OpFoldResult rhs);
  mlir::OpFoldResult ceilDiv(mlir::OpFoldResult lhs, mlir::OpFoldResult rhs);
  mlir::Value value(mlir::OpFoldResult size);

private:
  template <typename OpTy> mlir::OpFoldResult fold(mlir::OpFoldResult lhs, mlir::OpFoldResult rhs);

  mlir::OpBuilder &builder;
  mlir::Location location;
};

/// From the first to the last of `count` elements that are `distance` apart, inclusive.
mlir::OpFoldResult spreadSize(SizeBuilder &sizes, mlir::OpFoldResult count, int64_t distance);

/// The same without a maximum, for what goes into a maximum itself: formulas would nest those.
/// Ranges say less of it.
mlir::OpFoldResult spreadSizeWithoutMax(SizeBuilder &sizes, mlir::OpFoldResult count,
                                        int64_t distance);

/// Replaces the sizes that `type` knows by its constants; `shapes` then has `sizes`
/// appended. The last step of every `reifyResultShapes`.
mlir::LogicalResult reifyAs(mlir::Type type, llvm::SmallVector<mlir::OpFoldResult> sizes,
                            mlir::OpBuilder &builder, mlir::ReifiedRankedShapedTypeDims &shapes);

} // namespace xc::array

#endif // XC_DIALECT_ARRAY_IR_SHAPERULES_H
