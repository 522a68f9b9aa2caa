//===- Driver.cpp - The driver calls of the vector suite ------------------===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver.h"

#include <cstdio>
#include <cstring>
#include <dlfcn.h>

namespace xc::vectors {

bool Driver::load(const char *path) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    std::fprintf(stderr, "error: %s\n", dlerror());
    return false;
  }
  bool ok = true;
  auto symbol = [&](auto &slot, const char *name) {
    void *address = dlsym(library, name);
    std::memcpy(&slot, &address, sizeof(slot));
    if (!address)
      std::fprintf(stderr, "error: %s has no %s\n", path, name);
    ok = ok && address;
  };
  symbol(init, "cuInit");
  symbol(deviceGet, "cuDeviceGet");
  symbol(deviceGetName, "cuDeviceGetName");
  symbol(contextRetain, "cuDevicePrimaryCtxRetain");
  symbol(contextSetCurrent, "cuCtxSetCurrent");
  symbol(contextSynchronize, "cuCtxSynchronize");
  symbol(moduleLoadData, "cuModuleLoadData");
  symbol(moduleUnload, "cuModuleUnload");
  symbol(moduleGetFunction, "cuModuleGetFunction");
  symbol(memAlloc, "cuMemAlloc_v2");
  symbol(memFree, "cuMemFree_v2");
  symbol(copyToDevice, "cuMemcpyHtoD_v2");
  symbol(copyToHost, "cuMemcpyDtoH_v2");
  symbol(memset, "cuMemsetD8_v2");
  symbol(launch, "cuLaunchKernel");
  symbol(launchEx, "cuLaunchKernelEx");
  symbol(encodeTiled, "cuTensorMapEncodeTiled");
  void *standIn = dlsym(library, "ptxsimConfigure");
  std::memcpy(&configure, &standIn, sizeof(configure));
  return ok && open();
}

bool Driver::open() {
  int device = 0;
  void *context = nullptr;
  char name[128] = "";
  if (init(0) || deviceGet(&device, 0) || deviceGetName(name, sizeof(name), device) ||
      contextRetain(&context, device) || contextSetCurrent(context)) {
    std::fprintf(stderr, "error: the driver has no usable device\n");
    return false;
  }
  deviceName = name;
  return true;
}

bool Driver::renew() { return configure && !configure(nullptr) && open(); }

RunStatus runForm(const Driver &driver, const Form &form, const std::vector<uint64_t> &inputs,
                  std::vector<uint64_t> &outputs) {
  void *module = nullptr, *function = nullptr;
  std::string text = kernelText(form);
  if (driver.moduleLoadData(&module, text.c_str()))
    return RunStatus::Refused;
  size_t cases = inputs.size() / form.inputs.size();
  outputs.assign(cases * form.outputs.size(), 0);
  uint64_t in = 0, out = 0;
  size_t inBytes = inputs.size() * 8, outBytes = outputs.size() * 8;
  void *params[] = {&in, &out};
  bool ok = !driver.moduleGetFunction(&function, module, "form") &&
            !driver.memAlloc(&in, inBytes) && !driver.memAlloc(&out, outBytes) &&
            !driver.copyToDevice(in, inputs.data(), inBytes) && !driver.memset(out, 0, outBytes) &&
            !driver.launch(function, static_cast<unsigned>(cases / kBlockSize), 1, 1, kBlockSize, 1,
                           1, 0, nullptr, params, nullptr) &&
            !driver.contextSynchronize() && !driver.copyToHost(outputs.data(), out, outBytes);
  if (in)
    driver.memFree(in);
  if (out)
    driver.memFree(out);
  driver.moduleUnload(module);
  return ok ? RunStatus::Done : RunStatus::Failed;
}

namespace {

/// CUlaunchAttribute, with the one attribute that is used here.
struct LaunchAttribute {
  uint32_t id;
  uint32_t pad;
  union {
    char bytes[64];
    struct {
      uint32_t x, y, z;
    } cluster;
  } value;
};

/// CUlaunchConfig.
struct LaunchConfig {
  uint32_t grid[3], block[3], sharedBytes;
  void *stream;
  LaunchAttribute *attributes;
  uint32_t attributeCount;
};

constexpr uint32_t kClusterDimension = 4;

int encode(const Driver &driver, const TensorSpec &t, uint64_t in, uint64_t out, void *map) {
  uint64_t address = (t.overOutput ? out : in) + t.offset;
  return driver.encodeTiled(
      map, static_cast<int>(t.type), t.rank, reinterpret_cast<void *>(address), t.dims, t.strides,
      t.box, t.elementStrides, static_cast<int>(t.interleave), static_cast<int>(t.swizzle),
      static_cast<int>(t.promotion), static_cast<int>(t.fill));
}

int launchTile(const Driver &driver, const TileForm &form, void *function, uint64_t in,
               uint64_t out) {
  alignas(64) char map[128] = {};
  if (form.hasTensor && encode(driver, form.tensor, in, out, map))
    return -1;
  void *params[] = {&in, &out, map};
  LaunchAttribute attribute = {};
  attribute.id = kClusterDimension;
  attribute.value.cluster = {form.cluster, 1, 1};
  LaunchConfig config = {{form.blocks, 1, 1}, {form.threads, 1, 1}, 0, nullptr, &attribute, 1};
  int result = driver.launchEx(&config, function, params, nullptr);
  return result ? result : driver.contextSynchronize();
}

} // namespace

RunStatus runTileForm(const Driver &driver, const TileForm &form, std::vector<uint8_t> &output) {
  output = form.initialOutput;
  uint64_t in = 0, out = 0;
  if (driver.memAlloc(&in, form.input.size()) || driver.memAlloc(&out, output.size()))
    return RunStatus::Failed;
  RunStatus status = RunStatus::Failed;
  void *module = nullptr, *function = nullptr;
  if (form.text.empty()) {
    alignas(64) char map[128] = {};
    int result = encode(driver, form.tensor, in, out, map);
    std::memcpy(output.data(), &result, sizeof(result));
    status = RunStatus::Done;
  } else if (driver.moduleLoadData(&module, form.text.c_str())) {
    status = RunStatus::Refused;
  } else if (!driver.moduleGetFunction(&function, module, "form") &&
             !driver.copyToDevice(in, form.input.data(), form.input.size()) &&
             !driver.copyToDevice(out, output.data(), output.size())) {
    int result = launchTile(driver, form, function, in, out);
    if (!result && !driver.copyToHost(output.data(), out, output.size()))
      status = RunStatus::Done;
    if (result) {
      output.resize(sizeof(result));
      std::memcpy(output.data(), &result, sizeof(result));
    }
  }
  if (module)
    driver.moduleUnload(module);
  driver.memFree(in);
  driver.memFree(out);
  return status;
}

} // namespace xc::vectors
