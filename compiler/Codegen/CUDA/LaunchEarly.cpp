//===- LaunchEarly.cpp - Let small kernels begin before others have ended -===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A chain of small kernels spends its time between kernels. From sm_90 on a kernel may be launched
// while the one in front of it runs, and waits for that by itself. This pays where both fit on the
// GPU side by side; a kernel that fills the GPU leaves no room for the next one anyway.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/IR/CUDAConfig.h"
#include "compiler/Codegen/CUDA/Passes.h"
#include "compiler/Codegen/CUDA/Targets.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;

namespace xc::cuda {

#define GEN_PASS_DEF_LAUNCHEARLY
#include "compiler/Codegen/CUDA/Passes.h.inc"

static constexpr unsigned kMinComputeCapability = 90;

/// Whether all blocks of two such kernels are on the GPU at once. Sizes that are not known now
/// could be any.
static bool fitsTwice(plan::LaunchAttr launch, const Target &target) {
  int64_t blocks = 1, threads = 1;
  for (AffineExpr expr : launch.getGrid().getValue().getResults()) {
    auto count = dyn_cast<AffineConstantExpr>(expr);
    if (!count || llvm::MulOverflow(blocks, count.getValue(), blocks))
      return false;
  }
  for (int64_t count : launch.getBlock())
    threads *= count;
  int64_t resident = target.threadsPerMultiprocessor / threads;
  if (launch.getShared())
    resident = std::min<int64_t>(resident, target.sharedPerMultiprocessor / launch.getShared());
  return blocks <= resident * target.multiprocessors / 2;
}

/// The argument whose buffer `pointer` points into; null if that is not plain to see.
static BlockArgument findArgument(Value pointer) {
  while (Operation *op = pointer.getDefiningOp()) {
    if (!isa<LLVM::GEPOp, LLVM::AddrSpaceCastOp, LLVM::BitcastOp>(op))
      return nullptr;
    pointer = op->getOperand(0);
  }
  auto argument = cast<BlockArgument>(pointer);
  return argument.getOwner()->isEntryBlock() ? argument : nullptr;
}

/// Says of each access that it meets none through another argument that is `noalias`, which holds
/// without that attribute as well.
static void scopeAccesses(LLVM::LLVMFuncOp kernel) {
  MLIRContext *context = kernel.getContext();
  Builder builder(context);
  auto domain = LLVM::AliasScopeDomainAttr::get(
      context, builder.getStringAttr(kernel.getName() + ".bindings"), StringAttr());
  SmallVector<Attribute> scopes(kernel.getNumArguments());
  for (auto [number, scope] : llvm::enumerate(scopes))
    if (kernel.getArgAttr(number, LLVM::LLVMDialect::getNoAliasAttrName()))
      scope = LLVM::AliasScopeAttr::get(
          context, builder.getStringAttr(kernel.getName() + ".binding" + Twine(number)), domain,
          StringAttr());
  kernel.walk([&](LLVM::AliasAnalysisOpInterface access) {
    SmallVector<Value> pointers = access.getAccessedOperands();
    BlockArgument argument = pointers.size() == 1 ? findArgument(pointers.front()) : nullptr;
    if (!argument)
      return;
    Attribute own = scopes[argument.getArgNumber()];
    SmallVector<Attribute> others;
    llvm::copy_if(scopes, std::back_inserter(others),
                  [&](Attribute scope) { return scope && scope != own; });
    if (own)
      access.setAliasScopes(builder.getArrayAttr(own));
    if (!others.empty())
      access.setNoAliasScopes(builder.getArrayAttr(others));
  });
}

/// Until a kernel has waited, those before it may still write what it reads, so no load may pass
/// for one of memory that never changes: such loads move freely, and go through a cache that sees
/// no writes. LLVM takes every load through a `noalias` argument that is only read for one. That
/// the kernel's own stores are to other buffers its accesses say themselves.
static void dropInvariance(LLVM::LLVMFuncOp kernel) {
  scopeAccesses(kernel);
  kernel.walk([](LLVM::LoadOp load) { load.setInvariant(false); });
  for (unsigned i = 0; i < kernel.getNumArguments(); ++i) {
    kernel.removeArgAttr(i, LLVM::LLVMDialect::getReadonlyAttrName());
    kernel.removeArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName());
  }
}

/// The first instructions let what is behind the kernel begin, which waits in turn, and wait for
/// what is before it.
static void launchEarly(LLVM::LLVMFuncOp kernel) {
  OpBuilder builder = OpBuilder::atBlockBegin(&kernel.getBody().front());
  for (NVVM::GridDepActionKind kind :
       {NVVM::GridDepActionKind::launch_dependents, NVVM::GridDepActionKind::wait})
    NVVM::GriddepcontrolOp::create(builder, kernel.getLoc(), kind);
  kernel->setAttr(kProgrammaticAttr, builder.getUnitAttr());
}

namespace {

struct LaunchEarly final : impl::LaunchEarlyBase<LaunchEarly> {
  void runOnOperation() override {
    auto attribute = getOperation()->getAttrOfType<plan::TargetAttr>(plan::kTargetAttr);
    const Target *target = attribute ? findTarget(attribute.getArch()) : nullptr;
    if (!target || target->computeCapability < kMinComputeCapability)
      return;
    for (auto kernel : getOperation().getOps<LLVM::LLVMFuncOp>()) {
      auto launch = kernel->getAttrOfType<plan::LaunchAttr>(plan::kLaunchAttr);
      // Some strategies let their kernels wait where it suits them.
      bool waits = kernel->hasAttr(kProgrammaticAttr);
      if (!waits && (!launch || !fitsTwice(launch, *target)))
        continue;
      if (!waits)
        launchEarly(kernel);
      dropInvariance(kernel);
    }
  }
};

} // namespace

} // namespace xc::cuda
