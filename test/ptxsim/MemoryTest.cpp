//===- MemoryTest.cpp - What the simulator knows of memory ----------------===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fixture.h"

using namespace xc::ptxsim;

TEST(MemoryRanges, DoNotOverlap) {
  Memory memory;
  EXPECT_TRUE(memory.registerRange(0x1000, 0x100, "a"));
  EXPECT_FALSE(memory.registerRange(0x10ff, 1, "b"));
  EXPECT_FALSE(memory.registerRange(0xf01, 0x100, "b"));
  EXPECT_FALSE(memory.registerRange(0x1000, 0x100, "b"));
  EXPECT_FALSE(memory.registerRange(0x3000, 0, "empty"));
  EXPECT_FALSE(memory.registerRange(~0ull - 15, 32, "wraps"));
  EXPECT_TRUE(memory.registerRange(0x1100, 0x100, "b"));
  EXPECT_EQ(memory.liveBytes(), 0x200u);
  EXPECT_FALSE(memory.unregisterRange(0x1001));
  EXPECT_TRUE(memory.unregisterRange(0x1000));
  EXPECT_FALSE(memory.unregisterRange(0x1000));
  EXPECT_EQ(memory.liveBytes(), 0x100u);
}

TEST(MemoryRanges, RememberWhatWasFreed) {
  Memory memory;
  memory.registerRange(0x1000, 0x100, "first");
  memory.unregisterRange(0x1000);
  RangeInfo info = memory.lookup(0x1080);
  EXPECT_TRUE(info.found);
  EXPECT_FALSE(info.live);
  EXPECT_EQ(info.tag, "first");
  memory.registerRange(0x1040, 0x10, "second");
  EXPECT_TRUE(memory.lookup(0x1048).live);
  EXPECT_FALSE(memory.lookup(0x1080).found) << "the freed range was reused in part";
}

TEST(MemoryRanges, NeighboursAreAccessibleTogether) {
  Memory memory;
  memory.registerRange(0x1000, 0x100, "a");
  memory.registerRange(0x1100, 0x100, "b");
  EXPECT_TRUE(memory.isAccessible(0x10f0, 0x20));
  EXPECT_TRUE(memory.isAccessible(0x1000, 0x200));
  EXPECT_FALSE(memory.isAccessible(0x1000, 0x201));
  EXPECT_FALSE(memory.isAccessible(0xfff, 2));
}

TEST(MemoryInitialised, IsKeptPerByte) {
  Memory memory;
  memory.registerRange(0x1000, 0x1000, "a");
  EXPECT_EQ(memory.initialisedPrefix(0x1000, 0x1000), 0u);
  memory.markInitialised(0x1003, 0x200);
  EXPECT_EQ(memory.initialisedPrefix(0x1003, 0x1000), 0x200u);
  EXPECT_EQ(memory.initialisedPrefix(0x1002, 1), 0u);
  memory.markUninitialised(0x1100, 1);
  EXPECT_EQ(memory.initialisedPrefix(0x1003, 0x1000), 0xfdu);
}

TEST(MemoryInitialised, TravelsWithCopies) {
  Memory memory;
  memory.registerRange(0x10000, 0x4000, "a");
  memory.registerRange(0x20000, 0x4000, "b", /*initialised=*/false);
  memory.registerRange(0x30000, 0x4000, "host", /*initialised=*/true);
  memory.markInitialised(0x10010, 0x20);
  memory.markInitialised(0x20000, 0x4000);
  memory.copyInitialised(0x20000, 0x10000, 0x4000);
  EXPECT_EQ(memory.initialisedPrefix(0x20000, 1), 0u);
  EXPECT_EQ(memory.initialisedPrefix(0x20010, 0x100), 0x20u);
  memory.copyInitialised(0x20000, 0x30000, 0x4000);
  EXPECT_EQ(memory.initialisedPrefix(0x20000, 0x4000), 0x4000u);
}

TEST(MemoryReservations, AreNamedInReports) {
  Options options;
  Simulator simulator(options);
  Memory &memory = simulator.memory();
  EXPECT_TRUE(memory.reserveRange(0x100000, 0x10000));
  EXPECT_FALSE(memory.reserveRange(0x100000, 0x10000));
  std::string text =
      ".version 8.0\n.target sm_80\n.address_size 64\n" + kernel("  ld.global.b32 %r0, [%o];");
  ParseError error;
  auto module = simulator.load(text.data(), text.size(), error);
  ASSERT_NE(module, nullptr) << error.str();
  uint64_t address = 0x108000;
  LaunchConfig config;
  config.params = &address;
  config.paramBytes = sizeof(address);
  LaunchResult result = simulator.launch(module->kernels()[0], config);
  EXPECT_EQ(result.fault.kind, FaultKind::OutOfBounds);
  EXPECT_NE(result.fault.message.find("reserved, but not mapped"), std::string::npos);
  EXPECT_TRUE(memory.releaseReservation(0x100000));
  EXPECT_FALSE(memory.releaseReservation(0x100000));
  result = simulator.launch(module->kernels()[0], config);
  EXPECT_NE(result.fault.message.find("no allocation there"), std::string::npos);
}
