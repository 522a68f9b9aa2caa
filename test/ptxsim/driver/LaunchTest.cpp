//===- LaunchTest.cpp - Modules, functions, launches, kernel faults -------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fixture.h"

#include <cstring>
#include <numeric>

namespace xc {
namespace {

class LaunchTest : public DriverTest {
protected:
  CUresult launchShaped(CUfunction function, unsigned grid, unsigned block, unsigned shared,
                        void **params, std::vector<CUlaunchAttribute> attributes = {}) {
    CUlaunchConfig config = {};
    config.gridDimX = grid;
    config.gridDimY = config.gridDimZ = 1;
    config.blockDimX = block;
    config.blockDimY = config.blockDimZ = 1;
    config.sharedMemBytes = shared;
    config.attrs = attributes.data();
    config.numAttrs = static_cast<unsigned>(attributes.size());
    return cu.cuLaunchKernelEx(&config, function, params, nullptr);
  }
  int attribute(CUfunction function, CUfunction_attribute which) {
    int value = -1;
    EXPECT_EQ(CUDA_SUCCESS, cu.cuFuncGetAttribute(&value, which, function));
    return value;
  }
  static CUlaunchAttribute cluster(unsigned x) {
    CUlaunchAttribute attribute = {};
    attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attribute.value.clusterDim = {x, 1, 1};
    return attribute;
  }
};

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

TEST_F(LaunchTest, ImagesThatAreNotPtxGetTheDriversErrors) {
  CUmodule module = nullptr;
  char log[256] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void *values[] = {log, reinterpret_cast<void *>(sizeof(log))};
  EXPECT_EQ(CUDA_ERROR_NO_BINARY_FOR_GPU, cu.cuModuleLoadDataEx(&module,
                                                                "\x7f"
                                                                "ELF\2\1\1",
                                                                2, options, values));
  EXPECT_NE(nullptr, strstr(log, "load PTX")) << log;
  EXPECT_EQ(strlen(log), reinterpret_cast<uintptr_t>(values[1]));
  EXPECT_EQ(CUDA_ERROR_NO_BINARY_FOR_GPU,
            cu.cuModuleLoadDataEx(&module, "\x50\xED\x55\xBA", 0, nullptr, nullptr));
  EXPECT_EQ(CUDA_ERROR_INVALID_IMAGE, cu.cuModuleLoadDataEx(&module, "hello", 0, nullptr, nullptr));
  EXPECT_EQ(nullptr, module);
}

TEST_F(LaunchTest, ParserMessageIsInTheErrorLog) {
  CUmodule module = nullptr;
  char log[256] = "", tiny[8] = "1234567";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  const char *text = ".version 7.8\n.target sm_80\n.address_size 64\n"
                     ".visible .entry k() { .reg .b32 %r<2>;\n"
                     "  frobnicate.u32 %r1;\n}\n";
  void *values[] = {log, reinterpret_cast<void *>(sizeof(log))};
  EXPECT_EQ(CUDA_ERROR_INVALID_PTX, cu.cuModuleLoadDataEx(&module, text, 2, options, values));
  EXPECT_NE(nullptr, strstr(log, "line 5")) << log;
  EXPECT_NE(nullptr, strstr(log, "frobnicate")) << log;
  // Also for a program that passes no log.
  EXPECT_EQ("module refused: line 5:3: unknown instruction 'frobnicate.u32'", report());
  void *tinyValues[] = {tiny, reinterpret_cast<void *>(sizeof(tiny))};
  EXPECT_EQ(CUDA_ERROR_INVALID_PTX, cu.cuModuleLoadDataEx(&module, text, 2, options, tinyValues));
  EXPECT_EQ(7u, strlen(tiny));
}

TEST_F(LaunchTest, TargetsAreRefusedThatTheDeviceOrTheFormLacks) {
  CUmodule module = nullptr;
  auto load = [&](const char *target, const char *body) {
    std::string text = std::string(".version 8.0\n.target ") + target +
                       "\n.address_size 64\n.visible .entry k()\n{ .reg .b16 %h<2>;\n" + body +
                       "\n}\n";
    return cu.cuModuleLoadDataEx(&module, text.c_str(), 0, nullptr, nullptr);
  };
  EXPECT_EQ(CUDA_SUCCESS, cu.cuDevicePrimaryCtxRelease(0));
  start("arch=sm_80");
  EXPECT_EQ(CUDA_ERROR_INVALID_PTX, load("sm_90", "ret;"));
  EXPECT_EQ("module refused: line 1: the module's target sm_90 cannot run on sm_80", report());
  EXPECT_EQ(CUDA_ERROR_INVALID_PTX, load("sm_80", "add.rn.bf16 %h0, %h0, %h1;"));
  EXPECT_EQ("module refused: line 6:1: 'add.rn.bf16': needs .target sm_90 or later, the module "
            "has sm_80",
            report());
  ASSERT_EQ(CUDA_SUCCESS, load("sm_80", "fma.rn.bf16 %h0, %h0, %h1, %h1;"));
  EXPECT_EQ(CUDA_SUCCESS, cu.cuModuleUnload(module));
}

TEST_F(LaunchTest, PtxOfALaterToolkitIsRefused) {
  auto load = [&](const std::string &version, CUmodule &module, char *log, size_t size) {
    std::string text = ".version " + version +
                       "\n.target sm_80\n.address_size 64\n"
                       ".visible .entry k() { ret; }\n";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, reinterpret_cast<void *>(size)};
    return cu.cuModuleLoadDataEx(&module, text.c_str(), 2, options, values);
  };
  EXPECT_EQ(CUDA_SUCCESS, cu.cuDevicePrimaryCtxRelease(0));
  start("driver_version=12040");
  CUmodule module = nullptr;
  char log[256] = "";
  EXPECT_EQ(CUDA_ERROR_UNSUPPORTED_PTX_VERSION, load("8.5", module, log, sizeof(log)));
  EXPECT_NE(nullptr, strstr(log, "this driver takes PTX up to 8.4")) << log;
  EXPECT_EQ(CUDA_ERROR_UNSUPPORTED_PTX_VERSION, load("9.9", module, log, sizeof(log)));
  EXPECT_NE(nullptr, strstr(log, "unsupported '.version 9.9'")) << log;
  ASSERT_EQ(CUDA_SUCCESS, load("8.4", module, log, sizeof(log))) << log;
  EXPECT_EQ(CUDA_SUCCESS, cu.cuModuleUnload(module));
}

TEST_F(LaunchTest, FunctionsAndGlobals) {
  CUfunction add = kernel("add");
  CUmodule module = nullptr;
  ASSERT_EQ(CUDA_SUCCESS, cu.cuFuncGetModule(&module, add));
  CUfunction again = nullptr;
  EXPECT_EQ(CUDA_SUCCESS, cu.cuModuleGetFunction(&again, module, "add"));
  EXPECT_EQ(add, again);
  EXPECT_EQ(CUDA_ERROR_NOT_FOUND, cu.cuModuleGetFunction(&again, module, "subtract"));
  const char *name = nullptr;
  EXPECT_EQ(CUDA_SUCCESS, cu.cuFuncGetName(&name, add));
  EXPECT_STREQ("add", name);
  size_t offset = 0, bytes = 0;
  EXPECT_EQ(CUDA_SUCCESS, cu.cuFuncGetParamInfo(add, 1, &offset, &bytes));
  EXPECT_EQ(8u, offset);
  EXPECT_EQ(4u, bytes);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cu.cuFuncGetParamInfo(add, 2, &offset, &bytes));
  CUdeviceptr counter = 0;
  EXPECT_EQ(CUDA_SUCCESS, cu.cuModuleGetGlobal(&counter, &bytes, module, "counter"));
  EXPECT_EQ(4u, bytes);
  EXPECT_EQ(std::vector<uint32_t>{7}, read(counter, 1));
  EXPECT_EQ(CUDA_ERROR_NOT_FOUND, cu.cuModuleGetGlobal(&counter, &bytes, module, "add"));
}

TEST_F(LaunchTest, HandlesDieWithTheirModule) {
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  ASSERT_EQ(CUDA_SUCCESS, cu.cuModuleLoadDataEx(&module, kKernels, 0, nullptr, nullptr));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuModuleGetFunction(&function, module, "fail"));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuModuleUnload(module));
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, launch(function, 1, nullptr));
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, cu.cuModuleUnload(module));
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

TEST_F(LaunchTest, ParametersByPointersAndByBuffer) {
  CUfunction add = kernel("add");
  CUdeviceptr pointer = allocate(128);
  write(pointer, std::vector<uint32_t>(32, 10));
  ASSERT_EQ(CUDA_SUCCESS, launch(add, 32, nullptr, pointer, 5u));
  struct {
    CUdeviceptr pointer;
    uint32_t amount;
  } buffer = {pointer, 100};
  size_t size = sizeof(buffer);
  void *extra[] = {reinterpret_cast<void *>(CU_LAUNCH_PARAM_BUFFER_POINTER_AS_INT), &buffer,
                   reinterpret_cast<void *>(CU_LAUNCH_PARAM_BUFFER_SIZE_AS_INT), &size, nullptr};
  ASSERT_EQ(CUDA_SUCCESS, cu.cuLaunchKernel(add, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, extra));
  EXPECT_EQ(std::vector<uint32_t>(32, 115), read(pointer, 32));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE,
            cu.cuLaunchKernel(add, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, nullptr));
  PtxsimKernelCounters counters;
  ASSERT_TRUE(cu.getKernelCounters("add", &counters));
  EXPECT_EQ(2u, counters.launches);
  EXPECT_GE(counters.threadInstructions, 2u * 32 * 8);
  EXPECT_EQ(2u, counters.globalLoadRequests);
  char name[16];
  EXPECT_EQ(3u, cu.kernelName(0, name, sizeof(name)));
  EXPECT_STREQ("add", name);
  EXPECT_FALSE(cu.getKernelCounters("scale", &counters));
}

TEST_F(LaunchTest, LimitsAreTheDrivers) {
  CUfunction fail = kernel("fail"), bounded = kernel("bounded");
  auto tryLaunch = [&](unsigned gx, unsigned gy, unsigned bx, unsigned by, unsigned bz) {
    return cu.cuLaunchKernel(fail, gx, gy, 1, bx, by, bz, 0, nullptr, nullptr, nullptr);
  };
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, tryLaunch(0, 1, 1, 1, 1));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, tryLaunch(1, 65536, 1, 1, 1));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, tryLaunch(0x80000000u, 1, 1, 1, 1));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, tryLaunch(1, 1, 1025, 1, 1));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, tryLaunch(1, 1, 64, 32, 1));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, tryLaunch(1, 1, 1, 1, 65));
  EXPECT_EQ(CUDA_SUCCESS, launch(bounded, 64, nullptr));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, launch(bounded, 65, nullptr));
  EXPECT_EQ(64, attribute(bounded, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK));
}

TEST_F(LaunchTest, SharedMemoryAboveTheDefaultIsOptIn) {
  CUfunction shared = kernel("shared");
  CUdeviceptr pointer = allocate(256);
  void *params[] = {&pointer};
  EXPECT_EQ(48 * 1024, attribute(shared, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES));
  EXPECT_EQ(CUDA_SUCCESS, launchShaped(shared, 1, 64, 256, params));
  std::vector<uint32_t> expected(64);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(expected, read(pointer, 64));
  const int large = 100 * 1024, most = 227 * 1024;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, launchShaped(shared, 1, 64, large, params));
  EXPECT_EQ(CUDA_SUCCESS,
            cu.cuFuncSetAttribute(shared, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, large));
  EXPECT_EQ(CUDA_SUCCESS, launchShaped(shared, 1, 64, large, params));
  EXPECT_EQ(
      CUDA_ERROR_INVALID_VALUE,
      cu.cuFuncSetAttribute(shared, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, most + 1));
  int blocks = 0;
  EXPECT_EQ(CUDA_SUCCESS,
            cu.cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, shared, 64, size_t(large)));
  EXPECT_EQ(2, blocks);
}

TEST_F(LaunchTest, ClustersMustDivideTheGridAndFit) {
  CUfunction bounded = kernel("bounded");
  EXPECT_EQ(CUDA_SUCCESS, launchShaped(bounded, 8, 32, 0, nullptr, {cluster(1)}));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, launchShaped(bounded, 9, 32, 0, nullptr, {cluster(2)}));
  EXPECT_EQ(CUDA_ERROR_INVALID_CLUSTER_SIZE,
            launchShaped(bounded, 16, 32, 0, nullptr, {cluster(16)}));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, launchShaped(bounded, 8, 32, 0, nullptr, {cluster(0)}));
  CUlaunchAttribute hints[2] = {};
  hints[0].id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
  hints[0].value.programmaticStreamSerializationAllowed = 1;
  hints[1].id = CU_LAUNCH_ATTRIBUTE_PRIORITY;
  hints[1].value.priority = -1;
  EXPECT_EQ(CUDA_SUCCESS, launchShaped(bounded, 8, 32, 0, nullptr, {hints[0], hints[1]}));
}

class AmpereLaunchTest : public LaunchTest {
protected:
  void SetUp() override { start("arch=sm_80"); }
};

TEST_F(AmpereLaunchTest, NoClusters) {
  EXPECT_EQ(CUDA_ERROR_NOT_SUPPORTED,
            launchShaped(kernel("bounded"), 8, 32, 0, nullptr, {cluster(2)}));
}

TEST_F(AmpereLaunchTest, NewerTargetIsRefused) {
  CUmodule module = nullptr;
  EXPECT_EQ(CUDA_ERROR_INVALID_PTX,
            cu.cuModuleLoadDataEx(&module,
                                  ".version 8.0\n.target sm_90a\n"
                                  ".address_size 64\n.visible .entry k() { ret; }",
                                  0, nullptr, nullptr));
}

//===----------------------------------------------------------------------===//
// Faults of kernels
//===----------------------------------------------------------------------===//

TEST_F(LaunchTest, OutOfBoundsLosesTheContext) {
  CUfunction beyond = kernel("beyond");
  CUdeviceptr pointer = allocate(64);
  expectLost = true;
  ASSERT_EQ(CUDA_SUCCESS, launch(beyond, 1, nullptr, pointer, uint64_t(64)));
  EXPECT_EQ(CUDA_ERROR_ILLEGAL_ADDRESS, cu.cuCtxSynchronize());
  EXPECT_NE(std::string::npos, report().find("beyond")) << report();
  // Every later call says so, whatever it is.
  CUdeviceptr other = 0;
  CUstream stream = nullptr;
  EXPECT_EQ(CUDA_ERROR_ILLEGAL_ADDRESS, cu.cuMemAlloc(&other, 16));
  EXPECT_EQ(CUDA_ERROR_ILLEGAL_ADDRESS, cu.cuStreamCreateWithPriority(&stream, 0, 0));
  EXPECT_EQ(CUDA_ERROR_ILLEGAL_ADDRESS, launch(beyond, 1, nullptr, pointer, uint64_t(0)));
  // What does not need the device still works.
  CUcontext current = nullptr;
  EXPECT_EQ(CUDA_SUCCESS, cu.cuCtxGetCurrent(&current));
}

TEST_F(LaunchTest, UseAfterFreeIsFound) {
  CUfunction beyond = kernel("beyond");
  CUdeviceptr pointer = 0;
  ASSERT_EQ(CUDA_SUCCESS, cu.cuMemAlloc(&pointer, 64));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuMemFree(pointer));
  expectLost = true;
  ASSERT_EQ(CUDA_SUCCESS, launch(beyond, 1, nullptr, pointer, uint64_t(0)));
  EXPECT_EQ(CUDA_ERROR_ILLEGAL_ADDRESS, cu.cuCtxSynchronize());
  EXPECT_NE(std::string::npos, report().find("cuMemAlloc #")) << report();
}

TEST_F(LaunchTest, UninitialisedReadIsFound) {
  CUfunction add = kernel("add");
  CUdeviceptr pointer = allocate(128);
  ASSERT_EQ(CUDA_SUCCESS, cu.cuMemsetD32(pointer, 1, 31));
  expectLost = true;
  ASSERT_EQ(CUDA_SUCCESS, launch(add, 32, nullptr, pointer, 1u));
  EXPECT_EQ(CUDA_ERROR_LAUNCH_FAILED, cu.cuCtxSynchronize());
  EXPECT_NE(std::string::npos, report().find("uninitialised")) << report();
}

TEST_F(LaunchTest, ChecksCanBeSwitchedOff) {
  EXPECT_EQ(CUDA_SUCCESS, cu.cuDevicePrimaryCtxRelease(0));
  start("checks=-uninitialised");
  CUdeviceptr pointer = allocate(128);
  ASSERT_EQ(CUDA_SUCCESS, launch(kernel("add"), 32, nullptr, pointer, 1u));
  EXPECT_EQ(std::vector<uint32_t>(32, 0), read(pointer, 32)) << "-1 + 1";
}

TEST_F(LaunchTest, BlockThatRunsForeverTimesOut) {
  EXPECT_EQ(CUDA_SUCCESS, cu.cuDevicePrimaryCtxRelease(0));
  start("instruction_limit=100000");
  expectLost = true;
  ASSERT_EQ(CUDA_SUCCESS, launch(kernel("forever"), 1, nullptr));
  EXPECT_EQ(CUDA_ERROR_LAUNCH_TIMEOUT, cu.cuCtxSynchronize());
}

TEST_F(LaunchTest, MisalignedAccess) {
  CUdeviceptr pointer = allocate(64);
  expectLost = true;
  ASSERT_EQ(CUDA_SUCCESS, launch(kernel("misaligned"), 1, nullptr, pointer));
  EXPECT_EQ(CUDA_ERROR_MISALIGNED_ADDRESS, cu.cuCtxSynchronize());
}

TEST_F(LaunchTest, LostDeviceStaysLostForTheProcess) {
  CUmodule module = nullptr;
  CUfunction fail = nullptr;
  ASSERT_EQ(CUDA_SUCCESS, cu.cuModuleLoadDataEx(&module, kKernels, 0, nullptr, nullptr));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuModuleGetFunction(&fail, module, "fail"));
  ASSERT_EQ(CUDA_SUCCESS, launch(fail, 1, nullptr));
  EXPECT_EQ(CUDA_ERROR_LAUNCH_FAILED, cu.cuCtxSynchronize());
  auto *reset = cu.get<CUresult(CUdevice)>("cuDevicePrimaryCtxReset_v2");
  EXPECT_EQ(CUDA_SUCCESS, reset(0));
  EXPECT_EQ(CUDA_ERROR_CONTEXT_IS_DESTROYED, cu.cuCtxSynchronize());
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, cu.cuModuleUnload(module));
  EXPECT_EQ(CUDA_ERROR_LAUNCH_FAILED, cu.cuDevicePrimaryCtxRetain(&context, 0));
  auto *create = cu.get<CUresult(CUcontext *, unsigned, CUdevice)>("cuCtxCreate_v2");
  EXPECT_EQ(CUDA_ERROR_LAUNCH_FAILED, create(&context, 0, 0));
  // As in a new process.
  cu.get<void()>("ptxsimReviveDevices")();
  ASSERT_EQ(CUDA_SUCCESS, cu.cuDevicePrimaryCtxRetain(&context, 0));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuCtxSetCurrent(context));
  EXPECT_EQ(CUDA_SUCCESS, cu.cuCtxSynchronize());
}

} // namespace
} // namespace xc
