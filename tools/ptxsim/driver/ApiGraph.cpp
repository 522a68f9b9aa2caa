//===- ApiGraph.cpp - Construction of graphs ------------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GraphParams.h"

#include <algorithm>

namespace xc::cudasim {

namespace {

/// Makes the body graphs of a conditional node; their handles are written to an
/// array that lives as long as the stand-in, as the driver's does.
CUresult conditionalPayload(const Graph &graph, CUDA_CONDITIONAL_NODE_PARAMS &params,
                            Payload &payload) {
  unsigned most = params.type == CU_GRAPH_COND_TYPE_IF      ? 2
                  : params.type == CU_GRAPH_COND_TYPE_WHILE ? 1
                                                            : 1024;
  if (params.type > CU_GRAPH_COND_TYPE_SWITCH || !params.size || params.size > most ||
      !driver().conditions.claim(params.handle, &graph))
    return CUDA_ERROR_INVALID_VALUE;
  ConditionalPayload conditional;
  conditional.handle = params.handle;
  conditional.type = params.type;
  for (unsigned i = 0; i < params.size; ++i)
    conditional.bodies.push_back(Graph::create(/*embedded=*/true));
  params.phGraph_out = driver().keepHandles(conditional.bodies);
  payload = std::move(conditional);
  return CUDA_SUCCESS;
}

CUresult payloadOf(const Graph &graph, CUgraphNodeParams &params, Payload &payload) {
  for (int reserved : params.reserved0)
    if (reserved)
      return CUDA_ERROR_INVALID_VALUE;
  switch (params.type) {
  case CU_GRAPH_NODE_TYPE_CONDITIONAL:
    return conditionalPayload(graph, params.conditional, payload);
  default:
    return payloadOf(params, payload);
  }
}

template <typename Action> CUresult withGraph(const char *name, CUgraph handle, Action action) {
  return initialised(name, [&]() -> CUresult {
    std::shared_ptr<Graph> graph = driver().graphs.find(handle);
    return graph ? action(*graph) : CUDA_ERROR_INVALID_VALUE;
  });
}

template <typename Action> CUresult withNode(const char *name, CUgraphNode handle, Action action) {
  return initialised(name, [&]() -> CUresult {
    std::shared_ptr<GraphNode> node = driver().nodes.find(handle);
    return node ? action(*node) : CUDA_ERROR_INVALID_VALUE;
  });
}

/// Adds a node whose payload `make` fills in.
template <typename Make>
CUresult addNode(const char *name, CUgraphNode *node, CUgraph handle,
                 const CUgraphNode *dependencies, size_t count, Make make) {
  return withGraph(name, handle, [&](Graph &graph) -> CUresult {
    if (!node)
      return CUDA_ERROR_INVALID_VALUE;
    Payload payload;
    CUresult result = make(payload);
    return result == CUDA_SUCCESS
               ? graph.addNode(std::move(payload), dependencies, nullptr, count, *node)
               : result;
  });
}

/// Answers a query for a list: the number alone, or the first `*count` of it.
template <typename Item>
CUresult answerList(const std::vector<Item> &items, Item *out, size_t *count) {
  if (!count)
    return CUDA_ERROR_INVALID_VALUE;
  if (out) {
    size_t most = *count;
    std::copy_n(items.begin(), std::min(most, items.size()), out);
    std::fill(out + std::min(most, items.size()), out + most, Item());
  }
  *count = out ? std::min(*count, items.size()) : items.size();
  return CUDA_SUCCESS;
}

} // namespace

extern "C" {

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

CUresult cuGraphCreate(CUgraph *graph, unsigned flags) {
  return initialised("cuGraphCreate", [&]() -> CUresult {
    if (!graph || flags)
      return CUDA_ERROR_INVALID_VALUE;
    *graph = Graph::create(/*embedded=*/false)->handle();
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphDestroy(CUgraph handle) {
  return releasing("cuGraphDestroy", [&]() -> CUresult {
    std::shared_ptr<Graph> graph = driver().graphs.find(handle);
    if (!graph || graph->isEmbedded())
      return CUDA_ERROR_INVALID_VALUE;
    graph->retire();
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphClone(CUgraph *clone, CUgraph original) {
  return withGraph("cuGraphClone", original, [&](Graph &graph) -> CUresult {
    if (!clone)
      return CUDA_ERROR_INVALID_VALUE;
    *clone = graph.clone(/*embedded=*/false)->handle();
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphNodeFindInClone(CUgraphNode *node, CUgraphNode original, CUgraph clone) {
  return withGraph("cuGraphNodeFindInClone", clone, [&](Graph &graph) -> CUresult {
    GraphNode *found = graph.findClone(original);
    if (!node || !found)
      return CUDA_ERROR_INVALID_VALUE;
    *node = found->handle;
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphGetNodes(CUgraph handle, CUgraphNode *nodes, size_t *count) {
  return withGraph("cuGraphGetNodes", handle, [&](Graph &graph) -> CUresult {
    std::vector<CUgraphNode> list;
    for (const std::shared_ptr<GraphNode> &node : graph.nodes())
      list.push_back(node->handle);
    return answerList(list, nodes, count);
  });
}

CUresult cuGraphGetRootNodes(CUgraph handle, CUgraphNode *nodes, size_t *count) {
  return withGraph("cuGraphGetRootNodes", handle, [&](Graph &graph) -> CUresult {
    std::vector<CUgraphNode> list;
    for (const std::shared_ptr<GraphNode> &node : graph.nodes())
      if (node->dependencies.empty())
        list.push_back(node->handle);
    return answerList(list, nodes, count);
  });
}

CUresult cuGraphAddDependencies_v2(CUgraph handle, const CUgraphNode *from, const CUgraphNode *to,
                                   const CUgraphEdgeData *data, size_t count) {
  return withGraph("cuGraphAddDependencies", handle, [&](Graph &graph) -> CUresult {
    if (count && (!from || !to))
      return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count; ++i) {
      CUresult result = graph.addEdge(from[i], to[i], data ? data[i] : CUgraphEdgeData{});
      if (result != CUDA_SUCCESS)
        return result;
    }
    return CUDA_SUCCESS;
  });
}

PTXSIM_API CUresult cuGraphAddDependencies(CUgraph graph, const CUgraphNode *from,
                                           const CUgraphNode *to, size_t count) {
  return cuGraphAddDependencies_v2(graph, from, to, nullptr, count);
}

PTXSIM_API CUresult cuGraphRemoveDependencies(CUgraph handle, const CUgraphNode *from,
                                              const CUgraphNode *to, size_t count) {
  return withGraph("cuGraphRemoveDependencies", handle, [&](Graph &graph) -> CUresult {
    if (count && (!from || !to))
      return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count; ++i) {
      CUresult result = graph.removeEdge(from[i], to[i]);
      if (result != CUDA_SUCCESS)
        return result;
    }
    return CUDA_SUCCESS;
  });
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

CUresult cuGraphAddKernelNode_v2(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                 size_t count, const CUDA_KERNEL_NODE_PARAMS *params) {
  return addNode("cuGraphAddKernelNode", node, graph, dependencies, count,
                 [&](Payload &payload) { return kernelPayload(params, LaunchShape(), payload); });
}

CUresult cuGraphAddMemcpyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                              size_t count, const CUDA_MEMCPY3D *params, CUcontext context) {
  return addNode("cuGraphAddMemcpyNode", node, graph, dependencies, count,
                 [&](Payload &payload) { return copyPayload(params, context, payload); });
}

CUresult cuGraphAddMemsetNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                              size_t count, const CUDA_MEMSET_NODE_PARAMS *params,
                              CUcontext context) {
  return addNode("cuGraphAddMemsetNode", node, graph, dependencies, count,
                 [&](Payload &payload) { return fillPayload(params, context, payload); });
}

CUresult cuGraphAddHostNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                            size_t count, const CUDA_HOST_NODE_PARAMS *params) {
  return addNode("cuGraphAddHostNode", node, graph, dependencies, count,
                 [&](Payload &payload) { return hostPayload(params, payload); });
}

CUresult cuGraphAddChildGraphNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                  size_t count, CUgraph child) {
  return addNode("cuGraphAddChildGraphNode", node, graph, dependencies, count,
                 [&](Payload &payload) { return childPayload(child, payload); });
}

PTXSIM_API CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode handle, CUgraph *graph) {
  return withNode("cuGraphChildGraphNodeGetGraph", handle, [&](GraphNode &node) -> CUresult {
    auto *child = std::get_if<ChildPayload>(&node.payload);
    if (!child || !graph)
      return CUDA_ERROR_INVALID_VALUE;
    *graph = child->graph->handle();
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphAddEmptyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                             size_t count) {
  return addNode("cuGraphAddEmptyNode", node, graph, dependencies, count, [&](Payload &payload) {
    payload = EmptyPayload();
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphAddEventRecordNode(CUgraphNode *node, CUgraph graph,
                                   const CUgraphNode *dependencies, size_t count, CUevent event) {
  return addNode("cuGraphAddEventRecordNode", node, graph, dependencies, count,
                 [&](Payload &payload) { return eventPayload(event, true, payload); });
}

CUresult cuGraphAddEventWaitNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                 size_t count, CUevent event) {
  return addNode("cuGraphAddEventWaitNode", node, graph, dependencies, count,
                 [&](Payload &payload) { return eventPayload(event, false, payload); });
}

CUresult cuGraphAddNode_v2(CUgraphNode *node, CUgraph handle, const CUgraphNode *dependencies,
                           const CUgraphEdgeData *data, size_t count, CUgraphNodeParams *params) {
  return withGraph("cuGraphAddNode", handle, [&](Graph &graph) -> CUresult {
    if (!node || !params)
      return CUDA_ERROR_INVALID_VALUE;
    Payload payload;
    CUresult result = payloadOf(graph, *params, payload);
    return result == CUDA_SUCCESS
               ? graph.addNode(std::move(payload), dependencies, data, count, *node)
               : result;
  });
}

PTXSIM_API CUresult cuGraphAddNode(CUgraphNode *node, CUgraph graph,
                                   const CUgraphNode *dependencies, size_t count,
                                   CUgraphNodeParams *params) {
  return cuGraphAddNode_v2(node, graph, dependencies, nullptr, count, params);
}

PTXSIM_API CUresult cuGraphDestroyNode(CUgraphNode handle) {
  return withNode("cuGraphDestroyNode", handle, [](GraphNode &node) -> CUresult {
    node.graph->removeNode(node);
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphNodeGetType(CUgraphNode handle, CUgraphNodeType *type) {
  return withNode("cuGraphNodeGetType", handle, [&](GraphNode &node) -> CUresult {
    if (!type)
      return CUDA_ERROR_INVALID_VALUE;
    *type = typeOf(node.payload);
    return CUDA_SUCCESS;
  });
}

PTXSIM_API CUresult cuGraphNodeGetDependencies(CUgraphNode handle, CUgraphNode *dependencies,
                                               size_t *count) {
  return withNode("cuGraphNodeGetDependencies", handle, [&](GraphNode &node) -> CUresult {
    std::vector<CUgraphNode> list;
    for (const GraphNode::Edge &edge : node.dependencies)
      list.push_back(edge.from->handle);
    return answerList(list, dependencies, count);
  });
}

CUresult cuGraphKernelNodeSetAttribute(CUgraphNode handle, CUlaunchAttributeID attribute,
                                       const CUlaunchAttributeValue *value) {
  return withNode("cuGraphKernelNodeSetAttribute", handle, [&](GraphNode &node) -> CUresult {
    auto *kernel = std::get_if<KernelPayload>(&node.payload);
    if (!kernel || !value)
      return CUDA_ERROR_INVALID_VALUE;
    return setKernelAttribute(*kernel, attribute, *value);
  });
}

CUresult cuGraphKernelNodeGetAttribute(CUgraphNode handle, CUlaunchAttributeID attribute,
                                       CUlaunchAttributeValue *value) {
  return withNode("cuGraphKernelNodeGetAttribute", handle, [&](GraphNode &node) -> CUresult {
    auto *kernel = std::get_if<KernelPayload>(&node.payload);
    if (!kernel || !value)
      return CUDA_ERROR_INVALID_VALUE;
    return getKernelAttribute(*kernel, attribute, *value);
  });
}

CUresult cuGraphConditionalHandleCreate(CUgraphConditionalHandle *handle, CUgraph graphHandle,
                                        CUcontext, unsigned defaultValue, unsigned flags) {
  return withGraph("cuGraphConditionalHandleCreate", graphHandle, [&](Graph &graph) -> CUresult {
    if (!handle || (flags & ~CU_GRAPH_COND_ASSIGN_DEFAULT))
      return CUDA_ERROR_INVALID_VALUE;
    *handle = driver().conditions.create(&graph, defaultValue,
                                         (flags & CU_GRAPH_COND_ASSIGN_DEFAULT) != 0);
    return CUDA_SUCCESS;
  });
}

} // extern "C"
} // namespace xc::cudasim
