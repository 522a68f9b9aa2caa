//===- cuda_graph.cpp - One executable graph of a plan ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/hal/cuda/cuda_graph.h"

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
  XCR_RETURN_IF_ERROR(nodes.reserve(count));
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

Status CudaGraph::addSetCondition(CUgraph into, CUgraphConditionalHandle handle, uint64_t address,
                                  bool flip, CUgraphNode before, CUgraphNode *out) {
  unsigned flipValue = flip;
  void *arguments[] = {&handle, &address, &flipValue};
  CUDA_KERNEL_NODE_PARAMS params = {};
  XCR_RETURN_IF_ERROR(device.getConditionKernel(&params.func));
  params.gridDimX = params.gridDimY = params.gridDimZ = 1;
  params.blockDimX = params.blockDimY = params.blockDimZ = 1;
  params.kernelParams = arguments;
  return XCR_CUDA_CALL(device, cuGraphAddKernelNode, out, into, &before, 1, &params);
}

Status CudaGraph::addConditional(CUgraph into, CUgraphConditionalHandle handle,
                                 CUgraphConditionalNodeType type, CUgraphNode before,
                                 CUgraphNode *out, CUgraph *body) {
  CUgraphNodeParams params = {};
  params.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
  params.conditional.handle = handle;
  params.conditional.type = type;
  params.conditional.size = 1;
  params.conditional.ctx = device.context;
  XCR_RETURN_IF_ERROR(
      XCR_CUDA_CALL(device, cuGraphAddNode, out, into, &before, nullptr, 1, &params));
  *body = params.conditional.phGraph_out[0];
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

Status CudaGraph::add(const NodeWork &work, Span<const uint32_t> before) {
  Vector<CUgraphNode> handles(device.allocator);
  XCR_RETURN_IF_ERROR(handles.reserve(before.size));
  for (uint32_t earlier : before)
    if (!isProgrammaticEdge(work.form, earlier))
      XCR_RETURN_IF_ERROR(handles.push(nodes[earlier].handle));
  Node node;
  node.form = work.form;
  XCR_RETURN_IF_ERROR(addTo(graph, work, handles.span(), &node.handle));
  for (uint32_t earlier : before)
    if (isProgrammaticEdge(work.form, earlier))
      XCR_RETURN_IF_ERROR(addProgrammaticEdge(nodes[earlier], node));
  return nodes.push(node);
}

Status CudaGraph::instantiate() {
  return XCR_CUDA_CALL(device, cuGraphInstantiate, &exec, graph, 0);
}

Status CudaGraph::setKernel(uint32_t ordinal, const CUDA_KERNEL_NODE_PARAMS &params,
                            bool *isRejected) {
  Node &node = nodes[ordinal];
  assert(node.form.kind == NodeForm::Kernel && "a node keeps its form");
  return finishSet(node, device.cu.cuGraphExecKernelNodeSetParams(exec, node.handle, &params),
                   "cuGraphExecKernelNodeSetParams", isRejected);
}

Status CudaGraph::set(uint32_t ordinal, const NodeWork &work, bool *isRejected) {
  Node &node = nodes[ordinal];
  assert(node.form == work.form && "a node keeps its form");
  CUresult result = CUDA_SUCCESS;
  const char *call = "";
  switch (work.form.kind) {
  case NodeForm::Empty:
    break;
  case NodeForm::Kernel:
    return setKernel(ordinal, work.kernel, isRejected);
  case NodeForm::Copy:
    call = "cuGraphExecMemcpyNodeSetParams";
    result =
        device.cu.cuGraphExecMemcpyNodeSetParams(exec, node.handle, &work.copy, device.context);
    break;
  case NodeForm::Memset:
    call = "cuGraphExecMemsetNodeSetParams";
    result = device.cu.cuGraphExecMemsetNodeSetParams(exec, node.handle, &work.fill.memset,
                                                      device.context);
    break;
  }
  return finishSet(node, result, call, isRejected);
}

Status CudaGraph::finishSet(Node &node, CUresult result, const char *call, bool *isRejected) {
  if (result == CUDA_ERROR_INVALID_VALUE || result == CUDA_ERROR_NOT_SUPPORTED ||
      result == CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE) {
    *isRejected = true;
    return Status();
  }
  XCR_RETURN_IF_ERROR(device.check(result, call));
  if (!node.isEnabled)
    XCR_RETURN_IF_ERROR(XCR_CUDA_CALL(device, cuGraphNodeSetEnabled, exec, node.handle, 1));
  node.isEnabled = node.isCurrent = true;
  return Status();
}

Status CudaGraph::disable(uint32_t ordinal) {
  Node &node = nodes[ordinal];
  // A placeholder does nothing as it is.
  if (node.isEnabled && node.form.kind != NodeForm::Empty)
    XCR_RETURN_IF_ERROR(XCR_CUDA_CALL(device, cuGraphNodeSetEnabled, exec, node.handle, 0));
  node.isEnabled = node.form.kind == NodeForm::Empty;
  node.isCurrent = true;
  return Status();
}

Status CudaGraph::launch(CUstream stream) {
  return XCR_CUDA_CALL(device, cuGraphLaunch, exec, stream);
}
