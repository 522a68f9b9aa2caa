//===- Unsupported.h - All that cannot be imported, at once -----*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_INPUT_UNSUPPORTED_H
#define XC_INPUT_UNSUPPORTED_H

#include "mlir/IR/Location.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/SmallVector.h"

#include <string>

namespace xc {

/// Collects what an importer cannot import, so that a user learns all of it from one run.
class UnsupportedOps {
public:
  /// One op named `name` at `loc` cannot be imported because of `why`, a clause without full stop.
  void add(llvm::StringRef name, mlir::Location loc, std::string why);

  bool empty() const { return kinds.empty(); }

  /// Says of each kind of op, at the first of its places, how often it is there and why it cannot
  /// be imported, and last how many of `total` ops remain. Errors; warnings with `asWarnings`.
  void report(mlir::Location module, size_t total, bool asWarnings = false) const;

private:
  /// Ops that have one name and one reason.
  struct Kind {
    std::string name, why;
    llvm::SmallVector<mlir::Location> places;
  };
  llvm::SmallVector<Kind> kinds;
};

} // namespace xc

#endif // XC_INPUT_UNSUPPORTED_H
