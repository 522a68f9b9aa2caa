//===- VerifyDispatchGroups.cpp - Whether kernels have what they need -----===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Fusion puts ops into one kernel by what their maps say of their loops. This
// checks the result in the slowest and most obvious way: it takes points of each
// op, works out which element of each operand is needed there, who computed that
// element, and compares. An op that is joined wrongly would read values that
// another workgroup, or another thread, has yet to write.
//
// VerifyClosedGroups.cpp checks kernels of ops that go over their loops in ways of
// their own.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Plan/IR/PlanOps.h"
#include "compiler/Dialect/Plan/IR/Reductions.h"
#include "compiler/Dispatch/DispatchGroups.h"
#include "compiler/Dispatch/SamplePoints.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <map>

using namespace mlir;

namespace xc::plan {

namespace {

/// The index of a loop that an op, or an element, does not have.
constexpr int64_t kNone = -1;

class GroupVerifier {
public:
  GroupVerifier(const DispatchGroup &group, const LoopNumbers &numbers, bool threadsHoldRows);
  LogicalResult run();

private:
  LogicalResult verifyRanges(linalg::LinalgOp op);
  LogicalResult verifyPoints(linalg::LinalgOp op);
  LogicalResult verifyPointsDiffer(linalg::LinalgOp op);
  LogicalResult verifyOperand(linalg::LinalgOp op, OpOperand &operand, const Point &point);
  LogicalResult verifyPart(linalg::LinalgOp op, OpOperand &operand, const Point &point,
                           const Point &element);

  /// Indices by number of the loops that `op` is at.
  Point locate(linalg::LinalgOp op, ArrayRef<int64_t> point) const;
  /// Indices of the loops of its producer at which `element` of `tensor` was made.
  Point locateElement(OpResult tensor, ArrayRef<int64_t> element) const;
  /// The op of the group that makes `tensor`, unless it is computed anew wherever it is needed.
  linalg::LinalgOp getProducer(Value tensor) const;
  bool dependsOnReduction(linalg::LinalgOp op);
  bool isNumbered(linalg::LinalgOp op) const;

  const DispatchGroup &group;
  const LoopNumbers &numbers;
  bool threadsHoldRows;
  int numNumbers;
  llvm::DenseMap<Operation *, bool> isDependent;
  /// By number: the size of the loop, and the op that says so.
  std::map<int, std::pair<int64_t, Operation *>> ranges;
};

} // namespace

GroupVerifier::GroupVerifier(const DispatchGroup &group, const LoopNumbers &numbers,
                             bool threadsHoldRows)
    : group(group), numbers(numbers), threadsHoldRows(threadsHoldRows), numNumbers(group.numRows) {
  for (const auto &entry : numbers)
    for (int number : entry.second)
      numNumbers = std::max(numNumbers, number + 1);
}

Point GroupVerifier::locate(linalg::LinalgOp op, ArrayRef<int64_t> point) const {
  Point indices(numNumbers, kNone);
  for (auto [number, index] : llvm::zip_equal(numbers.lookup(op), point))
    if (number >= 0)
      indices[number] = index;
  return indices;
}

Point GroupVerifier::locateElement(OpResult tensor, ArrayRef<int64_t> element) const {
  auto producer = cast<linalg::LinalgOp>(tensor.getOwner());
  Point indices(numNumbers, kNone);
  SmallVector<int> ofLoops = numbers.lookup(producer);
  AffineMap map = producer.getIndexingMapMatchingResult(tensor);
  for (auto [expr, index] : llvm::zip_equal(map.getResults(), element))
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      if (int number = ofLoops[dim.getPosition()]; number >= 0)
        indices[number] = index;
  return indices;
}

linalg::LinalgOp GroupVerifier::getProducer(Value tensor) const {
  auto producer = tensor.getDefiningOp<linalg::LinalgOp>();
  if (!producer || !llvm::is_contained(group.ops, producer.getOperation()))
    return nullptr;
  // A product's prologue has no rows: its elements are computed as they are loaded.
  bool hasRows = llvm::any_of(group.rowOfLoop.lookup(producer), [](int row) { return row >= 0; });
  return hasRows || group.numRows == 0 || getColumnPart(producer) ? producer : nullptr;
}

bool GroupVerifier::dependsOnReduction(linalg::LinalgOp op) {
  if (auto known = isDependent.find(op); known != isDependent.end())
    return known->second;
  bool result = op.getNumReductionLoops() > 0;
  for (Value operand : op->getOperands())
    if (linalg::LinalgOp producer = getProducer(operand))
      result |= dependsOnReduction(producer);
  return isDependent[op] = result;
}

bool GroupVerifier::isNumbered(linalg::LinalgOp op) const {
  return llvm::all_of(llvm::zip_equal(numbers.lookup(op), op.getStaticLoopRanges()),
                      [](auto loop) { return std::get<0>(loop) >= 0 || std::get<1>(loop) == 1; });
}

LogicalResult GroupVerifier::verifyRanges(linalg::LinalgOp op) {
  for (auto [number, size] : llvm::zip_equal(numbers.lookup(op), op.getStaticLoopRanges())) {
    if (number < 0 || ShapedType::isDynamic(size))
      continue;
    auto [known, isNew] = ranges.try_emplace(number, size, op.getOperation());
    if (isNew || known->second.first == size)
      continue;
    InFlightDiagnostic diagnostic = op.emitOpError("fused wrongly: expected a loop of ")
                                    << known->second.first << " iterations, got " << size;
    diagnostic.attachNote(known->second.second->getLoc()) << "the loop that it shares";
    return diagnostic;
  }
  return success();
}

LogicalResult GroupVerifier::verifyPointsDiffer(linalg::LinalgOp op) {
  if (!isNumbered(op))
    return success();
  std::map<Point, Point> pointAt;
  for (const Point &point : samplePoints(op)) {
    auto [other, isNew] = pointAt.try_emplace(locate(op, point), point);
    if (!isNew)
      return op.emitOpError("fused wrongly: expected a place of its own for each point, got one "
                            "for points ")
             << toString(other->second) << " and " << toString(point);
  }
  return success();
}

/// What a part of a column has come to is there for ops that work on the same part.
LogicalResult GroupVerifier::verifyPart(linalg::LinalgOp op, OpOperand &operand, const Point &point,
                                        const Point &element) {
  auto producer = operand.get().getDefiningOp<linalg::LinalgOp>();
  Point own;
  for (AffineExpr expr : op.getIndexingMapMatchingResult(op->getResult(0)).getResults())
    own.push_back(evaluate(expr, point));
  if (getColumnPart(op) == getColumnPart(producer) && own == element)
    return success();
  InFlightDiagnostic diagnostic = op.emitOpError("fused wrongly: at point ")
                                  << toString(point) << " expected operand "
                                  << operand.getOperandNumber() << " to be read for its own part "
                                  << toString(own) << ", got " << toString(element);
  diagnostic.attachNote(producer->getLoc()) << "made here";
  return diagnostic;
}

LogicalResult GroupVerifier::verifyOperand(linalg::LinalgOp op, OpOperand &operand,
                                           const Point &point) {
  linalg::LinalgOp producer = getProducer(operand.get());
  if (!producer)
    return success();
  Point element;
  for (AffineExpr expr : op.getMatchingIndexingMap(&operand).getResults())
    element.push_back(evaluate(expr, point));
  if (getColumnPart(producer))
    return verifyPart(op, operand, point, element);
  Point here = locate(op, point);
  Point there = locateElement(cast<OpResult>(operand.get()), element);
  bool isHeld = threadsHoldRows && dependsOnReduction(producer);
  for (int number = 0; number < numNumbers; ++number) {
    bool isRow = number < static_cast<int>(group.numRows);
    bool mustAgree = isRow || (isHeld && there[number] != kNone);
    if (!mustAgree || (here[number] == there[number] && here[number] != kNone))
      continue;
    InFlightDiagnostic diagnostic = op.emitOpError("fused wrongly: at point ")
                                    << toString(point) << " expected element " << toString(element)
                                    << " of operand " << operand.getOperandNumber()
                                    << " to be made in the same " << (isRow ? "row" : "thread")
                                    << ", got index " << there[number] << " of loop " << number
                                    << " for index " << here[number];
    diagnostic.attachNote(producer->getLoc()) << "made here";
    return diagnostic;
  }
  return success();
}

LogicalResult GroupVerifier::verifyPoints(linalg::LinalgOp op) {
  SmallVector<OpOperand *> operands;
  for (OpOperand &operand : op->getOpOperands())
    if (getProducer(operand.get()))
      operands.push_back(&operand);
  if (operands.empty())
    return success();
  for (const Point &point : samplePoints(op))
    for (OpOperand *operand : operands)
      if (failed(verifyOperand(op, *operand, point)))
        return failure();
  return success();
}

LogicalResult GroupVerifier::run() {
  for (Operation *member : group.ops) {
    auto op = cast<linalg::LinalgOp>(member);
    if (failed(verifyRanges(op)) || failed(verifyPointsDiffer(op)) || failed(verifyPoints(op)))
      return failure();
  }
  return success();
}

LogicalResult verifyGroup(const DispatchGroup &group, const LoopNumbers &numbers,
                          bool threadsHoldRows) {
  return GroupVerifier(group, numbers, threadsHoldRows).run();
}

LogicalResult DispatchGrouping::verify() const {
  for (DispatchGroup *group : getGroups()) {
    if (group->ops.size() < 2)
      continue;
    if (group->isClosed) {
      if (failed(verifyClosedGroup(group->ops)))
        return failure();
      continue;
    }
    bool threadsHoldRows = target.threadsHoldRows();
    if (failed(verifyGroup(*group, threadsHoldRows ? numberLoops(*group) : group->rowOfLoop,
                           threadsHoldRows)))
      return failure();
  }
  return success();
}

} // namespace xc::plan
