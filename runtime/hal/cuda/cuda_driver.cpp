//===- cuda_driver.cpp - GPUs, through the CUDA driver API ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/hal/cuda/cuda_driver.h"

#include "runtime/hal/cuda/cuda_device.h"

#include <cstdio>
#include <cstdlib>

using namespace xc;
using namespace xc::cuda;

/// What a call that is asked before there is a device has failed with.
static Status describeFailure(const HostAllocator &allocator, const Symbols &cu, const char *call,
                              CUresult result) {
  return makeStatus(allocator,
                    result == CUDA_ERROR_OUT_OF_MEMORY ? XCR_STATUS_OUT_OF_MEMORY
                                                       : XCR_STATUS_INTERNAL,
                    "%s: %s (%s)%s", call, cu.nameOf(result), cu.textOf(result),
                    result == CUDA_ERROR_NOT_INITIALIZED
                        ? "; a process cannot use the driver that it was forked with"
                        : "");
}

/// What can be said of a device without a context on it.
static Status describeDevice(const Symbols &cu, int ordinal, hal::DeviceInfo *info) {
  char text[160];
  snprintf(text, sizeof(text), "cuda:%d", ordinal);
  XCR_RETURN_IF_ERROR(info->uri.assign(xcr_string(text)));
  info->driver = "cuda";
  info->driverVersion = static_cast<uint32_t>(cu.driverVersion);
  CUdevice device;
  char name[128] = "unknown";
  size_t bytes = 0;
  int major = 0, minor = 0, processors = 0;
  if (cu.cuDeviceGet(&device, ordinal) == CUDA_SUCCESS) {
    cu.cuDeviceGetName(name, sizeof(name), device);
    cu.cuDeviceTotalMem(&bytes, device);
    cu.cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
    cu.cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
    cu.cuDeviceGetAttribute(&processors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device);
  }
  info->totalMemory = bytes;
  info->processorCount = static_cast<uint32_t>(processors);
  XCR_RETURN_IF_ERROR(info->name.assign(xcr_string(name)));
  snprintf(text, sizeof(text), "sm_%d%d", major, minor);
  XCR_RETURN_IF_ERROR(info->arch.assign(xcr_string(text)));
  return info->description.assign(info->name.view());
}

/// How plans are launched; false if \p text is no way.
static bool parseLaunchKind(xcr_string_view_t text, LaunchKind *out) {
  if (equal(text, xcr_string("auto")))
    *out = LaunchKind::Auto;
  else if (equal(text, xcr_string("graph")))
    *out = LaunchKind::Graph;
  else if (equal(text, xcr_string("stream")))
    *out = LaunchKind::Stream;
  else
    return false;
  return true;
}

/// Takes "?launch=graph" off \p selector; without it XCR_CUDA_LAUNCH counts.
static Status takeLaunchKind(const HostAllocator &allocator, xcr_string_view_t *selector,
                             LaunchKind *out) {
  const char *source = "XCR_CUDA_LAUNCH";
  xcr_string_view_t text = xcr_string(getenv(source));
  const void *mark = selector->size ? memchr(selector->data, '?', selector->size) : nullptr;
  if (mark) {
    constexpr size_t kKeySize = sizeof("?launch=") - 1;
    size_t head = static_cast<size_t>(static_cast<const char *>(mark) - selector->data);
    text = {selector->data + head, selector->size - head};
    if (text.size < kKeySize || memcmp(text.data, "?launch=", kKeySize) != 0)
      return makeStatus(allocator, XCR_STATUS_INVALID_ARGUMENT,
                        "device 'cuda:%.*s': expected the option ?launch=, got %.*s",
                        printLength(*selector), selector->data, printLength(text), text.data);
    source = "launch";
    text = {text.data + kKeySize, text.size - kKeySize};
    selector->size = head;
  }
  *out = LaunchKind::Auto;
  if ((!mark && text.size == 0) || parseLaunchKind(text, out))
    return Status();
  return makeStatus(allocator, XCR_STATUS_INVALID_ARGUMENT,
                    "%s: expected auto, graph or stream, got '%.*s'", source, printLength(text),
                    text.data);
}

namespace {

class CudaDriver final : public hal::Driver {
public:
  const char *name() const override { return "cuda"; }

  Status enumerate(const HostAllocator &allocator, hal::DriverReport *report) const override {
    const Symbols *cu = nullptr;
    int count = 0;
    if (Status status = loadSymbols(allocator, &cu); status.failed())
      return report->reason.assign(status.message());
    if (CUresult result = cu->cuDeviceGetCount(&count))
      return report->reason.assign(
          describeFailure(allocator, *cu, "cuDeviceGetCount", result).message());
    if (count == 0)
      return report->reason.assign(xcr_string("the driver finds no device"));
    for (int ordinal = 0; ordinal < count; ++ordinal) {
      hal::DeviceInfo info(allocator);
      XCR_RETURN_IF_ERROR(describeDevice(*cu, ordinal, &info));
      XCR_RETURN_IF_ERROR(report->devices.push(std::move(info)));
    }
    report->isAvailable = true;
    return report->reason.assign(xcr_string("found"));
  }

  Status createDevice(xcr_string_view_t selector, const hal::DeviceOptions &options,
                      Ref<hal::Device> *out) const override {
    const HostAllocator &allocator = options.allocator;
    const Symbols *cu = nullptr;
    LaunchKind launchKind = LaunchKind::Auto;
    XCR_RETURN_IF_ERROR(takeLaunchKind(allocator, &selector, &launchKind));
    XCR_RETURN_IF_ERROR(loadSymbols(allocator, &cu));
    int count = 0, ordinal = 0;
    if (CUresult result = cu->cuDeviceGetCount(&count))
      return describeFailure(allocator, *cu, "cuDeviceGetCount", result);
    if (count == 0)
      return makeStatus(allocator, XCR_STATUS_NOT_FOUND, "the CUDA driver finds no device");
    for (size_t i = 0; i < selector.size && ordinal < count; ++i) {
      char c = selector.data[i];
      ordinal = c >= '0' && c <= '9' ? 10 * ordinal + (c - '0') : count;
    }
    if (ordinal >= count)
      return makeStatus(allocator, XCR_STATUS_NOT_FOUND,
                        "no device 'cuda:%.*s'; the driver finds %d, the first of them cuda:0",
                        printLength(selector), selector.data, count);
    return CudaDevice::create(options, *cu, ordinal, launchKind, out);
  }
};

} // namespace

const hal::Driver &xc::cuda::driver() {
  static const CudaDriver driver;
  return driver;
}
