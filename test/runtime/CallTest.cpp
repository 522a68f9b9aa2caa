//===- CallTest.cpp - Calling functions through the C API ----------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/runtime/XcrTest.h"

using namespace xc;
using namespace xc::test;

TEST(CallTest, InvokeAllocatesOutputs) {
  std::vector<uint8_t> bytes = addModule().finish();
  Device device = makeDevice();
  Module module = loadModule(bytes);
  Instance instance = makeInstance(device, module);
  Buffer x = makeBuffer(device, iota(1000)), y = makeBuffer(device, iota(1000));
  xcr_buffer_t *inputs[] = {x.get(), y.get()};
  xcr_buffer_t *outputs[] = {nullptr};
  XCR_ASSERT_OK(xcr_invoke(instance.get(), xcr_string("main"), 2, inputs, 1, outputs));
  Buffer z(outputs[0]);
  std::vector<float> result = read<float>(z.get());
  ASSERT_EQ(result.size(), 1000u);
  for (size_t i = 0; i < result.size(); ++i)
    EXPECT_EQ(result[i], 2.0f * static_cast<float>(i));
}
