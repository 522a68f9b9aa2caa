//===- LowerCopies.cpp - Copies to tiles, and waits for them --------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tokens have done their work when it is known how many copies may be under way.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Tile/RegisterLowering.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;

namespace xc::cuda {

namespace {

struct LowerCopy final : RegisterPattern<tile::CopyOp> {
  using RegisterPattern::RegisterPattern;

  LogicalResult matchAndRewrite(tile::CopyOp op, Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    tile::IssueCopyOp::create(rewriter, op.getLoc(), op.getMemory(), op.getStart(), op.getStride(),
                              op.getRow(), op.getRows(), op.getColumns(), adaptor.getTile().front(),
                              op.getThreads(), op.getTable(), op.getPaging());
    replace(rewriter, op, {SmallVector<Value>()});
    return success();
  }
};

struct LowerAwaitCopies final : RegisterPattern<tile::AwaitCopiesOp> {
  using RegisterPattern::RegisterPattern;

  LogicalResult matchAndRewrite(tile::AwaitCopiesOp op, Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (!op.getPending())
      return rewriter.notifyMatchFailure(op, "nobody has said how many copies may be under way");
    // One number of each held operand, which all of its products take, is enough.
    SmallVector<Value> held;
    for (ValueRange operand : adaptor.getHeld())
      held.push_back(operand.front());
    auto retire = tile::RetireCopiesOp::create(rewriter, op.getLoc(), ValueRange(held).getTypes(),
                                               *op.getPending(), held, op.getFenced());
    SmallVector<SmallVector<Value>> results;
    for (ValueRange tile : adaptor.getTiles())
      results.push_back(SmallVector<Value>(tile));
    for (auto [operand, first] : llvm::zip_equal(adaptor.getHeld(), retire.getResults())) {
      results.push_back(SmallVector<Value>(operand));
      results.back().front() = first;
    }
    replace(rewriter, op, std::move(results));
    return success();
  }
};

struct LowerCommitCopies final : RegisterPattern<tile::CommitCopiesOp> {
  using RegisterPattern::RegisterPattern;

  LogicalResult matchAndRewrite(tile::CommitCopiesOp op, Adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    NVVM::CpAsyncCommitGroupOp::create(rewriter, op.getLoc());
    replace(rewriter, op, {SmallVector<Value>()});
    return success();
  }
};

} // namespace

void populateRegisterCopyPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<LowerCopy, LowerAwaitCopies, LowerCommitCopies>(converter, patterns.getContext());
}

void addIllegalCopyOps(ConversionTarget &target) {
  target.addIllegalOp<tile::CopyOp, tile::AwaitCopiesOp, tile::CommitCopiesOp>();
}

} // namespace xc::cuda
