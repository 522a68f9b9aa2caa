//===- MultiplyAdd.h - The body of matrix products --------------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Dispatch formation and the strategies of each target look for one form of body. They differ in
// which of its casts they take.
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_PLAN_IR_MULTIPLYADD_H
#define XC_DIALECT_PLAN_IR_MULTIPLYADD_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <array>
#include <optional>

namespace xc::plan {

/// A body `acc + f(a) * g(b)`, where a and b are the two inputs of the op, in any order, and f and
/// g are chains of casts.
struct MultiplyAdd {
  mlir::Operation *multiply, *add;
  /// f and g: the casts of each input's elements, in order of execution.
  std::array<llvm::SmallVector<mlir::Operation *>, 2> casts;

  /// True if each cast is one of `Ops`.
  template <typename... Ops> bool hasOnlyCasts() const {
    return llvm::all_of(
        casts, [](const auto &chain) { return llvm::all_of(chain, llvm::IsaPred<Ops...>); });
  }
};

/// The parts of the body of `op`, an op on tensors; nothing if it has another form.
std::optional<MultiplyAdd> matchMultiplyAdd(mlir::linalg::LinalgOp op);

} // namespace xc::plan

#endif // XC_DIALECT_PLAN_IR_MULTIPLYADD_H
