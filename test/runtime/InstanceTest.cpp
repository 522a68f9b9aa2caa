//===- InstanceTest.cpp - Variables of instances -------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/runtime/XcrTest.h"

#include <thread>

using namespace xc;
using namespace xc::test;

namespace {
/// step(x): total += x; get() -> total.
class InstanceTest : public ::testing::Test {
protected:
  void SetUp() override {
    ModuleSpec spec = kernelModule();
    spec.constants = {{fb::DType::F32, {4}, bytesOf(iota(4, 100))}};
    spec.variables = {{"total", fb::DType::F32, {4}, 0}, {"zeros", fb::DType::F32, {3}}};
    FunctionSpec step, get;
    step.name = "step";
    step.inputs = {{"x", fb::DType::F32, {literal(4)}}};
    PlanSpec add;
    VariantSpec variant;
    variant.exportOrdinal = kAccumulate;
    variant.scalars = {literal(4)};
    add.dispatch({variant}, {binding(fb::Space::Variable, 0, literal(16), fb::Access::ReadWrite),
                             reads(fb::Space::Input, 0, literal(16))});
    step.plans = {add};
    get.name = "get";
    get.outputs = {{"y", fb::DType::F32, {literal(4)}}};
    PlanSpec copy;
    copy.copy(reads(fb::Space::Variable, 0, literal(16)),
              writes(fb::Space::Output, 0, literal(16)));
    get.plans = {copy};
    spec.functions = {step, get};
    bytes = spec.finish();
    device = makeDevice();
    module = loadModule(bytes);
    instance = makeInstance(device, module);
  }
  std::vector<float> total(const Instance &of) {
    xcr_buffer_t *output = nullptr;
    EXPECT_TRUE(isOk(xcr_invoke(of.get(), xcr_string("get"), 0, nullptr, 1, &output)));
    Buffer y(output);
    return read<float>(y.get());
  }
  void step(const Instance &of, const std::vector<float> &values) {
    Buffer x = makeBuffer(device, values);
    xcr_buffer_t *input = x.get();
    XCR_EXPECT_OK(xcr_invoke(of.get(), xcr_string("step"), 1, &input, 0, nullptr));
  }
  xcr_buffer_t *variable(const char *name) {
    xcr_buffer_t *buffer = nullptr;
    EXPECT_TRUE(isOk(xcr_instance_get_variable(instance.get(), xcr_string(name), &buffer)));
    return buffer;
  }

  std::vector<uint8_t> bytes;
  Device device;
  Module module;
  Instance instance;
};
} // namespace

TEST_F(InstanceTest, VariablesBeginWithTheirValue) {
  EXPECT_EQ(read<float>(variable("total")), (std::vector<float>{100, 101, 102, 103}));
  EXPECT_EQ(read<float>(variable("zeros")), std::vector<float>(3));
}

TEST_F(InstanceTest, VariablesOutliveCallsAndInstancesDoNotShareThem) {
  Instance other = makeInstance(device, module);
  step(instance, {1, 2, 3, 4});
  step(instance, {1, 1, 1, 1});
  EXPECT_EQ(total(instance), (std::vector<float>{102, 104, 106, 108}));
  EXPECT_EQ(total(other), (std::vector<float>{100, 101, 102, 103}));
}

TEST_F(InstanceTest, VariablesCanBeReadWrittenAndReplaced) {
  std::vector<float> values = {1, 2, 3, 4};
  XCR_ASSERT_OK(xcr_buffer_write(variable("total"), 0, values.data(), 16));
  EXPECT_EQ(total(instance), values);
  Buffer mine = makeBuffer(device, {5, 5, 5, 5});
  XCR_ASSERT_OK(xcr_instance_set_variable(instance.get(), xcr_string("total"), mine.get()));
  step(instance, {1, 2, 3, 4});
  EXPECT_EQ(total(instance), (std::vector<float>{6, 7, 8, 9}));
  EXPECT_EQ(read<float>(mine.get()), (std::vector<float>{6, 7, 8, 9}));
}

TEST_F(InstanceTest, UnknownVariableListsTheOthers) {
  xcr_buffer_t *buffer = nullptr;
  XCR_EXPECT_FAILS(xcr_instance_get_variable(instance.get(), xcr_string("totl"), &buffer),
                   XCR_STATUS_NOT_FOUND, "no variable 'totl'; the module has: 'total', 'zeros'");
}

TEST_F(InstanceTest, ReplacementsMustFit) {
  Buffer shorter = makeBuffer(device, {5, 5, 5});
  XCR_EXPECT_FAILS(xcr_instance_set_variable(instance.get(), xcr_string("total"), shorter.get()),
                   XCR_STATUS_INVALID_ARGUMENT, "variable 'total': expected 4xf32, got 3xf32");
  Device other = makeDevice();
  Buffer foreign = makeBuffer(other, {5, 5, 5, 5});
  XCR_EXPECT_FAILS(xcr_instance_set_variable(instance.get(), xcr_string("total"), foreign.get()),
                   XCR_STATUS_INVALID_ARGUMENT, "expected a buffer on cpu");
}

TEST_F(InstanceTest, AVariableIsNoInputOfWhatWritesIt) {
  Call call = makeCall(instance, "step");
  XCR_ASSERT_OK(xcr_call_set_input(call.get(), 0, variable("total")));
  XCR_EXPECT_FAILS(xcr_call_run(call.get()), XCR_STATUS_INVALID_ARGUMENT, "overlap in memory");
}

TEST_F(InstanceTest, LaunchesThatTouchAVariableAreOrderedAcrossStreams) {
  Buffer ones = makeBuffer(device, {1, 1, 1, 1});
  Stream streams[] = {makeStream(device), makeStream(device), makeStream(device)};
  Call steps[] = {makeCall(instance, "step"), makeCall(instance, "step"),
                  makeCall(instance, "step")};
  Call get = makeCall(instance, "get");
  for (Call &call : steps)
    XCR_ASSERT_OK(xcr_call_set_input(call.get(), 0, ones.get()));
  for (int i = 0; i < 200; ++i) {
    XCR_ASSERT_OK(xcr_call_launch(steps[i % 3].get(), streams[i % 3].get()));
    if (i % 50 != 49)
      continue;
    XCR_ASSERT_OK(xcr_call_launch(get.get(), streams[0].get()));
    XCR_ASSERT_OK(xcr_stream_synchronize(streams[0].get()));
    EXPECT_EQ(read<float>(xcr_call_output(get.get(), 0))[0], 100.0f + static_cast<float>(i + 1));
  }
}

TEST_F(InstanceTest, ManyThreadsStepOneInstance) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i)
        step(instance, {1, 2, 3, 4});
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(total(instance), (std::vector<float>{500, 901, 1302, 1703}));
}
