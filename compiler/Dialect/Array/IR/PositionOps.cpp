//===- PositionOps.cpp - Embeddings and biases of positions -===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/ExpressionBuilder.h"
#include "compiler/Dialect/Array/IR/PassAttributes.h"
#include "compiler/Dialect/Array/IR/Requirements.h"

using namespace mlir;

namespace xc::array {

using Values = SmallVector<Value>;

/// The most frequencies that are a constant; kernels compute more.
static constexpr int64_t kMostConstantFrequencies = int64_t(1) << 20;

/// The frequencies of pairs of `size` features, as `like` holds numbers. Those of a size that is
/// not known are computed in `f64`, too: a small error in one is a large one at a late position.
static Value buildFrequencies(ExpressionBuilder &e, OpFoldResult size, double base, Value like) {
  std::optional<int64_t> known = getConstantIntValue(size);
  if (known && *known / 2 <= kMostConstantFrequencies) {
    SmallVector<double> frequencies;
    for (int64_t pair = 0; pair < *known / 2; ++pair)
      frequencies.push_back(std::pow(base, -2.0 * pair / *known));
    return e.constant(frequencies, *known / 2, like);
  }
  Type f64 = e.getBuilder().getF64Type();
  SizeBuilder sizes(e.getBuilder(), like.getLoc());
  Value pair = e.iota(sizes.floorDiv(size, sizes.constant(2)), f64);
  Value power =
      e.div(e.mul(pair, -2.0), e.convert(e.number(size, e.getBuilder().getI64Type()), f64));
  return e.convert(e.make<PowOp>(e.scalar(base, power), power),
                   getElementTypeOrSelf(like.getType()));
}

/// `positions` times the frequencies of pairs of `size` features: a new last dim of half of them.
static Value buildAngles(ExpressionBuilder &e, Value positions, OpFoldResult size, double base,
                         Type element) {
  positions = e.convert(positions, element);
  int64_t rank = cast<RankedTensorType>(positions.getType()).getRank();
  Value column = e.make<ExpandDimsOp>(positions, rank);
  return e.mul(column, buildFrequencies(e, size, base, column));
}

/// Two tensors joined along the last dim, or with their elements by turns.
static Value joinHalves(ExpressionBuilder &e, Value first, Value second, bool interleaved) {
  auto type = cast<RankedTensorType>(first.getType());
  int64_t rank = type.getRank();
  if (!interleaved)
    return e.make<ConcatenateOp>(ValueRange{first, second}, rank - 1);
  // Pairs become a dim of their own, which then merges into the last one.
  Values sizes = e.dynamicSizes(first);
  SmallVector<int64_t> shape(type.getShape());
  shape.back() *= 2;
  Value pairs = e.make<ConcatenateOp>(
      ValueRange{e.make<ExpandDimsOp>(first, rank), e.make<ExpandDimsOp>(second, rank)}, rank);
  return e.make<ReshapeOp>(RankedTensorType::get(shape, type.getElementType()), pairs, sizes);
}

//===----------------------------------------------------------------------===//
// Rope
//===----------------------------------------------------------------------===//

LogicalResult RopeOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                       Adaptor adaptor, SmallVectorImpl<Type> &inferred) {
  RuleContext rule{location, getOperationName()};
  auto type = cast<RankedTensorType>(adaptor.getOperand().getType());
  auto positions = cast<RankedTensorType>(adaptor.getPositions().getType());
  if (type.getRank() == 0 ||
      (!type.isDynamicDim(type.getRank() - 1) && type.getShape().back() % 2 != 0))
    return rule.error("expected a last dim of even size, got ", type);
  ArrayRef<int64_t> outer = type.getShape().drop_back();
  FailureOr<Dims> shape =
      broadcastShapes({std::nullopt, getOperationName()}, outer, positions.getShape());
  if (failed(shape) || failed(verifyCompatibleShape(*shape, outer)))
    return rule.error("expected positions that broadcast to ", formatDims(outer), ", got ",
                      positions);
  double base = adaptor.getBase().convertToDouble();
  if (!(base > 0))
    return rule.error("expected a base above 0, got ", base);
  inferred.push_back(RankedTensorType::get(type.getShape(), type.getElementType()));
  return success();
}

LogicalResult RopeOp::reifySizes(SizeBuilder &sizeBuilder, ReifiedRankedShapedTypeDims &shapes) {
  return reifyAs(getType(), sizeBuilder.sizes(getOperand()), sizeBuilder, shapes);
}

static constexpr llvm::StringLiteral kEvenDim =
    "expected a last dim of even size: as many elements as there are in pairs of features";

/// The last dim as pairs: two dims, of which `pairDim` is the one of a pair's two features.
static Value splitPairs(ExpressionBuilder &e, Value x, int64_t pairDim) {
  SizeBuilder sizeBuilder(e.getBuilder(), x.getLoc());
  SmallVector<OpFoldResult> sizes = sizeBuilder.sizes(x);
  sizes.back() = sizeBuilder.floorDiv(sizes.back(), sizeBuilder.constant(2));
  sizes.insert(sizes.begin() + pairDim, sizeBuilder.constant(2));
  SmallVector<int64_t> shape;
  Values dynamic;
  dispatchIndexOpFoldResults(sizes, dynamic, shape);
  auto type = RankedTensorType::get(shape, getElementTypeOrSelf(x.getType()));
  Value pairs = e.make<ReshapeOp>(type, x, dynamic);
  pairs.getDefiningOp()->setAttr(kRequirementAttr, e.getBuilder().getStringAttr(kEvenDim));
  return pairs;
}

/// The last dim is even, and positions broadcast to the others.
void reifyRequirements(RopeOp op, RequirementBuilder &requirements) {
  Value operand = op.getOperand(), positions = op.getPositions();
  int64_t outer = op.getOperand().getType().getRank() - 1,
          lead = outer - op.getPositions().getType().getRank();
  SizeBuilder &sizes = requirements.getSizes();
  OpFoldResult count = sizes.constant(1), two = sizes.constant(2);
  for (OpFoldResult size : ArrayRef(sizes.sizes(operand)).drop_back())
    count = sizes.mul(count, size);
  OpFoldResult last = sizes.size(operand, outer);
  OpFoldResult inPairs = sizes.mul(sizes.floorDiv(last, two), two);
  requirements.require(sizes.mul(count, last), plan::Comparison::Equal, sizes.mul(count, inPairs),
                       kEvenDim);
  for (int64_t dim = lead; dim < outer; ++dim)
    if (op.getPositions().getType().getDimSize(dim - lead) != 1)
      requirements.requireAgreement(operand, dim, positions, dim - lead);
}

/// Each feature times the cosine, and the other one of its pair times the sine, which counts as
/// negative for the first: one elementwise op, which reads the operand twice and writes once.
FailureOr<Values> RopeOp::decompose(OpBuilder &builder) {
  ExpressionBuilder e(builder, getLoc());
  auto type = cast<RankedTensorType>(getOperand().getType());
  int64_t rank = type.getRank();
  OpFoldResult size = SizeBuilder(builder, getLoc()).size(getOperand(), rank - 1);
  if (isConstantIntValue(size, 0))
    return Values{getOperand()};

  // Pairs are innermost if they are interleaved.
  int64_t pairDim = getInterleaved() ? rank : rank - 1;
  Value pairs = splitPairs(e, getOperand(), pairDim);
  // Reversed as it is in memory: what reads at other places is not computed twice.
  Value others = e.widen(e.make<ReverseOp>(pairs, ArrayRef<int64_t>{pairDim}));
  Value own = e.widen(pairs);

  Type element = getElementTypeOrSelf(own.getType());
  Value angles = buildAngles(e, getPositions(), size, getBase().convertToDouble(), element);
  // Positions may have fewer dims than the operand.
  int64_t anglesRank = cast<RankedTensorType>(angles.getType()).getRank();
  angles = e.make<ExpandDimsOp>(angles, getInterleaved() ? anglesRank : anglesRank - 1);
  SmallVector<int64_t> signShape = {2};
  if (!getInterleaved())
    signShape.push_back(1);
  Value signs = e.constant({-1.0, 1.0}, signShape, angles);
  Value turned =
      e.add(e.mul(own, e.make<CosOp>(angles)), e.mul(others, e.mul(e.make<SinOp>(angles), signs)));
  auto narrow = cast<RankedTensorType>(pairs.getType());
  return Values{e.make<ReshapeOp>(type, e.finish(turned, narrow), e.dynamicSizes(getOperand()))};
}

FailureOr<Values> RopeOp::buildVjp(OpBuilder &builder, ValueRange cotangents) {
  ExpressionBuilder e(builder, getLoc());
  // A rotation's transposed is the rotation back. Unsigned positions have no negative.
  Value positions = getPositions();
  if (isa<IntegerType>(getElementTypeOrSelf(positions.getType())))
    positions = e.convert(positions, builder.getI64Type());
  Value back = e.make<RopeOp>(cotangents.front(), e.make<NegOp>(positions), getBaseAttr(),
                              getInterleavedAttr());
  return Values{e.finish(back, getOperand().getType()), Value()};
}

//===----------------------------------------------------------------------===//
// Sinusoidal
//===----------------------------------------------------------------------===//

LogicalResult SinusoidalOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                             Adaptor adaptor, SmallVectorImpl<Type> &inferred) {
  RuleContext rule{location, getOperationName()};
  int64_t size = adaptor.getSize();
  if (size < 2 || size % 2 != 0)
    return rule.error("expected an even size of at least 2, got ", size);
  double base = adaptor.getBase().convertToDouble();
  if (!(base > 0))
    return rule.error("expected a base above 0, got ", base);
  Dims shape(cast<RankedTensorType>(adaptor.getPositions().getType()).getShape());
  shape.push_back(size);
  inferred.push_back(RankedTensorType::get(shape, Float32Type::get(context)));
  return success();
}

LogicalResult SinusoidalOp::reifySizes(SizeBuilder &sizeBuilder,
                                       ReifiedRankedShapedTypeDims &shapes) {
  SmallVector<OpFoldResult> sizes = sizeBuilder.sizes(getPositions());
  sizes.push_back(sizeBuilder.constant(getSize()));
  return reifyAs(getType(), std::move(sizes), sizeBuilder, shapes);
}

/// The type that a result of `type` is computed in.
static Type computeType(Builder &builder, RankedTensorType type) {
  return type.getElementType().isF64() ? type.getElementType() : builder.getF32Type();
}

FailureOr<Values> SinusoidalOp::decompose(OpBuilder &builder) {
  ExpressionBuilder e(builder, getLoc());
  Value angles = buildAngles(e, getPositions(), builder.getIndexAttr(getSize()),
                             getBase().convertToDouble(), computeType(builder, getType()));
  Value joined = joinHalves(e, e.make<SinOp>(angles), e.make<CosOp>(angles), getInterleaved());
  return Values{e.finish(joined, getType())};
}

//===----------------------------------------------------------------------===//
// Alibi
//===----------------------------------------------------------------------===//

LogicalResult AlibiOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                        Adaptor adaptor, SmallVectorImpl<Type> &inferred) {
  RuleContext rule{location, getOperationName()};
  auto query = cast<RankedTensorType>(adaptor.getQuery().getType());
  auto key = cast<RankedTensorType>(adaptor.getKey().getType());
  int64_t heads = adaptor.getHeads();
  if (query.getRank() != 1 || key.getRank() != 1)
    return rule.error("expected vectors of positions, got ", query, " and ", key);
  if (heads < 1)
    return rule.error("expected at least one head, got ", heads);
  inferred.push_back(RankedTensorType::get({heads, query.getDimSize(0), key.getDimSize(0)},
                                           Float32Type::get(context)));
  return success();
}

LogicalResult AlibiOp::reifySizes(SizeBuilder &sizes, ReifiedRankedShapedTypeDims &shapes) {
  return reifyAs(getType(),
                 {sizes.constant(getHeads()), sizes.size(getQuery(), 0), sizes.size(getKey(), 0)},
                 sizes, shapes);
}

FailureOr<Values> AlibiOp::decompose(OpBuilder &builder) {
  ExpressionBuilder e(builder, getLoc());
  int64_t heads = getHeads(), power = llvm::bit_floor(static_cast<uint64_t>(heads));
  SmallVector<double> slopes;
  for (int64_t head = 1; head <= power; ++head)
    slopes.push_back(-std::exp2(-8.0 * head / power));
  for (int64_t head = 1; head <= heads - power; ++head)
    slopes.push_back(-std::exp2(-4.0 * (2 * head - 1) / power));
  Type element = computeType(builder, getType());
  Value query = e.make<ExpandDimsOp>(e.convert(getQuery(), element), int64_t(1));
  Value distance = e.make<AbsOp>(e.sub(query, e.convert(getKey(), element)));
  Value bias = e.mul(e.constant(slopes, {heads, 1, 1}, distance), distance);
  return Values{e.finish(bias, getType())};
}

} // namespace xc::array
