//===- Backends.cpp - The CUDA driver in the HAL's suite ------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/runtime/cuda/CudaKernels.h"
#include "test/runtime/hal/HalTest.h"

using namespace xc::test;

std::vector<Backend> xc::test::backends() {
  standIn(); // chooses the driver
  return {
      {"cuda_graph", "cuda:0?launch=graph", cudaKernelModule},
      {"cuda_stream", "cuda:0?launch=stream", cudaKernelModule},
      {"cuda_auto", "cuda:0", cudaKernelModule},
  };
}
