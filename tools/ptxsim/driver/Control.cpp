//===- Control.cpp - The control interface for tests ----------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Control.h"

#include "Driver.h"
#include "Entry.h"
#include "Names.h"
#include "ptxsim/control.h"

#include <cstring>

namespace xc::cudasim {
namespace {

size_t copyText(const std::string &text, char *buffer, size_t size) {
  if (buffer && size) {
    size_t length = std::min(text.size(), size - 1);
    memcpy(buffer, text.data(), length);
    buffer[length] = 0;
  }
  return text.size();
}

PtxsimLive countLive() {
  Driver &state = driver();
  PtxsimLive live = {};
  live.contexts = state.contexts.all().size();
  live.modules = state.modules.all().size();
  live.streams = state.streams.all().size();
  live.events = state.events.all().size();
  for (const auto &[handle, graph] : state.graphs.all())
    live.graphs += !graph->isEmbedded();
  live.graphExecs = state.execs.all().size();
  for (const auto &[handle, pool] : state.pools.all())
    live.pools += !pool->isDefault();
  for (const Range &range : state.memory.all()) {
    if (range.isHost()) {
      ++live.hostAllocations;
      live.hostBytes += range.size;
    } else if (range.kind != RangeKind::ModuleVariable && range.kind != RangeKind::Mapping) {
      ++live.deviceAllocations;
      live.deviceBytes += range.size;
    }
  }
  for (const auto &[handle, physical] : state.physicals.all()) {
    ++live.physicalAllocations;
    live.physicalBytes += physical->bytes;
  }
  state.virtualMemory.totals(live.reservations, live.reservedBytes);
  live.abandoned = state.abandoned.load();
  return live;
}

} // namespace

std::string leakReport() {
  PtxsimLive live = countLive();
  std::string text;
  auto line = [&](const char *kind, uint64_t count, uint64_t bytes = 0) {
    if (!count)
      return;
    text += "  " + std::to_string(count) + " " + kind;
    if (bytes)
      text += ", " + std::to_string(bytes) + " bytes";
    text += "\n";
  };
  line("contexts", live.contexts);
  line("modules", live.modules);
  line("streams", live.streams);
  line("events", live.events);
  line("graphs", live.graphs);
  line("executable graphs", live.graphExecs);
  line("memory pools", live.pools);
  line("device allocations", live.deviceAllocations, live.deviceBytes);
  for (const Range &range : driver().memory.all())
    if (range.kind == RangeKind::Device || range.kind == RangeKind::Managed ||
        range.kind == RangeKind::Pool)
      text += "    #" + std::to_string(range.id) + ": " + std::to_string(range.size) + " bytes\n";
  line("pinned host ranges", live.hostAllocations, live.hostBytes);
  line("physical allocations", live.physicalAllocations, live.physicalBytes);
  line("address reservations", live.reservations, live.reservedBytes);
  line("objects that a destroyed context took with it", live.abandoned);
  return text;
}

extern "C" {

PTXSIM_API int ptxsimConfigure(const char *settings) {
  return static_cast<int>(configureDriver(settings));
}

PTXSIM_API int ptxsimSetFault(const char *function, uint64_t nth, int result, unsigned flags) {
  if (!function || !*function || !nth || result == CUDA_SUCCESS ||
      (flags & ~static_cast<unsigned>(PTXSIM_FAULT_REPEAT)))
    return CUDA_ERROR_INVALID_VALUE;
  CUresult known = CUDA_SUCCESS;
  std::string error = parseResult(std::to_string(result), known);
  if (error.empty())
    error = driver().faults.add(function, nth, known, flags);
  if (error.empty())
    return CUDA_SUCCESS;
  driver().report.add("ptxsimSetFault: " + error);
  return CUDA_ERROR_INVALID_VALUE;
}

PTXSIM_API void ptxsimClearFaults(void) { driver().faults.clear(); }

PTXSIM_API uint64_t ptxsimFaultsFired(void) { return driver().faults.fired(); }

PTXSIM_API size_t ptxsimLastFault(char *function, size_t size) {
  return copyText(driver().faults.lastStruck(), function, size);
}

PTXSIM_API void ptxsimReviveDevices(void) {
  for (const std::unique_ptr<Device> &device : driver().devices)
    device->revive();
}

PTXSIM_API void ptxsimSetMaxAllocation(uint64_t bytes) { driver().maxAllocation = bytes; }

PTXSIM_API void ptxsimSetStreamDelay(unsigned microseconds, uint64_t seed) {
  driver().setStreamDelay(microseconds, seed);
}

PTXSIM_API void ptxsimSetGraphSeed(uint64_t seed) { driver().graphSeed = seed; }

PTXSIM_API uint64_t ptxsimCallCount(const char *function) { return callSites().count(function); }

PTXSIM_API void ptxsimResetCallCounts(void) { callSites().reset(); }

PTXSIM_API void ptxsimGetLive(PtxsimLive *live) { *live = countLive(); }

PTXSIM_API size_t ptxsimLeakReport(char *text, size_t size) {
  return copyText(leakReport(), text, size);
}

PTXSIM_API uint64_t ptxsimReportCount(void) { return driver().report.count(); }

PTXSIM_API size_t ptxsimLastReport(char *text, size_t size) {
  return copyText(driver().report.last(), text, size);
}

PTXSIM_API int ptxsimGetKernelCounters(const char *name, PtxsimKernelCounters *out) {
  KernelTotals totals;
  if (!driver().kernels.get(name, totals))
    return 0;
  const ptxsim::Counters &counters = totals.counters;
  out->launches = totals.launches;
  out->threadInstructions = counters.threadInstructions;
  out->warpInstructions = counters.warpInstructions;
  out->integer = counters.integer;
  out->floating = counters.floating;
  out->conversion = counters.conversion;
  out->control = counters.control;
  out->memory = counters.memory;
  out->sync = counters.sync;
  out->matrix = counters.matrix;
  out->globalLoadRequests = counters.globalLoadRequests;
  out->globalLoadSectors = counters.globalLoadSectors;
  out->globalStoreRequests = counters.globalStoreRequests;
  out->globalStoreSectors = counters.globalStoreSectors;
  out->sharedRequests = counters.sharedRequests;
  out->sharedBankConflicts = counters.sharedBankConflicts;
  out->atomicRequests = counters.atomicRequests;
  out->barriers = counters.barriers;
  out->sharedRaceBytes = counters.sharedRaceBytes;
  out->sharedRaceOf = counters.sharedRaceOf;
  return 1;
}

PTXSIM_API size_t ptxsimKernelName(size_t index, char *name, size_t size) {
  return copyText(driver().kernels.nameAt(index), name, size);
}

PTXSIM_API void ptxsimResetKernelCounters(void) { driver().kernels.clear(); }

} // extern "C"
} // namespace xc::cudasim
