//===- Control.cpp - ONNX's choices and loops -----------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is decided before anything runs is written out: the branch of an If whose condition is
// known, the iterations of a short Loop whose number is. There values may be sequences, and change
// their shapes. Everything else becomes array.if and array.while.
//
//===----------------------------------------------------------------------===//

#include "compiler/Input/ONNX/GraphImport.h"
#include "compiler/Input/ONNX/Iteration.h"
#include "compiler/Input/ONNX/Sequences.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace xc::array;

namespace xc::onnx {

static GraphValue asNumber(NodeImport &n, int64_t number, Type element) {
  GraphValue value;
  value.known = NumberArray{{n.index(number)}, {}, element};
  return value;
}

static Results bodyFailed(NodeImport &n, StringRef which) {
  return n.error("a node of its " + which + " is not supported, or does not fit");
}

//===----------------------------------------------------------------------===//
// If
//===----------------------------------------------------------------------===//

/// The type that describes both; null where there is none.
static RankedTensorType mergeTypes(RankedTensorType a, RankedTensorType b) {
  if (a.getElementType() != b.getElementType() || a.getRank() != b.getRank())
    return {};
  SmallVector<int64_t> shape;
  for (auto [x, y] : llvm::zip_equal(a.getShape(), b.getShape())) {
    if (!areCompatibleDims(x, y))
      return {};
    shape.push_back(x == y ? x : ShapedType::kDynamic);
  }
  return RankedTensorType::get(shape, a.getElementType());
}

/// One branch, in a region of its own; failure after an error.
static FailureOr<Results> buildBranch(NodeImport &n, const Graph &graph, Region &region) {
  OpBuilder &builder = n.getBuilder();
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&region);
  FailureOr<std::vector<GraphValue>> outputs = n.graph.importSubgraph(graph, {});
  if (failed(outputs))
    return failure();
  Results values;
  for (GraphValue &output : *outputs) {
    if (output.isSequence) {
      n.error("a branch that gives a sequence needs a condition that is known");
      return failure();
    }
    values.push_back(n.graph.materialize(output, n.getLoc()));
  }
  return values;
}

static void endBranch(NodeImport &n, Region &region, ArrayRef<Value> values, TypeRange types) {
  OpBuilder &builder = n.getBuilder();
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(&region.front());
  SmallVector<Value> yielded;
  for (auto [value, type] : llvm::zip_equal(values, types))
    yielded.push_back(value.getType() == type
                          ? value
                          : Value(tensor::CastOp::create(builder, n.getLoc(), type, value)));
  YieldOp::create(builder, n.getLoc(), yielded);
}

/// What `value`, of one element, is a view of.
static Value skipViews(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<ReshapeOp, ExpandDimsOp, SqueezeOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

/// The size that `condition` compares with 1; null where it is no such comparison.
static Value getSizeThatIsOne(Value condition) {
  auto compare = skipViews(condition).getDefiningOp<CompareOp>();
  if (!compare || compare.getDirection() != CompareDirection::Eq)
    return {};
  for (bool isSwapped : {false, true}) {
    Value size = isSwapped ? compare.getRhs() : compare.getLhs();
    Value one = isSwapped ? compare.getLhs() : compare.getRhs();
    auto index = skipViews(size).getDefiningOp<FromIndexOp>();
    DenseElementsAttr elements;
    if (index && matchPattern(one, m_Constant(&elements)) && elements.isSplat() &&
        elements.getSplatValue<APInt>().isOne())
      return index->getOperand(0);
  }
  return {};
}

/// Whether the ops of `region` squeeze a dim of that size, which requires it to be 1.
static bool squeezesDim(NodeImport &n, Region &region, Value size) {
  return llvm::any_of(region.getOps<SqueezeOp>(), [&](SqueezeOp squeeze) {
    return llvm::any_of(squeeze.getAxes(), [&](int64_t axis) {
      return n.size(squeeze.getOperand(), axis) == OpFoldResult(size);
    });
  });
}

/// Moves a branch to where the If is.
static void inlineBranch(NodeImport &n, Region &region) {
  OpBuilder &builder = n.getBuilder();
  builder.getInsertionBlock()->getOperations().splice(builder.getInsertionPoint(),
                                                      region.front().getOperations());
}

static Results importIf(NodeImport &n) {
  Value condition = n.input(0);
  const Graph *thenGraph = n.subgraph("then_branch"), *elseGraph = n.subgraph("else_branch");
  if (!condition || !thenGraph || !elseGraph)
    return {};
  if (std::optional<SmallVector<int64_t>> known = n.integers(0); known && known->size() == 1) {
    FailureOr<std::vector<GraphValue>> outputs =
        n.graph.importSubgraph(known->front() ? *thenGraph : *elseGraph, {});
    if (failed(outputs))
      return bodyFailed(n, "branch");
    for (auto [index, output] : llvm::enumerate(*outputs))
      n.setValue(index, std::move(output));
    return {};
  }
  auto thenRegion = std::make_unique<Region>(), elseRegion = std::make_unique<Region>();
  FailureOr<Results> first = buildBranch(n, *thenGraph, *thenRegion),
                     second = buildBranch(n, *elseGraph, *elseRegion);
  SmallVector<Type> types;
  if (succeeded(first) && succeeded(second) && first->size() == second->size())
    for (auto [a, b] : llvm::zip_equal(*first, *second))
      if (RankedTensorType type = mergeTypes(n.typeOf(a), n.typeOf(b)))
        types.push_back(type);
  if (succeeded(first) && types.size() != first->size()) {
    // torch.squeeze is exported so: where a size is 1 the dim goes, else it stays. The rest of the
    // model is written for one of the ranks, and the squeeze requires the size.
    Value size = getSizeThatIsOne(condition);
    if (size && squeezesDim(n, *thenRegion, size)) {
      n.forgetSizes(*elseRegion);
      inlineBranch(n, *thenRegion);
      return *first;
    }
  }
  if (failed(first) || failed(second) || types.size() != first->size() ||
      first->size() != second->size()) {
    n.forgetSizes(*thenRegion);
    n.forgetSizes(*elseRegion);
    if (failed(first) || failed(second))
      return bodyFailed(n, "branches");
    return n.error("its branches give values of different types or shapes");
  }
  endBranch(n, *thenRegion, *first, types);
  endBranch(n, *elseRegion, *second, types);
  OperationState state(n.getLoc(), IfOp::getOperationName());
  state.addOperands(n.reshape(condition, ArrayRef<int64_t>()));
  state.addTypes(types);
  state.addRegion(std::move(thenRegion));
  state.addRegion(std::move(elseRegion));
  if (n.hasFailed())
    return {};
  return Results(n.getBuilder().create(state)->getResults());
}

//===----------------------------------------------------------------------===//
// Loop
//===----------------------------------------------------------------------===//

/// Whether the body's condition is always true: the one that it is given, or a constant.
static bool goesOnAlways(const Graph &body) {
  if (body.outputs.empty() || body.inputs.size() < 2)
    return false;
  std::string name = body.outputs[0].name;
  // A chain of identities.
  for (size_t steps = 0; steps <= body.nodes.size(); ++steps) {
    if (name == body.inputs[1].name)
      return true;
    for (const Tensor &tensor : body.initializers)
      if (tensor.name == name)
        return !tensor.bytes.empty() && tensor.bytes[0] != 0;
    const Node *producer = nullptr;
    for (const Node &node : body.nodes)
      if (llvm::is_contained(node.outputs, name))
        producer = &node;
    if (!producer)
      return false;
    if (producer->op == "Constant") {
      const Attribute *value = producer->find("value");
      return value && value->tensor && !value->tensor->bytes.empty() &&
             value->tensor->bytes[0] != 0;
    }
    if ((producer->op != "Identity" && producer->op != "Cast") || producer->inputs.empty())
      return false;
    name = producer->inputs[0];
  }
  return false;
}

/// Loops of at most this many iterations are written out where that is possible.
static constexpr int64_t kMostWrittenOut = 64;

static Results writeOutLoop(NodeImport &n, const Graph &body, int64_t count) {
  size_t numStates = n.getNumInputs() - 2;
  std::vector<GraphValue> states;
  for (size_t i = 0; i < numStates; ++i) {
    GraphValue *value = n.value(2 + i);
    if (!value)
      return n.error("expected a value for each state of the loop");
    states.push_back(*value);
  }
  std::vector<SmallVector<Value>> collected(body.outputs.size() - 1 - numStates);
  for (int64_t i = 0; i < count; ++i) {
    std::vector<GraphValue> inputs{asNumber(n, i, n.getBuilder().getI64Type()),
                                   asNumber(n, 1, n.getBuilder().getI1Type())};
    inputs.insert(inputs.end(), states.begin(), states.end());
    FailureOr<std::vector<GraphValue>> outputs = n.graph.importSubgraph(body, inputs);
    if (failed(outputs))
      return bodyFailed(n, "body");
    for (size_t s = 0; s < numStates; ++s)
      states[s] = (*outputs)[1 + s];
    for (size_t s = 0; s < collected.size(); ++s) {
      GraphValue &part = (*outputs)[1 + numStates + s];
      if (part.isSequence)
        return n.error("a loop cannot collect sequences");
      collected[s].push_back(n.expandDims(n.graph.materialize(part, n.getLoc()), {0}));
    }
  }
  for (size_t s = 0; s < numStates; ++s)
    n.setValue(s, states[s]);
  for (auto [index, parts] : llvm::enumerate(collected))
    n.setValue(numStates + index, asValue(n.concatenate(parts, 0)));
  return {};
}

namespace {

/// How often a loop runs: `count` times where that is known when inputs are bound, else at most
/// `limit` times, which is data; neither where the node does not say. It does not run at all unless
/// `startsAtAll`, which is null where that is no data.
struct LoopBounds {
  std::optional<OpFoldResult> count;
  Value limit, startsAtAll;
  bool startsAlways = true;
};

} // namespace

static LoopBounds readLoopBounds(NodeImport &n) {
  LoopBounds bounds;
  if (n.has(0)) {
    std::optional<Numbers> known = n.numbers(0);
    if (known && known->size() == 1)
      bounds.count = known->front();
    else
      bounds.limit =
          n.convert(n.reshape(n.input(0), ArrayRef<int64_t>()), n.getBuilder().getI64Type());
  }
  if (n.has(1)) {
    std::optional<SmallVector<int64_t>> known = n.integers(1);
    bounds.startsAlways = known && known->size() == 1 && known->front() != 0;
    if (!bounds.startsAlways)
      bounds.startsAtAll = n.reshape(n.input(1), ArrayRef<int64_t>());
  }
  return bounds;
}

/// Whether the sizes of what a loop collects can be known; else an error says why not.
static bool canCollect(NodeImport &n, const LoopBounds &bounds, bool isCounted) {
  if (isCounted && bounds.count && bounds.startsAlways)
    return true;
  if (!isCounted) {
    n.error("a loop that collects arrays and ends as data says gives arrays of sizes that nobody "
            "knows");
    return false;
  }
  n.needNumbers(0, "the number of iterations of a loop that collects arrays");
  if (n.has(1))
    n.needIntegers(1, "whether a loop that collects arrays begins");
  n.error("a loop that collects arrays has to begin");
  return false;
}

/// Iteration `index` of a loop of `body` whose states are `values`, up to `limit` where there is
/// one.
static Step importIteration(NodeImport &n, const Graph &body, Value limit, Value index,
                            ArrayRef<Value> values) {
  std::vector<GraphValue> inputs{asValue(index), asNumber(n, 1, n.getBuilder().getI1Type())};
  for (Value value : values)
    inputs.push_back(asValue(value));
  FailureOr<std::vector<GraphValue>> outputs = n.graph.importSubgraph(body, inputs);
  Step step;
  if (failed(outputs)) {
    bodyFailed(n, "body");
    return step;
  }
  for (auto [i, output] : llvm::enumerate(*outputs)) {
    if (output.isSequence) {
      n.error("a sequence in a loop needs a number of iterations that is known, at most " +
              Twine(kMostWrittenOut));
      return step;
    }
    Value value = n.graph.materialize(output, n.getLoc());
    if (i == 0)
      step.goesOn = n.reshape(value, ArrayRef<int64_t>());
    else
      (i <= values.size() ? step.states : step.collected).push_back(value);
  }
  if (limit)
    step.goesOn = n.make<AndOp>(
        step.goesOn, n.compare(CompareDirection::Lt,
                               n.add(index, n.scalar(1, n.getBuilder().getI64Type())), limit));
  return step;
}

static Results importLoop(NodeImport &n) {
  const Graph *body = n.subgraph("body");
  if (!body || n.getNumInputs() < 2)
    return n.error("expected a body, and two inputs at least");
  size_t numStates = n.getNumInputs() - 2;
  if (body->inputs.size() != numStates + 2 || body->outputs.size() < numStates + 1)
    return n.error("its body takes " + Twine(body->inputs.size()) + " values and gives " +
                   Twine(body->outputs.size()) + "; expected " + Twine(numStates + 2) +
                   " and at least " + Twine(numStates + 1));
  bool isCounted = goesOnAlways(*body);
  LoopBounds bounds = readLoopBounds(n);
  std::optional<int64_t> known = bounds.count ? getConstantIntValue(*bounds.count) : std::nullopt;
  if (isCounted && bounds.startsAlways && known && *known >= 1 && *known <= kMostWrittenOut)
    return writeOutLoop(n, *body, *known);
  if (!n.has(0) && isCounted && bounds.startsAlways)
    return n.error("the loop never ends");
  SmallVector<Value> states;
  for (size_t i = 0; i < numStates; ++i)
    states.push_back(n.input(2 + i));
  if (body->outputs.size() > numStates + 1 && !canCollect(n, bounds, isCounted))
    return {};
  Value limit = bounds.limit, startsAtAll = bounds.startsAtAll;
  if (limit) {
    // A number that is data: one more state that counts down.
    startsAtAll = n.make<AndOp>(startsAtAll ? startsAtAll : n.scalar(1, n.getBuilder().getI1Type()),
                                n.compare(CompareDirection::Gt, limit, n.scalar(0, limit)));
  }
  Iterated result = iterate(n, {bounds.count, startsAtAll, /*mayEndEarly=*/true}, states,
                            [&](Value index, ArrayRef<Value> values) -> Step {
                              return importIteration(n, *body, limit, index, values);
                            });
  Results results = result.states;
  llvm::append_range(results, result.collected);
  return results;
}

//===----------------------------------------------------------------------===//
// Scan
//===----------------------------------------------------------------------===//

static SmallVector<int64_t> listOr(NodeImport &n, StringRef name, size_t count) {
  SmallVector<int64_t> zeros(count, 0), list = n.integerList(name, zeros);
  if (list.size() != count)
    n.error("expected " + name + " to have a number for each of " + Twine(count));
  list.resize(count, 0);
  return list;
}

static Results importScan(NodeImport &n) {
  const Graph *body = n.subgraph("body");
  size_t numInputs = n.getNumInputs(), numScanned = n.integer("num_scan_inputs", 0);
  if (!body || numScanned < 1 || numScanned > numInputs || body->inputs.size() != numInputs)
    return n.error("expected a body for as many values as there are inputs, one of them scanned");
  size_t numStates = numInputs - numScanned;
  if (body->outputs.size() < numStates)
    return n.error("its body gives fewer values than there are states");
  size_t numCollected = body->outputs.size() - numStates;
  SmallVector<int64_t> axes = listOr(n, "scan_input_axes", numScanned),
                       directions = listOr(n, "scan_input_directions", numScanned),
                       outAxes = listOr(n, "scan_output_axes", numCollected),
                       outDirections = listOr(n, "scan_output_directions", numCollected);
  SmallVector<Value> states, scanned;
  for (size_t i = 0; i < numInputs; ++i)
    (i < numStates ? states : scanned).push_back(n.input(i));
  for (auto [axis, value] : llvm::zip_equal(axes, scanned))
    axis = n.normalizeAxis(axis, n.rankOf(value));
  if (n.hasFailed())
    return {};
  OpFoldResult count = n.size(scanned.front(), axes.front());
  Type word = n.getBuilder().getI64Type();
  Iterated result = iterate(n, {count}, states, [&](Value index, ArrayRef<Value> values) -> Step {
    std::vector<GraphValue> inputs;
    for (Value value : values)
      inputs.push_back(asValue(value));
    for (auto [axis, direction, value] : llvm::zip_equal(axes, directions, scanned)) {
      Value place = index;
      if (direction != 0)
        place = n.sub(n.sub(n.scalarOf(count, word), n.scalar(1, word)), index);
      SmallVector<Value> starts(n.rankOf(value), n.scalar(0, word));
      starts[axis] = place;
      Numbers box = n.sizesOf(value);
      box[axis] = n.index(1);
      inputs.push_back(asValue(n.squeeze(n.dynamicSlice(value, starts, box), {axis})));
    }
    Step step;
    if (n.hasFailed())
      return step;
    FailureOr<std::vector<GraphValue>> outputs = n.graph.importSubgraph(*body, inputs);
    if (failed(outputs)) {
      bodyFailed(n, "body");
      return step;
    }
    for (auto [i, output] : llvm::enumerate(*outputs))
      (i < numStates ? step.states : step.collected)
          .push_back(n.graph.materialize(output, n.getLoc()));
    return step;
  });
  Results results = result.states;
  for (auto [index, array] : llvm::enumerate(result.collected)) {
    Value value = array;
    if (outDirections[index] != 0)
      value = n.reverse(value, {0});
    int64_t rank = n.rankOf(value), axis = n.normalizeAxis(outAxes[index], rank);
    SmallVector<int64_t> permutation = llvm::to_vector(llvm::seq<int64_t>(1, rank));
    permutation.insert(permutation.begin() + axis, 0);
    results.push_back(n.transpose(value, permutation));
  }
  return results;
}

llvm::ArrayRef<OpEntry> getControlOps() {
  static constexpr OpEntry kOps[] = {
      {"If", 1, importIf},
      {"Loop", 1, importLoop},
      {"Scan", 9, importScan},
  };
  return kOps;
}

} // namespace xc::onnx
