//===- cuda_fill.h - Fills on a GPU ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_RUNTIME_HAL_CUDA_CUDA_FILL_H
#define XC_RUNTIME_HAL_CUDA_CUDA_FILL_H

#include "runtime/hal/cuda/cuda_device.h"

namespace xc::cuda {

/// One fill, as a memset where the driver has one for it, else as a kernel.
struct FillLaunch {
  bool isKernel = false;
  CUDA_MEMSET_NODE_PARAMS memset = {};
  CUfunction function = nullptr;
  uint64_t arguments[3] = {}; ///< target, bytes, eight bytes of the pattern
  unsigned grid = 1;

  static bool needsKernel(uint64_t target, uint64_t bytes, uint64_t pattern, uint32_t patternSize);
  Status prepare(CudaDevice &device, uint64_t target, uint64_t bytes, uint64_t pattern,
                 uint32_t patternSize);
  Status launch(CudaDevice &device, CUstream stream) const;
  /// The kernel as a graph's node; \p pointers has room for three.
  CUDA_KERNEL_NODE_PARAMS getKernelParams(void **pointers) const;
};

} // namespace xc::cuda

#endif // XC_RUNTIME_HAL_CUDA_CUDA_FILL_H
