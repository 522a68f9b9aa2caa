//===- RegularIndices.cpp - Indices of places that go up evenly -----------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With i = t * n + j, where scale * n is a multiple of the divisor, the quotient is
//
//   t * (scale * n / divisor) + (scale * j + offset) / divisor
//
// whose second term is a constant. Neighbours that read the same element then have the same term.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Common/RegularIndices.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

#include <limits>
#include <numeric>

using namespace mlir;

namespace xc::cuda {

/// The largest value that `value` may have, as the arithmetic that made it tells; nothing if it
/// does not.
static std::optional<int64_t> getLimit(Value value) {
  if (std::optional<int64_t> number = getConstantIntValue(value))
    return number;
  Operation *op = value.getDefiningOp();
  if (!op || op->getNumOperands() != 2)
    return std::nullopt;
  std::optional<int64_t> right = getConstantIntValue(op->getOperand(1));
  if (!right)
    return std::nullopt;
  if (isa<arith::RemUIOp>(op))
    return *right - 1;
  std::optional<int64_t> left = getLimit(op->getOperand(0));
  if (left && isa<arith::MaxSIOp>(op))
    return std::max(*left, *right);
  if (!left || *left > std::numeric_limits<int32_t>::max())
    return std::nullopt;
  if (isa<arith::AddIOp>(op))
    return *left + *right;
  if (isa<arith::MulIOp>(op) && *right >= 0)
    return *left * *right;
  if (isa<arith::DivUIOp>(op) && *right > 0)
    return *left / *right;
  return std::nullopt;
}

/// `value` * scale / divisor; null if that is not known to be a whole number.
static Value emitExactQuotient(IndexBuilder &index, Value value, int64_t scale, int64_t divisor) {
  int64_t common = std::gcd(scale, divisor);
  scale /= common;
  divisor /= common;
  if (divisor == 1)
    return index.mul(value, scale);
  if (auto product = value.getDefiningOp<arith::MulIOp>())
    if (std::optional<int64_t> factor = getConstantIntValue(product.getRhs());
        factor && *factor % divisor == 0)
      return index.mul(product.getLhs(), *factor / divisor * scale);
  if (knownDivisor(value) % divisor == 0)
    return index.mul(index.div(value, divisor), scale);
  return {};
}

Value emitPlace(IndexBuilder &index, Value i, const plan::RegularPlace &place) {
  if (std::optional<int64_t> number = getConstantIntValue(i))
    return index.constant(place.evaluate(*number));
  int64_t rest = 0;
  for (auto sum = i.getDefiningOp<arith::AddIOp>(); sum; sum = i.getDefiningOp<arith::AddIOp>()) {
    std::optional<int64_t> number = getConstantIntValue(sum.getRhs());
    if (!number)
      break;
    rest += *number;
    i = sum.getLhs();
  }
  rest = rest * place.scale + place.offset;
  Value result = emitExactQuotient(index, i, place.scale, place.divisor);
  int64_t lowest = place.shift;
  if (result) {
    lowest += llvm::divideFloorSigned(rest, place.divisor);
    result = index.add(result, lowest);
  } else {
    Value product = index.add(index.mul(i, place.scale), rest);
    result = index.add(index.div(product, place.divisor), place.shift);
  }
  if (place.lowest && lowest < *place.lowest)
    result = index.max(result, index.constant(*place.lowest));
  std::optional<int64_t> limit = place.highest ? getLimit(result) : std::nullopt;
  if (place.highest && (!limit || *limit > *place.highest))
    result = index.min(result, index.constant(*place.highest));
  return result;
}

} // namespace xc::cuda
