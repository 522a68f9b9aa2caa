//===- thread_pool.h - Threads that share out the work of plans ----------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_RUNTIME_HAL_CPU_THREAD_POOL_H
#define XC_RUNTIME_HAL_CPU_THREAD_POOL_H

#include "runtime/base/ref_counted.h"
#include "runtime/base/threads.h"
#include "runtime/base/vector.h"

namespace xc::cpu {

/// Memory for kernels that need more than their stack: one part for each
/// worker of the pool. Recordings share it until one needs more.
class Scratch final : public RefCounted {
public:
  static Status create(const HostAllocator &allocator, uint32_t workers, uint64_t bytesEach,
                       Ref<Scratch> *out);
  void *part(uint32_t worker) const { return bytesEach ? memory + worker * bytesEach : nullptr; }
  uint64_t bytesOfPart() const { return bytesEach; }

private:
  friend class xc::HostAllocator;
  Scratch(const HostAllocator &allocator, char *memory, size_t size, uint64_t bytesEach)
      : allocator(allocator), memory(memory), size(size), bytesEach(bytesEach) {}
  ~Scratch() override { allocator.deallocate(memory, size, 64); }
  void destroy() override { allocator.destroy(this); }

  const HostAllocator allocator;
  char *const memory;
  const size_t size;
  const uint64_t bytesEach;
};

/// Work that several threads can take part in at once.
class Job {
public:
  virtual ~Job() = default;
  /// Works until the job has ended or there is nothing to begin for a while.
  /// \p worker: ordinal of the pool's thread.
  virtual void help(uint32_t worker) = 0;
  /// Whether help would find something to begin.
  virtual bool hasOpenWork() const = 0;

private:
  friend class ThreadPool;
  Job *next = nullptr;  // under the pool's mutex
  uint32_t helpers = 0; // under the pool's mutex
  uint32_t callersProcessor = OccupiedProcessors::kUnknown;
};

/// The threads of a device. They sleep when no job has open work.
class ThreadPool {
public:
  explicit ThreadPool(const HostAllocator &allocator);
  ~ThreadPool();

  /// Starts \p count threads.
  Status start(uint32_t count);
  uint32_t workers() const { return static_cast<uint32_t>(threads.size()); }

  /// Offers \p job to the threads. The caller takes part himself, calls signal
  /// when there is more to begin, and ends with retire.
  void offer(Job &job);
  /// Returns when no thread is inside \p job any more.
  void retire(Job &job);
  /// Wakes threads that sleep: the pool's, and callers in waitForSignal.
  void signal();
  /// A number that changes with every signal.
  uint32_t signalCount() const { return signals.load(); }
  /// Sleeps until a signal comes after \p seen was read.
  void waitForSignal(uint32_t seen);

  /// At least \p bytes for each worker.
  Status scratch(uint64_t bytes, Ref<Scratch> *out);

private:
  struct Worker {
    ThreadPool *pool = nullptr;
    uint32_t ordinal = 0;
    Thread thread;
  };
  void work(uint32_t ordinal);
  bool helpSomeone(uint32_t ordinal);

  const HostAllocator allocator;
  Vector<Worker *> threads;
  Mutex mutex;
  Condition changed; ///< signals or isEnding
  Condition left;    ///< a helper has left a job
  Job *jobs = nullptr;
  bool isEnding = false;
  std::atomic<uint32_t> signals{0}, sleepers{0}, openJobs{0};
  OccupiedProcessors processors;
  Ref<Scratch> currentScratch; ///< under the mutex
};

} // namespace xc::cpu

#endif // XC_RUNTIME_HAL_CPU_THREAD_POOL_H
