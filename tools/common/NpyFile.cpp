//===- NpyFile.cpp - Reads and writes .npy files --------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/common/NpyFile.h"

#include "tools/common/OutputFile.h"
#include "tools/common/Printable.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <sys/stat.h>

namespace xc::tools {

static constexpr std::string_view kMagic("\x93NUMPY", 6);

namespace {
/// What the dictionary of the header says.
struct NpyHeader {
  DType dtype = XCR_DTYPE_NONE;
  bool swapBytes = false;
  bool fortranOrder = false;
  std::vector<int64_t> dims;
};

struct CloseFile {
  void operator()(FILE *file) const { fclose(file); }
};
using File = std::unique_ptr<FILE, CloseFile>;
} // namespace

//===----------------------------------------------------------------------===//
// Header
//===----------------------------------------------------------------------===//

/// The text of the value of |key| in the header's dictionary; empty if absent.
static std::string_view dictValue(std::string_view dict, std::string_view key) {
  for (char quote : {'\'', '"'}) {
    std::string quoted = quote + std::string(key) + quote;
    size_t at = dict.find(quoted);
    if (at == std::string_view::npos)
      continue;
    size_t begin = dict.find(':', at + quoted.size());
    if (begin == std::string_view::npos)
      return {};
    begin = dict.find_first_not_of(' ', begin + 1);
    if (begin == std::string_view::npos)
      return {};
    char close = dict[begin] == '(' ? ')' : ',';
    if (dict[begin] == '\'' || dict[begin] == '"')
      close = dict[begin];
    size_t end = dict.find_first_of(close == ',' ? ",}" : std::string(1, close), begin + 1);
    if (end == std::string_view::npos)
      return {};
    return dict.substr(begin, end - begin + (close == ',' ? 0 : 1));
  }
  return {};
}

static Error parseDescr(std::string_view descr, NpyHeader &header) {
  static constexpr struct {
    std::string_view code;
    DType dtype;
  } codes[] = {{"b1", XCR_DTYPE_I1},  {"i1", XCR_DTYPE_I8},  {"i2", XCR_DTYPE_I16},
               {"i4", XCR_DTYPE_I32}, {"i8", XCR_DTYPE_I64}, {"u1", XCR_DTYPE_U8},
               {"u2", XCR_DTYPE_U16}, {"u4", XCR_DTYPE_U32}, {"u8", XCR_DTYPE_U64},
               {"f2", XCR_DTYPE_F16}, {"f4", XCR_DTYPE_F32}, {"f8", XCR_DTYPE_F64},
               {"V2", XCR_DTYPE_BF16}};
  std::string_view inner = descr.size() >= 2 ? descr.substr(1, descr.size() - 2) : descr;
  if (!inner.empty() && strchr("<>|=", inner[0])) {
    header.swapBytes = inner[0] == '>';
    inner.remove_prefix(1);
  }
  for (const auto &entry : codes)
    if (entry.code == inner) {
      header.dtype = entry.dtype;
      return Error::success();
    }
  std::string known;
  for (const auto &entry : codes)
    known += (known.empty() ? "" : ", ") + std::string(entry.code);
  return Error("has the element type " + std::string(descr) + "; known are " + known);
}

static Error parseShape(std::string_view text, std::vector<int64_t> &dims) {
  auto bad = [&] {
    return Error("has the shape '" + std::string(text) +
                 "', expected a tuple of numbers that are not negative");
  };
  if (text.size() < 2 || text.front() != '(' || text.back() != ')')
    return bad();
  const char *at = text.data() + 1, *end = text.data() + text.size() - 1;
  auto skipBlanks = [&] {
    while (at != end && *at == ' ')
      ++at;
  };
  for (skipBlanks(); at != end; skipBlanks()) {
    int64_t dim;
    auto parsed = std::from_chars(at, end, dim);
    if (parsed.ec != std::errc() || dim < 0)
      return bad();
    dims.push_back(dim);
    at = parsed.ptr;
    skipBlanks();
    if (at == end)
      break;
    if (*at++ != ',')
      return bad();
  }
  // In Python (4) is a number.
  if (dims.size() == 1 && text.find(',') == std::string_view::npos)
    return bad();
  return Error::success();
}

/// Whether a header is one dictionary of three keys and nothing more, as NumPy wants it.
static bool isDictOfThree(std::string_view dict) {
  size_t last = dict.find_last_not_of(" \n");
  if (last == std::string_view::npos || dict.front() != '{' || dict[last] != '}')
    return false;
  char quote = 0; // that is open
  int keys = 0;
  for (char c : dict.substr(1, last - 1)) {
    if (quote || c == '\'' || c == '"')
      quote = quote == c ? 0 : quote ? quote : c;
    else if (c == '{' || c == '}')
      return false;
    else
      keys += c == ':';
  }
  return !quote && keys == 3;
}

static Error parseDict(std::string_view dict, NpyHeader &header) {
  std::string_view descr = dictValue(dict, "descr");
  std::string_view order = dictValue(dict, "fortran_order");
  std::string_view shape = dictValue(dict, "shape");
  if (descr.empty() || order.empty() || shape.empty())
    return Error("has a header without descr, fortran_order and shape");
  if (!isDictOfThree(dict))
    return Error("has a header that is more than descr, fortran_order and shape");
  if (Error error = parseDescr(descr, header))
    return error;
  while (!order.empty() && order.back() == ' ')
    order.remove_suffix(1);
  if (order != "True" && order != "False")
    return Error("has a header whose fortran_order is neither True nor False, but " +
                 printable(order));
  header.fortranOrder = order == "True";
  return parseShape(shape, header.dims);
}

/// Reads up to the data. |remaining|: bytes of the file, reduced by what is
/// read.
static Error readHeader(FILE *file, uint64_t &remaining, NpyHeader &header) {
  auto readBytes = [&](void *target, uint64_t size) {
    if (size > remaining || fread(target, 1, size, file) != size)
      return false;
    remaining -= size;
    return true;
  };
  char prefix[8];
  if (!readBytes(prefix, sizeof(prefix)) || std::string_view(prefix, kMagic.size()) != kMagic)
    return Error("is not a .npy file: it does not begin with \\x93NUMPY");
  int version = prefix[6];
  if (version < 1 || version > 3)
    return Error("has .npy version " + std::to_string(version) + "; known are 1, 2 and 3");
  uint8_t length[4] = {};
  uint64_t lengthSize = version == 1 ? 2 : 4;
  if (!readBytes(length, lengthSize))
    return Error("ends within its header");
  uint64_t dictSize = length[0] | length[1] << 8 | length[2] << 16 | uint64_t(length[3]) << 24;
  if (dictSize > remaining)
    return Error("says that its header takes " + std::to_string(dictSize) + " bytes, but only " +
                 std::to_string(remaining) + " follow");
  std::string dict(dictSize, '\0');
  if (!readBytes(dict.data(), dictSize))
    return Error("ends within its header");
  return parseDict(dict, header);
}

//===----------------------------------------------------------------------===//
// Data
//===----------------------------------------------------------------------===//

static void swapElements(HostArray &array) {
  size_t size = xcr_dtype_size(array.dtype());
  for (int64_t i = 0; i < array.elementCount(); ++i)
    std::reverse(array.data() + i * int64_t(size), array.data() + (i + 1) * int64_t(size));
}

/// Row-major elements from the column-major ones in |columns|.
static Result<HostArray> toRowMajor(const HostArray &columns) {
  Result<HostArray> rows = HostArray::create(columns.dtype(), columns.dims());
  if (!rows)
    return rows;
  const std::vector<int64_t> &dims = columns.dims();
  size_t size = xcr_dtype_size(columns.dtype());
  std::vector<int64_t> index(dims.size(), 0);
  for (int64_t i = 0; i < columns.elementCount(); ++i) {
    int64_t target = 0;
    for (size_t d = 0; d < dims.size(); ++d)
      target = target * dims[d] + index[d];
    memcpy(rows->data() + target * int64_t(size), columns.data() + i * int64_t(size), size);
    for (size_t d = 0; d < dims.size() && ++index[d] == dims[d]; ++d)
      index[d] = 0;
  }
  return rows;
}

static Result<HostArray> readOpenFile(FILE *file) {
  struct stat info;
  if (fstat(fileno(file), &info) != 0)
    return Error(std::string("cannot be examined: ") + strerror(errno));
  if (!S_ISREG(info.st_mode))
    return Error("is not a regular file");
  uint64_t remaining = uint64_t(info.st_size);
  NpyHeader header;
  if (Error error = readHeader(file, remaining, header))
    return error;
  Result<uint64_t> size = byteSize(header.dtype, header.dims);
  if (!size)
    return Error("cannot be read: " + size.error().message());
  // Before anything is allocated: a header may promise terabytes.
  if (*size != remaining)
    return Error("says that it holds " + shapeString(header.dtype, header.dims) + ", which takes " +
                 std::to_string(*size) + " bytes, but " + std::to_string(remaining) +
                 " bytes follow its header");
  Result<HostArray> array = HostArray::create(header.dtype, header.dims);
  if (!array)
    return Error("cannot be read: " + array.error().message());
  if (fread(array->data(), 1, *size, file) != *size)
    return Error("ended while it was read");
  if (header.dtype == XCR_DTYPE_I1)
    for (int64_t i = 0; i < array->elementCount(); ++i)
      array->setInteger(i, array->integerAt(i) != 0);
  if (header.swapBytes)
    swapElements(*array);
  if (header.fortranOrder && header.dims.size() > 1)
    return toRowMajor(*array);
  return array;
}

Result<HostArray> readNpy(const std::string &path) {
  // A pipe would make the caller wait for whoever writes it, and has no size to check by.
  struct stat information;
  if (stat(path.c_str(), &information) == 0 && !S_ISREG(information.st_mode))
    return Error("cannot read '" + path + "': not a regular file");
  File file(fopen(path.c_str(), "rb"));
  if (!file)
    return Error("cannot open '" + path + "': " + strerror(errno));
  Result<HostArray> array = readOpenFile(file.get());
  if (!array)
    return Error("'" + path + "' " + array.error().message());
  return array;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static std::string_view descrOf(DType dtype) {
  static constexpr std::string_view descrs[] = {"",    "|b1", "|i1", "<i2", "<i4", "<i8",
                                                "|u1", "<u2", "<u4", "<u8", "<f2", "|V2",
                                                "<f4", "<f8", "|u1", "|u1"};
  return descrs[size_t(dtype)];
}

std::string npyHeader(const HostArray &array) {
  std::string shape;
  for (int64_t dim : array.dims())
    shape += std::to_string(dim) + ", ";
  // A tuple of one keeps its comma, longer ones do not.
  if (!shape.empty())
    shape.resize(shape.size() - (array.dims().size() == 1 ? 1 : 2));
  std::string dict = "{'descr': '" + std::string(descrOf(array.dtype())) +
                     "', 'fortran_order': False, 'shape': (" + shape + "), }";
  constexpr size_t alignment = 64;
  bool isLong = kMagic.size() + 4 + dict.size() + alignment > 65535;
  size_t prefix = kMagic.size() + 2 + (isLong ? 4 : 2);
  size_t total = (prefix + dict.size() + 1 + alignment - 1) / alignment * alignment;
  dict.resize(total - prefix - 1, ' ');
  dict += '\n';
  std::string header(kMagic);
  header += isLong ? '\x02' : '\x01';
  header += '\0';
  for (size_t i = 0; i < (isLong ? 4u : 2u); ++i)
    header += char(dict.size() >> (8 * i) & 0xff);
  return header + dict;
}

Error writeNpy(const std::string &path, const HostArray &array) {
  return writeFile(path, npyHeader(array), array.data(), array.sizeInBytes());
}

} // namespace xc::tools
