//===- cuda_event.cpp - Events of a GPU ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/hal/cuda/cuda_event.h"

using namespace xc;
using namespace xc::cuda;

Status CudaEvent::create(CudaDevice &device, Ref<hal::Event> *out) {
  auto event = Ref<CudaEvent>::adopt(device.allocator.create<CudaEvent>(device));
  if (!event)
    return outOfHostMemory(sizeof(CudaEvent));
  ContextScope scope(device);
  XCR_RETURN_IF_ERROR(scope.status());
  XCR_RETURN_IF_ERROR(XCR_CUDA_CALL(device, cuEventCreate, &event->event, CU_EVENT_DISABLE_TIMING));
  *out = std::move(event);
  return Status();
}

void CudaEvent::destroy() {
  HostAllocator allocator = cudaDevice.allocator;
  {
    ContextScope scope(cudaDevice, ContextScope::kRelease);
    if (event)
      cudaDevice.cu.cuEventDestroy(event);
  }
  allocator.destroy(this);
}

Status CudaEvent::enter() const {
  if (getMeaning() == Meaning::Captured)
    return makeStatus(cudaDevice.allocator, XCR_STATUS_FAILED_PRECONDITION,
                      "the event was recorded on a stream that was being captured into a graph, so "
                      "there is nothing that the host can wait for");
  return cudaDevice.checkAlive();
}

bool CudaEvent::tryTurn() {
  Lock lock(mutex);
  if (turnsTaken != turnsEnded)
    return false;
  ++turnsTaken;
  return true;
}

uint64_t CudaEvent::takeTurn() {
  Lock lock(mutex);
  return ++turnsTaken;
}

void CudaEvent::waitForTurn(uint64_t turn) {
  Lock lock(mutex);
  while (turnsEnded + 1 < turn)
    changed.wait(mutex);
}

void CudaEvent::endTurn() {
  Lock lock(mutex);
  ++turnsEnded;
  changed.notifyAll();
}

Status CudaEvent::synchronize() {
  XCR_RETURN_IF_ERROR(enter());
  {
    Lock lock(mutex);
    for (uint64_t last = turnsTaken; turnsEnded < last;)
      changed.wait(mutex);
  }
  ContextScope scope(cudaDevice);
  XCR_RETURN_IF_ERROR(scope.status());
  return XCR_CUDA_CALL(cudaDevice, cuEventSynchronize, event);
}

Status CudaEvent::query(bool *isDone) {
  XCR_RETURN_IF_ERROR(enter());
  *isDone = false;
  {
    Lock lock(mutex);
    if (turnsTaken != turnsEnded)
      return Status();
  }
  ContextScope scope(cudaDevice);
  XCR_RETURN_IF_ERROR(scope.status());
  CUresult result = cudaDevice.cu.cuEventQuery(event);
  *isDone = result == CUDA_SUCCESS;
  return result == CUDA_ERROR_NOT_READY ? Status() : cudaDevice.check(result, "cuEventQuery");
}
