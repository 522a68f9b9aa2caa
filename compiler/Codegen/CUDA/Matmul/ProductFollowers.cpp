//===- ProductFollowers.cpp - What is computed of a product ---------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Matmul/ProductFollowers.h"

using namespace mlir;

namespace xc::cuda {

bool isElementwise(linalg::GenericOp op) {
  return op && op.hasPureTensorSemantics() && op.getNumResults() == 1 &&
         op.getNumReductionLoops() == 0 &&
         op.getIndexingMapMatchingResult(op->getResult(0)).isIdentity();
}

void collectFollowers(Operation *op, llvm::SetVector<Operation *> &followers) {
  for (Operation *user : op->getUsers()) {
    Operation *outer = op->getBlock()->findAncestorOpInBlock(*user);
    if (outer && followers.insert(outer))
      collectFollowers(outer, followers);
  }
}

} // namespace xc::cuda
