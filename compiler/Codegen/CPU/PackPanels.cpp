//===- PackPanels.cpp - Operands of a product, packed into panels ---------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CPU/PackPanels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace xc::cpu {

int64_t Side::getLanes(int64_t lanes) const {
  if (summary->guarded[innermost()])
    return 1;
  std::optional<int64_t> run = getConstantIntValue(loops.back().size);
  auto fits = [&](int64_t count) {
    bool staysInRun = loops.size() == 1 || (run && *run % count == 0);
    return count == 1 || (width % count == 0 && staysInRun);
  };
  while (!fits(lanes))
    lanes /= 2;
  return lanes;
}

bool isContiguousAlongOwnDim(const Side &side) {
  return llvm::any_of(side.summary->accesses, [&](const Access &access) {
    return !access.indices.empty() && access.indices.back() &&
           access.indices.back().isFunctionOfDim(side.innermost());
  });
}

Value PanelPacker::index(OpBuilder &builder, int64_t value) const {
  return arith::ConstantIndexOp::create(builder, loc, value);
}

static SmallVector<LaneIndex> getIndices(const Side &side, Value panel, const LaneIndex &kk,
                                         const LaneIndex &position) {
  if (side.byRows)
    return {{panel}, position, kk};
  return {{panel}, kk, position};
}

void PanelPacker::store(OpBuilder &builder, const Side &side, const PanelPoint &at,
                        ArrayRef<LaneIndex> loops, int64_t numLanes) const {
  Environment environment;
  PointEvaluator evaluator(builder, environment, numLanes);
  Value value = evaluator.evaluateAt(side.operand, side.map, loops);
  evaluator.store(loc, value, Buffer{side.panels}, getIndices(side, at.panel, at.kk, at.position));
}

void PanelPacker::storeZero(OpBuilder &builder, const Side &side, const PanelPoint &at,
                            int64_t numLanes) const {
  Environment environment;
  PointEvaluator evaluator(builder, environment, numLanes);
  Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(element));
  evaluator.store(loc, zero, Buffer{side.panels}, getIndices(side, at.panel, at.kk, at.position));
}

/// Runs |body| for each iteration of the outer loops of |block|, whose indices it sets in |loops|;
/// it gets the first reduced index of the panel that belongs to it.
void PanelPacker::forEachOuter(OpBuilder &builder, const ReducedBlock &block,
                               MutableArrayRef<LaneIndex> loops,
                               function_ref<void(OpBuilder &, Value)> body) const {
  if (reduced.outer.empty())
    return body(builder, index(builder, 0));
  emitLoop(builder, loc, {index(builder, 0), block.outerCount}, 1,
           [&](OpBuilder &inner, Location, Value number) {
             Value outer = arith::AddIOp::create(inner, loc, block.outerBegin, number);
             setLinearIndex(inner, loc, outer, reduced.outer, loops);
             body(inner, arith::MulIOp::create(inner, loc, number, block.innerCount));
           });
}

/// One row of a panel, in lanes along the inner loop.
void PanelPacker::packRow(OpBuilder &builder, const Side &side, const ReducedBlock &block,
                          const PanelPoint &at, MutableArrayRef<LaneIndex> loops) const {
  unsigned inner = reduced.inner.dims.back();
  int64_t maxLanes = side.summary->guarded[inner] ? 1 : lanes;
  SmallVector<int64_t> widths = getWidths(maxLanes, maxLanes, 1);
  forEachOuter(builder, block, loops, [&](OpBuilder &b, Value first) {
    emitLaneLoops(b, loc, {index(b, 0), block.innerCount}, widths,
                  [&](OpBuilder &body, Value number, int64_t numLanes) {
                    int64_t stride = numLanes == 1 ? 0 : 1;
                    loops[inner] = {arith::AddIOp::create(body, loc, block.innerBegin, number),
                                    stride};
                    Value kk = body.createOrFold<arith::AddIOp>(loc, first, number);
                    store(body, side, {at.panel, {kk, stride}, at.position}, loops, numLanes);
                  });
  });
}

/// |tensor|, or what it is the padding of.
static Value getUnpadded(Value tensor) {
  auto pad = tensor.getDefiningOp<tensor::PadOp>();
  return pad ? pad.getSource() : tensor;
}

/// Whether |filter| has |first| and |second| as neighbouring dims of its memory.
static bool hasNeighbours(const Side &filter, AffineExpr first, AffineExpr second) {
  ArrayRef<AffineExpr> exprs = filter.map.getResults();
  const auto *it = llvm::find(exprs, first);
  return it != exprs.end() && std::next(it) != exprs.end() && *std::next(it) == second &&
         filter.operand.getDefiningOp<bufferization::ToTensorOp>();
}

void mergeRuns(Side &image, const Side &filter, ReducedLoops &reduced, int64_t lanes) {
  unsigned rank = image.map.getNumResults();
  if (!image.byRows || reduced.outer.empty() || rank < 2)
    return;
  const LoopDim &pixels = reduced.outer.back(), &channels = reduced.inner;
  MLIRContext *context = image.map.getContext();
  AffineExpr pixel = getAffineDimExpr(pixels.dims.back(), context),
             channel = getAffineDimExpr(channels.dims.back(), context);
  std::optional<int64_t> numPixels = getConstantIntValue(pixels.size),
                         numChannels = getConstantIntValue(channels.size);
  auto type = cast<RankedTensorType>(image.operand.getType());
  AffineExpr along = image.map.getResult(rank - 2);
  // A tap further is one pixel further, whose channels are all that the image has.
  AffineExpr step = simplifyAffineExpr(
      along - along.replace(pixel, getAffineConstantExpr(0, context)), image.map.getNumDims(), 0);
  auto pad = image.operand.getDefiningOp<tensor::PadOp>();
  bool isPlain = getUnpadded(image.operand).getDefiningOp<bufferization::ToTensorOp>() &&
                 (!pad || (isZeroInteger(pad.getMixedLowPad().back()) &&
                           isZeroInteger(pad.getMixedHighPad().back())));
  if (!numPixels || !numChannels || *numChannels >= lanes || *numPixels < 2 || !isPlain ||
      image.map.getResult(rank - 1) != channel || type.getShape().back() != *numChannels ||
      step != pixel || !hasNeighbours(filter, pixel, channel))
    return;
  LoopDim run{{pixels.dims.back(), channels.dims.back()},
              Builder(context).getIndexAttr(*numPixels * *numChannels)};
  reduced.outer.pop_back();
  reduced.inner = run;
  image.hasRuns = true;
}

/// One row of a panel of an image whose inner loop is a run of memory: in lanes along the run where
/// all of it is inside of the image, else element by element.
void PanelPacker::packRun(OpBuilder &builder, const Side &side, const ReducedBlock &block,
                          const PanelPoint &at, MutableArrayRef<LaneIndex> loops) const {
  unsigned pixel = reduced.inner.dims.front(), channel = reduced.inner.dims.back();
  unsigned width = side.map.getNumResults() - 2;
  Value source = getUnpadded(side.operand);
  auto pad = side.operand.getDefiningOp<tensor::PadOp>();
  int64_t channels = cast<RankedTensorType>(source.getType()).getShape().back();
  std::optional<int64_t> run = getConstantIntValue(reduced.inner.size);
  forEachOuter(builder, block, loops, [&](OpBuilder &b, Value first) {
    Environment environment;
    loops[pixel] = loops[channel] = {index(b, 0)};
    SmallVector<LaneIndex> start =
        PointEvaluator(b, environment, 1).evaluateMap(loc, side.map, loops);
    Value inside = arith::ConstantIntOp::create(b, loc, 1, 1);
    SmallVector<OpFoldResult> sourceSizes = getSizes(b, source);
    for (unsigned dim = 0; pad && dim <= width; ++dim) {
      OpFoldResult low = pad.getMixedLowPad()[dim], high = pad.getMixedHighPad()[dim];
      if (isZeroInteger(low) && isZeroInteger(high))
        continue;
      Value size = getValueOrCreateConstantIndexOp(b, loc, sourceSizes[dim]);
      start[dim].base = b.createOrFold<arith::SubIOp>(loc, start[dim].base,
                                                      getValueOrCreateConstantIndexOp(b, loc, low));
      // Unsigned: what is below 0 wraps to a large number. The last pixel of the run is inside as
      // well.
      Value last = dim == width ? b.createOrFold<arith::AddIOp>(loc, start[dim].base,
                                                                index(b, *run / channels - 1))
                                : start[dim].base;
      for (Value end : {start[dim].base, last})
        inside = b.createOrFold<arith::AndIOp>(
            loc, inside, arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, end, size));
    }
    Value origin = arith::MulIOp::create(b, loc, start[width].base, index(b, channels));
    start[width] = LaneIndex();
    start[width].absorbed = true;
    auto packInside = [&](OpBuilder &branch, Location) {
      emitLaneLoops(branch, loc, {index(branch, 0), block.innerCount}, getWidths(lanes, lanes, 1),
                    [&](OpBuilder &body, Value number, int64_t numLanes) {
                      int64_t stride = numLanes == 1 ? 0 : 1;
                      Value position = arith::AddIOp::create(body, loc, block.innerBegin, number);
                      start.back() = {arith::AddIOp::create(body, loc, origin, position), stride};
                      Value kk = body.createOrFold<arith::AddIOp>(loc, first, number);
                      PointEvaluator evaluator(body, environment, numLanes);
                      evaluator.store(loc, evaluator.evaluate(source, start), Buffer{side.panels},
                                      getIndices(side, at.panel, {kk, stride}, at.position));
                    });
      scf::YieldOp::create(branch, loc);
    };
    auto packEdge = [&](OpBuilder &branch, Location) {
      emitLoop(branch, loc, {index(branch, 0), block.innerCount}, 1,
               [&](OpBuilder &body, Location, Value number) {
                 Value position = arith::AddIOp::create(body, loc, block.innerBegin, number);
                 Value size = index(body, channels);
                 loops[pixel] = {arith::DivUIOp::create(body, loc, position, size)};
                 loops[channel] = {arith::RemUIOp::create(body, loc, position, size)};
                 Value kk = body.createOrFold<arith::AddIOp>(loc, first, number);
                 store(body, side, {at.panel, {kk}, at.position}, loops, 1);
               });
      scf::YieldOp::create(branch, loc);
    };
    scf::IfOp::create(b, loc, inside, packInside, packEdge);
  });
}

/// For operands that are contiguous along the inner loop: each row of a panel is a run of memory.
void PanelPacker::packByRows(OpBuilder &builder, const Side &side,
                             const ReducedBlock &block) const {
  Value rows = arith::SubIOp::create(builder, loc, side.end, side.begin);
  Value width = index(builder, side.width);
  Value panels = arith::CeilDivUIOp::create(builder, loc, rows, width);
  Value padded = arith::MulIOp::create(builder, loc, panels, width);
  Value length = arith::MulIOp::create(builder, loc, block.outerCount, block.innerCount);
  emitLoop(builder, loc, {index(builder, 0), padded}, 1, [&](OpBuilder &b, Location, Value row) {
    Value panel = arith::DivUIOp::create(b, loc, row, width);
    Value position = arith::RemUIOp::create(b, loc, row, width);
    Value valid = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, row, rows);
    auto packValid = [&](OpBuilder &branch, Location) {
      SmallVector<LaneIndex> loops(point);
      setLinearIndex(branch, loc, arith::AddIOp::create(branch, loc, side.begin, row), side.loops,
                     loops);
      if (side.hasRuns)
        packRun(branch, side, block, {panel, {}, {position}}, loops);
      else
        packRow(branch, side, block, {panel, {}, {position}}, loops);
      scf::YieldOp::create(branch, loc);
    };
    auto packRest = [&](OpBuilder &branch, Location) {
      emitLaneLoops(branch, loc, {index(branch, 0), length}, getWidths(lanes, lanes, 1),
                    [&](OpBuilder &inner, Value kk, int64_t numLanes) {
                      storeZero(inner, side, {panel, {kk, numLanes == 1 ? 0 : 1}, {position}},
                                numLanes);
                    });
      scf::YieldOp::create(branch, loc);
    };
    scf::IfOp::create(b, loc, valid, packValid, packRest);
  });
}

/// Fills panels in lanes across them.
void PanelPacker::packByColumns(OpBuilder &builder, const Side &side,
                                const ReducedBlock &block) const {
  Value rows = arith::SubIOp::create(builder, loc, side.end, side.begin);
  Value width = index(builder, side.width);
  Value panels = arith::CeilDivUIOp::create(builder, loc, rows, width);
  int64_t step = side.getLanes(lanes);
  SmallVector<LaneIndex> loops(point);
  // What follows the panel's number and reduced index: the positions in it.
  auto packRange = [&](OpBuilder &b, const PanelPoint &at, Range range, int64_t numLanes) {
    emitLoop(b, loc, range, numLanes, [&](OpBuilder &body, Location, Value position) {
      Value first = arith::MulIOp::create(body, loc, at.panel, width);
      Value own = arith::AddIOp::create(body, loc, first, position);
      int64_t stride = numLanes == 1 ? 0 : 1;
      setLinearIndex(body, loc, arith::AddIOp::create(body, loc, side.begin, own), side.loops,
                     loops);
      loops[side.innermost()].stride = stride;
      store(body, side, {at.panel, at.kk, {position, stride}}, loops, numLanes);
    });
  };
  auto packPositions = [&](OpBuilder &b, const PanelPoint &at, Value valid, Value full) {
    auto packFull = [&](OpBuilder &branch, Location) {
      packRange(branch, at, {index(branch, 0), width}, step);
      scf::YieldOp::create(branch, loc);
    };
    auto packEdge = [&](OpBuilder &branch, Location) {
      packRange(branch, at, {index(branch, 0), valid}, 1);
      emitLoop(branch, loc, {valid, width}, 1, [&](OpBuilder &body, Location, Value position) {
        storeZero(body, side, {at.panel, at.kk, {position}}, 1);
      });
      scf::YieldOp::create(branch, loc);
    };
    scf::IfOp::create(b, loc, full, packFull, packEdge);
  };
  auto forEachPanel = [&](OpBuilder &b, function_ref<void(OpBuilder &, Value)> body) {
    emitLoop(b, loc, {index(b, 0), panels}, 1,
             [&](OpBuilder &inner, Location, Value panel) { body(inner, panel); });
  };
  auto forEachTerm = [&](OpBuilder &b, function_ref<void(OpBuilder &, Value)> body) {
    forEachOuter(b, block, loops, [&](OpBuilder &outer, Value first) {
      emitLoop(outer, loc, {index(outer, 0), block.innerCount}, 1,
               [&](OpBuilder &inner, Location, Value number) {
                 reduced.inner.setIndex(
                     loops, {arith::AddIOp::create(inner, loc, block.innerBegin, number)});
                 body(inner, inner.createOrFold<arith::AddIOp>(loc, first, number));
               });
    });
  };
  auto packPanel = [&](OpBuilder &b, Value panel, Value kk) {
    Value first = arith::MulIOp::create(b, loc, panel, width);
    Value rest = arith::SubIOp::create(b, loc, rows, first);
    Value valid = b.createOrFold<arith::MinUIOp>(loc, width, rest);
    Value full = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, valid, width);
    packPositions(b, {panel, {kk}, {}}, valid, full);
  };
  // In the order in which the operand lies: memory is read in long runs.
  if (isContiguousAlongOwnDim(side))
    forEachTerm(builder, [&](OpBuilder &b, Value kk) {
      forEachPanel(b, [&](OpBuilder &inner, Value panel) { packPanel(inner, panel, kk); });
    });
  else
    forEachPanel(builder, [&](OpBuilder &b, Value panel) {
      forEachTerm(b, [&](OpBuilder &inner, Value kk) { packPanel(inner, panel, kk); });
    });
}

void PanelPacker::pack(OpBuilder &builder, const Side &side, const ReducedBlock &block) const {
  if (side.byRows)
    packByRows(builder, side, block);
  else
    packByColumns(builder, side, block);
}

} // namespace xc::cpu
