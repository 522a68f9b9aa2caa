//===- CopyWaits.cpp - How many copies may be under way -------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `cp.async.wait_group N` waits for all copies but the last N. TokenPaths.cpp says how many have
// been started since; a group of copies counts like a copy.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Tile/CopyWaits.h"
#include "compiler/Codegen/CUDA/Tile/TokenPaths.h"

using namespace mlir;

namespace xc::cuda {

LogicalResult placeCopyWaits(Operation *root) {
  WalkResult result = root->walk([](tile::AwaitCopiesOp op) -> WalkResult {
    auto starts = [](Operation *other) { return isa<tile::CopyOp, tile::CommitCopiesOp>(other); };
    int64_t least = kManyStarted;
    for (Value token : op.getTokens()) {
      std::optional<int64_t> own = countStarted(token, op, starts);
      if (!own)
        return op.emitOpError("expected tokens of copies that come by loops and branches alone");
      least = std::min(least, *own);
    }
    op.setPendingAttr(OpBuilder(op).getI64IntegerAttr(least));
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

} // namespace xc::cuda
