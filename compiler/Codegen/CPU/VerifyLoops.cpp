//===- VerifyLoops.cpp - Check what the strategies left -------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// After the strategies, a kernel function has a launch and holds loops over memory: no op works
// on tensors. Anything else is an error at the op that should be gone.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CPU/Passes.h"
#include "compiler/Dialect/Plan/IR/PlanOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace xc::cpu {
#define GEN_PASS_DEF_VERIFYLOOPS
#include "compiler/Codegen/CPU/Passes.h.inc"

/// Whether |op| may stand in a kernel after its strategy.
static bool isLoopOp(Operation *op) {
  static const llvm::StringSet<> dialects = {"scf",    "memref", "vector", "arith", "math",
                                             "affine", "plan",   "func",   "cpu",   "ub"};
  auto isTensor = [](Type type) { return isa<TensorType>(type); };
  return dialects.contains(op->getName().getDialectNamespace()) &&
         llvm::none_of(op->getOperandTypes(), isTensor) &&
         llvm::none_of(op->getResultTypes(), isTensor);
}

namespace {

struct VerifyLoops final : impl::VerifyLoopsBase<VerifyLoops> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (!function->hasAttr(plan::kLaunchAttr)) {
        function.emitError("expected kernel '")
            << function.getName() << "' to have " << plan::kLaunchAttr;
        return signalPassFailure();
      }
      WalkResult result = function.walk([&](Operation *op) {
        if (op == function || isLoopOp(op))
          return WalkResult::advance();
        op->emitOpError("is left in kernel '") << function.getName() << "' after its strategy";
        return WalkResult::interrupt();
      });
      if (result.wasInterrupted())
        return signalPassFailure();
    }
  }
};

} // namespace
} // namespace xc::cpu
