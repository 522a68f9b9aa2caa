//===- driver.cpp - The drivers that this library was built with ---------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/hal/driver.h"

#include "runtime/hal/cpu/cpu_driver.h"
#ifdef XC_RUNTIME_CUDA
#include "runtime/hal/cuda/cuda_driver.h"
#endif

#include <cstring>

using namespace xc;
using namespace xc::hal;

Span<const Driver *const> xc::hal::drivers() {
  static const Driver *const list[] = {
#ifdef XC_RUNTIME_CUDA
      &xc::cuda::driver(),
#endif
      &xc::cpu::driver()};
  return {list, sizeof(list) / sizeof(list[0])};
}

/// The first device of the first driver that has one. The CPU driver is the
/// last in the list and always has one.
static Status createAutomatic(const DeviceOptions &options, Ref<Device> *out) {
  const HostAllocator &allocator = options.allocator;
  String passedOver(allocator);
#ifndef XC_RUNTIME_CUDA
  XCR_RETURN_IF_ERROR(passedOver.assign(xcr_string("cuda: this library was built without it")));
#endif
  for (const Driver *driver : drivers()) {
    DriverReport report(allocator);
    XCR_RETURN_IF_ERROR(driver->enumerate(allocator, &report));
    if (!report.isAvailable) {
      if (passedOver.view().size)
        XCR_RETURN_IF_ERROR(passedOver.append(xcr_string("; ")));
      XCR_RETURN_IF_ERROR(passedOver.append(xcr_string(driver->name())));
      XCR_RETURN_IF_ERROR(passedOver.append(xcr_string(": ")));
      XCR_RETURN_IF_ERROR(passedOver.append(report.reason.view()));
      continue;
    }
    Ref<Device> device;
    XCR_RETURN_IF_ERROR(driver->createDevice({nullptr, 0}, options, &device));
    String &description = device->info.description;
    XCR_RETURN_IF_ERROR(description.append(xcr_string(", chosen by 'auto'")));
    if (passedOver.view().size) {
      XCR_RETURN_IF_ERROR(description.append(xcr_string(" (")));
      XCR_RETURN_IF_ERROR(description.append(passedOver.view()));
      XCR_RETURN_IF_ERROR(description.append(xcr_string(")")));
    }
    *out = std::move(device);
    return Status();
  }
  return makeStatus(allocator, XCR_STATUS_NOT_FOUND, "no device: %s", passedOver.c_str());
}

static Status openDevice(xcr_string_view_t uri, const DeviceOptions &options, Ref<Device> *out) {
  if (equal(uri, xcr_string("auto")))
    return createAutomatic(options, out);
  xcr_string_view_t name = {uri.data, 0}, selector = {nullptr, 0};
  while (name.size < uri.size && uri.data[name.size] != ':' && uri.data[name.size] != '?')
    ++name.size;
  if (name.size < uri.size) {
    // Options are the driver's, as numbers are.
    size_t separator = uri.data[name.size] == ':';
    selector = {uri.data + name.size + separator, uri.size - name.size - separator};
    if (selector.size == 0)
      return makeStatus(options.allocator, XCR_STATUS_INVALID_ARGUMENT,
                        "expected a number after the colon of device '%.*s'", printLength(uri),
                        uri.data);
  }
  String known(options.allocator);
  for (const Driver *driver : drivers()) {
    if (equal(name, xcr_string(driver->name())))
      return driver->createDevice(selector, options, out);
    XCR_RETURN_IF_ERROR(known.append(xcr_string(driver->name())));
    XCR_RETURN_IF_ERROR(known.append(xcr_string(", ")));
  }
  return makeStatus(options.allocator, XCR_STATUS_NOT_FOUND,
                    "no device '%.*s'; this library knows %sauto", printLength(uri), uri.data,
                    known.c_str());
}

/// Whether XCR_TEMPORARIES wants an allocation for each temporary.
static Status takeTemporaries(const HostAllocator &allocator, bool *out) {
  xcr_string_view_t text = xcr_string(getenv("XCR_TEMPORARIES"));
  *out = equal(text, xcr_string("separate"));
  if (*out || text.size == 0 || equal(text, xcr_string("arena")))
    return Status();
  return makeStatus(allocator, XCR_STATUS_INVALID_ARGUMENT,
                    "XCR_TEMPORARIES: expected arena or separate, got '%.*s'", printLength(text),
                    text.data);
}

/// Whether XCR_CHECK wants accesses of the host checked.
static Status takeCheck(const HostAllocator &allocator, bool *out) {
  xcr_string_view_t text = xcr_string(getenv("XCR_CHECK"));
  *out = equal(text, xcr_string("1"));
  if (*out || text.size == 0 || equal(text, xcr_string("0")))
    return Status();
  return makeStatus(allocator, XCR_STATUS_INVALID_ARGUMENT,
                    "XCR_CHECK: expected 0 or 1, got '%.*s'", printLength(text), text.data);
}

Status xc::hal::createDevice(xcr_string_view_t uri, const DeviceOptions &options,
                             Ref<Device> *out) {
  bool separatesTemporaries = false, checksAccesses = false;
  XCR_RETURN_IF_ERROR(takeTemporaries(options.allocator, &separatesTemporaries));
  XCR_RETURN_IF_ERROR(takeCheck(options.allocator, &checksAccesses));
  XCR_RETURN_IF_ERROR(openDevice(uri, options, out));
  (*out)->separatesTemporaries = separatesTemporaries;
  if (checksAccesses)
    (*out)->accessCheck.turnOn();
  return Status();
}
