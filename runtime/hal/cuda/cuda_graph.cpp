//===- cuda_graph.cpp - One executable graph of a plan ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/hal/cuda/cuda_graph.h"

#include <algorithm>

using namespace xc;
using namespace xc::cuda;

CudaGraph::CudaGraph(CudaGraph &&other)
    : lastUse(other.lastUse), device(other.device), nodes(std::move(other.nodes)),
      graph(other.graph), exec(other.exec) {
  other.graph = nullptr;
  other.exec = nullptr;
}

CudaGraph &CudaGraph::operator=(CudaGraph &&other) {
  assert(&device == &other.device && "graphs of two devices");
  std::swap(lastUse, other.lastUse);
  std::swap(graph, other.graph);
  std::swap(exec, other.exec);
  nodes = std::move(other.nodes);
  return *this;
}

void CudaGraph::release() {
  // An executable graph in flight is freed by the driver when it has ended.
  if (exec)
    device.cu.cuGraphExecDestroy(exec);
  if (graph)
    device.cu.cuGraphDestroy(graph);
}

Status CudaGraph::begin(size_t count) {
  XCR_RETURN_IF_ERROR(nodes.resize(count));
  return XCR_CUDA_CALL(device, cuGraphCreate, &graph, 0);
}

Status CudaGraph::addTo(CUgraph into, const NodeWork &work, Span<const CUgraphNode> before,
                        CUgraphNode *out) {
  switch (work.form.kind) {
  case NodeForm::Empty:
    return XCR_CUDA_CALL(device, cuGraphAddEmptyNode, out, into, before.data, before.size);
  case NodeForm::Copy:
    return XCR_CUDA_CALL(device, cuGraphAddMemcpyNode, out, into, before.data, before.size,
                         &work.copy, device.context);
  case NodeForm::Memset:
    return XCR_CUDA_CALL(device, cuGraphAddMemsetNode, out, into, before.data, before.size,
                         &work.fill.memset, device.context);
  case NodeForm::Kernel:
    break;
  }
  XCR_RETURN_IF_ERROR(XCR_CUDA_CALL(device, cuGraphAddKernelNode, out, into, before.data,
                                    before.size, &work.kernel));
  if (!work.form.hasCluster())
    return Status();
  CUlaunchAttributeValue value = {};
  value.clusterDim.x = work.form.cluster[0];
  value.clusterDim.y = work.form.cluster[1];
  value.clusterDim.z = work.form.cluster[2];
  return XCR_CUDA_CALL(device, cuGraphKernelNodeSetAttribute, *out,
                       CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &value);
}

Status CudaGraph::createCondition(CUgraph into, CUgraphConditionalHandle *out) {
  return XCR_CUDA_CALL(device, cuGraphConditionalHandleCreate, out, into, device.context, 0,
                       CU_GRAPH_COND_ASSIGN_DEFAULT);
}

/// The condition of a while is in a graph twice, so one inside another is there four times.
static constexpr size_t kMostNodes = 1 << 20;

/// Keeps \p node as the command's own, or as one more of it.
Status CudaGraph::remember(uint32_t command, const Node &node) {
  Node &first = nodes[command];
  if (!first.handle) {
    first = node;
    return Status();
  }
  if (nodes.size() >= kMostNodes)
    return makeStatus(device.allocator, XCR_STATUS_UNSUPPORTED,
                      "whiles in the conditions of whiles make a graph of more than %zu nodes",
                      kMostNodes);
  Node further = node;
  further.next = first.next;
  first.next = static_cast<uint32_t>(nodes.size());
  return nodes.push(further);
}

Status CudaGraph::addCopy(uint32_t command, CUgraph into, const NodeWork &work,
                          Span<const CUgraphNode> before, CUgraphNode *out) {
  Node node;
  node.form = work.form;
  XCR_RETURN_IF_ERROR(addTo(into, work, before, &node.handle));
  *out = node.handle;
  return remember(command, node);
}

Status CudaGraph::addJoin(CUgraph into, Span<const CUgraphNode> before, CUgraphNode *out,
                          const CUgraphEdgeData *edges) {
  if (!edges)
    return XCR_CUDA_CALL(device, cuGraphAddEmptyNode, out, into, before.data, before.size);
  CUgraphNodeParams params = {};
  params.type = CU_GRAPH_NODE_TYPE_EMPTY;
  return XCR_CUDA_CALL(device, cuGraphAddNode, out, into, before.data, edges, before.size, &params);
}

namespace {

/// One launch of the condition kernel; lives until the driver has copied the parameters.
struct ConditionLaunch {
  uint64_t condition, address;
  void *pointers[2] = {&condition, &address};

  CUDA_KERNEL_NODE_PARAMS params(CUfunction function) {
    CUDA_KERNEL_NODE_PARAMS params = {};
    params.func = function;
    params.gridDimX = params.gridDimY = params.gridDimZ = 1;
    params.blockDimX = params.blockDimY = params.blockDimZ = 1;
    params.kernelParams = pointers;
    return params;
  }
};

} // namespace

Status CudaGraph::addSetCondition(uint32_t command, CUgraph into,
                                  CUgraphConditionalHandle condition, uint64_t address,
                                  CUgraphNode before, CUgraphNode *out) {
  ConditionLaunch launch{condition, address};
  CUfunction function = nullptr;
  XCR_RETURN_IF_ERROR(device.getConditionKernel(&function));
  CUDA_KERNEL_NODE_PARAMS params = launch.params(function);
  Node node;
  node.condition = condition;
  XCR_RETURN_IF_ERROR(
      XCR_CUDA_CALL(device, cuGraphAddKernelNode, &node.handle, into, &before, 1, &params));
  *out = node.handle;
  return remember(command, node);
}

Status CudaGraph::addConditional(CUgraph into, CUgraphConditionalHandle condition,
                                 CUgraphConditionalNodeType type, uint32_t count,
                                 CUgraphNode before, CUgraphNode *out, CUgraph *bodies) {
  CUgraphNodeParams params = {};
  params.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
  params.conditional.handle = condition;
  params.conditional.type = type;
  params.conditional.size = count;
  params.conditional.ctx = device.context;
  XCR_RETURN_IF_ERROR(
      XCR_CUDA_CALL(device, cuGraphAddNode, out, into, &before, nullptr, 1, &params));
  std::copy_n(params.conditional.phGraph_out, count, bodies);
  return Status();
}

/// Whether a node of this form may be launched before the kernel in front of it has ended.
bool CudaGraph::isProgrammaticEdge(const NodeForm &form, uint32_t before) const {
  return form.isProgrammatic && device.capabilities.hasProgrammaticEdges &&
         nodes[before].form.kind == NodeForm::Kernel;
}

Status CudaGraph::addProgrammaticEdge(Node &from, Node &to) {
  CUgraphEdgeData data = {};
  data.from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC;
  data.type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
  XCR_RETURN_IF_ERROR(
      XCR_CUDA_CALL(device, cuGraphAddDependencies, graph, &from.handle, &to.handle, &data, 1));
  from.hasProgrammaticEdge = to.hasProgrammaticEdge = true;
  return Status();
}

Status CudaGraph::add(uint32_t command, const NodeWork &work, Span<const uint32_t> before) {
  Vector<CUgraphNode> handles(device.allocator);
  XCR_RETURN_IF_ERROR(handles.reserve(before.size));
  for (uint32_t earlier : before)
    if (!isProgrammaticEdge(work.form, earlier))
      XCR_RETURN_IF_ERROR(handles.push(nodes[earlier].handle));
  Node &node = nodes[command];
  node.form = work.form;
  XCR_RETURN_IF_ERROR(addTo(graph, work, handles.span(), &node.handle));
  for (uint32_t earlier : before)
    if (isProgrammaticEdge(work.form, earlier))
      XCR_RETURN_IF_ERROR(addProgrammaticEdge(nodes[earlier], node));
  return Status();
}

Status CudaGraph::instantiate() {
  return XCR_CUDA_CALL(device, cuGraphInstantiate, &exec, graph, 0);
}

Status CudaGraph::setKernel(uint32_t ordinal, const CUDA_KERNEL_NODE_PARAMS &params,
                            bool *isRejected) {
  assert(nodes[ordinal].form.kind == NodeForm::Kernel && "a node keeps its form");
  for (Node *node = &nodes[ordinal]; node && !*isRejected; node = nextOf(*node))
    XCR_RETURN_IF_ERROR(
        finishSet(*node, device.cu.cuGraphExecKernelNodeSetParams(exec, node->handle, &params),
                  "cuGraphExecKernelNodeSetParams", isRejected));
  return Status();
}

Status CudaGraph::setCondition(uint32_t ordinal, uint64_t address, bool *isRejected) {
  CUfunction function = nullptr;
  XCR_RETURN_IF_ERROR(device.getConditionKernel(&function));
  for (Node *node = &nodes[ordinal]; node && !*isRejected; node = nextOf(*node)) {
    ConditionLaunch launch{node->condition, address};
    CUDA_KERNEL_NODE_PARAMS params = launch.params(function);
    XCR_RETURN_IF_ERROR(
        finishSet(*node, device.cu.cuGraphExecKernelNodeSetParams(exec, node->handle, &params),
                  "cuGraphExecKernelNodeSetParams", isRejected));
  }
  return Status();
}

Status CudaGraph::set(uint32_t ordinal, const NodeWork &work, bool *isRejected) {
  assert(nodes[ordinal].form == work.form && "a node keeps its form");
  if (work.form.kind == NodeForm::Kernel)
    return setKernel(ordinal, work.kernel, isRejected);
  for (Node *node = &nodes[ordinal]; node && !*isRejected; node = nextOf(*node)) {
    CUresult result = CUDA_SUCCESS;
    const char *call = "";
    if (work.form.kind == NodeForm::Copy) {
      call = "cuGraphExecMemcpyNodeSetParams";
      result =
          device.cu.cuGraphExecMemcpyNodeSetParams(exec, node->handle, &work.copy, device.context);
    } else if (work.form.kind == NodeForm::Memset) {
      call = "cuGraphExecMemsetNodeSetParams";
      result = device.cu.cuGraphExecMemsetNodeSetParams(exec, node->handle, &work.fill.memset,
                                                        device.context);
    }
    XCR_RETURN_IF_ERROR(finishSet(*node, result, call, isRejected));
  }
  return Status();
}

/// Whether the driver only says that a node cannot take a change.
static bool isRejection(CUresult result) {
  return result == CUDA_ERROR_INVALID_VALUE || result == CUDA_ERROR_NOT_SUPPORTED ||
         result == CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
}

Status CudaGraph::finishSet(Node &node, CUresult result, const char *call, bool *isRejected) {
  *isRejected = isRejection(result);
  if (*isRejected)
    return Status();
  XCR_RETURN_IF_ERROR(device.check(result, call));
  node.isCurrent = true;
  return node.isEnabled ? Status() : setEnabled(node, true, isRejected);
}

Status CudaGraph::setEnabled(Node &node, bool isEnabled, bool *isRejected) {
  CUresult result = device.cu.cuGraphNodeSetEnabled(exec, node.handle, isEnabled);
  *isRejected = isRejection(result);
  if (*isRejected)
    return Status();
  node.isEnabled = isEnabled;
  return device.check(result, "cuGraphNodeSetEnabled");
}

Status CudaGraph::disable(uint32_t ordinal, bool *isRejected) {
  for (Node *node = &nodes[ordinal]; node && !*isRejected; node = nextOf(*node)) {
    node->isCurrent = true;
    // A placeholder does nothing as it is.
    if (node->isEnabled && node->form.kind != NodeForm::Empty)
      XCR_RETURN_IF_ERROR(setEnabled(*node, false, isRejected));
  }
  return Status();
}

Status CudaGraph::launch(CUstream stream) {
  return XCR_CUDA_CALL(device, cuGraphLaunch, exec, stream);
}
