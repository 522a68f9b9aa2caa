//===- ShapeOps.cpp - Ops that move elements -===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/ArrayOps.h"
#include "compiler/Dialect/Array/IR/Requirements.h"
#include "compiler/Dialect/Array/IR/Sizes.h"

#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace xc::array {

/// The operand's type with another shape.
static Type withShape(Type type, ArrayRef<int64_t> shape) {
  return RankedTensorType::get(shape, cast<RankedTensorType>(type).getElementType());
}

static LogicalResult checkCount(const RuleContext &rule, StringRef what, int64_t count,
                                RankedTensorType type) {
  if (count != type.getRank())
    return rule.error("expected ", what, " for each dim of ", type, ", got ", count);
  return success();
}

//===----------------------------------------------------------------------===//
// Expand and squeeze
//===----------------------------------------------------------------------===//

LogicalResult ExpandDimsOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                             Adaptor adaptor, SmallVectorImpl<Type> &inferred) {
  auto type = cast<RankedTensorType>(adaptor.getOperand().getType());
  ArrayRef<int64_t> axes = adaptor.getAxes();
  int64_t rank = type.getRank() + axes.size();
  if (failed(checkAxes({location, getOperationName()}, axes, rank)))
    return failure();
  Dims shape(type.getShape());
  for (int64_t axis : axes)
    shape.insert(shape.begin() + axis, 1);
  inferred.push_back(withShape(type, shape));
  return success();
}

LogicalResult ExpandDimsOp::reifySizes(SizeBuilder &sizeBuilder,
                                       ReifiedRankedShapedTypeDims &shapes) {
  SmallVector<OpFoldResult> sizes = sizeBuilder.sizes(getOperand());
  for (int64_t axis : getAxes())
    sizes.insert(sizes.begin() + axis, sizeBuilder.constant(1));
  return reifyAs(getType(), std::move(sizes), sizeBuilder, shapes);
}

LogicalResult SqueezeOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                          Adaptor adaptor, SmallVectorImpl<Type> &inferred) {
  RuleContext rule{location, getOperationName()};
  auto type = cast<RankedTensorType>(adaptor.getOperand().getType());
  if (failed(checkAxes(rule, adaptor.getAxes(), type.getRank())))
    return failure();
  for (int64_t axis : adaptor.getAxes())
    if (!areCompatibleDims(type.getDimSize(axis), 1))
      return rule.error("expected dim ", axis, " to have size 1, got ", type);
  inferred.push_back(
      withShape(type, reducedShape(type.getShape(), adaptor.getAxes(), /*keepdims=*/false)));
  return success();
}

LogicalResult SqueezeOp::reifySizes(SizeBuilder &sizeBuilder, ReifiedRankedShapedTypeDims &shapes) {
  SmallVector<OpFoldResult> sizes = sizeBuilder.sizes(getOperand());
  for (int64_t axis : llvm::reverse(getAxes()))
    sizes.erase(sizes.begin() + axis);
  return reifyAs(getType(), std::move(sizes), sizeBuilder, shapes);
}

//===----------------------------------------------------------------------===//
// Transpose and reverse
//===----------------------------------------------------------------------===//

LogicalResult TransposeOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                            Adaptor adaptor, SmallVectorImpl<Type> &inferred) {
  RuleContext rule{location, getOperationName()};
  auto type = cast<RankedTensorType>(adaptor.getOperand().getType());
  ArrayRef<int64_t> permutation = adaptor.getPermutation();
  SmallVector<int64_t> sorted(permutation);
  llvm::sort(sorted);
  if (!llvm::equal(sorted, llvm::seq<int64_t>(0, type.getRank())))
    return rule.error("expected a permutation of the ", type.getRank(), " dims of ", type, ", got ",
                      formatDims(permutation));
  Dims shape;
  for (int64_t dim : permutation)
    shape.push_back(type.getDimSize(dim));
  inferred.push_back(withShape(type, shape));
  return success();
}

LogicalResult TransposeOp::reifySizes(SizeBuilder &sizeBuilder,
                                      ReifiedRankedShapedTypeDims &shapes) {
  SmallVector<OpFoldResult> sizes;
  for (int64_t dim : getPermutation())
    sizes.push_back(sizeBuilder.size(getOperand(), dim));
  return reifyAs(getType(), std::move(sizes), sizeBuilder, shapes);
}

void reifyRequirements(TransposeOp op, RequirementBuilder &requirements) {
  for (auto [dim, source] : llvm::enumerate(op.getPermutation()))
    requirements.requireAgreementWithResult(op.getOperand(), source, dim);
}

LogicalResult ReverseOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                          Adaptor adaptor, SmallVectorImpl<Type> &inferred) {
  auto type = cast<RankedTensorType>(adaptor.getOperand().getType());
  inferred.push_back(withShape(type, type.getShape()));
  return checkAxes({location, getOperationName()}, adaptor.getAxes(), type.getRank());
}

LogicalResult ReverseOp::reifySizes(SizeBuilder &sizeBuilder, ReifiedRankedShapedTypeDims &shapes) {
  return reifyAs(getType(), sizeBuilder.sizes(getOperand()), sizeBuilder, shapes);
}

void reifyRequirements(ReverseOp op, RequirementBuilder &requirements) {
  requirements.requireResultSizes(requirements.getSizes().sizes(op.getOperand()));
}

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

LogicalResult SliceOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                        Adaptor adaptor, SmallVectorImpl<Type> &inferred) {
  RuleContext rule{location, getOperationName()};
  auto type = cast<RankedTensorType>(adaptor.getOperand().getType());
  int64_t rank = type.getRank();
  for (ArrayRef<int64_t> list : {adaptor.getStarts(), adaptor.getLimits(), adaptor.getStrides()})
    if (failed(checkCount(rule, "a range", list.size(), type)))
      return failure();
  Dims shape;
  for (int64_t dim = 0; dim < rank; ++dim) {
    int64_t size = type.getDimSize(dim);
    int64_t start = adaptor.getStarts()[dim];
    int64_t limit = adaptor.getLimits()[dim];
    int64_t stride = adaptor.getStrides()[dim];
    if (ShapedType::isDynamic(limit))
      limit = size;
    bool ordered = ShapedType::isDynamic(limit) || start <= limit;
    bool inside = ShapedType::isDynamic(size) || limit <= size;
    if (start < 0 || !ordered || !inside)
      return rule.error("expected 0 <= start <= limit <= ", formatDim(size), " for dim ", dim,
                        ", got start ", start, " and limit ", formatDim(limit));
    if (stride < 1)
      return rule.error("expected a stride of at least 1 for dim ", dim, ", got ", stride);
    shape.push_back(ShapedType::isDynamic(limit) ? limit : llvm::divideCeil(limit - start, stride));
  }
  inferred.push_back(withShape(type, shape));
  return success();
}

/// The sizes that the ranges of a slice come to.
static SmallVector<OpFoldResult> slicedSizes(SliceOp op, SizeBuilder &sizeBuilder) {
  SmallVector<OpFoldResult> sizes;
  for (auto [dim, start, limit, stride] :
       llvm::enumerate(op.getStarts(), op.getLimits(), op.getStrides())) {
    OpFoldResult end = ShapedType::isDynamic(limit) ? sizeBuilder.size(op.getOperand(), dim)
                                                    : sizeBuilder.constant(limit);
    OpFoldResult span = sizeBuilder.sub(end, sizeBuilder.constant(start));
    sizes.push_back(sizeBuilder.ceilDiv(span, sizeBuilder.constant(stride)));
  }
  return sizes;
}

LogicalResult SliceOp::reifySizes(SizeBuilder &sizeBuilder, ReifiedRankedShapedTypeDims &shapes) {
  return reifyAs(getType(), slicedSizes(*this, sizeBuilder), sizeBuilder, shapes);
}

void reifyRequirements(SliceOp op, RequirementBuilder &requirements) {
  SizeBuilder &sizes = requirements.getSizes();
  for (auto [dim, start, limit] : llvm::enumerate(op.getStarts(), op.getLimits()))
    requirements.require(sizes.constant(ShapedType::isDynamic(limit) ? start : limit),
                         plan::Comparison::AtMost, sizes.size(op.getOperand(), dim),
                         "expected a slice within dim " + Twine(dim) + " of the operand");
  requirements.requireResultSizes(slicedSizes(op, sizes));
}

LogicalResult DynamicUpdateSliceOp::inferReturnTypes(MLIRContext *,
                                                     std::optional<Location> location,
                                                     Adaptor adaptor,
                                                     SmallVectorImpl<Type> &inferred) {
  RuleContext rule{location, getOperationName()};
  auto type = cast<RankedTensorType>(adaptor.getOperand().getType());
  auto update = cast<RankedTensorType>(adaptor.getUpdate().getType());
  if (failed(checkSameElementType(rule, {adaptor.getOperand(), adaptor.getUpdate()})) ||
      failed(checkCount(rule, "a start", adaptor.getStarts().size(), type)))
    return failure();
  bool fits = update.getRank() == type.getRank() &&
              llvm::all_of(llvm::zip(update.getShape(), type.getShape()), [](auto dims) {
                auto [box, size] = dims;
                return ShapedType::isDynamic(box) || ShapedType::isDynamic(size) || box <= size;
              });
  if (!fits)
    return rule.error("expected an update within ", type, ", got ", update);
  inferred.push_back(withShape(type, type.getShape()));
  return success();
}

LogicalResult DynamicUpdateSliceOp::reifySizes(SizeBuilder &sizeBuilder,
                                               ReifiedRankedShapedTypeDims &shapes) {
  return reifyAs(getType(), sizeBuilder.sizes(getOperand()), sizeBuilder, shapes);
}

void reifyRequirements(DynamicUpdateSliceOp op, RequirementBuilder &requirements) {
  // An update without elements fits anywhere.
  if (!llvm::is_contained(op.getUpdate().getType().getShape(), 0))
    requirements.requireBox(op.getOperand(), requirements.getSizes().sizes(op.getUpdate()));
  requirements.requireShapeOfResult(op.getOperand());
}

//===----------------------------------------------------------------------===//
// Concatenate and split
//===----------------------------------------------------------------------===//

LogicalResult ConcatenateOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                              Adaptor adaptor, SmallVectorImpl<Type> &inferred) {
  RuleContext rule{location, getOperationName()};
  if (adaptor.getOperands().empty())
    return rule.error("expected at least one operand");
  auto first = cast<RankedTensorType>(adaptor.getOperands().front().getType());
  int64_t axis = adaptor.getAxis();
  if (failed(checkAxis(rule, axis, first.getRank())) ||
      failed(checkSameElementType(rule, adaptor.getOperands())))
    return failure();
  Dims shape(first.getShape());
  for (Value operand : adaptor.getOperands().drop_front()) {
    auto type = cast<RankedTensorType>(operand.getType());
    if (type.getRank() != first.getRank())
      return rule.error("expected operands of one rank, got ", first, " and ", type);
    for (auto [dim, size] : llvm::enumerate(type.getShape())) {
      if (static_cast<int64_t>(dim) == axis) {
        bool dynamic = ShapedType::isDynamic(shape[dim]) || ShapedType::isDynamic(size);
        shape[dim] = dynamic ? ShapedType::kDynamic : shape[dim] + size;
      } else if (areCompatibleDims(shape[dim], size)) {
        shape[dim] = mergeDims(shape[dim], size);
      } else {
        return rule.error("expected operands equal in all dims but ", axis, ", got ", first,
                          " and ", type);
      }
    }
  }
  inferred.push_back(withShape(first, shape));
  return success();
}

/// The sizes that the parts make together.
static SmallVector<OpFoldResult> joinedSizes(ConcatenateOp op, SizeBuilder &sizeBuilder) {
  SmallVector<OpFoldResult> sizes = sizeBuilder.sizes(op.getOperands().front());
  OpFoldResult &joined = sizes[op.getAxis()];
  for (Value operand : op.getOperands().drop_front())
    joined = sizeBuilder.add(joined, sizeBuilder.size(operand, op.getAxis()));
  return sizes;
}

LogicalResult ConcatenateOp::reifySizes(SizeBuilder &sizeBuilder,
                                        ReifiedRankedShapedTypeDims &shapes) {
  return reifyAs(getType(), joinedSizes(*this, sizeBuilder), sizeBuilder, shapes);
}

void reifyRequirements(ConcatenateOp op, RequirementBuilder &requirements) {
  Value first = op.getOperands().front();
  for (Value part : op.getOperands().drop_front())
    for (int64_t dim = 0, axis = op.getAxis(), rank = op.getType().getRank(); dim < rank; ++dim)
      if (dim != axis)
        requirements.requireEqualDims(part, dim, first, dim);
  requirements.requireResultSizes(joinedSizes(op, requirements.getSizes()));
}

LogicalResult SplitOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                        Adaptor adaptor, SmallVectorImpl<Type> &inferred) {
  RuleContext rule{location, getOperationName()};
  auto type = cast<RankedTensorType>(adaptor.getOperand().getType());
  int64_t axis = adaptor.getAxis();
  if (failed(checkAxis(rule, axis, type.getRank())))
    return failure();
  int64_t total = 0;
  for (int64_t part : adaptor.getParts()) {
    if (part < 0)
      return rule.error("expected parts that are not negative, got ",
                        formatDims(adaptor.getParts()));
    total += part;
    Dims shape(type.getShape());
    shape[axis] = part;
    inferred.push_back(withShape(type, shape));
  }
  if (!areCompatibleDims(type.getDimSize(axis), total))
    return rule.error("expected parts that add up to ", type.getDimSize(axis), ", got ",
                      formatDims(adaptor.getParts()));
  return success();
}

LogicalResult SplitOp::reifySizes(SizeBuilder &sizeBuilder, ReifiedRankedShapedTypeDims &shapes) {
  for (auto [type, part] : llvm::zip_equal(getResultTypes(), getParts())) {
    SmallVector<OpFoldResult> sizes = sizeBuilder.sizes(getOperand());
    sizes[getAxis()] = sizeBuilder.constant(part);
    if (failed(reifyAs(type, std::move(sizes), sizeBuilder, shapes)))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Pad
//===----------------------------------------------------------------------===//

LogicalResult PadOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                      Adaptor adaptor, SmallVectorImpl<Type> &inferred) {
  RuleContext rule{location, getOperationName()};
  auto type = cast<RankedTensorType>(adaptor.getOperand().getType());
  if (failed(checkSameElementType(rule, {adaptor.getOperand(), adaptor.getValue()})))
    return failure();
  SmallVector<int64_t> zeros(type.getRank(), 0);
  ArrayRef<int64_t> interior = adaptor.getInterior().value_or(zeros);
  for (ArrayRef<int64_t> amounts : {adaptor.getLow(), adaptor.getHigh(), interior}) {
    if (failed(checkCount(rule, "an amount", amounts.size(), type)))
      return failure();
    if (llvm::any_of(amounts, [](int64_t amount) { return amount < 0; }))
      return rule.error("expected amounts that are not negative, got ", formatDims(amounts));
    if (llvm::any_of(amounts, [](int64_t amount) { return amount > kMostAmount; }))
      return rule.error("expected amounts of at most ", kMostAmount, ", got ", formatDims(amounts));
  }
  Dims shape;
  for (auto [dim, size] : llvm::enumerate(type.getShape())) {
    shape.push_back(ShapedType::isDynamic(size)
                        ? size
                        : adaptor.getLow()[dim] + spreadKnown(size, interior[dim] + 1) +
                              adaptor.getHigh()[dim]);
  }
  inferred.push_back(withShape(type, shape));
  return success();
}

/// The sizes that an operand comes to with what is put around and between its elements.
static SmallVector<OpFoldResult> paddedSizes(PadOp op, SizeBuilder &sizeBuilder) {
  SmallVector<OpFoldResult> sizes = sizeBuilder.sizes(op.getOperand());
  for (auto [dim, size] : llvm::enumerate(sizes)) {
    int64_t interior = op.getInterior() ? (*op.getInterior())[dim] : 0;
    // Not as `spreadSize` has it: bounded dynamic dims are compared by how their sizes are written.
    if (interior != 0) {
      OpFoldResult gaps =
          sizeBuilder.max(sizeBuilder.sub(size, sizeBuilder.constant(1)), sizeBuilder.constant(0));
      size = sizeBuilder.add(size, sizeBuilder.mul(gaps, sizeBuilder.constant(interior)));
    }
    size = sizeBuilder.add(size, sizeBuilder.constant(op.getLow()[dim] + op.getHigh()[dim]));
  }
  return sizes;
}

LogicalResult PadOp::reifySizes(SizeBuilder &sizeBuilder, ReifiedRankedShapedTypeDims &shapes) {
  return reifyAs(getType(), paddedSizes(*this, sizeBuilder), sizeBuilder, shapes);
}

void reifyRequirements(PadOp op, RequirementBuilder &requirements) {
  requirements.requireResultSizes(paddedSizes(op, requirements.getSizes()));
}

} // namespace xc::array
