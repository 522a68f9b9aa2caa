//===- NearestNames.cpp - Names that were probably meant ------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/NearestNames.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <optional>

using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

namespace xc {

static constexpr size_t kMostNames = 3;

/// How far `name` is from what was written, in edits; nothing where it is another word.
static std::optional<unsigned> measureDistance(StringRef unknown, StringRef name) {
  // Of three letters, two that are right are no word that was meant.
  unsigned most = std::clamp<size_t>(unknown.size() / 3, 1, 3);
  unsigned edits = unknown.edit_distance(name, /*AllowReplacements=*/true, most);
  // Something stays of what was written.
  if (edits <= most && edits < std::max(unknown.size(), name.size()))
    return edits;
  bool isPart = (unknown.size() >= 3 && name.contains(unknown)) ||
                (name.size() >= 4 && unknown.contains(name));
  return isPart ? std::optional<unsigned>(most + 1) : std::nullopt;
}

SmallVector<StringRef> findNearest(StringRef unknown, ArrayRef<StringRef> known) {
  SmallVector<std::pair<unsigned, StringRef>> near;
  for (StringRef name : known)
    if (std::optional<unsigned> distance = measureDistance(unknown, name))
      near.push_back({*distance, name});
  llvm::sort(near);
  near.truncate(std::min(near.size(), kMostNames));
  return llvm::to_vector(llvm::make_second_range(near));
}

std::string suggestNames(StringRef unknown, ArrayRef<StringRef> known) {
  SmallVector<StringRef> nearest = findNearest(unknown, known);
  if (nearest.empty())
    return {};
  std::string text = "did you mean ";
  for (auto [index, name] : llvm::enumerate(nearest)) {
    if (index > 0)
      text += index + 1 == nearest.size() ? " or " : ", ";
    text += ("'" + name + "'").str();
  }
  return text + "?";
}

std::string describeNames(StringRef unknown, ArrayRef<StringRef> known) {
  if (std::string text = suggestNames(unknown, known); !text.empty())
    return text;
  if (known.empty())
    return "there is none";
  if (known.size() <= kMostNames)
    return "there " + std::string(known.size() == 1 ? "is " : "are ") + llvm::join(known, ", ");
  SmallVector<std::pair<unsigned, StringRef>> all;
  for (StringRef name : known)
    all.push_back({unknown.edit_distance(name), name});
  std::partial_sort(all.begin(), all.begin() + kMostNames, all.end());
  auto nearest = llvm::make_second_range(ArrayRef(all).take_front(kMostNames));
  return "of the " + std::to_string(known.size()) + " there are, nearest are " +
         llvm::join(nearest, ", ");
}

} // namespace xc
