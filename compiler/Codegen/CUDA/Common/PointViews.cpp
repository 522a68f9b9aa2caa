//===- PointViews.cpp - Values of views at points -------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Common/LaneOps.h"
#include "compiler/Codegen/CUDA/Common/PointEmitter.h"
#include "compiler/Codegen/Common/ViewIndices.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace xc::cuda {

static bool isConstant(Value value, int64_t number) {
  return getConstantIntValue(value) == std::optional(number);
}

/// The arithmetic of ViewIndices.h on coordinates of a point.
struct PointEmitter::CoordArithmetic {
  using Index = Coord;

  Coord get(OpFoldResult number) { return Coord::uniform(points.index.get(number)); }
  Coord add(const Coord &lhs, const Coord &rhs) { return points.add(lhs, rhs, lanes); }
  Coord scale(const Coord &coord, OpFoldResult factor) {
    return points.mul(coord, points.index.get(factor), lanes);
  }
  SmallVector<Coord> split(const Coord &position, ArrayRef<OpFoldResult> sizes) {
    return points.delinearize(
        position,
        llvm::map_to_vector(sizes, [&](OpFoldResult size) { return points.index.get(size); }),
        lanes);
  }
  SmallVector<OpFoldResult> getSizes(Value tensor) {
    return getAsOpFoldResult(points.getSizes(tensor));
  }

  PointEmitter &points;
  int64_t lanes;
};

Value PointEmitter::computeView(Operation *view, Point &point) {
  // A reshape leaves the row-major position as it is.
  bool isReshape = !isa<tensor::ExtractSliceOp>(view);
  Point source{{}, isReshape ? point.flat : std::nullopt, point.lanes, point.mask};
  if (!source.flat) {
    CoordArithmetic arithmetic{*this, point.lanes};
    source.coords =
        codegen::getSourceIndices(arithmetic, view, getCoords(point, view->getResult(0)));
    if (source.coords.empty())
      source.flat = Coord::uniform(index.constant(0));
  }
  return emit(view->getOperand(0), source);
}

Value PointEmitter::computeLaneByLane(Value tensor, Point &point) {
  (void)getCoords(point, tensor); // fills them in
  SmallVector<Value> lanes;
  for (int64_t lane = 0; lane < point.lanes; ++lane) {
    Point single{{}, {}, 1, point.mask};
    for (const Coord &coord : point.coords)
      single.coords.push_back(Coord::uniform(getLaneIndex(coord, lane)));
    lanes.push_back(emit(tensor, single));
  }
  return fromLanes(builder, loc, lanes);
}

std::optional<Value> PointEmitter::getInside(const Coord &coord, Value low, Value size,
                                             int64_t lanes) {
  bool shared =
      coord.isUniform() || (coord.isConsecutive() && knownDivisor(coord.first()) % lanes == 0 &&
                            knownDivisor(low) % lanes == 0 && knownDivisor(size) % lanes == 0);
  if (!shared && lanes > 1)
    return std::nullopt;
  Value condition = index.isLess(coord.first(), index.add(low, size));
  if (isConstant(low, 0))
    return condition;
  return index.both(index.isAtLeast(coord.first(), low), condition);
}

Value PointEmitter::computeInsertSlice(tensor::InsertSliceOp op, Point &point) {
  ArrayRef<Coord> coords = getCoords(point, op.getResult());
  SmallVector<Value> destSizes = getSizes(op.getResult());
  llvm::SmallBitVector dropped = op.getDroppedDims();
  Point source{{}, {}, point.lanes, point.mask};
  Value inside;
  for (auto [dim, coord] : llvm::enumerate(coords)) {
    Value offset = index.get(op.getMixedOffsets()[dim]), size = index.get(op.getMixedSizes()[dim]),
          stride = index.get(op.getMixedStrides()[dim]);
    bool whole = isConstant(offset, 0) && size == destSizes[dim] && isConstant(stride, 1);
    if (!whole) {
      // The last element that is written is the one before offset + (size - 1) * stride + 1.
      Value extent = isConstant(stride, 1)
                         ? size
                         : index.add(index.mul(index.sub(size, index.constant(1)), stride), 1);
      std::optional<Value> within = getInside(coord, offset, extent, point.lanes);
      if (!within || (!isConstant(stride, 1) && point.lanes > 1))
        return computeLaneByLane(op.getResult(), point);
      inside = index.both(inside, *within);
    }
    Coord relative = coord;
    relative.values.front() = index.sub(coord.first(), offset);
    if (!isConstant(stride, 1)) {
      Value remainder = index.rem(relative.first(), stride);
      inside = index.both(inside, index.isEqual(remainder, index.constant(0)));
      relative.values.front() = index.div(relative.first(), stride);
    }
    if (!dropped.test(dim))
      source.coords.push_back(relative);
  }
  if (source.coords.empty())
    source.flat = Coord::uniform(index.constant(0));
  if (!inside)
    return emit(op.getSource(), source);
  Type elementType = op.getType().getElementType();
  return emitIf(
      inside, elementType, point.lanes, [&] { return emit(op.getSource(), source); },
      [&] { return emit(op.getDest(), point); });
}

Value PointEmitter::computePad(tensor::PadOp op, Point &point) {
  ArrayRef<Coord> coords = getCoords(point, op.getResult());
  SmallVector<Value> sizes = getSizes(op.getSource());
  Point source{{}, {}, point.lanes, point.mask};
  Value inside;
  for (auto [dim, coord] : llvm::enumerate(coords)) {
    Value low = index.get(op.getMixedLowPad()[dim]), high = index.get(op.getMixedHighPad()[dim]);
    if (!isConstant(low, 0) || !isConstant(high, 0)) {
      std::optional<Value> within = getInside(coord, low, sizes[dim], point.lanes);
      if (!within)
        return computeLaneByLane(op.getResult(), point);
      inside = index.both(inside, *within);
    }
    Coord relative = coord;
    if (!isConstant(low, 0)) {
      for (Value &value : relative.values)
        value = index.sub(value, low);
    }
    source.coords.push_back(relative);
  }
  if (!inside)
    return emit(op.getSource(), source);
  auto emitPadding = [&]() -> Value {
    Block &body = op.getRegion().front();
    IRMapping mapping;
    for (auto [argument, coord] : llvm::zip_equal(body.getArguments(), coords))
      mapping.map(argument, toValue(coord, point.lanes));
    for (Operation &bodyOp : body.without_terminator())
      cloneOnLanes(builder, &bodyOp, mapping);
    return mapping.lookupOrDefault(body.getTerminator()->getOperand(0));
  };
  return emitIf(
      inside, op.getResultType().getElementType(), point.lanes,
      [&] { return emit(op.getSource(), source); }, emitPadding);
}

} // namespace xc::cuda
