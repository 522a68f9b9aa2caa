//===- status.cpp - Errors with a message --------------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// A status is one allocation: the header, then the message. When the host
// allocator has nothing left, one of a few static statuses is claimed, which
// still tells the bytes asked for; when those are all in use, a last one that
// is shared and tells the code only.
//
//===----------------------------------------------------------------------===//

#include "runtime/base/status.h"

#include <atomic>
#include <cinttypes>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <unistd.h>

using namespace xc;

struct xcr_status {
  enum class Storage : uint8_t { Heap, Reserve, Shared };
  xcr_status_code_t code;
  Storage storage;
  uint64_t bytesAsked, bytesAvailable;
  const char *message;
  size_t messageSize;
  HostAllocator allocator;
};

namespace {
struct ReserveSlot {
  std::atomic<bool> isTaken{false};
  alignas(xcr_status) unsigned char status[sizeof(xcr_status)];
  char message[128];
};
} // namespace

static ReserveSlot reserve[16];

xcr_string_view_t xcr_status_code_name(xcr_status_code_t code) {
  switch (code) {
  case XCR_STATUS_OK:
    return xcr_string("OK");
  case XCR_STATUS_INVALID_ARGUMENT:
    return xcr_string("INVALID_ARGUMENT");
  case XCR_STATUS_OUT_OF_RANGE:
    return xcr_string("OUT_OF_RANGE");
  case XCR_STATUS_NOT_FOUND:
    return xcr_string("NOT_FOUND");
  case XCR_STATUS_OUT_OF_MEMORY:
    return xcr_string("OUT_OF_MEMORY");
  case XCR_STATUS_UNSUPPORTED:
    return xcr_string("UNSUPPORTED");
  case XCR_STATUS_INCOMPATIBLE:
    return xcr_string("INCOMPATIBLE");
  case XCR_STATUS_CORRUPT:
    return xcr_string("CORRUPT");
  case XCR_STATUS_IO:
    return xcr_string("IO");
  case XCR_STATUS_FAILED_PRECONDITION:
    return xcr_string("FAILED_PRECONDITION");
  case XCR_STATUS_DEVICE_LOST:
    return xcr_string("DEVICE_LOST");
  case XCR_STATUS_PERMISSION_DENIED:
    return xcr_string("PERMISSION_DENIED");
  case XCR_STATUS_INTERNAL:
    return xcr_string("INTERNAL");
  }
  return xcr_string("UNKNOWN");
}

/// The status of \p code that is always there and that release leaves alone.
static xcr_status_t sharedStatus(xcr_status_code_t code) {
  constexpr size_t kCodes = XCR_STATUS_INTERNAL + 1;
  static xcr_status statuses[kCodes];
  // Every thread writes the same values, and only once.
  static const bool isInitialised = [] {
    for (size_t i = 0; i < kCodes; ++i) {
      xcr_string_view_t name = xcr_status_code_name(static_cast<xcr_status_code_t>(i));
      statuses[i] = {static_cast<xcr_status_code_t>(i),
                     xcr_status::Storage::Shared,
                     0,
                     UINT64_MAX,
                     name.data,
                     name.size,
                     HostAllocator()};
    }
    return true;
  }();
  (void)isInitialised;
  return &statuses[code];
}

uint64_t xc::freeHostMemory() {
  long pages = sysconf(_SC_AVPHYS_PAGES), pageSize = sysconf(_SC_PAGESIZE);
  if (pages < 0 || pageSize < 0)
    return UINT64_MAX;
  return static_cast<uint64_t>(pages) * static_cast<uint64_t>(pageSize);
}

Status xc::outOfHostMemory(uint64_t asked) {
  uint64_t available = freeHostMemory();
  for (ReserveSlot &slot : reserve) {
    if (slot.isTaken.load(std::memory_order_relaxed) ||
        slot.isTaken.exchange(true, std::memory_order_acquire))
      continue;
    int size = snprintf(slot.message, sizeof(slot.message),
                        "out of host memory: asked for %" PRIu64 " bytes", asked);
    if (available != UINT64_MAX)
      size += snprintf(slot.message + size, sizeof(slot.message) - static_cast<size_t>(size),
                       ", the system has %" PRIu64 " free", available);
    return Status(new (slot.status) xcr_status{
        XCR_STATUS_OUT_OF_MEMORY, xcr_status::Storage::Reserve, asked, available, slot.message,
        static_cast<size_t>(size), HostAllocator()});
  }
  return Status(sharedStatus(XCR_STATUS_OUT_OF_MEMORY));
}

/// A message is one line, and does nothing to the terminal that shows it: names may come from
/// hostile files. Lines of a driver's log become one.
static void makePrintable(char *text, size_t size) {
  auto byteAt = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  for (size_t i = 0; i < size; ++i) {
    // U+0080 to U+009F are control characters, too.
    bool isLong =
        byteAt(i) == 0xc2 && i + 1 < size && byteAt(i + 1) >= 0x80 && byteAt(i + 1) < 0xa0;
    if (isLong)
      text[i + 1] = '?';
    if (isLong || byteAt(i) < 0x20 || byteAt(i) == 0x7f)
      text[i] = text[i] == '\n' ? ' ' : '?';
  }
}

/// Formats `prefix: text tail`, where prefix and tail may be empty.
static Status formatStatus(const HostAllocator &allocator, xcr_status_code_t code, uint64_t asked,
                           uint64_t available, const char *format, va_list arguments,
                           xcr_string_view_t tail) {
  va_list again;
  va_copy(again, arguments);
  int textSize = vsnprintf(nullptr, 0, format, again);
  va_end(again);
  if (textSize < 0)
    return Status(sharedStatus(code));
  size_t messageSize = static_cast<size_t>(textSize) + tail.size;
  size_t size = sizeof(xcr_status) + messageSize + 1;
  void *memory = allocator.allocate(size, alignof(xcr_status));
  if (!memory)
    return code == XCR_STATUS_OUT_OF_MEMORY ? outOfHostMemory(asked) : Status(sharedStatus(code));
  char *message = static_cast<char *>(memory) + sizeof(xcr_status);
  vsnprintf(message, static_cast<size_t>(textSize) + 1, format, arguments);
  if (tail.size)
    memcpy(message + textSize, tail.data, tail.size);
  message[messageSize] = 0;
  makePrintable(message, messageSize);
  return Status(new (memory) xcr_status{code, xcr_status::Storage::Heap, asked, available, message,
                                        messageSize, allocator});
}

Status xc::makeStatus(const HostAllocator &allocator, xcr_status_code_t code, const char *format,
                      ...) {
  va_list arguments;
  va_start(arguments, format);
  Status status = formatStatus(allocator, code, 0, UINT64_MAX, format, arguments,
                               xcr_string_view_t{nullptr, 0});
  va_end(arguments);
  return status;
}

Status xc::makeOutOfMemory(const HostAllocator &allocator, const MemoryBytes &bytes,
                           const char *format, ...) {
  char tail[160];
  size_t size = 0;
  auto add = [&](const char *before, uint64_t value, const char *behind) {
    int written = snprintf(tail + size, sizeof(tail) - size, "%s%s%" PRIu64 "%s",
                           size ? ", " : ": ", before, value, behind);
    size += static_cast<size_t>(written);
  };
  if (bytes.asked != 0)
    add("asked for ", bytes.asked, " bytes");
  if (bytes.available != UINT64_MAX)
    add("", bytes.available, bytes.asked ? " available" : " bytes available");
  if (bytes.held != UINT64_MAX)
    add("", bytes.held, " held by this device object");
  va_list arguments;
  va_start(arguments, format);
  Status status = formatStatus(allocator, XCR_STATUS_OUT_OF_MEMORY, bytes.asked, bytes.available,
                               format, arguments, xcr_string_view_t{tail, size});
  va_end(arguments);
  return status;
}

Status xc::addContext(Status status, const HostAllocator &allocator, const char *format, ...) {
  if (status.succeeded())
    return status;
  xcr_status_t inner = status.get();
  // The text comes first, so the inner message is the tail; the separator
  // belongs to the format that callers pass.
  va_list arguments;
  va_start(arguments, format);
  Status result =
      formatStatus(allocator, inner->code, inner->bytesAsked, inner->bytesAvailable, format,
                   arguments, xcr_string_view_t{inner->message, inner->messageSize});
  va_end(arguments);
  return result;
}

Status xc::copyStatus(const HostAllocator &allocator, xcr_status_t status) {
  return status ? makeStatus(allocator, status->code, "%.*s", static_cast<int>(status->messageSize),
                             status->message)
                : Status();
}

xcr_status_code_t xcr_status_code(xcr_status_t status) {
  return status ? status->code : XCR_STATUS_OK;
}

xcr_string_view_t xcr_status_message(xcr_status_t status) {
  return status ? xcr_string_view_t{status->message, status->messageSize} : xcr_string("ok");
}

bool xcr_status_memory(xcr_status_t status, uint64_t *out_bytes_asked,
                       uint64_t *out_bytes_available) {
  bool isMemory = status && status->code == XCR_STATUS_OUT_OF_MEMORY;
  if (out_bytes_asked)
    *out_bytes_asked = isMemory ? status->bytesAsked : 0;
  if (out_bytes_available)
    *out_bytes_available = isMemory ? status->bytesAvailable : 0;
  return isMemory;
}

void xcr_status_release(xcr_status_t status) {
  if (!status || status->storage == xcr_status::Storage::Shared)
    return;
  if (status->storage == xcr_status::Storage::Heap) {
    HostAllocator allocator = status->allocator;
    allocator.deallocate(status, sizeof(xcr_status) + status->messageSize + 1, alignof(xcr_status));
    return;
  }
  for (ReserveSlot &slot : reserve)
    if (reinterpret_cast<xcr_status_t>(slot.status) == status)
      slot.isTaken.store(false, std::memory_order_release);
}

uint32_t xcr_version(void) { return 1000 * XCR_VERSION_MAJOR + XCR_VERSION_MINOR; }
