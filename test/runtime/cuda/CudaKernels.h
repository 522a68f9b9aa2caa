//===- CudaKernels.h - Test kernels and the driver stand-in ---------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_TEST_RUNTIME_CUDA_CUDAKERNELS_H
#define XC_TEST_RUNTIME_CUDA_CUDAKERNELS_H

#include "test/runtime/XcrTest.h"

#include "ptxsim/control.h"

namespace xc::test {

/// After the kernels that every device has.
inline constexpr Kernel kCrash = static_cast<Kernel>(kWork + 1);
/// `ids` again, in clusters of two blocks.
inline constexpr Kernel kClusterIds = static_cast<Kernel>(kWork + 2);
/// Binding 0 as a map of 16 x scalar 0 elements from its byte 64 on, shown in binding 1.
inline constexpr Kernel kShowMap = static_cast<Kernel>(kWork + 3);
/// Binding 0 as an im2col map of scalar 0 images of height scalar 1, along which windows end at
/// scalar 2; shown in binding 1.
inline constexpr Kernel kShowImageMap = static_cast<Kernel>(kWork + 4);

/// The device that is tested: the environment's XC_TEST_CUDA_DEVICE ("cuda:1"), else the first.
int cudaOrdinal();

/// As kernelModule, with kernels.ptx.
ModuleSpec cudaKernelModule();
/// main: z = (x + c) * 2, with c a constant of ones and the sum in the arena; then a pattern of
/// eight bytes and a copy of z. x has 1 to 64 elements.
ModuleSpec cudaScenarioModule(int64_t arenaBytes = 256);

/// The control interface of the driver stand-in; null where another driver is tested.
struct StandIn {
  decltype(&ptxsimSetFault) setFault = nullptr;
  decltype(&ptxsimClearFaults) clearFaults = nullptr;
  decltype(&ptxsimFaultsFired) faultsFired = nullptr;
  decltype(&ptxsimLastFault) lastFault = nullptr;
  decltype(&ptxsimReviveDevices) reviveDevices = nullptr;
  decltype(&ptxsimSetStreamDelay) setStreamDelay = nullptr;
  decltype(&ptxsimSetMaxAllocation) setMaxAllocation = nullptr;
  decltype(&ptxsimGetLive) getLive = nullptr;
  decltype(&ptxsimLeakReport) leakReport = nullptr;
  decltype(&ptxsimCallCount) callCount = nullptr;
  decltype(&ptxsimResetCallCounts) resetCallCounts = nullptr;
};
/// Points XCR_CUDA_LIBRARY to the stand-in unless it points somewhere else. Null there, or if the
/// stand-in was not built.
const StandIn *standIn();

/// A function of the driver in use that the runtime does not call; ends the test program if
/// there is none.
void *findDriverCall(const char *symbol);
template <typename Function> Function *driverCall(const char *symbol) {
  return reinterpret_cast<Function *>(findDriverCall(symbol));
}

/// What the stand-in still holds, empty if nothing.
std::string leaks();
/// The function that the latest fault struck.
std::string lastFault();

} // namespace xc::test

#endif // XC_TEST_RUNTIME_CUDA_CUDAKERNELS_H
