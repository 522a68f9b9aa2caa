//===- ExplainGroups.cpp - Why ops share a kernel, and others do not ------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For each op of a group, and each tensor that it reads of what kernels make:
// 1. inside the group a join: the tensor need not be written, unless others read it, nor read;
// 2. from another group a refusal, with the reason that grouping had last.
//
// Elementwise ops were fused into one body before there were groups. A value of a body that goes
// from an op of one place to an op of another one was a tensor over the loops that it depends on.
// Products of one operand were merged into one op of several places.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dispatch/ExplainGroups.h"

#include "compiler/Dispatch/DispatchGroupLimits.h"
#include "compiler/Dispatch/Places.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace xc::plan {

namespace {

/// A tensor that an op of a kernel reads of what an op of a kernel makes.
struct TensorEdge {
  Operation *producer, *consumer;
  Value tensor;
  /// Of what is made only a slice is read.
  bool isSlice = false;
};

/// Makes the record of one group.
class GroupExplainer {
public:
  GroupExplainer(const DispatchGrouping &grouping,
                 const llvm::DenseMap<DispatchGroup *, int64_t> &numbers, DispatchGroup &group)
      : grouping(grouping), numbers(numbers), group(group), builder(group.ops[0]->getContext()) {}

  DictionaryAttr explain();

private:
  void explainEdge(const TensorEdge &edge);
  void explainSibling(Operation *op);
  void explainBody(linalg::LinalgOp op);
  void explainMerged(linalg::LinalgOp op);
  void addJoin(StringAttr from, StringAttr to, std::optional<int64_t> bytes, bool savesLaunch,
               StringRef why);
  StringAttr getPlace(Operation *op);

  const DispatchGrouping &grouping;
  const llvm::DenseMap<DispatchGroup *, int64_t> &numbers;
  DispatchGroup &group;
  Builder builder;
  SmallVector<Attribute> joins, refusals;
  /// Ops that joins connect: each that connects two sets saves a launch.
  llvm::EquivalenceClasses<Operation *> connected;
  /// Results whose writing has been counted as saved.
  llvm::DenseSet<Value> unwritten;
};

} // namespace

static std::optional<int64_t> countBytes(RankedTensorType type) {
  if (!type.hasStaticShape() || !type.getElementType().isIntOrFloat())
    return std::nullopt;
  return type.getNumElements() * int64_t(llvm::divideCeil(type.getElementTypeBitWidth(), 8));
}

/// What `op` reads of ops that are in kernels, each once.
static SmallVector<TensorEdge> findEdges(Operation *op, const DispatchGrouping &grouping) {
  llvm::MapVector<Operation *, TensorEdge> edges;
  for (Value value : getUsedValues(op)) {
    bool isSlice = false;
    Operation *origin = DispatchGrouping::findOrigin(value);
    while (isa_and_nonnull<tensor::ExtractSliceOp, tensor::CastOp>(origin)) {
      isSlice |= isa<tensor::ExtractSliceOp>(origin);
      origin = DispatchGrouping::findOrigin(origin->getOperand(0));
    }
    if (origin && isa<RankedTensorType>(value.getType()) && grouping.getGroup(origin))
      edges.insert({origin, {origin, op, value, isSlice}});
  }
  return llvm::map_to_vector(edges, [](auto &entry) { return entry.second; });
}

/// Why two ops are apart that grouping did not compare.
static StringRef explainUnasked(const TensorEdge &edge, bool fuses) {
  if (!fuses)
    return "each op was to have a kernel of its own";
  if (!isa<linalg::LinalgOp>(edge.consumer))
    return "its reader's kernel takes in no such op";
  if (!llvm::is_contained(edge.consumer->getOperands(), edge.tensor))
    return "it is read at computed places, so all of it has to be there";
  if (edge.isSlice)
    return "a part of it is read, which is a view of memory";
  if (edge.tensor.getDefiningOp() != edge.producer)
    return "it is read in another shape, which is a view of memory";
  return "its reader is in the kernel of another operand";
}

/// How often `consumer` reads each element of `tensor`: the loops that its place does not depend
/// on. Loops of symbolic length count as one.
static int64_t countReads(Operation *consumer, Value tensor) {
  auto op = dyn_cast<linalg::LinalgOp>(consumer);
  int64_t most = 1;
  if (!op)
    return most;
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  for (OpOperand &use : consumer->getOpOperands()) {
    if (use.get() != tensor)
      continue;
    int64_t reads = 1;
    AffineMap map = op.getMatchingIndexingMap(&use);
    for (auto [loop, size] : llvm::enumerate(ranges))
      if (!map.isFunctionOfDim(loop) && !ShapedType::isDynamic(size))
        reads = llvm::SaturatingMultiply<uint64_t>(reads, size);
    most = std::max(most, reads);
  }
  return most;
}

StringAttr GroupExplainer::getPlace(Operation *op) {
  StringAttr place = findPlace(op->getLoc());
  return place ? place : builder.getStringAttr(op->getName().getStringRef());
}

void GroupExplainer::addJoin(StringAttr from, StringAttr to, std::optional<int64_t> bytes,
                             bool savesLaunch, StringRef why) {
  NamedAttrList join;
  join.append("from", from);
  join.append("to", to);
  join.append("why", builder.getStringAttr(why));
  if (bytes)
    join.append("bytes", builder.getI64IntegerAttr(*bytes));
  join.append("launches", builder.getI64IntegerAttr(savesLaunch));
  joins.push_back(join.getDictionary(builder.getContext()));
}

void GroupExplainer::explainEdge(const TensorEdge &edge) {
  DispatchGroup *other = grouping.getGroup(edge.producer);
  StringRef why = grouping.getReason(edge.producer, edge.consumer);
  auto type = cast<RankedTensorType>(edge.tensor.getType());
  std::optional<int64_t> bytes = countBytes(type);
  if (other == &group) {
    bool isWritten = llvm::any_of(
        edge.tensor.getUsers(), [&](Operation *user) { return grouping.getGroup(user) != &group; });
    if (bytes && !isWritten && unwritten.insert(edge.tensor).second)
      *bytes *= 2;
    bool savesLaunch = !connected.isEquivalent(edge.producer, edge.consumer);
    connected.unionSets(edge.producer, edge.consumer);
    addJoin(getPlace(edge.producer), getPlace(edge.consumer), bytes, savesLaunch,
            why.empty() ? "the kernel has the rows that are read" : why);
    return;
  }
  NamedAttrList refusal;
  refusal.append("kernel", builder.getI64IntegerAttr(numbers.at(other)));
  refusal.append("from", getPlace(edge.producer));
  refusal.append("to", getPlace(edge.consumer));
  refusal.append(
      "why", builder.getStringAttr(why.empty() ? explainUnasked(edge, grouping.isFusing()) : why));
  if (bytes)
    refusal.append("bytes", builder.getI64IntegerAttr(*bytes));
  if (int64_t reads = countReads(edge.consumer, edge.tensor); reads > 1)
    refusal.append("reads", builder.getI64IntegerAttr(reads));
  refusals.push_back(refusal.getDictionary(builder.getContext()));
}

/// An op that reads nothing of the group is there for what both read.
void GroupExplainer::explainSibling(Operation *op) {
  for (Operation *other : group.ops) {
    if (other == op || connected.isEquivalent(other, op))
      continue;
    StringRef why = grouping.getReason(other, op);
    if (why.empty())
      why = grouping.getReason(op, other);
    if (why.empty())
      continue;
    std::optional<int64_t> bytes;
    for (Value value : getUsedValues(op))
      if (auto type = dyn_cast<RankedTensorType>(value.getType());
          type && !bytes && llvm::is_contained(getUsedValues(other), value))
        bytes = countBytes(type);
    connected.unionSets(other, op);
    addJoin(getPlace(other), getPlace(op), bytes, /*savesLaunch=*/true, why);
  }
}

/// The loops that each value of the op's body depends on.
static llvm::DenseMap<Value, llvm::SmallBitVector> findLoops(linalg::LinalgOp op) {
  llvm::DenseMap<Value, llvm::SmallBitVector> loops;
  Block &body = op->getRegion(0).front();
  for (auto [argument, map] : llvm::zip(body.getArguments(), op.getIndexingMapsArray())) {
    llvm::SmallBitVector &used = loops[argument];
    used.resize(op.getNumLoops());
    for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
      if (map.isFunctionOfDim(loop))
        used.set(loop);
  }
  for (Operation &inner : body.without_terminator()) {
    llvm::SmallBitVector used(op.getNumLoops());
    if (auto index = dyn_cast<linalg::IndexOp>(inner))
      used.set(index.getDim());
    for (Value operand : inner.getOperands())
      if (auto known = loops.find(operand); known != loops.end())
        used |= known->second;
    for (Value result : inner.getResults())
      loops[result] = used;
  }
  return loops;
}

void GroupExplainer::explainBody(linalg::LinalgOp op) {
  llvm::DenseMap<Value, llvm::SmallBitVector> loops = findLoops(op);
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  struct Passed {
    int64_t bytes = 0;
    bool isKnown = true;
  };
  llvm::MapVector<std::pair<StringAttr, StringAttr>, Passed> passed;
  for (Operation &inner : op->getRegion(0).front().without_terminator()) {
    StringAttr from = findPlace(inner.getLoc());
    if (!from || inner.getNumResults() != 1 || inner.hasTrait<OpTrait::ConstantLike>() ||
        !inner.getResult(0).getType().isIntOrFloat())
      continue;
    Value value = inner.getResult(0);
    int64_t bytes = llvm::divideCeil(value.getType().getIntOrFloatBitWidth(), 8);
    bool isKnown = true;
    for (int loop : loops.at(value).set_bits()) {
      isKnown &= !ShapedType::isDynamic(ranges[loop]);
      bytes = llvm::SaturatingMultiply<uint64_t>(bytes, std::max<int64_t>(ranges[loop], 1));
    }
    llvm::SetVector<StringAttr> readers;
    for (Operation *user : value.getUsers())
      if (StringAttr to = findPlace(user->getLoc());
          to && to != from && !user->hasTrait<OpTrait::IsTerminator>())
        readers.insert(to);
    for (auto [index, to] : llvm::enumerate(readers)) {
      Passed &edge = passed[{from, to}];
      edge.bytes += index == 0 ? 2 * bytes : bytes;
      edge.isKnown &= isKnown;
    }
  }
  llvm::EquivalenceClasses<const void *> together;
  for (auto &[places, edge] : passed) {
    const void *from = places.first.getAsOpaquePointer(), *to = places.second.getAsOpaquePointer();
    bool savesLaunch = !together.isEquivalent(from, to);
    together.unionSets(from, to);
    addJoin(places.first, places.second,
            edge.isKnown ? std::optional<int64_t>(edge.bytes) : std::nullopt, savesLaunch,
            "each element is computed where it is needed");
  }
}

/// A product that was several has the places of all (MergeProducts.cpp).
void GroupExplainer::explainMerged(linalg::LinalgOp op) {
  auto merged = dyn_cast<FusedLoc>(op->getLoc());
  if (!merged || !isContraction(op))
    return;
  llvm::SetVector<StringAttr> places;
  for (Location loc : merged.getLocations())
    if (StringAttr place = findPlace(loc))
      places.insert(place);
  for (StringAttr place : ArrayRef(places.getArrayRef()).drop_front(places.empty() ? 0 : 1))
    addJoin(places.front(), place, countBytes(cast<RankedTensorType>(op->getOperand(0).getType())),
            /*savesLaunch=*/true, "products of one operand, which is read once, are one");
}

DictionaryAttr GroupExplainer::explain() {
  for (Operation *op : group.ops) {
    // Readers look through reshapes.
    if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op))
      continue;
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
      explainMerged(linalgOp);
      explainBody(linalgOp);
    }
    for (const TensorEdge &edge : findEdges(op, grouping))
      explainEdge(edge);
  }
  for (Operation *op : group.ops)
    if (!isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op))
      explainSibling(op);
  NamedAttrList record;
  record.append("number", builder.getI64IntegerAttr(numbers.at(&group)));
  record.append("joins", builder.getArrayAttr(joins));
  record.append("refusals", builder.getArrayAttr(refusals));
  return record.getDictionary(builder.getContext());
}

SmallVector<DictionaryAttr> explainGroups(const DispatchGrouping &grouping) {
  SmallVector<DispatchGroup *> groups = grouping.getGroups();
  llvm::DenseMap<DispatchGroup *, int64_t> numbers;
  for (auto [number, group] : llvm::enumerate(groups))
    numbers[group] = number;
  return llvm::map_to_vector(groups, [&](DispatchGroup *group) {
    return GroupExplainer(grouping, numbers, *group).explain();
  });
}

//===----------------------------------------------------------------------===//
// Records of kernels
//===----------------------------------------------------------------------===//

void setFusion(ModuleOp kernel, DictionaryAttr record,
               const llvm::DenseMap<int64_t, StringAttr> &names) {
  SmallVector<Attribute> refusals;
  for (auto refusal : record.getAs<ArrayAttr>("refusals").getAsRange<DictionaryAttr>()) {
    // Nothing is apart from ops that turned out to be needed for sizes alone.
    StringAttr name = names.lookup(refusal.getAs<IntegerAttr>("kernel").getInt());
    if (!name)
      continue;
    NamedAttrList named(refusal);
    named.set("kernel", name);
    refusals.push_back(named.getDictionary(kernel.getContext()));
  }
  restoreFusion(kernel,
                {record.getAs<ArrayAttr>("joins"), ArrayAttr::get(kernel.getContext(), refusals)});
}

FusionRecord takeFusion(ModuleOp kernel) {
  return {dyn_cast_or_null<ArrayAttr>(kernel->removeAttr(kJoinsAttr)),
          dyn_cast_or_null<ArrayAttr>(kernel->removeAttr(kRefusalsAttr))};
}

void restoreFusion(ModuleOp kernel, const FusionRecord &record) {
  if (record.joins)
    kernel->setAttr(kJoinsAttr, record.joins);
  if (record.refusals)
    kernel->setAttr(kRefusalsAttr, record.refusals);
}

void addRefusals(ModuleOp kernel, const FusionRecord &record) {
  auto known = kernel->getAttrOfType<ArrayAttr>(kRefusalsAttr);
  if (!known || !record.refusals)
    return;
  SmallVector<Attribute> refusals(known.getValue());
  llvm::append_range(refusals, record.refusals);
  kernel->setAttr(kRefusalsAttr, ArrayAttr::get(kernel.getContext(), refusals));
}

void renameRefused(ModuleOp kernel, const llvm::DenseMap<StringAttr, StringAttr> &names) {
  auto known = kernel->getAttrOfType<ArrayAttr>(kRefusalsAttr);
  if (!known)
    return;
  SmallVector<Attribute> refusals;
  for (auto refusal : known.getAsRange<DictionaryAttr>()) {
    NamedAttrList renamed(refusal);
    if (StringAttr name = names.lookup(refusal.getAs<StringAttr>("kernel")))
      renamed.set("kernel", name);
    refusals.push_back(renamed.getDictionary(kernel.getContext()));
  }
  kernel->setAttr(kRefusalsAttr, ArrayAttr::get(kernel.getContext(), refusals));
}

} // namespace xc::plan
