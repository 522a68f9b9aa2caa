//===- Unsupported.cpp - All that cannot be imported, at once -------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Input/Unsupported.h"

#include "mlir/IR/Diagnostics.h"

using namespace mlir;

namespace xc {

/// Places of one kind that are named, the first included.
static constexpr size_t kMostPlaces = 5;

void UnsupportedOps::add(StringRef name, Location loc, std::string why) {
  auto *kind = llvm::find_if(
      kinds, [&](const Kind &known) { return known.name == name && known.why == why; });
  if (kind == kinds.end()) {
    kinds.push_back({name.str(), std::move(why), {}});
    kind = &kinds.back();
  }
  kind->places.push_back(loc);
}

void UnsupportedOps::report(Location module, size_t total, bool asWarnings) const {
  auto start = [&](Location loc) { return asWarnings ? emitWarning(loc) : emitError(loc); };
  size_t count = 0;
  for (const auto &[name, why, places] : kinds) {
    count += places.size();
    InFlightDiagnostic diagnostic = start(places.front());
    diagnostic << "'" << name << "' is not supported";
    if (places.size() > 1)
      diagnostic << " (" << places.size() << " times)";
    diagnostic << ": " << why;
    for (Location place : ArrayRef(places).take_front(kMostPlaces).drop_front())
      diagnostic.attachNote(place) << "also here";
  }
  start(module) << count << " of " << total << " ops cannot be imported; " << total - count
                << " can";
}

} // namespace xc
