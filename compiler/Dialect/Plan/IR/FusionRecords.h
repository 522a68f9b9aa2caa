//===- FusionRecords.h - What reports say of fusion -------------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `-xc-form-dispatches` writes a record on each region, where a report is asked for.
// `-xc-outline-dispatches` takes it to the kernel's module, where a number of a region becomes a
// kernel's name. No decision depends on it.
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_PLAN_IR_FUSIONRECORDS_H
#define XC_DIALECT_PLAN_IR_FUSIONRECORDS_H

#include "llvm/ADT/StringRef.h"

namespace xc::plan {

/// On a region: a dictionary of its `number`, and of its `joins` and `refusals` (below), where
/// `kernel` is the number of a region.
inline constexpr llvm::StringLiteral kFusionAttr = "plan.fusion";
/// On a kernel module: an array of dictionaries. `to` was joined with `from`, of which it reads
/// something (both are places of the program), since `why`. That saved `bytes` (if they are known)
/// and `launches`.
inline constexpr llvm::StringLiteral kJoinsAttr = "plan.joins";
/// The same: what `to` in this kernel reads of `from` in the kernel `kernel` is a tensor of `bytes`
/// in memory, since `why`. `reads`: how often `to` reads each element, if it is more than once.
inline constexpr llvm::StringLiteral kRefusalsAttr = "plan.refusals";

} // namespace xc::plan

#endif // XC_DIALECT_PLAN_IR_FUSIONRECORDS_H
