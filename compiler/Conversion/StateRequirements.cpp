//===- StateRequirements.cpp - What a function requires of sizes, first ----===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Folds, and gradients that need no more than the sizes of what they are gradients of, take ops
// away with what they require. So what a function with dynamic dims requires is stated first.
// Its ops say it (`RequirementOpInterface`), each as the program has it, in formulas over the sizes
// of the function's inputs. They become `plan.require`s at the start of the function, which nothing
// takes away.
//
// - What no result, assignment or other effect depends on requires nothing.
// - Of a region that sizes choose, both sides of a requirement are 0 where it is not chosen. One
// that
//   constants choose is always chosen, or never. A loop is chosen where there may be a first
//   iteration.
// - A bounded dynamic dim counts with its bound, and what types of results say of such dims is left
//   to -xc-array-resolve-extents.
// - What is no formula is left to later passes, which say why, or simplify it to one.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/OpRequirements.h"
#include "compiler/Conversion/Passes.h"
#include "compiler/Conversion/SizeConditions.h"
#include "compiler/Dialect/Array/IR/ArrayOps.h"
#include "compiler/Dialect/Array/IR/RuntimeSizes.h"
#include "compiler/Dialect/Plan/IR/PlanOps.h"
#include "compiler/Dispatch/Requirements.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Iterators.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace xc {
#define GEN_PASS_DEF_STATEREQUIREMENTS
#include "compiler/Conversion/Passes.h.inc"

static bool hasDynamicInput(func::FuncOp func) {
  return llvm::any_of(func.getArgumentTypes(), [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && !tensor.hasStaticShape();
  });
}

/// The ops of `root` that no result, assignment or stated requirement depends on.
static llvm::DenseSet<Operation *> findDead(Operation *root) {
  llvm::DenseSet<Operation *> dead;
  auto isDead = [&](Operation *op) {
    for (; op != root; op = op->getParentOp())
      if (dead.contains(op))
        return true;
    return false;
  };
  root->walk<WalkOrder::PostOrder, ReverseIterator>([&](Operation *op) {
    if (op != root && wouldOpBeTriviallyDead(op) && llvm::all_of(op->getUsers(), isDead))
      dead.insert(op);
  });
  return dead;
}

/// What `value` is where constants alone say so; null if they do not. Elementwise ops fold.
static Attribute findConstant(Value value) {
  Attribute constant;
  if (matchPattern(value, m_Constant(&constant)))
    return constant;
  Operation *op = value.getDefiningOp();
  if (!op || !isa<array::ArrayElementwiseOpInterface>(op))
    return {};
  SmallVector<Attribute> operands;
  for (Value operand : op->getOperands()) {
    operands.push_back(findConstant(operand));
    if (!operands.back())
      return {};
  }
  SmallVector<OpFoldResult> folded;
  if (failed(op->fold(operands, folded)) || folded.size() != 1)
    return {};
  return dyn_cast<Attribute>(folded.front());
}

namespace {

/// Collects what a function requires, in formulas over its symbols.
class FunctionRequirements {
public:
  explicit FunctionRequirements(func::FuncOp func)
      : func(func), runtimeSizes(func.getContext()),
        dims(func, plan::UnifySizes::No, &runtimeSizes), dead(findDead(func)) {}

  /// Makes `plan.require`s of what the function does not say already.
  void state();

private:
  void collect(Block &block, plan::FormulaAttr isChosen);
  void collectOf(Operation *op, SmallVectorImpl<plan::Requirement> &agreements);
  void collectPassedOn(Operation *op, array::RequirementBuilder &requirements);
  void collectRegions(array::IfOp op, plan::FormulaAttr isChosen);
  void collectRegions(array::WhileOp op, plan::FormulaAttr isChosen);
  void add(plan::Requirement requirement, plan::FormulaAttr isChosen);
  void takeGiven();
  bool isNew(const plan::Requirement &requirement) {
    return known.insert({requirement.left, requirement.right, unsigned(requirement.comparison)})
        .second;
  }

  func::FuncOp func;
  array::RuntimeSizes runtimeSizes;
  plan::SymbolicDims dims;
  llvm::DenseSet<Operation *> dead;
  llvm::DenseSet<std::tuple<plan::FormulaAttr, plan::FormulaAttr, unsigned>> known;
  /// Of the op that is being asked, and of all, in the order in which they came.
  SmallVector<plan::Requirement> own, collected;
};

} // namespace

void FunctionRequirements::add(plan::Requirement requirement, plan::FormulaAttr isChosen) {
  auto zero = plan::FormulaAttr::getConstant(func.getContext(), 0);
  if (isChosen)
    for (plan::FormulaAttr *side : {&requirement.left, &requirement.right})
      *side = dims.shorten(plan::FormulaAttr::getSelect(isChosen, *side, zero));
  if (requirement.left != requirement.right && isNew(requirement))
    collected.push_back(std::move(requirement));
}

/// Both of what `first` and `second` choose; null is all.
static plan::FormulaAttr conjoin(plan::FormulaAttr first, plan::FormulaAttr second) {
  return first && second ? first * second : first ? first : second;
}

void FunctionRequirements::collectRegions(array::IfOp op, plan::FormulaAttr isChosen) {
  Block &then = op.getThenRegion().front(), &otherwise = op.getElseRegion().front();
  std::optional<int64_t> constant;
  if (auto elements = dyn_cast_if_present<DenseElementsAttr>(findConstant(op.getCondition())))
    constant = elements.getSplatValue<bool>();
  plan::FormulaAttr choice =
      constant ? plan::FormulaAttr() : findSizeCondition(op.getCondition(), dims, runtimeSizes);
  if (choice && choice.isConstant())
    constant = choice.asConstant();
  if (constant)
    return collect(*constant ? then : otherwise, isChosen);
  collect(then, conjoin(isChosen, choice));
  collect(otherwise, conjoin(isChosen, choice ? 1 - choice : choice));
}

void FunctionRequirements::collectRegions(array::WhileOp op, plan::FormulaAttr isChosen) {
  plan::FormulaAttr guard =
      fillsArrays(op) ? plan::FormulaAttr() : findSizeGuard(op, dims, runtimeSizes);
  if (guard && !guard.isConstant())
    isChosen = conjoin(isChosen, guard);
  collect(op.getCondition().front(), isChosen);
  collect(op.getBody().front(), isChosen);
}

static bool isOfCondition(Operation *yield) {
  auto loop = dyn_cast<array::WhileOp>(yield->getParentOp());
  return loop && yield->getParentRegion() == &loop.getCondition();
}

/// What a loop begins with, and what regions yield, has the sizes that the results' types know.
void FunctionRequirements::collectPassedOn(Operation *op, array::RequirementBuilder &requirements) {
  TypeRange types;
  if (auto loop = dyn_cast<array::WhileOp>(op))
    types = loop.getResultTypes();
  else if (isa<array::YieldOp>(op) && !isOfCondition(op))
    types = op->getParentOp()->getResultTypes();
  for (auto [operand, type] : llvm::zip(op->getOperands(), types)) {
    auto from = cast<RankedTensorType>(operand.getType());
    for (int64_t dim = 0; dim < from.getRank(); ++dim)
      if (!runtimeSizes.contains(operand, dim))
        requirements.requireSizeOfType(requirements.getSizes().size(operand, dim), from, dim,
                                       cast<RankedTensorType>(type));
  }
}

void FunctionRequirements::collectOf(Operation *op,
                                     SmallVectorImpl<plan::Requirement> &agreements) {
  auto take = [&](array::SizeRequirement requirement) {
    FailureOr<plan::FormulaAttr> left = dims.getFormula(requirement.left),
                                 right = dims.getFormula(requirement.right);
    if (failed(left) || failed(right))
      return;
    (requirement.isAgreement ? agreements : own)
        .push_back(
            {op->getLoc(), *left, requirement.comparison, *right, std::move(requirement.what)});
  };
  array::RequirementBuilder requirements(dims, runtimeSizes, op, take);
  collectPassedOn(op, requirements);
  // Indices that cannot be told from sizes are refused where linalg ops are looked at again.
  (void)stateRequirements(op, requirements);
}

void FunctionRequirements::collect(Block &block, plan::FormulaAttr isChosen) {
  SmallVector<plan::Requirement> agreements;
  SmallVector<Operation *> control;
  for (Operation &op : block) {
    // From the top, so that no question goes further back than to the op before.
    for (Value result : op.getResults())
      if (isa<RankedTensorType>(result.getType()))
        (void)dims.getShape(result);
    if (dead.contains(&op))
      continue;
    if (isa<array::IfOp, array::WhileOp>(op))
      control.push_back(&op);
    collectOf(&op, agreements);
    for (plan::Requirement &requirement : own)
      add(std::move(requirement), isChosen);
    own.clear();
  }
  // Other words say more than that operands agree.
  for (plan::Requirement &requirement : agreements)
    add(std::move(requirement), isChosen);
  for (Operation &op : block)
    if (!dead.contains(&op))
      (void)plan::visitImpliedRequirements(&op, dims, [&](const plan::Requirement &requirement) {
        add(requirement, isChosen);
        return success();
      });
  for (Operation *op : control) {
    if (auto branch = dyn_cast<array::IfOp>(op))
      collectRegions(branch, isChosen);
    else
      collectRegions(cast<array::WhileOp>(op), isChosen);
  }
}

void FunctionRequirements::takeGiven() {
  for (auto given : llvm::make_early_inc_range(func.getOps<plan::RequireOp>())) {
    FailureOr<plan::FormulaAttr> left = dims.getFormula(given.getLeft()),
                                 right = dims.getFormula(given.getRight());
    if (failed(left) || failed(right))
      continue;
    plan::Requirement requirement{given.getLoc(), *left, given.getComparison(), *right,
                                  given.getWhat().str()};
    if (isNew(requirement))
      collected.push_back(std::move(requirement));
    given.erase();
  }
}

void FunctionRequirements::state() {
  {
    ScopedDiagnosticHandler silence(func.getContext(), [](Diagnostic &) { return success(); });
    takeGiven();
    collect(func.front(), /*isChosen=*/{});
  }
  OpBuilder builder = OpBuilder::atBlockBegin(&func.front());
  SmallVector<Value> symbolValues;
  for (const plan::Requirement &requirement : collected) {
    Value left = dims.materialize(builder, requirement.loc, requirement.left, symbolValues),
          right = dims.materialize(builder, requirement.loc, requirement.right, symbolValues);
    plan::RequireOp::create(builder, requirement.loc, left, requirement.comparison, right,
                            requirement.what);
  }
}

namespace {

struct StateRequirements final : impl::StateRequirementsBase<StateRequirements> {
  void runOnOperation() override {
    for (auto func : getOperation().getOps<func::FuncOp>())
      if (!func.isExternal() && !func.isPrivate() && hasDynamicInput(func))
        FunctionRequirements(func).state();
  }
};

} // namespace

} // namespace xc
