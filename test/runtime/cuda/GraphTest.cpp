//===- GraphTest.cpp - What a CUDA graph takes over, and what it cannot ---===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ptxsim/tensor_map.h"
#include "test/runtime/cuda/CudaKernels.h"
#include "test/runtime/hal/HalTest.h"

using namespace xc;
using namespace xc::test;

namespace {

class GraphTest : public HalTest {
protected:
  hal::UpdateCost update(hal::Recording &recording, const TestPlan &plan, uint32_t command,
                         uint8_t bits) {
    hal::CommandChange change = {command, bits};
    hal::UpdateCost cost;
    EXPECT_TRUE(ok(recording.update(plan.list(), {&change, 1}, &cost)));
    return cost;
  }
  /// Graphs that the stand-in holds; zero where another driver is tested.
  uint64_t liveGraphs() {
    PtxsimLive live = {};
    if (standIn())
      standIn()->getLive(&live);
    return live.graphExecs;
  }
};

/// Three fills, each of which is a memset at an even address and a kernel at an odd one.
struct Fills {
  explicit Fills(uint64_t base) : base(base) {
    for (uint32_t i = 0; i < 3; ++i)
      plan.fill(base + 32 * i, 8, 0x1234, 2);
  }
  void move(uint32_t fill, bool isOdd) { plan.addresses[fill] = base + 32 * fill + isOdd; }
  uint64_t base;
  TestPlan plan;
};

} // namespace
INSTANTIATE_TEST_SUITE_P(Cuda, GraphTest, ::testing::Values(backends()[0]), backendName);

TEST_P(GraphTest, SteadyStateCostsNothing) {
  Ref<hal::Memory> memory = upload(std::vector<uint8_t>(96));
  Fills fills(memory->address());
  if (standIn())
    standIn()->resetCallCounts();
  Ref<hal::Recording> recording = record(fills.plan);
  if (standIn())
    EXPECT_EQ(standIn()->callCount("cuGraphInstantiate"), 1u);
  for (int i = 0; i < 10; ++i)
    run(*recording);
  if (standIn()) {
    EXPECT_EQ(standIn()->callCount("cuGraphLaunch"), 10u);
    EXPECT_EQ(standIn()->callCount("cuGraphInstantiate"), 1u);
    EXPECT_EQ(standIn()->callCount("cuGraphExecMemsetNodeSetParams"), 0u);
  }
  EXPECT_EQ(download<uint8_t>(*memory, 96)[1], 0x12);
}

TEST_P(GraphTest, AGraphOfBeforeIsUsedAgain) {
  Ref<hal::Memory> memory = upload(std::vector<uint8_t>(96));
  Fills fills(memory->address());
  Ref<hal::Recording> recording = record(fills.plan);
  for (int round = 0; round < 4; ++round)
    for (bool isOdd : {true, false}) {
      fills.move(1, isOdd);
      fills.plan.commands[1].pattern = 0x1234 + static_cast<uint64_t>(round);
      ASSERT_TRUE(ok(device->write(*memory, 0, std::vector<uint8_t>(96).data(), 96)));
      hal::UpdateCost cost = update(*recording, fills.plan, 1, hal::kChangedAddresses);
      EXPECT_EQ(cost.instantiations, round == 0 && isOdd ? 1u : 0u);
      EXPECT_EQ(cost.patches, round == 0 && isOdd ? 0u : 1u);
      run(*recording);
      std::vector<uint8_t> bytes = download<uint8_t>(*memory, 96);
      EXPECT_EQ(bytes[32 + isOdd], 0x34 + round);
      EXPECT_EQ(bytes[40 + isOdd], 0);
      EXPECT_EQ(bytes[0], 0x34);
      EXPECT_EQ(bytes[64], 0x34);
    }
}

TEST_P(GraphTest, WhatChangedMeanwhileIsTakenOver) {
  Ref<hal::Memory> memory = upload(std::vector<uint8_t>(96));
  Fills fills(memory->address());
  Ref<hal::Recording> recording = record(fills.plan);
  fills.move(1, true);
  EXPECT_EQ(update(*recording, fills.plan, 1, hal::kChangedAddresses).instantiations, 1u);
  fills.plan.commands[0].pattern = 0x5678;
  EXPECT_EQ(update(*recording, fills.plan, 0, hal::kChangedLength).patches, 1u);
  // Back to the first graph, which knows nothing of the new pattern.
  fills.move(1, false);
  hal::UpdateCost cost = update(*recording, fills.plan, 1, hal::kChangedAddresses);
  EXPECT_EQ(cost.instantiations, 0u);
  EXPECT_EQ(cost.patches, 2u);
  run(*recording);
  EXPECT_EQ(download<uint8_t>(*memory, 96)[0], 0x78);
}

TEST_P(GraphTest, FewGraphsAreKept) {
  Ref<hal::Memory> memory = upload(std::vector<uint8_t>(96));
  Fills fills(memory->address());
  uint64_t before = liveGraphs();
  Ref<hal::Recording> recording = record(fills.plan);
  for (int round = 0; round < 3; ++round)
    for (uint32_t form = 0; form < 8; ++form) {
      for (uint32_t i = 0; i < 3; ++i)
        fills.move(i, (form >> i) & 1);
      ASSERT_TRUE(ok(device->write(*memory, 0, std::vector<uint8_t>(96).data(), 96)));
      hal::CommandChange changes[3] = {
          {0, hal::kChangedAddresses}, {1, hal::kChangedAddresses}, {2, hal::kChangedAddresses}};
      hal::UpdateCost cost;
      ASSERT_TRUE(ok(recording->update(fills.plan.list(), {changes, 3}, &cost)));
      run(*recording);
      std::vector<uint8_t> bytes = download<uint8_t>(*memory, 96);
      for (uint32_t i = 0; i < 3; ++i)
        EXPECT_EQ(bytes[32 * i + ((form >> i) & 1)], 0x34) << form;
      EXPECT_LE(liveGraphs(), before + 4);
    }
}

TEST_P(GraphTest, PlaceholdersBecomeNodesAndNodesAreDisabled) {
  Ref<hal::Memory> a = upload(iota(256)), b = upload(std::vector<float>(256));
  TestPlan plan;
  plan.dispatch(code.get(), kScale, {a->address(), b->address()}, {256, 2, 0}, 0);
  Ref<hal::Recording> recording = record(plan);
  run(*recording);
  EXPECT_EQ(download<float>(*b, 256)[100], 0.0f);
  for (int round = 0; round < 3; ++round) {
    plan.commands[0].isEmpty = false;
    plan.commands[0].grid[0] = 1;
    plan.scalars[1] = 3 + round;
    uint8_t bits = hal::kChangedEmpty | hal::kChangedGrid | hal::kChangedScalars;
    EXPECT_EQ(update(*recording, plan, 0, bits).instantiations, round == 0 ? 1u : 0u);
    run(*recording);
    EXPECT_EQ(download<float>(*b, 256)[100], 100.0f * static_cast<float>(3 + round));
    plan.commands[0].isEmpty = true;
    EXPECT_EQ(update(*recording, plan, 0, hal::kChangedEmpty).instantiations, 0u);
    ASSERT_TRUE(ok(device->write(*b, 0, std::vector<float>(256).data(), 1024)));
    run(*recording);
    EXPECT_EQ(download<float>(*b, 256)[100], 0.0f);
  }
}

TEST_P(GraphTest, AnotherClusterSizeIsAnotherGraph) {
  if (std::stoi(device->info.arch.c_str() + 3) < 90)
    GTEST_SKIP() << device->info.arch.c_str() << " has no clusters";
  Ref<hal::Memory> out = upload(std::vector<int64_t>(8, -1));
  TestPlan plan;
  plan.dispatch(code.get(), kIds, {out->address()}, {8, 1}, 8);
  Ref<hal::Recording> recording = record(plan);
  for (int round = 0; round < 2; ++round)
    for (uint32_t kernel : {kClusterIds, kIds}) {
      plan.commands[0].exportOrdinal = kernel;
      hal::UpdateCost cost = update(*recording, plan, 0, hal::kChangedCode);
      EXPECT_EQ(cost.instantiations, round == 0 && kernel == kClusterIds ? 1u : 0u);
      ASSERT_TRUE(ok(device->write(*out, 0, std::vector<int64_t>(8, -1).data(), 64)));
      run(*recording);
      EXPECT_EQ(download<int64_t>(*out, 8), (std::vector<int64_t>{0, 1, 2, 3, 4, 5, 6, 7}));
    }
}

TEST_P(GraphTest, TensorMapsFollowBindingsAndScalars) {
  if (!standIn())
    GTEST_SKIP() << "only the stand-in's tensor maps can be read";
  Ref<hal::Memory> data = allocate(8192), out = allocate(256);
  TestPlan plan;
  plan.dispatch(code.get(), kShowMap, {data->address(), out->address()}, {10});
  // A command without maps before and after it finds its own parameters.
  plan.dispatch(code.get(), kTell, {out->address() + 128}, {77});
  Ref<hal::Recording> recording = record(plan);
  for (uint32_t round = 0; round < 3; ++round) {
    run(*recording);
    auto map = download<ptxsim::EncodedTensorMap>(*out, 1)[0];
    ASSERT_TRUE(ptxsim::isTensorMap(map));
    EXPECT_EQ(map.globalAddress, data->address() + 1024 * round + 64);
    EXPECT_EQ(map.rank, 2u);
    EXPECT_EQ(map.dimsMinus1[0], 15u);
    EXPECT_EQ(map.dimsMinus1[1], 9u + round);
    EXPECT_EQ(map.strides[0], 64u);
    EXPECT_EQ(map.box[1], 4u);
    EXPECT_EQ(map.swizzle, 2u);
    EXPECT_EQ(map.elementBytes, 4u);
    EXPECT_EQ(download<int64_t>(*out, 17)[16], 77);
    plan.addresses[0] += 1024;
    plan.scalars[0] += 1;
    EXPECT_EQ(update(*recording, plan, 0, hal::kChangedAddresses | hal::kChangedScalars).patches,
              1u);
  }
}

TEST_P(GraphTest, TensorMapsOfImagesHaveTheirPixels) {
  if (!standIn())
    GTEST_SKIP() << "only the stand-in's tensor maps can be read";
  Ref<hal::Memory> data = allocate(8192), out = allocate(256);
  TestPlan plan;
  plan.dispatch(code.get(), kShowImageMap, {data->address(), out->address()}, {5, 10, 1});
  Ref<hal::Recording> recording = record(plan);
  for (uint32_t round = 0; round < 2; ++round) {
    run(*recording);
    auto map = download<ptxsim::EncodedTensorMap>(*out, 1)[0];
    ASSERT_TRUE(ptxsim::isTensorMap(map));
    EXPECT_EQ(map.kind, ptxsim::EncodedTensorMap::Im2col);
    EXPECT_EQ(map.globalAddress, data->address());
    EXPECT_EQ(map.rank, 4u);
    EXPECT_EQ(map.dimsMinus1[1], 11u);
    EXPECT_EQ(map.dimsMinus1[3], 4u + round);
    EXPECT_EQ(map.strides[2], 15360u);
    EXPECT_EQ(map.elementStrides[1], 2u);
    EXPECT_EQ(map.lowerCorner[0], -1);
    EXPECT_EQ(map.lowerCorner[1], -2);
    EXPECT_EQ(map.dimsMinus1[2], 9u + 2 * round);
    EXPECT_EQ(map.upperCorner[0], -3);
    EXPECT_EQ(map.upperCorner[1], round ? -4 : 1);
    EXPECT_EQ(map.channelsPerPixel, 32u);
    EXPECT_EQ(map.pixelsPerColumn, 192u);
    EXPECT_EQ(map.swizzle, 2u);
    plan.scalars[0] += 1;
    plan.scalars[1] += 2;
    plan.scalars[2] -= 5;
    EXPECT_EQ(update(*recording, plan, 0, hal::kChangedScalars).patches, 1u);
  }
  // Farther than the map can say.
  plan.scalars[2] = int64_t(1) << 40;
  hal::CommandChange change = {0, hal::kChangedScalars};
  hal::UpdateCost cost;
  EXPECT_TRUE(recording->update(plan.list(), {&change, 1}, &cost).failed());
}

TEST_P(GraphTest, AFailedUpdateIsMendedByOneOfEverything) {
  Ref<hal::Memory> data = allocate(8192), out = allocate(128);
  TestPlan plan;
  plan.dispatch(code.get(), kShowMap, {data->address(), out->address()}, {10});
  Ref<hal::Recording> recording = record(plan);
  // A map of no elements cannot be encoded.
  plan.scalars[0] = 0;
  hal::CommandChange change = {0, hal::kChangedAll};
  hal::UpdateCost cost;
  Status status = recording->update(plan.list(), {&change, 1}, &cost);
  EXPECT_EQ(status.code(), XCR_STATUS_INTERNAL);
  EXPECT_NE(std::string(status.message().data).find("cuTensorMapEncodeTiled"), std::string::npos);
  Ref<hal::Stream> queue = stream();
  EXPECT_EQ(queue->launch(recording, 0, hal::LaunchMode::Awaited).code(), XCR_STATUS_INTERNAL);
  plan.scalars[0] = 11;
  ASSERT_TRUE(ok(recording->update(plan.list(), {&change, 1}, &cost)));
  run(*recording);
}
