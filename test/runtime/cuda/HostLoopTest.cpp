//===- HostLoopTest.cpp - Ifs and whiles that the host decides ------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Without conditional nodes a thread of the stream's decides ifs and whiles. Launches return at
// once all the same, and what comes behind them on the stream, or behind an event there, waits. A
// gate on the GPU, which only the test opens, keeps a loop from its first decision for as long as
// that is looked at.
//
//===----------------------------------------------------------------------===//

#include "test/runtime/cuda/NativeStreamTest.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

using namespace xc;
using namespace xc::test;
using hal::LaunchMode;

namespace {

class HostLoopTest : public NativeStreamTest {
protected:
  void letGo() override { openGate(); }

  /// Lets \p queue wait for openGate.
  void closeGate(hal::Stream &queue) {
    auto wait = [](void *self) {
      auto &test = *static_cast<HostLoopTest *>(self);
      std::unique_lock<std::mutex> lock(test.gateMutex);
      test.gateOpened.wait(lock, [&] { return test.isOpen; });
    };
    ASSERT_EQ(cu->cuLaunchHostFunc(native, wait, this), CUDA_SUCCESS);
    Ref<hal::Stream> gate;
    ASSERT_TRUE(ok(device->importStream(native, &gate)));
    gate->owner = device;
    gates.push_back(gate);
    Ref<hal::Event> reached = event();
    ASSERT_TRUE(ok(gate->record(reached)));
    ASSERT_TRUE(ok(queue.wait(reached)));
  }
  void openGate() {
    {
      std::lock_guard<std::mutex> lock(gateMutex);
      isOpen = true;
    }
    gateOpened.notify_all();
    gates.clear();
  }

  /// counter = times; while (counter != 0) { sum += values; counter -= 1; }
  Ref<hal::Recording> countdown(float times, hal::Memory &counter) {
    Ref<hal::Memory> start = upload(std::vector<float>{times});
    keep.push_back(start);
    plan = TestPlan();
    uint32_t set = plan.copy(start->address(), counter.address(), 4);
    plan.control(/*isLoop=*/true, test->address() + kTopByte, 1, 2, {set});
    plan.endRegion();
    plan.copy(counter.address(), test->address(), 4);
    plan.endRegion();
    plan.dispatch(code.get(), kAccumulate, {sum->address(), values->address()}, {256});
    plan.dispatch(code.get(), kScale, {counter.address(), counter.address()}, {1, 1, -1});
    plan.endRegion();
    Ref<hal::Recording> recording = record(plan);
    EXPECT_TRUE(recording->hasHostLoop());
    return recording;
  }

  std::mutex gateMutex;
  std::condition_variable gateOpened;
  bool isOpen = false;
  std::vector<Ref<hal::Stream>> gates;
  std::vector<Ref<hal::Memory>> keep;
  TestPlan plan;
};

/// Drops a stream with its own last reference.
struct StreamOwner final : RefCounted {
  explicit StreamOwner(std::atomic<bool> &isGone) : isGone(isGone) {}
  Ref<hal::Stream> stream;
  std::atomic<bool> &isGone;

private:
  void destroy() override {
    stream = Ref<hal::Stream>();
    isGone = true;
    delete this;
  }
};

} // namespace
INSTANTIATE_TEST_SUITE_P(Cuda, HostLoopTest, ::testing::Values(backends()[1]), backendName);

TEST_P(HostLoopTest, WhatComesBehindALoopWaitsAndTheCallerDoesNot) {
  Ref<hal::Memory> counter = allocate(4), first = allocate(1024), second = allocate(1024),
                   third = upload(std::vector<float>(256));
  Ref<hal::Stream> queue = stream(), other = stream();
  Ref<hal::Event> end = event(), unrelated = event(), copied = event();
  std::vector<float> seen(256), written = iota(256, 5);
  std::atomic<int> callbacks{0};
  Ref<hal::Recording> loop = countdown(3, *counter);
  closeGate(*queue);
  ASSERT_TRUE(ok(queue->launch(loop, 0, LaunchMode::Asynchronous)));
  ASSERT_TRUE(ok(queue->copy(sum, 0, first, 0, 1024)));
  ASSERT_TRUE(ok(queue->read(sum, 0, seen.data(), 1024)));
  ASSERT_TRUE(ok(queue->addCallback(
      [](void *count, xcr_status_t status) {
        EXPECT_TRUE(xcr_is_ok(status));
        ++*static_cast<std::atomic<int> *>(count);
      },
      &callbacks)));
  ASSERT_TRUE(ok(queue->record(end)));
  // Another stream, which has work before and behind the wait.
  ASSERT_TRUE(ok(other->record(unrelated)));
  ASSERT_TRUE(ok(other->wait(end)));
  ASSERT_TRUE(ok(other->copy(sum, 0, second, 0, 1024)));
  ASSERT_TRUE(ok(other->record(copied)));
  ASSERT_TRUE(ok(queue->wait(copied)));
  ASSERT_TRUE(ok(queue->launch(loop, 0, LaunchMode::Asynchronous)));
  ASSERT_TRUE(ok(queue->fill(third, 0, 512, 0x3f800000, 4)));
  ASSERT_TRUE(ok(queue->write(third, 512, written.data(), 512)));
  bool isDone = true;
  ASSERT_TRUE(ok(queue->query(&isDone)));
  EXPECT_FALSE(isDone);
  ASSERT_TRUE(ok(other->query(&isDone)));
  EXPECT_FALSE(isDone);
  ASSERT_TRUE(ok(end->query(&isDone)));
  EXPECT_FALSE(isDone);
  ASSERT_TRUE(ok(unrelated->synchronize()));
  ASSERT_TRUE(ok(device->trim()));
  EXPECT_EQ(callbacks, 0);
  openGate();
  ASSERT_TRUE(ok(end->synchronize()));
  ASSERT_TRUE(ok(other->synchronize()));
  ASSERT_TRUE(ok(queue->synchronize()));
  EXPECT_EQ(callbacks, 1);
  EXPECT_EQ(seen[100], 300.0f);
  EXPECT_EQ(download<float>(*first, 256)[100], 300.0f);
  EXPECT_EQ(download<float>(*sum, 256)[100], 600.0f);
  EXPECT_EQ(download<float>(*second, 256)[100], 300.0f);
  EXPECT_EQ(download<float>(*third, 256)[127], 1.0f);
  EXPECT_EQ(download<float>(*third, 256)[128], 5.0f);
}

TEST_P(HostLoopTest, AnEventMeansWhatWasRecordedWhenItWasWaitedFor) {
  // Both streams record the same event again and again, one of them behind a loop.
  Ref<hal::Memory> counter = allocate(4), trace = upload(std::vector<float>(256));
  Ref<hal::Stream> first = stream(), second = stream();
  Ref<hal::Event> turn = event();
  Ref<hal::Recording> loop = countdown(2, *counter);
  closeGate(*first);
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(ok(first->launch(loop, 0, LaunchMode::Asynchronous)));
    ASSERT_TRUE(ok(first->record(turn)));
    ASSERT_TRUE(ok(second->wait(turn)));
    ASSERT_TRUE(ok(second->copy(sum, 400, trace, 4 * i, 4)));
    ASSERT_TRUE(ok(second->record(turn)));
    ASSERT_TRUE(ok(first->wait(turn)));
  }
  openGate();
  ASSERT_TRUE(ok(second->synchronize()));
  ASSERT_TRUE(ok(first->synchronize()));
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(download<float>(*trace, 256)[i], 200.0f * float(i + 1));
}

TEST_P(HostLoopTest, ALaunchKeepsWhatItWasGiven) {
  Ref<hal::Memory> counter = allocate(4), other = upload(std::vector<float>(256));
  Ref<hal::Stream> queue = stream();
  Ref<hal::Recording> loop = countdown(4, *counter);
  closeGate(*queue);
  ASSERT_TRUE(ok(queue->launch(loop, 0, LaunchMode::Asynchronous)));
  openGate();
  plan.addresses[plan.commands[3].addresses.begin] = other->address();
  hal::CommandChange change = {3, hal::kChangedAddresses};
  hal::UpdateCost cost;
  ASSERT_TRUE(ok(loop->update(plan.list(), {&change, 1}, &cost)));
  ASSERT_TRUE(ok(queue->launch(loop, 0, LaunchMode::Asynchronous)));
  ASSERT_TRUE(ok(queue->synchronize()));
  EXPECT_EQ(download<float>(*sum, 256)[100], 400.0f);
  EXPECT_EQ(download<float>(*other, 256)[100], 400.0f);
}

TEST_P(HostLoopTest, AFailureIsTheStreamsAndToldOnce) {
  if (!standIn())
    GTEST_SKIP() << "needs the driver stand-in (target cuda_sim)";
  Ref<hal::Memory> counter = allocate(4), copy = upload(std::vector<float>(256, -1));
  Ref<hal::Stream> queue = stream();
  Ref<hal::Event> end = event();
  Ref<hal::Recording> loop = countdown(2, *counter);
  std::atomic<int> code{-1};
  closeGate(*queue);
  // Of the first decision. What was launched before it is waited for all the same: until the gate
  // opens.
  const uint64_t faults = standIn()->faultsFired();
  ASSERT_EQ(standIn()->setFault("cuMemcpyDtoHAsync", 1, CUDA_ERROR_UNKNOWN, 0), 0);
  ASSERT_TRUE(ok(queue->launch(loop, 0, LaunchMode::Asynchronous)));
  ASSERT_TRUE(ok(queue->copy(sum, 0, copy, 0, 1024)));
  ASSERT_TRUE(ok(queue->record(end)));
  ASSERT_TRUE(ok(queue->addCallback(
      [](void *seen, xcr_status_t status) {
        *static_cast<std::atomic<int> *>(seen) = xcr_status_code(status);
      },
      &code)));
  // So that it strikes nothing else.
  while (standIn()->faultsFired() == faults)
    std::this_thread::yield();
  openGate();
  ASSERT_TRUE(ok(end->synchronize()));
  Status status = queue->synchronize();
  EXPECT_TRUE(failsWith(status.release(), XCR_STATUS_INTERNAL, "cuMemcpyDtoHAsync"));
  EXPECT_EQ(code, XCR_STATUS_INTERNAL);
  EXPECT_EQ(download<float>(*copy, 256)[0], -1.0f) << "what is behind a failure is not done";
  ASSERT_TRUE(ok(queue->synchronize()));
  ASSERT_TRUE(ok(queue->launch(loop, 0, LaunchMode::Asynchronous)));
  ASSERT_TRUE(ok(queue->synchronize()));
  EXPECT_EQ(download<float>(*sum, 256)[100], 200.0f);
}

TEST_P(HostLoopTest, DroppingTheStreamWaits) {
  Ref<hal::Memory> counter = allocate(4);
  {
    Ref<hal::Stream> queue = stream();
    Ref<hal::Recording> loop = countdown(3, *counter);
    closeGate(*queue);
    ASSERT_TRUE(ok(queue->launch(loop, 0, LaunchMode::Asynchronous)));
    openGate();
  }
  EXPECT_EQ(download<float>(*sum, 256)[100], 300.0f);
}

TEST_P(HostLoopTest, TheLastReferenceMayGoWithTheWork) {
  Ref<hal::Memory> counter = allocate(4);
  std::atomic<bool> isGone{false};
  Ref<hal::Recording> loop = countdown(3, *counter);
  {
    Ref<hal::Stream> queue = stream();
    closeGate(*queue);
    ASSERT_TRUE(ok(queue->launch(loop, 0, LaunchMode::Asynchronous)));
    auto *owner = new StreamOwner(isGone);
    owner->stream = queue;
    queue->releaseLater(owner);
  }
  openGate();
  // The stream is not there any more to be waited for.
  while (!isGone)
    std::this_thread::yield();
  ASSERT_TRUE(ok(device->synchronize()));
  EXPECT_EQ(download<float>(*sum, 256)[100], 300.0f);
}

TEST_P(HostLoopTest, AnOwnersWorkComesBehind) {
  Ref<hal::Memory> counter = allocate(4), copy = allocate(1024);
  Ref<hal::Stream> queue;
  ASSERT_TRUE(ok(device->importStream(native, &queue)));
  queue->owner = device;
  Ref<hal::Recording> loop = countdown(3, *counter);
  ASSERT_TRUE(ok(queue->launch(loop, 0, LaunchMode::Asynchronous)));
  ASSERT_EQ(cu->cuMemcpyDtoDAsync(copy->address(), sum->address(), 1024, native), CUDA_SUCCESS);
  ASSERT_EQ(cu->cuStreamSynchronize(native), CUDA_SUCCESS);
  EXPECT_EQ(download<float>(*copy, 256)[100], 300.0f);
}

TEST_P(HostLoopTest, ManyThreadsUseOneStream) {
  constexpr int kThreads = 4, kTimes = 8;
  Ref<hal::Stream> queue = stream();
  std::vector<Ref<hal::Recording>> loops;
  for (int i = 0; i < kThreads; ++i) {
    keep.push_back(allocate(4));
    loops.push_back(countdown(2, *keep.back()));
  }
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([&, i] {
      Ref<hal::Memory> copy = allocate(1024);
      Ref<hal::Event> own = event();
      for (int j = 0; j < kTimes; ++j) {
        ASSERT_TRUE(ok(queue->launch(loops[i], 0, LaunchMode::Asynchronous)));
        ASSERT_TRUE(ok(queue->copy(sum, 0, copy, 0, 1024)));
        ASSERT_TRUE(ok(queue->record(own)));
        if (j % 3 == i % 3)
          ASSERT_TRUE(ok(own->synchronize()));
        if (j % 4 == i)
          ASSERT_TRUE(ok(queue->synchronize()));
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  ASSERT_TRUE(ok(queue->synchronize()));
  EXPECT_EQ(download<float>(*sum, 256)[100], 100.0f * 2 * kThreads * kTimes);
}
