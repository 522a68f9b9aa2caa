//===- ImportReductions.cpp - StableHLO's reductions and windows ----------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/Sizes.h"
#include "compiler/Input/StableHLO/ImportStableHLO.h"
#include "compiler/Input/StableHLO/StableHLOWindows.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace xc::array;

namespace xc::stablehlo_import {

namespace shlo = stablehlo;

/// Positions of a window that are combined one by one.
static constexpr int64_t kMostPositions = 1024;

/// What `kind` may combine with anything without changing it.
static TypedAttr getNeutral(Builder &builder, ReduceKind kind, Type element) {
  if (auto type = dyn_cast<FloatType>(element)) {
    const llvm::fltSemantics &semantics = type.getFloatSemantics();
    switch (kind) {
    case ReduceKind::Max:
      return builder.getFloatAttr(type, APFloat::getInf(semantics, /*Negative=*/true));
    case ReduceKind::Min:
      return builder.getFloatAttr(type, APFloat::getInf(semantics));
    default:
      return builder.getFloatAttr(type, kind == ReduceKind::Prod ? 1.0 : 0.0);
    }
  }
  auto type = cast<IntegerType>(element);
  unsigned width = type.getWidth();
  bool isUnsigned = type.isUnsigned();
  switch (kind) {
  case ReduceKind::Sum:
  case ReduceKind::Or:
    return builder.getIntegerAttr(type, APInt::getZero(width));
  case ReduceKind::Prod:
    return builder.getIntegerAttr(type, APInt(width, 1));
  case ReduceKind::And:
    return builder.getIntegerAttr(type, APInt::getAllOnes(width));
  case ReduceKind::Max:
    return builder.getIntegerAttr(type, isUnsigned ? APInt::getZero(width)
                                                   : APInt::getSignedMinValue(width));
  case ReduceKind::Min:
    return builder.getIntegerAttr(type, isUnsigned ? APInt::getAllOnes(width)
                                                   : APInt::getSignedMaxValue(width));
  }
  llvm_unreachable("all kinds are named above");
}

bool isNeutral(Builder &builder, ReduceKind kind, Value init) {
  Attribute constant = getConstant(init);
  if (auto number = dyn_cast_or_null<FloatAttr>(constant); number && kind == ReduceKind::Sum)
    return number.getValue().isZero();
  return constant && constant == getNeutral(builder, kind, elementOf(init));
}

//===----------------------------------------------------------------------===//
// reduce
//===----------------------------------------------------------------------===//

/// Combines what lies at each position along `axes`, one after the other. Initial values that are
/// data may change what they are combined with, so that there is one order.
static Result foldReduced(shlo::ReduceOp op, ExpressionBuilder &e, ArrayRef<int64_t> axes) {
  if (!typeOf(op.getInputs().front()).hasStaticShape())
    return Result::refuse("it has open sizes, a body of its own, and initial values that are data");
  ArrayRef<int64_t> shape = typeOf(op.getInputs().front()).getShape();
  int64_t positions = 1;
  for (int64_t axis : axes)
    if (positions *= std::min(shape[axis], kMostPositions + 1); positions > kMostPositions)
      return Result::refuse("it has more than " + Twine(kMostPositions) +
                            " elements, a body of its own, and initial values that are data");
  ArrayRef<int64_t> kept = cast<RankedTensorType>(op.getResultTypes().front()).getShape();
  SmallVector<Value> sums = llvm::map_to_vector(
      op.getInitValues(), [&](Value init) { return broadcastTo(e, init, {}, kept); });
  SmallVector<int64_t> strides(shape.size(), 1);
  for (int64_t position = 0; position < positions; ++position) {
    SmallVector<int64_t> starts(shape.size(), 0), limits(shape);
    int64_t rest = position;
    for (int64_t axis : llvm::reverse(axes)) {
      starts[axis] = rest % shape[axis];
      limits[axis] = starts[axis] + 1;
      rest /= shape[axis];
    }
    SmallVector<Value> arguments = sums;
    for (Value input : op.getInputs())
      arguments.push_back(reshapeTo(e, slice(e, input, starts, limits, strides), kept));
    std::optional<SmallVector<Value>> combined = applyBody(e, op.getBody(), arguments);
    if (!combined)
      return Result::refuse("its body is not elementwise");
    for (auto [sum, value] : llvm::zip_equal(sums, *combined))
      sum = typeOf(value).getRank() == 0 ? broadcastTo(e, value, {}, kept) : value;
  }
  return Result(sums);
}

/// A reduction with a body of its own.
static Result convertWithBody(shlo::ReduceOp op, ExpressionBuilder &e, ArrayRef<int64_t> axes) {
  SmallVector<Attribute> inits;
  for (Value init : op.getInitValues()) {
    inits.push_back(getConstant(init));
    if (!inits.back())
      return foldReduced(op, e, axes);
  }
  Block &body = op.getBody().front();
  for (Operation &inner : body.without_terminator())
    if (!isa<ConstantOp, ArrayElementwiseOpInterface>(inner))
      return Result::refuse("its body is not elementwise");
  OpBuilder &builder = e.getBuilder();
  auto reduce = ReduceWithOp::create(builder, op.getLoc(), op.getResultTypes(), op.getInputs(),
                                     builder.getDenseI64ArrayAttr(axes),
                                     builder.getArrayAttr(inits), /*keepdims=*/UnitAttr());
  OpBuilder::InsertionGuard guard(builder);
  Block *block = builder.createBlock(&reduce.getBody(), {}, body.getArgumentTypes(),
                                     SmallVector<Location>(body.getNumArguments(), op.getLoc()));
  IRMapping mapping;
  mapping.map(body.getArguments(), block->getArguments());
  // The body sees nothing from outside: constants come with it.
  auto take = [&](Value value) {
    if (mapping.contains(value))
      return true;
    auto constant = value.getDefiningOp<ConstantOp>();
    if (constant)
      builder.clone(*constant, mapping);
    return constant != nullptr;
  };
  for (Operation &inner : body) {
    for (Value operand : inner.getOperands())
      if (!take(operand)) {
        reduce.erase();
        return Result::refuse("its body reads values from outside");
      }
    if (&inner != body.getTerminator())
      builder.clone(inner, mapping);
  }
  YieldOp::create(builder, op.getLoc(),
                  llvm::map_to_vector(body.getTerminator()->getOperands(),
                                      [&](Value value) { return mapping.lookup(value); }));
  return Result(llvm::to_vector_of<Value>(reduce.getResults()));
}

static Result convertReduce(shlo::ReduceOp op, ExpressionBuilder &e) {
  SmallVector<int64_t> axes = shlo::getNumbers(op.getDimensions());
  llvm::sort(axes);
  std::optional<ReduceKind> kind =
      op.getInputs().size() == 1 ? matchKind(op.getBody()) : std::nullopt;
  if (!kind)
    return convertWithBody(op, e, axes);
  Value init = op.getInitValues().front();
  Value result = e.reduce(*kind, op.getInputs().front(), axes, /*keepdims=*/false);
  return isNeutral(e.getBuilder(), *kind, init) ? result : combine(e, *kind, init, result);
}

//===----------------------------------------------------------------------===//
// reduce_window
//===----------------------------------------------------------------------===//

/// The dim along which the window holds all elements up to its own (or, reversed, from there on).
static std::optional<std::pair<int64_t, bool>> matchScan(ArrayRef<shlo::WindowDim> window,
                                                         ArrayRef<int64_t> shape) {
  std::optional<std::pair<int64_t, bool>> scan;
  for (auto [dim, each] : llvm::enumerate(window)) {
    if (each.stride != 1 || each.dilation != 1 || each.baseDilation != 1)
      return std::nullopt;
    if (each.size == 1 && each.low == 0 && each.high == 0)
      continue;
    bool isForward = each.low == each.size - 1 && each.high == 0,
         isBackward = each.high == each.size - 1 && each.low == 0;
    if (scan || each.size != shape[dim] || !(isForward || isBackward))
      return std::nullopt;
    scan = {dim, isBackward};
  }
  return scan;
}

Value accumulate(ExpressionBuilder &e, ReduceKind kind, Value value, int64_t dim, bool isReverse) {
  constexpr bool isExclusive = false;
  switch (kind) {
  case ReduceKind::Sum:
    return e.make<CumSumOp>(value, uint64_t(dim), isExclusive, isReverse);
  case ReduceKind::Prod:
    return e.make<CumProdOp>(value, uint64_t(dim), isExclusive, isReverse);
  case ReduceKind::Max:
    return e.make<CumMaxOp>(value, uint64_t(dim), isExclusive, isReverse);
  case ReduceKind::Min:
    return e.make<CumMinOp>(value, uint64_t(dim), isExclusive, isReverse);
  default:
    return {};
  }
}

/// `value`, dilated and padded with `with` as the window wants it.
static Value padForWindow(ExpressionBuilder &e, Value value, Value with,
                          ArrayRef<shlo::WindowDim> window) {
  SmallVector<int64_t> low, high, interior;
  for (const shlo::WindowDim &dim : window) {
    low.push_back(dim.low);
    high.push_back(dim.high);
    interior.push_back(dim.baseDilation - 1);
  }
  return padAndCut(e, value, with, low, high, interior);
}

/// Combines whole tensors, one for each position in the window.
static Result foldWindow(shlo::ReduceWindowOp op, ExpressionBuilder &e,
                         ArrayRef<shlo::WindowDim> window) {
  size_t count = op.getInputs().size() / 2;
  int64_t positions = 1;
  for (const shlo::WindowDim &dim : window)
    if (positions *= dim.size; positions > kMostPositions)
      return Result::refuse("its window has more than " + Twine(kMostPositions) +
                            " positions and a body or an initial value of its own");
  SmallVector<Value> padded, sums;
  auto type = cast<RankedTensorType>(op.getResultTypes().front());
  for (auto [input, init] :
       llvm::zip_equal(op.getInputs().take_front(count), op.getInputs().take_back(count))) {
    padded.push_back(padForWindow(e, input, init, window));
    sums.push_back(broadcastTo(e, init, {}, type.getShape()));
  }
  if (type.getNumElements() == 0)
    return Result(sums);
  for (int64_t position = 0; position < positions; ++position) {
    SmallVector<int64_t> starts(window.size()), limits(window.size()), strides(window.size());
    int64_t rest = position;
    for (int64_t dim = window.size() - 1; dim >= 0; --dim) {
      int64_t place = rest % window[dim].size;
      starts[dim] = place * window[dim].dilation; // in range: below kMostPositions * kMostAmount
      rest /= window[dim].size;
      strides[dim] = window[dim].stride;
      // The verifier has seen that all windows lie within the padded operand.
      limits[dim] = starts[dim] + spreadKnown(type.getDimSize(dim), strides[dim]);
    }
    SmallVector<Value> arguments = sums;
    for (Value value : padded)
      arguments.push_back(slice(e, value, starts, limits, strides));
    std::optional<SmallVector<Value>> combined = applyBody(e, op.getBody(), arguments);
    if (!combined)
      return Result::refuse("its body is not elementwise");
    for (auto [sum, value] : llvm::zip_equal(sums, *combined))
      sum = typeOf(value).getRank() == 0 ? broadcastTo(e, value, {}, type.getShape()) : value;
  }
  return Result(sums);
}

static Result convertReduceWindow(shlo::ReduceWindowOp op, ExpressionBuilder &e) {
  SmallVector<shlo::WindowDim> window = shlo::getWindow(op);
  std::optional<ReduceKind> kind =
      op.getInputs().size() == 2 ? matchKind(op.getBody()) : std::nullopt;
  Value operand = op.getInputs().front(), init = op.getInputs().back();
  if (!kind || !isNeutral(e.getBuilder(), *kind, init))
    return foldWindow(op, e, window);
  if (auto scan = matchScan(window, typeOf(operand).getShape()))
    if (Value value = accumulate(e, *kind, operand, scan->first, scan->second))
      return value;
  // What array ops take is padding of 0 or more, and no distance between elements.
  bool isPlain = llvm::all_of(window, [](const shlo::WindowDim &dim) {
    return dim.baseDilation == 1 && dim.low >= 0 && dim.high >= 0;
  });
  if (!isPlain) {
    operand = padForWindow(e, operand, init, window);
    for (shlo::WindowDim &dim : window)
      dim.low = dim.high = 0;
  }
  auto list = [&](auto member) {
    return e.getBuilder().getDenseI64ArrayAttr(
        llvm::map_to_vector(window, [&](const shlo::WindowDim &dim) { return dim.*member; }));
  };
  return e.make<ReduceWindowOp>(op.getResultTypes().front(), *kind, operand,
                                list(&shlo::WindowDim::size), list(&shlo::WindowDim::stride),
                                list(&shlo::WindowDim::low), list(&shlo::WindowDim::high),
                                list(&shlo::WindowDim::dilation));
}

//===----------------------------------------------------------------------===//
// select_and_scatter
//===----------------------------------------------------------------------===//

/// What a select body prefers: the larger or the smaller element, of equal ones the first.
static std::optional<ReduceKind> matchSelect(Region &body) {
  Block &block = body.front();
  auto compare = dyn_cast<CompareOp>(block.front());
  if (block.getOperations().size() != 2 || !compare || compare.getLhs() != block.getArgument(0) ||
      compare.getRhs() != block.getArgument(1) || block.back().getOperand(0) != compare.getResult())
    return std::nullopt;
  if (compare.getDirection() == CompareDirection::Ge)
    return ReduceKind::Max;
  if (compare.getDirection() == CompareDirection::Le)
    return ReduceKind::Min;
  return std::nullopt;
}

/// For any bodies on elements: each element of all windows at once, one position of the window
/// after the other.
static Result foldSelectAndScatter(shlo::SelectAndScatterOp op, ExpressionBuilder &e,
                                   ArrayRef<shlo::WindowDim> window) {
  Value operand = op.getOperand(), source = op.getSource();
  int64_t rank = window.size(), count = 1;
  for (const shlo::WindowDim &dim : window)
    count *= dim.size;
  if (count > kMostPositions)
    return Result::refuse("it has windows of more than " + Twine(kMostPositions) + " elements");
  SmallVector<int64_t> low, high, none(rank, 0), strides;
  for (const shlo::WindowDim &dim : window) {
    low.push_back(dim.low);
    high.push_back(dim.high);
    strides.push_back(dim.stride);
  }
  Type number = e.getBuilder().getI32Type();
  Value inside = broadcastTo(e, e.integer(1, number), {}, typeOf(operand).getShape());
  Value padded = padAndCut(e, operand,
                           e.make<ConstantOp>(cast<ElementsAttr>(e.getBuilder().getZeroAttr(
                               RankedTensorType::get({}, elementOf(operand))))),
                           low, high, none);
  inside = padAndCut(e, inside, e.integer(0, number), low, high, none);
  ArrayRef<int64_t> places = typeOf(source).getShape();
  auto startsOf = [&](int64_t position) {
    SmallVector<int64_t> starts(rank);
    for (int64_t dim = rank - 1; dim >= 0; --dim) {
      starts[dim] = position % window[dim].size;
      position /= window[dim].size;
    }
    return starts;
  };
  auto look = [&](Value value, int64_t position) {
    SmallVector<int64_t> starts = startsOf(position), limits;
    for (int64_t dim = 0; dim < rank; ++dim)
      limits.push_back(starts[dim] + spreadKnown(places[dim], strides[dim]));
    return slice(e, value, starts, limits, strides);
  };
  // The element that each window selects, and its position; -1 before there is any.
  Value best = look(padded, 0), at;
  for (int64_t position = 0; position < count; ++position) {
    Value value = look(padded, position);
    Value isInside = e.compare(CompareDirection::Eq, look(inside, position), e.integer(1, number));
    Value here = e.integer(position, number);
    if (position == 0) {
      at = e.select(isInside, here, e.integer(-1, number));
      continue;
    }
    auto selected = applyBody(e, op.getSelect(), {best, value});
    if (!selected)
      return Result::refuse("its body is not elementwise");
    // The old one stays where the body prefers it, and there is one.
    Value isOld =
        e.make<AndOp>(selected->front(), e.compare(CompareDirection::Ge, at, e.integer(0, number)));
    Value isNew = e.make<AndOp>(isInside, e.make<LogicalNotOp>(isOld));
    best = e.select(isNew, value, best);
    at = e.select(isNew, here, at);
  }
  Value result = broadcastTo(e, op.getInitValue(), {}, typeOf(padded).getShape());
  SmallVector<int64_t> interior = llvm::map_to_vector(strides, [](int64_t s) { return s - 1; });
  for (int64_t position = 0; position < count; ++position) {
    SmallVector<int64_t> before = startsOf(position), after;
    for (int64_t dim = 0; dim < rank; ++dim)
      after.push_back(typeOf(padded).getDimSize(dim) - before[dim] -
                      spreadKnown(places[dim], strides[dim]));
    Value isHere =
        e.convert(e.compare(CompareDirection::Eq, at, e.integer(position, number)), number);
    Value isTarget = padAndCut(e, isHere, e.integer(0, number), before, after, interior);
    Value value = padAndCut(e, source, op.getInitValue(), before, after, interior);
    auto combined = applyBody(e, op.getScatter(), {result, value});
    if (!combined)
      return Result::refuse("its body is not elementwise");
    result = e.select(e.compare(CompareDirection::Eq, isTarget, e.integer(1, number)),
                      combined->front(), result);
  }
  SmallVector<int64_t> starts = low, ones(rank, 1), limits;
  for (auto [start, size] : llvm::zip_equal(starts, typeOf(operand).getShape()))
    limits.push_back(start + size);
  return Result(slice(e, result, starts, limits, ones));
}

static Result convertSelectAndScatter(shlo::SelectAndScatterOp op, ExpressionBuilder &e) {
  SmallVector<shlo::WindowDim> window = shlo::getWindow(op);
  for (const shlo::WindowDim &dim : window)
    if (dim.low < 0 || dim.high < 0)
      return Result::refuse("it has negative padding");
  std::optional<ReduceKind> kind = matchSelect(op.getSelect());
  if (!kind || matchKind(op.getScatter()) != ReduceKind::Sum || !isFloat(op.getOperand()))
    return foldSelectAndScatter(op, e, window);
  auto list = [&](auto member) {
    return e.getBuilder().getDenseI64ArrayAttr(
        llvm::map_to_vector(window, [&](const shlo::WindowDim &dim) { return dim.*member; }));
  };
  Value result = e.make<SelectAndScatterOp>(
      op.getResult().getType(), *kind, op.getOperand(), op.getSource(),
      list(&shlo::WindowDim::size), list(&shlo::WindowDim::stride), list(&shlo::WindowDim::low),
      list(&shlo::WindowDim::high), DenseI64ArrayAttr());
  return isNeutral(e.getBuilder(), ReduceKind::Sum, op.getInitValue())
             ? result
             : e.add(result, op.getInitValue());
}

Replacement convertReductions(Operation *op, ExpressionBuilder &e) {
  if (auto reduce = dyn_cast<shlo::ReduceOp>(op))
    return convertReduce(reduce, e);
  if (auto window = dyn_cast<shlo::ReduceWindowOp>(op))
    return convertReduceWindow(window, e);
  if (auto scatter = dyn_cast<shlo::SelectAndScatterOp>(op))
    return convertSelectAndScatter(scatter, e);
  return std::nullopt;
}

} // namespace xc::stablehlo_import
