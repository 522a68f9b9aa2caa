//===- ArrayToLinalg.h - What the families of patterns share --------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CONVERSION_ARRAYTOLINALG_H
#define XC_CONVERSION_ARRAYTOLINALG_H

#include "compiler/Dialect/Array/IR/ArrayOps.h"
#include "compiler/Dialect/Array/IR/AttributeNames.h"
#include "compiler/Dialect/Plan/IR/PlanOps.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Transforms/DialectConversion.h"

namespace xc {

/// How an element is stored: i1 as i8, unsigned as signless; others as they are.
mlir::Type storageElement(mlir::Type element);
/// The same of a tensor; other types as they are.
mlir::Type storageType(mlir::Type type);
/// What `array.dtype` says of a type that is stored as another one ("i1", "u8", ...); null where
/// the two agree.
mlir::StringAttr dtypeOf(mlir::Type type);
/// A constant's elements in the storage of its type.
mlir::ElementsAttr storageElements(mlir::ElementsAttr value);

/// Converts types to their storage.
class StorageTypeConverter : public mlir::TypeConverter {
public:
  StorageTypeConverter();
};

/// The type that values of `element` are computed in: f32 for 16-bit floats.
mlir::Type computeElement(mlir::Type element);

/// Reads a stored scalar as a value to compute with: i1 from i8, f32 from 16-bit floats.
mlir::Value loadScalar(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value stored,
                       mlir::Type element);
/// The opposite.
mlir::Value storeScalar(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
                        mlir::Type element);

/// A scalar constant of a storage or compute type.
mlir::Value scalarConstant(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type type,
                           int64_t value);

/// An uninitialised tensor.
mlir::Value emptyTensor(mlir::OpBuilder &builder, mlir::Location loc,
                        llvm::ArrayRef<mlir::OpFoldResult> sizes, mlir::Type element);
/// A tensor of one value.
mlir::Value filledTensor(mlir::OpBuilder &builder, mlir::Location loc,
                         llvm::ArrayRef<mlir::OpFoldResult> sizes, mlir::Value scalar);
/// `sizes` with what `type` knows statically.
llvm::SmallVector<mlir::OpFoldResult> refineSizes(mlir::OpBuilder &builder,
                                                  mlir::RankedTensorType type,
                                                  llvm::SmallVector<mlir::OpFoldResult> sizes);
/// `sizes` of an op whose result type has these for each `?`.
llvm::SmallVector<mlir::OpFoldResult> sizesOfSizedOp(mlir::OpBuilder &builder,
                                                     mlir::RankedTensorType type,
                                                     mlir::ValueRange dynamicSizes);

/// Collapses the dims (of size 1) for which `drop` is set.
mlir::Value dropUnitDims(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value tensor,
                         const llvm::SmallBitVector &drop);
/// Gives `tensor` a type that may say more or less about its sizes.
mlir::Value castTo(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value tensor,
                   mlir::Type type);
/// `tensor` with constant amounts of `value` around it; itself where all are 0.
mlir::Value padTensor(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value tensor,
                      llvm::ArrayRef<int64_t> low, llvm::ArrayRef<int64_t> high,
                      mlir::TypedAttr value);

/// The first `reached` elements of each dim of `tensor`; all of them where that is dynamic. Windows
/// with one place along a dim need it: without a loop over places, the loop over the window says
/// how large the dim is.
mlir::Value cutUnreached(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value tensor,
                         llvm::ArrayRef<int64_t> reached);

using BodyBuilder =
    llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Location, mlir::ValueRange)>;

/// An elementwise linalg.generic with one result; the body gets and returns stored scalars.
mlir::Value buildElementwise(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type element,
                             llvm::ArrayRef<mlir::OpFoldResult> sizes, mlir::ValueRange inputs,
                             llvm::ArrayRef<mlir::AffineMap> inputMaps, BodyBuilder body);

/// A tensor of `element` in the type that it is computed in, and back; the tensor itself where the
/// two are the same.
mlir::Value loadTensor(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value tensor,
                       mlir::Type element);
mlir::Value storeTensor(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value tensor,
                        mlir::Type element);

/// Computes one result of an elementwise op from its operands. `operandElements` and
/// `resultElement` are the types of the array op; the scalars are what `loadScalar` made of them.
mlir::FailureOr<mlir::Value> buildElementwiseScalar(mlir::OpBuilder &builder, mlir::Operation *op,
                                                    mlir::ValueRange scalars);
/// `array.convert` of one loaded scalar; the result is stored as `to`.
mlir::Value convertScalar(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
                          mlir::Type from, mlir::Type to);

/// The lowest or highest value of a storage or compute type.
mlir::TypedAttr extremeValue(mlir::Builder &builder, mlir::Type storage, bool isUnsigned,
                             bool highest);
/// What the reduction of no elements of type `element` gives, as a value of `type`, in which they
/// are stored or computed.
mlir::TypedAttr neutralValue(mlir::Builder &builder, array::ReduceKind kind, mlir::Type element,
                             mlir::Type type);
mlir::Value combineScalars(mlir::OpBuilder &builder, mlir::Location loc, array::ReduceKind kind,
                           mlir::Type element, mlir::Value x, mlir::Value y);
/// Whether (x, index) comes before (best, bestIndex): a larger value (a smaller one, if not
/// `isMax`), NaN being the best, or an equal one earlier.
mlir::Value isBetter(mlir::OpBuilder &builder, mlir::Location loc, bool isMax, mlir::Type element,
                     mlir::Value x, mlir::Value index, mlir::Value best, mlir::Value bestIndex);

/// The inverse of the error function, of an f32 or f64.
mlir::Value buildErfInv(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value x);
/// The number of type `element` beside `x` towards `y`; both are loaded scalars, as is the result.
mlir::Value buildNextAfter(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value x,
                           mlir::Value y, mlir::FloatType element);

void populateElementwisePatterns(const mlir::TypeConverter &converter,
                                 mlir::RewritePatternSet &patterns);
void populateShapePatterns(const mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns);
void populateReductionPatterns(const mlir::TypeConverter &converter,
                               mlir::RewritePatternSet &patterns);
void populateContractionPatterns(const mlir::TypeConverter &converter,
                                 mlir::RewritePatternSet &patterns);
void populateConvPatterns(const mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns);
void populatePoolPatterns(const mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns);
void populateIndexPatterns(const mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns);
void populateLinePatterns(const mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns);
void populateRandomPatterns(const mlir::TypeConverter &converter,
                            mlir::RewritePatternSet &patterns);
void populateStatePatterns(const mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns);
void populateAttentionPatterns(const mlir::TypeConverter &converter,
                               mlir::RewritePatternSet &patterns);
void populateCustomPatterns(const mlir::TypeConverter &converter,
                            mlir::RewritePatternSet &patterns);

} // namespace xc

#endif // XC_CONVERSION_ARRAYTOLINALG_H
