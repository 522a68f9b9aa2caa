//===- PlanControl.cpp - Ifs and whiles of a plan ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The function that a region was outlined to is planned like any other, but its arguments and
// results are buffers of the plan around it, its symbols are formulas over that plan's, and its
// arena is one more buffer there, which lives while the control command runs. So nothing of a
// region needs memory of its own, and the commands around it see what it touches.
//
// A value that a loop carries has one buffer all along: the commands before the loop put the first
// value there, the body replaces it, in place where nothing needs the old one any more.
//
// Of an if that sizes decide only one region runs in a call, so both have one arena, as large as
// the one that is chosen needs, and what a region requires of sizes is required where it is chosen.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Plan/Transforms/PlanBuilder.h"

#include "compiler/Dialect/Array/IR/PassAttributes.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace xc::plan {

/// Everything but writing it: the plan around this one does that, when places are known.
LogicalResult PlanBuilder::buildRegion() {
  SmallVector<FormulaAttr> sizes;
  for (const SymbolDefinition &symbol : dims.getSymbols()) {
    FailureOr<SmallVector<FormulaAttr>> shape = parent->getShape(outer->arguments[symbol.input]);
    if (failed(shape))
      return failure();
    sizes.push_back((*shape)[symbol.dim]);
  }
  toRoot.emplace(dims, getRootPlan().dims, std::move(sizes));
  for (auto [argument, value, place] :
       llvm::zip_equal(func.getArguments(), outer->arguments, outer->places)) {
    FailureOr<SmallVector<FormulaAttr>> inside = getShape(argument),
                                        around = parent->getShape(value);
    if (failed(inside) || failed(around))
      return failure();
    for (auto [dim, needed, given] : llvm::enumerate(*inside, *around)) {
      std::string what;
      llvm::raw_string_ostream text(what);
      if (StringAttr origin = array::findOrigin(func.getLoc()))
        text << origin.getValue() << ": ";
      text << "expected dim " << dim << " of " << argument.getType()
           << " to have the size that the other values of its region ask for";
      require(func.getLoc(), given, Comparison::Equal, needed, what);
    }
    places[argument] = {getOuterBuffer(place.buffer), place.offset, place.length};
  }
  if (failed(placeOps()) || failed(addReturns()) || failed(layOut()))
    return failure();
  return success();
}

/// "value 1 of array.while".
static std::string describeValue(Operation *op, size_t index) {
  return ("value " + Twine(index) + " of " + (isa<LoopOp>(op) ? "array.while" : "array.if")).str();
}

static std::string print(FormulaAttr formula) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  formula.printText(stream);
  return text;
}

/// ", s0 being x.0, s1 being n" of those that the formulas are made of.
std::string PlanBuilder::listSymbols(ArrayRef<FormulaAttr> sizes) {
  const SymbolicDims &known = getRootPlan().dims;
  SmallVector<FormulaAttr> formulas(sizes);
  std::string text;
  // What defines a symbol is made of those before it.
  for (unsigned index = known.getSymbolCount(); index-- > 0;) {
    if (llvm::none_of(formulas, [&](FormulaAttr formula) { return formula.usesSymbol(index); }))
      continue;
    bool isInput = index < known.getSymbols().size();
    if (!isInput)
      formulas.push_back(known.getDefinition(index));
    text = (", s" + Twine(index) + " being " +
            (isInput ? known.getSymbols()[index].name : print(formulas.back())) + text)
               .str();
  }
  return text;
}

FailureOr<std::unique_ptr<PlannedRegion>>
PlanBuilder::buildNested(Operation *op, FlatSymbolRefAttr callee, const OuterPlan &around) {
  func::FuncOp function = data.getRegion(callee.getAttr());
  if (!function)
    return op->emitOpError("expected the name of a function, got ") << callee;
  PlanBuilder nested(function, data, reuse, &around);
  nested.parent = this;
  nested.plan->parent = plan.get();
  nested.isChosen = isChosen;
  if (around.isChosen)
    nested.isChosen = isChosen ? isChosen * around.isChosen : around.isChosen;
  nested.equalities = equalities;
  if (failed(nested.buildRegion()))
    return failure();
  auto ret = cast<func::ReturnOp>(function.getBody().front().getTerminator());
  for (auto [index, pair] : llvm::enumerate(llvm::zip(ret.getOperands(), around.results))) {
    auto [value, result] = pair;
    FailureOr<SmallVector<FormulaAttr>> inside = nested.getShape(value), outside = getShape(result);
    if (failed(inside) || failed(outside))
      return emitError(ret.getLoc()) << describeValue(op, index) << " has type " << value.getType()
                                     << " and a size that is no formula over the dynamic dims of "
                                        "the function's inputs";
    for (auto [dim, got, expected] : llvm::enumerate(*inside, *outside)) {
      // A value of a loop keeps its size, whatever that is.
      if (around.replacesArguments && !nested.equalities.areEqual(got, expected))
        return emitError(ret.getLoc())
               << describeValue(op, index) << " changes its size: dim " << dim << " is "
               << print(expected) << " before an iteration and " << print(got) << " after it"
               << listSymbols({expected, got});
      if ((got - expected).asConstant().value_or(0) != 0)
        return emitError(ret.getLoc())
               << describeValue(op, index) << " has two sizes: dim " << dim << " is "
               << print(expected) << " in one region and " << print(got) << " in the other"
               << listSymbols({expected, got});
      std::string what;
      llvm::raw_string_ostream(what) << "expected dim " << dim << " of " << value.getType()
                                     << " to have the size that it has around a region";
      nested.require(ret.getLoc(), got, Comparison::Equal, expected, what);
    }
  }
  // What a region that sizes choose requires holds nowhere else.
  if (nested.isChosen == isChosen)
    equalities = nested.equalities;
  return std::move(nested.plan);
}

/// Adds the command: it does to the buffers of this plan what the commands of the regions do.
void PlanBuilder::addControl(Command command, std::shared_ptr<ControlRegions> regions) {
  std::optional<unsigned> shared;
  if (FormulaAttr choice = regions->choice)
    shared = addBuffer(Space::Arena, 0,
                       FormulaAttr::getSelect(choice, regions->plans[0]->arena.size,
                                              regions->plans[1]->arena.size));
  for (const std::unique_ptr<PlannedRegion> &nested : regions->plans) {
    unsigned arenaOf = shared ? *shared : addBuffer(Space::Arena, 0, nested->arena.size);
    nested->arenaBuffer = arenaOf;
    touch(command, arenaOf, constant(0), plan->buffers[arenaOf].size, Access::ReadWrite);
    for (const Command &inner : nested->commands)
      for (const MemoryAccess &access : inner.accesses) {
        const Buffer &buffer = nested->buffers[access.buffer];
        unsigned number;
        if (buffer.outer)
          number = *buffer.outer;
        else if (buffer.space == Space::Arena)
          continue;
        else
          number = getFixedBuffer(buffer.space, buffer.ordinal, buffer.size);
        bool isKnown = llvm::any_of(command.accesses, [&](const MemoryAccess &known) {
          return known.buffer == number && known.offset == access.offset &&
                 known.length == access.length && known.access == access.access;
        });
        if (!isKnown)
          touch(command, number, access.offset, access.length, access.access);
      }
  }
  command.control = std::move(regions);
  plan->commands.push_back(std::move(command));
}

LogicalResult PlanBuilder::addBranch(BranchOp branch, unsigned position) {
  OuterPlan around(*this, branch.getOutputs());
  around.arguments = llvm::to_vector(branch.getCaptures());
  for (Value capture : branch.getCaptures())
    around.places.push_back(places.at(capture));
  for (Value result : branch.getOutputs()) {
    FailureOr<FormulaAttr> size = getByteSize(result);
    if (failed(size))
      return failure();
    FailureOr<unsigned> buffer = chooseResult(result, /*init=*/{}, branch, position, *size);
    if (failed(buffer))
      return failure();
    around.targets.push_back(*buffer);
    places[result] = {*buffer, constant(0), *size};
  }
  auto regions = std::make_shared<ControlRegions>();
  regions->isLoop = false;
  Command command{branch.getLoc(), {}, {}, {}};
  if (branch.getCondition().getType().isIndex()) {
    FailureOr<FormulaAttr> choice = getFormula(OpFoldResult(branch.getCondition()));
    if (failed(choice))
      return branch.emitOpError("expected data, or a formula over the dynamic dims of the "
                                "function's inputs, as the condition");
    regions->choice = *choice;
    getRootPlan().choices.insert(*choice);
  } else {
    Place condition = places.at(branch.getCondition());
    touch(command, condition.buffer, condition.offset, condition.length, Access::Read);
  }
  for (auto [number, callee] : llvm::enumerate(
           ArrayRef<FlatSymbolRefAttr>{branch.getThenAttr(), branch.getOtherwiseAttr()})) {
    if (regions->choice)
      around.isChosen = number == 0 ? regions->choice : 1 - regions->choice;
    FailureOr<std::unique_ptr<PlannedRegion>> built = buildNested(branch, callee, around);
    if (failed(built))
      return failure();
    regions->plans[number] = std::move(*built);
  }
  addControl(std::move(command), std::move(regions));
  return success();
}

LogicalResult PlanBuilder::addLoop(LoopOp loop, unsigned position) {
  OuterPlan around(*this, loop.getOutputs().take_front(0));
  around.arguments = llvm::to_vector(loop.getInits());
  SmallVector<unsigned> values;
  for (unsigned index = 0; index < loop.getNumResults(); ++index) {
    Value init = loop.getInits()[index], result = loop.getResult(index);
    FailureOr<FormulaAttr> size = getByteSize(init);
    if (failed(size))
      return failure();
    // Nothing is in a value that the loop itself is the first to write.
    bool isUnwritten = init.getDefiningOp<tensor::EmptyOp>() != nullptr;
    FailureOr<unsigned> buffer =
        chooseResult(result, isUnwritten ? Value() : init, loop, position, *size);
    if (failed(buffer))
      return failure();
    if (!isUnwritten && !isAt(init, *buffer) && failed(addCopy(loop.getLoc(), init, *buffer)))
      return failure();
    values.push_back(*buffer);
    around.places.push_back({*buffer, constant(0), *size});
    places[result] = {*buffer, constant(0), *size};
  }
  for (Value capture : loop.getCaptures()) {
    around.arguments.push_back(capture);
    around.places.push_back(places.at(capture));
  }
  auto regions = std::make_shared<ControlRegions>();
  regions->isLoop = true;
  unsigned condition = addBuffer(Space::Arena, 0, constant(1));
  around.targets = {condition};
  FailureOr<std::unique_ptr<PlannedRegion>> test =
      buildNested(loop, loop.getConditionAttr(), around);
  if (failed(test))
    return failure();
  around.targets = values;
  around.results = loop.getOutputs();
  around.replacesArguments = true;
  FailureOr<std::unique_ptr<PlannedRegion>> body = buildNested(loop, loop.getBodyAttr(), around);
  if (failed(body))
    return failure();
  regions->plans[0] = std::move(*test);
  regions->plans[1] = std::move(*body);
  Command command{loop.getLoc(), {}, {}, {}};
  touch(command, condition, constant(0), constant(1), Access::Read);
  addControl(std::move(command), std::move(regions));
  return success();
}

} // namespace xc::plan
