//===- BodyCost.cpp - What the body of a linalg op makes of a kernel ------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dispatch/BodyCost.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace xc::plan {

/// In about the time that LLVM takes for one `arith` op, of f32 on x86-64-v3.
static unsigned getOpCost(Operation *op) {
  if (!isa_and_present<math::MathDialect>(op->getDialect()))
    return 1;
  // An instruction or two.
  if (isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::CopySignOp, math::FloorOp, math::FmaOp,
          math::RoundEvenOp, math::RsqrtOp, math::SqrtOp, math::TruncOp>(op))
    return 1;
  // The argument is reduced by products with many digits of 2/pi.
  if (isa<math::SinOp, math::CosOp, math::SincosOp, math::TanOp>(op))
    return 32;
  if (isa<math::PowFOp, math::AcoshOp, math::AsinhOp, math::AtanhOp>(op))
    return 16;
  return 8;
}

unsigned getBodyCost(Operation *op) {
  unsigned cost = 0;
  for (Region &region : op->getRegions())
    region.walk([&](Operation *inner) { cost += getOpCost(inner); });
  return cost;
}

} // namespace xc::plan
