//===- GraphPlan.cpp - Instantiates and updates executables ---------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver.h"
#include "Graph.h"

#include <algorithm>

namespace xc::cudasim {
namespace {

/// The context in which a node runs; null if the node names one that is gone.
std::shared_ptr<Context> contextOf(Context &current, const Payload &payload) {
  CUcontext handle = nullptr;
  if (const auto *kernel = std::get_if<KernelPayload>(&payload))
    handle = kernel->launch.function->context().handle();
  else if (const auto *copy = std::get_if<CopyPayload>(&payload))
    handle = copy->context;
  else if (const auto *fill = std::get_if<FillPayload>(&payload))
    handle = fill->context;
  return handle ? driver().contexts.find(handle) : current.shared_from_this();
}

/// Bodies within so many conditional nodes hang where two more of these run side by side.
constexpr unsigned kHangingDepth = 2;

/// The body of a conditional node may hold device work only.
bool allowedInBody(CUgraphNodeType type) {
  return type == CU_GRAPH_NODE_TYPE_KERNEL || type == CU_GRAPH_NODE_TYPE_MEMCPY ||
         type == CU_GRAPH_NODE_TYPE_MEMSET || type == CU_GRAPH_NODE_TYPE_EMPTY ||
         type == CU_GRAPH_NODE_TYPE_GRAPH || type == CU_GRAPH_NODE_TYPE_CONDITIONAL;
}

/// True if the edges have no cycle.
bool isAcyclic(const Plan &plan) {
  std::vector<size_t> missing;
  std::vector<unsigned> ready;
  for (unsigned i = 0; i < plan.nodes.size(); ++i) {
    missing.push_back(plan.nodes[i].dependencies.size());
    if (!missing.back())
      ready.push_back(i);
  }
  size_t done = 0;
  while (!ready.empty()) {
    unsigned index = ready.back();
    ready.pop_back();
    ++done;
    for (unsigned successor : plan.nodes[index].successors)
      if (!--missing[successor])
        ready.push_back(successor);
  }
  return done == plan.nodes.size();
}

/// True if a path of edges leads from one node to another.
bool isOrdered(const Plan &plan, unsigned from, unsigned to) {
  std::vector<bool> seen(plan.nodes.size());
  std::vector<unsigned> open = {from};
  while (!open.empty()) {
    unsigned index = open.back();
    open.pop_back();
    if (index == to)
      return true;
    for (unsigned successor : plan.nodes[index].successors)
      if (!seen[successor]) {
        seen[successor] = true;
        open.push_back(successor);
      }
  }
  return false;
}

/// True if two conditional nodes may run at the same time.
bool hasConditionalsSideBySide(const Plan &plan) {
  std::vector<unsigned> conditionals;
  for (unsigned i = 0; i < plan.nodes.size(); ++i)
    if (std::get_if<ConditionalPayload>(&plan.nodes[i].payload))
      conditionals.push_back(i);
  for (size_t i = 0; i < conditionals.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (!isOrdered(plan, conditionals[i], conditionals[j]) &&
          !isOrdered(plan, conditionals[j], conditionals[i]))
        return true;
  return false;
}

/// Makes the plans of the graphs inside a node.
CUresult makeBodies(Context &context, const Payload &payload, unsigned depth, PlanNode &node,
                    CUgraphNode &errorNode, CUgraphInstantiateResult &why) {
  std::vector<const Graph *> graphs;
  if (const auto *child = std::get_if<ChildPayload>(&payload))
    graphs.push_back(child->graph.get());
  if (const auto *conditional = std::get_if<ConditionalPayload>(&payload)) {
    ++depth;
    for (const std::shared_ptr<Graph> &body : conditional->bodies)
      graphs.push_back(body.get());
  }
  for (const Graph *graph : graphs) {
    std::shared_ptr<Plan> body;
    CUresult result = makePlan(context, *graph, depth, body, errorNode, why);
    if (result != CUDA_SUCCESS)
      return result;
    node.bodies.push_back(std::move(body));
  }
  return CUDA_SUCCESS;
}

} // namespace

CUresult makePlan(Context &context, const Graph &graph, unsigned depth, std::shared_ptr<Plan> &plan,
                  CUgraphNode &errorNode, CUgraphInstantiateResult &why) {
  plan = std::make_shared<Plan>();
  std::unordered_map<const GraphNode *, unsigned> indices;
  for (const std::shared_ptr<GraphNode> &source : graph.nodes()) {
    indices[source.get()] = static_cast<unsigned>(plan->nodes.size());
    plan->nodes.emplace_back();
    PlanNode &node = plan->nodes.back();
    node.origin = source->handle;
    errorNode = source->handle;
    node.payload = source->payload;
    node.context = contextOf(context, source->payload);
    if (!node.context) {
      why = CUDA_GRAPH_INSTANTIATE_ERROR;
      return CUDA_ERROR_INVALID_CONTEXT;
    }
    if (depth && !allowedInBody(typeOf(source->payload))) {
      why = CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED;
      return CUDA_ERROR_NOT_SUPPORTED;
    }
    CUresult result = makeBodies(context, source->payload, depth, node, errorNode, why);
    if (result != CUDA_SUCCESS)
      return result;
  }
  for (const std::shared_ptr<GraphNode> &source : graph.nodes())
    for (const GraphNode::Edge &edge : source->dependencies) {
      unsigned from = indices[edge.from], to = indices[source.get()];
      plan->nodes[to].dependencies.push_back(from);
      plan->nodes[to].programmatic.push_back(edge.data.type ==
                                             CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC);
      plan->nodes[from].successors.push_back(to);
    }
  errorNode = nullptr;
  if (!isAcyclic(*plan)) {
    why = CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE;
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (depth >= kHangingDepth && hasConditionalsSideBySide(*plan)) {
    driver().report.add(
        "cuGraphInstantiate: two conditional nodes may run side by side in a body " +
        std::to_string(depth) +
        " conditional nodes deep; that hangs the GPU (seen on an H200 with driver "
        "580.159): order them by an edge");
    why = CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED;
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  if (driver().conditions.hasUnclaimed(&graph)) {
    why = CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED;
    return CUDA_ERROR_INVALID_VALUE;
  }
  why = CUDA_GRAPH_INSTANTIATE_SUCCESS;
  return CUDA_SUCCESS;
}

//===----------------------------------------------------------------------===//
// Changes
//===----------------------------------------------------------------------===//

namespace {

bool sameKind(const Device *a, bool pageableA, const Device *b, bool pageableB) {
  return a == b && pageableA == pageableB;
}

/// Which launches of a node would have to be made anew: the driver fixes the
/// engine and the mapping of a copy when it instantiates it.
CUresult checkCopyChange(const CopyPayload &from, const CopyPayload &to) {
  const Copy &a = from.copy, &b = to.copy;
  bool oneDimensional = a.height == 1 && a.depth == 1 && b.height == 1 && b.depth == 1;
  if (!oneDimensional || b.isEmpty() || from.context != to.context ||
      !sameKind(a.sourceDevice, a.sourcePageable, b.sourceDevice, b.sourcePageable) ||
      !sameKind(a.destinationDevice, a.destinationPageable, b.destinationDevice,
                b.destinationPageable))
    return CUDA_ERROR_INVALID_VALUE;
  return CUDA_SUCCESS;
}

CUresult checkFillChange(const FillPayload &from, const FillPayload &to) {
  const Fill &a = from.fill, &b = to.fill;
  if (a.height != 1 || b.height != 1 || !b.width || a.device != b.device ||
      from.context != to.context)
    return CUDA_ERROR_INVALID_VALUE;
  return CUDA_SUCCESS;
}

} // namespace

CUresult checkExecChange(const Payload &from, const Payload &to) {
  if (from.index() != to.index())
    return CUDA_ERROR_INVALID_VALUE;
  if (const auto *kernel = std::get_if<KernelPayload>(&from)) {
    const auto &changed = std::get<KernelPayload>(to);
    return &kernel->launch.function->context() == &changed.launch.function->context()
               ? CUDA_SUCCESS
               : CUDA_ERROR_INVALID_VALUE;
  }
  if (const auto *copy = std::get_if<CopyPayload>(&from))
    return checkCopyChange(*copy, std::get<CopyPayload>(to));
  if (const auto *fill = std::get_if<FillPayload>(&from))
    return checkFillChange(*fill, std::get<FillPayload>(to));
  return CUDA_SUCCESS;
}

namespace {

struct Updater {
  CUgraphExecUpdateResultInfo &info;

  CUresult refuse(CUgraphExecUpdateResult why, CUgraphNode node, CUgraphNode from = nullptr) {
    info.result = why;
    info.errorNode = node;
    info.errorFromNode = from;
    return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
  }

  /// Compares without changing anything, so that a refusal leaves all as it was.
  CUresult compare(const Plan &ours, const Plan &theirs);
  void take(Plan &ours, Plan &theirs);
};

CUresult Updater::compare(const Plan &ours, const Plan &theirs) {
  if (ours.nodes.size() != theirs.nodes.size())
    return refuse(CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, nullptr);
  for (size_t i = 0; i < ours.nodes.size(); ++i) {
    const PlanNode &from = ours.nodes[i], &to = theirs.nodes[i];
    if (from.payload.index() != to.payload.index())
      return refuse(CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED, to.origin);
    if (from.dependencies.size() != to.dependencies.size())
      return refuse(CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, to.origin);
    for (size_t j = 0; j < from.dependencies.size(); ++j)
      if (from.dependencies[j] != to.dependencies[j])
        return refuse(CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, to.origin,
                      theirs.nodes[to.dependencies[j]].origin);
    if (checkExecChange(from.payload, to.payload) != CUDA_SUCCESS)
      return refuse(std::get_if<KernelPayload>(&from.payload)
                        ? CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE
                        : CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED,
                    to.origin);
    if (const auto *kernel = std::get_if<KernelPayload>(&from.payload))
      if (kernel->attributes.cooperative !=
          std::get<KernelPayload>(to.payload).attributes.cooperative)
        return refuse(CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED, to.origin);
    if (from.bodies.size() != to.bodies.size())
      return refuse(CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, to.origin);
    for (size_t j = 0; j < from.bodies.size(); ++j)
      if (CUresult result = compare(*from.bodies[j], *to.bodies[j]); result != CUDA_SUCCESS)
        return result;
  }
  return CUDA_SUCCESS;
}

void Updater::take(Plan &ours, Plan &theirs) {
  for (size_t i = 0; i < ours.nodes.size(); ++i) {
    PlanNode &from = ours.nodes[i], &to = theirs.nodes[i];
    if (auto *kernel = std::get_if<KernelPayload>(&from.payload)) {
      // Drivers keep the cluster dimensions that were instantiated and say
      // nothing: a program that counts on more gets wrong results here too.
      auto &changed = std::get<KernelPayload>(to.payload);
      std::copy(std::begin(kernel->launch.shape.cluster), std::end(kernel->launch.shape.cluster),
                std::begin(changed.launch.shape.cluster));
      changed.attributes = kernel->attributes;
    }
    if (!std::get_if<ConditionalPayload>(&from.payload))
      from.payload = std::move(to.payload);
    for (size_t j = 0; j < from.bodies.size(); ++j)
      take(*from.bodies[j], *to.bodies[j]);
  }
}

} // namespace

CUresult updateExec(GraphExec &exec, Context &context, const Graph &graph,
                    CUgraphExecUpdateResultInfo &info) {
  info = {CU_GRAPH_EXEC_UPDATE_SUCCESS, nullptr, nullptr};
  std::shared_ptr<Plan> theirs;
  CUgraphNode errorNode = nullptr;
  CUgraphInstantiateResult why = CUDA_GRAPH_INSTANTIATE_SUCCESS;
  CUresult result = makePlan(context, graph, /*depth=*/0, theirs, errorNode, why);
  Updater updater{info};
  if (result != CUDA_SUCCESS)
    return updater.refuse(CU_GRAPH_EXEC_UPDATE_ERROR, errorNode);
  std::lock_guard<std::mutex> lock(exec.mutex);
  result = updater.compare(*exec.plan(), *theirs);
  if (result == CUDA_SUCCESS)
    updater.take(exec.mutablePlan(), *theirs);
  return result;
}

CUresult updateChild(GraphExec &exec, Context &context, CUgraphNode origin, const Graph &graph) {
  if (!std::get_if<ChildPayload>(&exec.find(origin)->payload))
    return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<Plan> theirs;
  CUgraphNode errorNode = nullptr;
  CUgraphInstantiateResult why = CUDA_GRAPH_INSTANTIATE_SUCCESS;
  CUresult result = makePlan(context, graph, /*depth=*/0, theirs, errorNode, why);
  CUgraphExecUpdateResultInfo info = {};
  Updater updater{info};
  if (result != CUDA_SUCCESS ||
      updater.compare(*exec.find(origin)->bodies[0], *theirs) != CUDA_SUCCESS)
    return CUDA_ERROR_INVALID_VALUE;
  updater.take(*exec.findMutable(origin)->bodies[0], *theirs);
  return CUDA_SUCCESS;
}

} // namespace xc::cudasim
