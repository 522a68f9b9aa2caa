//===- MemoryTime.cpp - How long memory takes for a kernel ----------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Common/MemoryTime.h"

using namespace mlir;

namespace xc::cuda {

/// Microseconds of a launch behind another kernel, and until memory is at its rate; as in the
/// models of products.
static constexpr double kLaunchTime = 0.7, kMemoryStart = 1.5;
/// Bytes a cycle from L2 to one multiprocessor where all of them read.
static constexpr double kCacheBytesPerCycle = 55;

std::optional<double> estimateMemoryTime(const KernelInfo &kernel) {
  double bytes = 0;
  for (plan::BindingOp binding : kernel.bindings) {
    ShapedType type = kernel.getAccessedType(binding);
    if (!type.hasStaticShape())
      return std::nullopt;
    // Of what an update leaves alone nothing is read.
    bool isBox = llvm::any_of(kernel.outputs, [&](const KernelOutput &output) {
      return output.update && output.binding == binding;
    });
    double passes = binding.getAccess() == plan::Access::ReadWrite && !isBox ? 2 : 1;
    bytes += passes * static_cast<double>(type.getNumElements()) *
             static_cast<double>(getElementBytes(type.getElementType()));
  }
  return kLaunchTime + kMemoryStart + bytes / kernel.target->rates.memory / 1000;
}

double estimateCacheTime(const Target &target, int64_t bytes) {
  double perNanosecond = kCacheBytesPerCycle * target.multiprocessors * target.rates.clock;
  return static_cast<double>(bytes) / perNanosecond / 1000;
}

} // namespace xc::cuda
