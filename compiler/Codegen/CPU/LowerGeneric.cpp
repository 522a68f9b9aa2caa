//===- LowerGeneric.cpp - Plain loops for every other kernel -------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Upstream's one-shot bufferisation, then scalar loops; LLVM's vectoriser does what it can. The
// kernel runs as one workgroup: its temporaries are whole tensors, which several workgroups could
// not share. Ops of the kernel dialect stay, on memory: `-xc-lower-kernel-ops-to-loops` follows.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CPU/CPUDialect.h"
#include "compiler/Codegen/CPU/KernelAnalysis.h"
#include "compiler/Codegen/CPU/Passes.h"
#include "compiler/Dialect/Kernel/IR/KernelOps.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/Transforms.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace xc::cpu {
#define GEN_PASS_DEF_LOWERGENERIC
#include "compiler/Codegen/CPU/Passes.h.inc"

/// Ops that update a tensor (kernel.scatter) get a copy of an input to work on, in a tensor that
/// bufferisation can place in the result's memory; otherwise it would make a temporary and copy
/// once more. Those that write a part of it find the rest in the result's memory.
static void copyUpdatedInputs(func::FuncOp function) {
  SmallVector<OpOperand *> updated;
  function.walk([&](DestinationStyleOpInterface op) {
    for (OpOperand &init : op.getDpsInitsMutable())
      if (!isa<linalg::LinalgOp>(op.getOperation()) && !kernel::writesPart(op) &&
          init.get().getDefiningOp<bufferization::ToTensorOp>())
        updated.push_back(&init);
  });
  for (OpOperand *operand : updated) {
    OpBuilder builder(operand->getOwner());
    Location loc = operand->getOwner()->getLoc();
    auto type = cast<RankedTensorType>(operand->get().getType());
    Value empty = tensor::EmptyOp::create(builder, loc, getSizes(builder, operand->get()),
                                          type.getElementType());
    AffineMap identity = builder.getMultiDimIdentityMap(type.getRank());
    SmallVector<utils::IteratorType> iterators(type.getRank(), utils::IteratorType::parallel);
    auto copy =
        linalg::GenericOp::create(builder, loc, TypeRange{empty.getType()}, operand->get(), empty,
                                  ArrayRef<AffineMap>{identity, identity}, iterators,
                                  [](OpBuilder &inner, Location innerLoc, ValueRange arguments) {
                                    linalg::YieldOp::create(inner, innerLoc, arguments[0]);
                                  });
    operand->set(copy->getResult(0));
  }
}

/// Gives each use of an empty tensor, and of what fills one, one of its own. Results that begin
/// with the same fill would be computed in the memory of the first of them: what is copied to the
/// others' is no conflict for the analysis, which sees tensors only.
static void separateInits(func::FuncOp function) {
  auto separate = [&](auto op) {
    OpBuilder builder(op);
    for (OpOperand &use : llvm::make_early_inc_range(llvm::drop_begin(op->getUses())))
      use.set(builder.clone(*op)->getResult(0));
  };
  SmallVector<linalg::FillOp> fills(function.getBody().getOps<linalg::FillOp>());
  llvm::for_each(fills, separate);
  SmallVector<tensor::EmptyOp> empties(function.getBody().getOps<tensor::EmptyOp>());
  llvm::for_each(empties, separate);
}

/// An n-dimensional copy as a linalg op, which has loops.
static void copyToLoops(IRRewriter &rewriter, memref::CopyOp copy) {
  // What was computed in place still says that it is to be copied there.
  if (copy.getSource() == copy.getTarget())
    return rewriter.eraseOp(copy);
  rewriter.setInsertionPoint(copy);
  int64_t rank = cast<MemRefType>(copy.getTarget().getType()).getRank();
  AffineMap identity = rewriter.getMultiDimIdentityMap(rank);
  SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
  auto generic =
      linalg::GenericOp::create(rewriter, copy.getLoc(), copy.getSource(), copy.getTarget(),
                                ArrayRef<AffineMap>{identity, identity}, iterators,
                                [](OpBuilder &builder, Location loc, ValueRange arguments) {
                                  linalg::YieldOp::create(builder, loc, arguments[0]);
                                });
  rewriter.eraseOp(copy);
  rewriter.setInsertionPoint(generic);
}

namespace {

struct LowerGeneric final : impl::LowerGenericBase<LowerGeneric> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (isa_and_nonnull<GenericAttr>(function->getAttr(plan::kConfigAttr)) &&
          (failed(verifyKernelFunction(function)) || failed(lower(function))))
        return signalPassFailure();
  }

  LogicalResult lower(func::FuncOp function) {
    copyUpdatedInputs(function);
    separateInits(function);
    if (failed(bufferize(function)))
      return failure();
    IRRewriter rewriter(&getContext());
    SmallVector<memref::CopyOp> copies;
    function.walk([&](memref::CopyOp copy) { copies.push_back(copy); });
    for (memref::CopyOp copy : copies)
      copyToLoops(rewriter, copy);
    SmallVector<linalg::LinalgOp> ops;
    function.walk([&](linalg::LinalgOp op) { ops.push_back(op); });
    for (linalg::LinalgOp op : ops) {
      rewriter.setInsertionPoint(op);
      if (failed(linalg::linalgOpToLoops(rewriter, op)))
        return op.emitOpError("has no loops");
      rewriter.eraseOp(op);
    }
    SmallVector<plan::FormulaAttr> grid(3, plan::FormulaAttr::getConstant(&getContext(), 1));
    function->setAttr(plan::kLaunchAttr,
                      plan::LaunchAttr::get(&getContext(), grid, {1, 1, 1}, {1, 1, 1},
                                            /*shared=*/0, /*scratch=*/0));
    return success();
  }

  static LogicalResult bufferize(func::FuncOp function) {
    bufferization::OneShotBufferizationOptions options;
    options.setFunctionBoundaryTypeConversion(bufferization::LayoutMapOption::IdentityLayoutMap);
    IRRewriter rewriter(function.getContext());
    bufferization::OneShotAnalysisState state(function, options);
    if (failed(bufferization::analyzeOp(function, state)) ||
        failed(bufferization::eliminateEmptyTensors(rewriter, function, state)))
      return failure();
    bufferization::BufferizationState bufferizationState;
    return bufferization::runOneShotBufferize(function, options, bufferizationState);
  }
};

} // namespace
} // namespace xc::cpu
