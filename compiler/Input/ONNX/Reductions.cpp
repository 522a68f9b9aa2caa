//===- Reductions.cpp - ONNX ops along dims -------------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Input/ONNX/NodeImport.h"

using namespace mlir;
using namespace xc::array;

namespace xc::onnx {

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

namespace {
/// What every reduction says: over which axes, and whether they stay.
struct Reduction {
  Value operand;
  SmallVector<int64_t> axes;
  bool keepdims;
};
} // namespace

/// Axes are an attribute, or as of some version an input. None means all of them, or with
/// `noop_with_empty_axes` that the operand is returned.
static Reduction readReduction(NodeImport &n) {
  Reduction reduction{n.input(0), {}, n.integer("keepdims", 1) != 0};
  int64_t rank = n.rankOf(reduction.operand);
  SmallVector<int64_t> axes =
      n.has(1) ? n.needIntegers(1, "the axes of a reduction") : n.integerList("axes");
  if (axes.empty() && n.integer("noop_with_empty_axes", 0) == 0)
    axes = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  reduction.axes = n.normalizeAxes(axes, rank);
  return reduction;
}

template <ReduceKind kind> static Results reduction(NodeImport &n) {
  Reduction r = readReduction(n);
  ReduceKind used = kind;
  // The largest truth value is their or.
  if (n.elementOf(r.operand).isInteger(1))
    used = kind == ReduceKind::Max ? ReduceKind::Or : ReduceKind::And;
  return {n.reduce(used, r.operand, r.axes, r.keepdims)};
}

static Results importReduceMean(NodeImport &n) {
  Reduction r = readReduction(n);
  if (r.axes.empty())
    return {r.operand};
  if (n.isFloat(r.operand))
    return {n.make<MeanOp>(r.operand, ArrayRef<int64_t>(r.axes), r.keepdims)};
  OpFoldResult count = n.index(1);
  for (int64_t axis : r.axes)
    count = n.sizes().mul(count, n.size(r.operand, axis));
  return {n.div(n.reduce(ReduceKind::Sum, r.operand, r.axes, r.keepdims),
                n.scalarOf(count, n.elementOf(r.operand)))};
}

static Results importReduceL1(NodeImport &n) {
  Reduction r = readReduction(n);
  return {n.reduce(ReduceKind::Sum, n.make<AbsOp>(r.operand), r.axes, r.keepdims)};
}

static Results importReduceL2(NodeImport &n) {
  Reduction r = readReduction(n);
  Type element = n.elementOf(r.operand);
  Value x =
      n.isFloat(r.operand) ? n.widen(r.operand) : n.convert(r.operand, n.getBuilder().getF64Type());
  Value sum = n.reduce(ReduceKind::Sum, n.make<SquareOp>(x), r.axes, r.keepdims);
  return {n.convert(n.make<SqrtOp>(sum), element)};
}

static Results importReduceSumSquare(NodeImport &n) {
  Reduction r = readReduction(n);
  return {n.reduce(ReduceKind::Sum, n.make<SquareOp>(r.operand), r.axes, r.keepdims)};
}

static Results importReduceLogSum(NodeImport &n) {
  Reduction r = readReduction(n);
  return {n.make<LogOp>(n.reduce(ReduceKind::Sum, r.operand, r.axes, r.keepdims))};
}

static Results importReduceLogSumExp(NodeImport &n) {
  Reduction r = readReduction(n);
  if (r.axes.empty())
    return {r.operand};
  return {n.make<LogSumExpOp>(r.operand, ArrayRef<int64_t>(r.axes), r.keepdims)};
}

//===----------------------------------------------------------------------===//
// Positions
//===----------------------------------------------------------------------===//

template <typename OpTy> static Results argument(NodeImport &n) {
  Value x = n.input(0);
  int64_t axis = n.axis("axis", 0, n.rankOf(x));
  bool keepdims = n.integer("keepdims", 1) != 0;
  Type word = n.getBuilder().getI64Type();
  if (n.integer("select_last_index", 0) == 0)
    return {n.makeAs<OpTy>(word, x, uint64_t(axis), keepdims)};
  Value index = n.makeAs<OpTy>(word, n.reverse(x, {axis}), uint64_t(axis), keepdims);
  Value last = n.sub(n.scalarOf(n.size(x, axis), word), n.scalar(1, word));
  return {n.sub(last, index)};
}

static Results importTopK(NodeImport &n) {
  Value x = n.input(0);
  int64_t axis = n.axis("axis", -1, n.rankOf(x));
  int64_t k = n.version < 10 ? n.integer("k", 0) : n.needInteger(1, "k of TopK");
  bool smallest = n.integer("largest", 1) == 0;
  if (k < 0)
    return n.error("expected k that is not negative, got " + Twine(k));
  return n.makeAll<TopKOp>({n.elementOf(x), n.getBuilder().getI64Type()}, x, uint64_t(k),
                           uint64_t(axis), smallest);
}

template <typename OpTy> static Results scan(NodeImport &n) {
  Value x = n.input(0);
  int64_t axis = n.normalizeAxis(n.needInteger(1, "the axis of a running sum"), n.rankOf(x));
  return {n.make<OpTy>(x, uint64_t(axis), n.integer("exclusive", 0) != 0,
                       n.integer("reverse", 0) != 0)};
}

//===----------------------------------------------------------------------===//
// Softmax and the like
//===----------------------------------------------------------------------===//

/// Before version 13 the operand is seen as a matrix, cut before `axis`.
template <typename Function> static Results alongMatrix(NodeImport &n, Function compute) {
  Value x = n.input(0);
  int64_t rank = n.rankOf(x);
  if (n.version >= 13)
    return {compute(x, n.axis("axis", -1, rank))};
  int64_t axis = n.axis("axis", 1, rank);
  if (axis == rank - 1)
    return {compute(x, axis)};
  Numbers sizes = n.sizesOf(x);
  OpFoldResult rows = n.index(1), columns = n.index(1);
  for (auto [dim, size] : llvm::enumerate(sizes))
    (int64_t(dim) < axis ? rows : columns) =
        n.sizes().mul(int64_t(dim) < axis ? rows : columns, size);
  return {n.reshape(compute(n.reshape(x, {rows, columns}), 1), sizes)};
}

static Results importSoftmax(NodeImport &n) {
  return alongMatrix(n,
                     [&](Value x, int64_t axis) { return n.make<SoftmaxOp>(x, uint64_t(axis)); });
}

static Results importLogSoftmax(NodeImport &n) {
  return alongMatrix(
      n, [&](Value x, int64_t axis) { return n.make<LogSoftmaxOp>(x, uint64_t(axis)); });
}

static Results importHardmax(NodeImport &n) {
  return alongMatrix(n, [&](Value x, int64_t axis) -> Value {
    Type word = n.getBuilder().getI64Type();
    Value best = n.makeAs<ArgMaxOp>(word, x, uint64_t(axis), /*keepdims=*/true);
    Value place = n.iota(n.sizesOf(x), axis, word);
    return n.convert(n.compare(CompareDirection::Eq, place, best), n.elementOf(x));
  });
}

llvm::ArrayRef<OpEntry> getReductionOps() {
  static constexpr OpEntry kOps[] = {
      {"ArgMax", 1, argument<ArgMaxOp>},
      {"ArgMin", 1, argument<ArgMinOp>},
      {"CumProd", 1, scan<CumProdOp>},
      {"CumSum", 1, scan<CumSumOp>},
      {"Hardmax", 1, importHardmax},
      {"LogSoftmax", 1, importLogSoftmax},
      {"ReduceL1", 1, importReduceL1},
      {"ReduceL2", 1, importReduceL2},
      {"ReduceLogSum", 1, importReduceLogSum},
      {"ReduceLogSumExp", 1, importReduceLogSumExp},
      {"ReduceMax", 1, reduction<ReduceKind::Max>},
      {"ReduceMean", 1, importReduceMean},
      {"ReduceMin", 1, reduction<ReduceKind::Min>},
      {"ReduceProd", 1, reduction<ReduceKind::Prod>},
      {"ReduceSum", 1, reduction<ReduceKind::Sum>},
      {"ReduceSumSquare", 1, importReduceSumSquare},
      {"Softmax", 1, importSoftmax},
      {"TopK", 1, importTopK},
  };
  return kOps;
}

} // namespace xc::onnx
