//===- ImportLinearAlgebra.cpp - Factorizations that JAX prints -----------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// JAX prints calls of LAPACK for CPUs, of cuSOLVER for GPUs; StableHLO has two ops of its own. What
// a call's layouts say is the order of elements in memory only, so that shapes stand as they are.
//
//===----------------------------------------------------------------------===//

#include "compiler/Input/StableHLO/ImportLinearAlgebra.h"

#include "compiler/Input/StableHLO/ImportStableHLO.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace xc::array;

namespace xc::stablehlo_import {

namespace shlo = stablehlo;

/// `value` as [batch, ...] with its last `inner` dims.
static Value flattenBatch(ExpressionBuilder &e, Value value, int64_t inner) {
  ArrayRef<int64_t> shape = typeOf(value).getShape();
  SmallVector<int64_t> flat(shape.take_back(inner));
  flat.insert(flat.begin(), llvm::product_of(shape.drop_back(inner)));
  return reshapeTo(e, value, flat);
}

/// Whether `value` holds matrices of floats.
static bool isMatrix(Value value) { return typeOf(value).getRank() >= 2 && isFloat(value); }

static bool isSquare(Value value) {
  ArrayRef<int64_t> shape = typeOf(value).getShape();
  return isMatrix(value) && shape.back() == shape[shape.size() - 2];
}

/// `values` in the types of the results of `op`, which differ in dims of the batch, and in digits.
static Result finish(Operation *op, ExpressionBuilder &e, ArrayRef<Value> values) {
  SmallVector<Value> results;
  for (auto [value, given] : llvm::zip_equal(values, op->getResultTypes())) {
    auto type = cast<RankedTensorType>(given);
    if (typeOf(value).getNumElements() != type.getNumElements())
      return Result::refuse("its results have not the sizes that its operands give");
    results.push_back(e.convert(reshapeTo(e, value, type.getShape()), type.getElementType()));
  }
  return Result(results);
}

static Result zerosFor(Operation *op, ExpressionBuilder &e) {
  return Result(llvm::map_to_vector(
      op->getResultTypes(), [&](Type type) { return zeros(e, cast<RankedTensorType>(type)); }));
}

static bool isEmpty(Value value) { return typeOf(value).getNumElements() == 0; }

static Cholesky makeCholesky(ExpressionBuilder &e, Value value, bool isLower) {
  Value matrix = e.widen(flattenBatch(e, value, 2));
  if (isLower)
    return factorCholesky(e, matrix);
  Cholesky result = factorCholesky(e, transpose(e, matrix, {0, 2, 1}));
  return {transpose(e, result.factor, {0, 2, 1}), result.info};
}

static Result makeSolution(Operation *op, ExpressionBuilder &e, Triangle how) {
  bool isFit = op->getNumOperands() == 2 && op->getNumResults() == 1 &&
               isSquare(op->getOperand(0)) && isMatrix(op->getOperand(1));
  if (!isFit)
    return Result::refuse("it is not of square matrices and matrices of floats");
  Value triangle = op->getOperand(0), right = op->getOperand(1);
  auto type = typeOf(triangle), other = typeOf(right);
  int64_t rank = type.getRank();
  if (type.getElementType() != other.getElementType() || other.getRank() != rank ||
      type.getShape().drop_back(2) != other.getShape().drop_back(2) ||
      other.getDimSize(how.isLeft ? rank - 2 : rank - 1) != type.getDimSize(rank - 1))
    return Result::refuse("its operands do not fit each other");
  if (isEmpty(right))
    return zerosFor(op, e);
  return finish(op, e,
                solveTriangular(e, how, e.widen(flattenBatch(e, triangle, 2)),
                                e.widen(flattenBatch(e, right, 2))));
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

static Result convertCholesky(shlo::CholeskyOp op, ExpressionBuilder &e) {
  if (!isSquare(op.getA()))
    return Result::refuse("it is not of square matrices of floats");
  if (isEmpty(op.getA()))
    return zerosFor(op, e);
  return finish(op, e, makeCholesky(e, op.getA(), op.getLower()).factor);
}

std::optional<TriangleForm> readTriangle(shlo::TriangularSolveOp op) {
  auto flag = [](std::optional<Attribute> attribute) {
    return dyn_cast_or_null<BoolAttr>(attribute.value_or(Attribute()));
  };
  auto isLeft = flag(op.getLeftSide()), isLower = flag(op.getLower()),
       isUnit = flag(op.getUnitDiagonal());
  auto word = dyn_cast_or_null<shlo::WordAttr>(op.getTransposeA().value_or(Attribute()));
  if (!isLeft || !isLower || !isUnit || !word ||
      !llvm::is_contained({"NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"}, word.getValue()))
    return std::nullopt;
  return TriangleForm{
      {isLower.getValue(), isUnit.getValue(), word.getValue() != "NO_TRANSPOSE", isLeft.getValue()},
      word.getValue() == "ADJOINT"};
}

static constexpr llvm::StringLiteral kUnknownTriangle =
    "it does not say which side, triangle, diagonal and transpose it is of";

static Result convertTriangularSolve(shlo::TriangularSolveOp op, ExpressionBuilder &e) {
  std::optional<TriangleForm> form = readTriangle(op);
  // Of real numbers an adjoint is a transpose.
  return form ? makeSolution(op, e, form->how) : Result::refuse(kUnknownTriangle);
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// The option `name` of a call, a character or a flag; null where there is none.
static Attribute getOption(shlo::CustomCallOp op, StringRef name) {
  auto config = op->getAttrOfType<DictionaryAttr>("mhlo.backend_config");
  return config ? config.get(name) : nullptr;
}

/// Whether the option `name` is the character `yes`; nothing where it is not `no` either.
static std::optional<bool> isOption(shlo::CustomCallOp op, StringRef name, char yes, char no) {
  auto number = dyn_cast_or_null<IntegerAttr>(getOption(op, name));
  if (!number || (number.getValue() != yes && number.getValue() != no))
    return std::nullopt;
  return number.getValue() == yes;
}

std::optional<bool> isLower(shlo::CustomCallOp op) {
  if (auto flag = dyn_cast_or_null<BoolAttr>(getOption(op, "lower")))
    return flag.getValue();
  return isOption(op, "uplo", 'L', 'U');
}

/// Whether `op` makes `results` values of one, which is matrices of floats.
static bool isOfMatrix(shlo::CustomCallOp op, unsigned results) {
  return op.getInputs().size() == 1 && op.getNumResults() == results &&
         isMatrix(op.getInputs().front());
}

static Result convertPotrf(shlo::CustomCallOp op, ExpressionBuilder &e) {
  std::optional<bool> lower = isLower(op);
  if (!lower || !isOfMatrix(op, 2) || !isSquare(op.getInputs()[0]))
    return Result::refuse("it is not of square matrices, and of their lower or upper triangle");
  if (isEmpty(op.getInputs()[0]))
    return zerosFor(op, e);
  Cholesky result = makeCholesky(e, op.getInputs()[0], *lower);
  return finish(op, e, {result.factor, result.info});
}

std::optional<TriangleForm> readTriangle(shlo::CustomCallOp op) {
  std::optional<bool> lower = isLower(op), isUnit = isOption(op, "diag", 'U', 'N'),
                      isLeft = isOption(op, "side", 'L', 'R'),
                      isAdjoint = isOption(op, "trans_x", 'C', 'N'),
                      isTransposed = isOption(op, "trans_x", 'T', 'N');
  if (!lower || !isUnit || !isLeft || (!isAdjoint && !isTransposed))
    return std::nullopt;
  bool isConjugate = isAdjoint.value_or(false);
  return TriangleForm{{*lower, *isUnit, isConjugate || isTransposed.value_or(false), *isLeft},
                      isConjugate};
}

static Result convertTrsm(shlo::CustomCallOp op, ExpressionBuilder &e) {
  std::optional<TriangleForm> form = readTriangle(op);
  return form ? makeSolution(op, e, form->how) : Result::refuse(kUnknownTriangle);
}

static Result convertGetrf(shlo::CustomCallOp op, ExpressionBuilder &e) {
  if (!isOfMatrix(op, 3))
    return Result::refuse("it is not of matrices of floats");
  if (isEmpty(op.getInputs()[0]))
    return zerosFor(op, e);
  Lu result = factorLu(e, e.widen(flattenBatch(e, op.getInputs()[0], 2)));
  return finish(op, e, {result.factors, result.pivots, result.info});
}

static Result convertGeqrf(shlo::CustomCallOp op, ExpressionBuilder &e) {
  if (!isOfMatrix(op, 2))
    return Result::refuse("it is not of matrices of floats");
  if (isEmpty(op.getInputs()[0]))
    return zerosFor(op, e);
  Qr result = factorQr(e, e.widen(flattenBatch(e, op.getInputs()[0], 2)));
  return finish(op, e, {result.factors, result.taus});
}

static Result convertOrgqr(shlo::CustomCallOp op, ExpressionBuilder &e) {
  bool isFit = op.getInputs().size() == 2 && op.getNumResults() == 1 &&
               isMatrix(op.getInputs()[0]) && isFloat(op.getInputs()[1]);
  auto vectors = isFit ? typeOf(op.getInputs()[0]) : nullptr;
  auto taus = isFit ? typeOf(op.getInputs()[1]) : nullptr;
  if (!isFit || taus.getRank() + 1 != vectors.getRank() ||
      taus.getShape().drop_back() != vectors.getShape().drop_back(2) ||
      taus.getShape().back() >
          std::min(vectors.getShape().back(), vectors.getDimSize(vectors.getRank() - 2)))
    return Result::refuse("it is not of matrices and a number for each of their first columns");
  if (isEmpty(op.getInputs()[0]))
    return zerosFor(op, e);
  if (isEmpty(op.getInputs()[1]))
    return Result::refuse("it has no reflections");
  return finish(op, e,
                multiplyReflections(e, e.widen(flattenBatch(e, op.getInputs()[0], 2)),
                                    e.widen(flattenBatch(e, op.getInputs()[1], 1))));
}

/// Results are vectors, values, and an error number, which is 0.
static Result convertSyevd(shlo::CustomCallOp op, ExpressionBuilder &e) {
  std::optional<bool> lower = isLower(op);
  if (!lower || !isOfMatrix(op, 3) || !isSquare(op.getInputs()[0]))
    return Result::refuse("it is not of square matrices, and of their lower or upper triangle");
  if (isEmpty(op.getInputs()[0]))
    return zerosFor(op, e);
  Eigen result = factorSymmetric(e, e.widen(flattenBatch(e, op.getInputs()[0], 2)), *lower);
  Value info = zeros(e, cast<RankedTensorType>(op.getResultTypes()[2]));
  return finish(op, e, {result.vectors, result.values, info});
}

/// Results are what is left of the operand, values, vectors, and an error number, which is 0.
static Result convertGesdd(shlo::CustomCallOp op, ExpressionBuilder &e) {
  auto mode = dyn_cast_or_null<IntegerAttr>(getOption(op, "mode"));
  if (!mode || !isOfMatrix(op, 5))
    return Result::refuse("it is not of matrices of floats, and does not say which vectors");
  if (isEmpty(op.getInputs()[0]))
    return Result::refuse("it is of matrices without elements");
  Value operand = op.getInputs()[0];
  bool isFull = mode.getValue() == 'A', hasVectors = isFull || mode.getValue() == 'S';
  Singular result = factorSingular(e, e.widen(flattenBatch(e, operand, 2)), isFull);
  auto nothing = [&](unsigned index) {
    return zeros(e, cast<RankedTensorType>(op.getResultTypes()[index]));
  };
  return finish(op, e,
                {operand, result.values, hasVectors ? result.left : nothing(2),
                 hasVectors ? result.right : nothing(3), nothing(4)});
}

static Result convertGehrd(shlo::CustomCallOp op, ExpressionBuilder &e) {
  auto low = dyn_cast_or_null<IntegerAttr>(getOption(op, "low")),
       high = dyn_cast_or_null<IntegerAttr>(getOption(op, "high"));
  bool isFit = isOfMatrix(op, 3) && isSquare(op.getInputs()[0]);
  int64_t size = isFit ? typeOf(op.getInputs()[0]).getShape().back() : 0;
  if (size < 2 || !low || !high || low.getInt() != 1 || high.getInt() != size)
    return Result::refuse("it is not of all rows of square matrices with two rows or more");
  if (isEmpty(op.getInputs()[0]))
    return zerosFor(op, e);
  Hessenberg result = factorHessenberg(e, e.widen(flattenBatch(e, op.getInputs()[0], 2)));
  Value info = zeros(e, cast<RankedTensorType>(op.getResultTypes()[2]));
  return finish(op, e, {result.factors, result.taus, info});
}

/// Operands are three diagonals, of which two have an element less or one that is not read, and
/// right sides. Results are what is left of them, the solution, and an error number, which is 0.
static Result convertGtsv(shlo::CustomCallOp op, ExpressionBuilder &e) {
  bool isFit = op.getInputs().size() == 4 && isMatrix(op.getInputs()[3]) &&
               llvm::all_of(op.getInputs(), isFloat) &&
               (op.getNumResults() == 5 || op.getNumResults() == 1);
  if (!isFit)
    return Result::refuse("it is not of three diagonals and right sides of floats");
  Value right = e.widen(flattenBatch(e, op.getInputs()[3], 2));
  int64_t batch = typeOf(right).getDimSize(0), n = typeOf(right).getDimSize(1);
  SmallVector<Value> diagonals;
  for (auto [place, diagonal] : llvm::enumerate(op.getInputs().take_front(3))) {
    auto type = typeOf(diagonal);
    int64_t lacks = type.getRank() == 0 ? n : n - type.getShape().back();
    if (n < 1 || lacks < 0 || lacks > (place != 1) || type.getNumElements() != batch * (n - lacks))
      return Result::refuse("its diagonals do not fit its right sides");
    Value flat = e.widen(reshapeTo(e, diagonal, {batch, n - lacks}));
    diagonals.push_back(padAndCut(e, flat, e.scalar(0, flat), {0, place == 0 ? lacks : 0},
                                  {0, place == 0 ? 0 : lacks}, {0, 0}));
  }
  if (isEmpty(right))
    return zerosFor(op, e);
  Value solution = solveTridiagonal(e, {diagonals[0], diagonals[1], diagonals[2]}, right);
  if (op.getNumResults() == 1)
    return finish(op, e, {solution});
  return finish(op, e,
                {op.getInputs()[0], op.getInputs()[1], op.getInputs()[2], solution,
                 zeros(e, cast<RankedTensorType>(op.getResultTypes()[4]))});
}

/// What JAX calls for GPUs; for CPUs it prints a loop.
static Result convertPivots(shlo::CustomCallOp op, ExpressionBuilder &e) {
  bool isFit = op.getInputs().size() == 1 && op.getNumResults() == 1 &&
               typeOf(op.getInputs()[0]).getRank() >= 1 &&
               elementOf(op.getInputs()[0]).isSignlessInteger(32);
  auto type = isFit ? cast<RankedTensorType>(op.getResultTypes().front()) : nullptr;
  if (!isFit || type.getRank() == 0 || !type.getElementType().isSignlessInteger(32))
    return Result::refuse("it does not make numbers in i32 of numbers in i32");
  if (isEmpty(op.getInputs()[0]))
    return Result::refuse("it has no pivots");
  return finish(op, e,
                toPermutation(e, flattenBatch(e, op.getInputs()[0], 1), type.getShape().back()));
}

using Converter = Result (*)(shlo::CustomCallOp, ExpressionBuilder &);

static Converter findConverter(StringRef target) {
  bool isOfCpu = target.consume_front("lapack_s") || target.consume_front("lapack_d");
  bool isOfGpu = !isOfCpu && target.consume_front("cusolver_");
  if (target == "cu_lu_pivots_to_permutation")
    return convertPivots;
  if (target == "cusparse_gtsv2_ffi")
    return convertGtsv;
  if (isOfCpu)
    if (Converter convert = llvm::StringSwitch<Converter>(target)
                                .Case("trsm_ffi", convertTrsm)
                                .Case("gesdd_ffi", convertGesdd)
                                .Case("gehrd_ffi", convertGehrd)
                                .Case("gtsv_ffi", convertGtsv)
                                .Default(nullptr))
      return convert;
  if (!isOfCpu && !isOfGpu)
    return nullptr;
  return llvm::StringSwitch<Converter>(target)
      .Case("potrf_ffi", convertPotrf)
      .Case("getrf_ffi", convertGetrf)
      .Case("geqrf_ffi", convertGeqrf)
      .Case("orgqr_ffi", convertOrgqr)
      .Case("syevd_ffi", convertSyevd)
      .Default(nullptr);
}

Replacement convertLinearAlgebra(Operation *op, ExpressionBuilder &e) {
  if (auto cholesky = dyn_cast<shlo::CholeskyOp>(op))
    return convertCholesky(cholesky, e);
  if (auto solve = dyn_cast<shlo::TriangularSolveOp>(op))
    return convertTriangularSolve(solve, e);
  auto call = dyn_cast<shlo::CustomCallOp>(op);
  Converter convert = call ? findConverter(call.getCallTargetName()) : nullptr;
  return convert ? Replacement(convert(call, e)) : std::nullopt;
}

} // namespace xc::stablehlo_import
