//===- cpu_driver.cpp - The processor as a device ------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/hal/cpu/cpu_driver.h"

#include "runtime/hal/cpu/cpu_device.h"
#include "runtime/hal/cpu/cpu_features.h"

#include <cstdlib>

using namespace xc;
using namespace xc::cpu;

static constexpr uint32_t kMaxThreads = 1024;

/// A whole number between 1 and kMaxThreads, or 0.
static uint32_t parseThreads(xcr_string_view_t text) {
  uint32_t value = 0;
  if (text.size == 0 || text.size > 4)
    return 0;
  for (size_t i = 0; i < text.size; ++i) {
    if (text.data[i] < '0' || text.data[i] > '9')
      return 0;
    value = 10 * value + static_cast<uint32_t>(text.data[i] - '0');
  }
  return value <= kMaxThreads ? value : 0;
}

static Status chooseThreads(xcr_string_view_t selector, const hal::DeviceOptions &options,
                            uint32_t *out) {
  const HostAllocator &allocator = options.allocator;
  if (selector.size && selector.data[0] == '?')
    return makeStatus(allocator, XCR_STATUS_INVALID_ARGUMENT,
                      "device 'cpu%.*s': the CPU takes no options", printLength(selector),
                      selector.data);
  if (selector.size) {
    *out = parseThreads(selector);
    return *out ? Status()
                : makeStatus(allocator, XCR_STATUS_INVALID_ARGUMENT,
                             "device 'cpu:%.*s': expected a number of threads "
                             "between 1 and %u",
                             printLength(selector), selector.data, kMaxThreads);
  }
  if (options.cpuThreads) {
    *out = options.cpuThreads;
    return *out <= kMaxThreads
               ? Status()
               : makeStatus(allocator, XCR_STATUS_INVALID_ARGUMENT,
                            "cpu_threads: expected at most %u, got %u", kMaxThreads, *out);
  }
  if (const char *text = getenv("XCR_CPU_THREADS"); text && *text) {
    *out = parseThreads(xcr_string(text));
    return *out ? Status()
                : makeStatus(allocator, XCR_STATUS_INVALID_ARGUMENT,
                             "XCR_CPU_THREADS: expected a number between 1 and "
                             "%u, got '%s'",
                             kMaxThreads, text);
  }
  uint32_t count = processorCount();
  *out = count <= kMaxThreads ? count : kMaxThreads;
  return Status();
}

namespace {
class CpuDriver final : public hal::Driver {
public:
  const char *name() const override { return "cpu"; }

  Status enumerate(const HostAllocator &allocator, hal::DriverReport *report) const override {
    hal::DeviceInfo info(allocator);
    info.driver = name();
    info.totalMemory = hostMemoryBytes();
    info.processorCount = processorCount();
    XCR_RETURN_IF_ERROR(info.uri.assign(xcr_string("cpu")));
    XCR_RETURN_IF_ERROR(hostName(&info.name));
    XCR_RETURN_IF_ERROR(info.arch.assign(xcr_string(hostArch())));
    XCR_RETURN_IF_ERROR(info.description.assign(info.name.view()));
    XCR_RETURN_IF_ERROR(report->devices.push(std::move(info)));
    report->isAvailable = true;
    return report->reason.assign(xcr_string("always there"));
  }

  Status createDevice(xcr_string_view_t selector, const hal::DeviceOptions &options,
                      Ref<hal::Device> *out) const override {
    uint32_t threads;
    XCR_RETURN_IF_ERROR(chooseThreads(selector, options, &threads));
    return CpuDevice::create(options, threads, out);
  }
};
} // namespace

const hal::Driver &xc::cpu::driver() {
  static const CpuDriver driver;
  return driver;
}
