//===- InferShapes.cpp - Derive static dims -===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Forward through each function, then across calls and returns, until nothing
// changes. Types only become more static, so this ends.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/AttributeNames.h"
#include "compiler/Dialect/Array/Transforms/Passes.h"

#include "compiler/Dialect/Array/IR/ArrayOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace xc::array {

#define GEN_PASS_DEF_INFERSHAPES
#include "compiler/Dialect/Array/Transforms/Passes.h.inc"

/// `type` with the static dims of `shape` filled in.
static RankedTensorType refine(RankedTensorType type, ArrayRef<int64_t> shape) {
  Dims refined;
  for (auto [known, learnt] : llvm::zip_equal(type.getShape(), shape))
    refined.push_back(mergeDims(known, learnt));
  return type.clone(refined);
}

/// The type that all `types` are instances of: static where they agree.
static RankedTensorType generalize(ArrayRef<RankedTensorType> types) {
  Dims shape(types.front().getShape());
  for (RankedTensorType type : types.drop_front())
    for (auto [dim, other] : llvm::zip_equal(shape, type.getShape()))
      if (dim != other)
        dim = ShapedType::kDynamic;
  return types.front().clone(shape);
}

/// Ops that accept an operand of any more static type.
static bool acceptsRefinedOperand(Operation *op) {
  bool isArray = isa_and_present<ArrayDialect>(op->getDialect());
  return (isArray && !isa<VariableAssignOp>(op)) || isa<tensor::DimOp, tensor::CastOp>(op);
}

/// Gives `value` the type `type`; users that need the old one get a cast.
static bool refineValue(Value value, RankedTensorType type) {
  Type old = value.getType();
  if (old == type)
    return false;
  value.setType(type);
  OpBuilder builder(value.getContext());
  builder.setInsertionPointAfterValue(value);
  tensor::CastOp cast;
  for (OpOperand &use : llvm::make_early_inc_range(value.getUses())) {
    if (acceptsRefinedOperand(use.getOwner()))
      continue;
    if (!cast)
      cast = tensor::CastOp::create(builder, value.getLoc(), old, value);
    use.set(cast);
  }
  return true;
}

/// Sets `operand`, whose user now expects `type`, to a value of that type.
static void castOperand(OpOperand &operand, Type type) {
  Value value = operand.get();
  // Look through a cast that the program or a refinement put there.
  auto cast = value.getDefiningOp<tensor::CastOp>();
  if (cast && tensor::CastOp::areCastCompatible(cast.getSource().getType(), type))
    value = cast.getSource();
  if (value.getType() != type) {
    OpBuilder builder(operand.getOwner());
    value = tensor::CastOp::create(builder, operand.getOwner()->getLoc(), type, value);
  }
  operand.set(value);
}

/// The most static type known of `value`: that of what was cast to it, too.
static RankedTensorType knownType(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  auto cast = value.getDefiningOp<tensor::CastOp>();
  if (type && cast)
    if (auto source = dyn_cast<RankedTensorType>(cast.getSource().getType()))
      return refine(type, source.getShape());
  return type;
}

//===----------------------------------------------------------------------===//
// One op
//===----------------------------------------------------------------------===//

/// Uses the source of a cast that only forgets dims.
static bool lookThroughCasts(Operation *op) {
  bool changed = false;
  for (OpOperand &operand : op->getOpOperands()) {
    auto cast = operand.get().getDefiningOp<tensor::CastOp>();
    if (!cast || !acceptsRefinedOperand(op) || isa<tensor::CastOp>(op) ||
        knownType(cast.getResult()) != cast.getSource().getType())
      continue;
    operand.set(cast.getSource());
    changed = true;
  }
  return changed;
}

/// Folds arithmetic on sizes, which feeds `sizes(...)`.
static bool foldSize(Operation *op) {
  if (op->getNumResults() != 1 || !op->getResult(0).getType().isIndex() ||
      op->hasTrait<OpTrait::ConstantLike>())
    return false;
  OpBuilder builder(op);
  SmallVector<Value> results;
  if (failed(builder.tryFold(op, results)) || results.size() != 1 || op->use_empty())
    return false;
  op->getResult(0).replaceAllUsesWith(results.front());
  return true;
}

static FailureOr<bool> refineArrayOp(Operation *op) {
  if (auto sized = dyn_cast<ArraySizedOpInterface>(op)) {
    SmallVector<Value> sizes;
    RankedTensorType type = refineSizedType(sized, sizes);
    if (type == op->getResult(0).getType())
      return false;
    sized.getSizesMutable().assign(sizes);
    return refineValue(op->getResult(0), type);
  }
  SmallVector<Type> inferred;
  if (auto inferable = dyn_cast<InferTypeOpInterface>(op)) {
    if (failed(inferable.inferReturnTypes(op->getContext(), op->getLoc(), op->getOperands(),
                                          op->getDiscardableAttrDictionary(),
                                          op->getPropertiesStorage(), op->getRegions(), inferred)))
      return failure();
  } else if (isa<ArrayElementwiseOpInterface>(op)) {
    inferred.push_back(op->getOperand(0).getType());
  }
  bool changed = false;
  for (auto [result, type] : llvm::zip(op->getResults(), inferred)) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    auto old = dyn_cast<RankedTensorType>(result.getType());
    if (!tensor || !old)
      continue;
    if (failed(verifyCompatibleShape(old, tensor)))
      return op->emitOpError("expected a result compatible with ")
             << tensor << ", which its operands imply, got " << old;
    changed |= refineValue(result, refine(old, tensor.getShape()));
  }
  return changed;
}

//===----------------------------------------------------------------------===//
// Across functions
//===----------------------------------------------------------------------===//

/// Gives `func` the result types that all its returns agree on.
static bool refineResults(func::FuncOp func) {
  SmallVector<func::ReturnOp> returns;
  func.walk([&](func::ReturnOp op) { returns.push_back(op); });
  if (returns.empty())
    return false;
  SmallVector<Type> types(func.getResultTypes());
  for (auto [index, type] : llvm::enumerate(types)) {
    auto declared = dyn_cast<RankedTensorType>(type);
    // An alias has the type of its argument.
    if (!declared || func.getResultAttr(index, kAliasAttr))
      continue;
    SmallVector<RankedTensorType> returned;
    for (func::ReturnOp op : returns)
      returned.push_back(refine(declared, knownType(op.getOperand(index)).getShape()));
    type = generalize(returned);
  }
  if (llvm::equal(types, func.getResultTypes()))
    return false;
  func.setFunctionType(FunctionType::get(func.getContext(), func.getArgumentTypes(), types));
  for (func::ReturnOp op : returns)
    for (auto [operand, type] : llvm::zip_equal(op->getOpOperands(), types))
      castOperand(operand, type);
  return true;
}

/// All calls of `func`, if it can be called in no other way.
static std::optional<SmallVector<func::CallOp>> knownCalls(func::FuncOp func,
                                                           const SymbolUserMap &users) {
  if (func.isPublic())
    return std::nullopt;
  SmallVector<func::CallOp> calls;
  for (Operation *user : users.getUsers(func)) {
    auto call = dyn_cast<func::CallOp>(user);
    if (!call)
      return std::nullopt;
    calls.push_back(call);
  }
  return calls;
}

/// Gives `func` the argument types that all `calls` agree on.
static bool refineArguments(func::FuncOp func, ArrayRef<func::CallOp> calls) {
  bool changed = false;
  for (BlockArgument argument : func.getArguments()) {
    auto declared = dyn_cast<RankedTensorType>(argument.getType());
    if (!declared || calls.empty())
      continue;
    SmallVector<RankedTensorType> passed;
    for (func::CallOp call : calls)
      passed.push_back(
          refine(declared, knownType(call.getOperand(argument.getArgNumber())).getShape()));
    changed |= refineValue(argument, generalize(passed));
  }
  if (!changed)
    return false;
  func.setFunctionType(
      FunctionType::get(func.getContext(), func.front().getArgumentTypes(), func.getResultTypes()));
  for (func::CallOp call : calls)
    for (auto [operand, type] : llvm::zip_equal(call->getOpOperands(), func.getArgumentTypes()))
      castOperand(operand, type);
  return true;
}

namespace {
struct InferShapes : impl::InferShapesBase<InferShapes> {
  void runOnOperation() override {
    SymbolTableCollection tables;
    SymbolUserMap users(tables, getOperation());
    for (bool changed = true; changed;) {
      changed = false;
      for (func::FuncOp func : getOperation().getOps<func::FuncOp>()) {
        FailureOr<bool> refined = refineFunction(func, tables, users);
        if (failed(refined))
          return signalPassFailure();
        changed |= *refined;
      }
    }
    getOperation()->walk([](tensor::CastOp cast) {
      if (cast->use_empty())
        cast.erase();
    });
  }

private:
  FailureOr<bool> refineFunction(func::FuncOp func, SymbolTableCollection &tables,
                                 const SymbolUserMap &users) {
    if (func.isDeclaration())
      return false;
    FailureOr<bool> changed = refineBody(func, tables);
    if (failed(changed))
      return failure();
    if (refineResults(func))
      changed = true;
    std::optional<SmallVector<func::CallOp>> calls = knownCalls(func, users);
    if (calls && refineArguments(func, *calls))
      changed = true;
    return changed;
  }

  FailureOr<bool> refineBody(func::FuncOp func, SymbolTableCollection &tables) {
    bool changed = false;
    WalkResult result = func.walk<WalkOrder::PreOrder>([&](Operation *op) {
      changed |= lookThroughCasts(op);
      changed |= foldSize(op);
      if (auto call = dyn_cast<func::CallOp>(op))
        changed |= refineCall(call, tables);
      if (!isa_and_present<ArrayDialect>(op->getDialect()))
        return WalkResult::advance();
      FailureOr<bool> refined = refineArrayOp(op);
      if (failed(refined))
        return WalkResult::interrupt();
      changed |= *refined;
      return WalkResult::advance();
    });
    return result.wasInterrupted() ? FailureOr<bool>(failure()) : changed;
  }

  /// Gives the results of `call` the types that its callee returns.
  bool refineCall(func::CallOp call, SymbolTableCollection &tables) {
    auto callee = tables.lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
    bool changed = false;
    for (auto [result, type] : llvm::zip_equal(call.getResults(), callee.getResultTypes()))
      if (auto tensor = dyn_cast<RankedTensorType>(type))
        changed |= refineValue(result, tensor);
    return changed;
  }
};
} // namespace

} // namespace xc::array
