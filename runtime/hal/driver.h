//===- driver.h - The drivers that this library was built with -----------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_RUNTIME_HAL_DRIVER_H
#define XC_RUNTIME_HAL_DRIVER_H

#include "runtime/hal/device.h"

namespace xc::hal {

/// What a driver found when it was asked for its devices.
struct DriverReport {
  explicit DriverReport(const HostAllocator &allocator) : reason(allocator), devices(allocator) {}
  bool isAvailable = false;
  String reason;
  Vector<DeviceInfo> devices;
};

/// Makes devices of one kind. Stateless, thread-safe.
class Driver {
public:
  /// The part of a device's uri before the colon.
  virtual const char *name() const = 0;
  /// Only lack of memory is a failure: a driver that cannot be used says why
  /// in the report.
  virtual Status enumerate(const HostAllocator &allocator, DriverReport *report) const = 0;
  /// \p selector: the part of the uri after the colon, or empty.
  virtual Status createDevice(xcr_string_view_t selector, const DeviceOptions &options,
                              Ref<Device> *out) const = 0;

protected:
  ~Driver() = default;
};

/// In the order in which "auto" tries them.
Span<const Driver *const> drivers();

/// The device that \p uri names; see xcr_device_create.
Status createDevice(xcr_string_view_t uri, const DeviceOptions &options, Ref<Device> *out);

} // namespace xc::hal

#endif // XC_RUNTIME_HAL_DRIVER_H
