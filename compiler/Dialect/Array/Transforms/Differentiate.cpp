//===- Differentiate.cpp - Gradients of ops through what they consist of -===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/Transforms/Differentiate.h"

#include "compiler/Dialect/Array/IR/ArrayOps.h"
#include "compiler/Dialect/Array/IR/TensorTypes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace xc::array {

using Values = SmallVector<Value>;

namespace {

/// Remembers what is built, in order.
struct OpCollector : OpBuilder::Listener {
  void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint) override {
    ops.push_back(op);
  }
  SmallVector<Operation *> ops;
};

} // namespace

void FlowingCotangents::add(Value value, Value cotangent) {
  if (!cotangent)
    return;
  Value &sum = sums[value];
  sum = sum ? Value(AddOp::create(builder, location, sum, cotangent)) : cotangent;
  // What was inferred may say more than the value's type.
  if (sum.getType() != value.getType())
    sum = tensor::CastOp::create(builder, location, value.getType(), sum);
}

LogicalResult pullBack(OpBuilder &builder, Operation *op, FlowingCotangents &cotangents,
                       const llvm::DenseSet<Value> *dependent) {
  auto results =
      llvm::map_to_vector(op->getResults(), [&](Value value) { return cotangents.lookup(value); });
  bool isReached = llvm::any_of(results, [](Value value) { return !!value; });
  if (!isReached || llvm::none_of(op->getOperands(), isFloatTensor))
    return success();
  if (auto cast = dyn_cast<tensor::CastOp>(op)) {
    cotangents.add(
        cast.getSource(),
        tensor::CastOp::create(builder, op->getLoc(), cast.getSource().getType(), results.front()));
    return success();
  }
  FailureOr<Values> operands = buildCotangents(builder, op, results, dependent);
  if (failed(operands))
    return failure();
  for (auto [operand, cotangent] : llvm::zip_equal(op->getOperands(), *operands))
    cotangents.add(operand, cotangent);
  return success();
}

FailureOr<Values> buildCotangents(OpBuilder &builder, Operation *op, ValueRange cotangents,
                                  const llvm::DenseSet<Value> *dependent) {
  if (auto differentiable = dyn_cast<ArrayVjpOpInterface>(op)) {
    auto isWanted = [&](Value operand) { return !dependent || dependent->contains(operand); };
    FailureOr<Values> own = differentiable.buildWantedVjp(builder, cotangents, isWanted);
    if (succeeded(own) && own->size() != op->getNumOperands())
      return op->emitOpError("expected its gradient to have ")
             << op->getNumOperands() << " parts, one for each operand, got " << own->size();
    if (succeeded(own))
      return own;
  }
  if (op->getNumResults() == 1)
    if (FailureOr<Values> moved = buildExtentVjp(builder, op, cotangents.front()); succeeded(moved))
      return moved;
  auto composite = dyn_cast<ArrayDecomposableOpInterface>(op);
  if (!composite)
    return failure();
  OpCollector parts;
  OpBuilder collecting(builder.getContext(), &parts);
  collecting.setInsertionPoint(builder.getInsertionBlock(), builder.getInsertionPoint());
  FailureOr<Values> results = composite.decompose(collecting);
  if (failed(results))
    return failure();
  FlowingCotangents flowing(builder, op->getLoc());
  for (auto [result, cotangent] : llvm::zip_equal(*results, cotangents))
    flowing.add(result, cotangent);
  for (Operation *part : llvm::reverse(parts.ops))
    if (failed(pullBack(builder, part, flowing)))
      return failure();
  Values operands;
  llvm::SmallPtrSet<void *, 4> seen;
  // An operand that comes twice has its whole sum at its first place.
  for (Value operand : op->getOperands())
    operands.push_back(seen.insert(operand.getAsOpaquePointer()).second ? flowing.lookup(operand)
                                                                        : Value());
  return operands;
}

FailureOr<SmallVector<Operation *>> findDependent(Block &block, llvm::DenseSet<Value> &dependent) {
  SmallVector<Operation *> ops;
  for (Operation &op : block) {
    if (op.hasTrait<OpTrait::IsTerminator>())
      break;
    bool reads = false;
    VariableAssignOp assign;
    // Regions see values from outside.
    op.walk([&](Operation *inner) {
      reads |= llvm::any_of(inner->getOperands(), [&](Value v) { return dependent.contains(v); });
      if (auto found = dyn_cast<VariableAssignOp>(inner))
        assign = found;
    });
    if (!reads)
      continue;
    if (assign)
      return assign.emitError() << "'" << assign->getName()
                                << "' keeps what depends on an input of '"
                                << op.getParentOfType<FunctionOpInterface>().getName()
                                << "'; a gradient would assign it again";
    ops.push_back(&op);
    for (Value result : op.getResults())
      if (isFloatTensor(result))
        dependent.insert(result);
  }
  return ops;
}

/// Why an op without a gradient has none, and what has one instead; empty where there is nothing to
/// say.
static std::string explainNoGradient(Operation *op) {
  std::string text;
  llvm::raw_string_ostream out(text);
  if (isa<ReduceWithOp>(op)) {
    out << ": the order in which its body combines elements is not specified; use array.reduce, "
           "argmax, logsumexp or a scan that computes the same";
    return text;
  }
  if (!isa<ArrayVjpOpInterface, ArrayDecomposableOpInterface>(op))
    return text;
  SmallVector<Type> types(op->getOperandTypes());
  llvm::append_range(types, op->getResultTypes());
  llvm::SmallSetVector<Type, 4> open;
  for (Type type : types)
    if (auto shaped = dyn_cast<RankedTensorType>(type); shaped && !shaped.hasStaticShape())
      open.insert(type);
  if (!open.empty()) {
    out << ": it depends on sizes that are not known, of ";
    llvm::interleaveComma(open, out, [&](Type type) { out << "'" << type << "'"; });
    out << "; expected static ones in place of ?";
  }
  return text;
}

LogicalResult pullBackAll(OpBuilder &builder, ArrayRef<Operation *> ops,
                          const llvm::DenseSet<Value> &dependent, FlowingCotangents &cotangents) {
  for (Operation *op : llvm::reverse(ops)) {
    if (llvm::none_of(op->getResults(), [&](Value v) { return !!cotangents.lookup(v); }))
      continue;
    if (isa<IfOp, WhileOp>(op)) {
      if (failed(pullBackControl(builder, op, dependent, cotangents)))
        return failure();
      continue;
    }
    if ((op->getNumRegions() != 0 && !isa<ArrayVjpOpInterface>(op)) ||
        failed(pullBack(builder, op, cotangents, &dependent)))
      return op->emitError() << "'" << op->getName() << "' has no gradient"
                             << explainNoGradient(op);
  }
  return success();
}

} // namespace xc::array
