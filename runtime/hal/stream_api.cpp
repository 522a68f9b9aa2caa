//===- stream_api.cpp - The C API of streams and events ------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/base/api_struct.h"
#include "runtime/base/checked.h"
#include "runtime/base/named_range.h"
#include "runtime/hal/buffer.h"

#include <cinttypes>

using namespace xc;
using namespace xc::hal;

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

static Status checkBuffer(xcr_stream_t *stream, xcr_buffer_t *buffer, const char *name,
                          uint64_t offset, uint64_t size) {
  XCR_RETURN_IF_ERROR(requireArgument(stream, "stream"));
  XCR_RETURN_IF_ERROR(requireArgument(buffer, name));
  const HostAllocator &allocator = stream->device().allocator;
  if (buffer->device.get() != &stream->device())
    return makeStatus(allocator, XCR_STATUS_INVALID_ARGUMENT,
                      "%s: the buffer is of device object %p (%s), the stream of %p (%s)", name,
                      static_cast<void *>(buffer->device.get()), buffer->device->info.uri.c_str(),
                      static_cast<void *>(&stream->device()), stream->device().info.uri.c_str());
  if (!rangeFits(offset, size, buffer->layout.byteLength))
    return makeStatus(allocator, XCR_STATUS_OUT_OF_RANGE,
                      "%s: %" PRIu64 " bytes at byte %" PRIu64 " are outside a buffer of %" PRIu64
                      " bytes",
                      name, size, offset, buffer->layout.byteLength);
  return Status();
}

static Status checkEvent(xcr_stream_t *stream, xcr_event_t *event) {
  XCR_RETURN_IF_ERROR(requireArgument(stream, "stream"));
  XCR_RETURN_IF_ERROR(requireArgument(event, "event"));
  if (&event->device() != &stream->device())
    return makeStatus(stream->device().allocator, XCR_STATUS_INVALID_ARGUMENT,
                      "event: it is of device object %p (%s), the stream of %p (%s)",
                      static_cast<void *>(&event->device()), event->device().info.uri.c_str(),
                      static_cast<void *>(&stream->device()), stream->device().info.uri.c_str());
  return Status();
}

static Access accessTo(const xcr_buffer_t &buffer, uint64_t offset, uint64_t size, bool isWritten) {
  uint64_t begin = buffer.address() + offset;
  return {begin, begin + size, isWritten, isWritten ? "target" : "source", -1};
}

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

static Status createStream(xcr_device_t *device, const xcr_stream_options_t *given,
                           Ref<Stream> *out) {
  XCR_RETURN_IF_ERROR(requireArgument(device, "device"));
  const xcr_stream_options_t defaults = XCR_STREAM_OPTIONS_INIT;
  xcr_stream_options_t options;
  XCR_RETURN_IF_ERROR(readOptions(given, defaults, &options));
  if (options.flags != 0)
    return makeStatus(device->allocator, XCR_STATUS_INVALID_ARGUMENT,
                      "options.flags: expected 0, got 0x%x", options.flags);
  XCR_RETURN_IF_ERROR(options.native_stream ? device->importStream(options.native_stream, out)
                                            : device->createStream(out));
  (*out)->owner = Ref<Device>::share(device);
  return Status();
}

xcr_status_t xcr_stream_create(xcr_device_t *device, const xcr_stream_options_t *options,
                               xcr_stream_t **out_stream) {
  XCR_REQUIRE(out_stream);
  *out_stream = nullptr;
  Ref<Stream> stream;
  Status status = createStream(device, options, &stream);
  if (status.succeeded())
    *out_stream = stream.take();
  return status.release();
}

void xcr_stream_retain(xcr_stream_t *stream) {
  if (stream)
    stream->retain();
}

void xcr_stream_release(xcr_stream_t *stream) {
  if (stream)
    stream->release();
}

static Status synchronize(xcr_stream_t &stream) {
  NamedRange range("synchronize", "");
  return stream.synchronize();
}

xcr_status_t xcr_stream_synchronize(xcr_stream_t *stream) {
  Status status = requireArgument(stream, "stream");
  if (status.succeeded())
    status = synchronize(*stream);
  return status.release();
}

xcr_status_t xcr_stream_query(xcr_stream_t *stream, bool *out_done) {
  XCR_REQUIRE(out_done);
  *out_done = false;
  Status status = requireArgument(stream, "stream");
  if (status.succeeded())
    status = stream->query(out_done);
  return status.release();
}

xcr_status_t xcr_stream_record(xcr_stream_t *stream, xcr_event_t *event) {
  Status status = checkEvent(stream, event);
  if (status.succeeded())
    status = stream->record(Ref<Event>::share(event));
  return status.release();
}

xcr_status_t xcr_stream_wait(xcr_stream_t *stream, xcr_event_t *event) {
  Status status = checkEvent(stream, event);
  if (status.succeeded())
    status = stream->wait(Ref<Event>::share(event));
  return status.release();
}

xcr_status_t xcr_stream_add_callback(xcr_stream_t *stream, xcr_host_callback_t callback,
                                     void *user_data) {
  Status status = requireArgument(stream, "stream");
  if (status.succeeded() && !callback)
    status = makeStatus(stream->device().allocator, XCR_STATUS_INVALID_ARGUMENT,
                        "callback: expected a function, got NULL");
  if (status.succeeded())
    status = stream->addCallback(callback, user_data);
  return status.release();
}

xcr_status_t xcr_stream_copy(xcr_stream_t *stream, xcr_buffer_t *source, uint64_t source_offset,
                             xcr_buffer_t *target, uint64_t target_offset, uint64_t size) {
  Status status = checkBuffer(stream, source, "source", source_offset, size);
  if (status.succeeded())
    status = checkBuffer(stream, target, "target", target_offset, size);
  if (status.failed())
    return status.release();
  if (source->memory.get() == target->memory.get() && size != 0) {
    uint64_t from = source->offset + source_offset, to = target->offset + target_offset;
    if (from < to + size && to < from + size)
      return makeStatus(stream->device().allocator, XCR_STATUS_INVALID_ARGUMENT,
                        "source and target overlap: %" PRIu64 " bytes at byte %" PRIu64
                        " and at byte %" PRIu64 " of the same memory",
                        size, from, to)
          .release();
  }
  const Access accesses[] = {accessTo(*source, source_offset, size, false),
                             accessTo(*target, target_offset, size, true)};
  return stream->device()
      .accessCheck
      .track(*stream, "a copy", {accesses, 2},
             [&] {
               return stream->copy(source->memory, source->offset + source_offset, target->memory,
                                   target->offset + target_offset, size);
             })
      .release();
}

static Status fill(xcr_stream_t *stream, xcr_buffer_t *target, uint64_t byteOffset, uint64_t size,
                   uint64_t pattern, uint32_t patternSize) {
  XCR_RETURN_IF_ERROR(checkBuffer(stream, target, "target", byteOffset, size));
  const HostAllocator &allocator = stream->device().allocator;
  if (!isPowerOfTwo(patternSize) || patternSize > 8)
    return makeStatus(allocator, XCR_STATUS_INVALID_ARGUMENT,
                      "pattern_size: expected 1, 2, 4 or 8, got %u", patternSize);
  if (byteOffset % patternSize || size % patternSize)
    return makeStatus(allocator, XCR_STATUS_INVALID_ARGUMENT,
                      "expected offset and size to be multiples of the "
                      "pattern's %u bytes, got %" PRIu64 " and %" PRIu64,
                      patternSize, byteOffset, size);
  const Access access = accessTo(*target, byteOffset, size, true);
  return stream->device().accessCheck.track(*stream, "a fill", {&access, 1}, [&] {
    return stream->fill(target->memory, target->offset + byteOffset, size, pattern, patternSize);
  });
}

xcr_status_t xcr_stream_fill(xcr_stream_t *stream, xcr_buffer_t *target, uint64_t byte_offset,
                             uint64_t size, uint64_t pattern, uint32_t pattern_size) {
  return fill(stream, target, byte_offset, size, pattern, pattern_size).release();
}

xcr_status_t xcr_stream_read(xcr_stream_t *stream, xcr_buffer_t *source, uint64_t byte_offset,
                             void *data, size_t size) {
  Status status = checkBuffer(stream, source, "source", byte_offset, size);
  if (status.succeeded() && size)
    status = requireArgument(data, "data");
  if (status.failed())
    return status.release();
  const Access access = accessTo(*source, byte_offset, size, false);
  return stream->device()
      .accessCheck
      .track(*stream, "a read", {&access, 1},
             [&] { return stream->read(source->memory, source->offset + byte_offset, data, size); })
      .release();
}

xcr_status_t xcr_stream_write(xcr_stream_t *stream, xcr_buffer_t *target, uint64_t byte_offset,
                              const void *data, size_t size) {
  Status status = checkBuffer(stream, target, "target", byte_offset, size);
  if (status.succeeded() && size)
    status = requireArgument(data, "data");
  if (status.failed())
    return status.release();
  const Access access = accessTo(*target, byte_offset, size, true);
  return stream->device()
      .accessCheck
      .track(
          *stream, "a write", {&access, 1},
          [&] { return stream->write(target->memory, target->offset + byte_offset, data, size); })
      .release();
}

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

xcr_status_t xcr_event_create(xcr_device_t *device, xcr_event_t **out_event) {
  XCR_REQUIRE(out_event);
  *out_event = nullptr;
  Status status = requireArgument(device, "device");
  Ref<Event> event;
  if (status.succeeded())
    status = device->createEvent(&event);
  if (status.succeeded()) {
    event->owner = Ref<Device>::share(device);
    *out_event = event.take();
  }
  return status.release();
}

void xcr_event_retain(xcr_event_t *event) {
  if (event)
    event->retain();
}

void xcr_event_release(xcr_event_t *event) {
  if (event)
    event->release();
}

xcr_status_t xcr_event_synchronize(xcr_event_t *event) {
  Status status = requireArgument(event, "event");
  if (status.succeeded())
    status = event->synchronize();
  return status.release();
}

xcr_status_t xcr_event_query(xcr_event_t *event, bool *out_done) {
  XCR_REQUIRE(out_done);
  *out_done = false;
  Status status = requireArgument(event, "event");
  if (status.succeeded())
    status = event->query(out_done);
  return status.release();
}
