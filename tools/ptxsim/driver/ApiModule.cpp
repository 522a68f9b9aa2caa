//===- ApiModule.cpp - Modules, functions, occupancy, launches ------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Entry.h"

#include <algorithm>
#include <cstdio>

namespace xc::cudasim {
namespace {

template <typename Action>
CUresult withFunction(const char *name, CUfunction handle, Action action) {
  return inContext(name, [&](Context &context) -> CUresult {
    std::shared_ptr<Function> function = driver().functions.find(handle);
    if (!function)
      return CUDA_ERROR_INVALID_HANDLE;
    return action(context, std::move(function));
  });
}

CUresult loadImage(Context &context, CUmodule *module, const void *image, JitLogs logs) {
  if (!module || !image)
    return CUDA_ERROR_INVALID_VALUE;
  return loadModule(context, image, logs, *module);
}

CUresult enqueueLaunch(Context &context, std::shared_ptr<Function> function,
                       const LaunchShape &shape, CUstream handle, void **params, void **extra) {
  std::shared_ptr<Stream> stream = context.findStream(handle);
  if (!stream || &function->context() != &context)
    return CUDA_ERROR_INVALID_HANDLE;
  auto launch = std::make_shared<Launch>();
  CUresult result = prepareLaunch(std::move(function), shape, params, extra, *launch);
  if (result != CUDA_SUCCESS)
    return result;
  if (driver().captures.holds(*stream)) {
    LaunchShape attributes;
    std::copy(std::begin(shape.cluster), std::end(shape.cluster), std::begin(attributes.cluster));
    attributes.cooperative = shape.cooperative;
    attributes.programmatic = shape.programmatic;
    attributes.priority = shape.priority;
    return driver().captures.add(*stream, KernelPayload{*launch, attributes});
  }
  Context *owner = &context; // outlives its streams' operations
  context.submit(stream, [owner, launch] { runLaunch(*owner, *launch); });
  return CUDA_SUCCESS;
}

CUresult shapeOf(const CUlaunchConfig &config, LaunchShape &shape) {
  const unsigned grid[3] = {config.gridDimX, config.gridDimY, config.gridDimZ};
  const unsigned block[3] = {config.blockDimX, config.blockDimY, config.blockDimZ};
  std::copy(grid, grid + 3, shape.grid);
  std::copy(block, block + 3, shape.block);
  shape.dynamicShared = config.sharedMemBytes;
  if (config.numAttrs && !config.attrs)
    return CUDA_ERROR_INVALID_VALUE;
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    CUresult result = readLaunchAttribute(config.attrs[i].id, config.attrs[i].value, shape);
    if (result != CUDA_SUCCESS)
      return result;
  }
  return CUDA_SUCCESS;
}

unsigned clusterBlocks(const LaunchShape &shape) {
  return shape.cluster[0] ? shape.cluster[0] * shape.cluster[1] * shape.cluster[2] : 1;
}

} // namespace

extern "C" {

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned count,
                            CUjit_option *options, void **values) {
  return inContext("cuModuleLoadDataEx", [&](Context &context) -> CUresult {
    if (count && (!options || !values))
      return CUDA_ERROR_INVALID_VALUE;
    return loadImage(context, module, image, JitLogs(count, options, values));
  });
}

PTXSIM_API CUresult cuModuleLoadData(CUmodule *module, const void *image) {
  return inContext("cuModuleLoadData", [&](Context &context) -> CUresult {
    return loadImage(context, module, image, JitLogs(0, nullptr, nullptr));
  });
}

PTXSIM_API CUresult cuModuleLoad(CUmodule *module, const char *file) {
  return inContext("cuModuleLoad", [&](Context &context) -> CUresult {
    FILE *stream = file ? fopen(file, "rb") : nullptr;
    if (!stream)
      return file ? CUDA_ERROR_FILE_NOT_FOUND : CUDA_ERROR_INVALID_VALUE;
    std::string text;
    char buffer[4096];
    while (size_t got = fread(buffer, 1, sizeof(buffer), stream))
      text.append(buffer, got);
    fclose(stream);
    return loadImage(context, module, text.c_str(), JitLogs(0, nullptr, nullptr));
  });
}

CUresult cuModuleUnload(CUmodule handle) {
  return releasing("cuModuleUnload", [&]() -> CUresult {
    std::shared_ptr<Module> module = unloadModule(handle);
    return module ? module->context().sticky() : CUDA_ERROR_INVALID_HANDLE;
  });
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
  return inContext("cuModuleGetFunction", [&](Context &) -> CUresult {
    if (!function || !name)
      return CUDA_ERROR_INVALID_VALUE;
    return findFunction(module, name, *function);
  });
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr *pointer, size_t *bytes, CUmodule handle,
                              const char *name) {
  return inContext("cuModuleGetGlobal", [&](Context &) -> CUresult {
    std::shared_ptr<Module> module = driver().modules.find(handle);
    if (!module)
      return CUDA_ERROR_INVALID_HANDLE;
    if (!name)
      return CUDA_ERROR_INVALID_VALUE;
    const ptxsim::GlobalInfo *global = module->code().findGlobal(name);
    if (!global)
      return CUDA_ERROR_NOT_FOUND;
    if (pointer)
      *pointer = global->address;
    if (bytes)
      *bytes = global->size;
    return CUDA_SUCCESS;
  });
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction handle) {
  return withFunction(
      "cuFuncGetAttribute", handle, [&](Context &, std::shared_ptr<Function> function) {
        return value ? function->getAttribute(attribute, *value) : CUDA_ERROR_INVALID_VALUE;
      });
}

CUresult cuFuncSetAttribute(CUfunction handle, CUfunction_attribute attribute, int value) {
  return withFunction("cuFuncSetAttribute", handle,
                      [&](Context &, std::shared_ptr<Function> function) {
                        return function->setAttribute(attribute, value);
                      });
}

CUresult cuFuncGetModule(CUmodule *module, CUfunction handle) {
  return withFunction("cuFuncGetModule", handle,
                      [&](Context &, std::shared_ptr<Function> function) {
                        if (!module)
                          return CUDA_ERROR_INVALID_VALUE;
                        *module = function->moduleHandle;
                        return CUDA_SUCCESS;
                      });
}

CUresult cuFuncGetName(const char **name, CUfunction handle) {
  return withFunction("cuFuncGetName", handle, [&](Context &, std::shared_ptr<Function> function) {
    if (!name)
      return CUDA_ERROR_INVALID_VALUE;
    *name = function->kernel->info().name.c_str();
    return CUDA_SUCCESS;
  });
}

CUresult cuFuncGetParamInfo(CUfunction handle, size_t index, size_t *offset, size_t *bytes) {
  return withFunction("cuFuncGetParamInfo", handle,
                      [&](Context &, std::shared_ptr<Function> function) {
                        const auto &params = function->kernel->info().params;
                        if (index >= params.size())
                          return CUDA_ERROR_INVALID_VALUE;
                        if (offset)
                          *offset = params[index].offset;
                        if (bytes)
                          *bytes = params[index].size;
                        return CUDA_SUCCESS;
                      });
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction handle, int blockSize,
                                                     size_t dynamicShared) {
  return withFunction("cuOccupancyMaxActiveBlocksPerMultiprocessor", handle,
                      [&](Context &context, std::shared_ptr<Function> function) {
                        if (!blocks || blockSize <= 0)
                          return CUDA_ERROR_INVALID_VALUE;
                        *blocks = static_cast<int>(context.device().simulator().maxActiveBlocks(
                            *function->kernel, static_cast<unsigned>(blockSize),
                            static_cast<uint32_t>(dynamicShared)));
                        return CUDA_SUCCESS;
                      });
}

CUresult cuOccupancyMaxPotentialBlockSize(int *minGridSize, int *blockSize, CUfunction handle,
                                          CUoccupancyB2DSize sharedOf, size_t dynamicShared,
                                          int limit) {
  return withFunction("cuOccupancyMaxPotentialBlockSize", handle,
                      [&](Context &context, std::shared_ptr<Function> function) {
                        if (!minGridSize || !blockSize)
                          return CUDA_ERROR_INVALID_VALUE;
                        const ptxsim::ArchLimits &limits = context.device().limits();
                        int largest = static_cast<int>(function->kernel->info().maxThreadsPerBlock);
                        if (limit > 0)
                          largest = std::min(largest, limit);
                        unsigned best = 0;
                        int step = static_cast<int>(limits.warpSize);
                        for (int size = largest / step * step; size > 0; size -= step) {
                          size_t shared = sharedOf ? sharedOf(size) : dynamicShared;
                          unsigned blocks = context.device().simulator().maxActiveBlocks(
                              *function->kernel, static_cast<unsigned>(size),
                              static_cast<uint32_t>(shared));
                          unsigned threads = blocks * static_cast<unsigned>(size);
                          if (threads <= best)
                            continue;
                          best = threads;
                          *blockSize = size;
                          *minGridSize = static_cast<int>(blocks * limits.multiprocessors);
                        }
                        return best ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
                      });
}

CUresult cuOccupancyMaxPotentialClusterSize(int *clusterSize, CUfunction handle,
                                            const CUlaunchConfig *config) {
  return withFunction("cuOccupancyMaxPotentialClusterSize", handle,
                      [&](Context &context, std::shared_ptr<Function> function) {
                        if (!clusterSize || !config)
                          return CUDA_ERROR_INVALID_VALUE;
                        const ptxsim::ArchLimits &limits = context.device().limits();
                        if (limits.major < 9)
                          return CUDA_ERROR_NOT_SUPPORTED;
                        *clusterSize = function->nonPortableCluster.load()
                                           ? 16
                                           : static_cast<int>(limits.maxClusterSize);
                        return CUDA_SUCCESS;
                      });
}

CUresult cuOccupancyMaxActiveClusters(int *clusters, CUfunction handle,
                                      const CUlaunchConfig *config) {
  return withFunction("cuOccupancyMaxActiveClusters", handle,
                      [&](Context &context, std::shared_ptr<Function> function) {
                        LaunchShape shape;
                        if (!clusters || !config || shapeOf(*config, shape) != CUDA_SUCCESS)
                          return CUDA_ERROR_INVALID_VALUE;
                        const ptxsim::ArchLimits &limits = context.device().limits();
                        if (limits.major < 9)
                          return CUDA_ERROR_NOT_SUPPORTED;
                        unsigned perSM = context.device().simulator().maxActiveBlocks(
                            *function->kernel, shape.block[0] * shape.block[1] * shape.block[2],
                            shape.dynamicShared);
                        *clusters =
                            static_cast<int>(perSM * limits.multiprocessors / clusterBlocks(shape));
                        return CUDA_SUCCESS;
                      });
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

CUresult cuLaunchKernel(CUfunction handle, unsigned gridX, unsigned gridY, unsigned gridZ,
                        unsigned blockX, unsigned blockY, unsigned blockZ, unsigned dynamicShared,
                        CUstream stream, void **params, void **extra) {
  return withFunction(
      "cuLaunchKernel", handle, [&](Context &context, std::shared_ptr<Function> function) {
        LaunchShape shape;
        shapeOf({gridX, gridY, gridZ, blockX, blockY, blockZ, dynamicShared, stream, nullptr, 0},
                shape);
        return enqueueLaunch(context, std::move(function), shape, stream, params, extra);
      });
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction handle, void **params,
                          void **extra) {
  return withFunction(
      "cuLaunchKernelEx", handle, [&](Context &context, std::shared_ptr<Function> function) {
        LaunchShape shape;
        if (!config)
          return CUDA_ERROR_INVALID_VALUE;
        CUresult result = shapeOf(*config, shape);
        return result == CUDA_SUCCESS ? enqueueLaunch(context, std::move(function), shape,
                                                      config->hStream, params, extra)
                                      : result;
      });
}

PTXSIM_API CUresult cuLaunchCooperativeKernel(CUfunction handle, unsigned gridX, unsigned gridY,
                                              unsigned gridZ, unsigned blockX, unsigned blockY,
                                              unsigned blockZ, unsigned dynamicShared,
                                              CUstream stream, void **params) {
  return withFunction(
      "cuLaunchCooperativeKernel", handle,
      [&](Context &context, std::shared_ptr<Function> function) {
        LaunchShape shape;
        shapeOf({gridX, gridY, gridZ, blockX, blockY, blockZ, dynamicShared, stream, nullptr, 0},
                shape);
        shape.cooperative = true;
        return enqueueLaunch(context, std::move(function), shape, stream, params, nullptr);
      });
}

} // extern "C"
} // namespace xc::cudasim
