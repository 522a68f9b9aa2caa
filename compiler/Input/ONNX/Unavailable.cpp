//===- Unavailable.cpp - A build that reads no ONNX models ----------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Input/ONNX/ImportONNX.h"

#include "mlir/IR/Diagnostics.h"

using namespace mlir;

namespace xc::onnx {

bool isAvailable() { return false; }

bool looksLikeModel(StringRef) { return false; }

OwningOpRef<ModuleOp> importModel(MLIRContext *context, StringRef, const ImportOptions &) {
  emitError(UnknownLoc::get(context))
      << "this xcompile was built without ONNX (CMake option XC_ENABLE_ONNX)";
  return {};
}

} // namespace xc::onnx
