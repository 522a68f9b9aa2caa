//===- CaptureTest.cpp - Calls in graphs that somebody else captures ------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/hal/cuda/cuda_symbols.h"
#include "test/runtime/cuda/CudaKernels.h"
#include "test/runtime/hal/HalTest.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

using namespace xc;
using namespace xc::test;

namespace {

/// A program that captures its stream, and calls of the scenario's function on it.
class CaptureTest : public ::testing::TestWithParam<Backend> {
protected:
  void SetUp() override {
    Status status = cuda::loadSymbols(HostAllocator(), &cu);
    if (status.failed())
      GTEST_SKIP() << status.message().data;
    device = makeDevice(GetParam().uri);
    ASSERT_TRUE(device);
    ASSERT_EQ(cu->cuDevicePrimaryCtxRetain(&context, cudaOrdinal()), CUDA_SUCCESS);
    ASSERT_EQ(cu->cuCtxPushCurrent(context), CUDA_SUCCESS);
    ASSERT_EQ(cu->cuStreamCreateWithPriority(&native, CU_STREAM_NON_BLOCKING, 0), CUDA_SUCCESS);
    xcr_stream_options_t options = XCR_STREAM_OPTIONS_INIT;
    options.native_stream = native;
    xcr_stream_t *object = nullptr;
    XCR_ASSERT_OK(xcr_stream_create(device.get(), &options, &object));
    stream.reset(object);
    bytes = cudaScenarioModule().finish();
    module = loadModule(bytes);
    instance = makeInstance(device, module);
    call = makeCall(instance);
  }
  void TearDown() override {
    if (!device)
      return;
    if (exec)
      EXPECT_EQ(cu->cuGraphExecDestroy(exec), CUDA_SUCCESS);
    if (graph)
      EXPECT_EQ(cu->cuGraphDestroy(graph), CUDA_SUCCESS);
    call.reset();
    stream.reset();
    EXPECT_EQ(cu->cuStreamDestroy(native), CUDA_SUCCESS);
    instance.reset();
    device.reset();
    cu->cuCtxPopCurrent(&context);
    cu->cuDevicePrimaryCtxRelease(cudaOrdinal());
  }

  void begin() {
    ASSERT_EQ(cu->cuStreamBeginCapture(native, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
  }
  CUresult endCapture() {
    return driverCall<CUresult(CUstream, CUgraph *)>("cuStreamEndCapture")(native, &graph);
  }
  void end() {
    ASSERT_EQ(endCapture(), CUDA_SUCCESS);
    ASSERT_EQ(cu->cuGraphInstantiate(&exec, graph, 0), CUDA_SUCCESS);
  }
  void launchGraph() {
    ASSERT_EQ(cu->cuGraphLaunch(exec, native), CUDA_SUCCESS);
    ASSERT_EQ(cu->cuStreamSynchronize(native), CUDA_SUCCESS);
  }
  Buffer input(float first) { return makeBuffer(device, iota(64, first)); }
  static std::vector<float> expected(float first) {
    std::vector<float> values = iota(64, first);
    for (float &value : values)
      value = 2 * (value + 1);
    return values;
  }
  xcr_call_statistics_t statistics() {
    xcr_call_statistics_t result = XCR_CALL_STATISTICS_INIT;
    xcr_call_get_statistics(call.get(), &result);
    return result;
  }

  const cuda::Symbols *cu = nullptr;
  CUcontext context = nullptr;
  CUstream native = nullptr;
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  std::vector<uint8_t> bytes;
  Device device;
  Stream stream;
  Module module;
  Instance instance;
  Call call;
};

} // namespace
INSTANTIATE_TEST_SUITE_P(Cuda, CaptureTest, ::testing::ValuesIn(backends()), backendName);

TEST_P(CaptureTest, RotatingBindingsBecomeNodesOfOneGraph) {
  std::vector<Buffer> inputs, outputs;
  for (int i = 0; i < 3; ++i) {
    inputs.push_back(input(float(100 * i)));
    outputs.push_back(makeBuffer(device, std::vector<float>(64, -1)));
  }
  XCR_ASSERT_OK(xcr_call_set_input(call.get(), 0, inputs[0].get()));
  XCR_ASSERT_OK(xcr_call_set_output(call.get(), 0, outputs[0].get()));
  XCR_ASSERT_OK(xcr_call_prepare(call.get(), stream.get()));
  begin();
  for (int i = 0; i < 3; ++i) {
    XCR_ASSERT_OK(xcr_call_set_input(call.get(), 0, inputs[i].get()));
    XCR_ASSERT_OK(xcr_call_set_output(call.get(), 0, outputs[i].get()));
    XCR_ASSERT_OK(xcr_call_launch(call.get(), stream.get()));
  }
  end();
  EXPECT_EQ(statistics().instantiations, 1u);
  size_t nodes = 0;
  auto getNodes = driverCall<CUresult(CUgraph, CUgraphNode *, size_t *)>("cuGraphGetNodes");
  ASSERT_EQ(getNodes(graph, nullptr, &nodes), CUDA_SUCCESS);
  EXPECT_EQ(nodes, 3u * statistics().command_count);
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(read<float>(outputs[i].get())[0], -1) << "nothing runs before the graph does";
  for (float first : {0.0f, 7.0f}) {
    for (int i = 0; i < 3; ++i) {
      std::vector<float> values = iota(64, first + float(100 * i));
      XCR_ASSERT_OK(xcr_buffer_write(inputs[i].get(), 0, values.data(), 256));
    }
    launchGraph();
    for (int i = 0; i < 3; ++i)
      EXPECT_EQ(read<float>(outputs[i].get()), expected(first + float(100 * i)));
  }
}

TEST_P(CaptureTest, ACallIsPreparedWithinACapture) {
  Buffer x = input(1);
  begin();
  XCR_ASSERT_OK(xcr_call_set_input(call.get(), 0, x.get()));
  XCR_ASSERT_OK(xcr_call_launch(call.get(), stream.get()));
  end();
  launchGraph();
  EXPECT_EQ(read<float>(xcr_call_output(call.get(), 0)), expected(1));
  EXPECT_EQ(read<float>(xcr_call_output(call.get(), 1)), expected(1));
  EXPECT_EQ(read<uint64_t>(xcr_call_output(call.get(), 2)),
            std::vector<uint64_t>(8, 0x0102030405060708));
}

TEST_P(CaptureTest, WhatCannotBeCapturedSaysSoAndBreaksNothing) {
  Buffer x = input(0);
  Event outside = makeEvent(device), inside = makeEvent(device);
  Stream other = makeStream(device);
  Call profiled = makeCall(instance, "main", XCR_CALL_PROFILE);
  float word = 0;
  bool isDone = false;
  XCR_ASSERT_OK(xcr_stream_record(other.get(), outside.get()));
  XCR_ASSERT_OK(xcr_call_set_input(call.get(), 0, x.get()));
  XCR_ASSERT_OK(xcr_call_set_input(profiled.get(), 0, x.get()));
  begin();
  XCR_ASSERT_OK(xcr_call_launch(call.get(), stream.get()));
  const xcr_status_code_t code = XCR_STATUS_FAILED_PRECONDITION;
  auto nothing = [](void *, xcr_status_t) {};
  XCR_EXPECT_FAILS(xcr_stream_synchronize(stream.get()), code, "being captured");
  XCR_EXPECT_FAILS(xcr_stream_query(stream.get(), &isDone), code, "cannot hold a query");
  XCR_EXPECT_FAILS(xcr_stream_add_callback(stream.get(), nothing, nullptr), code, "a callback");
  XCR_EXPECT_FAILS(xcr_stream_read(stream.get(), x.get(), 0, &word, 4), code, "a read");
  XCR_EXPECT_FAILS(xcr_stream_write(stream.get(), x.get(), 0, &word, 4), code, "a write");
  XCR_EXPECT_FAILS(xcr_stream_wait(stream.get(), outside.get()), code, "outside of the capture");
  XCR_EXPECT_FAILS(xcr_call_launch(profiled.get(), stream.get()), code, "XCR_CALL_PROFILE");
  XCR_EXPECT_OK(xcr_stream_record(stream.get(), inside.get()));
  XCR_EXPECT_FAILS(xcr_event_synchronize(inside.get()), code, "nothing that the host can wait for");
  XCR_EXPECT_OK(xcr_device_synchronize(device.get()));
  XCR_EXPECT_OK(xcr_device_trim(device.get()));
  end();
  XCR_EXPECT_OK(xcr_stream_synchronize(stream.get()));
  launchGraph();
  EXPECT_EQ(read<float>(xcr_call_output(call.get(), 0)), expected(0));
}

TEST_P(CaptureTest, OtherStreamsGoOnMeanwhile) {
  Buffer x = input(5);
  Stream other = makeStream(device);
  XCR_ASSERT_OK(xcr_call_set_input(call.get(), 0, x.get()));
  XCR_ASSERT_OK(xcr_call_launch(call.get(), other.get()));
  begin();
  XCR_ASSERT_OK(xcr_call_launch(call.get(), stream.get()));
  XCR_ASSERT_OK(xcr_call_launch(call.get(), other.get()));
  XCR_ASSERT_OK(xcr_stream_synchronize(other.get()));
  EXPECT_EQ(read<float>(xcr_call_output(call.get(), 0)), expected(5));
  end();
  std::vector<float> values = iota(64, 9);
  XCR_ASSERT_OK(xcr_buffer_write(x.get(), 0, values.data(), 256));
  launchGraph();
  EXPECT_EQ(read<float>(xcr_call_output(call.get(), 0)), expected(9));
}

TEST_P(CaptureTest, AnEventCarriesTheCaptureToAnotherStreamAndBack) {
  Buffer x = input(3), pattern = makeBuffer(device, std::vector<float>(64, 0));
  Stream other = makeStream(device);
  Event fork = makeEvent(device), join = makeEvent(device);
  XCR_ASSERT_OK(xcr_call_set_input(call.get(), 0, x.get()));
  begin();
  XCR_ASSERT_OK(xcr_stream_record(stream.get(), fork.get()));
  XCR_ASSERT_OK(xcr_stream_wait(other.get(), fork.get()));
  XCR_ASSERT_OK(xcr_call_launch(call.get(), other.get()));
  XCR_EXPECT_FAILS(xcr_stream_synchronize(other.get()), XCR_STATUS_FAILED_PRECONDITION,
                   "being captured");
  XCR_ASSERT_OK(xcr_stream_fill(stream.get(), pattern.get(), 0, 256, 0x40e00000, 4));
  XCR_ASSERT_OK(xcr_stream_record(other.get(), join.get()));
  XCR_ASSERT_OK(xcr_stream_wait(stream.get(), join.get()));
  end();
  XCR_EXPECT_OK(xcr_stream_synchronize(other.get()));
  launchGraph();
  EXPECT_EQ(read<float>(xcr_call_output(call.get(), 0)), expected(3));
  EXPECT_EQ(read<float>(pattern.get()), std::vector<float>(64, 7));
}

TEST_P(CaptureTest, TheGraphKeepsCodeAndArenaAfterTheCallIsGone) {
  Buffer x = input(2), z = makeBuffer(device, std::vector<float>(64, -1)),
         copy = makeBuffer(device, std::vector<float>(64, -1));
  std::vector<int64_t> zeros(8);
  Buffer fill = makeBuffer(device, XCR_DTYPE_I64, {8}, zeros.data(), 64);
  XCR_ASSERT_OK(xcr_call_set_input(call.get(), 0, x.get()));
  XCR_ASSERT_OK(xcr_call_set_output(call.get(), 0, z.get()));
  XCR_ASSERT_OK(xcr_call_set_output(call.get(), 1, copy.get()));
  XCR_ASSERT_OK(xcr_call_set_output(call.get(), 2, fill.get()));
  begin();
  XCR_ASSERT_OK(xcr_call_launch(call.get(), stream.get()));
  end();
  call.reset();
  XCR_EXPECT_OK(xcr_device_trim(device.get()));
  launchGraph();
  EXPECT_EQ(read<float>(z.get()), expected(2));
  EXPECT_EQ(read<float>(copy.get()), expected(2));
}

TEST_P(CaptureTest, AnInvalidCaptureIsNamed) {
  if (!standIn())
    GTEST_SKIP() << "needs the driver stand-in (target cuda_sim)";
  Buffer x = input(0);
  XCR_ASSERT_OK(xcr_call_set_input(call.get(), 0, x.get()));
  begin();
  EXPECT_EQ(cu->cuStreamSynchronize(native), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  XCR_EXPECT_FAILS(xcr_call_launch(call.get(), stream.get()), XCR_STATUS_FAILED_PRECONDITION,
                   "has failed before");
  EXPECT_EQ(endCapture(), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  XCR_ASSERT_OK(xcr_call_launch(call.get(), stream.get()));
  XCR_ASSERT_OK(xcr_stream_synchronize(stream.get()));
  EXPECT_EQ(read<float>(xcr_call_output(call.get(), 0)), expected(0));
}

TEST_P(CaptureTest, BuffersThatWereBoundAreGivenBackAfterIt) {
  CUdeviceptr pointer = 0;
  ASSERT_EQ(cu->cuMemAlloc(&pointer, 256), CUDA_SUCCESS);
  ASSERT_EQ(cu->cuMemsetD32Async(pointer, 0, 64, nullptr), CUDA_SUCCESS);
  ASSERT_EQ(cu->cuStreamSynchronize(nullptr),
            CUDA_SUCCESS); // the other streams do not wait for a fill
  xcr_buffer_options_t options = XCR_BUFFER_OPTIONS_INIT;
  const int64_t shape = 64;
  options.dtype = XCR_DTYPE_F32;
  options.rank = 1;
  options.shape = &shape;
  int releases = 0;
  auto release = [](void *count) { ++*static_cast<int *>(count); };
  xcr_buffer_t *object = nullptr;
  XCR_ASSERT_OK(xcr_buffer_wrap(device.get(), &options, reinterpret_cast<void *>(pointer), 256,
                                release, &releases, &object));
  Buffer wrapped(object), other = input(1);
  XCR_ASSERT_OK(xcr_call_set_input(call.get(), 0, wrapped.get()));
  wrapped.reset();
  begin();
  XCR_ASSERT_OK(xcr_call_launch(call.get(), stream.get()));
  XCR_ASSERT_OK(xcr_call_set_input(call.get(), 0, other.get()));
  XCR_ASSERT_OK(xcr_call_launch(call.get(), stream.get()));
  EXPECT_EQ(releases, 0) << "a launch before the capture may use it";
  end();
  XCR_ASSERT_OK(xcr_stream_synchronize(stream.get()));
  EXPECT_EQ(releases, 1);
  launchGraph();
  EXPECT_EQ(cu->cuMemFree(pointer), CUDA_SUCCESS);
}

TEST_P(CaptureTest, AStreamReleasedInACaptureWaitsForWhatWasBefore) {
  // What a launch before the capture uses must not go with the stream object while it runs.
  struct Gate {
    std::mutex mutex;
    std::condition_variable opened;
    bool isOpen = false;
  } gate;
  Buffer x = input(4), z = makeBuffer(device, std::vector<float>(64, -1));
  std::atomic<bool> isReleased{false};
  auto wait = [](void *data) {
    auto &gate = *static_cast<Gate *>(data);
    std::unique_lock<std::mutex> lock(gate.mutex);
    gate.opened.wait(lock, [&] { return gate.isOpen; });
  };
  XCR_ASSERT_OK(xcr_call_set_input(call.get(), 0, x.get()));
  XCR_ASSERT_OK(xcr_call_set_output(call.get(), 0, z.get()));
  // A driver that loads kernels when they are launched first waits for the device then, and would
  // wait for the gate.
  XCR_ASSERT_OK(xcr_call_launch(call.get(), stream.get()));
  XCR_ASSERT_OK(xcr_stream_synchronize(stream.get()));
  ASSERT_EQ(cu->cuLaunchHostFunc(native, wait, &gate), CUDA_SUCCESS);
  XCR_ASSERT_OK(xcr_call_launch(call.get(), stream.get()));
  call.reset();
  begin();
  std::thread releasing([&] {
    stream.reset();
    isReleased = true;
  });
  EXPECT_FALSE(isReleased);
  {
    std::lock_guard<std::mutex> lock(gate.mutex);
    gate.isOpen = true;
  }
  gate.opened.notify_all();
  releasing.join();
  EXPECT_EQ(read<float>(z.get()), expected(4)) << "it had ended when the stream was gone";
  end();
}
