//===- ApiStream.cpp - Streams, events, values in memory ------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Entry.h"

#include <algorithm>
#include <cstring>

namespace xc::cudasim {
namespace {

/// Gives the pools' unused memory back, as synchronising calls do.
void trimPools(Context &context) {
  for (const auto &[handle, pool] : driver().pools.all())
    if (&pool->device() == &context.device())
      pool->trimToThreshold();
}

CUresult createStream(Context &context, CUstream *result, unsigned flags, int priority) {
  if (!result || (flags & ~CU_STREAM_NON_BLOCKING))
    return CUDA_ERROR_INVALID_VALUE;
  // Priorities outside the range are clamped, not refused.
  priority = std::max(-5, std::min(0, priority));
  *result = driver().streams.insert(context.createStream(flags, priority));
  return CUDA_SUCCESS;
}

CUresult recordEvent(Context &context, CUevent handle, CUstream streamHandle) {
  std::shared_ptr<Event> event = driver().events.find(handle);
  std::shared_ptr<Stream> stream = context.findStream(streamHandle);
  if (!event || !stream || &event->context() != &context)
    return CUDA_ERROR_INVALID_HANDLE;
  bool isCaptured = false;
  CUresult result = driver().captures.record(*event, *stream, isCaptured);
  if (!isCaptured)
    event->record(context.submit(stream, [] {}));
  return result;
}

/// Waiting and asking are nothing for a captured stream, and disturb captures of others.
CUresult mayWait(const Stream &stream) {
  CUresult result = driver().captures.refuse(stream);
  return result == CUDA_SUCCESS ? driver().captures.checkUnsafe() : result;
}

CUresult mayWait(const Event &event) {
  CUresult result = driver().captures.checkEvent(event);
  return result == CUDA_SUCCESS ? driver().captures.checkUnsafe() : result;
}

/// Reads or writes a word that kernels and the host may touch at the same time.
template <typename Word> Word readWord(uint64_t address) {
  return __atomic_load_n(reinterpret_cast<Word *>(address), __ATOMIC_ACQUIRE);
}

template <typename Word> bool isSatisfied(Word current, Word value, unsigned condition) {
  switch (condition) {
  case CU_STREAM_WAIT_VALUE_GEQ:
    return static_cast<std::make_signed_t<Word>>(current - value) >= 0;
  case CU_STREAM_WAIT_VALUE_EQ:
    return current == value;
  case CU_STREAM_WAIT_VALUE_AND:
    return (current & value) != 0;
  default:
    return static_cast<Word>(~(current | value)) != 0;
  }
}

/// The word at `address` lies in memory of the driver and is aligned.
bool isWord(uint64_t address, size_t bytes) {
  return address && address % bytes == 0 && driver().memory.covers(address, bytes);
}

template <typename Word>
CUresult waitValue(Context &context, CUstream handle, CUdeviceptr address, Word value,
                   unsigned flags) {
  std::shared_ptr<Stream> stream = context.findStream(handle);
  if (!stream)
    return CUDA_ERROR_INVALID_HANDLE;
  unsigned condition = flags & ~CU_STREAM_WAIT_VALUE_FLUSH;
  if (condition > CU_STREAM_WAIT_VALUE_NOR || !isWord(address, sizeof(Word)))
    return CUDA_ERROR_INVALID_VALUE;
  if (flags & CU_STREAM_WAIT_VALUE_FLUSH)
    return CUDA_ERROR_NOT_SUPPORTED; // no remote writes to flush
  if (CUresult result = driver().captures.refuse(*stream); result != CUDA_SUCCESS)
    return result;
  Context *owner = &context;
  context.submit(stream, [owner, address, value, condition] {
    while (!isSatisfied(readWord<Word>(address), value, condition) && !owner->isCancelled())
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    // Who wrote the value may have been the host.
    currentOrder()->learn(driver().hostOrder.published(address));
    currentOrder()->learn(driver().hostOrder.known());
  });
  return CUDA_SUCCESS;
}

template <typename Word>
CUresult writeValue(Context &context, CUstream handle, CUdeviceptr address, Word value,
                    unsigned flags) {
  std::shared_ptr<Stream> stream = context.findStream(handle);
  if (!stream)
    return CUDA_ERROR_INVALID_HANDLE;
  if ((flags & ~CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER) || !isWord(address, sizeof(Word)))
    return CUDA_ERROR_INVALID_VALUE;
  if (CUresult result = driver().captures.refuse(*stream); result != CUDA_SUCCESS)
    return result;
  std::optional<Range> range = driver().memory.find(address);
  Device *device = range->isHost() ? nullptr : driver().devices[range->device].get();
  context.submit(stream, [device, address, value] {
    driver().hostOrder.publish(address, currentOrder()->known);
    if (!device) // the host may read it, and needs no call for that
      driver().hostOrder.learn(currentOrder()->known);
    __atomic_store_n(reinterpret_cast<Word *>(address), value, __ATOMIC_RELEASE);
    if (device)
      device->simulator().memory().markInitialised(address, sizeof(Word));
  });
  return CUDA_SUCCESS;
}

} // namespace

extern "C" {

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

PTXSIM_API CUresult cuStreamCreate(CUstream *stream, unsigned flags) {
  return inContext("cuStreamCreate", [&](Context &context) -> CUresult {
    return createStream(context, stream, flags, 0);
  });
}

CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned flags, int priority) {
  return inContext("cuStreamCreateWithPriority", [&](Context &context) -> CUresult {
    return createStream(context, stream, flags, priority);
  });
}

CUresult cuStreamDestroy_v2(CUstream handle) {
  return releasing("cuStreamDestroy", [&]() -> CUresult {
    std::shared_ptr<Stream> stream = driver().streams.erase(handle);
    if (!stream)
      return CUDA_ERROR_INVALID_HANDLE;
    driver().captures.forget(*stream);
    stream->context().releaseStream(stream);
    return stream->context().sticky();
  });
}

CUresult cuStreamQuery(CUstream handle) {
  return inContext("cuStreamQuery", [&](Context &context) -> CUresult {
    std::shared_ptr<Stream> stream = context.findStream(handle);
    if (!stream)
      return CUDA_ERROR_INVALID_HANDLE;
    if (CUresult result = mayWait(*stream); result != CUDA_SUCCESS)
      return result;
    CompletionRef last = stream->last();
    return !last || last->poll() ? context.sticky() : CUDA_ERROR_NOT_READY;
  });
}

CUresult cuStreamSynchronize(CUstream handle) {
  return inContext("cuStreamSynchronize", [&](Context &context) -> CUresult {
    std::shared_ptr<Stream> stream = context.findStream(handle);
    if (!stream)
      return CUDA_ERROR_INVALID_HANDLE;
    if (CUresult result = mayWait(*stream); result != CUDA_SUCCESS)
      return result;
    // Waiting for the default stream means waiting for what it would wait for.
    CompletionRef last =
        !handle || handle == cuStreamLegacy() ? context.submit(stream, [] {}) : stream->last();
    if (last)
      last->wait();
    trimPools(context);
    return context.sticky();
  });
}

CUresult cuStreamWaitEvent(CUstream handle, CUevent eventHandle, unsigned flags) {
  return inContext("cuStreamWaitEvent", [&](Context &context) -> CUresult {
    std::shared_ptr<Stream> stream = context.findStream(handle);
    std::shared_ptr<Event> event = driver().events.find(eventHandle);
    if (!stream || !event)
      return CUDA_ERROR_INVALID_HANDLE;
    if (flags & ~CU_EVENT_WAIT_EXTERNAL)
      return CUDA_ERROR_INVALID_VALUE;
    bool isCaptured = false;
    CUresult result = driver().captures.wait(*stream, *event, isCaptured);
    if (CompletionRef recorded = event->recorded(); recorded && !isCaptured)
      context.submit(stream, [] {}, {recorded});
    return result;
  });
}

CUresult cuStreamGetCtx(CUstream handle, CUcontext *result) {
  return inContext("cuStreamGetCtx", [&](Context &context) -> CUresult {
    // Unlike most calls, this one takes a stream of any context.
    std::shared_ptr<Stream> stream = driver().streams.find(handle);
    if (!stream)
      stream = context.findStream(handle);
    if (!stream)
      return CUDA_ERROR_INVALID_HANDLE;
    if (!result)
      return CUDA_ERROR_INVALID_VALUE;
    *result = stream->context().handle();
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamGetFlags(CUstream handle, unsigned *flags) {
  return inContext("cuStreamGetFlags", [&](Context &context) -> CUresult {
    std::shared_ptr<Stream> stream = context.findStream(handle);
    if (!stream || !flags)
      return stream ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
    *flags = stream->flags();
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamGetPriority(CUstream handle, int *priority) {
  return inContext("cuStreamGetPriority", [&](Context &context) -> CUresult {
    std::shared_ptr<Stream> stream = context.findStream(handle);
    if (!stream || !priority)
      return stream ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
    *priority = stream->priority();
    return CUDA_SUCCESS;
  });
}

CUresult cuLaunchHostFunc(CUstream handle, CUhostFn function, void *userData) {
  return inContext("cuLaunchHostFunc", [&](Context &context) -> CUresult {
    std::shared_ptr<Stream> stream = context.findStream(handle);
    if (!stream)
      return CUDA_ERROR_INVALID_HANDLE;
    if (!function)
      return CUDA_ERROR_INVALID_VALUE;
    if (driver().captures.holds(*stream))
      return driver().captures.add(*stream, HostPayload{function, userData});
    context.submit(stream, [function, userData] { callHost(function, userData); });
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr address, cuuint32_t value,
                                 unsigned flags) {
  return inContext("cuStreamWriteValue32", [&](Context &context) -> CUresult {
    return writeValue<uint32_t>(context, stream, address, value, flags);
  });
}

CUresult cuStreamWriteValue64_v2(CUstream stream, CUdeviceptr address, cuuint64_t value,
                                 unsigned flags) {
  return inContext("cuStreamWriteValue64", [&](Context &context) -> CUresult {
    return writeValue<uint64_t>(context, stream, address, value, flags);
  });
}

CUresult cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr address, cuuint32_t value,
                                unsigned flags) {
  return inContext("cuStreamWaitValue32", [&](Context &context) -> CUresult {
    return waitValue<uint32_t>(context, stream, address, value, flags);
  });
}

CUresult cuStreamWaitValue64_v2(CUstream stream, CUdeviceptr address, cuuint64_t value,
                                unsigned flags) {
  return inContext("cuStreamWaitValue64", [&](Context &context) -> CUresult {
    return waitValue<uint64_t>(context, stream, address, value, flags);
  });
}

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

CUresult cuEventCreate(CUevent *event, unsigned flags) {
  return inContext("cuEventCreate", [&](Context &context) -> CUresult {
    const unsigned known = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;
    if (!event || (flags & ~known) ||
        ((flags & CU_EVENT_INTERPROCESS) && !(flags & CU_EVENT_DISABLE_TIMING)))
      return CUDA_ERROR_INVALID_VALUE;
    *event = driver().events.insert(std::make_shared<Event>(context.shared_from_this(), flags));
    return CUDA_SUCCESS;
  });
}

CUresult cuEventDestroy_v2(CUevent handle) {
  return releasing("cuEventDestroy", [&]() -> CUresult {
    std::shared_ptr<Event> event = driver().events.erase(handle);
    return event ? event->context().sticky() : CUDA_ERROR_INVALID_HANDLE;
  });
}

CUresult cuEventRecord(CUevent event, CUstream stream) {
  return inContext("cuEventRecord", [&](Context &context) -> CUresult {
    return recordEvent(context, event, stream);
  });
}

CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags) {
  return inContext("cuEventRecordWithFlags", [&](Context &context) -> CUresult {
    if (flags & ~CU_EVENT_RECORD_EXTERNAL)
      return CUDA_ERROR_INVALID_VALUE;
    return recordEvent(context, event, stream);
  });
}

CUresult cuEventQuery(CUevent handle) {
  return initialised("cuEventQuery", [&]() -> CUresult {
    std::shared_ptr<Event> event = driver().events.find(handle);
    if (!event)
      return CUDA_ERROR_INVALID_HANDLE;
    if (event->context().sticky() != CUDA_SUCCESS)
      return event->context().sticky();
    if (CUresult result = mayWait(*event); result != CUDA_SUCCESS)
      return result;
    CompletionRef recorded = event->recorded();
    return !recorded || recorded->poll() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
  });
}

CUresult cuEventSynchronize(CUevent handle) {
  return initialised("cuEventSynchronize", [&]() -> CUresult {
    std::shared_ptr<Event> event = driver().events.find(handle);
    if (!event)
      return CUDA_ERROR_INVALID_HANDLE;
    if (CUresult result = mayWait(*event); result != CUDA_SUCCESS)
      return result;
    if (CompletionRef recorded = event->recorded())
      recorded->wait();
    trimPools(event->context());
    return event->context().sticky();
  });
}

CUresult cuEventElapsedTime(float *milliseconds, CUevent startHandle, CUevent endHandle) {
  return initialised("cuEventElapsedTime", [&]() -> CUresult {
    std::shared_ptr<Event> start = driver().events.find(startHandle);
    std::shared_ptr<Event> end = driver().events.find(endHandle);
    if (!milliseconds)
      return CUDA_ERROR_INVALID_VALUE;
    if (!start || !end || !start->hasTiming() || !end->hasTiming() ||
        &start->context() != &end->context())
      return CUDA_ERROR_INVALID_HANDLE;
    CompletionRef from = start->recorded(), to = end->recorded();
    if (!from || !to)
      return CUDA_ERROR_INVALID_HANDLE;
    if (!from->isDone() || !to->isDone())
      return CUDA_ERROR_NOT_READY;
    *milliseconds = std::chrono::duration<float, std::milli>(to->time() - from->time()).count();
    return start->context().sticky();
  });
}

PTXSIM_API CUresult cuEventElapsedTime_v2(float *milliseconds, CUevent start, CUevent end) {
  return cuEventElapsedTime(milliseconds, start, end);
}

} // extern "C"
} // namespace xc::cudasim
