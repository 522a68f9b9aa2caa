//===- ApiGraphExec.cpp - Executable graphs -------------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GraphParams.h"

namespace xc::cudasim {
namespace {

template <typename Action> CUresult withExec(const char *name, CUgraphExec handle, Action action) {
  return inContext(name, [&](Context &context) -> CUresult {
    std::shared_ptr<GraphExec> exec = driver().execs.find(handle);
    return exec ? action(context, exec) : CUDA_ERROR_INVALID_VALUE;
  });
}

/// Finds a node of an executable by the node that it was made from, which must
/// still be in its graph.
template <typename Action>
CUresult withExecNode(const char *name, CUgraphExec handle, CUgraphNode node, Action action) {
  return withExec(name, handle, [&](Context &, const std::shared_ptr<GraphExec> &exec) {
    std::lock_guard<std::mutex> lock(exec->mutex);
    if (!driver().nodes.find(node) || !exec->find(node))
      return CUDA_ERROR_INVALID_VALUE;
    return action(*exec);
  });
}

/// Replaces the parameters of a node by what `make` reads, if the driver allows
/// that change.
template <typename Make>
CUresult replacePayload(const char *name, CUgraphExec handle, CUgraphNode node, Make make) {
  return withExecNode(name, handle, node, [&](GraphExec &exec) -> CUresult {
    Payload payload;
    CUresult result = make(*exec.find(node), payload);
    if (result == CUDA_SUCCESS)
      result = checkExecChange(exec.find(node)->payload, payload);
    if (result == CUDA_SUCCESS)
      exec.findMutable(node)->payload = std::move(payload);
    return result;
  });
}

CUresult instantiate(Context &context, CUgraphExec *result, CUgraph handle,
                     unsigned long long flags, CUgraphNode &errorNode,
                     CUgraphInstantiateResult &why) {
  const unsigned long long known =
      CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD |
      CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
  why = CUDA_GRAPH_INSTANTIATE_ERROR;
  errorNode = nullptr;
  std::shared_ptr<Graph> graph = driver().graphs.find(handle);
  if (!result || !graph || (flags & ~known))
    return CUDA_ERROR_INVALID_VALUE;
  if (flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) {
    why = CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED;
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  std::shared_ptr<Plan> plan;
  CUresult made = makePlan(context, *graph, /*depth=*/0, plan, errorNode, why);
  if (made == CUDA_SUCCESS)
    *result = driver().execs.insert(std::make_shared<GraphExec>(std::move(plan), flags));
  return made;
}

} // namespace

extern "C" {

//===----------------------------------------------------------------------===//
// Life
//===----------------------------------------------------------------------===//

CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long flags) {
  return inContext("cuGraphInstantiate", [&](Context &context) -> CUresult {
    CUgraphNode errorNode;
    CUgraphInstantiateResult why;
    if (flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD)
      return CUDA_ERROR_INVALID_VALUE; // needs a stream: see ...WithParams
    return instantiate(context, exec, graph, flags, errorNode, why);
  });
}

CUresult cuGraphInstantiateWithParams(CUgraphExec *exec, CUgraph graph,
                                      CUDA_GRAPH_INSTANTIATE_PARAMS *params) {
  return inContext("cuGraphInstantiateWithParams", [&](Context &context) -> CUresult {
    if (!params)
      return CUDA_ERROR_INVALID_VALUE;
    return instantiate(context, exec, graph, params->flags, params->hErrNode_out,
                       params->result_out);
  });
}

CUresult cuGraphExecDestroy(CUgraphExec handle) {
  return releasing("cuGraphExecDestroy", [&]() -> CUresult {
    return driver().execs.erase(handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult cuGraphUpload(CUgraphExec handle, CUstream stream) {
  return withExec("cuGraphUpload", handle,
                  [&](Context &context, const std::shared_ptr<GraphExec> &) {
                    return context.findStream(stream) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
                  });
}

CUresult cuGraphLaunch(CUgraphExec handle, CUstream streamHandle) {
  return withExec("cuGraphLaunch", handle,
                  [&](Context &context, const std::shared_ptr<GraphExec> &exec) {
                    std::shared_ptr<Stream> stream = context.findStream(streamHandle);
                    return stream ? launchExec(context, exec, stream) : CUDA_ERROR_INVALID_HANDLE;
                  });
}

PTXSIM_API CUresult cuGraphExecGetFlags(CUgraphExec handle, cuuint64_t *flags) {
  return withExec("cuGraphExecGetFlags", handle,
                  [&](Context &, const std::shared_ptr<GraphExec> &exec) {
                    if (!flags)
                      return CUDA_ERROR_INVALID_VALUE;
                    *flags = exec->flags();
                    return CUDA_SUCCESS;
                  });
}

//===----------------------------------------------------------------------===//
// Changes
//===----------------------------------------------------------------------===//

CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec exec, CUgraphNode node,
                                           const CUDA_KERNEL_NODE_PARAMS *params) {
  return replacePayload("cuGraphExecKernelNodeSetParams", exec, node,
                        [&](const PlanNode &old, Payload &payload) -> CUresult {
                          const auto *kernel = std::get_if<KernelPayload>(&old.payload);
                          return kernel ? kernelPayload(params, kernel->attributes, payload)
                                        : CUDA_ERROR_INVALID_VALUE;
                        });
}

CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                        const CUDA_MEMCPY3D *params, CUcontext context) {
  return replacePayload(
      "cuGraphExecMemcpyNodeSetParams", exec, node,
      [&](const PlanNode &, Payload &payload) { return copyPayload(params, context, payload); });
}

CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                        const CUDA_MEMSET_NODE_PARAMS *params, CUcontext context) {
  return replacePayload(
      "cuGraphExecMemsetNodeSetParams", exec, node,
      [&](const PlanNode &, Payload &payload) { return fillPayload(params, context, payload); });
}

CUresult cuGraphExecHostNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                      const CUDA_HOST_NODE_PARAMS *params) {
  return replacePayload(
      "cuGraphExecHostNodeSetParams", exec, node,
      [&](const PlanNode &, Payload &payload) { return hostPayload(params, payload); });
}

PTXSIM_API CUresult cuGraphExecEventRecordNodeSetEvent(CUgraphExec exec, CUgraphNode node,
                                                       CUevent event) {
  return replacePayload("cuGraphExecEventRecordNodeSetEvent", exec, node,
                        [&](const PlanNode &, Payload &payload) {
                          return eventPayload(event, /*record=*/true, payload);
                        });
}

PTXSIM_API CUresult cuGraphExecEventWaitNodeSetEvent(CUgraphExec exec, CUgraphNode node,
                                                     CUevent event) {
  return replacePayload("cuGraphExecEventWaitNodeSetEvent", exec, node,
                        [&](const PlanNode &, Payload &payload) {
                          return eventPayload(event, /*record=*/false, payload);
                        });
}

CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec handle, CUgraphNode node,
                                            CUgraph childHandle) {
  return withExec("cuGraphExecChildGraphNodeSetParams", handle,
                  [&](Context &context, const std::shared_ptr<GraphExec> &exec) -> CUresult {
                    std::shared_ptr<Graph> child = driver().graphs.find(childHandle);
                    std::lock_guard<std::mutex> lock(exec->mutex);
                    if (!child || !driver().nodes.find(node) || !exec->find(node))
                      return CUDA_ERROR_INVALID_VALUE;
                    return updateChild(*exec, context, node, *child);
                  });
}

CUresult cuGraphNodeSetEnabled(CUgraphExec exec, CUgraphNode node, unsigned isEnabled) {
  return withExecNode("cuGraphNodeSetEnabled", exec, node, [&](GraphExec &found) -> CUresult {
    CUgraphNodeType type = typeOf(found.find(node)->payload);
    if (type != CU_GRAPH_NODE_TYPE_KERNEL && type != CU_GRAPH_NODE_TYPE_MEMSET &&
        type != CU_GRAPH_NODE_TYPE_MEMCPY)
      return CUDA_ERROR_INVALID_VALUE;
    found.findMutable(node)->enabled = isEnabled != 0;
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphNodeGetEnabled(CUgraphExec exec, CUgraphNode node, unsigned *isEnabled) {
  return withExecNode("cuGraphNodeGetEnabled", exec, node, [&](GraphExec &found) -> CUresult {
    if (!isEnabled)
      return CUDA_ERROR_INVALID_VALUE;
    *isEnabled = found.find(node)->enabled;
    return CUDA_SUCCESS;
  });
}

PTXSIM_API CUresult cuGraphExecNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                             CUgraphNodeParams *params) {
  return replacePayload("cuGraphExecNodeSetParams", exec, node,
                        [&](const PlanNode &old, Payload &payload) -> CUresult {
                          // A child graph is changed by its own call.
                          if (!params || params->type != typeOf(old.payload) ||
                              params->type == CU_GRAPH_NODE_TYPE_GRAPH)
                            return CUDA_ERROR_INVALID_VALUE;
                          if (const auto *kernel = std::get_if<KernelPayload>(&old.payload))
                            return kernelPayload(&params->kernel, kernel->attributes, payload);
                          return payloadOf(*params, payload);
                        });
}

CUresult cuGraphExecUpdate_v2(CUgraphExec handle, CUgraph graphHandle,
                              CUgraphExecUpdateResultInfo *info) {
  return withExec("cuGraphExecUpdate", handle,
                  [&](Context &context, const std::shared_ptr<GraphExec> &exec) -> CUresult {
                    std::shared_ptr<Graph> graph = driver().graphs.find(graphHandle);
                    if (!info || !graph)
                      return CUDA_ERROR_INVALID_VALUE;
                    return updateExec(*exec, context, *graph, *info);
                  });
}

} // extern "C"
} // namespace xc::cudasim
