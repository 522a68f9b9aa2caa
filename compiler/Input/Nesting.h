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

/// Where in `text` (MLIR's textual form) the level after kMaxNesting begins; nothing if it does
/// not. Strings and comments do not count.
std::optional<size_t> findDeepNesting(llvm::StringRef text);

} // namespace xc

#endif // XC_INPUT_NESTING_H
