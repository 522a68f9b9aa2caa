//===- ComplexLinearAlgebra.cpp - Factorizations of complex matrices ------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// As LinearAlgebra.cpp, of pairs of real matrices: what StableHLO's ops, and LAPACK's calls for
// complex numbers, compute.
//
//===----------------------------------------------------------------------===//

#include "compiler/Input/StableHLO/ImportLinearAlgebra.h"
#include "compiler/Input/StableHLO/MatrixBuilder.h"
#include "compiler/Input/StableHLO/Repeat.h"
#include "compiler/Input/StableHLO/SplitValues.h"

using namespace mlir;
using namespace xc::array;

namespace xc::stablehlo_import {

namespace shlo = stablehlo;

using Values = SmallVector<Value>;

namespace {

/// MatrixBuilder for both parts.
class PairBuilder {
public:
  explicit PairBuilder(ExpressionBuilder &e) : e(e), m(e) {}

  template <typename F> Complex both(Complex x, F f) { return {f(x.re), f(x.im)}; }

  Complex row(Complex x, Value at) {
    return both(x, [&](Value part) { return m.row(part, at); });
  }
  Complex column(Complex x, Value at) {
    return both(x, [&](Value part) { return m.column(part, at); });
  }
  Complex element(Complex x, Value row, Value column) {
    return both(x, [&](Value part) { return m.element(part, row, column); });
  }
  Complex sub(Complex x, Complex y) { return {e.sub(x.re, y.re), e.sub(x.im, y.im)}; }
  Complex conjugate(Complex x) { return {x.re, e.make<NegOp>(x.im)}; }
  Complex select(Value predicate, Complex x, Complex y) {
    return {e.select(predicate, x.re, y.re), e.select(predicate, x.im, y.im)};
  }
  Complex selectOrZero(Value predicate, Complex x) {
    return both(x, [&](Value part) { return e.select(predicate, part, e.scalar(0, part)); });
  }
  Complex turned(Complex x, bool isConjugate) {
    Complex result = both(x, [&](Value part) { return transpose(e, part, {0, 2, 1}); });
    return isConjugate ? conjugate(result) : result;
  }
  Complex zerosLike(Complex x) {
    return both(x, [&](Value part) { return zeros(e, typeOf(part)); });
  }

  ExpressionBuilder &e;
  MatrixBuilder m;
};

} // namespace

static std::pair<Complex, Value> factorCholesky(ExpressionBuilder &e, Complex matrix) {
  PairBuilder p(e);
  MatrixBuilder &m = p.m;
  auto type = typeOf(matrix.re);
  Type number = e.getBuilder().getI32Type();
  Complex none = p.zerosLike(matrix);
  Values results =
      repeat(e, type.getDimSize(2), {none.re, none.im, m.zerosOf({type.getDimSize(0)}, number)},
             [&](Value j, ValueRange carried) -> Values {
               Complex factor{carried[0], carried[1]};
               Complex products = multiply(e, factor, p.conjugate(p.row(factor, j)));
               Complex known = p.both(products, [&](Value part) { return m.sumOverColumns(part); });
               Complex left = p.sub(p.column(matrix, j), known);
               Value diagonal = m.element(left.re, j, m.number(0)), root = e.make<SqrtOp>(diagonal);
               Value isGood = e.compare(CompareDirection::Gt, diagonal, e.scalar(0, diagonal));
               Value rows = m.rowNumbers(left.re);
               Complex column = p.both(left, [&](Value part) { return e.div(part, root); });
               column = p.selectOrZero(e.compare(CompareDirection::Ge, rows, j), column);
               // The diagonal is real.
               column.im = e.select(e.compare(CompareDirection::Eq, rows, j),
                                    e.scalar(0, column.im), column.im);
               return {m.setColumn(factor.re, j, column.re), m.setColumn(factor.im, j, column.im),
                       m.note(carried[2], e.make<LogicalNotOp>(isGood), j)};
             });
  return {{results[0], results[1]}, results[2]};
}

/// Values are both parts of the factors, pivots from 1, and error numbers.
static Values factorLu(ExpressionBuilder &e, Complex matrix) {
  PairBuilder p(e);
  MatrixBuilder &m = p.m;
  auto type = typeOf(matrix.re);
  int64_t batch = type.getDimSize(0), columns = type.getDimSize(2);
  int64_t count = std::min(type.getDimSize(1), columns);
  Type number = e.getBuilder().getI32Type();
  auto countType = RankedTensorType::get({batch, 1, 1}, number);
  return repeat(
      e, count,
      {matrix.re, matrix.im, m.zerosOf({batch, count}, number), m.zerosOf({batch}, number)},
      [&](Value j, ValueRange carried) -> Values {
        Complex whole{carried[0], carried[1]}, column = p.column(whole, j), own = p.row(whole, j);
        Value rows = m.rowNumbers(whole.re);
        // As LAPACK, by the sum of the parts' sizes.
        Value size = e.add(e.make<AbsOp>(column.re), e.make<AbsOp>(column.im));
        size = e.select(e.compare(CompareDirection::Ge, rows, j), size, e.scalar(-1, size));
        Value pivot = e.make<ArgMaxOp>(countType, size, /*axis=*/uint64_t(1), /*keepdims=*/true);
        Value places = broadcastTo(e, pivot, {0, 1, 2}, {batch, 1, columns});
        Complex other = p.both(
            whole, [&](Value part) { return e.make<TakeAlongAxisOp>(part, places, uint64_t(1)); });
        Value isOwn = e.compare(CompareDirection::Eq, rows, j),
              isPivot = e.compare(CompareDirection::Eq, rows, pivot);
        auto exchange = [&](Complex value, Complex ownRow, Complex pivotRow) {
          return p.select(isOwn, pivotRow, p.select(isPivot, ownRow, value));
        };
        Complex divisor = p.element(other, m.number(0), j);
        Value isZero =
            e.make<AndOp>(e.compare(CompareDirection::Eq, divisor.re, e.scalar(0, divisor.re)),
                          e.compare(CompareDirection::Eq, divisor.im, e.scalar(0, divisor.im)));
        Complex safe{e.select(isZero, e.scalar(1, divisor.re), divisor.re), divisor.im};
        Complex factors =
            divide(e, exchange(column, p.element(own, m.number(0), j), divisor), safe);
        Complex exchanged = exchange(whole, own, other);
        Value numbers = m.columnNumbers(whole.re);
        Complex rest =
            p.select(e.compare(CompareDirection::Gt, numbers, j),
                     p.sub(exchanged, multiply(e, factors, other)),
                     p.select(e.compare(CompareDirection::Eq, numbers, j), factors, exchanged));
        Complex next = p.select(e.compare(CompareDirection::Gt, rows, j), rest, exchanged);
        return {next.re, next.im, m.setElement(carried[2], j, e.add(pivot, m.number(1))),
                m.note(carried[3], isZero, j)};
      });
}

static Complex solveTriangular(ExpressionBuilder &e, Triangle how, bool isConjugate,
                               Complex triangle, Complex right) {
  PairBuilder p(e);
  MatrixBuilder &m = p.m;
  if (isConjugate)
    triangle = p.conjugate(triangle);
  // X A = B is A^T X^T = B^T.
  if (!how.isLeft) {
    Triangle left{how.isLower, how.isUnit, !how.isTransposed, /*isLeft=*/true};
    return p.turned(solveTriangular(e, left, false, triangle, p.turned(right, false)), false);
  }
  bool isLower = how.isLower != how.isTransposed;
  if (how.isTransposed)
    triangle = p.turned(triangle, false);
  auto type = typeOf(right.re);
  int64_t batch = type.getDimSize(0), size = type.getDimSize(1);
  Complex none = p.zerosLike(right);
  Values results =
      repeat(e, size, {none.re, none.im}, [&](Value step, ValueRange carried) -> Values {
        Complex solution{carried[0], carried[1]};
        Value i = isLower ? step : e.sub(m.number(size - 1), step);
        Complex row = p.row(triangle, i);
        // What is not read may be no number.
        Value isKnown = e.compare(isLower ? CompareDirection::Lt : CompareDirection::Gt,
                                  m.columnNumbers(triangle.re), i);
        Complex factors = p.both(p.selectOrZero(isKnown, row),
                                 [&](Value part) { return reshapeTo(e, part, {batch, size, 1}); });
        Complex known =
            p.both(multiply(e, factors, solution), [&](Value part) { return m.sumOverRows(part); });
        Complex left = p.sub(p.row(right, i), known);
        if (!how.isUnit)
          left = divide(e, left, p.element(row, m.number(0), i));
        return {m.setRow(solution.re, i, left.re), m.setRow(solution.im, i, left.im)};
      });
  return {results[0], results[1]};
}

//===----------------------------------------------------------------------===//
// Ops and calls
//===----------------------------------------------------------------------===//

/// Both parts as [batch, rows, columns].
static Complex flatten(ExpressionBuilder &e, Complex x) {
  ArrayRef<int64_t> shape = typeOf(x.re).getShape();
  SmallVector<int64_t> flat(shape.take_back(2));
  flat.insert(flat.begin(), llvm::product_of(shape.drop_back(2)));
  return {reshapeTo(e, x.re, flat), reshapeTo(e, x.im, flat)};
}

/// `values` under the shapes of the parts of the results of `op`.
static Result finishParts(Operation *op, ExpressionBuilder &e, ArrayRef<Value> values) {
  Values results;
  for (Type given : op->getResultTypes()) {
    for (unsigned part = 0; part < (isComplex(given) ? 2 : 1); ++part) {
      auto type = isComplex(given) ? getPartType(given) : dyn_cast<RankedTensorType>(given);
      Value value = values.empty() ? Value() : values.front();
      if (!type || !value || typeOf(value).getNumElements() != type.getNumElements())
        return Result::refuse("its results have not the sizes that its operands give");
      values = values.drop_front();
      results.push_back(e.convert(reshapeTo(e, value, type.getShape()), type.getElementType()));
    }
  }
  return Result(results);
}

static Result makeCholesky(Operation *op, ExpressionBuilder &e, Complex operand, bool isLower,
                           bool hasInfo) {
  PairBuilder p(e);
  Complex matrix = flatten(e, operand);
  auto [factor, info] = factorCholesky(e, isLower ? matrix : p.turned(matrix, true));
  if (!isLower)
    factor = p.turned(factor, true);
  Values values{factor.re, factor.im};
  if (hasInfo)
    values.push_back(info);
  return finishParts(op, e, values);
}

static Result makeSolution(Operation *op, ExpressionBuilder &e, Triangle how, bool isConjugate,
                           ArrayRef<Complex> operands) {
  auto type = typeOf(operands[0].re), other = typeOf(operands[1].re);
  int64_t rank = type.getRank();
  if (other.getRank() != rank || type.getShape().drop_back(2) != other.getShape().drop_back(2) ||
      type.getDimSize(rank - 1) != type.getDimSize(rank - 2) ||
      other.getDimSize(how.isLeft ? rank - 2 : rank - 1) != type.getDimSize(rank - 1))
    return Result::refuse("its operands do not fit each other");
  Complex x =
      solveTriangular(e, how, isConjugate, flatten(e, operands[0]), flatten(e, operands[1]));
  return finishParts(op, e, {x.re, x.im});
}

/// Whether all `operands` are complex matrices with elements.
static bool areMatrices(ArrayRef<Complex> operands, size_t count) {
  return operands.size() == count && llvm::all_of(operands, [](Complex x) {
           return x.im && typeOf(x.re).getRank() >= 2 && typeOf(x.re).hasStaticShape() &&
                  typeOf(x.re).getNumElements() != 0;
         });
}

static bool isSquare(Complex x) {
  ArrayRef<int64_t> shape = typeOf(x.re).getShape();
  return shape.back() == shape[shape.size() - 2];
}

Replacement computeFactors(Operation *op, ExpressionBuilder &e, ArrayRef<Complex> operands) {
  if (auto cholesky = dyn_cast<shlo::CholeskyOp>(op)) {
    if (!areMatrices(operands, 1) || !isSquare(operands[0]))
      return Result::refuse("it is not of square matrices with elements");
    return makeCholesky(op, e, operands[0], cholesky.getLower(), /*hasInfo=*/false);
  }
  if (auto solve = dyn_cast<shlo::TriangularSolveOp>(op)) {
    std::optional<TriangleForm> form = readTriangle(solve);
    if (!form || !areMatrices(operands, 2))
      return Result::refuse("it is not of matrices with elements, or does not say how");
    return makeSolution(op, e, form->how, form->isConjugate, operands);
  }
  auto call = dyn_cast<shlo::CustomCallOp>(op);
  StringRef target = call ? call.getCallTargetName() : StringRef();
  if (!target.consume_front("lapack_c") && !target.consume_front("lapack_z"))
    return std::nullopt;
  if (target == "potrf_ffi") {
    std::optional<bool> lower = isLower(call);
    if (!lower || !areMatrices(operands, 1) || !isSquare(operands[0]))
      return Result::refuse("it is not of square matrices, and of their lower or upper triangle");
    return makeCholesky(op, e, operands[0], *lower, /*hasInfo=*/true);
  }
  if (target == "getrf_ffi" && areMatrices(operands, 1))
    return finishParts(op, e, factorLu(e, flatten(e, operands[0])));
  if (target == "trsm_ffi" && areMatrices(operands, 2)) {
    std::optional<TriangleForm> form = readTriangle(call);
    if (!form)
      return Result::refuse(
          "it does not say which side, triangle, diagonal and transpose it is of");
    return makeSolution(op, e, form->how, form->isConjugate, operands);
  }
  return std::nullopt;
}

} // namespace xc::stablehlo_import
