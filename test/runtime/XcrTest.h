//===- XcrTest.h - What tests of the C API share -------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_TEST_RUNTIME_XCRTEST_H
#define XC_TEST_RUNTIME_XCRTEST_H

#include "test/runtime/ModuleBuilder.h"
#include "xcr/xcr.h"

#include <gtest/gtest.h>

#include <memory>

namespace xc::test {

/// Releases what the C API gives.
struct Releaser {
  void operator()(xcr_device_t *p) const { xcr_device_release(p); }
  void operator()(xcr_module_t *p) const { xcr_module_release(p); }
  void operator()(xcr_instance_t *p) const { xcr_instance_release(p); }
  void operator()(xcr_buffer_t *p) const { xcr_buffer_release(p); }
  void operator()(xcr_call_t *p) const { xcr_call_release(p); }
  void operator()(xcr_stream_t *p) const { xcr_stream_release(p); }
  void operator()(xcr_event_t *p) const { xcr_event_release(p); }
};
template <typename T> using Owned = std::unique_ptr<T, Releaser>;
using Device = Owned<xcr_device_t>;
using Module = Owned<xcr_module_t>;
using Instance = Owned<xcr_instance_t>;
using Buffer = Owned<xcr_buffer_t>;
using Call = Owned<xcr_call_t>;
using Stream = Owned<xcr_stream_t>;
using Event = Owned<xcr_event_t>;

/// Succeeds with NULL; else prints the message. Releases the status.
::testing::AssertionResult isOk(xcr_status_t status);
/// Succeeds for a status of \p code whose message contains \p part.
::testing::AssertionResult failsWith(xcr_status_t status, xcr_status_code_t code, const char *part);
#define XCR_EXPECT_OK(status) EXPECT_TRUE(::xc::test::isOk(status))
#define XCR_ASSERT_OK(status) ASSERT_TRUE(::xc::test::isOk(status))
#define XCR_EXPECT_FAILS(status, code, part) EXPECT_TRUE(::xc::test::failsWith(status, code, part))

/// Null after a failure, which is reported.
Device makeDevice(const char *uri = "cpu:2", uint64_t memoryLimit = 0);
/// \p bytes must outlive the module.
Module loadModule(const std::vector<uint8_t> &bytes, uint32_t flags = 0);
Instance makeInstance(const Device &device, const Module &module);
Call makeCall(const Instance &instance, const char *name = "main", uint32_t flags = 0);
Stream makeStream(const Device &device);
Event makeEvent(const Device &device);

Buffer makeBuffer(const Device &device, xcr_dtype_t dtype, const std::vector<int64_t> &shape,
                  const void *data, size_t size);
inline Buffer makeBuffer(const Device &device, const std::vector<int64_t> &shape,
                         const std::vector<float> &data) {
  return makeBuffer(device, XCR_DTYPE_F32, shape, data.data(), data.size() * sizeof(float));
}
inline Buffer makeBuffer(const Device &device, const std::vector<float> &data) {
  return makeBuffer(device, {static_cast<int64_t>(data.size())}, data);
}
/// All elements of a buffer.
template <typename T> std::vector<T> read(xcr_buffer_t *buffer) {
  xcr_buffer_info_t info = XCR_BUFFER_INFO_INIT;
  xcr_buffer_get_info(buffer, &info);
  std::vector<T> result(info.byte_length / sizeof(T));
  EXPECT_TRUE(isOk(xcr_buffer_read(buffer, 0, result.data(), result.size() * sizeof(T))));
  return result;
}

/// 0, 1, 2, ...
std::vector<float> iota(size_t count, float first = 0);

//===----------------------------------------------------------------------===//
// Modules of the kernels in kernels.c
//===----------------------------------------------------------------------===//

/// The kernels' ordinals.
enum Kernel : uint32_t {
  kAdd,
  kScale,
  kIds,
  kAccumulate,
  kReverse,
  kThroughWorkspace,
  kTell,
  kWork
};

/// `text`, which may be nothing.
inline std::string toString(xcr_string_view_t text) {
  return std::string(text.data ? text.data : "", text.size);
}

std::vector<uint8_t> readFile(const char *path);

/// A module with one cpu target and the kernels as its executable.
ModuleSpec kernelModule();

/// Function `main`: z = x + y for one symbolic dim.
ModuleSpec addModule();

/// The arch that test kernels are built for.
const char *kernelArch();

} // namespace xc::test

#endif // XC_TEST_RUNTIME_XCRTEST_H
