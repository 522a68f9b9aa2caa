//===- FaultTest.cpp - Every driver call fails once -----------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// A scenario runs again and again, with the first, second, ... call of the
// driver failing, until it ends before the fault is hit. Each time the failure
// is reported by name, nothing is left behind, and the device goes on or says
// that it is lost.
//
//===----------------------------------------------------------------------===//

#include "test/runtime/cuda/CudaKernels.h"

#include "runtime/hal/cuda/cuda_abi.h"

using namespace xc;
using namespace xc::test;

namespace {

struct Outcome {
  xcr_status_code_t code = XCR_STATUS_OK;
  std::string message;
};

class FaultTest : public ::testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    if (!standIn())
      GTEST_SKIP() << "needs the driver stand-in (target cuda_sim)";
    bytes = cudaScenarioModule().finish();
    module = loadModule(bytes);
  }

  /// Keeps the first failure; whether there is none yet.
  bool take(xcr_status_t status) {
    if (outcome.code == XCR_STATUS_OK && !xcr_is_ok(status)) {
      outcome.code = xcr_status_code(status);
      xcr_string_view_t text = xcr_status_message(status);
      outcome.message.assign(text.data, text.size);
    }
    bool isFine = xcr_is_ok(status);
    xcr_status_release(status);
    return isFine;
  }

  bool openDevice(Device &device) {
    xcr_device_t *object = nullptr;
    bool isFine = take(xcr_device_create(xcr_string(GetParam()), nullptr, &object));
    device.reset(object);
    return isFine;
  }
  bool makeInput(const Device &device, size_t count, Buffer &out) {
    std::vector<float> values = iota(count);
    xcr_buffer_options_t options = XCR_BUFFER_OPTIONS_INIT;
    int64_t shape = static_cast<int64_t>(count);
    options.dtype = XCR_DTYPE_F32;
    options.rank = 1;
    options.shape = &shape;
    xcr_buffer_t *object = nullptr;
    bool isFine = take(xcr_buffer_create_from_host(device.get(), &options, values.data(),
                                                   count * sizeof(float), &object));
    out.reset(object);
    return isFine;
  }
  /// Launches with an input of its own and looks at all outputs.
  bool runOnce(const Device &device, xcr_call_t *call, xcr_stream_t *stream, size_t count) {
    Buffer input;
    if (!makeInput(device, count, input) || !take(xcr_call_set_input(call, 0, input.get())) ||
        !take(xcr_call_launch(call, stream)) || !take(xcr_stream_synchronize(stream)))
      return false;
    for (uint32_t i = 0; i < 2; ++i) {
      std::vector<float> result(count);
      if (!take(xcr_buffer_read(xcr_call_output(call, i), 0, result.data(), count * sizeof(float))))
        return false;
      for (size_t j = 0; j < count; ++j)
        EXPECT_EQ(result[j], 2.0f * static_cast<float>(j + 1));
    }
    return true;
  }

  bool runScenario(Device &device) {
    xcr_instance_t *instanceObject = nullptr;
    if (!take(xcr_instance_create(device.get(), module.get(), nullptr, &instanceObject)))
      return false;
    Instance instance(instanceObject);
    xcr_call_t *callObject = nullptr;
    if (!take(xcr_call_create(instance.get(), xcr_string("main"), nullptr, &callObject)))
      return false;
    Call call(callObject);
    xcr_stream_t *streamObject = nullptr;
    if (!take(xcr_stream_create(device.get(), nullptr, &streamObject)))
      return false;
    Stream stream(streamObject);
    bool isFine = runOnce(device, call.get(), stream.get(), 64) &&
                  runOnce(device, call.get(), stream.get(), 64) &&
                  runOnce(device, call.get(), stream.get(), 40) && runCallbacks(stream.get()) &&
                  take(xcr_device_trim(device.get())) && take(xcr_device_synchronize(device.get()));
    if (isFine || outcome.code == XCR_STATUS_DEVICE_LOST)
      return isFine;
    // The same call works once the driver does.
    standIn()->clearFaults();
    Outcome first = outcome;
    outcome = Outcome();
    EXPECT_TRUE(runOnce(device, call.get(), stream.get(), 64)) << outcome.message;
    outcome = first;
    return false;
  }

  bool runCallbacks(xcr_stream_t *stream) {
    std::atomic<int> count{0};
    auto callback = [](void *data, xcr_status_t) { ++*static_cast<std::atomic<int> *>(data); };
    bool isFine = take(xcr_stream_add_callback(stream, callback, &count));
    int expected = isFine ? 1 : 0;
    isFine = take(xcr_stream_synchronize(stream)) && isFine;
    if (!isFine) { // count must be left alone before it goes
      standIn()->clearFaults();
      xcr_status_release(xcr_stream_synchronize(stream));
    }
    EXPECT_EQ(count.load(), expected);
    return isFine;
  }

  /// A lost device says so at once; after another failure the device goes on.
  void checkAfter(const Device &device) {
    Buffer buffer;
    Outcome first = outcome;
    outcome = Outcome();
    bool isFine = makeInput(device, 8, buffer);
    if (first.code == XCR_STATUS_DEVICE_LOST) {
      EXPECT_EQ(outcome.code, XCR_STATUS_DEVICE_LOST) << outcome.message;
      EXPECT_NE(outcome.message.find("was lost"), std::string::npos) << outcome.message;
    } else if (first.code != XCR_STATUS_OK) {
      EXPECT_TRUE(isFine) << outcome.message;
    }
    outcome = first;
  }

  void checkMessage(int result, bool isOpen) {
    EXPECT_NE(outcome.message.find("cu"), std::string::npos) << outcome.message;
    if (result == CUDA_ERROR_OUT_OF_MEMORY)
      EXPECT_EQ(outcome.code, XCR_STATUS_OUT_OF_MEMORY) << outcome.message;
    else if (result == CUDA_ERROR_ILLEGAL_ADDRESS && isOpen)
      EXPECT_EQ(outcome.code, XCR_STATUS_DEVICE_LOST) << outcome.message;
    else if (isOpen)
      EXPECT_EQ(outcome.code, XCR_STATUS_INTERNAL) << outcome.message;
  }

  /// Fails call after call until the scenario gets by; how many there were.
  uint64_t failEveryCall(int result) {
    for (uint64_t nth = 1;; ++nth) {
      SCOPED_TRACE("call " + std::to_string(nth));
      outcome = Outcome();
      uint64_t firedBefore = standIn()->faultsFired();
      EXPECT_EQ(standIn()->setFault("*", nth, result, 0), 0);
      bool isOpen = false;
      {
        Device device;
        isOpen = openDevice(device);
        if (isOpen) {
          runScenario(device);
          bool hasFired = standIn()->faultsFired() != firedBefore;
          standIn()->clearFaults();
          if (hasFired)
            checkAfter(device);
        }
      }
      bool hasFired = standIn()->faultsFired() != firedBefore;
      standIn()->clearFaults();
      standIn()->reviveDevices(); // else the process would have lost its device for good
      if (outcome.code != XCR_STATUS_OK)
        checkMessage(result, isOpen);
      EXPECT_EQ(leaks(), "");
      if (!hasFired || HasFailure())
        return nth;
    }
  }

  std::vector<uint8_t> bytes;
  Module module;
  Outcome outcome;
};

} // namespace

INSTANTIATE_TEST_SUITE_P(Modes, FaultTest,
                         ::testing::Values("cuda:0?launch=graph", "cuda:0?launch=stream"),
                         [](const ::testing::TestParamInfo<const char *> &info) {
                           return info.index ? "stream" : "graph";
                         });

// The driver is loaded once a process, so the calls of that are gone through first.
TEST_P(FaultTest, OpeningADevice) {
  for (int result : {CUDA_ERROR_OUT_OF_MEMORY, CUDA_ERROR_UNKNOWN}) {
    uint64_t nth = 0;
    Device device;
    do {
      outcome = Outcome();
      EXPECT_EQ(standIn()->setFault("*", ++nth, result, 0), 0);
      bool isOpen = openDevice(device);
      standIn()->clearFaults();
      EXPECT_NE(isOpen, outcome.code != XCR_STATUS_OK);
      if (!isOpen)
        EXPECT_EQ(leaks(), "") << outcome.message;
    } while (!device);
    EXPECT_GT(nth, 5u);
  }
}

TEST_P(FaultTest, OutOfMemory) { EXPECT_GT(failEveryCall(CUDA_ERROR_OUT_OF_MEMORY), 60u); }
TEST_P(FaultTest, PlainError) { EXPECT_GT(failEveryCall(CUDA_ERROR_UNKNOWN), 60u); }
TEST_P(FaultTest, StickyError) { EXPECT_GT(failEveryCall(CUDA_ERROR_ILLEGAL_ADDRESS), 60u); }
