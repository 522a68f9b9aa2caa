//===- threads.cpp - Threads whose failure is a status -------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/base/threads.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <sched.h>
#include <unistd.h>

using namespace xc;

// A kernel may use 128 KiB (schemas/cpu_kernel_abi.h); the rest is for the
// host callbacks of the caller.
static constexpr size_t kStackBytes = 2u << 20;

Status Thread::start(const HostAllocator &allocator, const char *name, void (*entry)(void *),
                     void *entryArgument) {
  function = entry;
  argument = entryArgument;
  pthread_attr_t attributes;
  int error = pthread_attr_init(&attributes);
  if (error == 0) {
    pthread_attr_setstacksize(&attributes, kStackBytes);
    sigset_t all, previous;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &previous);
    error = pthread_create(&thread, &attributes, enter, this);
    pthread_sigmask(SIG_SETMASK, &previous, nullptr);
    pthread_attr_destroy(&attributes);
  }
  if (error != 0)
    return makeStatus(allocator, XCR_STATUS_INTERNAL, "cannot start thread '%s': %s", name,
                      strerror(error));
  running = true;
#ifdef __linux__
  pthread_setname_np(thread, name);
#endif
  return Status();
}

void *Thread::enter(void *self) {
  Thread *thread = static_cast<Thread *>(self);
  thread->function(thread->argument);
  return nullptr;
}

void Thread::join() {
  if (running)
    pthread_join(thread, nullptr);
  running = false;
}

void Thread::detach() {
  pthread_detach(thread);
  running = false;
}

static uint32_t currentProcessor() {
#ifdef __linux__
  int processor = sched_getcpu();
  return processor < 0 ? OccupiedProcessors::kUnknown : static_cast<uint32_t>(processor);
#else
  return OccupiedProcessors::kUnknown;
#endif
}

uint32_t OccupiedProcessors::stay() {
  uint32_t processor = currentProcessor();
  if (processor >= kCount)
    return kUnknown;
  threads[processor].fetch_add(1, std::memory_order_relaxed);
  return processor;
}

uint32_t OccupiedProcessors::enter() {
#ifdef __linux__
  uint32_t processor = currentProcessor();
  cpu_set_t allowed, open;
  if (processor < kCount && threads[processor].load(std::memory_order_relaxed) &&
      sched_getaffinity(0, sizeof(allowed), &allowed) == 0) {
    CPU_ZERO(&open);
    for (uint32_t other = 0; other < kCount; ++other)
      if (CPU_ISSET(other, &allowed) && !threads[other].load(std::memory_order_relaxed))
        CPU_SET(other, &open);
    // Moves at once, as it may not stay; where that is not permitted, it stays.
    if (CPU_COUNT(&open) && sched_setaffinity(0, sizeof(open), &open) == 0)
      sched_setaffinity(0, sizeof(allowed), &allowed);
  }
#endif
  return stay();
}

void OccupiedProcessors::leave(uint32_t processor) {
  if (processor != kUnknown)
    threads[processor].fetch_sub(1, std::memory_order_relaxed);
}

uint32_t xc::processorCount() {
#ifdef __linux__
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0)
    return static_cast<uint32_t>(CPU_COUNT(&set));
#endif
  long count = sysconf(_SC_NPROCESSORS_ONLN);
  return count > 0 ? static_cast<uint32_t>(count) : 1;
}

uint64_t xc::nowNanoseconds() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1000000000u + static_cast<uint64_t>(time.tv_nsec);
}
