//===- ReduceProducts.cpp - Products of a matrix and a vector -------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A product of a matrix and a vector moves the matrix through memory once, and no matrix unit helps
// it. As a `linalg.generic` it is a reduction like others: it shares kernels with what comes before
// and after it. Runs before kernels are formed; products of two matrices are left alone.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Common/Targets.h"
#include "compiler/Codegen/CUDA/Passes.h"

#include "mlir/Dialect/Linalg/Transforms/Transforms.h"

using namespace mlir;

namespace xc::cuda {

#define GEN_PASS_DEF_REDUCEPRODUCTS
#include "compiler/Codegen/CUDA/Passes.h.inc"

/// One operand has no dim of its own that is longer than 1: memory sets the time, and no matrix
/// unit would help.
static bool isMatrixTimesVector(linalg::ContractOp op) {
  FailureOr<linalg::ContractionDimensions> dims = linalg::inferContractionDims(op);
  if (failed(dims))
    return false;
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  auto isUnit = [&](ArrayRef<unsigned> own) {
    return llvm::all_of(own, [&](unsigned dim) { return ranges[dim] == 1; });
  };
  return isUnit(dims->m) || isUnit(dims->n);
}

namespace {

struct ReduceProducts final : impl::ReduceProductsBase<ReduceProducts> {
  void runOnOperation() override {
    if (!findTarget(getOperation()))
      return;
    IRRewriter rewriter(&getContext());
    for (auto op : llvm::make_early_inc_range(getOperation().getOps<linalg::ContractOp>()))
      if (isMatrixTimesVector(op)) {
        rewriter.setInsertionPoint(op);
        (void)linalg::generalizeNamedOp(rewriter, op);
      }
  }
};

} // namespace

} // namespace xc::cuda
