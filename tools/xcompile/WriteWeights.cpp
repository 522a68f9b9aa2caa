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

#include "tools/xcompile/OutputFile.h"

#include "llvm/Support/Endian.h"
#include "llvm/Support/FileOutputBuffer.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace xc {

static std::string formatHeader(llvm::ArrayRef<const onnx::ExternalWeight *> weights) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::json::OStream json(stream);
  uint64_t offset = 0;
  json.object([&] {
    for (const onnx::ExternalWeight *weight : weights)
      json.attributeObject(weight->name, [&] {
        json.attribute("dtype", weight->type);
        json.attributeArray("shape", [&] {
          for (int64_t size : weight->shape)
            json.value(size);
        });
        json.attributeArray("data_offsets", [&] {
          json.value(offset);
          json.value(offset += weight->bytes.size());
        });
      });
  });
  text.append((8 - text.size() % 8) % 8, ' ');
  return text;
}

llvm::Error writeWeights(llvm::StringRef path, const onnx::ExternalWeights &weights) {
  std::vector<const onnx::ExternalWeight *> sorted;
  for (unsigned bytes : {8, 4, 2, 1})
    for (const onnx::ExternalWeight &weight : weights.weights)
      if (weight.elementBytes == bytes)
        sorted.push_back(&weight);
  std::string header = formatHeader(sorted);
  return writeOutputFile(path, [&](llvm::raw_ostream &stream) {
    char prefix[8];
    llvm::support::endian::write64le(prefix, header.size());
    stream.write(prefix, sizeof(prefix));
    stream << header;
    for (const onnx::ExternalWeight *weight : sorted)
      stream << weight->bytes;
  });
}

} // namespace xc
