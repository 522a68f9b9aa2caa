//===- PromoteVariables.cpp - Read variables first, assign them last ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A function then reads each variable once, first of all, and assigns it once, last of all: uses
// between get the values. So the order of all other ops is that of their operands alone.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dispatch/Passes.h"

#include "compiler/Dialect/Array/IR/ArrayOps.h"

namespace xc::plan {
#define GEN_PASS_DEF_PROMOTEVARIABLES
#include "compiler/Dispatch/Passes.h.inc"
} // namespace xc::plan

using namespace mlir;

namespace xc::plan {

namespace {

struct PromoteVariables final : impl::PromoteVariablesBase<PromoteVariables> {
  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (func.isExternal())
      return;
    Block &block = func.getBody().front();
    llvm::DenseMap<StringAttr, Value> current;
    llvm::MapVector<StringAttr, array::VariableAssignOp> lastAssign;
    Operation *lastRead = nullptr;
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (auto read = dyn_cast<array::VariableReadOp>(op)) {
        auto [it, isFirst] =
            current.try_emplace(read.getVariableAttr().getAttr(), read.getResult());
        if (!isFirst) {
          read.getResult().replaceAllUsesWith(it->second);
          read.erase();
          continue;
        }
        if (lastRead)
          op.moveAfter(lastRead);
        else
          op.moveBefore(&block, block.begin());
        lastRead = &op;
      } else if (auto assign = dyn_cast<array::VariableAssignOp>(op)) {
        current[assign.getVariableAttr().getAttr()] = assign.getValue();
        auto [it, isFirst] = lastAssign.insert({assign.getVariableAttr().getAttr(), assign});
        if (!isFirst) {
          it->second.erase();
          it->second = assign;
        }
      }
    }
    for (auto &[name, assign] : lastAssign)
      assign->moveBefore(block.getTerminator());
  }
};

} // namespace

} // namespace xc::plan
