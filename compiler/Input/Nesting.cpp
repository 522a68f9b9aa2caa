//===- Nesting.cpp - How deep brackets are nested -------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Input/Nesting.h"

#include <algorithm>

namespace xc {

/// The place behind a string that begins at `begin`; strings end with their line at the latest.
static size_t skipString(llvm::StringRef text, size_t begin) {
  for (size_t i = begin + 1; i < text.size(); ++i) {
    if (text[i] == '\\')
      ++i;
    else if (text[i] == '"' || text[i] == '\n')
      return i;
  }
  return text.size();
}

std::optional<size_t> findDeepNesting(llvm::StringRef text) {
  unsigned depth = 0, signs = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    char next = i + 1 < text.size() ? text[i + 1] : '\0';
    // The `-` of `->` is none.
    bool isSign = text[i] == '-' && next != '>';
    if (!isSign && text[i] != ' ' && text[i] != '\t' && text[i] != '\n' && text[i] != '\r')
      signs = 0;
    switch (text[i]) {
    case '"':
      i = skipString(text, i);
      break;
    case '/':
      if (next == '/')
        i = std::min(text.find('\n', i), text.size());
      break;
    case '-':
      if (!isSign)
        ++i;
      else if (++signs > kMaxNesting)
        return i;
      break;
    case '>':
    case '<':
      // `<=` and `>=` compare in sets.
      if (next == '=') {
        ++i;
        break;
      }
      if (text[i] == '>') {
        depth -= depth > 0;
        break;
      }
      [[fallthrough]];
    case '(':
    case '[':
    case '{':
      if (++depth > kMaxNesting)
        return i;
      break;
    case ')':
    case ']':
    case '}':
      depth -= depth > 0;
      break;
    default:
      break;
    }
  }
  return std::nullopt;
}

} // namespace xc
