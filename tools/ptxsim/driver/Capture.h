//===- Capture.h - Streams whose work becomes a graph ----------*- C++ -*--===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PTXSIM_DRIVER_CAPTURE_H
#define PTXSIM_DRIVER_CAPTURE_H

#include "Graph.h"

#include <thread>

namespace xc::cudasim {

/// One capture: the graph that grows, and the streams that add to it.
struct Capture {
  cuuint64_t id = 0;
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  std::thread::id thread;
  std::shared_ptr<Graph> graph;
  const Stream *origin = nullptr;
  /// What the next node of a stream depends on.
  std::map<const Stream *, std::vector<CUgraphNode>> streams;
  /// As many edges as somebody has asked for; none is programmatic.
  std::vector<CUgraphEdgeData> edges;
  bool isInvalid = false;
};

/// The captures of the process. A call that cannot be captured invalidates the capture, as the
/// driver's does; so does one that may disturb a capture (see `checkUnsafe`). Thread-safe.
class Captures {
public:
  CUresult begin(const Stream &stream, CUstreamCaptureMode mode);
  CUresult end(const Stream &stream, CUgraph *graph);
  CUstreamCaptureStatus statusOf(const Stream &stream, cuuint64_t *id, CUgraph *graph);
  /// What the stream's next node depends on, and by which edges; they last until the stream has
  /// something else. Nothing where it is not captured.
  void dependenciesOf(const Stream &stream, const CUgraphNode *&nodes,
                      const CUgraphEdgeData *&edges, size_t &count);
  /// Has the stream's next node depend on `nodes`, alone (`replaces`) or as well.
  CUresult depend(const Stream &stream, const CUgraphNode *nodes, size_t count, bool replaces);
  bool holds(const Stream &stream);

  /// Adds a node behind what the stream has captured.
  CUresult add(const Stream &stream, Payload payload);
  /// For work that a graph here cannot hold, and for waiting: CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
  /// where the stream is captured.
  CUresult refuse(const Stream &stream);
  /// The event stands for what the stream has captured (`isCaptured`), or for no capture any more.
  CUresult record(Event &event, const Stream &stream, bool &isCaptured);
  /// `isCaptured`: the wait is part of a capture, to which the stream now belongs.
  CUresult wait(const Stream &stream, const Event &event, bool &isCaptured);
  /// CUDA_ERROR_CAPTURED_EVENT for an event that stands for a node.
  CUresult checkEvent(const Event &event);
  /// What the driver calls potentially unsafe: forbidden to a thread that captures, and to all
  /// while one captures globally, unless the thread has relaxed that.
  CUresult checkUnsafe();
  /// A stream that is captured ends: the capture is invalid.
  void forget(const Stream &stream);
  CUresult exchangeMode(CUstreamCaptureMode &mode);

private:
  std::shared_ptr<Capture> find(const Stream &stream) const;
  CUresult invalidate(Capture &capture, CUresult result);

  std::mutex mutex_;
  std::vector<std::shared_ptr<Capture>> active_;
  std::atomic<size_t> count_{0}; // of active_, to be asked without the lock
  cuuint64_t lastId_ = 0;
};

} // namespace xc::cudasim

#endif // PTXSIM_DRIVER_CAPTURE_H
