//===- EmitPointwise.cpp - One thread for each element --------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For every kernel that no other strategy takes: a thread computes one element of an output, with
// all that the element depends on. It is the code of an elementwise kernel with vectors of one
// element, so threads need nothing of each other.
//
// Other kernels are left alone.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Elementwise/EmitElementwise.h"
#include "compiler/Codegen/CUDA/IR/CUDAConfig.h"
#include "compiler/Codegen/CUDA/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace xc::cuda {

#define GEN_PASS_DEF_EMITPOINTWISE
#include "compiler/Codegen/CUDA/Passes.h.inc"

namespace {

struct EmitPointwise final : impl::EmitPointwiseBase<EmitPointwise> {
  void runOnOperation() override {
    auto config = getOperation()->getAttrOfType<PointwiseAttr>(plan::kConfigAttr);
    if (!config)
      return;
    FailureOr<KernelInfo> kernel = analyzeKernel(getOperation());
    if (failed(kernel) || failed(emitElementwise(*kernel, {config.getThreads(), 1, 1})))
      signalPassFailure();
  }
};

} // namespace

} // namespace xc::cuda
