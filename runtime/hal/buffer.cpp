//===- buffer.cpp - A typed array in device memory -----------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/hal/buffer.h"

#include "runtime/base/api_struct.h"
#include "runtime/base/checked.h"

#include <cinttypes>

using namespace xc;
using namespace xc::hal;

//===----------------------------------------------------------------------===//
// Layout
//===----------------------------------------------------------------------===//

static Status overflow(const HostAllocator &allocator) {
  return makeStatus(allocator, XCR_STATUS_OUT_OF_RANGE, "the size of the buffer overflows 64 bits");
}

/// Row-major strides, and whether \p layout's are the same but for dims of one
/// element, where the stride does not matter.
static Status checkContiguity(const HostAllocator &allocator, Layout &layout,
                              const int64_t *strides) {
  int64_t expected = 1;
  bool isRowMajor = true;
  for (uint32_t i = layout.rank; i-- > 0;) {
    layout.strides[i] = strides ? strides[i] : expected;
    if (layout.strides[i] < 0)
      return makeStatus(allocator, XCR_STATUS_INVALID_ARGUMENT,
                        "strides[%u]: expected at least 0, got %" PRId64, i, layout.strides[i]);
    isRowMajor &= layout.shape[i] == 1 || layout.strides[i] == expected;
    // Of an empty buffer the product means nothing and may overflow.
    if (multiplyOverflows(expected, layout.shape[i], &expected) && layout.elementCount)
      return overflow(allocator);
  }
  layout.isContiguous = isRowMajor || layout.elementCount == 0;
  return Status();
}

Status Layout::create(const HostAllocator &allocator, xcr_dtype_t dtype, uint32_t rank,
                      const int64_t *shape, const int64_t *strides, Layout *out) {
  Layout layout;
  layout.dtype = dtype;
  layout.rank = rank;
  if (xcr_dtype_size(dtype) == 0)
    return makeStatus(allocator, XCR_STATUS_INVALID_ARGUMENT, "dtype: %d is no element type",
                      static_cast<int>(dtype));
  if (rank > XCR_MAX_RANK)
    return makeStatus(allocator, XCR_STATUS_INVALID_ARGUMENT, "rank: expected at most %d, got %u",
                      XCR_MAX_RANK, rank);
  if (rank && !shape)
    return makeStatus(allocator, XCR_STATUS_INVALID_ARGUMENT, "shape: expected %u values, got NULL",
                      rank);
  for (uint32_t i = 0; i < rank; ++i) {
    layout.shape[i] = shape[i];
    if (shape[i] < 0)
      return makeStatus(allocator, XCR_STATUS_INVALID_ARGUMENT,
                        "shape[%u]: expected at least 0, got %" PRId64, i, shape[i]);
  }
  if (!countElements(layout.shape, rank, &layout.elementCount))
    return overflow(allocator);
  XCR_RETURN_IF_ERROR(checkContiguity(allocator, layout, strides));
  if (layout.elementCount) {
    uint64_t last = 0;
    for (uint32_t i = 0; i < rank; ++i) {
      uint64_t reach;
      if (multiplyOverflows(static_cast<uint64_t>(layout.shape[i] - 1),
                            static_cast<uint64_t>(layout.strides[i]), &reach) ||
          addOverflows(last, reach, &last))
        return overflow(allocator);
    }
    if (addOverflows<uint64_t>(last, 1, &last) ||
        multiplyOverflows<uint64_t>(last, xcr_dtype_size(dtype), &layout.byteLength) ||
        layout.byteLength > INT64_MAX)
      return overflow(allocator);
  }
  *out = layout;
  return Status();
}

//===----------------------------------------------------------------------===//
// Buffer
//===----------------------------------------------------------------------===//

xcr_buffer::~xcr_buffer() {
  if (staging)
    device->allocator.deallocate(staging, layout.byteLength, 64);
}

void xcr_buffer::destroy() {
  // The allocator is the device's, which may go with this buffer.
  Ref<Device> keep = device;
  keep->allocator.destroy(this);
}

Status xcr_buffer::adopt(Ref<Device> device, Ref<Memory> memory, uint64_t offset,
                         const Layout &layout, Ref<Buffer> *out) {
  const HostAllocator &allocator = device->allocator;
  Ref<Device> keep = device;
  Buffer *buffer = allocator.create<Buffer>(std::move(device), std::move(memory), offset, layout);
  if (!buffer)
    return outOfHostMemory(sizeof(Buffer));
  *out = Ref<Buffer>::adopt(buffer);
  return Status();
}

Status xcr_buffer::create(Ref<Device> device, const Layout &layout, Ref<Buffer> *out) {
  Ref<Memory> memory;
  XCR_RETURN_IF_ERROR(device->allocate(layout.byteLength, &memory));
  return adopt(std::move(device), std::move(memory), 0, layout, out);
}

Status xcr_buffer::checkHost(const char *function, uint64_t byteOffset, uint64_t size,
                             bool writes) const {
  return device->accessCheck.checkHost(function, address() + byteOffset, size, writes);
}

Status xcr_buffer::map(xcr_map_access_t access, void **out) {
  const HostAllocator &allocator = device->allocator;
  if (access < XCR_MAP_READ || access > XCR_MAP_READ_WRITE)
    return makeStatus(allocator, XCR_STATUS_INVALID_ARGUMENT, "access: %d is no access",
                      static_cast<int>(access));
  Lock lock(mutex);
  if (isMapped)
    return makeStatus(allocator, XCR_STATUS_FAILED_PRECONDITION, "the buffer is mapped already");
  XCR_RETURN_IF_ERROR(checkHost("xcr_buffer_map", 0, layout.byteLength, access & XCR_MAP_WRITE));
  if (memory->host()) {
    *out = static_cast<char *>(memory->host()) + offset;
  } else {
    staging = allocator.allocate(layout.byteLength, 64);
    if (!staging)
      return outOfHostMemory(layout.byteLength);
    // Also for write access: what the caller leaves alone is written back.
    Status status = device->read(*memory, offset, staging, layout.byteLength);
    if (status.failed()) {
      allocator.deallocate(staging, layout.byteLength, 64);
      staging = nullptr;
      return status;
    }
    *out = staging;
  }
  isMapped = true;
  mapAccess = access;
  return Status();
}

Status xcr_buffer::unmap() {
  Lock lock(mutex);
  if (!isMapped)
    return makeStatus(device->allocator, XCR_STATUS_FAILED_PRECONDITION,
                      "the buffer is not mapped");
  isMapped = false;
  Status status;
  if (staging) {
    if (mapAccess & XCR_MAP_WRITE)
      status = device->write(*memory, offset, staging, layout.byteLength);
    device->allocator.deallocate(staging, layout.byteLength, 64);
    staging = nullptr;
  }
  return status;
}

//===----------------------------------------------------------------------===//
// C API
//===----------------------------------------------------------------------===//

static Status readLayout(const HostAllocator &allocator, const xcr_buffer_options_t *given,
                         bool allowStrides, Layout *out) {
  const xcr_buffer_options_t defaults = XCR_BUFFER_OPTIONS_INIT;
  xcr_buffer_options_t options;
  XCR_RETURN_IF_ERROR(readOptions(given, defaults, &options));
  if (options.strides && !allowStrides)
    return makeStatus(allocator, XCR_STATUS_INVALID_ARGUMENT,
                      "strides: a new buffer is row-major, expected NULL");
  return Layout::create(allocator, options.dtype, options.rank, options.shape, options.strides,
                        out);
}

xcr_status_t xcr_buffer_create(xcr_device_t *device, const xcr_buffer_options_t *options,
                               xcr_buffer_t **out_buffer) {
  return xcr_buffer_create_from_host(device, options, nullptr, 0, out_buffer);
}

static Status createBuffer(xcr_device_t *device, const xcr_buffer_options_t *options,
                           const void *data, size_t size, Ref<Buffer> *out) {
  XCR_RETURN_IF_ERROR(requireArgument(device, "device"));
  XCR_RETURN_IF_ERROR(requireArgument(options, "options"));
  Layout layout;
  XCR_RETURN_IF_ERROR(readLayout(device->allocator, options, false, &layout));
  if (data && size != layout.byteLength)
    return makeStatus(device->allocator, XCR_STATUS_INVALID_ARGUMENT,
                      "size: expected the buffer's %" PRIu64 " bytes, got %zu", layout.byteLength,
                      size);
  XCR_RETURN_IF_ERROR(Buffer::create(Ref<Device>::share(device), layout, out));
  return data ? device->write(*(*out)->memory, 0, data, size) : Status();
}

xcr_status_t xcr_buffer_create_from_host(xcr_device_t *device, const xcr_buffer_options_t *options,
                                         const void *data, size_t size, xcr_buffer_t **out_buffer) {
  XCR_REQUIRE(out_buffer);
  *out_buffer = nullptr;
  Ref<Buffer> buffer;
  Status status = createBuffer(device, options, data, size, &buffer);
  if (status.succeeded())
    *out_buffer = buffer.take();
  return status.release();
}

static Status wrapBuffer(xcr_device_t *device, const xcr_buffer_options_t *options, void *data,
                         size_t size, void (*release)(void *), void *userData, Ref<Buffer> *out) {
  XCR_RETURN_IF_ERROR(requireArgument(device, "device"));
  XCR_RETURN_IF_ERROR(requireArgument(options, "options"));
  Layout layout;
  XCR_RETURN_IF_ERROR(readLayout(device->allocator, options, true, &layout));
  if (layout.byteLength > size)
    return makeStatus(device->allocator, XCR_STATUS_OUT_OF_RANGE,
                      "size: the shape takes %" PRIu64 " bytes, got %zu", layout.byteLength, size);
  if (layout.byteLength)
    XCR_RETURN_IF_ERROR(requireArgument(data, "data"));
  // The caller keeps his memory if anything fails, so `release` is told last.
  Ref<Memory> memory;
  XCR_RETURN_IF_ERROR(device->import(data, size, &memory));
  XCR_RETURN_IF_ERROR(Buffer::adopt(Ref<Device>::share(device), memory, 0, layout, out));
  memory->onRelease(release, userData);
  return Status();
}

xcr_status_t xcr_buffer_wrap(xcr_device_t *device, const xcr_buffer_options_t *options, void *data,
                             size_t size, void (*release)(void *user_data), void *user_data,
                             xcr_buffer_t **out_buffer) {
  XCR_REQUIRE(out_buffer);
  *out_buffer = nullptr;
  Ref<Buffer> buffer;
  Status status = wrapBuffer(device, options, data, size, release, user_data, &buffer);
  if (status.succeeded())
    *out_buffer = buffer.take();
  return status.release();
}

static Status viewBuffer(xcr_buffer_t *buffer, const xcr_buffer_options_t *options,
                         uint64_t byteOffset, Ref<Buffer> *out) {
  XCR_RETURN_IF_ERROR(requireArgument(buffer, "buffer"));
  XCR_RETURN_IF_ERROR(requireArgument(options, "options"));
  const HostAllocator &allocator = buffer->device->allocator;
  Layout layout;
  XCR_RETURN_IF_ERROR(readLayout(allocator, options, true, &layout));
  if (!rangeFits(byteOffset, layout.byteLength, buffer->layout.byteLength))
    return makeStatus(allocator, XCR_STATUS_OUT_OF_RANGE,
                      "a view of %" PRIu64 " bytes at byte %" PRIu64
                      " does not fit into a buffer of %" PRIu64 " bytes",
                      layout.byteLength, byteOffset, buffer->layout.byteLength);
  return Buffer::adopt(buffer->device, buffer->memory, buffer->offset + byteOffset, layout, out);
}

xcr_status_t xcr_buffer_view(xcr_buffer_t *buffer, const xcr_buffer_options_t *options,
                             uint64_t byte_offset, xcr_buffer_t **out_view) {
  XCR_REQUIRE(out_view);
  *out_view = nullptr;
  Ref<Buffer> view;
  Status status = viewBuffer(buffer, options, byte_offset, &view);
  if (status.succeeded())
    *out_view = view.take();
  return status.release();
}

void xcr_buffer_retain(xcr_buffer_t *buffer) {
  if (buffer)
    buffer->retain();
}

void xcr_buffer_release(xcr_buffer_t *buffer) {
  if (buffer)
    buffer->release();
}

void xcr_buffer_get_info(const xcr_buffer_t *buffer, xcr_buffer_info_t *out_info) {
  xcr_buffer_info_t info = XCR_BUFFER_INFO_INIT;
  const Layout &layout = buffer->layout;
  info.dtype = layout.dtype;
  info.rank = layout.rank;
  info.shape = layout.shape;
  info.strides = layout.strides;
  info.element_count = layout.elementCount;
  info.byte_length = layout.byteLength;
  info.is_contiguous = layout.isContiguous;
  info.address = buffer->address();
  info.is_host_visible = buffer->memory->host() != nullptr;
  writeInfo(info, out_info);
}

xcr_device_t *xcr_buffer_device(const xcr_buffer_t *buffer) { return buffer->device.get(); }

static Status checkAccess(const char *function, xcr_buffer_t *buffer, uint64_t byteOffset,
                          const void *data, size_t size, bool writes) {
  XCR_RETURN_IF_ERROR(requireArgument(buffer, "buffer"));
  if (size)
    XCR_RETURN_IF_ERROR(requireArgument(data, "data"));
  if (!rangeFits(byteOffset, size, buffer->layout.byteLength))
    return makeStatus(buffer->device->allocator, XCR_STATUS_OUT_OF_RANGE,
                      "%zu bytes at byte %" PRIu64 " are outside a buffer of %" PRIu64 " bytes",
                      size, byteOffset, buffer->layout.byteLength);
  return buffer->checkHost(function, byteOffset, size, writes);
}

xcr_status_t xcr_buffer_read(xcr_buffer_t *buffer, uint64_t byte_offset, void *data, size_t size) {
  Status status = checkAccess("xcr_buffer_read", buffer, byte_offset, data, size, false);
  if (status.succeeded())
    status = buffer->device->read(*buffer->memory, buffer->offset + byte_offset, data, size);
  return status.release();
}

xcr_status_t xcr_buffer_write(xcr_buffer_t *buffer, uint64_t byte_offset, const void *data,
                              size_t size) {
  Status status = checkAccess("xcr_buffer_write", buffer, byte_offset, data, size, true);
  if (status.succeeded())
    status = buffer->device->write(*buffer->memory, buffer->offset + byte_offset, data, size);
  return status.release();
}

xcr_status_t xcr_buffer_map(xcr_buffer_t *buffer, xcr_map_access_t access, void **out_data) {
  XCR_REQUIRE(out_data);
  *out_data = nullptr;
  Status status = requireArgument(buffer, "buffer");
  if (status.succeeded())
    status = buffer->map(access, out_data);
  return status.release();
}

xcr_status_t xcr_buffer_unmap(xcr_buffer_t *buffer) {
  Status status = requireArgument(buffer, "buffer");
  if (status.succeeded())
    status = buffer->unmap();
  return status.release();
}
