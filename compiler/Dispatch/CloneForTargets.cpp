//===- CloneForTargets.cpp - Give every target its own copy of the program ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Moves the program into one nested module for each target, so that fusion, layouts and plans
// may differ from there on. Refuses targets that are not written as kind:arch; whether an arch
// is known is asked later.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dispatch/Passes.h"

namespace xc::plan {
#define GEN_PASS_DEF_CLONEFORTARGETS
#include "compiler/Dispatch/Passes.h.inc"
} // namespace xc::plan

using namespace mlir;

namespace xc::plan {

namespace {

struct CloneForTargets final : impl::CloneForTargetsBase<CloneForTargets> {
  using CloneForTargetsBase::CloneForTargetsBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<Operation *> program;
    for (Operation &op : *module.getBody())
      program.push_back(&op);
    OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
    for (auto [index, name] : llvm::enumerate(targets)) {
      auto [kind, arch] = StringRef(name).split(':');
      if (arch.empty()) {
        module.emitOpError("expected targets as kind:arch, got ") << name;
        return signalPassFailure();
      }
      auto target = ModuleOp::create(builder, module.getLoc(), "target_" + std::to_string(index));
      target->setAttr(kTargetAttr, TargetAttr::get(&getContext(), builder.getStringAttr(kind),
                                                   builder.getStringAttr(arch)));
      OpBuilder inside = OpBuilder::atBlockEnd(target.getBody());
      for (Operation *op : program)
        inside.clone(*op);
    }
    for (Operation *op : program)
      op->erase();
  }
};

} // namespace

} // namespace xc::plan
