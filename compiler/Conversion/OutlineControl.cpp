//===- OutlineControl.cpp - Regions of if and while as functions ----------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every later phase works on functions of one block, so each region becomes one. Innermost first:
// 1. Variables that a region assigns become values that it takes and yields, so that regions have
//    no effects; variables that it only reads are read before it.
// 2. Sizes and constants that a region uses from outside are cloned into it, so that what is left
//    to capture are tensors.
// 3. The regions become private functions, the op a plan.branch or plan.loop. An if that sizes
//    decide has a formula over them as its condition, and one that constants or the ranges of sizes
//    decide is no more than the ops of the region that they choose.
//
// Regions are borders between kernels. Where sizes decide, what would fuse with a region's ops is
// therefore moved into both: elementwise ops and changes of shape that only they use, and those
// that their results are used by.
//
// Refuses variables assigned by a condition, and calls that the inliner has left (functions that
// call themselves).
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/ArrayToLinalg.h"
#include "compiler/Conversion/Passes.h"
#include "compiler/Conversion/SizeConditions.h"
#include "compiler/Dialect/Array/IR/ArrayOps.h"
#include "compiler/Dialect/Plan/IR/PlanOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace xc {
#define GEN_PASS_DEF_OUTLINECONTROL
#include "compiler/Conversion/Passes.h.inc"

/// The variables that `region` assigns or, with `reads`, reads.
static llvm::MapVector<StringAttr, Type> findVariables(Region &region, bool reads) {
  llvm::MapVector<StringAttr, Type> found;
  for (Operation &op : region.front()) {
    if (auto assign = dyn_cast<array::VariableAssignOp>(op); assign && !reads)
      found[assign.getVariableAttr().getAttr()] = assign.getValue().getType();
    if (auto read = dyn_cast<array::VariableReadOp>(op); read && reads)
      found[read.getVariableAttr().getAttr()] = read.getType();
  }
  return found;
}

/// Replaces reads in `block` of the variables in `values` by the value that each has there,
/// starting with `values`, and takes out assignments; `values` holds the last ones in the end.
static void followVariables(Block &block, llvm::MapVector<StringAttr, Value> &values) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (auto read = dyn_cast<array::VariableReadOp>(op)) {
      auto known = values.find(read.getVariableAttr().getAttr());
      if (known == values.end())
        continue;
      read.replaceAllUsesWith(known->second);
      read.erase();
    } else if (auto assign = dyn_cast<array::VariableAssignOp>(op)) {
      values[assign.getVariableAttr().getAttr()] = assign.getValue();
      assign.erase();
    }
  }
}

static void appendToYield(Block &block, ValueRange values) {
  cast<array::YieldOp>(block.getTerminator()).getValuesMutable().append(values);
}

/// Whether an op that a region uses is cloned into it rather than captured: constants, tensors
/// without values, for which there is no buffer, and what computes sizes, also if not for all
/// operands (a quotient of sizes): it has been computed already.
static bool isClonedInto(Operation *op) {
  if (op->hasTrait<OpTrait::ConstantLike>() || isa<array::ParameterOp, tensor::EmptyOp>(op))
    return true;
  return op->getNumResults() == 1 && op->getResult(0).getType().isIndex() && isMemoryEffectFree(op);
}

/// Replaces values that `ops` use. Asks the ops for what they use, not the values for what uses
/// them: many regions may share a value.
static void replaceOperands(llvm::iterator_range<Block::iterator> ops, const IRMapping &values) {
  for (Operation &op : ops)
    op.walk([&](Operation *inner) {
      for (OpOperand &operand : inner->getOpOperands())
        if (Value value = values.lookupOrNull(operand.get()))
          operand.set(value);
    });
}

static void cloneSizesAndConstants(Region &region) {
  while (true) {
    llvm::SetVector<Value> used;
    getUsedValuesDefinedAbove(region, used);
    IRMapping clones;
    Block &block = region.front();
    auto first = block.begin();
    for (Value value : used) {
      Operation *definition = value.getDefiningOp();
      if (!definition || !isClonedInto(definition))
        continue;
      OpBuilder builder = OpBuilder::atBlockBegin(&block);
      clones.map(definition->getResults(), builder.clone(*definition)->getResults());
    }
    if (clones.getValueMap().empty())
      return;
    // What the clones themselves use is next.
    replaceOperands({first, block.end()}, clones);
  }
}

namespace {

struct OutlineControl final : impl::OutlineControlBase<OutlineControl> {
  void runOnOperation() override {
    for (auto func : getOperation().getOps<func::FuncOp>())
      names.insert(func.getName());
    for (auto func : llvm::to_vector(getOperation().getOps<func::FuncOp>())) {
      if (failed(outlineAll(func)))
        return signalPassFailure();
      WalkResult calls = func.walk([](func::CallOp call) {
        call.emitOpError("expected a call that can be inlined, got one of @")
            << call.getCallee() << ", which calls itself";
        return WalkResult::interrupt();
      });
      if (calls.wasInterrupted())
        return signalPassFailure();
    }
  }

private:
  /// Whether a function has a name that `outline` would give.
  bool isTaken(func::FuncOp func, unsigned number) const {
    std::string name = func.getName().str(), text = std::to_string(number);
    return names.contains(name + "_if" + text + "_then") ||
           names.contains(name + "_while" + text + "_body");
  }
  LogicalResult outlineAll(func::FuncOp func);
  /// `choice` is the condition as a formula over `dims`; null where data decides.
  void outlineIf(func::FuncOp func, array::IfOp op, StringRef name, plan::FormulaAttr choice,
                 plan::SymbolicDims &dims);
  LogicalResult outlineWhile(func::FuncOp func, array::WhileOp op, StringRef name);
  array::IfOp liftVariables(array::IfOp op);
  FailureOr<array::WhileOp> liftVariables(array::WhileOp op);
  /// Moves `region` into a function that takes the region's arguments and `captures` and returns
  /// values of `types`.
  FlatSymbolRefAttr makeFunction(func::FuncOp func, Region &region, const Twine &name,
                                 ValueRange captures, TypeRange types);

  llvm::StringSet<> names; // of functions that were there before
};

} // namespace

/// Reads of variables that the regions leave alone move before the op.
static void hoistReads(Operation *op) {
  OpBuilder builder(op);
  llvm::DenseMap<StringAttr, Value> before;
  for (Region &region : op->getRegions())
    for (auto read : llvm::make_early_inc_range(region.front().getOps<array::VariableReadOp>())) {
      Value &value = before[read.getVariableAttr().getAttr()];
      if (!value)
        value = array::VariableReadOp::create(builder, read.getLoc(), read.getType(),
                                              read.getVariableAttr());
      read.replaceAllUsesWith(value);
      read.erase();
    }
}

/// Puts `lifted`, whose last results are the variables that are assigned, in the place of `op`.
static void replaceByLifted(Operation *op, Operation *lifted,
                            const llvm::MapVector<StringAttr, Type> &assigned) {
  op->replaceAllUsesWith(lifted->getResults().take_front(op->getNumResults()));
  OpBuilder builder(op);
  for (auto [entry, value] :
       llvm::zip_equal(assigned, lifted->getResults().drop_front(op->getNumResults())))
    array::VariableAssignOp::create(builder, op->getLoc(), entry.first, value);
  op->erase();
}

array::IfOp OutlineControl::liftVariables(array::IfOp op) {
  llvm::MapVector<StringAttr, Type> assigned = findVariables(op.getThenRegion(), /*reads=*/false);
  for (auto [name, type] : findVariables(op.getElseRegion(), /*reads=*/false))
    assigned.insert({name, type});
  OpBuilder builder(op);
  SmallVector<Type> types(op.getResultTypes());
  llvm::MapVector<StringAttr, Value> before;
  for (auto [name, type] : assigned) {
    before[name] = array::VariableReadOp::create(builder, op.getLoc(), type, name);
    types.push_back(type);
  }
  auto lifted = array::IfOp::create(builder, op.getLoc(), types, op.getCondition());
  for (auto [from, to] : llvm::zip_equal(op->getRegions(), lifted->getRegions())) {
    to.takeBody(from);
    llvm::MapVector<StringAttr, Value> values = before;
    followVariables(to.front(), values);
    for (auto &[name, value] : values)
      appendToYield(to.front(), value);
  }
  replaceByLifted(op, lifted, assigned);
  hoistReads(lifted);
  return lifted;
}

FailureOr<array::WhileOp> OutlineControl::liftVariables(array::WhileOp op) {
  for (auto assign : op.getCondition().getOps<array::VariableAssignOp>())
    return assign.emitOpError(
               "expected a condition that assigns no variable, got an assignment of ")
           << assign.getVariableAttr();
  llvm::MapVector<StringAttr, Type> assigned = findVariables(op.getBody(), /*reads=*/false);
  OpBuilder builder(op);
  SmallVector<Value> inits(op.getInits());
  SmallVector<Type> types(op.getResultTypes());
  for (auto [name, type] : assigned) {
    inits.push_back(array::VariableReadOp::create(builder, op.getLoc(), type, name));
    types.push_back(type);
  }
  auto lifted = array::WhileOp::create(builder, op.getLoc(), types, inits);
  for (auto [from, to] : llvm::zip_equal(op->getRegions(), lifted->getRegions())) {
    to.takeBody(from);
    llvm::MapVector<StringAttr, Value> values;
    for (auto [name, type] : assigned)
      values[name] = to.front().addArgument(type, op.getLoc());
    followVariables(to.front(), values);
    if (&to == &lifted.getBody())
      for (auto &[name, value] : values)
        appendToYield(to.front(), value);
  }
  replaceByLifted(op, lifted, assigned);
  hoistReads(lifted);
  return lifted;
}

FlatSymbolRefAttr OutlineControl::makeFunction(func::FuncOp func, Region &region, const Twine &name,
                                               ValueRange captures, TypeRange types) {
  Block &block = region.front();
  IRMapping arguments;
  for (Value capture : captures)
    arguments.map(capture, block.addArgument(capture.getType(), capture.getLoc()));
  replaceOperands({block.begin(), block.end()}, arguments);
  auto yield = cast<array::YieldOp>(block.getTerminator());
  OpBuilder builder(yield);
  SmallVector<Value> values;
  for (auto [value, type] : llvm::zip_equal(yield.getValues(), types))
    values.push_back(castTo(builder, value.getLoc(), value, type));
  func::ReturnOp::create(builder, yield.getLoc(), values);
  yield.erase();
  builder.setInsertionPoint(func);
  auto outlined = func::FuncOp::create(builder, region.getParentOp()->getLoc(), name.str(),
                                       builder.getFunctionType(block.getArgumentTypes(), types));
  outlined.setPrivate();
  outlined.getBody().takeBody(region);
  return FlatSymbolRefAttr::get(outlined.getSymNameAttr());
}

/// The tensors from outside that the regions of `op` use.
static SmallVector<Value> findCaptures(Operation *op) {
  llvm::SetVector<Value> captures;
  for (Region &region : op->getRegions())
    cloneSizesAndConstants(region);
  for (Region &region : op->getRegions())
    getUsedValuesDefinedAbove(region, captures);
  return captures.takeVector();
}

/// Puts the ops of `region`, which is always chosen, in the place of `op`.
static void inlineRegion(array::IfOp op, Region &region) {
  auto yield = cast<array::YieldOp>(region.front().getTerminator());
  OpBuilder builder(op);
  for (auto [result, value] : llvm::zip_equal(op.getResults(), yield.getValues())) {
    builder.setInsertionPoint(yield);
    result.replaceAllUsesWith(castTo(builder, value.getLoc(), value, result.getType()));
  }
  yield.erase();
  op->getBlock()->getOperations().splice(op->getIterator(), region.front().getOperations());
  op.erase();
}

/// Whether an op fuses with what uses it, or with what it uses.
static bool fuses(Operation *op) {
  return op->getNumResults() == 1 &&
         isa<array::ArrayElementwiseOpInterface, array::TransposeOp, array::ReshapeOp,
             array::BroadcastInDimOp, array::SliceOp>(op);
}

/// Whether nothing but the regions of `op` uses what `producer`, which is beside it, computes.
static bool isOnlyFor(array::IfOp op, Operation *producer) {
  return producer && producer->getBlock() == op->getBlock() && fuses(producer) &&
         llvm::all_of(producer->getUsers(),
                      [&](Operation *user) { return op->isProperAncestor(user); });
}

/// Moves ops that only the regions use into those that use them.
static void sinkProducers(array::IfOp op) {
  llvm::SetVector<Value> used;
  do {
    used.clear();
    for (Region &region : op->getRegions())
      getUsedValuesDefinedAbove(region, used);
    used.remove_if([&](Value value) { return !isOnlyFor(op, value.getDefiningOp()); });
    for (Value value : used) {
      Operation *producer = value.getDefiningOp();
      for (Region &region : op->getRegions()) {
        OpBuilder builder = OpBuilder::atBlockBegin(&region.front());
        Operation *clone = builder.clone(*producer);
        replaceAllUsesInRegionWith(value, clone->getResult(0), region);
        if (isOpTriviallyDead(clone))
          clone->erase();
      }
      producer->erase();
    }
  } while (!used.empty());
}

/// The only op that uses `result`, if it can be in the regions of `op` instead.
static Operation *findConsumer(array::IfOp op, OpResult result) {
  if (!result.hasOneUse())
    return nullptr;
  Operation *consumer = *result.user_begin();
  bool isKnown = consumer->getBlock() == op->getBlock() && fuses(consumer) &&
                 llvm::all_of(consumer->getOperands(), [&](Value operand) {
                   Operation *definition = operand.getDefiningOp();
                   return operand == result || !definition ||
                          definition->getBlock() != op->getBlock() ||
                          definition->isBeforeInBlock(op);
                 });
  return isKnown ? consumer : nullptr;
}

/// Moves ops that use nothing that is computed behind the regions, but a result, into them.
static void sinkConsumers(array::IfOp op) {
  for (OpResult result : op->getResults())
    while (Operation *consumer = findConsumer(op, result)) {
      for (Region &region : op->getRegions()) {
        Operation *yield = region.front().getTerminator();
        OpBuilder builder(yield);
        OpOperand &yielded = yield->getOpOperand(result.getResultNumber());
        IRMapping mapping;
        mapping.map(result,
                    castTo(builder, yielded.get().getLoc(), yielded.get(), result.getType()));
        yielded.set(builder.clone(*consumer, mapping)->getResult(0));
      }
      result.setType(consumer->getResult(0).getType());
      consumer->getResult(0).replaceAllUsesWith(result);
      consumer->erase();
    }
}

LogicalResult OutlineControl::outlineAll(func::FuncOp func) {
  SmallVector<Operation *> control;
  func.walk<WalkOrder::PostOrder>([&](Operation *op) {
    if (isa<array::IfOp, array::WhileOp>(op))
      control.push_back(op);
  });
  if (control.empty())
    return success();
  array::RuntimeSizes runtimeSizes(func.getContext());
  plan::SymbolicDims dims(func, plan::UnifySizes::No, &runtimeSizes);
  // All are asked for before the function changes.
  SmallVector<plan::FormulaAttr> choices = llvm::map_to_vector(control, [&](Operation *op) {
    auto branch = dyn_cast<array::IfOp>(op);
    return branch ? findSizeCondition(branch.getCondition(), dims, runtimeSizes)
                  : plan::FormulaAttr();
  });
  std::string name = func.getName().str();
  unsigned next = 0;
  for (auto [op, choice] : llvm::zip_equal(control, choices)) {
    // Regions that were outlined before, by an earlier run, keep their names.
    while (isTaken(func, next))
      ++next;
    std::string number = std::to_string(next++);
    if (auto branch = dyn_cast<array::IfOp>(op))
      outlineIf(func, branch, name + "_if" + number, choice, dims);
    else if (failed(outlineWhile(func, cast<array::WhileOp>(op), name + "_while" + number)))
      return failure();
  }
  return success();
}

void OutlineControl::outlineIf(func::FuncOp func, array::IfOp op, StringRef name,
                               plan::FormulaAttr choice, plan::SymbolicDims &dims) {
  op = liftVariables(op);
  if (std::optional<int64_t> known = choice ? choice.asConstant() : std::nullopt)
    return inlineRegion(op, *known ? op.getThenRegion() : op.getElseRegion());
  OpBuilder builder(op);
  Value condition = op.getCondition();
  if (choice) {
    condition = dims.materialize(builder, op.getLoc(), choice);
    sinkProducers(op);
    sinkConsumers(op);
  }
  SmallVector<Value> captures = findCaptures(op);
  FlatSymbolRefAttr then =
      makeFunction(func, op.getThenRegion(), name + "_then", captures, op.getResultTypes());
  FlatSymbolRefAttr otherwise =
      makeFunction(func, op.getElseRegion(), name + "_else", captures, op.getResultTypes());
  builder.setInsertionPoint(op);
  op->replaceAllUsesWith(plan::BranchOp::create(builder, op.getLoc(), op.getResultTypes(),
                                                condition, captures, then, otherwise));
  op.erase();
}

LogicalResult OutlineControl::outlineWhile(func::FuncOp func, array::WhileOp op, StringRef name) {
  FailureOr<array::WhileOp> lifted = liftVariables(op);
  if (failed(lifted))
    return failure();
  op = *lifted;
  // One type for a value all along: that of the result.
  OpBuilder builder(op);
  SmallVector<Value> inits;
  for (auto [init, type] : llvm::zip_equal(op.getInits(), op.getResultTypes()))
    inits.push_back(castTo(builder, init.getLoc(), init, type));
  for (Region *region : {&op.getCondition(), &op.getBody()}) {
    builder.setInsertionPointToStart(&region->front());
    for (auto [argument, type] :
         llvm::zip_equal(region->front().getArguments(), op.getResultTypes())) {
      Type old = argument.getType();
      if (old == type)
        continue;
      argument.setType(type);
      Value cast = castTo(builder, argument.getLoc(), argument, old);
      argument.replaceAllUsesExcept(cast, cast.getDefiningOp());
    }
  }
  SmallVector<Value> captures = findCaptures(op);
  Type truth = RankedTensorType::get({}, builder.getI1Type());
  FlatSymbolRefAttr condition =
      makeFunction(func, op.getCondition(), name + "_condition", captures, truth);
  FlatSymbolRefAttr body =
      makeFunction(func, op.getBody(), name + "_body", captures, op.getResultTypes());
  builder.setInsertionPoint(op);
  op->replaceAllUsesWith(plan::LoopOp::create(builder, op.getLoc(), op.getResultTypes(), condition,
                                              body, inits, captures));
  op.erase();
  return success();
}

} // namespace xc
