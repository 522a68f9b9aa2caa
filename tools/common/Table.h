//===- Table.h - Prints aligned columns -----------------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_TOOLS_COMMON_TABLE_H
#define XC_TOOLS_COMMON_TABLE_H

#include <cstdint>
#include <string>
#include <vector>

namespace xc::tools {

/// Rows of text under a heading. Columns named with a leading '>' are aligned
/// to the right; that is for numbers.
class Table {
public:
  explicit Table(const std::vector<std::string> &headings);
  void addRow(std::vector<std::string> cells);
  bool empty() const { return rows.empty(); }

  /// The table, each line indented by |indent| blanks.
  std::string str(unsigned indent = 0) const;

private:
  std::vector<std::string> headings;
  std::vector<bool> rightAligned;
  std::vector<std::vector<std::string>> rows;
};

/// |number| with |digits| significant digits and no exponent: 1234.5 -> "1234".
std::string formatSignificant(double number, int digits = 4);

/// A duration with the unit that reads best: "12.3 us".
std::string formatSeconds(double seconds);

/// A size: "512 B", "1.5 MiB", "66 KiB".
std::string formatBytes(uint64_t bytes);

/// "1 dispatch", "2 dispatches".
std::string formatCount(uint64_t number, const char *one, const char *many);

} // namespace xc::tools

#endif // XC_TOOLS_COMMON_TABLE_H
