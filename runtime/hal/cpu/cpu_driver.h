//===- cpu_driver.h - The processor as a device --------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_RUNTIME_HAL_CPU_CPU_DRIVER_H
#define XC_RUNTIME_HAL_CPU_CPU_DRIVER_H

#include "runtime/hal/driver.h"

namespace xc::cpu {

/// "cpu", or "cpu:N" for N threads.
const hal::Driver &driver();

} // namespace xc::cpu

#endif // XC_RUNTIME_HAL_CPU_CPU_DRIVER_H
