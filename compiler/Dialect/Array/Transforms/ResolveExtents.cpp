//===- ResolveExtents.cpp - Bounded dynamic dims as arrays and extents ----===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops are visited in program order, and the rule of each builds it on arrays and extents
// (ExtentRules.h); the old ops are erased in the end. Here are the pass, control flow, and where
// kernels can save work. Values of an if or a while that have bounded dynamic dims become arrays of
// the bounds' sizes; their extents are further values, behind all others.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/Transforms/ExtentRules.h"
#include "compiler/Dialect/Array/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace xc::array {

#define GEN_PASS_DEF_RESOLVEEXTENTS
#include "compiler/Dialect/Array/Transforms/Passes.h.inc"

namespace {

class ExtentResolver {
public:
  explicit ExtentResolver(func::FuncOp function)
      : function(function), bounded(function.getContext()), builder(bounded.builder) {}

  LogicalResult run();

private:
  LogicalResult resolve(Block &block);
  LogicalResult resolve(Operation *op);
  LogicalResult resolveWhile(WhileOp op);
  LogicalResult resolveIf(IfOp op);
  FailureOr<SmallVector<Value>> resolveYield(Operation *op, Block &block,
                                             ArrayRef<Extents> expected, TypeRange types);
  /// Makes `rebuilt` stand for `op`: arrays first, then the extents of those that have any.
  void takeResults(Operation *op, Operation *rebuilt, ArrayRef<Extents> extents);
  /// Says of each of `extents` that it is not above the size of its dim of `array`.
  void setLimits(Value array, const Extents &extents);
  void markWork();
  /// A loop that carries extents, which are its last values.
  struct Loop {
    WhileOp op;
    SmallVector<Value> extents;
  };
  /// Lets `loop` carry one of those extents that are always equal.
  void mergeExtents(const Loop &loop);

  func::FuncOp function;
  BoundedValues bounded;
  IRRewriter &builder;
  SmallVector<Loop> loops;
};

} // namespace

//===----------------------------------------------------------------------===//
// Ops in program order
//===----------------------------------------------------------------------===//

LogicalResult ExtentResolver::resolve(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block))
    if (failed(resolve(&op)))
      return failure();
  return success();
}

LogicalResult ExtentResolver::resolve(Operation *op) {
  if (auto loop = dyn_cast<WhileOp>(op))
    return resolveWhile(loop);
  if (auto branch = dyn_cast<IfOp>(op))
    return resolveIf(branch);
  // What a region yields is seen to by the rule of the op that has it.
  if (isa<YieldOp>(op))
    return success();
  bool startsHere = isa<SetExtentOp, ExtentOp, PadToBoundOp, AppendOp>(op);
  if (startsHere || bounded.hasExtents(op)) {
    builder.setInsertionPoint(op);
    return applyExtentRule(bounded, op);
  }
  // Regions of other ops, the bodies of linalg ops, may use what is outside of them.
  WalkResult result = op->walk([&](Operation *nested) {
    bool isFine = nested == op || !bounded.hasExtents(nested);
    return isFine || failed(bounded.refuse(nested)) ? WalkResult::advance()
                                                    : WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

static bool hasAny(const Extents &extents) {
  return llvm::any_of(extents, [](Value extent) { return static_cast<bool>(extent); });
}

/// All that is not null, one after the other.
static SmallVector<Value> flatten(ArrayRef<Extents> extents) {
  SmallVector<Value> flat;
  for (const Extents &own : extents)
    llvm::copy_if(own, std::back_inserter(flat), [](Value extent) { return bool(extent); });
  return flat;
}

/// `like`, with the values of `flat` in the places that are not null.
static SmallVector<Extents> unflatten(ArrayRef<Extents> like, ValueRange flat) {
  SmallVector<Extents> result(like);
  for (Extents &own : result)
    for (Value &extent : own)
      if (extent) {
        extent = flat.front();
        flat = flat.drop_front();
      }
  return result;
}

/// What `block` yields: arrays of `types`, with extents where `expected` has some, and these.
FailureOr<SmallVector<Value>> ExtentResolver::resolveYield(Operation *op, Block &block,
                                                           ArrayRef<Extents> expected,
                                                           TypeRange types) {
  auto yield = cast<YieldOp>(block.getTerminator());
  SmallVector<Value> arrays = bounded.arraysOf(yield.getValues());
  SmallVector<Extents> extents;
  builder.setInsertionPoint(yield);
  for (auto [number, value] : llvm::enumerate(yield.getValues())) {
    extents.push_back(bounded.extentsOf(value));
    for (auto [dim, own] : llvm::enumerate(extents.back())) {
      if (static_cast<bool>(own) == static_cast<bool>(expected[number][dim]))
        continue;
      InFlightDiagnostic diagnostic = op->emitOpError("dim ")
                                      << dim << " of value #" << number
                                      << " is a bounded dynamic dim in one place and has a size on "
                                         "the host in another; array.set_extent makes it one";
      diagnostic.attachNote(yield.getLoc()) << "yielded here";
      return failure();
    }
    if (!hasAny(extents.back()))
      continue;
    Type type = types[number];
    if (!areCompatibleTypes(arrays[number].getType(), type)) {
      InFlightDiagnostic diagnostic = op->emitOpError("expected equal bounds of value #")
                                      << number << ", got arrays of " << type << " and "
                                      << arrays[number].getType()
                                      << "; array.append keeps the bound";
      diagnostic.attachNote(yield.getLoc()) << "yielded here";
      return failure();
    }
    if (arrays[number].getType() != type)
      arrays[number] = tensor::CastOp::create(builder, yield.getLoc(), type, arrays[number]);
  }
  llvm::append_range(arrays, flatten(extents));
  return arrays;
}

void ExtentResolver::takeResults(Operation *op, Operation *rebuilt, ArrayRef<Extents> extents) {
  size_t count = op->getNumResults();
  ResultRange results = rebuilt->getResults();
  for (auto [old, array, known] : llvm::zip_equal(op->getResults(), results.take_front(count),
                                                  unflatten(extents, results.drop_front(count)))) {
    if (hasAny(known)) {
      bounded.setArray(old, array, known);
      setLimits(array, known);
    } else {
      old.replaceAllUsesWith(array);
    }
  }
  bounded.eraseLater(op);
}

void ExtentResolver::setLimits(Value array, const Extents &extents) {
  for (auto [dim, extent] : llvm::enumerate(extents))
    if (extent)
      bounded.setLimit(extent, array, dim);
}

/// The last `count` of `values`, where extents are.
static SmallVector<Value> getLast(ValueRange values, size_t count) {
  return SmallVector<Value>(values.drop_front(values.size() - count));
}

/// Ends `block` with a yield of `values`.
static void replaceYield(Block &block, ValueRange values) {
  cast<YieldOp>(block.getTerminator()).getValuesMutable().assign(values);
}

LogicalResult ExtentResolver::resolveWhile(WhileOp op) {
  SmallVector<Extents> carried =
      llvm::map_to_vector(op.getInits(), [&](Value init) { return bounded.extentsOf(init); });
  if (!llvm::any_of(carried, hasAny)) {
    // Something in the regions may still start or use extents.
    SmallVector<Type> types(op.getResultTypes());
    if (failed(resolve(op.getCondition().front())) || failed(resolve(op.getBody().front())))
      return failure();
    FailureOr<SmallVector<Value>> yielded = resolveYield(op, op.getBody().front(), carried, types);
    if (succeeded(yielded))
      replaceYield(op.getBody().front(), *yielded);
    return success(succeeded(yielded));
  }
  builder.setInsertionPoint(op);
  SmallVector<Value> inits = bounded.arraysOf(op.getInits()), extents = flatten(carried);
  SmallVector<Type> types;
  for (auto [init, type, own] : llvm::zip_equal(inits, op.getResultTypes(), carried))
    types.push_back(hasAny(own) ? init.getType() : type);
  llvm::append_range(inits, extents);
  SmallVector<Type> resultTypes(types);
  llvm::append_range(resultTypes, ValueRange(extents).getTypes());
  auto rebuilt = WhileOp::create(builder, op.getLoc(), resultTypes, inits);
  for (auto [from, to] : llvm::zip_equal(op->getRegions(), rebuilt->getRegions())) {
    to.takeBody(from);
    Block &block = to.front();
    SmallVector<BlockArgument> arguments(block.getArguments());
    SmallVector<Value> own;
    for (Value extent : extents)
      own.push_back(block.addArgument(extent.getType(), extent.getLoc()));
    for (auto [argument, type, known] :
         llvm::zip_equal(arguments, types, unflatten(carried, own))) {
      if (!hasAny(known))
        continue;
      argument.setType(type);
      bounded.setArray(argument, argument, known);
      setLimits(argument, known);
    }
  }
  // The body first, whose turns say what stays equal.
  Block &condition = rebuilt.getCondition().front(), &body = rebuilt.getBody().front();
  ExtentEquality::Carried known{getLast(body.getArguments(), extents.size()), extents, {}};
  size_t first = bounded.equality.assume(known.arguments, extents);
  if (failed(resolve(body)))
    return failure();
  FailureOr<SmallVector<Value>> yielded = resolveYield(rebuilt, body, carried, types);
  if (failed(yielded))
    return failure();
  replaceYield(body, *yielded);
  known.yielded = getLast(*yielded, extents.size());
  if (failed(bounded.equality.settle(known, first)))
    return failure();
  bounded.equality.follow(getLast(condition.getArguments(), extents.size()), known.arguments);
  if (failed(resolve(condition)))
    return failure();
  takeResults(op, rebuilt, carried);
  bounded.equality.follow(getLast(rebuilt.getResults(), extents.size()), known.arguments);
  loops.push_back({rebuilt, known.arguments});
  return success();
}

LogicalResult ExtentResolver::resolveIf(IfOp op) {
  Block &then = op.getThenRegion().front(), &otherwise = op.getElseRegion().front();
  if (failed(resolve(then)) || failed(resolve(otherwise)))
    return failure();
  ValueRange values = cast<YieldOp>(then.getTerminator()).getValues();
  SmallVector<Extents> extents =
      llvm::map_to_vector(values, [&](Value value) { return bounded.extentsOf(value); });
  SmallVector<Type> types;
  for (auto [value, type, own] : llvm::zip_equal(values, op.getResultTypes(), extents))
    types.push_back(hasAny(own) ? bounded.arrayOf(value).getType() : type);
  FailureOr<SmallVector<Value>> first = resolveYield(op, then, extents, types);
  FailureOr<SmallVector<Value>> second = resolveYield(op, otherwise, extents, types);
  if (failed(first) || failed(second))
    return failure();
  if (first->size() == values.size())
    return success();
  replaceYield(then, *first);
  replaceYield(otherwise, *second);
  builder.setInsertionPoint(op);
  size_t count = values.size();
  llvm::append_range(types, ValueRange(*first).drop_front(count).getTypes());
  auto rebuilt = IfOp::create(builder, op.getLoc(), types, op.getCondition());
  for (auto [from, to] : llvm::zip_equal(op->getRegions(), rebuilt->getRegions()))
    to.takeBody(from);
  takeResults(op, rebuilt, extents);
  bounded.equality.join(ValueRange(rebuilt.getResults()).drop_front(count),
                        ValueRange(*first).drop_front(count),
                        ValueRange(*second).drop_front(count));
  return success();
}

void ExtentResolver::mergeExtents(const Loop &loop) {
  size_t count = loop.extents.size(), arrays = loop.op->getNumResults() - count;
  llvm::BitVector dropped(arrays + count);
  for (auto [number, extent] : llvm::enumerate(loop.extents)) {
    const auto *leader = llvm::find(loop.extents, bounded.equality.getLeader(extent));
    size_t place = arrays + number, other = arrays + (leader - loop.extents.begin());
    if (place == other)
      continue;
    dropped.set(place);
    WhileOp op = loop.op;
    for (Region *region : {&op.getCondition(), &op.getBody()})
      region->getArgument(place).replaceAllUsesWith(region->getArgument(other));
    op.getResult(place).replaceAllUsesWith(op.getResult(other));
  }
  if (dropped.none())
    return;
  WhileOp op = loop.op;
  auto keep = [&](ValueRange values) {
    SmallVector<Value> kept;
    for (auto [number, value] : llvm::enumerate(values))
      if (!dropped.test(number))
        kept.push_back(value);
    return kept;
  };
  replaceYield(op.getBody().front(), keep(op.getBody().front().getTerminator()->getOperands()));
  for (Region *region : {&op.getCondition(), &op.getBody()})
    region->front().eraseArguments(dropped);
  SmallVector<Value> inits = keep(op.getInits()), results = keep(op.getResults());
  builder.setInsertionPoint(op);
  auto merged = WhileOp::create(builder, op.getLoc(), ValueRange(inits).getTypes(), inits);
  for (auto [from, to] : llvm::zip_equal(op->getRegions(), merged->getRegions()))
    to.takeBody(from);
  for (auto [old, now] : llvm::zip_equal(results, merged.getResults()))
    old.replaceAllUsesWith(now);
  op->erase();
}

//===----------------------------------------------------------------------===//
// What kernels need not do
//===----------------------------------------------------------------------===//

/// Ops of which a kernel computes each element; views and what is written in place are not.
static bool computesElements(Operation *op) {
  return op &&
         (isa<ArrayElementwiseOpInterface, ReduceOp, MatMulOp, DotGeneralOp, ConvOp, ReduceWindowOp,
              TakeOp, TakeAlongAxisOp, GatherOp, TransposeOp, ArgMaxOp, ArgMinOp>(op));
}

/// Marks the ends of chains of elementwise ops, since what is in between is fused into them. (What
/// reductions read has been marked by their rules.)
void ExtentResolver::markWork() {
  for (const BoundedValues::Bounded &value : bounded.getComputed()) {
    Operation *producer = value.array.getDefiningOp();
    if (!computesElements(producer) || value.array.use_empty())
      continue;
    bool hasOneUser = llvm::all_equal(value.array.getUsers());
    Operation *user = *value.array.user_begin();
    if (hasOneUser && isa<ArrayElementwiseOpInterface, WithinOp>(user))
      continue;
    auto uses = llvm::map_to_vector(value.array.getUses(), [](OpOperand &use) { return &use; });
    builder.setInsertionPointAfter(producer);
    Value marked = bounded.mark(value.array, value.extents);
    for (OpOperand *use : uses)
      use->set(marked);
  }
}

LogicalResult ExtentResolver::run() {
  for (Block &block : function.getBody())
    if (failed(resolve(block)))
      return failure();
  bounded.eraseReplaced();
  markWork();
  // Only now, since what is known of values is kept by them.
  for (const Loop &loop : loops)
    mergeExtents(loop);
  return success();
}

namespace {
struct ResolveExtents : impl::ResolveExtentsBase<ResolveExtents> {
  void runOnOperation() override {
    if (getOperation().isDeclaration())
      return;
    if (failed(ExtentResolver(getOperation()).run()))
      return signalPassFailure();
  }
};
} // namespace

} // namespace xc::array
