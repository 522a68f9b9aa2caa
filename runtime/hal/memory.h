//===- memory.h - Memory of a device -------------------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_RUNTIME_HAL_MEMORY_H
#define XC_RUNTIME_HAL_MEMORY_H

#include "runtime/base/ref_counted.h"
#include "runtime/base/status.h"

namespace xc::hal {

/// Counts the device memory that is in use and enforces a limit. Thread-safe.
class MemoryCounter {
public:
  /// \p limit: UINT64_MAX for none.
  explicit MemoryCounter(uint64_t limit) : limit(limit) {}

  /// False if that passes the limit; \p available then tells what is left.
  bool charge(uint64_t bytes, uint64_t *available);
  void refund(uint64_t bytes);
  void chargeArena(uint64_t bytes) { arena.fetch_add(bytes); }
  void refundArena(uint64_t bytes) { arena.fetch_sub(bytes); }
  void resetPeak() { peak.store(inUse.load()); }

  uint64_t bytesInUse() const { return inUse.load(); }
  uint64_t bytesPeak() const { return peak.load(); }
  uint64_t bytesLimit() const { return limit; }
  uint64_t bytesArena() const { return arena.load(); }
  uint64_t allocations() const { return allocationCount.load(); }

private:
  const uint64_t limit;
  std::atomic<uint64_t> inUse{0}, peak{0}, arena{0}, allocationCount{0};
};

/// A piece of device memory, freed with its last reference. Whoever drops that
/// one makes sure that no work in flight uses it.
class Memory : public RefCounted {
public:
  uint64_t address() const { return base; }
  uint64_t size() const { return byteSize; }
  /// Where the host sees the same bytes, or null.
  void *host() const { return hostPointer; }
  /// Imported memory: what to call when it is not used any more.
  void onRelease(void (*function)(void *), void *data) {
    releaseFunction = function;
    releaseData = data;
  }

protected:
  Memory(uint64_t base, uint64_t byteSize, void *hostPointer)
      : base(base), byteSize(byteSize), hostPointer(hostPointer) {}
  ~Memory() override {
    if (releaseFunction)
      releaseFunction(releaseData);
  }

private:
  const uint64_t base, byteSize;
  void *const hostPointer;
  void (*releaseFunction)(void *) = nullptr;
  void *releaseData = nullptr;
};

} // namespace xc::hal

#endif // XC_RUNTIME_HAL_MEMORY_H
