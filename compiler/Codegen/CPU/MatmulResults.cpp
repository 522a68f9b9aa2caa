//===- MatmulResults.cpp - What a product starts with and becomes ---------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The sums of a tile begin with what the kernel says, and its results are computed from them:
// element for element in lanes along the columns, or square by square where a result has its rows
// innermost.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CPU/MatmulLowering.h"
#include "compiler/Codegen/CPU/TransposedReads.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace xc::cpu {

SmallVector<LaneIndex> MatmulLowering::getProductPoint(OpBuilder &b, Value row, Value column,
                                                       int64_t numLanes) {
  SmallVector<LaneIndex> loops = batch;
  setLinearIndex(b, loc, arith::AddIOp::create(b, loc, lhs.begin, row), lhs.loops, loops);
  setLinearIndex(b, loc, arith::AddIOp::create(b, loc, rhs.begin, column), rhs.loops, loops);
  loops[rhs.innermost()].stride = numLanes == 1 ? 0 : 1;
  return llvm::map_to_vector(
      contraction.op.getIndexingMapsArray()[2].getResults(),
      [&](AffineExpr expr) { return loops[cast<AffineDimExpr>(expr).getPosition()]; });
}

/// Runs |body| over the valid part of the tile, in lanes along the columns.
void MatmulLowering::emitOverTile(function_ref<void(OpBuilder &, Value, Value, int64_t)> body) {
  Value rows = arith::SubIOp::create(builder, loc, lhs.end, lhs.begin);
  Value columns = arith::SubIOp::create(builder, loc, rhs.end, rhs.begin);
  AffineMap map = contraction.op.getIndexingMapsArray()[2];
  bool guarded = false;
  for (auto [dim, expr] : llvm::enumerate(map.getResults()))
    guarded |= contraction.results.guarded[dim] && expr.isFunctionOfDim(rhs.innermost());
  std::optional<int64_t> run = getConstantIntValue(rhs.loops.back().size);
  bool isRun = rhs.loops.size() == 1 || (run && *run % lanes == 0);
  int64_t maxLanes = guarded || !isRun ? 1 : lanes;
  emitLoop(builder, loc, {index(builder, 0), rows}, 1,
           [&](OpBuilder &rowBuilder, Location, Value row) {
             emitLaneLoops(rowBuilder, loc, {index(rowBuilder, 0), columns},
                           getWidths(maxLanes, maxLanes, 1),
                           [&](OpBuilder &inner, Value column, int64_t numLanes) {
                             body(inner, row, column, numLanes);
                           });
           });
}

void MatmulLowering::emitInitialSums() {
  emitOverTile([&](OpBuilder &inner, Value row, Value column, int64_t numLanes) {
    Environment environment;
    PointEvaluator evaluator(inner, environment, numLanes);
    Value start = evaluator.evaluate(contraction.op.getDpsInits()[0],
                                     getProductPoint(inner, row, column, numLanes));
    evaluator.store(loc, start, Buffer{sums}, {{row}, {column, numLanes == 1 ? 0 : 1}});
  });
}

void MatmulLowering::emitResults() {
  Value product = contraction.op->getResult(0);
  SmallVector<const ContractionRoot *> direct;
  for (const ContractionRoot &root : contraction.roots) {
    if (SmallVector<LoopDim> rows = findRowsOfTransposed(root); !rows.empty())
      emitTransposed(root, rows);
    else
      direct.push_back(&root);
  }
  if (direct.empty())
    return;
  emitOverTile([&](OpBuilder &inner, Value row, Value column, int64_t numLanes) {
    SmallVector<LaneIndex> point = getProductPoint(inner, row, column, numLanes);
    // A result uses the product at its own point alone, so its value there is all that is needed.
    Environment environment;
    Value sum = numLanes == 1
                    ? memref::LoadOp::create(inner, loc, sums, ValueRange{row, column}).getResult()
                    : vector::LoadOp::create(inner, loc, VectorType::get({numLanes}, element), sums,
                                             ValueRange{row, column})
                          .getResult();
    environment.values[product] = sum;
    PointEvaluator evaluator(inner, environment, numLanes);
    SmallVector<Value> values;
    SmallVector<SmallVector<LaneIndex>> indices;
    for (const ContractionRoot *root : direct) {
      indices.push_back(
          llvm::map_to_vector(root->productDims, [&](unsigned dim) { return point[dim]; }));
      values.push_back(evaluator.evaluate(root->root.value, indices.back()));
    }
    for (auto [root, value, at] : llvm::zip(direct, values, indices))
      evaluator.store(loc, value, Buffer{root->root.memory}, at);
  });
}

/// The rows as loops over dims of the product, where |root| has the last ones behind the columns:
/// its memory runs along the last loop then. Empty where it does not.
SmallVector<LoopDim> MatmulLowering::findRowsOfTransposed(const ContractionRoot &root) {
  AffineMap map = contraction.op.getIndexingMapsArray()[2];
  SmallVector<unsigned> rows;
  for (unsigned loop : contraction.loops.m)
    for (auto [dim, expr] : llvm::enumerate(map.getResults()))
      if (expr.isFunctionOfDim(loop))
        rows.push_back(dim);
  ArrayRef<unsigned> dims = root.productDims;
  if (contraction.loops.n.size() != 1 || lanes == 1 || dims.back() != rows.back() ||
      contraction.results.guarded.any())
    return {};
  SmallVector<OpFoldResult> productSizes = getProductSizes();
  llvm::SmallBitVector mergeable =
      findMergeableDims(builder, productSizes, productSizes.size(), contraction.results);
  llvm::SmallBitVector isRun(productSizes.size());
  for (size_t i = 1; i < std::min(rows.size(), dims.size()); ++i) {
    unsigned dim = rows.end()[-1 - static_cast<int64_t>(i)];
    if (dims.end()[-1 - static_cast<int64_t>(i)] != dim || !mergeable[dim])
      break;
    isRun.set(dim);
  }
  return mergeDims(builder, loc, rows, productSizes, isRun);
}

/// Stores the element of |root| at (|row|, |column|) of the tile, or those of |numLanes| rows, of
/// which |sum| is the product.
void MatmulLowering::storeTransposed(OpBuilder &b, const ContractionRoot &root,
                                     ArrayRef<LoopDim> rows, Value row, Value column, Value sum,
                                     int64_t numLanes) {
  SmallVector<LaneIndex> loops = batch;
  loops[contraction.loops.n[0]] = {b.createOrFold<arith::AddIOp>(loc, rhs.begin, column)};
  SmallVector<LaneIndex> point = llvm::map_to_vector(
      contraction.op.getIndexingMapsArray()[2].getResults(),
      [&](AffineExpr expr) { return loops[cast<AffineDimExpr>(expr).getPosition()]; });
  setLinearIndex(b, loc, b.createOrFold<arith::AddIOp>(loc, lhs.begin, row), rows, point);
  point[rows.back().dims.back()].stride = numLanes == 1 ? 0 : 1;
  Environment environment;
  environment.values[contraction.op->getResult(0)] = sum;
  PointEvaluator evaluator(b, environment, numLanes);
  SmallVector<LaneIndex> indices =
      llvm::map_to_vector(root.productDims, [&](unsigned dim) { return point[dim]; });
  evaluator.store(loc, evaluator.evaluate(root.root.value, indices), Buffer{root.root.memory},
                  indices);
}

/// Stores |root|, whose lanes are rows: squares of the sums are transposed in registers.
void MatmulLowering::emitTransposed(const ContractionRoot &root, ArrayRef<LoopDim> rows) {
  Value numRows = arith::SubIOp::create(builder, loc, lhs.end, lhs.begin),
        numColumns = arith::SubIOp::create(builder, loc, rhs.end, rhs.begin);
  auto storeEach = [&](OpBuilder &b, Value row, int64_t height, Value column, int64_t width) {
    emitLoop(b, loc, {row, at(b, row, height)}, 1, [&](OpBuilder &outer, Location, Value r) {
      emitLoop(outer, loc, {column, at(outer, column, width)}, 1,
               [&](OpBuilder &inner, Location, Value c) {
                 Value sum = memref::LoadOp::create(inner, loc, sums, ValueRange{r, c});
                 storeTransposed(inner, root, rows, r, c, sum, 1);
               });
    });
  };
  auto storeSquare = [&](OpBuilder &b, Value row, Value column) {
    SmallVector<Value> vectors;
    for (int64_t i = 0; i < lanes; ++i)
      vectors.push_back(vector::LoadOp::create(b, loc, VectorType::get({lanes}, element), sums,
                                               ValueRange{at(b, row, i), column}));
    vectors = transposeVectors(b, loc, vectors);
    for (int64_t i = 0; i < lanes; ++i)
      storeTransposed(b, root, rows, row, at(b, column, i), vectors[i], lanes);
  };
  // A run of the result's memory ends with the last loop over rows: a square that crosses its end
  // is stored element by element.
  auto storeWithinRun = [&](OpBuilder &b, Value row, Value column) {
    if (rows.size() == 1)
      return storeSquare(b, row, column);
    Value size = getValueOrCreateConstantIndexOp(b, loc, rows.back().size);
    Value first =
        arith::RemUIOp::create(b, loc, arith::AddIOp::create(b, loc, lhs.begin, row), size);
    Value isInside =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ule, at(b, first, lanes), size);
    scf::IfOp::create(
        b, loc, isInside,
        [&](OpBuilder &then, Location) {
          storeSquare(then, row, column);
          scf::YieldOp::create(then, loc);
        },
        [&](OpBuilder &otherwise, Location) {
          storeEach(otherwise, row, lanes, column, lanes);
          scf::YieldOp::create(otherwise, loc);
        });
  };
  emitLaneLoops(builder, loc, {index(builder, 0), numColumns}, {lanes, 1},
                [&](OpBuilder &outer, Value column, int64_t width) {
                  emitLaneLoops(outer, loc, {index(outer, 0), numRows}, {lanes, 1},
                                [&](OpBuilder &b, Value row, int64_t height) {
                                  if (width == lanes && height == lanes)
                                    storeWithinRun(b, row, column);
                                  else
                                    storeEach(b, row, height, column, width);
                                });
                });
}

} // namespace xc::cpu
