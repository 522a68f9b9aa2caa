//===- KeepAttention.cpp - Leave attention whole for kernels of its own ---===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Only types and sizes that are known decide, so that it is the same for all targets of a program.
// Device-bounded dims have a rule for each simple op and none for attention: where there may be
// some, it is taken apart.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/Transforms/Passes.h"

#include "compiler/Dialect/Array/IR/ArrayOps.h"
#include "compiler/Dialect/Array/IR/Demands.h"

using namespace mlir;

namespace xc::array {

#define GEN_PASS_DEF_KEEPATTENTION
#include "compiler/Dialect/Array/Transforms/Passes.h.inc"

namespace {

struct KeepAttention final : impl::KeepAttentionBase<KeepAttention> {
  using KeepAttentionBase::KeepAttentionBase;

  void runOnOperation() override {
    WalkResult extents = getOperation().walk([](Operation *op) {
      return isa<SetExtentOp, CompressOp>(op) ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (extents.wasInterrupted())
      return;
    Builder builder(&getContext());
    getOperation().walk([&](AttentionOp op) {
      if (mayBeKernel(op))
        op->setAttr(kWholeAttr, builder.getUnitAttr());
    });
  }

private:
  bool mayBeKernel(AttentionOp op) const {
    RankedTensorType query = op.getQuery().getType(), value = op.getValue().getType();
    Type element = query.getElementType();
    int64_t last = query.getRank() - 1, queries = query.getDimSize(last - 1);
    return (element.isF16() || element.isBF16()) && !query.isDynamicDim(last) &&
           !value.isDynamicDim(last) && (ShapedType::isDynamic(queries) || queries >= leastQueries);
  }
};

} // namespace

} // namespace xc::array
