//===- DeviceTest.cpp - Devices, contexts, look-up, configuration ---------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fixture.h"

#include <cstring>
#include <thread>

namespace xc {
namespace {

class DeviceTest : public DriverTest {
protected:
  int attribute(CUdevice_attribute which, CUdevice device = 0) {
    int value = -1;
    EXPECT_EQ(CUDA_SUCCESS, cu.cuDeviceGetAttribute(&value, which, device));
    return value;
  }
};

class Unstarted : public ::testing::Test {
protected:
  Cuda &cu = cuda();
};

TEST_F(Unstarted, CallsBeforeInitAreRefused) {
  ASSERT_EQ(CUDA_SUCCESS, cu.configure(""));
  int count = 0;
  EXPECT_EQ(CUDA_ERROR_NOT_INITIALIZED, cu.cuDeviceGetCount(&count));
  EXPECT_EQ(CUDA_SUCCESS, cu.cuDriverGetVersion(&count));
  EXPECT_EQ(12080, count);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cu.cuInit(1));
}

TEST_F(Unstarted, NoDeviceIsInitsError) {
  ASSERT_EQ(CUDA_SUCCESS, cu.configure("devices=0"));
  EXPECT_EQ(CUDA_ERROR_NO_DEVICE, cu.cuInit(0));
}

TEST_F(Unstarted, UnusableSettingsAreNamed) {
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cu.configure("arch=sm_12"));
  char report[256];
  cu.lastReport(report, sizeof(report));
  EXPECT_STREQ("setting 'arch': expected sm_80 or sm_90a, got 'sm_12'", report);
  EXPECT_EQ(CUDA_ERROR_SYSTEM_NOT_READY, cu.cuInit(0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cu.configure("colour=red"));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cu.configure("features=-paging"));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cu.configure("memory=-1"));
  EXPECT_EQ(CUDA_SUCCESS, cu.configure("memory=1G checks=none,race"));
}

TEST_F(Unstarted, ErrorsHaveNamesAndTexts) {
  ASSERT_EQ(CUDA_SUCCESS, cu.configure(""));
  const char *text = nullptr;
  EXPECT_EQ(CUDA_SUCCESS, cu.cuGetErrorName(CUDA_ERROR_OUT_OF_MEMORY, &text));
  EXPECT_STREQ("CUDA_ERROR_OUT_OF_MEMORY", text);
  EXPECT_EQ(CUDA_SUCCESS, cu.cuGetErrorString(CUDA_ERROR_OUT_OF_MEMORY, &text));
  EXPECT_STREQ("out of memory", text);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cu.cuGetErrorName(static_cast<CUresult>(12345), &text));
  EXPECT_EQ(nullptr, text);
}

TEST_F(DeviceTest, HopperAttributes) {
  EXPECT_EQ(9, attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR));
  EXPECT_EQ(227 * 1024, attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN));
  EXPECT_EQ(1, attribute(CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH));
  EXPECT_EQ(1, attribute(CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED));
  EXPECT_EQ(65535, attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y));
  EXPECT_EQ(64, attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z));
  int value = 0;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE,
            cu.cuDeviceGetAttribute(&value, static_cast<CUdevice_attribute>(9999), 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_DEVICE,
            cu.cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 1));
}

class AmpereTest : public DeviceTest {
protected:
  void SetUp() override { start("arch=sm_80 devices=2 memory=64M features=-pools,-vmm,-managed"); }
};

TEST_F(AmpereTest, AttributesFollowTheSettings) {
  int count = 0;
  EXPECT_EQ(CUDA_SUCCESS, cu.cuDeviceGetCount(&count));
  EXPECT_EQ(2, count);
  EXPECT_EQ(8, attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 1));
  EXPECT_EQ(163 * 1024, attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN));
  for (CUdevice_attribute absent :
       {CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED,
        CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY,
        CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED})
    EXPECT_EQ(0, attribute(absent)) << absent;
  size_t bytes = 0;
  EXPECT_EQ(CUDA_SUCCESS, cu.cuDeviceTotalMem(&bytes, 1));
  EXPECT_EQ(size_t(64) << 20, bytes);
  char name[64], shortName[5];
  EXPECT_EQ(CUDA_SUCCESS, cu.cuDeviceGetName(name, sizeof(name), 0));
  EXPECT_NE(nullptr, strstr(name, "sm_80"));
  EXPECT_EQ(CUDA_SUCCESS, cu.cuDeviceGetName(shortName, sizeof(shortName), 0));
  EXPECT_STREQ(std::string(name, 4).c_str(), shortName);
  CUuuid first, second;
  EXPECT_EQ(CUDA_SUCCESS, cu.cuDeviceGetUuid(&first, 0));
  EXPECT_EQ(CUDA_SUCCESS, cu.cuDeviceGetUuid(&second, 1));
  EXPECT_NE(0, memcmp(&first, &second, sizeof(first)));
}

TEST_F(AmpereTest, AbsentFeaturesAreRefused) {
  CUdeviceptr pointer = 0;
  EXPECT_EQ(CUDA_ERROR_NOT_SUPPORTED, cu.cuMemAllocAsync(&pointer, 16, nullptr));
  EXPECT_EQ(CUDA_ERROR_NOT_SUPPORTED, cu.cuMemAddressReserve(&pointer, 2 << 20, 0, 0, 0));
  CUmemoryPool pool = nullptr;
  EXPECT_EQ(CUDA_ERROR_NOT_SUPPORTED, cu.cuDeviceGetDefaultMemPool(&pool, 0));
  auto *allocateManaged = cu.get<CUresult(CUdeviceptr *, size_t, unsigned)>("cuMemAllocManaged");
  EXPECT_EQ(CUDA_ERROR_NOT_SUPPORTED, allocateManaged(&pointer, 16, 1));
}

//===----------------------------------------------------------------------===//
// Contexts
//===----------------------------------------------------------------------===//

TEST_F(DeviceTest, PrimaryContextIsSharedAndCounted) {
  CUcontext again = nullptr;
  EXPECT_EQ(CUDA_SUCCESS, cu.cuDevicePrimaryCtxRetain(&again, 0));
  EXPECT_EQ(context, again);
  EXPECT_EQ(CUDA_SUCCESS, cu.cuDevicePrimaryCtxRelease(0));
  unsigned flags = 0;
  int active = 0;
  EXPECT_EQ(CUDA_SUCCESS, cu.cuDevicePrimaryCtxGetState(0, &flags, &active));
  EXPECT_EQ(1, active);
}

TEST_F(DeviceTest, ContextStackIsPerThread) {
  CUcontext current = nullptr;
  std::thread([&] {
    EXPECT_EQ(CUDA_SUCCESS, cu.cuCtxGetCurrent(&current));
    CUdevice device;
    EXPECT_EQ(CUDA_ERROR_INVALID_CONTEXT, cu.cuCtxGetDevice(&device));
    EXPECT_EQ(CUDA_ERROR_INVALID_CONTEXT, cu.cuCtxSynchronize());
  }).join();
  EXPECT_EQ(nullptr, current);
  EXPECT_EQ(CUDA_SUCCESS, cu.cuCtxGetCurrent(&current));
  EXPECT_EQ(context, current);
}

TEST_F(DeviceTest, PushAndPop) {
  auto *create = cu.get<CUresult(CUcontext *, unsigned, CUdevice)>("cuCtxCreate_v2");
  auto *destroy = cu.get<CUresult(CUcontext)>("cuCtxDestroy_v2");
  CUcontext made = nullptr, current = nullptr;
  ASSERT_EQ(CUDA_SUCCESS, create(&made, 0, 0));
  EXPECT_EQ(CUDA_SUCCESS, cu.cuCtxGetCurrent(&current));
  EXPECT_EQ(made, current);
  EXPECT_EQ(CUDA_SUCCESS, cu.cuCtxPushCurrent(context));
  EXPECT_EQ(CUDA_SUCCESS, cu.cuCtxPopCurrent(&current));
  EXPECT_EQ(context, current);
  EXPECT_EQ(CUDA_SUCCESS, destroy(made)); // and is popped, since it was current
  EXPECT_EQ(CUDA_SUCCESS, cu.cuCtxGetCurrent(&current));
  EXPECT_EQ(context, current);
  EXPECT_EQ(CUDA_ERROR_INVALID_CONTEXT, cu.cuCtxSetCurrent(made));
  EXPECT_EQ(CUDA_ERROR_INVALID_CONTEXT, destroy(made));
  EXPECT_EQ(CUDA_ERROR_INVALID_CONTEXT, destroy(context)) << "a primary context";
}

TEST_F(DeviceTest, DestroyedContextIsNoticedByOtherThreads) {
  auto *create = cu.get<CUresult(CUcontext *, unsigned, CUdevice)>("cuCtxCreate_v2");
  auto *destroy = cu.get<CUresult(CUcontext)>("cuCtxDestroy_v2");
  CUcontext made = nullptr;
  ASSERT_EQ(CUDA_SUCCESS, create(&made, 0, 0));
  std::thread([&] { EXPECT_EQ(CUDA_SUCCESS, destroy(made)); }).join();
  EXPECT_EQ(CUDA_ERROR_CONTEXT_IS_DESTROYED, cu.cuCtxSynchronize());
  CUcontext popped = nullptr;
  EXPECT_EQ(CUDA_SUCCESS, cu.cuCtxPopCurrent(&popped));
}

//===----------------------------------------------------------------------===//
// Look-up
//===----------------------------------------------------------------------===//

TEST_F(DeviceTest, ProcAddressFindsTheVersionAskedFor) {
  using Lookup = CUresult(const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *);
  auto *lookup = cu.get<Lookup>("cuGetProcAddress_v2");
  void *function = nullptr;
  CUdriverProcAddressQueryResult found;
  EXPECT_EQ(CUDA_SUCCESS, lookup("cuMemAlloc", &function, 12020, 0, &found));
  EXPECT_EQ(cu.find("cuMemAlloc_v2"), function);
  EXPECT_EQ(CU_GET_PROC_ADDRESS_SUCCESS, found);
  EXPECT_EQ(CUDA_SUCCESS, lookup("cuGraphAddNode", &function, 12020, 0, &found));
  EXPECT_EQ(cu.find("cuGraphAddNode"), function);
  EXPECT_EQ(CUDA_SUCCESS, lookup("cuGraphAddNode", &function, 12030, 0, &found));
  EXPECT_EQ(cu.find("cuGraphAddNode_v2"), function);
  EXPECT_EQ(CUDA_SUCCESS, lookup("cuNoSuchCall", &function, 12030, 0, &found));
  EXPECT_EQ(CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND, found);
  EXPECT_EQ(nullptr, function);
  EXPECT_EQ(CUDA_ERROR_NOT_FOUND, lookup("cuNoSuchCall", &function, 12030, 0, nullptr));
}

TEST_F(DeviceTest, ProcAddressKnowsEverySymbolOfTheRuntime) {
  using Lookup = CUresult(const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *);
  auto *lookup = cu.get<Lookup>("cuGetProcAddress_v2");
#define XCR_CUDA_SYMBOL(name, symbol, params)                                                      \
  {                                                                                                \
    void *function = nullptr;                                                                      \
    EXPECT_EQ(CUDA_SUCCESS, lookup(#name, &function, 12040, 0, nullptr));                          \
    EXPECT_EQ(cu.find(#symbol), function) << #name;                                                \
  }
#include "driver_symbols.inl"
}

} // namespace
} // namespace xc
