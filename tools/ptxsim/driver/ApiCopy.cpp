//===- ApiCopy.cpp - Copies and fills in streams --------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the driver promises about the host is kept: a copy from pageable memory
// has read its source when the call returns, a copy to pageable memory has ended;
// pinned memory is touched when the operation runs.
//
//===----------------------------------------------------------------------===//

#include "Entry.h"

#include <cstring>

namespace xc::cudasim {
namespace {

/// Reads a pageable source now, and lets the copy start from what was read.
std::shared_ptr<std::vector<uint8_t>> stage(Copy &copy) {
  auto bytes = std::make_shared<std::vector<uint8_t>>();
  if (copy.isEmpty())
    return bytes;
  bytes->resize(copy.width * copy.height * copy.depth);
  uint8_t *next = bytes->data();
  for (uint64_t z = 0; z < copy.depth; ++z)
    for (uint64_t y = 0; y < copy.height; ++y, next += copy.width)
      memcpy(
          next,
          reinterpret_cast<const void *>(copy.source + z * copy.sourceSlice + y * copy.sourcePitch),
          copy.width);
  copy.source = addressOf(bytes->data());
  copy.sourcePitch = copy.width;
  copy.sourceSlice = copy.width * copy.height;
  return bytes;
}

/// Enqueues a resolved copy; `synchronous`: returns when it has ended.
CUresult enqueueCopy(Context &context, CUstream handle, Copy copy, bool synchronous) {
  std::shared_ptr<Stream> stream = context.findStream(handle);
  if (!stream)
    return CUDA_ERROR_INVALID_HANDLE;
  if (copy.isEmpty())
    return CUDA_SUCCESS;
  if (driver().captures.holds(*stream))
    return driver().captures.add(*stream, CopyPayload{copy, context.handle()});
  bool wait = synchronous || copy.destinationPageable;
  std::shared_ptr<std::vector<uint8_t>> staged;
  if (copy.sourcePageable && !wait)
    staged = stage(copy);
  Context *owner = &context; // outlives its streams' operations
  CompletionRef end = context.submit(stream, [owner, copy, staged] { runCopy(*owner, copy); });
  if (!wait)
    return CUDA_SUCCESS;
  end->wait();
  return context.sticky();
}

CUresult plainCopy(Context &context, uint64_t destination, CUmemorytype destinationType,
                   uint64_t source, CUmemorytype sourceType, size_t bytes, CUstream stream,
                   bool synchronous) {
  Copy copy;
  CUresult result = resolveCopy(destination, destinationType, source, sourceType, bytes, copy);
  return result == CUDA_SUCCESS ? enqueueCopy(context, stream, copy, synchronous) : result;
}

template <typename Params>
CUresult shapedCopy(Context &context, const Params *params, CUstream stream, bool synchronous) {
  if (!params)
    return CUDA_ERROR_INVALID_VALUE;
  Copy copy;
  CUresult result = resolveCopy(*params, copy);
  return result == CUDA_SUCCESS ? enqueueCopy(context, stream, copy, synchronous) : result;
}

/// Enqueues a fill. A fill of pinned memory, without a stream, waits for its end.
CUresult enqueueFill(Context &context, CUstream handle, CUdeviceptr destination, size_t pitch,
                     unsigned value, unsigned elementSize, size_t width, size_t height,
                     bool synchronous) {
  std::shared_ptr<Stream> stream = context.findStream(handle);
  if (!stream)
    return CUDA_ERROR_INVALID_HANDLE;
  Fill fill;
  CUresult result = resolveFill({destination, pitch, value, elementSize, width, height}, fill);
  if (result != CUDA_SUCCESS || !width || !height)
    return result;
  if (driver().captures.holds(*stream))
    return driver().captures.add(*stream, FillPayload{fill, context.handle()});
  Context *owner = &context;
  CompletionRef end = context.submit(stream, [owner, fill] { runFill(*owner, fill); });
  if (!synchronous || fill.device)
    return CUDA_SUCCESS;
  end->wait();
  return context.sticky();
}

} // namespace

extern "C" {

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

CUresult cuMemcpy(CUdeviceptr destination, CUdeviceptr source, size_t bytes) {
  return inContext("cuMemcpy", [&](Context &context) -> CUresult {
    return plainCopy(context, destination, CU_MEMORYTYPE_UNIFIED, source, CU_MEMORYTYPE_UNIFIED,
                     bytes, nullptr, true);
  });
}

CUresult cuMemcpyAsync(CUdeviceptr destination, CUdeviceptr source, size_t bytes, CUstream stream) {
  return inContext("cuMemcpyAsync", [&](Context &context) -> CUresult {
    return plainCopy(context, destination, CU_MEMORYTYPE_UNIFIED, source, CU_MEMORYTYPE_UNIFIED,
                     bytes, stream, false);
  });
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr destination, const void *source, size_t bytes) {
  return inContext("cuMemcpyHtoD", [&](Context &context) -> CUresult {
    return plainCopy(context, destination, CU_MEMORYTYPE_DEVICE, addressOf(source),
                     CU_MEMORYTYPE_HOST, bytes, nullptr, true);
  });
}

CUresult cuMemcpyDtoH_v2(void *destination, CUdeviceptr source, size_t bytes) {
  return inContext("cuMemcpyDtoH", [&](Context &context) -> CUresult {
    return plainCopy(context, addressOf(destination), CU_MEMORYTYPE_HOST, source,
                     CU_MEMORYTYPE_DEVICE, bytes, nullptr, true);
  });
}

CUresult cuMemcpyDtoD_v2(CUdeviceptr destination, CUdeviceptr source, size_t bytes) {
  return inContext("cuMemcpyDtoD", [&](Context &context) -> CUresult {
    // Like the driver: the host does not wait for a copy on the device.
    return plainCopy(context, destination, CU_MEMORYTYPE_DEVICE, source, CU_MEMORYTYPE_DEVICE,
                     bytes, nullptr, false);
  });
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr destination, const void *source, size_t bytes,
                              CUstream stream) {
  return inContext("cuMemcpyHtoDAsync", [&](Context &context) -> CUresult {
    return plainCopy(context, destination, CU_MEMORYTYPE_DEVICE, addressOf(source),
                     CU_MEMORYTYPE_HOST, bytes, stream, false);
  });
}

CUresult cuMemcpyDtoHAsync_v2(void *destination, CUdeviceptr source, size_t bytes,
                              CUstream stream) {
  return inContext("cuMemcpyDtoHAsync", [&](Context &context) -> CUresult {
    return plainCopy(context, addressOf(destination), CU_MEMORYTYPE_HOST, source,
                     CU_MEMORYTYPE_DEVICE, bytes, stream, false);
  });
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr destination, CUdeviceptr source, size_t bytes,
                              CUstream stream) {
  return inContext("cuMemcpyDtoDAsync", [&](Context &context) -> CUresult {
    return plainCopy(context, destination, CU_MEMORYTYPE_DEVICE, source, CU_MEMORYTYPE_DEVICE,
                     bytes, stream, false);
  });
}

CUresult cuMemcpyPeerAsync(CUdeviceptr destination, CUcontext destinationContext,
                           CUdeviceptr source, CUcontext sourceContext, size_t bytes,
                           CUstream stream) {
  return inContext("cuMemcpyPeerAsync", [&](Context &context) -> CUresult {
    if (!driver().contexts.find(destinationContext) || !driver().contexts.find(sourceContext))
      return CUDA_ERROR_INVALID_CONTEXT;
    return plainCopy(context, destination, CU_MEMORYTYPE_DEVICE, source, CU_MEMORYTYPE_DEVICE,
                     bytes, stream, false);
  });
}

PTXSIM_API CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D *copy) {
  return inContext("cuMemcpy2D", [&](Context &context) -> CUresult {
    return shapedCopy(context, copy, nullptr, true);
  });
}

CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *copy, CUstream stream) {
  return inContext("cuMemcpy2DAsync", [&](Context &context) -> CUresult {
    return shapedCopy(context, copy, stream, false);
  });
}

PTXSIM_API CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D *copy) {
  return inContext("cuMemcpy3D", [&](Context &context) -> CUresult {
    return shapedCopy(context, copy, nullptr, true);
  });
}

CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D *copy, CUstream stream) {
  return inContext("cuMemcpy3DAsync", [&](Context &context) -> CUresult {
    return shapedCopy(context, copy, stream, false);
  });
}

//===----------------------------------------------------------------------===//
// Fills
//===----------------------------------------------------------------------===//

CUresult cuMemsetD8_v2(CUdeviceptr destination, unsigned char value, size_t count) {
  return inContext("cuMemsetD8", [&](Context &context) -> CUresult {
    return enqueueFill(context, nullptr, destination, 0, value, 1, count, 1, true);
  });
}

CUresult cuMemsetD16_v2(CUdeviceptr destination, unsigned short value, size_t count) {
  return inContext("cuMemsetD16", [&](Context &context) -> CUresult {
    return enqueueFill(context, nullptr, destination, 0, value, 2, count, 1, true);
  });
}

CUresult cuMemsetD32_v2(CUdeviceptr destination, unsigned value, size_t count) {
  return inContext("cuMemsetD32", [&](Context &context) -> CUresult {
    return enqueueFill(context, nullptr, destination, 0, value, 4, count, 1, true);
  });
}

CUresult cuMemsetD8Async(CUdeviceptr destination, unsigned char value, size_t count,
                         CUstream stream) {
  return inContext("cuMemsetD8Async", [&](Context &context) -> CUresult {
    return enqueueFill(context, stream, destination, 0, value, 1, count, 1, false);
  });
}

CUresult cuMemsetD16Async(CUdeviceptr destination, unsigned short value, size_t count,
                          CUstream stream) {
  return inContext("cuMemsetD16Async", [&](Context &context) -> CUresult {
    return enqueueFill(context, stream, destination, 0, value, 2, count, 1, false);
  });
}

CUresult cuMemsetD32Async(CUdeviceptr destination, unsigned value, size_t count, CUstream stream) {
  return inContext("cuMemsetD32Async", [&](Context &context) -> CUresult {
    return enqueueFill(context, stream, destination, 0, value, 4, count, 1, false);
  });
}

PTXSIM_API CUresult cuMemsetD2D8Async(CUdeviceptr destination, size_t pitch, unsigned char value,
                                      size_t width, size_t height, CUstream stream) {
  return inContext("cuMemsetD2D8Async", [&](Context &context) -> CUresult {
    return enqueueFill(context, stream, destination, pitch, value, 1, width, height, false);
  });
}

PTXSIM_API CUresult cuMemsetD2D32Async(CUdeviceptr destination, size_t pitch, unsigned value,
                                       size_t width, size_t height, CUstream stream) {
  return inContext("cuMemsetD2D32Async", [&](Context &context) -> CUresult {
    return enqueueFill(context, stream, destination, pitch, value, 4, width, height, false);
  });
}

} // extern "C"
} // namespace xc::cudasim
