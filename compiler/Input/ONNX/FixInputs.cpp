//===- FixInputs.cpp - Inputs and dims that are known beforehand ----------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Input/ONNX/FixInputs.h"

#include "compiler/Dialect/Array/IR/Sizes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using llvm::StringRef;

namespace xc::onnx {

template <typename T> static bool appendAs(T value, std::string &bytes) {
  bytes.append(reinterpret_cast<const char *>(&value), sizeof(T));
  return true;
}

template <typename T> static bool appendInteger(StringRef text, std::string &bytes) {
  T value;
  return !text.getAsInteger(10, value) && appendAs(value, bytes);
}

template <typename T> static bool appendFloat(StringRef text, std::string &bytes) {
  double value;
  return !text.getAsDouble(value) && appendAs(T(value), bytes);
}

/// Appends the number `text` as an element of `dataType`; false where it is none.
static bool appendNumber(StringRef text, int32_t dataType, std::string &bytes) {
  switch (dataType) {
  case kFloat:
    return appendFloat<float>(text, bytes);
  case kDouble:
    return appendFloat<double>(text, bytes);
  case kInt8:
    return appendInteger<int8_t>(text, bytes);
  case kInt16:
    return appendInteger<int16_t>(text, bytes);
  case kInt32:
    return appendInteger<int32_t>(text, bytes);
  case kInt64:
    return appendInteger<int64_t>(text, bytes);
  case kUInt8:
    return appendInteger<uint8_t>(text, bytes);
  case kUInt16:
    return appendInteger<uint16_t>(text, bytes);
  case kUInt32:
    return appendInteger<uint32_t>(text, bytes);
  case kUInt64:
    return appendInteger<uint64_t>(text, bytes);
  case kBool:
    return (text == "0" || text == "1") && appendAs<uint8_t>(text == "1", bytes);
  default:
    return false;
  }
}

/// The shape of a list of `count` numbers for an input; nothing where it does not fit. A list may
/// give a vector its size.
static std::optional<llvm::SmallVector<int64_t>> getShape(const ValueInfo &input, int64_t count) {
  llvm::SmallVector<int64_t> shape;
  for (const Dim &dim : input.dims)
    shape.push_back(dim.size.value_or(input.dims.size() == 1 ? count : -1));
  if (!input.hasShape || llvm::is_contained(shape, -1) || array::mulSizes(shape) != count)
    return std::nullopt;
  return shape;
}

static bool fixInput(Model &model, const FixedInput &fixed, std::string &error) {
  std::vector<ValueInfo> &inputs = model.graph.inputs;
  auto found =
      llvm::find_if(inputs, [&](const ValueInfo &input) { return input.name == fixed.name; });
  if (found == inputs.end()) {
    std::string known;
    for (const ValueInfo &input : inputs)
      known += (known.empty() ? "'" : ", '") + input.name + "'";
    error = "it has no input '" + fixed.name + "' to fix; its inputs are " + known;
    return false;
  }
  Tensor tensor;
  tensor.name = fixed.name;
  tensor.dataType = found->dataType;
  llvm::SmallVector<StringRef> numbers;
  StringRef(fixed.numbers).split(numbers, ',');
  std::optional<llvm::SmallVector<int64_t>> shape = getShape(*found, numbers.size());
  bool areNumbers = llvm::all_of(numbers, [&](StringRef number) {
    return appendNumber(number.trim(), tensor.dataType, tensor.storage);
  });
  if (!shape || !areNumbers) {
    error = "input '" + fixed.name + "' cannot be fixed to " + fixed.numbers + "; expected " +
            (shape ? "numbers" : "as many numbers as it has elements, of known shape,") +
            " of type " + getTypeName(tensor.dataType);
    return false;
  }
  tensor.dims = *shape;
  model.graph.initializers.push_back(std::move(tensor));
  return true;
}

static bool fixDim(Model &model, const FixedDim &fixed, std::string &error) {
  bool isUsed = false;
  llvm::SmallSetVector<StringRef, 4> known;
  for (ValueInfo &input : model.graph.inputs)
    for (Dim &dim : input.dims) {
      if (dim.size)
        continue;
      if (!dim.name.empty())
        known.insert(dim.name);
      if (dim.name == fixed.name) {
        dim.size = fixed.size;
        isUsed = true;
      }
    }
  if (!isUsed)
    error = "no input has a symbolic dim '" + fixed.name + "' to fix; " +
            (known.empty() ? "none has a name" : "there are " + llvm::join(known, ", "));
  return isUsed;
}

bool fixInputs(Model &model, const ImportOptions &options, std::string &error) {
  for (const FixedDim &dim : options.fixedDims)
    if (!fixDim(model, dim, error))
      return false;
  for (const FixedInput &input : options.fixedInputs)
    if (!fixInput(model, input, error))
      return false;
  // Short strings move with their tensors.
  for (Tensor &tensor : model.graph.initializers)
    if (!tensor.storage.empty())
      tensor.bytes = tensor.storage;
  return true;
}

} // namespace xc::onnx
