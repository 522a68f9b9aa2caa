//===- StreamTest.cpp - Streams, events, host functions, values -----------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fixture.h"

#include <thread>

namespace xc {
namespace {

class StreamTest : public DriverTest {
protected:
  /// Appends `value` to what the host functions of this test have seen.
  CUresult note(CUstream stream, int value) {
    notes_.push_back(std::make_unique<Note>(Note{this, value}));
    return cu.cuLaunchHostFunc(stream, &StreamTest::take, notes_.back().get());
  }
  std::vector<int> seen() {
    std::lock_guard<std::mutex> lock(mutex_);
    return seen_;
  }
  CUresult block(CUstream stream, Gate &gate) {
    return cu.cuLaunchHostFunc(stream, Gate::waitFor, &gate);
  }

private:
  struct Note {
    StreamTest *test;
    int value;
  };
  static void take(void *data) {
    auto *note = static_cast<Note *>(data);
    std::lock_guard<std::mutex> lock(note->test->mutex_);
    note->test->seen_.push_back(note->value);
  }

  std::mutex mutex_;
  std::vector<int> seen_;
  std::vector<std::unique_ptr<Note>> notes_;
};

TEST_F(StreamTest, BlockedStreamDoesNotBlockOthers) {
  CUstream first = createStream(), second = createStream();
  Gate &gate = createGate();
  ASSERT_EQ(CUDA_SUCCESS, block(first, gate));
  ASSERT_EQ(CUDA_SUCCESS, note(first, 1));
  ASSERT_EQ(CUDA_SUCCESS, note(second, 2));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuStreamSynchronize(second));
  EXPECT_EQ(CUDA_ERROR_NOT_READY, cu.cuStreamQuery(first));
  EXPECT_EQ(std::vector<int>{2}, seen());
  gate.open = true;
  ASSERT_EQ(CUDA_SUCCESS, cu.cuStreamSynchronize(first));
  EXPECT_EQ(CUDA_SUCCESS, cu.cuStreamQuery(first));
  EXPECT_EQ((std::vector<int>{2, 1}), seen());
}

TEST_F(StreamTest, DefaultStreamOrdersBlockingStreams) {
  CUstream blocking = createStream(CU_STREAM_DEFAULT);
  CUstream another = createStream(CU_STREAM_DEFAULT);
  CUstream free = createStream(CU_STREAM_NON_BLOCKING);
  Gate &gate = createGate();
  ASSERT_EQ(CUDA_SUCCESS, block(blocking, gate));
  ASSERT_EQ(CUDA_SUCCESS, note(blocking, 1));
  ASSERT_EQ(CUDA_SUCCESS, note(nullptr, 2));
  ASSERT_EQ(CUDA_SUCCESS, note(another, 3));
  ASSERT_EQ(CUDA_SUCCESS, note(free, 0));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuStreamSynchronize(free));
  EXPECT_EQ(std::vector<int>{0}, seen());
  gate.open = true;
  ASSERT_EQ(CUDA_SUCCESS, cu.cuCtxSynchronize());
  EXPECT_EQ((std::vector<int>{0, 1, 2, 3}), seen());
}

TEST_F(StreamTest, SpecialHandles) {
  unsigned flags = 7;
  EXPECT_EQ(CUDA_SUCCESS, cu.cuStreamGetFlags(cuStreamLegacy(), &flags));
  EXPECT_EQ(unsigned(CU_STREAM_DEFAULT), flags);
  ASSERT_EQ(CUDA_SUCCESS, note(cuStreamPerThread(), 1));
  ASSERT_EQ(CUDA_SUCCESS, note(nullptr, 2));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuStreamSynchronize(nullptr));
  EXPECT_EQ((std::vector<int>{1, 2}), seen());
  CUcontext owner = nullptr;
  EXPECT_EQ(CUDA_SUCCESS, cu.cuStreamGetCtx(cuStreamPerThread(), &owner));
  EXPECT_EQ(context, owner);
}

TEST_F(StreamTest, HandlesAndFlagsAreChecked) {
  CUstream stream = nullptr;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cu.cuStreamCreateWithPriority(&stream, 8, 0));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuStreamCreateWithPriority(&stream, 0, -100));
  int priority = 0, least = 1, greatest = 1;
  EXPECT_EQ(CUDA_SUCCESS, cu.cuStreamGetPriority(stream, &priority));
  EXPECT_EQ(CUDA_SUCCESS, cu.cuCtxGetStreamPriorityRange(&least, &greatest));
  EXPECT_EQ(greatest, priority);
  EXPECT_EQ(0, least);
  EXPECT_EQ(CUDA_SUCCESS, cu.cuStreamDestroy(stream));
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, cu.cuStreamDestroy(stream));
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, cu.cuStreamSynchronize(stream));
}

TEST_F(StreamTest, DestroyedStreamFinishesItsWork) {
  CUstream stream = nullptr;
  ASSERT_EQ(CUDA_SUCCESS, cu.cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, 0));
  Gate &gate = createGate();
  ASSERT_EQ(CUDA_SUCCESS, block(stream, gate));
  ASSERT_EQ(CUDA_SUCCESS, note(stream, 1));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuStreamDestroy(stream));
  gate.open = true;
  ASSERT_EQ(CUDA_SUCCESS, cu.cuCtxSynchronize());
  EXPECT_EQ(std::vector<int>{1}, seen());
}

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

TEST_F(StreamTest, EventsOrderStreams) {
  CUstream first = createStream(), second = createStream();
  CUevent event = createEvent();
  EXPECT_EQ(CUDA_SUCCESS, cu.cuEventQuery(event)) << "never recorded";
  Gate &gate = createGate();
  ASSERT_EQ(CUDA_SUCCESS, block(first, gate));
  ASSERT_EQ(CUDA_SUCCESS, note(first, 1));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuEventRecord(event, first));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuStreamWaitEvent(second, event, 0));
  ASSERT_EQ(CUDA_SUCCESS, note(second, 2));
  EXPECT_EQ(CUDA_ERROR_NOT_READY, cu.cuEventQuery(event));
  EXPECT_EQ(CUDA_ERROR_NOT_READY, cu.cuStreamQuery(second));
  gate.open = true;
  ASSERT_EQ(CUDA_SUCCESS, cu.cuEventSynchronize(event));
  EXPECT_EQ(CUDA_SUCCESS, cu.cuEventQuery(event));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuStreamSynchronize(second));
  EXPECT_EQ((std::vector<int>{1, 2}), seen());
}

TEST_F(StreamTest, WaitTakesTheRecordOfItsTime) {
  CUstream first = createStream(), second = createStream();
  CUevent event = createEvent();
  Gate &gate = createGate();
  // A wait before any record waits for nothing, whatever comes later.
  ASSERT_EQ(CUDA_SUCCESS, cu.cuStreamWaitEvent(second, event, 0));
  ASSERT_EQ(CUDA_SUCCESS, block(first, gate));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuEventRecord(event, first));
  ASSERT_EQ(CUDA_SUCCESS, note(second, 1));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuStreamSynchronize(second));
  EXPECT_EQ(std::vector<int>{1}, seen());
  gate.open = true;
}

TEST_F(StreamTest, ElapsedTimeNeedsTwoTimedEvents) {
  CUevent start = createEvent(CU_EVENT_DEFAULT), end = createEvent(CU_EVENT_DEFAULT);
  CUevent untimed = createEvent();
  float milliseconds = -1;
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, cu.cuEventElapsedTime(&milliseconds, start, end));
  CUstream stream = createStream();
  Gate &gate = createGate();
  ASSERT_EQ(CUDA_SUCCESS, cu.cuEventRecord(start, stream));
  ASSERT_EQ(CUDA_SUCCESS, block(stream, gate));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuEventRecord(end, stream));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuEventRecord(untimed, stream));
  EXPECT_EQ(CUDA_ERROR_NOT_READY, cu.cuEventElapsedTime(&milliseconds, start, end));
  gate.open = true;
  ASSERT_EQ(CUDA_SUCCESS, cu.cuStreamSynchronize(stream));
  EXPECT_EQ(CUDA_SUCCESS, cu.cuEventElapsedTime(&milliseconds, start, end));
  EXPECT_GE(milliseconds, 0);
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, cu.cuEventElapsedTime(&milliseconds, start, untimed));
}

//===----------------------------------------------------------------------===//
// Host functions and values in memory
//===----------------------------------------------------------------------===//

TEST_F(StreamTest, HostFunctionsMustNotCallTheDriver) {
  struct Attempt {
    Cuda &cu;
    CUresult result;
  } attempt = {cu, CUDA_SUCCESS};
  ASSERT_EQ(CUDA_SUCCESS, cu.cuLaunchHostFunc(
                              nullptr,
                              [](void *data) {
                                auto *self = static_cast<Attempt *>(data);
                                CUcontext current = nullptr;
                                self->result = self->cu.cuCtxGetCurrent(&current);
                              },
                              &attempt));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuCtxSynchronize());
  EXPECT_EQ(CUDA_ERROR_NOT_PERMITTED, attempt.result);
}

TEST_F(StreamTest, ValueInMemoryHoldsAStream) {
  CUstream first = createStream(), second = createStream();
  CUdeviceptr flag = allocate(16);
  ASSERT_EQ(CUDA_SUCCESS, cu.cuMemsetD32(flag, 0, 4));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuCtxSynchronize());
  ASSERT_EQ(CUDA_SUCCESS, cu.cuStreamWaitValue32(first, flag, 5, CU_STREAM_WAIT_VALUE_GEQ));
  ASSERT_EQ(CUDA_SUCCESS, note(first, 1));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuStreamWaitValue64(second, flag + 8, 2, CU_STREAM_WAIT_VALUE_AND));
  ASSERT_EQ(CUDA_SUCCESS, note(second, 2));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuStreamWriteValue32(second, flag, 6, 0));
  CUstream third = createStream();
  EXPECT_EQ(CUDA_ERROR_NOT_READY, cu.cuStreamQuery(first));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuStreamWriteValue64(third, flag + 8, 3, 0));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuStreamSynchronize(first));
  EXPECT_EQ((std::vector<int>{2, 1}), seen());
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cu.cuStreamWaitValue32(first, flag + 2, 0, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cu.cuStreamWriteValue64(first, 8, 0, 0));
}

TEST_F(StreamTest, LostContextReleasesWhoeverWaits) {
  CUstream first = createStream(), second = createStream();
  CUdeviceptr flag = allocate(4);
  ASSERT_EQ(CUDA_SUCCESS, cu.cuMemsetD32(flag, 0, 1));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuCtxSynchronize());
  CUevent event = createEvent();
  CUfunction fail = kernel("fail");
  ASSERT_EQ(CUDA_SUCCESS, cu.cuStreamWaitValue32(first, flag, 1, CU_STREAM_WAIT_VALUE_EQ));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuEventRecord(event, first));
  ASSERT_EQ(CUDA_SUCCESS, launch(fail, 1, second));
  expectLost = true;
  EXPECT_EQ(CUDA_ERROR_LAUNCH_FAILED, cu.cuStreamSynchronize(second));
  EXPECT_EQ(CUDA_ERROR_LAUNCH_FAILED, cu.cuEventSynchronize(event));
}

TEST_F(StreamTest, ManyThreadsShareTheContext) {
  CUfunction add = kernel("add");
  CUdeviceptr pointer = allocate(4 * 4 * 32);
  ASSERT_EQ(CUDA_SUCCESS, cu.cuMemsetD32(pointer, 0, 128));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuCtxSynchronize());
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      ASSERT_EQ(CUDA_SUCCESS, cu.cuCtxSetCurrent(context));
      CUstream stream = nullptr;
      ASSERT_EQ(CUDA_SUCCESS, cu.cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, 0));
      for (unsigned round = 0; round < 20; ++round) {
        CUdeviceptr scratch = 0;
        ASSERT_EQ(CUDA_SUCCESS, cu.cuMemAllocAsync(&scratch, 64, stream));
        ASSERT_EQ(CUDA_SUCCESS, launch(add, 32, stream, pointer + 128 * i, i + 1));
        ASSERT_EQ(CUDA_SUCCESS, cu.cuMemFreeAsync(scratch, stream));
      }
      ASSERT_EQ(CUDA_SUCCESS, cu.cuStreamSynchronize(stream));
      ASSERT_EQ(CUDA_SUCCESS, cu.cuStreamDestroy(stream));
    });
  for (std::thread &thread : threads)
    thread.join();
  for (unsigned i = 0; i < 4; ++i)
    EXPECT_EQ(std::vector<uint32_t>(32, 20 * (i + 1)), read(pointer + 128 * i, 32));
}

} // namespace
} // namespace xc
