//===- SelectStrategy.cpp - How each kernel is compiled -------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CPU/Arch.h"
#include "compiler/Codegen/CPU/CPUDialect.h"
#include "compiler/Codegen/CPU/KernelAnalysis.h"
#include "compiler/Codegen/CPU/Passes.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace xc::cpu {
#define GEN_PASS_DEF_SELECTSTRATEGY
#include "compiler/Codegen/CPU/Passes.h.inc"

namespace {

struct Choice {
  Attribute config;
  std::string reason;
};

} // namespace

static Choice chooseFallback(func::FuncOp kernel, StringRef why) {
  return {FallbackAttr::get(kernel.getContext(), FallbackAttr::kVersion),
          llvm::formatv("fallback: plain loops in one workgroup, since {0}", why)};
}

/// Lanes to compute at a time: several registers, so that latencies overlap; fewer where functions need registers too.
static int64_t chooseLanes(func::FuncOp kernel, const Arch &arch, int64_t mathOps) {
  int64_t registerLanes = arch.vectorBytes / getElementBytes(kernel);
  return registerLanes * (mathOps != 0 ? 2 : 4);
}

static SmallVector<AffineExpr> getDims(unsigned rank, MLIRContext *context) {
  SmallVector<AffineExpr> dims;
  for (unsigned dim = 0; dim < rank; ++dim)
    dims.push_back(getAffineDimExpr(dim, context));
  return dims;
}

/// Whether some access steps through memory in an order that is not that of the result.
static bool isTransposed(const AccessSummary &summary, unsigned rank) {
  return llvm::any_of(summary.accesses, [&](const Access &access) {
    for (AffineExpr index : ArrayRef(access.indices).drop_back(access.indices.empty() ? 0 : 1))
      if (index && index.isFunctionOfDim(rank - 1))
        return true;
    return false;
  });
}

static Choice chooseElementwise(func::FuncOp kernel, const Arch &arch, ArrayRef<AccessSummary> summaries,
                                ArrayRef<unsigned> ranks) {
  int64_t mathOps = 0;
  bool scalar = false, transposed = false;
  for (auto [summary, rank] : llvm::zip(summaries, ranks)) {
    mathOps += summary.mathOps;
    scalar |= rank != 0 && summary.guarded[rank - 1];
    transposed |= rank > 1 && isTransposed(summary, rank);
  }
  int64_t lanes = scalar ? 1 : chooseLanes(kernel, arch, mathOps);
  // Transposed reads touch one cache line per column: few columns, so that the lines stay in L1 for the next rows.
  int64_t chunk = transposed ? 128 : 16384;
  int64_t tile = mathOps != 0 ? 16384 : 32768;
  std::string reason = llvm::formatv("elementwise: {0} lanes{1}{2}", lanes, transposed ? ", transposed reads in tiles" : "",
                                     scalar ? " (the innermost dim is padded or concatenated)" : "");
  return {ElementwiseAttr::get(kernel.getContext(), ElementwiseAttr::kVersion, lanes, chunk, tile), reason};
}

static Choice chooseStrategy(func::FuncOp kernel, const Arch &arch) {
  SmallVector<AccessSummary> summaries;
  SmallVector<unsigned> ranks;
  for (const Root &root : collectRoots(kernel)) {
    unsigned rank = cast<MemRefType>(root.memory.getType()).getRank();
    AccessSummary summary(rank);
    summarize(root.value, getDims(rank, kernel.getContext()), {}, summary);
    if (Operation *op = summary.unsupported)
      return chooseFallback(kernel, llvm::formatv("no strategy takes {0}", op->getName()).str());
    summaries.push_back(std::move(summary));
    ranks.push_back(rank);
  }
  return chooseElementwise(kernel, arch, summaries, ranks);
}

namespace {

struct SelectStrategy final : impl::SelectStrategyBase<SelectStrategy> {
  using SelectStrategyBase::SelectStrategyBase;

  void runOnOperation() override {
    FailureOr<Arch> arch = getKernelArch(getOperation(), this->arch);
    if (failed(arch))
      return signalPassFailure();
    for (auto kernel : getOperation().getOps<func::FuncOp>()) {
      if (kernel->hasAttr(plan::kConfigAttr))
        continue;
      Choice choice = chooseStrategy(kernel, *arch);
      kernel->setAttr(plan::kConfigAttr, choice.config);
      kernel->setAttr(plan::kReasonAttr, StringAttr::get(&getContext(), choice.reason));
    }
  }
};

} // namespace
} // namespace xc::cpu
