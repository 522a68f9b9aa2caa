//===- DispatchTest.cpp - Kernels and recorded plans of every HAL driver -===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/runtime/hal/HalTest.h"

#include <random>
#include <set>

using namespace xc;
using namespace xc::test;

namespace {
class DispatchTest : public HalTest {};
} // namespace
INSTANTIATE_TEST_SUITE_P(Hal, DispatchTest, ::testing::ValuesIn(backends()), backendName);

TEST_P(DispatchTest, BindingsAndScalarsArrive) {
  Ref<hal::Memory> a = upload(iota(1000)), b = allocate(4000);
  TestPlan plan;
  plan.dispatch(code.get(), kScale, {a->address(), b->address()}, {1000, 3, -5}, 4);
  run(plan);
  std::vector<float> result = download<float>(*b, 1000);
  for (size_t i = 0; i < 1000; ++i)
    ASSERT_EQ(result[i], 3.0f * static_cast<float>(i) - 5.0f);
}

TEST_P(DispatchTest, EveryWorkgroupRunsOnceWithItsIds) {
  const uint32_t sizes[][3] = {{1, 1, 1}, {7, 1, 1}, {1, 5, 1}, {1, 1, 9}, {3, 4, 5}, {64, 3, 2}};
  for (const auto &size : sizes) {
    size_t count = size[0] * size[1] * size[2];
    Ref<hal::Memory> out = upload(std::vector<int64_t>(count, -1));
    TestPlan plan;
    plan.dispatch(code.get(), kIds, {out->address()}, {size[0], size[1]}, size[0], size[1],
                  size[2]);
    // Enough for the pool to take part.
    plan.commands[0].bytes = 1 << 20;
    run(plan);
    std::vector<int64_t> ids = download<int64_t>(*out, count);
    for (size_t i = 0; i < count; ++i)
      ASSERT_EQ(ids[i], int64_t(i % size[0] + 1000 * (i / size[0] % size[1]) +
                                1000000 * (i / size[0] / size[1])));
  }
}

TEST_P(DispatchTest, OneImageHasSeveralEntryPoints) {
  Ref<hal::Memory> a = upload(iota(64)), b = upload(iota(64, 100));
  Ref<hal::Memory> c = allocate(256), d = allocate(256);
  TestPlan plan;
  uint32_t sum = plan.dispatch(code.get(), kAdd, {a->address(), b->address(), c->address()}, {64});
  plan.dispatch(code.get(), kReverse, {c->address(), d->address()}, {64}, 1, 1, 1, {sum});
  run(plan);
  std::vector<float> result = download<float>(*d, 64);
  for (size_t i = 0; i < 64; ++i)
    ASSERT_EQ(result[i], 2.0f * static_cast<float>(63 - i) + 100.0f);
}

TEST_P(DispatchTest, ScratchIsPrivateToAWorkgroup) {
  const size_t rows = 2000;
  Ref<hal::Memory> a = upload(iota(rows * 64)), b = allocate(rows * 256);
  TestPlan plan;
  plan.dispatch(code.get(), kReverse, {a->address(), b->address()}, {64}, rows);
  plan.commands[0].bytes = 1 << 20;
  run(plan);
  std::vector<float> result = download<float>(*b, rows * 64);
  for (size_t i = 0; i < result.size(); ++i)
    ASSERT_EQ(result[i], static_cast<float>(i / 64 * 64 + 63 - i % 64));
}

TEST_P(DispatchTest, ChainOfFillAndDispatchesFollowsEdges) {
  Ref<hal::Memory> a = allocate(4000), b = allocate(4000), c = allocate(4000);
  TestPlan plan;
  uint32_t fill = plan.fill(a->address(), 4000, 0x40000000, 4); // 2.0f
  uint32_t scale = plan.dispatch(code.get(), kScale, {a->address(), b->address()}, {1000, 5, 1}, 4,
                                 1, 1, {fill});
  plan.dispatch(code.get(), kAdd, {a->address(), b->address(), c->address()}, {1000}, 4, 1, 1,
                {fill, scale});
  run(plan);
  EXPECT_EQ(download<float>(*c, 1000), std::vector<float>(1000, 13.0f));
}

TEST_P(DispatchTest, RecordedOnceRunsManyTimesWithOtherBindings) {
  Ref<hal::Memory> a = upload(iota(300)), b = allocate(1200);
  TestPlan plan;
  plan.dispatch(code.get(), kScale, {a->address(), b->address()}, {300, 2, 0}, 2);
  Ref<hal::Recording> recording = record(plan);
  for (int i = 0; i < 20; ++i) {
    Ref<hal::Memory> from = upload(iota(300, static_cast<float>(i)));
    Ref<hal::Memory> to = allocate(1200);
    plan.addresses = {from->address(), to->address()};
    hal::CommandChange change = {0, hal::kChangedAddresses};
    hal::UpdateCost cost;
    ASSERT_TRUE(ok(recording->update(plan.list(), {&change, 1}, &cost)));
    EXPECT_EQ(cost.patches, 1u);
    EXPECT_EQ(cost.instantiations, 0u);
    run(*recording);
    std::vector<float> result = download<float>(*to, 300);
    for (size_t j = 0; j < 300; ++j)
      ASSERT_EQ(result[j], 2.0f * static_cast<float>(j + size_t(i)));
  }
}

TEST_P(DispatchTest, ScalarsGridAndKernelCanChange) {
  Ref<hal::Memory> a = upload(iota(512)), b = upload(std::vector<float>(512));
  TestPlan plan;
  plan.dispatch(code.get(), kScale, {a->address(), b->address()}, {256, 2, 0}, 1);
  Ref<hal::Recording> recording = record(plan);
  run(*recording);
  EXPECT_EQ(download<float>(*b, 512)[300], 0.0f);
  plan.scalars = {512, 3, 1};
  plan.commands[0].grid[0] = 2;
  hal::CommandChange change = {0, hal::kChangedScalars | hal::kChangedGrid};
  hal::UpdateCost cost;
  ASSERT_TRUE(ok(recording->update(plan.list(), {&change, 1}, &cost)));
  run(*recording);
  EXPECT_EQ(download<float>(*b, 512)[300], 901.0f);
  // Another kernel with the same number of bindings.
  plan.commands[0].exportOrdinal = kAccumulate;
  plan.addresses = {b->address(), a->address()};
  plan.commands[0].scalars.count = 1;
  change.bits = hal::kChangedCode | hal::kChangedAddresses | hal::kChangedScalars;
  ASSERT_TRUE(ok(recording->update(plan.list(), {&change, 1}, &cost)));
  run(*recording);
  EXPECT_EQ(download<float>(*b, 512)[300], 1201.0f);
}

TEST_P(DispatchTest, EmptyCommandsDoNothingAndDoNotBlock) {
  Ref<hal::Memory> a = upload(iota(256)), b = upload(std::vector<float>(256));
  TestPlan plan;
  uint32_t first = plan.dispatch(code.get(), kScale, {a->address(), b->address()}, {256, 2, 0}, 0);
  uint32_t second = plan.fill(a->address(), 0, 0xff, 1, {first});
  plan.dispatch(code.get(), kAccumulate, {b->address(), a->address()}, {256}, 1, 1, 1, {second});
  plan.commands[2].bytes = 1 << 20;
  Ref<hal::Recording> recording = record(plan);
  run(*recording);
  EXPECT_EQ(download<float>(*b, 256), iota(256));
  // Empty no more.
  plan.commands[0].grid[0] = 1;
  plan.commands[0].isEmpty = false;
  hal::CommandChange change = {0, hal::kChangedGrid | hal::kChangedEmpty};
  hal::UpdateCost cost;
  ASSERT_TRUE(ok(recording->update(plan.list(), {&change, 1}, &cost)));
  run(*recording);
  EXPECT_EQ(download<float>(*b, 256)[100], 300.0f);
}

TEST_P(DispatchTest, UpdatesLeaveLaunchesInFlightAlone) {
  Ref<hal::Memory> a = upload(std::vector<int64_t>(1)), b = upload(std::vector<int64_t>(1));
  TestPlan plan;
  plan.dispatch(code.get(), kWork, {a->address()}, {2000000});
  Ref<hal::Recording> recording = record(plan);
  Ref<hal::Stream> queue = stream();
  ASSERT_TRUE(ok(queue->launch(recording, 0, hal::LaunchMode::Asynchronous)));
  plan.addresses = {b->address()};
  hal::CommandChange change = {0, hal::kChangedAddresses};
  hal::UpdateCost cost;
  ASSERT_TRUE(ok(recording->update(plan.list(), {&change, 1}, &cost)));
  ASSERT_TRUE(ok(queue->launch(recording, 0, hal::LaunchMode::Asynchronous)));
  ASSERT_TRUE(ok(queue->launch(recording, 0, hal::LaunchMode::Asynchronous)));
  ASSERT_TRUE(ok(queue->synchronize()));
  EXPECT_EQ(download<int64_t>(*a, 1)[0], 1);
  EXPECT_EQ(download<int64_t>(*b, 1)[0], 2);
}

TEST_P(DispatchTest, LongChainsAreInOrder) {
  // b = a * 2 + 1, a = b * 2 + 1, ...: only one order gives 2^n - 1.
  Ref<hal::Memory> a = upload(std::vector<float>(1)), b = allocate(4);
  TestPlan plan;
  for (uint32_t i = 0; i < 20; ++i) {
    uint64_t from = i % 2 ? b->address() : a->address();
    uint64_t to = i % 2 ? a->address() : b->address();
    std::vector<uint32_t> edges;
    if (i)
      edges.push_back(i - 1);
    plan.dispatch(code.get(), kScale, {from, to}, {1, 2, 1}, 1, 1, 1, edges);
    plan.commands[i].bytes = 1 << 18;
  }
  run(plan);
  EXPECT_EQ(download<float>(*a, 1)[0], 1048575.0f);
}

TEST_P(DispatchTest, IndependentCommandsMeetInOne) {
  const uint32_t width = 60;
  Ref<hal::Memory> parts = upload(std::vector<int64_t>(width)), copy = allocate(width * 8);
  TestPlan plan;
  std::vector<uint32_t> all;
  for (uint32_t i = 0; i < width; ++i) {
    all.push_back(plan.dispatch(code.get(), kWork, {parts->address() + 8 * i}, {1000 * (i % 7)}));
    plan.commands[i].flops = 100000;
  }
  plan.copy(parts->address(), copy->address(), width * 8, all);
  Ref<hal::Recording> recording = record(plan);
  for (int i = 1; i <= 30; ++i) {
    run(*recording);
    ASSERT_EQ(download<int64_t>(*copy, width), std::vector<int64_t>(width, i));
  }
}

namespace {

/// Sums of two cells into a third one, at random, with the edges that their reads and writes ask
/// for; `cells` are what they hold in the end.
struct RandomSums {
  static constexpr uint32_t kCells = 10, kSums = 60;
  RandomSums(hal::Executable *code, uint64_t base, uint32_t seed) : cells(kCells) {
    for (uint32_t i = 0; i < kCells; ++i)
      cells[i] = static_cast<float>(i);
    std::mt19937 random(seed);
    std::vector<uint32_t> lastWriter(kCells, kSums);
    std::vector<std::vector<uint32_t>> readers(kCells);
    for (uint32_t sum = 0; sum < kSums; ++sum) {
      uint32_t a = random() % kCells, b = random() % kCells, c = random() % kCells;
      while (c == a || c == b)
        c = (c + 1) % kCells;
      std::set<uint32_t> before(readers[c].begin(), readers[c].end());
      for (uint32_t cell : {a, b, c})
        if (lastWriter[cell] < sum)
          before.insert(lastWriter[cell]);
      plan.dispatch(code, kAdd, {base + 4 * a, base + 4 * b, base + 4 * c}, {1}, 1, 1, 1,
                    {before.begin(), before.end()});
      cells[c] = cells[a] + cells[b];
      lastWriter[c] = sum;
      readers[c].clear();
      readers[a].push_back(sum);
      readers[b].push_back(sum);
    }
  }
  TestPlan plan;
  std::vector<float> cells;
};

} // namespace

TEST_P(DispatchTest, RandomPlansKeepTheirOrder) {
  for (uint32_t seed = 0; seed < 20; ++seed) {
    Ref<hal::Memory> cells = upload(iota(RandomSums::kCells));
    RandomSums sums(code.get(), cells->address(), seed);
    Ref<hal::Recording> recording = record(sums.plan);
    for (int i = 0; i < 3; ++i) {
      std::vector<float> start = iota(RandomSums::kCells);
      ASSERT_TRUE(ok(device->write(*cells, 0, start.data(), 4 * start.size())));
      run(*recording);
      ASSERT_EQ(download<float>(*cells, RandomSums::kCells), sums.cells) << seed;
    }
  }
}

TEST_P(DispatchTest, ProfileCountsEveryLaunch) {
  Ref<hal::Memory> a = upload(std::vector<int64_t>(4));
  TestPlan plan;
  uint32_t work = plan.dispatch(code.get(), kWork, {a->address()}, {100000});
  plan.fill(a->address() + 8, 8, 1, 8, {work});
  Ref<hal::Recording> recording = record(plan, /*profile=*/true);
  for (int i = 0; i < 3; ++i)
    run(*recording);
  for (uint32_t i = 0; i < 2; ++i) {
    hal::CommandTimes times = recording->times(i);
    EXPECT_EQ(times.launches, 3u);
    EXPECT_GE(times.totalNs, 3 * times.minNs);
  }
  EXPECT_GT(recording->times(0).minNs, 0u);
  EXPECT_EQ(download<int64_t>(*a, 1)[0], 3);
}
