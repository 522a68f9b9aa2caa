//===- ScalarInterpreter.h - What an op on scalars computes ---------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CONVERSION_SCALARINTERPRETER_H
#define XC_CONVERSION_SCALARINTERPRETER_H

#include "mlir/IR/Operation.h"

#include <optional>

namespace xc {

/// The result of `op`, an op of arith or math on scalars, as bits from the bits of its operands;
/// an `index` has 64. Nothing for other ops, and for functions whose last bit is the target's.
std::optional<uint64_t> evaluateScalarOp(mlir::Operation *op, llvm::ArrayRef<uint64_t> operands);

/// The bits of a scalar constant.
std::optional<uint64_t> bitsOfScalar(mlir::Attribute value);

/// Whether `op` rounds a float, so that a chain of such ops depends on its order.
bool roundsFloats(mlir::Operation *op);

} // namespace xc

#endif // XC_CONVERSION_SCALARINTERPRETER_H
