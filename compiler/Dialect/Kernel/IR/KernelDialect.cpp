//===- KernelDialect.cpp - Registration of the kernel dialect -------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Kernel/IR/AttentionDecodeOp.h"
#include "compiler/Dialect/Kernel/IR/AttentionGradientOp.h"
#include "compiler/Dialect/Kernel/IR/KernelOpSupport.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

#include "compiler/Dialect/Kernel/IR/KernelOpsDialect.cpp.inc"
#include "compiler/Dialect/Kernel/IR/KernelOpsEnums.cpp.inc"
#include "compiler/Dialect/Kernel/IR/KernelOpsOpInterfaces.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "compiler/Dialect/Kernel/IR/KernelOpsAttrs.cpp.inc"
#define GET_OP_CLASSES
#include "compiler/Dialect/Kernel/IR/KernelOps.cpp.inc"

namespace xc::kernel {

void KernelDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "compiler/Dialect/Kernel/IR/KernelOpsAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "compiler/Dialect/Kernel/IR/KernelOps.cpp.inc"
      >();
  addOperations<AttentionGradientOp, AttentionCombineOp, AttentionDecodeOp>();
}

/// A reduction of one element is none once its loop is folded: what it then becomes part of must
/// not take its element for its own.
OpFoldResult ElementOp::fold(FoldAdaptor) {
  auto op = dyn_cast_or_null<linalg::LinalgOp>((*this)->getParentOp());
  return op && op.getNumReductionLoops() == 0 ? OpFoldResult(getValue()) : OpFoldResult();
}

} // namespace xc::kernel
