//===- ModelReader.cpp - From protobuf to plain structures ----------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The only file that sees protobuf. It is compiled with exceptions and RTTI, which protobuf's
// headers expect; no exception leaves it. Files are hostile: every count is checked against the
// bytes that are there before anything is made of it.
//
//===----------------------------------------------------------------------===//

#include "compiler/Input/ONNX/Model.h"
#include "compiler/Input/RegularFile.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <onnx/onnx_pb.h>

#include <climits>
#include <deque>
#include <exception>

using llvm::StringRef;
using llvm::Twine;

namespace xc::onnx {

namespace {

/// What a model's tensors point into.
struct Storage {
  ::onnx::ModelProto proto;
  llvm::StringMap<std::unique_ptr<llvm::MemoryBuffer>> files;
  std::deque<::onnx::AttributeProto> defaults;
};

/// The conversion of one model. The first problem stops it; `error` says it.
class Reader {
public:
  Reader(Storage &storage, StringRef directory, std::string &error)
      : storage(storage), directory(directory), error(error) {}

  bool read(Model &model);

private:
  bool fail(const Twine &message) {
    if (error.empty())
      error = message.str();
    return false;
  }

  bool readTensor(const ::onnx::TensorProto &proto, Tensor &tensor);
  bool readExternal(const ::onnx::TensorProto &proto, Tensor &tensor);
  bool checkSize(Tensor &tensor);
  bool readAttribute(const ::onnx::AttributeProto &proto, Attribute &attribute);
  bool readNode(const ::onnx::NodeProto &proto, Node &node);
  bool readGraph(const ::onnx::GraphProto &proto, Graph &graph);
  bool readFunction(const ::onnx::FunctionProto &proto, Function &function);
  static ValueInfo readValue(const ::onnx::ValueInfoProto &proto);
  llvm::MemoryBuffer *mapFile(StringRef location);

  Storage &storage;
  StringRef directory;
  std::string &error;
};

} // namespace

/// ONNX writes the default domain in two ways.
static std::string getDomain(const std::string &name) { return name == "ai.onnx" ? "" : name; }

template <typename Field> static std::vector<std::string> copyStrings(const Field &field) {
  return std::vector<std::string>(field.begin(), field.end());
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

int64_t Tensor::getNumElements() const {
  int64_t count = 1;
  for (int64_t dim : dims)
    count *= dim;
  return count;
}

std::string getTypeName(int32_t dataType) {
  static constexpr const char *kNames[] = {
      "UNDEFINED",      "FLOAT",    "UINT8",        "INT8",           "UINT16",
      "INT16",          "INT32",    "INT64",        "STRING",         "BOOL",
      "FLOAT16",        "DOUBLE",   "UINT32",       "UINT64",         "COMPLEX64",
      "COMPLEX128",     "BFLOAT16", "FLOAT8E4M3FN", "FLOAT8E4M3FNUZ", "FLOAT8E5M2",
      "FLOAT8E5M2FNUZ", "UINT4",    "INT4",         "FLOAT4E2M1",     "FLOAT8E8M0",
      "UINT2",          "INT2"};
  if (dataType >= 0 && dataType < int32_t(std::size(kNames)))
    return kNames[dataType];
  return "type " + std::to_string(dataType);
}

unsigned getElementSize(int32_t dataType) {
  switch (dataType) {
  case kUInt8:
  case kInt8:
  case kBool:
    return 1;
  case kUInt16:
  case kInt16:
  case kFloat16:
  case kBFloat16:
    return 2;
  case kFloat:
  case kInt32:
  case kUInt32:
    return 4;
  case kDouble:
  case kInt64:
  case kUInt64:
    return 8;
  default:
    return 0;
  }
}

/// Whether the dims are sizes and bytes are as many as they say.
bool Reader::checkSize(Tensor &tensor) {
  int64_t bytes = getElementSize(tensor.dataType);
  for (int64_t dim : tensor.dims)
    if (dim < 0 || llvm::MulOverflow(bytes, dim, bytes))
      return fail("tensor '" + tensor.name + "' has dims that are no sizes, or too large ones");
  if (uint64_t(bytes) != tensor.bytes.size())
    return fail("tensor '" + tensor.name + "' has " + Twine(tensor.bytes.size()) +
                " bytes of data; expected " + Twine(bytes) + " for its dims and " +
                getTypeName(tensor.dataType));
  return true;
}

/// Values of a typed field, each in a field that is wider than its type, as bytes of the type.
template <typename To, typename Field> static void pack(const Field &field, std::string &storage) {
  for (auto value : field) {
    To narrow = static_cast<To>(value);
    storage.append(reinterpret_cast<const char *>(&narrow), sizeof(To));
  }
}

bool Reader::readTensor(const ::onnx::TensorProto &proto, Tensor &tensor) {
  tensor.name = proto.name();
  tensor.dataType = proto.data_type();
  tensor.dims.assign(proto.dims().begin(), proto.dims().end());
  if (proto.has_segment())
    return fail("tensor '" + tensor.name + "' comes in segments, which are not supported");
  // Of other types nothing but their names is known; who uses such a tensor is refused.
  if (getElementSize(tensor.dataType) == 0)
    return true;
  if (proto.data_location() == ::onnx::TensorProto::EXTERNAL)
    return readExternal(proto, tensor) && checkSize(tensor);
  if (proto.has_raw_data()) {
    tensor.bytes = proto.raw_data();
    return checkSize(tensor);
  }
  std::string &storage = tensor.storage;
  switch (tensor.dataType) {
  case kFloat:
    pack<float>(proto.float_data(), storage);
    break;
  case kDouble:
    pack<double>(proto.double_data(), storage);
    break;
  case kInt64:
    pack<int64_t>(proto.int64_data(), storage);
    break;
  case kUInt32:
    pack<uint32_t>(proto.uint64_data(), storage);
    break;
  case kUInt64:
    pack<uint64_t>(proto.uint64_data(), storage);
    break;
  case kInt32:
    pack<int32_t>(proto.int32_data(), storage);
    break;
  case kInt16:
  case kUInt16:
  case kFloat16:
  case kBFloat16:
    pack<uint16_t>(proto.int32_data(), storage);
    break;
  default:
    pack<uint8_t>(proto.int32_data(), storage);
    break;
  }
  tensor.bytes = storage;
  return checkSize(tensor);
}

llvm::MemoryBuffer *Reader::mapFile(StringRef location) {
  std::unique_ptr<llvm::MemoryBuffer> &file = storage.files[location];
  if (file)
    return file.get();
  llvm::SmallString<128> path(directory);
  llvm::sys::path::append(path, location);
  if (isPipeOrDevice(path)) {
    fail("cannot open '" + path + "', which holds weights: not a regular file");
    return nullptr;
  }
  // Mapped, not read: large files are, where no terminating zero is asked for.
  auto opened =
      llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!opened) {
    fail("cannot open '" + path + "', which holds weights: " + opened.getError().message());
    return nullptr;
  }
  file = std::move(*opened);
  return file.get();
}

bool Reader::readExternal(const ::onnx::TensorProto &proto, Tensor &tensor) {
  std::string location;
  uint64_t offset = 0, length = 0;
  bool hasLength = false;
  for (const auto &entry : proto.external_data()) {
    StringRef value = entry.value();
    if (entry.key() == "location")
      location = entry.value();
    else if (entry.key() == "offset" && value.getAsInteger(10, offset))
      return fail("tensor '" + tensor.name + "' has external data at offset '" + value + "'");
    else if (entry.key() == "length") {
      hasLength = true;
      if (value.getAsInteger(10, length))
        return fail("tensor '" + tensor.name + "' has external data of length '" + value + "'");
    }
  }
  // As ONNX requires: files beside the model, wherever that is.
  bool leaves = llvm::is_contained(
      llvm::make_range(llvm::sys::path::begin(location), llvm::sys::path::end(location)), "..");
  if (location.empty() || llvm::sys::path::is_absolute(location) || leaves)
    return fail("tensor '" + tensor.name + "' has its data in '" + location +
                "'; expected a path within the model's folder");
  llvm::MemoryBuffer *file = mapFile(location);
  if (!file)
    return false;
  uint64_t size = file->getBufferSize();
  if (offset > size || (hasLength && length > size - offset))
    return fail("tensor '" + tensor.name + "' has its data at bytes " + Twine(offset) + " to " +
                Twine(offset + length) + " of '" + location + "', which has " + Twine(size));
  int64_t bytes = getElementSize(tensor.dataType);
  for (int64_t dim : tensor.dims)
    if (dim < 0 || llvm::MulOverflow(bytes, dim, bytes))
      return fail("tensor '" + tensor.name + "' has dims that are no sizes, or too large ones");
  StringRef rest = file->getBuffer().drop_front(offset);
  tensor.bytes = rest.take_front(hasLength ? length : uint64_t(bytes));
  return true;
}

//===----------------------------------------------------------------------===//
// Nodes and graphs
//===----------------------------------------------------------------------===//

bool Reader::readAttribute(const ::onnx::AttributeProto &proto, Attribute &attribute) {
  using Proto = ::onnx::AttributeProto;
  attribute.name = proto.name();
  attribute.reference = proto.ref_attr_name();
  switch (proto.type()) {
  case Proto::FLOAT:
    attribute.kind = Attribute::Float;
    attribute.number = proto.f();
    return true;
  case Proto::INT:
    attribute.kind = Attribute::Int;
    attribute.integer = proto.i();
    return true;
  case Proto::STRING:
    attribute.kind = Attribute::String;
    attribute.text = proto.s();
    return true;
  case Proto::FLOATS:
    attribute.kind = Attribute::Floats;
    attribute.numbers.assign(proto.floats().begin(), proto.floats().end());
    return true;
  case Proto::INTS:
    attribute.kind = Attribute::Ints;
    attribute.integers.assign(proto.ints().begin(), proto.ints().end());
    return true;
  case Proto::STRINGS:
    attribute.kind = Attribute::Strings;
    attribute.texts = copyStrings(proto.strings());
    return true;
  case Proto::TENSOR:
    attribute.kind = Attribute::TensorValue;
    attribute.tensor = std::make_shared<Tensor>();
    return readTensor(proto.t(), *attribute.tensor);
  case Proto::GRAPH:
    attribute.kind = Attribute::GraphValue;
    attribute.graph = std::make_shared<Graph>();
    return readGraph(proto.g(), *attribute.graph);
  default:
    attribute.kind = Attribute::Other;
    return true;
  }
}

bool Reader::readNode(const ::onnx::NodeProto &proto, Node &node) {
  node.name = proto.name();
  node.op = proto.op_type();
  node.domain = getDomain(proto.domain());
  node.inputs = copyStrings(proto.input());
  node.outputs = copyStrings(proto.output());
  for (const auto &attribute : proto.attribute()) {
    node.attributes.emplace_back();
    if (!readAttribute(attribute, node.attributes.back()))
      return false;
  }
  return true;
}

ValueInfo Reader::readValue(const ::onnx::ValueInfoProto &proto) {
  ValueInfo value;
  value.name = proto.name();
  if (!proto.has_type())
    return value;
  value.kind = ValueInfo::Other;
  if (!proto.type().has_tensor_type())
    return value;
  const auto &type = proto.type().tensor_type();
  value.kind = ValueInfo::TensorValue;
  value.dataType = type.elem_type();
  value.hasShape = type.has_shape();
  for (const auto &dim : type.shape().dim()) {
    value.dims.emplace_back();
    // Some exporters write -1 and "?" for what they do not know; such dims need not be equal.
    if (dim.has_dim_value() && dim.dim_value() != -1)
      value.dims.back().size = dim.dim_value();
    else if (dim.dim_param() != "?")
      value.dims.back().name = dim.dim_param();
  }
  return value;
}

bool Reader::readGraph(const ::onnx::GraphProto &proto, Graph &graph) {
  graph.name = proto.name();
  if (proto.sparse_initializer_size() > 0)
    return fail("graph '" + graph.name + "' has sparse weights, which are not supported");
  for (const auto &input : proto.input())
    graph.inputs.push_back(readValue(input));
  for (const auto &output : proto.output())
    graph.outputs.push_back(readValue(output));
  for (const auto &value : proto.value_info())
    graph.values.push_back(readValue(value));
  graph.initializers.resize(proto.initializer_size());
  for (int i = 0; i < proto.initializer_size(); ++i)
    if (!readTensor(proto.initializer(i), graph.initializers[i]))
      return false;
  graph.nodes.resize(proto.node_size());
  for (int i = 0; i < proto.node_size(); ++i)
    if (!readNode(proto.node(i), graph.nodes[i]))
      return false;
  return true;
}

template <typename Field> static std::vector<OperatorSet> readSets(const Field &field) {
  std::vector<OperatorSet> sets;
  for (const auto &set : field)
    sets.push_back({getDomain(set.domain()), set.version()});
  return sets;
}

bool Reader::readFunction(const ::onnx::FunctionProto &proto, Function &function) {
  function.name = proto.name();
  function.domain = getDomain(proto.domain());
  function.inputs = copyStrings(proto.input());
  function.outputs = copyStrings(proto.output());
  function.operatorSets = readSets(proto.opset_import());
  function.nodes.resize(proto.node_size());
  for (int i = 0; i < proto.node_size(); ++i)
    if (!readNode(proto.node(i), function.nodes[i]))
      return false;
  // Attributes with defaults, `attribute_proto`, are younger than Debian's schema.
  constexpr int kDefaults = 11;
  const google::protobuf::UnknownFieldSet &fields = proto.unknown_fields();
  for (int i = 0; i < fields.field_count(); ++i) {
    const google::protobuf::UnknownField &field = fields.field(i);
    if (field.number() != kDefaults ||
        field.type() != google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED)
      continue;
    storage.defaults.emplace_back();
    if (!storage.defaults.back().ParseFromString(field.length_delimited()))
      return fail("function '" + function.name + "' has an attribute that cannot be parsed");
    function.defaults.emplace_back();
    if (!readAttribute(storage.defaults.back(), function.defaults.back()))
      return false;
  }
  return true;
}

bool Reader::read(Model &model) {
  const ::onnx::ModelProto &proto = storage.proto;
  model.irVersion = proto.ir_version();
  model.operatorSets = readSets(proto.opset_import());
  if (!proto.has_graph())
    return fail("it is no ONNX model: it has no graph");
  if (model.operatorSets.empty())
    return fail("it does not say which operator set it is written in (opset_import)");
  model.functions.resize(proto.functions_size());
  for (int i = 0; i < proto.functions_size(); ++i)
    if (!readFunction(proto.functions(i), model.functions[i]))
      return false;
  return readGraph(proto.graph(), model.graph);
}

//===----------------------------------------------------------------------===//
// Entry points
//===----------------------------------------------------------------------===//

const Attribute *Node::find(StringRef name) const {
  for (const Attribute &attribute : attributes)
    if (name == attribute.name)
      return &attribute;
  return nullptr;
}

static bool parse(StringRef bytes, ::onnx::ModelProto &proto) {
  google::protobuf::LogSilencer silencer;
  google::protobuf::io::ArrayInputStream array(bytes.data(), int(bytes.size()));
  google::protobuf::io::CodedInputStream stream(&array);
  stream.SetTotalBytesLimit(INT_MAX);
  return proto.ParseFromCodedStream(&stream) && stream.ConsumedEntireMessage();
}

std::shared_ptr<Model> readModel(StringRef bytes, StringRef directory, std::string &error) {
  if (bytes.size() > size_t(INT_MAX)) {
    error = "it has " + std::to_string(bytes.size()) +
            " bytes; a protobuf message has at most 2147483647, so keep the weights in a file of "
            "their own (external data)";
    return nullptr;
  }
  try {
    auto storage = std::make_shared<Storage>();
    if (!parse(bytes, storage->proto)) {
      error = "it is no ONNX model, or it is truncated: protobuf cannot parse it";
      return nullptr;
    }
    auto model = std::make_shared<Model>();
    if (!Reader(*storage, directory, error).read(*model))
      return nullptr;
    model->keepAlive = storage;
    return model;
  } catch (const std::exception &exception) {
    error = std::string("protobuf cannot read it: ") + exception.what();
    return nullptr;
  }
}

bool looksLikeModel(StringRef bytes) {
  // A model begins with its IR version, field 1; then comes another field, never a letter.
  if (bytes.size() < 4 || bytes[0] != '\x08' || bytes.size() > size_t(INT_MAX))
    return false;
  try {
    ::onnx::ModelProto proto;
    return parse(bytes, proto) && proto.has_graph();
  } catch (const std::exception &) {
    return false;
  }
}

} // namespace xc::onnx
