//===- RegistersToNVVM.cpp - Products of registers become instructions ----===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What -xc-cuda-lower-registers leaves: products whose accumulators are single registers, waits
// that tie them, and named barriers. Assembly, since MLIR's ops have no operand in registers and
// their waits no dependence on what they wait for.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Tile/Products.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace xc::cuda::tile_lowering {

namespace {

/// Where a warpgroup's rows of a first operand in shared memory begin.
Value placeRows(TileBuilder &b, tile::SharedType tile, Value start, Value row, bool transposed) {
  Value skip = transposed ? b.mul(b.div(row, tile.getPanelColumns()), tile.getPanelBytes())
                          : b.mul(row, tile.getLineBytes());
  return b.add(b.address(start), skip);
}

/// wgmma.fence, behind which the product takes `registers`: what is written to them comes before
/// it.
SmallVector<Value> fence(TileBuilder &b, ArrayRef<Value> registers) {
  if (registers.empty()) {
    NVVM::WgmmaFenceAlignedOp::create(b.rewriter, b.loc);
    return {};
  }
  SmallVector<std::string> constraints;
  SmallVector<Type> types;
  for (Value value : registers) {
    constraints.push_back(value.getType().isF32() ? "=f" : "=r");
    types.push_back(value.getType());
  }
  for (size_t i = 0; i < registers.size(); ++i)
    constraints.push_back(std::to_string(i));
  constraints.push_back("~{memory}");
  auto all = LLVM::LLVMStructType::getLiteral(b.rewriter.getContext(), types);
  return unpack(
      b, b.assembly("wgmma.fence.sync.aligned;", llvm::join(constraints, ","), registers, all)
             .getResult(0));
}

struct LowerIssue final : TilePattern<tile::IssueOp> {
  using TilePattern::TilePattern;

  LogicalResult matchAndRewrite(tile::IssueOp op, Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (op.getSynchronous())
      return rewriter.notifyMatchFailure(op, "is one of mma.sync");
    TileBuilder b(rewriter, op.getLoc());
    Descriptor right(op.getB().getType(), op.getTransposedB());
    Value descriptorB = makeDescriptor(b, b.address(adaptor.getB()), right), descriptorA;
    std::optional<Descriptor> left;
    if (op.getA()) {
      left.emplace(op.getA().getType(), op.getTransposedA());
      descriptorA = makeDescriptor(
          b,
          placeRows(b, left->tile, adaptor.getA(), b.toWord(adaptor.getRow()), op.getTransposedA()),
          *left);
    }
    int64_t columns = op.getColumns(), steps = op.getK() / 16;
    SmallVector<Value> fenced(adaptor.getSums());
    llvm::append_range(fenced, adaptor.getWords());
    fenced = fence(b, fenced);
    SmallVector<Value> sums(ArrayRef(fenced).take_front(adaptor.getSums().size()));
    ArrayRef<Value> words = ArrayRef(fenced).drop_front(sums.size());
    bool isFirst = sums.empty();
    if (isFirst)
      sums.assign(columns / 2,
                  LLVM::UndefOp::create(rewriter, op.getLoc(), Float32Type::get(getContext())));
    std::string order = llvm::formatv("{0}, {1}", left ? op.getTransposedA() ? ", 1" : ", 0" : "",
                                      op.getTransposedB() ? 1 : 0);
    for (int64_t step = 0; step < steps; ++step) {
      SmallVector<Value> a;
      if (left)
        a.push_back(advanceDescriptor(b, descriptorA, left->getStep(step)));
      else
        llvm::append_range(a, words.slice(step * 4, 4));
      Value flag = b.word(isFirst && step == 0 ? 0 : 1);
      sums =
          unpack(b, multiply(b, op.getB().getType().getElementType(), columns, sums, a,
                             advanceDescriptor(b, descriptorB, right.getStep(step)), flag, order));
    }
    NVVM::WgmmaGroupSyncAlignedOp::create(rewriter, op.getLoc());
    rewriter.replaceOp(op, sums);
    return success();
  }
};

struct LowerRetire final : TilePattern<tile::RetireOp> {
  using TilePattern::TilePattern;

  LogicalResult matchAndRewrite(tile::RetireOp op, Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    TileBuilder b(rewriter, op.getLoc());
    std::string text =
        llvm::formatv("wgmma.wait_group.sync.aligned {0};", static_cast<int64_t>(op.getPending()));
    size_t count = adaptor.getSums().size();
    SmallVector<std::string> constraints(count, "=f");
    for (size_t i = 0; i < count; ++i)
      constraints.push_back(std::to_string(i));
    constraints.append(adaptor.getWords().size(), "r");
    constraints.push_back("~{memory}");
    SmallVector<Value> operands(adaptor.getSums());
    llvm::append_range(operands, adaptor.getWords());
    Type all;
    if (count > 0)
      all = LLVM::LLVMStructType::getLiteral(
          getContext(), SmallVector<Type>(count, Float32Type::get(getContext())));
    LLVM::InlineAsmOp wait = b.assembly(text, llvm::join(constraints, ","), operands, all);
    if (count == 0)
      rewriter.eraseOp(op);
    else
      rewriter.replaceOp(op, unpack(b, wait.getResult(0)));
    return success();
  }
};

template <typename Op> struct LowerNamedBarrier final : TilePattern<Op> {
  using TilePattern<Op>::TilePattern;

  LogicalResult matchAndRewrite(Op op, typename TilePattern<Op>::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    TileBuilder b(rewriter, op.getLoc());
    StringRef text =
        std::is_same_v<Op, tile::BarrierSyncOp> ? "bar.sync $0, $1;" : "bar.arrive $0, $1;";
    b.assembly(text, "r,n,~{memory}",
               {b.toWord(adaptor.getNumber()), b.word(static_cast<int64_t>(op.getThreads()))});
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void populateRegisterPatterns(const LLVMTypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<LowerIssue, LowerRetire, LowerNamedBarrier<tile::BarrierSyncOp>,
               LowerNamedBarrier<tile::BarrierArriveOp>>(converter);
}

} // namespace xc::cuda::tile_lowering
