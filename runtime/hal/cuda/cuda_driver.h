//===- cuda_driver.h - GPUs, through the CUDA driver API ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_RUNTIME_HAL_CUDA_CUDA_DRIVER_H
#define XC_RUNTIME_HAL_CUDA_CUDA_DRIVER_H

#include "runtime/hal/driver.h"

namespace xc::cuda {

/// "cuda", "cuda:1". The driver library is loaded when it is first asked for.
const hal::Driver &driver();

} // namespace xc::cuda

#endif // XC_RUNTIME_HAL_CUDA_CUDA_DRIVER_H
