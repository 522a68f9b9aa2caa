//===- StableHLOVerifiers.cpp - What ops must be like to be read ----------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The constraints of the specification that the importer relies on. What an array op requires
// anyway is left to that op.
//
//===----------------------------------------------------------------------===//

#include "compiler/Input/StableHLO/StableHLO.h"
#include "compiler/Input/StableHLO/StableHLOWindows.h"
#include "compiler/Input/StableHLO/VerifyParts.h"

#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "llvm/ADT/SmallSet.h"

using namespace mlir;

namespace xc::stablehlo {

/// Larger numbers than any program has a use for: sums and products of them do not overflow.
static constexpr int64_t kMostNumber = array::kMostAmount;

static Type scalarOf(Value value) {
  return RankedTensorType::get({}, typeOf(value).getElementType());
}

LogicalResult verifyLength(Operation *op, StringRef name, ArrayRef<int64_t> list, int64_t count) {
  if (static_cast<int64_t>(list.size()) == count)
    return success();
  return op->emitOpError() << "expected " << count << " numbers in " << name << ", got "
                           << list.size();
}

LogicalResult verifyDims(Operation *op, StringRef name, ArrayRef<int64_t> dims, int64_t rank) {
  llvm::SmallSet<int64_t, 8> seen;
  for (int64_t dim : dims)
    if (dim < 0 || dim >= rank || !seen.insert(dim).second)
      return op->emitOpError() << "expected different dims in [0, " << rank << ") in " << name
                               << ", got [" << dims << "]";
  return success();
}

static LogicalResult verifyBounds(Operation *op, StringRef name, ArrayRef<int64_t> numbers,
                                  int64_t least) {
  for (int64_t number : numbers)
    if (number < least || number > kMostNumber)
      return op->emitOpError() << "expected numbers from " << least << " to " << kMostNumber
                               << " in " << name << ", got " << number;
  return success();
}

/// One block that takes values of types `arguments` and ends by returning values of types
/// `results`.
static LogicalResult verifyBody(Operation *op, StringRef name, Region &region, TypeRange arguments,
                                TypeRange results) {
  Block &block = region.front();
  if (block.getArgumentTypes() != arguments)
    return op->emitOpError() << "expected " << name << " to take (" << arguments << "), got ("
                             << block.getArgumentTypes() << ")";
  auto end = block.empty() ? ReturnOp() : dyn_cast<ReturnOp>(block.back());
  if (!end)
    return op->emitOpError() << "expected " << name << " to end with stablehlo.return";
  if (end.getOperandTypes() != results)
    return op->emitOpError() << "expected " << name << " to return (" << results << "), got ("
                             << end.getOperandTypes() << ")";
  return success();
}

LogicalResult verifyCombiner(Operation *op, StringRef name, Region &region, ValueRange values) {
  SmallVector<Type> results = llvm::map_to_vector(values, [](Value v) { return scalarOf(v); });
  SmallVector<Type> arguments = results;
  llvm::append_range(arguments, results);
  return verifyBody(op, name, region, arguments, results);
}

/// Values of one shape, and a rank-0 value of the element type of each.
static LogicalResult verifyInputs(Operation *op, ValueRange inputs, ValueRange inits) {
  if (inputs.empty())
    return op->emitOpError("expected an operand at least");
  for (auto [input, init] : llvm::zip_equal(inputs, inits)) {
    if (typeOf(input).getShape() != typeOf(inputs.front()).getShape())
      return op->emitOpError() << "expected operands of one shape, got " << inputs.front().getType()
                               << " and " << input.getType();
    if (init.getType() != scalarOf(input))
      return op->emitOpError() << "expected an initial value of type " << scalarOf(input)
                               << ", got " << init.getType();
  }
  return success();
}

LogicalResult verifyResults(Operation *op, TypeRange expected) {
  if (op->getResultTypes() == expected)
    return success();
  return op->emitOpError() << "expected results of types (" << expected << "), got ("
                           << op->getResultTypes() << ")";
}

/// The type with what quantized numbers stand for in their place.
static Type withoutScales(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  auto quantized = tensor ? dyn_cast<quant::QuantizedType>(tensor.getElementType()) : nullptr;
  return quantized ? tensor.clone(quantized.getExpressedType()) : type;
}

LogicalResult verifySameTypeButScales(Operation *op) {
  Type first = withoutScales(op->getResult(0).getType());
  for (Type type : op->getOperandTypes())
    if (withoutScales(type) != first)
      return op->emitOpError("requires the same type for all operands and results");
  return success();
}

//===----------------------------------------------------------------------===//
// Elementwise, shapes and movement
//===----------------------------------------------------------------------===//

LogicalResult ClampOp::verify() {
  for (Value bound : {getMin(), getMax()})
    if (bound.getType() != getOperand().getType() && bound.getType() != scalarOf(getOperand()))
      return emitOpError() << "expected bounds of type " << getOperand().getType() << " or "
                           << scalarOf(getOperand()) << ", got " << bound.getType();
  return verifyResults(*this, getOperand().getType());
}

LogicalResult SelectOp::verify() {
  auto pred = typeOf(getPred());
  if (!pred.getElementType().isInteger(1) ||
      (pred.getRank() != 0 && pred.getShape() != typeOf(getOnTrue()).getShape()))
    return emitOpError() << "expected one predicate, or one for each element of "
                         << getOnTrue().getType() << ", got " << pred;
  if (getOnTrue().getType() != getOnFalse().getType())
    return emitOpError() << "expected values of one type, got " << getOnTrue().getType() << " and "
                         << getOnFalse().getType();
  return verifyResults(*this, getOnTrue().getType());
}

LogicalResult MapOp::verify() {
  SmallVector<Type> arguments;
  for (Value input : getInputs()) {
    if (typeOf(input).getShape() != typeOf(getResult()).getShape())
      return emitOpError() << "expected operands of the result's shape, got " << input.getType()
                           << " and " << getResult().getType();
    arguments.push_back(scalarOf(input));
  }
  if (arguments.empty())
    return emitOpError("expected an operand at least");
  return verifyBody(*this, "the computation", getComputation(), arguments, scalarOf(getResult()));
}

LogicalResult ConstantOp::verify() { return verifyResults(*this, getValue().getShapedType()); }

LogicalResult SliceOp::verify() {
  int64_t rank = typeOf(getOperand()).getRank();
  return failure(
      failed(verifyLength(*this, "start_indices", getNumbers(getStartIndices()), rank)) ||
      failed(verifyLength(*this, "limit_indices", getNumbers(getLimitIndices()), rank)) ||
      failed(verifyLength(*this, "strides", getNumbers(getStrides()), rank)) ||
      failed(verifyBounds(*this, "start_indices", getNumbers(getStartIndices()), 0)) ||
      failed(verifyBounds(*this, "limit_indices", getNumbers(getLimitIndices()), 0)) ||
      failed(verifyBounds(*this, "strides", getNumbers(getStrides()), 1)));
}

LogicalResult PadOp::verify() {
  auto type = typeOf(getOperand());
  SmallVector<int64_t> low = getNumbers(getEdgePaddingLow()),
                       high = getNumbers(getEdgePaddingHigh()),
                       interior = getNumbers(getInteriorPadding());
  if (failed(verifyLength(*this, "low", low, type.getRank())) ||
      failed(verifyLength(*this, "high", high, type.getRank())) ||
      failed(verifyLength(*this, "interior", interior, type.getRank())) ||
      failed(verifyBounds(*this, "low", low, -kMostNumber)) ||
      failed(verifyBounds(*this, "high", high, -kMostNumber)) ||
      failed(verifyBounds(*this, "interior", interior, 0)))
    return failure();
  if (getPaddingValue().getType() != scalarOf(getOperand()))
    return emitOpError() << "expected a padding value of type " << scalarOf(getOperand())
                         << ", got " << getPaddingValue().getType();
  if (!type.hasStaticShape())
    return success();
  SmallVector<int64_t> shape;
  for (auto [dim, size] : llvm::enumerate(type.getShape())) {
    if (size > kMostNumber)
      return emitOpError() << "expected sizes of at most " << kMostNumber << ", got " << type;
    WindowDim window;
    window.baseDilation = interior[dim] + 1;
    shape.push_back(window.getDilatedSize(size) + low[dim] + high[dim]);
    if (shape.back() < 0)
      return emitOpError() << "expected a result of size 0 or more in dim " << dim << ", got "
                           << shape.back();
  }
  return verifyResults(*this, Type(type.clone(shape)));
}

LogicalResult DynamicSliceOp::verify() {
  int64_t rank = typeOf(getOperand()).getRank();
  if (static_cast<int64_t>(getStartIndices().size()) != rank)
    return emitOpError() << "expected " << rank << " start indices, got "
                         << getStartIndices().size();
  SmallVector<int64_t> sizes = getNumbers(getSliceSizes());
  if (failed(verifyLength(*this, "slice_sizes", sizes, rank)) ||
      failed(verifyBounds(*this, "slice_sizes", sizes, 0)))
    return failure();
  return verifyResults(*this, Type(typeOf(getOperand()).clone(sizes)));
}

//===----------------------------------------------------------------------===//
// Products and windows
//===----------------------------------------------------------------------===//

LogicalResult DotGeneralOp::verify() {
  auto lhs = typeOf(getLhs()), rhs = typeOf(getRhs());
  RecordAttr dims = getDotDimensionNumbers();
  SmallVector<int64_t> lists[2];
  for (StringRef name : {"batching", "contracting"}) {
    ArrayRef<int64_t> left = dims.getList(("lhs_" + name + "_dimensions").str()),
                      right = dims.getList(("rhs_" + name + "_dimensions").str());
    if (left.size() != right.size())
      return emitOpError() << "expected as many " << name << " dims of both operands, got "
                           << left.size() << " and " << right.size();
    llvm::append_range(lists[0], left);
    llvm::append_range(lists[1], right);
  }
  if (failed(verifyDims(*this, "the dims of the left operand", lists[0], lhs.getRank())) ||
      failed(verifyDims(*this, "the dims of the right operand", lists[1], rhs.getRank())))
    return failure();
  for (auto [left, right] : llvm::zip_equal(lists[0], lists[1]))
    if (lhs.getDimSize(left) != rhs.getDimSize(right))
      return emitOpError() << "expected paired dims of one size, got " << lhs.getDimSize(left)
                           << " and " << rhs.getDimSize(right);
  return success();
}

LogicalResult ConvolutionOp::verify() {
  int64_t spatial = static_cast<int64_t>(getDimensionNumbers().getInput().size()) - 2;
  for (Value value : {getLhs(), getRhs(), getResult()})
    if (typeOf(value).getRank() != spatial + 2)
      return emitOpError() << "expected tensors of rank " << spatial + 2 << ", got "
                           << value.getType();
  auto verifyList = [&](StringRef name, std::optional<Attribute> list, int64_t least) {
    SmallVector<int64_t> numbers = getNumbers(list.value_or(Attribute()), spatial, 1);
    return success(succeeded(verifyLength(*this, name, numbers, spatial)) &&
                   succeeded(verifyBounds(*this, name, numbers, least)));
  };
  if (failed(verifyList("window_strides", getWindowStrides(), 1)) ||
      failed(verifyList("lhs_dilation", getLhsDilation(), 1)) ||
      failed(verifyList("rhs_dilation", getRhsDilation(), 1)))
    return failure();
  SmallVector<int64_t> padding = getNumbers(getPaddingAttr(), 2 * spatial, 0);
  if (failed(verifyLength(*this, "padding", padding, 2 * spatial)) ||
      failed(verifyBounds(*this, "padding", padding, -kMostNumber)))
    return failure();
  if (Attribute flags = getWindowReversalAttr())
    if (static_cast<int64_t>(getFlags(flags).size()) != spatial)
      return emitOpError() << "expected " << spatial << " flags in window_reversal, got "
                           << getFlags(flags).size();
  return success();
}

LogicalResult ReduceOp::verify() {
  SmallVector<int64_t> dims = getNumbers(getDimensions());
  if (failed(verifyInputs(*this, getInputs(), getInitValues())) ||
      failed(verifyDims(*this, "dimensions", dims, typeOf(getInputs().front()).getRank())) ||
      failed(verifyCombiner(*this, "the body", getBody(), getInputs())))
    return failure();
  SmallVector<Type> results;
  for (Value input : getInputs()) {
    SmallVector<int64_t> shape;
    for (auto [dim, size] : llvm::enumerate(typeOf(input).getShape()))
      if (!llvm::is_contained(dims, dim))
        shape.push_back(size);
    results.push_back(typeOf(input).clone(shape));
  }
  return verifyResults(*this, results);
}

/// The window's lists, and the size of what comes out.
static FailureOr<SmallVector<int64_t>> verifyWindow(Operation *op, RankedTensorType type,
                                                    ArrayRef<WindowDim> window) {
  for (const WindowDim &dim : window)
    if (failed(verifyBounds(op, "the window",
                            {dim.size, dim.stride, dim.baseDilation, dim.dilation}, 1)) ||
        failed(verifyBounds(op, "padding", {dim.low, dim.high}, -kMostNumber)))
      return failure();
  SmallVector<int64_t> shape;
  for (auto [size, dim] : llvm::zip_equal(type.getShape(), window)) {
    if (size > kMostNumber)
      return op->emitOpError() << "expected sizes of at most " << kMostNumber << ", got " << type;
    shape.push_back(ShapedType::isDynamic(size) ? size : dim.getResultSize(size));
  }
  return shape;
}

static LogicalResult verifyWindowLists(Operation *op, int64_t rank,
                                       ArrayRef<std::pair<StringRef, Attribute>> lists,
                                       Attribute padding) {
  for (auto [name, list] : lists)
    if (list && failed(verifyLength(op, name, getNumbers(list), rank)))
      return failure();
  if (padding)
    return verifyLength(op, "padding", getNumbers(padding), 2 * rank);
  return success();
}

LogicalResult ReduceWindowOp::verify() {
  if (getInputs().empty() || getInputs().size() % 2 != 0)
    return emitOpError() << "expected operands and an initial value for each, got "
                         << getInputs().size() << " values";
  size_t count = getInputs().size() / 2;
  ValueRange inputs = getInputs().take_front(count);
  if (failed(verifyInputs(*this, inputs, getInputs().take_back(count))) ||
      failed(verifyCombiner(*this, "the body", getBody(), inputs)))
    return failure();
  auto type = typeOf(inputs.front());
  if (failed(verifyWindowLists(*this, type.getRank(),
                               {{"window_dimensions", getWindowDimensions()},
                                {"window_strides", getWindowStridesAttr()},
                                {"base_dilations", getBaseDilationsAttr()},
                                {"window_dilations", getWindowDilationsAttr()}},
                               getPaddingAttr())))
    return failure();
  FailureOr<SmallVector<int64_t>> shape = verifyWindow(*this, type, getWindow(*this));
  if (failed(shape))
    return failure();
  return verifyResults(*this, llvm::map_to_vector(inputs, [&](Value input) -> Type {
    return typeOf(input).clone(*shape);
  }));
}

LogicalResult SelectAndScatterOp::verify() {
  auto type = typeOf(getOperand());
  if (failed(verifyInputs(*this, getOperand(), getInitValue())) ||
      failed(verifyWindowLists(*this, type.getRank(),
                               {{"window_dimensions", getWindowDimensionsAttr()},
                                {"window_strides", getWindowStridesAttr()}},
                               getPaddingAttr())))
    return failure();
  FailureOr<SmallVector<int64_t>> shape = verifyWindow(*this, type, getWindow(*this));
  if (failed(shape))
    return failure();
  if (getSource().getType() != type.clone(*shape))
    return emitOpError() << "expected a source of type " << type.clone(*shape) << ", got "
                         << getSource().getType();
  Type scalar = scalarOf(getOperand());
  Type truth = RankedTensorType::get({}, IntegerType::get(getContext(), 1));
  if (failed(verifyBody(*this, "select", getSelect(), {scalar, scalar}, truth)) ||
      failed(verifyBody(*this, "scatter", getScatter(), {scalar, scalar}, scalar)))
    return failure();
  return verifyResults(*this, Type(type));
}

//===----------------------------------------------------------------------===//
// Control and order
//===----------------------------------------------------------------------===//

static Type getTruthType(MLIRContext *context) {
  return RankedTensorType::get({}, IntegerType::get(context, 1));
}

LogicalResult WhileOp::verify() {
  if (failed(verifyBody(*this, "cond", getCond(), getOperandTypes(), getTruthType(getContext()))) ||
      failed(verifyBody(*this, "body", getBody(), getOperandTypes(), getOperandTypes())))
    return failure();
  return verifyResults(*this, getOperandTypes());
}

LogicalResult CaseOp::verify() {
  if (getBranches().empty())
    return emitOpError("expected a branch at least");
  if (getIndex().getType() != RankedTensorType::get({}, IntegerType::get(getContext(), 32)))
    return emitOpError() << "expected an index of type tensor<i32>, got " << getIndex().getType();
  for (Region &branch : getBranches())
    if (failed(verifyBody(*this, "each branch", branch, {}, getResultTypes())))
      return failure();
  return success();
}

LogicalResult IfOp::verify() {
  if (getPred().getType() != getTruthType(getContext()))
    return emitOpError() << "expected a predicate of type tensor<i1>, got " << getPred().getType();
  for (Region *branch : getRegions())
    if (failed(verifyBody(*this, "each branch", *branch, {}, getResultTypes())))
      return failure();
  return success();
}

/// The type of one slice of `type` along dim `dim`, without that dim.
static Type sliceAlong(Type type, int64_t dim) {
  auto tensor = cast<RankedTensorType>(type);
  SmallVector<int64_t> shape(tensor.getShape());
  shape.erase(shape.begin() + dim);
  return tensor.clone(shape);
}

/// What `chlo.scan` slices has its dim, with one size; its body takes slices and what was carried.
static LogicalResult verifyScan(chlo::ScanOp op) {
  std::optional<IntegerAttr> steps = op.getScanDimSize();
  for (IntegerAttr number : {op.getDimension(), steps.value_or(op.getDimension())})
    if (!number.getType().isSignlessInteger(64))
      return op.emitOpError() << "expected numbers of type i64, got " << number;
  int64_t dim = op.getDimension().getInt();
  SmallVector<Type> arguments, results;
  std::optional<int64_t> size;
  for (auto [values, slices] : {std::pair(ValueRange(op.getInputs()), &arguments),
                                std::pair(ValueRange(op.getOutputs()), &results)})
    for (Value value : values) {
      int64_t rank = typeOf(value).getRank();
      if (failed(verifyDims(op, "dimension", dim, rank)))
        return failure();
      int64_t found = typeOf(value).getDimSize(dim);
      if (found != size.value_or(found))
        return op.emitOpError() << "expected the size " << *size << " in dim " << dim
                                << " of all inputs and outputs, got " << found;
      size = found;
      slices->push_back(sliceAlong(value.getType(), dim));
    }
  if (!size && (!steps || steps->getInt() < 0))
    return op.emitOpError("expected scan_dim_size where nothing is sliced");
  llvm::append_range(arguments, op.getInits().getTypes());
  llvm::append_range(results, op.getInits().getTypes());
  if (op.getCarries().getTypes() != op.getInits().getTypes())
    return op.emitOpError() << "expected carries of types (" << op.getInits().getTypes()
                            << "), got (" << op.getCarries().getTypes() << ")";
  return verifyBody(op, "body", op.getBody(), arguments, results);
}

LogicalResult SortOp::verify() {
  if (getInputs().empty())
    return emitOpError("expected an operand at least");
  int64_t rank = typeOf(getInputs().front()).getRank();
  if (int64_t dim = getDimension(); dim < -rank || dim >= rank)
    return emitOpError() << "expected a dimension in [" << -rank << ", " << rank << "), got "
                         << dim;
  SmallVector<Type> arguments;
  for (Value input : getInputs()) {
    if (typeOf(input).getShape() != typeOf(getInputs().front()).getShape())
      return emitOpError() << "expected operands of one shape, got "
                           << getInputs().front().getType() << " and " << input.getType();
    arguments.append(2, scalarOf(input));
  }
  if (failed(verifyBody(*this, "the comparator", getComparator(), arguments,
                        getTruthType(getContext()))))
    return failure();
  return verifyResults(*this, getInputs().getTypes());
}

LogicalResult OptimizationBarrierOp::verify() {
  return verifyResults(*this, getInputs().getTypes());
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

int64_t WindowDim::getResultSize(int64_t input) const {
  int64_t padded = getDilatedSize(input) + low + high, extent = array::spreadKnown(size, dilation);
  return padded < extent ? 0 : (padded - extent) / stride + 1;
}

static SmallVector<WindowDim> makeWindow(int64_t rank, Attribute sizes, Attribute strides,
                                         Attribute baseDilations, Attribute dilations,
                                         Attribute padding) {
  SmallVector<int64_t> size = getNumbers(sizes, rank, 1), stride = getNumbers(strides, rank, 1),
                       base = getNumbers(baseDilations, rank, 1),
                       dilation = getNumbers(dilations, rank, 1),
                       pads = getNumbers(padding, 2 * rank, 0);
  SmallVector<WindowDim> window(rank);
  for (int64_t dim = 0; dim < rank; ++dim)
    window[dim] = {size[dim],         stride[dim], pads[2 * dim],
                   pads[2 * dim + 1], base[dim],   dilation[dim]};
  return window;
}

SmallVector<WindowDim> getWindow(ReduceWindowOp op) {
  return makeWindow(typeOf(op.getInputs().front()).getRank(), op.getWindowDimensions(),
                    op.getWindowStridesAttr(), op.getBaseDilationsAttr(),
                    op.getWindowDilationsAttr(), op.getPaddingAttr());
}

SmallVector<WindowDim> getWindow(SelectAndScatterOp op) {
  return makeWindow(typeOf(op.getOperand()).getRank(), op.getWindowDimensionsAttr(),
                    op.getWindowStridesAttr(), Attribute(), Attribute(), op.getPaddingAttr());
}

} // namespace xc::stablehlo

mlir::LogicalResult xc::chlo::ScanOp::verify() { return stablehlo::verifyScan(*this); }
