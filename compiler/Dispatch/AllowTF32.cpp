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

#include "compiler/Dialect/Plan/IR/Products.h"
#include "compiler/Dispatch/Passes.h"

namespace xc::plan {
#define GEN_PASS_DEF_ALLOWTF32
#include "compiler/Dispatch/Passes.h.inc"
} // namespace xc::plan

using namespace mlir;

namespace xc::plan {

namespace {

struct AllowTF32 final : impl::AllowTF32Base<AllowTF32> {
  void runOnOperation() override {
    getOperation()->walk([](linalg::LinalgOp op) {
      bool isSingle = llvm::all_of(
          op.getDpsInputs(), [](Value factor) { return getElementTypeOrSelf(factor).isF32(); });
      if (isSingle && matchProduct(op))
        op->setAttr(kAllowTF32Attr, UnitAttr::get(op.getContext()));
    });
  }
};

} // namespace

} // namespace xc::plan
