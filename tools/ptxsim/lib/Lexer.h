//===- Lexer.h - Tokens of PTX text -----------------------------*- C++ -*-===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PTXSIM_LIB_LEXER_H
#define PTXSIM_LIB_LEXER_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace xc::ptxsim {

enum class TokenKind : uint8_t {
  End,
  Word,    // add, %r1, $L__BB0_1, __local_depot0
  Dot,     // .global, .v4, .L2::128B; the text excludes the dot
  Integer, // value
  Single,  // 0f3F800000; value holds the bits
  Double,  // 0d3FF0000000000000 or a decimal number with a point
  String,  // the text excludes the quotes
  Punct,   // one character
};

struct Token {
  TokenKind kind = TokenKind::End;
  std::string_view text;
  uint64_t value = 0;
  uint32_t line = 0;
  uint32_t column = 0;
  uint32_t begin = 0; // offsets into the text, for instruction texts in reports
  uint32_t end = 0;

  bool is(char c) const { return kind == TokenKind::Punct && text[0] == c; }
  bool isDot(std::string_view s) const { return kind == TokenKind::Dot && text == s; }
  bool isWord(std::string_view s) const { return kind == TokenKind::Word && text == s; }
};

/// Splits |text| into tokens that end with TokenKind::End. Returns false with
/// |error| and its position set on a character that PTX does not know.
bool tokenize(std::string_view text, std::vector<Token> &tokens, std::string &error, uint32_t &line,
              uint32_t &column);

} // namespace xc::ptxsim

#endif // PTXSIM_LIB_LEXER_H
