//===- DeviceTest.cpp - CUDA devices: loss, callbacks, code, options ------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/hal/cuda/cuda_symbols.h"
#include "runtime/hal/driver.h"
#include "test/runtime/cuda/CudaKernels.h"
#include "test/runtime/hal/HalTest.h"

#include <atomic>
#include <cstdlib>
#include <thread>

using namespace xc;
using namespace xc::test;

namespace {
class CudaDeviceTest : public HalTest {
protected:
  Status launchCrash(hal::Stream &queue) {
    TestPlan plan;
    plan.dispatch(code.get(), kCrash, {}, {});
    XCR_RETURN_IF_ERROR(queue.launch(record(plan), 0, hal::LaunchMode::Asynchronous));
    return queue.synchronize();
  }
};
} // namespace
INSTANTIATE_TEST_SUITE_P(Cuda, CudaDeviceTest, ::testing::ValuesIn(backends()), backendName);

// The driver gives a process no device again that it has lost, so each of these tests runs in a
// process of its own: the test program starts itself again for the statement.
class LostDeviceTest : public CudaDeviceTest {
protected:
  void SetUp() override {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    CudaDeviceTest::SetUp();
  }
  /// Ends the process of its own.
  [[noreturn]] void end() {
    std::fflush(nullptr);
    std::_Exit(HasFailure() ? 1 : 0);
  }
  void sayLoss();
  void hearOfLoss();
  void awaitCallback();
  void awaitCallbackOfThread();
};
INSTANTIATE_TEST_SUITE_P(Cuda, LostDeviceTest, ::testing::ValuesIn(backends()), backendName);

void LostDeviceTest::sayLoss() {
  Ref<hal::Memory> memory = upload(iota(16));
  Ref<hal::Stream> queue = stream();
  EXPECT_EQ(launchCrash(*queue).code(), XCR_STATUS_DEVICE_LOST);
  Ref<hal::Memory> more;
  Status status = device->allocate(64, &more);
  EXPECT_EQ(status.code(), XCR_STATUS_DEVICE_LOST);
  EXPECT_NE(std::string(status.message().data).find("CUDA_ERROR_ILLEGAL_ADDRESS"),
            std::string::npos);
  EXPECT_EQ(queue->fill(memory, 0, 64, 0, 1).code(), XCR_STATUS_DEVICE_LOST);
  EXPECT_EQ(queue->synchronize().code(), XCR_STATUS_DEVICE_LOST);
  EXPECT_EQ(device->synchronize().code(), XCR_STATUS_DEVICE_LOST);
  EXPECT_EQ(device->trim().code(), XCR_STATUS_DEVICE_LOST);
  queue = Ref<hal::Stream>();
  memory = Ref<hal::Memory>();
  code = Ref<hal::Executable>();
  device = Ref<hal::Device>();
  if (standIn())
    EXPECT_EQ(leaks(), "");
  Ref<hal::Device> again;
  status = hal::createDevice(xcr_string(GetParam().uri), hal::DeviceOptions(), &again);
  EXPECT_EQ(status.code(), XCR_STATUS_DEVICE_LOST);
  EXPECT_NE(std::string(status.message().data).find("this process"), std::string::npos)
      << status.message().data;
  EXPECT_FALSE(again);
  end();
}

TEST_P(LostDeviceTest, EveryCallSaysSoAndTheProcessGetsItNoMore) {
  EXPECT_EXIT(sayLoss(), ::testing::ExitedWithCode(0), "");
}

void LostDeviceTest::hearOfLoss() {
  Ref<hal::Stream> queue = stream();
  TestPlan plan;
  plan.dispatch(code.get(), kCrash, {}, {});
  ASSERT_TRUE(ok(queue->launch(record(plan), 0, hal::LaunchMode::Asynchronous)));
  std::atomic<int> heard{0};
  // The crash may be known before the callback is added.
  Status added = queue->addCallback(
      [](void *data, xcr_status_t status) {
        static_cast<std::atomic<int> *>(data)->store(xcr_status_code(status));
      },
      &heard);
  EXPECT_EQ(queue->synchronize().code(), XCR_STATUS_DEVICE_LOST);
  EXPECT_EQ(heard.load(), added.succeeded() ? XCR_STATUS_DEVICE_LOST : 0);
  end();
}

TEST_P(LostDeviceTest, CallbacksHearOfTheLoss) {
  EXPECT_EXIT(hearOfLoss(), ::testing::ExitedWithCode(0), "");
}

void LostDeviceTest::awaitCallback() {
  struct Progress {
    std::atomic<bool> hasBegun{false}, mayEnd{false}, hasEnded{false};
  } progress;
  Ref<hal::Stream> queue = stream(), other = stream();
  ASSERT_TRUE(ok(queue->addCallback(
      [](void *data, xcr_status_t) {
        auto *progress = static_cast<Progress *>(data);
        progress->hasBegun = true;
        while (!progress->mayEnd)
          std::this_thread::yield();
        // Whoever does not wait for the callback is ahead of it now.
        for (int i = 0; i < 1000; ++i)
          std::this_thread::yield();
        progress->hasEnded = true;
      },
      &progress)));
  while (!progress.hasBegun)
    std::this_thread::yield();
  EXPECT_EQ(launchCrash(*other).code(), XCR_STATUS_DEVICE_LOST);
  progress.mayEnd = true;
  EXPECT_EQ(queue->synchronize().code(), XCR_STATUS_DEVICE_LOST);
  EXPECT_TRUE(progress.hasEnded);
  end();
}

TEST_P(LostDeviceTest, CallbacksThatHaveBegunAreAwaited) {
  EXPECT_EXIT(awaitCallback(), ::testing::ExitedWithCode(0), "");
}

/// Two threads hear of the loss: one calls what waits, the other must not be ahead of that.
void LostDeviceTest::awaitCallbackOfThread() {
  struct Progress {
    std::atomic<bool> hasBegun{false}, mayEnd{false}, hasEnded{false};
    void pass() {
      hasBegun = true;
      while (!mayEnd)
        std::this_thread::yield();
      // Whoever does not wait for the callback is ahead of it now.
      for (int i = 0; i < 1000; ++i)
        std::this_thread::yield();
      hasEnded = true;
    }
  } before, progress;
  auto pass = [](void *data, xcr_status_t) { static_cast<Progress *>(data)->pass(); };
  Ref<hal::Stream> queue = stream(), busy = stream(), other = stream();
  // The thread for callbacks is in one, so that the other is left to those who hear of the loss.
  ASSERT_TRUE(ok(busy->addCallback(pass, &before)));
  while (!before.hasBegun)
    std::this_thread::yield();
  ASSERT_TRUE(ok(queue->addCallback(pass, &progress)));
  EXPECT_EQ(launchCrash(*other).code(), XCR_STATUS_DEVICE_LOST);
  std::thread first([&] { EXPECT_EQ(queue->synchronize().code(), XCR_STATUS_DEVICE_LOST); });
  while (!progress.hasBegun)
    std::this_thread::yield();
  std::atomic<bool> isWaiting{false};
  std::thread second([&] {
    isWaiting = true;
    EXPECT_EQ(queue->synchronize().code(), XCR_STATUS_DEVICE_LOST);
    EXPECT_TRUE(progress.hasEnded);
  });
  while (!isWaiting)
    std::this_thread::yield();
  progress.mayEnd = true;
  second.join();
  first.join();
  before.mayEnd = true;
  EXPECT_EQ(busy->synchronize().code(), XCR_STATUS_DEVICE_LOST);
  EXPECT_TRUE(before.hasEnded);
  end();
}

TEST_P(LostDeviceTest, CallbacksThatAnotherThreadCallsAreAwaited) {
  EXPECT_EXIT(awaitCallbackOfThread(), ::testing::ExitedWithCode(0), "");
}

TEST_P(CudaDeviceTest, CallbacksMayReleaseObjects) {
  uint64_t before = device->counter.bytesInUse();
  Ref<hal::Stream> queue = stream();
  for (int i = 0; i < 20; ++i) {
    hal::Memory *memory = allocate(1000).take();
    ASSERT_TRUE(ok(queue->addCallback(
        [](void *data, xcr_status_t) { static_cast<hal::Memory *>(data)->release(); }, memory)));
  }
  ASSERT_TRUE(ok(queue->synchronize()));
  EXPECT_EQ(device->counter.bytesInUse(), before);
}

TEST_P(CudaDeviceTest, ACallbackMayDropTheLastReferences) {
  struct Last {
    Ref<hal::Device> device;
    Ref<hal::Stream> queue;
    std::atomic<bool> isGone{false};
  } last;
  {
    hal::DeviceOptions options;
    ASSERT_TRUE(ok(hal::createDevice(xcr_string(GetParam().uri), options, &last.device)));
    ASSERT_TRUE(ok(last.device->createStream(&last.queue)));
    last.queue->owner = last.device;
  }
  hal::Stream *queue = last.queue.get();
  ASSERT_TRUE(ok(queue->addCallback(
      [](void *data, xcr_status_t) {
        auto *last = static_cast<Last *>(data);
        last->queue = Ref<hal::Stream>();
        last->device = Ref<hal::Device>();
        last->isGone = true;
      },
      &last)));
  while (!last.isGone)
    std::this_thread::yield();
}

TEST_P(CudaDeviceTest, LargeUploadsArriveWhole) {
  std::vector<uint32_t> data((37u << 20) / 4 + 3);
  for (size_t i = 0; i < data.size(); ++i)
    data[i] = static_cast<uint32_t>(i * 2654435761u);
  Ref<hal::Memory> memory = upload(data);
  EXPECT_EQ(download<uint32_t>(*memory, data.size()), data);
}

TEST_P(CudaDeviceTest, ObjectsOutliveManyBatchesInFlight) {
  Ref<hal::Stream> queue = stream();
  Ref<hal::Memory> slow = upload(std::vector<int64_t>(1)), target = allocate(8);
  TestPlan plan;
  plan.dispatch(code.get(), kWork, {slow->address()}, {2000000});
  ASSERT_TRUE(ok(queue->launch(record(plan), 0, hal::LaunchMode::Asynchronous)));
  // Each source is dropped here while the copies of it wait.
  for (int64_t i = 0; i < 100; ++i)
    ASSERT_TRUE(ok(queue->copy(upload(std::vector<int64_t>{i}), 0, target, 0, 8)));
  ASSERT_TRUE(ok(queue->synchronize()));
  EXPECT_EQ(download<int64_t>(*target, 1)[0], 99);
}

static void expectNoDevice(const char *uri, xcr_status_code_t code, const char *part) {
  Ref<hal::Device> device;
  Status status = hal::createDevice(xcr_string(uri), hal::DeviceOptions(), &device);
  EXPECT_EQ(status.code(), code) << uri;
  EXPECT_NE(std::string(status.message().data).find(part), std::string::npos)
      << status.message().data;
}

TEST_P(CudaDeviceTest, ACallFollowsAnArenaThatGrows) {
  Device gpu = makeDevice(GetParam().uri);
  Stream queue = makeStream(gpu);
  std::vector<uint8_t> bytes[2] = {cudaScenarioModule(256).finish(),
                                   cudaScenarioModule(8 << 20).finish()};
  Buffer input = makeBuffer(gpu, iota(64));
  std::vector<Call> calls;
  for (const std::vector<uint8_t> &file : bytes) {
    Module loaded = loadModule(file);
    calls.push_back(makeCall(makeInstance(gpu, loaded)));
    XCR_ASSERT_OK(xcr_call_set_input(calls.back().get(), 0, input.get()));
  }
  // The second has the arena grow behind the first one's back.
  for (uint32_t i : {0, 1, 0, 1, 0}) {
    XCR_ASSERT_OK(xcr_call_launch(calls[i].get(), queue.get()));
    XCR_ASSERT_OK(xcr_stream_synchronize(queue.get()));
    EXPECT_EQ(read<float>(xcr_call_output(calls[i].get(), 0))[63], 2.0f * 64);
  }
  xcr_call_statistics_t statistics = XCR_CALL_STATISTICS_INIT;
  xcr_call_get_statistics(calls[0].get(), &statistics);
  // Where the arena has moved, once more for its new place: then the old one is free.
  EXPECT_EQ(statistics.checks, 1 + (queue->arenaMoves > 1 ? 1u : 0u));
  EXPECT_EQ(gpu->counter.bytesArena() < (16u << 20), true);
  calls.clear();
  XCR_EXPECT_OK(xcr_device_trim(gpu.get()));
  EXPECT_EQ(gpu->counter.bytesArena(), 0u);
}

TEST_P(CudaDeviceTest, WithoutMemoryATrimIsTriedFirst) {
  const uint64_t large = 40 << 20;
  Device gpu = makeDevice(GetParam().uri, 64 << 20);
  Stream first = makeStream(gpu), second = makeStream(gpu);
  uint64_t base = 0;
  Ref<hal::Memory> holder, buffer;
  ASSERT_TRUE(ok(first->reserveArena(large, &base, &holder)));
  holder = Ref<hal::Memory>();
  // The idle stream's arena gives way to a buffer, and to another stream's.
  ASSERT_TRUE(ok(gpu->allocate(large, &buffer)));
  EXPECT_EQ(first->reserveArena(large, &base, &holder).code(), XCR_STATUS_OUT_OF_MEMORY);
  buffer = Ref<hal::Memory>();
  ASSERT_TRUE(ok(first->reserveArena(large, &base, &holder)));
  holder = Ref<hal::Memory>();
  ASSERT_TRUE(ok(second->reserveArena(large, &base, &holder)));
  holder = Ref<hal::Memory>();
  EXPECT_EQ(gpu->allocate(uint64_t(65) << 20, &buffer).code(), XCR_STATUS_OUT_OF_MEMORY);
}

TEST_P(CudaDeviceTest, ManyStreamsHaveAnArenaEach) {
  Device gpu = makeDevice(GetParam().uri);
  std::vector<Stream> streams;
  for (int i = 0; i < 40; ++i) {
    streams.push_back(makeStream(gpu));
    uint64_t base = 0;
    Ref<hal::Memory> holder;
    ASSERT_TRUE(ok(streams.back()->reserveArena(512, &base, &holder))) << "stream " << i;
  }
}

TEST_P(CudaDeviceTest, AnArenaBeyondTheLimitSaysItsStep) {
  Device gpu = makeDevice(GetParam().uri, 1 << 20);
  Stream queue = makeStream(gpu);
  uint64_t base = 0;
  Ref<hal::Memory> holder;
  Status status = queue->reserveArena(512, &base, &holder);
  if (status.succeeded())
    GTEST_SKIP() << "arenas of this device are as large as is asked for";
  EXPECT_EQ(status.code(), XCR_STATUS_OUT_OF_MEMORY);
  std::string message = xcr_status_message(status.get()).data;
  EXPECT_NE(
      message.find("an arena of 512 bytes, which grows in steps of 2097152: asked for 2097152 "
                   "bytes, 1048576 available, 0 held by this device object"),
      std::string::npos)
      << message;
}

TEST_P(CudaDeviceTest, WhatEndedWorkHeldMakesRoom) {
  Device gpu = makeDevice(GetParam().uri, 16 << 20);
  Stream queue = makeStream(gpu);
  Ref<hal::Event> event;
  ASSERT_TRUE(ok(gpu->createEvent(&event)));
  for (int round = 0; round < 8; ++round) {
    Ref<hal::Memory> memory;
    ASSERT_TRUE(ok(gpu->allocate(3 << 20, &memory))) << "round " << round;
    ASSERT_TRUE(ok(queue->fill(memory, 0, 64, 0, 1)));
    // As a pipeline does: nobody ever waits for the stream itself.
    ASSERT_TRUE(ok(queue->record(event)));
    ASSERT_TRUE(ok(event->synchronize()));
  }
}

TEST(CudaUri, WhyThereIsNoDeviceIsSaid) {
  if (!standIn())
    GTEST_SKIP() << "faults need the stand-in";
  makeDevice("cuda:0"); // the driver works before
  standIn()->setFault("cuDeviceGetCount", 1, CUDA_ERROR_NOT_INITIALIZED, 0);
  expectNoDevice("cuda:0", XCR_STATUS_INTERNAL, "CUDA_ERROR_NOT_INITIALIZED");
  standIn()->setFault("cuDeviceGetCount", 1, CUDA_ERROR_NOT_INITIALIZED, 0);
  expectNoDevice("cuda:0", XCR_STATUS_INTERNAL, "forked");
  standIn()->clearFaults();
}

TEST(CudaUri, OptionsNeedNoNumber) {
  if (!standIn())
    GTEST_SKIP() << "another driver may have no device";
  EXPECT_TRUE(makeDevice("cuda?launch=stream"));
}

TEST(CudaUri, WrongOnesAreNamed) {
  standIn();
  expectNoDevice("cuda?lunch=graph", XCR_STATUS_INVALID_ARGUMENT, "?launch=");
  expectNoDevice("cuda:", XCR_STATUS_INVALID_ARGUMENT, "expected a number after the colon");
  expectNoDevice("cuda:0?launch=later", XCR_STATUS_INVALID_ARGUMENT, "auto, graph or stream");
  expectNoDevice("cuda:0?lunch=graph", XCR_STATUS_INVALID_ARGUMENT, "?launch=");
  expectNoDevice("cuda:99", XCR_STATUS_NOT_FOUND, "99");
  expectNoDevice("cuda:x", XCR_STATUS_NOT_FOUND, "x");
}

//===----------------------------------------------------------------------===//
// Machine code beside PTX
//===----------------------------------------------------------------------===//

/// main: b = scale(a); its code is \p images, alternatives of one another.
static std::vector<uint8_t> moduleOf(const std::vector<ExecutableSpec> &images) {
  ModuleSpec module = cudaKernelModule();
  module.executables = images;
  FunctionSpec function;
  function.inputs = {{"a", fb::DType::F32, {literal(8)}}};
  function.outputs = {{"b", fb::DType::F32, {literal(8)}}};
  PlanSpec plan;
  VariantSpec variant;
  variant.exportOrdinal = kScale;
  variant.scalars = {literal(8), literal(2), literal(1)};
  plan.dispatch({variant}, {reads(fb::Space::Input, 0, literal(32)),
                            writes(fb::Space::Output, 0, literal(32))});
  function.plans = {plan};
  module.functions = {function};
  return module.finish();
}

static ExecutableSpec ptx(const char *arch) {
  ExecutableSpec code = cudaKernelModule().executables[0];
  code.arch = arch;
  return code;
}

static ExecutableSpec brokenCubin(const char *arch) {
  ExecutableSpec code = ptx(arch);
  code.kind = fb::CodeKind::Cubin;
  code.image = {0x7f, 'E', 'L', 'F', 2, 1, 1, 0};
  return code;
}

static void expectRuns(const std::vector<ExecutableSpec> &images) {
  std::vector<uint8_t> bytes = moduleOf(images);
  Device device = makeDevice("cuda:0");
  ASSERT_TRUE(device);
  Module module = loadModule(bytes);
  Instance instance = makeInstance(device, module);
  ASSERT_TRUE(instance);
  Buffer input = makeBuffer(device, iota(8));
  xcr_buffer_t *inputs[] = {input.get()}, *outputs[] = {nullptr};
  XCR_ASSERT_OK(xcr_invoke(instance.get(), xcr_string("main"), 1, inputs, 1, outputs));
  Buffer output(outputs[0]);
  EXPECT_EQ(read<float>(output.get())[3], 7.0f);
}

TEST(CudaCode, TheDriverRefusesMachineCodeAndTakesPtx) {
  if (!standIn())
    GTEST_SKIP() << "needs the driver stand-in (target cuda_sim)";
  standIn()->resetCallCounts();
  expectRuns({brokenCubin("sm_90"), ptx("sm_70")});
  EXPECT_EQ(standIn()->callCount("cuModuleLoadDataEx"), 2u);
}

TEST(CudaCode, WhatDoesNotFitIsNotTried) {
  if (!standIn())
    GTEST_SKIP() << "needs the driver stand-in (target cuda_sim)";
  standIn()->resetCallCounts();
  expectRuns({brokenCubin("sm_80"), ptx("sm_70"), brokenCubin("sm_120"), ptx("sm_120")});
  EXPECT_EQ(standIn()->callCount("cuModuleLoadDataEx"), 1u);
}

TEST(CudaCode, WithoutAWayOutTheRefusalIsTold) {
  if (!standIn())
    GTEST_SKIP() << "needs the driver stand-in (target cuda_sim)";
  std::vector<uint8_t> bytes = moduleOf({brokenCubin("sm_90")});
  Device device = makeDevice("cuda:0");
  ASSERT_TRUE(device);
  Module module = loadModule(bytes);
  xcr_instance_t *instance = nullptr;
  XCR_EXPECT_FAILS(xcr_instance_create(device.get(), module.get(), nullptr, &instance),
                   XCR_STATUS_INCOMPATIBLE, "cuModuleLoadDataEx");
}

// A plan may give a kernel that takes a workspace none, and no bindings behind which it could lie.
TEST(CudaCode, AWorkspaceOfNoBytesIsGivenAnAddress) {
  if (!standIn())
    GTEST_SKIP() << "needs the driver stand-in (target cuda_sim)";
  const std::string text = ".version 8.0\n.target sm_80\n.address_size 64\n"
                           ".visible .entry k(.param .u64 workspace)\n{\n  ret;\n}\n";
  ModuleSpec spec = cudaKernelModule();
  ExportSpec kernel;
  kernel.name = "k";
  kernel.block = {1, 1, 1};
  kernel.parameters = {{fb::ParameterKind::Workspace, 0}};
  spec.executables = {ptx("sm_80")};
  spec.executables[0].image.assign(text.begin(), text.end());
  spec.executables[0].exports = {kernel};
  FunctionSpec function;
  PlanSpec plan;
  plan.dispatch({VariantSpec()}, {});
  function.plans = {plan};
  spec.functions = {function};
  const std::vector<uint8_t> bytes = spec.finish();
  for (const char *uri : {"cuda:0?launch=graph", "cuda:0?launch=stream"}) {
    Device device = makeDevice(uri);
    ASSERT_TRUE(device);
    Module module = loadModule(bytes);
    Instance instance = makeInstance(device, module);
    ASSERT_TRUE(instance);
    for (int i = 0; i < 2; ++i)
      XCR_EXPECT_OK(xcr_invoke(instance.get(), xcr_string("main"), 0, nullptr, 0, nullptr));
  }
}

TEST(CudaCode, ParametersThatTheCodeDoesNotHaveAreNamed) {
  Device device = makeDevice(("cuda:" + std::to_string(cudaOrdinal())).c_str());
  if (!device)
    GTEST_SKIP() << "there is no device";
  const cuda::Symbols *cu = nullptr;
  XCR_ASSERT_OK(cuda::loadSymbols(HostAllocator(), &cu).release());
  if (!cu->cuFuncGetParamInfo)
    GTEST_SKIP() << "the driver does not tell what a kernel takes";
  auto expectRefusal = [&](void (*change)(std::vector<fb::Parameter> &), const char *message) {
    ModuleSpec spec = cudaScenarioModule();
    change(spec.executables[0].exports[kAdd].parameters);
    std::vector<uint8_t> bytes = spec.finish();
    Module module = loadModule(bytes);
    xcr_instance_t *instance = nullptr;
    XCR_EXPECT_FAILS(xcr_instance_create(device.get(), module.get(), nullptr, &instance),
                     XCR_STATUS_CORRUPT, message);
  };
  // void add(f32 *x, f32 *y, f32 *z, i64 n)
  using Parameters = std::vector<fb::Parameter>;
  expectRefusal([](Parameters &list) { list.pop_back(); },
                "the module describes 3 parameters, the code has more than 3");
  expectRefusal([](Parameters &list) { list.push_back(list[0]); },
                "the module describes 5 parameters, the code has 4");
  expectRefusal([](Parameters &list) { list[3] = fb::Parameter(fb::ParameterKind::ScalarI32, 0); },
                "the module describes parameter 3 as 4 bytes, the code takes 8 (at byte 24)");
}
