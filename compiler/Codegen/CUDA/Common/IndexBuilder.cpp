//===- IndexBuilder.cpp - Index arithmetic that folds as it is built ------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Common/IndexBuilder.h"

#include "compiler/Codegen/CUDA/IR/CUDAConfig.h"
#include "compiler/Dialect/Tile/IR/TileOps.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;

namespace xc::cuda {

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

Value IndexBuilder::constant(int64_t value) {
  Value &known = constants[value];
  if (known)
    return known;
  // At the entry of the function, where it dominates every use.
  OpBuilder::InsertionGuard guard(builder);
  auto function = builder.getInsertionBlock()->getParentOp()->getParentOfType<func::FuncOp>();
  if (!function)
    function = cast<func::FuncOp>(builder.getInsertionBlock()->getParentOp());
  builder.setInsertionPointToStart(&function.getBody().front());
  return known = arith::ConstantIndexOp::create(builder, loc, value);
}

Value IndexBuilder::get(OpFoldResult value) {
  if (std::optional<int64_t> number = getConstantIntValue(value))
    return constant(*number);
  return cast<Value>(value);
}

template <typename Op> Value IndexBuilder::build(Value lhs, Value rhs) {
  Key key(TypeID::get<Op>().getAsOpaquePointer(), lhs.getAsOpaquePointer(),
          rhs.getAsOpaquePointer());
  if (Value known = table.lookup(key))
    return known;
  Value result = Op::create(builder, loc, lhs, rhs);
  // Indices are proven to fit their width, and LLVM needs to know it to widen them once.
  if constexpr (std::is_same_v<Op, arith::AddIOp> || std::is_same_v<Op, arith::MulIOp>)
    result.getDefiningOp<Op>().setOverflowFlags(arith::IntegerOverflowFlags::nsw);
  table.insert(key, result);
  return result;
}

Value IndexBuilder::add(Value lhs, Value rhs) {
  if (getConstantIntValue(lhs))
    std::swap(lhs, rhs);
  std::optional<int64_t> left = getConstantIntValue(lhs), right = getConstantIntValue(rhs);
  if (left && right)
    return constant(*left + *right);
  if (right && *right == 0)
    return lhs;
  // a + (b - a) = b.
  for (auto [term, difference] : {std::pair(lhs, rhs), std::pair(rhs, lhs)})
    if (auto sub = difference.getDefiningOp<arith::SubIOp>(); sub && sub.getRhs() == term)
      return sub.getLhs();
  // (a / n) * n + a % n = a, also where a term that is a multiple of n stands before a / n.
  for (auto [product, remainder] : {std::pair(lhs, rhs), std::pair(rhs, lhs)}) {
    auto rem = remainder.getDefiningOp<arith::RemUIOp>();
    auto mul = product.getDefiningOp<arith::MulIOp>();
    if (!rem || !mul || mul.getRhs() != rem.getRhs())
      continue;
    auto isQuotient = [&](Value value) {
      auto div = value.getDefiningOp<arith::DivUIOp>();
      return div && div.getLhs() == rem.getLhs() && div.getRhs() == rem.getRhs();
    };
    if (isQuotient(mul.getLhs()))
      return rem.getLhs();
    if (auto sum = mul.getLhs().getDefiningOp<arith::AddIOp>()) {
      if (isQuotient(sum.getRhs()))
        return add(this->mul(sum.getLhs(), rem.getRhs()), rem.getLhs());
      if (isQuotient(sum.getLhs()))
        return add(this->mul(sum.getRhs(), rem.getRhs()), rem.getLhs());
    }
  }
  return build<arith::AddIOp>(lhs, rhs);
}

Value IndexBuilder::sub(Value lhs, Value rhs) {
  std::optional<int64_t> left = getConstantIntValue(lhs), right = getConstantIntValue(rhs);
  if (left && right)
    return constant(*left - *right);
  if (right && *right == 0)
    return lhs;
  return build<arith::SubIOp>(lhs, rhs);
}

Value IndexBuilder::mul(Value lhs, Value rhs) {
  if (getConstantIntValue(lhs))
    std::swap(lhs, rhs);
  std::optional<int64_t> left = getConstantIntValue(lhs), right = getConstantIntValue(rhs);
  if (left && right)
    return constant(*left * *right);
  if (right && *right == 0)
    return constant(0);
  if (right && *right == 1)
    return lhs;
  return build<arith::MulIOp>(lhs, rhs);
}

Value IndexBuilder::div(Value lhs, Value rhs) {
  std::optional<int64_t> left = getConstantIntValue(lhs), right = getConstantIntValue(rhs);
  if (right && *right == 1)
    return lhs;
  if (left && right && *right > 0)
    return constant(*left / *right);
  return build<arith::DivUIOp>(lhs, rhs);
}

Value IndexBuilder::rem(Value lhs, Value rhs) {
  std::optional<int64_t> left = getConstantIntValue(lhs), right = getConstantIntValue(rhs);
  if (right && *right == 1)
    return constant(0);
  if (left && right && *right > 0)
    return constant(*left % *right);
  if (right && *right > 0 && knownDivisor(lhs) % *right == 0)
    return constant(0);
  return build<arith::RemUIOp>(lhs, rhs);
}

Value IndexBuilder::ceilDiv(Value lhs, Value rhs) {
  return div(add(lhs, sub(rhs, constant(1))), rhs);
}

Value IndexBuilder::min(Value lhs, Value rhs) {
  std::optional<int64_t> left = getConstantIntValue(lhs), right = getConstantIntValue(rhs);
  if (left && right)
    return constant(std::min(*left, *right));
  return build<arith::MinSIOp>(lhs, rhs);
}

Value IndexBuilder::max(Value lhs, Value rhs) {
  std::optional<int64_t> left = getConstantIntValue(lhs), right = getConstantIntValue(rhs);
  if (left && right)
    return constant(std::max(*left, *right));
  return build<arith::MaxSIOp>(lhs, rhs);
}

Value IndexBuilder::isLess(Value lhs, Value rhs) {
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, lhs, rhs);
}

Value IndexBuilder::isAtLeast(Value lhs, Value rhs) {
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge, lhs, rhs);
}

Value IndexBuilder::isEqual(Value lhs, Value rhs) {
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, lhs, rhs);
}

Value IndexBuilder::both(Value lhs, Value rhs) {
  if (!lhs || !rhs)
    return lhs ? lhs : rhs;
  return build<arith::AndIOp>(lhs, rhs);
}

Value IndexBuilder::product(ArrayRef<Value> sizes) {
  Value result = constant(1);
  for (Value size : sizes)
    result = mul(result, size);
  return result;
}

Value IndexBuilder::linearize(ArrayRef<Value> coords, ArrayRef<Value> sizes) {
  Value position = constant(0);
  for (auto [coord, size] : llvm::zip_equal(coords, sizes))
    position = add(mul(position, size), coord);
  return position;
}

SmallVector<Value> IndexBuilder::delinearize(Value position, ArrayRef<Value> sizes) {
  SmallVector<Value> coords(sizes.size());
  // The first dim that is not of size 1 takes what is left: no remainder is needed there.
  size_t first = 0;
  while (first < sizes.size() && getConstantIntValue(sizes[first]) == std::optional<int64_t>(1))
    coords[first++] = constant(0);
  for (size_t i = sizes.size(); i > first; --i) {
    bool last = i - 1 == first;
    coords[i - 1] = last ? position : rem(position, sizes[i - 1]);
    if (!last)
      position = div(position, sizes[i - 1]);
  }
  return coords;
}

//===----------------------------------------------------------------------===//
// Divisibility
//===----------------------------------------------------------------------===//

static constexpr int64_t kMaxDivisor = 1 << 20;

static int64_t largestPowerOfTwoDivisor(int64_t value) {
  if (value == 0)
    return kMaxDivisor;
  uint64_t magnitude = value < 0 ? -static_cast<uint64_t>(value) : value;
  return std::min<int64_t>(kMaxDivisor, int64_t(1) << llvm::countr_zero(magnitude));
}

int64_t knownDivisor(Value value) {
  if (std::optional<int64_t> number = getConstantIntValue(value))
    return largestPowerOfTwoDivisor(*number);
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast_if_present<scf::ForOp>(argument.getOwner()->getParentOp());
    if (!loop || argument != loop.getInductionVar())
      return 1;
    return std::min(knownDivisor(loop.getLowerBound()), knownDivisor(loop.getStep()));
  }
  Operation *op = value.getDefiningOp();
  if (auto divisor = op->getAttrOfType<IntegerAttr>(kDivisorAttr))
    return largestPowerOfTwoDivisor(divisor.getInt());
  if (auto share = dyn_cast<tile::ShareOp>(op))
    return value == share.getColumn()
               ? largestPowerOfTwoDivisor(static_cast<int64_t>(share.getWidth()))
               : 1;
  if (isa<tile::PatchOp>(op))
    return tile::kPatch;
  if (auto place = dyn_cast<tile::PairPlaceOp>(op))
    return value == place.getColumn() || cast<tile::WarpType>(place.getTile()).getPaired() ? 2 : 1;
  if (isa<arith::AddIOp, arith::SubIOp, arith::MinSIOp>(op))
    return std::min(knownDivisor(op->getOperand(0)), knownDivisor(op->getOperand(1)));
  if (isa<arith::SelectOp>(op))
    return std::min(knownDivisor(op->getOperand(1)), knownDivisor(op->getOperand(2)));
  if (isa<arith::MulIOp>(op))
    return std::min(kMaxDivisor, knownDivisor(op->getOperand(0)) * knownDivisor(op->getOperand(1)));
  // a % n = a - n * q.
  if (isa<arith::RemUIOp>(op))
    return std::min(knownDivisor(op->getOperand(0)), knownDivisor(op->getOperand(1)));
  if (isa<arith::DivUIOp>(op))
    if (std::optional<int64_t> divisor = getConstantIntValue(op->getOperand(1)))
      if (llvm::isPowerOf2_64(*divisor))
        return std::max<int64_t>(1, knownDivisor(op->getOperand(0)) / *divisor);
  return 1;
}

} // namespace xc::cuda
