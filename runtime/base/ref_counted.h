//===- ref_counted.h - Objects shared by reference count -----------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_RUNTIME_BASE_REF_COUNTED_H
#define XC_RUNTIME_BASE_REF_COUNTED_H

#include <atomic>
#include <cstdint>

namespace xc {

/// Base of what retain and release share. The last release calls destroy(),
/// which gives the memory back to the allocator that it came from.
class RefCounted {
public:
  void retain() { references.fetch_add(1, std::memory_order_relaxed); }
  void release() {
    if (references.fetch_sub(1, std::memory_order_acq_rel) == 1)
      destroy();
  }
  /// Retains unless the last reference is gone, for caches that hold none.
  bool tryRetain() {
    uint32_t seen = references.load(std::memory_order_relaxed);
    while (seen)
      if (references.compare_exchange_weak(seen, seen + 1, std::memory_order_relaxed))
        return true;
    return false;
  }
  /// Whether the caller holds the only reference.
  bool isUnique() const { return references.load(std::memory_order_acquire) == 1; }

protected:
  RefCounted() = default;
  RefCounted(const RefCounted &) = delete;
  virtual ~RefCounted() = default;
  virtual void destroy() = 0;

private:
  std::atomic<uint32_t> references{1};
};

/// Holds one reference.
template <typename T> class Ref {
public:
  Ref() = default;
  /// Takes over the reference that the caller owns.
  static Ref adopt(T *object) {
    Ref ref;
    ref.object = object;
    return ref;
  }
  /// Adds a reference.
  static Ref share(T *object) {
    if (object)
      object->retain();
    return adopt(object);
  }
  Ref(const Ref &other) : object(other.object) {
    if (object)
      object->retain();
  }
  Ref(Ref &&other) : object(other.take()) {}
  /// To a base class.
  template <typename U> Ref(Ref<U> other) : object(other.take()) {}
  Ref &operator=(Ref other) {
    T *old = object;
    object = other.take();
    if (old)
      old->release();
    return *this;
  }
  ~Ref() {
    if (object)
      object->release();
  }

  T *get() const { return object; }
  T *operator->() const { return object; }
  T &operator*() const { return *object; }
  explicit operator bool() const { return object != nullptr; }
  /// Hands the reference to the caller.
  T *take() {
    T *result = object;
    object = nullptr;
    return result;
  }

private:
  T *object = nullptr;
};

} // namespace xc

#endif // XC_RUNTIME_BASE_REF_COUNTED_H
