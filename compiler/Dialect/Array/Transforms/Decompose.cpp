//===- Decompose.cpp - Replace composite ops by simpler ones -===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Asks each op that implements ArrayDecomposableOpInterface for the simpler ops that it consists
// of, and again for composites in what comes out, until none is left.
//
// Leaves alone ops named in `keep`, ops that `array.whole` marks, and those that refuse.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/Transforms/Passes.h"

#include "compiler/Dialect/Array/IR/ArrayOps.h"
#include "compiler/Dialect/Array/IR/PassAttributes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace xc::array {

#define GEN_PASS_DEF_DECOMPOSE
#include "compiler/Dialect/Array/Transforms/Passes.h.inc"

namespace {
/// Remembers the composites that are built on the way.
struct CompositeCollector : OpBuilder::Listener {
  void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint) override {
    if (auto composite = dyn_cast<ArrayDecomposableOpInterface>(op))
      worklist.push_back(composite);
  }
  SmallVector<ArrayDecomposableOpInterface> worklist;
};

struct Decompose : impl::DecomposeBase<Decompose> {
  using DecomposeBase::DecomposeBase;

  void runOnOperation() override {
    if (failed(checkKept()))
      return signalPassFailure();
    CompositeCollector collector;
    getOperation()->walk(
        [&](ArrayDecomposableOpInterface op) { collector.worklist.push_back(op); });
    IRRewriter rewriter(&getContext(), &collector);
    while (!collector.worklist.empty()) {
      ArrayDecomposableOpInterface op = collector.worklist.pop_back_val();
      if (kept.contains(op->getName().stripDialect()) || op->hasAttr(kWholeAttr))
        continue;
      rewriter.setInsertionPoint(op);
      Location loc = op.getLoc();
      op->setLoc(getOriginLoc(op));
      FailureOr<SmallVector<Value>> results = op.decompose(rewriter);
      if (succeeded(results))
        rewriter.replaceOp(op, *results);
      else
        op->setLoc(loc);
    }
  }

private:
  LogicalResult checkKept() {
    kept.clear();
    for (const std::string &name : keep) {
      std::optional<RegisteredOperationName> known =
          RegisteredOperationName::lookup("array." + name, &getContext());
      if (!known || !known->hasInterface<ArrayDecomposableOpInterface>())
        return getOperation()->emitError("expected the name of a composite array op to keep, got ")
               << name;
      kept.insert(name);
    }
    return success();
  }

  llvm::StringSet<> kept;
};
} // namespace

} // namespace xc::array
