//===- SimulatorCounters.cpp - What the CUDA stand-in counted -------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/xbench/SimulatorCounters.h"

#include "tools/common/Table.h"

#include <cstdlib>
#include <dlfcn.h>

namespace xc::tools {

std::vector<SimulatedKernel> readSimulatorCounters() {
  std::vector<SimulatedKernel> kernels;
  const char *path = getenv("XCR_CUDA_LIBRARY");
  // Only a library that is loaded already can have run anything.
  void *library = path ? dlopen(path, RTLD_NOW | RTLD_NOLOAD) : nullptr;
  if (!library)
    return kernels;
  auto *getName = reinterpret_cast<decltype(&ptxsimKernelName)>(dlsym(library, "ptxsimKernelName"));
  auto *getCounters = reinterpret_cast<decltype(&ptxsimGetKernelCounters)>(
      dlsym(library, "ptxsimGetKernelCounters"));
  char name[512];
  for (size_t i = 0; getName && getCounters && getName(i, name, sizeof(name)); ++i) {
    SimulatedKernel kernel = {name, {}};
    if (getCounters(name, &kernel.counters))
      kernels.push_back(std::move(kernel));
  }
  dlclose(library);
  return kernels;
}

static std::string ratio(uint64_t part, uint64_t whole) {
  return whole ? formatSignificant(double(part) / double(whole), 3) : "-";
}

std::string formatSimulatorCounters(const std::vector<SimulatedKernel> &kernels) {
  Table table({"kernel", ">launches", ">warp instructions", ">integer", ">float", ">matrix",
               ">memory", ">sync", ">sectors/load", ">sectors/store", ">bank conflicts/request"});
  for (const SimulatedKernel &kernel : kernels) {
    const PtxsimKernelCounters &c = kernel.counters;
    table.addRow({kernel.name, std::to_string(c.launches), std::to_string(c.warpInstructions),
                  std::to_string(c.integer), std::to_string(c.floating), std::to_string(c.matrix),
                  std::to_string(c.memory), std::to_string(c.sync),
                  ratio(c.globalLoadSectors, c.globalLoadRequests),
                  ratio(c.globalStoreSectors, c.globalStoreRequests),
                  ratio(c.sharedBankConflicts, c.sharedRequests)});
  }
  return table.str();
}

void writeSimulatorCounters(JsonWriter &json, const std::vector<SimulatedKernel> &kernels) {
  json.beginArray();
  for (const SimulatedKernel &kernel : kernels) {
    const PtxsimKernelCounters &c = kernel.counters;
    json.beginObject();
    json.field("name", kernel.name);
    json.field("launches", c.launches);
    json.field("warp_instructions", c.warpInstructions);
    json.field("thread_instructions", c.threadInstructions);
    json.field("integer", c.integer);
    json.field("float", c.floating);
    json.field("conversion", c.conversion);
    json.field("control", c.control);
    json.field("memory", c.memory);
    json.field("sync", c.sync);
    json.field("matrix", c.matrix);
    json.field("global_load_requests", c.globalLoadRequests);
    json.field("global_load_sectors", c.globalLoadSectors);
    json.field("global_store_requests", c.globalStoreRequests);
    json.field("global_store_sectors", c.globalStoreSectors);
    json.field("shared_requests", c.sharedRequests);
    json.field("shared_bank_conflicts", c.sharedBankConflicts);
    json.field("atomic_requests", c.atomicRequests);
    json.field("barriers", c.barriers);
    json.field("shared_race_bytes", c.sharedRaceBytes);
    json.field("shared_race_of", c.sharedRaceOf);
    json.endObject();
  }
  json.endArray();
}

} // namespace xc::tools
