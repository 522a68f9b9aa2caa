//===- VerifyEmitted.cpp - Check what goes to NVVM ------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// After strategies have emitted their kernels, ops are scalar or short vectors, memory has one
// dim, and math is what NVIDIA instructions compute. Anything else is an error at its op, while
// locations still are those of the program: LLVM would end the process at what it cannot select.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/IR/CUDAConfig.h"
#include "compiler/Codegen/CUDA/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace xc::cuda {

#define GEN_PASS_DEF_VERIFYEMITTED
#include "compiler/Codegen/CUDA/Passes.h.inc"

/// Math functions that are an instruction, or a few without a branch; the others have been
/// expanded.
static bool hasInstruction(Operation *op) {
  if (auto tanh = dyn_cast<math::TanhOp>(op))
    return getElementTypeOrSelf(tanh.getType()).isF32() &&
           tanh.getFastmath() == arith::FastMathFlags::afn;
  if (auto log2 = dyn_cast<math::Log2Op>(op))
    return getElementTypeOrSelf(log2.getType()).isF32() &&
           arith::bitEnumContainsAll(log2.getFastmath(), arith::FastMathFlags::afn);
  if (auto rsqrt = dyn_cast<math::RsqrtOp>(op))
    return getElementTypeOrSelf(rsqrt.getType()).isF32() &&
           rsqrt.getFastmath() == arith::FastMathFlags::afn;
  if (isa<math::Exp2Op>(op))
    return getElementTypeOrSelf(op->getOperand(0)).isF32();
  return isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::FloorOp, math::TruncOp,
             math::RoundEvenOp, math::FmaOp, math::SqrtOp, math::CopySignOp, math::CtPopOp,
             math::CountLeadingZerosOp, math::CountTrailingZerosOp>(op);
}

static LogicalResult verifyOp(Operation *op) {
  auto isTensor = [](Type type) { return isa<TensorType>(type); };
  if (llvm::any_of(op->getOperandTypes(), isTensor) || llvm::any_of(op->getResultTypes(), isTensor))
    return op->emitOpError("is left on tensors: no CUDA strategy emitted it");
  if (op->getDialect() == op->getContext()->getLoadedDialect<math::MathDialect>() &&
      !hasInstruction(op))
    return op->emitOpError("has no instruction on NVIDIA GPUs, and was not expanded into some");
  if (isa<arith::RemFOp>(op))
    return op->emitOpError("has no instruction on NVIDIA GPUs, and was not expanded into some");
  for (Value operand : op->getOperands())
    if (auto type = dyn_cast<MemRefType>(operand.getType()); type && type.getRank() != 1)
      return op->emitOpError("expected memory of one dim, got ") << type;
  return success();
}

namespace {

struct VerifyEmitted final : impl::VerifyEmittedBase<VerifyEmitted> {
  void runOnOperation() override {
    WalkResult result = getOperation()->walk([](Operation *op) {
      return failed(verifyOp(op)) ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace

} // namespace xc::cuda
