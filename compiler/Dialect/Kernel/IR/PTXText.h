//===- PTXText.h - What a PTX text says of itself -------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_KERNEL_IR_PTXTEXT_H
#define XC_DIALECT_KERNEL_IR_PTXTEXT_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"

#include <optional>
#include <string>

namespace xc::kernel {

/// `text` without its comments. Line breaks stay.
std::string dropComments(llvm::StringRef text);

/// `text`, which has no comments, without what is for debuggers alone: .file, .loc and .section.
/// Its labels and numbers are those of one module, and would clash with those of others.
std::string dropLineInfo(llvm::StringRef text);

/// Where one word lies in a text.
struct PTXWord {
  size_t begin, end;
};

struct PTXEntry {
  PTXWord name;
  /// What stands between the commas of the parameter list.
  llvm::SmallVector<llvm::StringRef> parameters;
};

/// The kernels of a text without comments, in order.
llvm::SmallVector<PTXEntry> findEntries(llvm::StringRef text);

/// Bits of a parameter that is one integer (or has no type but its size); nothing for others.
std::optional<unsigned> getIntegerBits(llvm::StringRef parameter);

/// What must stand at the top of a text: the directives, and what is behind them.
struct PTXHeader {
  unsigned version; // 80 = 8.0
  llvm::StringRef target;
  llvm::StringRef body;
};

/// Takes the header off a text without comments. Where it is not as expected, `error` says what is.
std::optional<PTXHeader> takeHeader(llvm::StringRef text, std::string &error);

} // namespace xc::kernel

#endif // XC_DIALECT_KERNEL_IR_PTXTEXT_H
