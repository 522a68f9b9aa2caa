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

/// Checks that the results of `op` are compatible with the types that it infers.
mlir::LogicalResult verifyInferredTypes(mlir::Operation *op);

/// Gives an op `verifyInferredTypes` as a verifier.
template <typename ConcreteOp>
struct InferenceVerified : mlir::OpTrait::TraitBase<ConcreteOp, InferenceVerified> {
  static mlir::LogicalResult verifyTrait(mlir::Operation *op) { return verifyInferredTypes(op); }
};

enum class SizeOperation { Add, Sub, Mul, Max, Min, FloorDiv, CeilDiv };

/// Sizes that are no values of the program, but attributes of an analysis: formulas, say. A null
/// size is none that the analysis can tell, and nor is what is made of it.
class SizeAnalysis {
public:
  /// Dynamic size `dim` of tensor `value`.
  virtual mlir::OpFoldResult getDimSize(mlir::Value value, int64_t dim) = 0;
  /// Operands are sizes of the analysis, constants, or values of the program.
  virtual mlir::OpFoldResult combineSizes(SizeOperation operation, mlir::OpFoldResult lhs,
                                          mlir::OpFoldResult rhs) = 0;
  /// The only result of `map` at these values of the program.
  virtual mlir::OpFoldResult applyMap(mlir::AffineMap map, mlir::ValueRange operands) = 0;

protected:
  ~SizeAnalysis() = default;
};

/// Arithmetic on sizes that folds constants. What remains becomes `arith` ops; where an analysis
/// asks, it is the analysis's, and no op is made.
class SizeBuilder {
public:
  /// Which sizes a shape function gives of a dim that the result's type knows.
  enum class KnownSizes { OfType, OfOperands };

  SizeBuilder(mlir::OpBuilder &builder, mlir::Location location)
      : builder(&builder), location(location), context(builder.getContext()) {}
  SizeBuilder(SizeAnalysis &analysis, mlir::Location location,
              KnownSizes knownSizes = KnownSizes::OfType)
      : analysis(&analysis), location(location), context(location.getContext()),
        knownSizes(knownSizes) {}

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
  /// The only result of `map` at `operands`.
  mlir::OpFoldResult apply(mlir::AffineMap map, mlir::ValueRange operands);
  /// The size as a value of the program; not for an analysis.
  mlir::Value value(mlir::OpFoldResult size);

  /// Null where sizes become ops.
  SizeAnalysis *getAnalysis() const { return analysis; }
  KnownSizes getKnownSizes() const { return knownSizes; }

private:
  template <typename OpTy>
  mlir::OpFoldResult fold(SizeOperation operation, mlir::OpFoldResult lhs, mlir::OpFoldResult rhs);

  mlir::OpBuilder *builder = nullptr;
  SizeAnalysis *analysis = nullptr;
  mlir::Location location;
  mlir::MLIRContext *context;
  KnownSizes knownSizes = KnownSizes::OfType;
};

mlir::LogicalResult reifyElementwiseShape(mlir::Operation *op, SizeBuilder &sizeBuilder,
                                          mlir::ReifiedRankedShapedTypeDims &shapes);

/// From the first to the last of `count` elements that are `distance` apart, inclusive.
mlir::OpFoldResult spreadSize(SizeBuilder &sizes, mlir::OpFoldResult count, int64_t distance);

/// The same without a maximum, for what goes into a maximum itself: formulas would nest those.
/// Ranges say less of it.
mlir::OpFoldResult spreadSizeWithoutMax(SizeBuilder &sizes, mlir::OpFoldResult count,
                                        int64_t distance);

/// Replaces the sizes that `type` knows by its constants, unless `sizeBuilder` asks for those of
/// operands; `shapes` then has `sizes` appended. The last step of every `reifySizes`.
mlir::LogicalResult reifyAs(mlir::Type type, llvm::SmallVector<mlir::OpFoldResult> sizes,
                            SizeBuilder &sizeBuilder, mlir::ReifiedRankedShapedTypeDims &shapes);

/// Gives ops that have `reifySizes` the interface that asks by ops.
void attachShapes(mlir::MLIRContext *context);

} // namespace xc::array

#endif // XC_DIALECT_ARRAY_IR_SHAPERULES_H
