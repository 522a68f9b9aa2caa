//===- StreamTest.cpp - Streams and events of every HAL driver -----------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/module/variable_order.h"
#include "test/runtime/hal/HalTest.h"

#include <atomic>
#include <thread>

using namespace xc;
using namespace xc::test;
using hal::LaunchMode;

namespace {
class StreamTest : public HalTest {
protected:
  /// Adds one to an int64 after some work.
  Ref<hal::Recording> increment(hal::Memory &memory, int64_t steps) {
    TestPlan plan;
    plan.dispatch(code.get(), kWork, {memory.address()}, {steps});
    return record(plan);
  }
};
} // namespace
INSTANTIATE_TEST_SUITE_P(Hal, StreamTest, ::testing::ValuesIn(backends()), backendName);

TEST_P(StreamTest, AStreamIsInOrderAndEnds) {
  Ref<hal::Memory> value = upload(std::vector<int64_t>(1));
  Ref<hal::Stream> queue = stream();
  Ref<hal::Recording> recording = increment(*value, 1000);
  for (int i = 0; i < 50; ++i)
    ASSERT_TRUE(ok(queue->launch(recording, 0, LaunchMode::Asynchronous)));
  ASSERT_TRUE(ok(queue->synchronize()));
  bool isDone = false;
  ASSERT_TRUE(ok(queue->query(&isDone)));
  EXPECT_TRUE(isDone);
  EXPECT_EQ(download<int64_t>(*value, 1)[0], 50);
}

TEST_P(StreamTest, DroppingAStreamWaitsForItsWork) {
  Ref<hal::Memory> value = upload(std::vector<int64_t>(1));
  {
    Ref<hal::Stream> queue = stream();
    ASSERT_TRUE(ok(queue->launch(increment(*value, 3000000), 0, LaunchMode::Asynchronous)));
  }
  EXPECT_EQ(download<int64_t>(*value, 1)[0], 1);
}

TEST_P(StreamTest, PollingSeesTheEnd) {
  Ref<hal::Memory> value = upload(std::vector<int64_t>(1));
  Ref<hal::Stream> queue = stream();
  ASSERT_TRUE(ok(queue->launch(increment(*value, 100000), 0, LaunchMode::Asynchronous)));
  bool isDone = false;
  while (!isDone)
    ASSERT_TRUE(ok(queue->query(&isDone)));
  EXPECT_EQ(download<int64_t>(*value, 1)[0], 1);
}

TEST_P(StreamTest, EventsOfNothingAreDone) {
  Ref<hal::Event> mark = event();
  bool isDone = false;
  ASSERT_TRUE(ok(mark->query(&isDone)));
  EXPECT_TRUE(isDone);
  ASSERT_TRUE(ok(mark->synchronize()));
  ASSERT_TRUE(ok(stream()->wait(mark)));
}

TEST_P(StreamTest, EventsTellWhenTheWorkBeforeThemHasEnded) {
  Ref<hal::Memory> value = upload(std::vector<int64_t>(1));
  Ref<hal::Stream> queue = stream();
  Ref<hal::Event> mark = event();
  for (int i = 1; i <= 5; ++i) {
    ASSERT_TRUE(ok(queue->launch(increment(*value, 500000), 0, LaunchMode::Asynchronous)));
    ASSERT_TRUE(ok(queue->record(mark)));
    ASSERT_TRUE(ok(mark->synchronize()));
    bool isDone = false;
    ASSERT_TRUE(ok(mark->query(&isDone)));
    EXPECT_TRUE(isDone);
    EXPECT_EQ(download<int64_t>(*value, 1)[0], i);
  }
}

TEST_P(StreamTest, AStreamWaitsForAnother) {
  for (int round = 0; round < 20; ++round) {
    Ref<hal::Memory> value = upload(std::vector<int64_t>{41}),
                     copy = upload(std::vector<int64_t>{0});
    Ref<hal::Stream> first = stream(), second = stream();
    Ref<hal::Event> mark = event();
    ASSERT_TRUE(ok(first->launch(increment(*value, 200000), 0, LaunchMode::Asynchronous)));
    ASSERT_TRUE(ok(first->record(mark)));
    ASSERT_TRUE(ok(second->wait(mark)));
    ASSERT_TRUE(ok(second->copy(value, 0, copy, 0, 8)));
    // What comes on the first stream later is not waited for, but may not
    // disturb either.
    ASSERT_TRUE(ok(second->synchronize()));
    EXPECT_EQ(download<int64_t>(*copy, 1)[0], 42);
  }
}

TEST_P(StreamTest, AWaitIsForTheRecordThatItSaw) {
  Ref<hal::Memory> value = upload(std::vector<int64_t>{41}), copy = upload(std::vector<int64_t>{0});
  Ref<hal::Stream> busy = stream(), idle = stream(), waiting = stream();
  Ref<hal::Event> mark = event();
  ASSERT_TRUE(ok(busy->launch(increment(*value, 5000000), 0, LaunchMode::Asynchronous)));
  ASSERT_TRUE(ok(busy->record(mark)));
  ASSERT_TRUE(ok(waiting->wait(mark)));
  // The event stands for another stream's work from here on, which has ended.
  ASSERT_TRUE(ok(idle->record(mark)));
  ASSERT_TRUE(ok(mark->synchronize()));
  ASSERT_TRUE(ok(waiting->copy(value, 0, copy, 0, 8)));
  ASSERT_TRUE(ok(waiting->synchronize()));
  EXPECT_EQ(download<int64_t>(*copy, 1)[0], 42);
}

TEST_P(StreamTest, ReadersOfVariablesSeeWholeWrites) {
  const int kReaders = 3, kRounds = 60;
  Ref<hal::Memory> variables = upload(std::vector<int64_t>(2));
  Ref<hal::Memory> seen = upload(std::vector<int64_t>(2 * kReaders));
  // The writer takes its time between both variables.
  TestPlan bump;
  bump.dispatch(code.get(), kWork, {variables->address()}, {20000});
  bump.dispatch(code.get(), kWork, {variables->address() + 8}, {20000}, 1, 1, 1, {0});
  Ref<hal::Recording> write = record(bump);
  VariableOrder order(device->allocator);
  ASSERT_TRUE(ok(order.create(*device)));
  Ref<hal::Stream> writer = stream();
  std::vector<Ref<hal::Stream>> readers;
  std::vector<Ref<hal::Recording>> reads;
  for (int i = 0; i < kReaders; ++i) {
    TestPlan plan;
    plan.copy(variables->address(), seen->address() + 16 * static_cast<uint64_t>(i), 16);
    readers.push_back(stream());
    reads.push_back(record(plan));
  }
  for (int round = 1; round <= kRounds; ++round) {
    ASSERT_TRUE(ok(order.launch(*writer, true, write, 0, LaunchMode::Asynchronous)));
    for (int i = 0; i < kReaders; ++i)
      ASSERT_TRUE(ok(order.launch(*readers[i], false, reads[i], 0, LaunchMode::Asynchronous)));
    // Every other round, readers are still at it when the next write comes.
    if (round % 2)
      continue;
    for (const Ref<hal::Stream> &reader : readers)
      ASSERT_TRUE(ok(reader->synchronize()));
    EXPECT_EQ(download<int64_t>(*seen, 2 * kReaders), std::vector<int64_t>(2 * kReaders, round));
  }
  ASSERT_TRUE(ok(order.synchronize()));
}

TEST_P(StreamTest, CallbacksComeInOrderAfterTheWork) {
  struct Seen {
    std::atomic<int> count{0};
    int order[3] = {};
    bool hadStatus = false;
  } seen;
  struct Note {
    Seen *seen;
    int number;
  } notes[3] = {{&seen, 10}, {&seen, 20}, {&seen, 30}};
  Ref<hal::Memory> value = upload(std::vector<int64_t>(1));
  Ref<hal::Stream> queue = stream();
  Ref<hal::Recording> recording = increment(*value, 10000);
  for (Note &note : notes) {
    ASSERT_TRUE(ok(queue->launch(recording, 0, LaunchMode::Asynchronous)));
    ASSERT_TRUE(ok(queue->addCallback(
        [](void *data, xcr_status_t status) {
          Note *note = static_cast<Note *>(data);
          note->seen->hadStatus |= status != nullptr;
          note->seen->order[note->seen->count.fetch_add(1)] = note->number;
        },
        &note)));
  }
  ASSERT_TRUE(ok(queue->synchronize()));
  EXPECT_EQ(seen.count.load(), 3);
  EXPECT_EQ(seen.order[0], 10);
  EXPECT_EQ(seen.order[1], 20);
  EXPECT_EQ(seen.order[2], 30);
  EXPECT_FALSE(seen.hadStatus);
}

TEST_P(StreamTest, ReferencesAreHeldUntilTheWorkHasEnded) {
  uint64_t before = device->counter.bytesInUse();
  Ref<hal::Stream> queue = stream();
  Ref<hal::Memory> slow = upload(std::vector<int64_t>(1));
  Ref<hal::Memory> target = upload(std::vector<uint8_t>(1000));
  {
    Ref<hal::Memory> source = upload(std::vector<uint8_t>(1000, 9));
    ASSERT_TRUE(ok(queue->launch(increment(*slow, 1000000), 0, LaunchMode::Asynchronous)));
    ASSERT_TRUE(ok(queue->copy(source, 0, target, 0, 1000)));
    queue->releaseLater(source.take());
  }
  ASSERT_TRUE(ok(queue->synchronize()));
  EXPECT_EQ(download<uint8_t>(*target, 1000), std::vector<uint8_t>(1000, 9));
  target = Ref<hal::Memory>();
  slow = Ref<hal::Memory>();
  EXPECT_EQ(device->counter.bytesInUse(), before);
}

TEST_P(StreamTest, AFailureLeavesDeviceAndStreamUsable) {
  Ref<hal::Stream> queue = stream();
  uint64_t base = 0;
  Ref<hal::Memory> holder;
  Status status = queue->reserveArena(uint64_t(1) << 52, &base, &holder);
  EXPECT_EQ(status.code(), XCR_STATUS_OUT_OF_MEMORY);
  Ref<hal::Memory> value = upload(std::vector<int64_t>(1));
  ASSERT_TRUE(ok(queue->launch(increment(*value, 10), 0, LaunchMode::Asynchronous)));
  ASSERT_TRUE(ok(queue->synchronize()));
  EXPECT_EQ(download<int64_t>(*value, 1)[0], 1);
}

TEST_P(StreamTest, DeviceSynchronizeWaitsForAllStreams) {
  Ref<hal::Memory> values = upload(std::vector<int64_t>(4));
  std::vector<Ref<hal::Stream>> queues;
  for (uint32_t i = 0; i < 4; ++i) {
    TestPlan plan;
    plan.dispatch(code.get(), kWork, {values->address() + 8 * i}, {300000});
    queues.push_back(stream());
    ASSERT_TRUE(ok(queues[i]->launch(record(plan), 0, LaunchMode::Asynchronous)));
  }
  ASSERT_TRUE(ok(device->synchronize()));
  EXPECT_EQ(download<int64_t>(*values, 4), std::vector<int64_t>(4, 1));
}

TEST_P(StreamTest, ManyThreadsUseTheirOwnStreams) {
  const int kThreads = 6, kRounds = 100;
  Ref<hal::Memory> values = upload(std::vector<int64_t>(kThreads));
  std::vector<std::thread> threads;
  std::atomic<int> failures{0};
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      TestPlan plan;
      plan.dispatch(code.get(), kWork, {values->address() + 8 * static_cast<uint64_t>(t)}, {100});
      // Some on the pool, some on the calling thread.
      plan.commands[0].flops = t % 2 ? 1 << 20 : 0;
      Ref<hal::Recording> recording = record(plan);
      Ref<hal::Stream> queue = stream();
      for (int i = 0; i < kRounds; ++i) {
        LaunchMode mode = i % 3 ? LaunchMode::Asynchronous : LaunchMode::Awaited;
        if (!ok(queue->launch(recording, 0, mode)) || (i % 10 == 0 && !ok(queue->synchronize())))
          failures.fetch_add(1);
      }
      if (!ok(queue->synchronize()))
        failures.fetch_add(1);
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(failures.load(), 0);
  EXPECT_EQ(download<int64_t>(*values, kThreads), std::vector<int64_t>(kThreads, kRounds));
}

TEST_P(StreamTest, RapidSubmitsOnOneStreamFromManyThreads) {
  const int kThreads = 4, kRounds = 500;
  Ref<hal::Memory> value = upload(std::vector<int64_t>(1));
  Ref<hal::Stream> queue = stream();
  Ref<hal::Recording> recording = increment(*value, 1);
  std::atomic<int> failures{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < kRounds; ++i)
        if (!ok(queue->launch(recording, 0, LaunchMode::Asynchronous)))
          failures.fetch_add(1);
    });
  for (std::thread &thread : threads)
    thread.join();
  ASSERT_TRUE(ok(queue->synchronize()));
  EXPECT_EQ(failures.load(), 0);
  EXPECT_EQ(download<int64_t>(*value, 1)[0], kThreads * kRounds);
}

TEST_P(StreamTest, BorrowedStreamsAreReused) {
  hal::Stream *first = nullptr, *second = nullptr, *again = nullptr;
  ASSERT_TRUE(ok(device->borrowStream(nullptr, &first)));
  ASSERT_TRUE(ok(device->borrowStream(nullptr, &second)));
  EXPECT_NE(first, second);
  device->returnStream(first);
  device->returnStream(second);
  ASSERT_TRUE(ok(device->borrowStream(first, &again)));
  EXPECT_EQ(again, first);
  device->returnStream(again);
}
