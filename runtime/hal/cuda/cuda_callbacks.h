//===- cuda_callbacks.h - The thread that runs host callbacks ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_RUNTIME_HAL_CUDA_CUDA_CALLBACKS_H
#define XC_RUNTIME_HAL_CUDA_CUDA_CALLBACKS_H

#include "runtime/base/ref_counted.h"
#include "runtime/base/threads.h"

namespace xc::cuda {

class CallbackQueue;

/// One callback of a stream. Whoever claims it calls it, once: the queue's thread after the work
/// before it has ended, or the stream after it has failed.
class HostCallback final : public RefCounted {
public:
  HostCallback(const HostAllocator &allocator, Ref<CallbackQueue> queue,
               xcr_host_callback_t function, void *userData);

  /// Calls it unless that has been done; \p status, or `failure` where that is null, is lent.
  void run(xcr_status_t status);
  bool hasEnded() const { return state.load(std::memory_order_acquire) == kEnded; }
  /// Whether the calling thread is in a callback, of whatever stream.
  static bool isInside();
  /// For cuLaunchHostFunc: hands the callback to the thread, and with it a reference.
  static void signal(void *callback);
  /// Whether the driver has called signal.
  bool isSignalled() const { return signalled.load(std::memory_order_acquire); }

  HostCallback *next = nullptr; ///< of the stream
  Status failure;               ///< of work before it, known when the callback was made

private:
  friend class CallbackQueue;
  friend class xc::HostAllocator;
  ~HostCallback() override = default;
  void destroy() override;

  enum State { kWaiting, kRunning, kEnded };
  const HostAllocator allocator;
  const Ref<CallbackQueue> queue;
  const xcr_host_callback_t function;
  void *const userData;
  std::atomic<int> state{kWaiting};
  std::atomic<bool> signalled{false};
  HostCallback *queueNext = nullptr;
};

/// Callbacks may release objects, which calls the driver; the driver's own threads must not. It
/// outlives the device where a callback drops the device's last reference. Thread-safe.
class CallbackQueue final : public RefCounted {
public:
  static Status create(const HostAllocator &allocator, Ref<CallbackQueue> *out);
  /// Takes over a reference to a callback that has failed: a driver that has lost its device may
  /// still be about to signal it.
  void keep(HostCallback &callback);
  /// Ends the thread and lets go of what was kept; the context is gone, and nothing is signalled
  /// any more.
  void stop();
  /// Waits until \p callback, which was signalled or has begun, has ended. A callback that waits
  /// for itself or for one behind it gets on at once.
  void waitFor(HostCallback &callback);

private:
  friend class HostCallback;
  friend class xc::HostAllocator;
  explicit CallbackQueue(const HostAllocator &allocator) : allocator(allocator) {}
  ~CallbackQueue() override = default;
  void destroy() override { allocator.destroy(this); }
  void push(HostCallback &callback);
  HostCallback *take();
  static void work(void *queue);

  const HostAllocator allocator;
  Mutex mutex;
  Condition changed;
  HostCallback *first = nullptr, **last = &first;
  HostCallback *kept = nullptr;
  bool isStopped = false;
  Thread thread;
};

} // namespace xc::cuda

#endif // XC_RUNTIME_HAL_CUDA_CUDA_CALLBACKS_H
