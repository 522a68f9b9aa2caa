//===- ApiCapture.cpp - Capture of streams --------------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Entry.h"

namespace xc::cudasim {
extern "C" {

CUresult cuStreamBeginCapture_v2(CUstream handle, CUstreamCaptureMode mode) {
  return inContext("cuStreamBeginCapture", [&](Context &context) -> CUresult {
    std::shared_ptr<Stream> stream = context.findStream(handle);
    if (!stream)
      return CUDA_ERROR_INVALID_HANDLE;
    if (stream == context.findStream(nullptr))
      return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED; // the legacy stream
    return driver().captures.begin(*stream, mode);
  });
}

CUresult cuStreamEndCapture(CUstream handle, CUgraph *graph) {
  return inContext("cuStreamEndCapture", [&](Context &context) -> CUresult {
    std::shared_ptr<Stream> stream = context.findStream(handle);
    if (!stream || !graph)
      return stream ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
    return driver().captures.end(*stream, graph);
  });
}

CUresult cuStreamIsCapturing(CUstream handle, CUstreamCaptureStatus *status) {
  return inContext("cuStreamIsCapturing", [&](Context &context) -> CUresult {
    std::shared_ptr<Stream> stream = context.findStream(handle);
    if (!stream || !status)
      return stream ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
    *status = driver().captures.statusOf(*stream, nullptr, nullptr);
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamGetCaptureInfo_v3(CUstream handle, CUstreamCaptureStatus *status, cuuint64_t *id,
                                   CUgraph *graph, const CUgraphNode **dependencies,
                                   const CUgraphEdgeData **dependencyData,
                                   size_t *dependencyCount) {
  return inContext("cuStreamGetCaptureInfo", [&](Context &context) -> CUresult {
    std::shared_ptr<Stream> stream = context.findStream(handle);
    if (!stream || !status)
      return stream ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
    *status = driver().captures.statusOf(*stream, id, graph);
    const CUgraphNode *nodes = nullptr;
    const CUgraphEdgeData *edges = nullptr;
    size_t count = 0;
    driver().captures.dependenciesOf(*stream, nodes, edges, count);
    if (dependencies)
      *dependencies = nodes;
    if (dependencyData)
      *dependencyData = edges;
    if (dependencyCount)
      *dependencyCount = count;
    return CUDA_SUCCESS;
  });
}

PTXSIM_API CUresult cuStreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus *status,
                                              cuuint64_t *id, CUgraph *graph,
                                              const CUgraphNode **dependencies,
                                              size_t *dependencyCount) {
  return cuStreamGetCaptureInfo_v3(stream, status, id, graph, dependencies, nullptr,
                                   dependencyCount);
}

CUresult cuStreamUpdateCaptureDependencies_v2(CUstream handle, CUgraphNode *dependencies,
                                              const CUgraphEdgeData *dependencyData,
                                              size_t dependencyCount, unsigned flags) {
  return inContext("cuStreamUpdateCaptureDependencies", [&](Context &context) -> CUresult {
    std::shared_ptr<Stream> stream = context.findStream(handle);
    if (!stream || (dependencyCount && !dependencies) || flags > CU_STREAM_SET_CAPTURE_DEPENDENCIES)
      return stream ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
    for (size_t i = 0; dependencyData && i < dependencyCount; ++i)
      if (dependencyData[i].type != CU_GRAPH_DEPENDENCY_TYPE_DEFAULT)
        return CUDA_ERROR_NOT_SUPPORTED;
    return driver().captures.depend(*stream, dependencies, dependencyCount,
                                    flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES);
  });
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode) {
  return initialised("cuThreadExchangeStreamCaptureMode", [&]() -> CUresult {
    return mode ? driver().captures.exchangeMode(*mode) : CUDA_ERROR_INVALID_VALUE;
  });
}

} // extern "C"
} // namespace xc::cudasim
