//===- thread_pool.cpp - Threads that share out the work of plans --------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/hal/cpu/thread_pool.h"

#include "runtime/base/checked.h"

using namespace xc;
using namespace xc::cpu;

// How long a thread without work looks for more before it sleeps: about as
// long as it takes to wake it, some ten microseconds.
static constexpr uint32_t kIdleSpins = 400;

Status Scratch::create(const HostAllocator &allocator, uint32_t workers, uint64_t bytesEach,
                       Ref<Scratch> *out) {
  uint64_t size;
  if (!alignUp(bytesEach, 64, &bytesEach) ||
      multiplyOverflows<uint64_t>(bytesEach, workers, &size) || size > SIZE_MAX)
    return outOfHostMemory(UINT64_MAX);
  char *memory = static_cast<char *>(allocator.allocate(size, 64));
  if (!memory)
    return outOfHostMemory(size);
  Scratch *scratch = allocator.create<Scratch>(allocator, memory, size, bytesEach);
  if (!scratch) {
    allocator.deallocate(memory, size, 64);
    return outOfHostMemory(sizeof(Scratch));
  }
  *out = Ref<Scratch>::adopt(scratch);
  return Status();
}

ThreadPool::ThreadPool(const HostAllocator &allocator) : allocator(allocator), threads(allocator) {}

ThreadPool::~ThreadPool() {
  {
    Lock lock(mutex);
    isEnding = true;
    signals.fetch_add(1);
    changed.notifyAll();
  }
  for (Worker *worker : threads) {
    worker->thread.join();
    allocator.destroy(worker);
  }
}

Status ThreadPool::start(uint32_t count) {
  XCR_RETURN_IF_ERROR(threads.reserve(count));
  for (uint32_t i = 0; i < count; ++i) {
    Worker *worker = allocator.create<Worker>();
    if (!worker)
      return outOfHostMemory(sizeof(Worker));
    worker->pool = this;
    worker->ordinal = i;
    Status status = worker->thread.start(
        allocator, "xcr-worker",
        [](void *argument) {
          Worker *self = static_cast<Worker *>(argument);
          self->pool->work(self->ordinal);
        },
        worker);
    if (status.failed()) {
      allocator.destroy(worker);
      return status;
    }
    XCR_RETURN_IF_ERROR(threads.push(worker));
  }
  return Status();
}

void ThreadPool::offer(Job &job) {
  if (threads.empty())
    return;
  job.callersProcessor = processors.stay();
  {
    Lock lock(mutex);
    job.next = jobs;
    jobs = &job;
    openJobs.fetch_add(1);
  }
  signal();
}

void ThreadPool::retire(Job &job) {
  if (threads.empty())
    return;
  processors.leave(job.callersProcessor);
  Lock lock(mutex);
  Job **link = &jobs;
  while (*link != &job)
    link = &(*link)->next;
  *link = job.next;
  openJobs.fetch_sub(1);
  while (job.helpers)
    left.wait(mutex);
}

void ThreadPool::signal() {
  // Both sides use sequential consistency: either the sleeper sees the new
  // count before it waits, or this thread sees the sleeper.
  signals.fetch_add(1);
  if (sleepers.load() == 0)
    return;
  Lock lock(mutex);
  changed.notifyAll();
}

void ThreadPool::waitForSignal(uint32_t seen) {
  sleepers.fetch_add(1);
  {
    Lock lock(mutex);
    while (signals.load() == seen && !isEnding)
      changed.wait(mutex);
  }
  sleepers.fetch_sub(1);
}

bool ThreadPool::helpSomeone(uint32_t ordinal) {
  Job *job;
  {
    Lock lock(mutex);
    for (job = jobs; job && !job->hasOpenWork();)
      job = job->next;
    if (!job)
      return false;
    ++job->helpers;
  }
  uint32_t processor = processors.enter();
  job->help(ordinal);
  processors.leave(processor);
  Lock lock(mutex);
  if (--job->helpers == 0)
    left.notifyAll();
  return true;
}

void ThreadPool::work(uint32_t ordinal) {
  for (;;) {
    uint32_t seen = signals.load();
    if (openJobs.load() && helpSomeone(ordinal))
      continue;
    for (uint32_t i = 0; i < kIdleSpins && signals.load() == seen; ++i)
      pauseThread();
    if (signals.load() == seen)
      waitForSignal(seen);
    Lock lock(mutex);
    if (isEnding)
      return;
  }
}

Status ThreadPool::scratch(uint64_t bytes, Ref<Scratch> *out) {
  Lock lock(mutex);
  if (!currentScratch || currentScratch->bytesOfPart() < bytes) {
    Ref<Scratch> larger;
    XCR_RETURN_IF_ERROR(Scratch::create(allocator, workers(), bytes, &larger));
    currentScratch = std::move(larger);
  }
  *out = currentScratch;
  return Status();
}
