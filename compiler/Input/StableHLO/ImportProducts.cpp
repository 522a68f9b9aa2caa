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

static Result makeDot(Operation *op, ExpressionBuilder &e, Value lhs, Value rhs,
                      ArrayRef<int64_t> lists[4], bool allowTf32) {
  auto type = typeOf(op->getResult(0));
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
  return makeDot(op, e, op.getLhs(), op.getRhs(), lists, allowsTf32(op.getAlgorithm()));
}

/// Of vectors and matrices: the last dim of one, the first of the other.
static Result convertDot(shlo::DotOp op, ExpressionBuilder &e) {
  auto lhs = typeOf(op.getLhs()), rhs = typeOf(op.getRhs());
  if (lhs.getRank() < 1 || lhs.getRank() > 2 || rhs.getRank() < 1 || rhs.getRank() > 2 ||
      lhs.getShape().back() != rhs.getShape().front())
    return Result::refuse("its operands are no vectors and matrices that fit");
  int64_t last[] = {lhs.getRank() - 1}, first[] = {0};
  ArrayRef<int64_t> lists[4] = {{}, {}, last, first};
  return makeDot(op, e, op.getLhs(), op.getRhs(), lists, /*allowTf32=*/false);
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

/// Rows of the left operand in groups, each times a matrix of its own: the form that JAX writes for
/// a mixture of experts.
static Result convertRaggedDot(chlo::RaggedDotOp op, ExpressionBuilder &e) {
  auto dims =
      dyn_cast_or_null<shlo::RecordAttr>(op.getRaggedDotDimensionNumbers().value_or(Attribute()));
  auto is = [&](StringRef name, ArrayRef<int64_t> list) { return dims.getList(name) == list; };
  bool isFit = dims && op.getInputs().size() == 3 && op.getNumResults() == 1 &&
               typeOf(op.getInputs()[0]).getRank() == 2 &&
               typeOf(op.getInputs()[1]).getRank() == 3 &&
               typeOf(op.getInputs()[2]).getRank() == 1 && isFloat(op.getInputs()[0]) &&
               is("lhs_batching_dimensions", {}) && is("rhs_batching_dimensions", {}) &&
               is("lhs_contracting_dimensions", {1}) && is("lhs_ragged_dimensions", {0}) &&
               is("rhs_group_dimensions", {0});
  bool isTransposed = isFit && is("rhs_contracting_dimensions", {2});
  if (!isFit || (!isTransposed && !is("rhs_contracting_dimensions", {1})))
    return Result::refuse("it is not of rows in groups, each times a matrix of its own");
  Value lhs = op.getInputs()[0], rhs = op.getInputs()[1], sizes = op.getInputs()[2];
  auto type = cast<RankedTensorType>(op.getResultTypes()[0]);
  Type element = unifyElements(e, lhs, rhs, type.getElementType());
  auto number = dyn_cast<IntegerType>(elementOf(sizes));
  if (!number || number.getWidth() == 1)
    return Result::refuse("the sizes of its groups are no integers");
  bool isWide = number.getWidth() == 64;
  sizes = e.convert(sizes, e.getBuilder().getIntegerType(isWide ? 64 : 32));
  UnitAttr yes = e.getBuilder().getUnitAttr();
  Value product = e.make<GroupedMatMulOp>(type.clone(element), lhs, rhs, sizes,
                                          isTransposed ? yes : UnitAttr(), UnitAttr());
  return e.convert(product, type.getElementType());
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
