//===- Iteration.cpp - Loops that importers make --------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The body is built before the loop, in a region of its own: only then is known which arrays are
// collected, and of which types. They are values of the loop, begin as zeros, and each iteration
// writes its part into them.
//
//===----------------------------------------------------------------------===//

#include "compiler/Input/ONNX/Iteration.h"

#include "compiler/Input/ONNX/GraphImport.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace xc::array;

namespace xc::onnx {

/// More iterations are a loop.
static constexpr int64_t kMostUnrolled = 8;

static Iterated unroll(NodeImport &n, int64_t count, ArrayRef<Value> states, StepFunction step) {
  Iterated result;
  result.states.assign(states.begin(), states.end());
  SmallVector<SmallVector<Value>> collected;
  for (int64_t i = 0; i < count && !n.hasFailed(); ++i) {
    Step next =
        step(n.constant(i, n.getBuilder().getI64Type(), ArrayRef<int64_t>()), result.states);
    assert(!next.goesOn && "what is written out runs to its end");
    result.states = next.states;
    collected.resize(next.collected.size());
    for (auto [parts, value] : llvm::zip_equal(collected, next.collected))
      parts.push_back(n.expandDims(value, {0}));
  }
  for (ArrayRef<Value> parts : collected)
    result.collected.push_back(n.concatenate(parts, 0));
  return result;
}

/// \p value as \p type, which may say more or less of its shape.
static Value castTo(NodeImport &n, Value value, Type type) {
  if (!value || value.getType() == type)
    return value;
  if (n.elementOf(value) != getElementTypeOrSelf(type) ||
      !areCompatibleShapes(value.getType(), type)) {
    std::string text;
    llvm::raw_string_ostream(text) << "a value of the loop begins as " << type << " and becomes "
                                   << value.getType() << "; it has to keep its type and shape";
    n.error(text);
    return {};
  }
  return tensor::CastOp::create(n.getBuilder(), n.getLoc(), type, value);
}

namespace {
/// The body, in a region that belongs to no op yet, and the types of what it collects.
struct Body {
  Region region;
  SmallVector<Value> yielded;
  SmallVector<Value> parts;
  Value goesOn;
};
} // namespace

static void buildBody(NodeImport &n, ArrayRef<Value> states, StepFunction step, Body &body) {
  OpBuilder &builder = n.getBuilder();
  OpBuilder::InsertionGuard guard(builder);
  Block *block = builder.createBlock(&body.region);
  auto scalar = [&](Type element) { return RankedTensorType::get({}, element); };
  Value index = block->addArgument(scalar(builder.getI64Type()), n.getLoc());
  block->addArgument(scalar(builder.getI1Type()), n.getLoc());
  SmallVector<Value> arguments;
  for (Value state : states)
    arguments.push_back(block->addArgument(state.getType(), n.getLoc()));
  Step next = step(index, arguments);
  body.goesOn = next.goesOn ? next.goesOn : n.scalar(1, builder.getI1Type());
  body.parts = next.collected;
  body.yielded.push_back(n.add(index, n.scalar(1, builder.getI64Type())));
  body.yielded.push_back(body.goesOn);
  if (next.states.size() != states.size()) {
    n.error("expected the body to give as many values as it takes");
    return;
  }
  for (auto [state, value] : llvm::zip_equal(states, next.states))
    body.yielded.push_back(castTo(n, value, state.getType()));
}

/// The sizes of what the body makes, where they are known outside of it: each iteration then makes
/// as many elements.
static std::optional<Numbers> findSizes(NodeImport &n, Value part, Region &body) {
  Numbers sizes;
  for (int64_t dim = 0; dim < n.rankOf(part); ++dim) {
    if (ShapedType::isDynamic(n.dimOf(part, dim))) {
      DimSource source = traceSize(part, dim);
      if (isWithin(source.size ? source.size : source.value, body))
        return std::nullopt;
    }
    sizes.push_back(n.size(part, dim));
  }
  return sizes;
}

/// Adds the arrays that are collected, as values of the loop; returns their zeros.
static SmallVector<Value> addCollected(NodeImport &n, OpFoldResult count, Body &body) {
  SmallVector<Value> inits;
  OpBuilder &builder = n.getBuilder();
  Block *block = &body.region.front();
  for (Value part : body.parts) {
    std::optional<Numbers> partSizes = findSizes(n, part, body.region);
    if (!partSizes) {
      n.error("what a loop collects has to be of sizes that are known before it");
      return {};
    }
    Numbers sizes{count};
    llvm::append_range(sizes, *partSizes);
    Value init = n.broadcast(n.scalar(0, part), sizes);
    if (!init)
      return {};
    inits.push_back(init);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(block);
    Value array = block->addArgument(init.getType(), n.getLoc());
    SmallVector<Value> starts(n.rankOf(init), n.scalar(0, builder.getI64Type()));
    starts[0] = block->getArgument(0);
    body.yielded.push_back(
        n.make<DynamicUpdateSliceOp>(array, n.expandDims(part, {0}), ValueRange(starts)));
  }
  return inits;
}

/// Yields whether there is another iteration: the flag, and the index below the count.
static void buildCondition(NodeImport &n, Value limit, TypeRange types, Region &region) {
  OpBuilder &builder = n.getBuilder();
  OpBuilder::InsertionGuard guard(builder);
  Block *block = builder.createBlock(&region);
  for (Type type : types)
    block->addArgument(type, n.getLoc());
  Value goesOn = block->getArgument(1);
  if (limit)
    goesOn = n.make<AndOp>(goesOn, n.compare(CompareDirection::Lt, block->getArgument(0), limit));
  YieldOp::create(builder, n.getLoc(), ValueRange(goesOn));
}

Iterated iterate(NodeImport &n, const Iterations &iterations, ArrayRef<Value> states,
                 StepFunction step) {
  if (n.hasFailed() || !llvm::all_of(states, [](Value state) { return bool(state); }))
    return {};
  const auto &[count, startsAtAll, mayEndEarly] = iterations;
  std::optional<int64_t> known = count ? getConstantIntValue(*count) : std::nullopt;
  bool runsToEnd = !startsAtAll && !mayEndEarly;
  if (known && *known > 0 && *known <= kMostUnrolled && runsToEnd)
    return unroll(n, *known, states, step);
  OpBuilder &builder = n.getBuilder();
  Type word = builder.getI64Type(), flag = builder.getI1Type();
  Value limit = count ? n.scalarOf(*count, word) : Value();
  SmallVector<Value> inits{n.scalar(0, word), startsAtAll ? startsAtAll : n.scalar(1, flag)};
  llvm::append_range(inits, states);
  auto body = std::make_unique<Region>();
  Body made;
  buildBody(n, states, step, made);
  if (!n.hasFailed() && !made.parts.empty() && !count)
    n.error("a loop that ends as data says collects arrays whose size is not known");
  if (!n.hasFailed() && !made.parts.empty())
    llvm::append_range(inits, addCollected(n, *count, made));
  bool isWhole = !n.hasFailed() &&
                 llvm::all_of(made.yielded, [](Value value) { return bool(value); }) &&
                 llvm::all_of(inits, [](Value value) { return bool(value); });
  if (!isWhole) {
    // The region goes with `made`; nothing may be remembered of its values.
    n.forgetSizes(made.region);
    return {};
  }
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(&made.region.front());
    YieldOp::create(builder, n.getLoc(), made.yielded);
  }
  OperationState state(n.getLoc(), WhileOp::getOperationName());
  SmallVector<Type> types(TypeRange{ValueRange(inits)});
  state.addOperands(inits);
  state.addTypes(types);
  auto condition = std::make_unique<Region>();
  buildCondition(n, limit, types, *condition);
  body->takeBody(made.region);
  state.addRegion(std::move(condition));
  state.addRegion(std::move(body));
  Operation *loop = builder.create(state);
  Iterated result;
  ValueRange results = loop->getResults().drop_front(2);
  result.states.assign(results.begin(), results.begin() + states.size());
  result.collected.assign(results.begin() + states.size(), results.end());
  return result;
}

} // namespace xc::onnx
