//===- DecodeAttention.cpp - How attention of few queries is shared -------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How many blocks share the keys of a head is the model's choice (DecodeModel.cpp).
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Attention/DecodeAttention.h"
#include "compiler/Codegen/CUDA/Attention/AttentionProblem.h"
#include "compiler/Codegen/CUDA/Attention/DecodeModel.h"
#include "compiler/Codegen/CUDA/Strategy.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace xc::cuda {

/// Rows of a product with weights. Elements of f32 values of which registers hold sums of twice as
/// many beside what products of f32 take.
static constexpr int64_t kRows = 8, kMostTall = 128;

static int64_t multiplySizes(ArrayRef<int64_t> sizes) {
  return llvm::any_of(sizes, ShapedType::isDynamic) ? -1 : computeProduct(sizes);
}

DecodeSizes getDecodeSizes(ShapedType query, ShapedType key, ShapedType value, ShapedType table) {
  int64_t dim = query.getRank() - 2;
  DecodeSizes sizes;
  int64_t groups = key.getDimSize(dim - 1);
  sizes.rows =
      query.getDimSize(dim - 1) / groups * query.getDimSize(dim); // in range: vectors of `query`
  sizes.vector = query.getDimSize(dim + 1);
  sizes.result = value.getDimSize(dim + 1);
  sizes.elementBytes = query.getElementTypeBitWidth() / 8;
  bool isLow = sizes.rows <= kRows || (sizes.elementBytes == 4 && sizes.result > kMostTall);
  sizes.blockRows = isLow ? kRows : 2 * kRows;
  int64_t batch = multiplySizes(query.getShape().take_front(dim - 1));
  sizes.isAnyBatch = batch < 0;
  sizes.heads = (sizes.isAnyBatch ? 1 : batch) * groups *
                static_cast<int64_t>(llvm::divideCeil(sizes.rows, sizes.blockRows));
  sizes.keys = multiplySizes(key.getDimSize(dim));
  if (table)
    sizes.keys = multiplySizes({key.getDimSize(dim), table.getDimSize(1)});
  return sizes;
}

DecodeSizes getDecodeSizes(kernel::AttentionDecodeOp op) {
  return getDecodeSizes(op.getQueryType(), op.getKeyType(), op.getValueType(),
                        op.isPaged() ? cast<ShapedType>(op.getTable().getType()) : ShapedType());
}

bool hasDecodeKernel(const DecodeSizes &sizes, std::optional<int64_t> window,
                     const Target *target) {
  auto isVector = [](int64_t size) {
    return size >= kVectorStep && size <= kMostVector && size % kDecodeVectorStep == 0;
  };
  return target && target->hasMMA16816 && isVector(sizes.vector) && isVector(sizes.result) &&
         sizes.rows > 0 && sizes.heads != 0 && sizes.keys != 0 && window.value_or(0) <= kMostWindow;
}

/// Threads of a block that joins parts.
static constexpr int64_t kCombineThreads = 128;

static Choice chooseDecode(kernel::AttentionDecodeOp op, const Target &target) {
  DecodeSizes sizes = getDecodeSizes(op);
  DecodePlan plan = chooseDecodePlan(sizes, target, op.getSplits());
  Choice choice{
      AttentionDecodeAttr::get(op.getContext(), plan.warps, plan.cluster, plan.blocks),
      llvm::formatv("attention of {0} queries to a head of keys: {1} blocks share its keys",
                    sizes.rows, std::max(plan.cluster, plan.splits))};
  if (!sizes.isAnyBatch && sizes.keys >= 0) {
    choice.microseconds = plan.microseconds;
    choice.reason += ", " + formatTime(*choice.microseconds);
  }
  return choice;
}

namespace {

/// Few queries to many keys, and what joins parts of the keys where blocks do not.
struct DecodeAttentionStrategy final : Strategy {
  StringRef getName() const override { return "attention-decode"; }

  LogicalResult enumerate(KernelQuery &query, SmallVectorImpl<Choice> &choices) const override {
    if (query.kernel.outputs.empty())
      return success();
    Operation *op = query.kernel.outputs.front().tensor.getDefiningOp();
    if (auto decode = dyn_cast_or_null<kernel::AttentionDecodeOp>(op))
      choices.push_back(chooseDecode(decode, query.getTarget()));
    if (auto combine = dyn_cast_or_null<kernel::AttentionCombineOp>(op))
      choices.push_back({AttentionCombineAttr::get(query.getContext(), kCombineThreads),
                         llvm::formatv("joins {0} parts of attention", combine.getSplits())});
    return success();
  }

  /// That of attention itself.
  std::unique_ptr<Pass> createEmission() const override { return nullptr; }
};

} // namespace

const Strategy &getDecodeAttentionStrategy() {
  static const DecodeAttentionStrategy strategy;
  return strategy;
}

} // namespace xc::cuda
