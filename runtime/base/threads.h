//===- threads.h - Threads whose failure is a status ---------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_RUNTIME_BASE_THREADS_H
#define XC_RUNTIME_BASE_THREADS_H

#include "runtime/base/status.h"

#include <atomic>
#include <pthread.h>

namespace xc {

class Mutex {
public:
  Mutex() = default;
  Mutex(const Mutex &) = delete;
  ~Mutex() { pthread_mutex_destroy(&mutex); }
  void lock() { pthread_mutex_lock(&mutex); }
  void unlock() { pthread_mutex_unlock(&mutex); }

private:
  friend class Condition;
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
};

class Lock {
public:
  explicit Lock(Mutex &mutex) : mutex(mutex) { mutex.lock(); }
  Lock(const Lock &) = delete;
  ~Lock() { mutex.unlock(); }

private:
  Mutex &mutex;
};

class Condition {
public:
  Condition() = default;
  Condition(const Condition &) = delete;
  ~Condition() { pthread_cond_destroy(&condition); }
  /// \p mutex is held by the caller.
  void wait(Mutex &mutex) { pthread_cond_wait(&condition, &mutex.mutex); }
  void notifyOne() { pthread_cond_signal(&condition); }
  void notifyAll() { pthread_cond_broadcast(&condition); }

private:
  pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
};

/// A thread, joined before it is destroyed unless it was detached.
class Thread {
public:
  Thread() = default;
  Thread(const Thread &) = delete;
  ~Thread() { join(); }

  /// \p name: at most 15 characters are shown by debuggers. Signals are
  /// blocked in the thread, so that the caller's handlers run on his own.
  Status start(const HostAllocator &allocator, const char *name, void (*function)(void *),
               void *argument);
  void join();
  /// The thread goes on alone. Only it may call this.
  void detach();
  bool isRunning() const { return running; }
  bool isCurrent() const { return running && pthread_equal(thread, pthread_self()); }

private:
  static void *enter(void *self);

  pthread_t thread = {};
  bool running = false;
  void (*function)(void *) = nullptr;
  void *argument = nullptr;
};

/// The processors that the threads of a pool, and its callers, compute on. A
/// scheduler may wake a thread on its caller's processor and leave both there
/// for tens of milliseconds, while others idle: a thread that enters goes to
/// one that nobody has entered. All functions may be called from any thread.
class OccupiedProcessors {
public:
  /// Stands for a processor that is not known.
  static constexpr uint32_t kUnknown = ~0u;

  /// The calling thread computes from now on, where it is. Returns the
  /// processor, for leave.
  uint32_t stay();
  /// As stay, but goes to a free processor first if this one is occupied and
  /// the thread may run there. What it may run on later is as before.
  uint32_t enter();
  void leave(uint32_t processor);

private:
  static constexpr uint32_t kCount = 1024; // as many as a cpu_set_t has
  std::atomic<uint16_t> threads[kCount] = {};
};

/// Tells the processor that this is a waiting loop.
inline void pauseThread() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Processors that this process may run on.
uint32_t processorCount();

/// A steady clock.
uint64_t nowNanoseconds();

} // namespace xc

#endif // XC_RUNTIME_BASE_THREADS_H
