//===- TransposedReads.cpp - Reads across the vectors of a result ---------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CPU/TransposedReads.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace xc::cpu {

/// Whether each index is a constant, or a dim that no other index is.
static bool isPermutation(const Access &access) {
  llvm::SmallDenseSet<unsigned> seen;
  return llvm::all_of(access.indices, [&](AffineExpr index) {
    if (auto dim = dyn_cast_or_null<AffineDimExpr>(index))
      return seen.insert(dim.getPosition()).second;
    return isa_and_nonnull<AffineConstantExpr>(index);
  });
}

static bool isOfDim(AffineExpr index, unsigned dim) {
  auto expr = dyn_cast_or_null<AffineDimExpr>(index);
  return expr && expr.getPosition() == dim;
}

std::optional<TransposedReads> findTransposedReads(const AccessSummary &summary,
                                                   ArrayRef<LoopDim> rows, const LoopDim &columns,
                                                   int64_t lanes) {
  constexpr size_t mostAccesses = 2, mostComputed = 6;
  if (columns.dims.empty() || lanes < 4 || summary.mathOps != 0 || summary.unsupported ||
      summary.computed.size() > mostComputed)
    return std::nullopt;
  unsigned column = columns.dims.back();
  TransposedReads result;
  llvm::SmallDenseSet<Value> tensors;
  for (const Access &access : summary.accesses) {
    if (!tensors.insert(access.tensor).second)
      return std::nullopt;
    bool crosses = llvm::any_of(ArrayRef(access.indices).drop_back(access.indices.empty() ? 0 : 1),
                                [&](AffineExpr index) { return isOfDim(index, column); });
    if (!crosses)
      continue;
    auto row = llvm::find_if(rows, [&](const LoopDim &loop) {
      return isOfDim(access.indices.back(), loop.dims.back());
    });
    bool isSame = result.accesses.empty() || &rows[result.row] == row;
    if (!isPermutation(access) || row == rows.end() || !isSame)
      return std::nullopt;
    result.row = row - rows.begin();
    result.accesses.push_back(access);
  }
  auto fits = [&](OpFoldResult size) {
    std::optional<int64_t> known = getConstantIntValue(size);
    return !known || *known >= lanes;
  };
  if (result.accesses.empty() || result.accesses.size() > mostAccesses ||
      summary.guarded[rows[result.row].dims.back()] || !fits(rows[result.row].size) ||
      !fits(columns.size))
    return std::nullopt;
  return result;
}

SmallVector<Value> transposeVectors(OpBuilder &builder, Location loc, ArrayRef<Value> vectors) {
  SmallVector<Value> current(vectors);
  int64_t count = static_cast<int64_t>(vectors.size()), half = count / 2;
  SmallVector<int64_t> low, high;
  for (int64_t i = 0; i < half; ++i) {
    low.append({i, count + i});
    high.append({half + i, count + half + i});
  }
  // Each step interleaves vectors that are half of all apart: an element's two numbers, of its
  // vector and in it, rotate by one bit through each other.
  for (int64_t step = 1; step < count; step *= 2) {
    SmallVector<Value> next;
    for (int64_t i = 0; i < half; ++i)
      for (ArrayRef<int64_t> mask : {ArrayRef(low), ArrayRef(high)})
        next.push_back(
            vector::ShuffleOp::create(builder, loc, current[i], current[half + i], mask));
    current = std::move(next);
  }
  return current;
}

} // namespace xc::cpu
