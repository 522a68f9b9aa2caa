//===- MatmulTile.cpp - What all matrix product kernels share -------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Matmul/MatmulTile.h"

#include "compiler/Codegen/CUDA/Common/CombineResults.h"
#include "compiler/Codegen/CUDA/Common/LaneOps.h"
#include "compiler/Codegen/CUDA/Common/OutputStores.h"
#include "compiler/Codegen/CUDA/Common/WorkLimits.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace xc::cuda {

/// This many rows of tiles are computed column by column, so that blocks that run together share
/// operands in L2.
static constexpr int64_t kRasterRows = 8;

/// The sizes of the loops of `contraction`, of its partial sums too.
static SmallVector<Value> emitProductSizes(const Contraction &contraction, PointEmitter &points) {
  SmallVector<Value> sizes = points.getLoopSizes(contraction.getOp());
  if (contraction.partial)
    sizes.push_back(points.index.constant(contraction.partial->count));
  return sizes;
}

/// How long each sum is of `sizeK` terms, which may be in parts.
static Value emitSumLength(const Contraction &contraction, IndexBuilder &index, Value sizeK) {
  if (!contraction.partial)
    return sizeK;
  if (!contraction.partial->areShares())
    return index.constant(contraction.partial->size);
  // A share of no terms has one step nevertheless, behind the end, which makes it zero.
  Value steps = index.ceilDiv(sizeK, index.constant(kShareStep * contraction.partial->count));
  return index.mul(index.max(steps, index.constant(1)), kShareStep);
}

MatmulTile::MatmulTile(const KernelInfo &kernel, const Contraction &contraction, KernelFrame &frame,
                       int64_t tileM, int64_t tileN)
    : contraction(contraction), frame(frame), points(frame.points), index(points.index),
      sizes(emitProductSizes(contraction, points)), tileM(tileM), tileN(tileN), groupM(tileM),
      groupN(tileN) {
  sizeM = product(contraction.m);
  sizeN = product(contraction.n);
  sizeK = product(contraction.k);
  tilesM = index.ceilDiv(sizeM, index.constant(tileM));
  tilesN = index.ceilDiv(sizeN, index.constant(tileN));
  batches = product(contraction.batch);
  sumLength = emitSumLength(contraction, index, sizeK);
}

void MatmulTile::setGroup(int64_t rows, int64_t columns) {
  groupM = tileM * rows;
  groupN = tileN * columns;
}

void MatmulTile::place(Value row, Value column, Value product) {
  startM = index.mul(row, tileM);
  startN = index.mul(column, tileN);
  batch = contraction.batch.empty() ? index.constant(0) : product;
  startK = index.constant(0);
  if (contraction.partial)
    startK = index.mul(getBatchIndices()[llvm::find(contraction.batch, sizes.size() - 1) -
                                         contraction.batch.begin()],
                       sumLength);
}

SmallVector<Value> MatmulTile::getBatchIndices() {
  return index.delinearize(batch, select(contraction.batch));
}

void MatmulTile::placeAtBlock(int64_t share) {
  Value block = frame.getBlockId();
  if (share > 1)
    block = index.div(block, share);
  Value tilesOfOne = index.mul(tilesM, tilesN);
  Value product = contraction.batch.empty() ? Value() : index.div(block, tilesOfOne);
  Value tile = contraction.batch.empty() ? block : index.rem(block, tilesOfOne);
  std::optional<int64_t> rows = getConstantIntValue(tilesM);
  if (rows && *rows == 1)
    return place(index.constant(0), tile, product);
  // The last group has fewer rows.
  Value perGroup = index.mul(tilesN, kRasterRows);
  Value firstRow = index.mul(index.div(tile, perGroup), kRasterRows);
  Value groupRows = index.min(index.sub(tilesM, firstRow), index.constant(kRasterRows));
  Value inGroup = index.rem(tile, perGroup);
  place(index.add(firstRow, index.rem(inGroup, groupRows)), index.div(inGroup, groupRows), product);
}

Value MatmulTile::getSteps(int64_t tileK) {
  Value steps = index.ceilDiv(sumLength, index.constant(tileK));
  if (contraction.group.hasParts())
    return steps;
  SmallVector<LimitedOutput> outputs;
  for (const ReductionGroup::Result &result : contraction.group.results)
    outputs.push_back({result.output.tensor, result.coords});
  if (!haveLimits(outputs))
    return steps;
  auto lastOf = [&](Value start, int64_t tile, Value size) {
    return index.sub(index.min(index.add(start, tile), size), index.constant(1));
  };
  BlockRange ranges[] = {
      {contraction.batch, select(contraction.batch), batch, batch},
      {contraction.m, select(contraction.m), startM, lastOf(startM, tileM, sizeM)},
      {contraction.n, select(contraction.n), startN, lastOf(startN, tileN, sizeN)}};
  Value needed = emitIsNeeded(points, outputs, ranges);
  if (!needed)
    return steps;
  return arith::SelectOp::create(points.builder, points.loc, needed, steps, index.constant(0));
}

Value MatmulTile::product(ArrayRef<unsigned> dims) { return index.product(select(dims)); }

SmallVector<Value> MatmulTile::select(ArrayRef<unsigned> dims) {
  return llvm::map_to_vector(dims, [&](unsigned dim) { return sizes[dim]; });
}

SmallVector<Coord> MatmulTile::makeLoops(const Coord &m, const Coord &n, const Coord &k,
                                         int64_t lanes) {
  SmallVector<Coord> loops(sizes.size(), Coord::uniform(index.constant(0)));
  auto fill = [&](ArrayRef<unsigned> dims, const Coord &position) {
    for (auto [dim, coord] :
         llvm::zip_equal(dims, points.delinearize(position, select(dims), lanes)))
      loops[dim] = coord;
  };
  fill(contraction.batch, Coord::uniform(batch));
  fill(contraction.m, m);
  fill(contraction.n, n);
  fill(contraction.k, k);
  return loops;
}

Value MatmulTile::getInnerSize(ArrayRef<unsigned> dims) {
  for (unsigned dim : llvm::reverse(dims))
    if (getConstantIntValue(sizes[dim]) != std::optional<int64_t>(1))
      return sizes[dim];
  return index.constant(1);
}

int64_t MatmulTile::getVectorWidth(const Contraction::Side &side, int64_t limit) {
  if (!side.isVectorizable)
    return 1;
  ArrayRef<unsigned> own = &side == &contraction.a ? contraction.m : contraction.n;
  return std::min(limit,
                  knownDivisor(getInnerSize(side.isKContiguous ? ArrayRef(contraction.k) : own)));
}

static bool isWholeTiles(Value size, int64_t tile) {
  std::optional<int64_t> number = getConstantIntValue(size);
  return number && *number > 0 && *number % tile == 0;
}

Value MatmulTile::isInsideOwn(const Contraction::Side &side, Value own, int64_t tileOwn) {
  Value size = &side == &contraction.a ? sizeM : sizeN;
  return isWholeTiles(size, tileOwn) ? Value() : index.isLess(own, size);
}

Value MatmulTile::isInsideK(Value k, int64_t tileK) {
  // The last partial sum may end before its length is over.
  bool isWhole = isWholeTiles(sizeK, tileK) && !contraction.partial;
  return isWhole ? Value() : index.isLess(k, sizeK);
}

Value MatmulTile::isInside(const Contraction::Side &side, Value own, Value k, int64_t tileOwn,
                           int64_t tileK) {
  return index.both(isInsideOwn(side, own, tileOwn), isInsideK(k, tileK));
}

Value MatmulTile::isInsideBehind(const Contraction::Side &side, Value own, Value k, int64_t offset,
                                 int64_t tileOwn, int64_t tileK) {
  bool isAlongOwn = side.isKContiguous;
  Value insideOwn = isInsideOwn(side, own, tileOwn), insideK = isInsideK(k, tileK);
  if (!insideOwn || !insideK)
    return isInside(side, isAlongOwn ? index.add(own, offset) : own,
                    isAlongOwn ? k : index.add(k, offset), tileOwn, tileK);
  Value sizeOwn = &side == &contraction.a ? sizeM : sizeN;
  Value left = isAlongOwn ? index.sub(sizeOwn, own) : index.sub(sizeK, k);
  Value room = arith::SelectOp::create(points.builder, points.loc, isAlongOwn ? insideK : insideOwn,
                                       left, index.constant(0));
  return index.isLess(index.constant(offset), room);
}

Point MatmulTile::makePoint(const Contraction::Side &side, Value own, Value k, int64_t lanes) {
  auto makeCoord = [&](Value first, bool varies) {
    return varies && lanes > 1 ? Coord::consecutive(first) : Coord::uniform(first);
  };
  Coord ownCoord = makeCoord(own, !side.isKContiguous), kCoord = makeCoord(k, side.isKContiguous);
  Coord none = Coord::uniform(index.constant(0));
  SmallVector<Coord> loops = &side == &contraction.a ? makeLoops(ownCoord, none, kCoord, lanes)
                                                     : makeLoops(none, ownCoord, kCoord, lanes);
  linalg::LinalgOp op = contraction.getOp();
  Point point{{}, {}, lanes, {}};
  for (AffineExpr expr : op.getMatchingIndexingMap(side.operand).getResults())
    point.coords.push_back(points.apply(expr, loops, lanes));
  return point;
}

std::pair<Value, Value> MatmulTile::getPosition(const Contraction::Side &side, Value own, Value k) {
  Point point = makePoint(side, own, k, 1);
  tensor::PadOp pad = side.getZeroPadding();
  if (!pad)
    return {points.getFlat(point, side.operand->get()).first(), Value()};
  Value inside;
  SmallVector<Value> sourceSizes = points.getSizes(pad.getSource());
  for (auto [coord, size, low, high] :
       llvm::zip_equal(point.coords, sourceSizes, pad.getMixedLowPad(), pad.getMixedHighPad())) {
    if (isZeroInteger(low) && isZeroInteger(high))
      continue;
    Value start = index.get(low);
    inside = index.both(inside, index.isAtLeast(coord.first(), start));
    inside = index.both(inside, index.isLess(coord.first(), index.add(start, size)));
    coord = Coord::uniform(index.sub(coord.first(), start));
  }
  return {points.getFlat(point, pad.getSource()).first(), inside};
}

bool MatmulTile::canTranspose(const Contraction::Side &side) {
  constexpr int64_t kWordBytes = 4, kMostStride = 1 << 24; // 16 of them are an offset of 32 bits
  int64_t bytes = getElementBytes(getElementTypeOrSelf(side.operand->get()));
  plan::BindingOp binding = side.getCopySource();
  std::optional<int64_t> stride = getKnownStride(side, /*alongK=*/true);
  return stride && *stride <= kMostStride && binding && !side.getZeroPadding() &&
         !side.isKContiguous && side.isVectorizable && binding.getAlignment() >= kWordBytes &&
         kWordBytes % bytes == 0 && getVectorWidth(side, kWordBytes / bytes) == kWordBytes / bytes;
}

int64_t MatmulTile::countLoadsPerWord(const Contraction::Side &side) {
  constexpr int64_t kWordBytes = 4, kMostOffset = 1 << 28, kMostLines = 256;
  int64_t bytes = getElementBytes(getElementTypeOrSelf(side.operand->get()));
  plan::BindingOp binding = side.getCopySource();
  if (bytes == 1 || !binding || side.getZeroPadding() || !side.isVectorizable ||
      static_cast<int64_t>(binding.getAlignment()) < bytes)
    return 0;
  std::optional<int64_t> within = getKnownStride(side, side.isKContiguous),
                         between = getKnownStride(side, !side.isKContiguous);
  if (within != 1 || !between || *between > kMostOffset / kMostLines)
    return 0;
  int64_t width = kWordBytes / bytes;
  bool hasWords = getVectorWidth(side, width) == width &&
                  static_cast<int64_t>(binding.getAlignment()) >= kWordBytes;
  return hasWords ? 1 : width;
}

Value MatmulTile::getStride(const Contraction::Side &side, bool alongK) {
  if (side.getZeroPadding())
    return nullptr;
  auto isOne = [](Value size) { return getConstantIntValue(size) == std::optional<int64_t>(1); };
  ArrayRef<unsigned> own = &side == &contraction.a ? contraction.m : contraction.n;
  SmallVector<unsigned> dims = llvm::filter_to_vector(
      alongK ? ArrayRef(contraction.k) : own, [&](unsigned dim) { return !isOne(sizes[dim]); });
  linalg::LinalgOp op = contraction.getOp();
  Value stride = index.constant(1), found;
  bool isRun = false; // the dim inside of this one is one of `dims`
  SmallVector<Value> extents = points.getSizes(side.operand->get());
  AffineMap map = op.getMatchingIndexingMap(side.operand);
  ArrayRef<AffineExpr> exprs = map.getResults();
  for (size_t at = exprs.size(); at-- > 0;) {
    AffineExpr expr = exprs[at];
    if (llvm::any_of(dims, [&](unsigned dim) { return expr.isFunctionOfDim(dim); })) {
      if (expr != getAffineDimExpr(dims.back(), expr.getContext()) || (found && !isRun))
        return nullptr;
      dims.pop_back();
      if (!found)
        found = stride;
      if (dims.empty())
        return found;
      isRun = true;
    } else if (!isOne(extents[at])) {
      isRun = false;
    }
    stride = index.mul(stride, extents[at]);
  }
  return nullptr;
}

std::optional<int64_t> MatmulTile::getKnownStride(const Contraction::Side &side, bool alongK) {
  Value stride = getStride(side, alongK);
  return stride ? getConstantIntValue(stride) : std::nullopt;
}

Value MatmulTile::emitFactors(const Contraction::Side &side, Value own, Value k, int64_t lanes,
                              Value inside, bool cast) {
  Point point = makePoint(side, own, k, lanes);
  point.mask = inside;
  Value value = splatTo(points.builder, points.loc, points.emit(side.operand->get(), point), lanes);
  // A load outside gives zero already; what is computed from it need not be.
  if (inside && !getSourceBinding(side.operand->get()))
    value = arith::SelectOp::create(points.builder, points.loc, inside, value,
                                    points.zero(value.getType()));
  if (!cast || side.casts.empty())
    return value;
  IRMapping mapping;
  mapping.map(side.casts.front()->getOperand(0), value);
  for (Operation *castOp : side.casts)
    cloneOnLanes(points.builder, castOp, mapping);
  return mapping.lookup(side.casts.back()->getResult(0));
}

Point MatmulTile::makeOutputPoint(ArrayRef<AffineExpr> exprs, ArrayRef<Coord> loops, int64_t lanes,
                                  Value mask) {
  Point point{{}, {}, lanes, mask};
  for (AffineExpr expr : exprs)
    point.coords.push_back(points.apply(expr, loops, lanes));
  return point;
}

Value MatmulTile::addInit(Value accumulators, ArrayRef<Coord> loops, int64_t lanes, Value mask) {
  OpBuilder &builder = points.builder;
  linalg::LinalgOp op = contraction.getOp();
  OpOperand &init = op.getDpsInitsMutable()[0];
  Value start =
      points.emit(init.get(), makeOutputPoint(op.getMatchingIndexingMap(&init).getResults(), loops,
                                              lanes, mask));
  if (matchPattern(start, m_AnyZeroFloat()) || matchPattern(start, m_Zero()))
    return accumulators;
  start = splatTo(builder, points.loc, start, lanes);
  if (isa<FloatType>(contraction.accumulatorType))
    return arith::AddFOp::create(builder, points.loc, start, accumulators);
  return arith::AddIOp::create(builder, points.loc, start, accumulators);
}

void MatmulTile::emitOutputsAt(const Coord &m, const Coord &n, Value accumulators, int64_t lanes) {
  SmallVector<Coord> loops = makeLoops(m, n, Coord::uniform(index.constant(0)), lanes);
  points.provide(contraction.getOp()->getResult(0), addInit(accumulators, loops, lanes, {}));
  // All loads before all stores: a result may be in the memory of an input.
  SmallVector<std::tuple<Point, Coord, Value>> stores;
  for (const ReductionGroup::Result &result : contraction.group.results) {
    Point point = makeOutputPoint(result.coords, loops, lanes, {});
    Coord flat = getStoredPosition(points, result.output, point);
    Value value = points.emit(result.output.tensor, point);
    stores.push_back({std::move(point), flat, value});
  }
  for (auto [result, store] : llvm::zip_equal(contraction.group.results, stores)) {
    const auto &[point, flat, value] = store;
    storeElements(points, result.output, point, flat, value);
  }
}

static bool isMultiple(Value size, int64_t tile) {
  std::optional<int64_t> number = getConstantIntValue(size);
  return number && *number % tile == 0;
}

bool MatmulTile::hasWholeTiles() const {
  return isMultiple(sizeM, groupM) && isMultiple(sizeN, groupN);
}

Value MatmulTile::isOutputInside(Value m, Value n) {
  Value inside = isMultiple(sizeM, groupM) ? Value() : index.isLess(m, sizeM);
  return isMultiple(sizeN, groupN) ? inside : index.both(inside, index.isLess(n, sizeN));
}

int64_t MatmulTile::getOutputWidth(int64_t limit) {
  return std::min(limit, knownDivisor(getInnerSize(contraction.n)));
}

void MatmulTile::storeOutput(Value m, Value n, Value values) {
  int64_t lanes = countLanes(values);
  points.emitIf(isOutputInside(m, n), [&] {
    SmallVector<Coord> loops = makeLoops(Coord::uniform(m), Coord::consecutive(n),
                                         Coord::uniform(index.constant(0)), lanes);
    const ReductionGroup::Result &result = contraction.group.results.front();
    Point point = makeOutputPoint(result.coords, loops, lanes, {});
    Coord flat = getStoredPosition(points, result.output, point);
    storeElements(points, result.output, point, flat, values);
  });
}

Value MatmulTile::emitOutput(Value m, Value n, Value accumulators) {
  int64_t lanes = countLanes(accumulators);
  if (getOutputWidth(lanes) < lanes) {
    // The first of neighbours may be the last of its row.
    SmallVector<Value> values;
    for (int64_t lane = 0; lane < lanes; ++lane)
      values.push_back(emitOutput(m, index.add(n, lane),
                                  getLane(points.builder, points.loc, accumulators, lane)));
    return fromLanes(points.builder, points.loc, values);
  }
  SmallVector<Coord> loops =
      makeLoops(Coord::uniform(m), lanes == 1 ? Coord::uniform(n) : Coord::consecutive(n),
                Coord::uniform(index.constant(0)), lanes);
  // What is loaded beside the product is loaded from where there is something.
  Value inside = isOutputInside(m, n);
  points.provide(contraction.getOp()->getResult(0), addInit(accumulators, loops, lanes, inside));
  const ReductionGroup::Result &result = contraction.group.results.front();
  Value value =
      points.emit(result.output.tensor, makeOutputPoint(result.coords, loops, lanes, inside));
  return splatTo(points.builder, points.loc, value, lanes);
}

void MatmulTile::emitOutputsWhere(Value inside, Value m, Value n, Value accumulators) {
  int64_t lanes = countLanes(accumulators);
  SmallVector<Coord> loops =
      makeLoops(Coord::uniform(m), lanes == 1 ? Coord::uniform(n) : Coord::consecutive(n),
                Coord::uniform(index.constant(0)), lanes);
  points.provide(contraction.getOp()->getResult(0), addInit(accumulators, loops, lanes, inside));
  SmallVector<Value> values;
  for (const ReductionGroup::Result &result : contraction.group.results)
    values.push_back(
        points.emit(result.output.tensor, makeOutputPoint(result.coords, loops, lanes, inside)));
  points.emitIf(inside, [&] {
    for (auto [result, value] : llvm::zip_equal(contraction.group.results, values)) {
      Point point = makeOutputPoint(result.coords, loops, lanes, {});
      Coord flat = getStoredPosition(points, result.output, point);
      storeElements(points, result.output, point, flat, value);
    }
  });
}

void MatmulTile::emitOutputs(Value m, Value n, Value accumulators) {
  int64_t lanes = countLanes(accumulators);
  if (!contraction.group.rowParts.empty()) {
    if (contraction.group.results.empty())
      return;
    if (getOutputWidth(lanes) == lanes)
      return emitOutputsWhere(isOutputInside(m, n), m, n, accumulators);
    for (int64_t lane = 0; lane < lanes; ++lane) {
      Value column = index.add(n, lane);
      emitOutputsWhere(isOutputInside(m, column), m, column,
                       getLane(points.builder, points.loc, accumulators, lane));
    }
    return;
  }
  if (getOutputWidth(lanes) == lanes) {
    Coord column = lanes == 1 ? Coord::uniform(n) : Coord::consecutive(n);
    points.emitIf(isOutputInside(m, n),
                  [&] { emitOutputsAt(Coord::uniform(m), column, accumulators, lanes); });
    return;
  }
  Value inside = isMultiple(sizeM, groupM) ? Value() : index.isLess(m, sizeM);
  for (int64_t lane = 0; lane < lanes; ++lane) {
    Value column = index.add(n, lane);
    points.emitIf(index.both(inside, index.isLess(column, sizeN)), [&] {
      emitOutputsAt(Coord::uniform(m), Coord::uniform(column),
                    getLane(points.builder, points.loc, accumulators, lane), 1);
    });
  }
}

MatmulTile::RowParts MatmulTile::startParts() {
  return llvm::map_to_vector(contraction.group.rowParts, [&](const ReductionGroup::RowPart &part) {
    return points.constant(part.member.combiner.getNeutral(0));
  });
}

void MatmulTile::addToPartsWhere(Value inside, RowParts &parts, Value m, Value n,
                                 Value accumulators) {
  OpBuilder &builder = points.builder;
  int64_t lanes = countLanes(accumulators);
  SmallVector<Coord> loops =
      makeLoops(Coord::uniform(m), lanes == 1 ? Coord::uniform(n) : Coord::consecutive(n),
                Coord::uniform(index.constant(0)), lanes);
  points.provide(contraction.getOp()->getResult(0), addInit(accumulators, loops, lanes, inside));
  for (auto [part, value] : llvm::zip_equal(contraction.group.rowParts, parts)) {
    const Combiner &combiner = part.member.combiner;
    auto combine = [&](Value first, Value second) {
      return combineResults(builder, points.loc, combiner, first, second).front();
    };
    SmallVector<Coord> own = llvm::map_to_vector(
        part.member.loops, [&](AffineExpr expr) { return points.apply(expr, loops, lanes); });
    Value leaf = points.emitLeaves(combiner, own, lanes, inside).front();
    // Neighbours first: one value for each row takes fewest registers.
    Value sum = getLane(builder, points.loc, leaf, 0);
    for (int64_t lane = 1; lane < lanes; ++lane)
      sum = combine(sum, getLane(builder, points.loc, leaf, lane));
    sum = combine(value, sum);
    value =
        inside ? arith::SelectOp::create(builder, points.loc, inside, sum, value).getResult() : sum;
  }
}

void MatmulTile::addToParts(RowParts &parts, Value m, Value n, Value accumulators) {
  int64_t lanes = countLanes(accumulators);
  if (parts.empty())
    return;
  if (getOutputWidth(lanes) == lanes)
    return addToPartsWhere(isOutputInside(m, n), parts, m, n, accumulators);
  for (int64_t lane = 0; lane < lanes; ++lane) {
    Value column = index.add(n, lane);
    addToPartsWhere(isOutputInside(m, column), parts, m, column,
                    getLane(points.builder, points.loc, accumulators, lane));
  }
}

void MatmulTile::storeParts(const RowParts &parts, Value m, Value n, ArrayRef<int64_t> distances,
                            Value isStoring) {
  SmallVector<Value> totals;
  for (auto [part, value] : llvm::zip_equal(contraction.group.rowParts, parts)) {
    const Combiner &combiner = part.member.combiner;
    auto combine = [&](Value first, Value second) {
      return combineResults(points.builder, points.loc, combiner, first, second).front();
    };
    Value total = value;
    for (int64_t distance : distances)
      total = combine(total, frame.shuffleXor(total, distance));
    totals.push_back(total);
  }
  points.emitIf(index.both(isStoring, isOutputInside(m, n)), [&] {
    SmallVector<Coord> loops =
        makeLoops(Coord::uniform(m), Coord::uniform(n), Coord::uniform(index.constant(0)), 1);
    for (auto [part, total] : llvm::zip_equal(contraction.group.rowParts, totals)) {
      Point point = makeOutputPoint(part.result.coords, loops, 1, {});
      points.store(part.result.output.binding, getStoredPosition(points, part.result.output, point),
                   total, 1);
    }
  });
}

Value MatmulTile::countTiles() { return index.mul(index.mul(tilesM, tilesN), batches); }

LogicalResult MatmulTile::finish(int64_t share) {
  Value tiles = index.mul(batches, index.mul(tilesM, tilesN));
  return frame.finish(share == 1 ? tiles : index.mul(tiles, share), share);
}

} // namespace xc::cuda
