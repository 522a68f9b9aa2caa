//===- CallTest.h - A device with an instance and a call ------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_TEST_RUNTIME_CALLTEST_H
#define XC_TEST_RUNTIME_CALLTEST_H

#include "test/runtime/XcrTest.h"

namespace xc::test {

/// A device with an instance of addModule().
class CallTest : public ::testing::Test {
protected:
  void SetUp() override { use(addModule()); }
  void use(const ModuleSpec &spec, const char *uri = "cpu:2") {
    call.reset();
    instance.reset();
    module.reset();
    bytes = spec.finish();
    device = makeDevice(uri);
    module = loadModule(bytes);
    instance = makeInstance(device, module);
  }
  xcr_call_statistics_t statistics() {
    xcr_call_statistics_t result = XCR_CALL_STATISTICS_INIT;
    xcr_call_get_statistics(call.get(), &result);
    return result;
  }
  xcr_status_t set(uint32_t input, const Buffer &buffer) {
    return xcr_call_set_input(call.get(), input, buffer.get());
  }

  std::vector<uint8_t> bytes;
  Device device;
  Module module;
  Instance instance;
  Call call;
};

} // namespace xc::test

#endif // XC_TEST_RUNTIME_CALLTEST_H
