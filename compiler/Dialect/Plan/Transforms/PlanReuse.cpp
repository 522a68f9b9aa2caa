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

#include "compiler/Dialect/Array/IR/AttributeNames.h"
#include "compiler/Dialect/Plan/IR/Parts.h"
#include "compiler/Dialect/Plan/Transforms/PlanBuilder.h"
#include "compiler/Dialect/Plan/Transforms/Views.h"

using namespace mlir;

namespace xc::plan {

bool PlanBuilder::isPart(DispatchOp dispatch, unsigned index) {
  auto parts = dispatch->getAttrOfType<DenseI64ArrayAttr>(kPartsAttr);
  return parts && llvm::is_contained(parts.asArrayRef(), index);
}

/// True if the tensor is in `buffer`, from its start on.
bool PlanBuilder::isAt(Value tensor, unsigned buffer) {
  Place place = places.at(tensor);
  return place.buffer == buffer && place.offset == constant(0);
}

/// True if nothing that runs after the step needs the value `old`, and the step itself reads it, if
/// at all, only where it then writes.
bool PlanBuilder::canOverwrite(Value old, const Taker &taker) {
  if (!old || !uses.isUsed(old))
    return true;
  if (uses.getLastUse(old) != taker.position)
    return uses.getLastUse(old) < taker.position;
  Value memory = uses.getMemory(old);
  return taker.reused && uses.getMemory(taker.reused) == memory && isWholeRoot(taker.reused) &&
         uses.isReadOnceBy(taker.step, memory);
}

/// True if the step may compute its result where result `target` of the function goes.
bool PlanBuilder::canTakeTarget(unsigned target, const Taker &taker) {
  std::optional<unsigned> argument = getReplacedArgument(target);
  return !argument || canOverwrite(func.getArgument(*argument), taker);
}

/// True if `buffer` is where `result`, or what it is a part of, is to be in the end.
bool PlanBuilder::isTarget(const Buffer &buffer, Value result) {
  auto hasOutput = [&](llvm::function_ref<bool(unsigned)> predicate) {
    return llvm::any_of(uses.getOutputs(result), predicate);
  };
  if (buffer.outer)
    return hasOutput([&](unsigned output) { return outer->targets[output] == *buffer.outer; });
  if (buffer.space == Space::Output || buffer.space == Space::Packed)
    return hasOutput([&](unsigned output) { return output == buffer.ordinal; });
  return buffer.space == Space::Variable &&
         llvm::any_of(uses.getVariables(result), [&](StringAttr name) {
           FailureOr<unsigned> ordinal = data.getVariable(name, func.getLoc());
           return succeeded(ordinal) && *ordinal == buffer.ordinal;
         });
}

/// True if `result` may be in `buffer` for a while, though what is to be there in the end is
/// another value.
bool PlanBuilder::mayHoldOthers(const Buffer &buffer, Value result) {
  bool outlives = uses.outlivesSteps(result);
  if (buffer.outer)
    return !outlives && outer->replacesArguments &&
           llvm::is_contained(outer->targets, *buffer.outer);
  switch (buffer.space) {
  case Space::Arena:
    return true;
  case Space::Variable:
    return !outlives && uses.hasVariable([&](StringAttr name) {
      FailureOr<unsigned> ordinal = data.getVariable(name, func.getLoc());
      return succeeded(ordinal) && *ordinal == buffer.ordinal;
    });
  case Space::Input: {
    bool isReplaced = llvm::any_of(llvm::seq(func.getNumResults()), [&](unsigned other) {
      return getReplacedArgument(other) == buffer.ordinal;
    });
    return func.getArgAttr(buffer.ordinal, array::kDonatedAttr) && !(isReplaced && outlives);
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
  const Buffer &buffer = plan->buffers[place.buffer];
  bool isWhole = place.offset == constant(0) && place.length == size && buffer.size == size;
  Value memory = uses.getMemory(taker.reused);
  // Another view of it may be read at other elements.
  bool mayStay =
      (taker.isPart && isTarget(buffer, taker.result)) || mayHoldOthers(buffer, taker.result);
  if (!isWhole || !isWholeRoot(taker.reused) || !mayStay ||
      !uses.isReadOnceBy(taker.step, memory) || uses.getLastUse(memory) != taker.position)
    return std::nullopt;
  return place.buffer;
}

/// The variable or result of the function that the step's result is, if it may be computed there.
FailureOr<std::optional<unsigned>> PlanBuilder::chooseFixed(const Taker &taker, FormulaAttr size) {
  for (StringAttr name : uses.getVariables(taker.result)) {
    FailureOr<unsigned> ordinal = data.getVariable(name, taker.step->getLoc());
    if (failed(ordinal))
      return failure();
    if (variableDone.lookup(name) || !canOverwrite(uses.getOldValue(name), taker))
      continue;
    variableDone[name] = true;
    return std::optional(getFixedBuffer(Space::Variable, *ordinal, size));
  }
  for (unsigned output : uses.getOutputs(taker.result)) {
    if (outputDone.lookup(output) || !canTakeTarget(output, taker))
      continue;
    outputDone[output] = true;
    return std::optional(getTarget(output, size));
  }
  return std::optional<unsigned>();
}

FailureOr<unsigned> PlanBuilder::choosePlace(const Taker &taker, FormulaAttr size) {
  // A part stays where those before it are: the first one has chosen for all.
  std::optional<unsigned> buffer = taker.isPart ? takeMemory(taker, size) : std::nullopt;
  if (!buffer) {
    FailureOr<std::optional<unsigned>> fixed = chooseFixed(taker, size);
    if (failed(fixed))
      return failure();
    buffer = *fixed ? *fixed : takeMemory(taker, size);
  }
  if (!buffer)
    return addBuffer(Space::Arena, 0, size);
  if (taker.reused && isAt(taker.reused, *buffer))
    uses.take(taker.result, uses.getMemory(taker.reused));
  return *buffer;
}

FailureOr<unsigned> PlanBuilder::chooseBuffer(DispatchOp dispatch, unsigned index,
                                              unsigned position, FormulaAttr size) {
  Value reused = dispatch.getInit(index);
  if (int64_t input = dispatch.getReuse()[index]; !reused && input >= 0)
    reused = dispatch.getInputs()[input];
  return choosePlace(
      {dispatch, dispatch.getResult(index), reused, position, isPart(dispatch, index)}, size);
}

/// A buffer for a result of the control op at `position`. A loop's value is all along where its
/// init is, where that is possible.
FailureOr<unsigned> PlanBuilder::chooseResult(Value result, Value init, Operation *control,
                                              unsigned position, FormulaAttr size) {
  return choosePlace({control, result, init, position}, size);
}

} // namespace xc::plan
