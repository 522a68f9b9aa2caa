//===- ImportONNX.cpp - ONNX models as array programs ---------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Makes the function: its arguments from the graph's inputs, with names and symbolic dims, its
// results from the outputs. Everything in between is GraphImport's.
//
//===----------------------------------------------------------------------===//

#include "compiler/Input/ONNX/ImportONNX.h"

#include "compiler/Dialect/Array/IR/ArrayOps.h"
#include "compiler/Dialect/Array/IR/AttributeNames.h"
#include "compiler/Dialect/Array/IR/Sizes.h"
#include "compiler/Input/ONNX/FixInputs.h"
#include "compiler/Input/ONNX/GraphImport.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace xc::onnx {

bool isAvailable() { return true; }

namespace {

/// Inputs that the caller binds: those that no weight gives.
struct Signature {
  SmallVector<Type> types;
  SmallVector<DictionaryAttr> attributes;
  SmallVector<Location> locations;
};

} // namespace

/// The type of an input. Symbolic dims go to `dims` by their names.
static FailureOr<RankedTensorType> getInputType(GraphImport &graph, const ValueInfo &input,
                                                SmallVectorImpl<mlir::Attribute> &dims) {
  OpBuilder &builder = graph.getBuilder();
  auto refuse = [&](const Twine &what) {
    graph.emitError() << "input '" << input.name << "' " << what.str();
    return failure();
  };
  if (input.kind != ValueInfo::TensorValue)
    return refuse("is no tensor; sequences, maps and optional values are not supported as inputs");
  std::optional<Type> element = graph.getElementType(input.dataType);
  if (!element)
    return refuse("has elements of " + getTypeName(input.dataType) + ", which are not supported");
  if (!input.hasShape)
    return refuse("has no shape; expected its rank at least");
  SmallVector<int64_t> shape;
  for (const Dim &dim : input.dims) {
    if (dim.size && (*dim.size < 0 || *dim.size > array::kMostElements))
      return refuse("has a dim of size " + Twine(*dim.size));
    shape.push_back(dim.size.value_or(ShapedType::kDynamic));
    dims.push_back(builder.getStringAttr(dim.size ? "" : dim.name));
  }
  return RankedTensorType::get(shape, *element);
}

static FailureOr<Signature> getSignature(GraphImport &graph, const Model &model) {
  OpBuilder &builder = graph.getBuilder();
  llvm::StringSet<> weights;
  for (const Tensor &tensor : model.graph.initializers)
    weights.insert(tensor.name);
  Signature signature;
  for (const ValueInfo &input : model.graph.inputs) {
    if (weights.contains(input.name))
      continue;
    SmallVector<mlir::Attribute> dims;
    FailureOr<RankedTensorType> type = getInputType(graph, input, dims);
    if (failed(type))
      return failure();
    NamedAttrList attributes;
    attributes.append(array::kNameAttr, builder.getStringAttr(input.name));
    auto isNamed = [](mlir::Attribute dim) { return !cast<StringAttr>(dim).empty(); };
    if (llvm::any_of(dims, isNamed))
      attributes.append(array::kDimsAttr, builder.getArrayAttr(dims));
    signature.types.push_back(*type);
    signature.attributes.push_back(attributes.getDictionary(builder.getContext()));
    signature.locations.push_back(NameLoc::get(builder.getStringAttr(input.name)));
  }
  return signature;
}

/// Whether an output is what the model declares; dims that only one of both knows do not count.
static LogicalResult checkOutput(GraphImport &graph, const ValueInfo &output, Value value) {
  if (output.kind != ValueInfo::TensorValue)
    return success();
  auto type = cast<RankedTensorType>(value.getType());
  std::optional<Type> element = graph.getElementType(output.dataType);
  if (element && *element != type.getElementType())
    return graph.emitError() << "output '" << output.name << "' is declared as "
                             << getTypeName(output.dataType) << ", but its node gives "
                             << type.getElementType();
  bool fits = !output.hasShape || int64_t(output.dims.size()) == type.getRank();
  if (fits && output.hasShape)
    for (auto [dim, size] : llvm::zip_equal(output.dims, type.getShape()))
      fits &= !dim.size || ShapedType::isDynamic(size) || *dim.size == size;
  if (fits)
    return success();
  std::string declared;
  for (const Dim &dim : output.dims)
    declared += (declared.empty() ? "" : ", ") + (dim.size ? std::to_string(*dim.size) : "?");
  return graph.emitError() << "output '" << output.name << "' is declared with shape [" << declared
                           << "], but its node gives " << array::formatDims(type.getShape());
}

OwningOpRef<ModuleOp> importModel(MLIRContext *context, StringRef bytes,
                                  const ImportOptions &options) {
  context->loadDialect<array::ArrayDialect, arith::ArithDialect, func::FuncDialect,
                       tensor::TensorDialect>();
  std::string problem;
  std::shared_ptr<Model> model = readModel(bytes, options.directory, problem);
  if (!model || !fixInputs(*model, options, problem)) {
    emitError(UnknownLoc::get(context)) << problem;
    return {};
  }
  OpBuilder builder(context);
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(context));
  GraphImport graph(model, builder, options);
  FailureOr<Signature> signature = getSignature(graph, *model);
  if (failed(signature))
    return {};
  builder.setInsertionPointToEnd(module->getBody());
  auto func = func::FuncOp::create(builder, builder.getUnknownLoc(), "main",
                                   builder.getFunctionType(signature->types, {}));
  Block *body = func.addEntryBlock();
  for (auto [argument, loc] : llvm::zip_equal(body->getArguments(), signature->locations))
    argument.setLoc(loc);
  builder.setInsertionPointToEnd(body);
  SmallVector<Value> arguments(body->getArguments());
  FailureOr<Results> outputs = graph.importMain(arguments);
  if (failed(outputs))
    return {};
  SmallVector<DictionaryAttr> resultAttributes;
  for (auto [output, value] : llvm::zip_equal(model->graph.outputs, *outputs)) {
    if (failed(checkOutput(graph, output, value)))
      return {};
    resultAttributes.push_back(builder.getDictionaryAttr(
        builder.getNamedAttr(array::kNameAttr, builder.getStringAttr(output.name))));
  }
  func::ReturnOp::create(builder, builder.getUnknownLoc(), *outputs);
  func.setType(builder.getFunctionType(signature->types, TypeRange(ValueRange(*outputs))));
  func.setAllArgAttrs(signature->attributes);
  func.setAllResultAttrs(resultAttributes);
  return module;
}

} // namespace xc::onnx
