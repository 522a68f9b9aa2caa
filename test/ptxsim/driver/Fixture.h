//===- Fixture.h - Calls the driver stand-in as a program would -----------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The library is opened with dlopen and its functions are found by name, exactly
// as the runtime does it.
//
//===----------------------------------------------------------------------===//

#ifndef PTXSIM_TEST_DRIVER_FIXTURE_H
#define PTXSIM_TEST_DRIVER_FIXTURE_H

#include "cuda_abi/cuda_abi.h"
#include "ptxsim/control.h"

#include "gtest/gtest.h"

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace xc {

/// Function pointers of everything that the tests call.
struct Cuda {
#define XCR_CUDA_SYMBOL(name, symbol, params) CUresult(*name) params = nullptr;
#include "driver_symbols.inl"

  decltype(&ptxsimConfigure) configure;
  decltype(&ptxsimSetFault) setFault;
  decltype(&ptxsimClearFaults) clearFaults;
  decltype(&ptxsimFaultsFired) faultsFired;
  decltype(&ptxsimLastFault) lastFault;
  decltype(&ptxsimSetMaxAllocation) setMaxAllocation;
  decltype(&ptxsimSetStreamDelay) setStreamDelay;
  decltype(&ptxsimSetGraphSeed) setGraphSeed;
  decltype(&ptxsimCallCount) callCount;
  decltype(&ptxsimResetCallCounts) resetCallCounts;
  decltype(&ptxsimGetLive) getLive;
  decltype(&ptxsimLeakReport) leakReport;
  decltype(&ptxsimReportCount) reportCount;
  decltype(&ptxsimLastReport) lastReport;
  decltype(&ptxsimGetKernelCounters) getKernelCounters;
  decltype(&ptxsimKernelName) kernelName;

  /// Any other export, as a pointer to a function of type `Function`.
  template <typename Function> Function *get(const char *symbol) {
    return reinterpret_cast<Function *>(find(symbol));
  }
  void *find(const char *symbol);
};

/// Opens the library once; ends the process with a message if it cannot.
Cuda &cuda();

/// PTX of the kernels that the tests run (see Kernels.cpp).
extern const char *const kKernels;
extern const char *const kConditionKernels;

/// A gate for host functions: blocks a stream until it is opened.
class Gate {
public:
  static void waitFor(void *gate) {
    auto *self = static_cast<Gate *>(gate);
    self->reached = true;
    while (!self->open)
      std::this_thread::yield();
  }
  /// Returns when a stream has come to the gate.
  void awaitReached() const {
    while (!reached)
      std::this_thread::yield();
  }
  std::atomic<bool> open{false};
  std::atomic<bool> reached{false};
};

/// A test with a fresh driver and device 0's primary context current.
class DriverTest : public ::testing::Test {
protected:
  /// `settings` as for ptxsimConfigure.
  explicit DriverTest(const char *settings = "") : settings_(settings) {}

  void SetUp() override;
  /// Fails the test for what it left behind.
  void TearDown() override;
  void start(const char *settings);

  /// Loads kKernels and finds a kernel in it. The module is unloaded at the end.
  CUfunction kernel(const char *name);
  CUdeviceptr allocate(size_t bytes);
  CUstream createStream(unsigned flags = CU_STREAM_NON_BLOCKING);
  /// A gate that lives until all work of the test has ended.
  Gate &createGate();
  CUevent createEvent(unsigned flags = CU_EVENT_DISABLE_TIMING);
  /// What ptxsimLastReport says.
  std::string report();

  std::vector<uint32_t> read(CUdeviceptr pointer, size_t count);
  void write(CUdeviceptr pointer, const std::vector<uint32_t> &values);

  /// Launches with the arguments given, one block of `threads`.
  template <typename... Args>
  CUresult launch(CUfunction function, unsigned threads, CUstream stream, Args... args) {
    void *params[] = {static_cast<void *>(&args)...};
    return cu.cuLaunchKernel(function, 1, 1, 1, threads, 1, 1, 0, stream, params, nullptr);
  }

  Cuda &cu = cuda();
  CUcontext context = nullptr;
  bool expectLost = false; // the context is lost on purpose

private:
  const char *settings_;
  CUmodule module_ = nullptr;
  std::vector<CUdeviceptr> memory_;
  std::vector<CUstream> streams_;
  std::vector<CUevent> events_;
  std::vector<std::unique_ptr<Gate>> gates_;
};

} // namespace xc

#endif // PTXSIM_TEST_DRIVER_FIXTURE_H
