//===- vector.h - Containers that report failure -------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// The standard containers end the process when memory runs out and exceptions
// are off. These return a status instead, and take memory from the caller's
// allocator.
//
//===----------------------------------------------------------------------===//

#ifndef XC_RUNTIME_BASE_VECTOR_H
#define XC_RUNTIME_BASE_VECTOR_H

#include "runtime/base/status.h"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace xc {

/// A borrowed range.
template <typename T> struct Span {
  T *data = nullptr;
  size_t size = 0;

  T &operator[](size_t i) const {
    assert(i < size && "index outside the span");
    return data[i];
  }
  T *begin() const { return data; }
  T *end() const { return data + size; }
  operator Span<const T>() const { return {data, size}; }
};

/// A growable array. Move-only.
template <typename T> class Vector {
public:
  explicit Vector(const HostAllocator &allocator) : allocator(allocator) {}
  Vector(Vector &&other)
      : allocator(other.allocator), elements(other.elements), count(other.count), room(other.room) {
    other.elements = nullptr;
    other.count = other.room = 0;
  }
  Vector &operator=(Vector &&other) {
    if (this != &other) {
      this->~Vector();
      new (this) Vector(std::move(other));
    }
    return *this;
  }
  ~Vector() {
    clear();
    allocator.deallocate(elements, room * sizeof(T), alignof(T));
  }

  size_t size() const { return count; }
  bool empty() const { return count == 0; }
  size_t capacity() const { return room; }
  T *data() { return elements; }
  const T *data() const { return elements; }
  T &operator[](size_t i) {
    assert(i < count && "index outside the vector");
    return elements[i];
  }
  const T &operator[](size_t i) const {
    assert(i < count && "index outside the vector");
    return elements[i];
  }
  T &back() { return (*this)[count - 1]; }
  T *begin() { return elements; }
  T *end() { return elements + count; }
  const T *begin() const { return elements; }
  const T *end() const { return elements + count; }
  Span<T> span() { return {elements, count}; }
  Span<const T> span() const { return {elements, count}; }

  Status reserve(size_t wanted) {
    if (wanted <= room)
      return Status();
    size_t bytes;
    if (__builtin_mul_overflow(wanted, sizeof(T), &bytes))
      return outOfHostMemory(UINT64_MAX);
    T *moved = static_cast<T *>(allocator.allocate(bytes, alignof(T)));
    if (!moved)
      return outOfHostMemory(bytes);
    for (size_t i = 0; i < count; ++i) {
      new (moved + i) T(std::move(elements[i]));
      elements[i].~T();
    }
    allocator.deallocate(elements, room * sizeof(T), alignof(T));
    elements = moved;
    room = wanted;
    return Status();
  }
  Status push(T value) {
    if (count == room)
      XCR_RETURN_IF_ERROR(reserve(room ? 2 * room : 8));
    new (elements + count++) T(std::move(value));
    return Status();
  }
  /// New elements are value-initialised.
  Status resize(size_t wanted) {
    XCR_RETURN_IF_ERROR(reserve(wanted));
    while (count > wanted)
      elements[--count].~T();
    while (count < wanted)
      new (elements + count++) T();
    return Status();
  }
  void pop() {
    assert(count && "pop of an empty vector");
    elements[--count].~T();
  }
  void clear() {
    while (count)
      elements[--count].~T();
  }

private:
  HostAllocator allocator;
  T *elements = nullptr;
  size_t count = 0, room = 0;
};

/// A string of its own, terminated.
class String {
public:
  explicit String(const HostAllocator &allocator) : text(allocator) {}

  Status assign(xcr_string_view_t source) {
    text.clear();
    XCR_RETURN_IF_ERROR(text.reserve(source.size + 1));
    return append(source);
  }
  Status append(xcr_string_view_t source) {
    if (!text.empty())
      text.pop();
    // Twice as much at least: a text of many parts is not copied for each.
    size_t wanted = text.size() + source.size + 1;
    if (wanted > text.capacity())
      XCR_RETURN_IF_ERROR(text.reserve(std::max(wanted, 2 * text.capacity())));
    for (size_t i = 0; i < source.size; ++i)
      XCR_RETURN_IF_ERROR(text.push(source.data[i]));
    return text.push(0);
  }
  char *data() { return text.data(); }
  const char *c_str() const { return text.empty() ? "" : text.data(); }
  xcr_string_view_t view() const { return {c_str(), text.empty() ? 0 : text.size() - 1}; }

private:
  Vector<char> text;
};

inline bool equal(xcr_string_view_t a, xcr_string_view_t b) {
  return a.size == b.size && (a.size == 0 || !memcmp(a.data, b.data, a.size));
}

/// Byte-wise order.
inline bool isLess(xcr_string_view_t a, xcr_string_view_t b) {
  size_t common = a.size < b.size ? a.size : b.size;
  int order = common ? memcmp(a.data, b.data, common) : 0;
  return order ? order < 0 : a.size < b.size;
}

} // namespace xc

#endif // XC_RUNTIME_BASE_VECTOR_H
