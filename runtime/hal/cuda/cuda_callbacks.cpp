//===- cuda_callbacks.cpp - The thread that runs host callbacks ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/hal/cuda/cuda_callbacks.h"

using namespace xc;
using namespace xc::cuda;

//===----------------------------------------------------------------------===//
// Callbacks
//===----------------------------------------------------------------------===//

HostCallback::HostCallback(const HostAllocator &allocator, Ref<CallbackQueue> queue,
                           xcr_host_callback_t function, void *userData)
    : allocator(allocator), queue(std::move(queue)), function(function), userData(userData) {}

void HostCallback::destroy() { allocator.destroy(this); }

/// Callbacks that the thread is in: one may release what waits for others.
static thread_local int depth = 0;

bool HostCallback::isInside() { return depth != 0; }

void HostCallback::run(xcr_status_t status) {
  int expected = kWaiting;
  if (!state.compare_exchange_strong(expected, kRunning))
    return;
  ++depth;
  function(userData, status ? status : failure.get());
  --depth;
  Lock lock(queue->mutex);
  state.store(kEnded, std::memory_order_release);
  queue->changed.notifyAll();
}

void HostCallback::signal(void *data) {
  auto *callback = static_cast<HostCallback *>(data);
  // The queue lives on in the callback until the thread has let go of that.
  callback->queue->push(*callback);
}

//===----------------------------------------------------------------------===//
// The queue
//===----------------------------------------------------------------------===//

Status CallbackQueue::create(const HostAllocator &allocator, Ref<CallbackQueue> *out) {
  auto queue = Ref<CallbackQueue>::adopt(allocator.create<CallbackQueue>(allocator));
  if (!queue)
    return outOfHostMemory(sizeof(CallbackQueue));
  queue->retain(); // the thread's
  if (Status status = queue->thread.start(allocator, "xcr-callbacks", work, queue.get());
      status.failed()) {
    queue->release();
    return status;
  }
  *out = std::move(queue);
  return Status();
}

void CallbackQueue::stop() {
  {
    Lock lock(mutex);
    isStopped = true;
    changed.notifyAll();
  }
  if (thread.isCurrent())
    thread.detach();
  else
    thread.join();
  while (HostCallback *callback = kept) {
    kept = callback->next;
    // The driver's reference, where it has not handed that on.
    if (!callback->isSignalled())
      callback->release();
    callback->release();
  }
}

void CallbackQueue::keep(HostCallback &callback) {
  Lock lock(mutex);
  callback.next = kept;
  kept = &callback;
}

void CallbackQueue::push(HostCallback &callback) {
  Lock lock(mutex);
  *last = &callback;
  last = &callback.queueNext;
  callback.signalled.store(true, std::memory_order_release);
  changed.notifyAll();
}

/// Null once the queue is stopped and empty.
HostCallback *CallbackQueue::take() {
  Lock lock(mutex);
  while (!first && !isStopped)
    changed.wait(mutex);
  HostCallback *callback = first;
  if (callback) {
    first = callback->queueNext;
    if (!first)
      last = &first;
  }
  return callback;
}

void CallbackQueue::work(void *data) {
  Ref<CallbackQueue> queue = Ref<CallbackQueue>::adopt(static_cast<CallbackQueue *>(data));
  while (HostCallback *callback = queue->take()) {
    callback->run(nullptr);
    callback->release();
  }
}

void CallbackQueue::waitFor(HostCallback &callback) {
  if (thread.isCurrent()) {
    callback.run(nullptr);
    return;
  }
  Lock lock(mutex);
  while (!callback.hasEnded())
    changed.wait(mutex);
}
