//===- cuda_stream.cpp - Streams of a GPU ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/hal/cuda/cuda_stream.h"

#include "runtime/hal/cuda/cuda_event.h"
#include "runtime/hal/cuda/cuda_fill.h"
#include "runtime/hal/cuda/cuda_recording.h"

using namespace xc;
using namespace xc::cuda;

/// Objects in a batch before it is closed; an event for each launch would cost more than the
/// launch.
static constexpr size_t kBatchObjects = 32;

Status CudaStream::create(CudaDevice &device, CUstream foreign, Ref<hal::Stream> *out) {
  auto result = Ref<CudaStream>::adopt(device.allocator.create<CudaStream>(device, foreign));
  if (!result)
    return outOfHostMemory(sizeof(CudaStream));
  ContextScope scope(device);
  XCR_RETURN_IF_ERROR(scope.status());
  if (!foreign)
    XCR_RETURN_IF_ERROR(XCR_CUDA_CALL(device, cuStreamCreateWithPriority, &result->stream,
                                      CU_STREAM_NON_BLOCKING, 0));
  device.remember(*result);
  *out = std::move(result);
  return Status();
}

/// The last reference may have gone with a piece of work that was deferred.
void CudaStream::destroy() {
  if (!queue.endByThread())
    finish();
}

/// Waits for what is in flight.
void CudaStream::finishWork() {
  {
    Lock lock(mutex);
    queue.drain();
  }
  if (isCaptured()) {
    // The driver refuses to wait for the stream.
    ContextScope scope(cudaDevice, ContextScope::kRelease);
    if (tail)
      cudaDevice.cu.cuEventSynchronize(tail);
    if (callbackStream)
      cudaDevice.cu.cuStreamSynchronize(callbackStream);
    return;
  }
  // A failure that is not for ever may be over; on a lost device there is nothing to wait for.
  Status status = synchronize();
  if (status.failed() && !cudaDevice.isLost())
    status = synchronize();
  if (status.failed())
    failCallbacks(status);
}

void CudaStream::finish() {
  HostAllocator copy = allocator;
  cudaDevice.forget(*this);
  if (stream)
    finishWork();
  queue.end();
  {
    ContextScope scope(cudaDevice, ContextScope::kRelease);
    for (Batch &batch : closed)
      cudaDevice.cu.cuEventDestroy(batch.event);
    for (CUevent event : freeEvents)
      cudaDevice.cu.cuEventDestroy(event);
    if (tail)
      cudaDevice.cu.cuEventDestroy(tail);
    if (callbackStream)
      cudaDevice.cu.cuStreamDestroy(callbackStream);
    for (CUstream side : sideStreams)
      if (side)
        cudaDevice.cu.cuStreamDestroy(side);
    if (stream && !isForeign)
      cudaDevice.cu.cuStreamDestroy(stream);
  }
  while (HostCallback *callback = failedCallbacks) {
    failedCallbacks = callback->next;
    cudaDevice.callbackQueue()->keep(*callback);
  }
  // One that runs now drops the last reference to the stream, and keeps itself.
  while (HostCallback *callback = firstCallback) {
    firstCallback = callback->next;
    callback->release();
  }
  copy.destroy(this);
}

//===----------------------------------------------------------------------===//
// What work in flight holds
//===----------------------------------------------------------------------===//

/// Every piece of work begins with this.
Status CudaStream::enter(Entry &entry) {
  XCR_RETURN_IF_ERROR(cudaDevice.checkAlive());
  ++submissions;
  XCR_RETURN_IF_ERROR(entry.scope.status());
  if (failure.failed())
    return copyStatus(allocator, failure.get());
  return entry.capture.status();
}

Status CudaStream::takeEvent(CUevent *out) {
  if (!freeEvents.empty()) {
    *out = freeEvents.back();
    freeEvents.pop();
    return Status();
  }
  return XCR_CUDA_CALL(cudaDevice, cuEventCreate, out, CU_EVENT_DISABLE_TIMING);
}

/// Called before the object's work is submitted, so a full batch is closed without it.
Status CudaStream::hold(Entry &entry, Ref<RefCounted> object) {
  // A call launched again and again is held once a batch.
  for (Ref<RefCounted> &held : open.objects)
    if (held.get() == object.get())
      return Status();
  // An event for the batch would become a part of the capture.
  if (open.objects.size() >= kBatchObjects && !entry.capture.isCaptured())
    XCR_RETURN_IF_ERROR(closeBatch(entry));
  return open.objects.push(std::move(object));
}

Status CudaStream::closeBatch(Entry &entry) {
  dropReached(entry);
  XCR_RETURN_IF_ERROR(closed.reserve(closed.size() + 1));
  // Room for every event there is, so that giving one back cannot fail.
  XCR_RETURN_IF_ERROR(freeEvents.reserve(freeEvents.size() + closed.size() + 1));
  CUevent event = nullptr;
  XCR_RETURN_IF_ERROR(takeEvent(&event));
  if (Status status = XCR_CUDA_CALL(cudaDevice, cuEventRecord, event, stream); status.failed()) {
    freeEvents.push(event).ignore();
    return status;
  }
  open.event = event;
  XCR_RETURN_IF_ERROR(closed.push(std::move(open)));
  open = Batch(allocator);
  return Status();
}

/// Takes out the batches whose events are reached, the oldest first.
void CudaStream::dropReached(Entry &entry) {
  size_t reached = 0;
  while (reached < closed.size() &&
         cudaDevice.cu.cuEventQuery(closed[reached].event) == CUDA_SUCCESS)
    ++reached;
  if (reached == 0 || entry.ended.reserve(entry.ended.size() + reached).failed())
    return;
  for (size_t i = 0; i < closed.size(); ++i) {
    if (i < reached) {
      freeEvents.push(closed[i].event).ignore(); // closeBatch has made room
      entry.ended.push(std::move(closed[i])).ignore();
    } else {
      closed[i - reached] = std::move(closed[i]);
    }
  }
  for (size_t i = 0; i < reached; ++i)
    closed.pop();
}

/// Everything has ended.
void CudaStream::dropAll(Entry &entry) {
  // Without memory to move them they stay until later.
  if (entry.ended.reserve(closed.size() + 1).failed())
    return;
  for (Batch &batch : closed) {
    freeEvents.push(batch.event).ignore(); // closeBatch has made room
    entry.ended.push(std::move(batch)).ignore();
  }
  closed.clear();
  if (open.objects.empty())
    return;
  entry.ended.push(std::move(open)).ignore();
  open = Batch(allocator);
}

//===----------------------------------------------------------------------===//
// Waiting
//===----------------------------------------------------------------------===//

Status CudaStream::synchronize() {
  if (isCaptured())
    return makeStatus(allocator, XCR_STATUS_FAILED_PRECONDITION,
                      "the stream is being captured into a graph, so there is nothing to wait for");
  uint64_t seen = 0;
  CUstream side = nullptr;
  Ref<HostCallback> callback;
  Status earlier;
  {
    Lock lock(mutex);
    queue.drain();
    earlier = std::move(failure);
    seen = submissions;
    side = callbackStream;
    callback = Ref<HostCallback>::share(lastCallback);
  }
  // Others may use the stream while this thread waits.
  ContextScope scope(cudaDevice, ContextScope::kRelease);
  Status status = cudaDevice.checkAlive();
  if (status.succeeded())
    status = scope.status();
  if (status.succeeded())
    status = XCR_CUDA_CALL(cudaDevice, cuStreamSynchronize, stream);
  // Who hears of a failure frees what the work uses, so it must have ended all the same.
  if (status.failed() && !cudaDevice.isLost())
    cudaDevice.cu.cuStreamSynchronize(stream);
  if (status.succeeded() && side)
    status = XCR_CUDA_CALL(cudaDevice, cuStreamSynchronize, side);
  if (status.succeeded() && callback)
    cudaDevice.callbackQueue()->waitFor(*callback);
  if (status.code() == XCR_STATUS_DEVICE_LOST)
    failCallbacks(status);
  Entry entry(*this);
  pruneCallbacks();
  if (status.code() == XCR_STATUS_DEVICE_LOST ||
      (status.succeeded() && submissions == seen && !isBehind()))
    dropAll(entry);
  return earlier.failed() ? std::move(earlier) : std::move(status);
}

Status CudaStream::queryLocked(bool *isDone) {
  Entry entry(*this);
  XCR_RETURN_IF_ERROR(cudaDevice.checkAlive());
  XCR_RETURN_IF_ERROR(entry.scope.status());
  XCR_RETURN_IF_ERROR(refuseCapture(entry, "a query"));
  *isDone = false;
  if (isBehind()) // somebody who only polls must see an end, too
    return queue.startThread();
  if (failure.failed())
    return copyStatus(allocator, failure.get());
  CUresult result = cudaDevice.cu.cuStreamQuery(stream);
  if (result == CUDA_SUCCESS && callbackStream)
    result = cudaDevice.cu.cuStreamQuery(callbackStream);
  *isDone = result == CUDA_SUCCESS && (!lastCallback || lastCallback->hasEnded());
  pruneCallbacks();
  if (*isDone)
    dropAll(entry);
  return result == CUDA_ERROR_NOT_READY ? Status() : cudaDevice.check(result, "cuStreamQuery");
}

Status CudaStream::query(bool *isDone) {
  Status status = queryLocked(isDone);
  // Another stream may have seen the loss: the callbacks of this one wait all the same.
  if (status.code() == XCR_STATUS_DEVICE_LOST)
    failCallbacks(status);
  return status;
}

//===----------------------------------------------------------------------===//
// Captures
//===----------------------------------------------------------------------===//

CudaStream::CaptureState::CaptureState(CudaStream &stream) : stream(stream) {
  if (!stream.mayBeCaptured)
    return;
  const Symbols &cu = stream.cudaDevice.cu;
  result = cu.cuStreamIsCapturing(stream.stream, &state);
  if (result != CUDA_SUCCESS)
    state = CU_STREAM_CAPTURE_STATUS_NONE;
}

CudaStream::Entry::Entry(CudaStream &stream)
    : ended(stream.allocator), lock(stream.mutex), scope(stream.cudaDevice), capture(stream) {
  // Only under the lock: a wait for what is captured sets it, and enters the capture after that.
  if (capture.isKnown() && !capture.isCaptured())
    stream.mayBeCaptured = stream.isForeign;
}

Status CudaStream::CaptureState::status() const {
  if (state == CU_STREAM_CAPTURE_STATUS_INVALIDATED)
    return makeStatus(stream.allocator, XCR_STATUS_FAILED_PRECONDITION,
                      "the capture of the stream has failed before: it must be ended first");
  return stream.cudaDevice.check(result, "cuStreamIsCapturing");
}

bool CudaStream::isCaptured() {
  if (!mayBeCaptured)
    return false;
  Entry entry(*this);
  return entry.capture.isCaptured();
}

Status CudaStream::refuseCapture(const Entry &entry, const char *what) const {
  if (!entry.capture.isCaptured())
    return Status();
  return makeStatus(allocator, XCR_STATUS_FAILED_PRECONDITION,
                    "the stream is being captured into a graph, which cannot hold %s", what);
}

/// Until the stream goes: nobody tells when the graph does.
Status CudaStream::keepForGraph(Ref<hal::Recording> recording) {
  for (Ref<hal::Recording> &kept : captured)
    if (kept.get() == recording.get())
      return Status();
  return captured.push(std::move(recording));
}

Status CudaStream::follow(hal::Stream &other, Ref<hal::Event> event) {
  auto &earlier = static_cast<CudaStream &>(other);
  if (mayBeCaptured || earlier.mayBeCaptured) {
    ContextScope scope(cudaDevice);
    XCR_RETURN_IF_ERROR(scope.status());
    CaptureState mine(*this), its(earlier);
    if (mine.isCaptured() != its.isCaptured())
      return Status(); // when the graph runs is its owner's to decide
  }
  return hal::Stream::follow(other, std::move(event));
}

//===----------------------------------------------------------------------===//
// Callbacks
//===----------------------------------------------------------------------===//

/// Lets go of those that have been called. The stream is locked.
void CudaStream::pruneCallbacks() {
  while (firstCallback && firstCallback->hasEnded()) {
    HostCallback *callback = firstCallback;
    firstCallback = callback->next;
    if (!firstCallback)
      lastCallback = nullptr;
    callback->release();
  }
}

/// After a failure the driver signals nothing any more, so the callbacks that wait are called here,
/// without the lock: they may release objects. Those that the queue's thread or another one that
/// hears of the failure has begun are awaited; a callback that gets here waits for none.
void CudaStream::failCallbacks(const Status &status) {
  HostCallback *list;
  {
    Lock lock(mutex);
    while (isFailingCallbacks && !HostCallback::isInside())
      callbacksFailed.wait(mutex);
    if (isFailingCallbacks)
      return;
    isFailingCallbacks = true;
    list = firstCallback;
    firstCallback = lastCallback = nullptr;
  }
  while (HostCallback *callback = list) {
    list = callback->next;
    callback->run(status.get());
    cudaDevice.callbackQueue()->waitFor(*callback);
    Lock lock(mutex);
    callback->next = failedCallbacks;
    failedCallbacks = callback;
  }
  Lock lock(mutex);
  isFailingCallbacks = false;
  callbacksFailed.notifyAll();
}

Status CudaStream::performCallback(Entry &entry, const Work &work) {
  XCR_RETURN_IF_ERROR(refuseCapture(entry, "a callback"));
  XCR_RETURN_IF_ERROR(cudaDevice.startCallbacks());
  if (!callbackStream)
    XCR_RETURN_IF_ERROR(XCR_CUDA_CALL(cudaDevice, cuStreamCreateWithPriority, &callbackStream,
                                      CU_STREAM_NON_BLOCKING, 0));
  auto callback = Ref<HostCallback>::adopt(allocator.create<HostCallback>(
      allocator, Ref<CallbackQueue>::share(cudaDevice.callbackQueue()), work.callback, work.data));
  if (!callback)
    return outOfHostMemory(sizeof(HostCallback));
  if (failure.failed())
    callback->failure = copyStatus(allocator, failure.get());
  XCR_RETURN_IF_ERROR(freeEvents.reserve(freeEvents.size() + closed.size() + 1));
  CUevent event = nullptr;
  XCR_RETURN_IF_ERROR(takeEvent(&event));
  Status status = XCR_CUDA_CALL(cudaDevice, cuEventRecord, event, stream);
  if (status.succeeded())
    status = XCR_CUDA_CALL(cudaDevice, cuStreamWaitEvent, callbackStream, event, 0);
  // A wait keeps what was recorded; the event may be used again.
  freeEvents.push(event).ignore();
  XCR_RETURN_IF_ERROR(std::move(status));
  callback->retain(); // signal's
  status = XCR_CUDA_CALL(cudaDevice, cuLaunchHostFunc, callbackStream, HostCallback::signal,
                         callback.get());
  if (status.failed()) {
    callback->release();
    return status;
  }
  HostCallback *added = callback.take();
  (lastCallback ? lastCallback->next : firstCallback) = added;
  lastCallback = added;
  return Status();
}
