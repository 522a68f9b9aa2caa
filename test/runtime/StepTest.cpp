//===- StepTest.cpp - Running a call command by command ------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/runtime/XcrTest.h"

using namespace xc;
using namespace xc::test;

static constexpr uint32_t kSize = 16;
static constexpr int64_t kBytes = kSize * sizeof(float);

/// y = 3 * (2 * x + 1) + 1: the inner value is in the arena, whose bytes a fill then takes.
static ModuleSpec chainModule() {
  ModuleSpec module = kernelModule();
  ExportSpec &scale = module.executables[0].exports[kScale];
  fb::Value size = module.executables[0].formulas.add({symbol(0)});
  scale.operands = {{fb::DType::F32, {size}}, {fb::DType::F32, {literal(4), literal(-1)}}};
  FunctionSpec function;
  function.inputs = {{"x", fb::DType::F32, {literal(kSize)}}};
  function.outputs = {{"y", fb::DType::F32, {literal(kSize)}}};
  PlanSpec plan;
  auto scaled = [&](int64_t factor, int64_t offset) {
    VariantSpec variant;
    variant.exportOrdinal = kScale;
    variant.scalars = {literal(kSize), literal(factor), literal(offset)};
    return variant;
  };
  fb::Value length = literal(kBytes);
  plan.dispatch({scaled(2, 1)},
                {reads(fb::Space::Input, 0, length), writes(fb::Space::Arena, 0, length)});
  plan.dispatch({scaled(3, 1)},
                {reads(fb::Space::Arena, 0, length), writes(fb::Space::Output, 0, length)}, {0});
  plan.fill(writes(fb::Space::Arena, 0, literal(kBytes)), 0, 4, {1});
  plan.arenaSize = literal(kBytes);
  function.plans.push_back(plan);
  module.functions.push_back(function);
  return module;
}

namespace {
class StepTest : public ::testing::Test {
protected:
  void SetUp() override {
    bytes = chainModule().finish();
    device = makeDevice();
    module = loadModule(bytes);
    instance = makeInstance(device, module);
    call = makeCall(instance);
    x = makeBuffer(device, iota(kSize));
    XCR_ASSERT_OK(xcr_call_set_input(call.get(), 0, x.get()));
  }
  float first(uint32_t command, uint32_t binding) {
    float value = -1;
    XCR_EXPECT_OK(xcr_call_read_binding(call.get(), command, binding, 4, &value, sizeof(value)));
    return value;
  }

  std::vector<uint8_t> bytes;
  Device device;
  Module module;
  Instance instance;
  Call call;
  Buffer x;
};
} // namespace

TEST_F(StepTest, BindingsHoldWhatEachCommandLeft) {
  uint32_t count = 0;
  XCR_ASSERT_OK(xcr_call_begin_steps(call.get(), &count));
  ASSERT_EQ(count, 3u);
  EXPECT_EQ(first(0, 0), 1.0f);
  XCR_ASSERT_OK(xcr_call_step(call.get()));
  EXPECT_EQ(first(0, 1), 3.0f);
  XCR_ASSERT_OK(xcr_call_step(call.get()));
  EXPECT_EQ(first(1, 0), 3.0f);
  EXPECT_EQ(first(1, 1), 10.0f);
  XCR_ASSERT_OK(xcr_call_step(call.get()));
  EXPECT_EQ(first(0, 1), 0.0f) << "the fill has taken the memory";
  EXPECT_EQ(read<float>(xcr_call_output(call.get(), 0))[1], 10.0f);
  XCR_EXPECT_FAILS(xcr_call_step(call.get()), XCR_STATUS_OUT_OF_RANGE, "there are 3");
}

/// main(n: 1, x: 16) -> x doubled as often as n says: the top byte of n as a float is the
/// condition.
static ModuleSpec loopModule() {
  ModuleSpec module = kernelModule();
  FunctionSpec function;
  function.inputs = {{"n", fb::DType::F32, {literal(1)}}, {"x", fb::DType::F32, {literal(kSize)}}};
  function.outputs = {{"y", fb::DType::F32, {literal(kSize)}}};
  PlanSpec plan;
  auto scaled = [&](int64_t size, int64_t factor, int64_t offset, fb::Binding from,
                    fb::Binding to) {
    VariantSpec variant;
    variant.exportOrdinal = kScale;
    variant.scalars = {literal(size), literal(factor), literal(offset)};
    plan.dispatch({variant}, {from, to});
  };
  fb::Value length = literal(kBytes), word = literal(4);
  plan.copy(reads(fb::Space::Input, 0, word), writes(fb::Space::Arena, 0, word));
  plan.copy(reads(fb::Space::Input, 1, length), writes(fb::Space::Output, 0, length));
  plan.controls.emplace_back(true, reads(fb::Space::Arena, 0, literal(1), literal(67)),
                             fb::Range(0, 2));
  plan.commands.emplace_back(fb::CommandKind::Control, 0, fb::Range(0, 0));
  plan.copy(reads(fb::Space::Arena, 0, word), writes(fb::Space::Arena, 0, word, literal(64)));
  scaled(kSize, 2, 0, reads(fb::Space::Output, 0, length), writes(fb::Space::Output, 0, length));
  scaled(1, 1, -1, reads(fb::Space::Arena, 0, word), writes(fb::Space::Arena, 0, word));
  plan.regions = {fb::Region(fb::Range(0, 3)), fb::Region(fb::Range(3, 1)),
                  fb::Region(fb::Range(4, 2))};
  plan.regionOrdinals = {1, 2};
  plan.arenaSize = literal(128);
  function.plans.push_back(plan);
  module.functions.push_back(function);
  return module;
}

TEST_F(StepTest, LoopsGoRoundAsTheirConditionSays) {
  bytes = loopModule().finish();
  module = loadModule(bytes);
  instance = makeInstance(device, module);
  call = makeCall(instance);
  Buffer n = makeBuffer(device, std::vector<float>{2});
  XCR_ASSERT_OK(xcr_call_set_input(call.get(), 0, n.get()));
  XCR_ASSERT_OK(xcr_call_set_input(call.get(), 1, x.get()));
  uint32_t count = 0;
  XCR_ASSERT_OK(xcr_call_begin_steps(call.get(), &count));
  ASSERT_EQ(count, 6u);
  std::vector<uint32_t> order;
  for (uint32_t next; (next = xcr_call_next_step(call.get())) < count && order.size() < 20;) {
    order.push_back(next);
    xcr_command_info_t command = XCR_COMMAND_INFO_INIT;
    XCR_ASSERT_OK(xcr_call_get_command(call.get(), next, &command));
    EXPECT_EQ(command.kind == XCR_COMMAND_CONTROL, next == 2);
    if (next == 2)
      EXPECT_STREQ(command.name.data, "while");
    XCR_ASSERT_OK(xcr_call_step(call.get()));
  }
  EXPECT_EQ(order, (std::vector<uint32_t>{0, 1, 3, 2, 4, 5, 3, 2, 4, 5, 3, 2}));
  EXPECT_EQ(read<float>(xcr_call_output(call.get(), 0))[3], 12.0f);
  XCR_EXPECT_FAILS(xcr_call_step(call.get()), XCR_STATUS_OUT_OF_RANGE, "there are 6");
}

TEST_F(StepTest, CommandsAndBindingsTellWhatTheyAre) {
  uint32_t count = 0;
  XCR_ASSERT_OK(xcr_call_begin_steps(call.get(), &count));
  xcr_command_info_t command = XCR_COMMAND_INFO_INIT;
  XCR_ASSERT_OK(xcr_call_get_command(call.get(), 1, &command));
  EXPECT_EQ(command.kind, XCR_COMMAND_DISPATCH);
  EXPECT_STREQ(command.name.data, "scale");
  EXPECT_STREQ(command.location.data, "model.mlir:1");
  EXPECT_EQ(command.export_ordinal, kScale);
  EXPECT_EQ(command.binding_count, 2u);
  ASSERT_EQ(command.scalar_count, 3u);
  EXPECT_EQ(command.scalars[1], 3);
  XCR_ASSERT_OK(xcr_call_get_command(call.get(), 2, &command));
  EXPECT_STREQ(command.name.data, "fill");

  xcr_binding_info_t binding = XCR_BINDING_INFO_INIT;
  XCR_ASSERT_OK(xcr_call_get_binding(call.get(), 1, 0, &binding));
  EXPECT_TRUE(binding.is_read && !binding.is_written);
  EXPECT_EQ(binding.space, XCR_SPACE_ARENA);
  EXPECT_EQ(binding.dtype, XCR_DTYPE_F32);
  ASSERT_EQ(binding.rank, 1u);
  EXPECT_EQ(binding.shape[0], kSize) << "a formula over the scalars";
  XCR_ASSERT_OK(xcr_call_get_binding(call.get(), 1, 1, &binding));
  EXPECT_TRUE(!binding.is_read && binding.is_written);
  EXPECT_EQ(binding.space, XCR_SPACE_OUTPUT);
  ASSERT_EQ(binding.rank, 2u);
  EXPECT_EQ(binding.shape[1], -1) << "a dim that the module does not tell";
  XCR_ASSERT_OK(xcr_call_get_binding(call.get(), 2, 0, &binding));
  EXPECT_TRUE(!binding.is_read && binding.is_written);
  EXPECT_EQ(binding.dtype, XCR_DTYPE_NONE);
  EXPECT_EQ(binding.byte_length, static_cast<uint64_t>(kBytes));
}

TEST_F(StepTest, StepsNeedABeginAndEndWithABinding) {
  xcr_command_info_t command = XCR_COMMAND_INFO_INIT;
  XCR_EXPECT_FAILS(xcr_call_step(call.get()), XCR_STATUS_FAILED_PRECONDITION,
                   "xcr_call_begin_steps");
  uint32_t count = 0;
  XCR_ASSERT_OK(xcr_call_begin_steps(call.get(), &count));
  XCR_ASSERT_OK(xcr_call_step(call.get()));
  Buffer other = makeBuffer(device, iota(kSize, 5));
  XCR_ASSERT_OK(xcr_call_set_input(call.get(), 0, other.get()));
  XCR_EXPECT_FAILS(xcr_call_step(call.get()), XCR_STATUS_FAILED_PRECONDITION,
                   "xcr_call_begin_steps");
  XCR_EXPECT_FAILS(xcr_call_get_command(call.get(), 0, &command), XCR_STATUS_FAILED_PRECONDITION,
                   "xcr_call_begin_steps");
  // Again from the first command, and an ordinary launch between.
  XCR_ASSERT_OK(xcr_call_run(call.get()));
  XCR_ASSERT_OK(xcr_call_begin_steps(call.get(), &count));
  for (uint32_t i = 0; i < count; ++i)
    XCR_ASSERT_OK(xcr_call_step(call.get()));
  EXPECT_EQ(read<float>(xcr_call_output(call.get(), 0))[0], 34.0f);
}

TEST_F(StepTest, OrdinalsAndRangesAreChecked) {
  uint32_t count = 0;
  XCR_ASSERT_OK(xcr_call_begin_steps(call.get(), &count));
  xcr_binding_info_t binding = XCR_BINDING_INFO_INIT;
  XCR_EXPECT_FAILS(xcr_call_get_binding(call.get(), 3, 0, &binding), XCR_STATUS_OUT_OF_RANGE,
                   "command 3 of 'main': there are 3");
  XCR_EXPECT_FAILS(xcr_call_get_binding(call.get(), 0, 2, &binding), XCR_STATUS_OUT_OF_RANGE,
                   "binding 2 of command 0 of 'main': there are 2");
  char data[8];
  XCR_EXPECT_FAILS(xcr_call_read_binding(call.get(), 0, 0, kBytes - 4, data, 8),
                   XCR_STATUS_OUT_OF_RANGE, "has 64 bytes, got a read of 8 at 60");
  XCR_EXPECT_OK(xcr_call_read_binding(call.get(), 0, 0, kBytes, data, 0));
}

TEST(StepTestWithoutInputs, BeginNeedsThem) {
  std::vector<uint8_t> bytes = chainModule().finish();
  Device device = makeDevice();
  Module module = loadModule(bytes);
  Instance instance = makeInstance(device, module);
  Call call = makeCall(instance);
  uint32_t count = 7;
  XCR_EXPECT_FAILS(xcr_call_begin_steps(call.get(), &count), XCR_STATUS_FAILED_PRECONDITION,
                   "is not bound");
  EXPECT_EQ(count, 0u);
}
