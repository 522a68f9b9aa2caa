//===- NvtxTest.cpp - Ranges for profilers --------------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/runtime/XcrTest.h"

#include <cstdlib>
#include <dlfcn.h>

using namespace xc::test;

namespace {

/// What the tool has heard since the last call.
std::string heard() {
  static size_t seen = 0;
  void *library = dlopen(XC_TEST_NVTX_TOOL, RTLD_NOW | RTLD_NOLOAD);
  auto *text =
      reinterpret_cast<const char *(*)()>(library ? dlsym(library, "nvtx_tool_text") : nullptr);
  if (!text)
    return "the tool is not loaded";
  std::string all = text(), part = all.substr(seen);
  seen = all.size();
  return part;
}

// A process looks for a tool once, so there is one test.
TEST(Nvtx, LaunchesShowAsRanges) {
  setenv("NVTX_INJECTION64_PATH", XC_TEST_NVTX_TOOL, 1);
  std::vector<uint8_t> bytes = addModule().finish();
  Device device = makeDevice();
  Module module = loadModule(bytes);
  Instance instance = makeInstance(device, module);
  EXPECT_EQ(heard(), "push xcr create instance\npop\n");
  Call call = makeCall(instance);
  Stream stream = makeStream(device);
  Buffer x = makeBuffer(device, iota(10)), y = makeBuffer(device, iota(10));
  XCR_ASSERT_OK(xcr_call_set_input(call.get(), 0, x.get()));
  XCR_ASSERT_OK(xcr_call_set_input(call.get(), 1, y.get()));
  EXPECT_EQ(heard(), "");
  XCR_ASSERT_OK(xcr_call_launch(call.get(), stream.get()));
  EXPECT_EQ(heard(), "push xcr launch main\npush xcr prepare main\npop\npop\n");
  XCR_ASSERT_OK(xcr_call_launch(call.get(), stream.get()));
  EXPECT_EQ(heard(), "push xcr launch main\npop\n");
  XCR_ASSERT_OK(xcr_stream_synchronize(stream.get()));
  EXPECT_EQ(heard(), "push xcr synchronize\npop\n");
  EXPECT_EQ(read<float>(xcr_call_output(call.get(), 0))[3], 6.0f);
}

} // namespace
