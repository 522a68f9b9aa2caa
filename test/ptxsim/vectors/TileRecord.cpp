//===- TileRecord.cpp - Recorded results of tile forms --------------------===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The file: "XCTILE1\n", a line that names the device, then for each form
//
//   u16 length, name; u64 fingerprint; u8 status; u32 bytes; by status
//     0 the output, 1 nothing: the driver did not take the kernel, 2 the hashes (u64) of
//     the output's chunks of 512, 3 the CUresult of a launch that failed.
//
// All little-endian.
//
//===----------------------------------------------------------------------===//

#include "TileForms.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace xc::vectors {

static const char kMagic[] = "XCTILE1\n";
static constexpr size_t kChunk = 512;
// Outputs longer than this are recorded as hashes.
static constexpr size_t kWholeBytes = 1024;

const std::vector<TileForm> &allTileForms() {
  static const std::vector<TileForm> forms = [] {
    std::vector<TileForm> all;
    addMatrixTileForms(all);
    addTensorTileForms(all);
    addBulkTileForms(all);
    addSyncTileForms(all);
    addMapForms(all);
    return all;
  }();
  return forms;
}

uint64_t fingerprint(const TileForm &form) {
  uint64_t hash = fnv(form.text.data(), form.text.size());
  hash = fnv(form.input.data(), form.input.size(), hash);
  hash = fnv(form.initialOutput.data(), form.initialOutput.size(), hash);
  const TensorSpec &t = form.tensor;
  const uint64_t numbers[] = {form.threads, form.blocks, form.cluster, form.hasTensor,
                              t.type,       t.rank,      t.interleave, t.swizzle,
                              t.promotion,  t.fill,      t.offset,     t.overOutput};
  hash = fnv(numbers, sizeof(numbers), hash);
  hash = fnv(t.dims, sizeof(t.dims), hash);
  hash = fnv(t.strides, sizeof(t.strides), hash);
  hash = fnv(t.box, sizeof(t.box), hash);
  return fnv(t.elementStrides, sizeof(t.elementStrides), hash);
}

static std::vector<uint8_t> hashesOf(const std::vector<uint8_t> &bytes) {
  std::vector<uint8_t> hashes;
  for (size_t at = 0; at < bytes.size(); at += kChunk) {
    uint64_t hash = fnv(&bytes[at], std::min(kChunk, bytes.size() - at));
    const auto *first = reinterpret_cast<const uint8_t *>(&hash);
    hashes.insert(hashes.end(), first, first + sizeof(hash));
  }
  return hashes;
}

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

template <typename T> static void put(std::string &out, T value) {
  out.append(reinterpret_cast<const char *>(&value), sizeof(value));
}

bool writeTileRecords(const std::string &path, const TileRecords &records, bool whole) {
  std::string out = kMagic + records.device + "\n";
  for (const TileForm &form : allTileForms()) {
    auto it = records.forms.find(form.name);
    if (it == records.forms.end())
      continue;
    const TileRecord &r = it->second;
    bool hash = !whole && !r.hashed && !r.failed && r.output.size() > kWholeBytes;
    std::vector<uint8_t> output = hash ? hashesOf(r.output) : r.output;
    put(out, static_cast<uint16_t>(form.name.size()));
    out += form.name;
    put(out, r.fingerprint);
    put(out, static_cast<uint8_t>(r.refused ? 1 : r.hashed || hash ? 2 : r.failed ? 3 : 0));
    put(out, static_cast<uint32_t>(output.size()));
    out.append(reinterpret_cast<const char *>(output.data()), output.size());
  }
  FILE *file = std::fopen(path.c_str(), "wb");
  if (!file)
    return false;
  bool ok = std::fwrite(out.data(), 1, out.size(), file) == out.size();
  return std::fclose(file) == 0 && ok;
}

bool readTileRecords(const std::string &path, TileRecords &records, std::string &error) {
  FILE *file = std::fopen(path.c_str(), "rb");
  if (!file) {
    error = "cannot open " + path;
    return false;
  }
  std::string data;
  char buffer[1 << 16];
  for (size_t n; (n = std::fread(buffer, 1, sizeof(buffer), file)) > 0;)
    data.append(buffer, n);
  std::fclose(file);
  size_t magic = std::strlen(kMagic), line = data.find('\n', magic);
  if (data.compare(0, magic, kMagic) != 0 || line == std::string::npos) {
    error = path + " is no recording of tile forms";
    return false;
  }
  records.device = data.substr(magic, line - magic);
  size_t at = line + 1;
  auto take = [&](void *to, size_t size) {
    if (data.size() - at < size)
      return false;
    std::memcpy(to, data.data() + at, size);
    at += size;
    return true;
  };
  while (at < data.size()) {
    uint16_t length = 0;
    uint8_t status = 0;
    uint32_t bytes = 0;
    TileRecord record;
    std::string name;
    bool ok = take(&length, sizeof(length));
    name.resize(length);
    ok = ok && take(name.data(), length) && take(&record.fingerprint, 8) && take(&status, 1) &&
         take(&bytes, 4) && data.size() - at >= bytes;
    if (!ok) {
      error = path + " ends early";
      return false;
    }
    record.refused = status == 1;
    record.hashed = status == 2;
    record.failed = status == 3;
    record.output.resize(bytes);
    take(record.output.data(), bytes);
    records.forms[name] = std::move(record);
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

std::string compareTile(const TileRecord &recorded, const std::vector<uint8_t> &got) {
  const std::vector<uint8_t> mine = recorded.hashed ? hashesOf(got) : got;
  if (mine.size() != recorded.output.size())
    return std::to_string(mine.size()) + " bytes, recorded are " +
           std::to_string(recorded.output.size());
  size_t different = 0, first = 0;
  for (size_t i = 0; i < mine.size(); ++i)
    if (mine[i] != recorded.output[i] && different++ == 0)
      first = i;
  if (different == 0)
    return "";
  if (recorded.hashed)
    return "differs, first in the bytes from " + std::to_string(first / 8 * kChunk);
  return std::to_string(different) + " bytes differ, first byte " + std::to_string(first) +
         ": recorded " + std::to_string(recorded.output[first]) + ", got " +
         std::to_string(mine[first]);
}

} // namespace xc::vectors
