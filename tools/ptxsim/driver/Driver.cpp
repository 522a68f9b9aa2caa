//===- Driver.cpp - All state of the driver stand-in ----------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver.h"

#include "Control.h"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace xc::cudasim {

//===----------------------------------------------------------------------===//
// Kernel statistics
//===----------------------------------------------------------------------===//

void KernelStatistics::add(const std::string &kernel, const ptxsim::Counters &counters) {
  std::lock_guard<std::mutex> lock(mutex_);
  KernelTotals &totals = totals_[kernel];
  ++totals.launches;
  totals.counters.add(counters);
}

bool KernelStatistics::get(const std::string &kernel, KernelTotals &totals) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto found = totals_.find(kernel);
  if (found == totals_.end())
    return false;
  totals = found->second;
  return true;
}

std::string KernelStatistics::nameAt(size_t index) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto it = totals_.begin();
  while (it != totals_.end() && index--)
    ++it;
  return it == totals_.end() ? "" : it->first;
}

void KernelStatistics::clear() {
  std::lock_guard<std::mutex> lock(mutex_);
  totals_.clear();
}

//===----------------------------------------------------------------------===//
// Driver
//===----------------------------------------------------------------------===//

namespace {

/// Addresses for many times the devices' memory, since they are not reused soon, and since a
/// program may reserve as many as a device has memory for each of its streams. Nothing backs them
/// until they are used.
uint64_t arenaBytes(const Config &config) {
  constexpr uint64_t kLeast = uint64_t(8) << 40;
  return std::max(4 * config.memory * std::max(config.devices, 1u), kLeast);
}

Config configFrom(const char *settings, std::string &error) {
  Config config;
  error = config.setFromEnvironment();
  if (error.empty() && settings)
    error = config.setFromText(settings);
  return config;
}

void printLeaks() {
  if (!driver().config.leaks)
    return;
  std::string leaks = leakReport();
  driver().report.write(leaks.empty() ? "ptxsim: no live objects at exit\n"
                                      : "ptxsim: live objects at exit:\n" + leaks);
}

/// Makes the driver of `settings`. It is never destroyed at exit: worker threads
/// may still be running then.
Driver *makeDriver(const char *settings) {
  std::string error;
  Config config = configFrom(settings, error);
  auto *made = new Driver(config);
  if (error.empty())
    error = made->faults.addFromText(config.faults);
  made->configError = error;
  return made;
}

std::atomic<Driver *> &current() {
  static std::atomic<Driver *> instance{[] {
    Driver *made = makeDriver(nullptr);
    atexit(printLeaks);
    return made;
  }()};
  return instance;
}

} // namespace

Driver::Driver(const Config &settings)
    : config(settings), arena(arenaBytes(settings)), delayRandom_(settings.seed) {
  report.setFile(config.report);
  maxAllocation = config.maxAllocation;
  graphSeed = config.graphSeed;
  streamDelayMicros = config.streamDelayMicros;
}

Driver::~Driver() {
  // Executables and graphs share modules, and those the devices' simulators.
  execs.clear();
  for (const auto &[handle, graph] : graphs.all())
    graph->retire();
  graphs.clear();
  functions.clear();
  modules.clear();
  physicals.clear();
  pools.clear();
}

void Driver::createDevices() {
  std::call_once(devicesOnce_, [this] {
    for (unsigned i = 0; i < config.devices; ++i) {
      devices.push_back(std::make_unique<Device>(i, config, tasks));
      Device &device = *devices.back();
      // What a kernel calls to steer a conditional node of its graph.
      device.simulator().defineExtern("cudaGraphSetConditional",
                                      [](const uint8_t *params, uint8_t *) {
                                        CUgraphConditionalHandle handle;
                                        unsigned value;
                                        memcpy(&handle, params, sizeof(handle));
                                        memcpy(&value, params + sizeof(handle), sizeof(value));
                                        return driver().conditions.set(handle, value);
                                      });
      if (!config.pools)
        continue;
      device.defaultPool = pools.insert(std::make_shared<Pool>(device, 0, /*isDefault=*/true));
      device.currentPool = device.defaultPool;
    }
  });
}

void Driver::delayStream() {
  unsigned most = streamDelayMicros.load(std::memory_order_relaxed);
  if (!most)
    return;
  unsigned micros;
  {
    std::lock_guard<std::mutex> lock(delayMutex_);
    micros = static_cast<unsigned>(delayRandom_() % (most + 1));
  }
  std::this_thread::sleep_for(std::chrono::microseconds(micros));
}

void Driver::setStreamDelay(unsigned micros, uint64_t seed) {
  std::lock_guard<std::mutex> lock(delayMutex_);
  delayRandom_.seed(seed);
  streamDelayMicros = micros;
}

Device *Driver::device(CUdevice ordinal) {
  return ordinal >= 0 && static_cast<size_t>(ordinal) < devices.size()
             ? devices[static_cast<size_t>(ordinal)].get()
             : nullptr;
}

CUgraph *Driver::keepHandles(const std::vector<std::shared_ptr<Graph>> &graphs) {
  std::lock_guard<std::mutex> lock(keptMutex_);
  std::vector<CUgraph> handles;
  for (const std::shared_ptr<Graph> &graph : graphs)
    handles.push_back(graph->handle());
  kept_.push_back(std::move(handles));
  return kept_.back().data();
}

void Driver::fault(Context &context, CUresult error, const std::string &text) {
  report.add(text);
  context.fail(error);
}

Driver &driver() { return *current().load(std::memory_order_acquire); }

CallSites &callSites() {
  static auto *sites = new CallSites;
  return *sites;
}

CUresult configureDriver(const char *settings) {
  Driver &old = driver();
  for (const auto &[handle, context] : old.contexts.all())
    context->destroy();
  for (const auto &device : old.devices)
    device->primary = nullptr;
  Driver *made = makeDriver(settings);
  current().store(made, std::memory_order_release);
  delete &old;
  callSites().reset();
  contextStack().clear();
  if (made->configError.empty())
    return CUDA_SUCCESS;
  made->report.add(made->configError);
  return CUDA_ERROR_INVALID_VALUE;
}

bool isStickyError(CUresult error) {
  switch (error) {
  case CUDA_ERROR_ECC_UNCORRECTABLE:
  case CUDA_ERROR_ILLEGAL_ADDRESS:
  case CUDA_ERROR_LAUNCH_TIMEOUT:
  case CUDA_ERROR_ASSERT:
  case CUDA_ERROR_HARDWARE_STACK_ERROR:
  case CUDA_ERROR_ILLEGAL_INSTRUCTION:
  case CUDA_ERROR_MISALIGNED_ADDRESS:
  case CUDA_ERROR_INVALID_ADDRESS_SPACE:
  case CUDA_ERROR_INVALID_PC:
  case CUDA_ERROR_LAUNCH_FAILED:
    return true;
  default:
    return false;
  }
}

} // namespace xc::cudasim
