//===- ResizeOp.cpp - Resampling dims to other sizes -===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Positions and weights depend on the sizes alone, so they are constants where those are known.
// Else the same formulas are computed, in f64 too, by the kernels that need them.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/ExpressionBuilder.h"
#include "compiler/Dialect/Array/IR/Requirements.h"
#include "compiler/Dialect/Array/IR/ResizedDims.h"

using namespace mlir;

namespace xc::array {

using Values = SmallVector<Value>;

LogicalResult ResizeOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                         Adaptor adaptor, SmallVectorImpl<Type> &inferred) {
  RuleContext rule{location, getOperationName()};
  Type type = adaptor.getOperand().getType();
  if (adaptor.getMode() != ResizeMode::Nearest && !isa<FloatType>(getElementTypeOrSelf(type)))
    return rule.error("expected floats to interpolate between, got ", type,
                      " (nearest takes every element type)");
  if (failed(inferResized(rule, type, adaptor.getAxes(), adaptor.getSizes(),
                          adaptor.getDynamicSizes(), inferred)))
    return failure();
  for (auto [axis, size] : llvm::zip_equal(adaptor.getAxes(), adaptor.getSizes()))
    if (cast<RankedTensorType>(type).getDimSize(axis) == 0 && size != 0)
      return rule.error("expected dim ", axis, " not to be empty, got ", type);
  return success();
}

LogicalResult ResizeOp::reifySizes(SizeBuilder &sizeBuilder, ReifiedRankedShapedTypeDims &shapes) {
  return reifyResized(getOperation(), getOperand(), getAxes(),
                      getMixedValues(getSizes(), getDynamicSizes(), getContext()), sizeBuilder,
                      shapes);
}

LogicalResult ResizeOp::canonicalize(ResizeOp op, PatternRewriter &rewriter) {
  return refineResized(op, rewriter);
}

/// Where position `o` of `out` lies in a dim of size `in`.
static double sourcePosition(int64_t o, int64_t in, int64_t out, bool alignCorners) {
  double position = (o + 0.5) * in / out - 0.5;
  if (alignCorners)
    position = out == 1 ? 0 : static_cast<double>(o) * (in - 1) / (out - 1);
  return position;
}

/// The weight of an element at a distance, in cubic convolution (Keys 1981) with a = -0.75.
static double cubicWeight(double distance) {
  constexpr double a = -0.75;
  double x = std::abs(distance);
  if (x <= 1)
    return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

/// `x` with the elements `positions` of dim `axis`.
static Value pick(ExpressionBuilder &e, Value x, int64_t axis, ArrayRef<int64_t> positions) {
  auto indexType = RankedTensorType::get(static_cast<int64_t>(positions.size()),
                                         IntegerType::get(x.getContext(), 64));
  Value indices = e.make<ConstantOp>(DenseElementsAttr::get(indexType, positions));
  return e.make<TakeOp>(x, indices, axis);
}

/// The weighted sum of the elements at `taps` places beside each position, from `first` of it on.
/// Places outside of the operand stand for its edge.
static Value interpolate(ExpressionBuilder &e, Value x, int64_t axis, ArrayRef<double> positions,
                         int64_t first, int64_t taps, function_ref<double(double)> weightOf) {
  auto type = cast<RankedTensorType>(x.getType());
  int64_t in = type.getDimSize(axis);
  // Along the last dims the weights broadcast.
  SmallVector<int64_t> shape(type.getRank() - axis, 1);
  shape.front() = positions.size();
  Value sum;
  for (int64_t tap = first; tap < first + taps; ++tap) {
    SmallVector<int64_t> places;
    SmallVector<double> weights;
    for (double position : positions) {
      int64_t place = static_cast<int64_t>(std::floor(position)) + tap;
      places.push_back(std::clamp<int64_t>(place, 0, in - 1));
      weights.push_back(weightOf(position - static_cast<double>(place)));
    }
    Value term = e.mul(pick(e, x, axis, places), e.constant(weights, shape, x));
    sum = sum ? e.add(sum, term) : term;
  }
  return sum;
}

static Value resizeAxis(ExpressionBuilder &e, Value x, int64_t axis, int64_t out, ResizeMode mode,
                        bool alignCorners) {
  int64_t in = cast<RankedTensorType>(x.getType()).getDimSize(axis);
  SmallVector<int64_t> nearest, below, above;
  SmallVector<double> positions, weights;
  for (int64_t o = 0; o < out; ++o) {
    double position = sourcePosition(o, in, out, alignCorners), floor = std::floor(position);
    auto clamp = [&](double place) { return std::clamp<int64_t>(place, 0, in - 1); };
    positions.push_back(position);
    nearest.push_back(clamp(std::floor(std::clamp<double>(position, 0, in - 1) + 0.5)));
    // Beside the first and the last element both are that one, whatever the weight.
    below.push_back(clamp(floor));
    above.push_back(clamp(floor + 1));
    weights.push_back(position - floor);
  }
  if (mode == ResizeMode::Nearest)
    return pick(e, x, axis, nearest);
  if (mode == ResizeMode::Cubic)
    return interpolate(e, x, axis, positions, /*first=*/-1, /*taps=*/4, cubicWeight);
  auto shape = SmallVector<int64_t>(cast<RankedTensorType>(x.getType()).getRank() - axis, 1);
  shape.front() = out;
  Value low = pick(e, x, axis, below), high = pick(e, x, axis, above);
  return e.add(low, e.mul(e.sub(high, low), e.constant(weights, shape, x)));
}

namespace {

/// The same where a size is known when inputs are bound.
class OpenAxis {
public:
  OpenAxis(ExpressionBuilder &e, Value x, int64_t axis, OpFoldResult out, bool alignCorners)
      : e(e), x(x), axis(axis), out(out) {
    Type f64 = e.getBuilder().getF64Type();
    SizeBuilder sizes(e.getBuilder(), x.getLoc());
    Value size = e.number(sizes.size(x, axis), f64), count = e.number(out, f64);
    last = e.add(size, -1.0);
    position = e.iota(out, f64);
    if (!alignCorners) {
      position = e.add(e.div(e.mul(e.add(position, 0.5), size), count), -0.5);
      return;
    }
    // A single position is the first one.
    Value steps = e.make<MaxOp>(e.add(count, -1.0), e.scalar(1, count));
    position = e.div(e.mul(position, last), steps);
  }

  Value resize(ResizeMode mode) {
    if (mode == ResizeMode::Nearest)
      return pick(clamp(floor(e.add(clamp(position), 0.5))));
    if (mode == ResizeMode::Cubic)
      return interpolate();
    Value below = floor(position);
    Value low = pick(clamp(below)), high = pick(clamp(e.add(below, 1.0)));
    return e.add(low, e.mul(e.sub(high, low), alongAxis(e.sub(position, below))));
  }

private:
  Value floor(Value value) { return e.make<FloorOp>(value); }
  Value clamp(Value place) { return e.make<ClampOp>(e.scalar(0, place), place, last); }
  Value pick(Value places) {
    return e.make<TakeOp>(x, e.convert(places, e.getBuilder().getI64Type()), axis);
  }
  /// Numbers of positions as weights of what is taken there.
  Value alongAxis(Value weights) {
    auto type = cast<RankedTensorType>(x.getType());
    SmallVector<int64_t> shape(type.getRank() - axis, 1);
    shape.front() = cast<RankedTensorType>(weights.getType()).getDimSize(0);
    weights = e.convert(weights, type.getElementType());
    return e.make<ReshapeOp>(RankedTensorType::get(shape, type.getElementType()), weights,
                             e.dynamicSizes(weights));
  }
  Value interpolate();

  ExpressionBuilder &e;
  Value x, last, position;
  int64_t axis;
  OpFoldResult out;
};

} // namespace

/// See cubicWeight.
static Value makeCubicWeight(ExpressionBuilder &e, Value distance) {
  constexpr double a = -0.75;
  Value x = e.make<AbsOp>(distance);
  Value near = e.add(e.mul(e.mul(e.add(e.mul(x, a + 2), -(a + 3)), x), x), 1.0);
  Value far = e.add(e.mul(e.add(e.mul(e.add(e.mul(x, a), -5 * a), x), 8 * a), x), -4 * a);
  Value isNear = e.compare(CompareDirection::Le, x, e.scalar(1, x));
  Value isFar = e.compare(CompareDirection::Lt, x, e.scalar(2, x));
  return e.select(isNear, near, e.select(isFar, far, e.scalar(0, x)));
}

Value OpenAxis::interpolate() {
  Value sum, base = floor(position);
  for (double tap = -1; tap <= 2; ++tap) {
    Value place = e.add(base, tap);
    Value weight = alongAxis(makeCubicWeight(e, e.sub(position, place)));
    Value term = e.mul(pick(clamp(place)), weight);
    sum = sum ? e.add(sum, term) : term;
  }
  return sum;
}

/// The most positions along a dim that are constants. A program of more would be as large as what
/// it computes.
static constexpr int64_t kMostConstantPositions = int64_t(1) << 20;

/// There is an element to take of each dim in turn.
void reifyRequirements(ResizeOp op, RequirementBuilder &requirements) {
  SmallVector<OpFoldResult> sizes = requirements.getSizes().sizes(op.getOperand()),
                            wanted = getMixedValues(op.getSizes(), op.getDynamicSizes(),
                                                    op.getContext());
  for (auto [axis, size] : llvm::zip_equal(op.getAxes(), wanted)) {
    sizes[axis] = size;
    requirements.requireElement(sizes, op.getOperand(), axis, ", to take");
  }
  requirements.requireResultTypes();
}

FailureOr<Values> ResizeOp::decompose(OpBuilder &builder) {
  ExpressionBuilder e(builder, getLoc());
  bool nearest = getMode() == ResizeMode::Nearest;
  Value x = nearest ? getOperand() : e.widen(getOperand());
  SmallVector<OpFoldResult> sizes = getMixedValues(getSizes(), getDynamicSizes(), builder);
  for (auto [axis, size] : llvm::zip_equal(getAxes(), sizes)) {
    std::optional<int64_t> known = getConstantIntValue(size);
    bool isConstant = known && *known <= kMostConstantPositions &&
                      !cast<RankedTensorType>(x.getType()).isDynamicDim(axis);
    x = !isConstant ? OpenAxis(e, x, axis, size, getAlignCorners()).resize(getMode())
                    : resizeAxis(e, x, axis, *known, getMode(), getAlignCorners());
  }
  return Values{e.finish(x, getType())};
}

} // namespace xc::array
