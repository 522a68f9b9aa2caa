//===- Backends.cpp - The drivers of this build without a GPU -------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/runtime/hal/HalTest.h"

using namespace xc::test;

std::vector<Backend> xc::test::backends() {
  return {
      // One thread and several take different ways through the CPU device.
      {"cpu", "cpu:3", kernelModule},
      {"cpu_single", "cpu:1", kernelModule},
  };
}
