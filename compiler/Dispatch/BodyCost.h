//===- BodyCost.h - What the body of a linalg op makes of a kernel --------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DISPATCH_BODYCOST_H
#define XC_DISPATCH_BODYCOST_H

#include "mlir/IR/Operation.h"

namespace xc::plan {

/// Of a fused body: beyond this registers run out, and the time that LLVM takes for the one long
/// block grows faster than the block.
inline constexpr unsigned kMaxFusedCost = 256;

/// The cost of all ops nested in `op`: 1 for each, but more for math functions, which become many
/// instructions (Codegen/Common/ExpandMath*.cpp).
unsigned getBodyCost(mlir::Operation *op);

} // namespace xc::plan

#endif // XC_DISPATCH_BODYCOST_H
