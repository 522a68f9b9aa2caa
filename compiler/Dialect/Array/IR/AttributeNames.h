//===- AttributeNames.h - Attributes of functions and what they take ------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The names of discardable attributes that programs may have. ArrayDialect.cpp verifies them; those
// that only passes write are in PassAttributes.h.
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_ARRAY_IR_ATTRIBUTENAMES_H
#define XC_DIALECT_ARRAY_IR_ATTRIBUTENAMES_H

#include "llvm/ADT/StringRef.h"

namespace xc::array {

/// Of an argument or result: what callers call it.
inline constexpr llvm::StringLiteral kNameAttr = "array.name";
/// Of an argument or result: the names of its dims; equal names are equal sizes.
inline constexpr llvm::StringLiteral kDimsAttr = "array.dims";
/// Of a function: the least, the largest and a divisor of the size that a name of a dim stands for.
inline constexpr llvm::StringLiteral kDimRangeAttr = "array.dim_range";
/// Of a function: a sentence that says what it computes, for callers of the module.
inline constexpr llvm::StringLiteral kDocAttr = "array.doc";
/// Of an argument: its buffer may be overwritten.
inline constexpr llvm::StringLiteral kDonatedAttr = "array.donated";
/// Of a result: the argument whose buffer it takes over.
inline constexpr llvm::StringLiteral kAliasAttr = "array.alias";
/// Of an argument, a result, a variable or a parameter: the type that callers see, where the linalg
/// phase stores it as another one.
inline constexpr llvm::StringLiteral kDtypeAttr = "array.dtype";
/// Of attention and its gradient: how many scores may be held at once.
inline constexpr llvm::StringLiteral kMaxScoresAttr = "array.max_scores";

} // namespace xc::array

#endif // XC_DIALECT_ARRAY_IR_ATTRIBUTENAMES_H
