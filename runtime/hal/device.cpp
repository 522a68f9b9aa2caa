//===- device.cpp - What all devices share -------------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/hal/device.h"

using namespace xc;
using namespace xc::hal;

xcr_event::~xcr_event() = default;
xcr_stream::~xcr_stream() = default;

Status xcr_stream::follow(hal::Stream &earlier, Ref<hal::Event> event) {
  XCR_RETURN_IF_ERROR(earlier.record(event));
  return wait(std::move(event));
}

void DeviceInfo::get(xcr_device_info_t *out) const {
  out->uri = uri.view();
  out->driver = xcr_string(driver);
  out->name = name.view();
  out->arch = arch.view();
  out->description = description.view();
  out->total_memory = totalMemory;
  out->processor_count = processorCount;
  out->driver_version = driverVersion;
}

Status xcr_device::importStream(void *, Ref<Stream> *) {
  return makeStatus(allocator, XCR_STATUS_INVALID_ARGUMENT,
                    "options.native_stream: expected NULL for device %s, which has no streams of "
                    "another library's",
                    info.uri.c_str());
}

Status xcr_device::borrowStream(Stream *preferred, Stream **out) {
  Lock lock(streamMutex);
  if (!freeStreams.empty()) {
    // The last one returned is the one a single thread used before.
    size_t index = freeStreams.size() - 1;
    for (size_t i = 0; i < freeStreams.size(); ++i)
      if (freeStreams[i] == preferred)
        index = i;
    *out = freeStreams[index];
    freeStreams[index] = freeStreams.back();
    freeStreams.pop();
    return Status();
  }
  // Room for the return, which cannot fail.
  XCR_RETURN_IF_ERROR(freeStreams.reserve(ownStreams.size() + 1));
  XCR_RETURN_IF_ERROR(ownStreams.reserve(ownStreams.size() + 1));
  Ref<Stream> stream;
  XCR_RETURN_IF_ERROR(createStream(&stream));
  XCR_RETURN_IF_ERROR(ownStreams.push(stream.get()));
  *out = stream.take();
  return Status();
}

void xcr_device::returnStream(Stream *stream) {
  Lock lock(streamMutex);
  // borrowStream has made room.
  freeStreams.push(stream).ignore();
}

void xcr_device::releaseOwnStreams() {
  accessCheck.clear();
  for (Stream *stream : ownStreams)
    stream->release();
  ownStreams.clear();
  freeStreams.clear();
}
