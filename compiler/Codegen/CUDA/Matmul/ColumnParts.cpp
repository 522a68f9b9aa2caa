//===- ColumnParts.cpp - Columns of a product, reduced in parts -----------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What all kernels of products do for reductions of their columns in parts of kPartRows rows: a
// thread adds up some rows of neighbouring columns, threads of a warp combine what they have, and
// one of them stores it. Which rows a thread has is the strategy's.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Common/CombineResults.h"
#include "compiler/Codegen/CUDA/Common/LaneOps.h"
#include "compiler/Codegen/CUDA/Common/OutputStores.h"
#include "compiler/Codegen/CUDA/Matmul/MatmulTile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace xc::cuda {

MatmulTile::ColumnPart MatmulTile::startColumnPart(const ReductionGroup::ColumnPart &part,
                                                   int64_t lanes) {
  return ColumnPart(lanes, points.constant(part.member.combiner.getNeutral(0)));
}

void MatmulTile::addToColumnPart(const ReductionGroup::ColumnPart &part, ColumnPart &sums, Value m,
                                 Value n, Value values, bool areOutputs) {
  OpBuilder &builder = points.builder;
  const Combiner &combiner = part.member.combiner;
  int64_t lanes = sums.size(), width = getOutputWidth(lanes) == lanes ? lanes : 1;
  for (int64_t first = 0; first < lanes; first += width) {
    Value column = index.add(n, first), inside = isOutputInside(m, column);
    Value own = width == lanes ? values : getLane(builder, points.loc, values, first);
    laneAtHand = width == lanes ? std::nullopt : std::optional(first);
    SmallVector<Coord> loops = makeLoops(
        Coord::uniform(m), width == 1 ? Coord::uniform(column) : Coord::consecutive(column),
        Coord::uniform(index.constant(0)), width);
    Value output = contraction.group.results.front().output.tensor;
    Value product = contraction.getOp()->getResult(0);
    if (!areOutputs)
      points.provide(product, addInit(own, loops, width, inside));
    else if (output == product) // which sums have been provided for
      points.provide(product, own);
    else
      points.provide(output, [own](const Point &) { return own; });
    SmallVector<Coord> ofPart = llvm::map_to_vector(
        part.member.loops, [&](AffineExpr expr) { return points.apply(expr, loops, width); });
    Value leaf = points.emitLeaves(combiner, ofPart, width, inside).front();
    if (areOutputs)
      points.withdraw(output);
    for (auto [lane, sum] : llvm::enumerate(MutableArrayRef(sums).slice(first, width))) {
      Value next = combineResults(builder, points.loc, combiner, sum,
                                  getLane(builder, points.loc, leaf, lane))
                       .front();
      sum = inside ? arith::SelectOp::create(builder, points.loc, inside, next, sum).getResult()
                   : next;
    }
  }
  laneAtHand = std::nullopt;
}

void MatmulTile::combineColumnPart(const ReductionGroup::ColumnPart &part, ColumnPart &sums,
                                   ArrayRef<int64_t> distances) {
  for (Value &sum : sums)
    for (int64_t distance : distances)
      sum = combineResults(points.builder, points.loc, part.member.combiner, sum,
                           frame.shuffleXor(sum, distance))
                .front();
}

void MatmulTile::storeColumnPart(const ReductionGroup::ColumnPart &part, const ColumnPart &sums,
                                 Value m, Value n, Value isStoring) {
  int64_t lanes = sums.size(), width = getOutputWidth(lanes) == lanes ? lanes : 1;
  Value number = index.div(m, part.rows);
  for (int64_t first = 0; first < lanes; first += width) {
    Value column = index.add(n, first);
    points.emitIf(index.both(isStoring, isOutputInside(m, column)), [&] {
      Point point{{Coord::uniform(number), Coord::consecutive(column)}, {}, width, {}};
      if (width == 1)
        point.coords.back() = Coord::uniform(column);
      Value values = fromLanes(points.builder, points.loc, ValueRange(sums).slice(first, width));
      points.store(part.result.output.binding, getStoredPosition(points, part.result.output, point),
                   values, width);
    });
  }
  Value total = fromLanes(points.builder, points.loc, sums);
  auto provide = [this](Value tensor, Value all) {
    points.provide(tensor, [this, all](const Point &) {
      return laneAtHand ? getLane(points.builder, points.loc, all, *laneAtHand) : all;
    });
  };
  provide(part.member.combiner.getOp()->getResult(0), total);
  for (Value derived : part.derived) {
    Point point{{Coord::uniform(number), Coord::consecutive(n)}, {}, lanes, {}};
    if (lanes == 1)
      point.coords.back() = Coord::uniform(n);
    provide(derived, splatTo(points.builder, points.loc, points.emit(derived, point), lanes));
  }
}

void MatmulTile::withdrawColumnParts() {
  for (const ReductionGroup::ColumnPart &part : contraction.group.columnParts) {
    points.withdraw(part.member.combiner.getOp()->getResult(0));
    for (Value derived : part.derived)
      points.withdraw(derived);
  }
}

} // namespace xc::cuda
