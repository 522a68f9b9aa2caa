//===- MemoryUses.cpp - Until when values are used, and where they go -----===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Plan/Transforms/MemoryUses.h"

#include "compiler/Dialect/Array/IR/ArrayOps.h"
#include "compiler/Dialect/Plan/IR/Parts.h"
#include "compiler/Dialect/Plan/IR/PlanOps.h"
#include "compiler/Dialect/Plan/Transforms/Views.h"

using namespace mlir;

namespace xc::plan {

bool isStep(Operation &op) { return isa<DispatchOp, BranchOp, LoopOp>(op); }

MemoryUses::MemoryUses(func::FuncOp func) {
  unsigned position = 0;
  for (Operation &op : func.getBody().front()) {
    if (isStep(op)) {
      for (Value operand : op.getOperands()) {
        if (!isa<RankedTensorType>(operand.getType()))
          continue;
        unsigned &last = lastUse[getRoot(operand)];
        last = std::max(last, position);
      }
      ++position;
    } else if (auto ret = dyn_cast<func::ReturnOp>(op)) {
      for (auto [index, operand] : llvm::enumerate(ret.getOperands())) {
        lastUse[getRoot(operand)] = kAfterAllCommands;
        if (isWholeRoot(operand))
          outputsOf[getRoot(operand)].push_back(index);
      }
    } else if (auto assign = dyn_cast<array::VariableAssignOp>(op)) {
      lastUse[getRoot(assign.getValue())] = kAfterAllCommands;
      if (isWholeRoot(assign.getValue()))
        variablesOf[getRoot(assign.getValue())].push_back(assign.getVariableAttr().getAttr());
    } else if (auto read = dyn_cast<array::VariableReadOp>(op)) {
      readOf[read.getVariableAttr().getAttr()] = read.getResult();
    }
  }
  passOnToParts(func);
}

/// What becomes of a whole becomes of the parts that its last one was put beside.
void MemoryUses::passOnToParts(func::FuncOp func) {
  for (Operation &op : llvm::reverse(func.getBody().front())) {
    auto dispatch = dyn_cast<DispatchOp>(op);
    auto parts = dispatch ? dispatch->getAttrOfType<DenseI64ArrayAttr>(kPartsAttr) : nullptr;
    if (!parts)
      continue;
    for (int64_t index : parts.asArrayRef()) {
      Value init = dispatch.getInit(index), result = dispatch.getResult(index);
      if (!init || !init.hasOneUse())
        continue;
      outputsOf[init] = llvm::to_vector(getOutputs(result));
      variablesOf[init] = llvm::to_vector(getVariables(result));
    }
  }
}

Value MemoryUses::getMemory(Value tensor) const {
  Value root = getRoot(tensor);
  for (auto it = takenFrom.find(root); it != takenFrom.end(); it = takenFrom.find(root))
    root = it->second;
  return root;
}

bool MemoryUses::isReadOnceBy(Operation *step, Value memory) const {
  return llvm::count_if(step->getOperands(), [&](Value operand) {
           return isa<RankedTensorType>(operand.getType()) && getMemory(operand) == memory;
         }) == 1;
}

void MemoryUses::take(Value result, Value memory) {
  unsigned last = std::max(lastUse.lookup(memory), lastUse.lookup(result));
  takenFrom[result] = memory;
  lastUse[memory] = last;
}

ArrayRef<unsigned> MemoryUses::getOutputs(Value root) const {
  auto found = outputsOf.find(root);
  return found == outputsOf.end() ? ArrayRef<unsigned>() : found->second;
}

ArrayRef<StringAttr> MemoryUses::getVariables(Value root) const {
  auto found = variablesOf.find(root);
  return found == variablesOf.end() ? ArrayRef<StringAttr>() : found->second;
}

bool MemoryUses::hasVariable(llvm::function_ref<bool(StringAttr)> predicate) const {
  return llvm::any_of(variablesOf,
                      [&](const auto &entry) { return llvm::any_of(entry.second, predicate); });
}

} // namespace xc::plan
