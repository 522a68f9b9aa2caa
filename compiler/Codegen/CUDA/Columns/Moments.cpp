//===- Moments.cpp - Sums and squares of distances from a mean ------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Columns/Moments.h"

#include "compiler/Codegen/CUDA/Common/LaneOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace xc::cuda {

namespace {

/// Arithmetic on scalars, and on vectors of as many lanes.
class Arithmetic {
public:
  Arithmetic(OpBuilder &builder, Location loc) : builder(builder), loc(loc) {}

  Value constant(Type type, double value) {
    Type element = getElementTypeOrSelf(type);
    TypedAttr attribute = builder.getFloatAttr(element, value);
    if (auto vector = dyn_cast<VectorType>(type))
      attribute = SplatElementsAttr::get(vector, Attribute(attribute));
    return arith::ConstantOp::create(builder, loc, attribute);
  }
  Value add(Value a, Value b) { return arith::AddFOp::create(builder, loc, a, b); }
  Value sub(Value a, Value b) { return arith::SubFOp::create(builder, loc, a, b); }
  Value mul(Value a, Value b) { return arith::MulFOp::create(builder, loc, a, b); }
  Value div(Value a, Value b) { return arith::DivFOp::create(builder, loc, a, b); }
  Value fma(Value a, Value b, Value c) { return math::FmaOp::create(builder, loc, a, b, c); }
  Value select(Value mask, Value a, Value b) {
    return arith::SelectOp::create(builder, loc, mask, a, b);
  }
  Value isPositive(Value a) {
    return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OGT, a,
                                 constant(a.getType(), 0));
  }
  /// `value` where `mask` is true or null, else 0.
  Value keep(Value mask, Value value) {
    return mask ? select(mask, value, constant(value.getType(), 0)) : value;
  }
  Value splat(Value scalar, Value like) { return splatTo(builder, loc, scalar, countLanes(like)); }
  /// The mean of elements with such a sum; of none, that sum.
  Value mean(Value sum, Value count) {
    Value one = constant(count.getType(), 1);
    Value divisor = arith::MaximumFOp::create(builder, loc, count, one);
    return mul(sum, splat(div(one, divisor), sum));
  }

private:
  OpBuilder &builder;
  Location loc;
};

} // namespace

Moments makeNoMoments(OpBuilder &builder, Location loc, Type type) {
  Arithmetic math(builder, loc);
  Value none = math.constant(type, 0);
  return {math.constant(getElementTypeOrSelf(type), 0), none, none};
}

Moments makeMoments(OpBuilder &builder, Location loc, ArrayRef<CountedElement> elements) {
  Arithmetic math(builder, loc);
  Type type = elements.front().value.getType(), scalar = getElementTypeOrSelf(type);
  bool countAll = llvm::none_of(elements, [](const CountedElement &one) { return one.mask; });
  Value count, sum, squares;
  for (auto [value, mask] : elements) {
    Value own = math.keep(mask, value);
    sum = sum ? math.add(sum, own) : own;
    Value weight = math.keep(mask, math.constant(scalar, 1));
    if (!countAll)
      count = count ? math.add(count, weight) : weight;
  }
  auto number = static_cast<double>(elements.size());
  if (countAll)
    count = math.constant(scalar, number);
  Value mean = countAll ? math.mul(sum, math.constant(type, 1 / number)) : math.mean(sum, count);
  for (auto [value, mask] : elements) {
    Value distance = math.keep(mask, math.sub(value, mean));
    squares = squares ? math.fma(distance, distance, squares) : math.mul(distance, distance);
  }
  return {count, sum, squares};
}

/// With means a and b of A and B elements, the squares of all are more than those of both by
/// A B / (A + B) (a - b)^2, which is (sum of A - ratio * sum of B)^2 / (A (1 + ratio)) where the
/// ratio is A / B.
Moments joinMoments(OpBuilder &builder, Location loc, const Moments &all, const Moments &few) {
  Arithmetic math(builder, loc);
  Type scalar = all.count.getType();
  Value one = math.constant(scalar, 1);
  Value ratio = math.mul(all.count, math.div(one, few.count));
  Value more = math.div(one, math.mul(all.count, math.add(ratio, one)));
  Value weight = math.keep(math.isPositive(all.count), more);
  Value negated = math.splat(math.mul(ratio, math.constant(scalar, -1)), all.sum);
  Value distance = math.fma(negated, few.sum, all.sum);
  Value squares = math.fma(math.mul(distance, math.splat(weight, distance)), distance,
                           math.add(all.squares, few.squares));
  return {math.add(all.count, few.count), math.add(all.sum, few.sum), squares};
}

Value makeSquaresAbout(OpBuilder &builder, Location loc, const Moments &moments, Value center,
                       std::optional<int64_t> count) {
  Arithmetic math(builder, loc);
  Type type = moments.sum.getType(), scalar = getElementTypeOrSelf(type);
  Value number = count ? math.constant(scalar, static_cast<double>(*count)) : moments.count;
  Value mean = count ? math.mul(moments.sum, math.constant(type, 1 / static_cast<double>(*count)))
                     : math.mean(moments.sum, number);
  Value distance = math.sub(mean, center);
  return math.fma(math.mul(distance, math.splat(number, distance)), distance, moments.squares);
}

} // namespace xc::cuda
