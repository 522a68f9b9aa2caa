//===- PlantedBugTest.cpp - What a report tells of each kind of bug -------===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// One bug each, planted into a kernel that is right without it. The report must name the kernel,
// the instruction, the thread, the address and the line of the source.
//
//===----------------------------------------------------------------------===//

#include "Fixture.h"

using namespace xc::ptxsim;

namespace {

struct Planted {
  const char *name;
  const char *body; ///< `$` is where `bug` or `right` goes
  const char *bug, *right;
  uint32_t threads;
  FaultKind kind;
  const char *instruction;
  uint32_t thread;
  uint64_t address; ///< in shared memory, or in the buffer
  bool isGlobal;    ///< the buffer
  const char *says; ///< a part of the message
  const char *source = "model.mlir:7:3";
};

class PlantedBug : public PtxTest, public testing::WithParamInterface<Planted> {
protected:
  static constexpr size_t kWords = 64;

  LaunchResult run(const char *part, bool initialised = true) {
    std::string body = GetParam().body;
    body.replace(body.find('$'), 1, part);
    load(".file 1 \"model.mlir\"\n" + kernel(body));
    auto base = reinterpret_cast<uint64_t>(buffer);
    simulator->memory().registerRange(base, sizeof(buffer), "buffer", initialised);
    LaunchResult result = launch(Params().add(base), {}, {GetParam().threads, 1, 1});
    simulator->memory().unregisterRange(base);
    return result;
  }

  alignas(256) uint32_t buffer[kWords] = {};
};

TEST_P(PlantedBug, IsToldInFull) {
  const Planted &planted = GetParam();
  LaunchResult clean = run(planted.right, /*initialised=*/false);
  EXPECT_TRUE(clean.ok()) << clean.fault.str();
  Fault fault = run(planted.bug, /*initialised=*/false).fault;
  EXPECT_EQ(faultKindName(fault.kind), std::string(faultKindName(planted.kind))) << fault.str();
  EXPECT_EQ(fault.kernel, "k");
  EXPECT_EQ(fault.instruction, planted.instruction);
  EXPECT_EQ(fault.thread.x, planted.thread);
  uint64_t base = planted.isGlobal ? reinterpret_cast<uint64_t>(buffer) : 0;
  EXPECT_EQ(fault.address, base + planted.address);
  EXPECT_EQ(fault.source, planted.source);
  EXPECT_NE(fault.message.find(planted.says), std::string::npos) << fault.str();
  // The report in words has all of that.
  std::string report = fault.str();
  for (const std::string &part :
       {std::string("in kernel 'k'"),
        "PTX line " + std::to_string(fault.ptxLine) + ": " + planted.instruction,
        "thread (" + std::to_string(planted.thread) + ",0,0) of block (0,0,0)",
        std::string("at ") + planted.source})
    EXPECT_NE(report.find(part), std::string::npos) << part << " is not in\n" << report;
}

INSTANTIATE_TEST_SUITE_P(
    Kernels, PlantedBug,
    testing::Values(
        // Warp 1 has read its mirror image before warp 0 comes to write that.
        Planted{"RemovedBarrier",
                "  .shared .align 4 .b8 s[256]; mov.u32 %r0, s; mad.lo.u32 %r1, %t, 4, %r0;\n"
                "  st.shared.b32 [%r1], -1; bar.sync 0;\n  .loc 1 7 3\n  st.shared.b32 [%r1], %t;\n"
                "  $\n  sub.u32 %r2, 63, %t; mad.lo.u32 %r2, %r2, 4, %r0;\n"
                "  .loc 1 8 3\n  ld.shared.b32 %r3, [%r2];",
                "", "bar.sync 0;", 64, FaultKind::Race, "st.shared.b32 [%r1], %t;", 0, 0, false,
                "races with the read by thread (63,0,0)"},
        Planted{"OffByOneStore",
                "  setp.$.u32 %p0, %t, 64; mad.wide.u32 %rd0, %t, 4, %o;\n  .loc 1 7 3\n"
                "  @%p0 st.global.b32 [%rd0], %t;",
                "le", "lt", 96, FaultKind::OutOfBounds, "@%p0 st.global.b32 [%rd0], %t;", 64, 256,
                true, "0 bytes beyond the end of buffer"},
        Planted{"MissingWait",
                "  .shared .align 16 .b8 s[64]; mov.u32 %r0, s; mad.lo.u32 %r1, %t, 16, %r0;\n"
                "  mad.wide.u32 %rd0, %t, 16, %o; st.global.v4.b32 [%rd0], {%t, %t, %t, %t};\n"
                "  cp.async.cg.shared.global [%r1], [%rd0], 16; cp.async.commit_group;\n  $\n"
                "  .loc 1 7 3\n  ld.shared.b32 %r3, [%r1+4];",
                "", "cp.async.wait_group 0;", 4, FaultKind::AsyncCopy,
                "ld.shared.b32 %r3, [%r1+4];", 0, 4, false, "that has not been waited for"},
        Planted{"UninitialisedSharedRead",
                "  .shared .align 4 .b8 s[256]; mov.u32 %r0, s; mad.lo.u32 %r1, %t, 4, %r0;\n"
                "  setp.ne.u32 %p0, %t, $; @%p0 st.shared.b32 [%r1], %t; bar.sync 0;\n"
                "  .loc 1 7 3\n  ld.shared.b32 %r2, [%r1];",
                "5", "64", 64, FaultKind::UninitialisedRead, "ld.shared.b32 %r2, [%r1];", 5, 20,
                false, "was never written"},
        Planted{"UninitialisedGlobalRead",
                "  mad.wide.u32 %rd0, %t, 4, %o; setp.ne.u32 %p0, %t, $;\n"
                "  @%p0 st.global.b32 [%rd0], %t;\n  .loc 1 7 3\n  ld.global.b32 %r2, [%rd0];",
                "3", "64", 64, FaultKind::UninitialisedRead, "ld.global.b32 %r2, [%rd0];", 3, 12,
                true, "byte at offset 12 of buffer was never written"},
        Planted{"MisalignedVectorLoad",
                "  mad.wide.u32 %rd0, %t, 16, %o; st.global.v4.b32 [%rd0], {%t, %t, %t, %t};\n"
                "  bar.sync 0; mad.wide.u32 %rd0, %t, $, %o;\n  .loc 1 7 3\n"
                "  ld.global.v4.b32 {%r0, %r1, %r2, %r3}, [%rd0];",
                "12", "16", 4, FaultKind::Misaligned,
                "ld.global.v4.b32 {%r0, %r1, %r2, %r3}, [%rd0];", 1, 12, true,
                "expected a multiple of 16"},
        Planted{"SharedOutOfBounds",
                "  .shared .align 4 .b8 s[64]; mov.u32 %r0, s; mad.lo.u32 %r0, %t, $, %r0;\n"
                "  .loc 1 7 3\n  st.shared.b32 [%r0], %t;",
                "8", "4", 16, FaultKind::OutOfBounds, "st.shared.b32 [%r0], %t;", 8, 64, false,
                "the shared memory has 64 bytes"},
        Planted{"BarrierDivergence",
                "  setp.ge.u32 %p0, %t, $; @%p0 bra END;\n  .loc 1 7 3\n  bar.sync 0;\nEND:", "16",
                "64", 64, FaultKind::BarrierDivergence, "bar.sync 0;", 0, 0, false, "barrier"}),
    [](const auto &info) { return info.param.name; });

TEST_F(PtxTest, UseAfterFreeIsToldInFull) {
  load(".file 1 \"model.mlir\"\n" +
       kernel("  setp.eq.u32 %p0, %t, 2; mad.wide.u32 %rd0, %t, 4, %o;\n  .loc 1 7 3\n"
              "  @%p0 ld.global.b32 %r0, [%rd0];"));
  std::vector<uint32_t> buffer(16);
  map(buffer);
  EXPECT_TRUE(launch(Params().add(buffer), {}, {4, 1, 1}).ok());
  unmap(buffer);
  Fault fault = launch(Params().add(buffer), {}, {4, 1, 1}).fault;
  EXPECT_EQ(fault.kind, FaultKind::UseAfterFree);
  EXPECT_EQ(fault.kernel, "k");
  EXPECT_EQ(fault.instruction, "@%p0 ld.global.b32 %r0, [%rd0];");
  EXPECT_EQ(fault.thread.x, 2u);
  EXPECT_EQ(fault.address, reinterpret_cast<uint64_t>(buffer.data()) + 8);
  EXPECT_EQ(fault.source, "model.mlir:7:3");
  EXPECT_NE(fault.message.find("offset 8 of buffer (64 bytes), which has been freed"),
            std::string::npos)
      << fault.str();
}

//===----------------------------------------------------------------------===//
// Counters
//===----------------------------------------------------------------------===//

/// One warp reads words of shared and of global memory \p stride words apart.
class Counting : public PtxTest {
protected:
  Counters count(const std::string &body) {
    Options options;
    reset(options);
    load(kernel(body));
    std::vector<uint32_t> buffer(32 * 32);
    map(buffer);
    LaunchResult result = launch(Params().add(buffer), {}, {32, 1, 1});
    unmap(buffer);
    EXPECT_TRUE(result.ok()) << result.fault.str();
    return result.counters;
  }
  Counters countShared(unsigned stride, const char *type = "b32", unsigned bytes = 4) {
    return count("  .shared .align 16 .b8 s[8192]; mov.u32 %r0, s; mad.lo.u32 %r1, %t, " +
                 std::to_string(stride * bytes) + ", %r0;\n  st.shared." + type + " [%r1], " +
                 (bytes == 4 ? "%t" : "%o") + ";");
  }
};

TEST_F(Counting, BankConflictsAreWavefrontsTooMany) {
  // A stride of 1, 2, 4, ... words makes lanes share banks by as many.
  for (unsigned stride : {1u, 2u, 4u, 8u, 16u, 32u}) {
    Counters counters = countShared(stride);
    EXPECT_EQ(counters.sharedRequests, 1u);
    EXPECT_EQ(counters.sharedBankConflicts, stride - 1) << stride;
  }
  EXPECT_EQ(countShared(33).sharedBankConflicts, 0u); // padding
  EXPECT_EQ(countShared(1, "b64", 8).sharedBankConflicts, 0u);
  // All lanes at one word: a broadcast.
  EXPECT_EQ(count("  .shared .align 4 .b8 s[4]; st.shared.b32 [s], 1; bar.warp.sync -1; "
                  "ld.shared.b32 %r0, [s];")
                .sharedBankConflicts,
            0u);
}

TEST_F(Counting, SectorsTellHowLoadsAndStoresCoalesce) {
  auto body = [](const char *instruction, unsigned stride) {
    std::string text = "  mad.wide.u32 %rd0, %t, " + std::to_string(4 * stride) + ", %o;\n  ";
    return text + instruction;
  };
  const struct {
    unsigned stride;
    uint64_t sectors;
  } kCases[] = {{1, 4}, {2, 8}, {8, 32}, {32, 32}};
  for (const auto &item : kCases) {
    // The buffer begins anywhere, so one sector more may be touched where lanes are dense.
    Counters loads = count(body("ld.global.b32 %r0, [%rd0];", item.stride));
    EXPECT_EQ(loads.globalLoadRequests, 1u);
    EXPECT_GE(loads.globalLoadSectors, item.sectors) << item.stride;
    EXPECT_LE(loads.globalLoadSectors, item.sectors + 1) << item.stride;
    Counters stores = count(body("st.global.b32 [%rd0], %t;", item.stride));
    EXPECT_EQ(stores.globalStoreRequests, 1u);
    EXPECT_GE(stores.globalStoreSectors, item.sectors) << item.stride;
    EXPECT_LE(stores.globalStoreSectors, item.sectors + 1) << item.stride;
    EXPECT_EQ(stores.globalLoadRequests, 0u);
  }
}

} // namespace
