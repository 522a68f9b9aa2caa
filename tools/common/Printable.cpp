//===- Printable.cpp - Text of files on terminals -------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/common/Printable.h"

#include <cstdio>

namespace xc::tools {

/// Whether the character at |index| controls a terminal.
static bool isControl(std::string_view text, size_t index) {
  unsigned char c = static_cast<unsigned char>(text[index]);
  if (c < 0x20 || c == 0x7f)
    return true;
  if (c != 0xc2 || index + 1 == text.size())
    return false;
  unsigned char next = static_cast<unsigned char>(text[index + 1]);
  return next >= 0x80 && next < 0xa0;
}

std::string printable(std::string_view text, bool keepsLines) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    if (!isControl(text, i) || (keepsLines && text[i] == '\n')) {
      result += text[i];
      continue;
    }
    char escape[8];
    snprintf(escape, sizeof(escape), "\\x%02x", static_cast<unsigned char>(text[i]));
    result += escape;
  }
  return result;
}

} // namespace xc::tools
