//===- HostCall.h - Calls of host functions from streams -------*- C++ -*--===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PTXSIM_DRIVER_HOSTCALL_H
#define PTXSIM_DRIVER_HOSTCALL_H

#include "Driver.h"
#include "cuda_abi/cuda_abi.h"

namespace xc::cudasim {

/// True while the calling thread runs a host function of the program, which must
/// not call the driver.
inline bool &insideHostFunction() {
  thread_local bool inside = false;
  return inside;
}

inline void callHost(CUhostFn function, void *userData) {
  // It may tell other threads, and wait for them.
  driver().hostOrder.learn(currentOrder()->known);
  insideHostFunction() = true;
  function(userData);
  insideHostFunction() = false;
  currentOrder()->learn(driver().hostOrder.known());
}

} // namespace xc::cudasim

#endif // PTXSIM_DRIVER_HOSTCALL_H
