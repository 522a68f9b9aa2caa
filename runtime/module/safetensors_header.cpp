//===- safetensors_header.cpp - The header of a .safetensors file --------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Eight bytes with the length of the header, the header, the data. The header
// is JSON of a fixed form:
//   {"__metadata__": {"format": "pt"},
//    "w": {"dtype": "F32", "shape": [3, 4], "data_offsets": [0, 48]}, ...}
// with offsets that count from the first byte of the data.
//
//===----------------------------------------------------------------------===//

#include "runtime/module/safetensors_header.h"

#include "runtime/base/checked.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>

using namespace xc;

// The limit of the format's own reader.
static constexpr uint64_t kMaxHeader = 100'000'000;

namespace {
class Reader {
public:
  Reader(const HostAllocator &allocator, const char *begin, const char *end, Vector<String> *names)
      : allocator(allocator), next(begin), end(end), names(names) {}

  bool take(char c) {
    skipSpace();
    if (next == end || *next != c)
      return false;
    ++next;
    return true;
  }
  bool isAtEnd() {
    skipSpace();
    return next == end;
  }
  bool takeNumber(uint64_t *out) {
    skipSpace();
    const char *begin = next;
    uint64_t value = 0;
    for (; next != end && *next >= '0' && *next <= '9'; ++next)
      if (multiplyOverflows<uint64_t>(value, 10, &value) ||
          addOverflows<uint64_t>(value, static_cast<uint64_t>(*next - '0'), &value))
        return false;
    *out = value;
    return next != begin;
  }
  /// False for what is no string; \p status for lack of memory.
  bool takeString(xcr_string_view_t *out, Status *status) {
    if (!take('"'))
      return false;
    const char *begin = next;
    bool hasEscapes = false;
    for (; next != end && *next != '"'; ++next) {
      if (static_cast<unsigned char>(*next) < 0x20)
        return false;
      if (*next == '\\') {
        hasEscapes = true;
        if (++next == end)
          return false;
      }
    }
    if (next == end)
      return false;
    *out = {begin, static_cast<size_t>(next - begin)};
    ++next;
    return !hasEscapes || unescape(out, status);
  }

private:
  void skipSpace() {
    while (next != end && (*next == ' ' || *next == '\n' || *next == '\t' || *next == '\r'))
      ++next;
  }
  bool unescape(xcr_string_view_t *text, Status *status);

  const HostAllocator &allocator;
  const char *next;
  const char *const end;
  Vector<String> *const names;
};
} // namespace

/// The four hexadecimal digits at \p text, or -1.
static int32_t readHex(const char *text, const char *end) {
  if (end - text < 4)
    return -1;
  int32_t value = 0;
  for (int i = 0; i < 4; ++i) {
    char c = text[i];
    int digit = c >= '0' && c <= '9'   ? c - '0'
                : c >= 'a' && c <= 'f' ? c - 'a' + 10
                : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                       : -1;
    if (digit < 0)
      return -1;
    value = 16 * value + digit;
  }
  return value;
}

static size_t encodeUtf8(uint32_t point, char *out) {
  if (point < 0x80) {
    out[0] = static_cast<char>(point);
    return 1;
  }
  if (point < 0x800) {
    out[0] = static_cast<char>(0xc0 | point >> 6);
    out[1] = static_cast<char>(0x80 | (point & 0x3f));
    return 2;
  }
  if (point < 0x10000) {
    out[0] = static_cast<char>(0xe0 | point >> 12);
    out[1] = static_cast<char>(0x80 | (point >> 6 & 0x3f));
    out[2] = static_cast<char>(0x80 | (point & 0x3f));
    return 3;
  }
  out[0] = static_cast<char>(0xf0 | point >> 18);
  out[1] = static_cast<char>(0x80 | (point >> 12 & 0x3f));
  out[2] = static_cast<char>(0x80 | (point >> 6 & 0x3f));
  out[3] = static_cast<char>(0x80 | (point & 0x3f));
  return 4;
}

/// The character that an escape at \p text (behind the backslash) stands for;
/// 0 if it is malformed. \p text is moved behind it.
static uint32_t readEscape(const char *&text, const char *end) {
  static constexpr char kFrom[] = "\"\\/bfnrt", kTo[] = "\"\\/\b\f\n\r\t";
  char kind = *text++;
  if (kind != 'u') {
    const char *found = static_cast<const char *>(memchr(kFrom, kind, sizeof(kFrom) - 1));
    return found ? static_cast<uint32_t>(kTo[found - kFrom]) : 0;
  }
  int32_t high = readHex(text, end);
  if (high <= 0)
    return 0;
  text += 4;
  if (high < 0xd800 || high > 0xdfff)
    return static_cast<uint32_t>(high);
  if (high > 0xdbff || end - text < 6 || text[0] != '\\' || text[1] != 'u')
    return 0;
  int32_t low = readHex(text + 2, end);
  if (low < 0xdc00 || low > 0xdfff)
    return 0;
  text += 6;
  return 0x10000u + (static_cast<uint32_t>(high - 0xd800) << 10) +
         static_cast<uint32_t>(low - 0xdc00);
}

bool Reader::unescape(xcr_string_view_t *text, Status *status) {
  String result(allocator);
  const char *from = text->data, *last = text->data + text->size;
  while (from != last && status->succeeded()) {
    const char *plain = from;
    while (from != last && *from != '\\')
      ++from;
    *status = result.append({plain, static_cast<size_t>(from - plain)});
    if (from == last || status->failed())
      break;
    ++from;
    uint32_t point = readEscape(from, last);
    if (point == 0)
      return false;
    char encoded[4];
    *status = result.append({encoded, encodeUtf8(point, encoded)});
  }
  if (status->succeeded())
    *status = names->push(std::move(result));
  if (status->failed())
    return false;
  // The text stays where it is when the vector of names grows.
  *text = names->back().view();
  return true;
}

namespace {
struct TypeName {
  const char *name;
  fb::DType dtype;
};
} // namespace

static constexpr TypeName kTypes[] = {
    {"BOOL", fb::DType::I1}, {"I8", fb::DType::I8},          {"I16", fb::DType::I16},
    {"I32", fb::DType::I32}, {"I64", fb::DType::I64},        {"U8", fb::DType::U8},
    {"U16", fb::DType::U16}, {"U32", fb::DType::U32},        {"U64", fb::DType::U64},
    {"F16", fb::DType::F16}, {"BF16", fb::DType::BF16},      {"F32", fb::DType::F32},
    {"F64", fb::DType::F64}, {"F8_E4M3", fb::DType::F8E4M3}, {"F8_E5M2", fb::DType::F8E5M2}};

static fb::DType readType(xcr_string_view_t name) {
  for (const TypeName &type : kTypes)
    if (equal(name, xcr_string(type.name)))
      return type.dtype;
  return fb::DType::None;
}

/// [a, b, ...] into \p values; false past \p limit of them.
static bool readNumbers(Reader &reader, uint64_t *values, uint32_t limit, uint32_t *count) {
  *count = 0;
  if (!reader.take('['))
    return false;
  if (reader.take(']'))
    return true;
  do {
    if (*count == limit || !reader.takeNumber(&values[(*count)++]))
      return false;
  } while (reader.take(','));
  return reader.take(']');
}

/// What follows the key of an array. False for what is not of the form.
static bool readArray(Reader &reader, uint64_t dataBegin, ParameterEntry *entry, Status *status) {
  bool hasType = false, hasShape = false, hasOffsets = false;
  if (!reader.take('{'))
    return false;
  do {
    xcr_string_view_t key, type;
    uint64_t values[XCR_MAX_RANK];
    uint32_t count;
    if (!reader.takeString(&key, status) || !reader.take(':'))
      return false;
    if (equal(key, xcr_string("dtype")) && !hasType) {
      hasType = true;
      if (!reader.takeString(&type, status))
        return false;
      entry->dtype = readType(type);
    } else if (equal(key, xcr_string("shape")) && !hasShape) {
      hasShape = true;
      if (!readNumbers(reader, values, XCR_MAX_RANK, &entry->rank))
        return false;
      for (uint32_t i = 0; i < entry->rank; ++i) {
        if (values[i] > INT64_MAX)
          return false;
        entry->shape[i] = static_cast<int64_t>(values[i]);
      }
    } else if (equal(key, xcr_string("data_offsets")) && !hasOffsets) {
      hasOffsets = true;
      if (!readNumbers(reader, values, 2, &count) || count != 2 || values[0] > values[1] ||
          addOverflows(dataBegin, values[0], &entry->begin))
        return false;
      entry->size = values[1] - values[0];
    } else {
      return false;
    }
  } while (reader.take(','));
  return reader.take('}') && hasType && hasShape && hasOffsets;
}

/// {"key": "value", ...}, which nobody here needs.
static bool skipMetadata(Reader &reader, Status *status) {
  xcr_string_view_t text;
  if (!reader.take('{'))
    return false;
  if (reader.take('}'))
    return true;
  do {
    if (!reader.takeString(&text, status) || !reader.take(':') || !reader.takeString(&text, status))
      return false;
  } while (reader.take(','));
  return reader.take('}');
}

uint64_t xc::safetensorsHeaderSize(Span<const uint8_t> prefix) {
  uint64_t length;
  if (prefix.size < kSafetensorsPrefix)
    return prefix.size;
  memcpy(&length, prefix.data, sizeof(length));
  return sizeof(length) + std::min<uint64_t>(length, kMaxHeader);
}

Status xc::parseSafetensorsHeader(const HostAllocator &allocator, Span<const uint8_t> bytes,
                                  Vector<ParameterEntry> *entries, Vector<String> *names) {
  auto corrupt = [&](const char *what) {
    return makeStatus(allocator, XCR_STATUS_CORRUPT,
                      "neither a .npy nor a good .safetensors file: %s", what);
  };
  uint64_t length;
  if (bytes.size < sizeof(length))
    return corrupt("it is too short");
  memcpy(&length, bytes.data, sizeof(length));
  if (length > kMaxHeader || length > bytes.size - sizeof(length))
    return corrupt("the length of its header passes its end");
  const char *begin = reinterpret_cast<const char *>(bytes.data + sizeof(length));
  Reader reader(allocator, begin, begin + length, names);
  uint64_t dataBegin = sizeof(length) + length;
  if (!reader.take('{'))
    return corrupt("its header is no JSON object");
  if (reader.take('}'))
    return reader.isAtEnd() ? Status() : corrupt("its header goes on too long");
  do {
    Status status;
    ParameterEntry entry;
    bool isGood = reader.takeString(&entry.key, &status) && reader.take(':');
    bool isMetadata = isGood && equal(entry.key, xcr_string("__metadata__"));
    if (isMetadata)
      isGood = skipMetadata(reader, &status);
    else if (isGood)
      isGood = readArray(reader, dataBegin, &entry, &status);
    XCR_RETURN_IF_ERROR(std::move(status));
    if (!isGood)
      return corrupt("its header is not of the format");
    // Files may hold types that the model does not use.
    if (!isMetadata && entry.dtype != fb::DType::None)
      XCR_RETURN_IF_ERROR(entries->push(entry));
  } while (reader.take(','));
  return reader.take('}') && reader.isAtEnd() ? Status()
                                              : corrupt("its header is not of the format");
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static const char *typeName(fb::DType dtype) {
  for (const TypeName &type : kTypes)
    if (type.dtype == dtype)
      return type.name;
  return "";
}

static Status appendNumber(uint64_t number, String *out) {
  char text[24];
  snprintf(text, sizeof(text), "%" PRIu64, number);
  return out->append(xcr_string(text));
}

static Status appendQuoted(xcr_string_view_t text, String *out) {
  XCR_RETURN_IF_ERROR(out->append(xcr_string("\"")));
  for (size_t i = 0; i < text.size; ++i) {
    unsigned char c = static_cast<unsigned char>(text.data[i]);
    char escape[8];
    if (c == '"' || c == '\\')
      snprintf(escape, sizeof(escape), "\\%c", c);
    else if (c < 0x20)
      snprintf(escape, sizeof(escape), "\\u%04x", c);
    else
      snprintf(escape, sizeof(escape), "%c", c);
    XCR_RETURN_IF_ERROR(out->append(xcr_string(escape)));
  }
  return out->append(xcr_string("\""));
}

/// ,"key":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}; offsets count from the data on.
static Status appendEntry(const ParameterEntry &entry, String *out) {
  XCR_RETURN_IF_ERROR(out->append(xcr_string(",")));
  XCR_RETURN_IF_ERROR(appendQuoted(entry.key, out));
  for (const char *part : {":{\"dtype\":\"", typeName(entry.dtype), "\",\"shape\":["})
    XCR_RETURN_IF_ERROR(out->append(xcr_string(part)));
  for (uint32_t i = 0; i < entry.rank; ++i) {
    XCR_RETURN_IF_ERROR(out->append(xcr_string(i ? "," : "")));
    XCR_RETURN_IF_ERROR(appendNumber(static_cast<uint64_t>(entry.shape[i]), out));
  }
  XCR_RETURN_IF_ERROR(out->append(xcr_string("],\"data_offsets\":[")));
  XCR_RETURN_IF_ERROR(appendNumber(entry.begin, out));
  XCR_RETURN_IF_ERROR(out->append(xcr_string(",")));
  XCR_RETURN_IF_ERROR(appendNumber(entry.begin + entry.size, out));
  return out->append(xcr_string("]}"));
}

Status xc::formatSafetensorsHeader(Span<ParameterEntry> entries, String *out) {
  // Some readers want to be told that this is a file of theirs. The first bytes make room for the
  // length.
  static constexpr char kBegin[] = "12345678{\"__metadata__\":{\"format\":\"pt\"}";
  XCR_RETURN_IF_ERROR(out->assign({kBegin, sizeof(kBegin) - 1}));
  uint64_t position = 0;
  for (ParameterEntry &entry : entries) {
    entry.begin = position;
    position += entry.size;
    XCR_RETURN_IF_ERROR(appendEntry(entry, out));
  }
  XCR_RETURN_IF_ERROR(out->append(xcr_string("}")));
  while (out->view().size % 8 != 0)
    XCR_RETURN_IF_ERROR(out->append(xcr_string(" ")));
  const uint64_t size = out->view().size, length = size - kSafetensorsPrefix;
  memcpy(out->data(), &length, sizeof(length));
  for (ParameterEntry &entry : entries)
    entry.begin += size;
  return Status();
}
