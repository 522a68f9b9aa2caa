//===- ImportControl.cpp - StableHLO's loops, branches and calls ----------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Input/StableHLO/ImportStableHLO.h"
#include "compiler/Input/StableHLO/Sdy.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace xc::array;

namespace xc::stablehlo_import {

namespace shlo = stablehlo;

/// Moves `from` to `to` with an end of ours.
static void moveRegion(Region &from, Region &to) {
  to.takeBody(from);
  Operation *end = to.front().getTerminator();
  OpBuilder builder(end);
  YieldOp::create(builder, end->getLoc(), end->getOperands());
  end->erase();
}

/// What the body hands on unchanged, as JAX carries all that a loop reads, is seen from outside.
static Result convertWhile(shlo::WhileOp op, ExpressionBuilder &e) {
  Block &condition = op.getCond().front(), &body = op.getBody().front();
  Operation *end = body.getTerminator();
  llvm::BitVector unchanged(op.getNumResults());
  SmallVector<Value> inits, results(op.getInputs());
  SmallVector<Type> types;
  for (auto [index, init] : llvm::enumerate(op.getInputs())) {
    BlockArgument value = body.getArgument(index);
    bool isUnchanged = end->getOperand(index) == value && init.getType() == value.getType() &&
                       init.getType() == op.getResult(index).getType();
    if (isUnchanged) {
      unchanged.set(index);
      value.replaceAllUsesWith(init);
      condition.getArgument(index).replaceAllUsesWith(init);
    } else {
      inits.push_back(init);
      types.push_back(op.getResult(index).getType());
    }
  }
  end->eraseOperands(unchanged);
  body.eraseArguments(unchanged);
  condition.eraseArguments(unchanged);
  auto loop = WhileOp::create(e.getBuilder(), op.getLoc(), types, inits);
  moveRegion(op.getCond(), loop.getCondition());
  moveRegion(op.getBody(), loop.getBody());
  auto changed = loop.getResults().begin();
  for (auto [index, result] : llvm::enumerate(results))
    if (!unchanged.test(index))
      result = *changed++;
  return Result(results);
}

static Result convertIf(shlo::IfOp op, ExpressionBuilder &e) {
  auto choice = IfOp::create(e.getBuilder(), op.getLoc(), op.getResultTypes(), op.getPred());
  moveRegion(op.getTrueBranch(), choice.getThenRegion());
  moveRegion(op.getFalseBranch(), choice.getElseRegion());
  return Result(llvm::to_vector_of<Value>(choice.getResults()));
}

/// The branches from `number` on: each where the index is its own, the last one elsewhere.
static SmallVector<Value> chooseBranch(shlo::CaseOp op, ExpressionBuilder &e, unsigned number) {
  OpBuilder &builder = e.getBuilder();
  Value isThis =
      e.compare(CompareDirection::Eq, op.getIndex(), e.integer(number, elementOf(op.getIndex())));
  auto choice = IfOp::create(builder, op.getLoc(), op.getResultTypes(), isThis);
  moveRegion(op.getBranches()[number], choice.getThenRegion());
  if (number + 2 == op.getBranches().size()) {
    moveRegion(op.getBranches()[number + 1], choice.getElseRegion());
  } else {
    OpBuilder::InsertionGuard guard(builder);
    builder.createBlock(&choice.getElseRegion());
    YieldOp::create(builder, op.getLoc(), chooseBranch(op, e, number + 1));
  }
  return llvm::to_vector_of<Value>(choice.getResults());
}

static Result convertCase(shlo::CaseOp op, ExpressionBuilder &e) {
  if (op.getBranches().size() > 1)
    return Result(chooseBranch(op, e, 0));
  Block &block = op.getBranches().front().front();
  SmallVector<Value> values(block.getTerminator()->getOperands());
  for (Operation &inner : llvm::make_early_inc_range(block.without_terminator()))
    inner.moveBefore(op);
  return Result(values);
}

/// A composite is its decomposition.
static Result convertComposite(shlo::CompositeOp op, ExpressionBuilder &e) {
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(op, op.getDecompositionAttr());
  if (!callee || TypeRange(callee.getArgumentTypes()) != TypeRange(op.getInputs().getTypes()) ||
      TypeRange(callee.getResultTypes()) != TypeRange(op.getResultTypes()))
    return Result::refuse("its decomposition is no function of its operands and results");
  auto call = func::CallOp::create(e.getBuilder(), op.getLoc(), callee, op.getInputs());
  return Result(llvm::to_vector_of<Value>(call.getResults()));
}

/// The `k` largest or smallest elements along dim `axis`, and where they are.
static Result makeTopK(Operation *op, ExpressionBuilder &e, Value operand, int64_t k, int64_t axis,
                       bool isSmallest = false) {
  auto type = typeOf(operand), values = cast<RankedTensorType>(op->getResult(0).getType()),
       indices = cast<RankedTensorType>(op->getResult(1).getType());
  if (isTruth(operand) || axis < 0 || axis >= type.getRank() || k < 0 || k > type.getDimSize(axis))
    return Result::refuse("it asks for " + Twine(k) +
                          " elements of an operand that has fewer, or no numbers");
  SmallVector<int64_t> shape(type.getShape());
  shape[axis] = k;
  bool isCount = indices.getElementType().isSignlessInteger(32) ||
                 indices.getElementType().isSignlessInteger(64);
  if (values != type.clone(shape) || indices.getShape() != ArrayRef(shape) || !isCount)
    return Result::refuse("its results are not " + Twine(k) +
                          " elements and their i32 or i64 indices");
  auto result = TopKOp::create(e.getBuilder(), op->getLoc(), values, indices, operand,
                               static_cast<uint64_t>(k), static_cast<uint64_t>(axis), isSmallest);
  return Result(llvm::to_vector_of<Value>(result->getResults()));
}

/// The function that a call names as its only computation.
static func::FuncOp getComputation(shlo::CustomCallOp op) {
  ArrayAttr names = op.getCalledComputationsAttr();
  auto name = names && names.size() == 1 ? dyn_cast<FlatSymbolRefAttr>(names[0]) : nullptr;
  return name ? SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(op, name) : nullptr;
}

/// `jax.lax.approx_max_k` and `approx_min_k`: the exact elements are as good an approximation as
/// any.
static Result convertApproxTopK(shlo::CustomCallOp op, ExpressionBuilder &e) {
  auto config = op->getAttrOfType<DictionaryAttr>("mhlo.backend_config");
  auto k = config ? config.getAs<IntegerAttr>("top_k") : nullptr;
  auto axis = config ? config.getAs<IntegerAttr>("reduction_dim") : nullptr;
  auto isWhole = config ? config.getAs<BoolAttr>("aggregate_to_topk") : nullptr;
  if (op.getInputs().size() != 4 || op.getNumResults() != 2 || !k || !axis || !isWhole ||
      !isWhole.getValue())
    return Result::refuse(
        "@ApproxTopK does not say that it is of one array, and of which elements");
  auto places = op.getInputs()[1].getDefiningOp<IotaOp>();
  if (!places || static_cast<int64_t>(places.getAxis()) != axis.getInt())
    return Result::refuse("@ApproxTopK has other positions than those along its dim");
  func::FuncOp comparator = getComputation(op);
  bool hasBody = comparator && comparator.getBody().hasOneBlock() &&
                 comparator.getBody().front().getOperations().size() == 2;
  auto compare = hasBody ? dyn_cast<CompareOp>(comparator.getBody().front().front()) : CompareOp();
  if (!compare || compare.getLhs() != comparator.getArgument(0) ||
      compare.getRhs() != comparator.getArgument(1) ||
      (compare.getDirection() != CompareDirection::Gt &&
       compare.getDirection() != CompareDirection::Lt))
    return Result::refuse("@ApproxTopK has a comparator that is neither larger nor smaller");
  return makeTopK(op, e, op.getInputs().front(), k.getInt(), axis.getInt(),
                  compare.getDirection() == CompareDirection::Lt);
}

/// Marks that say something to a compiler for several devices, and change no value.
static bool isMarkName(StringRef target) {
  return target == "Sharding" || target == "annotate_device_placement" ||
         target == "LayoutConstraint";
}

static Result convertCustomCall(shlo::CustomCallOp op, ExpressionBuilder &e) {
  StringRef target = op.getCallTargetName();
  if (isMarkName(target)) {
    if (op.getInputs().getTypes() != op.getResultTypes())
      return Result::refuse("@" + target + " has results of other types than its operands");
    return Result(llvm::to_vector_of<Value>(op.getInputs()));
  }
  if (target == "shape_assertion" && op.getNumResults() == 0)
    return Result(SmallVector<Value>());
  if (target == "mhlo.topk" && op.getInputs().size() == 1 && op.getNumResults() == 2) {
    auto type = cast<RankedTensorType>(op.getResultTypes().front());
    auto attributes = op->getAttrOfType<DictionaryAttr>("mhlo.attributes");
    auto largest = attributes ? attributes.getAs<BoolAttr>("largest") : nullptr;
    if (!largest || !largest.getValue())
      return Result::refuse("@mhlo.topk is not said to be of the largest elements");
    return makeTopK(op, e, op.getInputs().front(), type.getRank() ? type.getShape().back() : -1,
                    type.getRank() - 1);
  }
  if (target == "ApproxTopK")
    return convertApproxTopK(op, e);
  return Result::refuse(
      "@" + target +
      " is none of the calls that are known: Sharding, "
      "annotate_device_placement, LayoutConstraint, shape_assertion, mhlo.topk, ApproxTopK");
}

Replacement convertControl(Operation *op, ExpressionBuilder &e) {
  if (auto loop = dyn_cast<shlo::WhileOp>(op))
    return convertWhile(loop, e);
  if (auto choice = dyn_cast<shlo::IfOp>(op))
    return convertIf(choice, e);
  if (auto choice = dyn_cast<shlo::CaseOp>(op))
    return convertCase(choice, e);
  if (auto composite = dyn_cast<shlo::CompositeOp>(op))
    return convertComposite(composite, e);
  if (auto call = dyn_cast<shlo::CustomCallOp>(op))
    return convertCustomCall(call, e);
  if (auto top = dyn_cast<chlo::TopKOp>(op))
    return makeTopK(top, e, top.getOperand(), top.getK(), typeOf(top.getOperand()).getRank() - 1);
  // How values are spread over devices changes none of them.
  if (isa<sdy::MeshOp>(op))
    return Result(SmallVector<Value>());
  if (isa<shlo::OptimizationBarrierOp, sdy::ShardingConstraintOp>(op))
    return Result(llvm::to_vector_of<Value>(op->getOperands()));
  // There is one device.
  if (isa<shlo::PartitionIdOp, shlo::ReplicaIdOp>(op))
    return Result(zeros(e, cast<RankedTensorType>(op->getResult(0).getType())));
  return std::nullopt;
}

} // namespace xc::stablehlo_import
