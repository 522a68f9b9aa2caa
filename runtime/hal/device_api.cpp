//===- device_api.cpp - The C API of devices -----------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/base/api_struct.h"
#include "runtime/hal/driver.h"

using namespace xc;
using namespace xc::hal;

//===----------------------------------------------------------------------===//
// Lists
//===----------------------------------------------------------------------===//

struct xcr_device_list {
  explicit xcr_device_list(const HostAllocator &allocator)
      : allocator(allocator), drivers(allocator) {}
  const HostAllocator allocator;
  struct Entry {
    explicit Entry(const HostAllocator &allocator) : report(allocator) {}
    const char *name = "";
    DriverReport report;
  };
  Vector<Entry> drivers;
};

static Status fillList(xcr_device_list_t &list) {
  for (const Driver *driver : drivers()) {
    xcr_device_list::Entry entry(list.allocator);
    entry.name = driver->name();
    XCR_RETURN_IF_ERROR(driver->enumerate(list.allocator, &entry.report));
    XCR_RETURN_IF_ERROR(list.drivers.push(std::move(entry)));
  }
  return Status();
}

xcr_status_t xcr_device_list_create(const xcr_host_allocator_t *host_allocator,
                                    xcr_device_list_t **out_list) {
  XCR_REQUIRE(out_list);
  *out_list = nullptr;
  HostAllocator allocator;
  Status status = readAllocator(host_allocator, &allocator);
  if (status.failed())
    return status.release();
  xcr_device_list_t *list = allocator.create<xcr_device_list>(allocator);
  if (!list)
    return outOfHostMemory(sizeof(xcr_device_list)).release();
  status = fillList(*list);
  if (status.failed())
    allocator.destroy(list);
  else
    *out_list = list;
  return status.release();
}

size_t xcr_device_list_driver_count(const xcr_device_list_t *list) { return list->drivers.size(); }

size_t xcr_device_list_device_count(const xcr_device_list_t *list) {
  size_t count = 0;
  for (const xcr_device_list::Entry &entry : list->drivers)
    count += entry.report.devices.size();
  return count;
}

xcr_status_t xcr_device_list_get_driver(const xcr_device_list_t *list, size_t ordinal,
                                        xcr_driver_info_t *out_info) {
  XCR_REQUIRE(list, out_info);
  if (ordinal >= list->drivers.size())
    return makeStatus(list->allocator, XCR_STATUS_OUT_OF_RANGE, "driver %zu: there are %zu",
                      ordinal, list->drivers.size())
        .release();
  const xcr_device_list::Entry &entry = list->drivers[ordinal];
  xcr_driver_info_t info = XCR_DRIVER_INFO_INIT;
  info.name = xcr_string(entry.name);
  info.available = entry.report.isAvailable;
  info.reason = entry.report.reason.view();
  writeInfo(info, out_info);
  return nullptr;
}

xcr_status_t xcr_device_list_get_device(const xcr_device_list_t *list, size_t ordinal,
                                        xcr_device_info_t *out_info) {
  XCR_REQUIRE(list, out_info);
  size_t left = ordinal;
  for (const xcr_device_list::Entry &entry : list->drivers) {
    const Vector<DeviceInfo> &devices = entry.report.devices;
    if (left < devices.size()) {
      xcr_device_info_t info = XCR_DEVICE_INFO_INIT;
      devices[left].get(&info);
      writeInfo(info, out_info);
      return nullptr;
    }
    left -= devices.size();
  }
  return makeStatus(list->allocator, XCR_STATUS_OUT_OF_RANGE, "device %zu: there are %zu", ordinal,
                    xcr_device_list_device_count(list))
      .release();
}

void xcr_device_list_release(xcr_device_list_t *list) {
  if (list)
    list->allocator.destroy(list);
}

//===----------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------===//

xcr_status_t xcr_device_create(xcr_string_view_t uri, const xcr_device_options_t *options,
                               xcr_device_t **out_device) {
  XCR_REQUIRE(out_device);
  *out_device = nullptr;
  if (Status status = requireText(uri, "uri"); status.failed())
    return status.release();
  const xcr_device_options_t defaults = XCR_DEVICE_OPTIONS_INIT;
  xcr_device_options_t given;
  if (Status status = readOptions(options, defaults, &given); status.failed())
    return status.release();
  DeviceOptions settings;
  if (Status status = readAllocator(given.host_allocator, &settings.allocator); status.failed())
    return status.release();
  settings.memoryLimit = given.memory_limit;
  settings.cpuThreads = given.cpu_threads;
  settings.nativeContext = given.native_context;
  if (given.flags != 0)
    return makeStatus(settings.allocator, XCR_STATUS_INVALID_ARGUMENT,
                      "options.flags: expected 0, got 0x%x", given.flags)
        .release();
  Ref<Device> device;
  Status status = createDevice(uri, settings, &device);
  if (status.succeeded() && given.native_context && strcmp(device->info.driver, "cuda") != 0)
    status =
        makeStatus(settings.allocator, XCR_STATUS_INVALID_ARGUMENT,
                   "options.native_context: expected NULL for device %s", device->info.uri.c_str());
  if (status.succeeded())
    *out_device = device.take();
  return status.release();
}

void xcr_device_retain(xcr_device_t *device) {
  if (device)
    device->retain();
}

void xcr_device_release(xcr_device_t *device) {
  if (device)
    device->release();
}

void xcr_device_get_info(const xcr_device_t *device, xcr_device_info_t *out_info) {
  xcr_device_info_t info = XCR_DEVICE_INFO_INIT;
  device->info.get(&info);
  writeInfo(info, out_info);
}

void xcr_device_get_statistics(const xcr_device_t *device,
                               xcr_device_statistics_t *out_statistics) {
  xcr_device_statistics_t statistics = XCR_DEVICE_STATISTICS_INIT;
  statistics.bytes_in_use = device->counter.bytesInUse();
  statistics.bytes_peak = device->counter.bytesPeak();
  statistics.bytes_limit = device->counter.bytesLimit();
  statistics.bytes_arena = device->counter.bytesArena();
  statistics.allocation_count = device->counter.allocations();
  statistics.launch_count = device->launchCount.load();
  writeInfo(statistics, out_statistics);
}

void xcr_device_reset_peak(xcr_device_t *device) { device->counter.resetPeak(); }

xcr_status_t xcr_device_trim(xcr_device_t *device) {
  XCR_REQUIRE(device);
  return device->trim().release();
}

xcr_status_t xcr_device_synchronize(xcr_device_t *device) {
  XCR_REQUIRE(device);
  return device->synchronize().release();
}
