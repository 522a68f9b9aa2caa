//===- EarlyWaits.cpp - Waits for products before index arithmetic --------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Lowering/EarlyWaits.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

namespace xc::cuda {

static bool isProductWait(const llvm::Instruction &instruction) {
  auto *call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  auto *assembly = call ? llvm::dyn_cast<llvm::InlineAsm>(call->getCalledOperand()) : nullptr;
  return assembly && assembly->getAsmString().starts_with("wgmma.wait_group");
}

/// Whether `instruction` computes an integer of integers, without a look at memory.
static bool isIndexArithmetic(const llvm::Instruction &instruction) {
  auto isInteger = [](const llvm::Value *value) {
    return value->getType()->isIntegerTy() || value->getType()->isPointerTy();
  };
  if (instruction.isTerminator() || instruction.mayHaveSideEffects() ||
      instruction.mayReadFromMemory() || !isInteger(&instruction))
    return false;
  auto *call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  return call ? llvm::isa<llvm::IntrinsicInst>(call) && llvm::all_of(call->args(), isInteger)
              : llvm::all_of(instruction.operand_values(), isInteger);
}

void moveWaitsUp(llvm::Function &function) {
  for (llvm::BasicBlock &block : function) {
    auto first = block.getFirstInsertionPt();
    auto wait = llvm::find_if(llvm::make_range(first, block.end()),
                              [](llvm::Instruction &i) { return !isIndexArithmetic(i); });
    if (wait == block.end() || wait == first || !isProductWait(*wait))
      continue;
    bool needsArithmetic = llvm::any_of(wait->operands(), [&](llvm::Value *operand) {
      auto *own = llvm::dyn_cast<llvm::Instruction>(operand);
      return own && own->getParent() == &block && !llvm::isa<llvm::PHINode>(own);
    });
    if (!needsArithmetic)
      wait->moveBefore(first);
  }
}

} // namespace xc::cuda
