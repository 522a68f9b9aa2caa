//===- MemoryTest.cpp - Allocation, fills and copies of every HAL driver -===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/runtime/hal/HalTest.h"

#include <cstring>

using namespace xc;
using namespace xc::test;

namespace {
class MemoryTest : public HalTest {
protected:
  void expectStreamFill(hal::Stream &queue, size_t offset, size_t count, uint8_t patternSize);
};
} // namespace
INSTANTIATE_TEST_SUITE_P(Hal, MemoryTest, ::testing::ValuesIn(backends()), backendName);

TEST_P(MemoryTest, AllocationsAreAlignedAndCounted) {
  uint64_t before = device->counter.bytesInUse();
  {
    std::vector<Ref<hal::Memory>> memories;
    for (uint64_t size : {1u, 63u, 64u, 65u, 4096u, 5u << 20}) {
      memories.push_back(allocate(size));
      EXPECT_EQ(memories.back()->address() % 64, 0u) << size;
      EXPECT_EQ(memories.back()->size(), size);
    }
    EXPECT_GE(device->counter.bytesInUse(), before + (5u << 20) + 4096);
    EXPECT_GE(device->counter.bytesPeak(), device->counter.bytesInUse());
  }
  EXPECT_EQ(device->counter.bytesInUse(), before);
  EXPECT_GE(device->counter.bytesPeak(), before + (5u << 20));
  device->counter.resetPeak();
  EXPECT_EQ(device->counter.bytesPeak(), before);
}

TEST_P(MemoryTest, ZeroBytesAreAnAllocation) {
  Ref<hal::Memory> memory = allocate(0);
  ASSERT_TRUE(memory);
  EXPECT_EQ(memory->size(), 0u);
  EXPECT_EQ(memory->address() % 64, 0u);
  EXPECT_TRUE(ok(device->write(*memory, 0, nullptr, 0)));
  EXPECT_TRUE(ok(device->read(*memory, 0, nullptr, 0)));
}

TEST_P(MemoryTest, MoreThanThereIsIsOutOfMemoryWithBytes) {
  Ref<hal::Memory> memory;
  uint64_t asked = uint64_t(1) << 50;
  Status status = device->allocate(asked, &memory);
  EXPECT_EQ(status.code(), XCR_STATUS_OUT_OF_MEMORY);
  uint64_t bytesAsked = 0, bytesAvailable = 0;
  EXPECT_TRUE(xcr_status_memory(status.get(), &bytesAsked, &bytesAvailable));
  EXPECT_GE(bytesAsked, asked);
  EXPECT_LT(bytesAvailable, asked);
  EXPECT_FALSE(memory);
  // The device is as good as before.
  EXPECT_TRUE(allocate(1000));
}

TEST_P(MemoryTest, WritesAndReadsParts) {
  Ref<hal::Memory> memory = upload(std::vector<uint8_t>(100, 7));
  uint8_t part[5] = {1, 2, 3, 4, 5};
  ASSERT_TRUE(ok(device->write(*memory, 33, part, 5)));
  uint8_t back[7] = {};
  ASSERT_TRUE(ok(device->read(*memory, 32, back, 7)));
  const uint8_t expected[7] = {7, 1, 2, 3, 4, 5, 7};
  EXPECT_EQ(memcmp(back, expected, 7), 0);
}

/// What a fill should leave: \p pattern over [begin, begin + size), 0xEE around.
static std::vector<uint8_t> filled(size_t total, size_t begin, size_t size, uint64_t pattern,
                                   size_t patternSize) {
  std::vector<uint8_t> bytes(total, 0xEE);
  for (size_t i = 0; i < size; ++i)
    bytes[begin + i] = static_cast<uint8_t>(pattern >> (8 * (i % patternSize)));
  return bytes;
}

/// Fills \p count patterns at \p offset by a stream, and looks at what lies around, too.
void MemoryTest::expectStreamFill(hal::Stream &queue, size_t offset, size_t count,
                                  uint8_t patternSize) {
  const uint64_t pattern = 0x8877665544332211;
  size_t size = count * patternSize, total = offset + size + 32;
  Ref<hal::Memory> memory = upload(std::vector<uint8_t>(total, 0xEE));
  ASSERT_TRUE(ok(queue.fill(memory, offset, size, pattern, patternSize)));
  ASSERT_TRUE(ok(queue.synchronize()));
  EXPECT_EQ(download<uint8_t>(*memory, total), filled(total, offset, size, pattern, patternSize))
      << "pattern of " << int(patternSize) << ", " << size << " at " << offset;
}

TEST_P(MemoryTest, StreamFillsLeaveTheRestAlone) {
  Ref<hal::Stream> queue = stream();
  for (uint8_t patternSize : {1, 2, 4, 8})
    for (size_t begin : {0, 1, 3, 17})
      for (size_t count : {0, 1, 3, 31, 1001})
        ASSERT_NO_FATAL_FAILURE(expectStreamFill(*queue, begin * patternSize, count, patternSize));
}

/// Also within what is stored at a time.
TEST_P(MemoryTest, FillsBeginAnywhere) {
  Ref<hal::Stream> queue = stream();
  for (uint8_t patternSize : {2, 4, 8})
    for (size_t offset : {1, 6, 15, 16, 23})
      for (size_t count : {1, 2, 5, 1003})
        ASSERT_NO_FATAL_FAILURE(expectStreamFill(*queue, offset, count, patternSize));
}

TEST_P(MemoryTest, RecordedFillsLeaveTheRestAlone) {
  const uint64_t pattern = 0x8877665544332211;
  for (uint8_t patternSize : {1, 2, 4, 8})
    for (size_t begin : {0, 1, 5})
      for (size_t count : {1, 7, 130, 70001}) {
        size_t offset = begin * patternSize, size = count * patternSize;
        size_t total = offset + size + 32;
        Ref<hal::Memory> memory = upload(std::vector<uint8_t>(total, 0xEE));
        TestPlan plan;
        plan.fill(memory->address() + offset, size, pattern, patternSize);
        run(plan);
        EXPECT_EQ(download<uint8_t>(*memory, total),
                  filled(total, offset, size, pattern, patternSize))
            << "pattern of " << int(patternSize) << ", " << size << " at " << offset;
      }
}

TEST_P(MemoryTest, CopiesOfAnySizeAndOffset) {
  Ref<hal::Stream> queue = stream();
  for (size_t size : {0, 1, 7, 64, 1000, 1 << 20})
    for (size_t offset : {0, 1, 13}) {
      std::vector<uint8_t> data(size + offset);
      for (size_t i = 0; i < data.size(); ++i)
        data[i] = static_cast<uint8_t>(i * 31 + 5);
      Ref<hal::Memory> source = upload(data);
      std::vector<uint8_t> empty(size + 16, 0xEE);
      Ref<hal::Memory> byStream = upload(empty), byPlan = upload(empty);
      ASSERT_TRUE(ok(queue->copy(source, offset, byStream, 3, size)));
      TestPlan plan;
      plan.copy(source->address() + offset, byPlan->address() + 3, size);
      run(plan);
      ASSERT_TRUE(ok(queue->synchronize()));
      std::vector<uint8_t> expected = empty;
      std::copy(data.begin() + static_cast<long>(offset), data.end(), expected.begin() + 3);
      EXPECT_EQ(download<uint8_t>(*byStream, expected.size()), expected);
      EXPECT_EQ(download<uint8_t>(*byPlan, expected.size()), expected);
    }
}

TEST_P(MemoryTest, StreamReadsAndWritesAreInOrder) {
  Ref<hal::Stream> queue = stream();
  Ref<hal::Memory> memory = upload(std::vector<uint8_t>(64, 0));
  std::vector<uint8_t> first(64, 1), second(64, 2), seen(64), last(64);
  ASSERT_TRUE(ok(queue->write(memory, 0, first.data(), 64)));
  ASSERT_TRUE(ok(queue->read(memory, 0, seen.data(), 64)));
  ASSERT_TRUE(ok(queue->write(memory, 0, second.data(), 64)));
  ASSERT_TRUE(ok(queue->read(memory, 0, last.data(), 64)));
  ASSERT_TRUE(ok(queue->synchronize()));
  EXPECT_EQ(seen, first);
  EXPECT_EQ(last, second);
}

TEST_P(MemoryTest, ArenaKeepsItsBaseWhileItGrows) {
  Ref<hal::Stream> queue = stream();
  uint64_t first = 0, second = 0;
  Ref<hal::Memory> holder;
  ASSERT_TRUE(ok(queue->reserveArena(1000, &first, &holder)));
  ASSERT_TRUE(ok(queue->reserveArena(40 << 20, &second, &holder)));
  EXPECT_EQ(first, second);
  EXPECT_GE(device->counter.bytesArena(), uint64_t(40) << 20);
  TestPlan plan;
  Ref<hal::Memory> out = allocate(16);
  uint64_t end = first + (40 << 20) - 16;
  uint32_t fill = plan.fill(end, 16, 0x5a, 1);
  plan.copy(end, out->address(), 16, {fill});
  ASSERT_TRUE(ok(queue->launch(record(plan), 40 << 20, hal::LaunchMode::Awaited)));
  ASSERT_TRUE(ok(queue->synchronize()));
  EXPECT_EQ(download<uint8_t>(*out, 16), std::vector<uint8_t>(16, 0x5a));
}

TEST_P(MemoryTest, TrimGivesTheArenaBackAndALaunchGetsItAgain) {
  Ref<hal::Stream> queue = stream();
  uint64_t base = 0;
  Ref<hal::Memory> holder;
  ASSERT_TRUE(ok(queue->reserveArena(1 << 20, &base, &holder)));
  TestPlan plan;
  Ref<hal::Memory> out = allocate(16);
  uint32_t fill = plan.fill(base, 16, 0x33, 1);
  plan.copy(base, out->address(), 16, {fill});
  Ref<hal::Recording> recording = record(plan);
  ASSERT_TRUE(ok(device->trim()));
  EXPECT_EQ(device->counter.bytesArena(), 0u);
  ASSERT_TRUE(ok(queue->launch(recording, 1 << 20, hal::LaunchMode::Awaited)));
  ASSERT_TRUE(ok(queue->synchronize()));
  EXPECT_EQ(download<uint8_t>(*out, 16), std::vector<uint8_t>(16, 0x33));
}

TEST_P(MemoryTest, TransientBuffersOfTwoStreamsAreApart) {
  const uint64_t bytes = 4096;
  Ref<hal::Stream> queues[2] = {stream(), stream()};
  Ref<hal::Memory> outs[2] = {allocate(bytes), allocate(bytes)}, holders[2];
  for (uint32_t i = 0; i < 2; ++i) {
    uint64_t base = 0;
    ASSERT_TRUE(ok(queues[i]->reserveArena(bytes, &base, &holders[i])));
    TestPlan plan;
    uint32_t fill = plan.fill(base, bytes, 0x11 + i, 1);
    plan.copy(base, outs[i]->address(), bytes, {fill});
    Ref<hal::Recording> recording = record(plan);
    for (int launch = 0; launch < 20; ++launch)
      ASSERT_TRUE(ok(queues[i]->launch(recording, bytes, hal::LaunchMode::Asynchronous)));
  }
  for (uint32_t i = 0; i < 2; ++i) {
    ASSERT_TRUE(ok(queues[i]->synchronize()));
    EXPECT_EQ(download<uint8_t>(*outs[i], bytes),
              std::vector<uint8_t>(bytes, static_cast<uint8_t>(0x11 + i)));
  }
}

TEST_P(MemoryTest, ImportedMemoryIsUsedInPlace) {
  Ref<hal::Memory> owner = upload(std::vector<uint8_t>(256, 0xEE)), imported;
  uint64_t before = device->counter.bytesInUse();
  ASSERT_TRUE(ok(device->import(reinterpret_cast<void *>(owner->address() + 64), 128, &imported)));
  EXPECT_EQ(imported->address(), owner->address() + 64);
  EXPECT_EQ(device->counter.bytesInUse(), before);
  Ref<hal::Stream> queue = stream();
  ASSERT_TRUE(ok(queue->fill(imported, 0, 128, 0x77, 1)));
  ASSERT_TRUE(ok(queue->synchronize()));
  imported = Ref<hal::Memory>();
  std::vector<uint8_t> expected(256, 0xEE);
  std::fill(expected.begin() + 64, expected.begin() + 192, 0x77);
  EXPECT_EQ(download<uint8_t>(*owner, 256), expected);
}
