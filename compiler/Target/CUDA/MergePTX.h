//===- MergePTX.h - One PTX module out of many ----------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_TARGET_CUDA_MERGEPTX_H
#define XC_TARGET_CUDA_MERGEPTX_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/Support/LLVM.h"

#include <string>

namespace xc::target {

/// Merges PTX modules, as `-xc-cuda-emit-ptx` writes them, into one: the header once, then every
/// kernel in the order given. Declarations that modules share (the external array of shared memory)
/// stay once; other symbols of module scope that are not kernels get a suffix with the module's
/// number if two modules use one name. All modules must have the same `.version`, `.target` and
/// `.address_size`; kernels must have different names.
mlir::FailureOr<std::string> mergePTX(llvm::ArrayRef<llvm::StringRef> modules,
                                      llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

} // namespace xc::target

#endif // XC_TARGET_CUDA_MERGEPTX_H
