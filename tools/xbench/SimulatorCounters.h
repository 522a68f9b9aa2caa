//===- SimulatorCounters.h - What the CUDA stand-in counted ---------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_TOOLS_XBENCH_SIMULATORCOUNTERS_H
#define XC_TOOLS_XBENCH_SIMULATORCOUNTERS_H

#include "ptxsim/control.h"
#include "tools/common/Json.h"

#include <string>
#include <vector>

namespace xc::tools {

struct SimulatedKernel {
  std::string name;
  PtxsimKernelCounters counters;
};

/// The kernels that ran on the stand-in for the CUDA driver, where XCR_CUDA_LIBRARY has made this
/// process load it; empty on a real driver.
std::vector<SimulatedKernel> readSimulatorCounters();

/// Instructions by class, global sectors for each request, shared-memory bank conflicts: one row a
/// kernel.
std::string formatSimulatorCounters(const std::vector<SimulatedKernel> &kernels);
/// The same, and everything else that is counted, as an array of objects.
void writeSimulatorCounters(JsonWriter &json, const std::vector<SimulatedKernel> &kernels);

} // namespace xc::tools

#endif // XC_TOOLS_XBENCH_SIMULATORCOUNTERS_H
