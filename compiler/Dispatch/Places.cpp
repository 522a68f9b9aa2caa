//===- Places.cpp - Where ops come from, as reports say it ----------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dispatch/Places.h"

#include "llvm/Support/Path.h"

using namespace mlir;

namespace xc::plan {

StringAttr printPlace(FileLineColLoc loc) {
  return StringAttr::get(loc.getContext(), llvm::sys::path::filename(loc.getFilename().getValue()) +
                                               ":" + Twine(loc.getLine()) + ":" +
                                               Twine(loc.getColumn()));
}

StringAttr findPlace(Location loc) {
  StringAttr place;
  loc->walk([&](Location inner) {
    auto file = dyn_cast<FileLineColLoc>(inner);
    if (!file)
      return WalkResult::advance();
    place = printPlace(file);
    return WalkResult::interrupt();
  });
  return place;
}

} // namespace xc::plan
