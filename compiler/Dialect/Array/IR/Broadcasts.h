//===- Broadcasts.h - What a broadcast does with a dim of its operand -----===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_ARRAY_IR_BROADCASTS_H
#define XC_DIALECT_ARRAY_IR_BROADCASTS_H

#include "compiler/Dialect/Array/IR/ArrayOps.h"

namespace xc::array {

/// Whether a dim of a broadcast's operand is repeated; of a `?` it may take its size to tell.
enum class Repeat { Never, Always, AtRunTime };

/// What `op` does with dim `dim` of its operand.
Repeat getRepeat(BroadcastInDimOp op, int64_t dim);

} // namespace xc::array

#endif // XC_DIALECT_ARRAY_IR_BROADCASTS_H
