//===- Views.cpp - Which dims of a tensor another one shows ---------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/Transforms/Views.h"

#include "compiler/Dialect/Array/IR/Broadcasts.h"
#include "compiler/Dialect/Array/IR/TensorTypes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace xc::array {

using Map = std::optional<SmallVector<int64_t>>;

/// Dims that are not 1, in order.
static SmallVector<int64_t> wideDims(ArrayRef<int64_t> shape) {
  return llvm::to_vector(llvm::make_filter_range(llvm::seq<int64_t>(0, shape.size()),
                                                 [&](int64_t dim) { return shape[dim] != 1; }));
}

/// Where the result has the operand's dims but for those of size 1.
static Map mapReshape(ReshapeOp op) {
  ArrayRef<int64_t> from = typeOf(op.getOperand()).getShape(), to = op.getType().getShape();
  SmallVector<int64_t> wideFrom = wideDims(from), wideTo = wideDims(to);
  if (wideFrom.size() != wideTo.size())
    return std::nullopt;
  int64_t open = 0;
  SmallVector<int64_t> map(to.size(), View::kNone);
  for (auto [source, dim] : llvm::zip_equal(wideFrom, wideTo)) {
    if (from[source] != to[dim])
      return std::nullopt;
    open += ShapedType::isDynamic(to[dim]);
    map[dim] = source;
  }
  // Two that are `?` may have changed places, and one may be 1 and another not.
  return open > 1 ? std::nullopt : Map(map);
}

static Map mapBroadcast(BroadcastInDimOp op) {
  SmallVector<int64_t> map(op.getType().getRank(), View::kNone);
  for (auto [dim, axis] : llvm::enumerate(op.getAxes())) {
    Repeat repeat = getRepeat(op, dim);
    if (repeat == Repeat::AtRunTime)
      return std::nullopt;
    if (repeat == Repeat::Never)
      map[axis] = dim;
  }
  return map;
}

/// Whether `op`, with dims `map`, adds dims of size 1 and nothing else.
static bool repeatsNothing(BroadcastInDimOp op, const Map &map) {
  return map && llvm::all_of(llvm::enumerate(op.getType().getShape()), [&](auto dim) {
           return dim.value() == 1 || (*map)[dim.index()] != View::kNone;
         });
}

/// Dims with those of `axes` in between, which are new.
static Map mapExpand(ExpandDimsOp op) {
  SmallVector<int64_t> map;
  int64_t next = 0;
  for (int64_t dim = 0; dim < op.getType().getRank(); ++dim)
    map.push_back(llvm::is_contained(op.getAxes(), dim) ? View::kNone : next++);
  return map;
}

static Map mapSqueeze(SqueezeOp op) {
  SmallVector<int64_t> map;
  for (int64_t dim = 0; dim < typeOf(op.getOperand()).getRank(); ++dim)
    if (!llvm::is_contained(op.getAxes(), dim))
      map.push_back(dim);
  return map;
}

/// Over dims of size 1 nothing is combined.
static Map mapReduce(ReduceOp op) {
  ArrayRef<int64_t> shape = typeOf(op.getOperand()).getShape();
  if (llvm::any_of(op.getAxes(), [&](int64_t axis) { return shape[axis] != 1; }))
    return std::nullopt;
  return getReducedDims(shape.size(), op.getAxes(), op.getKeepdims());
}

static bool isFloatConvert(ConvertOp op) {
  return isa<FloatType>(op.getType().getElementType()) &&
         isa<FloatType>(typeOf(op.getOperand()).getElementType());
}

/// For each dim of the result of `op` the dim of its operand; nothing if `op` does more than move.
static Map mapDims(Operation *op, Through through) {
  auto same = [&] {
    return llvm::to_vector(llvm::seq<int64_t>(0, typeOf(op->getResult(0)).getRank()));
  };
  return llvm::TypeSwitch<Operation *, Map>(op)
      .Case([](TransposeOp op) { return SmallVector<int64_t>(op.getPermutation()); })
      .Case([](ReshapeOp op) { return mapReshape(op); })
      .Case([](ExpandDimsOp op) { return mapExpand(op); })
      .Case([](SqueezeOp op) { return mapSqueeze(op); })
      .Case([](ReduceOp op) { return mapReduce(op); })
      .Case([&](BroadcastInDimOp op) {
        Map map = mapBroadcast(op);
        return through.broadcasts || repeatsNothing(op, map) ? map : std::nullopt;
      })
      .Case([&](tensor::CastOp) { return Map(same()); })
      .Case([&](ConvertOp op) {
        return through.converts && isFloatConvert(op) ? Map(same()) : std::nullopt;
      })
      .Default([](Operation *) { return std::nullopt; });
}

View View::of(Value value) {
  View view{value, llvm::to_vector(llvm::seq<int64_t>(0, typeOf(value).getRank()))};
  for (int64_t &dim : view.dims)
    if (typeOf(value).getDimSize(dim) == 1)
      dim = kNone;
  return view;
}

View View::of(Value value, Through through, SmallVectorImpl<Operation *> *passed) {
  View view = of(value);
  for (Operation *op = value.getDefiningOp(); view.step(through); op = view.source.getDefiningOp())
    if (passed)
      passed->push_back(op);
  return view;
}

bool View::step(Through through) {
  Operation *op = source.getDefiningOp();
  if (!op)
    return false;
  Map map = mapDims(op, through);
  if (map)
    follow(op->getOperand(0), *map);
  return map.has_value();
}

void View::follow(Value next, ArrayRef<int64_t> map) {
  for (int64_t &dim : dims) {
    dim = dim == kNone ? kNone : map[dim];
    if (dim != kNone && typeOf(next).getDimSize(dim) == 1)
      dim = kNone;
  }
  source = next;
}

View View::alignedTo(int64_t rank) const {
  View view{source, SmallVector<int64_t>(rank - dims.size(), kNone)};
  llvm::append_range(view.dims, dims);
  return view;
}

int64_t View::find(int64_t dim) const {
  auto *place = llvm::find(dims, dim);
  return place == dims.end() ? kNone : place - dims.begin();
}

std::optional<double> getSplat(Value value) {
  View view = View::of(value, {/*broadcasts=*/true, /*converts=*/true});
  auto constant = view.source.getDefiningOp<ConstantOp>();
  auto elements = constant ? dyn_cast<SplatElementsAttr>(constant.getValue()) : nullptr;
  if (!elements)
    return std::nullopt;
  if (isa<FloatType>(elements.getElementType()))
    return elements.getSplatValue<APFloat>().convertToDouble();
  APInt number = elements.getSplatValue<APInt>();
  if (elements.getElementType().isUnsignedInteger() || number.getBitWidth() == 1)
    return double(number.getZExtValue());
  return double(number.getSExtValue());
}

SmallVector<int64_t> getReducedDims(int64_t rank, ArrayRef<int64_t> axes, bool keepdims) {
  SmallVector<int64_t> map;
  for (int64_t dim = 0; dim < rank; ++dim) {
    bool isReduced = llvm::is_contained(axes, dim);
    if (!isReduced || keepdims)
      map.push_back(isReduced ? View::kNone : dim);
  }
  return map;
}

Value arrange(Value value, ArrayRef<int64_t> order, ExpressionBuilder &e) {
  SmallVector<int64_t> permutation, front;
  for (int64_t dim = 0; dim < typeOf(value).getRank(); ++dim)
    if (!llvm::is_contained(order, dim)) {
      front.push_back(permutation.size());
      permutation.push_back(dim);
    }
  llvm::append_range(permutation, order);
  if (!llvm::is_sorted(permutation))
    value = e.make<TransposeOp>(value, permutation);
  return front.empty() ? value : e.make<SqueezeOp>(value, front);
}

} // namespace xc::array
