//===- CropWindows.cpp - Windows that have one place ----------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   pool over 4 rows by windows of 3, 3 apart: rows d0 * 3 + d1, d0 of 1 round, d1 of 3
//   extract_slice of 3 rows, and the pool of those
//
//===----------------------------------------------------------------------===//

#include "compiler/Dispatch/CropWindows.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace xc::plan {

/// `index` where each loop of one round is 0.
static AffineExpr dropUnitLoops(AffineExpr index, ArrayRef<int64_t> rounds) {
  llvm::DenseMap<AffineExpr, AffineExpr> zeros;
  for (auto [loop, count] : llvm::enumerate(rounds))
    if (count == 1)
      zeros[getAffineDimExpr(loop, index.getContext())] =
          getAffineConstantExpr(0, index.getContext());
  return simplifyAffineExpr(index.replace(zeros), rounds.size(), /*numSymbols=*/0);
}

/// The operand's dim that is as large as `loop` has rounds; nothing where no dim says so.
static std::optional<OpFoldResult> getRounds(OpBuilder &builder, linalg::GenericOp op,
                                             AffineExpr loop, ArrayRef<int64_t> rounds) {
  int64_t known = rounds[cast<AffineDimExpr>(loop).getPosition()];
  if (!ShapedType::isDynamic(known))
    return OpFoldResult(builder.getIndexAttr(known));
  for (OpOperand &operand : op->getOpOperands())
    if (isa<RankedTensorType>(operand.get().getType()))
      if (auto dim = op.getMatchingIndexingMap(&operand).getResultPosition(loop))
        return tensor::getMixedSize(builder, op.getLoc(), operand.get(), *dim);
  return std::nullopt;
}

static void cropOperand(linalg::GenericOp op, OpOperand &operand, ArrayRef<int64_t> rounds) {
  auto type = dyn_cast<RankedTensorType>(operand.get().getType());
  if (!type || llvm::is_contained(type.getShape(), 0))
    return;
  OpBuilder builder(op);
  SmallVector<OpFoldResult> sizes;
  bool isPart = false;
  for (auto [dim, index] : llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults())) {
    AffineExpr loop = isa<AffineDimExpr>(index) ? AffineExpr() : dropUnitLoops(index, rounds);
    std::optional<OpFoldResult> read;
    if (loop && isa<AffineDimExpr>(loop))
      read = getRounds(builder, op, loop, rounds);
    if (read && getConstantIntValue(*read) == type.getDimSize(dim))
      read.reset(); // all of it
    isPart |= read.has_value();
    sizes.push_back(read ? *read : tensor::getMixedSize(builder, op.getLoc(), operand.get(), dim));
  }
  if (!isPart)
    return;
  SmallVector<OpFoldResult> zeros(sizes.size(), builder.getIndexAttr(0)),
      ones(sizes.size(), builder.getIndexAttr(1));
  operand.set(
      tensor::ExtractSliceOp::create(builder, op.getLoc(), operand.get(), zeros, sizes, ones));
}

void cropWindowsOfOnePlace(func::FuncOp func) {
  func.walk([](linalg::GenericOp op) {
    SmallVector<int64_t> rounds = op.getStaticLoopRanges();
    if (!op.hasPureTensorSemantics() || !llvm::is_contained(rounds, 1) ||
        llvm::is_contained(rounds, 0))
      return;
    for (OpOperand *operand : op.getDpsInputOperands())
      cropOperand(op, *operand, rounds);
  });
}

} // namespace xc::plan
