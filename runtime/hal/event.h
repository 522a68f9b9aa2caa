//===- event.h - A point in the work of a stream -------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_RUNTIME_HAL_EVENT_H
#define XC_RUNTIME_HAL_EVENT_H

#include "runtime/base/ref_counted.h"
#include "runtime/base/status.h"

/// See xcr.h. Thread-safe.
struct xcr_event : xc::RefCounted {
  /// Not owning; the C API's events hold their device in `owner`.
  xcr_device &device() const { return parent; }
  /// Waits for what is recorded now; returns at once if nothing is.
  virtual xc::Status synchronize() = 0;
  virtual xc::Status query(bool *isDone) = 0;

  xc::Ref<xcr_device> owner;

protected:
  explicit xcr_event(xcr_device &parent) : parent(parent) {}
  // Defined where xcr_device is complete: `owner` is released there.
  ~xcr_event() override;

private:
  xcr_device &parent;
};

namespace xc::hal {
using Event = ::xcr_event;
} // namespace xc::hal

#endif // XC_RUNTIME_HAL_EVENT_H
