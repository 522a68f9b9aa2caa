//===- Driver.h - All state of the driver stand-in -------------*- C++ -*--===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PTXSIM_DRIVER_DRIVER_H
#define PTXSIM_DRIVER_DRIVER_H

#include "AddressArena.h"
#include "Capture.h"
#include "Config.h"
#include "Context.h"
#include "Device.h"
#include "Faults.h"
#include "Graph.h"
#include "Handles.h"
#include "Memory.h"
#include "MemoryMap.h"
#include "Module.h"
#include "Report.h"

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <vector>

namespace xc::cudasim {

/// What all launches of the kernels of one name did.
struct KernelTotals {
  uint64_t launches = 0;
  ptxsim::Counters counters;
};

/// The kernel statistics. Thread-safe.
class KernelStatistics {
public:
  void add(const std::string &kernel, const ptxsim::Counters &counters);
  bool get(const std::string &kernel, KernelTotals &totals);
  std::string nameAt(size_t index);
  void clear();

private:
  std::mutex mutex_;
  std::map<std::string, KernelTotals> totals_;
};

/// The driver. There is one at a time: ptxsimConfigure replaces it when no call is
/// running and no work is pending.
struct Driver {
  Config config;
  std::string configError;
  std::atomic<bool> initialised{false};

  Faults faults;
  Report report;
  KernelStatistics kernels;
  std::atomic<uint64_t> maxAllocation{UINT64_MAX};
  std::atomic<uint64_t> graphSeed{0};
  std::atomic<unsigned> streamDelayMicros{0};
  std::atomic<uint64_t> abandoned{0};

  AddressArena arena;
  std::vector<std::unique_ptr<Device>> devices;
  MemoryMap memory;
  VirtualMemory virtualMemory;
  Conditions conditions;
  Captures captures;
  std::shared_ptr<ptxsim::TaskOrder> tasks = std::make_shared<ptxsim::TaskOrder>();
  HostOrder hostOrder;

  HandleTable<CUcontext, Context> contexts{1};
  HandleTable<CUmodule, Module> modules{2};
  HandleTable<CUfunction, Function> functions{3};
  HandleTable<CUstream, Stream> streams{4};
  HandleTable<CUevent, Event> events{5};
  HandleTable<CUgraph, Graph> graphs{6};
  HandleTable<CUgraphNode, GraphNode> nodes{7};
  HandleTable<CUgraphExec, GraphExec> execs{8};
  HandleTable<CUmemoryPool, Pool> pools{9};
  HandleTable<struct PhysicalHandle *, Physical> physicals{10};

  explicit Driver(const Config &settings);
  ~Driver();

  /// Creates the devices. Called by cuInit and calls that may come before it.
  void createDevices();
  void delayStream();
  void setStreamDelay(unsigned micros, uint64_t seed);
  /// Null if there is no such device.
  Device *device(CUdevice ordinal);
  /// An array of the handles of `graphs` that lives as long as the driver.
  CUgraph *keepHandles(const std::vector<std::shared_ptr<Graph>> &graphs);
  /// A kernel, a copy or a call went wrong in a way that ends `context`.
  void fault(Context &context, CUresult error, const std::string &text);

private:
  std::once_flag devicesOnce_;
  std::mutex keptMutex_;
  std::deque<std::vector<CUgraph>> kept_;
  std::mutex delayMutex_;
  std::mt19937_64 delayRandom_;
};

Driver &driver();

/// The statistics of calls, which outlive a driver.
CallSites &callSites();

/// Replaces the driver by a fresh one (see ptxsimConfigure).
CUresult configureDriver(const char *settings);

/// True for an error that ends the context it occurs in.
bool isStickyError(CUresult error);

} // namespace xc::cudasim

#endif // PTXSIM_DRIVER_DRIVER_H
