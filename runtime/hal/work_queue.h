//===- work_queue.h - Work of a stream that is run in order --------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_RUNTIME_HAL_WORK_QUEUE_H
#define XC_RUNTIME_HAL_WORK_QUEUE_H

#include "runtime/base/threads.h"
#include "runtime/base/vector.h"
#include "runtime/hal/stream.h"

namespace xc::hal {

/// Pieces of a stream's work, run one at a time in the order in which they came: by a thread that
/// waits for the stream, else by a thread of the queue's own, which is started with the first piece
/// that nobody is known to wait for.
///
/// The owner's mutex guards the queue; every function but end and endByThread is called with it
/// held. `Owner::run(Item &)` is called without it, `Owner::finish()` by the queue's thread where
/// endByThread has left the rest to that.
template <class Item, class Owner> class WorkQueue {
public:
  WorkQueue(const HostAllocator &allocator, Mutex &mutex, Owner &owner)
      : allocator(allocator), mutex(mutex), owner(owner), ring(allocator) {}
  WorkQueue(const WorkQueue &) = delete;

  /// Whether every piece has been run.
  bool isIdle() const { return done == issued; }
  /// All that may fail of a push; where \p mode says that somebody waits, he runs the piece
  /// himself.
  Status prepare(LaunchMode mode);
  /// Comes behind prepare, under the same lock.
  void push(Item item);
  Status startThread();
  /// Returns when all that has been pushed before has been run: on the caller's thread, if nobody
  /// else does.
  void drain();

  /// Drains the queue and ends its thread.
  void end();
  /// On the queue's own thread, which cannot wait for itself: the thread drains the queue and then
  /// finishes the owner. Does nothing and returns false on others.
  bool endByThread();

private:
  void work();
  void runFirst();
  void waitForChange();

  const HostAllocator allocator;
  Mutex &mutex;
  Owner &owner;
  Condition changed;
  Vector<Item> ring;
  size_t head = 0, count = 0;
  uint64_t issued = 0, done = 0; ///< pieces, ever
  uint32_t waiters = 0;
  bool isBusy = false; ///< somebody runs a piece
  bool isEnding = false;
  bool isOrphan = false; ///< the thread finishes the owner
  Thread thread;
};

template <class Item, class Owner> Status WorkQueue<Item, Owner>::prepare(LaunchMode mode) {
  if (mode == LaunchMode::Asynchronous)
    XCR_RETURN_IF_ERROR(startThread());
  if (count < ring.size())
    return Status();
  Vector<Item> larger(allocator);
  XCR_RETURN_IF_ERROR(larger.resize(ring.size() ? 2 * ring.size() : 16));
  for (size_t i = 0; i < count; ++i)
    larger[i] = std::move(ring[(head + i) % ring.size()]);
  ring = std::move(larger);
  head = 0;
  return Status();
}

template <class Item, class Owner> void WorkQueue<Item, Owner>::push(Item item) {
  ring[(head + count) % ring.size()] = std::move(item);
  ++count;
  ++issued;
  if (waiters)
    changed.notifyAll();
}

template <class Item, class Owner> Status WorkQueue<Item, Owner>::startThread() {
  if (thread.isRunning())
    return Status();
  return thread.start(
      allocator, "xcr-stream", [](void *self) { static_cast<WorkQueue *>(self)->work(); }, this);
}

template <class Item, class Owner> void WorkQueue<Item, Owner>::work() {
  {
    Lock lock(mutex);
    while (!isEnding || (isOrphan && count)) {
      if (count && !isBusy)
        runFirst();
      else
        waitForChange();
    }
  }
  // Only this thread sets it, so that it needs no lock.
  if (isOrphan)
    owner.finish();
}

template <class Item, class Owner> void WorkQueue<Item, Owner>::drain() {
  for (uint64_t ticket = issued; done < ticket;) {
    if (count && !isBusy)
      runFirst();
    else
      waitForChange();
  }
}

/// The mutex is not held while the piece runs.
template <class Item, class Owner> void WorkQueue<Item, Owner>::runFirst() {
  isBusy = true;
  Item item = std::move(ring[head]);
  head = (head + 1) % ring.size();
  --count;
  mutex.unlock();
  owner.run(item);
  // Before the piece counts as done: whoever waits expects its references gone.
  item = Item();
  mutex.lock();
  isBusy = false;
  ++done;
  if (waiters)
    changed.notifyAll();
}

template <class Item, class Owner> void WorkQueue<Item, Owner>::waitForChange() {
  ++waiters;
  changed.wait(mutex);
  --waiters;
}

template <class Item, class Owner> void WorkQueue<Item, Owner>::end() {
  {
    Lock lock(mutex);
    drain();
    isEnding = true;
    changed.notifyAll();
  }
  thread.join();
}

template <class Item, class Owner> bool WorkQueue<Item, Owner>::endByThread() {
  if (!thread.isCurrent())
    return false;
  Lock lock(mutex);
  isOrphan = isEnding = true;
  thread.detach();
  return true;
}

} // namespace xc::hal

#endif // XC_RUNTIME_HAL_WORK_QUEUE_H
