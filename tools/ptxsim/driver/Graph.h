//===- Graph.h - Graphs and their executables ------------------*- C++ -*--===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PTXSIM_DRIVER_GRAPH_H
#define PTXSIM_DRIVER_GRAPH_H

#include "Memory.h"
#include "Module.h"
#include "Stream.h"
#include "cuda_abi/cuda_abi.h"

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <variant>
#include <vector>

namespace xc::cudasim {

class Context;
class Graph;

//===----------------------------------------------------------------------===//
// Conditional handles
//===----------------------------------------------------------------------===//

/// The values that kernels set to steer conditional nodes. Thread-safe.
class Conditions {
public:
  CUgraphConditionalHandle create(const Graph *graph, unsigned value, bool assignAtLaunch);
  /// Removes the handles of a graph that is destroyed.
  void removeOf(const Graph *graph);
  bool set(CUgraphConditionalHandle handle, unsigned value);
  bool get(CUgraphConditionalHandle handle, unsigned &value);
  /// Gives the handles that want it their default value.
  void assignDefaults(const std::vector<CUgraphConditionalHandle> &handles);
  /// Claims the handle for a node; false if it is unknown, of another graph or
  /// taken.
  bool claim(CUgraphConditionalHandle handle, const Graph *graph);
  /// True if `graph` has a handle that no node has claimed.
  bool hasUnclaimed(const Graph *graph);

private:
  struct Condition {
    const Graph *graph;
    unsigned value, initial;
    bool assignAtLaunch;
    bool claimed;
  };
  std::mutex mutex_;
  std::unordered_map<CUgraphConditionalHandle, Condition> conditions_;
  CUgraphConditionalHandle next_ = 0;
};

//===----------------------------------------------------------------------===//
// What a node does
//===----------------------------------------------------------------------===//

/// A kernel node keeps its attributes beside its parameters: setting the one does
/// not touch the other.
struct KernelPayload {
  Launch launch;
  LaunchShape attributes; // only what attributes set
};
struct CopyPayload {
  Copy copy;
  CUcontext context = nullptr;
};
struct FillPayload {
  Fill fill;
  CUcontext context = nullptr;
};
struct HostPayload {
  CUhostFn function = nullptr;
  void *userData = nullptr;
};
struct ChildPayload {
  std::shared_ptr<Graph> graph;
};
struct EmptyPayload {};
struct EventRecordPayload {
  std::shared_ptr<Event> event;
};
struct EventWaitPayload {
  std::shared_ptr<Event> event;
};
struct ConditionalPayload {
  CUgraphConditionalHandle handle = 0;
  CUgraphConditionalNodeType type = CU_GRAPH_COND_TYPE_IF;
  std::vector<std::shared_ptr<Graph>> bodies;
};

using Payload =
    std::variant<KernelPayload, CopyPayload, FillPayload, HostPayload, ChildPayload, EmptyPayload,
                 EventRecordPayload, EventWaitPayload, ConditionalPayload>;

CUgraphNodeType typeOf(const Payload &payload);

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

struct GraphNode {
  CUgraphNode handle = nullptr;
  Graph *graph = nullptr;
  Payload payload;
  struct Edge {
    GraphNode *from;
    CUgraphEdgeData data;
  };
  std::vector<Edge> dependencies;
  CUgraphNode origin = nullptr; // of a clone: the node it was made from
};

/// A graph under construction. Like the driver's it is not thread-safe; the mutex
/// is for the tables of handles and for launches of what was made from it.
class Graph {
public:
  /// `embedded`: part of another graph, not the program's to destroy.
  static std::shared_ptr<Graph> create(bool embedded);
  ~Graph();

  CUgraph handle() const { return handle_; }
  bool isEmbedded() const { return embedded_; }
  const std::vector<std::shared_ptr<GraphNode>> &nodes() const { return nodes_; }

  /// Adds a node after `dependencies`, which must be nodes of this graph.
  CUresult addNode(Payload payload, const CUgraphNode *dependencies, const CUgraphEdgeData *data,
                   size_t count, CUgraphNode &node);
  CUresult addEdge(CUgraphNode from, CUgraphNode to, const CUgraphEdgeData &data);
  CUresult removeEdge(CUgraphNode from, CUgraphNode to);
  void removeNode(GraphNode &node);
  /// A deep copy whose nodes remember their origin.
  std::shared_ptr<Graph> clone(bool embedded) const;
  /// The node of this clone that was made from `origin`; null if there is none.
  GraphNode *findClone(CUgraphNode origin) const;
  /// Gives handles back to the driver: of this graph and of those in its nodes.
  void retire();

private:
  explicit Graph(bool embedded) : embedded_(embedded) {}
  GraphNode *owned(CUgraphNode handle) const;

  const bool embedded_;
  CUgraph handle_ = nullptr;
  std::vector<std::shared_ptr<GraphNode>> nodes_; // in order of creation
};

/// Deep copies what a payload owns: child graphs and bodies.
Payload clonePayload(const Payload &payload);

//===----------------------------------------------------------------------===//
// Executables
//===----------------------------------------------------------------------===//

/// A node of an executable, with its edges as indices into the plan.
struct PlanNode {
  CUgraphNode origin = nullptr; // the node of the graph it was made from
  Payload payload;              // its graphs are not used: see `bodies`
  std::shared_ptr<Context> context;
  std::vector<unsigned> dependencies, successors;
  std::vector<bool> programmatic; // by dependency: of its start only, up to a wait
  bool enabled = true;
  std::vector<std::shared_ptr<struct Plan>> bodies; // child graph, conditional
};

struct Plan {
  std::vector<PlanNode> nodes;
  std::shared_ptr<Plan> clone() const;
};

/// An executable graph. Launches share the plan; a change of parameters while one
/// is in flight goes to a copy, so that it affects later launches only.
/// Thread-safe as the driver's is: calls for one executable are not concurrent.
class GraphExec {
public:
  GraphExec(std::shared_ptr<Plan> plan, unsigned long long flags);

  unsigned long long flags() const { return flags_; }
  std::shared_ptr<Plan> plan() const { return plan_; }
  /// The node made from `origin`, for reading. Null if there is none.
  const PlanNode *find(CUgraphNode origin) const;
  /// The same, for changing.
  PlanNode *findMutable(CUgraphNode origin);
  Plan &mutablePlan();
  /// Conditional handles in it.
  const std::vector<CUgraphConditionalHandle> &conditions() const { return conditions_; }

  std::mutex mutex;
  CompletionRef lastLaunch; // launches of one executable do not overlap

private:
  void index(const Plan &plan, std::vector<unsigned> &path);

  std::shared_ptr<Plan> plan_;
  const unsigned long long flags_;
  /// Node -> index, body, index, ... from the outermost plan to the node.
  std::unordered_map<CUgraphNode, std::vector<unsigned>> paths_;
  std::vector<CUgraphConditionalHandle> conditions_;
};

/// Makes the plan of a graph within \p depth conditional nodes. On failure says which node and why.
CUresult makePlan(Context &context, const Graph &graph, unsigned depth, std::shared_ptr<Plan> &plan,
                  CUgraphNode &errorNode, CUgraphInstantiateResult &why);

/// Compares `graph` with the executable and takes over its parameters.
CUresult updateExec(GraphExec &exec, Context &context, const Graph &graph,
                    CUgraphExecUpdateResultInfo &info);

/// The same for the child graph in node `origin`. The executable is locked.
CUresult updateChild(GraphExec &exec, Context &context, CUgraphNode origin, const Graph &graph);

/// Whether the driver lets a node of an executable change from one payload to the
/// other.
CUresult checkExecChange(const Payload &from, const Payload &to);

/// Enqueues a launch.
CUresult launchExec(Context &context, const std::shared_ptr<GraphExec> &exec,
                    const std::shared_ptr<Stream> &stream);

} // namespace xc::cudasim

#endif // PTXSIM_DRIVER_GRAPH_H
