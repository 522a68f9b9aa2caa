//===- OutputStores.cpp - Stores of outputs that may be boxes -----------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Common/OutputStores.h"

#include "compiler/Codegen/CUDA/Common/LaneOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace xc::cuda {

/// Cells of more places are stored by a loop.
static constexpr int64_t kUnrolledPlaces = 8;

Coord getStoredPosition(PointEmitter &points, const KernelOutput &output, Point &point) {
  if (output.isWhole())
    return points.getFlat(point, output.tensor);
  SmallVector<Coord> coords(points.getCoords(point, output.tensor));
  if (output.update)
    for (auto [coord, start] : llvm::zip_equal(coords, points.getStarts(output)))
      coord = points.add(coord, Coord::uniform(start), point.lanes);
  if (output.spread)
    for (auto [coord, dim] : llvm::zip_equal(coords, output.spread->dims))
      coord = points.mul(coord, points.index.constant(dim.distance), point.lanes);
  return points.linearize(coords, points.getSizes(output.binding), point.lanes);
}

namespace {

/// Stores the cell of one element, or of neighbours along a dim whose elements do not lie apart.
class CellStore {
public:
  CellStore(PointEmitter &points, const KernelOutput &output, const Point &point, const Coord &flat,
            Value value)
      : points(points), index(points.index), output(output), spread(*output.spread), point(point),
        flat(flat), value(value), sizes(points.getSizes(output.binding)),
        counts(points.getSizes(output.tensor)) {}

  void run();

private:
  void storePlace(Value number);
  Value isInside(unsigned dim, Value offset);
  Coord getPosition(ArrayRef<Value> offsets);

  PointEmitter &points;
  IndexBuilder &index;
  const KernelOutput &output;
  const plan::SpreadResult &spread;
  const Point &point;
  const Coord &flat;
  Value value;
  SmallVector<Value> sizes, counts;
};

} // namespace

/// i1: the tensor has the place at `offset` of the cell along `dim`; null if it always has.
Value CellStore::isInside(unsigned dim, Value offset) {
  const plan::SpreadResult::Dim &cell = spread.dims[dim];
  Value own = point.coords[dim].first(), inside;
  std::optional<int64_t> known = getConstantIntValue(offset);
  Value place = index.add(index.mul(own, cell.distance), offset);
  if (cell.skipped != 0 && !(known && *known >= cell.skipped))
    inside = index.isAtLeast(place, index.constant(cell.skipped));
  // Of what is no slice, the element itself is there, and what is before it.
  if (cell.isSlice || (cell.isCut && !(known && *known <= cell.start)))
    inside = index.both(inside, index.isLess(place, index.add(sizes[dim], cell.skipped)));
  if (cell.extent <= cell.distance || (known && *known < cell.distance))
    return inside;
  Value isLast = index.isEqual(index.add(own, 1), counts[dim]);
  if (!known) {
    Value isOfAll = index.isLess(offset, index.constant(cell.distance));
    isLast = arith::OrIOp::create(points.builder, points.loc, isLast, isOfAll);
  }
  return index.both(inside, isLast);
}

/// Stores place `number` of the cell.
void CellStore::storePlace(Value number) {
  SmallVector<Value> extents, offsets;
  for (const plan::SpreadResult::Dim &cell : spread.dims)
    extents.push_back(index.constant(cell.extent));
  Value inside;
  offsets = index.delinearize(number, extents);
  for (auto [dim, offset] : llvm::enumerate(offsets))
    inside = index.both(inside, isInside(dim, offset));
  OpBuilder &builder = points.builder;
  Value stored = splatTo(builder, points.loc, points.constant(spread.background), point.lanes);
  std::optional<int64_t> known = getConstantIntValue(number);
  int64_t ownPlace = spread.getOwnPlace();
  if (known && *known == ownPlace)
    stored = value;
  else if (!known)
    stored = arith::SelectOp::create(
        builder, points.loc, index.isEqual(number, index.constant(ownPlace)), value, stored);
  points.emitIf(inside,
                [&] { points.store(output.binding, getPosition(offsets), stored, point.lanes); });
}

/// The position of the place at `offsets` of the cell, which the tensor has.
Coord CellStore::getPosition(ArrayRef<Value> offsets) {
  // All places of a cell are at known distances from its first one, if the tensor has that.
  if (!spread.isSlice())
    return points.add(flat, Coord::uniform(index.linearize(offsets, sizes)), point.lanes);
  SmallVector<Coord> places;
  for (auto [coord, offset, cell] : llvm::zip_equal(point.coords, offsets, spread.dims)) {
    if (cell.distance == 1 && !cell.isSlice) {
      places.push_back(coord);
      continue;
    }
    Value first = index.mul(coord.first(), cell.distance);
    places.push_back(
        Coord::uniform(index.sub(index.add(first, offset), index.constant(cell.skipped))));
  }
  return points.linearize(places, sizes, point.lanes);
}

void CellStore::run() {
  int64_t places = spread.countPlaces();
  if (places <= kUnrolledPlaces) {
    for (int64_t place = 0; place < places; ++place)
      storePlace(index.constant(place));
    return;
  }
  points.emitLoop(index.constant(0), index.constant(places), index.constant(1), {},
                  [&](Value number, ValueRange) -> SmallVector<Value> {
                    PointEmitter::Scope scope(points);
                    storePlace(number);
                    return {};
                  });
}

/// True if lanes are neighbours along a dim whose elements lie apart, or are not all there.
static bool haveOwnCells(const KernelOutput &output, const Point &point) {
  return llvm::any_of(llvm::zip_equal(point.coords, output.spread->dims), [](const auto &pair) {
    const auto &[coord, dim] = pair;
    return (dim.distance != 1 || dim.isSlice) && !coord.isUniform();
  });
}

void storeElements(PointEmitter &points, const KernelOutput &output, const Point &point,
                   const Coord &flat, Value value, Value mask) {
  int64_t lanes = point.lanes;
  if (!output.spread)
    return points.store(output.binding, flat, value, lanes, mask);
  bool areMasked = mask && isa<VectorType>(mask.getType());
  if (lanes == 1 || (!areMasked && !haveOwnCells(output, point))) {
    points.emitIf(mask, [&] {
      value = splatTo(points.builder, points.loc, value, lanes);
      CellStore(points, output, point, flat, value).run();
    });
    return;
  }
  for (int64_t lane = 0; lane < lanes; ++lane) {
    Point own;
    for (const Coord &coord : point.coords)
      own.coords.push_back(Coord::uniform(points.getLaneIndex(coord, lane)));
    storeElements(points, output, own, Coord::uniform(points.getLaneIndex(flat, lane)),
                  getLane(points.builder, points.loc, value, lane),
                  areMasked ? getLane(points.builder, points.loc, mask, lane) : mask);
  }
}

} // namespace xc::cuda
