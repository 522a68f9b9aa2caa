//===- ThreadsTest.cpp - Where threads of a pool compute -----------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/base/threads.h"

#include "gtest/gtest.h"

#include <initializer_list>
#include <sched.h>
#include <vector>

using namespace xc;

namespace {
/// Tests change on which processors their thread may run; it is put back.
class Processors : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_EQ(sched_getaffinity(0, sizeof(allowed), &allowed), 0);
    for (uint32_t i = 0; i < CPU_SETSIZE; ++i)
      if (CPU_ISSET(i, &allowed))
        numbers.push_back(i);
  }
  void TearDown() override { sched_setaffinity(0, sizeof(allowed), &allowed); }

  static cpu_set_t setOf(std::initializer_list<uint32_t> processors) {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (uint32_t processor : processors)
      CPU_SET(processor, &set);
    return set;
  }
  static void runOn(std::initializer_list<uint32_t> processors) {
    cpu_set_t set = setOf(processors);
    ASSERT_EQ(sched_setaffinity(0, sizeof(set), &set), 0);
  }

  cpu_set_t allowed;
  std::vector<uint32_t> numbers;
  OccupiedProcessors occupied;
};
} // namespace

TEST_F(Processors, AThreadStaysWhereItMayNotLeave) {
  runOn({numbers[0]});
  EXPECT_EQ(occupied.stay(), numbers[0]);
  EXPECT_EQ(occupied.enter(), numbers[0]);
}

TEST_F(Processors, AThreadGoesToAFreeOne) {
  if (numbers.size() < 2)
    GTEST_SKIP() << "this process may run on one processor only";
  uint32_t first = numbers[0], second = numbers[1];
  runOn({first});
  occupied.stay();
  // Wherever of both the scheduler has it now.
  runOn({first, second});
  EXPECT_EQ(occupied.enter(), second);
  cpu_set_t now, expected = setOf({first, second});
  ASSERT_EQ(sched_getaffinity(0, sizeof(now), &now), 0);
  EXPECT_TRUE(CPU_EQUAL(&now, &expected)) << "the thread's own set was not put back";
  // The first is left: that is where the next one goes.
  occupied.leave(first);
  EXPECT_EQ(occupied.enter(), first);
}

TEST_F(Processors, WhatIsNotKnownCanBeLeft) { occupied.leave(OccupiedProcessors::kUnknown); }
