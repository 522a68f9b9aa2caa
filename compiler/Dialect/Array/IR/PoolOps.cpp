//===- PoolOps.cpp - Reductions of sliding windows -===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/ExpressionBuilder.h"
#include "compiler/Dialect/Array/IR/Requirements.h"
#include "compiler/Dialect/Array/IR/Sizes.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace xc::array {

using Values = SmallVector<Value>;

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

template <typename OpOrAdaptor> static WindowAttrs poolWindowAttrs(OpOrAdaptor op) {
  return {op.getStridesAttr(), op.getLowAttr(), op.getHighAttr(), DenseI64ArrayAttr(),
          op.getDilationAttr()};
}

SmallVector<WindowDim> ReduceWindowOp::getWindowDims() {
  return makeWindow(getWindow(), poolWindowAttrs(*this));
}
SmallVector<WindowDim> AvgPoolOp::getWindowDims() {
  return makeWindow(getWindow(), poolWindowAttrs(*this));
}
SmallVector<WindowDim> SelectAndScatterOp::getWindowDims() {
  return makeWindow(getWindow(), poolWindowAttrs(*this));
}

/// The type of one element for each place of the window.
template <typename AdaptorT>
static FailureOr<RankedTensorType> inferPlaces(const RuleContext &rule, AdaptorT adaptor) {
  auto type = cast<RankedTensorType>(adaptor.getOperand().getType());
  ArrayRef<int64_t> window = adaptor.getWindow();
  if (static_cast<int64_t>(window.size()) != type.getRank())
    return rule.error("expected ", type.getRank(), " numbers in 'window', one for each dim, got ",
                      formatDims(window));
  if (llvm::any_of(window, [](int64_t size) { return size < 1 || size > kMostAmount; }))
    return rule.error("expected numbers from 1 to ", kMostAmount, " in 'window', got ",
                      formatDims(window));
  if (failed(checkWindow(rule, type.getRank(), "dim", poolWindowAttrs(adaptor),
                         /*allowNegativePadding=*/false)))
    return failure();
  Dims shape;
  for (auto [size, dim] :
       llvm::zip_equal(type.getShape(), makeWindow(window, poolWindowAttrs(adaptor))))
    shape.push_back(countPlaces(size, dim));
  return RankedTensorType::get(shape, type.getElementType());
}

/// How many positions `window` has over each dim of `operand`.
static SmallVector<OpFoldResult> countPositions(SizeBuilder &sizes, Value operand,
                                                ArrayRef<WindowDim> window) {
  SmallVector<OpFoldResult> positions;
  for (auto [dim, windowDim] : llvm::enumerate(window)) {
    OpFoldResult size = sizes.size(operand, dim);
    positions.push_back(windowDim.isTrivial()
                            ? size
                            : countPlaces(sizes, size, sizes.constant(windowDim.size), windowDim));
  }
  return positions;
}

static LogicalResult reifyPlaces(SizeBuilder &sizes, Value operand, ArrayRef<WindowDim> window,
                                 Value result, ReifiedRankedShapedTypeDims &shapes) {
  return reifyAs(result.getType(), countPositions(sizes, operand, window), sizes, shapes);
}

/// Requires that `window` has as many positions over `operand` as `type` says.
static void requirePositions(Value operand, ArrayRef<WindowDim> window, RankedTensorType type,
                             ArrayRef<OpFoldResult> positions, RequirementBuilder &requirements) {
  for (auto [dim, windowDim] : llvm::enumerate(window))
    if (!windowDim.isTrivial())
      requirements.requirePositions(operand, dim, dim,
                                    requirements.getSizes().constant(windowDim.size),
                                    positions[dim], type.getDimSize(dim));
}

LogicalResult ReduceWindowOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                               Adaptor adaptor, SmallVectorImpl<Type> &inferred) {
  FailureOr<RankedTensorType> type = inferPlaces({location, getOperationName()}, adaptor);
  if (failed(type))
    return failure();
  inferred.push_back(*type);
  return success();
}

LogicalResult ReduceWindowOp::reifySizes(SizeBuilder &sizeBuilder,
                                         ReifiedRankedShapedTypeDims &shapes) {
  return reifyPlaces(sizeBuilder, getOperand(), getWindowDims(), getResult(), shapes);
}

void reifyRequirements(ReduceWindowOp op, RequirementBuilder &requirements) {
  SmallVector<WindowDim> window = op.getWindowDims();
  requirePositions(op.getOperand(), window, op.getType(),
                   countPositions(requirements.getSizes(), op.getOperand(), window), requirements);
  for (auto [dim, windowDim] : llvm::enumerate(window))
    if (windowDim.isTrivial())
      requirements.requireAgreementWithResult(op.getOperand(), dim, dim);
}

LogicalResult ReduceWindowOp::verify() {
  return verifyReduction(*this, getKind(), getOperand().getType().getElementType());
}

LogicalResult AvgPoolOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                          Adaptor adaptor, SmallVectorImpl<Type> &inferred) {
  FailureOr<RankedTensorType> type = inferPlaces({location, getOperationName()}, adaptor);
  if (failed(type))
    return failure();
  inferred.push_back(*type);
  return success();
}

LogicalResult AvgPoolOp::reifySizes(SizeBuilder &sizeBuilder, ReifiedRankedShapedTypeDims &shapes) {
  return reifyPlaces(sizeBuilder, getOperand(), getWindowDims(), getResult(), shapes);
}

LogicalResult SelectAndScatterOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                                   Adaptor adaptor,
                                                   SmallVectorImpl<Type> &inferred) {
  RuleContext rule{location, getOperationName()};
  FailureOr<RankedTensorType> places = inferPlaces(rule, adaptor);
  if (failed(places))
    return failure();
  Type source = adaptor.getSource().getType();
  if (!areCompatibleTypes(source, *places))
    return rule.error("expected a source compatible with ", *places, ", got ", source);
  auto type = cast<RankedTensorType>(adaptor.getOperand().getType());
  inferred.push_back(RankedTensorType::get(type.getShape(), type.getElementType()));
  return success();
}

LogicalResult SelectAndScatterOp::reifySizes(SizeBuilder &sizeBuilder,
                                             ReifiedRankedShapedTypeDims &shapes) {
  return reifyAs(getType(), sizeBuilder.sizes(getOperand()), sizeBuilder, shapes);
}

void reifyRequirements(SelectAndScatterOp op, RequirementBuilder &requirements) {
  SizeBuilder &sizes = requirements.getSizes();
  SmallVector<OpFoldResult> positions = countPositions(sizes, op.getOperand(), op.getWindowDims());
  RankedTensorType source = op.getSource().getType();
  requirePositions(op.getOperand(), op.getWindowDims(), source, positions, requirements);
  // An element of the source for each position.
  for (auto [dim, count] : llvm::enumerate(positions)) {
    if (source.isDynamicDim(dim))
      requirements.require(
          sizes.size(op.getSource(), dim), plan::Comparison::Equal, count,
          "expected dim " + Twine(dim) +
              " of the source to be the positions of the window along that of the operand");
    else if (op.getWindowDims()[dim].isTrivial())
      requirements.requireAgreement(op.getOperand(), dim, op.getSource(), dim);
  }
  requirements.requireShapeOfResult(op.getOperand());
}

LogicalResult SelectAndScatterOp::verify() {
  if (getKind() == ReduceKind::Max || getKind() == ReduceKind::Min)
    return success();
  return emitOpError("expected max or min to select with, got ") << stringifyReduceKind(getKind());
}

/// True for a constant that changes nothing in such a reduction.
static bool isNeutral(Value value, ReduceKind kind) {
  SplatElementsAttr splat;
  if (!matchPattern(value, m_Constant(&splat)))
    return false;
  Type element = splat.getElementType();
  if (isa<FloatType>(element)) {
    APFloat number = splat.getSplatValue<APFloat>();
    switch (kind) {
    case ReduceKind::Sum:
      return number.isZero();
    case ReduceKind::Prod:
      return number.isExactlyValue(1);
    case ReduceKind::Max:
    case ReduceKind::Min:
      return number.isInfinity() && number.isNegative() == (kind == ReduceKind::Max);
    default:
      return false;
    }
  }
  APInt number = splat.getSplatValue<APInt>();
  bool isUnsigned = element.isUnsignedInteger();
  switch (kind) {
  case ReduceKind::Sum:
  case ReduceKind::Or:
    return number.isZero();
  case ReduceKind::Prod:
    return number.isOne();
  case ReduceKind::And:
    return number.isAllOnes();
  case ReduceKind::Max:
    return isUnsigned ? number.isMinValue() : number.isMinSignedValue();
  case ReduceKind::Min:
    return isUnsigned ? number.isMaxValue() : number.isMaxSignedValue();
  }
  llvm_unreachable("unknown kind of reduction");
}

/// reduce_window(pad(x)) -> reduce_window(x) with the padding, where that counts as nothing.
LogicalResult ReduceWindowOp::canonicalize(ReduceWindowOp op, PatternRewriter &rewriter) {
  auto pad = op.getOperand().getDefiningOp<PadOp>();
  if (!pad || !isNeutral(pad.getValue(), op.getKind()) ||
      (pad.getInterior() && llvm::any_of(*pad.getInterior(), [](int64_t n) { return n != 0; })))
    return rewriter.notifyMatchFailure(op, "the operand is not padded by what counts as nothing");
  SmallVector<int64_t> low, high;
  for (auto [dim, window] : llvm::enumerate(op.getWindowDims())) {
    low.push_back(window.low + pad.getLow()[dim]);
    high.push_back(window.high + pad.getHigh()[dim]);
  }
  rewriter.modifyOpInPlace(op, [&] {
    op.getOperandMutable().assign(pad.getOperand());
    op.setLow(low);
    op.setHigh(high);
  });
  return success();
}

//===----------------------------------------------------------------------===//
// Average
//===----------------------------------------------------------------------===//

/// How many elements of `operand` each place of the window holds: an f32 or f64 tensor that
/// broadcasts to the places.
static Value countElements(ExpressionBuilder &e, Value operand, AvgPoolOp op) {
  SmallVector<WindowDim> window = op.getWindowDims();
  int64_t rank = window.size(), total = 1;
  for (const WindowDim &dim : window)
    total *= dim.size;
  bool padded =
      llvm::any_of(window, [](const WindowDim &dim) { return dim.low != 0 || dim.high != 0; });
  if (op.getCountIncludePad() || !padded)
    return e.scalar(static_cast<double>(total), operand);
  // Where the window is trivial, one count does for all.
  Dims shape(rank, 1);
  Values sizes, operandSizes;
  SizeBuilder sizeBuilder(e.getBuilder(), op.getLoc());
  auto type = cast<RankedTensorType>(operand.getType());
  for (auto [dim, windowDim] : llvm::enumerate(window)) {
    if (windowDim.isTrivial())
      continue;
    shape[dim] = type.getDimSize(dim);
    if (type.isDynamicDim(dim))
      sizes.push_back(sizeBuilder.value(sizeBuilder.size(operand, dim)));
  }
  Value ones = e.make<BroadcastInDimOp>(RankedTensorType::get(shape, type.getElementType()),
                                        e.scalar(1, operand), sizes, ArrayRef<int64_t>());
  return e.make<ReduceWindowOp>(ReduceKind::Sum, ones, op.getWindowAttr(), op.getStridesAttr(),
                                op.getLowAttr(), op.getHighAttr(), op.getDilationAttr());
}

FailureOr<Values> AvgPoolOp::decompose(OpBuilder &builder) {
  ExpressionBuilder e(builder, getLoc());
  Value x = e.widen(getOperand());
  Value sum = e.make<ReduceWindowOp>(ReduceKind::Sum, x, getWindowAttr(), getStridesAttr(),
                                     getLowAttr(), getHighAttr(), getDilationAttr());
  return Values{e.finish(e.div(sum, countElements(e, x, *this)), getType())};
}

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

/// The gradient of a sum over `window`: each element of `operand` gets what the windows that hold
/// it got.
static Value spreadWindows(ExpressionBuilder &e, Value g, Value operand,
                           ArrayRef<WindowDim> window) {
  OpBuilder &builder = e.getBuilder();
  SmallVector<int64_t> sizes, dilation, low, high, interior, starts, limits;
  auto type = cast<RankedTensorType>(operand.getType());
  auto places = cast<RankedTensorType>(g.getType());
  bool isLonger = false;
  for (auto [dim, windowDim] : llvm::enumerate(window)) {
    int64_t size = type.getDimSize(dim), count = places.getDimSize(dim);
    bool known = !ShapedType::isDynamic(size) && !ShapedType::isDynamic(count);
    sizes.push_back(windowDim.size);
    dilation.push_back(windowDim.dilation);
    interior.push_back(windowDim.stride - 1);
    int64_t before = windowDim.getExtent() - 1 - windowDim.low;
    int64_t spread = known && count > 0 ? (count - 1) * windowDim.stride + 1 : 0;
    // How far the last place is from the end depends on the size, but is less than a stride: as
    // much is added, and what is too much cut off in the end.
    int64_t after = known ? size + windowDim.getExtent() - 1 - before - spread
                          : windowDim.getExtent() - 1 - windowDim.high + windowDim.stride - 1;
    // As if the window lay at one place where it fits at none.
    bool mayFitNowhere = windowDim.getExtent() > windowDim.low + windowDim.high + windowDim.stride;
    isLonger |= !known && (windowDim.stride > 1 || after < 0 || mayFitNowhere);
    // Negative where a place holds nothing but padding: cut, at an end that is not known with what
    // is too much.
    low.push_back(std::max<int64_t>(before, 0));
    high.push_back(std::max<int64_t>(after, 0));
    starts.push_back(std::max<int64_t>(-before, 0));
    limits.push_back(known ? low.back() + spread + after : ShapedType::kDynamic);
  }
  SmallVector<int64_t> ones(window.size(), 1);
  g = e.make<PadOp>(g, e.scalar(0, g), low, high, builder.getDenseI64ArrayAttr(interior));
  g = e.make<SliceOp>(g, starts, limits, ones);
  g = e.make<ReduceWindowOp>(ReduceKind::Sum, g, builder.getDenseI64ArrayAttr(sizes),
                             DenseI64ArrayAttr(), DenseI64ArrayAttr(), DenseI64ArrayAttr(),
                             builder.getDenseI64ArrayAttr(dilation));
  if (!isLonger)
    return g;
  Values origin(window.size(), e.integer(0, builder.getI64Type()));
  Type element = cast<RankedTensorType>(g.getType()).getElementType();
  return e.make<DynamicSliceOp>(type.clone(element), g, origin, e.dynamicSizes(operand));
}

/// The gradient of a product over windows: each element gets the products of the others. Products
/// leave zeros out: in a window with one, only that element gets something, with more, none does.
static Value spreadProducts(ExpressionBuilder &e, Value g, ReduceWindowOp op) {
  Value x = e.widen(op.getOperand()), zero = e.scalar(0, x);
  Value isZero = e.compare(CompareDirection::Eq, x, zero);
  Value others = e.select(isZero, e.scalar(1, x), x);
  auto reduce = [&](ReduceKind kind, Value value) {
    return e.make<ReduceWindowOp>(kind, value, op.getWindowAttr(), op.getStridesAttr(),
                                  op.getLowAttr(), op.getHighAttr(), op.getDilationAttr());
  };
  Type element = cast<RankedTensorType>(x.getType()).getElementType();
  Value zeros = reduce(ReduceKind::Sum, e.convert(isZero, element));
  Value product = e.mul(e.widen(g), reduce(ReduceKind::Prod, others));
  auto spread = [&](double count) {
    Value counts = e.compare(CompareDirection::Eq, zeros, e.scalar(count, zeros));
    return spreadWindows(e, e.select(counts, product, zero), x, op.getWindowDims());
  };
  Value ofNone = spread(0), ofOne = spread(1);
  return e.select(isZero, ofOne, e.div(ofNone, others));
}

FailureOr<Values> ReduceWindowOp::buildVjp(OpBuilder &builder, ValueRange cotangents) {
  if (!isa<FloatType>(getType().getElementType()))
    return failure();
  ExpressionBuilder e(builder, getLoc());
  Value g = cotangents.front();
  switch (getKind()) {
  case ReduceKind::Sum:
  case ReduceKind::Prod: {
    Value back = getKind() == ReduceKind::Prod ? spreadProducts(e, g, *this)
                                               : spreadWindows(e, g, getOperand(), getWindowDims());
    return Values{e.finish(back, getOperand().getType())};
  }
  case ReduceKind::Max:
  case ReduceKind::Min:
    return Values{e.finish(e.make<SelectAndScatterOp>(getKind(), getOperand(), g, getWindowAttr(),
                                                      getStridesAttr(), getLowAttr(), getHighAttr(),
                                                      getDilationAttr()),
                           getOperand().getType())};
  default:
    return failure();
  }
}

namespace {
/// The elements that windows hold, side by side: `[place0, tap0, place1, tap1, ...]` of the operand
/// becomes `[place0, place1, ..., tap]`.
class WindowTaps {
public:
  WindowTaps(ExpressionBuilder &e, Value operand, Value places, ArrayRef<WindowDim> window)
      : e(e), operand(operand), places(places), window(window) {}

  /// `value`, which has the operand's shape, as the windows see it; anything where they see
  /// padding.
  Value take(Value value);
  /// Truth values: the windows see an element.
  Value areInside();

private:
  /// The operand's index in dim `dim`, by place and tap.
  Value getIndices(int64_t dim);
  Value merge(Value value);

  ExpressionBuilder &e;
  Value operand, places;
  ArrayRef<WindowDim> window;
};
} // namespace

Value WindowTaps::getIndices(int64_t dim) {
  Type element = e.getBuilder().getI64Type();
  auto type = cast<RankedTensorType>(places.getType());
  Values sizes;
  SizeBuilder sizeBuilder(e.getBuilder(), places.getLoc());
  if (type.isDynamicDim(dim))
    sizes.push_back(sizeBuilder.value(sizeBuilder.size(places, dim)));
  auto indices = RankedTensorType::get({type.getDimSize(dim), window[dim].size}, element);
  auto scaled = [&](int64_t axis, int64_t factor) {
    Value index = e.make<IotaOp>(indices, sizes, axis);
    return e.mul(index, e.integer(factor, element));
  };
  Value position = e.add(scaled(0, window[dim].stride), scaled(1, window[dim].dilation));
  return e.sub(position, e.integer(window[dim].low, element));
}

Value WindowTaps::merge(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> permutation, shape;
  int64_t taps = 1;
  for (int64_t dim = 0; dim < type.getRank(); dim += 2) {
    permutation.push_back(dim);
    shape.push_back(type.getDimSize(dim));
    taps *= type.getDimSize(dim + 1); // in range: the window's elements are operands
  }
  for (int64_t dim = 1; dim < type.getRank(); dim += 2)
    permutation.push_back(dim);
  shape.push_back(taps);
  return e.make<ReshapeOp>(RankedTensorType::get(shape, type.getElementType()),
                           e.make<TransposeOp>(value, permutation), e.dynamicSizes(places));
}

Value WindowTaps::take(Value value) {
  for (int64_t dim = 0, rank = window.size(); dim < rank; ++dim)
    value = e.make<TakeOp>(value, getIndices(dim), 2 * dim);
  return merge(value);
}

Value WindowTaps::areInside() {
  OpBuilder &builder = e.getBuilder();
  auto type = cast<RankedTensorType>(places.getType());
  int64_t rank = window.size();
  Dims shape;
  for (int64_t dim = 0; dim < rank; ++dim)
    shape.append({type.getDimSize(dim), window[dim].size});
  Value inside;
  for (int64_t dim = 0; dim < rank; ++dim) {
    Value index = getIndices(dim), size = e.sizeLess(operand, dim, 0, builder.getI64Type());
    Value own =
        e.make<AndOp>(e.compare(CompareDirection::Ge, index, e.integer(0, builder.getI64Type())),
                      e.compare(CompareDirection::Lt, index, size));
    own = e.make<BroadcastInDimOp>(RankedTensorType::get(shape, builder.getI1Type()), own,
                                   e.dynamicSizes(places), ArrayRef<int64_t>{2 * dim, 2 * dim + 1});
    inside = inside ? e.make<AndOp>(inside, own) : own;
  }
  return merge(inside);
}

/// Each place gets back what there is at the element that it selected.
FailureOr<Values> SelectAndScatterOp::buildVjp(OpBuilder &builder, ValueRange cotangents) {
  ExpressionBuilder e(builder, getLoc());
  SmallVector<WindowDim> window = getWindowDims();
  int64_t rank = window.size();
  WindowTaps taps(e, getOperand(), getSource(), window);
  Value x = taps.take(e.widen(getOperand())), inside = taps.areInside();
  double worst = getKind() == ReduceKind::Max ? -std::numeric_limits<double>::infinity()
                                              : std::numeric_limits<double>::infinity();
  Value best = e.reduce(getKind(), e.select(inside, x, e.scalar(worst, x)), rank);
  // NaN wins, and is unlike itself.
  Value wins = e.make<OrOp>(e.compare(CompareDirection::Eq, x, best), e.make<IsNanOp>(x));
  wins = e.convert(e.make<AndOp>(wins, inside), builder.getI32Type());
  Value first = e.make<ArgMaxOp>(wins, rank, /*keepdims=*/true);
  Value g = e.select(inside, taps.take(cotangents.front()), e.scalar(0, cotangents.front()));
  Value back = e.make<SqueezeOp>(e.make<TakeAlongAxisOp>(g, first, rank), rank);
  return Values{e.zerosLike(getOperand()), e.finish(back, getSource().getType())};
}

FailureOr<Values> AvgPoolOp::buildVjp(OpBuilder &builder, ValueRange cotangents) {
  ExpressionBuilder e(builder, getLoc());
  Value g = e.widen(cotangents.front()), x = e.widen(getOperand());
  Value share = e.div(g, countElements(e, x, *this));
  Value back = spreadWindows(e, share, getOperand(), getWindowDims());
  return Values{e.finish(back, getOperand().getType())};
}

} // namespace xc::array
