//===- chunk_reader.h - Reading a range piece by piece ---------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_RUNTIME_MODULE_CHUNK_READER_H
#define XC_RUNTIME_MODULE_CHUNK_READER_H

#include "runtime/base/file.h"
#include "runtime/hal/upload_source.h"

namespace xc {

/// The state of XXH3.
struct RangeHash;

/// Reads a range in chunks of some megabytes, so that weights of gigabytes are never in memory
/// twice, and hashes what it reads. What lies in memory is one chunk.
class ChunkReader {
public:
  ChunkReader(const HostAllocator &allocator, const ByteRange &range);
  ~ChunkReader();
  ChunkReader(const ChunkReader &) = delete;
  ChunkReader &operator=(const ChunkReader &) = delete;

  /// The next chunk, which stays until the next call; empty behind the last one.
  Status next(Span<const uint8_t> *chunk);
  /// XXH3 of all chunks so far.
  uint64_t digest() const;

private:
  const HostAllocator &allocator;
  const ByteRange range;
  uint64_t position = 0;
  Vector<uint8_t> buffer{allocator};
  RangeHash *hash = nullptr;
};

/// A range that a device takes in order, straight to where it keeps or transfers it.
class RangeSource final : public hal::UploadSource {
public:
  /// \p isHashed: digest() will be asked for.
  RangeSource(const HostAllocator &allocator, const ByteRange &range, bool isHashed);
  ~RangeSource();
  RangeSource(const RangeSource &) = delete;
  RangeSource &operator=(const RangeSource &) = delete;

  Status read(void *into, uint64_t size) override;
  /// XXH3 of all that was read.
  uint64_t digest() const;

private:
  const HostAllocator &allocator;
  const ByteRange range;
  const bool isHashed;
  uint64_t position = 0;
  RangeHash *hash = nullptr;
};

} // namespace xc

#endif // XC_RUNTIME_MODULE_CHUNK_READER_H
