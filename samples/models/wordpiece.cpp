//===- wordpiece.cpp - Text as the tokens of a BERT vocabulary -------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "wordpiece.h"

#include <fstream>
#include <stdexcept>

/// Longer words are unknown, as in the original.
static constexpr size_t kLongestWord = 100;

//===----------------------------------------------------------------------===//
// Characters
//===----------------------------------------------------------------------===//

/// Takes one character from the front of \p text; U+FFFD for bytes that are no UTF-8.
static char32_t takeCharacter(std::string_view &text) {
  auto byte = [&](size_t i) { return i < text.size() ? uint8_t(text[i]) : 0u; };
  unsigned first = byte(0);
  size_t length = first < 0x80 ? 1 : first >> 5 == 6 ? 2 : first >> 4 == 14 ? 3 : 4;
  char32_t character = length == 1 ? first : first & (0xffu >> (length + 1));
  bool isSound = length < 4 || first >> 3 == 30;
  for (size_t i = 1; i < length; ++i) {
    isSound &= byte(i) >> 6 == 2;
    character = character << 6 | (byte(i) & 0x3f);
  }
  text.remove_prefix(isSound ? length : 1);
  return isSound ? character : 0xfffd;
}

static void append(std::string &text, char32_t c) {
  if (c < 0x80) {
    text += char(c);
  } else if (c < 0x800) {
    text += {char(0xc0 | c >> 6), char(0x80 | (c & 0x3f))};
  } else if (c < 0x10000) {
    text += {char(0xe0 | c >> 12), char(0x80 | (c >> 6 & 0x3f)), char(0x80 | (c & 0x3f))};
  } else {
    text += {char(0xf0 | c >> 18), char(0x80 | (c >> 12 & 0x3f)), char(0x80 | (c >> 6 & 0x3f)),
             char(0x80 | (c & 0x3f))};
  }
}

static bool isBetween(char32_t c, char32_t first, char32_t last) { return c >= first && c <= last; }

static bool isSpace(char32_t c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == 0xa0 || c == 0x1680 ||
         isBetween(c, 0x2000, 0x200a) || c == 0x202f || c == 0x205f || c == 0x3000;
}

/// Characters that do not count: controls, and marks that change the direction of text.
static bool isIgnored(char32_t c) {
  return c < 0x20 || isBetween(c, 0x7f, 0x9f) || c == 0xad || c == 0xfffd || c == 0xfeff ||
         isBetween(c, 0x200b, 0x200f) || isBetween(c, 0x202a, 0x202e) ||
         isBetween(c, 0x2060, 0x206f);
}

/// Accents that combine with the letter before them.
static bool isAccent(char32_t c) { return isBetween(c, 0x300, 0x36f); }

/// A word of its own: punctuation, and characters of Chinese.
static bool standsAlone(char32_t c) {
  bool isAscii = isBetween(c, 33, 47) || isBetween(c, 58, 64) || isBetween(c, 91, 96) ||
                 isBetween(c, 123, 126);
  bool isMark = c == 0xa1 || c == 0xa7 || c == 0xab || c == 0xb6 || c == 0xb7 || c == 0xbb ||
                c == 0xbf || isBetween(c, 0x2010, 0x2027) || isBetween(c, 0x2030, 0x205e) ||
                isBetween(c, 0x3001, 0x3003) || isBetween(c, 0x3008, 0x3011) ||
                isBetween(c, 0x3014, 0x301f) || isBetween(c, 0xff01, 0xff0f) ||
                isBetween(c, 0xff1a, 0xff20);
  // These two are symbols, not punctuation.
  isMark &= c != 0x2044 && c != 0x2052;
  bool isChinese = isBetween(c, 0x4e00, 0x9fff) || isBetween(c, 0x3400, 0x4dbf) ||
                   isBetween(c, 0x20000, 0x2ceaf) || isBetween(c, 0xf900, 0xfaff) ||
                   isBetween(c, 0x2f800, 0x2fa1f);
  return isAscii || isMark || isChinese;
}

/// Lower-case letters without accents for U+00C0 to U+017F; a space where the character stays.
static constexpr char kLatin[] = "aaaaaa ceeeeiiii nooooo  uuuuy  "
                                 "aaaaaa ceeeeiiii nooooo  uuuuy y"
                                 "aaaaaaccccccccdd  eeeeeeeeeegggg"
                                 "gggghh  iiiiiiiii   jjkk llllll "
                                 "   nnnnnn   oooooo  rrrrrrssssss"
                                 "sstttt  uuuuuuuuuuuuwwyyyzzzzzz ";
static_assert(sizeof(kLatin) == 0x180 - 0xc0 + 1);

/// Lower case without an accent.
static char32_t fold(char32_t c) {
  if (c >= 'A' && c <= 'Z')
    return c + 32;
  if (isBetween(c, 0xc0, 0x17f)) {
    if (kLatin[c - 0xc0] != ' ')
      return char32_t(kLatin[c - 0xc0]);
    if (c == 0xc6 || c == 0xd0 || c == 0xd8 || c == 0xde) // AE, eth, O with stroke, thorn
      return c + 32;
    bool isUpper = c == 0x110 || c == 0x126 || c == 0x132 || c == 0x13f || c == 0x141 ||
                   c == 0x14a || c == 0x152 || c == 0x166;
    return isUpper ? c + 1 : c;
  }
  switch (c) { // Greek and Cyrillic letters with accents
  case 0x386:
  case 0x3ac:
    return 0x3b1;
  case 0x388:
  case 0x3ad:
    return 0x3b5;
  case 0x389:
  case 0x3ae:
    return 0x3b7;
  case 0x38a:
  case 0x3af:
  case 0x390:
  case 0x3ca:
  case 0x3aa:
    return 0x3b9;
  case 0x38c:
  case 0x3cc:
    return 0x3bf;
  case 0x38e:
  case 0x3cd:
  case 0x3b0:
  case 0x3cb:
  case 0x3ab:
    return 0x3c5;
  case 0x38f:
  case 0x3ce:
    return 0x3c9;
  case 0x419:
  case 0x439:
    return 0x438;
  case 0x400:
  case 0x450:
  case 0x401:
  case 0x451:
    return 0x435;
  case 0x403:
  case 0x453:
    return 0x433;
  case 0x407:
  case 0x457:
    return 0x456;
  case 0x40c:
  case 0x45c:
    return 0x43a;
  case 0x40d:
  case 0x45d:
    return 0x438;
  case 0x40e:
  case 0x45e:
    return 0x443;
  default:
    break;
  }
  if (isBetween(c, 0x391, 0x3a9) || isBetween(c, 0x410, 0x42f))
    return c + 32;
  return isBetween(c, 0x400, 0x40f) ? c + 80 : c;
}

//===----------------------------------------------------------------------===//
// Words and pieces
//===----------------------------------------------------------------------===//

/// The words of \p text: parts between spaces, and what stands alone.
static std::vector<std::string> splitWords(std::string_view text) {
  std::vector<std::string> words(1);
  while (!text.empty()) {
    char32_t c = takeCharacter(text);
    bool isBreak = isSpace(c) || standsAlone(c);
    if (isBreak && !words.back().empty())
      words.emplace_back();
    if (isSpace(c) || isIgnored(c) || isAccent(c))
      continue;
    append(words.back(), fold(c));
    if (isBreak)
      words.emplace_back();
  }
  if (words.back().empty())
    words.pop_back();
  return words;
}

static size_t countCharacters(const std::string &word) {
  size_t count = 0;
  for (char c : word)
    count += (uint8_t(c) & 0xc0) != 0x80;
  return count;
}

WordPiece::WordPiece(const std::string &path) {
  std::ifstream file(path);
  std::string line;
  for (int32_t id = 0; std::getline(file, line); ++id)
    ids.emplace(line, id);
  unknown = find("[UNK]");
  begin = find("[CLS]");
  end = find("[SEP]");
  if (unknown < 0 || begin < 0 || end < 0)
    throw std::runtime_error("'" + path + "' is no vocabulary with [UNK], [CLS] and [SEP]");
}

int32_t WordPiece::find(const std::string &piece) const {
  auto found = ids.find(piece);
  return found == ids.end() ? -1 : found->second;
}

/// The longest piece that the vocabulary has, then the longest of what is left, and so on; one
/// unknown token where something is left that it does not have.
void WordPiece::addWord(const std::string &word, std::vector<int32_t> &tokens) const {
  size_t known = tokens.size();
  bool isKnown = countCharacters(word) <= kLongestWord;
  for (size_t start = 0; isKnown && start < word.size();) {
    size_t stop = word.size();
    int32_t id = -1;
    for (; stop > start; --stop) {
      id = find((start == 0 ? "" : "##") + word.substr(start, stop - start));
      if (id >= 0)
        break;
    }
    isKnown = id >= 0;
    tokens.push_back(id);
    start = stop;
  }
  if (!isKnown) {
    tokens.resize(known);
    tokens.push_back(unknown);
  }
}

std::vector<int32_t> WordPiece::encode(std::string_view text, size_t limit) const {
  std::vector<int32_t> tokens{begin};
  for (const std::string &word : splitWords(text))
    addWord(word, tokens);
  if (tokens.size() > limit - 1)
    tokens.resize(limit - 1);
  tokens.push_back(end);
  return tokens;
}
