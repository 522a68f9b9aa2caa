//===- PTXText.cpp - What a PTX text says of itself -----------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads as little as is needed: directives of module scope and the heads of kernels. What the
// bodies say is for the assembler.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Kernel/IR/PTXText.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

namespace xc::kernel {

static bool isNameChar(char c) { return llvm::isAlnum(c) || c == '_' || c == '$' || c == '%'; }

std::string dropComments(llvm::StringRef text) {
  std::string result;
  bool isQuoted = false;
  while (!text.empty()) {
    if (!isQuoted && text.starts_with("//")) {
      text = text.drop_until([](char c) { return c == '\n'; });
      continue;
    }
    if (!isQuoted && text.starts_with("/*")) {
      size_t end = text.find("*/", 2);
      text = end == llvm::StringRef::npos ? llvm::StringRef() : text.drop_front(end + 2);
      result += ' ';
      continue;
    }
    isQuoted ^= text.front() == '"';
    result += text.front();
    text = text.drop_front();
  }
  return result;
}

std::string dropLineInfo(llvm::StringRef text) {
  std::string result;
  while (!text.empty()) {
    llvm::StringRef directive =
        text.ltrim(" \t").take_until([](char c) { return llvm::isSpace(c) || c == '{'; });
    size_t line = std::min(text.find('\n'), text.size() - 1) + 1;
    if (directive == ".section")
      text = text.drop_front(std::min(text.find('}'), text.size() - 1) + 1);
    else if (directive == ".file" || directive == ".loc")
      text = text.drop_front(line);
    else {
      result += text.take_front(line);
      text = text.drop_front(line);
    }
  }
  return result;
}

llvm::SmallVector<PTXEntry> findEntries(llvm::StringRef text) {
  constexpr llvm::StringLiteral keyword = ".entry";
  llvm::SmallVector<PTXEntry> entries;
  for (size_t at = text.find(keyword); at != llvm::StringRef::npos; at = text.find(keyword, at)) {
    at += keyword.size();
    llvm::StringRef rest = text.drop_front(at);
    llvm::StringRef trimmed = rest.ltrim();
    size_t begin = at + (rest.size() - trimmed.size());
    llvm::StringRef name = trimmed.take_while(isNameChar);
    if (name.empty() || begin == at)
      continue;
    PTXEntry entry{{begin, begin + name.size()}, {}};
    llvm::StringRef behind = trimmed.drop_front(name.size()).ltrim();
    if (behind.consume_front("(")) {
      llvm::StringRef list = behind.take_until([](char c) { return c == ')'; });
      if (!list.trim().empty())
        list.split(entry.parameters, ',');
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

std::optional<unsigned> getIntegerBits(llvm::StringRef parameter) {
  if (parameter.contains('['))
    return std::nullopt;
  llvm::SmallVector<llvm::StringRef> words;
  llvm::SplitString(parameter, words);
  for (llvm::StringRef word : words) {
    unsigned bits = llvm::StringSwitch<unsigned>(word)
                        .Cases({".u64", ".s64", ".b64"}, 64)
                        .Cases({".u32", ".s32", ".b32"}, 32)
                        .Default(0);
    if (bits != 0)
      return bits;
  }
  return std::nullopt;
}

/// "8.0" as 80.
static std::optional<unsigned> parseVersion(llvm::StringRef text) {
  auto [major, minor] = text.split('.');
  unsigned majorNumber, minorNumber;
  if (major.getAsInteger(10, majorNumber) || minor.getAsInteger(10, minorNumber) || minorNumber > 9)
    return std::nullopt;
  return majorNumber * 10 + minorNumber;
}

std::optional<PTXHeader> takeHeader(llvm::StringRef text, std::string &error) {
  auto takeDirective = [&](llvm::StringRef name) -> std::optional<llvm::StringRef> {
    text = text.ltrim();
    if (!text.consume_front(name))
      return std::nullopt;
    auto [line, rest] = text.split('\n');
    text = rest;
    return line.trim();
  };
  PTXHeader header;
  std::optional<llvm::StringRef> version = takeDirective(".version");
  std::optional<unsigned> number = version ? parseVersion(*version) : std::nullopt;
  std::optional<llvm::StringRef> target = number ? takeDirective(".target") : std::nullopt;
  std::optional<llvm::StringRef> bits = target ? takeDirective(".address_size") : std::nullopt;
  if (!number)
    error = "'.version MAJOR.MINOR' in the first line";
  else if (!target)
    error = "'.target ARCH' behind '.version'";
  else if (!target->starts_with("sm_") || !llvm::all_of(*target, isNameChar))
    error = "one architecture sm_NN and no option behind '.target', got '" + target->str() + "'";
  else if (bits != llvm::StringRef("64"))
    error = "'.address_size 64' behind '.target'";
  if (!error.empty())
    return std::nullopt;
  return PTXHeader{*number, *target, text};
}

} // namespace xc::kernel
