//===- MultiplyAdd.cpp - The body of matrix products ----------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Plan/IR/MultiplyAdd.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/CastInterfaces.h"

using namespace mlir;

namespace xc::plan {

std::optional<MultiplyAdd> matchMultiplyAdd(linalg::LinalgOp op) {
  if (op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1 || !op.hasPureTensorSemantics())
    return std::nullopt;
  MultiplyAdd body;
  body.add = op.getBlock()->getTerminator()->getOperand(0).getDefiningOp();
  BlockArgument accumulator = op.getRegionOutputArgs().front();
  if (!isa_and_nonnull<arith::AddFOp, arith::AddIOp>(body.add) || !accumulator.hasOneUse() ||
      *accumulator.user_begin() != body.add)
    return std::nullopt;
  bool isFirst = body.add->getOperand(0) == accumulator;
  body.multiply = body.add->getOperand(isFirst ? 1 : 0).getDefiningOp();
  if (!isa_and_nonnull<arith::MulFOp, arith::MulIOp>(body.multiply))
    return std::nullopt;
  std::array<bool, 2> found = {false, false};
  for (Value factor : body.multiply->getOperands()) {
    SmallVector<Operation *> casts;
    while (Operation *cast = factor.getDefiningOp()) {
      if (!isa<CastOpInterface>(cast))
        return std::nullopt;
      casts.insert(casts.begin(), cast);
      factor = cast->getOperand(0);
    }
    auto argument = cast<BlockArgument>(factor);
    unsigned input = argument.getArgNumber();
    if (argument.getOwner() != op.getBlock() || input >= found.size() || found[input])
      return std::nullopt;
    found[input] = true;
    body.casts[input] = std::move(casts);
  }
  return body;
}

} // namespace xc::plan
