//===- ConcurrencyTest.cpp - Commands that run beside each other ----------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Stream mode spreads a plan over several streams, and kernels that wait for those before them by
// themselves are launched early. Results stay those of the plan's order.
//
//===----------------------------------------------------------------------===//

#include "test/runtime/cuda/CudaKernels.h"
#include "test/runtime/hal/HalTest.h"

using namespace xc;
using namespace xc::test;

//===----------------------------------------------------------------------===//
// Several streams
//===----------------------------------------------------------------------===//

namespace {

class LaneTest : public HalTest {
protected:
  void TearDown() override {
    if (standIn())
      standIn()->setStreamDelay(0, 0);
  }
  /// Calls of the driver while \p recording runs once.
  uint64_t callsOf(const char *function, hal::Recording &recording) {
    standIn()->resetCallCounts();
    run(recording);
    return standIn()->callCount(function);
  }
  /// \p width fills of 8 bytes, each copied on to bytes of its own, without edges between the
  /// pairs.
  TestPlan makePairs(hal::Memory &memory, uint32_t width) {
    TestPlan plan;
    for (uint32_t i = 0; i < width; ++i) {
      uint32_t fill = plan.fill(memory.address() + 16 * i, 8, i + 1, 1);
      plan.copy(memory.address() + 16 * i, memory.address() + 16 * i + 8, 8, {fill});
    }
    return plan;
  }
};

} // namespace
INSTANTIATE_TEST_SUITE_P(Cuda, LaneTest, ::testing::Values(backends()[1]), backendName);

TEST_P(LaneTest, AChainNeedsNoEvents) {
  if (!standIn())
    GTEST_SKIP() << "needs the driver stand-in (target cuda_sim)";
  Ref<hal::Memory> memory = upload(std::vector<uint8_t>(16));
  Ref<hal::Recording> recording = record(makePairs(*memory, 1));
  EXPECT_EQ(callsOf("cuEventRecord", *recording), 0u);
  EXPECT_EQ(callsOf("cuStreamWaitEvent", *recording), 0u);
  EXPECT_EQ(callsOf("cuStreamCreateWithPriority", *recording), 1u); // run's own
}

TEST_P(LaneTest, BranchesGetStreamsOfTheirOwn) {
  if (!standIn())
    GTEST_SKIP() << "needs the driver stand-in (target cuda_sim)";
  Ref<hal::Memory> memory = upload(std::vector<uint8_t>(48));
  Ref<hal::Recording> recording = record(makePairs(*memory, 3));
  EXPECT_EQ(callsOf("cuStreamCreateWithPriority", *recording), 3u);
  // Two streams wait for the start, and the first one for their ends.
  EXPECT_EQ(callsOf("cuStreamWaitEvent", *recording), 4u);
  EXPECT_EQ(callsOf("cuEventRecord", *recording), 3u);
  std::vector<uint8_t> bytes = download<uint8_t>(*memory, 48);
  for (uint32_t i = 0; i < 48; ++i)
    EXPECT_EQ(bytes[i], i / 16 + 1);
}

TEST_P(LaneTest, TheOldestStreamTakesMoreBranches) {
  Ref<hal::Memory> memory = upload(std::vector<uint8_t>(16 * 23));
  TestPlan plan = makePairs(*memory, 23);
  if (standIn())
    standIn()->setStreamDelay(50, 1);
  run(plan);
  std::vector<uint8_t> bytes = download<uint8_t>(*memory, 16 * 23);
  for (uint32_t i = 0; i < bytes.size(); ++i)
    EXPECT_EQ(bytes[i], i / 16 + 1);
}

TEST_P(LaneTest, WhatIsBehindALaunchWaitsForAllOfIt) {
  if (standIn())
    standIn()->setStreamDelay(50, 2);
  Ref<hal::Memory> memory = upload(std::vector<uint8_t>(64)), copy = allocate(64);
  Ref<hal::Recording> recording = record(makePairs(*memory, 4));
  Ref<hal::Stream> queue = stream();
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(ok(queue->fill(memory, 0, 64, 0, 1)));
    ASSERT_TRUE(ok(queue->launch(recording, 0, hal::LaunchMode::Asynchronous)));
    ASSERT_TRUE(ok(queue->copy(memory, 0, copy, 0, 64)));
    ASSERT_TRUE(ok(queue->synchronize()));
    std::vector<uint8_t> bytes = download<uint8_t>(*copy, 64);
    for (uint32_t j = 0; j < 64; ++j)
      ASSERT_EQ(bytes[j], j / 16 + 1);
  }
}

//===----------------------------------------------------------------------===//
// Programmatic launch
//===----------------------------------------------------------------------===//

namespace {

ModuleSpec programmaticModule() {
  ModuleSpec module;
  module.targets = {{"cuda", "sm_90"}};
  ExecutableSpec code;
  code.kind = fb::CodeKind::PTX;
  code.arch = "sm_90";
  code.image = readFile(XC_TEST_CUDA_PROGRAMMATIC);
  ExportSpec entry;
  entry.name = "twice_plus_one";
  entry.bindings = 2;
  entry.parameters = {{fb::ParameterKind::BindingPointer, 0},
                      {fb::ParameterKind::BindingPointer, 1}};
  entry.programmaticLaunch = true;
  code.exports.push_back(entry);
  entry.name = "copy_ahead";
  entry.readsInputsEarly = true;
  code.exports.push_back(entry);
  module.executables.push_back(code);
  return module;
}
constexpr Kernel kTwicePlusOne = static_cast<Kernel>(0), kCopyAhead = static_cast<Kernel>(1);

class ProgrammaticTest : public HalTest {
protected:
  void SetUp() override {
    HalTest::SetUp();
    if (IsSkipped() || HasFatalFailure())
      return;
    earlyBytes = programmaticModule().finish();
    ASSERT_TRUE(ok(xcr_module::loadMemory(HostAllocator(), {earlyBytes.data(), earlyBytes.size()},
                                          0, &earlyModule)));
    const fb::Executable &table = *earlyModule->tables().executables()->Get(0);
    uint32_t score = 0;
    if (Status status = device->checkCode(table, &score); status.failed())
      GTEST_SKIP() << status.message().data;
    Span<const uint8_t> image;
    ASSERT_TRUE(ok(earlyModule->image(0, &image)));
    ASSERT_TRUE(ok(device->loadExecutable(table, image, &early)));
  }
  /// Whether kernels are nodes behind programmatic edges, which drivers have from CUDA 12.3 on.
  bool hasEdges() const {
    return std::string(GetParam().uri).find("stream") == std::string::npos &&
           device->info.driverVersion >= 12030;
  }
  uint64_t edgeCount() { return standIn()->callCount("cuGraphAddDependencies"); }
  /// x, 2x + 1, 2 (2x + 1) + 1, ... from cell to cell, or to and fro between two.
  TestPlan makeChain(hal::Memory &cells, uint32_t length, bool isToAndFro) {
    TestPlan plan;
    for (uint32_t i = 0; i < length; ++i) {
      uint32_t from = isToAndFro ? i % 2 : i, to = isToAndFro ? 1 - i % 2 : i + 1;
      plan.dispatch(early.get(), kTwicePlusOne,
                    {cells.address() + 4 * from, cells.address() + 4 * to}, {}, 1, 1, 1,
                    i ? std::vector<uint32_t>{i - 1} : std::vector<uint32_t>());
    }
    return plan;
  }

  std::vector<uint8_t> earlyBytes;
  Ref<xcr_module> earlyModule;
  Ref<hal::Executable> early;
};

} // namespace
INSTANTIATE_TEST_SUITE_P(Cuda, ProgrammaticTest, ::testing::ValuesIn(backends()), backendName);

TEST_P(ProgrammaticTest, ChainsKeepTheirOrder) {
  for (bool isToAndFro : {false, true}) {
    Ref<hal::Memory> cells = upload(std::vector<float>(21));
    if (standIn())
      standIn()->resetCallCounts();
    Ref<hal::Recording> recording = record(makeChain(*cells, 20, isToAndFro));
    if (standIn())
      EXPECT_EQ(edgeCount(), hasEdges() ? 19u : 0u);
    for (int i = 0; i < 50; ++i) {
      ASSERT_TRUE(ok(device->write(*cells, 0, std::vector<float>(21).data(), 84)));
      run(*recording);
      ASSERT_EQ(download<float>(*cells, 21)[isToAndFro ? 0 : 20], 1048575.0f);
    }
  }
}

TEST_P(ProgrammaticTest, LaunchesFollowEachOther) {
  Ref<hal::Memory> cells = upload(std::vector<float>(2));
  Ref<hal::Recording> recording = record(makeChain(*cells, 2, true));
  Ref<hal::Stream> queue = stream();
  for (int i = 0; i < 10; ++i)
    ASSERT_TRUE(ok(queue->launch(recording, 0, hal::LaunchMode::Asynchronous)));
  ASSERT_TRUE(ok(queue->synchronize()));
  EXPECT_EQ(download<float>(*cells, 2)[0], 1048575.0f);
}

TEST_P(ProgrammaticTest, LaunchesBeginInOrder) {
  // The second one reads what the first one writes, before it waits: inputs of a call are there.
  Ref<hal::Memory> cells = upload(std::vector<float>(3));
  auto cell = [&](uint32_t i) { return cells->address() + 4 * i; };
  TestPlan writes, reads;
  writes.dispatch(early.get(), kTwicePlusOne, {cell(0), cell(1)}, {});
  reads.dispatch(early.get(), kCopyAhead, {cell(1), cell(2)}, {});
  Ref<hal::Recording> writer = record(writes), reader = record(reads);
  Ref<hal::Stream> queue = stream();
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(ok(device->write(*cells, 0, std::vector<float>(3).data(), 12)));
    ASSERT_TRUE(ok(queue->launch(writer, 0, hal::LaunchMode::Asynchronous)));
    ASSERT_TRUE(ok(queue->launch(reader, 0, hal::LaunchMode::Asynchronous)));
    ASSERT_TRUE(ok(queue->synchronize()));
    ASSERT_EQ(download<float>(*cells, 3), (std::vector<float>{0, 1, 1}));
  }
}

TEST_P(ProgrammaticTest, BranchesMeet) {
  // c1 = 2 c0 + 1; c2 and c3 from it; c4 = c2 + c3 by a kernel that is launched late; c5 early
  // again.
  Ref<hal::Memory> cells = upload(std::vector<float>(6));
  auto cell = [&](uint32_t i) { return cells->address() + 4 * i; };
  TestPlan plan;
  uint32_t one = plan.dispatch(early.get(), kTwicePlusOne, {cell(0), cell(1)}, {});
  uint32_t two = plan.dispatch(early.get(), kTwicePlusOne, {cell(1), cell(2)}, {}, 1, 1, 1, {one});
  uint32_t three =
      plan.dispatch(early.get(), kTwicePlusOne, {cell(1), cell(3)}, {}, 1, 1, 1, {one});
  uint32_t four =
      plan.dispatch(code.get(), kAdd, {cell(2), cell(3), cell(4)}, {1}, 1, 1, 1, {two, three});
  // Behind both a kernel and what that was behind of.
  plan.dispatch(early.get(), kTwicePlusOne, {cell(4), cell(5)}, {}, 1, 1, 1, {two, four});
  Ref<hal::Recording> recording = record(plan);
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(ok(device->write(*cells, 0, std::vector<float>(6).data(), 24)));
    run(*recording);
    ASSERT_EQ(download<float>(*cells, 6), (std::vector<float>{0, 1, 3, 3, 6, 13}));
  }
}

TEST_P(ProgrammaticTest, AnEmptyKernelDoesNotBreakTheOrder) {
  Ref<hal::Memory> cells = upload(std::vector<float>(4));
  TestPlan plan = makeChain(*cells, 3, /*isToAndFro=*/false);
  Ref<hal::Recording> recording = record(plan);
  for (int round = 0; round < 3; ++round) {
    // Disabled, the second kernel would no longer hold the third back.
    plan.commands[1].isEmpty = !plan.commands[1].isEmpty;
    hal::CommandChange change = {1, hal::kChangedEmpty};
    hal::UpdateCost cost;
    ASSERT_TRUE(ok(recording->update(plan.list(), {&change, 1}, &cost)));
    if (standIn() && hasEdges())
      EXPECT_EQ(cost.instantiations, round == 0 ? 1u : 0u);
    for (int i = 0; i < 50; ++i) {
      ASSERT_TRUE(ok(device->write(*cells, 0, std::vector<float>(4).data(), 16)));
      run(*recording);
      float second = plan.commands[1].isEmpty ? 0.0f : 3.0f;
      ASSERT_EQ(download<float>(*cells, 4), (std::vector<float>{0, 1, second, 2 * second + 1}));
    }
  }
}
