//===- VerifyClosedGroups.cpp - Whether kernels of one op may hold others -===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A closed group has an op whose kernel goes over loops of its own: attention, an update. Ops in
// front of it make its operands. The kernel computes an element of them wherever, and as often as,
// it needs one. So each of these ops
//
// - gives one point to each element of its result, and reduces nothing, or is a reshape;
// - is used in the kernel alone, since nobody writes its result into memory;
// - stands behind what it needs of the others;
// - reads nothing that the kernel writes: other threads may have written it already.
//
// Ops behind it say where its results are stored: each only moves the elements of what one before
// it makes, which is used by it alone.
//
// Or it is a chain of insertions, each into what the one before it makes. As VerifyDispatchGroups,
// this knows nothing of how groups are made.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dispatch/DispatchGroups.h"
#include "compiler/Dispatch/SamplePoints.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

#include <map>

using namespace mlir;

namespace xc::plan {

namespace {

class ClosedGroupVerifier {
public:
  explicit ClosedGroupVerifier(ArrayRef<Operation *> ops) : ops(ops) {}
  LogicalResult run();

private:
  LogicalResult verifyInsertions();
  LogicalResult verifyStored(ArrayRef<Operation *> before, Operation *op);
  LogicalResult verifyMember(Operation *op);
  LogicalResult verifyElements(linalg::LinalgOp op);
  LogicalResult verifyUses(Operation *op, ValueRange results);
  LogicalResult verifyOrder(Operation *op);
  LogicalResult verifyReads(Operation *op);

  bool isInside(Operation *op) const { return op && llvm::is_contained(ops, op); }

  ArrayRef<Operation *> ops;
  Operation *kernelOp = nullptr; // that the group is closed for
};

} // namespace

/// The tensor whose memory `tensor` is all or a part of.
static Value getWhole(Value tensor) {
  while (isa_and_nonnull<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp,
                         tensor::ExtractSliceOp>(tensor.getDefiningOp()))
    tensor = tensor.getDefiningOp()->getOperand(0);
  return tensor;
}

/// Values from outside of `op` that it, or its body, uses.
static void forEachUse(Operation *op, llvm::function_ref<void(OpOperand &)> visit) {
  op->walk([&](Operation *inner) {
    for (OpOperand &operand : inner->getOpOperands())
      if (!op->isAncestor(operand.get().getParentBlock()->getParentOp()))
        visit(operand);
  });
}

LogicalResult ClosedGroupVerifier::verifyInsertions() {
  for (auto [before, op] : llvm::zip(ops, ops.drop_front())) {
    auto insertion = dyn_cast<tensor::InsertSliceOp>(op);
    if (!insertion || insertion.getDest() != before->getResult(0))
      return op->emitOpError(
          "fused wrongly: expected an insertion into what the op before it makes");
    if (failed(verifyUses(before, before->getResults())))
      return failure();
    if (insertion.getSource() == before->getResult(0))
      return op->emitOpError("fused wrongly: expected a source from another kernel, got what the "
                             "op before it makes");
  }
  return success();
}

LogicalResult ClosedGroupVerifier::verifyElements(linalg::LinalgOp op) {
  if (op.getNumReductionLoops() > 0)
    return op.emitOpError("fused wrongly: expected no loops that reduce in a kernel of another op, "
                          "got ")
           << op.getNumReductionLoops();
  for (OpOperand &init : op.getDpsInitsMutable()) {
    std::map<Point, Point> pointOf;
    for (const Point &point : samplePoints(op)) {
      Point element;
      for (AffineExpr expr : op.getMatchingIndexingMap(&init).getResults())
        element.push_back(evaluate(expr, point));
      auto [other, isNew] = pointOf.try_emplace(element, point);
      if (!isNew)
        return op.emitOpError("fused wrongly: expected one point for each element, got ")
               << toString(other->second) << " and " << toString(point) << " for element "
               << toString(element);
    }
  }
  return success();
}

LogicalResult ClosedGroupVerifier::verifyUses(Operation *op, ValueRange results) {
  for (Value result : results)
    for (OpOperand &use : result.getUses()) {
      if (isInside(op->getBlock()->findAncestorOpInBlock(*use.getOwner())))
        continue;
      InFlightDiagnostic diagnostic =
          op->emitOpError("fused wrongly: expected uses in its kernel alone, got one outside");
      diagnostic.attachNote(use.getOwner()->getLoc()) << "used here";
      return diagnostic;
    }
  return success();
}

LogicalResult ClosedGroupVerifier::verifyOrder(Operation *op) {
  auto behind = ArrayRef(llvm::find(ops, op), ops.end());
  LogicalResult result = success();
  forEachUse(op, [&](OpOperand &use) {
    Operation *producer = use.get().getDefiningOp();
    if (succeeded(result) && producer && llvm::is_contained(behind, producer))
      result = op->emitOpError("fused wrongly: expected what it needs to be computed before it");
  });
  return result;
}

LogicalResult ClosedGroupVerifier::verifyReads(Operation *op) {
  auto kernel = dyn_cast<DestinationStyleOpInterface>(kernelOp);
  if (!kernel)
    return success();
  LogicalResult result = success();
  forEachUse(op, [&](OpOperand &use) {
    // What only gives a size, or a place for a result, is not read.
    auto member = dyn_cast<linalg::LinalgOp>(use.getOwner());
    bool isUnread =
        isa<tensor::DimOp>(use.getOwner()) || (member && !member.payloadUsesValueFromOperand(&use));
    if (failed(result) || isUnread || !isa<TensorType>(use.get().getType()))
      return;
    for (Value written : kernel.getDpsInits())
      if (getWhole(written) == getWhole(use.get())) {
        InFlightDiagnostic diagnostic =
            op->emitOpError("fused wrongly: expected it to read nothing that its kernel writes");
        diagnostic.attachNote(kernel.getLoc()) << "written here";
        result = diagnostic;
        return;
      }
  });
  return result;
}

LogicalResult ClosedGroupVerifier::verifyMember(Operation *op) {
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
    if (failed(verifyElements(linalgOp)))
      return failure();
  } else if (!isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op)) {
    return op->emitOpError("fused wrongly: expected an op of linalg or a reshape in a kernel of "
                           "another op");
  }
  return success(succeeded(verifyUses(op, op->getResults())) && succeeded(verifyOrder(op)) &&
                 succeeded(verifyReads(op)));
}

/// True if elements of the result are elements of `op`'s operand, each once.
static bool onlyMoves(Operation *op) {
  if (isa<tensor::CollapseShapeOp>(op))
    return true;
  auto generic = dyn_cast<linalg::GenericOp>(op);
  return generic && generic.getNumDpsInputs() == 1 && generic.getNumDpsInits() == 1 &&
         llvm::all_of(generic.getIndexingMapsArray(),
                      [](AffineMap map) { return map.isPermutation(); }) &&
         generic.getBlock()->getTerminator()->getOperand(0) == generic.getBlock()->getArgument(0);
}

LogicalResult ClosedGroupVerifier::verifyStored(ArrayRef<Operation *> before, Operation *op) {
  Operation *maker = op->getOperand(0).getDefiningOp();
  if (!onlyMoves(op) || !llvm::is_contained(before, maker))
    return op->emitOpError("fused wrongly: expected it to move what an op before it makes, and to "
                           "compute nothing");
  if (!op->getOperand(0).hasOneUse())
    return maker->emitOpError("fused wrongly: expected one op to store a result, got several");
  return verifyUses(maker, op->getOperand(0));
}

LogicalResult ClosedGroupVerifier::run() {
  if (isa<tensor::InsertSliceOp>(ops.front()))
    return verifyInsertions();
  auto canBeMember = [](Operation *op) {
    return isa<linalg::LinalgOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op);
  };
  size_t front = ops.size() - 1;
  while (front > 0 && canBeMember(ops[front]))
    --front;
  kernelOp = ops[front];
  for (Operation *op : ops.take_front(front))
    if (failed(verifyMember(op)))
      return failure();
  for (size_t next = front + 1; next < ops.size(); ++next)
    if (failed(verifyStored(ops.slice(front, next - front), ops[next])))
      return failure();
  return success();
}

LogicalResult verifyClosedGroup(ArrayRef<Operation *> ops) {
  return ClosedGroupVerifier(ops).run();
}

} // namespace xc::plan
