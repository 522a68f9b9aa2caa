//===- SizedOps.cpp - Ops whose shape comes from their result type -===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/SizedOps.h"

#include "compiler/Dialect/Array/IR/Broadcasts.h"
#include "compiler/Dialect/Array/IR/PassAttributes.h"
#include "compiler/Dialect/Array/IR/Requirements.h"
#include "compiler/Dialect/Array/IR/Sizes.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace xc::array {

//===----------------------------------------------------------------------===//
// What they share
//===----------------------------------------------------------------------===//

static RuleContext ruleOf(Operation *op) { return {op->getLoc(), op->getName().getStringRef()}; }

LogicalResult verifySized(ArraySizedOpInterface op, bool mayInferOne) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  int64_t given = op.getSizes().size();
  int64_t wanted = type.getNumDynamicDims();
  if (given != wanted && !(mayInferOne && given == 0 && wanted == 1))
    return op->emitOpError("expected ")
           << wanted << " sizes for result " << type << ", got " << given;
  return op.checkResultType(ruleOf(op), type);
}

LogicalResult reifySized(ArraySizedOpInterface op, ReifiedRankedShapedTypeDims &shapes) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  shapes.push_back(getMixedValues(type.getShape(), op.getSizes(), op.getContext()));
  return success();
}

/// The product of the static dims; nothing where it overflows.
static std::optional<int64_t> staticProduct(ArrayRef<int64_t> shape) {
  int64_t product = 1;
  // A size of 0 makes the product 0 whatever the others are.
  if (llvm::is_contained(shape, 0))
    return 0;
  for (int64_t dim : shape)
    if (!ShapedType::isDynamic(dim) && llvm::MulOverflow(product, dim, product))
      return std::nullopt;
  return product;
}

/// The only `?` of `shape`, if the elements of a static `operand` determine it.
static std::optional<int64_t> inferReshapedDim(RankedTensorType operand, ArrayRef<int64_t> shape) {
  if (!operand.hasStaticShape() || llvm::count(shape, ShapedType::kDynamic) != 1)
    return std::nullopt;
  std::optional<int64_t> elements = staticProduct(operand.getShape());
  std::optional<int64_t> known = staticProduct(shape);
  if (!elements || !known || *known == 0)
    return std::nullopt;
  return *elements / *known;
}

RankedTensorType refineSizedType(ArraySizedOpInterface op, SmallVectorImpl<Value> &remaining) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  Dims shape(type.getShape());
  auto size = op.getSizes().begin(), end = op.getSizes().end();
  for (int64_t &dim : shape) {
    if (!ShapedType::isDynamic(dim) || size == end)
      continue;
    Value value = *size++;
    std::optional<int64_t> constant = getConstantIntValue(value);
    // A negative size is the program's error, which run time reports.
    if (constant && *constant >= 0)
      dim = *constant;
    else
      remaining.push_back(value);
  }
  if (auto reshape = dyn_cast<ReshapeOp>(op.getOperation()))
    if (std::optional<int64_t> dim = inferReshapedDim(reshape.getOperand().getType(), shape)) {
      std::replace(shape.begin(), shape.end(), ShapedType::kDynamic, *dim);
      remaining.clear();
    }
  RankedTensorType refined = type.clone(shape);
  return succeeded(op.checkResultType({std::nullopt, op->getName().getStringRef()}, refined))
             ? refined
             : type;
}

//===----------------------------------------------------------------------===//
// Iota
//===----------------------------------------------------------------------===//

LogicalResult IotaOp::verify() { return verifySized(*this); }

LogicalResult IotaOp::checkResultType(const RuleContext &rule, RankedTensorType type) {
  return checkAxis(rule, getAxis(), type.getRank());
}

LogicalResult IotaOp::reifySizes(SizeBuilder &, ReifiedRankedShapedTypeDims &shapes) {
  return reifySized(*this, shapes);
}

/// The sizes of the result of `op`.
template <typename Op>
static SmallVector<OpFoldResult> getResultSizes(Op op, RequirementBuilder &requirements) {
  ReifiedRankedShapedTypeDims shapes;
  (void)op.reifySizes(requirements.getSizes(), shapes);
  return shapes.front();
}

void reifyRequirements(IotaOp op, RequirementBuilder &requirements) {
  if (op->hasAttr(kCountedAttr))
    requirements.requireCounted(getResultSizes(op, requirements)[op.getAxis()],
                                op.getType().getElementType());
}

void IotaOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<RefineResultType<IotaOp>>(context);
}

//===----------------------------------------------------------------------===//
// Broadcast
//===----------------------------------------------------------------------===//

LogicalResult BroadcastInDimOp::verify() {
  if (getOperand().getType().getElementType() != getType().getElementType())
    return emitOpError("expected operand and result of one element type, got ")
           << getOperand().getType().getElementType() << " and " << getType().getElementType();
  return verifySized(*this);
}

static LogicalResult checkBroadcast(const RuleContext &rule, RankedTensorType operand,
                                    ArrayRef<int64_t> axes, RankedTensorType type) {
  if (static_cast<int64_t>(axes.size()) != operand.getRank())
    return rule.error("expected an axis for each dim of ", operand, ", got ", formatDims(axes));
  if (failed(checkAxes(rule, axes, type.getRank())))
    return failure();
  for (auto [axis, dim] : llvm::zip_equal(axes, operand.getShape()))
    if (dim != 1 && !areCompatibleDims(dim, type.getDimSize(axis)))
      return rule.error("expected operand dims of size 1 or the result's, got ", operand, " and ",
                        type);
  return success();
}

LogicalResult BroadcastInDimOp::checkResultType(const RuleContext &rule, RankedTensorType type) {
  return checkBroadcast(rule, getOperand().getType(), getAxes(), type);
}

LogicalResult BroadcastInDimOp::reifySizes(SizeBuilder &, ReifiedRankedShapedTypeDims &shapes) {
  return reifySized(*this, shapes);
}

/// Whether `size` was taken from dim `dim` of `tensor`.
static bool isSizeOf(Value size, Value tensor, int64_t dim) {
  if (auto source = size.getDefiningOp<DimOp>())
    return source.getOperand() == tensor && static_cast<int64_t>(source.getAxis()) == dim;
  auto source = size.getDefiningOp<tensor::DimOp>();
  return source && source.getSource() == tensor && source.getConstantIndex() == dim;
}

Repeat getRepeat(BroadcastInDimOp op, int64_t dim) {
  RankedTensorType from = op.getOperand().getType(), to = op.getType();
  int64_t axis = op.getAxes()[dim], fromSize = from.getDimSize(dim), toSize = to.getDimSize(axis);
  if (fromSize == 1)
    return toSize == 1 ? Repeat::Never : Repeat::Always;
  if (!ShapedType::isDynamic(fromSize) || toSize == 1)
    return Repeat::Never;
  bool isOwn = ShapedType::isDynamic(toSize) &&
               isSizeOf(op.getSizes()[to.getDynamicDimIndex(axis)], op.getOperand(), dim);
  return isOwn ? Repeat::Never : Repeat::AtRunTime;
}

void reifyRequirements(BroadcastInDimOp op, RequirementBuilder &requirements) {
  SmallVector<OpFoldResult> resultSizes = getResultSizes(op, requirements);
  for (auto [dim, axis] : llvm::enumerate(op.getAxes())) {
    Repeat repeat = getRepeat(op, dim);
    if (repeat == Repeat::AtRunTime)
      requirements.require(requirements.getSizes().size(op.getOperand(), dim),
                           plan::Comparison::OneOrEqual, resultSizes[axis],
                           "expected dim " + Twine(dim) +
                               " of the operand to be 1 or the result's dim " + Twine(axis));
    else if (repeat == Repeat::Never)
      requirements.requireAgreementWithSize(op.getOperand(), dim, resultSizes[axis]);
  }
}

OpFoldResult BroadcastInDimOp::fold(FoldAdaptor adaptor) {
  // With static shapes equal types mean that nothing is repeated.
  if (getOperand().getType() == getType() && getType().hasStaticShape())
    return getOperand();
  auto splat = dyn_cast_if_present<SplatElementsAttr>(adaptor.getOperand());
  if (splat && getType().hasStaticShape())
    return splat.resizeSplat(getType());
  return {};
}

namespace {
/// broadcast(broadcast(x)) -> broadcast(x).
struct MergeBroadcasts : OpRewritePattern<BroadcastInDimOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(BroadcastInDimOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getOperand().getDefiningOp<BroadcastInDimOp>();
    if (!inner)
      return rewriter.notifyMatchFailure(op, "operand is not a broadcast");
    SmallVector<int64_t> axes;
    for (int64_t axis : inner.getAxes())
      axes.push_back(op.getAxes()[axis]);
    RuleContext silent{std::nullopt, op.getOperationName()};
    if (failed(checkBroadcast(silent, inner.getOperand().getType(), axes, op.getType())))
      return rewriter.notifyMatchFailure(op, "the two contradict each other");
    rewriter.replaceOpWithNewOp<BroadcastInDimOp>(op, op.getType(), inner.getOperand(),
                                                  op.getSizes(), axes);
    return success();
  }
};
} // namespace

void BroadcastInDimOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                                   MLIRContext *context) {
  patterns.add<RefineResultType<BroadcastInDimOp>, MergeBroadcasts>(context);
}

//===----------------------------------------------------------------------===//
// Reshape
//===----------------------------------------------------------------------===//

LogicalResult ReshapeOp::verify() {
  if (getOperand().getType().getElementType() != getType().getElementType())
    return emitOpError("expected operand and result of one element type, got ")
           << getOperand().getType().getElementType() << " and " << getType().getElementType();
  return verifySized(*this, /*mayInferOne=*/true);
}

static LogicalResult checkReshape(const RuleContext &rule, RankedTensorType operand,
                                  RankedTensorType type) {
  std::optional<int64_t> from = staticProduct(operand.getShape());
  std::optional<int64_t> to = staticProduct(type.getShape());
  if (!from || !to)
    return rule.error("expected fewer than 2^63 elements, got ", from ? type : operand);
  if (operand.hasStaticShape() && type.hasStaticShape() && *from != *to)
    return rule.error("expected shapes of equally many elements, got ", operand, " and ", type);
  // Of several `?` nothing can be said but that their product is the quotient.
  if (operand.hasStaticShape() && *to != 0 && *from % *to != 0)
    return rule.error("expected the static dims of ", type, " to divide the ", *from,
                      " elements of ", operand);
  if (operand.hasStaticShape() && type.getNumDynamicDims() == 1 && *to == 0 && *from != 0)
    return rule.error("expected shapes of equally many elements, got ", operand, " and ", type);
  return success();
}

LogicalResult ReshapeOp::checkResultType(const RuleContext &rule, RankedTensorType type) {
  return checkReshape(rule, getOperand().getType(), type);
}

LogicalResult ReshapeOp::reifySizes(SizeBuilder &sizes, ReifiedRankedShapedTypeDims &shapes) {
  if (getType().getNumDynamicDims() == getSizes().size())
    return reifySized(*this, shapes);
  // One dim to infer: the number of elements over the product of the others.
  OpFoldResult elements = sizes.constant(1);
  for (OpFoldResult size : sizes.sizes(getOperand()))
    elements = sizes.mul(elements, size);
  int64_t known = staticProduct(getType().getShape()).value_or(1);
  OpFoldResult inferred =
      known == 0 ? sizes.constant(0) : sizes.floorDiv(elements, sizes.constant(known));
  SmallVector<OpFoldResult> result(getType().getRank(), inferred);
  return reifyAs(getType(), std::move(result), sizes, shapes);
}

void reifyRequirements(ReshapeOp op, RequirementBuilder &requirements) {
  // A size that was found by a division without remainder.
  RankedTensorType from = op.getOperand().getType(), to = op.getType();
  int64_t divisor = multiplyKnown(to.getShape());
  if (op.getSizes().empty() && !to.hasStaticShape() && divisor != 0 &&
      multiplyKnown(from.getShape()) % divisor == 0)
    return;
  SizeBuilder &sizes = requirements.getSizes();
  auto count = [&](ArrayRef<OpFoldResult> shape) {
    OpFoldResult product = sizes.constant(1);
    for (OpFoldResult size : shape)
      product = sizes.mul(product, size);
    return product;
  };
  std::string what;
  if (auto requirement = op->getAttrOfType<StringAttr>(kRequirementAttr))
    what = requirement.str();
  else
    llvm::raw_string_ostream(what) << "expected as many elements in " << from << " as in " << to;
  requirements.require(count(sizes.sizes(op.getOperand())), plan::Comparison::Equal,
                       count(getResultSizes(op, requirements)), what);
}

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  RankedTensorType type = getType();
  // One `?` in the same place is necessarily the same size, unless there are no elements. A size
  // that is given is required.
  int64_t dim = llvm::find(type.getShape(), ShapedType::kDynamic) - type.getShape().begin();
  bool isCounted = type.getNumDynamicDims() == 1 && !llvm::is_contained(type.getShape(), 0) &&
                   (getSizes().empty() || isSizeOf(getSizes().front(), getOperand(), dim));
  if (getOperand().getType() == type && (type.hasStaticShape() || isCounted))
    return getOperand();
  if (!type.hasStaticShape())
    return {};
  auto elements = dyn_cast_if_present<DenseElementsAttr>(adaptor.getOperand());
  return elements ? elements.reshape(type) : OpFoldResult();
}

namespace {
/// reshape(reshape(x)) -> reshape(x).
struct MergeReshapes : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ReshapeOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getOperand().getDefiningOp<ReshapeOp>();
    if (!inner)
      return rewriter.notifyMatchFailure(op, "operand is not a reshape");
    RuleContext silent{std::nullopt, op.getOperationName()};
    if (failed(checkReshape(silent, inner.getOperand().getType(), op.getType())))
      return rewriter.notifyMatchFailure(op, "the two contradict each other");
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), inner.getOperand(), op.getSizes());
    return success();
  }
};

/// reshape(broadcast(x)) -> broadcast(reshape(x)), where the reshape splits dims: so an elementwise
/// op reads x, and not what is repeated.
struct SplitBeforeBroadcast : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ReshapeOp op, PatternRewriter &rewriter) const override {
    auto broadcast = op.getOperand().getDefiningOp<BroadcastInDimOp>();
    if (!broadcast)
      return rewriter.notifyMatchFailure(op, "operand is not a broadcast");
    RankedTensorType source = broadcast.getOperand().getType(), type = op.getType();
    if (!source.hasStaticShape() || !type.hasStaticShape() ||
        type.getRank() <= broadcast.getType().getRank())
      return rewriter.notifyMatchFailure(op, "it splits no dims of known sizes");
    auto groups = getReassociationIndicesForReshape(broadcast.getType(), type);
    if (!groups || static_cast<int64_t>(groups->size()) != broadcast.getType().getRank())
      return rewriter.notifyMatchFailure(op, "it merges dims, too");
    SmallVector<int64_t> shape, axes;
    for (auto [dim, axis] : llvm::enumerate(broadcast.getAxes())) {
      ArrayRef<int64_t> parts = (*groups)[axis];
      for (int64_t part : source.getDimSize(dim) == 1 ? parts.take_front() : parts) {
        shape.push_back(source.getDimSize(dim) == 1 ? 1 : type.getDimSize(part));
        axes.push_back(part);
      }
    }
    Value split = ReshapeOp::create(rewriter, op.getLoc(), source.clone(shape),
                                    broadcast.getOperand(), ValueRange());
    rewriter.replaceOpWithNewOp<BroadcastInDimOp>(op, type, split, ValueRange(), axes);
    return success();
  }
};
} // namespace

void ReshapeOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<RefineResultType<ReshapeOp>, MergeReshapes, SplitBeforeBroadcast>(context);
}

//===----------------------------------------------------------------------===//
// Dynamic slice
//===----------------------------------------------------------------------===//

LogicalResult DynamicSliceOp::verify() {
  if (getOperand().getType().getElementType() != getType().getElementType())
    return emitOpError("expected operand and result of one element type, got ")
           << getOperand().getType().getElementType() << " and " << getType().getElementType();
  return verifySized(*this);
}

LogicalResult DynamicSliceOp::checkResultType(const RuleContext &rule, RankedTensorType type) {
  RankedTensorType operand = getOperand().getType();
  if (static_cast<int64_t>(getStarts().size()) != operand.getRank())
    return rule.error("expected a start for each dim of ", operand, ", got ", getStarts().size());
  bool fits = type.getRank() == operand.getRank() &&
              llvm::all_of(llvm::zip(type.getShape(), operand.getShape()), [](auto dims) {
                auto [box, size] = dims;
                return ShapedType::isDynamic(box) || ShapedType::isDynamic(size) || box <= size;
              });
  if (!fits)
    return rule.error("expected a box within ", operand, ", got ", type);
  return success();
}

LogicalResult DynamicSliceOp::reifySizes(SizeBuilder &, ReifiedRankedShapedTypeDims &shapes) {
  return reifySized(*this, shapes);
}

void reifyRequirements(DynamicSliceOp op, RequirementBuilder &requirements) {
  requirements.requireBox(op.getOperand(), getResultSizes(op, requirements));
}

void DynamicSliceOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                                 MLIRContext *context) {
  patterns.add<RefineResultType<DynamicSliceOp>>(context);
}

} // namespace xc::array
