//===- MemoryMap.cpp - Every range of memory the driver knows -------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MemoryMap.h"

#include <mutex>

namespace xc::cudasim {

uint64_t MemoryMap::insert(Range range) {
  std::unique_lock<std::shared_mutex> lock(mutex_);
  auto next = ranges_.lower_bound(range.base);
  if (next != ranges_.end() && next->first < range.end())
    return 0;
  if (next != ranges_.begin() && std::prev(next)->second.end() > range.base)
    return 0;
  range.id = ++nextId_;
  ranges_.emplace_hint(next, range.base, range);
  return range.id;
}

std::optional<Range> MemoryMap::erase(uint64_t base) {
  std::unique_lock<std::shared_mutex> lock(mutex_);
  auto found = ranges_.find(base);
  if (found == ranges_.end())
    return std::nullopt;
  Range range = found->second;
  ranges_.erase(found);
  return range;
}

void MemoryMap::setAccess(uint64_t base, uint64_t size, bool readWrite) {
  std::unique_lock<std::shared_mutex> lock(mutex_);
  for (auto it = ranges_.lower_bound(base); it != ranges_.end() && it->first < base + size; ++it)
    it->second.readWrite = readWrite;
}

std::optional<Range> MemoryMap::find(uint64_t address) const {
  std::shared_lock<std::shared_mutex> lock(mutex_);
  auto next = ranges_.upper_bound(address);
  if (next == ranges_.begin())
    return std::nullopt;
  const Range &range = std::prev(next)->second;
  if (address >= range.end())
    return std::nullopt;
  return range;
}

bool MemoryMap::covers(uint64_t address, uint64_t size) const {
  std::shared_lock<std::shared_mutex> lock(mutex_);
  uint64_t end = address + size;
  if (end < address)
    return false;
  auto it = ranges_.upper_bound(address);
  if (it == ranges_.begin())
    return false;
  for (--it; it != ranges_.end() && it->first <= address; ++it) {
    if (!it->second.readWrite || it->second.end() <= address)
      return false;
    address = it->second.end();
    if (address >= end)
      return true;
  }
  return false;
}

std::vector<Range> MemoryMap::all() const {
  std::shared_lock<std::shared_mutex> lock(mutex_);
  std::vector<Range> result;
  for (const auto &[base, range] : ranges_)
    result.push_back(range);
  return result;
}

void MemoryMap::clear() {
  std::unique_lock<std::shared_mutex> lock(mutex_);
  ranges_.clear();
}

} // namespace xc::cudasim
