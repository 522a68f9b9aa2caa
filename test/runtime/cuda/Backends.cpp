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
  static const std::string device = "cuda:" + std::to_string(cudaOrdinal());
  static const std::string graph = device + "?launch=graph", stream = device + "?launch=stream";
  return {
      {"cuda_graph", graph.c_str(), cudaKernelModule},
      {"cuda_stream", stream.c_str(), cudaKernelModule},
      {"cuda_auto", device.c_str(), cudaKernelModule},
  };
}
