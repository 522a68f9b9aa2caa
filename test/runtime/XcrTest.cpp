//===- XcrTest.cpp - What tests of the C API share -----------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/runtime/XcrTest.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

using namespace xc;
using namespace xc::test;

::testing::AssertionResult xc::test::isOk(xcr_status_t status) {
  if (xcr_is_ok(status))
    return ::testing::AssertionSuccess();
  ::testing::AssertionResult result = ::testing::AssertionFailure();
  result << toString(xcr_status_code_name(xcr_status_code(status))) << ": "
         << toString(xcr_status_message(status));
  xcr_status_release(status);
  return result;
}

::testing::AssertionResult xc::test::failsWith(xcr_status_t status, xcr_status_code_t code,
                                               const char *part) {
  std::string message = toString(xcr_status_message(status));
  xcr_status_code_t got = xcr_status_code(status);
  xcr_status_release(status);
  if (got == code && message.find(part) != std::string::npos)
    return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure()
         << "expected " << toString(xcr_status_code_name(code)) << " with '" << part << "', got "
         << toString(xcr_status_code_name(got)) << ": " << message;
}

Device xc::test::makeDevice(const char *uri, uint64_t memoryLimit) {
  xcr_device_options_t options = XCR_DEVICE_OPTIONS_INIT;
  options.memory_limit = memoryLimit;
  xcr_device_t *device = nullptr;
  EXPECT_TRUE(isOk(xcr_device_create(xcr_string(uri), &options, &device)));
  return Device(device);
}

Module xc::test::loadModule(const std::vector<uint8_t> &bytes, uint32_t flags) {
  xcr_module_options_t options = XCR_MODULE_OPTIONS_INIT;
  options.flags = flags;
  xcr_module_t *module = nullptr;
  EXPECT_TRUE(isOk(
      xcr_module_load_memory(bytes.data(), bytes.size(), &options, nullptr, nullptr, &module)));
  return Module(module);
}

Instance xc::test::makeInstance(const Device &device, const Module &module) {
  xcr_instance_t *instance = nullptr;
  EXPECT_TRUE(isOk(xcr_instance_create(device.get(), module.get(), nullptr, &instance)));
  return Instance(instance);
}

Call xc::test::makeCall(const Instance &instance, const char *name, uint32_t flags) {
  xcr_call_options_t options = XCR_CALL_OPTIONS_INIT;
  options.flags = flags;
  xcr_call_t *call = nullptr;
  EXPECT_TRUE(isOk(xcr_call_create(instance.get(), xcr_string(name), &options, &call)));
  return Call(call);
}

Stream xc::test::makeStream(const Device &device) {
  xcr_stream_t *stream = nullptr;
  EXPECT_TRUE(isOk(xcr_stream_create(device.get(), nullptr, &stream)));
  return Stream(stream);
}

Event xc::test::makeEvent(const Device &device) {
  xcr_event_t *event = nullptr;
  EXPECT_TRUE(isOk(xcr_event_create(device.get(), &event)));
  return Event(event);
}

Buffer xc::test::makeBuffer(const Device &device, xcr_dtype_t dtype,
                            const std::vector<int64_t> &shape, const void *data, size_t size) {
  xcr_buffer_options_t options = XCR_BUFFER_OPTIONS_INIT;
  options.dtype = dtype;
  options.rank = static_cast<uint32_t>(shape.size());
  options.shape = shape.data();
  xcr_buffer_t *buffer = nullptr;
  EXPECT_TRUE(isOk(xcr_buffer_create_from_host(device.get(), &options, data, size, &buffer)));
  return Buffer(buffer);
}

std::vector<float> xc::test::iota(size_t count, float first) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i)
    values[i] = first + static_cast<float>(i);
  return values;
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

std::vector<uint8_t> xc::test::readFile(const char *path) {
  std::vector<uint8_t> bytes;
  // Tests that were carried to another machine have their files in one folder.
  std::string carried;
  if (const char *folder = getenv("XC_TEST_DATA")) {
    const char *slash = strrchr(path, '/');
    carried = std::string(folder) + (slash ? slash : "/");
    path = carried.c_str();
  }
  if (FILE *file = fopen(path, "rb")) {
    uint8_t block[4096];
    for (size_t got; (got = fread(block, 1, sizeof(block), file)) > 0;)
      bytes.insert(bytes.end(), block, block + got);
    fclose(file);
  }
  return bytes;
}

const char *xc::test::kernelArch() {
#if defined(__x86_64__)
  return "x86-64";
#else
  return "aarch64";
#endif
}

ModuleSpec xc::test::kernelModule() {
  ModuleSpec module;
  module.targets = {{"cpu", kernelArch()}};
  ExecutableSpec code;
  code.arch = kernelArch();
  code.image = readFile(XC_TEST_KERNELS);
  auto add = [&](const char *name, uint32_t bindings, uint32_t scalars, uint32_t scratch = 0) {
    ExportSpec entry;
    entry.name = name;
    entry.bindings = bindings;
    entry.scalars = scalars;
    entry.scratch = scratch;
    code.exports.push_back(entry);
  };
  add("add", 3, 1);
  add("scale", 2, 3);
  add("ids", 1, 2);
  add("accumulate", 2, 1);
  add("reverse", 2, 1, 256);
  add("through_workspace", 2, 1);
  add("tell", 1, 1);
  add("work", 1, 1);
  // The work of `work` is what its scalar says.
  code.exports[kWork].flops = code.formulas.add({symbol(0)});
  module.executables.push_back(code);
  return module;
}

ModuleSpec xc::test::addModule() {
  ModuleSpec module = kernelModule();
  FunctionSpec function;
  function.doc = "z = x + y";
  function.symbols = {{"n", 0, 0}};
  fb::Value n = function.formulas.add({symbol(0)});
  function.inputs = {{"x", fb::DType::F32, {n}}, {"y", fb::DType::F32, {n}}};
  function.outputs = {{"z", fb::DType::F32, {n}}};
  PlanSpec plan;
  fb::Value count = plan.formulas.add({symbol(0)});
  fb::Value bytes = plan.formulas.add({symbol(0), constant(4), op(fb::FormulaOp::Mul)});
  fb::Value tiles = plan.formulas.add({symbol(0), constant(256), op(fb::FormulaOp::CeilDiv)});
  VariantSpec variant;
  variant.exportOrdinal = kAdd;
  variant.scalars = {count};
  variant.grid[0] = tiles;
  plan.dispatch({variant}, {reads(fb::Space::Input, 0, bytes), reads(fb::Space::Input, 1, bytes),
                            writes(fb::Space::Output, 0, bytes)});
  function.plans = {plan};
  module.functions = {function};
  return module;
}
