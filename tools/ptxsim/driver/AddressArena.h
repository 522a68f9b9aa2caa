//===- AddressArena.h - The device's address space -------------*- C++ -*--===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PTXSIM_DRIVER_ADDRESSARENA_H
#define PTXSIM_DRIVER_ADDRESSARENA_H

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>

namespace xc::cudasim {

/// Bytes of a page of the host.
inline constexpr uint64_t kPage = 4096;

/// One large range of host addresses, committed by touching it, from which a
/// device's allocations and reservations come. Freed ranges lose their memory at
/// once but their addresses last: they are used again only when no fresh ones
/// are left, oldest first, so that a stale pointer stays recognisable. The range
/// stays mapped for the arena's life, so no access inside it can crash the
/// process. Thread-safe.
class AddressArena {
public:
  explicit AddressArena(uint64_t bytes);
  ~AddressArena();
  AddressArena(const AddressArena &) = delete;
  AddressArena &operator=(const AddressArena &) = delete;

  /// Returns 0 if there is no room. `alignment` is a power of two.
  uint64_t allocate(uint64_t bytes, uint64_t alignment);
  void release(uint64_t base, uint64_t bytes);

  /// Makes [base, base + bytes) show the pages of file `fd` from `offset` on;
  /// fd -1: empty memory of the arena's own again. All multiples of the page.
  bool map(uint64_t base, uint64_t bytes, int fd, uint64_t offset);

private:
  void recycleLocked();

  std::mutex mutex_;
  uint64_t base_ = 0;
  uint64_t end_ = 0;
  uint64_t fresh_ = 0; // addresses from here on were never handed out
  std::deque<std::pair<uint64_t, uint64_t>> retired_; // base, bytes; oldest first
  std::map<uint64_t, uint64_t> free_;                 // recycled: base -> bytes, coalesced
};

} // namespace xc::cudasim

#endif // PTXSIM_DRIVER_ADDRESSARENA_H
