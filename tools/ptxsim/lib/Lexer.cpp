//===- Lexer.cpp - Tokens of PTX text -------------------------------------===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lexer.h"

#include <cstdlib>
#include <cstring>

using namespace xc::ptxsim;

static bool isDigit(char c) { return c >= '0' && c <= '9'; }
static bool isHexDigit(char c) {
  return isDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
static bool isWordChar(char c) {
  return isDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
}

static uint64_t hexValue(std::string_view digits) {
  uint64_t value = 0;
  for (char c : digits)
    value = value * 16 + static_cast<uint64_t>(isDigit(c) ? c - '0' : (c | 32) - 'a' + 10);
  return value;
}

namespace {
class Scanner {
public:
  explicit Scanner(std::string_view text) : text(text) {}

  bool run(std::vector<Token> &tokens) {
    while (skipBlanks()) {
      Token token;
      token.line = line;
      token.column = column(pos);
      token.begin = static_cast<uint32_t>(pos);
      if (!scan(token))
        return false;
      token.end = static_cast<uint32_t>(pos);
      tokens.push_back(token);
    }
    if (!error.empty())
      return false;
    Token end;
    end.line = line;
    end.column = column(pos);
    end.begin = end.end = static_cast<uint32_t>(pos);
    tokens.push_back(end);
    return true;
  }

  std::string error;
  uint32_t line = 1;
  uint32_t column(size_t at) const { return static_cast<uint32_t>(at - lineStart + 1); }
  size_t pos = 0;

private:
  char peek(size_t ahead = 0) const { return pos + ahead < text.size() ? text[pos + ahead] : '\0'; }

  void newLine() {
    ++line;
    lineStart = pos + 1;
  }

  /// Skips white space and comments; false at the end of the text.
  bool skipBlanks() {
    while (pos < text.size()) {
      char c = text[pos];
      if (c == '\n') {
        newLine();
        ++pos;
      } else if (c == ' ' || c == '\t' || c == '\r') {
        ++pos;
      } else if (c == '/' && peek(1) == '/') {
        while (pos < text.size() && text[pos] != '\n')
          ++pos;
      } else if (c == '/' && peek(1) == '*') {
        for (pos += 2; pos < text.size() && !(text[pos] == '*' && peek(1) == '/'); ++pos)
          if (text[pos] == '\n')
            newLine();
        if (pos >= text.size()) {
          error = "expected '*/' before the end of the text";
          return false;
        }
        pos += 2;
      } else {
        return true;
      }
    }
    return false;
  }

  bool scan(Token &token) {
    char c = peek();
    if (isDigit(c))
      return scanNumber(token);
    if (c == '"')
      return scanString(token);
    if (c == '.' && (isWordChar(peek(1)))) {
      size_t begin = ++pos;
      while (isWordChar(peek()) || (peek() == ':' && peek(1) == ':' && isWordChar(peek(2))))
        pos += peek() == ':' ? 2 : 1;
      token.kind = TokenKind::Dot;
      token.text = text.substr(begin, pos - begin);
      return true;
    }
    if (isWordChar(c) || (c == '%' && isWordChar(peek(1)))) {
      size_t begin = pos++;
      while (isWordChar(peek()))
        ++pos;
      token.kind = TokenKind::Word;
      token.text = text.substr(begin, pos - begin);
      return true;
    }
    if (std::strchr("{}[]()<>,;:@!|&+-*/~=.", c) && c != '\0') {
      token.kind = TokenKind::Punct;
      token.text = text.substr(pos++, 1);
      return true;
    }
    char message[64];
    std::snprintf(message, sizeof(message), "unexpected character 0x%02x",
                  static_cast<unsigned char>(c));
    error = message;
    return false;
  }

  bool scanString(Token &token) {
    size_t begin = ++pos;
    while (pos < text.size() && text[pos] != '"' && text[pos] != '\n')
      pos += text[pos] == '\\' ? 2 : 1;
    if (pos >= text.size() || text[pos] != '"') {
      error = "expected '\"' before the end of the line";
      return false;
    }
    token.kind = TokenKind::String;
    token.text = text.substr(begin, pos++ - begin);
    return true;
  }

  /// 0fHHHHHHHH and 0dHHHHHHHHHHHHHHHH hold the bits of a floating-point
  /// constant.
  bool scanFloatBits(Token &token, unsigned digits) {
    size_t begin = pos + 2;
    for (unsigned i = 0; i < digits; ++i)
      if (!isHexDigit(peek(2 + i)))
        return false;
    token.kind = digits == 8 ? TokenKind::Single : TokenKind::Double;
    token.value = hexValue(text.substr(begin, digits));
    pos = begin + digits;
    return true;
  }

  bool scanNumber(Token &token) {
    size_t begin = pos;
    char second = peek() == '0' ? static_cast<char>(peek(1) | 32) : '\0';
    token.kind = TokenKind::Integer;
    if ((second == 'f' && scanFloatBits(token, 8)) || (second == 'd' && scanFloatBits(token, 16))) {
      token.text = text.substr(begin, pos - begin);
      return true;
    }
    if (second == 'x') {
      for (pos += 2; isHexDigit(peek());)
        ++pos;
      token.value = hexValue(text.substr(begin + 2, pos - begin - 2));
    } else if (second == 'b') {
      for (pos += 2; peek() == '0' || peek() == '1'; ++pos)
        token.value = token.value * 2 + static_cast<uint64_t>(peek() - '0');
    } else {
      bool octal = peek() == '0' && isDigit(peek(1));
      for (; isDigit(peek()); ++pos)
        token.value = token.value * (octal ? 8 : 10) + static_cast<uint64_t>(peek() - '0');
      if (peek() == '.' && isDigit(peek(1)))
        return scanDecimal(token, begin);
    }
    if (peek() == 'U')
      ++pos;
    token.text = text.substr(begin, pos - begin);
    if (isWordChar(peek())) {
      error = "malformed number '" + std::string(text.substr(begin, pos + 1 - begin)) + "'";
      return false;
    }
    return true;
  }

  bool scanDecimal(Token &token, size_t begin) {
    for (++pos; isDigit(peek());)
      ++pos;
    if ((peek() | 32) == 'e') {
      pos += peek(1) == '-' || peek(1) == '+' ? 2 : 1;
      while (isDigit(peek()))
        ++pos;
    }
    token.kind = TokenKind::Double;
    token.text = text.substr(begin, pos - begin);
    double value = std::strtod(std::string(token.text).c_str(), nullptr);
    std::memcpy(&token.value, &value, sizeof(value));
    return true;
  }

  std::string_view text;
  size_t lineStart = 0;
};
} // namespace

bool xc::ptxsim::tokenize(std::string_view text, std::vector<Token> &tokens, std::string &error,
                          uint32_t &line, uint32_t &column) {
  Scanner scanner(text);
  if (scanner.run(tokens))
    return true;
  error = scanner.error;
  line = scanner.line;
  column = scanner.column(scanner.pos);
  return false;
}
