//===- NearestNames.h - Names that were probably meant --------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_ARRAY_NEARESTNAMES_H
#define XC_ARRAY_NEARESTNAMES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace xc {

/// The at most three of `known` that are most like `unknown`, the nearest first: those that are
/// few edits away, or hold it, or are in it.
llvm::SmallVector<llvm::StringRef> findNearest(llvm::StringRef unknown,
                                               llvm::ArrayRef<llvm::StringRef> known);

/// "did you mean 'a', 'b' or 'c'?" of the names that are most like `unknown`; empty where none is.
std::string suggestNames(llvm::StringRef unknown, llvm::ArrayRef<llvm::StringRef> known);

/// The same; where none is like it, "there are a, b", or the three that differ least of more.
std::string describeNames(llvm::StringRef unknown, llvm::ArrayRef<llvm::StringRef> known);

} // namespace xc

#endif // XC_ARRAY_NEARESTNAMES_H
