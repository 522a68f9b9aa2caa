//===- ProductParts.cpp - Sums of products in parts -----------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Matmul/ProductParts.h"

#include "compiler/Dialect/Array/IR/Sizes.h"
#include "compiler/Dialect/Plan/IR/Products.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace xc::cuda {

/// The shortest sum that is shared.
static constexpr int64_t kLongSum = 2048;

bool hasHalfOperands(linalg::LinalgOp op) {
  return llvm::all_of(op.getDpsInputs(), [](Value operand) {
    Type type = getElementTypeOrSelf(operand);
    return type.isF16() || type.isBF16();
  });
}

bool hasTF32Operands(linalg::LinalgOp op) {
  return op->hasAttr(plan::kAllowTF32Attr) && llvm::all_of(op.getDpsInputs(), [](Value operand) {
           return getElementTypeOrSelf(operand).isF32();
         });
}

bool hasTensorCoreTypes(linalg::LinalgOp op) {
  Type sum = getElementTypeOrSelf(op.getDpsInits().front());
  Type first = getElementTypeOrSelf(op.getDpsInputs().front());
  bool isSame = llvm::all_of(op.getDpsInputs(),
                             [&](Value operand) { return getElementTypeOrSelf(operand) == first; });
  if (first.isInteger(8))
    return isSame && sum.isInteger(32);
  return isSame && sum.isF32() && (hasHalfOperands(op) || hasTF32Operands(op));
}

int64_t multiplyRanges(ArrayRef<int64_t> ranges, ArrayRef<unsigned> loops) {
  int64_t result = 1;
  for (unsigned loop : loops)
    result = array::multiplyKnown({result, ranges[loop]});
  return result;
}

int64_t countTiles(int64_t batch, int64_t m, int64_t n, int64_t side) {
  int64_t rows = llvm::divideCeil(m, side), columns = llvm::divideCeil(n, side);
  return array::multiplyKnown({batch, rows, columns});
}

int64_t getMostParts(int64_t tiles, int64_t length, const Target &target) {
  if (tiles == 0 || length < kLongSum)
    return 1;
  return std::max<int64_t>(1, std::min(target.multiprocessors / tiles, length / kShortestPart));
}

double estimateSumOfParts(const Target &target, double bytes) {
  constexpr double launch = 1.5, perMicrosecond = 1000;
  return launch + bytes / (target.rates.memory * perMicrosecond);
}

int64_t getPartSize(int64_t range, int64_t parts, int64_t step) {
  return range / (parts * step) * step;
}

int64_t getLongPartSize(int64_t range, int64_t parts, int64_t step) {
  return llvm::alignTo(llvm::divideCeil(range, parts), step);
}

} // namespace xc::cuda
