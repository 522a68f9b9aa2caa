//===- Passes.h - Passes that form dispatches -------------------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DISPATCH_PASSES_H
#define XC_DISPATCH_PASSES_H

#include "compiler/Dialect/Plan/IR/PlanOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::affine {
class AffineDialect;
} // namespace mlir::affine
namespace mlir::bufferization {
class BufferizationDialect;
} // namespace mlir::bufferization
namespace mlir::linalg {
class LinalgDialect;
} // namespace mlir::linalg
namespace mlir::tensor {
class TensorDialect;
} // namespace mlir::tensor

namespace xc::plan {

#define GEN_PASS_DECL
#include "compiler/Dispatch/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "compiler/Dispatch/Passes.h.inc"

} // namespace xc::plan

#endif // XC_DISPATCH_PASSES_H
