//===- SpreadResults.h - Results that are stored apart or in part -*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_PLAN_IR_SPREADRESULTS_H
#define XC_DIALECT_PLAN_IR_SPREADRESULTS_H

#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <optional>

namespace xc::plan {

/// A tensor that has the elements of another one at some distance from each other, and one number
/// everywhere else, as what comes back to the input of a strided convolution of one tap; or a slice
/// of such a tensor, or of the other one itself.
///
/// Each element has a cell, a box of the tensor that has no other element. The kernel that computes
/// the element stores its cell. So every place is written once, by one kernel.
struct SpreadResult {
  /// The cell of element i of the source begins at i * `distance` - `skipped` and has `extent`
  /// places, among them the element, at `start` of it. Those from `distance` on are of the last
  /// cell alone.
  struct Dim {
    int64_t distance, start, extent;
    /// The tensor may end before the last cell does.
    bool isCut = false;
    /// It is a slice, which may begin or end anywhere.
    bool isSlice = false;
    int64_t skipped = 0;
  };

  mlir::Value source;
  mlir::TypedAttr background;
  llvm::SmallVector<Dim> dims;

  bool isSlice() const {
    return llvm::any_of(dims, [](const Dim &dim) { return dim.isSlice; });
  }
  /// Places of most cells; of the largest one, and which of them has the element, row-major.
  int64_t countUsualPlaces() const;
  int64_t countPlaces() const;
  int64_t getOwnPlace() const;
};

/// What `tensor` is of this kind: made by `tensor.insert_slice` into a `linalg.fill` with a
/// constant, or by a `tensor.extract_slice` or a copy of one, or by both. Nothing where places are
/// known to lie outside of all cells, cells are large, or neighbours in memory would not be stored
/// together. Where a dim is symbolic, the caller has to know that the cells cover it.
std::optional<SpreadResult> matchSpreadResult(mlir::Value tensor);

} // namespace xc::plan

#endif // XC_DIALECT_PLAN_IR_SPREADRESULTS_H
