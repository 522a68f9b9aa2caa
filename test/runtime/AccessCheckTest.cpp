//===- AccessCheckTest.cpp - Accesses of the host that come too early -----===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/runtime/CallTest.h"

#include <condition_variable>
#include <cstdlib>
#include <mutex>

using namespace xc;
using namespace xc::test;

namespace {
/// Keeps a stream from going on.
class Gate {
public:
  static void pass(void *self, xcr_status_t) {
    Gate &gate = *static_cast<Gate *>(self);
    std::unique_lock<std::mutex> lock(gate.mutex);
    gate.changed.wait(lock, [&] { return gate.isOpen; });
  }
  void open() {
    std::lock_guard<std::mutex> lock(mutex);
    isOpen = true;
    changed.notify_all();
  }

private:
  std::mutex mutex;
  std::condition_variable changed;
  bool isOpen = false;
};

/// z = x + y behind a gate.
class AccessCheckTest : public CallTest {
protected:
  void SetUp() override { setUp("1"); }
  void setUp(const char *check) {
    setenv("XCR_CHECK", check, 1);
    CallTest::SetUp();
    unsetenv("XCR_CHECK");
    call = makeCall(instance);
    x = makeBuffer(device, iota(8));
    y = makeBuffer(device, iota(8));
    z = makeBuffer(device, iota(8));
    XCR_ASSERT_OK(set(0, x));
    XCR_ASSERT_OK(set(1, y));
    XCR_ASSERT_OK(xcr_call_set_output(call.get(), 0, z.get()));
    stream = makeStream(device);
    XCR_ASSERT_OK(xcr_stream_add_callback(stream.get(), Gate::pass, &gate));
  }
  void TearDown() override { gate.open(); }
  void finish() {
    gate.open();
    XCR_ASSERT_OK(xcr_stream_synchronize(stream.get()));
  }
  xcr_status_t readFrom(const Buffer &buffer) {
    return xcr_buffer_read(buffer.get(), 0, host, sizeof(host));
  }
  xcr_status_t writeTo(const Buffer &buffer) {
    return xcr_buffer_write(buffer.get(), 0, host, sizeof(host));
  }

  Gate gate;
  Buffer x, y, z;
  Stream stream;
  float host[8] = {};
};
} // namespace

TEST_F(AccessCheckTest, ReadingWhatALaunchStillWritesIsRefused) {
  XCR_ASSERT_OK(xcr_call_launch(call.get(), stream.get()));
  XCR_EXPECT_FAILS(readFrom(z), XCR_STATUS_FAILED_PRECONDITION,
                   "xcr_buffer_read: a launch of 'main' that has not ended writes to this buffer "
                   "(output 0): wait for its stream first");
  finish();
  XCR_EXPECT_OK(readFrom(z));
  EXPECT_EQ(host[7], 14.0f);
}

TEST_F(AccessCheckTest, WritingWhatALaunchStillReadsIsRefused) {
  XCR_ASSERT_OK(xcr_call_launch(call.get(), stream.get()));
  XCR_EXPECT_OK(readFrom(x));
  XCR_EXPECT_FAILS(writeTo(x), XCR_STATUS_FAILED_PRECONDITION,
                   "xcr_buffer_write: a launch of 'main' that has not ended reads this buffer "
                   "(input 0)");
  finish();
  XCR_EXPECT_OK(writeTo(x));
}

TEST_F(AccessCheckTest, MappingIsAnAccess) {
  XCR_ASSERT_OK(xcr_call_launch(call.get(), stream.get()));
  void *data = nullptr;
  XCR_EXPECT_FAILS(xcr_buffer_map(z.get(), XCR_MAP_READ, &data), XCR_STATUS_FAILED_PRECONDITION,
                   "xcr_buffer_map: a launch of 'main' that has not ended writes to");
  XCR_EXPECT_FAILS(xcr_buffer_map(y.get(), XCR_MAP_WRITE, &data), XCR_STATUS_FAILED_PRECONDITION,
                   "reads this buffer (input 1)");
  XCR_EXPECT_OK(xcr_buffer_map(y.get(), XCR_MAP_READ, &data));
  XCR_EXPECT_OK(xcr_buffer_unmap(y.get()));
  DLManagedTensor *tensor = nullptr;
  XCR_EXPECT_FAILS(xcr_buffer_to_dlpack(z.get(), &tensor), XCR_STATUS_FAILED_PRECONDITION,
                   "xcr_buffer_to_dlpack: a launch of 'main'");
  finish();
  XCR_EXPECT_OK(xcr_buffer_map(z.get(), XCR_MAP_READ_WRITE, &data));
  XCR_EXPECT_OK(xcr_buffer_unmap(z.get()));
}

TEST_F(AccessCheckTest, TransfersAreWork) {
  XCR_ASSERT_OK(xcr_stream_fill(stream.get(), x.get(), 0, 16, 0, 4));
  XCR_ASSERT_OK(xcr_stream_copy(stream.get(), y.get(), 0, z.get(), 0, 32));
  XCR_EXPECT_FAILS(readFrom(x), XCR_STATUS_FAILED_PRECONDITION,
                   "a fill that has not ended writes to this buffer (target)");
  // Behind the bytes of the fill.
  XCR_EXPECT_OK(xcr_buffer_read(x.get(), 16, host, 16));
  XCR_EXPECT_FAILS(readFrom(z), XCR_STATUS_FAILED_PRECONDITION, "a copy that has not ended writes");
  XCR_EXPECT_FAILS(writeTo(y), XCR_STATUS_FAILED_PRECONDITION, "a copy that has not ended reads");
  finish();
  XCR_EXPECT_OK(readFrom(x));
  XCR_EXPECT_OK(readFrom(z));
  XCR_EXPECT_OK(writeTo(y));
}

TEST_F(AccessCheckTest, ViewsAreOfTheSameMemory) {
  int64_t shape = 4;
  xcr_buffer_options_t options = XCR_BUFFER_OPTIONS_INIT;
  options.dtype = XCR_DTYPE_F32;
  options.rank = 1;
  options.shape = &shape;
  xcr_buffer_t *made = nullptr;
  XCR_ASSERT_OK(xcr_buffer_view(z.get(), &options, 16, &made));
  Buffer view(made);
  XCR_ASSERT_OK(xcr_call_launch(call.get(), stream.get()));
  XCR_EXPECT_FAILS(xcr_buffer_read(view.get(), 0, host, 16), XCR_STATUS_FAILED_PRECONDITION,
                   "a launch of 'main' that has not ended writes to this buffer");
  finish();
}

TEST_F(AccessCheckTest, WithoutTheVariableNothingIsChecked) {
  finish();
  setUp("0");
  XCR_ASSERT_OK(xcr_call_launch(call.get(), stream.get()));
  XCR_EXPECT_OK(readFrom(x));
  XCR_EXPECT_OK(writeTo(x));
  finish();
}

TEST(DeviceTest, OtherValuesOfTheCheckAreNamed) {
  setenv("XCR_CHECK", "yes", 1);
  xcr_device_t *device = nullptr;
  XCR_EXPECT_FAILS(xcr_device_create(xcr_string("cpu"), nullptr, &device),
                   XCR_STATUS_INVALID_ARGUMENT, "XCR_CHECK: expected 0 or 1, got 'yes'");
  unsetenv("XCR_CHECK");
}
