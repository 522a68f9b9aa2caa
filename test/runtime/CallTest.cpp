//===- CallTest.cpp - Launching calls through the C API -------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/runtime/CallTest.h"

#include <atomic>
#include <thread>

using namespace xc;
using namespace xc::test;

TEST_F(CallTest, InvokeAllocatesOutputs) {
  for (size_t size : {0, 1, 255, 256, 257, 100000}) {
    Buffer x = makeBuffer(device, iota(size)), y = makeBuffer(device, iota(size));
    xcr_buffer_t *inputs[] = {x.get(), y.get()}, *output = nullptr;
    XCR_ASSERT_OK(xcr_invoke(instance.get(), xcr_string("main"), 2, inputs, 1, &output));
    Buffer z(output);
    std::vector<float> result = read<float>(z.get());
    ASSERT_EQ(result.size(), size);
    for (size_t i = 0; i < size; ++i)
      ASSERT_EQ(result[i], 2.0f * static_cast<float>(i));
  }
}

TEST_F(CallTest, InvokeWritesToGivenOutputs) {
  Buffer x = makeBuffer(device, iota(8)), z = makeBuffer(device, iota(8));
  xcr_buffer_t *inputs[] = {x.get(), x.get()}, *output = z.get();
  XCR_ASSERT_OK(xcr_invoke(instance.get(), xcr_string("main"), 2, inputs, 1, &output));
  EXPECT_EQ(output, z.get());
  EXPECT_EQ(read<float>(z.get())[7], 14.0f);
}

TEST_F(CallTest, LaunchingAgainChecksAndPatchesNothing) {
  call = makeCall(instance);
  Stream stream = makeStream(device);
  Buffer x = makeBuffer(device, iota(300)), y = makeBuffer(device, iota(300));
  XCR_ASSERT_OK(set(0, x));
  XCR_ASSERT_OK(set(1, y));
  XCR_ASSERT_OK(xcr_call_launch(call.get(), stream.get()));
  XCR_ASSERT_OK(xcr_stream_synchronize(stream.get()));
  xcr_device_statistics_t before = XCR_DEVICE_STATISTICS_INIT;
  xcr_device_get_statistics(device.get(), &before);
  for (int i = 0; i < 100; ++i)
    XCR_ASSERT_OK(xcr_call_launch(call.get(), stream.get()));
  XCR_ASSERT_OK(xcr_stream_synchronize(stream.get()));
  xcr_device_statistics_t after = XCR_DEVICE_STATISTICS_INIT;
  xcr_device_get_statistics(device.get(), &after);
  EXPECT_EQ(after.allocation_count, before.allocation_count);
  EXPECT_EQ(after.launch_count, before.launch_count + 100);
  EXPECT_EQ(statistics().launches, 101u);
  EXPECT_EQ(statistics().checks, 1u);
  EXPECT_EQ(statistics().instantiations, 1u);
  EXPECT_EQ(statistics().patches, 0u);
  EXPECT_EQ(statistics().command_count, 1u);
  EXPECT_EQ(read<float>(xcr_call_output(call.get(), 0))[299], 598.0f);
}

TEST_F(CallTest, AnotherPointerPatchesItsCommandOnly) {
  call = makeCall(instance);
  Buffer x = makeBuffer(device, iota(300));
  XCR_ASSERT_OK(set(0, x));
  XCR_ASSERT_OK(set(1, x));
  XCR_ASSERT_OK(xcr_call_run(call.get()));
  Buffer y = makeBuffer(device, iota(300, 100));
  XCR_ASSERT_OK(set(1, y));
  XCR_ASSERT_OK(xcr_call_run(call.get()));
  EXPECT_EQ(statistics().patches, 1u);
  EXPECT_EQ(statistics().instantiations, 1u);
  EXPECT_EQ(read<float>(xcr_call_output(call.get(), 0))[1], 102.0f);
}

TEST_F(CallTest, AnotherShapeEvaluatesSizesAgain) {
  call = makeCall(instance);
  for (size_t size : {100, 10, 0, 1000, 1000}) {
    Buffer x = makeBuffer(device, iota(size));
    XCR_ASSERT_OK(set(0, x));
    XCR_ASSERT_OK(set(1, x));
    int64_t shape = -1;
    XCR_ASSERT_OK(xcr_call_query_output_shape(call.get(), 0, &shape));
    EXPECT_EQ(shape, static_cast<int64_t>(size));
    XCR_ASSERT_OK(xcr_call_run(call.get()));
    std::vector<float> result = read<float>(xcr_call_output(call.get(), 0));
    ASSERT_EQ(result.size(), size);
    if (size)
      EXPECT_EQ(result[size - 1], 2.0f * static_cast<float>(size - 1));
    EXPECT_EQ(statistics().empty_count, size == 0 ? 1u : 0u);
  }
  EXPECT_EQ(statistics().instantiations, 1u);
}

TEST_F(CallTest, CallsMayBeReleasedInFlight) {
  Stream stream = makeStream(device);
  Buffer x = makeBuffer(device, iota(1 << 18));
  Buffer z = makeBuffer(device, std::vector<float>(1 << 18));
  for (int i = 0; i < 10; ++i) {
    call = makeCall(instance);
    XCR_ASSERT_OK(set(0, x));
    XCR_ASSERT_OK(set(1, x));
    XCR_ASSERT_OK(xcr_call_set_output(call.get(), 0, z.get()));
    XCR_ASSERT_OK(xcr_call_launch(call.get(), stream.get()));
    XCR_ASSERT_OK(xcr_call_launch(call.get(), stream.get()));
    call.reset();
  }
  x.reset();
  instance.reset();
  module.reset();
  device.reset();
  XCR_ASSERT_OK(xcr_stream_synchronize(stream.get()));
  EXPECT_EQ(read<float>(z.get())[1000], 2000.0f);
}

TEST_F(CallTest, LaunchesOfOneCallFollowEachOtherAcrossStreams) {
  ModuleSpec spec = kernelModule();
  FunctionSpec function;
  function.inputs = {{"x", fb::DType::I64, {literal(1)}, 8, /*donated=*/true}};
  function.outputs = {{"y", fb::DType::I64, {literal(1)}, 8, false, 0}};
  PlanSpec plan;
  VariantSpec variant;
  variant.exportOrdinal = kWork;
  variant.scalars = {literal(20000)};
  plan.dispatch({variant}, {binding(fb::Space::Input, 0, literal(8), fb::Access::ReadWrite)});
  function.plans = {plan};
  spec.functions = {function};
  use(spec);
  call = makeCall(instance);
  int64_t zero = 0;
  Buffer x = makeBuffer(device, XCR_DTYPE_I64, {1}, &zero, 8);
  XCR_ASSERT_OK(set(0, x));
  Stream streams[] = {makeStream(device), makeStream(device)};
  for (int i = 0; i < 50; ++i) {
    XCR_ASSERT_OK(xcr_call_launch(call.get(), streams[i % 2].get()));
    if (i % 10 == 0)
      XCR_ASSERT_OK(xcr_call_run(call.get()));
  }
  XCR_ASSERT_OK(xcr_device_synchronize(device.get()));
  EXPECT_EQ(read<int64_t>(x.get())[0], 55);
  // The output is the input's memory.
  EXPECT_EQ(read<int64_t>(xcr_call_output(call.get(), 0))[0], 55);
}

TEST_F(CallTest, ProfilesEveryCommand) {
  call = makeCall(instance, "main", XCR_CALL_PROFILE);
  Buffer x = makeBuffer(device, iota(1000));
  XCR_ASSERT_OK(set(0, x));
  XCR_ASSERT_OK(set(1, x));
  for (int i = 0; i < 3; ++i)
    XCR_ASSERT_OK(xcr_call_run(call.get()));
  ASSERT_EQ(xcr_call_profile_count(call.get()), 1u);
  xcr_profile_entry_t entry = XCR_PROFILE_ENTRY_INIT;
  XCR_ASSERT_OK(xcr_call_get_profile(call.get(), 0, &entry));
  EXPECT_EQ(std::string(entry.name.data, entry.name.size), "add");
  EXPECT_EQ(std::string(entry.location.data, entry.location.size), "model.mlir:1");
  EXPECT_EQ(entry.launches, 3u);
  EXPECT_EQ(entry.grid[0], 4u);
  EXPECT_GE(entry.total_ns, entry.min_ns);
  XCR_EXPECT_FAILS(xcr_call_get_profile(call.get(), 1, &entry), XCR_STATUS_OUT_OF_RANGE,
                   "there are 1");
}

TEST_F(CallTest, ManyThreadsInvokeOneInstance) {
  std::atomic<int> failures{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 6; ++t)
    threads.emplace_back([&, t] {
      size_t size = 500 + static_cast<size_t>(t) * 20000;
      Buffer x = makeBuffer(device, iota(size, static_cast<float>(t)));
      for (int i = 0; i < 50; ++i) {
        xcr_buffer_t *inputs[] = {x.get(), x.get()}, *output = nullptr;
        if (!isOk(xcr_invoke(instance.get(), xcr_string("main"), 2, inputs, 1, &output))) {
          failures.fetch_add(1);
          continue;
        }
        Buffer z(output);
        if (read<float>(z.get())[size - 1] !=
            2.0f * static_cast<float>(size - 1 + static_cast<size_t>(t)))
          failures.fetch_add(1);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(failures.load(), 0);
}

TEST_F(CallTest, OutOfMemoryTellsBytesAndLeavesTheDeviceUsable) {
  device = makeDevice("cpu:2", 1 << 20);
  instance = makeInstance(device, module);
  call = makeCall(instance);
  Buffer x = makeBuffer(device, std::vector<float>(200000));
  XCR_ASSERT_OK(set(0, x));
  XCR_ASSERT_OK(set(1, x));
  xcr_status_t status = xcr_call_run(call.get());
  uint64_t asked = 0, available = 0;
  EXPECT_TRUE(xcr_status_memory(status, &asked, &available));
  EXPECT_EQ(asked, 800000u);
  EXPECT_EQ(available, (1u << 20) - 800000u);
  XCR_EXPECT_FAILS(
      status, XCR_STATUS_OUT_OF_MEMORY,
      "the memory limit of device cpu is reached: asked for 800000 bytes, 248576 available, "
      "800000 held by this device object");
  Buffer small = makeBuffer(device, iota(10));
  XCR_ASSERT_OK(set(0, small));
  XCR_ASSERT_OK(set(1, small));
  XCR_EXPECT_OK(xcr_call_run(call.get()));
}
