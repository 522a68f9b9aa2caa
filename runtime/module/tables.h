//===- tables.h - Reading the tables of a module -------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// FlatBuffers gives a null pointer for a vector or string that was not written.
// These treat it as empty.
//
//===----------------------------------------------------------------------===//

#ifndef XC_RUNTIME_MODULE_TABLES_H
#define XC_RUNTIME_MODULE_TABLES_H

#include "runtime/base/formula.h"

#include <type_traits>

namespace xc {

template <typename T> uint32_t count(const flatbuffers::Vector<T> *vector) {
  return vector ? vector->size() : 0;
}

inline xcr_string_view_t text(const flatbuffers::String *string) {
  return string ? xcr_string_view_t{string->c_str(), string->size()} : xcr_string_view_t{"", 0};
}

/// Whether a range lies within a vector.
template <typename T> bool isInside(const fb::Range &range, const flatbuffers::Vector<T> *vector) {
  uint32_t size = count(vector);
  return range.begin() <= size && range.count() <= size - range.begin();
}

/// Whether the elements of vectors lie where their types may. The FlatBuffer
/// verifier checks that only for the length before them.
template <typename... T> bool areAligned(const flatbuffers::Vector<T> *...vectors) {
  auto isAligned = [](const auto *vector) {
    using Element = std::remove_const_t<
        std::remove_pointer_t<typename std::remove_pointer_t<decltype(vector)>::return_type>>;
    return count(vector) == 0 ||
           reinterpret_cast<uintptr_t>(vector->Data()) % alignof(Element) == 0;
  };
  return (isAligned(vectors) && ...);
}

using FormulaCode = flatbuffers::Vector<const fb::FormulaInstruction *>;
using FormulaRanges = flatbuffers::Vector<const fb::Range *>;

/// The instructions of a vector lie one behind the other.
inline const fb::FormulaInstruction *codeOf(const FormulaCode *code, const fb::Range &range) {
  return range.count() ? code->Get(range.begin()) : nullptr;
}

/// Evaluates every formula of a verified table. On an error \p failed is the
/// ordinal of the formula. One that others name is needed by those alone.
FormulaError evaluateAll(const FormulaCode *code, const FormulaRanges *formulas,
                         Span<const int64_t> symbols, Span<int64_t> results, uint32_t *failed);

/// The number that \p value stands for, given the results of its formulas.
inline int64_t valueOf(const fb::Value &value, Span<const int64_t> results) {
  return value.formula() < 0 ? value.literal() : results[static_cast<uint32_t>(value.formula())];
}

} // namespace xc

#endif // XC_RUNTIME_MODULE_TABLES_H
