//===- ControlTest.cpp - Ifs and whiles of every HAL driver ---------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/runtime/hal/HalTest.h"

using namespace xc;
using namespace xc::test;

namespace {
class ControlTest : public HalTest {
protected:
  /// Changes every address of \p plan from \p old to \p now, and tells the recording.
  void rebind(hal::Recording &recording, TestPlan &plan, const hal::Memory &old,
              const hal::Memory &now, uint64_t size) {
    std::vector<hal::CommandChange> changes;
    for (uint32_t i = 0; i < plan.commands.size(); ++i) {
      const hal::Range &range = plan.commands[i].addresses;
      bool isChanged = false;
      for (uint32_t a = range.begin; a < range.begin + range.count; ++a) {
        if (plan.addresses[a] < old.address() || plan.addresses[a] >= old.address() + size)
          continue;
        plan.addresses[a] = plan.addresses[a] - old.address() + now.address();
        isChanged = true;
      }
      if (isChanged)
        changes.push_back({i, hal::kChangedAddresses});
    }
    hal::UpdateCost cost;
    ASSERT_TRUE(ok(recording.update(plan.list(), {changes.data(), changes.size()}, &cost)));
    EXPECT_EQ(cost.patches, changes.size());
    EXPECT_EQ(cost.instantiations, 0u) << "a body's nodes are set like others";
  }

  /// while (counter != 0) { sum += values; counter -= 1; }
  TestPlan countdown(const hal::Memory &counter, const hal::Memory &test, const hal::Memory &sum,
                     const hal::Memory &values) {
    TestPlan plan;
    plan.control(/*isLoop=*/true, test.address() + kTopByte, 1, 2);
    plan.endRegion();
    plan.copy(counter.address(), test.address(), 4);
    plan.endRegion();
    plan.dispatch(code.get(), kAccumulate, {sum.address(), values.address()}, {256});
    plan.dispatch(code.get(), kScale, {counter.address(), counter.address()}, {1, 1, -1});
    plan.endRegion();
    return plan;
  }
};
} // namespace
INSTANTIATE_TEST_SUITE_P(Hal, ControlTest, ::testing::ValuesIn(backends()), backendName);

TEST_P(ControlTest, AnIfRunsTheRegionThatItsByteNames) {
  Ref<hal::Memory> x = upload(iota(256)), y = allocate(1024);
  Ref<hal::Memory> yes = upload(std::vector<float>{1}), no = upload(std::vector<float>{0});
  TestPlan plan;
  uint32_t before = plan.fill(y->address(), 1024, 0, 1);
  uint32_t choice = plan.control(/*isLoop=*/false, yes->address() + kTopByte, 1, 2, {before});
  plan.dispatch(code.get(), kAccumulate, {y->address(), x->address()}, {256}, 1, 1, 1, {choice});
  plan.endRegion();
  plan.dispatch(code.get(), kScale, {x->address(), y->address()}, {256, 2, 0});
  plan.endRegion();
  plan.copy(x->address(), y->address(), 1024);
  // Edges count within the region.
  plan.dispatch(code.get(), kScale, {y->address(), y->address()}, {256, 4, 0}, 1, 1, 1, {0});
  plan.endRegion();
  Ref<hal::Recording> recording = record(plan);
  run(*recording);
  EXPECT_EQ(download<float>(*y, 256)[100], 300.0f);
  rebind(*recording, plan, *yes, *no, 4);
  run(*recording);
  EXPECT_EQ(download<float>(*y, 256)[100], 500.0f);
  // What a region uses has moved, too.
  Ref<hal::Memory> other = upload(iota(256, 1));
  rebind(*recording, plan, *x, *other, 1024);
  run(*recording);
  EXPECT_EQ(download<float>(*y, 256)[100], 505.0f);
}

TEST_P(ControlTest, AWhileRunsUntilItsByteIsZero) {
  Ref<hal::Memory> values = upload(iota(256)), test = allocate(4);
  Ref<hal::Memory> counter = upload(std::vector<float>{0}), sum = upload(std::vector<float>(256));
  TestPlan plan = countdown(*counter, *test, *sum, *values);
  Ref<hal::Recording> recording = record(plan);
  run(*recording);
  EXPECT_EQ(download<float>(*sum, 256)[100], 0.0f) << "no iteration";
  float total = 0;
  for (float times : {1.0f, 2.0f, 37.0f}) {
    Ref<hal::Memory> next = upload(std::vector<float>{times});
    rebind(*recording, plan, *counter, *next, 4);
    counter = next;
    run(*recording);
    total += times;
    EXPECT_EQ(download<float>(*sum, 256)[100], 100.0f * total);
    EXPECT_EQ(download<float>(*counter, 1)[0], 0.0f);
  }
}

TEST_P(ControlTest, AWhileCanStartAgainInAnother) {
  // while (outer != 0) { inner = 3; while (inner != 0) { ... } outer -= 1; }
  Ref<hal::Memory> values = upload(iota(256)), sum = upload(std::vector<float>(256));
  Ref<hal::Memory> outer = upload(std::vector<float>{4}), inner = upload(std::vector<float>{0});
  Ref<hal::Memory> outerTest = allocate(4), innerTest = allocate(4);
  Ref<hal::Memory> three = upload(std::vector<float>{3});
  TestPlan plan;
  plan.control(/*isLoop=*/true, outerTest->address() + kTopByte, 1, 2);
  plan.endRegion();
  plan.copy(outer->address(), outerTest->address(), 4);
  plan.endRegion();
  plan.copy(three->address(), inner->address(), 4);
  plan.control(/*isLoop=*/true, innerTest->address() + kTopByte, 3, 4, {0});
  plan.dispatch(code.get(), kScale, {outer->address(), outer->address()}, {1, 1, -1});
  plan.endRegion();
  plan.copy(inner->address(), innerTest->address(), 4);
  plan.endRegion();
  plan.dispatch(code.get(), kAccumulate, {sum->address(), values->address()}, {256});
  plan.dispatch(code.get(), kScale, {inner->address(), inner->address()}, {1, 1, -1});
  plan.endRegion();
  Ref<hal::Recording> recording = record(plan);
  run(*recording);
  EXPECT_EQ(download<float>(*sum, 256)[100], 1200.0f);
}

TEST_P(ControlTest, IfsSideBySideRunInTheWhileOfAWhile) {
  // while (outer != 0) { inner = 3; while (inner != 0) { if (a) x += v; if (b) y += v; ... } ... }
  Ref<hal::Memory> values = upload(iota(256)), three = upload(std::vector<float>{3});
  Ref<hal::Memory> x = upload(std::vector<float>(256)), y = upload(std::vector<float>(256));
  Ref<hal::Memory> outer = upload(std::vector<float>{2}), inner = upload(std::vector<float>{0});
  Ref<hal::Memory> outerTest = allocate(4), innerTest = allocate(4);
  Ref<hal::Memory> yes = upload(std::vector<float>{1}), no = upload(std::vector<float>{0});
  TestPlan plan;
  plan.control(/*isLoop=*/true, outerTest->address() + kTopByte, 1, 2);
  plan.endRegion();
  plan.copy(outer->address(), outerTest->address(), 4);
  plan.endRegion();
  plan.copy(three->address(), inner->address(), 4);
  plan.control(/*isLoop=*/true, innerTest->address() + kTopByte, 3, 4, {0});
  plan.dispatch(code.get(), kScale, {outer->address(), outer->address()}, {1, 1, -1});
  plan.endRegion();
  plan.copy(inner->address(), innerTest->address(), 4);
  plan.endRegion();
  plan.control(/*isLoop=*/false, yes->address() + kTopByte, 5, 6);
  plan.control(/*isLoop=*/false, no->address() + kTopByte, 7, 8);
  plan.dispatch(code.get(), kScale, {inner->address(), inner->address()}, {1, 1, -1});
  plan.endRegion();
  plan.dispatch(code.get(), kAccumulate, {x->address(), values->address()}, {256});
  plan.endRegion();
  plan.endRegion();
  plan.dispatch(code.get(), kAccumulate, {y->address(), values->address()}, {256});
  plan.endRegion();
  plan.endRegion();
  Ref<hal::Recording> recording = record(plan);
  run(*recording);
  EXPECT_EQ(download<float>(*x, 256)[100], 600.0f);
  EXPECT_EQ(download<float>(*y, 256)[100], 0.0f);
  // The other one, from new places.
  float two = 2;
  ASSERT_TRUE(ok(device->write(*outer, 0, &two, sizeof(two))));
  Ref<hal::Memory> first = upload(std::vector<float>{0}), second = upload(std::vector<float>{1});
  rebind(*recording, plan, *yes, *first, 4);
  rebind(*recording, plan, *no, *second, 4);
  run(*recording);
  EXPECT_EQ(download<float>(*x, 256)[100], 600.0f);
  EXPECT_EQ(download<float>(*y, 256)[100], 600.0f);
}

TEST_P(ControlTest, CommandsOfBodiesBecomeEmptyAndFull) {
  Ref<hal::Memory> values = upload(iota(256)), test = allocate(4);
  Ref<hal::Memory> counter = upload(std::vector<float>{2}), sum = upload(std::vector<float>(256));
  TestPlan plan = countdown(*counter, *test, *sum, *values);
  Ref<hal::Recording> recording = record(plan);
  run(*recording);
  EXPECT_EQ(download<float>(*sum, 256)[100], 200.0f);
  for (bool isEmpty : {true, false}) {
    plan.commands[2].isEmpty = isEmpty;
    hal::CommandChange change = {2, hal::kChangedEmpty};
    hal::UpdateCost cost;
    ASSERT_TRUE(ok(recording->update(plan.list(), {&change, 1}, &cost)));
    float two = 2;
    ASSERT_TRUE(ok(device->write(*counter, 0, &two, sizeof(two))));
    run(*recording);
    EXPECT_EQ(download<float>(*sum, 256)[100], isEmpty ? 200.0f : 400.0f);
  }
}

TEST_P(ControlTest, ProfilesCountEveryRunOfABody) {
  Ref<hal::Memory> values = upload(iota(256)), test = allocate(4);
  Ref<hal::Memory> counter = upload(std::vector<float>{5}), sum = upload(std::vector<float>(256));
  TestPlan plan = countdown(*counter, *test, *sum, *values);
  Ref<hal::Recording> recording = record(plan, /*profile=*/true);
  EXPECT_TRUE(recording->hasHostLoop());
  run(*recording);
  EXPECT_EQ(recording->times(1).launches, 6u);
  EXPECT_EQ(recording->times(2).launches, 5u);
}
