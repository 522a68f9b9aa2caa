//===- ImportProducts.cpp - StableHLO's products and convolutions ---------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Input/StableHLO/ImportStableHLO.h"

using namespace mlir;
using namespace xc::array;

namespace xc::stablehlo_import {

namespace shlo = stablehlo;

/// Whether array ops accumulate products of `operand` elements in `result` ones.
static bool accumulates(Type operand, Type result) {
  if (operand == result)
    return true;
  if (result.isF32())
    return operand.isF16() || operand.isBF16();
  return (operand.isSignlessInteger(8) && result.isSignlessInteger(32)) ||
         (operand.isUnsignedInteger(8) && result.isUnsignedInteger(32));
}

/// Brings both operands to one element type, of which products in `result` are made. Returns the
/// element type that the product has.
static Type unifyElements(ExpressionBuilder &e, Value &lhs, Value &rhs, Type result) {
  Type left = elementOf(lhs), right = elementOf(rhs);
  if (left == right && accumulates(left, result))
    return result;
  auto width = [](Type type) { return type.getIntOrFloatBitWidth(); };
  // Rounded at the end, where the operands have more digits than the result.
  Type wide = result;
  for (Type type : {left, right})
    if (isa<FloatType>(type) == isa<FloatType>(wide) && width(type) > width(wide))
      wide = type;
  lhs = e.convert(lhs, wide);
  rhs = e.convert(rhs, wide);
  return wide;
}

/// What `dot_algorithm` permits: TF32 where it names that.
static bool allowsTf32(std::optional<shlo::RecordAttr> algorithm) {
  auto type = algorithm ? algorithm->getFields().getAs<TypeAttr>("lhs_precision_type") : nullptr;
  return type && isa<FloatTF32Type>(type.getValue());
}

/// A product of type `result`; `lists` are batch dims of both operands, then contracting ones.
static Result makeDot(Type result, ExpressionBuilder &e, Value lhs, Value rhs,
                      ArrayRef<ArrayRef<int64_t>> lists, bool allowTf32 = false) {
  auto type = cast<RankedTensorType>(result);
  if (isa<FloatType>(type.getElementType()) != (isFloat(lhs) || isFloat(rhs)) && !isTruth(lhs))
    return Result::refuse("its result is of floats where its operands are not, or the other way "
                          "round");
  SmallVector<int64_t> shape;
  for (int64_t dim : lists[0])
    shape.push_back(typeOf(lhs).getDimSize(dim));
  for (auto [value, batch, contract] :
       {std::tuple(lhs, lists[0], lists[2]), std::tuple(rhs, lists[1], lists[3])})
    for (int64_t dim : DotGeneralOp::getFreeDims(value, batch, contract))
      shape.push_back(typeOf(value).getDimSize(dim));
  if (type.getShape() != ArrayRef(shape))
    return Result::refuse("its result has not the dims that its operands give");
  if (type.getElementType().isInteger(1))
    return Result::refuse("it sums up truth values");
  Type element = unifyElements(e, lhs, rhs, type.getElementType());
  Value product = e.make<DotGeneralOp>(type.clone(element), lhs, rhs, lists[0], lists[1], lists[2],
                                       lists[3], allowTf32 && element.isF32());
  return e.convert(product, type.getElementType());
}

static Result convertDotGeneral(shlo::DotGeneralOp op, ExpressionBuilder &e) {
  shlo::RecordAttr dims = op.getDotDimensionNumbers();
  ArrayRef<int64_t> lists[4] = {
      dims.getList("lhs_batching_dimensions"), dims.getList("rhs_batching_dimensions"),
      dims.getList("lhs_contracting_dimensions"), dims.getList("rhs_contracting_dimensions")};
  return makeDot(op.getResult().getType(), e, op.getLhs(), op.getRhs(), lists,
                 allowsTf32(op.getAlgorithm()));
}

/// Of vectors and matrices: the last dim of one, the first of the other.
static Result convertDot(shlo::DotOp op, ExpressionBuilder &e) {
  auto lhs = typeOf(op.getLhs()), rhs = typeOf(op.getRhs());
  if (lhs.getRank() < 1 || lhs.getRank() > 2 || rhs.getRank() < 1 || rhs.getRank() > 2 ||
      lhs.getShape().back() != rhs.getShape().front())
    return Result::refuse("its operands are no vectors and matrices that fit");
  int64_t last[] = {lhs.getRank() - 1}, first[] = {0};
  ArrayRef<int64_t> lists[4] = {{}, {}, last, first};
  return makeDot(op.getResult().getType(), e, op.getLhs(), op.getRhs(), lists);
}

/// Labels in the numbers of array ops.
static SmallVector<int64_t> relabel(ArrayRef<int64_t> labels, int64_t first, int64_t second) {
  return llvm::map_to_vector(labels, [&](int64_t label) {
    return label >= 0 ? label : label == -1 ? first : second;
  });
}

static Result convertConvolution(shlo::ConvolutionOp op, ExpressionBuilder &e) {
  auto type = typeOf(op.getResult());
  shlo::ConvAttr labels = op.getDimensionNumbers();
  auto dims = ConvDimsAttr::get(
      op.getContext(), relabel(labels.getInput(), ConvDimsAttr::kBatch, ConvDimsAttr::kFeature),
      relabel(labels.getFilter(), ConvDimsAttr::kFilterOutput, ConvDimsAttr::kFilterInput),
      relabel(labels.getOutput(), ConvDimsAttr::kBatch, ConvDimsAttr::kFeature));
  Value input = op.getLhs(), filter = op.getRhs();
  SmallVector<int64_t> reversed;
  for (auto [spatial, flag] : llvm::enumerate(shlo::getFlags(op.getWindowReversalAttr())))
    if (flag)
      reversed.push_back(dims.filterDim(spatial));
  llvm::sort(reversed);
  if (!reversed.empty())
    filter = e.make<ReverseOp>(filter, reversed);
  size_t spatial = labels.getInput().size() - 2;
  SmallVector<int64_t> low, high;
  for (auto [index, number] :
       llvm::enumerate(shlo::getNumbers(op.getPaddingAttr(), 2 * spatial, 0)))
    (index % 2 ? high : low).push_back(number);
  auto list = [&](ArrayRef<int64_t> numbers) {
    return e.getBuilder().getDenseI64ArrayAttr(numbers);
  };
  auto numbers = [&](Attribute attribute) { return list(shlo::getNumbers(attribute, spatial, 1)); };
  if (isa<FloatType>(type.getElementType()) != isFloat(input) || isTruth(input) ||
      type.getElementType().isInteger(1))
    return Result::refuse("its element types are not floats, or integers, throughout");
  Type element = unifyElements(e, input, filter, type.getElementType());
  Builder &builder = e.getBuilder();
  Value result = e.make<ConvOp>(type.clone(element), input, filter, dims,
                                numbers(op.getWindowStridesAttr()), list(low), list(high),
                                numbers(op.getLhsDilationAttr()), numbers(op.getRhsDilationAttr()),
                                builder.getI64IntegerAttr(op.getFeatureGroupCount()),
                                builder.getI64IntegerAttr(op.getBatchGroupCount()), UnitAttr(),
                                ConvAlgorithmAttr::get(op.getContext(), ConvAlgorithm::Direct));
  return e.convert(result, type.getElementType());
}

//===----------------------------------------------------------------------===//
// ragged_dot
//===----------------------------------------------------------------------===//

namespace {

/// A `ragged_dot`; `lists` are those of a product without groups.
struct RaggedProduct {
  RankedTensorType type;
  Value lhs, rhs, sizes;
  ArrayRef<int64_t> lists[4];   ///< batch dims of both operands, then contracting ones
  int64_t ragged;               ///< the dim of the left operand whose indices are in groups
  std::optional<int64_t> group; ///< the dim of the right operand that counts groups

  bool isRaggedIn(unsigned list) const { return llvm::is_contained(lists[list], ragged); }
};

} // namespace

/// Rows of a matrix in groups, each times a matrix of its own: the form that JAX writes for a
/// mixture of experts. Nothing where it is another.
static std::optional<Result> convertGroupedRows(RaggedProduct dot, ExpressionBuilder &e) {
  bool isTransposed = dot.lists[3] == ArrayRef<int64_t>{2};
  bool isPlain = typeOf(dot.lhs).getRank() == 2 && typeOf(dot.rhs).getRank() == 3 &&
                 typeOf(dot.sizes).getRank() == 1 && dot.lists[0].empty() && dot.ragged == 0 &&
                 dot.group == 0 && (isTransposed || dot.lists[3] == ArrayRef<int64_t>{1});
  if (!isPlain)
    return std::nullopt;
  Type element = unifyElements(e, dot.lhs, dot.rhs, dot.type.getElementType());
  UnitAttr yes = e.getBuilder().getUnitAttr();
  Value product = e.make<GroupedMatMulOp>(dot.type.clone(element), dot.lhs, dot.rhs, dot.sizes,
                                          isTransposed ? yes : UnitAttr(), UnitAttr());
  return e.convert(product, dot.type.getElementType());
}

/// The dims of the left operand along which groups may have other sizes: batch dims, then those
/// before the ragged one of its kind.
static SmallVector<int64_t> getOuterDims(const RaggedProduct &dot) {
  SmallVector<int64_t> outer(dot.lists[0]);
  SmallVector<int64_t> kind = dot.isRaggedIn(2)
                                  ? SmallVector<int64_t>(dot.lists[2])
                                  : DotGeneralOp::getFreeDims(dot.lhs, dot.lists[0], dot.lists[2]);
  outer.append(kind.begin(), llvm::find(kind, dot.ragged));
  return outer;
}

/// The left operand once for each group, along a new dim 0, with zeros outside of the group.
static Value separateGroups(const RaggedProduct &dot, ExpressionBuilder &e,
                            ArrayRef<int64_t> outer) {
  auto type = typeOf(dot.lhs);
  int64_t last = typeOf(dot.sizes).getRank() - 1;
  SmallVector<int64_t> shape(type.getShape());
  shape.insert(shape.begin(), typeOf(dot.sizes).getShape().back());
  // Dims of `sizes` in the order that they have in `shape`: groups first.
  SmallVector<int64_t> order{last}, places{0};
  llvm::append_range(order, llvm::seq<int64_t>(0, last));
  llvm::sort(MutableArrayRef(order).drop_front(),
             [&](int64_t a, int64_t b) { return outer[a] < outer[b]; });
  for (int64_t dim : ArrayRef(order).drop_front())
    places.push_back(outer[dim] + 1);
  auto spread = [&](Value value) {
    return broadcastTo(e, transpose(e, value, order), places, shape);
  };
  Value ends = e.make<CumSumOp>(dot.sizes, uint64_t(last), /*exclusive=*/false, /*reverse=*/false);
  Value index = iota(e, shape, elementOf(dot.sizes), dot.ragged + 1);
  Value isInside =
      e.make<AndOp>(e.compare(CompareDirection::Ge, index, spread(e.sub(ends, dot.sizes))),
                    e.compare(CompareDirection::Lt, index, spread(ends)));
  SmallVector<int64_t> kept = llvm::to_vector(llvm::seq<int64_t>(1, shape.size()));
  return e.select(isInside, broadcastTo(e, dot.lhs, kept, shape), zeros(e, type.clone(shape)));
}

/// A product of all groups, in which zeros take the place of the others. Groups that have matrices
/// are summed up, as a contracting dim is; else they are the first dim of the result.
static Result convertSeparated(RaggedProduct dot, ExpressionBuilder &e) {
  SmallVector<int64_t> outer = getOuterDims(dot);
  SmallVector<int64_t> extents =
      llvm::map_to_vector(outer, [&](int64_t dim) { return typeOf(dot.lhs).getDimSize(dim); });
  ArrayRef<int64_t> given = typeOf(dot.sizes).getShape();
  if (given.size() > 1 && given.drop_back() != ArrayRef(extents))
    return Result::refuse("the sizes of its groups do not fit its operands");
  dot.lhs = separateGroups(dot, e, outer);
  SmallVector<int64_t> lists[4];
  for (unsigned side = 0; side < 4; ++side)
    for (int64_t dim : dot.lists[side])
      lists[side].push_back(side % 2 == 0 ? dim + 1 : dim);
  if (dot.group) {
    lists[2].push_back(0);
    lists[3].push_back(*dot.group);
    return makeDot(dot.type, e, dot.lhs, dot.rhs, {lists[0], lists[1], lists[2], lists[3]});
  }
  // What is left of the left operand's dims begins with the groups, behind the batch dims.
  int64_t batch = lists[0].size();
  if (batch >= dot.type.getRank())
    return Result::refuse("its result has no dim of groups");
  SmallVector<int64_t> shape(dot.type.getShape());
  std::rotate(shape.begin(), shape.begin() + 1, shape.begin() + batch + 1);
  Result product =
      makeDot(dot.type.clone(shape), e, dot.lhs, dot.rhs, {lists[0], lists[1], lists[2], lists[3]});
  if (product.isRefused())
    return product;
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, dot.type.getRank()));
  std::rotate(order.begin(), order.begin() + batch, order.begin() + batch + 1);
  return transpose(e, product.getValues().front(), order);
}

/// Whether the dims of `dot` are those of one of the forms that are specified.
static bool isSpecified(const RaggedProduct &dot) {
  SmallVector<int64_t> left(dot.lists[0]), right(dot.lists[1]);
  llvm::append_range(left, dot.lists[2]);
  llvm::append_range(right, dot.lists[3]);
  if (dot.group)
    right.push_back(*dot.group);
  if (!areDims(left, typeOf(dot.lhs).getRank()) || !areDims(right, typeOf(dot.rhs).getRank()) ||
      !areDims({dot.ragged}, typeOf(dot.lhs).getRank()))
    return false;
  for (unsigned kind : {0, 2}) {
    auto extents = [&](Value value, ArrayRef<int64_t> dims) {
      return llvm::map_to_vector(dims, [&](int64_t dim) { return typeOf(value).getDimSize(dim); });
    };
    if (extents(dot.lhs, dot.lists[kind]) != extents(dot.rhs, dot.lists[kind + 1]))
      return false;
  }
  bool isFree = !dot.isRaggedIn(0) && !dot.isRaggedIn(2);
  ArrayRef<int64_t> sizes = typeOf(dot.sizes).getShape();
  return isFree
             ? dot.group && !sizes.empty() && typeOf(dot.rhs).getDimSize(*dot.group) == sizes.back()
             : !dot.group && !sizes.empty();
}

static Result convertRaggedDot(chlo::RaggedDotOp op, ExpressionBuilder &e) {
  auto dims =
      dyn_cast_or_null<shlo::RecordAttr>(op.getRaggedDotDimensionNumbers().value_or(Attribute()));
  if (!dims || op.getInputs().size() != 3 || op.getNumResults() != 1 || !isFloat(op.getInputs()[0]))
    return Result::refuse("it is not of two arrays of floats and sizes of groups");
  ArrayRef<int64_t> ragged = dims.getList("lhs_ragged_dimensions"),
                    group = dims.getList("rhs_group_dimensions");
  RaggedProduct dot{
      cast<RankedTensorType>(op.getResultTypes()[0]),
      op.getInputs()[0],
      op.getInputs()[1],
      op.getInputs()[2],
      {dims.getList("lhs_batching_dimensions"), dims.getList("rhs_batching_dimensions"),
       dims.getList("lhs_contracting_dimensions"), dims.getList("rhs_contracting_dimensions")},
      ragged.size() == 1 ? ragged.front() : -1,
      group.empty() ? std::nullopt : std::optional(group.front())};
  if (group.size() > 1 || !isSpecified(dot))
    return Result::refuse("its dims are those of no form that is specified");
  auto number = dyn_cast<IntegerType>(elementOf(dot.sizes));
  if (!number || number.getWidth() == 1)
    return Result::refuse("the sizes of its groups are no integers");
  // Groups of batch dims are all of them.
  if (dot.isRaggedIn(0))
    return makeDot(dot.type, e, dot.lhs, dot.rhs, dot.lists);
  bool isWide = number.getWidth() == 64;
  dot.sizes = e.convert(dot.sizes, e.getBuilder().getIntegerType(isWide ? 64 : 32));
  std::optional<Result> rows = convertGroupedRows(dot, e);
  return rows ? *rows : convertSeparated(dot, e);
}

Replacement convertProducts(Operation *op, ExpressionBuilder &e) {
  if (auto dot = dyn_cast<shlo::DotGeneralOp>(op))
    return convertDotGeneral(dot, e);
  if (auto dot = dyn_cast<shlo::DotOp>(op))
    return convertDot(dot, e);
  if (auto convolution = dyn_cast<shlo::ConvolutionOp>(op))
    return convertConvolution(convolution, e);
  if (auto ragged = dyn_cast<chlo::RaggedDotOp>(op))
    return convertRaggedDot(ragged, e);
  return std::nullopt;
}

} // namespace xc::stablehlo_import
