//===- Nesting.h - How deep brackets are nested ---------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_INPUT_NESTING_H
#define XC_INPUT_NESTING_H

#include "llvm/ADT/StringRef.h"

#include <optional>

namespace xc {

/// Levels of brackets, or signs in a row, that MLIR's parser may have to go down into. It calls
/// itself for each, and a few thousand would exhaust the stack.
inline constexpr unsigned kMaxNesting = 256;

/// Operators of an affine map, those around the bracket that is read included. The parser, and all
/// that looks at the map later, calls itself for each.
inline constexpr unsigned kMaxOperators = 1024;

/// A place that is too deep: one more than `most` of `what`.
struct DeepNesting {
  size_t place;
  unsigned most;
  llvm::StringRef what;
};

/// The first such place in `text` (MLIR's textual form), if any. Strings and comments do not count.
std::optional<DeepNesting> findDeepNesting(llvm::StringRef text);

/// The place of the innermost brace, bracket or parenthesis that `text` (MLIR's textual form) opens
/// and does not close. Strings and comments do not count.
std::optional<size_t> findOpenBracket(llvm::StringRef text);

/// Whether `text` closes more braces, brackets or parentheses at its end than it has opened.
bool closesUnopenedBracket(llvm::StringRef text);

/// Whether `text`, a function from its first word on, has the brace that begins its body: one
/// within no other bracket that is not the one of its attributes.
bool opensBody(llvm::StringRef text);

} // namespace xc

#endif // XC_INPUT_NESTING_H
