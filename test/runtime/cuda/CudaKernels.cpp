//===- CudaKernels.cpp - Test kernels and the driver stand-in -------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/runtime/cuda/CudaKernels.h"

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>

using namespace xc;
using namespace xc::test;

int xc::test::cudaOrdinal() {
  const char *device = getenv("XC_TEST_CUDA_DEVICE");
  const char *colon = device ? strchr(device, ':') : nullptr;
  return colon ? atoi(colon + 1) : 0;
}

ModuleSpec xc::test::cudaKernelModule() {
  ModuleSpec module;
  module.targets = {{"cuda", "sm_70"}};
  ExecutableSpec code;
  code.kind = fb::CodeKind::PTX;
  code.arch = "sm_70";
  code.image = readFile(XC_TEST_CUDA_KERNELS);
  auto add = [&](const char *name, uint32_t bindings, uint32_t scalars, uint32_t threads,
                 bool hasWorkspace = false) {
    ExportSpec entry;
    entry.name = name;
    entry.bindings = bindings;
    entry.scalars = scalars;
    entry.block = {threads, 1, 1};
    for (uint32_t i = 0; i < bindings; ++i)
      entry.parameters.push_back({fb::ParameterKind::BindingPointer, i});
    if (hasWorkspace)
      entry.parameters.push_back({fb::ParameterKind::Workspace, 0});
    for (uint32_t i = 0; i < scalars; ++i)
      entry.parameters.push_back({fb::ParameterKind::ScalarI64, i});
    code.exports.push_back(entry);
  };
  add("add", 3, 1, 256);
  add("scale", 2, 3, 256);
  add("ids", 1, 2, 1);
  add("accumulate", 2, 1, 256);
  add("reverse", 2, 1, 64);
  add("through_workspace", 2, 1, 1, /*hasWorkspace=*/true);
  add("tell", 1, 1, 1);
  add("work", 1, 1, 1);
  add("crash", 0, 0, 1);
  add("ids", 1, 2, 1);
  code.exports.back().cluster = {2, 1, 1};
  add("show_map", 2, 1, 1);
  TensorMapSpec map;
  map.dims = {literal(16), formula(0)};
  map.strides = {literal(64)};
  map.box = {16, 4};
  map.elementStrides = {1, 1};
  map.swizzle = 2;
  map.offset = literal(64);
  code.exports.back().tensorMaps = {map};
  code.exports.back().parameters = {{fb::ParameterKind::TensorMap, 0},
                                    {fb::ParameterKind::BindingPointer, 1}};
  add("show_map", 2, 3, 1);
  TensorMapSpec image;
  image.dtype = fb::DType::F16;
  image.mode = fb::TensorMapMode::Im2col;
  // The height, and where windows end along it, are scalars, too.
  image.dims = {literal(64), literal(12), formula(1), formula(0)};
  image.strides = {literal(128), literal(1536), literal(15360)};
  image.elementStrides = {1, 2, 1, 1};
  image.lower = {-1, -2};
  image.upper = {-3, 0};
  image.upperScalars = {-1, 2};
  image.channels = 32;
  image.pixels = 192;
  image.swizzle = 2;
  code.exports.back().tensorMaps = {image};
  code.exports.back().parameters = {{fb::ParameterKind::TensorMap, 0},
                                    {fb::ParameterKind::BindingPointer, 1}};
  module.executables.push_back(code);
  return module;
}

ModuleSpec xc::test::cudaScenarioModule(int64_t arenaBytes) {
  ModuleSpec module = cudaKernelModule();
  module.constants.push_back({fb::DType::F32, {64}, bytesOf(std::vector<float>(64, 1.0f)), 64});
  FunctionSpec function;
  function.symbols = {{"n", 0, 0, 1, 64}};
  fb::Value n = function.formulas.add({symbol(0)});
  function.inputs = {{"x", fb::DType::F32, {n}}};
  function.outputs = {{"z", fb::DType::F32, {n}},
                      {"copy", fb::DType::F32, {n}},
                      {"fill", fb::DType::I64, {literal(8)}}};
  PlanSpec plan;
  fb::Value count = plan.formulas.add({symbol(0)});
  fb::Value bytes = plan.formulas.add({symbol(0), constant(4), op(fb::FormulaOp::Mul)});
  plan.arenaSize = literal(arenaBytes);
  VariantSpec add, scale;
  add.exportOrdinal = kAdd;
  add.scalars = {count};
  scale.exportOrdinal = kScale;
  scale.scalars = {count, literal(2), literal(0)};
  uint32_t sum =
      plan.dispatch({add}, {reads(fb::Space::Input, 0, bytes), reads(fb::Space::Constant, 0, bytes),
                            writes(fb::Space::Arena, 0, bytes)});
  uint32_t scaled = plan.dispatch(
      {scale}, {reads(fb::Space::Arena, 0, bytes), writes(fb::Space::Output, 0, bytes)}, {sum});
  plan.copy(reads(fb::Space::Output, 0, bytes), writes(fb::Space::Output, 1, bytes), {scaled});
  plan.fill(writes(fb::Space::Output, 2, literal(64)), 0x0102030405060708, 8);
  function.plans = {plan};
  module.functions = {function};
  return module;
}

static void *driverLibrary() {
  setenv("XCR_CUDA_LIBRARY", XC_TEST_CUDA_LIBRARY, /*overwrite=*/0);
  return dlopen(getenv("XCR_CUDA_LIBRARY"), RTLD_NOW);
}

void *xc::test::findDriverCall(const char *symbol) {
  void *library = driverLibrary();
  void *function = library ? dlsym(library, symbol) : nullptr;
  if (!function) {
    fprintf(stderr, "the CUDA driver has no %s\n", symbol);
    exit(1);
  }
  return function;
}

/// Null unless the driver in use is the stand-in.
static const StandIn *findStandIn(StandIn &functions) {
  void *library = driverLibrary();
  auto find = [&](auto &function, const char *name) {
    function = reinterpret_cast<std::decay_t<decltype(function)>>(library ? dlsym(library, name)
                                                                          : nullptr);
    return function != nullptr;
  };
  return find(functions.setFault, "ptxsimSetFault") &&
                 find(functions.clearFaults, "ptxsimClearFaults") &&
                 find(functions.faultsFired, "ptxsimFaultsFired") &&
                 find(functions.lastFault, "ptxsimLastFault") &&
                 find(functions.setMaxAllocation, "ptxsimSetMaxAllocation") &&
                 find(functions.reviveDevices, "ptxsimReviveDevices") &&
                 find(functions.setStreamDelay, "ptxsimSetStreamDelay") &&
                 find(functions.getLive, "ptxsimGetLive") &&
                 find(functions.leakReport, "ptxsimLeakReport") &&
                 find(functions.callCount, "ptxsimCallCount") &&
                 find(functions.resetCallCounts, "ptxsimResetCallCounts")
             ? &functions
             : nullptr;
}

const StandIn *xc::test::standIn() {
  static StandIn functions;
  static const StandIn *found = findStandIn(functions);
  return found;
}

/// What a function of the stand-in writes into a buffer.
static std::string textOf(size_t (*write)(char *, size_t)) {
  std::string text(write(nullptr, 0) + 1, '\0');
  write(&text[0], text.size());
  text.resize(strlen(text.c_str()));
  return text;
}

std::string xc::test::leaks() { return textOf(standIn()->leakReport); }

std::string xc::test::lastFault() { return textOf(standIn()->lastFault); }
