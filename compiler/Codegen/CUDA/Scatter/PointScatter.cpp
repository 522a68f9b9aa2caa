//===- PointScatter.cpp - Values of kernel.scatter ------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Scatter/PointScatter.h"

#include "compiler/Codegen/CUDA/Common/LaneOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace xc::cuda {

ScatterRows::ScatterRows(kernel::ScatterOp op, PointEmitter &points) : op(op), points(points) {
  SmallVector<Value> destSizes = points.getSizes(op.getDest()),
                     updateSizes = points.getSizes(op.getUpdates());
  for (int64_t axis : op.getAxes())
    rowSizes.push_back(destSizes[axis]);
  for (int64_t dim : op.getWindowDims())
    windowSizes.push_back(destSizes[dim]);
  batchSizes.assign(updateSizes.begin(), updateSizes.begin() + op.getBatchRank());
}

SmallVector<Coord> ScatterRows::joinCoords(ArrayRef<Value> rowCoords,
                                           ArrayRef<Coord> windowCoords) {
  SmallVector<Coord> coords(rowCoords.size() + windowCoords.size(),
                            Coord::uniform(points.index.constant(0)));
  for (auto [axis, coord] : llvm::zip_equal(op.getAxes(), rowCoords))
    coords[axis] = Coord::uniform(coord);
  for (auto [dim, coord] : llvm::zip_equal(op.getWindowDims(), windowCoords))
    coords[dim] = coord;
  return coords;
}

std::pair<Value, Value> ScatterRows::getTarget(Value update) {
  IndexBuilder &index = points.index;
  OpBuilder &builder = points.builder;
  SmallVector<Value> batch = index.delinearize(update, batchSizes);
  SmallVector<Value> components;
  Value inside;
  for (auto [component, size] : llvm::enumerate(rowSizes)) {
    Point point{llvm::map_to_vector(batch, &Coord::uniform), {}, 1, {}};
    point.coords.push_back(Coord::uniform(index.constant(component)));
    Value stored = points.emit(op.getIndices(), point);
    Value number =
        op.getUnsignedIndices()
            ? arith::IndexCastUIOp::create(builder, points.loc, builder.getIndexType(), stored)
                  .getResult()
            : arith::IndexCastOp::create(builder, points.loc, builder.getIndexType(), stored)
                  .getResult();
    // The comparison is made on the stored width: 64-bit numbers may not fit a narrow index.
    Type i64 = builder.getI64Type();
    Value wide = stored;
    if (stored.getType() != i64)
      wide = op.getUnsignedIndices()
                 ? arith::ExtUIOp::create(builder, points.loc, i64, stored).getResult()
                 : arith::ExtSIOp::create(builder, points.loc, i64, stored).getResult();
    Value limit = arith::IndexCastOp::create(builder, points.loc, i64, size);
    inside = index.both(
        inside, arith::CmpIOp::create(builder, points.loc, arith::CmpIPredicate::ult, wide, limit));
    components.push_back(number);
  }
  if (!inside)
    inside = points.constant(builder.getBoolAttr(true));
  return {index.linearize(components, rowSizes), inside};
}

Value ScatterRows::emitUpdate(Value update, ArrayRef<Coord> windowCoords, int64_t lanes) {
  Point point{llvm::map_to_vector(points.index.delinearize(update, batchSizes), &Coord::uniform),
              {},
              lanes,
              {}};
  llvm::append_range(point.coords, windowCoords);
  if (point.coords.empty())
    point.flat = Coord::uniform(points.index.constant(0));
  return splatTo(points.builder, points.loc, points.emit(op.getUpdates(), point), lanes);
}

Value ScatterRows::combine(Value old, Value update) {
  OpBuilder &builder = points.builder;
  Location loc = points.loc;
  Type element = getElementTypeOrSelf(old);
  bool isFloat = isa<FloatType>(element);
  bool isUnsigned = op.getUnsignedElements();
  // 16-bit floats meet in f32, and are rounded after each update as if stored.
  if (isFloat && element.getIntOrFloatBitWidth() == 16 &&
      op.getKind() != kernel::ScatterKind::Set) {
    Type type = old.getType(), f32 = builder.getF32Type();
    if (auto lanes = dyn_cast<VectorType>(type))
      f32 = lanes.clone(f32);
    Value wide = combine(arith::ExtFOp::create(builder, loc, f32, old),
                         arith::ExtFOp::create(builder, loc, f32, update));
    return arith::TruncFOp::create(builder, loc, type, wide);
  }
  switch (op.getKind()) {
  case kernel::ScatterKind::Set:
    return update;
  case kernel::ScatterKind::Add:
    return isFloat ? arith::AddFOp::create(builder, loc, old, update).getResult()
                   : arith::AddIOp::create(builder, loc, old, update).getResult();
  case kernel::ScatterKind::Mul:
    return isFloat ? arith::MulFOp::create(builder, loc, old, update).getResult()
                   : arith::MulIOp::create(builder, loc, old, update).getResult();
  case kernel::ScatterKind::Max:
    if (isFloat)
      return arith::MaximumFOp::create(builder, loc, old, update);
    return isUnsigned ? arith::MaxUIOp::create(builder, loc, old, update).getResult()
                      : arith::MaxSIOp::create(builder, loc, old, update).getResult();
  case kernel::ScatterKind::Min:
    if (isFloat)
      return arith::MinimumFOp::create(builder, loc, old, update);
    return isUnsigned ? arith::MinUIOp::create(builder, loc, old, update).getResult()
                      : arith::MinSIOp::create(builder, loc, old, update).getResult();
  }
  llvm_unreachable("covered switch");
}

Value PointEmitter::computeScatter(kernel::ScatterOp op, Point &point) {
  if (point.lanes > 1)
    return computeLaneByLane(op->getResult(0), point);
  ScatterRows rows(op, *this);
  SmallVector<Value> rowCoords;
  SmallVector<Coord> windowCoords;
  for (auto [dim, coord] : llvm::enumerate(getCoords(point, op->getResult(0))))
    if (llvm::is_contained(op.getAxes(), static_cast<int64_t>(dim)))
      rowCoords.push_back(coord.first());
    else
      windowCoords.push_back(coord);
  Value row = index.linearize(rowCoords, rows.rowSizes);
  Value start = emit(op.getDest(), point);
  return emitLoop(index.constant(0), index.product(rows.batchSizes), index.constant(1), start,
                  [&](Value update, ValueRange carried) -> SmallVector<Value> {
                    auto [target, inside] = rows.getTarget(update);
                    Value hit = index.both(inside, index.isEqual(target, row));
                    Value old = carried.front();
                    return {emitIf(
                        hit, old.getType(), 1,
                        [&] { return rows.combine(old, rows.emitUpdate(update, windowCoords, 1)); },
                        [&] { return old; })};
                  })
      .front();
}

} // namespace xc::cuda
