//===- Runner.cpp - Run the vector suite through a CUDA driver ------------===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   ptxsim-vectors record FILE [LIBRARY]    writes the results of all forms
//   ptxsim-vectors check FILE [LIBRARY]     compares them with a recording
//   ptxsim-vectors dump FORM                prints the kernel of a form
//
// LIBRARY is a CUDA driver (libcuda.so.1, or libcuda_sim.so); the runner uses
// nothing else, so that the same program serves hardware and the simulator.
//
//===----------------------------------------------------------------------===//

#include "Record.h"

#include <cstdio>
#include <cstring>
#include <dlfcn.h>

using namespace xc::vectors;

namespace {

/// The few driver calls that the runner needs.
struct Driver {
  int (*init)(unsigned) = nullptr;
  int (*deviceGet)(int *, int) = nullptr;
  int (*deviceGetName)(char *, int, int) = nullptr;
  int (*contextRetain)(void **, int) = nullptr;
  int (*contextSetCurrent)(void *) = nullptr;
  int (*contextSynchronize)() = nullptr;
  int (*moduleLoadData)(void **, const void *) = nullptr;
  int (*moduleUnload)(void *) = nullptr;
  int (*moduleGetFunction)(void **, void *, const char *) = nullptr;
  int (*memAlloc)(uint64_t *, size_t) = nullptr;
  int (*memFree)(uint64_t) = nullptr;
  int (*copyToDevice)(uint64_t, const void *, size_t) = nullptr;
  int (*copyToHost)(void *, uint64_t, size_t) = nullptr;
  int (*memset)(uint64_t, unsigned char, size_t) = nullptr;
  int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                void *, void **, void **) = nullptr;
  std::string deviceName;

  bool load(const char *path) {
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
    return ok && open();
  }

  bool open() {
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
};

/// Runs one form. 0 = done, 1 = the kernel was refused, 2 = a call failed.
int runForm(const Driver &driver, const Form &form, const std::vector<uint64_t> &inputs,
            std::vector<uint64_t> &outputs) {
  void *module = nullptr, *function = nullptr;
  std::string text = kernelText(form);
  if (driver.moduleLoadData(&module, text.c_str()))
    return 1;
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
  return ok ? 0 : 2;
}

int recordAll(const Driver &driver, const char *path) {
  Record record;
  record.device = driver.deviceName;
  size_t refused = 0;
  for (const Form &form : allForms()) {
    std::vector<uint64_t> inputs = makeInputs(form);
    FormRecord &r = record.forms[form.name];
    r.fingerprint = fingerprint(form, inputs);
    switch (runForm(driver, form, inputs, r.outputs)) {
    case 0:
      break;
    case 1:
      r.refused = true;
      ++refused;
      std::printf("refused: %s\n", form.name.c_str());
      break;
    default:
      std::fprintf(stderr, "error: form '%s' failed\n", form.name.c_str());
      return 1;
    }
  }
  if (!writeRecord(path, record)) {
    std::fprintf(stderr, "error: cannot write %s\n", path);
    return 1;
  }
  std::printf("%zu forms on %s, %zu refused\n", allForms().size(), driver.deviceName.c_str(),
              refused);
  return 0;
}

int checkAll(const Driver &driver, const char *path) {
  Record record;
  std::string error;
  if (!readRecord(path, record, error)) {
    std::fprintf(stderr, "error: %s\n", error.c_str());
    return 1;
  }
  size_t bad = 0;
  for (const Form &form : allForms()) {
    auto it = record.forms.find(form.name);
    std::vector<uint64_t> inputs = makeInputs(form), outputs;
    if (it == record.forms.end() || it->second.fingerprint != fingerprint(form, inputs)) {
      std::printf("%s: not recorded\n", form.name.c_str());
      ++bad;
      continue;
    }
    if (it->second.refused)
      continue;
    std::string report;
    int status = runForm(driver, form, inputs, outputs);
    size_t different = status ? 1 : compareForm(form, inputs, it->second.outputs, outputs, report);
    if (status)
      report = form.name + (status == 1 ? ": refused\n" : ": a call failed\n");
    bad += different != 0;
    std::fputs(report.c_str(), stdout);
  }
  std::printf("%zu of %zu forms differ from %s\n", bad, allForms().size(), record.device.c_str());
  return bad != 0;
}

} // namespace

int main(int argc, char **argv) {
  if (argc == 3 && !std::strcmp(argv[1], "dump")) {
    for (const Form &form : allForms())
      if (form.name == argv[2] || !std::strcmp(argv[2], "all"))
        std::printf("// %s\n%s", form.name.c_str(), kernelText(form).c_str());
    return 0;
  }
  bool isRecord = argc >= 3 && !std::strcmp(argv[1], "record");
  if (argc < 3 || argc > 4 || (!isRecord && std::strcmp(argv[1], "check"))) {
    std::fprintf(stderr, "usage: %s record|check FILE [LIBRARY]\n       %s dump FORM|all\n",
                 argv[0], argv[0]);
    return 2;
  }
  Driver driver;
  if (!driver.load(argc == 4 ? argv[3] : "libcuda.so.1"))
    return 1;
  return isRecord ? recordAll(driver, argv[2]) : checkAll(driver, argv[2]);
}
