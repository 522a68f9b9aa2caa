//===- ReductionEmitter.cpp - Reductions of one space by many threads -----===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Common/ReductionEmitter.h"

#include "compiler/Codegen/CUDA/Common/CombineResults.h"
#include "compiler/Codegen/CUDA/Common/LaneOps.h"
#include "compiler/Codegen/CUDA/Common/OutputStores.h"
#include "compiler/Codegen/CUDA/Common/WorkLimits.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace xc::cuda {

/// True if a result may be in the memory of an input that is read or written along reduced dims.
/// What takes over the memory of another input has one element for each that was there.
static bool mayShareElements(const KernelInfo &kernel, const ReductionGroup &group) {
  auto mayAlias = [](const ReductionGroup::Input &input) {
    plan::BindingOp binding = input.binding;
    return binding.getMayAlias();
  };
  bool isReducedOnly = llvm::all_of(group.results, [](const ReductionGroup::Result &result) {
    return result.kind == ReductionGroup::Result::Kind::Reduced;
  });
  return kernel.mayAlias() && (!isReducedOnly || llvm::any_of(group.inputs, mayAlias) ||
                               llvm::any_of(group.vectors, mayAlias));
}

ReductionEmitter::ReductionEmitter(const KernelInfo &kernel, const ReductionGroup &group,
                                   int64_t threads, int64_t lanes)
    : group(group), lanes(lanes), frame(kernel, threads), points(frame.points), index(points.index),
      loadsOnlyOwn(kernel.mayAlias()), loadsOnlyOwnElements(mayShareElements(kernel, group)) {
  SmallVector<Value> sizes = points.getLoopSizes(group.root);
  for (unsigned dim : group.parallelDims)
    parallelSizes.push_back(sizes[dim]);
  for (unsigned dim : group.reductionDims)
    reductionSizes.push_back(sizes[dim]);
}

Value ReductionEmitter::isNeeded(Value first, int64_t count, Value rows) {
  SmallVector<LimitedOutput> outputs;
  for (const ReductionGroup::Result &result : group.results)
    outputs.push_back({result.output.tensor, result.coords});
  if (!haveLimits(outputs))
    return {};
  Value last = index.sub(index.min(index.add(first, count), rows), index.constant(1));
  return emitIsNeeded(points, outputs, BlockRange{group.parallelDims, parallelSizes, first, last});
}

void ReductionEmitter::emitZeros() {
  for (const ReductionGroup::Result &result : group.results) {
    Value tensor = result.output.tensor;
    points.provide(tensor, points.zero(getElementTypeOrSelf(tensor.getType())));
  }
  emitResults();
}

Place ReductionEmitter::makePlace(const Coord &kept, const Coord &reduced, Value mask) {
  Place place;
  place.coords.assign(group.getRoot().getNumLoops(), Coord::uniform(index.constant(0)));
  for (auto [dim, coord] :
       llvm::zip_equal(group.parallelDims, points.delinearize(kept, parallelSizes, lanes)))
    place.coords[dim] = coord;
  for (auto [dim, coord] :
       llvm::zip_equal(group.reductionDims, points.delinearize(reduced, reductionSizes, lanes)))
    place.coords[dim] = coord;
  place.mask = mask;
  if (loadsOnlyOwnElements)
    place.loadMask = mask;
  return place;
}

Place ReductionEmitter::getOwnReducedPlace() {
  Place place = getReducedPlace();
  if (loadsOnlyOwn)
    place.loadMask = place.mask;
  return place;
}

SmallVector<Value> ReductionEmitter::visitByLoops(Value from, Value to, int64_t step,
                                                  int64_t unroll, ValueRange inits,
                                                  PointEmitter::LoopBody body) {
  if (unroll == 1)
    return points.emitLoop(from, to, index.constant(step), inits, body);
  // A loop that visits several places at a time, so that their loads are in flight together, then
  // one for the places that are left.
  int64_t wide = step * unroll;
  Value lastStart = index.sub(to, index.constant(wide - step));
  SmallVector<Value> carried = points.emitLoop(
      from, lastStart, index.constant(wide), inits, [&](Value position, ValueRange values) {
        SmallVector<Value> current(values);
        for (int64_t i = 0; i < unroll; ++i)
          current = body(index.add(position, i * step), current);
        return current;
      });
  // The first loop made ceil((lastStart - from) / wide) iterations, none if that is negative.
  Value distance = index.max(index.sub(lastStart, from), index.constant(0));
  Value rest = index.add(from, index.mul(index.ceilDiv(distance, index.constant(wide)), wide));
  return points.emitLoop(rest, to, index.constant(step), carried, body);
}

/// True if combining with `init` changes nothing: it is the neutral element, or a zero that starts
/// a sum.
static bool isNeutralInit(Value init, TypedAttr neutral) {
  Attribute value;
  if (!neutral || !matchPattern(init, m_Constant(&value)))
    return false;
  if (value == neutral)
    return true;
  auto number = dyn_cast<FloatAttr>(value), other = dyn_cast<FloatAttr>(neutral);
  return number && other && number.getValue().isZero() && other.getValue().isZero();
}

SmallVector<Value> ReductionEmitter::emitInits(const ReductionGroup::Member &member,
                                               const Place &place, int64_t pointLanes) {
  linalg::LinalgOp op = member.combiner.getOp();
  SmallVector<Coord> loops = llvm::map_to_vector(
      member.loops, [&](AffineExpr expr) { return points.apply(expr, place.coords, pointLanes); });
  SmallVector<Value> inits;
  for (OpOperand &init : op.getDpsInitsMutable()) {
    Point point{{}, {}, pointLanes, place.loadMask};
    for (AffineExpr expr : op.getMatchingIndexingMap(&init).getResults())
      point.coords.push_back(points.apply(expr, loops, pointLanes));
    if (point.coords.empty())
      point.flat = Coord::uniform(index.constant(0));
    inits.push_back(points.emit(init.get(), point));
  }
  return inits;
}

SmallVector<Value> ReductionEmitter::getStarts(const Combiner &combiner, ValueRange inits,
                                               int64_t pointLanes) {
  SmallVector<Value> starts;
  for (unsigned i = 0; i < combiner.getNumResults(); ++i) {
    Value start = combiner.startsFromInit() ? inits[i] : points.constant(combiner.getNeutral(i));
    starts.push_back(splatTo(points.builder, points.loc, start, pointLanes));
  }
  return starts;
}

SmallVector<Value> ReductionEmitter::emitLeaves(const ReductionGroup::Member &member,
                                                const Place &place) {
  SmallVector<Coord> loops = llvm::map_to_vector(
      member.loops, [&](AffineExpr expr) { return points.apply(expr, place.coords, lanes); });
  SmallVector<Value> leaves = points.emitLeaves(member.combiner, loops, lanes, place.loadMask);
  for (Value &leaf : leaves)
    leaf = splatTo(points.builder, points.loc, leaf, lanes);
  return leaves;
}

SmallVector<Value> ReductionEmitter::accumulate(const ReductionGroup::Member &member,
                                                const Place &place, ValueRange carried) {
  OpBuilder &builder = points.builder;
  Location loc = points.loc;
  SmallVector<Value> combined =
      combineResults(builder, loc, member.combiner, carried, emitLeaves(member, place));
  if (place.mask)
    for (auto [value, before] : llvm::zip_equal(combined, carried))
      value = arith::SelectOp::create(builder, loc, place.mask, value, before);
  return combined;
}

SmallVector<Value> ReductionEmitter::combineInits(const Combiner &combiner, ValueRange inits,
                                                  SmallVector<Value> total, int64_t pointLanes) {
  bool initMatters = false;
  for (unsigned i = 0; i < combiner.getNumResults(); ++i)
    initMatters |= !combiner.startsFromInit() && !isNeutralInit(inits[i], combiner.getNeutral(i));
  if (!initMatters)
    return total;
  SmallVector<Value> spread = llvm::map_to_vector(
      inits, [&](Value init) { return splatTo(points.builder, points.loc, init, pointLanes); });
  return combineResults(points.builder, points.loc, combiner, spread, total);
}

void ReductionEmitter::emitTogether(Members members) {
  MemberValues inits, partials;
  SmallVector<Value> starts;
  for (const ReductionGroup::Member &member : members) {
    inits.push_back(emitInits(member, getOwnReducedPlace(), getReducedLanes()));
    llvm::append_range(starts, getStarts(member.combiner, inits.back(), lanes));
  }
  SmallVector<Value> last =
      visitShare(starts, [&](const Place &place, ValueRange carried) -> SmallVector<Value> {
        SmallVector<Value> next;
        for (const ReductionGroup::Member &member : members) {
          unsigned number = member.combiner.getNumResults();
          llvm::append_range(next, accumulate(member, place, carried.take_front(number)));
          carried = carried.drop_front(number);
        }
        return next;
      });
  ArrayRef<Value> rest = last;
  for (const ReductionGroup::Member &member : members) {
    unsigned number = member.combiner.getNumResults();
    partials.emplace_back(rest.take_front(number));
    rest = rest.drop_front(number);
  }
  MemberValues combined = combineThreads(members, std::move(partials));
  for (auto [number, member] : llvm::enumerate(members)) {
    SmallVector<Value> total = combineInits(member.combiner, inits[number],
                                            std::move(combined[number]), getReducedLanes());
    linalg::LinalgOp op = member.combiner.getOp();
    for (auto [result, value] : llvm::zip_equal(op->getResults(), total))
      points.provide(result, value);
  }
}

void ReductionEmitter::finishMember(const ReductionGroup::Member &member, ValueRange partial) {
  SmallVector<Value> inits = emitInits(member, getOwnReducedPlace(), getReducedLanes());
  MemberValues combined = combineThreads(member, {SmallVector<Value>(partial)});
  SmallVector<Value> total =
      combineInits(member.combiner, inits, std::move(combined.front()), getReducedLanes());
  linalg::LinalgOp op = member.combiner.getOp();
  for (auto [result, value] : llvm::zip_equal(op->getResults(), total))
    points.provide(result, value);
}

/// True if `op` needs a result of one of `members`, near or far.
static bool dependsOn(Operation *op, ArrayRef<ReductionGroup::Member> members) {
  llvm::SmallPtrSet<Operation *, 16> seen;
  SmallVector<Operation *> worklist{op};
  while (!worklist.empty()) {
    bool isNeeded = false;
    worklist.pop_back_val()->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (Operation *definition = operand.getDefiningOp();
            definition && !op->isProperAncestor(definition) && seen.insert(definition).second) {
          isNeeded |= llvm::any_of(members, [&](const ReductionGroup::Member &member) {
            return member.combiner.getOp() == definition;
          });
          worklist.push_back(definition);
        }
    });
    if (isNeeded)
      return true;
  }
  return false;
}

void ReductionEmitter::emitMembers() {
  for (Members rest = group.members; !rest.empty();) {
    if (rest.size() > 1 && emitDependent(rest[0], rest[1])) {
      rest = rest.drop_front(2);
      continue;
    }
    size_t number = 1;
    while (reducesTogether() && number < rest.size() &&
           !dependsOn(rest[number].combiner.getOp(), rest.take_front(number)))
      ++number;
    emitTogether(rest.take_front(number));
    rest = rest.drop_front(number);
  }
}

void ReductionEmitter::emitResults(function_ref<bool(const ReductionGroup::Result &)> isWanted,
                                   const Place &place, int64_t pointLanes) {
  auto getPlace = [&](const ReductionGroup::Result &result, ArrayRef<Coord> coords) {
    Point point{{}, {}, pointLanes, {}};
    for (AffineExpr expr : result.coords)
      point.coords.push_back(points.apply(expr, coords, pointLanes));
    if (point.coords.empty())
      point.flat = Coord::uniform(index.constant(0));
    Coord flat = getStoredPosition(points, result.output, point);
    return std::pair(point, flat);
  };
  // All loads before all stores: a result may be in the memory of an input.
  SmallVector<std::pair<const ReductionGroup::Result *, Value>> stores;
  for (const ReductionGroup::Result &result : group.results) {
    if (!isWanted(result))
      continue;
    Point point{{}, {}, pointLanes, place.loadMask};
    for (AffineExpr expr : result.coords)
      point.coords.push_back(points.apply(expr, place.coords, pointLanes));
    if (point.coords.empty())
      point.flat = Coord::uniform(index.constant(0));
    stores.push_back({&result, points.emit(result.output.tensor, point)});
  }
  for (auto &stored : stores) {
    const ReductionGroup::Result *result = stored.first;
    Value value = stored.second;
    auto [point, flat] = getPlace(*result, place.coords);
    auto storeMasked = [&, &point = point, &flat = flat] {
      storeElements(points, result->output, point, flat, value, place.mask);
    };
    if (!place.whole) {
      storeMasked();
      continue;
    }
    points.emitIf(
        place.whole,
        [&] {
          auto [wholePoint, wholeFlat] = getPlace(*result, place.wholeCoords);
          storeElements(points, result->output, wholePoint, wholeFlat, value);
        },
        storeMasked);
  }
}

void ReductionEmitter::emitResults() {
  using Kind = ReductionGroup::Result::Kind;
  auto isWhole = [](const ReductionGroup::Result &result) { return result.kind == Kind::Whole; };
  auto isReduced = [](const ReductionGroup::Result &result) {
    return result.kind == Kind::Reduced;
  };
  if (llvm::any_of(group.results, isWhole))
    visitShare({}, [&](const Place &place, ValueRange) -> SmallVector<Value> {
      emitResults(isWhole, place, lanes);
      return {};
    });
  if (llvm::any_of(group.results, isReduced)) {
    Place place = getReducedPlace();
    points.emitIf(index.both(isStoringThread(), place.mask), [&] {
      place.mask = place.loadMask = {};
      emitResults(isReduced, place, getReducedLanes());
    });
  }
}

Coord ReductionEmitter::getFlat(const ReductionGroup::Input &input, const Place &place) {
  Point point{{}, {}, lanes, {}};
  for (AffineExpr expr : input.coords)
    point.coords.push_back(points.apply(expr, place.coords, lanes));
  return points.getFlat(point, input.tensor);
}

Value ReductionEmitter::loadElements(const ReductionGroup::Input &input, const Place &place) {
  if (place.whole) {
    Place whole = place;
    whole.coords = place.wholeCoords;
    return points.emitIf(
        place.whole, input.getMemoryType().getElementType(), lanes,
        [&] { return points.load(input.binding, getFlat(input, whole), lanes); },
        [&] { return points.load(input.binding, getFlat(input, place), lanes, place.mask); });
  }
  return splatTo(points.builder, points.loc,
                 points.load(input.binding, getFlat(input, place), lanes, place.loadMask), lanes);
}

void ReductionEmitter::provideInput(const ReductionGroup::Input &input, ArrayRef<Place> places,
                                    std::function<Value(size_t)> getElements) {
  SmallVector<Coord> flats =
      llvm::map_to_vector(places, [&](const Place &place) { return getFlat(input, place); });
  points.provide(input.tensor, [=, source = &input](const Point &point) {
    Point asked = point;
    Coord flat = points.getFlat(asked, source->tensor);
    for (auto [number, expected] : llvm::enumerate(flats))
      if (flat.kind == expected.kind && flat.first() == expected.first())
        return getElements(number);
    return points.load(source->binding, flat, asked.lanes, asked.mask);
  });
}

/// The alignment of what a thread holds in shared memory.
static llvm::MaybeAlign getSharedAlignment(VectorType type) {
  return llvm::MaybeAlign(
      std::min<int64_t>(16, type.getNumElements() * getElementBytes(type.getElementType())));
}

Value ReductionEmitter::loadShared(Value buffer, Value position, Type type) {
  if (auto vectorType = dyn_cast<VectorType>(type))
    return vector::LoadOp::create(points.builder, points.loc, vectorType, buffer, position,
                                  /*nontemporal=*/false, getSharedAlignment(vectorType));
  return memref::LoadOp::create(points.builder, points.loc, buffer, position);
}

void ReductionEmitter::storeShared(Value buffer, Value position, Value value) {
  if (auto vectorType = dyn_cast<VectorType>(value.getType()))
    vector::StoreOp::create(points.builder, points.loc, value, buffer, position,
                            /*nontemporal=*/false, getSharedAlignment(vectorType));
  else
    memref::StoreOp::create(points.builder, points.loc, value, buffer, position);
}

} // namespace xc::cuda
