//===- VariablesTest.cpp - Threads that share variables -------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Of calls that touch a variable, xcr.h promises that they run one after another whatever their
// streams. Writers add to two variables with some work between; whoever sees them apart has seen
// half of a call.
//
//===----------------------------------------------------------------------===//

#include "test/runtime/hal/HalTest.h"

#include <atomic>
#include <functional>
#include <thread>

using namespace xc;
using namespace xc::test;

namespace {
class VariablesTest : public HalTest {
protected:
  void SetUp() override {
    HalTest::SetUp();
    if (IsSkipped() || HasFatalFailure())
      return;
    ModuleSpec spec = GetParam().module();
    spec.variables = {{"first", fb::DType::I64, {1}}, {"second", fb::DType::I64, {1}}};
    spec.functions = {makeBump(), makeLook()};
    bytes = spec.finish();
    shared = loadModule(bytes);
    xcr_instance_t *made = nullptr;
    XCR_ASSERT_OK(xcr_instance_create(device.get(), shared.get(), nullptr, &made));
    instance.reset(made);
  }

  /// bump() -> the count: adds one to both variables.
  static FunctionSpec makeBump() {
    FunctionSpec function;
    function.name = "bump";
    function.outputs = {{"count", fb::DType::I64, {literal(1)}, 8}};
    PlanSpec plan;
    VariantSpec work;
    work.exportOrdinal = kWork;
    work.scalars = {literal(10000)};
    auto both = [](uint32_t variable) {
      return binding(fb::Space::Variable, variable, literal(8), fb::Access::ReadWrite);
    };
    uint32_t first = plan.dispatch({work}, {both(0)});
    uint32_t second = plan.dispatch({work}, {both(1)}, {first});
    plan.copy(reads(fb::Space::Variable, 1, literal(8)), writes(fb::Space::Output, 0, literal(8)),
              {second});
    function.plans = {plan};
    return function;
  }

  /// look() -> both variables, the second one after some work.
  static FunctionSpec makeLook() {
    FunctionSpec function;
    function.name = "look";
    function.outputs = {{"first", fb::DType::I64, {literal(1)}, 8},
                        {"second", fb::DType::I64, {literal(1)}, 8},
                        {"delay", fb::DType::I64, {literal(1)}, 8}};
    PlanSpec plan;
    VariantSpec work;
    work.exportOrdinal = kWork;
    work.scalars = {literal(5000)};
    auto output = [](uint32_t ordinal) { return writes(fb::Space::Output, ordinal, literal(8)); };
    uint32_t first = plan.copy(reads(fb::Space::Variable, 0, literal(8)), output(0));
    uint32_t zero = plan.fill(output(2), 0, 8);
    uint32_t delay = plan.dispatch(
        {work}, {binding(fb::Space::Output, 2, literal(8), fb::Access::ReadWrite)}, {first, zero});
    plan.copy(reads(fb::Space::Variable, 1, literal(8)), output(1), {delay});
    function.plans = {plan};
    return function;
  }

  /// A call on a stream of its own; each launch is waited for and handed to \p check.
  void launchOften(const char *function, int rounds,
                   const std::function<void(xcr_call_t *)> &check) {
    Call call = makeCall(instance, function);
    xcr_stream_t *made = nullptr;
    XCR_ASSERT_OK(xcr_stream_create(device.get(), nullptr, &made));
    Stream own(made);
    for (int round = 0; round < rounds; ++round) {
      XCR_ASSERT_OK(xcr_call_launch(call.get(), own.get()));
      XCR_ASSERT_OK(xcr_stream_synchronize(own.get()));
      check(call.get());
    }
  }
  static int64_t valueOf(xcr_call_t *call, uint32_t output) {
    return test::read<int64_t>(xcr_call_output(call, output)).at(0);
  }

  /// \p numWriters beside \p numReaders; returns how many reads saw half of a call.
  int countTorn(int numWriters, int numReaders, int rounds) {
    std::atomic<int> torn{0}, disorder{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < numWriters; ++i)
      threads.emplace_back([&] {
        int64_t last = 0;
        launchOften("bump", rounds, [&](xcr_call_t *call) {
          int64_t count = valueOf(call, 0);
          disorder += count <= last;
          last = count;
        });
      });
    for (int i = 0; i < numReaders; ++i)
      threads.emplace_back([&] {
        int64_t last = 0;
        launchOften("look", rounds, [&](xcr_call_t *call) {
          int64_t first = valueOf(call, 0);
          torn += first != valueOf(call, 1);
          disorder += first < last;
          last = first;
        });
      });
    for (std::thread &thread : threads)
      thread.join();
    EXPECT_EQ(disorder.load(), 0) << "counts that went back";
    return torn.load();
  }

  std::vector<uint8_t> bytes;
  Module shared;
  Instance instance;
};
} // namespace
INSTANTIATE_TEST_SUITE_P(Hal, VariablesTest, ::testing::ValuesIn(backends()), backendName);

TEST_P(VariablesTest, ReadersBesideAWriterSeeWholeCalls) { EXPECT_EQ(countTorn(1, 3, 100), 0); }

TEST_P(VariablesTest, ReadersBesideWritersSeeWholeCalls) { EXPECT_EQ(countTorn(2, 2, 60), 0); }

TEST_P(VariablesTest, AThreadWithManyStreamsSeesItsCallsInOrder) {
  const int kReaders = 3, kRounds = 100;
  std::vector<Stream> streams;
  std::vector<Call> calls;
  for (int i = 0; i <= kReaders; ++i) {
    xcr_stream_t *made = nullptr;
    XCR_ASSERT_OK(xcr_stream_create(device.get(), nullptr, &made));
    streams.emplace_back(made);
    calls.push_back(makeCall(instance, i ? "look" : "bump"));
  }
  std::vector<int64_t> seen(2 * kReaders * kRounds), counts(kRounds);
  for (int round = 0; round < kRounds; ++round) {
    XCR_ASSERT_OK(xcr_call_launch(calls[0].get(), streams[0].get()));
    XCR_ASSERT_OK(xcr_stream_read(streams[0].get(), xcr_call_output(calls[0].get(), 0), 0,
                                  &counts[static_cast<size_t>(round)], 8));
    for (int i = 1; i <= kReaders; ++i) {
      size_t at = static_cast<size_t>(2 * (round * kReaders + i - 1));
      size_t reader = static_cast<size_t>(i);
      XCR_ASSERT_OK(xcr_call_launch(calls[reader].get(), streams[reader].get()));
      for (uint32_t output = 0; output < 2; ++output)
        XCR_ASSERT_OK(xcr_stream_read(streams[reader].get(),
                                      xcr_call_output(calls[reader].get(), output), 0,
                                      &seen[at + output], 8));
    }
  }
  XCR_ASSERT_OK(xcr_device_synchronize(device.get()));
  for (int round = 0; round < kRounds; ++round) {
    EXPECT_EQ(counts[static_cast<size_t>(round)], round + 1);
    for (int i = 0; i < 2 * kReaders; ++i)
      EXPECT_EQ(seen[static_cast<size_t>(2 * kReaders * round + i)], round + 1)
          << "round " << round << ", value " << i;
  }
}
