//===- FaultTest.cpp - Faults on demand, counts, leaks --------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fixture.h"

#include <cstdio>
#include <cstdlib>

namespace xc {
namespace {

class FaultTest : public DriverTest {
protected:
  std::string leaks() {
    std::string text(cu.leakReport(nullptr, 0) + 1, 0);
    cu.leakReport(&text[0], text.size());
    text.pop_back();
    return text;
  }
};

TEST_F(FaultTest, TheNthCallFails) {
  ASSERT_EQ(CUDA_SUCCESS, cu.setFault("cuMemAlloc", 2, CUDA_ERROR_OUT_OF_MEMORY, 0));
  allocate(16);
  CUdeviceptr pointer = 42;
  EXPECT_EQ(CUDA_ERROR_OUT_OF_MEMORY, cu.cuMemAlloc(&pointer, 16));
  EXPECT_EQ(42u, pointer) << "the call has no effect";
  EXPECT_EQ(1u, cu.faultsFired());
  allocate(16);
}

TEST_F(FaultTest, EveryCallFromTheNthOn) {
  ASSERT_EQ(CUDA_SUCCESS,
            cu.setFault("cuEventCreate_v2", 1, CUDA_ERROR_OPERATING_SYSTEM, PTXSIM_FAULT_REPEAT));
  CUevent event = nullptr;
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(CUDA_ERROR_OPERATING_SYSTEM, cu.cuEventCreate(&event, 0));
  EXPECT_EQ(3u, cu.faultsFired());
  cu.clearFaults();
  createEvent();
}

TEST_F(FaultTest, AnyCallCanFailButNotTheLookUpOfErrors) {
  ASSERT_EQ(CUDA_SUCCESS, cu.setFault("*", 2, CUDA_ERROR_UNKNOWN, 0));
  size_t free = 0, total = 0;
  int version = 0;
  const char *name = nullptr;
  EXPECT_EQ(CUDA_SUCCESS, cu.cuMemGetInfo(&free, &total));
  EXPECT_EQ(CUDA_SUCCESS, cu.cuGetErrorName(CUDA_ERROR_UNKNOWN, &name));
  EXPECT_EQ(CUDA_ERROR_UNKNOWN, cu.cuDriverGetVersion(&version));
  EXPECT_EQ(CUDA_SUCCESS, cu.cuDriverGetVersion(&version));
}

TEST_F(FaultTest, ReleasingCallsReleaseAllTheSame) {
  CUdeviceptr pointer = 0;
  ASSERT_EQ(CUDA_SUCCESS, cu.cuMemAlloc(&pointer, 16));
  ASSERT_EQ(CUDA_SUCCESS, cu.setFault("cuMemFree", 1, CUDA_ERROR_UNKNOWN, 0));
  EXPECT_EQ(CUDA_ERROR_UNKNOWN, cu.cuMemFree(pointer));
  PtxsimLive live;
  cu.getLive(&live);
  EXPECT_EQ(0u, live.deviceAllocations);
}

TEST_F(FaultTest, StickyFaultLosesTheContext) {
  ASSERT_EQ(CUDA_SUCCESS, cu.setFault("cuStreamSynchronize", 1, CUDA_ERROR_ILLEGAL_ADDRESS, 0));
  expectLost = true;
  EXPECT_EQ(CUDA_ERROR_ILLEGAL_ADDRESS, cu.cuStreamSynchronize(nullptr));
  CUdeviceptr pointer = 0;
  EXPECT_EQ(CUDA_ERROR_ILLEGAL_ADDRESS, cu.cuMemAlloc(&pointer, 16));
}

TEST_F(FaultTest, BadFaultsAreRefused) {
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cu.setFault("cuInit", 0, 1, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cu.setFault("cuInit", 1, 0, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cu.setFault("", 1, 1, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cu.setFault("cuInit", 1, 1, 8));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cu.setFault("cuMemAlloca", 1, 1, 0));
  EXPECT_NE(std::string::npos, report().find("unknown driver function 'cuMemAlloca'")) << report();
  EXPECT_NE(std::string::npos, report().find("cuMemAlloc, cuMemFree")) << report();
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cu.setFault("cuMemAlloc", 1, 4711, 0));
  EXPECT_NE(std::string::npos, report().find("'4711' is no CUresult")) << report();
  EXPECT_NE(std::string::npos, report().find("CUDA_ERROR_OUT_OF_MEMORY (2)")) << report();
}

TEST_F(FaultTest, EveryFunctionOfTheRuntimeCanBeNamed) {
#define XCR_CUDA_SYMBOL(name, symbol, params)                                                      \
  EXPECT_EQ(CUDA_SUCCESS, cu.setFault(#symbol, 1000, CUDA_ERROR_UNKNOWN, 0));
#include "driver_symbols.inl"
}

TEST_F(FaultTest, TheLatestFaultTellsItsFunction) {
  auto last = [&] {
    char name[64];
    cu.lastFault(name, sizeof(name));
    return std::string(name);
  };
  EXPECT_EQ("", last());
  ASSERT_EQ(CUDA_SUCCESS, cu.setFault("*", 2, CUDA_ERROR_UNKNOWN, 0));
  allocate(16);
  EXPECT_EQ("", last());
  CUdeviceptr pointer = 0;
  EXPECT_EQ(CUDA_ERROR_UNKNOWN, cu.cuMemAlloc(&pointer, 16));
  EXPECT_EQ("cuMemAlloc", last());
}

TEST_F(FaultTest, FaultsOfTheEnvironment) {
  EXPECT_EQ(CUDA_SUCCESS, cu.cuDevicePrimaryCtxRelease(0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cu.configure("fault=cuMemAlloc"));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cu.configure("fault=cuMemAlloc:x=2"));
  auto refused = [&](const char *settings, const char *sentence) {
    EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cu.configure(settings));
    EXPECT_NE(std::string::npos, report().find(sentence)) << report();
    EXPECT_EQ(CUDA_ERROR_SYSTEM_NOT_READY, cu.cuInit(0));
  };
  refused("fault=cuMemAlloc:-1=2", "expected FUNCTION:N=RESULT with N above 0");
  refused("fault=cuMemAllok:1=2", "setting 'fault': unknown driver function 'cuMemAllok'");
  refused("fault=cuMemAlloc:1=0", "'0' is no CUresult that a call can fail with");
  refused("fault=cuMemAlloc:1=CUDA_ERROR_OUT_OF_LUCK", "expected one of CUDA_ERROR_INVALID_VALUE");
  start("fault=cuMemAlloc:1=CUDA_ERROR_OUT_OF_MEMORY,cuEventCreate:2=999");
  CUdeviceptr pointer = 0;
  EXPECT_EQ(CUDA_ERROR_OUT_OF_MEMORY, cu.cuMemAlloc(&pointer, 16));
  createEvent();
  CUevent event = nullptr;
  EXPECT_EQ(CUDA_ERROR_UNKNOWN, cu.cuEventCreate(&event, 0));
}

TEST_F(FaultTest, LargeAllocationsFail) {
  const size_t most = 2 << 20; // a granule of virtual memory
  cu.setMaxAllocation(most);
  CUdeviceptr pointer = 0;
  void *host = nullptr;
  EXPECT_EQ(CUDA_ERROR_OUT_OF_MEMORY, cu.cuMemAlloc(&pointer, most + 1));
  EXPECT_EQ(CUDA_ERROR_OUT_OF_MEMORY, cu.cuMemAllocAsync(&pointer, most + 1, nullptr));
  auto allocateManaged = cu.get<CUresult(CUdeviceptr *, size_t, unsigned)>("cuMemAllocManaged");
  EXPECT_EQ(CUDA_ERROR_OUT_OF_MEMORY, allocateManaged(&pointer, most + 1, CU_MEM_ATTACH_GLOBAL));
  EXPECT_EQ(CUDA_ERROR_OUT_OF_MEMORY, cu.cuMemHostAlloc(&host, most + 1, 0));
  std::vector<char> pageable(most + 1);
  EXPECT_EQ(CUDA_ERROR_OUT_OF_MEMORY, cu.cuMemHostRegister(pageable.data(), most + 1, 0));
  CUmemAllocationProp properties = {};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  CUmemGenericAllocationHandle handle = 0;
  EXPECT_EQ(CUDA_ERROR_OUT_OF_MEMORY, cu.cuMemCreate(&handle, 2 * most, &properties, 0));
  EXPECT_EQ(CUDA_SUCCESS, cu.cuMemCreate(&handle, most, &properties, 0));
  EXPECT_EQ(CUDA_SUCCESS, cu.cuMemRelease(handle));
  EXPECT_EQ(CUDA_SUCCESS, cu.cuMemHostAlloc(&host, most, 0));
  EXPECT_EQ(CUDA_SUCCESS, cu.cuMemFreeHost(host));
  allocate(most);
}

TEST_F(FaultTest, UnknownVariablesAreRefused) {
  EXPECT_EQ(CUDA_SUCCESS, cu.cuDevicePrimaryCtxRelease(0));
  setenv("PTXSIM_ARK", "sm_80", 1);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cu.configure(""));
  unsetenv("PTXSIM_ARK");
  EXPECT_EQ(CUDA_ERROR_SYSTEM_NOT_READY, cu.cuInit(0));
  EXPECT_NE(std::string::npos,
            report().find("unknown variable 'PTXSIM_ARK', expected one of PTXSIM_ARCH, "))
      << report();
  start("");
}

//===----------------------------------------------------------------------===//
// Counts and leaks
//===----------------------------------------------------------------------===//

TEST_F(FaultTest, CallsAreCounted) {
  cu.resetCallCounts();
  allocate(16);
  allocate(16);
  createStream();
  EXPECT_EQ(2u, cu.callCount("cuMemAlloc"));
  EXPECT_EQ(2u, cu.callCount("cuMemAlloc_v2"));
  EXPECT_EQ(0u, cu.callCount("cuMemFree"));
  EXPECT_EQ(3u, cu.callCount(nullptr));
}

TEST_F(FaultTest, LiveObjectsAreReported) {
  PtxsimLive live;
  CUdeviceptr pointer = 0;
  CUevent event = nullptr;
  CUgraph graph = nullptr;
  ASSERT_EQ(CUDA_SUCCESS, cu.cuMemAlloc(&pointer, 1000));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuEventCreate(&event, 0));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuGraphCreate(&graph, 0));
  cu.getLive(&live);
  EXPECT_EQ(1u, live.contexts);
  EXPECT_EQ(1u, live.events);
  EXPECT_EQ(1u, live.graphs);
  EXPECT_EQ(1u, live.deviceAllocations);
  EXPECT_EQ(1000u, live.deviceBytes);
  EXPECT_EQ(0u, live.streams);
  EXPECT_NE(std::string::npos, leaks().find("1 device allocations, 1000 bytes")) << leaks();
  EXPECT_EQ(CUDA_SUCCESS, cu.cuMemFree(pointer));
  EXPECT_EQ(CUDA_SUCCESS, cu.cuEventDestroy(event));
  EXPECT_EQ(CUDA_SUCCESS, cu.cuGraphDestroy(graph));
}

TEST_F(FaultTest, WhatAContextTakesWithItIsALeak) {
  CUdeviceptr pointer = 0;
  CUstream stream = nullptr;
  ASSERT_EQ(CUDA_SUCCESS, cu.cuMemAlloc(&pointer, 16));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuStreamCreateWithPriority(&stream, 0, 0));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuDevicePrimaryCtxRelease(0));
  PtxsimLive live;
  cu.getLive(&live);
  EXPECT_EQ(0u, live.contexts);
  EXPECT_EQ(0u, live.deviceAllocations);
  EXPECT_EQ(0u, live.streams);
  EXPECT_EQ(2u, live.abandoned);
  start("");
}

TEST_F(FaultTest, LeaksAndReportsAtExit) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  auto leave = [&](const char *settings) {
    start(settings);
    CUdeviceptr pointer = 0;
    cu.cuMemAlloc(&pointer, 12345);
    exit(0);
  };
  EXPECT_EXIT(leave("leaks=1"), ::testing::ExitedWithCode(0),
              "live objects at exit:\n  1 contexts\n"
              "  1 device allocations, 12345 bytes");
  EXPECT_EXIT(leave("leaks=0"), ::testing::ExitedWithCode(0), "^$");
}

TEST_F(FaultTest, ReportsGoToTheFileAskedFor) {
  std::string file = ::testing::TempDir() + "ptxsim-report.txt";
  remove(file.c_str());
  EXPECT_EQ(CUDA_SUCCESS, cu.cuDevicePrimaryCtxRelease(0));
  start(("report=" + file).c_str());
  ASSERT_EQ(CUDA_SUCCESS, launch(kernel("fail"), 1, nullptr));
  EXPECT_EQ(CUDA_ERROR_LAUNCH_FAILED, cu.cuCtxSynchronize());
  expectLost = true;
  EXPECT_EQ(1u, cu.reportCount());
  std::string text(4096, 0);
  FILE *stream = fopen(file.c_str(), "r");
  ASSERT_NE(nullptr, stream);
  text.resize(fread(&text[0], 1, text.size(), stream));
  fclose(stream);
  remove(file.c_str());
  EXPECT_NE(std::string::npos, text.find("trap in kernel 'fail'")) << text;
  EXPECT_NE(std::string::npos, text.find(report())) << text;
}

TEST_F(FaultTest, DelaysChangeNoResult) {
  CUfunction add = kernel("add"), scale = kernel("scale");
  CUdeviceptr pointer = allocate(128);
  CUstream first = createStream(), second = createStream();
  CUevent event = createEvent();
  for (uint64_t seed = 1; seed < 6; ++seed) {
    cu.setStreamDelay(200, seed);
    ASSERT_EQ(CUDA_SUCCESS, cu.cuMemsetD32Async(pointer, 1, 32, first));
    ASSERT_EQ(CUDA_SUCCESS, launch(add, 32, first, pointer, 2u));
    ASSERT_EQ(CUDA_SUCCESS, cu.cuEventRecord(event, first));
    ASSERT_EQ(CUDA_SUCCESS, cu.cuStreamWaitEvent(second, event, 0));
    ASSERT_EQ(CUDA_SUCCESS, launch(scale, 32, second, pointer, 10u));
    ASSERT_EQ(CUDA_SUCCESS, cu.cuStreamSynchronize(second));
    EXPECT_EQ(std::vector<uint32_t>(32, 30), read(pointer, 32));
  }
}

} // namespace
} // namespace xc
