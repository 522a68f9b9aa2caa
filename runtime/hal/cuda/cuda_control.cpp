//===- cuda_control.cpp - Ifs and whiles of a recording ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// As a graph: an if is a conditional node with a body for each region. A while is its first region,
// then a conditional node whose body is the second region and the first once more. A kernel in
// front of each, and at the end of a while's body, takes the byte that the plan's condition is over
// to the node's handle. The host does nothing between the start and the end. Nodes of a body are
// set through the whole executable graph like any other.
//
// Where conditional nodes are within others, those of one graph run one after the other: two side
// by side three levels deep were seen to hang an H200 with driver 580.159.
//
// On a stream, for drivers without conditional nodes and for profiles: the host waits for the byte
// and launches what it says.
//
//===----------------------------------------------------------------------===//

#include "runtime/hal/cuda/cuda_recording.h"

#include <algorithm>

using namespace xc;
using namespace xc::cuda;
using hal::CommandKind;

//===----------------------------------------------------------------------===//
// In a graph
//===----------------------------------------------------------------------===//

Status CudaRecording::addControlGraph(CudaGraph &graph) {
  CUgraphNode end = nullptr;
  GraphBody root(graph.root());
  return addRegion(graph, root, 0, nullptr, &end);
}

/// Puts the plan into the graph that \p stream's capture makes, behind what the stream has there. A
/// child graph would not do: it must not hold conditional nodes.
Status CudaRecording::addToCapture(CUstream stream) {
  CUstreamCaptureStatus state = CU_STREAM_CAPTURE_STATUS_NONE;
  CUgraph into = nullptr;
  const CUgraphNode *before = nullptr;
  const CUgraphEdgeData *data = nullptr;
  size_t count = 0;
  XCR_RETURN_IF_ERROR(XCR_CUDA_CALL(device, cuStreamGetCaptureInfo, stream, &state, nullptr, &into,
                                    &before, &data, &count));
  CudaGraph graph(device);
  CUgraphNode start = nullptr, end = nullptr;
  XCR_RETURN_IF_ERROR(graph.beginInside(commands.size()));
  XCR_RETURN_IF_ERROR(graph.addJoin(into, {before, count}, &start, data));
  GraphBody root(into);
  XCR_RETURN_IF_ERROR(addRegion(graph, root, 0, start, &end));
  return XCR_CUDA_CALL(device, cuStreamUpdateCaptureDependencies, stream, &end, nullptr, 1,
                       CU_STREAM_SET_CAPTURE_DEPENDENCIES);
}

/// Adds the commands of a region behind \p start (null: at once); \p end is behind all of them.
Status CudaRecording::addRegion(CudaGraph &graph, GraphBody &into, uint32_t region,
                                CUgraphNode start, CUgraphNode *end) {
  const hal::Range &range = regions[region];
  Vector<CUgraphNode> handles(device.allocator), before(device.allocator);
  XCR_RETURN_IF_ERROR(handles.resize(range.count));
  for (uint32_t i = 0; i < range.count; ++i) {
    const hal::Command &command = commands[range.begin + i];
    before.clear();
    for (uint32_t e = 0; e < command.edges.count; ++e)
      XCR_RETURN_IF_ERROR(before.push(handles[edges[command.edges.begin + e]]));
    if (before.empty() && start)
      XCR_RETURN_IF_ERROR(before.push(start));
    if (command.kind == CommandKind::Control) {
      const CUgraphNode *last = std::find(before.begin(), before.end(), into.lastConditional);
      if (hasNestedControl && into.lastConditional && last == before.end())
        XCR_RETURN_IF_ERROR(before.push(into.lastConditional));
      XCR_RETURN_IF_ERROR(addControl(graph, into, range.begin + i, before.span(), &handles[i]));
      into.lastConditional = handles[i];
      continue;
    }
    NodeWork work;
    XCR_RETURN_IF_ERROR(getWork(range.begin + i, &work));
    XCR_RETURN_IF_ERROR(
        graph.addCopy(range.begin + i, into.graph, work, before.span(), &handles[i]));
  }
  if (handles.empty() && start)
    XCR_RETURN_IF_ERROR(handles.push(start));
  return graph.addJoin(into.graph, handles.span(), end);
}

Status CudaRecording::addControl(CudaGraph &graph, GraphBody &into, uint32_t ordinal,
                                 Span<const CUgraphNode> before, CUgraphNode *out) {
  const hal::Command &command = commands[ordinal];
  uint64_t condition = addresses[command.addresses.begin];
  CUgraphConditionalHandle handle = 0;
  CUgraphNode start = nullptr, set = nullptr, end = nullptr;
  XCR_RETURN_IF_ERROR(graph.addJoin(into.graph, before, &start));
  if (command.isLoop) {
    CUgraphNode tested = nullptr, ran = nullptr;
    CUgraph inner = nullptr;
    XCR_RETURN_IF_ERROR(addRegion(graph, into, command.regions[0], start, &tested));
    XCR_RETURN_IF_ERROR(graph.createCondition(into.graph, &handle));
    XCR_RETURN_IF_ERROR(
        graph.addSetCondition(ordinal, into.graph, handle, condition, tested, &set));
    XCR_RETURN_IF_ERROR(
        graph.addConditional(into.graph, handle, CU_GRAPH_COND_TYPE_WHILE, 1, set, out, &inner));
    GraphBody body(inner);
    XCR_RETURN_IF_ERROR(addRegion(graph, body, command.regions[1], nullptr, &ran));
    XCR_RETURN_IF_ERROR(addRegion(graph, body, command.regions[0], ran, &end));
    return graph.addSetCondition(ordinal, inner, handle, condition, end, &set);
  }
  CUgraph choices[2];
  XCR_RETURN_IF_ERROR(graph.createCondition(into.graph, &handle));
  XCR_RETURN_IF_ERROR(graph.addSetCondition(ordinal, into.graph, handle, condition, start, &set));
  XCR_RETURN_IF_ERROR(
      graph.addConditional(into.graph, handle, CU_GRAPH_COND_TYPE_IF, 2, set, out, choices));
  for (uint32_t i = 0; i < 2; ++i) {
    GraphBody body(choices[i]);
    XCR_RETURN_IF_ERROR(addRegion(graph, body, command.regions[i], nullptr, &end));
  }
  return Status();
}

//===----------------------------------------------------------------------===//
// On a stream
//===----------------------------------------------------------------------===//

Status CudaRecording::launchRegion(uint32_t region, CUstream stream) {
  const hal::Range &range = regions[region];
  for (uint32_t i = range.begin; i < range.begin + range.count; ++i) {
    if (commands[i].kind == CommandKind::Control)
      XCR_RETURN_IF_ERROR(launchControl(commands[i], stream));
    else if (timers.empty())
      XCR_RETURN_IF_ERROR(launchCommand(i, stream, /*isBehindKernel=*/false));
    else
      XCR_RETURN_IF_ERROR(launchTimed(i, stream));
  }
  return Status();
}

Status CudaRecording::launchControl(const hal::Command &command, CUstream stream) {
  uint8_t value = 0;
  auto read = [&]() -> Status {
    XCR_RETURN_IF_ERROR(XCR_CUDA_CALL(device, cuMemcpyDtoHAsync, &value,
                                      addresses[command.addresses.begin], 1, stream));
    Status end = XCR_CUDA_CALL(device, cuStreamSynchronize, stream);
    // The value must not be written when it has gone.
    if (end.failed() && !device.isLost())
      device.cu.cuStreamSynchronize(stream);
    XCR_RETURN_IF_ERROR(std::move(end));
    // Commands of a loop run more than once, and each has one timer.
    collectTimes();
    return Status();
  };
  if (!command.isLoop) {
    XCR_RETURN_IF_ERROR(read());
    return launchRegion(command.regions[value ? 0 : 1], stream);
  }
  while (true) {
    XCR_RETURN_IF_ERROR(launchRegion(command.regions[0], stream));
    XCR_RETURN_IF_ERROR(read());
    if (!value)
      return Status();
    XCR_RETURN_IF_ERROR(launchRegion(command.regions[1], stream));
  }
}
