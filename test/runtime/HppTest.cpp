//===- HppTest.cpp - xcr.hpp with exceptions ------------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "xcr/xcr.hpp"

#include "test/runtime/XcrTest.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <unistd.h>
#if __cplusplus >= 202002L
#include <span>
#endif

using namespace xc::test;
using xc::fb::DType;

#ifdef XCR_NO_EXCEPTIONS
#error "this file is about exceptions"
#endif

namespace {
class HppTest : public ::testing::Test {
protected:
  /// Bytes of a module that outlive every object made of them.
  xcr::Instance make(const ModuleSpec &spec, const xcr::Parameters &parameters = {}) {
    bytes = spec.finish();
    return xcr::Instance::create(xcr::Device::open("cpu:2"),
                                 xcr::Module::loadMemory({asBytes(), bytes.size()}), parameters);
  }
  const std::byte *asBytes() const { return reinterpret_cast<const std::byte *>(bytes.data()); }

  std::vector<uint8_t> bytes;
};
} // namespace

#define EXPECT_ERROR(expression, wanted, part)                                                     \
  try {                                                                                            \
    (void)(expression);                                                                            \
    ADD_FAILURE() << "expected an error with '" << (part) << "'";                                  \
  } catch (const xcr::Error &error) {                                                              \
    EXPECT_EQ(error.code(), wanted) << error.what();                                               \
    EXPECT_NE(strstr(error.what(), part), nullptr) << error.what();                                \
  }

TEST_F(HppTest, DynamicBatch) {
  xcr::Call call = make(addModule()).call();
  for (int64_t n : {4, 1, 300}) {
    std::vector<float> x = iota(size_t(n)), ones(size_t(n), 1.0f);
    call.setInput("x", x, {n});
    call.setInput("y", ones, {n});
    EXPECT_EQ(call.outputShape("z"), std::vector<int64_t>{n});
    call.run();
    EXPECT_EQ(call.output("z").read<float>(), iota(size_t(n), 1));
  }
  EXPECT_EQ(call.statistics().launches, 3u);
}

TEST_F(HppTest, LoadsFiles) {
  std::string path = ::testing::TempDir() + "xcr-hpp-" + std::to_string(getpid()) + ".vmfb";
  bytes = addModule().finish();
  FILE *file = fopen(path.c_str(), "wb");
  fwrite(bytes.data(), 1, bytes.size(), file);
  fclose(file);
  xcr::Instance instance = xcr::Instance::load(path, "cpu:1");
  unlink(path.c_str());
  EXPECT_EQ(instance.module().info().function_count, 1u);
  EXPECT_NE(instance.device().description().find("thread"), std::string_view::npos);
  EXPECT_ERROR(xcr::Instance::load(path, "cpu"), XCR_STATUS_NOT_FOUND, "cannot open '");
  EXPECT_ERROR(xcr::Instance::load(path, "tpu"), XCR_STATUS_NOT_FOUND, "tpu");
}

TEST_F(HppTest, Names) {
  xcr::Instance instance = make(addModule());
  xcr::Call call = instance.call("main");
  std::vector<float> four = iota(4);
  EXPECT_ERROR(call.setInput("w", four, {4}), XCR_STATUS_NOT_FOUND,
               "no input 'w'; the function has: 'x', 'y'");
  EXPECT_ERROR(call.output("w"), XCR_STATUS_NOT_FOUND, "no output 'w'; the function has: 'z'");
  EXPECT_ERROR(instance.call("mane"), XCR_STATUS_NOT_FOUND, "mane");
  EXPECT_ERROR(call.output("z"), XCR_STATUS_FAILED_PRECONDITION, "after the first launch");
  EXPECT_ERROR(call.run(), XCR_STATUS_FAILED_PRECONDITION, "");
  EXPECT_ERROR(call.setInput("x", four, {5}), XCR_STATUS_INVALID_ARGUMENT, "");
  EXPECT_ERROR(call.setInput("x", std::vector<int>{1}, {1}), XCR_STATUS_INVALID_ARGUMENT, "f32");
}

TEST_F(HppTest, StreamsAndEvents) {
  xcr::Instance instance = make(addModule());
  xcr::Device device = instance.device();
  xcr::Stream stream = xcr::Stream::create(device), other = xcr::Stream::create(device);
  xcr::Event event = xcr::Event::create(device);
  xcr::Call first = instance.call(), second = instance.call();
  xcr::Buffer sum = xcr::Buffer::create(device, XCR_DTYPE_F32, {4});
  first.setInput("x", iota(4), {4});
  first.setInput("y", iota(4), {4});
  first.setOutput("z", sum);
  second.setInput("x", sum);
  second.setInput("y", sum);
  first.launch(stream);
  stream.record(event);
  other.wait(event);
  second.launch(other);
  std::atomic<int> told{-1};
  other.onDone([&told](bool failed) { told = failed; });
  other.synchronize();
  stream.synchronize();
  EXPECT_TRUE(event.isDone());
  EXPECT_TRUE(other.isDone());
  EXPECT_EQ(told, 0);
  EXPECT_EQ(second.output("z").read<float>(), (std::vector<float>{0, 4, 8, 12}));
}

TEST_F(HppTest, BuffersOfManyKinds) {
  xcr::Device device = xcr::Device::open("cpu:1");
  std::array<int32_t, 6> numbers = {1, 2, 3, 4, 5, 6};
  xcr::Buffer copied = xcr::Buffer::copy(device, numbers, {2, 3});
  EXPECT_EQ(copied.dtype(), XCR_DTYPE_I32);
  EXPECT_EQ(std::vector<int64_t>(copied.shape().begin(), copied.shape().end()),
            (std::vector<int64_t>{2, 3}));
  xcr::Buffer wrapped = xcr::Buffer::wrap(device, numbers, {6});
  numbers[0] = 10;
  EXPECT_EQ(wrapped.read<int32_t>()[0], 10);
  EXPECT_EQ(copied.read<int32_t>()[0], 1);
  EXPECT_EQ(wrapped.span<int32_t>().data(), numbers.data());
  wrapped.write(std::vector<int32_t>(6, 3));
  EXPECT_EQ(numbers[5], 3);
  int32_t some[6];
  copied.view(XCR_DTYPE_I32, {6}).readTo(some);
  EXPECT_EQ(some[5], 6);
  bool truths[2] = {true, false};
  EXPECT_EQ(xcr::Buffer::copy(device, truths, {2}).read<uint8_t>(), (std::vector<uint8_t>{1, 0}));
  xcr::Buffer halves = xcr::Buffer::create(device, XCR_DTYPE_BF16, {2});
  halves.write(std::vector<uint16_t>{0x3f80, 0x4000});
  EXPECT_EQ(halves.read<uint16_t>()[1], 0x4000);
  EXPECT_ERROR(halves.read<float>(), XCR_STATUS_INVALID_ARGUMENT,
               "elements of type bf16, asked for were f32");
  EXPECT_ERROR(copied.readTo(std::array<int32_t, 5>().data() ? xcr::Span<int32_t>(some, 5)
                                                             : xcr::Span<int32_t>()),
               XCR_STATUS_INVALID_ARGUMENT, "has 6 elements, got 5");
  xcr::Buffer scalar = xcr::Buffer::copy(device, xcr::Span<const double>({2.5}), {});
  EXPECT_EQ(scalar.read<double>(), std::vector<double>{2.5});
}

TEST_F(HppTest, HandlesMoveAndShare) {
  static_assert(!std::is_copy_constructible_v<xcr::Buffer>);
  static_assert(std::is_nothrow_move_constructible_v<xcr::Buffer>);
  xcr::Device device = xcr::Device::open("cpu:1");
  xcr::Buffer one = xcr::Buffer::copy(device, iota(2), {2}), empty;
  EXPECT_FALSE(empty);
  xcr::Buffer second = one.share();
  EXPECT_EQ(second.get(), one.get());
  empty = std::move(one);
  EXPECT_EQ(empty.get(), second.get());
  empty = xcr::Buffer();
  EXPECT_EQ(second.read<float>(), iota(2));
}

TEST_F(HppTest, ThreadsWithACallEach) {
  xcr::Instance instance = make(addModule());
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      xcr::Call call = instance.call();
      call.setInput("x", iota(100, float(i)), {100});
      call.setInput("y", std::vector<float>(100, 1), {100});
      call.run();
      right += call.output("z").read<float>() == iota(100, float(i + 1));
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(right, 4);
}

TEST_F(HppTest, VariablesAndCheckpoints) {
  ModuleSpec spec = addModule();
  spec.variables = {{"state", DType::F32, {2}}};
  xcr::Instance instance = make(spec);
  std::string path = ::testing::TempDir() + "xcr-hpp-" + std::to_string(getpid()) + ".safetensors";
  instance.variable("state").write(iota(2, 5));
  instance.saveVariables(path);
  instance.setVariable("state", xcr::Buffer::copy(instance.device(), iota(2), {2}));
  EXPECT_EQ(instance.variable("state").read<float>(), iota(2));
  instance.restoreVariables(path);
  EXPECT_EQ(instance.variable("state").read<float>(), iota(2, 5));
  unlink(path.c_str());
  EXPECT_ERROR(instance.restoreVariables(path), XCR_STATUS_NOT_FOUND, "cannot open '");
  EXPECT_ERROR(instance.variable("stat"), XCR_STATUS_NOT_FOUND, "the module has: 'state'");
}

TEST_F(HppTest, ParametersFromMemory) {
  ModuleSpec spec = kernelModule();
  spec.parameters = {{"w", "w", DType::F32, {4}}};
  spec.variables = {{"v", DType::F32, {4}, -1, 0}};
  std::string text = R"({"w":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}})";
  std::vector<std::byte> file(8 + text.size() + 16);
  uint64_t length = text.size();
  memcpy(file.data(), &length, 8);
  memcpy(file.data() + 8, text.data(), text.size());
  memcpy(file.data() + 8 + text.size(), iota(4, 7).data(), 16);
  xcr::Instance instance = make(spec, xcr::Parameters().memory("w", file));
  EXPECT_EQ(instance.variable("v").read<float>(), iota(4, 7));
  EXPECT_ERROR(make(spec, xcr::Parameters().file("w", "/nowhere/w.npy")), XCR_STATUS_NOT_FOUND,
               "cannot open '/nowhere/w.npy'");
}

TEST_F(HppTest, Spans) {
  std::vector<float> values = iota(3);
  xcr::Span<float> span = values;
  span[1] = 9;
  xcr::Span<const float> constant = span;
  EXPECT_EQ(constant[1], 9);
  EXPECT_EQ(constant.size_bytes(), 12u);
  static_assert(!std::is_constructible_v<xcr::Span<float>, const std::vector<float> &>);
  static_assert(!std::is_constructible_v<xcr::Span<double>, std::vector<float> &>);
#if __cplusplus >= 202002L
  std::span<const float> standard(constant.begin(), constant.end());
  EXPECT_EQ(xcr::Span<const float>(standard).data(), values.data());
#endif
}
