//===- CaptureControlTest.cpp - Ifs and whiles in somebody's graph --------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/runtime/cuda/NativeStreamTest.h"

using namespace xc;
using namespace xc::test;
using hal::LaunchMode;

namespace {

/// A program that captures its stream, and plans with control on it.
class CaptureControlTest : public NativeStreamTest {
protected:
  void SetUp() override {
    NativeStreamTest::SetUp();
    if (!native)
      return;
    ASSERT_TRUE(ok(device->importStream(native, &captured)));
    captured->owner = device;
    counter = upload(std::vector<float>{0});
  }
  void letGo() override {
    if (exec)
      EXPECT_EQ(cu->cuGraphExecDestroy(exec), CUDA_SUCCESS);
    if (graph)
      EXPECT_EQ(cu->cuGraphDestroy(graph), CUDA_SUCCESS);
    captured = Ref<hal::Stream>();
  }

  bool canCapture() const { return cu->driverVersion >= 12080; }
  void begin() {
    ASSERT_EQ(cu->cuStreamBeginCapture(native, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
  }
  void end() {
    auto endCapture = driverCall<CUresult(CUstream, CUgraph *)>("cuStreamEndCapture");
    ASSERT_EQ(endCapture(native, &graph), CUDA_SUCCESS);
    ASSERT_EQ(cu->cuGraphInstantiate(&exec, graph, 0), CUDA_SUCCESS);
  }
  void launchGraph() {
    ASSERT_EQ(cu->cuGraphLaunch(exec, native), CUDA_SUCCESS);
    ASSERT_EQ(cu->cuStreamSynchronize(native), CUDA_SUCCESS);
  }
  void capture(hal::Recording &recording) {
    ASSERT_TRUE(
        ok(captured->launch(Ref<hal::Recording>::share(&recording), 0, LaunchMode::Asynchronous)));
  }
  void write(hal::Memory &memory, float value) {
    ASSERT_TRUE(ok(device->write(memory, 0, &value, 4)));
  }
  float sumAt100() { return download<float>(*sum, 256)[100]; }

  /// while (counter != 0) { sum += values; counter -= 1; }
  Ref<hal::Recording> countdown() {
    TestPlan plan;
    plan.control(/*isLoop=*/true, test->address() + kTopByte, 1, 2);
    plan.endRegion();
    plan.copy(counter->address(), test->address(), 4);
    plan.endRegion();
    plan.dispatch(code.get(), kAccumulate, {sum->address(), values->address()}, {256});
    plan.dispatch(code.get(), kScale, {counter->address(), counter->address()}, {1, 1, -1});
    plan.endRegion();
    return record(plan);
  }
  /// sum = sum * factor + bias.
  Ref<hal::Recording> scale(int64_t factor, int64_t bias) {
    TestPlan plan;
    plan.dispatch(code.get(), kScale, {sum->address(), sum->address()}, {256, factor, bias});
    return record(plan);
  }

  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  Ref<hal::Stream> captured;
  Ref<hal::Memory> counter;
};

} // namespace
INSTANTIATE_TEST_SUITE_P(Cuda, CaptureControlTest, ::testing::ValuesIn(backends()), backendName);

TEST_P(CaptureControlTest, ALoopIsDecidedWhereTheGraphRuns) {
  Ref<hal::Recording> before = scale(0, 1), loop = countdown(), after = scale(10, 0);
  begin();
  if (!canCapture()) {
    XCR_EXPECT_FAILS(captured->launch(loop, 0, LaunchMode::Asynchronous).release(),
                     XCR_STATUS_FAILED_PRECONDITION, "(12.8 is the first that can)");
    return end();
  }
  capture(*before);
  capture(*loop);
  capture(*after);
  end();
  EXPECT_EQ(sumAt100(), 0) << "nothing runs before the graph does";
  // Neither the call nor its recording is needed any more.
  before = loop = after = Ref<hal::Recording>();
  for (float times : {3.0f, 0.0f, 5.0f}) {
    write(*counter, times);
    launchGraph();
    EXPECT_EQ(sumAt100(), 10 * (1 + 100 * times));
  }
}

TEST_P(CaptureControlTest, AnIfFirstAndLastInItsGraph) {
  if (!canCapture())
    GTEST_SKIP() << "drivers before 12.8 have no such nodes";
  TestPlan plan;
  plan.control(/*isLoop=*/false, counter->address() + kTopByte, 1, 2);
  plan.endRegion();
  plan.dispatch(code.get(), kScale, {values->address(), sum->address()}, {256, 2, 0});
  plan.endRegion();
  plan.copy(values->address(), sum->address(), 1024);
  plan.endRegion();
  Ref<hal::Recording> choice = record(plan);
  begin();
  capture(*choice);
  end();
  for (float byte : {1.0f, 0.0f, 1.0f}) {
    write(*counter, byte);
    launchGraph();
    EXPECT_EQ(sumAt100(), byte ? 200 : 100);
  }
}

TEST_P(CaptureControlTest, OneLoopBehindAnother) {
  if (!canCapture())
    GTEST_SKIP() << "drivers before 12.8 have no such nodes";
  Ref<hal::Recording> loop = countdown();
  Ref<hal::Memory> two = upload(std::vector<float>{2});
  TestPlan reset;
  reset.copy(two->address(), counter->address(), 4);
  Ref<hal::Recording> setCounter = record(reset);
  begin();
  capture(*loop);
  capture(*setCounter);
  capture(*loop);
  end();
  write(*counter, 1);
  launchGraph();
  EXPECT_EQ(sumAt100(), 300);
}

TEST_P(CaptureControlTest, AnEventTakesALoopToAnotherStream) {
  if (!canCapture())
    GTEST_SKIP() << "drivers before 12.8 have no such nodes";
  Ref<hal::Recording> loop = countdown(), after = scale(3, 0);
  Ref<hal::Stream> other = stream();
  Ref<hal::Event> fork = event(), join = event();
  begin();
  ASSERT_TRUE(ok(captured->record(fork)));
  ASSERT_TRUE(ok(other->wait(fork)));
  ASSERT_TRUE(ok(other->launch(loop, 0, LaunchMode::Asynchronous)));
  ASSERT_TRUE(ok(other->record(join)));
  ASSERT_TRUE(ok(captured->wait(join)));
  capture(*after);
  end();
  write(*counter, 2);
  launchGraph();
  EXPECT_EQ(sumAt100(), 600);
  // The stream works as before.
  write(*counter, 1);
  ASSERT_TRUE(ok(other->launch(loop, 0, LaunchMode::Asynchronous)));
  ASSERT_TRUE(ok(other->synchronize()));
  EXPECT_EQ(sumAt100(), 700);
}
