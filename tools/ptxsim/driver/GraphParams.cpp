//===- GraphParams.cpp - From the driver's node parameters to payloads ----===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GraphParams.h"

#include <algorithm>

namespace xc::cudasim {

CUresult kernelPayload(const CUDA_KERNEL_NODE_PARAMS *params, const LaunchShape &attributes,
                       Payload &payload) {
  if (!params)
    return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<Function> function = driver().functions.find(params->func);
  if (!function)
    return CUDA_ERROR_INVALID_HANDLE;
  KernelPayload kernel;
  kernel.attributes = attributes;
  LaunchShape shape = attributes;
  const unsigned grid[3] = {params->gridDimX, params->gridDimY, params->gridDimZ};
  const unsigned block[3] = {params->blockDimX, params->blockDimY, params->blockDimZ};
  std::copy(grid, grid + 3, shape.grid);
  std::copy(block, block + 3, shape.block);
  shape.dynamicShared = params->sharedMemBytes;
  CUresult result =
      prepareLaunch(std::move(function), shape, params->kernelParams, params->extra, kernel.launch);
  payload = std::move(kernel);
  return result;
}

CUresult copyPayload(const CUDA_MEMCPY3D *params, CUcontext context, Payload &payload) {
  if (!params)
    return CUDA_ERROR_INVALID_VALUE;
  if (!driver().contexts.find(context))
    return CUDA_ERROR_INVALID_CONTEXT;
  CopyPayload copy;
  copy.context = context;
  CUresult result = resolveCopy(*params, copy.copy);
  if (result == CUDA_SUCCESS && copy.copy.isEmpty())
    result = CUDA_ERROR_INVALID_VALUE;
  payload = copy;
  return result;
}

CUresult fillPayload(const CUDA_MEMSET_NODE_PARAMS *params, CUcontext context, Payload &payload) {
  if (!params)
    return CUDA_ERROR_INVALID_VALUE;
  if (!driver().contexts.find(context))
    return CUDA_ERROR_INVALID_CONTEXT;
  FillPayload fill;
  fill.context = context;
  CUresult result = resolveFill(*params, fill.fill);
  if (result == CUDA_SUCCESS && (!params->width || !params->height))
    result = CUDA_ERROR_INVALID_VALUE;
  payload = fill;
  return result;
}

CUresult hostPayload(const CUDA_HOST_NODE_PARAMS *params, Payload &payload) {
  if (!params || !params->fn)
    return CUDA_ERROR_INVALID_VALUE;
  payload = HostPayload{params->fn, params->userData};
  return CUDA_SUCCESS;
}

CUresult childPayload(CUgraph handle, Payload &payload) {
  std::shared_ptr<Graph> graph = driver().graphs.find(handle);
  if (!graph)
    return CUDA_ERROR_INVALID_VALUE;
  payload = ChildPayload{graph->clone(/*embedded=*/true)};
  return CUDA_SUCCESS;
}

CUresult eventPayload(CUevent handle, bool record, Payload &payload) {
  std::shared_ptr<Event> event = driver().events.find(handle);
  if (!event)
    return CUDA_ERROR_INVALID_VALUE;
  if (record)
    payload = EventRecordPayload{std::move(event)};
  else
    payload = EventWaitPayload{std::move(event)};
  return CUDA_SUCCESS;
}

CUresult payloadOf(CUgraphNodeParams &params, Payload &payload) {
  switch (params.type) {
  case CU_GRAPH_NODE_TYPE_KERNEL:
    return kernelPayload(&params.kernel, LaunchShape(), payload);
  case CU_GRAPH_NODE_TYPE_MEMCPY:
    return copyPayload(&params.memcpy.copyParams, params.memcpy.copyCtx, payload);
  case CU_GRAPH_NODE_TYPE_MEMSET: {
    const CUDA_MEMSET_NODE_PARAMS_v2 &wide = params.memset;
    CUDA_MEMSET_NODE_PARAMS fill = {wide.dst,         wide.pitch, wide.value,
                                    wide.elementSize, wide.width, wide.height};
    return fillPayload(&fill, wide.ctx, payload);
  }
  case CU_GRAPH_NODE_TYPE_HOST:
    return hostPayload(&params.host, payload);
  case CU_GRAPH_NODE_TYPE_GRAPH:
    if (params.graph.ownership != CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE)
      return CUDA_ERROR_NOT_SUPPORTED;
    return childPayload(params.graph.graph, payload);
  case CU_GRAPH_NODE_TYPE_EMPTY:
    payload = EmptyPayload();
    return CUDA_SUCCESS;
  case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
    return eventPayload(params.eventWait.event, /*record=*/false, payload);
  case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
    return eventPayload(params.eventRecord.event, /*record=*/true, payload);
  default:
    return CUDA_ERROR_NOT_SUPPORTED;
  }
}

//===----------------------------------------------------------------------===//
// Attributes of kernel nodes
//===----------------------------------------------------------------------===//

CUresult setKernelAttribute(KernelPayload &kernel, CUlaunchAttributeID id,
                            const CUlaunchAttributeValue &value) {
  LaunchShape attributes = kernel.attributes;
  CUresult result = readLaunchAttribute(id, value, attributes);
  if (result != CUDA_SUCCESS)
    return result;
  LaunchShape shape = kernel.launch.shape;
  std::copy(std::begin(attributes.cluster), std::end(attributes.cluster),
            std::begin(shape.cluster));
  shape.cooperative = attributes.cooperative;
  shape.programmatic = attributes.programmatic;
  shape.priority = attributes.priority;
  result = checkLaunch(*kernel.launch.function, shape);
  if (result != CUDA_SUCCESS)
    return result;
  kernel.attributes = attributes;
  kernel.launch.shape = shape;
  return CUDA_SUCCESS;
}

CUresult getKernelAttribute(const KernelPayload &kernel, CUlaunchAttributeID id,
                            CUlaunchAttributeValue &value) {
  const LaunchShape &shape = kernel.launch.shape;
  value = {};
  switch (id) {
  case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
    value.clusterDim.x = shape.cluster[0];
    value.clusterDim.y = shape.cluster[1];
    value.clusterDim.z = shape.cluster[2];
    return CUDA_SUCCESS;
  case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
    value.cooperative = shape.cooperative;
    return CUDA_SUCCESS;
  case CU_LAUNCH_ATTRIBUTE_PRIORITY:
    value.priority = shape.priority;
    return CUDA_SUCCESS;
  case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
    value.programmaticStreamSerializationAllowed = shape.programmatic;
    return CUDA_SUCCESS;
  default:
    return CUDA_ERROR_NOT_SUPPORTED;
  }
}

} // namespace xc::cudasim
