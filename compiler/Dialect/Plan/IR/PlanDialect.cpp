//===- PlanDialect.cpp - Registration of the plan dialect ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Plan/IR/FormulaText.h"
#include "compiler/Dialect/Plan/IR/PlanInitOps.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

#include "compiler/Dialect/Plan/IR/PlanAttrsInterfaces.cpp.inc"
#include "compiler/Dialect/Plan/IR/PlanOpsDialect.cpp.inc"
#include "compiler/Dialect/Plan/IR/PlanOpsEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "compiler/Dialect/Plan/IR/PlanOpsAttrs.cpp.inc"
#define GET_OP_CLASSES
#include "compiler/Dialect/Plan/IR/PlanInitOps.cpp.inc"

namespace xc::plan {

/// As it is. Here, since what stores an attribute is complete only where its definitions are.
FormulaAttr FormulaAttr::getRaw(MLIRContext *context, FormulaKind kind, int64_t value,
                                ArrayRef<FormulaAttr> operands) {
  return Base::get(context, kind, value, operands);
}

void PlanDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "compiler/Dialect/Plan/IR/PlanOpsAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "compiler/Dialect/Plan/IR/PlanOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "compiler/Dialect/Plan/IR/PlanInitOps.cpp.inc"
      >();
}

} // namespace xc::plan
