//===- PointBodies.cpp - Values of linalg ops at points -------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Common/Accesses.h"
#include "compiler/Codegen/CUDA/Common/LaneOps.h"
#include "compiler/Codegen/CUDA/Common/PointEmitter.h"
#include "compiler/Codegen/CUDA/Common/ReductionGroup.h"
#include "compiler/Codegen/CUDA/Common/RegularIndices.h"
#include "compiler/Dialect/Array/IR/Sizes.h"
#include "compiler/Dialect/Kernel/IR/AttentionDecodeOp.h"
#include "compiler/Dialect/Kernel/IR/AttentionGradientOp.h"
#include "compiler/Dialect/Plan/IR/PartialSums.h"
#include "compiler/Dialect/Plan/IR/Reductions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

#include <numeric>

using namespace mlir;

namespace xc::cuda {

//===----------------------------------------------------------------------===//
// Which ops are known
//===----------------------------------------------------------------------===//

static bool isKnownConstant(arith::ConstantOp op) {
  auto elements = dyn_cast<DenseElementsAttr>(op.getValue());
  return elements && elements.isSplat();
}

/// True if every result of `op` is written to memory as it is, so that a strategy of its own can
/// compute it.
static bool isOutput(const KernelInfo &kernel, Operation *op) {
  return llvm::all_of(op->getResults(), [&](Value result) {
    return llvm::any_of(kernel.outputs,
                        [&](const KernelOutput &output) { return output.tensor == result; });
  });
}

static std::string whyUnsupported(const KernelInfo &kernel, linalg::LinalgOp op) {
  if (!op.hasPureTensorSemantics())
    return "expected a linalg op on tensors";
  for (AffineMap map : op.getIndexingMapsArray())
    if (map.getNumSymbols() != 0)
      return "expected indexing maps without symbols";
  // Partial sums over interleaved rows, and those of products, are for strategies of their
  // own.
  if ((plan::countCyclicParts(op) > 0 || plan::getPartialSums(op)) && isOutput(kernel, op))
    return "";
  for (OpOperand &init : op.getDpsInitsMutable())
    if (!op.getMatchingIndexingMap(&init).isProjectedPermutation(/*allowZeroInResults=*/true) &&
        !plan::getRowPart(op) && !plan::getColumnPart(op))
      return "expected each result to be indexed by a permutation of loops";
  return "";
}

Operation *PointEmitter::findUnsupported(const KernelInfo &kernel, std::string &reason) {
  for (Operation *op : kernel.tensorOps) {
    reason =
        llvm::TypeSwitch<Operation *, std::string>(op)
            .Case([&](linalg::LinalgOp linalgOp) { return whyUnsupported(kernel, linalgOp); })
            .Case([](bufferization::ToTensorOp toTensor) {
              return getSourceBinding(toTensor.getResult()) ? ""
                                                            : "expected the memory of a binding";
            })
            .Case([](arith::ConstantOp constant) {
              return isKnownConstant(constant) ? ""
                                               : "expected a constant whose elements are all equal";
            })
            .Case<tensor::EmptyOp, tensor::SplatOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp,
                  tensor::ExtractSliceOp, tensor::InsertSliceOp, tensor::CastOp, tensor::PadOp,
                  kernel::ScatterOp>([](Operation *) { return ""; })
            .Case([&](kernel::UpdateOp update) {
              bool isWritten = llvm::any_of(kernel.outputs, [&](const KernelOutput &output) {
                return output.update == update;
              });
              return isWritten ? "" : "expected the result of kernel.update to be an output";
            })
            .Case<kernel::AttentionOp, kernel::AttentionGradientOp>([&](Operation *attention) {
              // They may store rows in another order.
              bool isStored = llvm::any_of(kernel.outputs, [&](const KernelOutput &output) {
                SmallVector<unsigned> order;
                return getPermuted(output.tensor, order).getDefiningOp() == attention;
              });
              return isStored ? "" : "expected a result of attention to be an output";
            })
            .Case<kernel::AttentionCombineOp, kernel::AttentionDecodeOp, kernel::CountDigitsOp,
                  kernel::MergeOp, kernel::ScanOp, kernel::SortDigitOp,
                  kernel::SortOp>([&](Operation *line) {
              return isOutput(kernel, line)
                         ? ""
                         : "expected the results of an op with a kernel of its own to be outputs";
            })
            .Default([](Operation *) { return "an op that CUDA code generation does not know"; });
    if (!reason.empty())
      return op;
  }
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Value PointEmitter::compute(Value tensor, Point &point) {
  Operation *op = tensor.getDefiningOp();
  Type elementType = cast<RankedTensorType>(tensor.getType()).getElementType();
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](linalg::LinalgOp linalgOp) { return computeLinalg(linalgOp, tensor, point); })
      .Case([&](bufferization::ToTensorOp) {
        return load(getSourceBinding(tensor), getFlat(point, tensor), point.lanes, point.mask);
      })
      .Case([&](arith::ConstantOp constantOp) {
        auto elements = cast<DenseElementsAttr>(constantOp.getValue());
        return constant(cast<TypedAttr>(elements.getSplatValue<Attribute>()));
      })
      .Case([&](tensor::EmptyOp) { return zero(elementType); })
      .Case([&](tensor::SplatOp splat) { return splat.getInput(); })
      .Case([&](tensor::CastOp cast) { return emit(cast.getSource(), point); })
      .Case<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::ExtractSliceOp>(
          [&](auto view) { return computeView(view, point); })
      .Case([&](tensor::InsertSliceOp insert) { return computeInsertSlice(insert, point); })
      .Case([&](tensor::PadOp pad) { return computePad(pad, point); })
      .Case([&](kernel::ScatterOp scatter) { return computeScatter(scatter, point); })
      .Default([](Operation *) -> Value { llvm_unreachable("findUnsupported refuses other ops"); });
}

/// `op` as the quotient or the remainder of a loop's index and a constant; null if it is neither.
static AffineExpr matchQuotient(Operation *op) {
  APInt divisor;
  if (!isa<arith::DivUIOp, arith::RemUIOp>(op) || !op->getResult(0).getType().isIndex() ||
      !matchPattern(op->getOperand(1), m_ConstantInt(&divisor)) || !divisor.isStrictlyPositive())
    return {};
  auto loop = op->getOperand(0).getDefiningOp<linalg::IndexOp>();
  if (!loop)
    return {};
  AffineExpr index = getAffineDimExpr(loop.getDim(), op->getContext());
  int64_t value = divisor.getSExtValue();
  return isa<arith::DivUIOp>(op) ? index.floorDiv(value) : index % value;
}

/// The most lanes, a divisor of `lanes`, that can have one quotient in the body of `op`, whose
/// loops are at `loops`: what follows from it is computed once for them then.
static int64_t countLanesOfQuotients(linalg::LinalgOp op, ArrayRef<Coord> loops, int64_t lanes) {
  int64_t part = lanes;
  for (Operation &bodyOp : op.getBlock()->without_terminator())
    if (AffineExpr quotient = matchQuotient(&bodyOp)) {
      auto parts = cast<AffineBinaryOpExpr>(quotient);
      auto loop = cast<AffineDimExpr>(parts.getLHS());
      auto divisor = cast<AffineConstantExpr>(parts.getRHS());
      if (divisor.getValue() > 1 && !loops[loop.getPosition()].isUniform())
        part = std::gcd(part, divisor.getValue());
    }
  return part;
}

Value PointEmitter::computeLinalg(linalg::LinalgOp op, Value result, Point &point) {
  AffineMap resultMap = op.getIndexingMapMatchingResult(cast<OpResult>(result));
  if (op.getNumReductionLoops() == 0 && resultMap.isIdentity()) {
    // The row-major position may be all that is needed: indices are computed only where an operand
    // asks.
    Point own = point;
    SmallVector<Coord> none;
    Point *flatPoint = &own;
    bool needsCoords = llvm::any_of(op->getOpOperands(), [&](OpOperand &operand) {
      return op.payloadUsesValueFromOperand(&operand) &&
             isa<RankedTensorType>(operand.get().getType()) &&
             !op.getMatchingIndexingMap(&operand).isIdentity();
    });
    op.getBlock()->walk([&](linalg::IndexOp) { needsCoords = true; });
    ArrayRef<Coord> loops = needsCoords ? getCoords(own, result) : ArrayRef<Coord>(none);
    SmallVector<Value> values = emitBody(op, loops, flatPoint, {}, point.lanes, point.mask);
    return values[cast<OpResult>(result).getResultNumber()];
  }
  ArrayRef<Coord> coords = getCoords(point, result);
  SmallVector<Coord> loops(op.getNumLoops(), Coord::uniform(index.constant(0)));
  for (auto [coord, expr] : llvm::zip_equal(coords, resultMap.getResults()))
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      loops[dim.getPosition()] = coord;
  if (op.getNumReductionLoops() > 0)
    return computeReduction(op, result, loops, point);
  SmallVector<Value> values = emitBody(op, loops, nullptr, {}, point.lanes, point.mask);
  return values[cast<OpResult>(result).getResultNumber()];
}

/// Whether `op` reduces so few elements that their loads are to start together.
static bool isShort(linalg::LinalgOp op) {
  constexpr int64_t longest = 4;
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  SmallVector<unsigned> dims;
  op.getReductionDims(dims);
  SmallVector<int64_t> sizes = llvm::map_to_vector(dims, [&](unsigned dim) { return ranges[dim]; });
  return !llvm::is_contained(sizes, ShapedType::kDynamic) && array::multiplyKnown(sizes) <= longest;
}

Value PointEmitter::computeReduction(linalg::LinalgOp op, Value result, SmallVector<Coord> loops,
                                     Point &point) {
  SmallVector<Value> sizes = getLoopSizes(op);
  SmallVector<unsigned> dims;
  op.getReductionDims(dims);
  SmallVector<Value> inits;
  for (OpOperand &init : op.getDpsInitsMutable()) {
    Point initPoint{{}, {}, point.lanes, point.mask};
    for (AffineExpr expr : op.getMatchingIndexingMap(&init).getResults())
      initPoint.coords.push_back(apply(expr, loops, point.lanes));
    if (initPoint.coords.empty())
      initPoint.flat = Coord::uniform(index.constant(0));
    inits.push_back(splatTo(builder, loc, emit(init.get(), initPoint), point.lanes));
  }
  auto emitPoint = [&](ValueRange carried) {
    SmallVector<Value> values = emitBody(op, loops, nullptr, carried, point.lanes, point.mask);
    for (Value &value : values)
      value = splatTo(builder, loc, value, point.lanes);
    return values;
  };
  bool unrolls = isShort(op) && !plan::getRowPart(op);
  std::function<SmallVector<Value>(size_t, ValueRange)> emitLoops = [&](size_t depth,
                                                                        ValueRange carried) {
    if (depth == dims.size())
      return emitPoint(carried);
    unsigned dim = dims[depth];
    Value first = index.constant(0), end = sizes[dim];
    if (std::optional<int64_t> part = plan::getRowPart(op)) {
      first = index.mul(point.coords.back().first(), *part);
      end = index.min(end, index.add(first, *part));
    }
    if (unrolls) {
      SmallVector<Value> values(carried);
      for (int64_t position = 0; position < *getConstantIntValue(end); ++position) {
        loops[dim] = Coord::uniform(index.constant(position));
        values = emitLoops(depth + 1, values);
      }
      return values;
    }
    return emitLoop(first, end, index.constant(1), carried, [&](Value position, ValueRange values) {
      loops[dim] = Coord::uniform(position);
      return emitLoops(depth + 1, values);
    });
  };
  // One loop over the positions of a part of a column.
  auto emitPositions = [&](int64_t rows) {
    SmallVector<Value> ranges = llvm::map_to_vector(dims, [&](unsigned dim) { return sizes[dim]; });
    Value first = index.mul(point.coords.front().first(), rows);
    Value end = index.min(index.product(ranges), index.add(first, rows));
    return emitLoop(first, end, index.constant(1), inits, [&](Value position, ValueRange carried) {
      for (auto [dim, place] : llvm::zip_equal(dims, index.delinearize(position, ranges)))
        loops[dim] = Coord::uniform(place);
      return emitPoint(carried);
    });
  };
  std::optional<int64_t> rows = plan::getColumnPart(op);
  SmallVector<Value> values = rows ? emitPositions(*rows) : emitLoops(0, inits);
  // All results at once: their points are the same if their maps are.
  AffineMap map = op.getIndexingMapMatchingResult(cast<OpResult>(result));
  for (OpResult other : op->getResults())
    if (other != result && op.getIndexingMapMatchingResult(other) == map)
      memo.insert(MemoKey(other, internPoint(point)), values[other.getResultNumber()]);
  return values[cast<OpResult>(result).getResultNumber()];
}

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

/// The index that only names which part of columns a point of `op` is in; null where it has none.
static AffineExpr getNamedPart(linalg::LinalgOp op) {
  bool isNamed = plan::getColumnPart(op) && op.getNumReductionLoops() > 0 &&
                 plan::areColumnPartsNamed(op.getStaticLoopRanges());
  return isNamed ? op.getIndexingMapMatchingResult(op->getResult(0)).getResult(0) : AffineExpr();
}

Coord PointEmitter::getColumnPart(linalg::LinalgOp op, ArrayRef<Coord> loops, int64_t lanes) {
  SmallVector<Value> sizes = getLoopSizes(op);
  Coord position = linearize(loops.drop_back(), ArrayRef(sizes).drop_back(), lanes);
  AffineExpr part = getAffineDimExpr(0, op.getContext()).floorDiv(*plan::getColumnPart(op));
  return apply(part, position, lanes);
}

void PointEmitter::emitOperands(linalg::LinalgOp op, ArrayRef<Coord> loops, Point *flatPoint,
                                int64_t lanes, Value mask, IRMapping &mapping, bool outputsToo) {
  AffineExpr part = getNamedPart(op);
  for (OpOperand &operand : op->getOpOperands()) {
    BlockArgument argument = op.getMatchingBlockArgument(&operand);
    if (argument.use_empty() || (op.isDpsInit(&operand) && !outputsToo))
      continue;
    if (!isa<RankedTensorType>(operand.get().getType())) {
      mapping.map(argument, operand.get());
      continue;
    }
    AffineMap map = op.getMatchingIndexingMap(&operand);
    Point point{{}, {}, lanes, mask};
    if (flatPoint && map.isIdentity()) {
      point = *flatPoint;
    } else {
      for (AffineExpr expr : map.getResults())
        point.coords.push_back(expr == part ? getColumnPart(op, loops, lanes)
                                            : apply(expr, loops, lanes));
      if (point.coords.empty())
        point.flat = Coord::uniform(index.constant(0));
    }
    mapping.map(argument, emit(operand.get(), point));
  }
}

void PointEmitter::emitBodyOp(linalg::LinalgOp op, Operation *bodyOp, ArrayRef<Coord> loops,
                              int64_t lanes, Value mask, IRMapping &mapping) {
  if (auto indexOp = dyn_cast<linalg::IndexOp>(bodyOp)) {
    mapping.map(indexOp.getResult(), toValue(loops[indexOp.getDim()], lanes));
  } else if (AffineExpr quotient = matchQuotient(bodyOp)) {
    mapping.map(bodyOp->getResult(0), toValue(apply(quotient, loops, lanes), lanes));
  } else if (auto extract = dyn_cast<tensor::ExtractOp>(bodyOp)) {
    Point point{{}, {}, lanes, mask};
    for (Value position : extract.getIndices()) {
      // An index that is a loop keeps what is known of its lanes, and a place that follows from
      // one what neighbours have in common.
      if (auto loop = position.getDefiningOp<linalg::IndexOp>())
        point.coords.push_back(loops[loop.getDim()]);
      else if (std::optional<plan::RegularPlace> place = plan::matchPlace(position))
        point.coords.push_back(apply(*place, loops[place->loop], lanes));
      else
        point.coords.push_back(toCoord(mapping.lookupOrDefault(position), lanes));
    }
    if (point.coords.empty())
      point.flat = Coord::uniform(index.constant(0));
    mapping.map(extract.getResult(), emit(extract.getTensor(), point));
  } else if (auto element = dyn_cast<kernel::ElementOp>(bodyOp)) {
    mapping.map(element.getResult(), mapping.lookupOrDefault(element.getValue()));
  } else if (auto within = dyn_cast<kernel::WithinOp>(bodyOp)) {
    mapping.map(within.getResult(), mapping.lookupOrDefault(within.getValue()));
  } else if (auto dim = dyn_cast<tensor::DimOp>(bodyOp)) {
    mapping.map(dim.getResult(), getSizes(dim.getSource())[*dim.getConstantIndex()]);
  } else {
    cloneOnLanes(builder, bodyOp, mapping);
  }
}

SmallVector<Value> PointEmitter::emitBodyOps(linalg::LinalgOp op, ArrayRef<Coord> loops,
                                             int64_t lanes, Value mask, IRMapping &mapping) {
  for (Operation &bodyOp : op.getBlock()->without_terminator())
    emitBodyOp(op, &bodyOp, loops, lanes, mask, mapping);
  SmallVector<Value> values;
  for (Value yielded : op.getBlock()->getTerminator()->getOperands())
    values.push_back(mapping.lookupOrDefault(yielded));
  return values;
}

SmallVector<Value> PointEmitter::emitBody(linalg::LinalgOp op, ArrayRef<Coord> loops,
                                          Point *flatPoint, ValueRange accumulators, int64_t lanes,
                                          Value mask) {
  IRMapping mapping;
  bool reduces = !accumulators.empty();
  emitOperands(op, loops, flatPoint, lanes, mask, mapping, /*outputsToo=*/!reduces);
  int64_t part = reduces ? lanes : countLanesOfQuotients(op, loops, lanes);
  if (part == lanes || part == 1) {
    if (reduces)
      mapping.map(op.getRegionOutputArgs(), accumulators);
    return emitBodyOps(op, loops, lanes, mask, mapping);
  }
  // Operands are loaded for all lanes at once all the same.
  SmallVector<SmallVector<Value>> results(op->getNumResults());
  for (int64_t first = 0; first < lanes; first += part) {
    auto slice = [&](Value value) -> Value {
      if (!value || !isa<VectorType>(value.getType()))
        return value;
      SmallVector<Value> own;
      for (int64_t lane = first; lane < first + part; ++lane)
        own.push_back(getLane(builder, loc, value, lane));
      return fromLanes(builder, loc, own);
    };
    IRMapping partMapping;
    for (BlockArgument argument : op.getBlock()->getArguments())
      if (Value value = mapping.lookupOrNull(argument))
        partMapping.map(argument, slice(value));
    SmallVector<Coord> partLoops = llvm::map_to_vector(
        loops, [&](const Coord &coord) { return sliceLanes(coord, first, part); });
    SmallVector<Value> values = emitBodyOps(op, partLoops, part, slice(mask), partMapping);
    for (auto [list, value] : llvm::zip_equal(results, values))
      for (int64_t lane = 0; lane < part; ++lane)
        list.push_back(getLane(builder, loc, value, lane));
  }
  return llvm::map_to_vector(results,
                             [&](ArrayRef<Value> list) { return fromLanes(builder, loc, list); });
}

SmallVector<Value> PointEmitter::emitLeaves(const Combiner &combiner, ArrayRef<Coord> loops,
                                            int64_t lanes, Value mask) {
  linalg::LinalgOp op = combiner.getOp();
  IRMapping mapping;
  emitOperands(op, loops, nullptr, lanes, mask, mapping, /*outputsToo=*/false);
  for (Operation &bodyOp : op.getBlock()->without_terminator())
    if (!combiner.isCombining(&bodyOp))
      emitBodyOp(op, &bodyOp, loops, lanes, mask, mapping);
  SmallVector<Value> values;
  for (Value leaf : combiner.getLeaves())
    values.push_back(mapping.lookupOrDefault(leaf));
  return values;
}

Coord PointEmitter::apply(const plan::RegularPlace &place, const Coord &loop, int64_t lanes) {
  if (loop.isUniform())
    return Coord::uniform(emitPlace(index, loop.first(), place));
  Coord result{Coord::Kind::PerLane, {}};
  for (int64_t lane = 0; lane < lanes; ++lane)
    result.values.push_back(emitPlace(index, getLaneIndex(loop, lane), place));
  return result;
}

Coord PointEmitter::sliceLanes(const Coord &coord, int64_t first, int64_t count) {
  switch (coord.kind) {
  case Coord::Kind::Uniform:
    return coord;
  case Coord::Kind::Consecutive:
    return Coord::consecutive(getLaneIndex(coord, first));
  case Coord::Kind::PerLane:
    return {Coord::Kind::PerLane,
            SmallVector<Value, 1>(ArrayRef<Value>(coord.values).slice(first, count))};
  }
  llvm_unreachable("covered switch");
}

Coord PointEmitter::toCoord(Value value, int64_t lanes) {
  if (!isa<VectorType>(value.getType()))
    return Coord::uniform(value);
  Coord coord{Coord::Kind::PerLane, {}};
  for (int64_t lane = 0; lane < lanes; ++lane)
    coord.values.push_back(getLane(builder, loc, value, lane));
  return coord;
}

Value PointEmitter::toValue(const Coord &coord, int64_t lanes) {
  if (coord.isUniform() || lanes == 1)
    return coord.first();
  SmallVector<Value> values;
  for (int64_t lane = 0; lane < lanes; ++lane)
    values.push_back(getLaneIndex(coord, lane));
  return fromLanes(builder, loc, values);
}

} // namespace xc::cuda
