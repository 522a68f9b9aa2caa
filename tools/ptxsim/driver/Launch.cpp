//===- Launch.cpp - Checks and runs kernel launches -----------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver.h"
#include "Module.h"

#include <cstring>

namespace xc::cudasim {
namespace {

CUresult checkGrid(const LaunchShape &shape, const ptxsim::KernelInfo &kernel,
                   const ptxsim::ArchLimits &limits) {
  uint64_t threads = 1;
  for (unsigned i = 0; i < 3; ++i) {
    if (!shape.grid[i] || !shape.block[i] || shape.grid[i] > limits.maxGridDim[i] ||
        shape.block[i] > limits.maxBlockDim[i])
      return CUDA_ERROR_INVALID_VALUE;
    // .reqntid fixes the block; .maxntid only bounds its number of threads.
    if (kernel.reqntid[0] && shape.block[i] != kernel.reqntid[i])
      return CUDA_ERROR_INVALID_VALUE;
    threads *= shape.block[i];
  }
  if (threads > limits.maxThreadsPerBlock)
    return CUDA_ERROR_INVALID_VALUE;
  uint64_t bound = 1;
  for (unsigned extent : kernel.maxntid)
    bound *= extent ? extent : 1;
  if (kernel.maxntid[0] && threads > bound)
    return CUDA_ERROR_INVALID_VALUE;
  if (threads > kernel.maxThreadsPerBlock)
    return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
  return CUDA_SUCCESS;
}

CUresult checkCluster(LaunchShape &shape, const Function &function,
                      const ptxsim::ArchLimits &limits) {
  const ptxsim::KernelInfo &kernel = function.kernel->info();
  if (kernel.reqClusterDims[0]) {
    for (unsigned i = 0; i < 3; ++i) {
      if (shape.cluster[0] && shape.cluster[i] != kernel.reqClusterDims[i])
        return CUDA_ERROR_INVALID_VALUE;
    }
    for (unsigned i = 0; i < 3; ++i)
      shape.cluster[i] = kernel.reqClusterDims[i];
  }
  if (!shape.cluster[0])
    return kernel.explicitCluster ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
  uint64_t blocks = 1;
  for (unsigned i = 0; i < 3; ++i) {
    if (!shape.cluster[i] || shape.grid[i] % shape.cluster[i])
      return CUDA_ERROR_INVALID_VALUE;
    blocks *= shape.cluster[i];
  }
  if (blocks == 1)
    return CUDA_SUCCESS;
  if (limits.major < 9)
    return CUDA_ERROR_NOT_SUPPORTED;
  unsigned most = function.nonPortableCluster.load() ? 16 : limits.maxClusterSize;
  return blocks > most ? CUDA_ERROR_INVALID_CLUSTER_SIZE : CUDA_SUCCESS;
}

CUresult checkShared(const LaunchShape &shape, const Function &function) {
  // What exceeds the default must have been asked for by the attribute.
  if (shape.dynamicShared > static_cast<unsigned>(function.maxDynamicShared.load()))
    return CUDA_ERROR_INVALID_VALUE;
  if (!shape.cooperative)
    return CUDA_SUCCESS;
  Device &device = function.context().device();
  unsigned threads = shape.block[0] * shape.block[1] * shape.block[2];
  uint64_t resident =
      uint64_t(device.simulator().maxActiveBlocks(*function.kernel, threads, shape.dynamicShared)) *
      device.limits().multiprocessors;
  uint64_t blocks = uint64_t(shape.grid[0]) * shape.grid[1] * shape.grid[2];
  return blocks > resident ? CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE : CUDA_SUCCESS;
}

/// Copies the parameters from the array of pointers, or from the one buffer that
/// `extra` describes.
CUresult readParams(const ptxsim::KernelInfo &kernel, void **params, void **extra,
                    std::vector<uint8_t> &buffer) {
  buffer.assign(kernel.paramBytes, 0);
  if (params && extra)
    return CUDA_ERROR_INVALID_VALUE;
  if (params) {
    for (size_t i = 0; i < kernel.params.size(); ++i) {
      if (!params[i])
        return CUDA_ERROR_INVALID_VALUE;
      memcpy(buffer.data() + kernel.params[i].offset, params[i], kernel.params[i].size);
    }
    return CUDA_SUCCESS;
  }
  if (!extra)
    return kernel.params.empty() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  const void *bytes = nullptr;
  size_t size = 0;
  for (size_t i = 0;; i += 2) {
    auto key = reinterpret_cast<uintptr_t>(extra[i]);
    if (key == CU_LAUNCH_PARAM_END_AS_INT)
      break;
    if (key == CU_LAUNCH_PARAM_BUFFER_POINTER_AS_INT)
      bytes = extra[i + 1];
    else if (key == CU_LAUNCH_PARAM_BUFFER_SIZE_AS_INT)
      size = *static_cast<const size_t *>(extra[i + 1]);
    else
      return CUDA_ERROR_INVALID_VALUE;
  }
  // Padding at the end may be left out, or be there.
  if (!bytes || size < kernel.paramBytes)
    return kernel.paramBytes ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
  memcpy(buffer.data(), bytes, kernel.paramBytes);
  return CUDA_SUCCESS;
}

CUresult errorOf(ptxsim::FaultKind kind) {
  switch (kind) {
  case ptxsim::FaultKind::None:
    return CUDA_SUCCESS;
  case ptxsim::FaultKind::OutOfBounds:
  case ptxsim::FaultKind::UseAfterFree:
    return CUDA_ERROR_ILLEGAL_ADDRESS;
  case ptxsim::FaultKind::Misaligned:
    return CUDA_ERROR_MISALIGNED_ADDRESS;
  case ptxsim::FaultKind::Assert:
    return CUDA_ERROR_ASSERT;
  case ptxsim::FaultKind::IllegalInstruction:
    return CUDA_ERROR_ILLEGAL_INSTRUCTION;
  case ptxsim::FaultKind::Timeout:
    return CUDA_ERROR_LAUNCH_TIMEOUT;
  // A GPU may not notice these at all; the stand-in does not let them pass.
  case ptxsim::FaultKind::UninitialisedRead:
  case ptxsim::FaultKind::Race:
  case ptxsim::FaultKind::BarrierDivergence:
  case ptxsim::FaultKind::AsyncCopy:
  case ptxsim::FaultKind::Deadlock:
  case ptxsim::FaultKind::Trap:
  case ptxsim::FaultKind::MbarrierMisuse:
  case ptxsim::FaultKind::MissingProxyFence:
  case ptxsim::FaultKind::InvalidLaunch:
    return CUDA_ERROR_LAUNCH_FAILED;
  }
  return CUDA_ERROR_UNKNOWN;
}

} // namespace

CUresult readLaunchAttribute(CUlaunchAttributeID id, const CUlaunchAttributeValue &value,
                             LaunchShape &shape) {
  switch (id) {
  case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
    shape.cluster[0] = value.clusterDim.x;
    shape.cluster[1] = value.clusterDim.y;
    shape.cluster[2] = value.clusterDim.z;
    for (unsigned extent : shape.cluster)
      if (!extent)
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
  case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
    shape.cooperative = value.cooperative != 0;
    return CUDA_SUCCESS;
  case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
    shape.programmatic = value.programmaticStreamSerializationAllowed != 0;
    return CUDA_SUCCESS;
  case CU_LAUNCH_ATTRIBUTE_PRIORITY:
    shape.priority = value.priority;
    return CUDA_SUCCESS;
  // Hints: they change when or how fast a kernel runs, not what it computes.
  case CU_LAUNCH_ATTRIBUTE_IGNORE:
  case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
  case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
  case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
  case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
  case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
  case CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION:
  case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
    return CUDA_SUCCESS;
  case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
  case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
  case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult checkLaunch(const Function &function, LaunchShape &shape) {
  const ptxsim::ArchLimits &limits = function.context().device().limits();
  CUresult result = checkGrid(shape, function.kernel->info(), limits);
  if (result == CUDA_SUCCESS)
    result = checkCluster(shape, function, limits);
  return result == CUDA_SUCCESS ? checkShared(shape, function) : result;
}

CUresult prepareLaunch(std::shared_ptr<Function> function, const LaunchShape &shape, void **params,
                       void **extra, Launch &launch) {
  launch.shape = shape;
  CUresult result = checkLaunch(*function, launch.shape);
  if (result == CUDA_SUCCESS)
    result = readParams(function->kernel->info(), params, extra, launch.params);
  launch.function = std::move(function);
  return result;
}

void runLaunch(Context &context, const Launch &launch) {
  const Function &function = *launch.function;
  const LaunchShape &shape = launch.shape;
  ptxsim::LaunchConfig config;
  config.grid = {shape.grid[0], shape.grid[1], shape.grid[2]};
  config.block = {shape.block[0], shape.block[1], shape.block[2]};
  if (shape.cluster[0])
    config.cluster = {shape.cluster[0], shape.cluster[1], shape.cluster[2]};
  config.dynamicSharedBytes = shape.dynamicShared;
  config.cooperative = shape.cooperative;
  config.params = launch.params.data();
  config.paramBytes = launch.params.size();
  WorkOrder &order = *currentOrder();
  bool isProgrammatic = shape.programmatic || order.hasProgrammaticEdge;
  ptxsim::Task task = driver().tasks->begin(function.kernel->info().name, order.known,
                                            isProgrammatic ? order.early : nullptr);
  config.task = &task;
  order.learn(task.after());
  order.beforeKernel = task.before;
  ptxsim::LaunchResult result = context.device().simulator().launch(*function.kernel, config);
  driver().kernels.add(function.kernel->info().name, result.counters);
  if (!result.ok())
    driver().fault(context, errorOf(result.fault.kind), result.fault.str());
}

} // namespace xc::cudasim
