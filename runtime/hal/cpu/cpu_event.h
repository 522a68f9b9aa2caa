//===- cpu_event.h - A point in the work of a CPU stream -----------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_RUNTIME_HAL_CPU_CPU_EVENT_H
#define XC_RUNTIME_HAL_CPU_CPU_EVENT_H

#include "runtime/base/threads.h"
#include "runtime/hal/event.h"

namespace xc::cpu {

/// One record of an event, reached when the work before it has ended. It is an object of its own,
/// not a number: an event may be recorded on several streams, whose work ends in any order.
class CpuEventRecord final : public RefCounted {
public:
  explicit CpuEventRecord(const HostAllocator &allocator) : allocator(allocator) {}

  bool isReached() {
    Lock lock(mutex);
    return reached;
  }
  void reach() {
    Lock lock(mutex);
    reached = true;
    changed.notifyAll();
  }
  void wait() {
    Lock lock(mutex);
    while (!reached)
      changed.wait(mutex);
  }
  /// For another use, by whoever has the only reference.
  void reset() {
    Lock lock(mutex);
    reached = false;
  }

private:
  friend class xc::HostAllocator;
  ~CpuEventRecord() override = default;
  void destroy() override { allocator.destroy(this); }

  const HostAllocator allocator;
  Mutex mutex;
  Condition changed;
  bool reached = false; // under the mutex
};

/// Stands for its last record. Whoever waits keeps the record that was the last one then.
class CpuEvent final : public hal::Event {
public:
  CpuEvent(const HostAllocator &allocator, xcr_device &device)
      : hal::Event(device), allocator(allocator) {}

  Status synchronize() override {
    if (Ref<CpuEventRecord> record = lastRecord())
      record->wait();
    return Status();
  }
  Status query(bool *isDone) override {
    Ref<CpuEventRecord> record = lastRecord();
    *isDone = !record || record->isReached();
    return Status();
  }

  /// A new record, for a stream to reach. Allocates only while something still refers to the last
  /// one.
  Status record(Ref<CpuEventRecord> *out) {
    Lock lock(mutex);
    if (last && last->isUnique()) {
      last->reset();
    } else {
      last = Ref<CpuEventRecord>::adopt(allocator.create<CpuEventRecord>(allocator));
      if (!last)
        return outOfHostMemory(sizeof(CpuEventRecord));
    }
    *out = last;
    return Status();
  }
  /// Null if there was none.
  Ref<CpuEventRecord> lastRecord() {
    Lock lock(mutex);
    return last;
  }

private:
  friend class xc::HostAllocator;
  ~CpuEvent() override = default;
  void destroy() override { allocator.destroy(this); }

  const HostAllocator allocator;
  Mutex mutex;
  Ref<CpuEventRecord> last; // under the mutex
};

} // namespace xc::cpu

#endif // XC_RUNTIME_HAL_CPU_CPU_EVENT_H
