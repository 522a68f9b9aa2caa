//===- WriteWeights.cpp - A model's weights as a file ---------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The format: bytes of the header in 8 bytes, the header in JSON, the arrays one behind the other.
// Wider elements come first and the header is padded to 8 bytes, so that all are aligned.
//
//===----------------------------------------------------------------------===//

#include "tools/xcompile/WriteWeights.h"

#include "compiler/Dialect/Array/Transforms/NarrowFloats.h"
#include "tools/xcompile/OutputFile.h"

#include "llvm/Support/Endian.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <optional>

using namespace xc;

namespace {

/// A weight in the type that it is written in.
struct StoredWeight {
  const onnx::ExternalWeight *weight;
  std::string type;
  std::optional<array::NarrowType> narrow; // of f32 in the model

  unsigned getElementBytes() const { return narrow ? sizeof(uint16_t) : weight->elementBytes; }
  uint64_t getBytes() const {
    return weight->bytes.size() / weight->elementBytes * getElementBytes();
  }
};

} // namespace

static StoredWeight choose(const onnx::ExternalWeight &weight,
                           const llvm::StringMap<std::string> &types) {
  std::string type = types.lookup(weight.name);
  StoredWeight stored{&weight, weight.type, std::nullopt};
  if (weight.type != "F32" || (type != "BF16" && type != "F16"))
    return stored;
  stored.narrow = type == "BF16" ? array::NarrowType::BF16 : array::NarrowType::F16;
  stored.type = type;
  return stored;
}

static std::string formatHeader(llvm::ArrayRef<StoredWeight> weights) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::json::OStream json(stream);
  uint64_t offset = 0;
  json.object([&] {
    for (const StoredWeight &stored : weights)
      json.attributeObject(stored.weight->name, [&] {
        json.attribute("dtype", stored.type);
        json.attributeArray("shape", [&] {
          for (int64_t size : stored.weight->shape)
            json.value(size);
        });
        json.attributeArray("data_offsets", [&] {
          json.value(offset);
          json.value(offset += stored.getBytes());
        });
      });
  });
  text.append((8 - text.size() % 8) % 8, ' ');
  return text;
}

static llvm::SmallVector<uint16_t, 0> narrow(const StoredWeight &stored, std::string &problem) {
  llvm::StringRef bytes = stored.weight->bytes;
  return array::narrowFloats(llvm::ArrayRef(bytes.data(), bytes.size()), *stored.narrow, problem);
}

static void writeElements(llvm::raw_ostream &stream, const StoredWeight &stored) {
  if (!stored.narrow) {
    stream << stored.weight->bytes;
    return;
  }
  std::string problem; // has been looked for
  llvm::SmallVector<uint16_t, 0> elements = narrow(stored, problem);
  stream.write(reinterpret_cast<const char *>(elements.data()), stored.getBytes());
}

llvm::Error xc::writeWeights(llvm::StringRef path, const onnx::ExternalWeights &weights,
                             const llvm::StringMap<std::string> &types) {
  std::vector<StoredWeight> sorted;
  for (unsigned bytes : {8, 4, 2, 1})
    for (const onnx::ExternalWeight &weight : weights.weights)
      if (StoredWeight stored = choose(weight, types); stored.getElementBytes() == bytes)
        sorted.push_back(stored);
  // One weight at a time, and again to write it: all of them together may not fit into memory.
  std::string problem;
  for (const StoredWeight &stored : sorted)
    if (stored.narrow && (narrow(stored, problem), !problem.empty()))
      return llvm::createStringError("cannot write weight '" + stored.weight->name + "' as " +
                                     stored.type + ": " + problem);
  std::string header = formatHeader(sorted);
  return writeOutputFile(path, [&](llvm::raw_ostream &stream) {
    char prefix[8];
    llvm::support::endian::write64le(prefix, header.size());
    stream.write(prefix, sizeof(prefix));
    stream << header;
    for (const StoredWeight &stored : sorted)
      writeElements(stream, stored);
  });
}
