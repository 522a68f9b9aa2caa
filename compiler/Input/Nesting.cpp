//===- Nesting.cpp - How deep brackets are nested -------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Input/Nesting.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

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

namespace {

/// Brackets that are open at a place of a text, and how many operators their formulas have so far.
class OpenBrackets {
public:
  /// False where that is one too many.
  bool open() {
    operators.push_back(0);
    return operators.size() - 1 <= kMaxNesting;
  }
  void close() {
    if (operators.size() == 1)
      return;
    total -= operators.pop_back_val();
  }
  bool addOperator() {
    ++operators.back();
    return ++total <= kMaxOperators;
  }
  void endFormula() {
    total -= operators.back();
    operators.back() = 0;
  }

private:
  llvm::SmallVector<unsigned> operators = {0}; // of the text outside of brackets first
  unsigned total = 0;
};

} // namespace

/// Whether a word that is an operator of affine maps begins at `text`.
static bool startsWithOperator(llvm::StringRef text) {
  return text.starts_with("floordiv ") || text.starts_with("ceildiv ") || text.starts_with("mod ");
}

std::optional<DeepNesting> findDeepNesting(llvm::StringRef text) {
  OpenBrackets brackets;
  unsigned signs = 0;
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
      if (!isSign) {
        ++i;
        break;
      }
      if (++signs > kMaxNesting)
        return DeepNesting{i, kMaxNesting, "levels of brackets or signs"};
      [[fallthrough]];
    case '+':
    case '*':
      if (!brackets.addOperator())
        return DeepNesting{i, kMaxOperators, "operators in a formula"};
      break;
    case ',':
    case '=':
    case ':':
    case '%':
      brackets.endFormula();
      break;
    case '>':
    case '<':
      // `<=` and `>=` compare in sets.
      if (next == '=') {
        ++i;
        break;
      }
      if (text[i] == '>') {
        brackets.close();
        break;
      }
      [[fallthrough]];
    case '(':
    case '[':
    case '{':
      if (!brackets.open())
        return DeepNesting{i, kMaxNesting, "levels of brackets or signs"};
      break;
    case ')':
    case ']':
    case '}':
      brackets.close();
      break;
    default:
      if (startsWithOperator(text.drop_front(i)) && !brackets.addOperator())
        return DeepNesting{i, kMaxOperators, "operators in a formula"};
      break;
    }
  }
  return std::nullopt;
}

/// Calls `visit` for the place of each brace, bracket and parenthesis of `text`.
static void visitBrackets(llvm::StringRef text, llvm::function_ref<void(size_t place)> visit) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"')
      i = skipString(text, i);
    else if (text.substr(i, 2) == "//")
      i = std::min(text.find('\n', i), text.size());
    else if (llvm::StringRef("{[(}])").contains(text[i]))
      visit(i);
  }
}

static bool opens(char bracket) { return llvm::StringRef("{[(").contains(bracket); }

std::optional<size_t> findOpenBracket(llvm::StringRef text) {
  llvm::SmallVector<size_t> open;
  visitBrackets(text, [&](size_t place) {
    if (opens(text[place]))
      open.push_back(place);
    else if (!open.empty())
      open.pop_back();
  });
  return open.empty() ? std::nullopt : std::optional(open.back());
}

bool closesUnopenedBracket(llvm::StringRef text) {
  size_t open = 0;
  bool isUnopened = false;
  visitBrackets(text, [&](size_t place) {
    isUnopened = !opens(text[place]) && open == 0;
    if (opens(text[place]))
      ++open;
    else if (open > 0)
      --open;
  });
  return isUnopened;
}

bool opensBody(llvm::StringRef text) {
  size_t open = 0;
  bool hasBody = false;
  visitBrackets(text, [&](size_t place) {
    hasBody |=
        text[place] == '{' && open == 0 && !text.take_front(place).rtrim().ends_with("attributes");
    if (opens(text[place]))
      ++open;
    else if (open > 0)
      --open;
  });
  return hasBody;
}

} // namespace xc
