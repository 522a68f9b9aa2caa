//===- LinearAlgebra.cpp - ONNX's determinants ----------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Input/ONNX/Iteration.h"

using namespace mlir;
using namespace xc::array;

namespace xc::onnx {

using Dir = CompareDirection;

/// One step of Gaussian elimination of \p matrices, [batch, size, size], with partial pivoting:
/// column \p index becomes zero below the diagonal, and the determinants get the pivot as a factor.
static Step eliminate(NodeImport &n, Value index, Value matrices, Value determinants) {
  Type word = n.getBuilder().getI64Type();
  Numbers sizes = n.sizesOf(matrices);
  if (sizes.size() != 3)
    return {};
  Value rows = n.iota({sizes[0], sizes[1]}, 1, word);
  Value column = n.make<TakeOp>(matrices, index, uint64_t(2));
  Value isLeft = n.compare(Dir::Ge, rows, index);
  Value size = n.select(isLeft, n.make<AbsOp>(column), n.scalar(-1, column));
  Value best = n.makeAs<ArgMaxOp>(word, size, uint64_t(1), /*keepdims=*/true);
  // The pivot's row and the one at `index` change places.
  Value position = n.broadcast(n.expandDims(best, {2}), {sizes[0], n.index(1), sizes[2]});
  Value pivots = n.make<TakeAlongAxisOp>(matrices, position, uint64_t(1));
  Value others = n.expandDims(n.make<TakeOp>(matrices, index, uint64_t(1)), {1});
  Value isBest = n.compare(Dir::Eq, rows, best), isIndex = n.compare(Dir::Eq, rows, index);
  auto wide = [&](Value flags) {
    return n.broadcast(n.expandDims(flags, {2}), {sizes[0], sizes[1], sizes[2]});
  };
  matrices = n.select(wide(isIndex), pivots, n.select(wide(isBest), others, matrices));
  Value pivot = n.make<TakeOp>(pivots, index, uint64_t(2)); // [batch, 1]
  // A column of zeros leaves nothing to eliminate, and a determinant of zero.
  Value divisor =
      n.select(n.compare(Dir::Eq, pivot, n.scalar(0, pivot)), n.scalar(1, pivot), pivot);
  column = n.make<TakeOp>(matrices, index, uint64_t(2));
  Value factors =
      n.select(n.compare(Dir::Gt, rows, index), n.div(column, divisor), n.scalar(0, column));
  matrices = n.sub(matrices, n.mul(n.expandDims(factors, {2}), pivots));
  Value isInPlace = n.compare(Dir::Eq, best, index);
  Value factor = n.select(isInPlace, pivot, n.make<NegOp>(pivot));
  determinants = n.mul(determinants, n.squeeze(factor, {1}));
  return {{matrices, determinants}, {}, {}};
}

static Results importDet(NodeImport &n) {
  Value x = n.input(0);
  int64_t rank = n.rankOf(x), size = n.dimOf(x, rank - 1);
  if (rank < 2 || ShapedType::isDynamic(size) || n.dimOf(x, rank - 2) != size || !n.isFloat(x))
    return n.error("expected square matrices of floats of static size");
  Type element = n.elementOf(x);
  Numbers batch = n.sizesOf(x);
  batch.resize(rank - 2);
  OpFoldResult count = n.index(1);
  for (OpFoldResult dim : batch)
    count = n.sizes().mul(count, dim);
  Value matrices = n.reshape(n.widen(x), {count, n.index(size), n.index(size)});
  Value ones = n.broadcast(n.scalar(1, matrices), {count});
  Value determinants = ones;
  if (size > 0) {
    Iterated done =
        iterate(n, {n.index(size)}, {matrices, ones}, [&](Value index, ArrayRef<Value> states) {
          return eliminate(n, index, states[0], states[1]);
        });
    determinants = done.states.size() == 2 ? done.states[1] : Value();
  }
  return {n.convert(n.reshape(determinants, batch), element)};
}

llvm::ArrayRef<OpEntry> getLinearAlgebraOps() {
  static constexpr OpEntry kOps[] = {{"Det", 1, importDet}};
  return kOps;
}

} // namespace xc::onnx
