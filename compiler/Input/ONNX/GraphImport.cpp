//===- GraphImport.cpp - ONNX graphs as array programs --------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Nodes come in an order in which each follows what it uses, as ONNX requires. Each is looked up in
// the tables of the op families, imported, and its outputs bound by name. What a node that is not
// supported would give is missing, and so is what depends on it; the import goes on with the
// others, so that one error names all nodes that are in the way.
//
//===----------------------------------------------------------------------===//

#include "compiler/Input/ONNX/GraphImport.h"

#include "compiler/Dialect/Array/IR/Sizes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace xc::array;

namespace xc::onnx {

/// Which operator sets are read; ops that had another meaning in old ones say so in their table.
static constexpr int64_t kOldestVersion = 1, kNewestVersion = 28;
/// Graphs in graphs, and functions that call functions.
static constexpr unsigned kMostNesting = 64;

GraphValue *Scope::find(StringRef name) {
  for (Scope *scope = this; scope; scope = scope->outer)
    if (auto it = scope->values.find(name); it != scope->values.end())
      return &it->second;
  return nullptr;
}

GraphImport::GraphImport(std::shared_ptr<Model> model, OpBuilder &builder,
                         const ImportOptions &options)
    : model(std::move(model)), builder(builder), options(options),
      operatorSets(&this->model->operatorSets) {}

InFlightDiagnostic GraphImport::emitError() {
  return mlir::emitError(UnknownLoc::get(getContext()));
}

std::optional<Type> GraphImport::getElementType(int32_t dataType) {
  switch (dataType) {
  case kBool:
    return builder.getI1Type();
  case kInt8:
    return builder.getI8Type();
  case kInt16:
    return builder.getI16Type();
  case kInt32:
    return builder.getI32Type();
  case kInt64:
    return builder.getI64Type();
  case kUInt8:
    return builder.getIntegerType(8, /*isSigned=*/false);
  case kUInt16:
    return builder.getIntegerType(16, /*isSigned=*/false);
  case kUInt32:
    return builder.getIntegerType(32, /*isSigned=*/false);
  case kUInt64:
    return builder.getIntegerType(64, /*isSigned=*/false);
  case kFloat16:
    return builder.getF16Type();
  case kBFloat16:
    return builder.getBF16Type();
  case kFloat:
    return builder.getF32Type();
  case kDouble:
    return builder.getF64Type();
  default:
    return std::nullopt;
  }
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Value GraphImport::materialize(GraphValue &value, Location loc) {
  if (value.tensor || !value.known)
    return value.tensor;
  const NumberArray &known = *value.known;
  // Behind what the numbers are made of, which may be a region further out.
  ExpressionBuilder e(builder, loc);
  if (known.shape.empty())
    return e.number(known.numbers.front(), known.element);
  auto type = RankedTensorType::get(known.shape, known.element);
  if (std::optional<SmallVector<int64_t>> constants = getConstantIntValues(known.numbers)) {
    SmallVector<mlir::Attribute> elements;
    for (int64_t number : *constants)
      elements.push_back(builder.getIntegerAttr(known.element, number));
    return e.make<ConstantOp>(cast<ElementsAttr>(DenseElementsAttr::get(type, elements)));
  }
  SmallVector<Value> parts;
  for (OpFoldResult number : known.numbers)
    parts.push_back(e.make<ReshapeOp>(RankedTensorType::get({1}, known.element),
                                      e.number(number, known.element), ValueRange()));
  Value list =
      parts.size() == 1 ? parts.front() : e.make<ConcatenateOp>(ValueRange(parts), uint64_t(0));
  return known.shape.size() == 1 ? list : e.make<ReshapeOp>(type, list, ValueRange());
}

std::string GraphImport::getDimName(Value value, int64_t dim) {
  DimSource source = traceSize(value, dim);
  if (auto size = source.size ? source.size.getDefiningOp<DimOp>() : DimOp())
    source = DimSource{size.getOperand(), int64_t(size.getAxis()), {}};
  auto argument = llvm::dyn_cast_if_present<BlockArgument>(source.value);
  auto loc = argument ? dyn_cast<NameLoc>(argument.getLoc()) : NameLoc();
  for (const ValueInfo &input : model->graph.inputs)
    if (loc && loc.getName() == input.name && source.dim < int64_t(input.dims.size()))
      return input.dims[source.dim].name;
  return "";
}

OpFoldResult GraphImport::getSize(Value value, int64_t dim, Location loc) {
  auto type = cast<RankedTensorType>(value.getType());
  if (!type.isDynamicDim(dim))
    return builder.getIndexAttr(type.getDimSize(dim));
  DimSource source = traceSize(value, dim);
  if (source.size)
    return getAsOpFoldResult(source.size);
  value = source.value;
  dim = source.dim;
  if (auto first = namesakes.find({value, dim}); first != namesakes.end())
    std::tie(value, dim) = first->second;
  Value &size = sizes[{value, dim}];
  if (size)
    return size;
  // Beside its tensor, so that whatever sees the one sees the other.
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfterValue(value);
  return size = DimOp::create(builder, loc, value, uint64_t(dim));
}

bool isWithin(Value value, Region &region) {
  Region *parent = value.getParentRegion();
  while (parent && parent != &region)
    parent = parent->getParentOp() ? parent->getParentOp()->getParentRegion() : nullptr;
  return parent != nullptr;
}

void GraphImport::forgetSizes(Region &region) {
  SmallVector<std::pair<Value, int64_t>> gone;
  for (auto &[key, size] : sizes)
    if (isWithin(key.first, region))
      gone.push_back(key);
  for (const auto &key : gone)
    sizes.erase(key);
}

/// From this many bytes on elements stay where the model has them, in its bytes or a mapped file.
static constexpr size_t kLargeConstant = 4096;

Value GraphImport::makeConstant(const Tensor &tensor, Location loc, std::string &problem) {
  std::optional<Type> element = getElementType(tensor.dataType);
  if (!element) {
    problem = "has elements of " + getTypeName(tensor.dataType) + ", which are not supported";
    return {};
  }
  for (int64_t dim : tensor.dims)
    if (dim > kMostElements) {
      problem = "has a dim of size " + std::to_string(dim) + ", which is too large";
      return {};
    }
  auto type = RankedTensorType::get(tensor.dims, *element);
  ArrayRef<char> bytes(tensor.bytes.data(), tensor.bytes.size());
  ElementsAttr elements;
  if (element->isInteger(1)) {
    SmallVector<bool> bits;
    for (char byte : bytes)
      bits.push_back(byte != 0);
    elements = DenseElementsAttr::get(type, ArrayRef<bool>(bits));
  } else if (bytes.size() < kLargeConstant) {
    elements = DenseElementsAttr::getFromRawBuffer(type, bytes);
  } else {
    std::shared_ptr<Model> owner = model;
    unsigned alignment = getElementSize(tensor.dataType);
    if (reinterpret_cast<uintptr_t>(bytes.data()) % alignment == 0) {
      AsmResourceBlob blob(
          bytes, alignment, [owner](void *, size_t, size_t) {}, /*dataIsMutable=*/false);
      elements = DenseResourceElementsAttr::get(type, "onnx_weight", std::move(blob));
    } else {
      elements = DenseResourceElementsAttr::get(
          type, "onnx_weight", HeapAsmResourceBlob::allocateAndCopyWithAlign(bytes, alignment));
    }
  }
  return ConstantOp::create(builder, loc, elements);
}

/// The name of a type of floats in a .safetensors file; empty for other types.
static StringRef getExternalType(Type element) {
  return element.isF64()    ? "F64"
         : element.isF32()  ? "F32"
         : element.isF16()  ? "F16"
         : element.isBF16() ? "BF16"
                            : "";
}

Value GraphImport::makeWeight(const Tensor &tensor, StringRef name, Location loc,
                              std::string &problem) {
  std::optional<Type> element = getElementType(tensor.dataType);
  StringRef type = element ? getExternalType(*element) : "";
  // Small ones may be folded into kernels.
  if (!options.external || type.empty() || tensor.bytes.size() < kLargeConstant)
    return makeConstant(tensor, loc, problem);
  // Graphs in graphs may have weights of the same name.
  std::string key = name.str();
  if (unsigned number = externalNames[key]++)
    key += "#" + std::to_string(number);
  options.external->owner = model;
  options.external->weights.push_back(
      {key, type.str(), getElementSize(tensor.dataType), tensor.dims, tensor.bytes});
  auto parameter = ParameterAttr::get(getContext(), ExternalWeights::kScope, key);
  return ParameterOp::create(builder, loc, RankedTensorType::get(tensor.dims, *element), parameter);
}

LogicalResult GraphImport::bindInitializers(const Graph &graph) {
  for (const Tensor &tensor : graph.initializers) {
    std::string problem;
    GraphValue value;
    StringRef name = tensor.name.empty() ? StringRef("weight") : StringRef(tensor.name);
    value.tensor = makeWeight(tensor, name, NameLoc::get(builder.getStringAttr(name)), problem);
    if (!value.tensor) {
      emitError() << "weight '" << tensor.name << "' " << problem;
      return failure();
    }
    scope->values[tensor.name] = std::move(value);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

int64_t GraphImport::getVersion(StringRef domain) const {
  for (const OperatorSet &set : *operatorSets)
    if (domain == set.domain)
      return set.version;
  // Functions may leave out what the model says.
  for (const OperatorSet &set : model->operatorSets)
    if (domain == set.domain)
      return set.version;
  return domain.empty() ? 0 : 1;
}

static std::string getNodeName(const Node &node, size_t position) {
  if (!node.name.empty())
    return node.name;
  for (const std::string &output : node.outputs)
    if (!output.empty())
      return output;
  return "#" + std::to_string(position);
}

static std::string getOpName(const Node &node) {
  return node.domain.empty() ? node.op : node.domain + "." + node.op;
}

void GraphImport::noteUnsupported(const Node &node, StringRef name, const Twine &why) {
  std::string key = getOpName(node) + "\n" + why.str();
  auto *kept = new std::string(key);
  unsupportedKeys.emplace_back(kept);
  Unsupported &entry = unsupported[*kept];
  entry.op = getOpName(node);
  entry.why = why.str();
  entry.nodes.push_back(name.str());
}

void GraphImport::poison(const Node &node) {
  for (const std::string &output : node.outputs)
    if (!output.empty())
      scope->values[output].isMissing = true;
}

static const Function *findFunction(const Model &model, const Node &node) {
  for (const Function &function : model.functions)
    if (function.name == node.op && function.domain == node.domain)
      return &function;
  return nullptr;
}

LogicalResult GraphImport::importNode(const Node &node, size_t position) {
  ++numNodes;
  std::string name = getNodeName(node, position);
  for (const std::string &output : node.outputs)
    if (!output.empty() && scope->values.contains(output)) {
      emitError() << "node '" << name << "' (" << getOpName(node) << ") computes '" << output
                  << "', which is there already";
      return failure();
    }
  for (const std::string &input : node.inputs) {
    GraphValue *value = input.empty() ? nullptr : scope->find(input);
    if (!input.empty() && !value) {
      emitError() << "node '" << name << "' (" << getOpName(node) << ") reads '" << input
                  << "', which no weight, input or earlier node gives";
      return failure();
    }
    if (value && value->isMissing) {
      poison(node);
      return success();
    }
  }
  Location loc = NameLoc::get(builder.getStringAttr(name));
  int64_t version = getVersion(node.domain), since = 0;
  NodeImport n(*this, node, version, loc);
  Results results;
  if (const Function *function = findFunction(*model, node)) {
    if (failed(importCall(*function, n, results)))
      poison(node);
    if (n.hasFailed())
      noteUnsupported(node, name, n.getMessage());
    return success();
  }
  Importer importer = findImporter(node.domain, node.op, version, since);
  if (!importer) {
    std::string why = since == 0 ? whyNoImporter(node.domain, node.op).str()
                                 : "it is of operator set " + std::to_string(version) +
                                       "; expected " + std::to_string(since) + " or newer";
    noteUnsupported(node, name, why);
    stub(node, loc);
    return success();
  }
  if (onnx::foldNumbers(n))
    return success();
  // What was made before the error is dead; it must not be there either.
  results = importer(n);
  for (auto [index, output] : llvm::enumerate(node.outputs)) {
    bool hasResult = index < results.size() && results[index];
    // Importers may have bound it themselves.
    if (output.empty() || n.hasFailed() || (!hasResult && scope->values.contains(output)))
      continue;
    if (!hasResult) {
      n.error("output " + Twine(index) + ", '" + output + "', is not supported");
      break;
    }
    scope->values[output].tensor = results[index];
  }
  if (!n.hasFailed())
    return success();
  if (!takeIsMissing())
    noteUnsupported(node, name, n.getMessage());
  for (const std::string &output : node.outputs)
    scope->values.erase(output);
  stub(node, loc);
  return success();
}

/// Binds zeros in place of what a node gives, where the model declares its type; else nothing.
void GraphImport::stub(const Node &node, Location loc) {
  poison(node);
  if (!options.stubUnsupported)
    return;
  for (const std::string &output : node.outputs) {
    auto isOutput = [&](const ValueInfo &value) { return value.name == output; };
    auto declared = llvm::find_if(model->graph.values, isOutput);
    auto result = llvm::find_if(model->graph.outputs, isOutput);
    const ValueInfo *info = declared != model->graph.values.end()  ? &*declared
                            : result != model->graph.outputs.end() ? &*result
                                                                   : nullptr;
    std::optional<Type> element = info ? getElementType(info->dataType) : std::nullopt;
    bool isStatic = info && info->hasShape && llvm::all_of(info->dims, [](const Dim &dim) {
                      return dim.size && *dim.size >= 0 && *dim.size <= kMostElements;
                    });
    if (!element || !isStatic)
      continue;
    SmallVector<int64_t> shape;
    for (const Dim &dim : info->dims)
      shape.push_back(*dim.size);
    auto type = RankedTensorType::get(shape, *element);
    GraphValue value;
    value.tensor = ConstantOp::create(
        builder, loc,
        cast<ElementsAttr>(DenseElementsAttr::get(type, builder.getZeroAttr(*element))));
    scope->values[output] = std::move(value);
  }
}

LogicalResult GraphImport::importNodes(ArrayRef<Node> nodes) {
  for (auto [position, node] : llvm::enumerate(nodes))
    if (failed(importNode(node, position)))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Graphs in graphs
//===----------------------------------------------------------------------===//

FailureOr<std::vector<GraphValue>> GraphImport::importSubgraph(const Graph &graph,
                                                               std::vector<GraphValue> inputs) {
  if (depth >= kMostNesting) {
    emitError() << "graph '" << graph.name << "' is nested more than " << kMostNesting << " deep";
    return failure();
  }
  ++depth;
  Scope inner{scope, {}};
  scope = &inner;
  llvm::scope_exit leave([&] { scope = inner.outer, --depth; });
  for (auto [info, value] : llvm::zip(graph.inputs, inputs))
    inner.values[info.name] = std::move(value);
  if (failed(bindInitializers(graph)) || failed(importNodes(graph.nodes)))
    return failure();
  std::vector<GraphValue> outputs;
  for (const ValueInfo &output : graph.outputs) {
    GraphValue *value = scope->find(output.name);
    if (!value) {
      emitError() << "output '" << output.name << "' of graph '" << graph.name
                  << "' is computed by no node";
      return failure();
    }
    if (value->isMissing) {
      isMissing = true;
      return failure();
    }
    outputs.push_back(*value);
  }
  return outputs;
}

/// Replaces attributes of a function's nodes that name those of the call.
static void resolveAttributes(Node &node, const Node &call, const Function &function) {
  std::vector<Attribute> resolved;
  for (Attribute &attribute : node.attributes) {
    if (attribute.graph)
      for (Node &inner : attribute.graph->nodes)
        resolveAttributes(inner, call, function);
    if (attribute.reference.empty()) {
      resolved.push_back(std::move(attribute));
      continue;
    }
    const Attribute *value = call.find(attribute.reference);
    for (const Attribute &byDefault : function.defaults)
      if (!value && byDefault.name == attribute.reference)
        value = &byDefault;
    if (!value)
      continue; // left out, as the call leaves it out
    Attribute copy = *value;
    copy.name = attribute.name;
    resolved.push_back(std::move(copy));
  }
  node.attributes = std::move(resolved);
}

LogicalResult GraphImport::importCall(const Function &function, NodeImport &n, Results &results) {
  if (depth >= kMostNesting) {
    n.error("functions call one another more than " + Twine(kMostNesting) + " deep");
    return failure();
  }
  ++depth;
  // Functions see nothing of what is around their calls.
  Scope inner;
  Scope *outer = scope;
  for (auto [index, name] : llvm::enumerate(function.inputs))
    if (n.has(index))
      inner.values[name] = *outer->find(n.node.inputs[index]);
  // Optional inputs that the call leaves out are empty names within.
  llvm::StringSet<> absent;
  for (auto [index, name] : llvm::enumerate(function.inputs))
    if (!n.has(index))
      absent.insert(name);
  const std::vector<OperatorSet> *outerSets = operatorSets;
  scope = &inner;
  if (!function.operatorSets.empty())
    operatorSets = &function.operatorSets;
  LogicalResult status = success();
  for (auto [position, node] : llvm::enumerate(function.nodes)) {
    Node copy = node;
    for (std::string &input : copy.inputs)
      if (absent.contains(input))
        input.clear();
    resolveAttributes(copy, n.node, function);
    if (failed(status = importNode(copy, position)))
      break;
  }
  scope = outer;
  operatorSets = outerSets;
  --depth;
  if (failed(status))
    return failure();
  for (auto [index, output] : llvm::enumerate(n.node.outputs)) {
    if (output.empty())
      continue;
    GraphValue *value =
        index < function.outputs.size() ? inner.find(function.outputs[index]) : nullptr;
    if (!value) {
      n.error("function '" + function.name + "' computes no output " + Twine(index));
      return failure();
    }
    outer->values[output] = *value;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

/// Everything that is in the way, in one error.
LogicalResult GraphImport::reportUnsupported() {
  if (unsupported.empty())
    return success();
  size_t count = 0;
  std::string text;
  for (auto &[key, entry] : unsupported) {
    count += entry.nodes.size();
    text += "\n  " + entry.op + " (" + std::to_string(entry.nodes.size()) +
            (entry.nodes.size() == 1 ? " node, '" : " nodes, '");
    constexpr size_t kMostNames = 5;
    text += llvm::join(llvm::ArrayRef(entry.nodes).take_front(kMostNames), "', '") + "'" +
            (entry.nodes.size() > kMostNames ? ", ..." : "") + "): " + entry.why;
  }
  std::string summary = std::to_string(count) + " of " + std::to_string(numNodes) +
                        (numNodes == 1 ? " node is" : " nodes are") + " not supported; " +
                        std::to_string(numNodes - count) +
                        (numNodes - count == 1 ? " is:" : " are:") + text;
  if (options.stubUnsupported) {
    mlir::emitWarning(UnknownLoc::get(getContext())) << summary;
    return success();
  }
  return emitError() << summary;
}

void GraphImport::noteNames(Value argument, const ValueInfo &input,
                            llvm::StringMap<DimOfInput> &first) {
  for (auto [dim, size] : llvm::enumerate(input.dims)) {
    DimOfInput mine{argument, dim};
    if (!size.size && !size.name.empty())
      if (auto [it, isFirst] = first.try_emplace(size.name, mine); !isFirst)
        namesakes[mine] = it->second;
  }
}

FailureOr<Results> GraphImport::importMain(ArrayRef<Value> arguments) {
  const Graph &graph = model->graph;
  int64_t version = getVersion("");
  if (version != 0 && (version < kOldestVersion || version > kNewestVersion)) {
    emitError() << "the model is of operator set " << version << "; expected " << kOldestVersion
                << " to " << kNewestVersion;
    return failure();
  }
  Scope outermost;
  scope = &outermost;
  if (failed(bindInitializers(graph)))
    return failure();
  size_t next = 0;
  llvm::StringMap<DimOfInput> dims;
  for (const ValueInfo &input : graph.inputs) {
    // Before IR version 4 weights were inputs with defaults, too.
    if (outermost.values.contains(input.name))
      continue;
    noteNames(arguments[next], input, dims);
    outermost.values[input.name].tensor = arguments[next++];
  }
  if (failed(importNodes(graph.nodes)) || failed(reportUnsupported()))
    return failure();
  Results outputs;
  for (const ValueInfo &output : graph.outputs) {
    GraphValue *value = outermost.find(output.name);
    if (!value) {
      emitError() << "output '" << output.name << "' is computed by no node";
      return failure();
    }
    if (value->isSequence || value->isMissing) {
      emitError() << "output '" << output.name << "' "
                  << (value->isSequence ? "is a sequence; expected a tensor"
                                        : "depends on nodes that are not supported and whose "
                                          "outputs the model declares no static shapes for");
      return failure();
    }
    outputs.push_back(materialize(*value, NameLoc::get(builder.getStringAttr(output.name))));
  }
  return outputs;
}

} // namespace xc::onnx
