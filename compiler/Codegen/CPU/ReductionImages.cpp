//===- ReductionImages.cpp - Windows over bands of an image ---------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Windows that slide along the lanes read vectors at every offset, across borders of padding, and
// with a stride that leaves elements out. So what a band of points reads is first copied to private
// memory, where it stays in the first cache: padding as numbers, what feeds the image computed once
// an element, and of a strided image the elements apart that lanes read side by side.
//
//   for band of rows and columns
//     for row of the image that its windows read
//       memory[row] = padding, elements, padding
//     for strip of rows; for vector of columns
//       for tap of the window; for row of the strip: accumulate, each row in registers of its own
//       for row of the strip: what follows
//
// No branch is left in the sums. Lanes past the end of a row read what nobody wrote, and are masked
// where they meet other memory.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CPU/ReductionImages.h"

#include "compiler/Codegen/CPU/IndexMath.h"
#include "compiler/Codegen/CPU/ReductionStrips.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace xc::cpu {

Value ImageNest::constantIndex(OpBuilder &builder, int64_t value) {
  return constant(builder, loc, value);
}

Value ImageNest::add(OpBuilder &builder, Value lhs, Value rhs) {
  return builder.createOrFold<arith::AddIOp>(loc, lhs, rhs);
}

Value ImageNest::scale(OpBuilder &builder, Value value, int64_t factor) {
  return builder.createOrFold<arith::MulIOp>(loc, value, constantIndex(builder, factor));
}

//===----------------------------------------------------------------------===//
// Bands
//===----------------------------------------------------------------------===//

static OpFoldResult divideUp(OpBuilder &builder, Location loc, OpFoldResult size, int64_t divisor) {
  AffineExpr quotient = builder.getAffineSymbolExpr(0).ceilDiv(divisor);
  return affine::makeComposedFoldedAffineApply(builder, loc, AffineMap::get(0, 1, quotient),
                                               {size});
}

SmallVector<LoopDim> ImageNest::getLoops(OpBuilder &builder) const {
  unsigned numKept = lowering.group.getNumKept();
  ArrayRef<LoopDim> rows = lowering.rows;
  SmallVector<LoopDim> loops;
  OpFoldResult bands = builder.getIndexAttr(1);
  if (!rows.empty()) {
    loops.append(rows.begin(), rows.end() - 1);
    bands = divideUp(builder, loc, rows.back().size, lowering.config.getBand());
  }
  loops.push_back({{numKept}, bands});
  loops.push_back(
      {{numKept + 1}, divideUp(builder, loc, lowering.columns.size, lowering.config.getChunk())});
  return loops;
}

static int64_t getMost(OpFoldResult size, int64_t most) {
  return std::clamp<int64_t>(getConstantIntValue(size).value_or(most), 1, most);
}

int64_t ImageNest::getWork() const {
  int64_t work = getMost(lowering.columns.size, lowering.config.getChunk());
  if (!lowering.rows.empty())
    work *= getMost(lowering.rows.back().size, lowering.config.getBand());
  const Step &step = lowering.group.steps.front();
  for (plan::FormulaAttr size : ArrayRef(step.sizes).drop_front(lowering.group.getNumKept()))
    work *= *size.asConstant(); // in range: windows have few taps
  return work;
}

/// The part with the number `part` of `total`, of `size` each.
Range ImageNest::getPart(OpBuilder &builder, Value part, int64_t size, OpFoldResult total) {
  std::optional<int64_t> count = getConstantIntValue(total);
  Value all = getValueOrCreateConstantIndexOp(builder, loc, total);
  if (count && *count <= size)
    return {constantIndex(builder, 0), all, std::max<int64_t>(*count, 1)};
  Value begin = scale(builder, part, size);
  Value end = builder.createOrFold<arith::MinUIOp>(
      loc, add(builder, begin, constantIndex(builder, size)), all);
  return {begin, end, count ? std::gcd(size, *count) : 1};
}

void ImageNest::emit(OpBuilder &builder, Range range) {
  const ReductionAttr &config = lowering.config;
  for (const SlidingImage &image : images) {
    SmallVector<int64_t> shape =
        image.getBandShape(config.getBand(), config.getChunk(), config.getLanes());
    Type element = cast<RankedTensorType>(image.operand->get().getType()).getElementType();
    memories.push_back(memref::AllocOp::create(builder, loc, MemRefType::get(shape, element)));
  }
  unsigned numKept = lowering.group.getNumKept();
  SmallVector<LaneIndex> point(numKept + 2);
  emitLinearLoop(builder, loc, range, getLoops(builder), point, [&](OpBuilder &inner) {
    Range rows{constantIndex(inner, 0), constantIndex(inner, 1)};
    if (!lowering.rows.empty()) {
      const LoopDim &row = lowering.rows.back();
      rows = getPart(inner, point[numKept].base, config.getBand(), row.size);
      row.setIndex(point, {rows.begin});
    }
    Range columns =
        getPart(inner, point[numKept + 1].base, config.getChunk(), lowering.columns.size);
    lowering.columns.setIndex(point, {columns.begin});
    emitBand(inner, ArrayRef(point).take_front(numKept), rows, columns);
  });
}

void ImageNest::emitBand(OpBuilder &builder, ArrayRef<LaneIndex> first, Range rows, Range columns) {
  Environment known;
  for (auto [image, memory] : llvm::zip_equal(images, memories)) {
    Buffer buffer = locate(builder, image, memory, first);
    emitCopy(builder, image, buffer, first, rows, columns);
    known.buffers[image.operand->get()] = buffer;
  }
  SmallVector<LaneIndex> point(first);
  if (lowering.rows.empty())
    return emitColumns(builder, point, 1, columns, known);
  Value begin = rows.begin;
  for (int64_t count : getWidths(lowering.config.getStrip(), 1, rows.divisor)) {
    Value length = arith::SubIOp::create(builder, loc, rows.end, begin);
    Value rest = builder.createOrFold<arith::RemUIOp>(loc, length, constantIndex(builder, count));
    Value end = builder.createOrFold<arith::SubIOp>(loc, rows.end, rest);
    emitLoop(builder, loc, {begin, end}, count, [&](OpBuilder &inner, Location, Value row) {
      lowering.rows.back().setIndex(point, {row});
      emitColumns(inner, point, count, columns, known);
    });
    begin = end;
  }
}

/// `count` rows from `first` on, vector by vector.
void ImageNest::emitColumns(OpBuilder &builder, ArrayRef<LaneIndex> first, int64_t count,
                            Range columns, const Environment &known) {
  StripNest strips(lowering);
  int64_t lanes = lowering.config.getLanes();
  auto emitVector = [&](OpBuilder &inner, Value column, const Environment &environment) {
    strips.emitPoints(inner, strips.getNeighbours(inner, first, count, {column, 1}), environment,
                      lanes);
  };
  Value length = builder.createOrFold<arith::SubIOp>(loc, columns.end, columns.begin);
  Value rest = builder.createOrFold<arith::RemUIOp>(loc, length, constantIndex(builder, lanes));
  Value end = builder.createOrFold<arith::SubIOp>(loc, columns.end, rest);
  emitLoop(builder, loc, {columns.begin, end}, lanes,
           [&](OpBuilder &inner, Location, Value column) { emitVector(inner, column, known); });
  if (columns.divisor % lanes == 0)
    return;
  Value isLeft = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, rest,
                                       constantIndex(builder, 0));
  auto left = scf::IfOp::create(builder, loc, isLeft, /*withElseRegion=*/false);
  OpBuilder inner = left.getThenBodyBuilder();
  Environment masked = known;
  masked.mask = vector::CreateMaskOp::create(
      inner, loc, VectorType::get({lanes}, inner.getI1Type()), ValueRange(rest));
  emitVector(inner, end, masked);
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// Where the band whose first point is `first` has its elements.
Buffer ImageNest::locate(OpBuilder &builder, const SlidingImage &image, Value memory,
                         ArrayRef<LaneIndex> first) {
  Buffer buffer{memory};
  buffer.dims = image.getWideDims(lowering.config.getBand(), lowering.config.getChunk());
  buffer.origins.resize(image.dims.size());
  buffer.step = image.getStep();
  buffer.hasAllLanes = true;
  for (unsigned dim : ArrayRef(buffer.dims).drop_back()) {
    const WindowReach &reach = image.dims[dim];
    Value origin = constantIndex(builder, reach.least);
    for (auto [factor, index] : llvm::zip_equal(reach.factors, first))
      if (factor != 0 && index.base)
        origin = add(builder, scale(builder, index.base, factor), origin);
    buffer.origins[dim] = origin;
  }
  int64_t steps = llvm::divideFloorSigned(image.dims.back().least, buffer.step);
  buffer.origins.back() = add(builder, first.back().base, constantIndex(builder, steps));
  return buffer;
}

/// Copies what the windows of `rows` x `columns` read.
void ImageNest::emitCopy(OpBuilder &builder, const SlidingImage &image, const Buffer &buffer,
                         ArrayRef<LaneIndex> first, Range rows, Range columns) {
  unsigned numKept = first.size();
  // The element of the image at each dim: what all points of the band have there, or set by loops.
  SmallVector<LaneIndex> indices;
  for (auto [dim, reach] : llvm::enumerate(image.dims)) {
    LaneIndex &index = indices.emplace_back(LaneIndex{constantIndex(builder, reach.least)});
    if (llvm::is_contained(buffer.dims, dim))
      continue;
    for (auto [factor, kept] : llvm::zip_equal(reach.factors, first)) {
      if (factor == 0)
        continue;
      if (kept.absorbed)
        index = kept;
      else
        index.base = add(builder, scale(builder, kept.base, factor), index.base);
    }
  }
  SmallVector<Value> places;
  auto emitDim = [&](auto &self, OpBuilder &outer, size_t position) -> void {
    unsigned dim = buffer.dims[position];
    const WindowReach &reach = image.dims[dim];
    bool isLast = position + 1 == buffer.dims.size();
    int64_t factor = isLast ? buffer.step : numKept < 2 ? 0 : reach.factors[numKept - 2];
    // One more where the first element is no multiple of a step.
    int64_t least = 1 + reach.reach - factor + (isLast ? llvm::mod(reach.least, buffer.step) : 0);
    const Range &points = isLast ? columns : rows;
    Value number = outer.createOrFold<arith::SubIOp>(loc, points.end, points.begin);
    Value count = add(outer, scale(outer, number, factor), constantIndex(outer, least));
    if (isLast)
      return emitLine(outer, image, buffer, places, indices, count);
    emitLoop(outer, loc, {constantIndex(outer, 0), count}, 1,
             [&](OpBuilder &inner, Location, Value place) {
               indices[dim].base = add(inner, buffer.origins[dim], place);
               places.push_back(place);
               self(self, inner, position + 1);
               places.pop_back();
             });
  };
  emitDim(emitDim, builder, 0);
}

namespace {

/// A row of the image in vectors: elements of `source`, or `padding` around them.
struct LineCopy {
  ReductionLowering &lowering;
  Location loc;
  Value memory;
  int64_t step, lanes;
  SmallVector<Value> places;

  void emitVectors(OpBuilder &builder, Value count,
                   function_ref<Value(OpBuilder &, Value)> getVector);
  Value emitLoad(OpBuilder &builder, Value source, ArrayRef<LaneIndex> indices, Value begin,
                 Value size, Value padding);
};

} // namespace

/// Stores what `getVector` gives for each vector of elements of the row.
void LineCopy::emitVectors(OpBuilder &builder, Value count,
                           function_ref<Value(OpBuilder &, Value)> getVector) {
  Value steps = builder.createOrFold<arith::CeilDivUIOp>(loc, count, constant(builder, loc, step));
  emitLoop(builder, loc, {constant(builder, loc, 0), steps}, lanes,
           [&](OpBuilder &inner, Location, Value place) {
             Value vector = getVector(inner, place);
             for (int64_t phase = 0; phase < step; ++phase) {
               SmallVector<Value> indices(places);
               Value part = vector;
               if (step > 1) {
                 SmallVector<int64_t> mask;
                 for (int64_t lane = 0; lane < lanes; ++lane)
                   mask.push_back(lane * step + phase);
                 part = vector::ShuffleOp::create(inner, loc, vector, vector, mask);
                 indices.push_back(constant(inner, loc, phase));
               }
               indices.push_back(place);
               vector::StoreOp::create(inner, loc, part, memory, indices);
             }
           });
}

/// The elements of `source` from `begin` on, in all lanes of all steps; `padding` (or anything,
/// where that is null) for those outside of [0, size).
Value LineCopy::emitLoad(OpBuilder &builder, Value source, ArrayRef<LaneIndex> indices, Value begin,
                         Value size, Value padding) {
  int64_t width = lanes * step;
  auto load = [&](OpBuilder &inner, Value mask) {
    Environment environment;
    environment.mask = mask;
    SmallVector<LaneIndex> place(indices);
    place.back() = {begin, 1};
    PointEvaluator evaluator(inner, environment, width);
    return evaluator.toLanes(loc, evaluator.evaluate(source, place));
  };
  Value zero = constant(builder, loc, 0), all = constant(builder, loc, width);
  Value left = arith::SubIOp::create(builder, loc, size, begin); // elements from `begin` on
  Value isAfter = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge, begin, zero);
  Value isBefore = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge, left, all);
  Value isWhole = arith::AndIOp::create(builder, loc, isAfter, isBefore);
  auto emitWhole = [&](OpBuilder &inner, Location) {
    scf::YieldOp::create(inner, loc, load(inner, nullptr));
  };
  auto emitBorder = [&](OpBuilder &inner, Location) {
    auto type = VectorType::get({width}, inner.getI1Type());
    auto countLanes = [&](Value count) {
      Value some = arith::MaxSIOp::create(inner, loc, count, zero);
      Value most = arith::MinSIOp::create(inner, loc, some, all);
      return vector::CreateMaskOp::create(inner, loc, type, ValueRange(most)).getResult();
    };
    // Lanes before the end that are not before the begin.
    Value before = countLanes(arith::SubIOp::create(inner, loc, zero, begin));
    Value none = arith::ConstantOp::create(inner, loc, inner.getZeroAttr(type));
    Value mask = arith::SelectOp::create(inner, loc, before, none, countLanes(left));
    Value vector = load(inner, mask);
    if (padding) {
      Value filled = vector::BroadcastOp::create(inner, loc, vector.getType(), padding);
      vector = arith::SelectOp::create(inner, loc, mask, vector, filled);
    }
    scf::YieldOp::create(inner, loc, vector);
  };
  return scf::IfOp::create(builder, loc, isWhole, emitWhole, emitBorder).getResult(0);
}

/// Copies `count` elements of the row of the image at `indices`, the last of which is not set.
void ImageNest::emitLine(OpBuilder &builder, const SlidingImage &image, const Buffer &buffer,
                         ArrayRef<Value> places, MutableArrayRef<LaneIndex> indices, Value count) {
  Value source = image.operand->get();
  auto pad = source.getDefiningOp<tensor::PadOp>();
  if (pad)
    source = pad.getSource();
  if (!canReadVectors(source))
    return emitElements(builder, image, buffer, places, indices, count);
  SmallVector<OpFoldResult> sizes = getSizes(builder, source);
  SmallVector<LaneIndex> place(indices);
  Value inside, padding;
  Value begin = scale(builder, buffer.origins.back(), buffer.step); // of the row
  if (pad) {
    padding = pad.getConstantPaddingValue();
    SmallVector<OpFoldResult> lows = pad.getMixedLowPad(), highs = pad.getMixedHighPad();
    for (size_t dim = 0; dim < place.size(); ++dim) {
      bool isLast = dim + 1 == place.size();
      if (place[dim].absorbed || (isZeroInteger(lows[dim]) && isZeroInteger(highs[dim])))
        continue;
      Value low = getValueOrCreateConstantIndexOp(builder, loc, lows[dim]);
      Value size = getValueOrCreateConstantIndexOp(builder, loc, sizes[dim]);
      Value &index = isLast ? begin : place[dim].base;
      if (!isLast) {
        Value isIn = isInside(builder, loc, index, low, size);
        inside = inside ? arith::AndIOp::create(builder, loc, inside, isIn).getResult() : isIn;
      }
      index = builder.createOrFold<arith::SubIOp>(loc, index, low);
    }
  }
  LineCopy copy{lowering,
                loc,
                buffer.memref,
                buffer.step,
                lowering.config.getLanes(),
                SmallVector<Value>(places)};
  auto emitElementsOf = [&](OpBuilder &outer) {
    Value size = getValueOrCreateConstantIndexOp(outer, loc, sizes.back());
    copy.emitVectors(outer, count, [&](OpBuilder &inner, Value position) {
      Value first = add(inner, begin, scale(inner, position, buffer.step));
      return copy.emitLoad(inner, source, place, first, size, padding);
    });
  };
  if (!inside)
    return emitElementsOf(builder);
  auto choice = scf::IfOp::create(builder, loc, inside, /*withElseRegion=*/true);
  OpBuilder then = choice.getThenBodyBuilder(), otherwise = choice.getElseBodyBuilder();
  emitElementsOf(then);
  auto type = VectorType::get({copy.lanes * copy.step}, padding.getType());
  Value filled = vector::BroadcastOp::create(otherwise, loc, type, padding);
  copy.emitVectors(otherwise, count, [&](OpBuilder &, Value) { return filled; });
}

/// The same one by one, where vectors are not next to each other in memory.
void ImageNest::emitElements(OpBuilder &builder, const SlidingImage &image, const Buffer &buffer,
                             ArrayRef<Value> places, MutableArrayRef<LaneIndex> indices,
                             Value count) {
  Value begin = scale(builder, buffer.origins.back(), buffer.step);
  emitLoop(builder, loc, {constantIndex(builder, 0), count}, 1,
           [&](OpBuilder &inner, Location, Value place) {
             indices.back() = {add(inner, begin, place)};
             Environment environment;
             PointEvaluator evaluator(inner, environment, 1);
             Value element = evaluator.evaluate(image.operand->get(), indices);
             SmallVector<Value> target(places);
             Value step = constantIndex(inner, buffer.step);
             if (buffer.step > 1)
               target.push_back(inner.createOrFold<arith::RemUIOp>(loc, place, step));
             target.push_back(inner.createOrFold<arith::DivUIOp>(loc, place, step));
             memref::StoreOp::create(inner, loc, element, buffer.memref, target);
           });
}

} // namespace xc::cpu
