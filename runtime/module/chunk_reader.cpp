//===- chunk_reader.cpp - Reading a range piece by piece ------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/module/chunk_reader.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>

using namespace xc;

static constexpr uint64_t kChunkBytes = 4u << 20;

struct xc::RangeHash {
  RangeHash() { XXH3_64bits_reset(&state); }
  XXH3_state_t state;
};

ChunkReader::ChunkReader(const HostAllocator &allocator, const ByteRange &range)
    : allocator(allocator), range(range), hash(allocator.create<RangeHash>()) {}

ChunkReader::~ChunkReader() { allocator.destroy(hash); }

Status ChunkReader::next(Span<const uint8_t> *chunk) {
  if (!hash)
    return outOfHostMemory(sizeof(RangeHash));
  uint64_t left = range.size - position;
  if (const uint8_t *data = range.data()) {
    *chunk = {data + position, left};
  } else {
    uint64_t size = std::min(left, kChunkBytes);
    XCR_RETURN_IF_ERROR(buffer.resize(size));
    XCR_RETURN_IF_ERROR(range.source->read(allocator, range.begin + position, buffer.data(), size));
    *chunk = {buffer.data(), size};
  }
  XXH3_64bits_update(&hash->state, chunk->data, chunk->size);
  position += chunk->size;
  return Status();
}

uint64_t ChunkReader::digest() const { return XXH3_64bits_digest(&hash->state); }

RangeSource::RangeSource(const HostAllocator &allocator, const ByteRange &range, bool isHashed)
    : allocator(allocator), range(range), isHashed(isHashed),
      hash(isHashed ? allocator.create<RangeHash>() : nullptr) {}

RangeSource::~RangeSource() { allocator.destroy(hash); }

Status RangeSource::read(void *into, uint64_t size) {
  if (isHashed && !hash)
    return outOfHostMemory(sizeof(RangeHash));
  XCR_RETURN_IF_ERROR(range.source->read(allocator, range.begin + position, into, size));
  if (isHashed)
    XXH3_64bits_update(&hash->state, into, size);
  position += size;
  return Status();
}

uint64_t RangeSource::digest() const { return XXH3_64bits_digest(&hash->state); }
