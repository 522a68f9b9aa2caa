//===- BlobArea.cpp - Large data of a module file -------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/BlobArea.h"

#include "schemas/module_header.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/xxhash.h"

#include <cstring>

namespace xc::target {

unsigned BlobArea::add(std::string bytes) {
  uint64_t hash = llvm::xxh3_64bits(
      llvm::ArrayRef(reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size()));
  auto [it, isNew] = byHash.try_emplace({hash, bytes.size()}, blobs.size());
  if (!isNew && blobs[it->second].bytes == bytes)
    return it->second;
  blobs.push_back({std::move(bytes), hash, size});
  size = llvm::alignTo(size + blobs.back().bytes.size(), ModuleHeader::kAlignment);
  return blobs.size() - 1;
}

fb::BlobRef BlobArea::getRef(unsigned index, uint64_t base) const {
  const Blob &blob = blobs[index];
  return fb::BlobRef(base + blob.offset, blob.bytes.size(), blob.hash);
}

void BlobArea::appendTo(std::string &file) const {
  uint64_t base = file.size();
  file.resize(base + size);
  for (const Blob &blob : blobs)
    std::memcpy(file.data() + base + blob.offset, blob.bytes.data(), blob.bytes.size());
}

} // namespace xc::target
