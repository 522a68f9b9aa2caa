//===- cuda_graph.h - One executable graph of a plan ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_RUNTIME_HAL_CUDA_CUDA_GRAPH_H
#define XC_RUNTIME_HAL_CUDA_CUDA_GRAPH_H

#include "runtime/hal/cuda/cuda_fill.h"

namespace xc::cuda {

/// What of a node is fixed when a graph is instantiated.
struct NodeForm {
  enum Kind : uint8_t { Empty, Kernel, Copy, Memset };
  Kind kind = Empty;
  /// A kernel that waits by itself for those before it.
  bool isProgrammatic = false;
  uint32_t cluster[3] = {1, 1, 1};

  bool operator==(const NodeForm &other) const {
    return kind == other.kind && isProgrammatic == other.isProgrammatic &&
           memcmp(cluster, other.cluster, sizeof(cluster)) == 0;
  }
  bool hasCluster() const { return cluster[0] * cluster[1] * cluster[2] > 1; }
};

/// A command as the driver wants it; one of the parameters is set, as the form says.
struct NodeWork {
  NodeForm form;
  CUDA_KERNEL_NODE_PARAMS kernel = {};
  CUDA_MEMCPY3D copy = {};
  FillLaunch fill;
  void *fillPointers[3] = {};
};

/// A graph with a node for each command of a plan, and its executable form, whose nodes are set one
/// by one. Commands of a loop's condition have two: one before the loop and one in its body. The
/// device's context is current in all functions but the constructor.
class CudaGraph {
public:
  explicit CudaGraph(CudaDevice &device) : device(device), nodes(device.allocator) {}
  CudaGraph(CudaGraph &&other);
  CudaGraph &operator=(CudaGraph &&other);
  ~CudaGraph() { release(); }

  /// \p count: of commands.
  Status begin(size_t count);
  /// The node of \p command; \p before names commands that were added earlier.
  Status add(uint32_t command, const NodeWork &work, Span<const uint32_t> before);
  Status instantiate();

  //===--- For plans with control -----------------------------------------===//

  /// In place of `begin`: all nodes go into a graph of somebody else's, who instantiates that.
  /// \p count: of commands.
  Status beginInside(size_t count) { return nodes.resize(count); }
  CUgraph root() const { return graph; }
  /// One more node of \p command, in the graph \p into.
  Status addCopy(uint32_t command, CUgraph into, const NodeWork &work,
                 Span<const CUgraphNode> before, CUgraphNode *out);
  /// A node that only waits. \p edges: null, or how for each of those \p before it.
  Status addJoin(CUgraph into, Span<const CUgraphNode> before, CUgraphNode *out,
                 const CUgraphEdgeData *edges = nullptr);
  Status createCondition(CUgraph into, CUgraphConditionalHandle *out);
  /// A kernel of the control \p command that sets \p condition from the byte at \p address.
  Status addSetCondition(uint32_t command, CUgraph into, CUgraphConditionalHandle condition,
                         uint64_t address, CUgraphNode before, CUgraphNode *out);
  /// \p bodies: the \p count graphs that the node chooses from.
  Status addConditional(CUgraph into, CUgraphConditionalHandle condition,
                        CUgraphConditionalNodeType type, uint32_t count, CUgraphNode before,
                        CUgraphNode *out, CUgraph *bodies);

  //===--- Changes --------------------------------------------------------===//

  const NodeForm &form(uint32_t node) const { return nodes[node].form; }
  /// Not of a node at a programmatic edge: what is behind a disabled kernel would no longer wait
  /// for what is before it.
  bool canBeDisabled(uint32_t node) const { return !nodes[node].hasProgrammaticEdge; }
  bool isCurrent(uint32_t node) const { return nodes[node].isCurrent; }
  void markStale(uint32_t node) { nodes[node].isCurrent = false; }
  /// \p isRejected: the driver does not take it for this node, so it needs a new graph.
  Status set(uint32_t node, const NodeWork &work, bool *isRejected);
  Status setKernel(uint32_t node, const CUDA_KERNEL_NODE_PARAMS &params, bool *isRejected);
  Status setCondition(uint32_t node, uint64_t address, bool *isRejected);
  Status disable(uint32_t node, bool *isRejected);
  Status launch(CUstream stream);

  uint64_t lastUse = 0;

private:
  struct Node {
    CUgraphNode handle = nullptr;
    NodeForm form;
    bool isEnabled = true;
    bool isCurrent = true; ///< it has the values of its command
    bool hasProgrammaticEdge = false;
    CUgraphConditionalHandle condition = 0; ///< of a control command
    uint32_t next = 0;                      ///< another node of the same command; 0: none
  };
  Node *nextOf(const Node &node) { return node.next ? &nodes[node.next] : nullptr; }
  Status remember(uint32_t command, const Node &node);
  Status addTo(CUgraph into, const NodeWork &work, Span<const CUgraphNode> before,
               CUgraphNode *out);
  Status finishSet(Node &node, CUresult result, const char *call, bool *isRejected);
  Status setEnabled(Node &node, bool isEnabled, bool *isRejected);
  bool isProgrammaticEdge(const NodeForm &form, uint32_t before) const;
  Status addProgrammaticEdge(Node &from, Node &to);
  void release();

  CudaDevice &device;
  Vector<Node> nodes; ///< one for each command, then the further ones of commands with several
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
};

} // namespace xc::cuda

#endif // XC_RUNTIME_HAL_CUDA_CUDA_GRAPH_H
