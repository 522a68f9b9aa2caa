//===- HostMemoryTest.cpp - Allocations of the host that fail -------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/runtime/XcrTest.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>

using namespace xc;
using namespace xc::test;

/// Fails every allocation from a certain one on, and keeps what is freed, to see who writes to it.
struct FailingAllocator {
  struct Block {
    unsigned char *bytes;
    size_t size;
  };

  ~FailingAllocator() {
    for (const Block &block : freed)
      free(block.bytes);
  }

  xcr_host_allocator_t callbacks() {
    return {sizeof(xcr_host_allocator_t), this,
            [](void *user, size_t size, size_t alignment) {
              return static_cast<FailingAllocator *>(user)->allocate(size, alignment);
            },
            [](void *user, void *pointer, size_t size, size_t) {
              static_cast<FailingAllocator *>(user)->release(pointer, size);
            }};
  }

  void *allocate(size_t size, size_t alignment) {
    if (left.fetch_sub(1) <= 0)
      return nullptr;
    void *pointer = nullptr;
    if (posix_memalign(&pointer, alignment < 8 ? 8 : alignment, size ? size : 1) != 0)
      return nullptr;
    live.fetch_add(1);
    return pointer;
  }

  void release(void *pointer, size_t size) {
    live.fetch_sub(1);
    memset(pointer, kFreed, size);
    std::lock_guard<std::mutex> lock(mutex);
    freed.push_back({static_cast<unsigned char *>(pointer), size});
  }

  /// Bytes of freed memory that have changed since.
  size_t countChanged() const {
    size_t changed = 0;
    for (const Block &block : freed)
      for (size_t i = 0; i < block.size; ++i)
        changed += block.bytes[i] != kFreed;
    return changed;
  }

  static constexpr unsigned char kFreed = 0xDD;
  std::atomic<int64_t> left{INT64_MAX};
  std::atomic<int64_t> live{0};
  std::mutex mutex;
  std::vector<Block> freed; // under the mutex
};

/// Everything that a program does, up to the first failure.
static xcr_status_t runWith(FailingAllocator &memory, const std::vector<uint8_t> &bytes) {
  xcr_host_allocator_t callbacks = memory.callbacks();
  xcr_device_options_t deviceOptions = XCR_DEVICE_OPTIONS_INIT;
  deviceOptions.host_allocator = &callbacks;
  xcr_module_options_t moduleOptions = XCR_MODULE_OPTIONS_INIT;
  moduleOptions.host_allocator = &callbacks;
  xcr_device_t *device = nullptr;
  xcr_module_t *module = nullptr;
  xcr_instance_t *instance = nullptr;
  xcr_buffer_t *x = nullptr, *output = nullptr;
  xcr_stream_t *stream = nullptr;
  std::vector<float> data = iota(8);
  int64_t shape = 8;
  xcr_buffer_options_t options = XCR_BUFFER_OPTIONS_INIT;
  options.dtype = XCR_DTYPE_F32;
  options.rank = 1;
  options.shape = &shape;
  xcr_status_t status = xcr_device_create(xcr_string("cpu:2"), &deviceOptions, &device);
  if (!status)
    status = xcr_module_load_memory(bytes.data(), bytes.size(), &moduleOptions, nullptr, nullptr,
                                    &module);
  if (!status)
    status = xcr_instance_create(device, module, nullptr, &instance);
  if (!status)
    status = xcr_buffer_create_from_host(device, &options, data.data(), 32, &x);
  xcr_buffer_t *inputs[] = {x, x};
  if (!status)
    status = xcr_invoke(instance, xcr_string("main"), 2, inputs, 1, &output);
  xcr_call_t *call = nullptr;
  if (!status)
    status = xcr_call_create(instance, xcr_string("main"), nullptr, &call);
  if (!status)
    status = xcr_stream_create(device, nullptr, &stream);
  for (uint32_t i = 0; i < 2 && !status; ++i)
    status = xcr_call_set_input(call, i, x);
  if (!status)
    status = xcr_call_launch(call, stream);
  if (!status)
    status = xcr_stream_synchronize(stream);
  xcr_call_release(call);
  xcr_stream_release(stream);
  xcr_buffer_release(output);
  xcr_buffer_release(x);
  xcr_instance_release(instance);
  xcr_module_release(module);
  xcr_device_release(device);
  return status;
}

TEST(HostMemoryTest, EveryFailedAllocationIsAStatusAndLeaksNothing) {
  std::vector<uint8_t> bytes = addModule().finish();
  int64_t allocations = 0;
  for (;; ++allocations) {
    FailingAllocator memory;
    memory.left = allocations;
    xcr_status_t status = runWith(memory, bytes);
    bool isDone = xcr_is_ok(status);
    if (!isDone)
      EXPECT_EQ(xcr_status_code(status), XCR_STATUS_OUT_OF_MEMORY)
          << xcr_status_message(status).data;
    xcr_status_release(status);
    ASSERT_EQ(memory.live.load(), 0) << "allocation " << allocations;
    ASSERT_EQ(memory.countChanged(), 0u) << "allocation " << allocations;
    if (isDone)
      break;
  }
  EXPECT_GT(allocations, 50);
}

TEST(HostMemoryTest, AnAllocatorWithoutItsFunctionsIsRefused) {
  FailingAllocator memory;
  std::vector<uint8_t> bytes = addModule().finish();
  auto expectRefused = [&](const xcr_host_allocator_t &callbacks, const char *message) {
    xcr_device_options_t deviceOptions = XCR_DEVICE_OPTIONS_INIT;
    deviceOptions.host_allocator = &callbacks;
    xcr_device_t *device = nullptr;
    XCR_EXPECT_FAILS(xcr_device_create(xcr_string("cpu"), &deviceOptions, &device),
                     XCR_STATUS_INVALID_ARGUMENT, message);
    xcr_module_options_t moduleOptions = XCR_MODULE_OPTIONS_INIT;
    moduleOptions.host_allocator = &callbacks;
    xcr_module_t *module = nullptr;
    XCR_EXPECT_FAILS(xcr_module_load_memory(bytes.data(), bytes.size(), &moduleOptions, nullptr,
                                            nullptr, &module),
                     XCR_STATUS_INVALID_ARGUMENT, message);
    xcr_device_list_t *list = nullptr;
    XCR_EXPECT_FAILS(xcr_device_list_create(&callbacks, &list), XCR_STATUS_INVALID_ARGUMENT,
                     message);
  };
  xcr_host_allocator_t callbacks = memory.callbacks();
  callbacks.allocate = nullptr;
  expectRefused(callbacks, "host_allocator.allocate: expected a function, got NULL");
  callbacks = memory.callbacks();
  callbacks.deallocate = nullptr;
  expectRefused(callbacks, "host_allocator.deallocate: expected a function, got NULL");
  callbacks = memory.callbacks();
  callbacks.struct_size = 8;
  expectRefused(callbacks, "host_allocator.struct_size: expected at least 32, got 8");
}
