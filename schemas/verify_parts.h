//===- verify_parts.h - Counting what tables share --------------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// FlatBuffers' verifier counts the tables that it looks at, and no strings and vectors. Tables may
// share those, so a small file could have the same bytes looked at a million times, by the verifier
// and by all who read the tables behind it. The functions here count them as tables. What
// xc_add_fbs_header generates calls them in place of the verifier's.
//
// They count less than one for each 8 bytes of a file that shares nothing: ModuleLimits has that
// number as the fewest bytes of a table.
//
//===----------------------------------------------------------------------===//

#ifndef XC_SCHEMAS_VERIFY_PARTS_H
#define XC_SCHEMAS_VERIFY_PARTS_H

#include "flatbuffers/flatbuffers.h"

namespace xc {

/// Counts \p parts as tables of which each has ended; false if those are too many.
inline bool countParts(flatbuffers::Verifier &verifier, uint64_t parts) {
  for (; parts != 0; --parts)
    if (!verifier.VerifyComplexity() || !verifier.EndTable())
      return false;
  return true;
}

inline bool countBytes(flatbuffers::Verifier &verifier, uint64_t bytes) {
  constexpr uint64_t kBytesPerPart = 64;
  return countParts(verifier, bytes / kBytesPerPart);
}

inline bool verifyString(flatbuffers::Verifier &verifier, const flatbuffers::String *string) {
  return verifier.VerifyString(string) && (!string || countBytes(verifier, string->size()));
}

template <typename T>
bool verifyVector(flatbuffers::Verifier &verifier, const flatbuffers::Vector<T> *vector) {
  constexpr uint64_t kStride = flatbuffers::IndirectHelper<T>::element_stride;
  return verifier.VerifyVector(vector) &&
         (!vector || countBytes(verifier, kStride * vector->size()));
}

/// What the offsets lead to is counted one by one.
template <typename T>
bool verifyVector(flatbuffers::Verifier &verifier,
                  const flatbuffers::Vector<flatbuffers::Offset<T>> *vector) {
  return verifier.VerifyVector(vector);
}

inline bool
verifyVectorOfStrings(flatbuffers::Verifier &verifier,
                      const flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>> *vector) {
  for (flatbuffers::uoffset_t i = 0; vector && i < vector->size(); ++i)
    if (!countParts(verifier, 1) || !verifyString(verifier, vector->Get(i)))
      return false;
  return true;
}

} // namespace xc

#endif // XC_SCHEMAS_VERIFY_PARTS_H
