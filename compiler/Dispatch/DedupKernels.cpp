//===- DedupKernels.cpp - Keep one of several identical kernel modules ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Prints each kernel module without its name, locations and what explains its fusion; modules that
// print alike are one. So the layers of an encoder share kernels, which are compiled once.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dispatch/ExplainGroups.h"
#include "compiler/Dispatch/Passes.h"

#include "llvm/ADT/StringMap.h"

namespace xc::plan {
#define GEN_PASS_DEF_DEDUPKERNELS
#include "compiler/Dispatch/Passes.h.inc"
} // namespace xc::plan

using namespace mlir;

namespace xc::plan {

static LogicalResult verifyKernel(ModuleOp kernel) {
  if (kernel.getSymNameAttr() && llvm::hasSingleElement(kernel.getOps<func::FuncOp>()))
    return success();
  return kernel.emitOpError("expected a kernel with a name and one func.func");
}

/// The kernel's text without its name, locations and reasons: equal texts are equal kernels.
static std::string printAnonymous(ModuleOp kernel) {
  StringAttr name = kernel.getSymNameAttr();
  auto func = *kernel.getOps<func::FuncOp>().begin();
  StringAttr anonymous = StringAttr::get(kernel.getContext(), "kernel");
  kernel.setSymNameAttr(anonymous);
  func.setSymNameAttr(anonymous);
  FusionRecord fusion = takeFusion(kernel);
  std::string text;
  llvm::raw_string_ostream stream(text);
  kernel.print(stream, OpPrintingFlags().useLocalScope());
  kernel.setSymNameAttr(name);
  func.setSymNameAttr(name);
  restoreFusion(kernel, fusion);
  return text;
}

namespace {

struct DedupKernels final : impl::DedupKernelsBase<DedupKernels> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    llvm::StringMap<ModuleOp> firstByText;
    llvm::DenseMap<StringAttr, StringAttr> replacement;
    for (auto kernel : llvm::make_early_inc_range(module.getOps<ModuleOp>())) {
      if (!kernel->hasAttr(kKernelAttr))
        continue;
      if (failed(verifyKernel(kernel)))
        return signalPassFailure();
      auto [it, isNew] = firstByText.try_emplace(printAnonymous(kernel), kernel);
      if (isNew)
        continue;
      replacement[kernel.getSymNameAttr()] = it->second.getSymNameAttr();
      addRefusals(it->second, takeFusion(kernel));
      kernel.erase();
    }
    module.walk([&](DispatchOp dispatch) {
      if (StringAttr name = replacement.lookup(dispatch.getKernelAttr().getAttr()))
        dispatch.setKernelAttr(FlatSymbolRefAttr::get(name));
    });
    for (auto kernel : module.getOps<ModuleOp>())
      renameRefused(kernel, replacement);
  }
};

} // namespace

} // namespace xc::plan
