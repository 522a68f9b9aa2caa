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

void CudaStream::destroy() {
  HostAllocator copy = allocator;
  cudaDevice.forget(*this);
  if (stream) {
    // A failure that is not for ever may be over; on a lost device there is nothing to wait for.
    Status status = synchronize();
    if (status.failed() && !cudaDevice.isLost())
      status = synchronize();
    if (status.failed())
      failCallbacks(status);
  }
  {
    ContextScope scope(cudaDevice, ContextScope::kRelease);
    for (Batch &batch : closed)
      cudaDevice.cu.cuEventDestroy(batch.event);
    for (CUevent event : freeEvents)
      cudaDevice.cu.cuEventDestroy(event);
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

void CudaStream::releaseLater(RefCounted *object) {
  Ref<RefCounted> owned = Ref<RefCounted>::adopt(object);
  Entry entry(*this);
  if (entry.capture.isCaptured()) {
    // Of what was launched before the capture; the driver can neither be asked nor be waited for.
    if (hold(entry, owned).failed())
      owned.take();
    return;
  }
  if (cudaDevice.cu.cuStreamQuery(stream) == CUDA_SUCCESS)
    return; // nothing in flight
  if (hold(entry, owned).failed())
    cudaDevice.cu.cuStreamSynchronize(stream);
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
  {
    Lock lock(mutex);
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
  if (status.code() == XCR_STATUS_DEVICE_LOST || (status.succeeded() && submissions == seen))
    dropAll(entry);
  return status;
}

Status CudaStream::queryLocked(bool *isDone) {
  Entry entry(*this);
  XCR_RETURN_IF_ERROR(cudaDevice.checkAlive());
  XCR_RETURN_IF_ERROR(entry.scope.status());
  XCR_RETURN_IF_ERROR(refuseCapture(entry, "a query"));
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

Status CudaStream::record(Ref<hal::Event> event) {
  Entry entry(*this);
  XCR_RETURN_IF_ERROR(enter(entry));
  XCR_RETURN_IF_ERROR(hold(entry, event));
  CudaEvent &target = static_cast<CudaEvent &>(*event);
  XCR_RETURN_IF_ERROR(XCR_CUDA_CALL(cudaDevice, cuEventRecord, target.handle(), stream));
  target.setMeaning(entry.capture.isCaptured() ? CudaEvent::Meaning::Captured
                                               : CudaEvent::Meaning::Work);
  return Status();
}

Status CudaStream::wait(Ref<hal::Event> event) {
  Entry entry(*this);
  XCR_RETURN_IF_ERROR(enter(entry));
  const CudaEvent &source = static_cast<const CudaEvent &>(*event);
  CudaEvent::Meaning meaning = source.getMeaning();
  if (meaning == CudaEvent::Meaning::Work)
    XCR_RETURN_IF_ERROR(refuseCapture(entry, "a wait for what is outside of the capture"));
  if (meaning == CudaEvent::Meaning::Captured)
    mayBeCaptured = true;
  CUevent handle = source.handle();
  XCR_RETURN_IF_ERROR(hold(entry, std::move(event)));
  return XCR_CUDA_CALL(cudaDevice, cuStreamWaitEvent, stream, handle, 0);
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
/// without the lock: they may release objects.
void CudaStream::failCallbacks(const Status &status) {
  HostCallback *list;
  {
    Lock lock(mutex);
    list = firstCallback;
    firstCallback = lastCallback = nullptr;
  }
  while (HostCallback *callback = list) {
    list = callback->next;
    callback->run(status.get());
    Lock lock(mutex);
    callback->next = failedCallbacks;
    failedCallbacks = callback;
  }
}

Status CudaStream::addCallback(xcr_host_callback_t function, void *userData) {
  Entry entry(*this);
  XCR_RETURN_IF_ERROR(enter(entry));
  XCR_RETURN_IF_ERROR(refuseCapture(entry, "a callback"));
  XCR_RETURN_IF_ERROR(cudaDevice.startCallbacks());
  if (!callbackStream)
    XCR_RETURN_IF_ERROR(XCR_CUDA_CALL(cudaDevice, cuStreamCreateWithPriority, &callbackStream,
                                      CU_STREAM_NON_BLOCKING, 0));
  auto callback = Ref<HostCallback>::adopt(allocator.create<HostCallback>(
      allocator, Ref<CallbackQueue>::share(cudaDevice.callbackQueue()), function, userData));
  if (!callback)
    return outOfHostMemory(sizeof(HostCallback));
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

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

/// The stream and others of its own for a launch over \p count of them.
Status CudaStream::prepareLanes(uint32_t count, CUstream *out) {
  out[0] = stream;
  for (uint32_t i = 1; i < count; ++i) {
    CUstream &side = sideStreams[i - 1];
    if (!side)
      XCR_RETURN_IF_ERROR(
          XCR_CUDA_CALL(cudaDevice, cuStreamCreateWithPriority, &side, CU_STREAM_NON_BLOCKING, 0));
    out[i] = side;
  }
  return Status();
}

Status CudaStream::launch(Ref<hal::Recording> recording, uint64_t arenaBytes, hal::LaunchMode) {
  for (bool isSecond = false;; isSecond = true) {
    Status status;
    {
      Entry entry(*this);
      XCR_RETURN_IF_ERROR(enter(entry));
      // A trim since the arena was reserved may have taken its memory.
      if (arenaBytes > arena.size())
        status = arena.restore(arenaBytes);
      if (status.succeeded())
        return launchLocked(entry, std::move(recording), arenaBytes);
    }
    // As for reserveArena.
    if (isSecond || status.code() != XCR_STATUS_OUT_OF_MEMORY || cudaDevice.trim().failed())
      return status;
  }
}

Status CudaStream::launchLocked(Entry &entry, Ref<hal::Recording> recording, uint64_t arenaBytes) {
  CudaRecording &cudaRecording = static_cast<CudaRecording &>(*recording);
  bool isCaptured = entry.capture.isCaptured();
  if (isCaptured) {
    XCR_RETURN_IF_ERROR(cudaRecording.prepareCapture());
    if (arenaBytes)
      arena.pin();
  }
  CUstream lanes[kMaxLanes];
  XCR_RETURN_IF_ERROR(prepareLanes(cudaRecording.laneCount(isCaptured), lanes));
  XCR_RETURN_IF_ERROR(isCaptured ? keepForGraph(std::move(recording))
                                 : hold(entry, std::move(recording)));
  return cudaRecording.launch(lanes, isCaptured);
}

Status CudaStream::copy(Ref<hal::Memory> source, uint64_t sourceOffset, Ref<hal::Memory> target,
                        uint64_t targetOffset, uint64_t size) {
  Entry entry(*this);
  XCR_RETURN_IF_ERROR(enter(entry));
  if (size == 0)
    return Status();
  CUdeviceptr from = source->address() + sourceOffset, to = target->address() + targetOffset;
  XCR_RETURN_IF_ERROR(hold(entry, std::move(source)));
  XCR_RETURN_IF_ERROR(hold(entry, std::move(target)));
  return XCR_CUDA_CALL(cudaDevice, cuMemcpyDtoDAsync, to, from, size, stream);
}

Status CudaStream::fill(Ref<hal::Memory> target, uint64_t offset, uint64_t size, uint64_t pattern,
                        uint32_t patternSize) {
  Entry entry(*this);
  XCR_RETURN_IF_ERROR(enter(entry));
  if (size == 0)
    return Status();
  CUdeviceptr address = target->address() + offset;
  XCR_RETURN_IF_ERROR(hold(entry, std::move(target)));
  FillLaunch fill;
  XCR_RETURN_IF_ERROR(fill.prepare(cudaDevice, address, size, pattern, patternSize));
  return fill.launch(cudaDevice, stream);
}

Status CudaStream::read(Ref<hal::Memory> source, uint64_t offset, void *data, uint64_t size) {
  Entry entry(*this);
  XCR_RETURN_IF_ERROR(enter(entry));
  if (size == 0)
    return Status();
  XCR_RETURN_IF_ERROR(refuseCapture(entry, "a read into memory of the host"));
  CUdeviceptr address = source->address() + offset;
  XCR_RETURN_IF_ERROR(hold(entry, std::move(source)));
  return XCR_CUDA_CALL(cudaDevice, cuMemcpyDtoHAsync, data, address, size, stream);
}

Status CudaStream::write(Ref<hal::Memory> target, uint64_t offset, const void *data,
                         uint64_t size) {
  Entry entry(*this);
  XCR_RETURN_IF_ERROR(enter(entry));
  if (size == 0)
    return Status();
  XCR_RETURN_IF_ERROR(refuseCapture(entry, "a write from memory of the host"));
  CUdeviceptr address = target->address() + offset;
  XCR_RETURN_IF_ERROR(hold(entry, std::move(target)));
  return XCR_CUDA_CALL(cudaDevice, cuMemcpyHtoDAsync, address, data, size, stream);
}

Status CudaStream::reserveArena(uint64_t size, uint64_t *base, Ref<hal::Memory> *holder) {
  bool isSecond = false;
  for (;;) {
    Status status;
    {
      Entry entry(*this);
      XCR_RETURN_IF_ERROR(enter(entry));
      bool hasMoved = false;
      status = arena.grow(size, &hasMoved);
      if (status.succeeded()) {
        if (hasMoved)
          arenaMoves.fetch_add(1, std::memory_order_release);
        *base = arena.base();
        *holder = arena.holder();
        return Status();
      }
    }
    // Other streams' arenas and what the pool keeps may be enough; trim locks this stream, too.
    if (isSecond || status.code() != XCR_STATUS_OUT_OF_MEMORY || cudaDevice.trim().failed())
      return status;
    isSecond = true;
  }
}

void CudaStream::trim() {
  Entry entry(*this);
  if (entry.scope.status().failed() || entry.capture.isCaptured())
    return;
  if (cudaDevice.cu.cuStreamQuery(stream) != CUDA_SUCCESS) {
    dropReached(entry);
    return;
  }
  dropAll(entry);
  arena.trim();
}
