//===- NodeImport.cpp - One node of a model being imported ----------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Input/ONNX/NodeImport.h"

#include "compiler/Dialect/Array/IR/Sizes.h"
#include "compiler/Input/ONNX/GraphImport.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace xc::array;

namespace xc::onnx {

NodeImport::NodeImport(GraphImport &graph, const Node &node, int64_t version, Location loc)
    : node(node), graph(graph), version(version), builder(graph.getBuilder()), loc(loc) {}

Results NodeImport::error(const Twine &text) {
  if (message.empty())
    message = text.str();
  return {};
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

Value NodeImport::input(unsigned index) {
  if (!has(index)) {
    error("expected at least " + Twine(index + 1) + " inputs, got " + Twine(node.inputs.size()));
    return {};
  }
  GraphValue *value = graph.find(node.inputs[index]);
  if (!value) {
    error("input '" + node.inputs[index] + "' is computed by no node before this one");
    return {};
  }
  if (value->isSequence) {
    error("input '" + node.inputs[index] + "' is a sequence; expected a tensor");
    return {};
  }
  return graph.materialize(*value, loc);
}

static DenseElementsAttr getConstantElements(Value value) {
  DenseElementsAttr elements;
  if (value && matchPattern(value, m_Constant(&elements)))
    return elements;
  return {};
}

/// More are no shape, and would only make importing slow.
static constexpr int64_t kMostNumbers = 4096, kMostOfArray = 64;

std::optional<NumberArray> NodeImport::numberArray(unsigned index) {
  if (!has(index))
    return std::nullopt;
  GraphValue *value = graph.find(node.inputs[index]);
  if (!value || value->isSequence)
    return std::nullopt;
  if (value->known)
    return value->known;
  DenseElementsAttr elements = getConstantElements(value->tensor);
  if (!elements || !isa<IntegerType>(elements.getElementType()))
    return std::nullopt;
  bool isList = elements.getType().getRank() <= 1;
  if (elements.getNumElements() > (isList ? kMostNumbers : kMostOfArray))
    return std::nullopt;
  NumberArray known{
      {}, SmallVector<int64_t>(elements.getType().getShape()), elementOf(value->tensor)};
  bool isUnsigned =
      elements.getElementType().isUnsignedInteger() || elements.getElementType().isInteger(1);
  for (const APInt &element : elements.getValues<APInt>())
    known.numbers.push_back(
        this->index(isUnsigned ? int64_t(element.getZExtValue()) : element.getSExtValue()));
  return known;
}

std::optional<Numbers> NodeImport::numbers(unsigned index) {
  std::optional<NumberArray> known = numberArray(index);
  return known && known->shape.size() <= 1 ? std::optional(known->numbers) : std::nullopt;
}

std::optional<SmallVector<int64_t>> NodeImport::integers(unsigned index) {
  std::optional<Numbers> known = numbers(index);
  return known ? getConstantIntValues(*known) : std::nullopt;
}

std::optional<SmallVector<double>> NodeImport::floats(unsigned index) {
  if (!has(index))
    return std::nullopt;
  GraphValue *value = graph.find(node.inputs[index]);
  DenseElementsAttr elements =
      value && !value->isSequence ? getConstantElements(value->tensor) : DenseElementsAttr();
  if (!elements || !isa<FloatType>(elements.getElementType()) ||
      elements.getNumElements() > kMostNumbers)
    return std::nullopt;
  SmallVector<double> numbers;
  for (APFloat element : elements.getValues<APFloat>()) {
    bool losesInfo;
    element.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &losesInfo);
    numbers.push_back(element.convertToDouble());
  }
  return numbers;
}

static std::string describeUnknown(StringRef what, const Node &node, unsigned index) {
  std::string name = index < node.inputs.size() ? node.inputs[index] : std::string();
  return ("expected " + what + ", input '" + name +
          "', to be known before anything runs: a constant (--fix-input makes an input one), or "
          "computed from shapes")
      .str();
}

Numbers NodeImport::needNumbers(unsigned index, StringRef what) {
  input(index);
  if (std::optional<Numbers> known = numbers(index))
    return *known;
  error(describeUnknown(what, node, index));
  return {};
}

SmallVector<int64_t> NodeImport::needIntegers(unsigned index, StringRef what) {
  input(index);
  if (std::optional<SmallVector<int64_t>> known = integers(index))
    return *known;
  error(describeUnknown(what, node, index));
  return {};
}

SmallVector<double> NodeImport::needFloats(unsigned index, StringRef what) {
  input(index);
  if (std::optional<SmallVector<double>> known = floats(index))
    return *known;
  error(describeUnknown(what, node, index));
  return {};
}

int64_t NodeImport::needInteger(unsigned index, StringRef what) {
  SmallVector<int64_t> known = needIntegers(index, what);
  if (known.size() == 1)
    return known.front();
  error("expected " + what + " to be one number, got " + Twine(known.size()));
  return 0;
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

int64_t NodeImport::integer(StringRef name, int64_t otherwise) {
  const Attribute *attribute = node.find(name);
  if (!attribute)
    return otherwise;
  if (attribute->kind != Attribute::Int)
    error("expected attribute '" + name + "' to be an integer");
  return attribute->integer;
}

double NodeImport::number(StringRef name, double otherwise) {
  const Attribute *attribute = node.find(name);
  if (!attribute)
    return otherwise;
  if (attribute->kind != Attribute::Float)
    error("expected attribute '" + name + "' to be a float");
  return attribute->number;
}

std::string NodeImport::text(StringRef name, StringRef otherwise) {
  const Attribute *attribute = node.find(name);
  if (!attribute)
    return otherwise.str();
  if (attribute->kind != Attribute::String)
    error("expected attribute '" + name + "' to be a string");
  return attribute->text;
}

SmallVector<int64_t> NodeImport::integerList(StringRef name, ArrayRef<int64_t> otherwise) {
  const Attribute *attribute = node.find(name);
  if (!attribute)
    return SmallVector<int64_t>(otherwise);
  if (attribute->kind != Attribute::Ints)
    error("expected attribute '" + name + "' to be a list of integers");
  return SmallVector<int64_t>(attribute->integers.begin(), attribute->integers.end());
}

SmallVector<double> NodeImport::numberList(StringRef name) {
  const Attribute *attribute = node.find(name);
  if (!attribute)
    return {};
  if (attribute->kind != Attribute::Floats)
    error("expected attribute '" + name + "' to be a list of floats");
  return SmallVector<double>(attribute->numbers.begin(), attribute->numbers.end());
}

std::vector<std::string> NodeImport::textList(StringRef name) {
  const Attribute *attribute = node.find(name);
  if (!attribute)
    return {};
  if (attribute->kind != Attribute::Strings)
    error("expected attribute '" + name + "' to be a list of strings");
  return attribute->texts;
}

const Tensor *NodeImport::tensor(StringRef name) {
  const Attribute *attribute = node.find(name);
  return attribute && attribute->tensor ? attribute->tensor.get() : nullptr;
}

const Graph *NodeImport::subgraph(StringRef name) {
  const Attribute *attribute = node.find(name);
  if (attribute && attribute->graph)
    return attribute->graph.get();
  error("expected a graph as attribute '" + name + "'");
  return nullptr;
}

int64_t NodeImport::axis(StringRef name, int64_t otherwise, int64_t rank) {
  return normalizeAxis(integer(name, otherwise), rank);
}

int64_t NodeImport::normalizeAxis(int64_t axis, int64_t rank) {
  int64_t positive = axis < 0 ? axis + rank : axis;
  if (positive >= 0 && positive < rank)
    return positive;
  error("axis " + Twine(axis) + " is no dim of a tensor of rank " + Twine(rank));
  return 0;
}

SmallVector<int64_t> NodeImport::normalizeAxes(ArrayRef<int64_t> axes, int64_t rank) {
  SmallVector<int64_t> result;
  for (int64_t axis : axes)
    result.push_back(normalizeAxis(axis, rank));
  llvm::sort(result);
  if (std::adjacent_find(result.begin(), result.end()) != result.end())
    error("an axis is given twice");
  return result;
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

RankedTensorType NodeImport::typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

SmallVector<int64_t> NodeImport::shapeOf(Value value) {
  return value ? SmallVector<int64_t>(typeOf(value).getShape()) : SmallVector<int64_t>();
}

int64_t NodeImport::dimOf(Value value, int64_t dim) {
  return dim >= 0 && dim < rankOf(value) ? typeOf(value).getDimSize(dim) : 1;
}

Type NodeImport::elementOf(Value value) const {
  return value ? typeOf(value).getElementType() : Type(builder.getF32Type());
}

Type NodeImport::elementType(int32_t dataType) {
  if (std::optional<Type> type = graph.getElementType(dataType))
    return *type;
  error("elements of " + getTypeName(dataType) + " are not supported");
  return builder.getF32Type();
}

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

Results NodeImport::infer(OperationState &state, ArrayRef<Type> elements) {
  SmallVector<Type> types;
  auto *interface = state.name.getInterface<InferTypeOpInterface>();
  assert(interface && "expected an op that infers its types");
  // Inference reports to the context; here its text becomes the node's.
  ScopedDiagnosticHandler handler(getContext(), [&](Diagnostic &diagnostic) {
    error(diagnostic.str());
    return success();
  });
  if (failed(interface->inferReturnTypes(getContext(), loc, state.operands,
                                         state.attributes.getDictionary(getContext()),
                                         state.getRawProperties(), state.regions, types))) {
    error("'" + state.name.getStringRef() + "' takes no such operands");
    return {};
  }
  for (auto [type, element] : llvm::zip(types, elements))
    type = cast<RankedTensorType>(type).clone(element);
  state.types.assign(types.begin(), types.end());
  return finish(state);
}

Results NodeImport::finish(OperationState &state) {
  for (Type type : state.types)
    for (int64_t dim : cast<RankedTensorType>(type).getShape())
      if (!ShapedType::isDynamic(dim) && (dim < 0 || dim > kMostElements)) {
        error("a dim of size " + Twine(dim) + " comes out");
        return {};
      }
  Operation *op = builder.create(state);
  ScopedDiagnosticHandler handler(getContext(), [&](Diagnostic &diagnostic) {
    error(diagnostic.str());
    return success();
  });
  if (failed(verify(op, /*verifyRecursively=*/false))) {
    error("'" + state.name.getStringRef() + "' takes no such operands");
    op->erase();
    return {};
  }
  SmallVector<Value> folded;
  // Nothing comes out where the op was folded in place.
  if (op->getNumResults() == 1 && succeeded(builder.tryFold(op, folded)) && !folded.empty() &&
      folded.front() != op->getResult(0)) {
    op->erase();
    return {folded.front()};
  }
  return Results(op->getResults());
}

Value NodeImport::scalar(double value, Type element) {
  auto type = RankedTensorType::get({}, element);
  mlir::Attribute attribute =
      isa<FloatType>(element) ? mlir::Attribute(builder.getFloatAttr(element, value))
                              : mlir::Attribute(builder.getIntegerAttr(element, int64_t(value)));
  return ConstantOp::create(builder, loc,
                            cast<ElementsAttr>(DenseElementsAttr::get(type, attribute)));
}

Value NodeImport::constant(ArrayRef<int64_t> values, Type element,
                           std::optional<ArrayRef<int64_t>> shape) {
  auto type =
      RankedTensorType::get(shape ? *shape : ArrayRef<int64_t>(int64_t(values.size())), element);
  SmallVector<mlir::Attribute> attributes;
  for (int64_t value : values)
    attributes.push_back(isa<FloatType>(element)
                             ? mlir::Attribute(builder.getFloatAttr(element, double(value)))
                             : mlir::Attribute(builder.getIntegerAttr(element, value)));
  return ConstantOp::create(builder, loc,
                            cast<ElementsAttr>(DenseElementsAttr::get(type, attributes)));
}

Value NodeImport::constantFloats(ArrayRef<double> values, Type element,
                                 std::optional<ArrayRef<int64_t>> shape) {
  auto type =
      RankedTensorType::get(shape ? *shape : ArrayRef<int64_t>(int64_t(values.size())), element);
  SmallVector<mlir::Attribute> attributes;
  for (double value : values)
    attributes.push_back(builder.getFloatAttr(element, value));
  return ConstantOp::create(builder, loc,
                            cast<ElementsAttr>(DenseElementsAttr::get(type, attributes)));
}

Value NodeImport::convert(Value value, Type element) {
  if (!value || elementOf(value) == element)
    return value;
  return makeTyped<ConvertOp>(typeOf(value).clone(element), value);
}

Value NodeImport::widen(Value value) {
  Type element = elementOf(value);
  return element.isF16() || element.isBF16() ? convert(value, builder.getF32Type()) : value;
}

Value NodeImport::reduce(ReduceKind kind, Value value, ArrayRef<int64_t> axes, bool keepdims) {
  if (axes.empty())
    return value;
  return make<ReduceOp>(kind, value, axes, keepdims);
}

Value NodeImport::transpose(Value value, ArrayRef<int64_t> permutation) {
  if (llvm::equal(permutation, llvm::seq<int64_t>(0, permutation.size())))
    return value;
  return make<TransposeOp>(value, permutation);
}

Value NodeImport::expandDims(Value value, ArrayRef<int64_t> axes) {
  return axes.empty() ? value : make<ExpandDimsOp>(value, axes);
}

Value NodeImport::squeeze(Value value, ArrayRef<int64_t> axes) {
  return axes.empty() ? value : make<SqueezeOp>(value, axes);
}

Value NodeImport::concatenate(ArrayRef<Value> values, int64_t axis) {
  if (values.size() == 1)
    return values.front();
  if (isNull(values))
    return {};
  return make<ConcatenateOp>(ValueRange(values), uint64_t(axis));
}

Value NodeImport::slice(Value value, int64_t axis, int64_t start, std::optional<int64_t> limit,
                        int64_t step) {
  if (!value)
    return {};
  SmallVector<int64_t> starts(rankOf(value), 0), limits(shapeOf(value)), steps(rankOf(value), 1);
  starts[axis] = start;
  if (limit)
    limits[axis] = *limit;
  steps[axis] = step;
  return make<SliceOp>(value, ArrayRef<int64_t>(starts), ArrayRef<int64_t>(limits),
                       ArrayRef<int64_t>(steps));
}

Value NodeImport::pad(Value value, Value with, ArrayRef<int64_t> low, ArrayRef<int64_t> high) {
  SmallVector<int64_t> before, after;
  for (auto [dim, first, last] : llvm::enumerate(low, high)) {
    if (std::max(std::abs(first), std::abs(last)) > kMostAmount)
      error("padding by " + Twine(first) + " and " + Twine(last) + " is too much");
    int64_t size = dimOf(value, dim);
    if (first < 0 || last < 0) {
      if (ShapedType::isDynamic(size)) {
        error("padding that cuts a dim of dynamic size is not supported");
        return {};
      }
      value = slice(value, dim, std::max<int64_t>(-first, 0), size - std::max<int64_t>(-last, 0));
    }
    before.push_back(std::max<int64_t>(first, 0));
    after.push_back(std::max<int64_t>(last, 0));
  }
  if (llvm::all_of(before, [](int64_t n) { return n == 0; }) &&
      llvm::all_of(after, [](int64_t n) { return n == 0; }))
    return value;
  return make<PadOp>(value, with, ArrayRef<int64_t>(before), ArrayRef<int64_t>(after),
                     DenseI64ArrayAttr());
}

Value NodeImport::reverse(Value value, ArrayRef<int64_t> axes) {
  return make<ReverseOp>(value, axes);
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

OpFoldResult NodeImport::size(Value value, int64_t dim) {
  return value && dim < rankOf(value) ? graph.getSize(value, dim, loc) : index(1);
}

Numbers NodeImport::sizesOf(Value value) {
  Numbers sizes;
  for (int64_t dim = 0; dim < rankOf(value); ++dim)
    sizes.push_back(size(value, dim));
  return sizes;
}

RankedTensorType NodeImport::typeFor(ArrayRef<OpFoldResult> sizes, Type element,
                                     SmallVectorImpl<Value> &dynamic) {
  SmallVector<int64_t> shape;
  for (OpFoldResult size : sizes) {
    std::optional<int64_t> known = getConstantIntValue(size);
    if (known && (*known < 0 || *known > kMostElements)) {
      error("a dim of size " + Twine(*known) + " comes out");
      known = 0;
    }
    shape.push_back(known.value_or(ShapedType::kDynamic));
    if (!known)
      dynamic.push_back(cast<Value>(size));
  }
  return RankedTensorType::get(shape, element);
}

Value NodeImport::reshape(Value value, ArrayRef<OpFoldResult> sizes) {
  if (!value || Numbers(sizes) == sizesOf(value))
    return value;
  SmallVector<Value> dynamic;
  RankedTensorType type = typeFor(sizes, elementOf(value), dynamic);
  if (type.hasStaticShape() && isStatic(value) &&
      mulSizes(type.getShape()) != mulSizes(shapeOf(value))) {
    error("a tensor of shape " + formatDims(shapeOf(value)) + " cannot have shape " +
          formatDims(type.getShape()));
    return {};
  }
  return makeTyped<ReshapeOp>(type, value, ValueRange(dynamic));
}

Value NodeImport::reshape(Value value, ArrayRef<int64_t> sizes) {
  Numbers numbers;
  for (int64_t size : sizes)
    numbers.push_back(index(size));
  return reshape(value, numbers);
}

Value NodeImport::broadcast(Value value, ArrayRef<OpFoldResult> sizes) {
  int64_t added = int64_t(sizes.size()) - rankOf(value);
  if (added < 0) {
    error("a tensor of rank " + Twine(rankOf(value)) + " cannot be broadcast to rank " +
          Twine(sizes.size()));
    return {};
  }
  SmallVector<int64_t> axes;
  for (int64_t dim = 0; dim < rankOf(value); ++dim)
    axes.push_back(added + dim);
  return broadcastAlong(value, sizes, axes);
}

Value NodeImport::broadcastAlong(Value value, ArrayRef<OpFoldResult> sizes,
                                 ArrayRef<int64_t> axes) {
  if (!value || Numbers(sizes) == sizesOf(value))
    return value;
  SmallVector<Value> dynamic;
  RankedTensorType type = typeFor(sizes, elementOf(value), dynamic);
  return makeTyped<BroadcastInDimOp>(type, value, ValueRange(dynamic), axes);
}

Value NodeImport::iota(ArrayRef<OpFoldResult> sizes, int64_t axis, Type element) {
  SmallVector<Value> dynamic;
  RankedTensorType type = typeFor(sizes, element, dynamic);
  return makeTyped<IotaOp>(type, ValueRange(dynamic), uint64_t(axis));
}

Value NodeImport::dynamicSlice(Value value, ArrayRef<Value> starts, ArrayRef<OpFoldResult> sizes) {
  if (!value || isNull(starts))
    return {};
  SmallVector<Value> dynamic;
  RankedTensorType type = typeFor(sizes, elementOf(value), dynamic);
  return makeTyped<DynamicSliceOp>(type, value, ValueRange(starts), ValueRange(dynamic));
}

Value NodeImport::scalarOf(OpFoldResult number, Type element) {
  if (std::optional<int64_t> known = getConstantIntValue(number))
    return constant(*known, element, ArrayRef<int64_t>());
  return FromIndexOp::create(builder, loc, RankedTensorType::get({}, element), cast<Value>(number));
}

void NodeImport::forgetSizes(Region &region) { graph.forgetSizes(region); }

GraphValue *NodeImport::value(unsigned index) {
  return has(index) ? graph.find(node.inputs[index]) : nullptr;
}

void NodeImport::setValue(unsigned output, GraphValue value) {
  if (wants(output))
    graph.bind(node.outputs[output], std::move(value));
}

void NodeImport::setNumbers(unsigned output, NumberArray known) {
  GraphValue value;
  value.known = std::move(known);
  setValue(output, std::move(value));
}

void NodeImport::setNumber(unsigned output, int64_t number, Type element) {
  setNumbers(output, {{index(number)}, {}, element});
}

} // namespace xc::onnx
