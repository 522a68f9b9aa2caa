//===- PlanReuse.cpp - Where the results of a step go ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A result goes, in this order, to the variable that it is assigned to, to the result of the
// function that it is, to the memory of an operand that it may stay in, or to the arena. The first
// three only where nothing needs what is there.
//
// Results that take over memory hang together: what a chain of updates makes of a variable is in
// the variable all along. The memory is then in use until the last of them has been used, which is
// kept with the value that was there first.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Plan/Transforms/PlanBuilder.h"

using namespace mlir;

namespace xc::plan {

Value PlanBuilder::getMemory(Value tensor) {
  Value root = getRoot(tensor);
  for (auto it = takenFrom.find(root); it != takenFrom.end(); it = takenFrom.find(root))
    root = it->second;
  return root;
}

/// True if the tensor is in `buffer`, from its start on.
bool PlanBuilder::isAt(Value tensor, unsigned buffer) {
  Place place = places.at(tensor);
  return place.buffer == buffer && place.offset == constant(0);
}

bool PlanBuilder::isReadOnceBy(Operation *step, Value memory) {
  return llvm::count_if(step->getOperands(), [&](Value operand) {
           return isa<RankedTensorType>(operand.getType()) && getMemory(operand) == memory;
         }) == 1;
}

/// True if nothing that runs after the step needs the value `old`, and the step itself reads it, if
/// at all, only where it then writes.
bool PlanBuilder::canOverwrite(Value old, const Taker &taker) {
  if (!old || !lastUse.count(old))
    return true;
  if (getLastUse(old) != taker.position)
    return getLastUse(old) < taker.position;
  return taker.reused && getMemory(taker.reused) == getMemory(old) && isWholeRoot(taker.reused) &&
         isReadOnceBy(taker.step, getMemory(old));
}

/// True if the step may compute its result where result `target` of the function goes.
bool PlanBuilder::canTakeTarget(unsigned target, const Taker &taker) {
  std::optional<unsigned> argument = getReplacedArgument(target);
  return !argument || canOverwrite(func.getArgument(*argument), taker);
}

/// True if `result` may be in `buffer` for a while, though what is to be there in the end is
/// another value.
bool PlanBuilder::mayHoldOthers(const Buffer &buffer, Value result) {
  bool outlives = lastUse.lookup(result) == kAfterAllCommands;
  if (buffer.outer)
    return !outlives && outer->replacesArguments &&
           llvm::is_contained(outer->targets, *buffer.outer);
  switch (buffer.space) {
  case Space::Arena:
    return true;
  case Space::Variable:
    return !outlives && llvm::any_of(variablesOf, [&](auto &entry) {
      return llvm::any_of(entry.second, [&](StringAttr name) {
        FailureOr<unsigned> ordinal = data.getVariable(name, func.getLoc());
        return succeeded(ordinal) && *ordinal == buffer.ordinal;
      });
    });
  case Space::Input: {
    bool isReplaced = llvm::any_of(llvm::seq(func.getNumResults()), [&](unsigned other) {
      return getReplacedArgument(other) == buffer.ordinal;
    });
    return func.getArgAttr(buffer.ordinal, "array.donated") && !(isReplaced && outlives);
  }
  default:
    return false;
  }
}

/// The buffer of the operand that the result may stay in, if nothing else needs that.
std::optional<unsigned> PlanBuilder::takeMemory(const Taker &taker, FormulaAttr size) {
  if (!taker.reused)
    return std::nullopt;
  Place place = places.at(taker.reused);
  const Buffer &buffer = buffers[place.buffer];
  bool isWhole = place.offset == constant(0) && place.length == size && buffer.size == size;
  Value memory = getMemory(taker.reused);
  // Another view of it may be read at other elements.
  if (!isWhole || !isWholeRoot(taker.reused) || !mayHoldOthers(buffer, taker.result) ||
      !isReadOnceBy(taker.step, memory) || getLastUse(memory) != taker.position)
    return std::nullopt;
  return place.buffer;
}

/// The variable or result of the function that the step's result is, if it may be computed there.
FailureOr<std::optional<unsigned>> PlanBuilder::chooseFixed(const Taker &taker, FormulaAttr size) {
  for (StringAttr name : variablesOf.lookup(taker.result)) {
    FailureOr<unsigned> ordinal = data.getVariable(name, taker.step->getLoc());
    if (failed(ordinal))
      return failure();
    if (variableDone.lookup(name) || !canOverwrite(readOf.lookup(name), taker))
      continue;
    variableDone[name] = true;
    return std::optional(getFixedBuffer(Space::Variable, *ordinal, size));
  }
  for (unsigned output : outputsOf.lookup(taker.result)) {
    if (outputDone.lookup(output) || !canTakeTarget(output, taker))
      continue;
    outputDone[output] = true;
    return std::optional(getTarget(output, size));
  }
  return std::optional<unsigned>();
}

FailureOr<unsigned> PlanBuilder::choosePlace(const Taker &taker, FormulaAttr size) {
  FailureOr<std::optional<unsigned>> fixed = chooseFixed(taker, size);
  if (failed(fixed))
    return failure();
  std::optional<unsigned> buffer = *fixed ? *fixed : takeMemory(taker, size);
  if (!buffer)
    return addBuffer(Space::Arena, 0, size);
  if (taker.reused && isAt(taker.reused, *buffer)) {
    Value memory = getMemory(taker.reused);
    unsigned last = std::max(lastUse.lookup(memory), lastUse.lookup(taker.result));
    takenFrom[taker.result] = memory;
    lastUse[memory] = last;
  }
  return *buffer;
}

FailureOr<unsigned> PlanBuilder::chooseBuffer(DispatchOp dispatch, unsigned index,
                                              unsigned position, FormulaAttr size) {
  Value reused = dispatch.getInit(index);
  if (int64_t input = dispatch.getReuse()[index]; !reused && input >= 0)
    reused = dispatch.getInputs()[input];
  return choosePlace({dispatch, dispatch.getResult(index), reused, position}, size);
}

/// A buffer for a result of the control op at `position`. A loop's value is all along where its
/// init is, where that is possible.
FailureOr<unsigned> PlanBuilder::chooseResult(Value result, Value init, Operation *control,
                                              unsigned position, FormulaAttr size) {
  return choosePlace({control, result, init, position}, size);
}

} // namespace xc::plan
