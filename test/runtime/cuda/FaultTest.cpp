//===- FaultTest.cpp - Every driver call fails once -----------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// A scenario runs again and again, with the first, second, ... call of the
// driver failing, until it and the device end before the fault is hit. Each
// time the status names the very call and its result, nothing is left behind,
// nothing hangs, and the device goes on with right results or says that it is
// lost.
//
//===----------------------------------------------------------------------===//

#include "test/runtime/cuda/FaultScenarios.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <sstream>
#include <unistd.h>

#include <csignal>

using namespace xc;
using namespace xc::test;

namespace {

struct Mode {
  const char *name;
  const char *uri;
};
const Mode kModes[] = {{"graph", "cuda:0?launch=graph"}, {"stream", "cuda:0?launch=stream"}};

struct Parameter {
  Mode mode;
  FaultScenario scenario;
};
void PrintTo(const Parameter &parameter, std::ostream *stream) {
  *stream << parameter.scenario.name << ", " << parameter.mode.uri;
}

std::vector<Parameter> parameters() {
  std::vector<Parameter> result;
  for (const Mode &mode : kModes)
    for (const auto *scenarios : {&callScenarios(), &objectScenarios()})
      for (const FaultScenario &scenario : *scenarios)
        result.push_back({mode, scenario});
  return result;
}

bool isIn(const std::string &name, const char *list) {
  std::istringstream words(list);
  for (std::string word; words >> word;)
    if (word == name)
      return true;
  return false;
}

/// What a function is failed without: others do the same, or nobody is there to tell.
const char kDispensable[] =
    "cuCtxGetCurrent cuCtxPushCurrent cuCtxPopCurrent cuThreadExchangeStreamCaptureMode "
    "cuStreamQuery cuEventQuery cuMemGetInfo "
    "cuMemFree cuMemFreeAsync cuMemFreeHost cuMemUnmap cuMemRelease cuMemAddressFree "
    "cuMemPoolDestroy cuModuleUnload cuStreamDestroy cuEventDestroy cuGraphDestroy "
    "cuGraphExecDestroy cuDevicePrimaryCtxRelease";

/// Where memory is short the runtime gives back what it has cached, and allocates or grows an arena
/// once more.
const char kAskedAgain[] =
    "cuMemAlloc cuMemAllocFromPoolAsync cuStreamSynchronize cuMemGetAllocationGranularity "
    "cuMemAddressReserve cuMemCreate cuMemMap cuMemSetAccess";

//===----------------------------------------------------------------------===//
// The watchdog
//===----------------------------------------------------------------------===//

constexpr unsigned kHangSeconds = 120;
char watched[256];

void reportHang(int) {
  const char text[] = "\nFaultTest: hangs in ";
  ssize_t ignored = write(STDERR_FILENO, text, sizeof(text) - 1);
  ignored = write(STDERR_FILENO, watched, strlen(watched));
  ignored = write(STDERR_FILENO, "\n", 1);
  (void)ignored;
  _exit(1);
}

/// Ends the process, with a line that says where it was, unless the scope ends soon.
class Watchdog {
public:
  explicit Watchdog(const std::string &place) {
    snprintf(watched, sizeof(watched), "%s", place.c_str());
    signal(SIGALRM, reportHang);
    alarm(kHangSeconds);
  }
  ~Watchdog() { alarm(0); }
};

//===----------------------------------------------------------------------===//
// Sweeps
//===----------------------------------------------------------------------===//

class FaultTest : public ::testing::TestWithParam<Parameter> {
protected:
  void SetUp() override {
    if (!standIn())
      GTEST_SKIP() << "needs the driver stand-in (target cuda_sim)";
    bytes = GetParam().scenario.module().finish();
    module = loadModule(bytes);
    ASSERT_TRUE(module);
    // The driver is loaded once a process: OpeningADevice is about that.
    Device device = makeDevice(GetParam().mode.uri);
    ASSERT_TRUE(device);
    Status status = cuda::loadSymbols(HostAllocator(), &foreign.cu);
    ASSERT_TRUE(status.succeeded());
  }

  void acquireForeign() {
    const cuda::Symbols &cu = *foreign.cu;
    CUcontext popped = nullptr;
    ASSERT_EQ(cu.cuDevicePrimaryCtxRetain(&foreign.context, 0), CUDA_SUCCESS);
    ASSERT_EQ(cu.cuCtxPushCurrent(foreign.context), CUDA_SUCCESS);
    ASSERT_EQ(cu.cuStreamCreateWithPriority(&foreign.stream, CU_STREAM_NON_BLOCKING, 0),
              CUDA_SUCCESS);
    ASSERT_EQ(cu.cuMemAlloc(&foreign.memory, 256), CUDA_SUCCESS);
    ASSERT_EQ(cu.cuCtxPopCurrent(&popped), CUDA_SUCCESS);
  }
  /// On a lost device the calls fail and release all the same.
  void releaseForeign() {
    const cuda::Symbols &cu = *foreign.cu;
    CUcontext popped = nullptr;
    cu.cuCtxPushCurrent(foreign.context);
    cu.cuMemFree(foreign.memory);
    cu.cuStreamDestroy(foreign.stream);
    cu.cuCtxPopCurrent(&popped);
    EXPECT_EQ(popped, foreign.context);
    cu.cuDevicePrimaryCtxRelease(0);
  }

  Attempt makeAttempt(xcr_device_t *device) const {
    return Attempt(GetParam().mode.uri, device, module.get(), foreign);
  }

  bool isDispensable(const std::string &function, CUresult result) const {
    return isIn(function, kDispensable) || isIn(function, GetParam().scenario.dispensable) ||
           (result == CUDA_ERROR_OUT_OF_MEMORY && isIn(function, kAskedAgain));
  }

  /// \p attempt was struck in \p function.
  void checkFailure(const Attempt &attempt, const std::string &function, CUresult result) const {
    const std::string &message = attempt.message;
    if (attempt.code == XCR_STATUS_OK) {
      // Outside of its steps a scenario only releases things.
      EXPECT_TRUE(!attempt.wasStruckInStep || isDispensable(function, result))
          << "the failure of " << function << " is hidden";
      return;
    }
    EXPECT_NE(message.find(foreign.cu->nameOf(result)), std::string::npos) << message;
    bool isSticky = result == CUDA_ERROR_ILLEGAL_ADDRESS;
    // Where the runtime does without a call, the next one tells of a context that it has lost.
    if (!isSticky || !isDispensable(function, result))
      EXPECT_TRUE(names(message, function)) << function << " failed: " << message;
    // When devices are counted there is none yet that could be lost.
    bool isLoss = isSticky && function != "cuDeviceGetCount";
    xcr_status_code_t expected = isLoss                               ? XCR_STATUS_DEVICE_LOST
                                 : result == CUDA_ERROR_OUT_OF_MEMORY ? XCR_STATUS_OUT_OF_MEMORY
                                                                      : XCR_STATUS_INTERNAL;
    EXPECT_EQ(attempt.code, expected) << message;
  }
  /// Whether \p message has \p function as a whole word.
  static bool names(const std::string &message, const std::string &function) {
    size_t at = message.find(function);
    return at != std::string::npos &&
           (at + function.size() == message.size() || !isalnum(message[at + function.size()]));
  }

  /// Whether the driver has lost the device's context. A fault without a current context loses
  /// none.
  bool isContextLost() const {
    CUcontext popped = nullptr;
    foreign.cu->cuCtxPushCurrent(foreign.context);
    CUresult result = foreign.cu->cuStreamSynchronize(nullptr);
    foreign.cu->cuCtxPopCurrent(&popped);
    return result != CUDA_SUCCESS;
  }

  /// After a failure that is over the device does all of it; a lost one says so.
  void checkDevice(xcr_device_t *device, bool isSticky) const {
    bool isLost = isContextLost();
    Attempt second = makeAttempt(device);
    GetParam().scenario.run(second);
    if (isLost) {
      if (!isIn("cuDeviceGetCount", GetParam().scenario.dispensable)) // a listing uses no context
        EXPECT_EQ(second.code, XCR_STATUS_DEVICE_LOST) << second.message;
    } else if (!isSticky || second.code != XCR_STATUS_DEVICE_LOST) {
      EXPECT_EQ(second.code, XCR_STATUS_OK) << "afterwards: " << second.message;
    }
    if (second.code == XCR_STATUS_DEVICE_LOST)
      EXPECT_NE(second.message.find(" lost: "), std::string::npos) << second.message;
  }

  /// One go with the fault at call \p nth; whether it was hit.
  bool failOnce(CUresult result, uint64_t nth) {
    uint64_t firedBefore = standIn()->faultsFired();
    auto hasFired = [&] { return standIn()->faultsFired() != firedBefore; };
    acquireForeign();
    {
      Device device = makeDevice(GetParam().mode.uri);
      Attempt attempt = makeAttempt(device.get());
      attempt.setFault = [&] { EXPECT_EQ(standIn()->setFault("*", nth, result, 0), 0); };
      if (!GetParam().scenario.armsItself)
        attempt.arm();
      GetParam().scenario.run(attempt);
      if (hasFired()) {
        standIn()->clearFaults();
        checkFailure(attempt, lastFault(), result);
        checkDevice(device.get(), result == CUDA_ERROR_ILLEGAL_ADDRESS);
      } else {
        EXPECT_EQ(attempt.code, XCR_STATUS_OK) << attempt.message;
      }
    }
    standIn()->clearFaults();
    releaseForeign();
    standIn()->reviveDevices(); // else the process would have lost its device for good
    EXPECT_EQ(leaks(), "");
    return hasFired();
  }

  void failEveryCall(CUresult result) {
    bool wasHit = true;
    uint64_t nth = 0;
    while (wasHit && !HasFailure()) {
      std::ostringstream place;
      place << GetParam().scenario.name << " (" << GetParam().mode.name << "), call " << ++nth
            << " returning " << foreign.cu->nameOf(result);
      SCOPED_TRACE(place.str());
      Watchdog watchdog(place.str());
      wasHit = failOnce(result, nth);
      if (HasFailure())
        fprintf(stderr, "(struck %s)\n", lastFault().c_str());
    }
  }

  std::vector<uint8_t> bytes;
  Module module;
  Foreign foreign;
};

std::string nameOf(const ::testing::TestParamInfo<Parameter> &info) {
  return std::string(info.param.scenario.name) + "_" + info.param.mode.name;
}

} // namespace

INSTANTIATE_TEST_SUITE_P(Cuda, FaultTest, ::testing::ValuesIn(parameters()), nameOf);

TEST_P(FaultTest, OutOfMemory) { failEveryCall(CUDA_ERROR_OUT_OF_MEMORY); }
TEST_P(FaultTest, PlainError) { failEveryCall(CUDA_ERROR_UNKNOWN); }
TEST_P(FaultTest, StickyError) { failEveryCall(CUDA_ERROR_ILLEGAL_ADDRESS); }

//===----------------------------------------------------------------------===//
// Opening a device
//===----------------------------------------------------------------------===//

// The driver is loaded once a process, so this is in one of its own (see CMakeLists.txt).
TEST(OpeningTest, EveryCall) {
  if (!standIn())
    GTEST_SKIP() << "needs the driver stand-in (target cuda_sim)";
  struct Result {
    CUresult code;
    const char *name;
  };
  for (Result result : {Result{CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY"},
                        Result{CUDA_ERROR_UNKNOWN, "CUDA_ERROR_UNKNOWN"},
                        Result{CUDA_ERROR_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS"}}) {
    bool wasHit = true;
    for (uint64_t nth = 1; wasHit && !HasFailure(); ++nth) {
      Watchdog watchdog("opening a device, call " + std::to_string(nth));
      uint64_t firedBefore = standIn()->faultsFired();
      EXPECT_EQ(standIn()->setFault("*", nth, result.code, 0), 0);
      xcr_device_t *device = nullptr;
      xcr_status_t status = xcr_device_create(xcr_string("cuda:0"), nullptr, &device);
      wasHit = standIn()->faultsFired() != firedBefore;
      standIn()->clearFaults();
      xcr_string_view_t text = xcr_status_message(status);
      std::string message(text.data, text.size), function = wasHit ? lastFault() : "";
      if (!wasHit || isIn(function, kDispensable)) {
        EXPECT_TRUE(xcr_is_ok(status) || wasHit) << message;
      } else {
        EXPECT_NE(message.find(function), std::string::npos) << function << ": " << message;
        EXPECT_NE(message.find(result.name), std::string::npos) << function << ": " << message;
      }
      EXPECT_EQ(xcr_is_ok(status), device != nullptr);
      xcr_status_release(status);
      xcr_device_release(device);
      standIn()->reviveDevices();
      EXPECT_EQ(leaks(), "") << function << ": " << message;
    }
  }
}

//===----------------------------------------------------------------------===//
// Memory that there is not
//===----------------------------------------------------------------------===//

// No call is failed on demand here: the device refuses allocations above 2 MiB by itself.
TEST(ScarceTest, RefusalsAreToldAndTheDeviceGoesOn) {
  if (!standIn())
    GTEST_SKIP() << "needs the driver stand-in (target cuda_sim)";
  for (const Mode &mode : kModes) {
    standIn()->setMaxAllocation(2u << 20);
    {
      std::vector<uint8_t> bytes = chainModule(65536).finish();
      Module module = loadModule(bytes);
      Device device = makeDevice(mode.uri);
      ASSERT_TRUE(device);
      Foreign nobody;
      Attempt attempt(mode.uri, device.get(), module.get(), nobody);
      Buffer large, small;
      EXPECT_FALSE(attempt.makeBuffer(iota((3u << 20) / 4), large));
      EXPECT_EQ(attempt.code, XCR_STATUS_OUT_OF_MEMORY);
      EXPECT_NE(attempt.message.find("cuMemAlloc"), std::string::npos) << attempt.message;
      EXPECT_NE(attempt.message.find("CUDA_ERROR_OUT_OF_MEMORY"), std::string::npos)
          << attempt.message;
      EXPECT_NE(attempt.message.find("asked for 3145728 bytes"), std::string::npos)
          << attempt.message;
      // The ring through pinned memory, 4 MiB, is refused: the upload takes another way.
      attempt.forget();
      EXPECT_TRUE(attempt.makeBuffer(iota((2u << 20) / 4), small)) << attempt.message;
      std::vector<float> seen((2u << 20) / 4);
      EXPECT_TRUE(attempt.read(small.get(), seen));
      EXPECT_EQ(seen, iota(seen.size()));
      // An arena of 4 MiB, and one of 2 MiB.
      Instance instance;
      Call call;
      Stream stream;
      ASSERT_TRUE(attempt.makeInstance(instance) && attempt.makeCall(instance, "main", call) &&
                  attempt.makeStream(stream));
      EXPECT_FALSE(runChain(attempt, call.get(), stream.get(), 64));
      EXPECT_EQ(attempt.code, XCR_STATUS_OUT_OF_MEMORY);
      EXPECT_NE(attempt.message.find("CUDA_ERROR_OUT_OF_MEMORY"), std::string::npos)
          << attempt.message;
      attempt.forget();
      EXPECT_TRUE(runChain(attempt, call.get(), stream.get(), 32)) << attempt.message;
    }
    standIn()->setMaxAllocation(UINT64_MAX);
    EXPECT_EQ(leaks(), "");
  }
}
