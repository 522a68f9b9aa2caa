//===- Losses.cpp - ONNX's losses -----------------------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Input/ONNX/NodeImport.h"

using namespace mlir;
using namespace xc::array;

namespace xc::onnx {

/// The weighted negative log-probabilities of the targets, reduced as the node says. Targets that
/// are `ignore_index` count nothing.
static Value likelihoodLoss(NodeImport &n, Value logits, Value target, Value weights) {
  std::string reduction = n.text("reduction", "mean");
  if (n.rankOf(logits) < 2 || n.rankOf(target) != n.rankOf(logits) - 1 ||
      (reduction != "mean" && reduction != "sum" && reduction != "none")) {
    n.error("expected scores of one rank more than the target, and reduction mean, sum or none");
    return {};
  }
  Type element = n.elementOf(logits);
  Value factor, zero = n.scalar(0, element);
  Value isIgnored;
  if (n.hasAttribute("ignore_index")) {
    isIgnored = n.compare(CompareDirection::Eq, target,
                          n.scalar(double(n.integer("ignore_index", 0)), target));
    target = n.select(isIgnored, n.scalar(0, target), target);
  }
  Value picked =
      n.squeeze(n.make<TakeAlongAxisOp>(logits, n.expandDims(target, {1}), uint64_t(1)), {1});
  if (weights)
    factor = n.make<TakeOp>(weights, target, uint64_t(0));
  if (isIgnored) {
    Value one = factor ? factor : n.broadcast(n.scalar(1, element), n.sizesOf(picked));
    factor = n.select(isIgnored, zero, one);
  }
  Value loss = n.make<NegOp>(factor ? n.mul(picked, factor) : picked);
  if (reduction == "none")
    return loss;
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(0, n.rankOf(loss)));
  if (reduction == "mean" && !factor)
    return n.make<MeanOp>(loss, ArrayRef<int64_t>(axes), /*keepdims=*/false);
  Value sum = n.reduce(ReduceKind::Sum, loss, axes, false);
  return reduction == "sum" ? sum : n.div(sum, n.reduce(ReduceKind::Sum, factor, axes, false));
}

static Results importNegativeLogLikelihoodLoss(NodeImport &n) {
  return {likelihoodLoss(n, n.input(0), n.input(1), n.has(2) ? n.input(2) : Value())};
}

static Results importSoftmaxCrossEntropyLoss(NodeImport &n) {
  Value logits = n.make<LogSoftmaxOp>(n.input(0), uint64_t(1));
  return {likelihoodLoss(n, logits, n.input(1), n.has(2) ? n.input(2) : Value()), logits};
}

llvm::ArrayRef<OpEntry> getLossOps() {
  static constexpr OpEntry kOps[] = {
      {"NegativeLogLikelihoodLoss", 1, importNegativeLogLikelihoodLoss},
      {"SoftmaxCrossEntropyLoss", 1, importSoftmaxCrossEntropyLoss},
  };
  return kOps;
}

} // namespace xc::onnx
