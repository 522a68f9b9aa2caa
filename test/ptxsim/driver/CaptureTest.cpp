//===- CaptureTest.cpp - Streams whose work becomes a graph ---------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fixture.h"

#include <algorithm>
#include <functional>

namespace xc {
namespace {

class CaptureTest : public DriverTest {
protected:
  void SetUp() override {
    DriverTest::SetUp();
    stream = createStream();
    other = createStream();
    pointer = allocate(8 * 32);
    write(pointer, std::vector<uint32_t>(64, 1));
  }
  void begin(CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL) {
    ASSERT_EQ(CUDA_SUCCESS, cu.cuStreamBeginCapture(stream, mode));
  }
  CUresult end() { return cu.cuStreamEndCapture(stream, &graph); }
  void run() {
    CUgraphExec exec = nullptr;
    ASSERT_EQ(CUDA_SUCCESS, cu.cuGraphInstantiate(&exec, graph, 0));
    ASSERT_EQ(CUDA_SUCCESS, cu.cuGraphLaunch(exec, stream));
    ASSERT_EQ(CUDA_SUCCESS, cu.cuStreamSynchronize(stream));
    ASSERT_EQ(CUDA_SUCCESS, cu.cuGraphExecDestroy(exec));
    ASSERT_EQ(CUDA_SUCCESS, cu.cuGraphDestroy(graph));
  }
  CUresult add(CUstream to, unsigned half, uint32_t amount) {
    return launch(kernel("add"), 32, to, pointer + 128 * half, amount);
  }
  CUstreamCaptureStatus status(CUstream of) {
    CUstreamCaptureStatus result = CU_STREAM_CAPTURE_STATUS_NONE;
    EXPECT_EQ(CUDA_SUCCESS, cu.cuStreamIsCapturing(of, &result));
    return result;
  }

  CUstream stream = nullptr, other = nullptr;
  CUdeviceptr pointer = 0;
  CUgraph graph = nullptr;
};

TEST_F(CaptureTest, WorkIsAddedAndNotDone) {
  begin();
  ASSERT_EQ(CUDA_SUCCESS, cu.cuMemsetD32Async(pointer, 5, 64, stream));
  ASSERT_EQ(CUDA_SUCCESS, add(stream, 1, 2));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuMemcpyDtoDAsync(pointer, pointer + 128, 64, stream));
  EXPECT_EQ(CU_STREAM_CAPTURE_STATUS_ACTIVE, status(stream));
  using GetInfo = CUresult(CUstream, CUstreamCaptureStatus *, cuuint64_t *, CUgraph *,
                           const CUgraphNode **, size_t *);
  CUstreamCaptureStatus state = CU_STREAM_CAPTURE_STATUS_NONE;
  cuuint64_t id = 0;
  CUgraph growing = nullptr;
  ASSERT_EQ(CUDA_SUCCESS, cu.get<GetInfo>("cuStreamGetCaptureInfo_v2")(stream, &state, &id,
                                                                       &growing, nullptr, nullptr));
  EXPECT_EQ(CU_STREAM_CAPTURE_STATUS_ACTIVE, state);
  EXPECT_NE(0u, id);
  ASSERT_EQ(CUDA_SUCCESS, end());
  EXPECT_EQ(growing, graph);
  EXPECT_EQ(CU_STREAM_CAPTURE_STATUS_NONE, status(stream));
  EXPECT_EQ(std::vector<uint32_t>(64, 1), read(pointer, 64));
  run();
  std::vector<uint32_t> expected(64, 7);
  std::fill(expected.begin() + 16, expected.begin() + 32, 5);
  EXPECT_EQ(expected, read(pointer, 64));
}

TEST_F(CaptureTest, NodesCanBeAddedByHand) {
  begin();
  ASSERT_EQ(CUDA_SUCCESS, add(stream, 1, 2));
  CUstreamCaptureStatus state = CU_STREAM_CAPTURE_STATUS_NONE;
  CUgraph growing = nullptr;
  const CUgraphNode *before = nullptr;
  const CUgraphEdgeData *edges = nullptr;
  size_t count = 0;
  ASSERT_EQ(CUDA_SUCCESS,
            cu.cuStreamGetCaptureInfo(stream, &state, nullptr, &growing, &before, &edges, &count));
  ASSERT_EQ(1u, count);
  EXPECT_EQ(CU_GRAPH_DEPENDENCY_TYPE_DEFAULT, edges[0].type);
  CUgraphNode join = nullptr;
  ASSERT_EQ(CUDA_SUCCESS, cu.cuGraphAddEmptyNode(&join, growing, before, count));
  CUgraphNode nobody = nullptr;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE,
            cu.cuStreamUpdateCaptureDependencies(stream, &nobody, nullptr, 1,
                                                 CU_STREAM_SET_CAPTURE_DEPENDENCIES));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuStreamUpdateCaptureDependencies(stream, &join, nullptr, 1,
                                                               CU_STREAM_SET_CAPTURE_DEPENDENCIES));
  ASSERT_EQ(CUDA_SUCCESS,
            cu.cuStreamGetCaptureInfo(stream, &state, nullptr, nullptr, &before, nullptr, &count));
  ASSERT_EQ(1u, count);
  EXPECT_EQ(join, before[0]);
  ASSERT_EQ(CUDA_SUCCESS, add(stream, 0, 3));
  ASSERT_EQ(CUDA_SUCCESS, end());
  EXPECT_EQ(CUDA_ERROR_ILLEGAL_STATE,
            cu.cuStreamUpdateCaptureDependencies(stream, &join, nullptr, 1,
                                                 CU_STREAM_ADD_CAPTURE_DEPENDENCIES));
  run();
  std::vector<uint32_t> expected(64, 3);
  std::fill(expected.begin(), expected.begin() + 32, 4);
  EXPECT_EQ(expected, read(pointer, 64));
}

TEST_F(CaptureTest, OtherStreamsJoinAndMustBeJoined) {
  CUevent fork = createEvent(), join = createEvent();
  for (bool joins : {false, true}) {
    begin();
    ASSERT_EQ(CUDA_SUCCESS, add(stream, 0, 1));
    ASSERT_EQ(CUDA_SUCCESS, cu.cuEventRecord(fork, stream));
    ASSERT_EQ(CUDA_SUCCESS, cu.cuStreamWaitEvent(other, fork, 0));
    ASSERT_EQ(CUDA_SUCCESS, add(other, 1, 3));
    EXPECT_EQ(CU_STREAM_CAPTURE_STATUS_ACTIVE, status(other));
    ASSERT_EQ(CUDA_SUCCESS, cu.cuEventRecord(join, other));
    if (joins)
      ASSERT_EQ(CUDA_SUCCESS, cu.cuStreamWaitEvent(stream, join, 0));
    EXPECT_EQ(joins ? CUDA_SUCCESS : CUDA_ERROR_STREAM_CAPTURE_UNJOINED, end());
    EXPECT_EQ(CU_STREAM_CAPTURE_STATUS_NONE, status(other));
  }
  run();
  EXPECT_EQ(std::vector<uint32_t>(32, 2), read(pointer, 32));
  EXPECT_EQ(std::vector<uint32_t>(32, 4), read(pointer + 128, 32));
}

TEST_F(CaptureTest, WhatDisturbsItInvalidatesIt) {
  CUevent outside = createEvent(), inside = createEvent();
  ASSERT_EQ(CUDA_SUCCESS, cu.cuEventRecord(outside, other));
  struct Disturbance {
    const char *name;
    std::function<CUresult()> call;
    CUresult result;
  };
  const Disturbance disturbances[] = {
      {"query", [&] { return cu.cuStreamQuery(stream); }, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED},
      {"wait", [&] { return cu.cuStreamSynchronize(stream); },
       CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED},
      {"unsafe", [&] { return cu.cuEventQuery(outside); }, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED},
      {"isolation", [&] { return cu.cuStreamWaitEvent(stream, outside, 0); },
       CUDA_ERROR_STREAM_CAPTURE_ISOLATION},
      {"captured event",
       [&] {
         CUresult result = cu.cuEventRecord(inside, stream);
         return result == CUDA_SUCCESS ? cu.cuEventSynchronize(inside) : result;
       },
       CUDA_ERROR_CAPTURED_EVENT},
  };
  for (const Disturbance &disturbance : disturbances) {
    begin();
    ASSERT_EQ(CUDA_SUCCESS, add(stream, 0, 1));
    EXPECT_EQ(disturbance.result, disturbance.call()) << disturbance.name;
    EXPECT_EQ(CU_STREAM_CAPTURE_STATUS_INVALIDATED, status(stream)) << disturbance.name;
    EXPECT_EQ(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, add(stream, 0, 1)) << disturbance.name;
    EXPECT_EQ(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, end()) << disturbance.name;
    EXPECT_EQ(nullptr, graph);
  }
}

TEST_F(CaptureTest, AThreadMayRelaxWhatItMayDo) {
  CUevent outside = createEvent();
  ASSERT_EQ(CUDA_SUCCESS, cu.cuEventRecord(outside, other));
  begin();
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  ASSERT_EQ(CUDA_SUCCESS, cu.cuThreadExchangeStreamCaptureMode(&mode));
  EXPECT_EQ(CU_STREAM_CAPTURE_MODE_GLOBAL, mode);
  EXPECT_NE(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cu.cuEventQuery(outside));
  allocate(64);
  ASSERT_EQ(CUDA_SUCCESS, cu.cuThreadExchangeStreamCaptureMode(&mode));
  EXPECT_EQ(CU_STREAM_CAPTURE_MODE_RELAXED, mode);
  ASSERT_EQ(CUDA_SUCCESS, add(stream, 0, 1));
  ASSERT_EQ(CUDA_SUCCESS, end());
  run();
  EXPECT_EQ(std::vector<uint32_t>(32, 2), read(pointer, 32));
}

TEST_F(CaptureTest, OnlyWhoBeganItEndsIt) {
  EXPECT_EQ(CUDA_ERROR_ILLEGAL_STATE, end());
  begin();
  EXPECT_EQ(CUDA_ERROR_ILLEGAL_STATE,
            cu.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  std::thread([&] {
    EXPECT_EQ(CUDA_SUCCESS, cu.cuCtxSetCurrent(context));
    EXPECT_EQ(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, end());
  }).join();
  ASSERT_EQ(CUDA_SUCCESS, end());
  EXPECT_EQ(CUDA_SUCCESS, cu.cuGraphDestroy(graph));
  EXPECT_EQ(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
            cu.cuStreamBeginCapture(nullptr, CU_STREAM_CAPTURE_MODE_GLOBAL));
}

} // namespace
} // namespace xc
