//===- Combiner.cpp - How partial results of a reduction are put together -===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Three forms of g are known to be associative:
//   * each result is `acc op leaf` with an op that has a neutral element (sum, product, max, ...);
//   * g picks: it is made of comparisons, selects, min and max, so that its result is one of
//     its two operands (argmax). The order of threads is not that of the elements, so where both
//     orders of the operands give different positions (a tie), the one that a walk from the first
//     element on would have kept wins;
//   * the body says by kernel.element what meets the accumulators, and that whatever it makes of
//     both is associative and commutative.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/Common/Combiner.h"

#include "compiler/Dialect/Kernel/IR/KernelOps.h"
#include "compiler/Dialect/Plan/IR/PlanOps.h"
#include "compiler/Dialect/Plan/IR/Reductions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace xc::codegen {

/// The neutral element of `acc op leaf`, or null.
static TypedAttr getNeutralElement(Operation *op) {
  std::optional<TypedAttr> neutral = arith::getNeutralElement(op);
  return neutral ? *neutral : TypedAttr();
}

static bool isPicking(Operation *op) {
  return isa<arith::SelectOp, arith::CmpFOp, arith::CmpIOp, arith::OrIOp, arith::AndIOp,
             arith::XOrIOp, arith::MaximumFOp, arith::MaxNumFOp, arith::MinimumFOp,
             arith::MinNumFOp, arith::MaxSIOp, arith::MaxUIOp, arith::MinSIOp, arith::MinUIOp>(op);
}

LogicalResult Combiner::matchGiven() {
  Block *body = op.getBlock();
  leaves.assign(accumulators.size(), Value());
  neutrals.assign(accumulators.size(), TypedAttr());
  given = true;
  auto follows = [&](Value operand) {
    Operation *definition = operand.getDefiningOp();
    return llvm::is_contained(accumulators, operand) || llvm::is_contained(leaves, operand) ||
           (definition && combining.contains(definition));
  };
  for (Operation &bodyOp : body->without_terminator()) {
    if (auto element = dyn_cast<kernel::ElementOp>(bodyOp)) {
      if (element.getNumber() >= leaves.size() || leaves[element.getNumber()] ||
          follows(element.getValue()))
        return failure();
      leaves[element.getNumber()] = element.getResult();
    } else if (llvm::any_of(bodyOp.getOperands(), follows)) {
      // Beside what is combined there is nothing but constants when two partial results meet.
      for (Value operand : bodyOp.getOperands())
        if (!follows(operand) && !matchPattern(operand, m_Constant()))
          return failure();
      combining.insert(&bodyOp);
      steps.push_back(&bodyOp);
    } else if (bodyOp.hasTrait<OpTrait::ConstantLike>()) {
      steps.push_back(&bodyOp);
    }
  }
  return success(!llvm::is_contained(leaves, Value()) &&
                 llvm::all_of(body->getTerminator()->getOperands(), follows));
}

void Combiner::markCombining() {
  for (Operation &bodyOp : op.getBlock()->without_terminator())
    if (llvm::any_of(bodyOp.getOperands(), [&](Value operand) {
          return llvm::is_contained(accumulators, operand) ||
                 (operand.getDefiningOp() && combining.contains(operand.getDefiningOp()));
        }))
      combining.insert(&bodyOp);
}

bool Combiner::isOfCombining(Value value) const {
  return llvm::is_contained(accumulators, value) ||
         (value.getDefiningOp() && combining.contains(value.getDefiningOp()));
}

bool Combiner::isForeign(Value value) const {
  return !isOfCombining(value) && !matchPattern(value, m_Constant());
}

LogicalResult Combiner::matchLeaves(Constants constants) {
  for (auto [accumulator, yielded] :
       llvm::zip_equal(accumulators, op.getBlock()->getTerminator()->getOperands())) {
    Operation *last = yielded.getDefiningOp();
    if (!last || !combining.contains(last))
      return failure();
    bool simple =
        last->getNumOperands() == 2 && llvm::is_contained(last->getOperands(), Value(accumulator));
    neutrals.push_back(simple ? getNeutralElement(last) : TypedAttr());
    bool constantsToo = constants == Constants::Leaves && neutrals.back();
    SmallVector<Value, 2> candidates;
    for (Value operand : last->getOperands())
      if ((constantsToo ? !isOfCombining(operand) : isForeign(operand)) &&
          operand.getType() == accumulator.getType() && !llvm::is_contained(candidates, operand))
        candidates.push_back(operand);
    if (candidates.size() != 1)
      return failure();
    leaves.push_back(candidates.front());
  }
  return success();
}

/// There is nothing else when two partial results are combined.
LogicalResult Combiner::collectSteps() {
  Block *body = op.getBlock();
  llvm::SmallPtrSet<Operation *, 8> needed;
  std::function<bool(Operation *)> addStep = [&](Operation *bodyOp) {
    if (!needed.insert(bodyOp).second)
      return true;
    return llvm::all_of(bodyOp->getOperands(), [&](Value operand) {
      if (!isForeign(operand) || llvm::is_contained(leaves, operand))
        return !operand.getDefiningOp() || !combining.contains(operand.getDefiningOp()) ||
               addStep(operand.getDefiningOp());
      Operation *definition = operand.getDefiningOp();
      return definition && definition->getBlock() == body && isPure(definition) &&
             !isa<linalg::IndexOp>(definition) && definition->getNumOperands() > 0 &&
             definition->getNumRegions() == 0 && addStep(definition);
    });
  };
  if (!llvm::all_of(combining, addStep))
    return failure();
  for (Operation &bodyOp : *body)
    if (needed.contains(&bodyOp))
      steps.push_back(&bodyOp);
  return success();
}

LogicalResult Combiner::matchPicking() {
  // Two partial results meet in the place of a leaf each: one leaf cannot stand for two.
  llvm::SmallDenseSet<Value> distinct(leaves.begin(), leaves.end());
  if (distinct.size() != leaves.size() || !llvm::all_of(combining, isPicking))
    return failure();
  llvm::fill(neutrals, TypedAttr());
  for (auto [index, leaf] : llvm::enumerate(leaves)) {
    Operation *definition = leaf.getDefiningOp();
    while (isa_and_nonnull<arith::IndexCastOp, arith::IndexCastUIOp, arith::TruncIOp>(definition))
      definition = definition->getOperand(0).getDefiningOp();
    if (isa_and_nonnull<linalg::IndexOp>(definition))
      position = index;
  }
  // Where partial results meet again, their positions are an operand.
  if (auto given = op->getAttrOfType<IntegerAttr>(plan::kPositionAttr);
      given && given.getInt() >= 0 && given.getInt() < getNumResults() &&
      isa<IntegerType>(accumulators[given.getInt()].getType()))
    position = given.getInt();
  return success();
}

FailureOr<Combiner> Combiner::match(linalg::LinalgOp op, Constants constants) {
  Combiner result;
  result.op = op;
  for (BlockArgument argument : op.getRegionOutputArgs())
    result.accumulators.push_back(argument);
  LogicalResult matched = success();
  if (!op.getBlock()->getOps<kernel::ElementOp>().empty()) {
    matched = result.matchGiven();
  } else {
    result.markCombining();
    matched = success(succeeded(result.matchLeaves(constants)) && succeeded(result.collectSteps()));
    if (succeeded(matched) && !llvm::all_of(result.neutrals, [](TypedAttr neutral) {
          return static_cast<bool>(neutral);
        }))
      matched = result.matchPicking();
  }
  if (failed(matched))
    return failure();
  return result;
}

} // namespace xc::codegen
