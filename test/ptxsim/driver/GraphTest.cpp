//===- GraphTest.cpp - Construction of graphs, order of execution ---------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GraphFixture.h"

#include <algorithm>
#include <mutex>
#include <set>
#include <thread>

namespace xc {
namespace {

class GraphTest : public GraphFixture {};

TEST_F(GraphTest, EdgesOrderNodes) {
  CUdeviceptr pointer = allocate(128), result = allocate(128);
  CUgraphNode fill = addFill(pointer, 1, 32);
  CUgraphNode add = addKernel(kernel("add"), pointer, 2, {fill});
  CUgraphNode scale = addKernel(kernel("scale"), pointer, 10, {add});
  addCopy(result, pointer, 128, {scale});
  instantiate();
  for (int i = 0; i < 3; ++i) {
    run();
    EXPECT_EQ(std::vector<uint32_t>(32, 30), read(result, 32));
  }
}

TEST_F(GraphTest, EdgesCanBeAddedLater) {
  CUdeviceptr pointer = allocate(128);
  CUgraphNode scale = addKernel(kernel("scale"), pointer, 10);
  CUgraphNode add = addKernel(kernel("add"), pointer, 2);
  CUgraphNode fill = addFill(pointer, 1, 32);
  CUgraphNode from[] = {fill, add}, to[] = {add, scale};
  EXPECT_EQ(CUDA_SUCCESS, cu.cuGraphAddDependencies(graph, from, to, nullptr, 2));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cu.cuGraphAddDependencies(graph, from, to, nullptr, 1))
      << "the edge is there already";
  CUgraphNode roots[4];
  size_t count = 4;
  EXPECT_EQ(CUDA_SUCCESS, cu.cuGraphGetRootNodes(graph, roots, &count));
  ASSERT_EQ(1u, count);
  EXPECT_EQ(fill, roots[0]);
  count = 0;
  EXPECT_EQ(CUDA_SUCCESS, cu.cuGraphGetNodes(graph, nullptr, &count));
  EXPECT_EQ(3u, count);
  instantiate();
  run();
  EXPECT_EQ(std::vector<uint32_t>(32, 30), read(pointer, 32));
}

TEST_F(GraphTest, CyclesAreRefused) {
  CUgraphNode first = nullptr, second = nullptr;
  ASSERT_EQ(CUDA_SUCCESS, cu.cuGraphAddEmptyNode(&first, graph, nullptr, 0));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuGraphAddEmptyNode(&second, graph, &first, 1));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuGraphAddDependencies(graph, &second, &first, nullptr, 1));
  CUDA_GRAPH_INSTANTIATE_PARAMS params = {};
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cu.cuGraphInstantiateWithParams(&exec, graph, &params));
  EXPECT_EQ(CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE, params.result_out);
  EXPECT_EQ(nullptr, exec);
}

TEST_F(GraphTest, ParametersAreCopiedWhenTheNodeIsAdded) {
  CUdeviceptr pointer = allocate(128);
  Storage storage;
  auto params = kernelParams(kernel("add"), pointer, 5, storage);
  CUgraphNode fill = addFill(pointer, 1, 32), node = nullptr;
  ASSERT_EQ(CUDA_SUCCESS, cu.cuGraphAddKernelNode(&node, graph, &fill, 1, &params));
  storage.amount = 99;
  instantiate();
  run();
  EXPECT_EQ(std::vector<uint32_t>(32, 6), read(pointer, 32));
}

TEST_F(GraphTest, BadNodesAreRefused) {
  CUdeviceptr pointer = allocate(128);
  CUgraphNode node = nullptr, stranger = nullptr;
  Storage storage;
  auto params = kernelParams(kernel("add"), pointer, 5, storage);
  params.blockDimX = 2048;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cu.cuGraphAddKernelNode(&node, graph, nullptr, 0, &params));
  CUDA_MEMSET_NODE_PARAMS fill = {pointer, 0, 1, 3, 4, 1};
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE,
            cu.cuGraphAddMemsetNode(&node, graph, nullptr, 0, &fill, context));
  fill = {pointer, 0, 1, 4, 0, 1};
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE,
            cu.cuGraphAddMemsetNode(&node, graph, nullptr, 0, &fill, context));
  CUDA_MEMCPY3D copy = deviceCopy(pointer, pointer + 64, 65);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE,
            cu.cuGraphAddMemcpyNode(&node, graph, nullptr, 0, &copy, context));
  CUgraph other = nullptr;
  ASSERT_EQ(CUDA_SUCCESS, cu.cuGraphCreate(&other, 0));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuGraphAddEmptyNode(&stranger, other, nullptr, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cu.cuGraphAddEmptyNode(&node, graph, &stranger, 1))
      << "a node of another graph";
  ASSERT_EQ(CUDA_SUCCESS, cu.cuGraphDestroy(other));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cu.cuGraphDestroy(other));
  CUgraphNodeType type;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cu.cuGraphNodeGetType(stranger, &type));
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

/// Two host nodes that each wait for the other: they end only if they run at the
/// same time.
TEST_F(GraphTest, IndependentNodesRunConcurrently) {
  struct Meeting {
    std::atomic<int> present{0};
    static void join(void *data) {
      auto *meeting = static_cast<Meeting *>(data);
      for (++meeting->present; meeting->present < 3;)
        std::this_thread::yield();
    }
  } meeting;
  for (int i = 0; i < 3; ++i)
    addHost(&Meeting::join, &meeting);
  instantiate();
  run();
  EXPECT_EQ(3, meeting.present);
}

TEST_F(GraphTest, SeedChoosesAnOrderThatEdgesAllow) {
  struct Trace {
    std::mutex mutex;
    std::vector<int> order;
  } trace;
  struct Mark {
    Trace *trace;
    int id;
    static void put(void *data) {
      auto *mark = static_cast<Mark *>(data);
      std::lock_guard<std::mutex> lock(mark->trace->mutex);
      mark->trace->order.push_back(mark->id);
    }
  };
  std::vector<Mark> marks;
  for (int i = 0; i < 6; ++i)
    marks.push_back({&trace, i});
  CUgraphNode root = addHost(&Mark::put, &marks[0]);
  Nodes middle;
  for (int i = 1; i < 5; ++i)
    middle.push_back(addHost(&Mark::put, &marks[i], {root}));
  addHost(&Mark::put, &marks[5], middle);
  instantiate();
  std::set<std::vector<int>> orders;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    std::vector<int> first;
    for (int repeat = 0; repeat < 2; ++repeat) {
      cu.setGraphSeed(seed);
      trace.order.clear();
      run();
      ASSERT_EQ(6u, trace.order.size());
      EXPECT_EQ(0, trace.order.front());
      EXPECT_EQ(5, trace.order.back());
      if (repeat) {
        EXPECT_EQ(first, trace.order) << "the same seed, the same order";
      }
      first = trace.order;
    }
    orders.insert(first);
  }
  EXPECT_GT(orders.size(), 5u);
}

TEST_F(GraphTest, LaunchesOfOneExecutableDoNotOverlap) {
  CUstream first = createStream(), second = createStream();
  Gate &gate = createGate();
  addHost(Gate::waitFor, &gate);
  instantiate();
  ASSERT_EQ(CUDA_SUCCESS, cu.cuGraphLaunch(exec, first));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuGraphLaunch(exec, second));
  gate.awaitReached();
  EXPECT_EQ(CUDA_ERROR_NOT_READY, cu.cuStreamQuery(second));
  gate.open = true;
  EXPECT_EQ(CUDA_SUCCESS, cu.cuStreamSynchronize(second));
}

//===----------------------------------------------------------------------===//
// Kinds of nodes
//===----------------------------------------------------------------------===//

TEST_F(GraphTest, ChildGraphsAreClones) {
  CUdeviceptr pointer = allocate(128);
  CUgraph child = nullptr;
  ASSERT_EQ(CUDA_SUCCESS, cu.cuGraphCreate(&child, 0));
  CUgraphNode add = addKernel(kernel("add"), pointer, 1, {}, child);
  addKernel(kernel("scale"), pointer, 2, {add}, child);
  CUgraphNode fill = addFill(pointer, 1, 32), first = nullptr, second = nullptr;
  ASSERT_EQ(CUDA_SUCCESS, cu.cuGraphAddChildGraphNode(&first, graph, &fill, 1, child));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuGraphAddChildGraphNode(&second, graph, &first, 1, child));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuGraphDestroy(child));
  CUgraphNodeType type;
  EXPECT_EQ(CUDA_SUCCESS, cu.cuGraphNodeGetType(second, &type));
  EXPECT_EQ(CU_GRAPH_NODE_TYPE_GRAPH, type);
  instantiate();
  run();
  EXPECT_EQ(std::vector<uint32_t>(32, 10), read(pointer, 32));
}

TEST_F(GraphTest, ClonesKnowTheirOrigin) {
  CUdeviceptr pointer = allocate(128);
  CUgraphNode fill = addFill(pointer, 4, 32);
  CUgraph clone = nullptr;
  ASSERT_EQ(CUDA_SUCCESS, cu.cuGraphClone(&clone, graph));
  CUgraphNode twin = nullptr;
  EXPECT_EQ(CUDA_SUCCESS, cu.cuGraphNodeFindInClone(&twin, fill, clone));
  EXPECT_NE(fill, twin);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cu.cuGraphNodeFindInClone(&twin, twin, clone));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuGraphInstantiate(&exec, clone, 0));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuGraphDestroy(clone));
  run();
  EXPECT_EQ(std::vector<uint32_t>(32, 4), read(pointer, 32));
}

TEST_F(GraphTest, EventNodes) {
  CUstream stream = createStream(), other = createStream();
  CUevent before = createEvent(), after = createEvent();
  Gate &gate = createGate();
  CUgraphNode wait = nullptr, host = nullptr, record = nullptr;
  ASSERT_EQ(CUDA_SUCCESS, cu.cuGraphAddEventWaitNode(&wait, graph, nullptr, 0, before));
  std::atomic<int> runs{0};
  host = addHost([](void *data) { ++*static_cast<std::atomic<int> *>(data); }, &runs, {wait});
  ASSERT_EQ(CUDA_SUCCESS, cu.cuGraphAddEventRecordNode(&record, graph, &host, 1, after));
  instantiate();
  ASSERT_EQ(CUDA_SUCCESS, cu.cuLaunchHostFunc(other, Gate::waitFor, &gate));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuEventRecord(before, other));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuGraphLaunch(exec, stream));
  EXPECT_EQ(CUDA_ERROR_NOT_READY, cu.cuEventQuery(after));
  EXPECT_EQ(0, runs);
  gate.open = true;
  EXPECT_EQ(CUDA_SUCCESS, cu.cuEventSynchronize(after));
  EXPECT_EQ(1, runs);
}

TEST_F(GraphTest, FaultInAGraphLosesTheContextAndHangsNobody) {
  CUdeviceptr pointer = allocate(128);
  CUevent event = createEvent();
  CUgraphNode bad = addKernel(kernel("add"), pointer + 64, 1), record = nullptr;
  ASSERT_EQ(CUDA_SUCCESS, cu.cuGraphAddEventRecordNode(&record, graph, &bad, 1, event));
  instantiate();
  expectLost = true;
  Gate &gate = createGate();
  ASSERT_EQ(CUDA_SUCCESS, cu.cuLaunchHostFunc(nullptr, Gate::waitFor, &gate));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuGraphLaunch(exec, nullptr));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuGraphLaunch(exec, nullptr));
  gate.open = true;
  EXPECT_NE(CUDA_SUCCESS, cu.cuEventSynchronize(event));
  EXPECT_NE(CUDA_SUCCESS, cu.cuCtxSynchronize());
}

//===----------------------------------------------------------------------===//
// Conditional nodes
//===----------------------------------------------------------------------===//

class ConditionalTest : public GraphFixture {
protected:
  void SetUp() override {
    GraphFixture::SetUp();
    char log[512] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, reinterpret_cast<void *>(sizeof(log))};
    ASSERT_EQ(CUDA_SUCCESS, cu.cuModuleLoadDataEx(&module_, kConditionKernels, 2, options, values))
        << log;
    ASSERT_EQ(CUDA_SUCCESS, cu.cuModuleGetFunction(&decrement, module_, "decrement"));
  }
  void TearDown() override {
    EXPECT_EQ(CUDA_SUCCESS, cu.cuModuleUnload(module_));
    GraphFixture::TearDown();
  }
  CUgraphConditionalHandle createHandle(unsigned value, unsigned flags, CUgraph into = nullptr) {
    CUgraphConditionalHandle handle = 0;
    EXPECT_EQ(CUDA_SUCCESS, cu.cuGraphConditionalHandleCreate(&handle, into ? into : graph, context,
                                                              value, flags));
    return handle;
  }
  CUgraph addConditional(CUgraphConditionalHandle handle, CUgraphConditionalNodeType type,
                         Nodes dependencies, CUresult expected = CUDA_SUCCESS,
                         CUgraph into = nullptr, CUgraphNode *out = nullptr) {
    CUgraphNodeParams params = {};
    params.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
    params.conditional.handle = handle;
    params.conditional.type = type;
    params.conditional.size = 1;
    params.conditional.ctx = context;
    CUgraphNode node = nullptr;
    EXPECT_EQ(expected, cu.cuGraphAddNode(&node, into ? into : graph, dependencies.data(), nullptr,
                                          dependencies.size(), &params));
    if (out)
      *out = node;
    return expected == CUDA_SUCCESS ? params.conditional.phGraph_out[0] : nullptr;
  }
  /// Adds a node that counts `pointer` down and makes the condition follow it.
  void addDecrement(CUgraph into, CUdeviceptr pointer, CUgraphConditionalHandle handle) {
    void *args[] = {&pointer, &handle};
    CUDA_KERNEL_NODE_PARAMS params = {};
    params.func = decrement;
    params.gridDimX = params.gridDimY = params.gridDimZ = 1;
    params.blockDimX = params.blockDimY = params.blockDimZ = 1;
    params.kernelParams = args;
    CUgraphNode node = nullptr;
    EXPECT_EQ(CUDA_SUCCESS, cu.cuGraphAddKernelNode(&node, into, nullptr, 0, &params));
  }
  CUfunction decrement = nullptr;

private:
  CUmodule module_ = nullptr;
};

TEST_F(ConditionalTest, WhileRunsUntilTheKernelSaysStop) {
  CUdeviceptr counter = allocate(4), sum = allocate(128);
  CUgraphNode start = addFill(counter, 5, 1);
  CUgraphNode clear = addFill(sum, 0, 32, {start});
  CUgraphConditionalHandle handle = createHandle(1, CU_GRAPH_COND_ASSIGN_DEFAULT);
  CUgraph body = addConditional(handle, CU_GRAPH_COND_TYPE_WHILE, {clear});
  addDecrement(body, counter, handle);
  addKernel(kernel("add"), sum, 3, {}, body);
  instantiate();
  for (int i = 0; i < 2; ++i) {
    run();
    EXPECT_EQ(std::vector<uint32_t>{0}, read(counter, 1));
    EXPECT_EQ(std::vector<uint32_t>(32, 15), read(sum, 32));
  }
}

TEST_F(ConditionalTest, IfRunsOnceOrNotAtAll) {
  CUdeviceptr counter = allocate(4), sum = allocate(128);
  CUgraphNode clear = addFill(sum, 0, 32);
  CUgraphConditionalHandle handle = createHandle(7, CU_GRAPH_COND_ASSIGN_DEFAULT);
  CUgraphConditionalHandle never = createHandle(0, CU_GRAPH_COND_ASSIGN_DEFAULT);
  CUgraph taken = addConditional(handle, CU_GRAPH_COND_TYPE_IF, {clear});
  CUgraph skipped = addConditional(never, CU_GRAPH_COND_TYPE_IF, {clear});
  addKernel(kernel("add"), sum, 1, {}, taken);
  addKernel(kernel("add"), counter, 1, {}, skipped);
  instantiate();
  run();
  EXPECT_EQ(std::vector<uint32_t>(32, 1), read(sum, 32));
}

TEST_F(ConditionalTest, HandlesAreUsedExactlyOnce) {
  CUgraphConditionalHandle handle = createHandle(0, 0);
  CUDA_GRAPH_INSTANTIATE_PARAMS params = {};
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cu.cuGraphInstantiateWithParams(&exec, graph, &params));
  EXPECT_EQ(CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED, params.result_out);
  addConditional(handle, CU_GRAPH_COND_TYPE_IF, {});
  addConditional(handle, CU_GRAPH_COND_TYPE_IF, {}, CUDA_ERROR_INVALID_VALUE);
  addConditional(handle + 100, CU_GRAPH_COND_TYPE_IF, {}, CUDA_ERROR_INVALID_VALUE);
  instantiate();
  run();
}

TEST_F(ConditionalTest, BodiesHoldDeviceWorkOnly) {
  CUgraphConditionalHandle handle = createHandle(1, CU_GRAPH_COND_ASSIGN_DEFAULT);
  CUgraph body = addConditional(handle, CU_GRAPH_COND_TYPE_IF, {});
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cu.cuGraphDestroy(body));
  CUDA_HOST_NODE_PARAMS host = {[](void *) {}, nullptr};
  CUgraphNode node = nullptr;
  ASSERT_EQ(CUDA_SUCCESS, cu.cuGraphAddHostNode(&node, body, nullptr, 0, &host));
  CUDA_GRAPH_INSTANTIATE_PARAMS params = {};
  EXPECT_EQ(CUDA_ERROR_NOT_SUPPORTED, cu.cuGraphInstantiateWithParams(&exec, graph, &params));
  EXPECT_EQ(CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED, params.result_out);
  EXPECT_EQ(node, params.hErrNode_out);
}

// Seen to hang an H200 with driver 580.159; what is ordered, or less deep, runs there.
TEST_F(ConditionalTest, NodesSideBySideDeepInsideAreRefused) {
  constexpr auto kIf = CU_GRAPH_COND_TYPE_IF;
  CUgraph outer = addConditional(createHandle(1, CU_GRAPH_COND_ASSIGN_DEFAULT), kIf, {});
  auto add = [&](CUgraph into, Nodes dependencies, CUgraphNode *out = nullptr) {
    CUgraphConditionalHandle handle = createHandle(1, CU_GRAPH_COND_ASSIGN_DEFAULT, into);
    return addConditional(handle, kIf, dependencies, CUDA_SUCCESS, into, out);
  };
  CUgraph inner = add(outer, {});
  add(outer, {});
  CUgraphNode first = nullptr, second = nullptr;
  add(inner, {}, &first);
  add(inner, {first}, &second);
  instantiate();
  run();
  EXPECT_EQ(CUDA_SUCCESS, cu.cuGraphExecDestroy(exec));
  exec = nullptr;
  add(inner, {first});
  CUDA_GRAPH_INSTANTIATE_PARAMS params = {};
  EXPECT_EQ(CUDA_ERROR_NOT_SUPPORTED, cu.cuGraphInstantiateWithParams(&exec, graph, &params));
  EXPECT_EQ(CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED, params.result_out);
  EXPECT_NE(std::string::npos, report().find("side by side in a body 2 conditional nodes deep"));
}

} // namespace
} // namespace xc
