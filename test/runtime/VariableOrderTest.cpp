//===- VariableOrderTest.cpp - A writer and readers on several streams ---===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Streams of a model take their steps when the test says so. It tries every order in which the
// steps of one writer's and several readers' streams can come, and demands that launches which
// touch variables run as xcr.h promises. Events are those of the CPU driver.
//
//===----------------------------------------------------------------------===//

#include "runtime/module/variable_order.h"

#include "runtime/hal/cpu/cpu_event.h"
#include "runtime/hal/device.h"
#include "test/runtime/XcrTest.h"

#include "gtest/gtest.h"

#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

using namespace xc;

namespace {

/// What all streams of one run have in common.
struct Log {
  struct Launch {
    bool writes, began = false, ended = false;
  };
  std::vector<Launch> launches; ///< in the order of the calls
  std::string problem;

  void begin(size_t number) {
    Launch &launch = launches[number];
    launch.began = true;
    for (size_t other = 0; other < launches.size(); ++other)
      if (other != number && (launch.writes || launches[other].writes) &&
          (other < number ? !launches[other].ended : launches[other].began))
        problem = "launch " + std::to_string(number) + " began " +
                  (other < number ? "before launch " : "behind launch ") + std::to_string(other);
  }
};

/// Queues what it is told; step() does the first thing of it.
class ModelStream final : public hal::Stream {
public:
  ModelStream(hal::Device &device, Log &log) : hal::Stream(device), log(log) {}
  ~ModelStream() override = default;

  bool writes = false; ///< of the next launch

  Status launch(Ref<hal::Recording>, uint64_t, hal::LaunchMode) override {
    size_t number = log.launches.size();
    log.launches.push_back({writes});
    items.push_back({{}, [this, number] { log.begin(number); }});
    items.push_back({{}, [this, number] { log.launches[number].ended = true; }});
    return Status();
  }
  Status record(Ref<hal::Event> event) override {
    Ref<cpu::CpuEventRecord> record;
    XCR_RETURN_IF_ERROR(static_cast<cpu::CpuEvent &>(*event).record(&record));
    items.push_back({{}, [record] { record->reach(); }});
    return Status();
  }
  Status wait(Ref<hal::Event> event) override {
    items.push_back({static_cast<cpu::CpuEvent &>(*event).lastRecord(), [] {}});
    return Status();
  }

  size_t length() const { return items.size(); }
  bool canStep() const {
    return !items.empty() && (!items.front().awaited || items.front().awaited->isReached());
  }
  void step() {
    items.front().run();
    items.pop_front();
  }

  // Not used here.
  Status synchronize() override { return Status(); }
  Status query(bool *) override { return Status(); }
  Status addCallback(xcr_host_callback_t, void *) override { return Status(); }
  Status copy(Ref<hal::Memory>, uint64_t, Ref<hal::Memory>, uint64_t, uint64_t) override {
    return Status();
  }
  Status fill(Ref<hal::Memory>, uint64_t, uint64_t, uint64_t, uint32_t) override {
    return Status();
  }
  Status read(Ref<hal::Memory>, uint64_t, void *, uint64_t) override { return Status(); }
  Status write(Ref<hal::Memory>, uint64_t, const void *, uint64_t) override { return Status(); }
  void releaseLater(RefCounted *) override {}
  Status reserveArena(uint64_t, uint64_t *, Ref<hal::Memory> *) override { return Status(); }

private:
  struct Item {
    Ref<cpu::CpuEventRecord> awaited;
    std::function<void()> run;
  };
  // Streams of the model live as long as their run.
  void destroy() override {}

  Log &log;
  std::deque<Item> items;
};

struct CallOn {
  size_t stream;
  bool writes;
};

std::ostream &operator<<(std::ostream &out, const CallOn &call) {
  return out << (call.writes ? 'W' : 'R') << call.stream;
}

/// One run: the calls have been made, and nothing of their work is done yet.
class Run {
public:
  Run(hal::Device &device, const HostAllocator &allocator, const std::vector<CallOn> &calls,
      size_t numStreams)
      : order(allocator) {
    EXPECT_TRUE(order.create(device).succeeded());
    for (size_t i = 0; i < numStreams; ++i)
      streams.push_back(std::make_unique<ModelStream>(device, log));
    for (const CallOn &call : calls) {
      ModelStream &stream = *streams[call.stream];
      stream.writes = call.writes;
      EXPECT_TRUE(
          order.launch(stream, call.writes, Ref<hal::Recording>(), 0, hal::LaunchMode::Asynchronous)
              .succeeded());
    }
  }

  std::vector<size_t> lengths() const {
    std::vector<size_t> result;
    for (const auto &stream : streams)
      result.push_back(stream->length());
    return result;
  }

  Log log;
  std::vector<std::unique_ptr<ModelStream>> streams;

private:
  VariableOrder order;
};

/// Goes to every state that steps lead to, each by making the run anew.
class Explorer {
public:
  Explorer(hal::Device &device, std::vector<CallOn> calls, size_t numStreams)
      : device(device), calls(std::move(calls)), numStreams(numStreams) {}

  void explore(std::vector<size_t> steps = {}) {
    Run run(device, device.allocator, calls, numStreams);
    for (size_t stream : steps)
      run.streams[stream]->step();
    if (!run.log.problem.empty()) {
      FAIL() << run.log.problem << " after " << testing::PrintToString(steps) << " of "
             << testing::PrintToString(calls);
    }
    if (!seen.insert(run.lengths()).second)
      return;
    std::vector<size_t> next;
    for (size_t i = 0; i < numStreams; ++i)
      if (run.streams[i]->canStep())
        next.push_back(i);
    bool isEnd = run.lengths() == std::vector<size_t>(numStreams, 0);
    ASSERT_TRUE(isEnd || !next.empty()) << "nothing goes on after " << testing::PrintToString(steps)
                                        << " of " << testing::PrintToString(calls);
    for (size_t i : next) {
      std::vector<size_t> longer = steps;
      longer.push_back(i);
      explore(longer);
      if (testing::Test::HasFatalFailure())
        return;
    }
  }

  size_t countStates() const { return seen.size(); }

private:
  hal::Device &device;
  std::vector<CallOn> calls;
  size_t numStreams;
  std::set<std::vector<size_t>> seen;
};

class VariableOrderModel : public testing::TestWithParam<std::vector<size_t>> {};

} // namespace

TEST_P(VariableOrderModel, KeepsTheOrderOfCallsInEveryInterleaving) {
  xcr_device_t *device = nullptr;
  ASSERT_EQ(xcr_device_create(xcr_string("cpu"), nullptr, &device), nullptr);
  {
    std::vector<CallOn> calls;
    for (size_t stream : GetParam())
      calls.push_back({stream, stream == 0});
    Explorer explorer(*device, calls, 4);
    explorer.explore();
    EXPECT_GT(explorer.countStates(), 50u);
  }
  xcr_device_release(device);
}

// Stream 0 writes, the others read.
INSTANTIATE_TEST_SUITE_P(OneWriter, VariableOrderModel,
                         testing::Values(std::vector<size_t>{0, 1, 2, 3, 0},
                                         std::vector<size_t>{1, 2, 3, 0, 1, 2, 3},
                                         std::vector<size_t>{0, 1, 2, 0, 2, 1, 3, 0},
                                         std::vector<size_t>{1, 1, 2, 0, 0, 3, 1, 0},
                                         std::vector<size_t>{3, 2, 1, 0, 1, 2, 3, 0}));

// What is not in the list above: several writers, and streams that both write and read.
TEST(VariableOrderModel, KeepsTheOrderOfAnyFourCallsOnThreeStreams) {
  constexpr size_t kStreams = 3, kKinds = 2 * kStreams, kCalls = 4;
  xcr_device_t *device = nullptr;
  ASSERT_EQ(xcr_device_create(xcr_string("cpu"), nullptr, &device), nullptr);
  size_t states = 0;
  for (size_t number = 0; number < kKinds * kKinds * kKinds * kKinds; ++number) {
    std::vector<CallOn> calls;
    for (size_t i = 0, rest = number; i < kCalls; ++i, rest /= kKinds)
      calls.push_back({rest % kStreams, rest % kKinds >= kStreams});
    Explorer explorer(*device, calls, kStreams);
    explorer.explore();
    if (HasFatalFailure())
      break;
    states += explorer.countStates();
  }
  EXPECT_GT(states, 20000u);
  xcr_device_release(device);
}
