//===- Graph.cpp - Graphs under construction ------------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Graph.h"

#include "Driver.h"

#include <algorithm>

namespace xc::cudasim {

//===----------------------------------------------------------------------===//
// Conditional handles
//===----------------------------------------------------------------------===//

CUgraphConditionalHandle Conditions::create(const Graph *graph, unsigned value,
                                            bool assignAtLaunch) {
  std::lock_guard<std::mutex> lock(mutex_);
  conditions_[++next_] = {graph, value, value, assignAtLaunch, false};
  return next_;
}

void Conditions::removeOf(const Graph *graph) {
  std::lock_guard<std::mutex> lock(mutex_);
  for (auto it = conditions_.begin(); it != conditions_.end();)
    // An executable keeps steering its conditional nodes when the graph that it
    // was made from is gone.
    if (it->second.graph == graph && !it->second.claimed)
      it = conditions_.erase(it);
    else
      ++it;
}

bool Conditions::set(CUgraphConditionalHandle handle, unsigned value) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto found = conditions_.find(handle);
  if (found == conditions_.end())
    return false;
  found->second.value = value;
  return true;
}

bool Conditions::get(CUgraphConditionalHandle handle, unsigned &value) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto found = conditions_.find(handle);
  if (found == conditions_.end())
    return false;
  value = found->second.value;
  return true;
}

void Conditions::assignDefaults(const std::vector<CUgraphConditionalHandle> &handles) {
  std::lock_guard<std::mutex> lock(mutex_);
  for (CUgraphConditionalHandle handle : handles) {
    auto found = conditions_.find(handle);
    if (found != conditions_.end() && found->second.assignAtLaunch)
      found->second.value = found->second.initial;
  }
}

bool Conditions::claim(CUgraphConditionalHandle handle, const Graph *graph) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto found = conditions_.find(handle);
  if (found == conditions_.end() || found->second.graph != graph || found->second.claimed)
    return false;
  found->second.claimed = true;
  return true;
}

bool Conditions::hasUnclaimed(const Graph *graph) {
  std::lock_guard<std::mutex> lock(mutex_);
  for (const auto &[handle, condition] : conditions_)
    if (condition.graph == graph && !condition.claimed)
      return true;
  return false;
}

//===----------------------------------------------------------------------===//
// Payloads
//===----------------------------------------------------------------------===//

namespace {

struct TypeOf {
  CUgraphNodeType operator()(const KernelPayload &) const { return CU_GRAPH_NODE_TYPE_KERNEL; }
  CUgraphNodeType operator()(const CopyPayload &) const { return CU_GRAPH_NODE_TYPE_MEMCPY; }
  CUgraphNodeType operator()(const FillPayload &) const { return CU_GRAPH_NODE_TYPE_MEMSET; }
  CUgraphNodeType operator()(const HostPayload &) const { return CU_GRAPH_NODE_TYPE_HOST; }
  CUgraphNodeType operator()(const ChildPayload &) const { return CU_GRAPH_NODE_TYPE_GRAPH; }
  CUgraphNodeType operator()(const EmptyPayload &) const { return CU_GRAPH_NODE_TYPE_EMPTY; }
  CUgraphNodeType operator()(const EventRecordPayload &) const {
    return CU_GRAPH_NODE_TYPE_EVENT_RECORD;
  }
  CUgraphNodeType operator()(const EventWaitPayload &) const {
    return CU_GRAPH_NODE_TYPE_WAIT_EVENT;
  }
  CUgraphNodeType operator()(const ConditionalPayload &) const {
    return CU_GRAPH_NODE_TYPE_CONDITIONAL;
  }
};

} // namespace

CUgraphNodeType typeOf(const Payload &payload) { return std::visit(TypeOf(), payload); }

Payload clonePayload(const Payload &payload) {
  if (const auto *child = std::get_if<ChildPayload>(&payload))
    return ChildPayload{child->graph->clone(/*embedded=*/true)};
  Payload copy = payload;
  if (auto *conditional = std::get_if<ConditionalPayload>(&copy))
    for (std::shared_ptr<Graph> &body : conditional->bodies)
      body = body->clone(/*embedded=*/true);
  return copy;
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

std::shared_ptr<Graph> Graph::create(bool embedded) {
  std::shared_ptr<Graph> graph(new Graph(embedded));
  graph->handle_ = driver().graphs.insert(graph);
  return graph;
}

Graph::~Graph() = default;

GraphNode *Graph::owned(CUgraphNode handle) const {
  std::shared_ptr<GraphNode> node = driver().nodes.find(handle);
  return node && node->graph == this ? node.get() : nullptr;
}

CUresult Graph::addNode(Payload payload, const CUgraphNode *dependencies,
                        const CUgraphEdgeData *data, size_t count, CUgraphNode &result) {
  if (count && !dependencies)
    return CUDA_ERROR_INVALID_VALUE;
  auto node = std::make_shared<GraphNode>();
  for (size_t i = 0; i < count; ++i) {
    GraphNode *from = owned(dependencies[i]);
    if (!from)
      return CUDA_ERROR_INVALID_VALUE;
    for (const GraphNode::Edge &edge : node->dependencies)
      if (edge.from == from)
        return CUDA_ERROR_INVALID_VALUE;
    node->dependencies.push_back({from, data ? data[i] : CUgraphEdgeData{}});
  }
  node->graph = this;
  node->payload = std::move(payload);
  nodes_.push_back(node);
  result = node->handle = driver().nodes.insert(node);
  return CUDA_SUCCESS;
}

CUresult Graph::addEdge(CUgraphNode fromHandle, CUgraphNode toHandle, const CUgraphEdgeData &data) {
  GraphNode *from = owned(fromHandle);
  GraphNode *to = owned(toHandle);
  if (!from || !to || from == to)
    return CUDA_ERROR_INVALID_VALUE;
  for (const GraphNode::Edge &edge : to->dependencies)
    if (edge.from == from)
      return CUDA_ERROR_INVALID_VALUE;
  to->dependencies.push_back({from, data});
  return CUDA_SUCCESS;
}

CUresult Graph::removeEdge(CUgraphNode fromHandle, CUgraphNode toHandle) {
  GraphNode *from = owned(fromHandle);
  GraphNode *to = owned(toHandle);
  if (!from || !to)
    return CUDA_ERROR_INVALID_VALUE;
  auto &edges = to->dependencies;
  auto found = std::find_if(edges.begin(), edges.end(),
                            [from](const GraphNode::Edge &edge) { return edge.from == from; });
  if (found == edges.end())
    return CUDA_ERROR_INVALID_VALUE;
  edges.erase(found);
  return CUDA_SUCCESS;
}

namespace {

/// Applies `function` to the graphs inside a node.
template <typename Function> void forEachInner(const GraphNode &node, Function function) {
  if (const auto *child = std::get_if<ChildPayload>(&node.payload))
    function(*child->graph);
  if (const auto *conditional = std::get_if<ConditionalPayload>(&node.payload))
    for (const std::shared_ptr<Graph> &body : conditional->bodies)
      function(*body);
}

} // namespace

void Graph::removeNode(GraphNode &node) {
  for (const std::shared_ptr<GraphNode> &other : nodes_) {
    auto &edges = other->dependencies;
    edges.erase(std::remove_if(edges.begin(), edges.end(),
                               [&node](const GraphNode::Edge &edge) { return edge.from == &node; }),
                edges.end());
  }
  forEachInner(node, [](Graph &inner) { inner.retire(); });
  driver().nodes.erase(node.handle);
  nodes_.erase(
      std::find_if(nodes_.begin(), nodes_.end(), [&node](const std::shared_ptr<GraphNode> &other) {
        return other.get() == &node;
      }));
}

std::shared_ptr<Graph> Graph::clone(bool embedded) const {
  std::shared_ptr<Graph> copy = create(embedded);
  std::unordered_map<const GraphNode *, GraphNode *> copies;
  for (const std::shared_ptr<GraphNode> &node : nodes_) {
    auto twin = std::make_shared<GraphNode>();
    twin->graph = copy.get();
    twin->payload = clonePayload(node->payload);
    twin->origin = node->handle;
    twin->handle = driver().nodes.insert(twin);
    copies[node.get()] = twin.get();
    copy->nodes_.push_back(std::move(twin));
  }
  for (const std::shared_ptr<GraphNode> &node : nodes_)
    for (const GraphNode::Edge &edge : node->dependencies)
      copies[node.get()]->dependencies.push_back({copies[edge.from], edge.data});
  return copy;
}

GraphNode *Graph::findClone(CUgraphNode origin) const {
  for (const std::shared_ptr<GraphNode> &node : nodes_)
    if (node->origin == origin)
      return node.get();
  return nullptr;
}

void Graph::retire() {
  Driver &state = driver();
  state.conditions.removeOf(this);
  state.graphs.erase(handle_);
  for (const std::shared_ptr<GraphNode> &node : nodes_) {
    state.nodes.erase(node->handle);
    forEachInner(*node, [](Graph &inner) { inner.retire(); });
  }
}

} // namespace xc::cudasim
