//===- GraphFixture.h - Builds small graphs --------------------*- C++ -*--===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PTXSIM_TEST_DRIVER_GRAPHFIXTURE_H
#define PTXSIM_TEST_DRIVER_GRAPHFIXTURE_H

#include "Fixture.h"

namespace xc {

/// A test with a graph, and an executable of it once `instantiate` was called.
class GraphFixture : public DriverTest {
protected:
  using Nodes = std::vector<CUgraphNode>;

  void SetUp() override {
    DriverTest::SetUp();
    ASSERT_EQ(CUDA_SUCCESS, cu.cuGraphCreate(&graph, 0));
  }
  void TearDown() override {
    if (exec) {
      EXPECT_EQ(CUDA_SUCCESS, cu.cuGraphExecDestroy(exec));
    }
    EXPECT_EQ(CUDA_SUCCESS, cu.cuGraphDestroy(graph));
    DriverTest::TearDown();
  }

  /// Parameters of a node that runs kernel(pointer, amount) on 32 threads. They
  /// point into `storage`, which must live until they are used.
  struct Storage {
    CUdeviceptr pointer;
    uint32_t amount;
    void *params[2];
  };
  static CUDA_KERNEL_NODE_PARAMS kernelParams(CUfunction function, CUdeviceptr pointer,
                                              uint32_t amount, Storage &storage) {
    storage = {pointer, amount, {&storage.pointer, &storage.amount}};
    CUDA_KERNEL_NODE_PARAMS params = {};
    params.func = function;
    params.gridDimX = params.gridDimY = params.gridDimZ = 1;
    params.blockDimX = 32;
    params.blockDimY = params.blockDimZ = 1;
    params.kernelParams = storage.params;
    return params;
  }
  CUgraphNode addKernel(CUfunction function, CUdeviceptr pointer, uint32_t amount,
                        Nodes dependencies = {}, CUgraph into = nullptr) {
    Storage storage;
    auto params = kernelParams(function, pointer, amount, storage);
    CUgraphNode node = nullptr;
    EXPECT_EQ(CUDA_SUCCESS, cu.cuGraphAddKernelNode(&node, into ? into : graph, dependencies.data(),
                                                    dependencies.size(), &params));
    return node;
  }
  CUgraphNode addFill(CUdeviceptr pointer, uint32_t value, size_t count, Nodes dependencies = {}) {
    CUDA_MEMSET_NODE_PARAMS params = {pointer, 0, value, 4, count, 1};
    CUgraphNode node = nullptr;
    EXPECT_EQ(CUDA_SUCCESS, cu.cuGraphAddMemsetNode(&node, graph, dependencies.data(),
                                                    dependencies.size(), &params, context));
    return node;
  }
  static CUDA_MEMCPY3D deviceCopy(CUdeviceptr destination, CUdeviceptr source, size_t bytes) {
    CUDA_MEMCPY3D params = {};
    params.srcMemoryType = params.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    params.srcDevice = source;
    params.dstDevice = destination;
    params.WidthInBytes = bytes;
    params.Height = params.Depth = 1;
    return params;
  }
  CUgraphNode addCopy(CUdeviceptr destination, CUdeviceptr source, size_t bytes,
                      Nodes dependencies = {}) {
    CUDA_MEMCPY3D params = deviceCopy(destination, source, bytes);
    CUgraphNode node = nullptr;
    EXPECT_EQ(CUDA_SUCCESS, cu.cuGraphAddMemcpyNode(&node, graph, dependencies.data(),
                                                    dependencies.size(), &params, context));
    return node;
  }
  CUgraphNode addHost(CUhostFn function, void *data, Nodes dependencies = {}) {
    CUDA_HOST_NODE_PARAMS params = {function, data};
    CUgraphNode node = nullptr;
    EXPECT_EQ(CUDA_SUCCESS, cu.cuGraphAddHostNode(&node, graph, dependencies.data(),
                                                  dependencies.size(), &params));
    return node;
  }
  void instantiate() { ASSERT_EQ(CUDA_SUCCESS, cu.cuGraphInstantiate(&exec, graph, 0)); }
  void run() {
    ASSERT_EQ(CUDA_SUCCESS, cu.cuGraphLaunch(exec, nullptr));
    ASSERT_EQ(CUDA_SUCCESS, cu.cuCtxSynchronize()) << report();
  }

  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
};

} // namespace xc

#endif // PTXSIM_TEST_DRIVER_GRAPHFIXTURE_H
