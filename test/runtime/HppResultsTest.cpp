//===- HppResultsTest.cpp - xcr.hpp without exceptions --------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "xcr/xcr.hpp"

#include "test/runtime/XcrTest.h"

#include <unistd.h>

using namespace xc::test;

#ifndef XCR_NO_EXCEPTIONS
#error "this file is about results"
#endif

namespace {
/// An instance of addModule() with a variable.
class HppResultsTest : public ::testing::Test {
protected:
  void SetUp() override {
    ModuleSpec spec = addModule();
    spec.variables = {{"state", xc::fb::DType::F32, {2}}};
    bytes = spec.finish();
    xcr::Result<xcr::Device> device = xcr::Device::open("cpu:2");
    ASSERT_TRUE(device);
    xcr::Result<xcr::Module> module =
        xcr::Module::loadMemory({reinterpret_cast<const std::byte *>(bytes.data()), bytes.size()});
    ASSERT_TRUE(module);
    xcr::Result<xcr::Instance> made = xcr::Instance::create(*device, *module);
    ASSERT_TRUE(made);
    instance = *std::move(made);
  }

  std::vector<uint8_t> bytes;
  xcr::Instance instance;
};
} // namespace

TEST_F(HppResultsTest, AValueOrAReason) {
  xcr::Result<xcr::Call> call = instance.call();
  ASSERT_TRUE(call);
  EXPECT_TRUE(call->setInput("x", iota(3), {3}));
  EXPECT_TRUE(call->setInput("y", iota(3), {3}));
  EXPECT_TRUE(call->run());
  xcr::Result<xcr::Buffer> sum = call->output("z");
  ASSERT_TRUE(sum);
  xcr::Result<std::vector<float>> values = sum->read<float>();
  ASSERT_TRUE(values.has_value());
  EXPECT_EQ(*values, (std::vector<float>{0, 2, 4}));
  EXPECT_EQ((*sum->span<float>())[2], 4);
}

TEST_F(HppResultsTest, Failures) {
  xcr::Result<xcr::Device> none = xcr::Device::open("tpu");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code(), XCR_STATUS_NOT_FOUND);
  EXPECT_NE(none.error().message().find("tpu"), std::string::npos);
  xcr::Result<xcr::Call> call = instance.call();
  ASSERT_TRUE(call);
  xcr::Result<void> wrong = call->setInput("w", iota(3), {3});
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().message(), "no input 'w'; the function has: 'x', 'y'");
  EXPECT_EQ(call->run().error().code(), XCR_STATUS_FAILED_PRECONDITION);
  EXPECT_EQ(call->output("z").error().code(), XCR_STATUS_FAILED_PRECONDITION);
  EXPECT_EQ(instance.call("mane").error().code(), XCR_STATUS_NOT_FOUND);
  EXPECT_EQ(instance.restoreVariables("/nowhere/x").error().code(), XCR_STATUS_NOT_FOUND);
  EXPECT_EQ(instance.saveVariables("/nowhere/x").error().code(), XCR_STATUS_NOT_FOUND);
  EXPECT_EQ(instance.variable("x").error().code(), XCR_STATUS_NOT_FOUND);
  EXPECT_EQ(xcr::Module::loadMemory({}).error().code(), XCR_STATUS_INCOMPATIBLE);
}

TEST_F(HppResultsTest, StreamsAndVariables) {
  xcr::Device device = instance.device();
  xcr::Result<xcr::Stream> stream = xcr::Stream::create(device);
  ASSERT_TRUE(stream);
  xcr::Result<xcr::Call> call = instance.call();
  ASSERT_TRUE(call);
  xcr::Result<xcr::Buffer> state = instance.variable("state");
  ASSERT_TRUE(state);
  EXPECT_TRUE(state->write(iota(2, 1)));
  EXPECT_TRUE(call->setInput("x", *state));
  EXPECT_TRUE(call->setInput("y", *state));
  EXPECT_TRUE(call->prepare(*stream));
  EXPECT_TRUE(call->launch(*stream));
  EXPECT_TRUE(stream->synchronize());
  EXPECT_TRUE(*stream->isDone());
  EXPECT_EQ(*call->output("z")->read<float>(), (std::vector<float>{2, 4}));
}
