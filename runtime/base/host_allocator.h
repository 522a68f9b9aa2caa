//===- host_allocator.h - Where the runtime's host memory comes from -----===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_RUNTIME_BASE_HOST_ALLOCATOR_H
#define XC_RUNTIME_BASE_HOST_ALLOCATOR_H

#include "xcr/xcr.h"

#include <new>
#include <utility>

namespace xc {

/// A copy of the caller's allocator, or malloc and free. Every object keeps the
/// one that it was made with. A null pointer means that memory ran out.
class HostAllocator {
public:
  /// malloc and free.
  HostAllocator();
  /// Copies \p callbacks, none of which is null (see readAllocator).
  explicit HostAllocator(const xcr_host_allocator_t &callbacks) : callbacks(callbacks) {}

  void *allocate(size_t size, size_t alignment = alignof(max_align_t)) const {
    return callbacks.allocate(callbacks.user_data, size, alignment);
  }
  void deallocate(void *pointer, size_t size, size_t alignment = alignof(max_align_t)) const {
    if (pointer)
      callbacks.deallocate(callbacks.user_data, pointer, size, alignment);
  }

  template <typename T, typename... Args> T *create(Args &&...args) const {
    void *memory = allocate(sizeof(T), alignof(T));
    return memory ? new (memory) T(std::forward<Args>(args)...) : nullptr;
  }
  /// \p object must be of exactly this type.
  template <typename T> void destroy(T *object) const {
    if (!object)
      return;
    // The object may hold the allocator that `this` is.
    HostAllocator self = *this;
    object->~T();
    self.deallocate(object, sizeof(T), alignof(T));
  }

private:
  xcr_host_allocator_t callbacks;
};

} // namespace xc

#endif // XC_RUNTIME_BASE_HOST_ALLOCATOR_H
