//===- Sequences.cpp - ONNX's sequences and optional values ---------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A sequence is known as a list of values when a model is imported: its ops make no ops of arrays,
// but for those that join and split tensors.
//
//===----------------------------------------------------------------------===//

#include "compiler/Input/ONNX/Sequences.h"
#include "compiler/Input/ONNX/GraphImport.h"

using namespace mlir;
using namespace xc::array;

namespace xc::onnx {

GraphValue asValue(Value tensor) {
  GraphValue value;
  value.tensor = tensor;
  return value;
}

static GraphValue makeSequence(std::vector<GraphValue> elements) {
  GraphValue value;
  value.isSequence = true;
  value.sequence = std::move(elements);
  return value;
}

static std::vector<GraphValue> readSequence(NodeImport &n, unsigned index) {
  GraphValue *value = n.value(index);
  if (value && value->isSequence)
    return value->sequence;
  n.error("expected input " + Twine(index) + " to be a sequence that is made here");
  return {};
}

/// A position in a sequence of \p size elements.
static int64_t readPosition(NodeImport &n, unsigned index, int64_t size, int64_t otherwise) {
  if (!n.has(index))
    return otherwise;
  int64_t position = n.needInteger(index, "a position in a sequence");
  position = position < 0 ? position + size : position;
  if (position >= 0 && position <= size)
    return position;
  n.error("position " + Twine(position) + " is not in a sequence of " + Twine(size));
  return 0;
}

static Results importSequenceConstruct(NodeImport &n) {
  std::vector<GraphValue> elements;
  for (unsigned i = 0; i < n.getNumInputs(); ++i)
    elements.push_back(asValue(n.input(i)));
  n.setValue(0, makeSequence(std::move(elements)));
  return {};
}

static Results importSequenceEmpty(NodeImport &n) {
  n.setValue(0, makeSequence({}));
  return {};
}

static Results importSequenceAt(NodeImport &n) {
  std::vector<GraphValue> elements = readSequence(n, 0);
  int64_t position = readPosition(n, 1, elements.size(), 0);
  if (n.hasFailed() || position >= int64_t(elements.size()))
    return n.error("the sequence has no such element");
  n.setValue(0, elements[position]);
  return {};
}

static Results importSequenceInsert(NodeImport &n) {
  std::vector<GraphValue> elements = readSequence(n, 0);
  int64_t position = readPosition(n, 2, elements.size(), elements.size());
  Value value = n.input(1);
  if (n.hasFailed())
    return {};
  elements.insert(elements.begin() + position, asValue(value));
  n.setValue(0, makeSequence(std::move(elements)));
  return {};
}

static Results importSequenceErase(NodeImport &n) {
  std::vector<GraphValue> elements = readSequence(n, 0);
  int64_t position = readPosition(n, 1, elements.size(), int64_t(elements.size()) - 1);
  if (n.hasFailed() || position < 0 || position >= int64_t(elements.size()))
    return n.error("the sequence has no such element");
  elements.erase(elements.begin() + position);
  n.setValue(0, makeSequence(std::move(elements)));
  return {};
}

static Results importSequenceLength(NodeImport &n) {
  std::vector<GraphValue> elements = readSequence(n, 0);
  n.setNumber(0, elements.size(), n.getBuilder().getI64Type());
  return {};
}

static Results importConcatFromSequence(NodeImport &n) {
  std::vector<GraphValue> elements = readSequence(n, 0);
  SmallVector<Value> parts;
  for (GraphValue &element : elements)
    parts.push_back(n.graph.materialize(element, n.getLoc()));
  if (n.hasFailed() || parts.empty())
    return n.error("expected a sequence that is not empty");
  int64_t rank = n.rankOf(parts.front());
  if (n.integer("new_axis", 0) == 0)
    return {n.concatenate(parts, n.axis("axis", 0, rank))};
  int64_t axis = n.axis("axis", 0, rank + 1);
  for (Value &part : parts)
    part = n.expandDims(part, {axis});
  return {n.concatenate(parts, axis)};
}

static Results importSplitToSequence(NodeImport &n) {
  Value x = n.input(0);
  int64_t axis = n.axis("axis", 0, n.rankOf(x)), size = n.dimOf(x, axis);
  if (n.hasFailed() || ShapedType::isDynamic(size))
    return n.error("expected a dim of static size");
  SmallVector<int64_t> parts;
  bool isSqueezed = !n.has(1) && n.integer("keepdims", 1) == 0;
  if (!n.has(1)) {
    parts.assign(size, 1);
  } else {
    parts = n.needIntegers(1, "the sizes of parts");
    std::optional<NumberArray> split = n.numberArray(1);
    if (split && split->shape.empty() && parts.size() == 1 && parts.front() > 0) {
      int64_t part = parts.front();
      parts.clear();
      for (int64_t place = 0; place < size; place += part)
        parts.push_back(std::min(part, size - place));
    }
  }
  std::vector<GraphValue> elements;
  int64_t place = 0;
  for (int64_t part : parts) {
    if (part < 0 || part > size - place)
      return n.error("parts are larger than the dim");
    Value value = n.slice(x, axis, place, place + part);
    elements.push_back(asValue(isSqueezed ? n.squeeze(value, {axis}) : value));
    place += part;
  }
  n.setValue(0, makeSequence(std::move(elements)));
  return {};
}

static Results importOptional(NodeImport &n) {
  GraphValue *value = n.value(0);
  if (!value)
    return n.error("an optional value without one is not supported");
  n.setValue(0, *value);
  return {};
}

static Results importOptionalHasElement(NodeImport &n) {
  n.setNumber(0, n.value(0) != nullptr, n.getBuilder().getI1Type());
  return {};
}

/// Whole sequences, and anything else, go through.
static Results importIdentity(NodeImport &n) {
  GraphValue *value = n.value(0);
  if (!value)
    return {n.input(0)};
  n.setValue(0, *value);
  return {};
}

llvm::ArrayRef<OpEntry> getSequenceOps() {
  static constexpr OpEntry kOps[] = {
      {"ConcatFromSequence", 1, importConcatFromSequence},
      {"Identity", 1, importIdentity},
      {"Optional", 1, importOptional},
      {"OptionalGetElement", 1, importOptional},
      {"OptionalHasElement", 1, importOptionalHasElement},
      {"SequenceAt", 1, importSequenceAt},
      {"SequenceConstruct", 1, importSequenceConstruct},
      {"SequenceEmpty", 1, importSequenceEmpty},
      {"SequenceErase", 1, importSequenceErase},
      {"SequenceInsert", 1, importSequenceInsert},
      {"SequenceLength", 1, importSequenceLength},
      {"SplitToSequence", 1, importSplitToSequence},
  };
  return kOps;
}

} // namespace xc::onnx
