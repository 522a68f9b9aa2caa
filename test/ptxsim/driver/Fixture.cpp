//===- Fixture.cpp - Calls the driver stand-in as a program would ---------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fixture.h"

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>

namespace xc {
namespace {

void *openLibrary() {
  const char *path = getenv("XCR_CUDA_LIBRARY");
  void *library = dlopen(path && *path ? path : PTXSIM_LIBRARY, RTLD_NOW);
  if (library)
    return library;
  fprintf(stderr, "cannot open the driver stand-in: %s\n", dlerror());
  exit(1);
}

} // namespace

void *Cuda::find(const char *symbol) {
  static void *library = openLibrary();
  void *pointer = dlsym(library, symbol);
  if (pointer)
    return pointer;
  fprintf(stderr, "the driver stand-in does not export %s\n", symbol);
  exit(1);
}

Cuda &cuda() {
  static Cuda *instance = [] {
    auto *made = new Cuda;
#define XCR_CUDA_SYMBOL(name, symbol, params) made->name = made->get<CUresult params>(#symbol);
#include "driver_symbols.inl"
#define XC_CONTROL(field, symbol) made->field = made->get<decltype(symbol)>(#symbol)
    XC_CONTROL(configure, ptxsimConfigure);
    XC_CONTROL(setFault, ptxsimSetFault);
    XC_CONTROL(clearFaults, ptxsimClearFaults);
    XC_CONTROL(faultsFired, ptxsimFaultsFired);
    XC_CONTROL(lastFault, ptxsimLastFault);
    XC_CONTROL(setMaxAllocation, ptxsimSetMaxAllocation);
    XC_CONTROL(setStreamDelay, ptxsimSetStreamDelay);
    XC_CONTROL(setGraphSeed, ptxsimSetGraphSeed);
    XC_CONTROL(callCount, ptxsimCallCount);
    XC_CONTROL(resetCallCounts, ptxsimResetCallCounts);
    XC_CONTROL(getLive, ptxsimGetLive);
    XC_CONTROL(leakReport, ptxsimLeakReport);
    XC_CONTROL(reportCount, ptxsimReportCount);
    XC_CONTROL(lastReport, ptxsimLastReport);
    XC_CONTROL(getKernelCounters, ptxsimGetKernelCounters);
    XC_CONTROL(kernelName, ptxsimKernelName);
#undef XC_CONTROL
    return made;
  }();
  return *instance;
}

void DriverTest::SetUp() { start(settings_); }

void DriverTest::start(const char *settings) {
  ASSERT_EQ(CUDA_SUCCESS, cu.configure(settings));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuInit(0));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuDevicePrimaryCtxRetain(&context, 0));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuCtxSetCurrent(context));
}

void DriverTest::TearDown() {
  for (const auto &gate : gates_)
    gate->open = true;
  cu.clearFaults();
  cu.cuCtxSetCurrent(context);
  CUresult expected = cu.cuCtxSynchronize();
  if (!expectLost) {
    EXPECT_EQ(CUDA_SUCCESS, expected) << report();
  }
  for (CUstream stream : streams_)
    EXPECT_EQ(expected, cu.cuStreamDestroy(stream));
  for (CUevent event : events_)
    EXPECT_EQ(expected, cu.cuEventDestroy(event));
  for (CUdeviceptr pointer : memory_)
    EXPECT_EQ(expected, cu.cuMemFree(pointer));
  if (module_) {
    EXPECT_EQ(expected, cu.cuModuleUnload(module_));
  }
  EXPECT_EQ(CUDA_SUCCESS, cu.cuDevicePrimaryCtxRelease(0));
  char leaks[1024];
  EXPECT_EQ(0u, cu.leakReport(leaks, sizeof(leaks))) << leaks;
}

CUfunction DriverTest::kernel(const char *name) {
  if (!module_) {
    char log[1024] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, reinterpret_cast<void *>(sizeof(log))};
    EXPECT_EQ(CUDA_SUCCESS, cu.cuModuleLoadDataEx(&module_, kKernels, 2, options, values)) << log;
  }
  CUfunction function = nullptr;
  EXPECT_EQ(CUDA_SUCCESS, cu.cuModuleGetFunction(&function, module_, name));
  return function;
}

CUdeviceptr DriverTest::allocate(size_t bytes) {
  CUdeviceptr pointer = 0;
  EXPECT_EQ(CUDA_SUCCESS, cu.cuMemAlloc(&pointer, bytes));
  memory_.push_back(pointer);
  return pointer;
}

CUstream DriverTest::createStream(unsigned flags) {
  CUstream stream = nullptr;
  EXPECT_EQ(CUDA_SUCCESS, cu.cuStreamCreateWithPriority(&stream, flags, 0));
  streams_.push_back(stream);
  return stream;
}

Gate &DriverTest::createGate() {
  gates_.push_back(std::make_unique<Gate>());
  return *gates_.back();
}

CUevent DriverTest::createEvent(unsigned flags) {
  CUevent event = nullptr;
  EXPECT_EQ(CUDA_SUCCESS, cu.cuEventCreate(&event, flags));
  events_.push_back(event);
  return event;
}

std::string DriverTest::report() {
  std::string text(cu.lastReport(nullptr, 0) + 1, 0);
  cu.lastReport(&text[0], text.size());
  text.pop_back();
  return text;
}

std::vector<uint32_t> DriverTest::read(CUdeviceptr pointer, size_t count) {
  std::vector<uint32_t> values(count);
  EXPECT_EQ(CUDA_SUCCESS, cu.cuMemcpyDtoH(values.data(), pointer, 4 * count));
  return values;
}

void DriverTest::write(CUdeviceptr pointer, const std::vector<uint32_t> &values) {
  EXPECT_EQ(CUDA_SUCCESS, cu.cuMemcpyHtoD(pointer, values.data(), 4 * values.size()));
}

} // namespace xc
