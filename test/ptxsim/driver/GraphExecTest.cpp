//===- GraphExecTest.cpp - Changes of executable graphs -------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GraphFixture.h"

namespace xc {
namespace {

class GraphExecTest : public GraphFixture {
protected:
  CUresult setKernel(CUgraphNode node, CUfunction function, CUdeviceptr pointer, uint32_t amount) {
    Storage storage;
    auto params = kernelParams(function, pointer, amount, storage);
    return cu.cuGraphExecKernelNodeSetParams(exec, node, &params);
  }
};

TEST_F(GraphExecTest, KernelNodesTakeNewParametersAndFunctions) {
  CUdeviceptr first = allocate(128), second = allocate(128);
  ASSERT_EQ(CUDA_SUCCESS, cu.cuMemsetD32(first, 10, 32));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuMemsetD32(second, 20, 32));
  CUgraphNode node = addKernel(kernel("add"), first, 1);
  instantiate();
  ASSERT_EQ(CUDA_SUCCESS, setKernel(node, kernel("add"), second, 2));
  run();
  EXPECT_EQ(std::vector<uint32_t>(32, 10), read(first, 32));
  EXPECT_EQ(std::vector<uint32_t>(32, 22), read(second, 32));
  ASSERT_EQ(CUDA_SUCCESS, setKernel(node, kernel("scale"), first, 3));
  run();
  EXPECT_EQ(std::vector<uint32_t>(32, 30), read(first, 32));
}

TEST_F(GraphExecTest, FunctionOfAnotherContextIsRefused) {
  CUdeviceptr pointer = allocate(128);
  CUgraphNode node = addKernel(kernel("add"), pointer, 1);
  instantiate();
  auto *create = cu.get<CUresult(CUcontext *, unsigned, CUdevice)>("cuCtxCreate_v2");
  auto *destroy = cu.get<CUresult(CUcontext)>("cuCtxDestroy_v2");
  CUcontext other = nullptr;
  CUmodule module = nullptr;
  CUfunction add = nullptr;
  ASSERT_EQ(CUDA_SUCCESS, create(&other, 0, 0));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuModuleLoadDataEx(&module, kKernels, 0, nullptr, nullptr));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuModuleGetFunction(&add, module, "add"));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuCtxPushCurrent(context));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, setKernel(node, add, pointer, 1));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuCtxPopCurrent(nullptr));
  EXPECT_EQ(CUDA_SUCCESS, cu.cuModuleUnload(module));
  EXPECT_EQ(CUDA_SUCCESS, destroy(other));
}

TEST_F(GraphExecTest, ChangesAffectLaterLaunchesOnly) {
  CUdeviceptr first = allocate(128), second = allocate(128);
  ASSERT_EQ(CUDA_SUCCESS, cu.cuMemsetD32(first, 0, 32));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuMemsetD32(second, 0, 32));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuCtxSynchronize());
  Gate &gate = createGate();
  CUgraphNode host = addHost(Gate::waitFor, &gate);
  CUgraphNode node = addKernel(kernel("add"), first, 1, {host});
  instantiate();
  CUstream stream = createStream();
  ASSERT_EQ(CUDA_SUCCESS, cu.cuGraphLaunch(exec, stream));
  gate.awaitReached();
  ASSERT_EQ(CUDA_SUCCESS, setKernel(node, kernel("add"), second, 5));
  gate.open = true;
  ASSERT_EQ(CUDA_SUCCESS, cu.cuStreamSynchronize(stream));
  EXPECT_EQ(std::vector<uint32_t>(32, 1), read(first, 32));
  EXPECT_EQ(std::vector<uint32_t>(32, 0), read(second, 32));
  run();
  EXPECT_EQ(std::vector<uint32_t>(32, 1), read(first, 32));
  EXPECT_EQ(std::vector<uint32_t>(32, 5), read(second, 32));
}

TEST_F(GraphExecTest, FillsAndCopiesChangeWithinTheDriversLimits) {
  CUdeviceptr first = allocate(128), second = allocate(128);
  void *pinned = nullptr;
  ASSERT_EQ(CUDA_SUCCESS, cu.cuMemHostAlloc(&pinned, 128, 0));
  CUgraphNode fill = addFill(first, 1, 32);
  CUgraphNode copy = addCopy(second, first, 128, {fill});
  instantiate();
  CUDA_MEMSET_NODE_PARAMS params = {first, 0, 9, 4, 16, 1};
  EXPECT_EQ(CUDA_SUCCESS, cu.cuGraphExecMemsetNodeSetParams(exec, fill, &params, context));
  CUDA_MEMSET_NODE_PARAMS empty = {first, 0, 9, 4, 0, 1};
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE,
            cu.cuGraphExecMemsetNodeSetParams(exec, fill, &empty, context));
  CUDA_MEMSET_NODE_PARAMS flat = {first, 32, 9, 4, 4, 2};
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cu.cuGraphExecMemsetNodeSetParams(exec, fill, &flat, context))
      << "two-dimensional";
  CUDA_MEMCPY3D moved = deviceCopy(second + 64, first, 64);
  EXPECT_EQ(CUDA_SUCCESS, cu.cuGraphExecMemcpyNodeSetParams(exec, copy, &moved, context));
  CUDA_MEMCPY3D toHost = moved;
  toHost.dstMemoryType = CU_MEMORYTYPE_HOST;
  toHost.dstHost = pinned;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE,
            cu.cuGraphExecMemcpyNodeSetParams(exec, copy, &toHost, context))
      << "another direction";
  moved.WidthInBytes = 16;
  moved.Height = 2;
  moved.srcPitch = moved.dstPitch = 32;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE,
            cu.cuGraphExecMemcpyNodeSetParams(exec, copy, &moved, context));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE,
            cu.cuGraphExecMemcpyNodeSetParams(exec, fill, &moved, context))
      << "not a copy";
  ASSERT_EQ(CUDA_SUCCESS, cu.cuMemsetD32(first, 3, 32));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuMemsetD32(second, 4, 32));
  run();
  EXPECT_EQ((std::vector<uint32_t>{9, 3}), read(first + 60, 2));
  EXPECT_EQ((std::vector<uint32_t>{4, 9}), read(second + 60, 2));
  EXPECT_EQ(CUDA_SUCCESS, cu.cuMemFreeHost(pinned));
}

TEST_F(GraphExecTest, DisabledNodesDoNothingButKeepTheirPlace) {
  CUdeviceptr pointer = allocate(128);
  CUgraphNode fill = addFill(pointer, 1, 32);
  CUgraphNode add = addKernel(kernel("add"), pointer, 2, {fill});
  addKernel(kernel("scale"), pointer, 10, {add});
  CUgraphNode empty = nullptr;
  ASSERT_EQ(CUDA_SUCCESS, cu.cuGraphAddEmptyNode(&empty, graph, nullptr, 0));
  instantiate();
  unsigned enabled = 7;
  EXPECT_EQ(CUDA_SUCCESS, cu.cuGraphNodeSetEnabled(exec, add, 0));
  EXPECT_EQ(CUDA_SUCCESS, cu.cuGraphNodeGetEnabled(exec, add, &enabled));
  EXPECT_EQ(0u, enabled);
  run();
  EXPECT_EQ(std::vector<uint32_t>(32, 10), read(pointer, 32));
  EXPECT_EQ(CUDA_SUCCESS, cu.cuGraphNodeSetEnabled(exec, add, 1));
  run();
  EXPECT_EQ(std::vector<uint32_t>(32, 30), read(pointer, 32));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cu.cuGraphNodeSetEnabled(exec, empty, 0));
}

TEST_F(GraphExecTest, HostNodesChangeFreely) {
  int calls = 0;
  CUgraphNode node = addHost([](void *) {}, nullptr);
  instantiate();
  CUDA_HOST_NODE_PARAMS params = {[](void *data) { ++*static_cast<int *>(data); }, &calls};
  EXPECT_EQ(CUDA_SUCCESS, cu.cuGraphExecHostNodeSetParams(exec, node, &params));
  run();
  EXPECT_EQ(1, calls);
}

TEST_F(GraphExecTest, NodeMustStillBeInItsGraph) {
  CUdeviceptr pointer = allocate(128);
  CUgraph other = nullptr;
  ASSERT_EQ(CUDA_SUCCESS, cu.cuGraphClone(&other, graph));
  CUgraphNode stranger = addKernel(kernel("add"), pointer, 1, {}, other);
  CUgraphNode node = addKernel(kernel("add"), pointer, 1);
  instantiate();
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, setKernel(stranger, kernel("add"), pointer, 1));
  auto *destroyNode = cu.get<CUresult(CUgraphNode)>("cuGraphDestroyNode");
  EXPECT_EQ(CUDA_SUCCESS, destroyNode(node));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, setKernel(node, kernel("add"), pointer, 1));
  EXPECT_EQ(CUDA_SUCCESS, cu.cuGraphDestroy(other));
}

//===----------------------------------------------------------------------===//
// Updates from whole graphs
//===----------------------------------------------------------------------===//

class GraphUpdateTest : public GraphExecTest {
protected:
  void TearDown() override {
    EXPECT_EQ(CUDA_SUCCESS, cu.cuGraphDestroy(graph));
    graph = original;
    GraphExecTest::TearDown();
  }
  /// From here on nodes are added to a second graph.
  void startSecond() {
    instantiate();
    original = graph;
    ASSERT_EQ(CUDA_SUCCESS, cu.cuGraphCreate(&graph, 0));
  }
  CUresult update() { return cu.cuGraphExecUpdate(exec, graph, &info); }

  CUgraph original = nullptr;
  CUgraphExecUpdateResultInfo info = {};
};

TEST_F(GraphUpdateTest, SameShapeTakesOverParameters) {
  CUdeviceptr pointer = allocate(128);
  addKernel(kernel("add"), pointer, 2, {addFill(pointer, 1, 32)});
  startSecond();
  addKernel(kernel("scale"), pointer, 7, {addFill(pointer, 3, 32)});
  ASSERT_EQ(CUDA_SUCCESS, update());
  EXPECT_EQ(CU_GRAPH_EXEC_UPDATE_SUCCESS, info.result);
  run();
  EXPECT_EQ(std::vector<uint32_t>(32, 21), read(pointer, 32));
}

TEST_F(GraphUpdateTest, OtherShapeIsRefusedAndChangesNothing) {
  CUdeviceptr pointer = allocate(128);
  addKernel(kernel("add"), pointer, 2, {addFill(pointer, 1, 32)});
  startSecond();
  CUgraphNode fill = addFill(pointer, 5, 32);
  CUgraphNode loose = addKernel(kernel("add"), pointer, 7);
  EXPECT_EQ(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, update());
  EXPECT_EQ(CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, info.result);
  EXPECT_EQ(loose, info.errorNode);
  addFill(pointer, 5, 32, {fill});
  EXPECT_EQ(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, update());
  EXPECT_EQ(CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, info.result);
  run();
  EXPECT_EQ(std::vector<uint32_t>(32, 3), read(pointer, 32));
}

TEST_F(GraphUpdateTest, OtherKindOfNodeIsNamed) {
  CUdeviceptr pointer = allocate(128);
  addFill(pointer, 1, 32);
  startSecond();
  CUgraphNode node = addKernel(kernel("add"), pointer, 7);
  EXPECT_EQ(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, update());
  EXPECT_EQ(CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED, info.result);
  EXPECT_EQ(node, info.errorNode);
}

TEST_F(GraphUpdateTest, ClusterDimensionsStayAsInstantiated) {
  CUgraphNode node = nullptr;
  CUDA_KERNEL_NODE_PARAMS params = {};
  params.func = kernel("bounded");
  params.gridDimX = 8;
  params.gridDimY = params.gridDimZ = 1;
  params.blockDimX = 32;
  params.blockDimY = params.blockDimZ = 1;
  CUlaunchAttributeValue value = {};
  value.clusterDim = {2, 1, 1};
  ASSERT_EQ(CUDA_SUCCESS, cu.cuGraphAddKernelNode(&node, graph, nullptr, 0, &params));
  ASSERT_EQ(CUDA_SUCCESS,
            cu.cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &value));
  value.clusterDim = {3, 1, 1};
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE,
            cu.cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &value))
      << "does not divide the grid";
  ASSERT_EQ(CUDA_SUCCESS,
            cu.cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &value));
  EXPECT_EQ(2u, value.clusterDim.x);
  startSecond();
  ASSERT_EQ(CUDA_SUCCESS, cu.cuGraphAddKernelNode(&node, graph, nullptr, 0, &params));
  EXPECT_EQ(CUDA_SUCCESS, update()) << "accepted, without effect on the cluster";
  // A change of parameters is checked against the cluster that is still there.
  CUgraphNode first = nullptr;
  size_t count = 1;
  ASSERT_EQ(CUDA_SUCCESS, cu.cuGraphGetNodes(original, &first, &count));
  params.gridDimX = 9;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cu.cuGraphExecKernelNodeSetParams(exec, first, &params));
}

TEST_F(GraphExecTest, ChildGraphsTakeNewParameters) {
  CUdeviceptr pointer = allocate(128);
  CUgraph child = nullptr, other = nullptr;
  ASSERT_EQ(CUDA_SUCCESS, cu.cuGraphCreate(&child, 0));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuGraphCreate(&other, 0));
  addKernel(kernel("add"), pointer, 1, {}, child);
  addKernel(kernel("scale"), pointer, 5, {}, other);
  CUgraphNode node = nullptr, fill = addFill(pointer, 2, 32);
  ASSERT_EQ(CUDA_SUCCESS, cu.cuGraphAddChildGraphNode(&node, graph, &fill, 1, child));
  instantiate();
  EXPECT_EQ(CUDA_SUCCESS, cu.cuGraphExecChildGraphNodeSetParams(exec, node, other));
  run();
  EXPECT_EQ(std::vector<uint32_t>(32, 10), read(pointer, 32));
  // A node inside the child graph can be changed by itself.
  auto *getGraph = cu.get<CUresult(CUgraphNode, CUgraph *)>("cuGraphChildGraphNodeGetGraph");
  CUgraph embedded = nullptr;
  ASSERT_EQ(CUDA_SUCCESS, getGraph(node, &embedded));
  CUgraphNode inner = nullptr;
  size_t count = 1;
  ASSERT_EQ(CUDA_SUCCESS, cu.cuGraphGetNodes(embedded, &inner, &count));
  EXPECT_EQ(CUDA_SUCCESS, setKernel(inner, kernel("add"), pointer, 40));
  run();
  EXPECT_EQ(std::vector<uint32_t>(32, 42), read(pointer, 32));
  addKernel(kernel("scale"), pointer, 5, {}, other);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cu.cuGraphExecChildGraphNodeSetParams(exec, node, other));
  EXPECT_EQ(CUDA_SUCCESS, cu.cuGraphDestroy(child));
  EXPECT_EQ(CUDA_SUCCESS, cu.cuGraphDestroy(other));
}

} // namespace
} // namespace xc
