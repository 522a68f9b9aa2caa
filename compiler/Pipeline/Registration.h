//===- Registration.h - Every dialect and pass of the compiler ------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_PIPELINE_REGISTRATION_H
#define XC_PIPELINE_REGISTRATION_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace xc {

/// Registers our dialects, the upstream dialects that programs may contain, and the interface
/// implementations (bufferization, tiling, translation) that the pipeline needs.
void registerAllDialects(mlir::DialectRegistry &registry);

/// Registers our passes, and upstream's that are useful beside them in lit tests.
void registerAllPasses();

} // namespace xc

#endif // XC_PIPELINE_REGISTRATION_H
