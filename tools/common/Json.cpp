//===- Json.cpp - Writes JSON ---------------------------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/common/Json.h"

#include <cassert>
#include <charconv>
#include <cmath>
#include <cstdio>

namespace xc::tools {

static void appendQuoted(std::string &out, std::string_view text) {
  out += '"';
  for (char c : text) {
    switch (c) {
    case '"':
      out += "\\\"";
      break;
    case '\\':
      out += "\\\\";
      break;
    case '\n':
      out += "\\n";
      break;
    case '\t':
      out += "\\t";
      break;
    case '\r':
      out += "\\r";
      break;
    default:
      if (static_cast<unsigned char>(c) < 0x20) {
        char escape[8];
        snprintf(escape, sizeof(escape), "\\u%04x", c);
        out += escape;
      } else {
        out += c;
      }
    }
  }
  out += '"';
}

void JsonWriter::newLine() {
  text += '\n';
  text.append(2 * levels.size(), ' ');
}

void JsonWriter::beforeValue() {
  if (afterKey) {
    afterKey = false;
    return;
  }
  if (levels.empty())
    return;
  assert(levels.back().close == ']' && "a value in an object needs a key");
  if (!levels.back().empty)
    text += ',';
  levels.back().empty = false;
  newLine();
}

void JsonWriter::open(char bracket) {
  beforeValue();
  text += bracket;
  levels.push_back({bracket == '{' ? '}' : ']'});
}

void JsonWriter::close(char bracket) {
  assert(!levels.empty() && levels.back().close == bracket && !afterKey && "brackets must match");
  bool empty = levels.back().empty;
  levels.pop_back();
  if (!empty)
    newLine();
  text += bracket;
}

void JsonWriter::key(std::string_view name) {
  assert(!levels.empty() && levels.back().close == '}' && !afterKey &&
         "a key belongs into an object");
  if (!levels.back().empty)
    text += ',';
  levels.back().empty = false;
  newLine();
  appendQuoted(text, name);
  text += ": ";
  afterKey = true;
}

void JsonWriter::value(std::string_view content) {
  beforeValue();
  appendQuoted(text, content);
}

void JsonWriter::value(double number) {
  if (!std::isfinite(number))
    return null();
  beforeValue();
  char digits[32];
  auto end = std::to_chars(digits, digits + sizeof(digits), number).ptr;
  text.append(digits, end);
}

void JsonWriter::value(int64_t number) {
  beforeValue();
  text += std::to_string(number);
}

void JsonWriter::value(uint64_t number) {
  beforeValue();
  text += std::to_string(number);
}

void JsonWriter::value(bool truth) {
  beforeValue();
  text += truth ? "true" : "false";
}

void JsonWriter::null() {
  beforeValue();
  text += "null";
}

const std::string &JsonWriter::str() const {
  assert(levels.empty() && "the document is not complete");
  return text;
}

} // namespace xc::tools
