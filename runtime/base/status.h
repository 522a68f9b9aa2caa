//===- status.h - Errors with a message ----------------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_RUNTIME_BASE_STATUS_H
#define XC_RUNTIME_BASE_STATUS_H

#include "runtime/base/host_allocator.h"

namespace xc {

/// Owns a status of the C API; empty is success.
class [[nodiscard]] Status {
public:
  Status() = default;
  explicit Status(xcr_status_t handle) : handle(handle) {}
  Status(Status &&other) : handle(other.release()) {}
  Status &operator=(Status &&other) {
    xcr_status_release(handle);
    handle = other.release();
    return *this;
  }
  ~Status() { xcr_status_release(handle); }

  bool failed() const { return handle != nullptr; }
  bool succeeded() const { return handle == nullptr; }
  xcr_status_code_t code() const { return xcr_status_code(handle); }
  xcr_string_view_t message() const { return xcr_status_message(handle); }
  xcr_status_t get() const { return handle; }
  /// Hands the status to the caller.
  xcr_status_t release() {
    xcr_status_t result = handle;
    handle = nullptr;
    return result;
  }
  /// Drops it: for clean-up that has already failed once.
  void ignore() {
    xcr_status_release(handle);
    handle = nullptr;
  }

private:
  xcr_status_t handle = nullptr;
};

#define XCR_RETURN_IF_ERROR(expression)                                                            \
  do {                                                                                             \
    if (::xc::Status xcrStatus = (expression); xcrStatus.failed())                                 \
      return xcrStatus;                                                                            \
  } while (false)

/// Formats a message as printf does. Control characters, which names in a
/// hostile file may hold, become question marks, the ends of lines blanks. Where memory runs out
/// the result is a status of the same code without the message.
[[gnu::format(printf, 3, 4)]] Status makeStatus(const HostAllocator &allocator,
                                                xcr_status_code_t code, const char *format, ...);

/// What an out-of-memory status says of memory.
struct MemoryBytes {
  uint64_t asked = 0; ///< 0: who failed does not tell
  // UINT64_MAX: nobody knows.
  uint64_t available = UINT64_MAX;
  uint64_t held = UINT64_MAX; ///< by the device object
};

/// The message begins with the formatted text and goes on with the bytes.
[[gnu::format(printf, 3, 4)]] Status
makeOutOfMemory(const HostAllocator &allocator, const MemoryBytes &bytes, const char *format, ...);

/// Bytes of host memory that are free by the system's account, or UINT64_MAX
/// where it gives none. An allocator or a limit of the process's own may stop
/// earlier.
uint64_t freeHostMemory();

/// The host allocator could not give \p asked bytes. Needs no memory.
Status outOfHostMemory(uint64_t asked);

/// For "%.*s": the length of \p text, at most as much as a message should hold.
inline int printLength(xcr_string_view_t text) {
  return text.size > 256 ? 256 : static_cast<int>(text.size);
}

/// A copy of \p status whose message begins with the formatted text.
[[gnu::format(printf, 3, 4)]] Status addContext(Status status, const HostAllocator &allocator,
                                                const char *format, ...);

/// A second status that says the same, for an error with several readers.
Status copyStatus(const HostAllocator &allocator, xcr_status_t status);

} // namespace xc

#endif // XC_RUNTIME_BASE_STATUS_H
