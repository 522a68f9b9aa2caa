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

/// wgmma.fence, behind which the product takes `sums`: what is written to them, and to `words`,
/// comes before it. The product writes sums in place, and leaves words as they are: whoever keeps
/// them needs no copies.
SmallVector<Value> fence(TileBuilder &b, ValueRange sums, ValueRange words) {
  if (sums.empty() && words.empty()) {
    NVVM::WgmmaFenceAlignedOp::create(b.rewriter, b.loc);
    return {};
  }
  SmallVector<std::string> constraints;
  for (Value sum : sums)
    constraints.push_back(sum.getType().isF32() ? "=f" : "=r");
  for (size_t i = 0; i < sums.size(); ++i)
    constraints.push_back(std::to_string(i));
  constraints.append(words.size(), "r");
  constraints.push_back("~{memory}");
  SmallVector<Value> operands(sums);
  llvm::append_range(operands, words);
  Type all;
  if (!sums.empty())
    all = LLVM::LLVMStructType::getLiteral(b.rewriter.getContext(),
                                           SmallVector<Type>(sums.getTypes()));
  LLVM::InlineAsmOp op =
      b.assembly("wgmma.fence.sync.aligned;", llvm::join(constraints, ","), operands, all);
  return all ? unpack(b, op.getResult(0)) : SmallVector<Value>();
}

struct LowerIssue final : TilePattern<tile::IssueOp> {
  using TilePattern::TilePattern;

  /// What 16-bit types say about the lines of operands in shared memory.
  static std::string getOrder(tile::IssueOp op) {
    if (op.getB().getType().getElementBytes() != 2)
      return "";
    StringRef left = !op.getA() ? "" : op.getTransposedA() ? ", 1" : ", 0";
    return left.str() + (op.getTransposedB() ? ", 1" : ", 0");
  }

  LogicalResult matchAndRewrite(tile::IssueOp op, Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (op.getSynchronous())
      return rewriter.notifyMatchFailure(op, "is one of mma.sync");
    TileBuilder b(rewriter, op.getLoc());
    Descriptor right(op.getB().getType(), op.getTransposedB());
    Value descriptorB = makeDescriptor(b, b.address(adaptor.getB()), right), descriptorA;
    std::optional<Descriptor> left;
    if (op.getA()) {
      tile::SharedType type = op.getA().getType();
      bool repeats = type.getRows() == tile::kRepeatedRows && !op.getTransposedA();
      left.emplace(type, op.getTransposedA(), repeats);
      Value first = repeats ? b.address(adaptor.getA())
                            : placeRows(b, type, adaptor.getA(), b.toWord(adaptor.getRow()),
                                        op.getTransposedA());
      descriptorA = makeDescriptor(b, first, *left);
    }
    int64_t columns = op.getColumns(), alongK = right.tile.getStepColumns(),
            steps = op.getK() / alongK, from = op.getFrom() / alongK;
    SmallVector<Value> sums = fence(b, adaptor.getSums(), adaptor.getWords());
    Value isAdded = b.word(1), isFirstAdded = isAdded;
    if (op.getCondition())
      isFirstAdded = LLVM::ZExtOp::create(rewriter, op.getLoc(), b.i32, adaptor.getCondition());
    if (sums.empty()) {
      sums.assign(columns / 2,
                  LLVM::UndefOp::create(rewriter, op.getLoc(), op.getResults().front().getType()));
      isFirstAdded = b.word(0);
    }
    std::string order = getOrder(op);
    for (int64_t step = 0; step < steps; ++step) {
      SmallVector<Value> a;
      if (left)
        a.push_back(advanceDescriptor(b, descriptorA, left->getStep(step)));
      else
        llvm::append_range(a, adaptor.getWords().slice(step * 4, 4));
      Value next = advanceDescriptor(b, descriptorB, right.getStep(from + step));
      sums = unpack(b, multiply(b, right.tile.getElementType(), columns, sums, a, next,
                                step == 0 ? isFirstAdded : isAdded, order));
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
    SmallVector<std::string> constraints;
    for (Value sum : adaptor.getSums())
      constraints.push_back(sum.getType().isF32() ? "=f" : "=r");
    for (size_t i = 0; i < count; ++i)
      constraints.push_back(std::to_string(i));
    constraints.append(adaptor.getWords().size(), "r");
    constraints.push_back("~{memory}");
    SmallVector<Value> operands(adaptor.getSums());
    llvm::append_range(operands, adaptor.getWords());
    Type all;
    if (count > 0)
      all = LLVM::LLVMStructType::getLiteral(getContext(),
                                             SmallVector<Type>(adaptor.getSums().getTypes()));
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
