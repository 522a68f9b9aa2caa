//===- cuda_symbols.h - The CUDA driver, loaded at run time ---------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_RUNTIME_HAL_CUDA_CUDA_SYMBOLS_H
#define XC_RUNTIME_HAL_CUDA_CUDA_SYMBOLS_H

#include "cuda_abi/cuda_abi.h"
#include "runtime/base/status.h"
#include "schemas/module_limits.h"

namespace xc::cuda {

inline constexpr int kMinDriverVersion = ModuleLimits::kMinCudaDriver;

/// The driver's functions. An optional one (see cuda_symbols.inl) is null where
/// the driver is older than it.
struct Symbols {
#define XCR_CUDA_SYMBOL(name, symbol, params) CUresult(*name) params = nullptr;
#include "cuda_abi/cuda_symbols.inl"

  /// As cuDriverGetVersion counts: 12040 is CUDA 12.4.
  int driverVersion = 0;

  /// "CUDA_ERROR_OUT_OF_MEMORY"; never null.
  const char *nameOf(CUresult result) const;
  /// The driver's words for a result: "out of memory"; never null.
  const char *textOf(CUresult result) const;
};

/// Loads the driver and initialises it: the library that \p path names, or else
/// libcuda.so.1, or else libcuda.so. The status says in a sentence what is
/// missing: the library (NOT_FOUND), a newer driver (INCOMPATIBLE), a device
/// (NOT_FOUND). The library stays loaded, since a driver cannot be unloaded.
Status openSymbols(const HostAllocator &allocator, const char *path, Symbols *out);

/// The driver of this process, loaded from where XCR_CUDA_LIBRARY says, or from
/// the usual places. Loaded by the first call that succeeds. Thread-safe.
Status loadSymbols(const HostAllocator &allocator, const Symbols **out);

} // namespace xc::cuda

#endif // XC_RUNTIME_HAL_CUDA_CUDA_SYMBOLS_H
