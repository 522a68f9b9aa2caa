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

/// Each record gets a number; the event has reached a number when the work
/// before that record has ended.
class CpuEvent final : public hal::Event {
public:
  CpuEvent(const HostAllocator &allocator, xcr_device &device)
      : hal::Event(device), allocator(allocator) {}

  Status synchronize() override {
    waitFor(recorded());
    return Status();
  }
  Status query(bool *isDone) override {
    Lock lock(mutex);
    *isDone = reached >= issued;
    return Status();
  }

  /// The number of a new record.
  uint64_t issue() {
    Lock lock(mutex);
    return ++issued;
  }
  /// The number of the last record.
  uint64_t recorded() {
    Lock lock(mutex);
    return issued;
  }
  void reach(uint64_t number) {
    Lock lock(mutex);
    if (number > reached)
      reached = number;
    changed.notifyAll();
  }
  void waitFor(uint64_t number) {
    Lock lock(mutex);
    while (reached < number)
      changed.wait(mutex);
  }

private:
  friend class xc::HostAllocator;
  ~CpuEvent() override = default;
  void destroy() override { allocator.destroy(this); }

  const HostAllocator allocator;
  Mutex mutex;
  Condition changed;
  uint64_t issued = 0, reached = 0; // under the mutex
};

} // namespace xc::cpu

#endif // XC_RUNTIME_HAL_CPU_CPU_EVENT_H
