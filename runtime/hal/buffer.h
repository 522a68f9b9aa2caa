//===- buffer.h - A typed array in device memory -------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_RUNTIME_HAL_BUFFER_H
#define XC_RUNTIME_HAL_BUFFER_H

#include "runtime/hal/device.h"

namespace xc::hal {

/// Type, shape and strides of a buffer, checked.
struct Layout {
  xcr_dtype_t dtype = XCR_DTYPE_NONE;
  uint32_t rank = 0;
  int64_t shape[XCR_MAX_RANK] = {};
  int64_t strides[XCR_MAX_RANK] = {}; ///< elements
  uint64_t elementCount = 0;
  uint64_t byteLength = 0; ///< from the first to the end of the last element
  bool isContiguous = true;

  /// INVALID_ARGUMENT, or OUT_OF_RANGE where the size overflows 64 bits.
  /// \p strides: null for row-major.
  static Status create(const HostAllocator &allocator, xcr_dtype_t dtype, uint32_t rank,
                       const int64_t *shape, const int64_t *strides, Layout *out);
};

using Buffer = ::xcr_buffer;

} // namespace xc::hal

/// See xcr.h. All but the mapping is immutable.
struct xcr_buffer final : xc::RefCounted {
  xcr_buffer(xc::Ref<xc::hal::Device> device, xc::Ref<xc::hal::Memory> memory, uint64_t offset,
             const xc::hal::Layout &layout)
      : device(std::move(device)), memory(std::move(memory)), offset(offset), layout(layout) {}

  static xc::Status create(xc::Ref<xc::hal::Device> device, const xc::hal::Layout &layout,
                           xc::Ref<xc::hal::Buffer> *out);
  /// \p memory holds the layout at \p offset.
  static xc::Status adopt(xc::Ref<xc::hal::Device> device, xc::Ref<xc::hal::Memory> memory,
                          uint64_t offset, const xc::hal::Layout &layout,
                          xc::Ref<xc::hal::Buffer> *out);

  uint64_t address() const { return memory->address() + offset; }
  /// With XCR_CHECK=1: whether the host may access \p size bytes at \p byteOffset now.
  xc::Status checkHost(const char *function, uint64_t byteOffset, uint64_t size, bool writes) const;
  xc::Status map(xcr_map_access_t access, void **out);
  xc::Status unmap();

  // The memory goes before the device that it belongs to.
  const xc::Ref<xc::hal::Device> device;
  const xc::Ref<xc::hal::Memory> memory;
  const uint64_t offset;
  const xc::hal::Layout layout;

private:
  friend class xc::HostAllocator;
  ~xcr_buffer() override;
  void destroy() override;

  xc::Mutex mutex;
  bool isMapped = false;
  xcr_map_access_t mapAccess = XCR_MAP_READ;
  void *staging = nullptr; ///< a copy, where the host does not see the memory
};

#endif // XC_RUNTIME_HAL_BUFFER_H
