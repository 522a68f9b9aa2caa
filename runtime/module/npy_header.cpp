//===- npy_header.cpp - The header of a .npy file ------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// The header is the text of a Python dictionary, such as
//   {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
// of which this reads what NumPy writes and nothing else.
//
//===----------------------------------------------------------------------===//

#include "runtime/module/npy_header.h"

#include "runtime/base/dtype.h"

#include <algorithm>

using namespace xc;

static constexpr char kMagic[] = {'\x93', 'N', 'U', 'M', 'P', 'Y'};
// NumPy's own limit for untrusted headers is of this order.
static constexpr uint32_t kMaxHeader = 1u << 20;

bool xc::isNpy(Span<const uint8_t> bytes) {
  return bytes.size >= sizeof(kMagic) && memcmp(bytes.data, kMagic, sizeof(kMagic)) == 0;
}

namespace {
/// Reads the dictionary from left to right.
class Reader {
public:
  Reader(const char *begin, const char *end) : next(begin), end(end) {}

  bool take(char c) {
    skipSpace();
    if (next == end || *next != c)
      return false;
    ++next;
    return true;
  }
  bool takeWord(const char *word) {
    skipSpace();
    size_t size = strlen(word);
    if (static_cast<size_t>(end - next) < size || memcmp(next, word, size) != 0)
      return false;
    next += size;
    return true;
  }
  bool takeString(xcr_string_view_t *out) {
    if (!take('\''))
      return false;
    const char *begin = next;
    while (next != end && *next != '\'')
      ++next;
    *out = {begin, static_cast<size_t>(next - begin)};
    return take('\'');
  }
  bool takeNumber(int64_t *out) {
    skipSpace();
    const char *begin = next;
    int64_t value = 0;
    for (; next != end && *next >= '0' && *next <= '9'; ++next)
      if (__builtin_mul_overflow(value, int64_t(10), &value) ||
          __builtin_add_overflow(value, int64_t(*next - '0'), &value))
        return false;
    *out = value;
    return next != begin;
  }
  bool isAtEnd() {
    skipSpace();
    return next == end;
  }

private:
  void skipSpace() {
    while (next != end && (*next == ' ' || *next == '\n'))
      ++next;
  }
  const char *next;
  const char *const end;
};
} // namespace

static fb::DType readType(xcr_string_view_t name) {
  static constexpr struct {
    const char *name;
    fb::DType dtype;
  } kTypes[] = {{"|b1", fb::DType::I1},  {"|i1", fb::DType::I8},  {"<i2", fb::DType::I16},
                {"<i4", fb::DType::I32}, {"<i8", fb::DType::I64}, {"|u1", fb::DType::U8},
                {"<u2", fb::DType::U16}, {"<u4", fb::DType::U32}, {"<u8", fb::DType::U64},
                {"<f2", fb::DType::F16}, {"<f4", fb::DType::F32}, {"<f8", fb::DType::F64}};
  for (const auto &type : kTypes)
    if (equal(name, xcr_string(type.name)))
      return type.dtype;
  return fb::DType::None;
}

static bool readShape(Reader &reader, ParameterEntry *entry) {
  if (!reader.take('('))
    return false;
  while (!reader.take(')')) {
    if (entry->rank == XCR_MAX_RANK || !reader.takeNumber(&entry->shape[entry->rank++]))
      return false;
    if (!reader.take(','))
      return reader.take(')');
  }
  return true;
}

static bool readDictionary(Reader reader, ParameterEntry *entry, xcr_string_view_t *type,
                           bool *isColumnMajor) {
  bool hasType = false, hasOrder = false, hasShape = false;
  if (!reader.take('{'))
    return false;
  while (!reader.take('}')) {
    xcr_string_view_t key;
    if (!reader.takeString(&key) || !reader.take(':'))
      return false;
    if (equal(key, xcr_string("descr")) && !hasType) {
      hasType = reader.takeString(type);
      if (!hasType)
        return false;
    } else if (equal(key, xcr_string("fortran_order")) && !hasOrder) {
      *isColumnMajor = reader.takeWord("True");
      hasOrder = *isColumnMajor || reader.takeWord("False");
      if (!hasOrder)
        return false;
    } else if (equal(key, xcr_string("shape")) && !hasShape) {
      hasShape = readShape(reader, entry);
      if (!hasShape)
        return false;
    } else {
      return false;
    }
    if (!reader.take(',')) {
      if (!reader.take('}'))
        return false;
      break;
    }
  }
  return hasType && hasOrder && hasShape && reader.isAtEnd();
}

/// Bytes of the header's length, which stands behind magic and version.
static uint32_t lengthBytes(Span<const uint8_t> prefix) { return prefix[6] == 1 ? 2 : 4; }

uint64_t xc::npyHeaderSize(Span<const uint8_t> prefix) {
  if (prefix.size < kNpyPrefix)
    return prefix.size;
  uint32_t length = 0;
  memcpy(&length, prefix.data + 8, lengthBytes(prefix));
  return 8 + lengthBytes(prefix) + std::min(length, kMaxHeader);
}

Status xc::parseNpyHeader(const HostAllocator &allocator, Span<const uint8_t> bytes,
                          uint64_t fileSize, ParameterEntry *out) {
  auto corrupt = [&](const char *what) {
    return makeStatus(allocator, XCR_STATUS_CORRUPT, "damaged .npy file: %s", what);
  };
  if (bytes.size < 10)
    return corrupt("it ends within its header");
  uint8_t major = bytes[6];
  if (major < 1 || major > 3)
    return makeStatus(allocator, XCR_STATUS_UNSUPPORTED,
                      "a .npy file of version %u; 1 to 3 are known", major);
  uint64_t begin = 8 + lengthBytes(bytes);
  uint32_t length = 0;
  if (bytes.size < begin)
    return corrupt("it ends within its header");
  memcpy(&length, bytes.data + 8, lengthBytes(bytes));
  if (length > kMaxHeader || length > bytes.size - begin)
    return corrupt("it ends within its header");
  const char *text = reinterpret_cast<const char *>(bytes.data + begin);
  ParameterEntry entry;
  xcr_string_view_t type = {nullptr, 0};
  bool isColumnMajor = false;
  if (!readDictionary(Reader(text, text + length), &entry, &type, &isColumnMajor))
    return corrupt("its header is not what NumPy writes");
  entry.dtype = readType(type);
  if (entry.dtype == fb::DType::None)
    return makeStatus(allocator, XCR_STATUS_UNSUPPORTED,
                      "a .npy file of type '%.*s', which is no element type "
                      "here (little-endian numbers and booleans are)",
                      printLength(type), type.data);
  if (isColumnMajor && entry.rank > 1)
    return makeStatus(allocator, XCR_STATUS_UNSUPPORTED,
                      "a .npy file in Fortran order; save it in C order");
  entry.begin = begin + length;
  entry.size = fileSize - entry.begin;
  *out = entry;
  return Status();
}
