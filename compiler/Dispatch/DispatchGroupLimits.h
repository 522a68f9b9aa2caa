//===- DispatchGroupLimits.h - How large a group of ops may become -===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DISPATCH_DISPATCHGROUPLIMITS_H
#define XC_DISPATCH_DISPATCHGROUPLIMITS_H

#include "compiler/Dispatch/BodyCost.h"
#include "compiler/Dispatch/DispatchGroups.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace xc::plan {

/// Ops in a group; more make a kernel that spills and compiles slowly.
constexpr unsigned kMaxGroupOps = 32;

/// Of all bodies of a group: a reduction with what feeds it and with what follows, each as long as
/// a fused body may be.
constexpr unsigned kMaxGroupCost = 2 * kMaxFusedCost;

/// Different tensors that a kernel may bind.
constexpr unsigned kMaxBindings = 24;

/// What reports say where several rules refuse for the same reason.
constexpr llvm::StringLiteral kTakesInNothing = "its producer's kernel takes in no such op";
constexpr llvm::StringLiteral kTooLong = "the kernel would be too long for its registers";
constexpr llvm::StringLiteral kMakesCycle =
    "a third kernel needs the one and is needed by the other";
constexpr llvm::StringLiteral kOtherSpace = "threads hold other parts of the rows than it reads";

/// The cost of the bodies of `ops`.
unsigned getCost(llvm::ArrayRef<mlir::Operation *> ops);

/// Operands of `op`, and what its body uses from above (a gather reads a whole tensor there).
llvm::SmallVector<mlir::Value> getUsedValues(mlir::Operation *op);

/// True for a linalg op that reduces nothing; `op` may be null.
bool isElementwise(mlir::Operation *op);

/// True if the dims that the op reduces are the last ones of its first input.
bool reducesInnermost(mlir::linalg::LinalgOp op);

/// True if one workgroup can well go through the op's whole iteration space alone, but for the
/// loops that `isShared` says are shared with others.
bool isSmall(
    mlir::linalg::LinalgOp op,
    llvm::function_ref<bool(unsigned loop)> isShared = [](unsigned) { return false; });

/// The same for all ops of a group, but for the rows that `isKept` says stay rows.
bool isSmallBeside(const DispatchGroup &group, llvm::function_ref<bool(int row)> isKept);

} // namespace xc::plan

#endif // XC_DISPATCH_DISPATCHGROUPLIMITS_H
