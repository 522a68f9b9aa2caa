//===- InputSpec.cpp - Arrays as the command line gives them --------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/common/InputSpec.h"

#include "tools/common/NpyFile.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

namespace xc::tools {

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

/// The type that \p name means, also as a program spells it: ui8 is u8.
static DType dtypeFromName(std::string_view name) {
  std::string known(name);
  if (name.substr(0, 2) == "ui")
    known.erase(1, 1);
  return xcr_dtype_from_name({known.data(), known.size()});
}

Error parseShapeAndType(std::string_view text, DType &dtype, std::vector<int64_t> &dims) {
  auto bad = [&](const std::string &why) {
    return Error("expected a shape and type such as 2x3xf32, got '" + std::string(text) + "'" +
                 why);
  };
  dims.clear();
  const char *at = text.data(), *end = at + text.size();
  while (at != end && (isdigit(*at) || *at == '-')) {
    int64_t dim;
    auto parsed = std::from_chars(at, end, dim);
    if (parsed.ec == std::errc::result_out_of_range)
      return bad(": a dimension does not fit into 63 bits");
    if (parsed.ec != std::errc() || parsed.ptr == end || *parsed.ptr != 'x')
      return bad("");
    if (dim < 0)
      return bad(": a dimension is negative");
    dims.push_back(dim);
    at = parsed.ptr + 1;
  }
  std::string_view name(at, size_t(end - at));
  dtype = dtypeFromName(name);
  if (dtype == XCR_DTYPE_NONE)
    return bad(": unknown type '" + std::string(name) + "'; known are " + knownDTypes());
  return Error::success();
}

static bool consumePrefix(std::string_view &text, std::string_view prefix) {
  if (text.substr(0, prefix.size()) != prefix)
    return false;
  text.remove_prefix(prefix.size());
  return true;
}

static Error parseNumber(std::string_view text, double &number) {
  std::string copy(text);
  char *end = nullptr;
  number = strtod(copy.c_str(), &end);
  if (copy.empty() || *end)
    return Error("expected a number, got '" + copy + "'");
  return Error::success();
}

/// Bits of an integer type; 0 for any other.
static int integerBits(DType dtype) {
  switch (dtype) {
  case XCR_DTYPE_I8:
  case XCR_DTYPE_U8:
    return 8;
  case XCR_DTYPE_I16:
  case XCR_DTYPE_U16:
    return 16;
  case XCR_DTYPE_I32:
  case XCR_DTYPE_U32:
    return 32;
  case XCR_DTYPE_I64:
  case XCR_DTYPE_U64:
    return 64;
  default:
    return 0;
  }
}

static Error checkFloatRange(DType dtype, double low, double high) {
  double most = dtype == XCR_DTYPE_F16 ? 65504
                : dtype == XCR_DTYPE_F32 || dtype == XCR_DTYPE_BF16
                    ? std::numeric_limits<float>::max()
                    : std::numeric_limits<double>::max();
  if (-most <= low && high <= most)
    return Error::success();
  char text[160];
  snprintf(text, sizeof(text), "expected a range LOW:HIGH within %g to %g for %s, got %g:%g", -most,
           most, std::string(dtypeName(dtype)).c_str(), low, high);
  return Error(text);
}

/// Whether the numbers of a type reach from \p low to \p high.
static Error checkRange(DType dtype, double low, double high) {
  int bits = integerBits(dtype);
  if (bits == 0)
    return checkFloatRange(dtype, low, high);
  if (low != std::floor(low) || high != std::floor(high)) {
    char text[160];
    snprintf(text, sizeof(text), "expected whole numbers as range LOW:HIGH for %s, got %g:%g",
             std::string(dtypeName(dtype)).c_str(), low, high);
    return Error(text);
  }
  bool isSigned = dtype <= XCR_DTYPE_I64;
  double least = isSigned ? -std::ldexp(1.0, bits - 1) : 0;
  double end = std::ldexp(1.0, isSigned ? bits - 1 : bits);
  if (low >= least && high <= end)
    return Error::success();
  char text[160];
  snprintf(text, sizeof(text), "expected a range LOW:HIGH within %.0f to %.0f for %s, got %g:%g",
           least, end - 1, std::string(dtypeName(dtype)).c_str(), low, high);
  return Error(text);
}

/// What follows "random:": SHAPE:SEED or SHAPE:SEED:LOW:HIGH.
static Error parseRandom(std::string_view text, InputSpec &spec) {
  std::vector<std::string_view> parts;
  while (true) {
    size_t colon = text.find(':');
    parts.push_back(text.substr(0, colon));
    if (colon == std::string_view::npos)
      break;
    text.remove_prefix(colon + 1);
  }
  if (parts.size() != 2 && parts.size() != 4)
    return Error("expected random:SHAPE:SEED or random:SHAPE:SEED:LOW:HIGH, "
                 "such as random:2x3xf32:7");
  if (Error error = parseShapeAndType(parts[0], spec.dtype, spec.dims))
    return error;
  const char *end = parts[1].data() + parts[1].size();
  auto parsed = std::from_chars(parts[1].data(), end, spec.seed);
  if (parsed.ec != std::errc() || parsed.ptr != end)
    return Error("expected a whole number as seed, got '" + std::string(parts[1]) + "'");
  if (parts.size() == 2)
    return Error::success();
  double low, high;
  if (Error error = parseNumber(parts[2], low))
    return error;
  if (Error error = parseNumber(parts[3], high))
    return error;
  if (!(low < high) || !std::isfinite(high - low))
    return Error("expected a range LOW:HIGH with LOW below HIGH, got '" + std::string(parts[2]) +
                 ":" + std::string(parts[3]) + "'");
  if (Error error = checkRange(spec.dtype, low, high))
    return error;
  spec.low = low;
  spec.high = high;
  return Error::success();
}

/// Whether |text| begins a value, so that it holds no argument's name. A shape
/// begins with a digit or is a type's name; an argument is called neither.
static bool beginsValue(std::string_view text) {
  if (text.empty() || text[0] == '@' || isdigit(text[0]) || text[0] == '-')
    return true;
  if (consumePrefix(text, "random:") || consumePrefix(text, "zeros:"))
    return true;
  std::string_view word = text.substr(0, text.find('='));
  return dtypeFromName(word) != XCR_DTYPE_NONE;
}

static Error parseValue(std::string_view text, InputSpec &spec) {
  if (consumePrefix(text, "@")) {
    spec.kind = InputSpec::Kind::File;
    spec.path = std::string(text);
    if (text.empty())
      return Error("expected a file name after '@'");
    return Error::success();
  }
  if (consumePrefix(text, "random:")) {
    spec.kind = InputSpec::Kind::Random;
    return parseRandom(text, spec);
  }
  if (consumePrefix(text, "zeros:")) {
    spec.kind = InputSpec::Kind::Zeros;
    return parseShapeAndType(text, spec.dtype, spec.dims);
  }
  size_t equals = text.find('=');
  if (equals == std::string_view::npos)
    return Error("expected @FILE.npy, SHAPE=VALUES, random:SHAPE:SEED or "
                 "zeros:SHAPE, got '" +
                 std::string(text) + "'");
  spec.kind = InputSpec::Kind::Literal;
  spec.values = std::string(text.substr(equals + 1));
  return parseShapeAndType(text.substr(0, equals), spec.dtype, spec.dims);
}

Result<InputSpec> parseInputSpec(const std::string &text) {
  InputSpec spec;
  std::string_view value = text;
  size_t equals = value.find('=');
  if (equals != std::string_view::npos && !beginsValue(value)) {
    spec.name = std::string(value.substr(0, equals));
    value.remove_prefix(equals + 1);
  }
  if (Error error = parseValue(value, spec))
    return error;
  return spec;
}

//===----------------------------------------------------------------------===//
// Making
//===----------------------------------------------------------------------===//

/// The number range of an integer type of |bits| bits.
static bool fitsInteger(DType dtype, bool negative, uint64_t magnitude) {
  unsigned bits = unsigned(8 * xcr_dtype_size(dtype));
  switch (dtypeClass(dtype)) {
  case DTypeClass::Bool:
    return !negative && magnitude <= 1;
  case DTypeClass::Unsigned:
    return (!negative || !magnitude) && (bits == 64 || magnitude < uint64_t(1) << bits);
  default:
    return magnitude <= (uint64_t(1) << (bits - 1)) - (negative ? 0 : 1);
  }
}

static Error setElement(HostArray &array, int64_t index, const std::string &word) {
  DType dtype = array.dtype();
  auto bad = [&](const char *what) {
    return Error(std::string("expected ") + what + " for " + std::string(dtypeName(dtype)) +
                 ", got '" + word + "'");
  };
  if (dtypeClass(dtype) == DTypeClass::Float) {
    double number;
    if (parseNumber(word, number))
      return bad("a number");
    array.setFloat(index, number);
    return Error::success();
  }
  if (dtypeClass(dtype) == DTypeClass::Bool && (word == "true" || word == "false")) {
    array.setInteger(index, word == "true");
    return Error::success();
  }
  bool negative = word[0] == '-';
  uint64_t magnitude;
  const char *end = word.data() + word.size();
  auto parsed = std::from_chars(word.data() + negative, end, magnitude);
  if (parsed.ptr != end || parsed.ec != std::errc() || !fitsInteger(dtype, negative, magnitude))
    return bad("a whole number in range");
  array.setInteger(index, int64_t(negative ? 0 - magnitude : magnitude));
  return Error::success();
}

/// The element at |index| again in every later place.
static void fillFromFirst(HostArray &array) {
  for (int64_t i = 1; i < array.elementCount(); ++i)
    if (dtypeClass(array.dtype()) == DTypeClass::Float)
      array.setFloat(i, array.floatAt(0));
    else
      array.setInteger(i, array.integerAt(0));
}

static Result<HostArray> makeLiteral(const InputSpec &spec) {
  // Brackets and commas may show the structure but are not needed.
  std::vector<std::string> words;
  std::string word;
  for (char c : spec.values + " ") {
    if (!strchr("[](), \t\n", c)) {
      word += c;
    } else if (!word.empty()) {
      words.push_back(std::move(word));
      word.clear();
    }
  }
  Result<HostArray> array = HostArray::create(spec.dtype, spec.dims);
  if (!array)
    return array;
  bool splat = words.size() == 1 && array->elementCount() != 1;
  if (!splat && int64_t(words.size()) != array->elementCount())
    return Error("expected " + std::to_string(array->elementCount()) + " values or one for " +
                 array->shapeString() + ", got " + std::to_string(words.size()));
  int64_t given = std::min(int64_t(words.size()), array->elementCount());
  for (int64_t i = 0; i < given; ++i)
    if (Error error = setElement(*array, i, words[size_t(i)]))
      return error;
  if (splat)
    fillFromFirst(*array);
  return array;
}

Result<HostArray> makeRandomArray(DType dtype, std::vector<int64_t> dims, uint64_t seed,
                                  std::optional<double> low, std::optional<double> high) {
  Result<HostArray> array = HostArray::create(dtype, std::move(dims));
  if (!array)
    return array;
  // SplitMix64: one multiplication chain a number, the same on every machine.
  uint64_t state = seed;
  auto next = [&] {
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    z ^= z >> 31;
    return double(z >> 11) * 0x1p-53; // [0, 1)
  };
  DTypeClass kind = dtypeClass(dtype);
  double from = low.value_or(kind == DTypeClass::Float ? -1 : kind == DTypeClass::Signed ? -8 : 0);
  double to = high.value_or(kind == DTypeClass::Float      ? 1
                            : kind == DTypeClass::Signed   ? 8
                            : kind == DTypeClass::Unsigned ? 16
                                                           : 2);
  for (int64_t i = 0; i < array->elementCount(); ++i) {
    double number = from + (to - from) * next();
    if (kind == DTypeClass::Float)
      array->setFloat(i, number);
    else
      array->setInteger(i, int64_t(std::floor(number)));
  }
  return array;
}

Result<HostArray> makeArray(const InputSpec &spec) {
  switch (spec.kind) {
  case InputSpec::Kind::File:
    return readNpy(spec.path);
  case InputSpec::Kind::Literal:
    return makeLiteral(spec);
  case InputSpec::Kind::Random:
    return makeRandomArray(spec.dtype, spec.dims, spec.seed, spec.low, spec.high);
  case InputSpec::Kind::Zeros:
    break;
  }
  Result<HostArray> array = HostArray::create(spec.dtype, spec.dims);
  if (array)
    memset(array->data(), 0, array->sizeInBytes());
  return array;
}

void adoptType(HostArray &array, DType wanted) {
  DType have = array.dtype();
  bool twoBytes = (have == XCR_DTYPE_U16 || have == XCR_DTYPE_BF16) &&
                  (wanted == XCR_DTYPE_BF16 || wanted == XCR_DTYPE_F16);
  bool oneByte = have == XCR_DTYPE_U8 && (wanted == XCR_DTYPE_F8E4M3 || wanted == XCR_DTYPE_F8E5M2);
  if (twoBytes || oneByte)
    array.reinterpretAs(wanted);
}

} // namespace xc::tools
