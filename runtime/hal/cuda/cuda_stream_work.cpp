//===- cuda_stream_work.cpp - What is put on a stream of a GPU ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/hal/cuda/cuda_event.h"
#include "runtime/hal/cuda/cuda_fill.h"
#include "runtime/hal/cuda/cuda_recording.h"
#include "runtime/hal/cuda/cuda_stream.h"

using namespace xc;
using namespace xc::cuda;
using hal::LaunchMode;

//===----------------------------------------------------------------------===//
// What is deferred
//===----------------------------------------------------------------------===//

/// The stream is locked. Either all of it is done or nothing.
Status CudaStream::putOff(Work work, LaunchMode mode) {
  XCR_RETURN_IF_ERROR(queue.prepare(mode));
  if (work.kind == Work::Launch)
    static_cast<CudaRecording &>(*work.first).beginPutOff();
  else if (work.kind == Work::Record || work.kind == Work::Wait)
    work.value = static_cast<CudaEvent &>(*work.first).takeTurn();
  queue.push(std::move(work));
  return Status();
}

/// One piece, in its turn. The stream is not locked.
void CudaStream::run(Work &work) {
  Status status = take(work);
  if (work.kind == Work::Launch)
    static_cast<CudaRecording &>(*work.first).endPutOff();
  Lock lock(mutex);
  if (failure.succeeded())
    failure = std::move(status);
  ++submissions;
}

/// Takes it to the driver.
Status CudaStream::take(Work &work) {
  switch (work.kind) {
  case Work::Launch:
    return runLaunch(Ref<hal::Recording>::share(static_cast<hal::Recording *>(work.first.get())),
                     work.size);
  case Work::Record:
  case Work::Wait: {
    // Others may put work on the stream meanwhile.
    auto &event = static_cast<CudaEvent &>(*work.first);
    event.waitForTurn(work.value);
    Entry entry(*this);
    Status status = entry.scope.status();
    if (status.succeeded())
      status = perform(entry, work);
    event.endTurn();
    return status;
  }
  case Work::Callback: {
    Status status;
    {
      Entry entry(*this);
      status = entry.scope.status();
      if (status.succeeded())
        status = perform(entry, work);
    }
    if (status.failed())
      work.callback(work.data, status.get());
    return status;
  }
  case Work::Release: {
    Entry entry(*this);
    return perform(entry, work);
  }
  default: {
    Entry entry(*this);
    XCR_RETURN_IF_ERROR(enter(entry));
    return perform(entry, work);
  }
  }
}

/// The ifs and whiles of a plan are decided without the lock, unless a graph takes them.
Status CudaStream::runLaunch(Ref<hal::Recording> recording, uint64_t arenaBytes) {
  auto &cudaRecording = static_cast<CudaRecording &>(*recording);
  for (bool isSecond = false;; isSecond = true) {
    Status status;
    {
      Entry entry(*this);
      XCR_RETURN_IF_ERROR(enter(entry));
      if (arenaBytes > arena.size())
        status = arena.restore(arenaBytes);
      if (status.succeeded() && (!cudaRecording.hasHostLoop() || entry.capture.isCaptured()))
        return performLaunch(entry, std::move(recording), arenaBytes);
      if (status.succeeded()) {
        XCR_RETURN_IF_ERROR(hold(entry, std::move(recording)));
        break;
      }
    }
    if (isSecond || status.code() != XCR_STATUS_OUT_OF_MEMORY || cudaDevice.trim().failed())
      return status;
  }
  Status status;
  {
    ContextScope scope(cudaDevice);
    status = scope.status();
    if (status.succeeded())
      status = cudaRecording.launch(&stream, /*isCaptured=*/false);
  }
  if (status.succeeded() && isForeign) {
    Entry entry(*this);
    status = markTail(entry);
  }
  return status;
}

//===----------------------------------------------------------------------===//
// What goes to the driver
//===----------------------------------------------------------------------===//

Status CudaStream::submit(Work work) {
  Entry entry(*this);
  XCR_RETURN_IF_ERROR(enter(entry));
  return isBehind() ? putOff(std::move(work), LaunchMode::Asynchronous) : perform(entry, work);
}

/// As submit, of what is about an event.
Status CudaStream::submitTurn(Work work) {
  Entry entry(*this);
  XCR_RETURN_IF_ERROR(enter(entry));
  Ref<CudaEvent> event = Ref<CudaEvent>::share(static_cast<CudaEvent *>(work.first.get()));
  if (isBehind() || !event->tryTurn())
    return putOff(std::move(work), LaunchMode::Asynchronous);
  Status status = perform(entry, work);
  event->endTurn();
  return status;
}

/// Remembers the end of what somebody may begin to capture behind. The stream is locked.
Status CudaStream::markTail(const Entry &entry) {
  if (entry.capture.isCaptured())
    return Status();
  if (!tail)
    XCR_RETURN_IF_ERROR(XCR_CUDA_CALL(cudaDevice, cuEventCreate, &tail, CU_EVENT_DISABLE_TIMING));
  return XCR_CUDA_CALL(cudaDevice, cuEventRecord, tail, stream);
}

/// The stream is locked, and everything before the work has gone to the driver.
Status CudaStream::perform(Entry &entry, Work &work) {
  Status status;
  switch (work.kind) {
  case Work::Launch:
    return performLaunch(
        entry, Ref<hal::Recording>::share(static_cast<hal::Recording *>(work.first.get())),
        work.size);
  case Work::Record:
    return performRecord(entry, std::move(work.first));
  case Work::Wait:
    return performWait(entry, std::move(work.first));
  case Work::Callback:
    return performCallback(entry, work);
  case Work::Release:
    return performRelease(entry, std::move(work.first));
  default:
    break;
  }
  if (work.size == 0)
    return Status();
  if (work.kind == Work::Read)
    XCR_RETURN_IF_ERROR(refuseCapture(entry, "a read into memory of the host"));
  if (work.kind == Work::Write)
    XCR_RETURN_IF_ERROR(refuseCapture(entry, "a write from memory of the host"));
  XCR_RETURN_IF_ERROR(hold(entry, std::move(work.first)));
  if (work.second)
    XCR_RETURN_IF_ERROR(hold(entry, std::move(work.second)));
  if (work.kind == Work::Fill) {
    FillLaunch fill;
    XCR_RETURN_IF_ERROR(fill.prepare(cudaDevice, work.to, work.size, work.value, work.patternSize));
    status = fill.launch(cudaDevice, stream);
  } else if (work.kind == Work::Copy) {
    status = XCR_CUDA_CALL(cudaDevice, cuMemcpyDtoDAsync, work.to, work.from, work.size, stream);
  } else if (work.kind == Work::Read) {
    status = XCR_CUDA_CALL(cudaDevice, cuMemcpyDtoHAsync, work.data, work.from, work.size, stream);
  } else {
    status = XCR_CUDA_CALL(cudaDevice, cuMemcpyHtoDAsync, work.to, work.source, work.size, stream);
  }
  return status.failed() || !isForeign ? std::move(status) : markTail(entry);
}

/// The stream and others of its own for a launch over \p count of them.
Status CudaStream::prepareLanes(uint32_t laneCount, CUstream *out) {
  out[0] = stream;
  for (uint32_t i = 1; i < laneCount; ++i) {
    CUstream &side = sideStreams[i - 1];
    if (!side)
      XCR_RETURN_IF_ERROR(
          XCR_CUDA_CALL(cudaDevice, cuStreamCreateWithPriority, &side, CU_STREAM_NON_BLOCKING, 0));
    out[i] = side;
  }
  return Status();
}

Status CudaStream::performLaunch(Entry &entry, Ref<hal::Recording> recording, uint64_t arenaBytes) {
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
  XCR_RETURN_IF_ERROR(cudaRecording.launch(lanes, isCaptured));
  return isForeign ? markTail(entry) : Status();
}

Status CudaStream::launch(Ref<hal::Recording> recording, uint64_t arenaBytes, LaunchMode mode) {
  CudaRecording &cudaRecording = static_cast<CudaRecording &>(*recording);
  for (bool isSecond = false;; isSecond = true) {
    Status status;
    {
      Entry entry(*this);
      XCR_RETURN_IF_ERROR(enter(entry));
      bool isCaptured = entry.capture.isCaptured();
      bool hasHostLoop = cudaRecording.hasHostLoop() && !isCaptured;
      if (hasHostLoop || isBehind()) {
        if (isCaptured)
          XCR_RETURN_IF_ERROR(cudaRecording.prepareCapture());
        Work work;
        work.kind = Work::Launch;
        work.first = std::move(recording);
        work.size = arenaBytes;
        // The owner of the driver's stream puts work on it himself, which comes behind this.
        bool isAwaited = isForeign && hasHostLoop;
        XCR_RETURN_IF_ERROR(putOff(std::move(work), isAwaited ? LaunchMode::Awaited : mode));
        if (!isAwaited)
          return Status();
        queue.drain();
        return std::move(failure);
      }
      // A trim since the arena was reserved may have taken its memory.
      if (arenaBytes > arena.size())
        status = arena.restore(arenaBytes);
      if (status.succeeded())
        return performLaunch(entry, std::move(recording), arenaBytes);
    }
    // As for reserveArena.
    if (isSecond || status.code() != XCR_STATUS_OUT_OF_MEMORY || cudaDevice.trim().failed())
      return status;
  }
}

Status CudaStream::performRecord(Entry &entry, Ref<RefCounted> event) {
  CudaEvent &target = static_cast<CudaEvent &>(*event);
  XCR_RETURN_IF_ERROR(hold(entry, std::move(event)));
  XCR_RETURN_IF_ERROR(XCR_CUDA_CALL(cudaDevice, cuEventRecord, target.handle(), stream));
  target.setMeaning(entry.capture.isCaptured() ? CudaEvent::Meaning::Captured
                                               : CudaEvent::Meaning::Work);
  return isForeign ? markTail(entry) : Status();
}

Status CudaStream::record(Ref<hal::Event> event) {
  Work work;
  work.kind = Work::Record;
  work.first = std::move(event);
  return submitTurn(std::move(work));
}

Status CudaStream::performWait(Entry &entry, Ref<RefCounted> event) {
  const CudaEvent &source = static_cast<const CudaEvent &>(*event);
  CudaEvent::Meaning meaning = source.getMeaning();
  if (meaning == CudaEvent::Meaning::Work)
    XCR_RETURN_IF_ERROR(refuseCapture(entry, "a wait for what is outside of the capture"));
  if (meaning == CudaEvent::Meaning::Captured) {
    XCR_RETURN_IF_ERROR(markTail(entry));
    mayBeCaptured = true;
  }
  CUevent handle = source.handle();
  XCR_RETURN_IF_ERROR(hold(entry, std::move(event)));
  return XCR_CUDA_CALL(cudaDevice, cuStreamWaitEvent, stream, handle, 0);
}

Status CudaStream::wait(Ref<hal::Event> event) {
  Work work;
  work.kind = Work::Wait;
  work.first = std::move(event);
  return submitTurn(std::move(work));
}

Status CudaStream::addCallback(xcr_host_callback_t function, void *userData) {
  Work work;
  work.kind = Work::Callback;
  work.callback = function;
  work.data = userData;
  return submit(std::move(work));
}

Status CudaStream::copy(Ref<hal::Memory> source, uint64_t sourceOffset, Ref<hal::Memory> target,
                        uint64_t targetOffset, uint64_t size) {
  Work work;
  work.kind = Work::Copy;
  work.from = source->address() + sourceOffset;
  work.to = target->address() + targetOffset;
  work.size = size;
  work.first = std::move(source);
  work.second = std::move(target);
  return submit(std::move(work));
}

Status CudaStream::fill(Ref<hal::Memory> target, uint64_t offset, uint64_t size, uint64_t pattern,
                        uint32_t patternSize) {
  Work work;
  work.kind = Work::Fill;
  work.to = target->address() + offset;
  work.size = size;
  work.value = pattern;
  work.patternSize = patternSize;
  work.first = std::move(target);
  return submit(std::move(work));
}

Status CudaStream::read(Ref<hal::Memory> source, uint64_t offset, void *data, uint64_t size) {
  Work work;
  work.kind = Work::Read;
  work.from = source->address() + offset;
  work.data = data;
  work.size = size;
  work.first = std::move(source);
  return submit(std::move(work));
}

Status CudaStream::write(Ref<hal::Memory> target, uint64_t offset, const void *data,
                         uint64_t size) {
  Work work;
  work.kind = Work::Write;
  work.to = target->address() + offset;
  work.source = data;
  work.size = size;
  work.first = std::move(target);
  return submit(std::move(work));
}

//===----------------------------------------------------------------------===//
// What work uses
//===----------------------------------------------------------------------===//

Status CudaStream::performRelease(Entry &entry, Ref<RefCounted> object) {
  if (entry.capture.isCaptured()) {
    // Of what was launched before the capture; the driver can neither be asked nor be waited for.
    if (hold(entry, object).failed())
      object.take();
    return Status();
  }
  if (cudaDevice.cu.cuStreamQuery(stream) == CUDA_SUCCESS)
    entry.released = std::move(object); // nothing in flight
  else if (hold(entry, object).failed())
    cudaDevice.cu.cuStreamSynchronize(stream);
  return Status();
}

void CudaStream::releaseLater(RefCounted *object) {
  Work work;
  work.first = Ref<RefCounted>::adopt(object);
  Ref<RefCounted> last = work.first;
  Entry entry(*this);
  // Without memory for it the caller waits, and does the work himself if need be.
  if (isBehind() && putOff(std::move(work), LaunchMode::Awaited).succeeded())
    return;
  queue.drain();
  performRelease(entry, std::move(last)).ignore();
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
  if (isBehind() || cudaDevice.cu.cuStreamQuery(stream) != CUDA_SUCCESS) {
    dropReached(entry);
    return;
  }
  dropAll(entry);
  arena.trim();
}
