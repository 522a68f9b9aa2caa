//===- Parts.h - Results that several kernels write together --------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_PLAN_IR_PARTS_H
#define XC_DIALECT_PLAN_IR_PARTS_H

#include "llvm/ADT/StringRef.h"

namespace xc::plan {

/// Array of integers, on regions and dispatches: the results of which the kernel writes a box that
/// no other kernel writes or reads which wrote a part of the init. So these kernels need no order
/// among each other. A result without an init is the first part: nothing needs what is around its
/// box.
inline constexpr llvm::StringLiteral kPartsAttr = "plan.parts";

} // namespace xc::plan

#endif // XC_DIALECT_PLAN_IR_PARTS_H
