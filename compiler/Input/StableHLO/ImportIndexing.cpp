//===- ImportIndexing.cpp - StableHLO's gather and scatter ----------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `array.gather` and `array.scatter` take slices that are one element wide in some dims and whole
// in the others. A slice that is part of a dim gets a component of the index vector, too: its start
// plus the position in it, over a dim of its own. So does a batching dim: the position along the
// batch. With B the dims of the indices, W those of partial slices and F the operand's whole dims,
//
//     index vectors  [B..., W..., n]
//     slices         [B..., W..., F...]
//
// and StableHLO's slices are those transposed, with dims of size 1 put in or taken out.
//
//===----------------------------------------------------------------------===//

#include "compiler/Input/StableHLO/ImportStableHLO.h"
#include "compiler/Input/StableHLO/Repeat.h"

using namespace mlir;
using namespace xc::array;

namespace xc::stablehlo_import {

namespace shlo = stablehlo;

namespace {

struct Indexing {
  RankedTensorType operand;
  Value indices;                 // index vectors, with the dim of components last
  SmallVector<int64_t> batch;    // sizes of B
  SmallVector<int64_t> sizes;    // of a slice, for each dim of the operand
  SmallVector<int64_t> window;   // dims of StableHLO's slices that lie in the slice
  SmallVector<int64_t> gone;     // dims of the operand that those have not
  SmallVector<int64_t> batching; // dims of the operand ...
  SmallVector<int64_t> along;    // ... that go along with these of B
  SmallVector<int64_t> map;      // the operand's dim of each component

  /// Whether an index outside of a dim that the slice fills leads outside all the same.
  bool isChecked = false;

  bool isWhole(int64_t dim) const {
    return sizes[dim] == operand.getDimSize(dim) && !llvm::is_contained(batching, dim) &&
           !(isChecked && llvm::is_contained(map, dim));
  }
  bool isPartial(int64_t dim) const { return !isWhole(dim) && sizes[dim] != 1; }
};

/// The index vectors of array ops, the dims that they are of and the slices' shape.
struct Vectors {
  Value indices;
  SmallVector<int64_t> axes;
  SmallVector<int64_t> shape;
  /// Which dim of the slices each dim of StableHLO's slices is, those of size 1 left out.
  SmallVector<int64_t> order;
  SmallVector<int64_t> orderedShape;
};

} // namespace

/// Indices with the dim of components last, and what of the ops' dims refers to other dims of them.
static Value moveComponentsLast(ExpressionBuilder &e, Value indices, int64_t vectorDim,
                                Indexing &indexing) {
  auto type = typeOf(indices);
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (dim != vectorDim)
      indexing.batch.push_back(type.getDimSize(dim));
  for (int64_t &dim : indexing.along)
    dim -= dim > vectorDim;
  if (vectorDim == type.getRank()) {
    SmallVector<int64_t> shape(type.getShape());
    shape.push_back(1);
    return reshapeTo(e, indices, shape);
  }
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  order.erase(order.begin() + vectorDim);
  order.push_back(vectorDim);
  return transpose(e, indices, order);
}

/// Component `number` of the index vectors, in `shape`, whose first dims are B.
static Value getComponent(ExpressionBuilder &e, const Indexing &indexing, int64_t number,
                          ArrayRef<int64_t> shape) {
  auto type = typeOf(indexing.indices);
  SmallVector<int64_t> starts(type.getRank(), 0), limits(type.getShape()), ones(type.getRank(), 1);
  starts.back() = number;
  limits.back() = number + 1;
  Value component = reshapeTo(e, slice(e, indexing.indices, starts, limits, ones), indexing.batch);
  return broadcastTo(e, component, llvm::to_vector(llvm::seq<int64_t>(0, indexing.batch.size())),
                     shape);
}

/// 32 bits where they hold all starts and sizes.
static Type getIndexType(ExpressionBuilder &e, const Indexing &indexing) {
  auto given = cast<IntegerType>(elementOf(indexing.indices));
  bool isNarrow = given.getWidth() < 32 || (given.getWidth() == 32 && !given.isUnsigned());
  isNarrow &= llvm::all_of(indexing.operand.getShape(),
                           [](int64_t size) { return size < (int64_t(1) << 30); });
  return e.getBuilder().getIntegerType(isNarrow ? 32 : 64);
}

/// `clamp` moves partial slices into the operand; else those that leave it get no index at all.
static Vectors makeVectors(ExpressionBuilder &e, const Indexing &indexing, bool clamp) {
  Vectors vectors;
  int64_t rank = indexing.operand.getRank(), batch = indexing.batch.size();
  SmallVector<int64_t> shape(indexing.batch), place(rank, -1);
  for (int64_t dim = 0; dim < rank; ++dim)
    if (indexing.isPartial(dim)) {
      place[dim] = shape.size();
      shape.push_back(indexing.sizes[dim]);
    }
  Type element = getIndexType(e, indexing);
  SmallVector<Value> components;
  Value isInside;
  for (int64_t dim = 0; dim < rank; ++dim) {
    if (indexing.isWhole(dim))
      continue;
    Value component;
    if (auto *along = llvm::find(indexing.batching, dim); along != indexing.batching.end())
      component = iota(e, shape, element, indexing.along[along - indexing.batching.begin()]);
    if (auto *found = llvm::find(indexing.map, dim); found != indexing.map.end()) {
      component =
          e.convert(getComponent(e, indexing, found - indexing.map.begin(), shape), element);
      Value zero = e.integer(0, element),
            last = e.integer(indexing.operand.getDimSize(dim) - indexing.sizes[dim], element);
      if (clamp) {
        component = e.make<ClampOp>(zero, component, last);
      } else if (indexing.isPartial(dim)) {
        Value test = e.make<AndOp>(e.compare(CompareDirection::Ge, component, zero),
                                   e.compare(CompareDirection::Le, component, last));
        isInside = isInside ? e.make<AndOp>(isInside, test) : test;
      }
    }
    if (!component)
      component = broadcastTo(e, e.integer(0, element), {}, shape);
    if (place[dim] >= 0)
      component = e.add(component, iota(e, shape, element, place[dim]));
    components.push_back(component);
    vectors.axes.push_back(dim);
  }
  // An index outside skips its slice.
  if (isInside)
    components.front() = e.select(isInside, components.front(), e.integer(-1, element));
  SmallVector<int64_t> vectorShape(shape);
  vectorShape.push_back(1);
  for (Value &component : components)
    component = reshapeTo(e, component, vectorShape);
  if (!components.empty())
    vectors.indices = components.size() == 1
                          ? components.front()
                          : e.make<ConcatenateOp>(components, uint64_t(shape.size()));

  vectors.shape = shape;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (indexing.isWhole(dim)) {
      place[dim] = vectors.shape.size();
      vectors.shape.push_back(indexing.sizes[dim]);
    }
  // StableHLO's dims in order: those in the slice at `window`, the batch between them.
  SmallVector<int64_t> windowDims;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (!llvm::is_contained(indexing.gone, dim))
      windowDims.push_back(dim);
  int64_t nextBatch = 0, nextWindow = 0;
  for (int64_t dim = 0; dim < batch + static_cast<int64_t>(windowDims.size()); ++dim) {
    int64_t source =
        llvm::is_contained(indexing.window, dim) ? place[windowDims[nextWindow++]] : nextBatch++;
    if (source >= 0 && vectors.shape[source] != 1)
      vectors.order.push_back(source);
  }
  for (int64_t dim : vectors.order)
    vectors.orderedShape.push_back(vectors.shape[dim]);
  return vectors;
}

/// The slices' shape without dims of size 1: where those are makes no difference to a reshape.
static SmallVector<int64_t> dropOnes(ArrayRef<int64_t> shape, SmallVectorImpl<int64_t> &order) {
  SmallVector<int64_t> kept, renumbered(shape.size(), -1);
  for (auto [dim, size] : llvm::enumerate(shape))
    if (size != 1) {
      renumbered[dim] = kept.size();
      kept.push_back(size);
    }
  for (int64_t &dim : order)
    dim = renumbered[dim];
  return kept;
}

static Result convertGather(shlo::GatherOp op, ExpressionBuilder &e) {
  shlo::RecordAttr dims = op.getDimensionNumbers();
  Indexing indexing;
  indexing.operand = typeOf(op.getOperand());
  indexing.sizes = shlo::getNumbers(op.getSliceSizes());
  indexing.window = llvm::to_vector(dims.getList("offset_dims"));
  indexing.batching = llvm::to_vector(dims.getList("operand_batching_dims"));
  indexing.along = llvm::to_vector(dims.getList("start_indices_batching_dims"));
  indexing.gone = llvm::to_vector(dims.getList("collapsed_slice_dims"));
  llvm::append_range(indexing.gone, indexing.batching);
  indexing.map = llvm::to_vector(dims.getList("start_index_map"));
  indexing.indices =
      moveComponentsLast(e, op.getStartIndices(), dims.getNumber("index_vector_dim", 0), indexing);
  auto type = typeOf(op.getResult());
  if (type.getNumElements() == 0)
    return zeros(e, type);
  if (indexing.operand.getNumElements() == 0)
    return Result::refuse("it has an operand without elements");
  Vectors vectors = makeVectors(e, indexing, /*clamp=*/true);
  Value slices = op.getOperand();
  if (vectors.indices)
    slices = e.make<GatherOp>(slices, vectors.indices, vectors.axes);
  else // every index reads all
    slices = broadcastTo(
        e, slices, llvm::to_vector(llvm::seq<int64_t>(indexing.batch.size(), vectors.shape.size())),
        vectors.shape);
  SmallVector<int64_t> order = vectors.order;
  slices = reshapeTo(e, slices, dropOnes(vectors.shape, order));
  return reshapeTo(e, transpose(e, slices, order), type.getShape());
}

/// How an update meets the element that is there.
static std::optional<ScatterKind> matchUpdate(Region &body) {
  Block &block = body.front();
  if (&block.front() == &block.back() && block.back().getNumOperands() == 1 &&
      block.back().getOperand(0) == block.getArgument(1))
    return ScatterKind::Set;
  std::optional<ReduceKind> kind = matchKind(body);
  if (!kind)
    return std::nullopt;
  switch (*kind) {
  case ReduceKind::Sum:
    return ScatterKind::Add;
  case ReduceKind::Prod:
    return ScatterKind::Mul;
  // Of truth values, which are 0 or 1 then.
  case ReduceKind::Max:
  case ReduceKind::Or:
    return ScatterKind::Max;
  case ReduceKind::Min:
  case ReduceKind::And:
    return ScatterKind::Min;
  }
  llvm_unreachable("all kinds are named above");
}

/// Updates by a body of its own: one after another, as index vectors may repeat. `slices` has the
/// updates of each operand.
static std::optional<SmallVector<Value>> scatterWithBody(shlo::ScatterOp op, ExpressionBuilder &e,
                                                         const Vectors &vectors,
                                                         SmallVector<Value> slices) {
  auto type = typeOf(vectors.indices);
  ArrayRef<int64_t> shape = typeOf(slices.front()).getShape().drop_front(type.getRank() - 1);
  int64_t count = llvm::product_of(type.getShape().drop_back());
  SmallVector<int64_t> sliceShape(shape);
  sliceShape.insert(sliceShape.begin(), count);
  Value indices = reshapeTo(e, vectors.indices, {count, type.getShape().back()});
  for (Value &each : slices)
    each = reshapeTo(e, each, sliceShape);
  auto takeOne = [&](Value value, Value at) {
    SmallVector<int64_t> box(typeOf(value).getShape());
    box.front() = 1;
    SmallVector<Value> starts(box.size(), e.integer(0, elementOf(at)));
    starts.front() = at;
    return e.make<DynamicSliceOp>(typeOf(value).clone(box), value, starts, ValueRange());
  };
  bool isKnown = true;
  SmallVector<Value> operands(op.getInputs().take_front(slices.size()));
  SmallVector<Value> results = repeat(e, count, operands, [&](Value step, ValueRange carried) {
    Value index = takeOne(indices, step);
    SmallVector<Value> arguments;
    for (Value each : carried)
      arguments.push_back(e.make<GatherOp>(each, index, vectors.axes));
    for (Value each : slices)
      arguments.push_back(takeOne(each, step));
    std::optional<SmallVector<Value>> next = applyBody(e, op.getUpdateComputation(), arguments);
    isKnown = next && next->size() == carried.size();
    SmallVector<Value> updated(carried);
    for (size_t i = 0; isKnown && i < updated.size(); ++i) {
      Value update = (*next)[i];
      if (typeOf(update).getRank() == 0) // a constant is one number
        update = broadcastTo(e, update, {}, typeOf(arguments[i]).getShape());
      updated[i] = e.make<ScatterOp>(ScatterKind::Set, updated[i], index, update, vectors.axes,
                                     /*unique=*/true);
    }
    return updated;
  });
  return isKnown ? std::optional(results) : std::nullopt;
}

/// What a scatter does to its operands: the index vectors, and the updates in the order of ours.
struct Scattering {
  Vectors vectors;
  SmallVector<Value> slices;
};

static Scattering makeScattering(shlo::ScatterOp op, ExpressionBuilder &e) {
  size_t count = op.getInputs().size() / 2;
  ValueRange updates = op.getInputs().take_back(count);
  shlo::RecordAttr dims = op.getScatterDimensionNumbers();
  Indexing indexing;
  indexing.operand = typeOf(op.getInputs().front());
  indexing.window = llvm::to_vector(dims.getList("update_window_dims"));
  indexing.batching = llvm::to_vector(dims.getList("input_batching_dims"));
  indexing.along = llvm::to_vector(dims.getList("scatter_indices_batching_dims"));
  indexing.gone = llvm::to_vector(dims.getList("inserted_window_dims"));
  llvm::append_range(indexing.gone, indexing.batching);
  indexing.map = llvm::to_vector(dims.getList("scatter_dims_to_operand_dims"));
  const int64_t *next = indexing.window.begin();
  for (int64_t dim = 0; dim < indexing.operand.getRank(); ++dim)
    indexing.sizes.push_back(
        llvm::is_contained(indexing.gone, dim) ? 1 : typeOf(updates.front()).getDimSize(*next++));
  indexing.isChecked = true;
  indexing.indices =
      moveComponentsLast(e, op.getInputs()[count], dims.getNumber("index_vector_dim", 0), indexing);
  Scattering result{makeVectors(e, indexing, /*clamp=*/false), {}};
  const Vectors &vectors = result.vectors;
  // From StableHLO's order back to ours.
  SmallVector<int64_t> order = vectors.order;
  SmallVector<int64_t> kept = dropOnes(vectors.shape, order), inverse(order.size());
  for (auto [from, to] : llvm::enumerate(order))
    inverse[to] = from;
  for (Value update : updates) {
    Value inOrder = transpose(e, reshapeTo(e, update, vectors.orderedShape), inverse);
    result.slices.push_back(reshapeTo(e, inOrder, vectors.shape));
  }
  return result;
}

static Result convertScatter(shlo::ScatterOp op, ExpressionBuilder &e) {
  size_t count = op.getInputs().size() / 2;
  Value operand = op.getInputs()[0];
  std::optional<ScatterKind> kind = matchUpdate(op.getUpdateComputation());
  bool isLogical =
      kind && matchKind(op.getUpdateComputation()) &&
      llvm::is_contained({ReduceKind::And, ReduceKind::Or}, *matchKind(op.getUpdateComputation()));
  if (isLogical && !isTruth(operand))
    return Result::refuse("its body is a logical operation on numbers");
  for (Value update : op.getInputs().take_back(count))
    if (typeOf(update).getShape() != typeOf(op.getInputs().back()).getShape())
      return Result::refuse("its updates differ in shape");
  if (typeOf(op.getInputs().back()).getNumElements() == 0)
    return Result(llvm::to_vector(op.getInputs().take_front(count)));
  Scattering scattering = makeScattering(op, e);
  const Vectors &vectors = scattering.vectors;
  if (!vectors.indices)
    return Result::refuse("it has no index");
  if (!kind && llvm::any_of(op.getInputs().take_front(count), isTruth))
    return Result::refuse("its body is none of set, and, or");
  if (!kind) {
    auto values = scatterWithBody(op, e, vectors, scattering.slices);
    return values ? Result(*values) : Result::refuse("its body is not elementwise");
  }
  Value slices = scattering.slices.front();
  Type element = elementOf(operand);
  if (isTruth(operand)) {
    operand = e.convert(operand, getUnsigned(e, 8));
    slices = e.convert(slices, getUnsigned(e, 8));
  }
  operand = e.make<ScatterOp>(*kind, operand, vectors.indices, slices, vectors.axes,
                              /*unique=*/op.getUniqueIndices());
  return e.convert(operand, element);
}

Replacement convertIndexing(Operation *op, ExpressionBuilder &e) {
  if (auto gather = dyn_cast<shlo::GatherOp>(op))
    return convertGather(gather, e);
  if (auto scatter = dyn_cast<shlo::ScatterOp>(op))
    return convertScatter(scatter, e);
  return std::nullopt;
}

} // namespace xc::stablehlo_import
