//===- OrderTest.cpp - Races between kernels, copies and fills ------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What streams, events, edges, the host and programmatic launches order must give no
// report, and each of them left out must give one, in whatever order things ran.
//
//===----------------------------------------------------------------------===//

#include "GraphFixture.h"

namespace xc {
namespace {

/// Adds 1 to 32 words, in a programmatic launch after what came before, or too early.
const char *const kDependent = R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry patient(.param .u64 p, .param .u32 x) {
  .reg .b64 %rd<4>; .reg .b32 %r<5>;
  ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [x];
  mov.u32 %r2, %tid.x; mul.wide.u32 %rd2, %r2, 4; add.s64 %rd3, %rd1, %rd2;
  griddepcontrol.wait;
  ld.global.u32 %r3, [%rd3]; add.u32 %r4, %r3, %r1; st.global.u32 [%rd3], %r4;
  ret;
}
.visible .entry hasty(.param .u64 p, .param .u32 x) {
  .reg .b64 %rd<4>; .reg .b32 %r<5>;
  ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [x];
  mov.u32 %r2, %tid.x; mul.wide.u32 %rd2, %r2, 4; add.s64 %rd3, %rd1, %rd2;
  ld.global.u32 %r3, [%rd3]; add.u32 %r4, %r3, %r1;
  griddepcontrol.wait;
  st.global.u32 [%rd3], %r4;
  ret;
}
)";

/// Signals through memory from one stream to another, after a store and before one.
const char *const kSignals = R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry tell(.param .u64 flag, .param .u64 data) {
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [flag]; ld.param.u64 %rd2, [data];
  st.global.u32 [%rd2], 5; membar.gl; st.volatile.global.u32 [%rd1], 1;
  ret;
}
.visible .entry await(.param .u64 flag, .param .u64 data) {
  .reg .b64 %rd<3>; .reg .b32 %r<2>; .reg .pred %p<2>;
  ld.param.u64 %rd1, [flag]; ld.param.u64 %rd2, [data];
WAIT: ld.volatile.global.u32 %r1, [%rd1]; setp.eq.u32 %p1, %r1, 0; @%p1 bra WAIT;
  membar.gl; st.global.u32 [%rd2], 6;
  ret;
}
)";

/// Starts the driver afresh for each run, since a race loses the device.
class OrderTest : public GraphFixture {
protected:
  void SetUp() override {
    GraphFixture::SetUp();
    data = allocate(128);
    other = allocate(128);
    ASSERT_EQ(CUDA_SUCCESS, cu.cuMemsetD32(data, 1, 32));
    ASSERT_EQ(CUDA_SUCCESS, cu.cuMemsetD32(other, 1, 32));
    ASSERT_EQ(CUDA_SUCCESS, cu.cuCtxSynchronize());
    add = kernel("add");
  }
  void TearDown() override {
    for (CUmodule module : {dependent, signals})
      if (module)
        cu.cuModuleUnload(module);
    GraphFixture::TearDown();
  }

  /// Loads a kernel of |text| into |module|.
  CUfunction load(CUmodule &module, const char *text, const char *name) {
    if (!module) {
      EXPECT_EQ(CUDA_SUCCESS, cu.cuModuleLoadDataEx(&module, text, 0, nullptr, nullptr));
    }
    CUfunction function = nullptr;
    EXPECT_EQ(CUDA_SUCCESS, cu.cuModuleGetFunction(&function, module, name));
    return function;
  }
  CUfunction programmatic(const char *name) { return load(dependent, kDependent, name); }
  CUfunction signal(const char *name) { return load(signals, kSignals, name); }

  CUresult add1(CUstream stream, CUdeviceptr to) { return launch(add, 32, stream, to, 1u); }

  void expectClean() { EXPECT_EQ(CUDA_SUCCESS, cu.cuCtxSynchronize()) << report(); }
  /// The work in flight must end with a report that holds both words.
  void expectRace(const char *one, const char *two) {
    EXPECT_EQ(CUDA_ERROR_LAUNCH_FAILED, cu.cuCtxSynchronize());
    EXPECT_NE(std::string::npos, report().find("race")) << report();
    EXPECT_NE(std::string::npos, report().find(one)) << report();
    EXPECT_NE(std::string::npos, report().find(two)) << report();
    expectLost = true;
  }

  CUdeviceptr data = 0, other = 0;
  CUfunction add = nullptr;
  CUmodule dependent = nullptr, signals = nullptr;
};

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

TEST_F(OrderTest, StreamsAreNotOrdered) {
  ASSERT_EQ(CUDA_SUCCESS, add1(createStream(), data));
  launch(kernel("scale"), 32, createStream(), data, 3u);
  expectRace("'add'", "'scale'");
}

TEST_F(OrderTest, OneStreamIsOrdered) {
  CUstream stream = createStream();
  for (int i = 0; i < 3; ++i)
    ASSERT_EQ(CUDA_SUCCESS, add1(stream, data));
  expectClean();
}

TEST_F(OrderTest, EventsOrderStreams) {
  CUstream first = createStream(), second = createStream();
  CUevent event = createEvent();
  ASSERT_EQ(CUDA_SUCCESS, add1(first, data));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuEventRecord(event, first));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuStreamWaitEvent(second, event, 0));
  ASSERT_EQ(CUDA_SUCCESS, add1(second, data));
  expectClean();
}

TEST_F(OrderTest, EventRecordedTooEarlyOrdersNothing) {
  CUstream first = createStream(), second = createStream();
  CUevent event = createEvent();
  ASSERT_EQ(CUDA_SUCCESS, cu.cuEventRecord(event, first));
  ASSERT_EQ(CUDA_SUCCESS, add1(first, data));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuStreamWaitEvent(second, event, 0));
  add1(second, data);
  expectRace("'add'", "thread");
}

TEST_F(OrderTest, HostOrdersWhatItHasWaitedFor) {
  CUstream first = createStream(), second = createStream();
  ASSERT_EQ(CUDA_SUCCESS, add1(first, data));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuStreamSynchronize(first));
  ASSERT_EQ(CUDA_SUCCESS, add1(second, data));
  CUevent event = createEvent();
  ASSERT_EQ(CUDA_SUCCESS, cu.cuEventRecord(event, second));
  while (cu.cuEventQuery(event) == CUDA_ERROR_NOT_READY)
    std::this_thread::yield();
  ASSERT_EQ(CUDA_SUCCESS, add1(first, data));
  expectClean();
}

TEST_F(OrderTest, DefaultStreamOrdersBlockingStreams) {
  CUstream first = createStream(CU_STREAM_DEFAULT), second = createStream(CU_STREAM_DEFAULT);
  ASSERT_EQ(CUDA_SUCCESS, add1(first, data));
  ASSERT_EQ(CUDA_SUCCESS, add1(nullptr, data));
  ASSERT_EQ(CUDA_SUCCESS, add1(second, data));
  expectClean();
}

TEST_F(OrderTest, ReadersOnTwoStreamsAreNoRaceButAWriterMustComeAfterBoth) {
  CUstream first = createStream(), second = createStream();
  CUdeviceptr third = allocate(128);
  CUfunction copy = kernel("copy");
  CUevent event = createEvent();
  ASSERT_EQ(CUDA_SUCCESS, launch(copy, 32, first, other, data));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuEventRecord(event, first));
  ASSERT_EQ(CUDA_SUCCESS, launch(copy, 32, second, third, data));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuStreamWaitEvent(second, event, 0));
  ASSERT_EQ(CUDA_SUCCESS, add1(second, data));
  expectClean();
  ASSERT_EQ(CUDA_SUCCESS, launch(copy, 32, first, other, data));
  ASSERT_EQ(CUDA_SUCCESS, launch(copy, 32, second, third, data));
  add1(second, data);
  expectRace("'copy'", "'add'");
}

TEST_F(OrderTest, CopiesAndFillsTakePart) {
  ASSERT_EQ(CUDA_SUCCESS, add1(createStream(), data));
  cu.cuMemcpyDtoDAsync(other, data, 128, createStream());
  expectRace("copy", "add");
}

TEST_F(OrderTest, FillsOfWholePagesTakePart) {
  CUdeviceptr large = allocate(64 << 10);
  CUstream first = createStream(), second = createStream();
  ASSERT_EQ(CUDA_SUCCESS, cu.cuMemsetD32Async(large, 5, 16 << 10, first));
  ASSERT_EQ(CUDA_SUCCESS, add1(first, large + 8192));
  expectClean();
  ASSERT_EQ(CUDA_SUCCESS, cu.cuMemsetD32Async(large, 6, 16 << 10, first));
  add1(second, large + 8192);
  expectRace("fill", "add");
}

TEST_F(OrderTest, HostFunctionsPassOnWhatTheirStreamDid) {
  CUstream first = createStream(), second = createStream();
  static std::atomic<bool> told;
  told = false;
  ASSERT_EQ(CUDA_SUCCESS, add1(first, data));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuLaunchHostFunc(first, [](void *) { told = true; }, nullptr));
  while (!told)
    std::this_thread::yield();
  ASSERT_EQ(CUDA_SUCCESS, add1(second, data));
  expectClean();
}

//===----------------------------------------------------------------------===//
// Stream-ordered memory
//===----------------------------------------------------------------------===//

TEST_F(OrderTest, UseOfStreamOrderedMemoryComesBetweenAllocationAndFree) {
  CUstream first = createStream(), second = createStream();
  CUevent event = createEvent();
  CUdeviceptr memory = 0;
  ASSERT_EQ(CUDA_SUCCESS, cu.cuMemAllocAsync(&memory, 128, first));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuMemsetD32Async(memory, 1, 32, first));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuEventRecord(event, first));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuStreamWaitEvent(second, event, 0));
  ASSERT_EQ(CUDA_SUCCESS, add1(second, memory));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuEventRecord(event, second));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuStreamWaitEvent(first, event, 0));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuMemFreeAsync(memory, first));
  expectClean();
}

TEST_F(OrderTest, UseThatNothingOrdersAfterTheAllocationIsFound) {
  // A signal in memory makes it run later; for the race check it orders nothing.
  CUstream first = createStream(), second = createStream();
  CUdeviceptr memory = 0, flag = allocate(4);
  ASSERT_EQ(CUDA_SUCCESS, cu.cuMemsetD32(flag, 0, 1));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuCtxSynchronize());
  ASSERT_EQ(CUDA_SUCCESS, cu.cuMemAllocAsync(&memory, 128, first));
  ASSERT_EQ(CUDA_SUCCESS, launch(signal("tell"), 1, first, flag, data));
  launch(signal("await"), 1, second, flag, memory);
  expectRace("'await'", "stream-ordered allocation");
}

TEST_F(OrderTest, FreeThatNothingOrdersAfterTheUseIsFound) {
  CUstream first = createStream(), second = createStream();
  CUdeviceptr memory = 0, flag = allocate(4);
  ASSERT_EQ(CUDA_SUCCESS, cu.cuMemsetD32(flag, 0, 1));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuMemAllocAsync(&memory, 128, first));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuCtxSynchronize());
  ASSERT_EQ(CUDA_SUCCESS, launch(signal("tell"), 1, second, flag, memory));
  ASSERT_EQ(CUDA_SUCCESS, launch(signal("await"), 1, first, flag, data));
  cu.cuMemFreeAsync(memory, first);
  expectRace("stream-ordered free frees", "tell");
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

TEST_F(OrderTest, EdgesOrderNodes) {
  CUgraphNode first = addKernel(add, data, 1);
  CUgraphNode second = addKernel(add, data, 2, {first});
  addCopy(other, data, 128, {second});
  instantiate();
  run();
  // The next launch of the stream comes after all of it.
  run();
  EXPECT_EQ(7u, read(other, 1)[0]);
}

/// A plan of two branches and their join, of which each edge is left out once.
class RemovedEdge : public OrderTest, public ::testing::WithParamInterface<std::tuple<int, int>> {};

TEST_P(RemovedEdge, IsFound) {
  auto [removed, seed] = GetParam();
  cu.setGraphSeed(static_cast<uint64_t>(seed));
  CUdeviceptr third = allocate(128);
  int edge = 0;
  auto after = [&, left = removed](const Nodes &nodes) {
    Nodes kept;
    for (CUgraphNode node : nodes)
      if (edge++ != left)
        kept.push_back(node);
    return kept;
  };
  CUgraphNode fill = addFill(data, 3, 32);
  CUgraphNode left = addCopy(other, data, 128, after({fill}));
  CUgraphNode right = addCopy(third, data, 128, after({fill}));
  CUgraphNode leftAdd = addKernel(add, other, 1, after({left}));
  // Writes what the copies read, and reads what the left branch does not.
  CUgraphNode join = addKernel(add, data, 2, after({leftAdd, right}));
  addCopy(other, data, 128, after({join}));
  ASSERT_EQ(6, edge);
  instantiate();
  cu.cuGraphLaunch(exec, nullptr);
  if (removed == edge)
    return expectClean();
  expectRace("race", "");
}

INSTANTIATE_TEST_SUITE_P(All, RemovedEdge,
                         ::testing::Combine(::testing::Range(0, 7), ::testing::Range(0, 3)));

//===----------------------------------------------------------------------===//
// Programmatic launches
//===----------------------------------------------------------------------===//

class Programmatic : public OrderTest {
protected:
  CUresult launchEarly(CUfunction function, CUstream stream) {
    CUlaunchAttribute attribute = {};
    attribute.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    attribute.value.programmaticStreamSerializationAllowed = 1;
    CUlaunchConfig config = {};
    config.gridDimX = config.gridDimY = config.gridDimZ = 1;
    config.blockDimX = 32;
    config.blockDimY = config.blockDimZ = 1;
    config.hStream = stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    uint32_t amount = 1;
    void *params[] = {&data, &amount};
    return cu.cuLaunchKernelEx(&config, function, params, nullptr);
  }
  /// A kernel and one at a programmatic edge behind it.
  void buildGraph(CUfunction second) {
    CUgraphNode from = addKernel(add, data, 1), to = addKernel(second, data, 1);
    CUgraphEdgeData edge = {};
    edge.from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC;
    edge.type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
    ASSERT_EQ(CUDA_SUCCESS, cu.cuGraphAddDependencies(graph, &from, &to, &edge, 1));
    instantiate();
  }
};

TEST_F(Programmatic, WaitOrders) {
  CUstream stream = createStream();
  ASSERT_EQ(CUDA_SUCCESS, add1(stream, data));
  for (int i = 0; i < 3; ++i)
    ASSERT_EQ(CUDA_SUCCESS, launchEarly(programmatic("patient"), stream));
  ASSERT_EQ(CUDA_SUCCESS, add1(stream, data));
  expectClean();
}

TEST_F(Programmatic, AccessBeforeTheWaitIsFound) {
  CUstream stream = createStream();
  ASSERT_EQ(CUDA_SUCCESS, add1(stream, data));
  launchEarly(programmatic("hasty"), stream);
  expectRace("'hasty'", "'add'");
}

TEST_F(Programmatic, MissingWaitIsFound) {
  CUstream stream = createStream();
  ASSERT_EQ(CUDA_SUCCESS, add1(stream, data));
  launchEarly(add, stream);
  expectRace("'add'", "thread");
}

TEST_F(Programmatic, OnlyDirectlyBehindAKernel) {
  // A fill in between has ended before the kernel starts.
  CUstream stream = createStream();
  ASSERT_EQ(CUDA_SUCCESS, add1(stream, other));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuMemsetD32Async(data, 4, 32, stream));
  ASSERT_EQ(CUDA_SUCCESS, launchEarly(programmatic("hasty"), stream));
  expectClean();
}

TEST_F(Programmatic, EdgeWithWait) {
  buildGraph(programmatic("patient"));
  run();
}

TEST_F(Programmatic, EdgeWithoutWait) {
  buildGraph(programmatic("hasty"));
  cu.cuGraphLaunch(exec, nullptr);
  expectRace("'hasty'", "'add'");
}

} // namespace
} // namespace xc
