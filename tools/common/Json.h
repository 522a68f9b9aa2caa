//===- Json.h - Writes JSON -----------------------------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A writer that goes through a document once and keeps commas, indentation and
// escapes right. What JSON cannot hold (NaN, infinity) is written as null.
//
//===----------------------------------------------------------------------===//

#ifndef XC_TOOLS_COMMON_JSON_H
#define XC_TOOLS_COMMON_JSON_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace xc::tools {

class JsonWriter {
public:
  void beginObject() { open('{'); }
  void endObject() { close('}'); }
  void beginArray() { open('['); }
  void endArray() { close(']'); }

  /// The name of the next value of the current object.
  void key(std::string_view name);

  void value(std::string_view text);
  void value(const char *text) { value(std::string_view(text)); }
  void value(const std::string &text) { value(std::string_view(text)); }
  void value(double number);
  void value(int64_t number);
  void value(uint64_t number);
  void value(int number) { value(int64_t(number)); }
  void value(unsigned number) { value(uint64_t(number)); }
  void value(bool truth);
  void null();

  template <typename T> void field(std::string_view name, const T &content) {
    key(name);
    value(content);
  }

  /// The document; every object and array must have been ended.
  const std::string &str() const;

private:
  struct Level {
    char close;
    bool empty = true;
  };
  void open(char bracket);
  void close(char bracket);
  void beforeValue();
  void newLine();

  std::string text;
  std::vector<Level> levels;
  bool afterKey = false;
};

} // namespace xc::tools

#endif // XC_TOOLS_COMMON_JSON_H
