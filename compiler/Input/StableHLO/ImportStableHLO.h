//===- ImportStableHLO.h - StableHLO ops as array ops -----------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_INPUT_STABLEHLO_IMPORTSTABLEHLO_H
#define XC_INPUT_STABLEHLO_IMPORTSTABLEHLO_H

#include "compiler/Dialect/Array/IR/ExpressionBuilder.h"
#include "compiler/Dialect/Array/IR/TensorTypes.h"
#include "compiler/Input/StableHLO/StableHLO.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/TypeUtilities.h"

#include <optional>

namespace xc::stablehlo_import {

/// What replaces an op's results, or why nothing does.
class Result {
public:
  Result(mlir::Value value) : values{value} {}
  Result(llvm::SmallVector<mlir::Value> values) : values(std::move(values)) {}
  /// The op is not supported because of `why`, a clause without full stop.
  static Result refuse(const llvm::Twine &why) {
    Result result((llvm::SmallVector<mlir::Value>()));
    result.why = why.str();
    return result;
  }

  bool isRefused() const { return why.has_value(); }
  llvm::StringRef getReason() const { return *why; }
  llvm::ArrayRef<mlir::Value> getValues() const { return values; }

private:
  llvm::SmallVector<mlir::Value> values;
  std::optional<std::string> why;
};

/// Nothing where another family of ops has to be asked.
using Replacement = std::optional<Result>;

// One function for each family. Operands have elements of our types, and static shapes but for ops
// that takesOpenSizes() names; ops in
// regions have been converted, but those of a sort's comparator.
Replacement convertElementwise(mlir::Operation *op, array::ExpressionBuilder &e);
Replacement convertFunctions(mlir::Operation *op, array::ExpressionBuilder &e);
Replacement convertSpecialFunctions(mlir::Operation *op, array::ExpressionBuilder &e);
Replacement convertMovement(mlir::Operation *op, array::ExpressionBuilder &e);
Replacement convertSizes(mlir::Operation *op, array::ExpressionBuilder &e);
Replacement convertIndexing(mlir::Operation *op, array::ExpressionBuilder &e);
Replacement convertProducts(mlir::Operation *op, array::ExpressionBuilder &e);
Replacement convertLinearAlgebra(mlir::Operation *op, array::ExpressionBuilder &e);
Replacement convertReductions(mlir::Operation *op, array::ExpressionBuilder &e);
Replacement convertScan(mlir::Operation *op, array::ExpressionBuilder &e);
Replacement convertOrder(mlir::Operation *op, array::ExpressionBuilder &e);
Replacement convertControl(mlir::Operation *op, array::ExpressionBuilder &e);
Replacement convertRandom(mlir::Operation *op, array::ExpressionBuilder &e);
Replacement convertAttention(mlir::Operation *op, array::ExpressionBuilder &e);
Replacement convertNormalization(mlir::Operation *op, array::ExpressionBuilder &e);
Replacement convertCollectives(mlir::Operation *op, array::ExpressionBuilder &e);

/// Gives ops whose sizes are constant operands their static form. Fails, with an error, where that
/// is not valid.
mlir::LogicalResult foldSizes(mlir::ModuleOp module);

//===--- For the converters ---------------------------------------------===//

using array::elementOf;
using array::isFloat;
using array::typeOf;
inline bool isTruth(mlir::Value value) { return elementOf(value).isInteger(1); }

mlir::Value zeros(array::ExpressionBuilder &e, mlir::RankedTensorType type);

/// `value` under `shape`, which holds as many elements.
mlir::Value reshapeTo(array::ExpressionBuilder &e, mlir::Value value,
                      llvm::ArrayRef<int64_t> shape);

/// `value` with dim `i` being its dim `permutation[i]`.
mlir::Value transpose(array::ExpressionBuilder &e, mlir::Value value,
                      llvm::ArrayRef<int64_t> permutation);

/// Whether operands and results of `op` may have dims of sizes that are not known.
bool takesOpenSizes(mlir::Operation *op);

/// Whether `dims` are different dims of a value of `rank` dims.
bool areDims(llvm::ArrayRef<int64_t> dims, int64_t rank);
/// Why dim i of `from` cannot be dim `dims[i]` of `to`, repeated where it is 1; null if it can.
const char *whyNotBroadcast(mlir::RankedTensorType from, llvm::ArrayRef<int64_t> dims,
                            mlir::RankedTensorType to);

/// `value` with dim `i` as dim `dims[i]` of `shape`, repeated along the others. `openSizes` are the
/// sizes of dims that `shape` does not know.
mlir::Value broadcastTo(array::ExpressionBuilder &e, mlir::Value value,
                        llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<int64_t> shape,
                        mlir::ValueRange openSizes = {});

/// The elements `[start, limit)` of each dim, `strides` apart.
mlir::Value slice(array::ExpressionBuilder &e, mlir::Value value, llvm::ArrayRef<int64_t> starts,
                  llvm::ArrayRef<int64_t> limits, llvm::ArrayRef<int64_t> strides);

/// As `stablehlo.pad`, where negative amounts cut.
mlir::Value padAndCut(array::ExpressionBuilder &e, mlir::Value value, mlir::Value with,
                      llvm::ArrayRef<int64_t> low, llvm::ArrayRef<int64_t> high,
                      llvm::ArrayRef<int64_t> interior);

/// Numbers from 0 along dim `axis` of `shape`.
mlir::Value iota(array::ExpressionBuilder &e, llvm::ArrayRef<int64_t> shape, mlir::Type element,
                 int64_t axis);

/// Floats as signed integers in IEEE's total order; other values as they are.
mlir::Value toTotalOrder(array::ExpressionBuilder &e, mlir::Value value);

/// The derivative of the logarithm of the gamma function, of 32-bit or 64-bit floats.
mlir::Value makeDigamma(array::ExpressionBuilder &e, mlir::Value x);

/// Unsigned integers of `width` bits.
mlir::Type getUnsigned(array::ExpressionBuilder &e, unsigned width);

/// The number that all elements of `value` are, where it is a constant.
mlir::Attribute getConstant(mlir::Value value);

/// The kind of reduction that a converted body of two arguments does.
std::optional<array::ReduceKind> matchKind(mlir::Region &body);
/// The same of `result`, the result of the only op of `block` but its terminator.
std::optional<array::ReduceKind> matchCombiner(mlir::Block &block, mlir::Value result);

/// Whether `init` is a constant that `kind` changes nothing by; of sums, -0 as well.
bool isNeutral(mlir::Builder &builder, array::ReduceKind kind, mlir::Value init);

/// What `kind` combines all elements along `dim` up to each one to, or, if `isReverse`, from it on;
/// null where there is no op for that.
mlir::Value accumulate(array::ExpressionBuilder &e, array::ReduceKind kind, mlir::Value value,
                       int64_t dim, bool isReverse);

/// What `kind` combines two values to.
mlir::Value combine(array::ExpressionBuilder &e, array::ReduceKind kind, mlir::Value lhs,
                    mlir::Value rhs);

/// What a converted body of rank-0 values makes of whole tensors, element by element; nothing where
/// it does more than that.
std::optional<llvm::SmallVector<mlir::Value>>
applyBody(array::ExpressionBuilder &e, mlir::Region &body, mlir::ValueRange arguments);

} // namespace xc::stablehlo_import

#endif // XC_INPUT_STABLEHLO_IMPORTSTABLEHLO_H
