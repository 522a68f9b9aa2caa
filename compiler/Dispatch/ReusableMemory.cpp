//===- ReusableMemory.cpp - Inputs whose memory a kernel's results may take ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every strategy computes the results that have one shape together: at a point it loads what all of
// them need, then it stores them. So a result may be written over an input that is only read at the
// point where the result is written, and that has no effect anywhere else: `w - rate * momentum`
// takes the memory of `w`, the new momentum that of the old one, though both are results of the
// product that gives the gradient. Strategies that go op by op follow program order, so nothing may
// read the input behind the op that writes over it.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dispatch/ReusableMemory.h"

#include "compiler/Dialect/Kernel/IR/KernelOps.h"
#include "compiler/Dialect/Plan/IR/PlanOps.h"
#include "compiler/Dialect/Plan/Transforms/Views.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace xc::plan {

namespace {

/// A result of the kernel and an input of the op that computes it.
class Candidate {
public:
  Candidate(const DispatchGroup &group, ArrayRef<Value> escaping, Value result, Value source)
      : group(group), escaping(escaping), result(result), source(source),
        op(cast<linalg::LinalgOp>(result.getDefiningOp())) {}

  bool isReusable();

private:
  bool isInside(Operation *user) const { return llvm::is_contained(group.ops, user); }
  bool isReadBeforeOnly();
  bool isReadThroughViews(Value tensor);
  bool isReadByOpAlone();
  bool isReadAtPoint(Value value, linalg::LinalgOp user);
  bool feedsReduction(Value tensor);
  bool followsReduction(Value value);
  bool hasEffectAtPointOnly();

  const DispatchGroup &group;
  ArrayRef<Value> escaping;
  Value result, source;
  linalg::LinalgOp op;
};

} // namespace

static AffineMap getWrittenMap(OpResult result) {
  auto op = cast<linalg::LinalgOp>(result.getOwner());
  return op.getMatchingIndexingMap(op.getDpsInitOperand(result.getResultNumber()));
}

/// Kernels before this one have read it, and none behind it will.
bool Candidate::isReadBeforeOnly() {
  return llvm::all_of(source.getUses(), [&](OpOperand &use) {
    // Kernels before this one are regions already.
    Operation *user = op->getBlock()->findAncestorOpInBlock(*use.getOwner());
    return user == op || isInside(user) || (user && user->isBeforeInBlock(op));
  });
}

/// True if the kernel holds a slice or padding of `tensor`, whose elements are read somewhere else.
bool Candidate::isReadThroughViews(Value tensor) {
  return llvm::any_of(tensor.getUsers(), [&](Operation *user) {
    return user->getBlock() == op->getBlock() && !DispatchGrouping::isCompute(user) &&
           llvm::any_of(user->getResults(), [&](Value view) {
             return llvm::any_of(view.getUsers(),
                                 [&](Operation *reader) {
                                   return isInside(op->getBlock()->findAncestorOpInBlock(*reader));
                                 }) ||
                    isReadThroughViews(view);
           });
  });
}

/// True if a reduction of the group needs `tensor`, so that an element is read in other places than
/// its own.
bool Candidate::feedsReduction(Value tensor) {
  return llvm::any_of(tensor.getUsers(), [&](Operation *user) {
    auto linalgOp = dyn_cast<linalg::LinalgOp>(user);
    if (!isInside(user))
      return false;
    return !linalgOp || linalgOp.getNumReductionLoops() > 0 ||
           llvm::any_of(user->getResults(), [&](Value value) { return feedsReduction(value); });
  });
}

/// True if `user` is elementwise and reads `value` where it writes its own results, nowhere else.
bool Candidate::isReadAtPoint(Value value, linalg::LinalgOp user) {
  if (user.getNumReductionLoops() > 0)
    return false;
  AffineMap written = getWrittenMap(cast<OpResult>(user->getResult(0)));
  bool agrees = written.isPermutation() && llvm::all_of(user->getResults(), [&](Value other) {
                  return getWrittenMap(cast<OpResult>(other)) == written;
                });
  // A body reads where it likes.
  bool isReadInBody = llvm::any_of(
      value.getUsers(), [&](Operation *reader) { return user->isProperAncestor(reader); });
  return agrees && !isReadInBody && llvm::all_of(user->getOpOperands(), [&](OpOperand &use) {
           return use.get() != value ||
                  (user.isDpsInput(&use) && user.getMatchingIndexingMap(&use) == written);
         });
}

/// Nobody else in the kernel reads the input or computes anything from the result, which would mean
/// reading the old elements again.
bool Candidate::isReadByOpAlone() {
  return isReadAtPoint(source, op) &&
         llvm::none_of(op->getUsers(), [&](Operation *user) { return isInside(user); }) &&
         llvm::all_of(source.getUsers(),
                      [&](Operation *user) { return user == op || !isInside(user); });
}

/// True if a reduction's result is read at the point where `value` is computed.
bool Candidate::followsReduction(Value value) {
  auto definition = dyn_cast_or_null<linalg::LinalgOp>(value.getDefiningOp());
  if (!definition || !isInside(definition))
    return false;
  if (definition.getNumReductionLoops() > 0)
    return cast<RankedTensorType>(value.getType()).getShape() ==
           cast<RankedTensorType>(source.getType()).getShape();
  AffineMap written = getWrittenMap(cast<OpResult>(value));
  return llvm::any_of(definition.getDpsInputOperands(), [&](OpOperand *input) {
    return definition.getMatchingIndexingMap(input) == written && followsReduction(input->get());
  });
}

/// All that is computed from the input has its shape, element by element, so that whatever the
/// strategy, its results are computed at one point.
bool Candidate::hasEffectAtPointOnly() {
  auto type = cast<RankedTensorType>(source.getType());
  bool hasReduction = llvm::any_of(group.ops, [](Operation *other) {
    auto linalgOp = dyn_cast<linalg::LinalgOp>(other);
    return linalgOp && linalgOp.getNumReductionLoops() > 0;
  });
  // Of sizes that are formulas a strategy may not know that they are equal.
  if (!type.hasStaticShape() || !llvm::all_of(group.ops, llvm::IsaPred<linalg::LinalgOp>))
    return false;
  SmallVector<Value> worklist{source};
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    if (llvm::is_contained(escaping, value) && hasReduction && !followsReduction(value))
      return false;
    for (Operation *user : value.getUsers()) {
      // What is read in a body has its user there.
      Operation *outer = op->getBlock()->findAncestorOpInBlock(*user);
      if (!isInside(outer))
        continue;
      if (value == source && op->isBeforeInBlock(outer))
        return false;
      if (!isReadAtPoint(value, cast<linalg::LinalgOp>(outer)))
        return false;
      for (Value computed : outer->getResults()) {
        if (cast<RankedTensorType>(computed.getType()).getShape() != type.getShape())
          return false;
        worklist.push_back(computed);
      }
    }
  }
  return true;
}

bool Candidate::isReusable() {
  Operation *definition = source.getDefiningOp();
  if (source.getType() != result.getType() || (definition && isInside(definition)) ||
      isFarSlice(source) || !isReadAtPoint(source, op) || !isReadBeforeOnly() ||
      isReadThroughViews(source) || feedsReduction(source))
    return false;
  // A thread that holds rows reads the input's element itself where it computes the result's,
  // whatever other results the kernel has.
  bool mayFollowOthers = getDispatchTarget(op).threadsHoldRows() && !group.hasContraction;
  if ((group.ops.size() == 1 || mayFollowOthers) && isReadByOpAlone())
    return true;
  return hasEffectAtPointOnly();
}

/// The destination that a merge leaves as it is where lines are short, if nothing reads it later:
/// then it stays where it is, too.
static Value getKeptDestination(Value result) {
  auto merge = result.getDefiningOp<kernel::MergeOp>();
  if (!merge || !merge.getAbove())
    return nullptr;
  Value dest = merge.getDpsInits()[cast<OpResult>(result).getResultNumber()];
  bool isReadBefore = llvm::all_of(dest.getUses(), [&](OpOperand &use) {
    Operation *user = merge->getBlock()->findAncestorOpInBlock(*use.getOwner());
    return user == merge ? merge.isDpsInit(&use) : user && user->isBeforeInBlock(merge);
  });
  return isReadBefore && !dest.getDefiningOp<tensor::EmptyOp>() ? dest : nullptr;
}

/// The input whose memory a kernel that the program brings says it can take.
static Value getGivenInput(Value result) {
  auto custom = result.getDefiningOp<kernel::CustomOp>();
  if (!custom || custom.getReuse().empty())
    return nullptr;
  int64_t input = custom.getReuse()[cast<OpResult>(result).getResultNumber()];
  return input < 0 ? Value() : custom.getInputs()[input];
}

void findReusableMemory(const DispatchGroup &group, ArrayRef<Value> escaping,
                        SmallVectorImpl<Value> &reusable, SmallVectorImpl<int64_t> &reuse) {
  reuse.assign(escaping.size(), -1);
  for (auto [index, value] : llvm::enumerate(escaping)) {
    Value given = getGivenInput(value);
    if (Value taken = given ? given : getKeptDestination(value)) {
      reuse[index] = reusable.size();
      reusable.push_back(taken);
      continue;
    }
    auto linalgOp = dyn_cast<linalg::LinalgOp>(value.getDefiningOp());
    if (!linalgOp || linalgOp.getNumReductionLoops() > 0)
      continue;
    for (OpOperand *input : linalgOp.getDpsInputOperands()) {
      if (llvm::is_contained(reusable, input->get()) ||
          !Candidate(group, escaping, value, input->get()).isReusable())
        continue;
      reuse[index] = reusable.size();
      reusable.push_back(input->get());
      break;
    }
  }
}

} // namespace xc::plan
