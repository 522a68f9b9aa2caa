//===- ArrayPrinter.cpp - Prints arrays the way NumPy does ----------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Floats are printed with the fewest digits that give the value back, at most
// `precision` after the point; all elements shown share one format, which is
// exponential when the largest is 1e8 or more, the smallest below 1e-4, or they
// differ by more than a factor of 1000.
//
//===----------------------------------------------------------------------===//

#include "tools/common/ArrayPrinter.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

namespace xc::tools {

//===----------------------------------------------------------------------===//
// Shortest digits
//===----------------------------------------------------------------------===//

/// The fewest digits that tell |number| from its neighbours of type |dtype|, as
/// "1.25e+10"; |number| is finite.
static std::string shortestScientific(DType dtype, double number) {
  constexpr auto format = std::chars_format::scientific;
  char text[64];
  char *end = text + sizeof(text);
  if (dtype == XCR_DTYPE_F64)
    return {text, std::to_chars(text, end, number, format).ptr};
  if (dtype == XCR_DTYPE_F32)
    return {text, std::to_chars(text, end, float(number), format).ptr};
  // A type of 16 bits needs 5 digits at most; the first length that comes back
  // as the same bits is the shortest.
  uint16_t bits = encodeSmallFloat(dtype, number);
  for (int precision = 0; precision < 6; ++precision) {
    *std::to_chars(text, end, number, format, precision).ptr = '\0';
    if (encodeSmallFloat(dtype, strtod(text, nullptr)) == bits)
      break;
  }
  return text;
}

/// The same digits as "12500000000." or "0.25", filled up with zeros.
static std::string shortestFixed(DType dtype, double number) {
  std::string text = shortestScientific(dtype, number);
  size_t mark = text.find('e');
  int exponent = atoi(text.c_str() + mark + 1);
  std::string sign = text[0] == '-' ? "-" : "";
  std::string digits = text.substr(sign.size(), 1);
  if (mark > sign.size() + 2)
    digits += text.substr(sign.size() + 2, mark - sign.size() - 2);
  if (exponent < 0)
    return sign + "0." + std::string(size_t(-exponent - 1), '0') + digits;
  size_t before = size_t(exponent) + 1;
  if (digits.size() < before)
    digits.resize(before, '0');
  return sign + digits.substr(0, before) + '.' + digits.substr(before);
}

static std::string rounded(double number, std::chars_format format, int precision) {
  char text[400];
  return {text, std::to_chars(text, text + sizeof(text), number, format, precision).ptr};
}

//===----------------------------------------------------------------------===//
// Formats
//===----------------------------------------------------------------------===//

namespace {
/// How the elements of one array are written. Built from all that are shown.
class ElementFormat {
public:
  ElementFormat(const HostArray &array, const std::vector<int64_t> &shown, int precision)
      : array(array), maxPrecision(precision) {
    if (dtypeClass(array.dtype()) == DTypeClass::Float)
      measureFloats(shown);
    else
      for (int64_t index : shown)
        width = std::max(width, plain(index).size());
  }

  std::string operator()(int64_t index) const {
    std::string text = plain(index);
    if (text.size() < width)
      text.insert(0, width - text.size(), ' ');
    return text;
  }

private:
  void measureFloats(const std::vector<int64_t> &shown);
  void chooseNotation(const std::vector<int64_t> &shown);
  std::string plain(int64_t index) const;
  std::string plainFloat(double number) const;
  std::string fixed(double number) const;
  std::string scientific(double number, int fraction) const;

  const HostArray &array;
  int maxPrecision;
  bool exponential = false;
  int exponentFraction = 0;  // digits after the point, exponential
  size_t exponentDigits = 0; // of the exponent, exponential
  size_t right = 0;          // characters after the point, fixed
  size_t width = 0;
};
} // namespace

/// "3.", "0.25": the point stays, zeros at the end go.
std::string ElementFormat::fixed(double number) const {
  std::string text = shortestFixed(array.dtype(), number);
  if (text.size() - text.find('.') - 1 > size_t(maxPrecision)) {
    text = rounded(number, std::chars_format::fixed, maxPrecision);
    text.erase(text.find_last_not_of('0') + 1);
  }
  return text;
}

/// "1.25e+10" with |fraction| digits after the point; -1: as many as it takes.
std::string ElementFormat::scientific(double number, int fraction) const {
  std::string text = shortestScientific(array.dtype(), number);
  size_t exponent = text.find('e');
  size_t digits = exponent > 2 ? exponent - 2 - (text[0] == '-') : 0;
  if (digits > size_t(maxPrecision)) {
    text = rounded(number, std::chars_format::scientific, maxPrecision);
    exponent = text.find('e');
    size_t last = text.find_last_not_of('0', exponent - 1);
    text.erase(last + 1, exponent - last - 1);
    exponent = last + 1;
    digits = exponent - 2 - (text[0] == '-');
  }
  // What fills up to the common length are the value's own further digits.
  if (fraction > int(digits))
    return rounded(number, std::chars_format::scientific, fraction);
  if (digits == 0)
    text.insert(exponent, ".");
  return text;
}

void ElementFormat::chooseNotation(const std::vector<int64_t> &shown) {
  double largest = 0, smallest = INFINITY;
  for (int64_t index : shown) {
    double magnitude = std::fabs(array.floatAt(index));
    if (magnitude == 0 || !std::isfinite(magnitude))
      continue;
    largest = std::max(largest, magnitude);
    smallest = std::min(smallest, magnitude);
  }
  if (largest > 0)
    exponential = largest >= 1e8 || smallest < 1e-4 || largest / smallest > 1000;
}

void ElementFormat::measureFloats(const std::vector<int64_t> &shown) {
  chooseNotation(shown);
  if (exponential) {
    for (int64_t index : shown) {
      double number = array.floatAt(index);
      if (!std::isfinite(number))
        continue;
      std::string text = scientific(number, -1);
      size_t exponent = text.find('e');
      exponentFraction = std::max(exponentFraction, int(exponent - text.find('.') - 1));
      exponentDigits = std::max(exponentDigits, text.size() - exponent - 2);
    }
  } else {
    for (int64_t index : shown) {
      double number = array.floatAt(index);
      if (!std::isfinite(number))
        continue;
      std::string text = fixed(number);
      right = std::max(right, text.size() - text.find('.') - 1);
    }
  }
  for (int64_t index : shown)
    width = std::max(width, plain(index).size());
}

std::string ElementFormat::plainFloat(double number) const {
  if (std::isnan(number))
    return "nan";
  if (std::isinf(number))
    return number < 0 ? "-inf" : "inf";
  if (exponential) {
    std::string text = scientific(number, exponentFraction);
    size_t digits = text.find('e') + 2; // behind "e+"
    return text.insert(digits, exponentDigits - (text.size() - digits), '0');
  }
  std::string text = fixed(number);
  text.append(right - (text.size() - text.find('.') - 1), ' ');
  return text;
}

std::string ElementFormat::plain(int64_t index) const {
  switch (dtypeClass(array.dtype())) {
  case DTypeClass::Float:
    return plainFloat(array.floatAt(index));
  case DTypeClass::Bool:
    if (array.dims().empty())
      return array.integerAt(index) ? "True" : "False";
    return array.integerAt(index) ? " True" : "False";
  case DTypeClass::Unsigned:
    return std::to_string(uint64_t(array.integerAt(index)));
  default:
    return std::to_string(array.integerAt(index));
  }
}

//===----------------------------------------------------------------------===//
// Layout
//===----------------------------------------------------------------------===//

namespace {
/// Walks the dimensions, either to collect what is shown or to write it.
class Printer {
public:
  Printer(const HostArray &array, const PrintOptions &options)
      : array(array), options(options), summarise(array.elementCount() > options.threshold) {}

  std::vector<int64_t> shown() const {
    std::vector<int64_t> indices;
    collect(0, 0, indices);
    return indices;
  }

  std::string print(const ElementFormat &format) const {
    return print(format, 0, 0, " ", options.lineWidth);
  }

private:
  /// Positions along dimension |axis| that are shown; -1 stands for "...".
  std::vector<int64_t> positions(size_t axis) const {
    std::vector<int64_t> result;
    int64_t size = array.dims()[axis], edge = options.edgeItems;
    bool cut = summarise && size > 2 * edge;
    for (int64_t i = 0; i < size; ++i) {
      if (cut && i == edge) {
        result.push_back(-1);
        i = size - edge;
      }
      result.push_back(i);
    }
    return result;
  }

  void collect(size_t axis, int64_t offset, std::vector<int64_t> &indices) const {
    if (axis == array.dims().size())
      return indices.push_back(offset);
    for (int64_t position : positions(axis))
      if (position >= 0)
        collect(axis + 1, offset * array.dims()[axis] + position, indices);
  }

  std::string print(const ElementFormat &format, size_t axis, int64_t offset,
                    const std::string &indent, size_t lineWidth) const;

  const HostArray &array;
  const PrintOptions &options;
  bool summarise;
};
} // namespace

std::string Printer::print(const ElementFormat &format, size_t axis, int64_t offset,
                           const std::string &indent, size_t lineWidth) const {
  size_t rank = array.dims().size();
  if (axis == rank)
    return format(offset);
  auto item = [&](int64_t position) {
    if (position < 0)
      return std::string("...");
    return print(format, axis + 1, offset * array.dims()[axis] + position, indent + ' ',
                 lineWidth - 1);
  };
  std::string text, line = indent;
  std::vector<int64_t> items = positions(axis);
  for (size_t i = 0; i < items.size(); ++i) {
    std::string word = item(items[i]);
    if (axis + 1 < rank) {
      text += indent + word;
      if (i + 1 < items.size())
        text.append(rank - axis - 1, '\n');
      continue;
    }
    // One column is kept for the bracket that ends the row.
    if (line.size() > indent.size() && line.size() + word.size() > lineWidth - 1) {
      line.erase(line.find_last_not_of(' ') + 1);
      text += line + '\n';
      line = indent;
    }
    line += word;
    if (i + 1 < items.size())
      line += ' ';
  }
  if (axis + 1 == rank)
    text += line;
  return '[' + text.substr(indent.size()) + ']';
}

/// A float that is no element of anything: "1.0", "1e-05".
static std::string printScalar(DType dtype, double number) {
  if (!std::isfinite(number))
    return std::isnan(number) ? "nan" : number < 0 ? "-inf" : "inf";
  double magnitude = std::fabs(number);
  if (magnitude != 0 && (magnitude < 1e-4 || magnitude >= 1e16))
    return shortestScientific(dtype, number);
  std::string text = shortestFixed(dtype, number);
  return text.back() == '.' ? text + "0" : text;
}

std::string printArray(const HostArray &array, const PrintOptions &options) {
  if (array.elementCount() == 0)
    return "[]";
  if (array.dims().empty() && dtypeClass(array.dtype()) == DTypeClass::Float)
    return printScalar(array.dtype(), array.floatAt(0));
  Printer printer(array, options);
  return printer.print(ElementFormat(array, printer.shown(), options.precision));
}

} // namespace xc::tools
