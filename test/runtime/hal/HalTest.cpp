//===- HalTest.cpp - The suite that every HAL driver passes --------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/runtime/hal/HalTest.h"

#include "runtime/hal/driver.h"

using namespace xc;
using namespace xc::test;

std::string xc::test::backendName(const ::testing::TestParamInfo<Backend> &info) {
  return info.param.name;
}

void xc::test::PrintTo(const Backend &backend, std::ostream *stream) { *stream << backend.name; }

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

hal::Command &TestPlan::add(hal::CommandKind kind, std::vector<uint64_t> bindings,
                            std::vector<uint32_t> after) {
  hal::Command command;
  command.kind = kind;
  command.edges = {static_cast<uint32_t>(edges.size()), static_cast<uint32_t>(after.size())};
  command.addresses = {static_cast<uint32_t>(addresses.size()),
                       static_cast<uint32_t>(bindings.size())};
  edges.insert(edges.end(), after.begin(), after.end());
  addresses.insert(addresses.end(), bindings.begin(), bindings.end());
  commands.push_back(command);
  return commands.back();
}

uint32_t TestPlan::dispatch(hal::Executable *code, Kernel kernel, std::vector<uint64_t> bindings,
                            std::vector<int64_t> values, uint32_t x, uint32_t y, uint32_t z,
                            std::vector<uint32_t> after) {
  hal::Command &command = add(hal::CommandKind::Dispatch, bindings, after);
  command.executable = code;
  command.exportOrdinal = kernel;
  command.grid[0] = x;
  command.grid[1] = y;
  command.grid[2] = z;
  command.isEmpty = x == 0 || y == 0 || z == 0;
  command.scalars = {static_cast<uint32_t>(scalars.size()), static_cast<uint32_t>(values.size())};
  scalars.insert(scalars.end(), values.begin(), values.end());
  return static_cast<uint32_t>(commands.size()) - 1;
}

uint32_t TestPlan::copy(uint64_t source, uint64_t target, uint64_t length,
                        std::vector<uint32_t> after) {
  hal::Command &command = add(hal::CommandKind::Copy, {source, target}, after);
  command.length = length;
  command.bytes = 2 * length;
  command.isEmpty = length == 0;
  return static_cast<uint32_t>(commands.size()) - 1;
}

uint32_t TestPlan::fill(uint64_t target, uint64_t length, uint64_t pattern, uint8_t patternSize,
                        std::vector<uint32_t> after) {
  hal::Command &command = add(hal::CommandKind::Fill, {target}, after);
  command.length = length;
  command.bytes = length;
  command.pattern = pattern;
  command.patternSize = patternSize;
  command.isEmpty = length == 0;
  return static_cast<uint32_t>(commands.size()) - 1;
}

uint32_t TestPlan::control(bool isLoop, uint64_t condition, uint32_t first, uint32_t second,
                           std::vector<uint32_t> after) {
  hal::Command &command = add(hal::CommandKind::Control, {condition}, after);
  command.isLoop = isLoop;
  command.regions[0] = first;
  command.regions[1] = second;
  return static_cast<uint32_t>(commands.size()) - 1;
}

void TestPlan::endRegion() {
  uint32_t begin = regions.empty() ? 0 : regions.back().begin + regions.back().count;
  regions.push_back({begin, static_cast<uint32_t>(commands.size()) - begin});
}

hal::CommandList TestPlan::list() const {
  return {{commands.data(), commands.size()},
          {edges.data(), edges.size()},
          {addresses.data(), addresses.size()},
          {scalars.data(), scalars.size()},
          {regions.data(), regions.size()}};
}

//===----------------------------------------------------------------------===//
// Fixture
//===----------------------------------------------------------------------===//

void HalTest::SetUp() {
  hal::DeviceOptions options;
  Status status = hal::createDevice(xcr_string(GetParam().uri), options, &device);
  if (status.code() == XCR_STATUS_NOT_FOUND)
    GTEST_SKIP() << status.message().data;
  ASSERT_TRUE(ok(std::move(status)));
  moduleBytes = GetParam().module().finish();
  ASSERT_TRUE(ok(xcr_module::loadMemory(HostAllocator(), {moduleBytes.data(), moduleBytes.size()},
                                        0, &module)));
  const fb::Executable &table = *module->tables().executables()->Get(0);
  Span<const uint8_t> image;
  ASSERT_TRUE(ok(module->image(0, &image)));
  ASSERT_TRUE(ok(device->loadExecutable(table, image, &code)));
}

Ref<hal::Memory> HalTest::allocate(uint64_t size) {
  Ref<hal::Memory> memory;
  EXPECT_TRUE(ok(device->allocate(size, &memory)));
  return memory;
}

Ref<hal::Recording> HalTest::record(const TestPlan &plan, bool profile) {
  Ref<hal::Recording> recording;
  hal::RecordingOptions options;
  options.profile = profile;
  EXPECT_TRUE(ok(device->createRecording(plan.list(), options, &recording)));
  return recording;
}

Ref<hal::Stream> HalTest::stream() {
  Ref<hal::Stream> result;
  EXPECT_TRUE(ok(device->createStream(&result)));
  if (result)
    result->owner = device;
  return result;
}

Ref<hal::Event> HalTest::event() {
  Ref<hal::Event> result;
  EXPECT_TRUE(ok(device->createEvent(&result)));
  if (result)
    result->owner = device;
  return result;
}

void HalTest::run(hal::Recording &recording) {
  Ref<hal::Stream> queue = stream();
  ASSERT_TRUE(
      ok(queue->launch(Ref<hal::Recording>::share(&recording), 0, hal::LaunchMode::Awaited)));
  ASSERT_TRUE(ok(queue->synchronize()));
}
