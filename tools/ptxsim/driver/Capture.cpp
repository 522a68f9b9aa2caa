//===- Capture.cpp - Streams whose work becomes a graph -------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Capture.h"

#include "Context.h"
#include "Driver.h"

#include <algorithm>
#include <set>

namespace xc::cudasim {

namespace {

/// What the thread has said by cuThreadExchangeStreamCaptureMode.
thread_local CUstreamCaptureMode threadMode = CU_STREAM_CAPTURE_MODE_GLOBAL;

/// Whether every node of `ends` is among `begins` or before one of them.
bool areReached(const std::vector<CUgraphNode> &begins, const std::vector<CUgraphNode> &ends) {
  std::set<CUgraphNode> seen;
  std::vector<CUgraphNode> todo = begins;
  while (!todo.empty()) {
    CUgraphNode handle = todo.back();
    todo.pop_back();
    if (!seen.insert(handle).second)
      continue;
    if (std::shared_ptr<GraphNode> node = driver().nodes.find(handle))
      for (const GraphNode::Edge &edge : node->dependencies)
        todo.push_back(edge.from->handle);
  }
  return std::all_of(ends.begin(), ends.end(), [&](CUgraphNode end) { return seen.count(end); });
}

/// A kernel that waits by itself for the kernels before it.
bool isProgrammatic(const Payload &payload, const std::vector<CUgraphNode> &before) {
  const auto *kernel = std::get_if<KernelPayload>(&payload);
  if (!kernel || !kernel->launch.shape.programmatic)
    return false;
  return std::all_of(before.begin(), before.end(), [](CUgraphNode handle) {
    std::shared_ptr<GraphNode> node = driver().nodes.find(handle);
    return node && typeOf(node->payload) == CU_GRAPH_NODE_TYPE_KERNEL;
  });
}

} // namespace

/// What keeps more from being captured; \p capture is null where nothing captures the stream.
static CUresult checkOpen(const Capture *capture) {
  if (!capture)
    return CUDA_ERROR_ILLEGAL_STATE;
  return capture->isInvalid ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_SUCCESS;
}

std::shared_ptr<Capture> Captures::find(const Stream &stream) const {
  for (const std::shared_ptr<Capture> &capture : active_)
    if (capture->streams.count(&stream))
      return capture;
  return nullptr;
}

CUresult Captures::invalidate(Capture &capture, CUresult result) {
  capture.isInvalid = true;
  return result;
}

CUresult Captures::begin(const Stream &stream, CUstreamCaptureMode mode) {
  if (mode > CU_STREAM_CAPTURE_MODE_RELAXED)
    return CUDA_ERROR_INVALID_VALUE;
  std::lock_guard<std::mutex> lock(mutex_);
  if (find(stream))
    return CUDA_ERROR_ILLEGAL_STATE;
  auto capture = std::make_shared<Capture>();
  capture->id = ++lastId_;
  capture->mode = mode;
  capture->thread = std::this_thread::get_id();
  capture->graph = Graph::create(/*embedded=*/false);
  capture->origin = &stream;
  capture->streams[&stream] = {};
  active_.push_back(std::move(capture));
  count_ = active_.size();
  return CUDA_SUCCESS;
}

CUresult Captures::end(const Stream &stream, CUgraph *graph) {
  std::lock_guard<std::mutex> lock(mutex_);
  std::shared_ptr<Capture> capture = find(stream);
  if (!capture)
    return CUDA_ERROR_ILLEGAL_STATE;
  if (capture->origin != &stream)
    return invalidate(*capture, CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
  if (capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED &&
      capture->thread != std::this_thread::get_id())
    return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
  active_.erase(std::find(active_.begin(), active_.end(), capture));
  count_ = active_.size();
  CUresult result = capture->isInvalid ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_SUCCESS;
  for (const auto &[joined, nodes] : capture->streams)
    if (result == CUDA_SUCCESS && !areReached(capture->streams[&stream], nodes))
      result = CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
  if (result != CUDA_SUCCESS)
    capture->graph->retire();
  *graph = result == CUDA_SUCCESS ? capture->graph->handle() : nullptr;
  return result;
}

CUstreamCaptureStatus Captures::statusOf(const Stream &stream, cuuint64_t *id, CUgraph *graph) {
  if (!count_)
    return CU_STREAM_CAPTURE_STATUS_NONE;
  std::lock_guard<std::mutex> lock(mutex_);
  std::shared_ptr<Capture> capture = find(stream);
  if (!capture)
    return CU_STREAM_CAPTURE_STATUS_NONE;
  if (id)
    *id = capture->id;
  if (graph)
    *graph = capture->graph->handle();
  return capture->isInvalid ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                            : CU_STREAM_CAPTURE_STATUS_ACTIVE;
}

void Captures::dependenciesOf(const Stream &stream, const CUgraphNode *&nodes,
                              const CUgraphEdgeData *&edges, size_t &count) {
  std::lock_guard<std::mutex> lock(mutex_);
  nodes = nullptr;
  edges = nullptr;
  count = 0;
  std::shared_ptr<Capture> capture = find(stream);
  if (!capture)
    return;
  const std::vector<CUgraphNode> &before = capture->streams[&stream];
  capture->edges.resize(std::max(capture->edges.size(), before.size()));
  nodes = before.data();
  edges = capture->edges.data();
  count = before.size();
}

CUresult Captures::depend(const Stream &stream, const CUgraphNode *nodes, size_t count,
                          bool replaces) {
  std::lock_guard<std::mutex> lock(mutex_);
  std::shared_ptr<Capture> capture = find(stream);
  if (CUresult result = checkOpen(capture.get()); result != CUDA_SUCCESS)
    return result;
  for (size_t i = 0; i < count; ++i) {
    std::shared_ptr<GraphNode> node = driver().nodes.find(nodes[i]);
    if (!node || node->graph != capture->graph.get())
      return CUDA_ERROR_INVALID_VALUE;
  }
  std::vector<CUgraphNode> &before = capture->streams[&stream];
  if (replaces)
    before.clear();
  for (size_t i = 0; i < count; ++i)
    if (std::find(before.begin(), before.end(), nodes[i]) == before.end())
      before.push_back(nodes[i]);
  return CUDA_SUCCESS;
}

bool Captures::holds(const Stream &stream) {
  return statusOf(stream, nullptr, nullptr) != CU_STREAM_CAPTURE_STATUS_NONE;
}

CUresult Captures::add(const Stream &stream, Payload payload) {
  std::lock_guard<std::mutex> lock(mutex_);
  std::shared_ptr<Capture> capture = find(stream);
  if (CUresult result = checkOpen(capture.get()); result != CUDA_SUCCESS)
    return result;
  std::vector<CUgraphNode> &before = capture->streams[&stream];
  CUgraphEdgeData edge = {};
  if (isProgrammatic(payload, before)) {
    edge.from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC;
    edge.type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
  }
  std::vector<CUgraphEdgeData> edges(before.size(), edge);
  CUgraphNode node = nullptr;
  CUresult result =
      capture->graph->addNode(std::move(payload), before.data(), edges.data(), before.size(), node);
  if (result != CUDA_SUCCESS)
    return invalidate(*capture, result);
  before = {node};
  return CUDA_SUCCESS;
}

CUresult Captures::refuse(const Stream &stream) {
  if (!count_)
    return CUDA_SUCCESS;
  std::lock_guard<std::mutex> lock(mutex_);
  std::shared_ptr<Capture> capture = find(stream);
  return capture ? invalidate(*capture, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED) : CUDA_SUCCESS;
}

CUresult Captures::record(Event &event, const Stream &stream, bool &isCaptured) {
  std::lock_guard<std::mutex> lock(mutex_);
  std::shared_ptr<Capture> capture = find(stream);
  isCaptured = capture != nullptr;
  event.capture = capture;
  event.captured = capture ? capture->streams[&stream] : std::vector<CUgraphNode>();
  return capture && capture->isInvalid ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_SUCCESS;
}

CUresult Captures::wait(const Stream &stream, const Event &event, bool &isCaptured) {
  std::lock_guard<std::mutex> lock(mutex_);
  std::shared_ptr<Capture> mine = find(stream), its = event.capture;
  isCaptured = mine || its;
  if (!isCaptured)
    return CUDA_SUCCESS;
  if (!its)
    return event.recorded() ? invalidate(*mine, CUDA_ERROR_STREAM_CAPTURE_ISOLATION) : CUDA_SUCCESS;
  if (mine && mine != its) {
    its->isInvalid = true;
    return invalidate(*mine, CUDA_ERROR_STREAM_CAPTURE_MERGE);
  }
  if (std::find(active_.begin(), active_.end(), its) == active_.end())
    return CUDA_ERROR_CAPTURED_EVENT;
  if (its->isInvalid)
    return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  std::vector<CUgraphNode> &before = its->streams[&stream];
  for (CUgraphNode node : event.captured)
    if (std::find(before.begin(), before.end(), node) == before.end())
      before.push_back(node);
  return CUDA_SUCCESS;
}

CUresult Captures::checkEvent(const Event &event) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!event.capture)
    return CUDA_SUCCESS;
  return invalidate(*event.capture, CUDA_ERROR_CAPTURED_EVENT);
}

CUresult Captures::checkUnsafe() {
  if (!count_ || threadMode == CU_STREAM_CAPTURE_MODE_RELAXED)
    return CUDA_SUCCESS;
  std::lock_guard<std::mutex> lock(mutex_);
  CUresult result = CUDA_SUCCESS;
  for (const std::shared_ptr<Capture> &capture : active_) {
    bool isMine = capture->thread == std::this_thread::get_id();
    bool forbids = isMine ? capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED
                          : capture->mode == CU_STREAM_CAPTURE_MODE_GLOBAL &&
                                threadMode == CU_STREAM_CAPTURE_MODE_GLOBAL;
    if (forbids)
      result = invalidate(*capture, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  }
  return result;
}

void Captures::forget(const Stream &stream) {
  if (!count_)
    return;
  std::lock_guard<std::mutex> lock(mutex_);
  if (std::shared_ptr<Capture> capture = find(stream)) {
    capture->isInvalid = true;
    capture->streams.erase(&stream);
  }
  active_.erase(std::remove_if(active_.begin(), active_.end(),
                               [&](const auto &each) { return each->origin == &stream; }),
                active_.end());
  count_ = active_.size();
}

CUresult Captures::exchangeMode(CUstreamCaptureMode &mode) {
  if (mode > CU_STREAM_CAPTURE_MODE_RELAXED)
    return CUDA_ERROR_INVALID_VALUE;
  std::swap(mode, threadMode);
  return CUDA_SUCCESS;
}

} // namespace xc::cudasim
