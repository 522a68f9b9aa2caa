//===- AddressArena.cpp - The device's address space ----------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AddressArena.h"

#include <sys/mman.h>

namespace xc::cudasim {
namespace {

uint64_t alignTo(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) & ~(alignment - 1);
}

} // namespace

AddressArena::AddressArena(uint64_t bytes) {
  // Sanitizers and small address-space limits leave less room than we ask for.
  for (; bytes >= kPage; bytes /= 2) {
    void *base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
      continue;
    base_ = fresh_ = reinterpret_cast<uintptr_t>(base);
    end_ = base_ + bytes;
    return;
  }
}

AddressArena::~AddressArena() {
  if (base_)
    munmap(reinterpret_cast<void *>(base_), end_ - base_);
}

uint64_t AddressArena::allocate(uint64_t bytes, uint64_t alignment) {
  std::lock_guard<std::mutex> lock(mutex_);
  bytes = alignTo(bytes, kPage);
  alignment = std::max(alignment, kPage);
  // A page without an owner after each range: what runs past the end of one
  // allocation must not land in the next.
  uint64_t wanted = bytes + kPage;
  uint64_t base = alignTo(fresh_, alignment);
  if (base < end_ && wanted <= end_ - base) {
    if (base > fresh_) // the gap of the alignment
      retired_.emplace_back(fresh_, base - fresh_);
    fresh_ = base + wanted;
    return base;
  }
  for (;;) {
    // The smallest that fits: large ones are for reservations of all of a device's memory.
    auto best = free_.end();
    for (auto it = free_.begin(); it != free_.end(); ++it)
      if (alignTo(it->first, alignment) + wanted <= it->first + it->second &&
          (best == free_.end() || it->second < best->second))
        best = it;
    if (best != free_.end()) {
      auto [start, size] = *best;
      base = alignTo(start, alignment);
      free_.erase(best);
      if (base > start)
        free_[start] = base - start;
      if (start + size > base + wanted)
        free_[base + wanted] = start + size - base - wanted;
      return base;
    }
    if (retired_.empty())
      return 0;
    recycleLocked();
  }
}

void AddressArena::release(uint64_t base, uint64_t bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  bytes = alignTo(bytes, kPage);
  madvise(reinterpret_cast<void *>(base), bytes, MADV_DONTNEED);
  retired_.emplace_back(base, bytes + kPage);
}

bool AddressArena::map(uint64_t base, uint64_t bytes, int fd, uint64_t offset) {
  int flags = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE : MAP_SHARED;
  return mmap(reinterpret_cast<void *>(base), bytes, PROT_READ | PROT_WRITE, flags | MAP_FIXED, fd,
              static_cast<off_t>(offset)) != MAP_FAILED;
}

/// Makes the older half of the retired ranges allocatable.
void AddressArena::recycleLocked() {
  for (size_t count = (retired_.size() + 1) / 2; count; --count) {
    auto [base, size] = retired_.front();
    retired_.pop_front();
    auto next = free_.upper_bound(base);
    if (next != free_.end() && base + size == next->first) {
      size += next->second;
      next = free_.erase(next);
    }
    if (next != free_.begin()) {
      auto previous = std::prev(next);
      if (previous->first + previous->second == base) {
        previous->second += size;
        continue;
      }
    }
    free_[base] = size;
  }
}

} // namespace xc::cudasim
