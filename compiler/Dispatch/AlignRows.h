//===- AlignRows.h - Where rows of attention's operands begin ---*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DISPATCH_ALIGNROWS_H
#define XC_DISPATCH_ALIGNROWS_H

#include "mlir/IR/Block.h"

namespace xc::plan {

/// Copies operands of attention in `block` whose rows begin elsewhere.
void copyUnalignedRows(mlir::Block &block);

} // namespace xc::plan

#endif // XC_DISPATCH_ALIGNROWS_H
