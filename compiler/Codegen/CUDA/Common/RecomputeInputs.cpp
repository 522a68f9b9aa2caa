//===- RecomputeInputs.cpp - Reductions that compute what they read -------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Common/RecomputeInputs.h"

#include "compiler/Codegen/CUDA/Common/ReductionSplit.h"

#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace xc::cuda {

/// Ops in a body that are computed twice rather than read.
static constexpr size_t kMostRecomputedOps = 12;

/// Bytes of the elements that `op` reads for each of its own.
static unsigned countBytesPerElement(linalg::GenericOp op) {
  unsigned bits = 0;
  for (OpOperand *input : op.getDpsInputOperands())
    if (op.getMatchingIndexingMap(input).getNumResults() == op.getNumLoops())
      bits += getElementTypeOrSelf(input->get()).getIntOrFloatBitWidth();
  return bits / 8;
}

static bool isWorthRecomputing(OpOperand *use) {
  auto producer = use->get().getDefiningOp<linalg::GenericOp>();
  auto consumer = cast<linalg::GenericOp>(use->getOwner());
  if (!producer || producer->getBlock() != consumer->getBlock() || use->get().hasOneUse() ||
      producer.getNumParallelLoops() != producer.getNumLoops() || producer->getNumResults() != 1 ||
      !consumer.getMatchingIndexingMap(use).isPermutation())
    return false;
  // A strided read would become one of the consumer's: its callers split loops of plain maps only,
  // and reading every third element costs as much memory traffic as reading all.
  if (!hasPlainMaps(producer))
    return false;
  bool gathers = false;
  producer.getBody()->walk([&](tensor::ExtractOp) { gathers = true; });
  return !gathers && producer.getBody()->getOperations().size() <= kMostRecomputedOps &&
         countBytesPerElement(producer) <=
             getElementTypeOrSelf(use->get()).getIntOrFloatBitWidth() / 8;
}

linalg::GenericOp recomputeInputs(linalg::GenericOp op) {
  for (bool changed = true; changed;) {
    changed = false;
    for (OpOperand *input : op.getDpsInputOperands()) {
      if (!isWorthRecomputing(input))
        continue;
      // Fusion would make a result of what others use.
      IRRewriter rewriter(op);
      Value shared = input->get();
      Operation *copy = rewriter.clone(*shared.getDefiningOp());
      input->set(copy->getResult(0));
      FailureOr<linalg::ElementwiseOpFusionResult> fused =
          linalg::fuseElementwiseOps(rewriter, input);
      if (failed(fused)) {
        input->set(shared);
        rewriter.eraseOp(copy);
        continue;
      }
      rewriter.replaceOp(op, llvm::map_to_vector(op->getResults(), [&](OpResult result) {
                           return fused->replacements.lookup(result);
                         }));
      op = cast<linalg::GenericOp>(fused->fusedOp);
      if (copy->use_empty())
        rewriter.eraseOp(copy);
      changed = true;
      break;
    }
  }
  return op;
}

void fuseIntoLastUser(Operation *producer) {
  if (producer->getNumResults() != 1 || !producer->hasOneUse())
    return;
  OpOperand &use = *producer->use_begin();
  auto user = dyn_cast<linalg::GenericOp>(use.getOwner());
  if (!user || user.getNumParallelLoops() != user.getNumLoops() || user->getNumResults() != 1)
    return;
  IRRewriter rewriter(user);
  FailureOr<linalg::ElementwiseOpFusionResult> fused = linalg::fuseElementwiseOps(rewriter, &use);
  if (failed(fused))
    return;
  rewriter.replaceOp(user, llvm::map_to_vector(user->getResults(), [&](OpResult result) {
                       return fused->replacements.lookup(result);
                     }));
  if (producer->use_empty())
    rewriter.eraseOp(producer);
}

} // namespace xc::cuda
