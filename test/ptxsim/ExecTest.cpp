//===- ExecTest.cpp - Control flow, calls, warps, barriers, launches ------===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Arithmetic is compared with hardware by the vector suite; here is what needs
// more than one instruction.
//
//===----------------------------------------------------------------------===//

#include "Fixture.h"

#include <atomic>
#include <thread>

using namespace xc::ptxsim;

namespace {

class Exec : public PtxTest {
protected:
  /// Runs a kernel that writes one word per thread; |functions| goes before it.
  std::vector<uint32_t> words(const std::string &body, uint32_t threads, Dim3 grid = {},
                              const std::string &functions = "") {
    load(functions + kernel(body));
    std::vector<uint32_t> buffer(threads * grid.x);
    map(buffer);
    LaunchResult result = launch(Params().add(buffer), grid, {threads, 1, 1});
    unmap(buffer);
    EXPECT_TRUE(result.ok()) << result.fault.str();
    last = result;
    return buffer;
  }
  /// Stores %r9 at the thread's word.
  static constexpr const char *kStore =
      "  mov.u32 %r30, %ntid.x; mad.lo.u32 %r31, %b, %r30, %t; mad.wide.u32 %rd15, %r31, 4, %o;\n"
      "  st.global.b32 [%rd15], %r9;";
  LaunchResult last;
};

TEST_F(Exec, LoopsOfDifferentLengthReconverge) {
  auto out =
      words(std::string("  mov.u32 %r9, 0; mov.u32 %r1, 0;\n"
                        "L: setp.ge.u32 %p0, %r1, %t; @%p0 bra DONE; add.u32 %r9, %r9, %r1;\n"
                        "  add.u32 %r1, %r1, 1; bra L;\nDONE: activemask.b32 %r2;\n") +
                kStore,
            64);
  for (uint32_t t = 0; t < 64; ++t)
    EXPECT_EQ(out[t], t ? t * (t - 1) / 2 : 0);
}

TEST_F(Exec, BothSidesOfABranchRunAndJoin) {
  auto out = words(std::string("  and.b32 %r0, %t, 1; setp.eq.u32 %p0, %r0, 0; @%p0 bra EVEN;\n"
                               "  mul.lo.u32 %r1, %t, 3; bra JOIN;\nEVEN: add.u32 %r1, %t, 100;\n"
                               "JOIN: activemask.b32 %r2; setp.eq.u32 %p1, %r2, 0xffffffff;\n"
                               "  selp.u32 %r9, %r1, 0, %p1;\n") +
                       kStore,
                   32);
  for (uint32_t t = 0; t < 32; ++t)
    EXPECT_EQ(out[t], t & 1 ? t * 3 : t + 100);
}

TEST_F(Exec, IndexedBranches) {
  auto out = words(std::string("  and.b32 %r0, %t, 3;\nTABLE: .branchtargets A, B, C, B;\n"
                               "  brx.idx %r0, TABLE;\nA: mov.u32 %r9, 10; bra END;\n"
                               "B: mov.u32 %r9, 20; bra END;\nC: mov.u32 %r9, 30;\nEND:\n") +
                       kStore,
                   32);
  for (uint32_t t = 0; t < 32; ++t)
    EXPECT_EQ(out[t], (std::vector<uint32_t>{10, 20, 30, 20}[t & 3]));
}

TEST_F(Exec, ThreadsOfAWarpMayWaitForEachOther) {
  // A lock that lanes of one warp take in turn: the holder must run while others spin.
  auto out =
      words("  add.s64 %rd1, %o, 4;\nSPIN: atom.global.cas.b32 %r0, [%o], 0, 1;\n"
            "  setp.ne.u32 %p0, %r0, 0; @%p0 bra SPIN;\n  membar.gl;\n"
            "  ld.volatile.global.b32 %r1, [%rd1]; add.u32 %r1, %r1, 1;\n"
            "  st.volatile.global.b32 [%rd1], %r1; membar.gl; atom.global.exch.b32 %r2, [%o], 0;",
            32, {4, 1, 1});
  EXPECT_EQ(out[1], 128u);
}

TEST_F(Exec, CallsPassParametersAndResults) {
  auto out = words(
      std::string("  setp.lt.u32 %p0, %t, 20; mov.u32 %r9, 1;\n"
                  "  @!%p0 bra SKIP;\n  { .param .b32 a; .param .align 4 .b8 s[8]; .param .b32 r;\n"
                  "  st.param.b32 [a], %t; st.param.b32 [s], 5; st.param.b32 [s+4], %t;\n"
                  "  call.uni (r), twice, (a, s); ld.param.b32 %r9, [r]; }\nSKIP:\n") +
          kStore,
      32, {},
      ".func (.param .b32 r) inner(.param .b32 x) { .reg .b32 %r<3>; ld.param.b32 %r0, [x];\n"
      "  add.u32 %r1, %r0, 1; st.param.b32 [r], %r1; ret; }\n"
      ".func (.param .b32 r) twice(.param .b32 x, .param .align 4 .b8 s[8])\n"
      "{ .reg .b32 %r<8>; .reg .pred %p; ld.param.b32 %r0, [x]; ld.param.b32 %r1, [s]; "
      "ld.param.b32 %r2, [s+4];\n"
      "  setp.gt.u32 %p, %r0, 10; @%p bra BIG; { .param .b32 a; .param .b32 q; st.param.b32 [a], "
      "%r0;\n"
      "  call.uni (q), inner, (a); ld.param.b32 %r0, [q]; }\nBIG: mad.lo.u32 %r3, %r0, %r1, %r2;\n"
      "  st.param.b32 [r], %r3; ret; }\n");
  for (uint32_t t = 0; t < 32; ++t)
    EXPECT_EQ(out[t], t >= 20 ? 1 : (t > 10 ? t : t + 1) * 5 + t) << t;
}

TEST_F(Exec, LocalMemoryIsPerThread) {
  auto out = words(
      std::string(
          "  .local .align 4 .b8 depot[64]; mov.u64 %rd0, depot; cvta.local.u64 %rd1, %rd0;\n"
          "  and.b32 %r0, %t, 15; mad.wide.u32 %rd2, %r0, 4, %rd1; st.b32 [%rd2], %t;\n"
          "  cvta.to.local.u64 %rd3, %rd2; ld.local.b32 %r9, [%rd3]; isspacep.local %p0, %rd2;\n"
          "  selp.u32 %r9, %r9, 0, %p0;\n") +
          kStore,
      64);
  for (uint32_t t = 0; t < 64; ++t)
    EXPECT_EQ(out[t], t);
}

TEST_F(Exec, DynamicSharedMemoryFollowsTheStaticVariables) {
  load(".extern .shared .align 16 .b8 dynamic[];\n" +
       kernel(
           "  .shared .align 4 .b8 fixed[20]; mov.u32 %r0, dynamic; st.shared.b32 [fixed+16], 7;\n"
           "  st.shared.b32 [dynamic+96], 9; ld.shared.b32 %r1, [fixed+16]; ld.shared.b32 %r2, "
           "[%r0+96];\n"
           "  mov.u32 %r3, %dynamic_smem_size; st.global.v4.b32 [%o], {%r0, %r1, %r2, %r3};"));
  alignas(16) static uint32_t out[4];
  simulator->memory().registerRange(reinterpret_cast<uint64_t>(out), 16, "out");
  Params params;
  params.add(reinterpret_cast<uint64_t>(out));
  ASSERT_TRUE(launch(params, {}, {}, 100).ok());
  EXPECT_EQ(out[0], 32u);
  EXPECT_EQ(out[1], 7u);
  EXPECT_EQ(out[2], 9u);
  EXPECT_EQ(out[3], 100u);
  EXPECT_EQ(launch(params, {}, {}, 96).fault.kind, FaultKind::OutOfBounds);
  EXPECT_EQ(launch(params, {}, {}, 200 << 10).fault.kind, FaultKind::InvalidLaunch);
}

TEST_F(Exec, BarrierReductions) {
  auto out = words(
      std::string("  setp.lt.u32 %p0, %t, 37; bar.red.popc.u32 %r0, 0, %p0;\n"
                  "  bar.red.and.pred %p1, 0, %p0; bar.red.or.pred %p2, 0, %p0; selp.u32 %r1, 100, "
                  "0, %p1;\n"
                  "  selp.u32 %r2, 1000, 0, %p2; add.u32 %r9, %r0, %r1; add.u32 %r9, %r9, %r2;\n") +
          kStore,
      96);
  for (uint32_t value : out)
    EXPECT_EQ(value, 1037u);
  EXPECT_EQ(last.counters.barriers, 3u);
}

TEST_F(Exec, ProducersArriveAndConsumersWait) {
  // Warp 0 fills a buffer and arrives at barrier 1; warp 1 waits there and reads.
  auto out = words(
      std::string("  .shared .align 4 .b8 s[128]; mov.u32 %r0, s; and.b32 %r1, %t, 31;\n"
                  "  mad.lo.u32 %r2, %r1, 4, %r0; mov.u32 %r9, 0; setp.ge.u32 %p0, %t, 32; @%p0 "
                  "bra CONSUME;\n"
                  "  mul.lo.u32 %r3, %t, 7; st.shared.b32 [%r2], %r3; bar.arrive 1, 64; bra END;\n"
                  "CONSUME: bar.sync 1, 64; xor.b32 %r1, %r1, 5; mad.lo.u32 %r2, %r1, 4, %r0;\n"
                  "  ld.shared.b32 %r9, [%r2];\nEND:\n") +
          kStore,
      64);
  for (uint32_t t = 32; t < 64; ++t)
    EXPECT_EQ(out[t], ((t & 31) ^ 5) * 7);
}

TEST_F(Exec, WarpInstructionsJoinDivergedLanes) {
  // Lanes come to the shuffle by two ways: it waits for both.
  auto out = words(
      std::string(
          "  setp.lt.u32 %p0, %t, 16; @%p0 bra LOW; add.u32 %r0, %t, 100; bra JOIN;\n"
          "LOW: mov.u32 %r0, %t;\nJOIN: shfl.sync.bfly.b32 %r9, %r0, 16, 0x1f, 0xffffffff;\n") +
          kStore,
      32);
  for (uint32_t t = 0; t < 32; ++t)
    EXPECT_EQ(out[t], t < 16 ? t + 116 : t - 16);
}

TEST_F(Exec, BlocksThatWaitForOthersMakeProgress) {
  Options options;
  options.hostThreads = 1;
  reset(options);
  // Block 0 waits for a signal of the last block: all must be in flight.
  load(kernel("  setp.ne.u32 %p0, %b, 0; @%p0 bra SIGNAL;\n"
              "WAIT: ld.acquire.gpu.global.b32 %r0, [%o]; setp.ne.u32 %p1, %r0, 7; @%p1 bra WAIT; "
              "bra END;\n"
              "SIGNAL: atom.release.gpu.global.add.u32 %r1, [%o], 1;\nEND:"));
  std::vector<uint32_t> buffer(1);
  map(buffer);
  EXPECT_TRUE(launch(Params().add(buffer), {8, 1, 1}, {1, 1, 1}).ok());
}

TEST_F(Exec, GridsOfSeveralDimensions) {
  load(
      kernel("  mov.u32 %r0, %ctaid.y; mov.u32 %r1, %nctaid.x; mad.lo.u32 %r2, %r0, %r1, %b; "
             "mov.u32 %r3, %tid.y;\n"
             "  mov.u32 %r4, %ntid.x; mad.lo.u32 %r5, %r3, %r4, %t; mad.lo.u32 %r6, %r2, 12, %r5;\n"
             "  mad.wide.u32 %rd0, %r6, 4, %o; st.global.b32 [%rd0], %r6;"));
  std::vector<uint32_t> buffer(6 * 12);
  map(buffer, false);
  ASSERT_TRUE(launch(Params().add(buffer), {3, 2, 1}, {4, 3, 1}).ok());
  for (uint32_t i = 0; i < buffer.size(); ++i)
    EXPECT_EQ(buffer[i], i);
}

TEST_F(Exec, ExternFunctionsRunOncePerThread) {
  std::atomic<uint32_t> sum{0};
  simulator->defineExtern("host_add", [&](const uint8_t *params, uint8_t *result) {
    uint32_t a;
    uint64_t b;
    std::memcpy(&a, params, 4);
    std::memcpy(&b, params + 8, 8);
    sum += a;
    uint64_t r = a + b;
    std::memcpy(result, &r, 8);
    return true;
  });
  load(".extern .func (.param .b64 r) host_add(.param .b32 a, .param .b64 b);\n" +
       kernel("  { .param .b32 a; .param .b64 b; .param .b64 r; st.param.b32 [a], %t; st.param.b64 "
              "[b], 1000;\n"
              "  call.uni (r), host_add, (a, b); ld.param.b64 %rd1, [r]; }\n"
              "  mad.wide.u32 %rd0, %t, 8, %o; st.global.b64 [%rd0], %rd1;"));
  std::vector<uint64_t> buffer(32);
  map(buffer);
  ASSERT_TRUE(launch(Params().add(buffer), {}, {32, 1, 1}).ok());
  EXPECT_EQ(sum.load(), 496u);
  EXPECT_EQ(buffer[31], 1031u);
}

TEST_F(Exec, LaunchesBeyondTheLimitsAreRefused) {
  load(".visible .entry k(.param .u64 p)\n.reqntid 64, 1, 1\n{ ret; }\n");
  Params params;
  params.add(uint64_t(0));
  EXPECT_TRUE(launch(params, {}, {64, 1, 1}).ok());
  EXPECT_EQ(launch(params, {}, {32, 1, 1}).fault.kind, FaultKind::InvalidLaunch);
  EXPECT_EQ(launch(params, {0, 1, 1}, {64, 1, 1}).fault.kind, FaultKind::InvalidLaunch);
  EXPECT_EQ(launch(Params(), {}, {64, 1, 1}).fault.message,
            "expected 8 bytes of parameters, got 0");
}

TEST_F(Exec, ConcurrentLaunches) {
  load(kernel("  mov.u32 %r0, 0;\nL: red.global.add.u32 [%o], 1; add.u32 %r0, %r0, 1; setp.lt.u32 "
              "%p0, %r0, 50; @%p0 bra L;"));
  std::vector<uint32_t> buffer(1);
  map(buffer);
  std::vector<std::thread> threads;
  std::atomic<unsigned> good{0};
  for (unsigned i = 0; i < 4; ++i)
    threads.emplace_back([&] { good += launch(Params().add(buffer), {8, 1, 1}, {32, 1, 1}).ok(); });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(good.load(), 4u);
  EXPECT_EQ(buffer[0], 4u * 8 * 32 * 50);
}

//===----------------------------------------------------------------------===//
// Counters
//===----------------------------------------------------------------------===//

TEST_F(Exec, CoalescingIsCounted) {
  alignas(128) static uint32_t words32[32 * 33];
  simulator->memory().registerRange(reinterpret_cast<uint64_t>(words32), sizeof(words32), "w",
                                    true);
  for (auto expected : {std::make_pair(1u, 4u), std::make_pair(2u, 8u), std::make_pair(8u, 32u)}) {
    load(kernel("  mul.lo.u32 %r0, %t, " + std::to_string(expected.first) +
                "; mad.wide.u32 %rd0, %r0, 4, %o; ld.global.b32 %r1, [%rd0];"));
    LaunchResult result = launch(Params().add(reinterpret_cast<uint64_t>(words32)), {}, {32, 1, 1});
    ASSERT_TRUE(result.ok()) << result.fault.str();
    EXPECT_EQ(result.counters.globalLoadRequests, 1u);
    EXPECT_EQ(result.counters.globalLoadSectors, expected.second);
  }
}

TEST_F(Exec, BankConflictsAreCounted) {
  for (auto expected : {std::make_pair(1u, 0u), std::make_pair(2u, 1u), std::make_pair(32u, 31u),
                        std::make_pair(33u, 0u)}) {
    words("  .shared .align 4 .b8 s[8192]; mov.u32 %r0, s; mul.lo.u32 %r1, %t, " +
              std::to_string(expected.first * 4) +
              "; add.u32 %r0, %r0, %r1; st.shared.b32 [%r0], %t;",
          32);
    EXPECT_EQ(last.counters.sharedBankConflicts, expected.second) << expected.first;
    EXPECT_EQ(last.counters.sharedRequests, 1u);
  }
}

TEST_F(Exec, InstructionsAreCountedByClass) {
  words("  setp.lt.u32 %p0, %t, 10; @%p0 add.u32 %r0, %t, 1; add.f32 %f0, %f0, %f0; cvt.rn.f32.u32 "
        "%f1, %t;",
        32);
  EXPECT_EQ(last.counters.floating, 32u);
  EXPECT_EQ(last.counters.conversion, 32u);
  // Two moves of the head, the comparison, and the addition in ten threads.
  EXPECT_EQ(last.counters.integer, 3u * 32 + 10);
}

} // namespace
