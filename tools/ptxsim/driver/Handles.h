//===- Handles.h - Opaque handles that cannot be mistaken ------*- C++ -*--===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PTXSIM_DRIVER_HANDLES_H
#define PTXSIM_DRIVER_HANDLES_H

#include <cstdint>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <vector>

namespace xc::cudasim {

/// Gives objects of type T handles of the driver's type H. A handle is a number
/// that is never used twice and that is no valid address, so that a destroyed
/// handle, a handle of another kind and a handle that is dereferenced are all
/// noticed. Thread-safe; `find` shares ownership, so that an object outlives a
/// call that races with its destruction.
template <typename H, typename T> class HandleTable {
public:
  /// `kind` tells tables apart.
  explicit HandleTable(unsigned kind) : next_(uint64_t(0x5A00) << 48 | uint64_t(kind) << 48) {}

  H insert(std::shared_ptr<T> object) {
    std::unique_lock<std::shared_mutex> lock(mutex_);
    next_ += 16;
    objects_.emplace(next_, std::move(object));
    return toHandle(next_);
  }
  std::shared_ptr<T> find(H handle) const {
    std::shared_lock<std::shared_mutex> lock(mutex_);
    auto found = objects_.find(toKey(handle));
    return found == objects_.end() ? nullptr : found->second;
  }
  std::shared_ptr<T> erase(H handle) {
    std::unique_lock<std::shared_mutex> lock(mutex_);
    auto found = objects_.find(toKey(handle));
    if (found == objects_.end())
      return nullptr;
    std::shared_ptr<T> object = std::move(found->second);
    objects_.erase(found);
    return object;
  }
  std::vector<std::pair<H, std::shared_ptr<T>>> all() const {
    std::shared_lock<std::shared_mutex> lock(mutex_);
    std::vector<std::pair<H, std::shared_ptr<T>>> objects;
    for (const auto &[key, object] : objects_)
      objects.emplace_back(toHandle(key), object);
    return objects;
  }
  void clear() {
    std::unordered_map<uint64_t, std::shared_ptr<T>> objects;
    std::unique_lock<std::shared_mutex> lock(mutex_);
    objects.swap(objects_); // destroyed after the lock is released
  }

private:
  static uint64_t toKey(H handle) {
    return static_cast<uint64_t>(reinterpret_cast<uintptr_t>(handle));
  }
  static H toHandle(uint64_t key) { return reinterpret_cast<H>(static_cast<uintptr_t>(key)); }

  mutable std::shared_mutex mutex_;
  uint64_t next_;
  std::unordered_map<uint64_t, std::shared_ptr<T>> objects_;
};

} // namespace xc::cudasim

#endif // PTXSIM_DRIVER_HANDLES_H
