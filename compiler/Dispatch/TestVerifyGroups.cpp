//===- TestVerifyGroups.cpp - Checks groups that a test describes --------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The linalg ops of a function with `test.rows` are one group of that many rows;
// `test.loops` on each op numbers its loops, rows first, -1 for none. So a test
// can show the verifier groups that fusion must not make. Ops with `test.closed` are a closed
// group, the last one its kernel's own; numbers there give another order than the program's.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dispatch/DispatchGroups.h"
#include "compiler/Dispatch/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace xc::plan {
#define GEN_PASS_DEF_TESTVERIFYGROUPS
#include "compiler/Dispatch/Passes.h.inc"
} // namespace xc::plan

using namespace mlir;

namespace xc::plan {

namespace {

struct TestVerifyGroups final : impl::TestVerifyGroupsBase<TestVerifyGroups> {
  using TestVerifyGroupsBase::TestVerifyGroupsBase;

  void runOnOperation() override {
    SmallVector<Operation *> closed;
    for (Operation &op : getOperation().getOps())
      if (op.hasAttr("test.closed"))
        closed.push_back(&op);
    auto getPlace = [](Operation *op) { return op->getAttrOfType<IntegerAttr>("test.closed"); };
    if (!closed.empty() && llvm::all_of(closed, getPlace))
      llvm::sort(closed, [&](Operation *a, Operation *b) {
        return getPlace(a).getInt() < getPlace(b).getInt();
      });
    if (!closed.empty() && failed(verifyClosedGroup(closed)))
      return signalPassFailure();
    auto rows = getOperation()->getAttrOfType<IntegerAttr>("test.rows");
    if (!rows)
      return;
    DispatchGroup group;
    group.numRows = rows.getInt();
    LoopNumbers numbers;
    getOperation().walk([&](linalg::LinalgOp op) {
      auto loops = op->getAttrOfType<DenseI32ArrayAttr>("test.loops");
      if (!loops || loops.size() != op.getNumLoops())
        return;
      group.ops.push_back(op);
      numbers[op].assign(loops.asArrayRef().begin(), loops.asArrayRef().end());
      group.rowOfLoop[op] = llvm::map_to_vector(loops.asArrayRef(), [&](int number) {
        return number < static_cast<int>(group.numRows) ? number : -1;
      });
    });
    if (failed(verifyGroup(group, numbers, /*threadsHoldRows=*/true)))
      signalPassFailure();
  }
};

} // namespace

} // namespace xc::plan
