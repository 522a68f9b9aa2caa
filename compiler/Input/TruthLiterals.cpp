//===- TruthLiterals.cpp - Truth values in hexadecimal literals -----------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Input/TruthLiterals.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CheckedArithmetic.h"

#include <optional>
#include <string>

using llvm::StringRef;

namespace xc {

/// How many elements `tensor<4x8xi1>` has, which `text` begins with.
static std::optional<uint64_t> countTruths(StringRef text) {
  if (!text.consume_front("tensor<"))
    return std::nullopt;
  uint64_t count = 1, size = 0;
  while (!text.consume_front("i1>")) {
    if (text.consumeInteger(10, size) || !text.consume_front("x"))
      return std::nullopt;
    std::optional<uint64_t> product = llvm::checkedMulUnsigned(count, size);
    if (!product)
      return std::nullopt;
    count = *product;
  }
  return count;
}

/// The digits of bytes with a bit for each of `digits`' bytes, if all of these are 0 or 1.
static std::optional<std::string> pack(StringRef digits) {
  std::string bytes((digits.size() / 2 + 7) / 8, '\0');
  for (size_t i = 0; i < digits.size() / 2; ++i) {
    if (digits[2 * i] != '0' || (digits[2 * i + 1] != '0' && digits[2 * i + 1] != '1'))
      return std::nullopt;
    if (digits[2 * i + 1] == '1')
      bytes[i / 8] |= static_cast<char>(1 << (i % 8));
  }
  return llvm::toHex(bytes);
}

std::unique_ptr<llvm::MemoryBuffer> packTruthLiterals(std::unique_ptr<llvm::MemoryBuffer> buffer) {
  constexpr StringRef begin = "dense<\"0x", between = "\"> : ";
  StringRef text = buffer->getBuffer();
  std::string changed;
  for (size_t at = text.find(begin); at != StringRef::npos; at = text.find(begin, at)) {
    at += begin.size();
    StringRef digits = text.drop_front(at).take_while(llvm::isHexDigit);
    StringRef rest = text.drop_front(at + digits.size());
    // One truth value has as many digits in both ways.
    if (!rest.consume_front(between) || digits.size() < 4)
      continue;
    std::optional<uint64_t> count = countTruths(rest);
    if (!count || digits.size() % 2 != 0 || *count != digits.size() / 2)
      continue;
    std::optional<std::string> packed = pack(digits);
    if (!packed)
      continue;
    if (changed.empty())
      changed = text.str();
    std::string literal = *packed + "\"";
    literal.resize(digits.size() + 1, ' ');
    changed.replace(at, literal.size(), literal);
  }
  if (changed.empty())
    return buffer;
  return llvm::MemoryBuffer::getMemBufferCopy(changed, buffer->getBufferIdentifier());
}

} // namespace xc
