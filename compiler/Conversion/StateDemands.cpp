//===- StateDemands.cpp - What a function demands of sizes, said first ----===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Folds, and gradients that need no more than the sizes of what they are gradients of, take ops
// away with what they demand. So what a function with dynamic dims demands is stated first:
// 1. A copy without what no result depends on is decomposed, beside the module, and its regions are
//    outlined.
// 2. Its ops say what they demand (`RequirementOpInterface`): comparisons of formulas over the
//    sizes of the function's inputs. Of a region that sizes choose, both sides are 0 where it is
//    not chosen.
// 3. They become `plan.require`s at the start of the function, which nothing takes away.
//
// A function whose extents cannot be resolved as it is written is left alone: later passes say why,
// or simplify it to one that can be. Of one with bounded dynamic dims the copy is simplified as
// well, since the rules of extents rely on that; folds in it take away what they do elsewhere.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Passes.h"
#include "compiler/Conversion/StateRequirements.h"
#include "compiler/Dialect/Array/IR/ArrayOps.h"
#include "compiler/Dialect/Array/Transforms/Passes.h"
#include "compiler/Dialect/Kernel/IR/KernelOps.h"
#include "compiler/Dialect/Plan/IR/PlanOps.h"
#include "compiler/Dispatch/Requirements.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Iterators.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace xc {
#define GEN_PASS_DEF_STATEDEMANDS
#include "compiler/Conversion/Passes.h.inc"

static bool hasDynamicInput(func::FuncOp func) {
  return llvm::any_of(func.getArgumentTypes(), [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && !tensor.hasStaticShape();
  });
}

template <typename... OpTys> static bool has(ModuleOp module) {
  return module
      .walk([](Operation *op) {
        return isa<OpTys...>(op) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Erases what no result, assignment or stated demand depends on.
static void eraseDead(Operation *root) {
  root->walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
    if (isOpTriviallyDead(op))
      op->erase();
  });
}

namespace {

/// Collects what a function and the functions of its regions demand, in formulas over the
/// symbols of the function.
class RegionDemands {
public:
  RegionDemands(ModuleOp module, func::FuncOp func)
      : func(func), dims(func, plan::UnifySizes::No), symbols(module) {}

  SmallVector<plan::Demand> run() {
    collect(func, dims, /*toRoot=*/nullptr, /*isChosen=*/plan::FormulaAttr());
    return demands.takeVector();
  }
  /// Of the whole function.
  const plan::SymbolicDims &getDims() const { return dims; }

private:
  void collect(func::FuncOp func, plan::SymbolicDims &inside, plan::FormulaTranslation *toRoot,
               plan::FormulaAttr isChosen);
  void collectRegion(FlatSymbolRefAttr callee, ValueRange operands, plan::SymbolicDims &around,
                     plan::FormulaTranslation *toRoot, plan::FormulaAttr isChosen);
  void add(plan::Demand demand, plan::FormulaTranslation *toRoot, plan::FormulaAttr isChosen);

  /// Keeps what is new, in the order in which it came.
  class DemandList {
  public:
    void insert(plan::Demand demand) {
      auto key = std::make_tuple(demand.left, demand.right, unsigned(demand.comparison));
      if (known.insert(key).second)
        demands.push_back(std::move(demand));
    }
    SmallVector<plan::Demand> takeVector() { return std::move(demands); }

  private:
    llvm::DenseSet<std::tuple<plan::FormulaAttr, plan::FormulaAttr, unsigned>> known;
    SmallVector<plan::Demand> demands;
  };

  func::FuncOp func;
  plan::SymbolicDims dims;
  SymbolTable symbols;
  DemandList demands;
};

} // namespace

/// A formula of a region's function as one of the whole function; null where it is none.
static plan::FormulaAttr translate(FailureOr<plan::FormulaAttr> formula,
                                   plan::FormulaTranslation *toRoot) {
  if (failed(formula))
    return {};
  return toRoot ? (*toRoot)(*formula) : *formula;
}

void RegionDemands::add(plan::Demand demand, plan::FormulaTranslation *toRoot,
                        plan::FormulaAttr isChosen) {
  auto zero = plan::FormulaAttr::getConstant(func.getContext(), 0);
  for (plan::FormulaAttr *side : {&demand.left, &demand.right}) {
    *side = translate(*side, toRoot);
    if (!*side)
      return;
    if (isChosen)
      *side = plan::FormulaAttr::getSelect(isChosen, *side, zero);
  }
  if (demand.left != demand.right)
    demands.insert(std::move(demand));
}

void RegionDemands::collectRegion(FlatSymbolRefAttr callee, ValueRange operands,
                                  plan::SymbolicDims &around, plan::FormulaTranslation *toRoot,
                                  plan::FormulaAttr isChosen) {
  auto region = symbols.lookup<func::FuncOp>(callee.getAttr());
  plan::SymbolicDims inside(region, plan::UnifySizes::No);
  SmallVector<plan::FormulaAttr> sizes;
  for (const plan::SymbolDefinition &symbol : inside.getSymbols())
    sizes.push_back(translate(around.getDim(operands[symbol.input], symbol.dim), toRoot));
  plan::FormulaTranslation translation(inside, dims, std::move(sizes));
  collect(region, inside, &translation, isChosen);
}

void RegionDemands::collect(func::FuncOp func, plan::SymbolicDims &inside,
                            plan::FormulaTranslation *toRoot, plan::FormulaAttr isChosen) {
  for (const plan::Demand &demand : plan::collectDemands(func, inside))
    add(demand, toRoot, isChosen);
  for (Operation &op : func.front()) {
    if (auto loop = dyn_cast<plan::LoopOp>(op))
      for (FlatSymbolRefAttr callee : {loop.getConditionAttr(), loop.getBodyAttr()})
        collectRegion(callee, loop.getOperands(), inside, toRoot, isChosen);
    auto branch = dyn_cast<plan::BranchOp>(op);
    if (!branch)
      continue;
    plan::FormulaAttr thenIsChosen = isChosen, otherwiseIsChosen = isChosen;
    if (branch.getCondition().getType().isIndex()) {
      plan::FormulaAttr choice = translate(inside.getFormula(branch.getCondition()), toRoot);
      if (!choice)
        continue;
      thenIsChosen = isChosen ? isChosen * choice : choice;
      otherwiseIsChosen = isChosen ? isChosen * (1 - choice) : 1 - choice;
    }
    collectRegion(branch.getThenAttr(), branch.getCaptures(), inside, toRoot, thenIsChosen);
    collectRegion(branch.getOtherwiseAttr(), branch.getCaptures(), inside, toRoot,
                  otherwiseIsChosen);
  }
}

namespace {

struct StateDemands final : impl::StateDemandsBase<StateDemands> {
  void runOnOperation() override {
    SymbolTable table(getOperation());
    for (auto func : getOperation().getOps<func::FuncOp>()) {
      if (func.isExternal() || func.isPrivate() || !hasDynamicInput(func))
        continue;
      ModuleOp scratch = copyOf(func, table);
      if (succeeded(reify(scratch)))
        state(func, scratch);
      scratch.erase();
    }
  }

private:
  /// A module beside the functions, with `func` and what it refers to: variables, kernels, and
  /// private functions, which kernels name as their references.
  ModuleOp copyOf(func::FuncOp func, SymbolTable &table) {
    OpBuilder builder = OpBuilder::atBlockEnd(getOperation().getBody());
    auto scratch = ModuleOp::create(builder, func.getLoc());
    builder.setInsertionPointToEnd(scratch.getBody());
    llvm::SetVector<Operation *> needed;
    needed.insert(func);
    // Grows while it is walked.
    for (size_t i = 0; i < needed.size(); ++i) {
      std::optional<SymbolTable::UseRange> uses = SymbolTable::getSymbolUses(needed[i]);
      if (!uses)
        continue;
      for (const SymbolTable::SymbolUse &use : *uses)
        if (Operation *symbol = table.lookup(use.getSymbolRef().getRootReference()))
          needed.insert(symbol);
    }
    for (Operation *op : needed)
      builder.clone(*op);
    eraseDead(scratch);
    return scratch;
  }

  /// What is refused here is reported where it is, later.
  LogicalResult reify(ModuleOp scratch) {
    ScopedDiagnosticHandler silence(&getContext(), [](Diagnostic &) { return success(); });
    OpPassManager pipeline(ModuleOp::getOperationName());
    // What constants choose is no choice.
    if (has<array::IfOp>(scratch))
      pipeline.addPass(createFoldConstants());
    pipeline.addPass(array::createDecompose());
    // The rules of extents look at what an op's result is used by, behind casts.
    if (has<array::SetExtentOp, array::CompressOp, array::AppendOp>(scratch))
      pipeline.addPass(createCanonicalizerPass());
    pipeline.addNestedPass<func::FuncOp>(array::createResolveExtents());
    pipeline.addPass(createGuardLoops());
    pipeline.addPass(createOutlineControl());
    if (failed(runPipeline(pipeline, scratch)))
      return failure();
    return stateRequirements(scratch, array::RequirementScope::All);
  }

  static void state(func::FuncOp func, ModuleOp scratch) {
    RegionDemands copied(scratch, scratch.lookupSymbol<func::FuncOp>(func.getName()));
    SmallVector<plan::Demand> demands = copied.run();
    plan::SymbolicDims dims(func, plan::UnifySizes::No);
    // Both functions have the same arguments.
    SmallVector<plan::FormulaAttr> symbols;
    for (unsigned symbol = 0; symbol < dims.getSymbols().size(); ++symbol)
      symbols.push_back(plan::FormulaAttr::getSymbol(func.getContext(), symbol));
    plan::FormulaTranslation here(copied.getDims(), dims, std::move(symbols));
    OpBuilder builder = OpBuilder::atBlockBegin(&func.front());
    SmallVector<Value> symbolValues;
    for (const plan::Demand &demand : demands) {
      Value left = dims.materialize(builder, demand.loc, here(demand.left), symbolValues),
            right = dims.materialize(builder, demand.loc, here(demand.right), symbolValues);
      plan::RequireOp::create(builder, demand.loc, left, demand.comparison, right, demand.what);
    }
  }
};

} // namespace

} // namespace xc
