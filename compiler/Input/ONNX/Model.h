//===- Model.h - An ONNX model in plain data structures -------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the importer works on. Protobuf stays behind ModelReader.cpp, which needs exceptions and
// RTTI; nothing else includes its headers. These structures know no MLIR either.
//
//===----------------------------------------------------------------------===//

#ifndef XC_INPUT_ONNX_MODEL_H
#define XC_INPUT_ONNX_MODEL_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace xc::onnx {

/// `TensorProto.DataType`, as far as there are array types for it.
enum DataType : int32_t {
  kUndefined = 0,
  kFloat = 1,
  kUInt8 = 2,
  kInt8 = 3,
  kUInt16 = 4,
  kInt16 = 5,
  kInt32 = 6,
  kInt64 = 7,
  kString = 8,
  kBool = 9,
  kFloat16 = 10,
  kDouble = 11,
  kUInt32 = 12,
  kUInt64 = 13,
  kBFloat16 = 16,
};

/// ONNX's name of a data type, for messages: "FLOAT8E4M3FN", or "type 99".
std::string getTypeName(int32_t dataType);

/// Bytes of an element; 0 for types without an array type.
unsigned getElementSize(int32_t dataType);

/// A constant. `bytes` are its elements in row-major order, little-endian.
struct Tensor {
  std::string name;
  int32_t dataType = kUndefined;
  llvm::SmallVector<int64_t> dims;
  /// Into `storage`, the model's bytes or a mapped file; the model's `keepAlive` holds the latter.
  llvm::StringRef bytes;
  std::string storage;

  int64_t getNumElements() const;
};

struct Graph;

/// An attribute of a node. Which member counts says `kind`.
struct Attribute {
  enum Kind { Float, Int, String, TensorValue, GraphValue, Floats, Ints, Strings, Other };
  std::string name;
  Kind kind = Other;
  double number = 0;
  int64_t integer = 0;
  std::string text;
  std::shared_ptr<Tensor> tensor;
  std::shared_ptr<Graph> graph;
  std::vector<double> numbers;
  std::vector<int64_t> integers;
  std::vector<std::string> texts;
  /// In a function: the attribute of the call whose value this one takes.
  std::string reference;
};

struct Node {
  std::string name, op, domain;
  std::vector<std::string> inputs, outputs; // empty: left out
  std::vector<Attribute> attributes;

  const Attribute *find(llvm::StringRef name) const;
};

/// A dim of a declared type: a number, a name, or neither.
struct Dim {
  std::optional<int64_t> size;
  std::string name;
};

struct ValueInfo {
  std::string name;
  enum Kind { TensorValue, Other, Missing } kind = Missing;
  int32_t dataType = kUndefined;
  bool hasShape = false;
  std::vector<Dim> dims;
};

struct Graph {
  std::string name;
  std::vector<Node> nodes;
  std::vector<Tensor> initializers;
  std::vector<ValueInfo> inputs, outputs;
  std::vector<ValueInfo> values; // of what is in between, as far as they are declared
};

/// An operator set by domain; "" is ONNX's own.
struct OperatorSet {
  std::string domain;
  int64_t version;
};

/// A function that the model defines.
struct Function {
  std::string name, domain;
  std::vector<std::string> inputs, outputs;
  std::vector<Attribute> defaults;
  std::vector<Node> nodes;
  std::vector<OperatorSet> operatorSets;
};

struct Model {
  int64_t irVersion = 0;
  std::vector<OperatorSet> operatorSets;
  Graph graph;
  std::vector<Function> functions;
  /// The parsed file and mapped weights, which tensors point into.
  std::shared_ptr<void> keepAlive;
};

/// Parses the bytes of a model. Weights outside of it are mapped from `directory`. Null where the
/// file is no sound model; `error` then says why, as what follows "cannot read 'x.onnx': ".
std::shared_ptr<Model> readModel(llvm::StringRef bytes, llvm::StringRef directory,
                                 std::string &error);

/// Whether `bytes` can be taken for a model, whatever the file is called: binary, and a protobuf
/// message that has a version and a graph.
bool looksLikeModel(llvm::StringRef bytes);

} // namespace xc::onnx

#endif // XC_INPUT_ONNX_MODEL_H
