//===- RecognizeIndices.cpp - Gathers and scatters with batch dims --------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `x[arange(n), labels]` has index vectors of which all components but one count the rows. So do
// the gathers and scatters with batching dims of StableHLO. Such a gather is
// `array.take_along_axis`. A scatter of one update for each row into a constant is a choice for
// each element, which other elementwise ops may join.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/Sizes.h"
#include "compiler/Dialect/Array/IR/TensorTypes.h"
#include "compiler/Dialect/Array/Transforms/Recognizers.h"
#include "compiler/Dialect/Array/Transforms/Views.h"

using namespace mlir;

namespace xc::array {

/// Longer expressions are not followed.
static constexpr unsigned kMostSteps = 16;

static int64_t findCountedDim(Value value, unsigned steps = 0);

/// The operand of `op`, one as large as its result, that the result is equal to if that counts from
/// 0: a limit, a conversion, or a choice for negative indices.
static Value skipIndexChecks(Operation *op, unsigned steps) {
  RankedTensorType type = typeOf(op->getResult(0));
  auto isAtMost = [](Value value, double number) {
    std::optional<double> splat = getSplat(value);
    return splat && *splat <= number;
  };
  if (auto convert = dyn_cast<ConvertOp>(op))
    return type.getElementType().isInteger() && type.getElementTypeBitWidth() >= 32
               ? convert.getOperand()
               : Value();
  if (auto max = dyn_cast<MaxOp>(op))
    return isAtMost(max.getRhs(), 0) ? max.getLhs() : Value();
  // Not below the last number of the dim that is counted.
  auto isLimit = [&](Value value, Value limit) {
    std::optional<double> splat = getSplat(limit);
    int64_t dim = splat ? findCountedDim(value, steps) : View::kNone;
    return dim != View::kNone && *splat >= double(typeOf(value).getDimSize(dim) - 1);
  };
  if (auto min = dyn_cast<MinOp>(op))
    return isLimit(min.getLhs(), min.getRhs()) ? min.getLhs() : Value();
  if (auto clamp = dyn_cast<ClampOp>(op))
    return isAtMost(clamp.getLow(), 0) && isLimit(clamp.getOperand(), clamp.getHigh())
               ? clamp.getOperand()
               : Value();
  auto select = dyn_cast<SelectOp>(op);
  auto test = select ? select.getPredicate().getDefiningOp<CompareOp>() : nullptr;
  bool isOfNegative = test && test.getDirection() == CompareDirection::Lt &&
                      test.getLhs() == select.getOnFalse() && isAtMost(test.getRhs(), 0);
  return isOfNegative ? select.getOnFalse() : Value();
}

/// The dim of `value` along which its elements count from 0, all the same along others; kNone if
/// there is none.
static int64_t findCountedDim(Value value, unsigned steps) {
  if (steps == kMostSteps)
    return View::kNone;
  View view = View::of(value, {/*broadcasts=*/true, /*converts=*/false});
  Operation *op = view.source.getDefiningOp();
  if (!op)
    return View::kNone;
  if (auto iota = dyn_cast<IotaOp>(op))
    return view.find(iota.getAxis());
  Value counted = skipIndexChecks(op, steps + 1);
  if (!counted || typeOf(counted).getShape() != typeOf(view.source).getShape())
    return View::kNone;
  int64_t dim = findCountedDim(counted, steps + 1);
  return dim == View::kNone ? View::kNone : view.find(dim);
}

namespace {

/// Index vectors of which all components but one count a dim of theirs.
struct BatchedIndex {
  /// The dim of the operand that the other component indexes, and that component.
  int64_t axis = 0;
  Value index;
  /// The dims of the index vectors, without that of components.
  SmallVector<int64_t> shape;
  /// For each dim of the operand the dim of the index vectors along which it is counted; kNone for
  /// `axis`, and for dims that are whole.
  SmallVector<int64_t> counted;
  /// The other dims of the index vectors.
  SmallVector<int64_t> free;

  static std::optional<BatchedIndex> match(Value operand, Value indices, ArrayRef<int64_t> axes);

  /// `value`, whose first dims are those of the index vectors and which has the operand's whole
  /// dims behind them, in the order of the operand's dims: with `along` elements along `axis`, and
  /// 1 along whole dims if it has none.
  Value align(Value value, int64_t along, bool hasWhole, ExpressionBuilder &e) const;
};

} // namespace

std::optional<BatchedIndex> BatchedIndex::match(Value operand, Value indices,
                                                ArrayRef<int64_t> axes) {
  auto vectors = indices.getDefiningOp<ConcatenateOp>();
  RankedTensorType type = typeOf(indices);
  if (!vectors || !type.hasStaticShape() || !typeOf(operand).hasStaticShape() ||
      int64_t(vectors.getAxis()) != type.getRank() - 1 ||
      vectors.getOperands().size() != axes.size())
    return std::nullopt;
  BatchedIndex found;
  found.shape = SmallVector<int64_t>(type.getShape().drop_back());
  found.counted.assign(typeOf(operand).getRank(), View::kNone);
  for (auto [component, axis] : llvm::zip_equal(vectors.getOperands(), axes)) {
    if (typeOf(component).getShape().back() != 1)
      return std::nullopt;
    int64_t dim = findCountedDim(component);
    if (dim != View::kNone && dim < int64_t(found.shape.size()) &&
        found.shape[dim] == typeOf(operand).getDimSize(axis) &&
        !llvm::is_contained(found.counted, dim)) {
      found.counted[axis] = dim;
      continue;
    }
    if (found.index)
      return std::nullopt;
    found.index = component;
    found.axis = axis;
  }
  for (int64_t dim = 0; dim < int64_t(found.shape.size()); ++dim)
    if (!llvm::is_contained(found.counted, dim))
      found.free.push_back(dim);
  return found.index ? std::optional(found) : std::nullopt;
}

Value BatchedIndex::align(Value value, int64_t along, bool hasWhole, ExpressionBuilder &e) const {
  SmallVector<int64_t> order, sizes;
  ArrayRef<int64_t> own = typeOf(value).getShape();
  int64_t whole = shape.size();
  for (int64_t dim = 0; dim < int64_t(counted.size()); ++dim) {
    if (dim == axis) {
      llvm::append_range(order, free);
      sizes.push_back(along);
    } else if (counted[dim] != View::kNone) {
      order.push_back(counted[dim]);
      sizes.push_back(own[counted[dim]]);
    } else if (hasWhole) {
      order.push_back(whole);
      sizes.push_back(own[whole++]);
    } else {
      sizes.push_back(1);
    }
  }
  Type element = typeOf(value).getElementType();
  Value moved = e.make<TransposeOp>(value, order);
  return e.make<ReshapeOp>(RankedTensorType::get(sizes, element), moved, ValueRange());
}

Value recognizeBatchedGather(Operation *root, ExpressionBuilder &e) {
  auto gather = dyn_cast<GatherOp>(root);
  if (!gather || int64_t(gather.getAxes().size()) != typeOf(gather.getOperand()).getRank())
    return {};
  auto batched = BatchedIndex::match(gather.getOperand(), gather.getIndices(), gather.getAxes());
  if (!batched)
    return {};
  RankedTensorType type = typeOf(batched->index);
  int64_t along = 1;
  for (int64_t dim : batched->free)
    along *= batched->shape[dim];
  Value index = e.make<ReshapeOp>(type.clone(batched->shape), batched->index, ValueRange());
  index = batched->align(index, along, /*hasWhole=*/false, e);
  Value taken = e.make<TakeAlongAxisOp>(gather.getOperand(), index, uint64_t(batched->axis));
  // Back to the order of the index vectors' dims.
  SmallVector<int64_t> sizes, places(batched->shape.size());
  auto keep = [&](int64_t dim) {
    places[dim] = sizes.size();
    sizes.push_back(batched->shape[dim]);
  };
  for (auto [dim, counted] : llvm::enumerate(batched->counted))
    if (counted != View::kNone)
      keep(counted);
    else if (int64_t(dim) == batched->axis)
      llvm::for_each(batched->free, keep);
  Value split = e.make<ReshapeOp>(gather.getType().clone(sizes), taken, ValueRange());
  return e.finish(e.make<TransposeOp>(split, places), gather.getType());
}

/// What an update makes of the element that is there.
static Value combine(ScatterKind kind, Value old, Value update, ExpressionBuilder &e) {
  switch (kind) {
  case ScatterKind::Set:
    return update;
  case ScatterKind::Add:
    return e.add(old, update);
  case ScatterKind::Max:
    return e.make<MaxOp>(old, update);
  case ScatterKind::Min:
    return e.make<MinOp>(old, update);
  case ScatterKind::Mul:
    return e.mul(old, update);
  }
  llvm_unreachable("all kinds are named above");
}

Value recognizeBatchedScatter(Operation *root, ExpressionBuilder &e) {
  auto scatter = dyn_cast<ScatterOp>(root);
  // Into a tensor that is there, few updates are less work than a choice for each element.
  if (!scatter || !getSplat(scatter.getOperand()))
    return {};
  auto batched = BatchedIndex::match(scatter.getOperand(), scatter.getIndices(), scatter.getAxes());
  if (!batched ||
      !llvm::all_of(batched->free, [&](int64_t dim) { return batched->shape[dim] == 1; }))
    return {};
  RankedTensorType type = scatter.getType(), given = typeOf(batched->index);
  bool isNarrow =
      given.getElementTypeBitWidth() < 32 || given.getElementType().isSignlessInteger(32);
  Type number = e.getBuilder().getIntegerType(isNarrow ? 32 : 64);
  Value index = e.make<ReshapeOp>(given.clone(batched->shape), batched->index, ValueRange());
  index = e.convert(batched->align(index, /*along=*/1, /*hasWhole=*/false, e), number);
  SmallVector<int64_t> places(type.getRank(), 1);
  places[batched->axis] = type.getDimSize(batched->axis);
  Value place =
      e.make<IotaOp>(RankedTensorType::get(places, number), ValueRange(), uint64_t(batched->axis));
  Value update = batched->align(scatter.getUpdates(), /*along=*/1, /*hasWhole=*/true, e);
  Value old = scatter.getOperand();
  Value chosen = e.select(e.compare(CompareDirection::Eq, index, place),
                          combine(scatter.getKind(), old, update, e), old);
  return e.finish(chosen, type);
}

} // namespace xc::array
