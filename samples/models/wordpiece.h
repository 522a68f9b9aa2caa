//===- wordpiece.h - Text as the tokens of a BERT vocabulary -----*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The tokenizer of uncased BERT models: text becomes words and punctuation, in lower case and
// without accents; each word becomes the longest pieces that the vocabulary has. Letters of Latin
// (to U+017F), Greek and Cyrillic lose case and accents. Letters of other scripts stay as they are,
// where the original tokenizer may fold some.
//
//===----------------------------------------------------------------------===//

#ifndef XC_SAMPLES_MODELS_WORDPIECE_H
#define XC_SAMPLES_MODELS_WORDPIECE_H

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

class WordPiece {
public:
  /// Reads a vocabulary, one piece on each line; throws std::runtime_error where it cannot, or
  /// where a special piece is missing.
  explicit WordPiece(const std::string &path);

  /// `[CLS]`, the pieces of \p text in UTF-8, `[SEP]`: at most \p limit tokens.
  std::vector<int32_t> encode(std::string_view text, size_t limit) const;

private:
  void addWord(const std::string &word, std::vector<int32_t> &tokens) const;
  int32_t find(const std::string &piece) const;

  std::unordered_map<std::string, int32_t> ids;
  int32_t unknown, begin, end;
};

#endif // XC_SAMPLES_MODELS_WORDPIECE_H
