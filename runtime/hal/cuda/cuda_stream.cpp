//===- cuda_stream.cpp - Streams of a GPU ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/hal/cuda/cuda_stream.h"

#include "runtime/hal/cuda/cuda_event.h"
#include "runtime/hal/cuda/cuda_recording.h"
#include "runtime/hal/cuda/fill_kernel.h"

using namespace xc;
using namespace xc::cuda;

/// Objects in a batch before it is closed; an event for each launch would cost more than the
/// launch.
static constexpr size_t kBatchObjects = 32;

Status CudaStream::create(CudaDevice &device, Ref<hal::Stream> *out) {
  auto result = Ref<CudaStream>::adopt(device.allocator.create<CudaStream>(device));
  if (!result)
    return outOfHostMemory(sizeof(CudaStream));
  ContextScope scope(device);
  XCR_RETURN_IF_ERROR(XCR_CUDA_CALL(device, cuStreamCreateWithPriority, &result->stream,
                                    CU_STREAM_NON_BLOCKING, 0));
  *out = std::move(result);
  return Status();
}

void CudaStream::destroy() {
  HostAllocator copy = allocator;
  // On a lost device waiting fails at once, which is as good.
  synchronize().ignore();
  {
    ContextScope scope(cudaDevice);
    dropAll();
    for (CUevent event : freeEvents)
      cudaDevice.cu.cuEventDestroy(event);
    if (callbackStream)
      cudaDevice.cu.cuStreamDestroy(callbackStream);
    if (stream)
      cudaDevice.cu.cuStreamDestroy(stream);
  }
  copy.destroy(this);
}

//===----------------------------------------------------------------------===//
// What work in flight holds
//===----------------------------------------------------------------------===//

Status CudaStream::takeEvent(CUevent *out) {
  if (!freeEvents.empty()) {
    *out = freeEvents.back();
    freeEvents.pop();
    return Status();
  }
  return XCR_CUDA_CALL(cudaDevice, cuEventCreate, out, CU_EVENT_DISABLE_TIMING);
}

Status CudaStream::hold(Ref<RefCounted> object) {
  // A call launched again and again is held once a batch.
  for (Ref<RefCounted> &held : open.objects)
    if (held.get() == object.get())
      return Status();
  XCR_RETURN_IF_ERROR(open.objects.push(std::move(object)));
  return open.objects.size() < kBatchObjects ? Status() : closeBatch();
}

Status CudaStream::closeBatch() {
  dropReached();
  XCR_RETURN_IF_ERROR(closed.reserve(closed.size() + 1));
  XCR_RETURN_IF_ERROR(freeEvents.reserve(freeEvents.size() + closed.size() + 2));
  CUevent event = nullptr;
  XCR_RETURN_IF_ERROR(takeEvent(&event));
  if (Status status = XCR_CUDA_CALL(cudaDevice, cuEventRecord, event, stream); status.failed()) {
    freeEvents.push(event).ignore(); // there is room
    return status;
  }
  open.event = event;
  XCR_RETURN_IF_ERROR(closed.push(std::move(open)));
  open = Batch(allocator);
  return Status();
}

/// Drops the batches whose events are reached, the oldest first.
void CudaStream::dropReached() {
  size_t reached = 0;
  while (reached < closed.size() &&
         cudaDevice.cu.cuEventQuery(closed[reached].event) == CUDA_SUCCESS)
    ++reached;
  if (reached == 0)
    return;
  for (size_t i = 0; i < closed.size(); ++i) {
    if (i < reached)
      freeEvents.push(closed[i].event).ignore(); // closeBatch has made room
    else
      closed[i - reached] = std::move(closed[i]);
  }
  for (size_t i = 0; i < reached; ++i)
    closed.pop();
}

/// Everything has ended.
void CudaStream::dropAll() {
  for (Batch &batch : closed)
    if (freeEvents.push(batch.event).failed())
      cudaDevice.cu.cuEventDestroy(batch.event);
  closed.clear();
  open.objects.clear();
}

void CudaStream::releaseLater(RefCounted *object) {
  Ref<RefCounted> owned = Ref<RefCounted>::adopt(object);
  Lock lock(mutex);
  ContextScope scope(cudaDevice);
  if (cudaDevice.cu.cuStreamQuery(stream) == CUDA_SUCCESS)
    return; // nothing in flight
  if (open.objects.push(owned).failed())
    cudaDevice.cu.cuStreamSynchronize(stream);
}

//===----------------------------------------------------------------------===//
// Waiting
//===----------------------------------------------------------------------===//

Status CudaStream::synchronize() {
  Status status;
  Callback *ended = nullptr;
  {
    Lock lock(mutex);
    ContextScope scope(cudaDevice);
    status = cudaDevice.checkAlive();
    if (status.succeeded())
      status = XCR_CUDA_CALL(cudaDevice, cuStreamSynchronize, stream);
    if (status.succeeded() && callbackStream)
      status = XCR_CUDA_CALL(cudaDevice, cuStreamSynchronize, callbackStream);
    ended = takeEndedCallbacks(/*takeAll=*/status.failed());
    if (status.succeeded() || status.code() == XCR_STATUS_DEVICE_LOST)
      dropAll();
  }
  finishCallbacks(ended, status);
  return status;
}

Status CudaStream::query(bool *isDone) {
  Callback *ended = nullptr;
  CUresult result;
  {
    Lock lock(mutex);
    XCR_RETURN_IF_ERROR(cudaDevice.checkAlive());
    ContextScope scope(cudaDevice);
    result = cudaDevice.cu.cuStreamQuery(stream);
    if (result == CUDA_SUCCESS && callbackStream)
      result = cudaDevice.cu.cuStreamQuery(callbackStream);
    *isDone = result == CUDA_SUCCESS;
    if (*isDone) {
      ended = takeEndedCallbacks(/*takeAll=*/false);
      dropAll();
    }
  }
  finishCallbacks(ended, Status());
  return result == CUDA_ERROR_NOT_READY ? Status() : cudaDevice.check(result, "cuStreamQuery");
}

Status CudaStream::record(Ref<hal::Event> event) {
  Lock lock(mutex);
  XCR_RETURN_IF_ERROR(cudaDevice.checkAlive());
  ContextScope scope(cudaDevice);
  CUevent handle = static_cast<CudaEvent &>(*event).handle();
  XCR_RETURN_IF_ERROR(hold(std::move(event)));
  return XCR_CUDA_CALL(cudaDevice, cuEventRecord, handle, stream);
}

Status CudaStream::wait(Ref<hal::Event> event) {
  Lock lock(mutex);
  XCR_RETURN_IF_ERROR(cudaDevice.checkAlive());
  ContextScope scope(cudaDevice);
  CUevent handle = static_cast<CudaEvent &>(*event).handle();
  XCR_RETURN_IF_ERROR(hold(std::move(event)));
  return XCR_CUDA_CALL(cudaDevice, cuStreamWaitEvent, stream, handle, 0);
}

//===----------------------------------------------------------------------===//
// Callbacks
//===----------------------------------------------------------------------===//

void CudaStream::runCallback(void *data) {
  auto *callback = static_cast<Callback *>(data);
  callback->function(callback->userData, nullptr);
  callback->isDone.store(true, std::memory_order_release);
}

/// Unlinks the callbacks that have run, or all of them.
CudaStream::Callback *CudaStream::takeEndedCallbacks(bool takeAll) {
  Callback *taken = nullptr;
  Callback **link = &callbacks;
  while (Callback *callback = *link) {
    if (!takeAll && !callback->isDone.load(std::memory_order_acquire)) {
      link = &callback->next;
      continue;
    }
    *link = callback->next;
    callback->next = taken;
    taken = callback;
  }
  return taken;
}

/// After a failure the driver runs no callback any more, so those that wait are told here. The lock
/// is not held: they may release objects.
void CudaStream::finishCallbacks(Callback *list, const Status &status) {
  while (Callback *callback = list) {
    list = callback->next;
    if (!callback->isDone.load(std::memory_order_acquire))
      callback->function(callback->userData, status.get());
    allocator.destroy(callback);
  }
}

Status CudaStream::addCallback(xcr_host_callback_t function, void *userData) {
  Lock lock(mutex);
  XCR_RETURN_IF_ERROR(cudaDevice.checkAlive());
  ContextScope scope(cudaDevice);
  if (!callbackStream)
    XCR_RETURN_IF_ERROR(XCR_CUDA_CALL(cudaDevice, cuStreamCreateWithPriority, &callbackStream,
                                      CU_STREAM_NON_BLOCKING, 0));
  CUevent event = nullptr;
  XCR_RETURN_IF_ERROR(takeEvent(&event));
  Status status = XCR_CUDA_CALL(cudaDevice, cuEventRecord, event, stream);
  if (status.succeeded())
    status = XCR_CUDA_CALL(cudaDevice, cuStreamWaitEvent, callbackStream, event, 0);
  // A wait keeps what was recorded; the event may be used again.
  if (freeEvents.push(event).failed())
    cudaDevice.cu.cuEventDestroy(event);
  if (status.failed())
    return status;
  auto *callback = allocator.create<Callback>();
  if (!callback)
    return outOfHostMemory(sizeof(Callback));
  callback->stream = this;
  callback->function = function;
  callback->userData = userData;
  status = XCR_CUDA_CALL(cudaDevice, cuLaunchHostFunc, callbackStream, runCallback, callback);
  if (status.failed()) {
    allocator.destroy(callback);
    return status;
  }
  callback->next = callbacks;
  callbacks = callback;
  return Status();
}

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

Status CudaStream::launch(Ref<hal::Recording> recording, uint64_t arenaBytes, hal::LaunchMode) {
  Lock lock(mutex);
  XCR_RETURN_IF_ERROR(cudaDevice.checkAlive());
  // A trim since the arena was reserved may have taken its memory.
  if (arenaBytes > arena.size())
    XCR_RETURN_IF_ERROR(arena.grow(arenaBytes));
  ContextScope scope(cudaDevice);
  CudaRecording &cudaRecording = static_cast<CudaRecording &>(*recording);
  XCR_RETURN_IF_ERROR(hold(std::move(recording)));
  return cudaRecording.launch(stream);
}

Status CudaStream::copy(Ref<hal::Memory> source, uint64_t sourceOffset, Ref<hal::Memory> target,
                        uint64_t targetOffset, uint64_t size) {
  Lock lock(mutex);
  XCR_RETURN_IF_ERROR(cudaDevice.checkAlive());
  if (size == 0)
    return Status();
  ContextScope scope(cudaDevice);
  CUdeviceptr from = source->address() + sourceOffset, to = target->address() + targetOffset;
  XCR_RETURN_IF_ERROR(hold(std::move(source)));
  XCR_RETURN_IF_ERROR(hold(std::move(target)));
  return XCR_CUDA_CALL(cudaDevice, cuMemcpyDtoDAsync, to, from, size, stream);
}

Status CudaStream::fill(Ref<hal::Memory> target, uint64_t offset, uint64_t size, uint64_t pattern,
                        uint32_t patternSize) {
  Lock lock(mutex);
  XCR_RETURN_IF_ERROR(cudaDevice.checkAlive());
  if (size == 0)
    return Status();
  ContextScope scope(cudaDevice);
  CUdeviceptr address = target->address() + offset;
  XCR_RETURN_IF_ERROR(hold(std::move(target)));
  FillLaunch fill;
  XCR_RETURN_IF_ERROR(fill.prepare(cudaDevice, address, size, pattern, patternSize));
  return fill.launch(cudaDevice, stream);
}

Status CudaStream::read(Ref<hal::Memory> source, uint64_t offset, void *data, uint64_t size) {
  Lock lock(mutex);
  XCR_RETURN_IF_ERROR(cudaDevice.checkAlive());
  if (size == 0)
    return Status();
  ContextScope scope(cudaDevice);
  CUdeviceptr address = source->address() + offset;
  XCR_RETURN_IF_ERROR(hold(std::move(source)));
  return XCR_CUDA_CALL(cudaDevice, cuMemcpyDtoHAsync, data, address, size, stream);
}

Status CudaStream::write(Ref<hal::Memory> target, uint64_t offset, const void *data,
                         uint64_t size) {
  Lock lock(mutex);
  XCR_RETURN_IF_ERROR(cudaDevice.checkAlive());
  if (size == 0)
    return Status();
  ContextScope scope(cudaDevice);
  CUdeviceptr address = target->address() + offset;
  XCR_RETURN_IF_ERROR(hold(std::move(target)));
  return XCR_CUDA_CALL(cudaDevice, cuMemcpyHtoDAsync, address, data, size, stream);
}

Status CudaStream::reserveArena(uint64_t size, uint64_t *base) {
  Lock lock(mutex);
  XCR_RETURN_IF_ERROR(cudaDevice.checkAlive());
  XCR_RETURN_IF_ERROR(arena.grow(size));
  *base = arena.base();
  return Status();
}
