//===- access_check.h - What unfinished work reads and writes ------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For debugging (XCR_CHECK=1): a host that reads a buffer which a stream still writes gets whatever
// is there, and on the CPU nothing else tells. Work is remembered with an event behind it, and
// accesses of the host to what it uses are refused until that is reached.
//
//===----------------------------------------------------------------------===//

#ifndef XC_RUNTIME_HAL_ACCESS_CHECK_H
#define XC_RUNTIME_HAL_ACCESS_CHECK_H

#include "runtime/base/threads.h"
#include "runtime/base/vector.h"
#include "runtime/hal/stream.h"

namespace xc::hal {

/// What a piece of work does with a range of memory.
struct Access {
  uint64_t begin, end;
  bool isWritten;
  const char *kind; ///< "output", "source"; static
  int64_t ordinal;  ///< which one, or -1
};

/// Thread-safe.
class AccessCheck {
public:
  explicit AccessCheck(const HostAllocator &allocator) : allocator(allocator), entries(allocator) {}

  bool isOn() const { return on; }
  /// Before the device is used.
  void turnOn() { on = true; }
  /// Forgets all: the streams are gone.
  void clear();

  /// Puts \p work on \p stream. Where checks are on, remembers what it uses until it has ended;
  /// \p name: "a launch of 'main'". Where it fails, nothing of it is unfinished.
  template <typename Work>
  Status track(Stream &stream, const char *name, Span<const Access> accesses, Work work);

  /// Of the host, by the API's \p function. FAILED_PRECONDITION where it \p writes what unfinished
  /// work uses, or reads what unfinished work writes.
  Status checkHost(const char *function, uint64_t address, uint64_t size, bool writes);

private:
  struct Entry {
    Ref<Event> end;
    Access access;
    String work;
  };
  Status createEnd(Device &device, Ref<Event> *out) const;
  Status remember(Stream &stream, Ref<Event> end, const char *name, Span<const Access> accesses);
  void forgetEnded();

  const HostAllocator &allocator;
  bool on = false;
  Mutex mutex;
  Vector<Entry> entries; // under the mutex
};

template <typename Work>
Status AccessCheck::track(Stream &stream, const char *name, Span<const Access> accesses,
                          Work work) {
  if (!on)
    return work();
  Ref<Event> end;
  XCR_RETURN_IF_ERROR(createEnd(stream.device(), &end));
  XCR_RETURN_IF_ERROR(work());
  Status remembered = remember(stream, std::move(end), name, accesses);
  // The caller takes what fails for not begun, and frees what it uses.
  if (remembered.failed())
    (void)stream.synchronize();
  return remembered;
}

} // namespace xc::hal

#endif // XC_RUNTIME_HAL_ACCESS_CHECK_H
