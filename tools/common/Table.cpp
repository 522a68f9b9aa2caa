//===- Table.cpp - Prints aligned columns ---------------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/common/Table.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdio>

namespace xc::tools {

Table::Table(const std::vector<std::string> &names) {
  for (const std::string &name : names) {
    bool right = !name.empty() && name[0] == '>';
    rightAligned.push_back(right);
    headings.push_back(right ? name.substr(1) : name);
  }
}

void Table::addRow(std::vector<std::string> cells) {
  assert(cells.size() == headings.size() && "a cell for each column");
  rows.push_back(std::move(cells));
}

std::string Table::str(unsigned indent) const {
  std::vector<size_t> widths;
  for (size_t i = 0; i < headings.size(); ++i) {
    size_t width = headings[i].size();
    for (const auto &row : rows)
      width = std::max(width, row[i].size());
    widths.push_back(width);
  }
  std::string out;
  auto addLine = [&](const std::vector<std::string> &cells) {
    std::string line(indent, ' ');
    for (size_t i = 0; i < cells.size(); ++i) {
      std::string padding(widths[i] - cells[i].size(), ' ');
      line += i ? "  " : "";
      line += rightAligned[i] ? padding + cells[i] : cells[i] + padding;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + '\n';
  };
  addLine(headings);
  for (const auto &row : rows)
    addLine(row);
  return out;
}

std::string formatSignificant(double number, int digits) {
  int before = number == 0 ? 1 : int(std::floor(std::log10(std::fabs(number)))) + 1;
  char text[64];
  snprintf(text, sizeof(text), "%.*f", std::max(0, digits - before), number);
  return text;
}

static std::string withUnit(double number, const char *unit) {
  return formatSignificant(number) + " " + unit;
}

std::string formatSeconds(double seconds) {
  double magnitude = std::fabs(seconds);
  if (magnitude >= 1)
    return withUnit(seconds, "s");
  if (magnitude >= 1e-3)
    return withUnit(seconds * 1e3, "ms");
  if (magnitude >= 1e-6)
    return withUnit(seconds * 1e6, "us");
  return withUnit(seconds * 1e9, "ns");
}

std::string formatBytes(uint64_t bytes) {
  static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024)
    return std::to_string(bytes) + " B";
  double number = double(bytes) / 1024;
  size_t unit = 0;
  for (; number >= 1024 && unit + 1 < std::size(units); ++unit)
    number /= 1024;
  std::string text = formatSignificant(number);
  if (text.find('.') != std::string::npos)
    text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.')
    text.pop_back();
  return text + " " + units[unit];
}

std::string formatCount(uint64_t number, const char *one, const char *many) {
  return std::to_string(number) + " " + (number == 1 ? one : many);
}

} // namespace xc::tools
