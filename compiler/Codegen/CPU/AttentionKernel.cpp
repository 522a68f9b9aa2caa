//===- AttentionKernel.cpp - Kernels of attention -------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CPU/AttentionKernel.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace xc::cpu {

/// Finds where |root| stores a result of |op|, which it only moves.
static FailureOr<AttentionRoot> matchRoot(const Root &root, kernel::AttentionOp op,
                                          std::string &why) {
  unsigned rank = cast<MemRefType>(root.memory.getType()).getRank();
  SmallVector<AffineExpr> dims;
  for (unsigned dim = 0; dim < rank; ++dim)
    dims.push_back(getAffineDimExpr(dim, op.getContext()));
  llvm::DenseSet<Value> stops;
  stops.insert(op->result_begin(), op->result_end());
  AccessSummary summary(rank);
  summarize(root.value, dims, stops, summary);
  why = "a result of the kernel is not one of the attention, with its dims in another order";
  if (summary.unsupported || summary.stops.size() != 1 || !summary.accesses.empty())
    return failure();
  AttentionRoot found{root, cast<OpResult>(summary.stops[0].tensor).getResultNumber(),
                      SmallVector<std::optional<unsigned>>(rank)};
  for (auto [resultDim, index] : llvm::enumerate(summary.stops[0].indices)) {
    auto dim = dyn_cast_or_null<AffineDimExpr>(index);
    if (!dim && !isa_and_nonnull<AffineConstantExpr>(index))
      return failure();
    if (dim)
      found.dims[dim.getPosition()] = resultDim;
  }
  return found;
}

FailureOr<AttentionKernel> matchAttentionKernel(func::FuncOp kernel, std::string &why) {
  auto ops = kernel.getOps<kernel::AttentionOp>();
  if (!llvm::hasSingleElement(ops)) {
    why = "it has no attention";
    return failure();
  }
  AttentionKernel result{*ops.begin(), {}};
  for (const Root &root : collectRoots(kernel)) {
    FailureOr<AttentionRoot> found = matchRoot(root, result.op, why);
    if (failed(found))
      return failure();
    result.roots.push_back(std::move(*found));
  }
  return result;
}

} // namespace xc::cpu
