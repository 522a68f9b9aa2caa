//===- AllowTF32.cpp - Let f32 products round their operands to TF32 ------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A flag of the user's becomes what ops can say themselves, so that whatever looks at a product
// later asks the op alone.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Kernel/IR/AttentionDecodeOp.h"
#include "compiler/Dialect/Kernel/IR/AttentionGradientOp.h"
#include "compiler/Dialect/Kernel/IR/KernelOps.h"
#include "compiler/Dialect/Plan/IR/Products.h"
#include "compiler/Dispatch/Passes.h"

namespace xc::plan {
#define GEN_PASS_DEF_ALLOWTF32
#include "compiler/Dispatch/Passes.h.inc"
} // namespace xc::plan

using namespace mlir;

namespace xc::plan {

/// Whether `op` is a product of f32 operands, or computes some.
static bool hasSingleProducts(Operation *op) {
  if (auto attention = dyn_cast<kernel::AttentionOp>(op))
    return attention.getQueryType().getElementType().isF32();
  if (auto decode = dyn_cast<kernel::AttentionDecodeOp>(op))
    return decode.getQueryType().getElementType().isF32();
  if (auto gradient = dyn_cast<kernel::AttentionGradientOp>(op))
    return gradient.getQueryType().getElementType().isF32();
  auto product = dyn_cast<linalg::LinalgOp>(op);
  return product && matchProduct(product) && llvm::all_of(product.getDpsInputs(), [](Value factor) {
           return getElementTypeOrSelf(factor).isF32();
         });
}

namespace {

struct AllowTF32 final : impl::AllowTF32Base<AllowTF32> {
  void runOnOperation() override {
    getOperation()->walk([](Operation *op) {
      if (hasSingleProducts(op))
        op->setAttr(kAllowTF32Attr, UnitAttr::get(op->getContext()));
    });
  }
};

} // namespace

} // namespace xc::plan
