//===- UnlikelyTails.cpp - Unlikely branches that do not come back --------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Lowering/UnlikelyTails.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/ProfDataUtils.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

namespace xc::cuda {

/// Instructions that are worth having twice, at most.
static constexpr unsigned kMostInstructions = 128;

/// Whether the function ends with `block`, without threads meeting in it.
static bool isTail(llvm::BasicBlock &block) {
  if (block.size() > kMostInstructions)
    return false;
  for (llvm::Instruction &instruction : block)
    if (auto *call = llvm::dyn_cast<llvm::CallBase>(&instruction);
        call && (call->isConvergent() || call->cannotDuplicate()))
      return false;
  if (llvm::isa<llvm::ReturnInst>(block.getTerminator()))
    return true;
  llvm::BasicBlock *next = block.getSingleSuccessor();
  return next && llvm::isa<llvm::ReturnInst>(next->front());
}

/// The successor that `block` nearly always goes to.
static llvm::BasicBlock *findLikely(llvm::BasicBlock &block) {
  constexpr uint64_t likely = 16;
  auto *branch = llvm::dyn_cast<llvm::BranchInst>(block.getTerminator());
  uint64_t yes = 0, no = 0;
  if (!branch || !branch->isConditional() || !llvm::extractBranchWeights(*branch, yes, no))
    return nullptr;
  if (yes / likely > no)
    return branch->getSuccessor(0);
  return no / likely > yes ? branch->getSuccessor(1) : nullptr;
}

/// Puts a copy of `tail` into `block`, which goes there.
static void copyTail(llvm::BasicBlock &tail, llvm::BasicBlock &block) {
  llvm::ValueToValueMapTy copies;
  llvm::Instruction *end = block.getTerminator();
  for (llvm::Instruction &instruction : tail) {
    if (auto *phi = llvm::dyn_cast<llvm::PHINode>(&instruction)) {
      copies[phi] = phi->getIncomingValueForBlock(&block);
      continue;
    }
    llvm::Instruction *copy = instruction.clone();
    copy->insertBefore(end->getIterator());
    llvm::RemapInstruction(copy, copies,
                           llvm::RF_IgnoreMissingLocals | llvm::RF_NoModuleLevelChanges);
    copies[&instruction] = copy;
  }
  tail.removePredecessor(&block, /*KeepOneInputPHIs=*/true);
  end->eraseFromParent();
}

/// Whether nothing is read from `block` on.
static bool readsNothing(llvm::BasicBlock &block) {
  llvm::SmallPtrSet<llvm::BasicBlock *, 8> seen = {&block};
  llvm::SmallVector<llvm::BasicBlock *> open = {&block};
  while (!open.empty()) {
    llvm::BasicBlock *current = open.pop_back_val();
    if (llvm::any_of(*current, [](llvm::Instruction &i) { return i.mayReadFromMemory(); }))
      return false;
    for (llvm::BasicBlock *next : llvm::successors(current))
      if (seen.insert(next).second)
        open.push_back(next);
  }
  return true;
}

/// Whether all ways from `block` on lead to `tail`.
static bool leadsTo(llvm::BasicBlock &block, llvm::BasicBlock &tail) {
  llvm::SmallPtrSet<llvm::BasicBlock *, 8> seen = {&block};
  llvm::SmallVector<llvm::BasicBlock *> open = {&block};
  while (!open.empty()) {
    llvm::BasicBlock *current = open.pop_back_val();
    if (llvm::succ_empty(current))
      return false;
    for (llvm::BasicBlock *next : llvm::successors(current))
      if (next != &tail && seen.insert(next).second)
        open.push_back(next);
  }
  return true;
}

/// Whether `tail` may run although another copy of it runs afterwards: its stores are to places
/// that do not depend on the way there, so that the last one stays.
static bool mayRunTwice(llvm::BasicBlock &tail) {
  llvm::SmallPtrSet<llvm::Value *, 16> ofThisWay;
  for (llvm::Instruction &instruction : tail) {
    auto *store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
    bool isPhi = llvm::isa<llvm::PHINode>(instruction);
    if (store ? !store->isSimple() || ofThisWay.contains(store->getPointerOperand())
              : !isPhi && !instruction.isTerminator() &&
                    !llvm::isSafeToSpeculativelyExecute(&instruction))
      return false;
    if (isPhi || llvm::any_of(instruction.operands(),
                              [&](llvm::Value *operand) { return ofThisWay.contains(operand); }))
      ofThisWay.insert(&instruction);
  }
  return true;
}

/// Moves what is in `tail` to the end of its only predecessor.
static void moveIntoPredecessor(llvm::BasicBlock &tail) {
  llvm::Instruction *branch = tail.getSinglePredecessor()->getTerminator();
  for (llvm::Instruction &instruction : llvm::make_early_inc_range(tail)) {
    if (auto *phi = llvm::dyn_cast<llvm::PHINode>(&instruction)) {
      phi->replaceAllUsesWith(phi->getIncomingValue(0));
      phi->eraseFromParent();
    } else if (!instruction.isTerminator()) {
      instruction.moveBefore(branch->getIterator());
    }
  }
}

void separateUnlikelyTails(llvm::Function &function) {
  for (llvm::BasicBlock &block : llvm::make_early_inc_range(function)) {
    llvm::BasicBlock *tail = findLikely(block);
    if (!tail || tail == &block || !tail->hasNPredecessors(2) || !isTail(*tail))
      continue;
    bool rejoins = llvm::all_of(llvm::successors(&block), [&](llvm::BasicBlock *next) {
      return next == tail || (leadsTo(*next, *tail) && readsNothing(*next));
    });
    for (llvm::BasicBlock *other : llvm::to_vector(llvm::predecessors(tail)))
      if (other != &block && other->getSingleSuccessor() == tail) {
        copyTail(*tail, *other);
        tail->moveAfter(&block);
      }
    if (rejoins && tail->getSinglePredecessor() && mayRunTwice(*tail))
      moveIntoPredecessor(*tail);
  }
}

} // namespace xc::cuda
