//===- RegularPlaces.h - Places that follow from loops --------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A resize reads elements at places that go up evenly with those of its results. In a body these
// are index arithmetic, of one form: -xc-compute-places makes it, and strategies recognize it, to
// tell which results read the same elements.
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_PLAN_IR_REGULARPLACES_H
#define XC_DIALECT_PLAN_IR_REGULARPLACES_H

#include "mlir/IR/Builders.h"

#include <optional>

namespace xc::plan {

/// Of the index i of loop `loop`: (i * scale + offset) / divisor + shift, but at least `lowest` and
/// at most `highest` where there are such. Scale and divisor are positive, the offset is not
/// negative.
struct RegularPlace {
  unsigned loop;
  int64_t scale = 1, offset = 0, divisor = 1, shift = 0;
  std::optional<int64_t> lowest, highest;

  int64_t evaluate(int64_t i) const;
  /// A step of so many is one of a whole number of places: positions a multiple of it apart read
  /// at equal distances.
  int64_t getPeriod() const;
};

/// `place` in the body of a linalg op.
mlir::Value buildPlace(mlir::OpBuilder &builder, mlir::Location loc, const RegularPlace &place);

/// `value`, in the body of a linalg op, as what buildPlace makes; nothing if it is something else.
std::optional<RegularPlace> matchPlace(mlir::Value value);

} // namespace xc::plan

#endif // XC_DIALECT_PLAN_IR_REGULARPLACES_H
