//===- OrderWrites.cpp - Read variables before kernels write them ---------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel may compute a variable's new value where its old one is. Steps behind it that read the
// old value would need a copy of that. So the kernel moves behind them, if nothing in between needs
// its results. What it reads lives as much longer, and so nothing else moves.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Plan/Transforms/Passes.h"
#include "compiler/Dialect/Plan/Transforms/Views.h"

#include "compiler/Dialect/Array/IR/ArrayOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace xc::plan {

#define GEN_PASS_DEF_ORDERWRITES
#include "compiler/Dialect/Plan/Transforms/Passes.h.inc"

/// The last op behind `writer`, in its block, that reads the memory of `old`; null if none does.
static Operation *findLastReader(Operation *writer, Value old) {
  Operation *last = nullptr;
  for (Operation *op = writer->getNextNode(); op; op = op->getNextNode())
    if (!isView(op) && !isa<array::VariableAssignOp>(op) &&
        llvm::any_of(op->getOperands(), [&](Value operand) {
          return isa<RankedTensorType>(operand.getType()) && getRoot(operand) == old;
        }))
      last = op;
  return last;
}

/// Whether the results of `writer` are assigned to variables, and nothing else.
static bool onlyAssigns(DispatchOp writer) {
  return llvm::all_of(writer->getUsers(),
                      [](Operation *user) { return isa<array::VariableAssignOp>(user); });
}

namespace {

struct OrderWrites final : impl::OrderWritesBase<OrderWrites> {
  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    Block &block = getOperation().getBody().front();
    llvm::DenseMap<StringAttr, Value> old;
    for (auto read : block.getOps<array::VariableReadOp>())
      old.try_emplace(read.getVariableAttr().getAttr(), read.getResult());
    auto assigns = llvm::to_vector(block.getOps<array::VariableAssignOp>());
    for (array::VariableAssignOp assign : assigns)
      assign->moveBefore(block.getTerminator());
    for (array::VariableAssignOp assign : assigns) {
      auto writer = assign.getValue().getDefiningOp<DispatchOp>();
      Value before = old.lookup(assign.getVariableAttr().getAttr());
      if (!writer || !before || writer->getBlock() != &block || !onlyAssigns(writer))
        continue;
      Operation *reader = findLastReader(writer, before);
      if (reader && reader != block.getTerminator())
        writer->moveAfter(reader);
    }
  }
};

} // namespace

} // namespace xc::plan
