//===- ChecksTest.cpp - Planted bugs and their clean twins ----------------===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fixture.h"

using namespace xc::ptxsim;

namespace {

class Checks : public PtxTest {
protected:
  LaunchResult run(const std::string &body, std::vector<uint32_t> &buffer, Dim3 grid, Dim3 block,
                   bool initialised = true, uint32_t dynamicShared = 0) {
    load(kernel(body));
    map(buffer, initialised);
    LaunchResult result = launch(Params().add(buffer), grid, block, dynamicShared);
    unmap(buffer);
    return result;
  }

  void expectClean(const std::string &body, Dim3 grid, Dim3 block, size_t words = 1024) {
    std::vector<uint32_t> buffer(words);
    LaunchResult result = run(body, buffer, grid, block);
    EXPECT_TRUE(result.ok()) << result.fault.str();
  }

  Fault expectFault(FaultKind kind, const std::string &body, Dim3 grid, Dim3 block,
                    size_t words = 1024, bool initialised = true) {
    std::vector<uint32_t> buffer(words);
    LaunchResult result = run(body, buffer, grid, block, initialised);
    EXPECT_EQ(result.fault.kind, kind) << result.fault.str();
    return result.fault;
  }
};

/// Each thread writes a word of shared memory (twice); a barrier; each reads its mirror image.
std::string mirror(const std::string &barrier) {
  return "  .shared .align 4 .b8 s[1024];\n"
         "  mov.u32 %r0, s; mad.lo.u32 %r1, %t, 4, %r0; st.shared.b32 [%r1], -1; bar.sync 0;\n"
         "  st.shared.b32 [%r1], %t;\n  " +
         barrier +
         "\n  sub.u32 %r2, 255, %t; mad.lo.u32 %r1, %r2, 4, %r0; ld.shared.b32 %r3, [%r1];\n"
         "  mad.wide.u32 %rd0, %t, 4, %o; st.global.b32 [%rd0], %r3;";
}

TEST_F(Checks, RemovedBarrierIsARace) {
  expectClean(mirror("bar.sync 0;"), {}, {256, 1, 1});
  Fault fault = expectFault(FaultKind::Race, mirror(""), {}, {256, 1, 1});
  EXPECT_NE(fault.instruction.find(".shared.b32"), std::string::npos) << fault.str();
  EXPECT_EQ(fault.kernel, "k");
}

TEST_F(Checks, BarrierOfOnlySomeWarpsOrdersOnlyThem) {
  // 128 threads meet at barrier 1, as producers and consumers do.
  std::string text =
      "  .shared .align 4 .b8 s[1024];\n"
      "  mov.u32 %r0, s; shr.u32 %r9, %t, 7; add.u32 %r9, %r9, 1;\n"
      "  mad.lo.u32 %r1, %t, 4, %r0; st.shared.b32 [%r1], %t;\n"
      "  bar.sync %r9, 128;\n"
      "  xor.b32 %r2, %t, XOR; mad.lo.u32 %r1, %r2, 4, %r0; ld.shared.b32 %r3, [%r1];";
  std::string within = text, across = text;
  within.replace(within.find("XOR"), 3, "96");
  across.replace(across.find("XOR"), 3, "128");
  expectClean(within, {}, {256, 1, 1});
  // The other half has initialised the word or not: either way nothing orders it.
  std::vector<uint32_t> buffer(16);
  LaunchResult result = run(across, buffer, {}, {256, 1, 1});
  EXPECT_TRUE(result.fault.kind == FaultKind::Race ||
              result.fault.kind == FaultKind::UninitialisedRead)
      << result.fault.str();
}

TEST_F(Checks, RaceOfAWriteAfterARead) {
  // Warp 1, the last to come to the barrier, reads what warp 0 then overwrites.
  auto body = [](const std::string &barrier) {
    return "  .shared .align 4 .b8 s[1024];\n  mov.u32 %r0, s; mad.lo.u32 %r1, %t, 4, %r0;\n"
           "  st.shared.b32 [%r1], %t; bar.sync 0; setp.lt.u32 %p0, %t, 32;\n"
           "  @!%p0 ld.shared.b32 %r3, [%r1-128];\n  " +
           barrier + "\n  @%p0 st.shared.b32 [%r1], -1;";
  };
  expectClean(body("bar.sync 0;"), {}, {64, 1, 1});
  Fault fault = expectFault(FaultKind::Race, body(""), {}, {64, 1, 1});
  EXPECT_NE(fault.message.find("races with the read by thread (32,0,0)"), std::string::npos)
      << fault.str();
}

TEST_F(Checks, BarrierMissingAtTheEndOfALoop) {
  auto body = [](const std::string &barrier) {
    return "  .shared .align 4 .b8 s[1024];\n  mov.u32 %r0, s; mad.lo.u32 %r1, %t, 4, %r0;\n"
           "  xor.b32 %r2, %t, 32; mad.lo.u32 %r2, %r2, 4, %r0; mov.u32 %r5, 0;\n"
           "L: add.u32 %r6, %t, %r5; st.shared.b32 [%r1], %r6; bar.sync 0; ld.shared.b32 %r3, "
           "[%r2];\n  " +
           barrier + "\n  add.u32 %r5, %r5, 1; setp.lt.u32 %p0, %r5, 3; @%p0 bra L;";
  };
  expectClean(body("bar.sync 0;"), {}, {64, 1, 1});
  expectFault(FaultKind::Race, body(""), {}, {64, 1, 1});
}

TEST_F(Checks, RaceBetweenLanesOfOneWarp) {
  auto body = [](const std::string &sync) {
    return "  .shared .align 4 .b8 s[128];\n  mov.u32 %r0, s; mad.lo.u32 %r1, %t, 4, %r0;\n"
           "  st.shared.b32 [%r1], %t;\n  " +
           sync + "\n  xor.b32 %r2, %t, 1; mad.lo.u32 %r2, %r2, 4, %r0; ld.shared.b32 %r3, [%r2];";
  };
  expectClean(body("bar.warp.sync 0xffffffff;"), {}, {32, 1, 1});
  expectFault(FaultKind::Race, body(""), {}, {32, 1, 1});
}

TEST_F(Checks, RaceBetweenBlocks) {
  // Every block writes its number to the same word.
  Fault fault = expectFault(FaultKind::Race, "  st.global.b32 [%o], %b;", {4, 1, 1}, {1, 1, 1});
  EXPECT_NE(fault.message.find("of block ("), std::string::npos) << fault.str();
  expectClean("  mad.wide.u32 %rd0, %b, 4, %o; st.global.b32 [%rd0], %b;", {4, 1, 1}, {1, 1, 1});
  // The same value from all: nobody can tell who wrote it.
  expectClean("  st.global.b32 [%o], 7;", {4, 1, 1}, {64, 1, 1});
  // Atomics do not race.
  expectClean("  red.global.add.u32 [%o], 1;", {4, 1, 1}, {64, 1, 1});
}

/// Split-K: blocks write parts and count; the last to come adds them up.
std::string splitK(const std::string &fence) {
  return "  mad.wide.u32 %rd0, %b, 4, %o; add.u32 %r0, %b, 1; st.global.b32 [%rd0+64], %r0;\n  " +
         fence +
         "\n  atom.global.add.u32 %r1, [%o], 1; setp.ne.u32 %p0, %r1, 7; @%p0 bra END;\n  " +
         fence +
         "\n  mov.u32 %r2, 0; mov.u32 %r3, 0; mov.u64 %rd1, %o;\n"
         "L: ld.global.b32 %r4, [%rd1+64]; add.u32 %r3, %r3, %r4; add.s64 %rd1, %rd1, 4;\n"
         "  add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 8; @%p1 bra L; st.global.b32 [%o+32], "
         "%r3;\nEND:";
}

TEST_F(Checks, FencesAndAtomicsOrderBlocks) {
  std::vector<uint32_t> buffer(64);
  LaunchResult result = run(splitK("membar.gl;"), buffer, {8, 1, 1}, {1, 1, 1});
  EXPECT_TRUE(result.ok()) << result.fault.str();
  EXPECT_EQ(buffer[8], 36u);
  expectFault(FaultKind::Race, splitK(""), {8, 1, 1}, {1, 1, 1});
  // A fence of block scope orders nothing between blocks.
  expectFault(FaultKind::Race, splitK("membar.cta;"), {8, 1, 1}, {1, 1, 1});
}

TEST_F(Checks, AcquireAndReleaseOrderBlocks) {
  // Block 0 passes a value on to block 1 through a flag.
  auto body = [](const std::string &store, const std::string &loadFlag) {
    return "  setp.ne.u32 %p0, %b, 0; @%p0 bra TAKE;\n  st.global.b32 [%o+16], 42;\n  " + store +
           " [%o], 1; bra END;\nTAKE: " + loadFlag +
           " %r0, [%o]; setp.eq.u32 %p1, %r0, 0; @%p1 bra TAKE;\n"
           "  ld.global.b32 %r1, [%o+16]; st.global.b32 [%o+32], %r1;\nEND:";
  };
  expectClean(body("st.release.gpu.global.b32", "ld.acquire.gpu.global.b32"), {2, 1, 1}, {1, 1, 1});
  expectFault(FaultKind::Race, body("st.relaxed.gpu.global.b32", "ld.relaxed.gpu.global.b32"),
              {2, 1, 1}, {1, 1, 1});
}

TEST_F(Checks, FenceByAllThreadsBeforeTheBarrierCounts) {
  // Threads write and fence, then one signals; in the last block one reads the
  // counter, then all fence and read.
  expectClean(
      "  .shared .align 4 .b8 s[4];\n"
      "  mad.lo.u32 %r0, %b, 64, %t; mad.wide.u32 %rd0, %r0, 4, %o; st.global.b32 [%rd0+64], %r0;\n"
      "  membar.gl; bar.sync 0; setp.ne.u32 %p0, %t, 0; @%p0 bra JOIN;\n"
      "  atom.global.add.u32 %r1, [%o], 1; st.shared.b32 [s], %r1;\n"
      "JOIN: bar.sync 0; ld.shared.b32 %r2, [s]; setp.ne.u32 %p1, %r2, 3; @%p1 bra END;\n"
      "  membar.gl; xor.b32 %r3, %t, 33; mad.wide.u32 %rd1, %r3, 4, %o; ld.global.b32 %r4, "
      "[%rd1+64];\nEND:",
      {4, 1, 1}, {64, 1, 1});
}

TEST_F(Checks, LaunchesAreOrdered) {
  load(kernel("  ld.global.b32 %r0, [%o]; add.u32 %r0, %r0, 1; st.global.b32 [%o], %r0;"));
  std::vector<uint32_t> buffer(1);
  map(buffer);
  // More launches than an epoch can tell apart.
  for (unsigned i = 0; i < 2100; ++i) {
    LaunchResult result = launch(Params().add(buffer), {}, {});
    ASSERT_TRUE(result.ok()) << i << ": " << result.fault.str();
  }
  EXPECT_EQ(buffer[0], 2100u);
}

TEST_F(Checks, OffByOneStoreIsOutOfBounds) {
  auto body = [](const std::string &comparison) {
    return "  setp." + comparison +
           ".u32 %p0, %t, 100; mad.wide.u32 %rd0, %t, 4, %o;\n"
           "  @%p0 st.global.b32 [%rd0], %t;";
  };
  expectClean(body("lt"), {}, {128, 1, 1}, 100);
  Fault fault = expectFault(FaultKind::OutOfBounds, body("le"), {}, {128, 1, 1}, 100);
  EXPECT_EQ(fault.thread.x, 100u);
  EXPECT_EQ(fault.instruction, "@%p0 st.global.b32 [%rd0], %t;");
  EXPECT_EQ(fault.ptxLine, kHeadLines + 6);
  EXPECT_NE(fault.message.find("0 bytes beyond the end of buffer"), std::string::npos)
      << fault.str();
}

TEST_F(Checks, SharedBoundsHold) {
  std::string body =
      "  .shared .align 4 .b8 s[64];\n  mov.u32 %r0, s; mad.lo.u32 %r0, %t, 4, %r0;\n"
      "  st.shared.b32 [%r0], %t;";
  expectClean(body, {}, {16, 1, 1});
  Fault fault = expectFault(FaultKind::OutOfBounds, body, {}, {17, 1, 1});
  EXPECT_EQ(fault.thread.x, 16u);
  EXPECT_NE(fault.message.find("the shared memory has 64 bytes"), std::string::npos) << fault.str();
}

TEST_F(Checks, SharedBoundsHoldWithChecksOff) {
  Options options;
  options.checks = xc::ptxsim::Checks::none();
  reset(options);
  expectFault(FaultKind::OutOfBounds,
              "  .shared .align 4 .b8 s[64];\n  mov.u32 %r0, s; st.shared.b32 [%r0+64], %t;", {},
              {1, 1, 1});
}

TEST_F(Checks, GlobalBoundsHoldWithChecksOff) {
  Options options;
  options.checks = xc::ptxsim::Checks::none();
  reset(options);
  load(kernel("  ld.global.b32 %r0, [%o+8];"));
  std::vector<uint32_t> buffer(16);
  map(buffer);
  EXPECT_TRUE(launch(Params().add(buffer), {}, {}).ok());
  unmap(buffer);
  EXPECT_EQ(launch(Params().add(buffer), {}, {}).fault.kind, FaultKind::UseAfterFree);
  EXPECT_EQ(launch(Params().add(uint64_t(16)), {}, {}).fault.kind, FaultKind::OutOfBounds);
}

TEST_F(Checks, UseAfterFreeIsNamed) {
  load(kernel("  ld.global.b32 %r0, [%o+8];"));
  std::vector<uint32_t> buffer(16);
  map(buffer);
  EXPECT_TRUE(launch(Params().add(buffer), {}, {}).ok());
  unmap(buffer);
  LaunchResult result = launch(Params().add(buffer), {}, {});
  EXPECT_EQ(result.fault.kind, FaultKind::UseAfterFree);
  EXPECT_NE(result.fault.message.find("offset 8 of buffer (64 bytes), which has been freed"),
            std::string::npos)
      << result.fault.str();
}

TEST_F(Checks, UninitialisedGlobalRead) {
  std::vector<uint32_t> buffer(16);
  load(kernel(
      "  st.global.b32 [%o+4], 1; ld.global.b32 %r0, [%o+4]; ld.global.v2.b32 {%r0, %r1}, [%o];"));
  map(buffer, /*initialised=*/false);
  LaunchResult result = launch(Params().add(buffer), {}, {});
  EXPECT_EQ(result.fault.kind, FaultKind::UninitialisedRead);
  EXPECT_NE(result.fault.message.find("byte at offset 0 of buffer was never written"),
            std::string::npos)
      << result.fault.str();
  simulator->memory().markInitialised(reinterpret_cast<uint64_t>(buffer.data()), 4);
  EXPECT_TRUE(launch(Params().add(buffer), {}, {}).ok());
}

TEST_F(Checks, UninitialisedSharedRead) {
  auto body = [](const std::string &store) {
    return "  .shared .align 4 .b8 s[64];\n  " + store + "\n  ld.shared.b32 %r0, [s+60];";
  };
  expectClean(body("st.shared.b32 [s+60], %t;"), {2, 1, 1}, {1, 1, 1});
  // Another block's values do not count, though they are still there.
  expectFault(FaultKind::UninitialisedRead,
              body("setp.eq.u32 %p0, %b, 0; @%p0 st.shared.b32 [s+60], %t;"), {2, 1, 1}, {1, 1, 1});
}

TEST_F(Checks, MisalignedVectorLoad) {
  auto body = [](const std::string &offset) {
    return "  ld.global.v4.b32 {%r0, %r1, %r2, %r3}, [%o+" + offset + "];";
  };
  load(kernel(body("16")));
  alignas(16) static uint32_t words[16] = {};
  auto base = reinterpret_cast<uint64_t>(words);
  simulator->memory().registerRange(base, sizeof(words), "words", true);
  EXPECT_TRUE(launch(Params().add(base), {}, {}).ok());
  load(kernel(body("8")));
  Fault fault = launch(Params().add(base), {}, {}).fault;
  EXPECT_EQ(fault.kind, FaultKind::Misaligned);
  EXPECT_EQ(fault.address, base + 8);
  EXPECT_NE(fault.message.find("expected a multiple of 16"), std::string::npos) << fault.str();
}

/// Copies 16 bytes per thread to shared memory and reads the neighbour's.
std::string asyncCopy(const std::string &wait) {
  return "  .shared .align 16 .b8 s[512];\n  mov.u32 %r0, s; mad.lo.u32 %r1, %t, 16, %r0;\n"
         "  mad.wide.u32 %rd0, %t, 16, %o; cp.async.cg.shared.global [%r1], [%rd0], 16;\n"
         "  cp.async.commit_group;\n  " +
         wait +
         "\n  xor.b32 %r2, %t, 1; mad.lo.u32 %r2, %r2, 16, %r0; ld.shared.b32 %r3, [%r2];\n"
         "  mad.wide.u32 %rd0, %t, 4, %o; st.global.b32 [%rd0+2048], %r3;";
}

TEST_F(Checks, MissingAsyncCopyWait) {
  std::vector<uint32_t> buffer(1024);
  for (unsigned i = 0; i < 1024; ++i)
    buffer[i] = i;
  LaunchResult result =
      run(asyncCopy("cp.async.wait_group 0; bar.sync 0;"), buffer, {}, {32, 1, 1});
  EXPECT_TRUE(result.ok()) << result.fault.str();
  EXPECT_EQ(buffer[512 + 5], 16u);
  expectFault(FaultKind::AsyncCopy, asyncCopy("bar.sync 0;"), {}, {32, 1, 1});
  expectFault(FaultKind::AsyncCopy, asyncCopy("cp.async.wait_group 1; bar.sync 0;"), {},
              {32, 1, 1});
  // Waiting makes the data visible to the waiting thread only.
  expectFault(FaultKind::Race, asyncCopy("cp.async.wait_all;"), {}, {32, 1, 1});
}

TEST_F(Checks, BarrierDivergence) {
  expectFault(FaultKind::BarrierDivergence,
              "  setp.lt.u32 %p0, %t, 16; @%p0 bra L; bra END;\nL: bar.sync 0;\nEND:", {},
              {64, 1, 1});
  expectFault(FaultKind::BarrierDivergence,
              "  setp.lt.u32 %p0, %t, 32; @%p0 bra END; bar.sync 0;\nEND:", {}, {64, 1, 1});
  expectFault(FaultKind::BarrierDivergence,
              "  setp.lt.u32 %p0, %t, 16; @%p0 bra L; bar.sync 0; bra END;\nL: bar.sync 0;\nEND:",
              {}, {32, 1, 1});
  // Whole warps may take different ways to the same barrier.
  expectClean("  setp.lt.u32 %p0, %t, 32; @%p0 bra L; bar.sync 0; bra END;\nL: bar.sync 0;\nEND:",
              {}, {64, 1, 1});
}

TEST_F(Checks, ExitedThreadsCountAsArrivedWithTheCheckOff) {
  Options options;
  options.checks.barrierDivergence = false;
  reset(options);
  expectClean("  setp.lt.u32 %p0, %t, 40; @%p0 bra END; bar.sync 0;\nEND:", {}, {64, 1, 1});
}

TEST_F(Checks, Deadlock) {
  Fault fault = expectFault(FaultKind::Deadlock,
                            "  setp.lt.u32 %p0, %t, 32; @%p0 bra L; bar.sync 1, 64; bra END;\n"
                            "L: bar.sync 2, 64;\nEND:",
                            {}, {64, 1, 1});
  EXPECT_NE(fault.message.find("barrier 1 has 32 of 64 threads"), std::string::npos) << fault.str();
}

TEST_F(Checks, MissingShuffleLane) {
  expectFault(FaultKind::BarrierDivergence,
              "  setp.lt.u32 %p0, %t, 16; @%p0 bra L; bar.sync 0; bra END;\n"
              "L: shfl.sync.bfly.b32 %r0, %t, 1, 0x1f, 0xffffffff;\nEND:",
              {}, {32, 1, 1});
  expectFault(FaultKind::IllegalInstruction, "  shfl.sync.bfly.b32 %r0, %t, 1, 0x1f, 0x0000ffff;",
              {}, {32, 1, 1});
}

TEST_F(Checks, TrapAndAssert) {
  EXPECT_EQ(
      expectFault(FaultKind::Trap, "  setp.eq.u32 %p0, %t, 3; @%p0 trap;", {}, {8, 1, 1}).thread.x,
      3u);
  load(".extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, "
       ".param .b64 e);\n"
       ".global .align 1 .b8 text[6] = {120, 32, 62, 32, 48, 0};\n" +
       kernel("  { .param .b64 a; .param .b64 b; .param .b32 c; .param .b64 d; .param .b64 e;\n"
              "  mov.u64 %rd0, text; st.param.b64 [a], %rd0; st.param.b64 [b], %rd0; st.param.b32 "
              "[c], 12;\n"
              "  st.param.b64 [d], %rd0; st.param.b64 [e], 1; call.uni __assertfail, (a, b, c, d, "
              "e); }"));
  LaunchResult result = launch(Params().add(uint64_t(0)), {}, {});
  EXPECT_EQ(result.fault.kind, FaultKind::Assert);
  EXPECT_NE(result.fault.message.find("assertion 'x > 0' failed at x > 0:12"), std::string::npos)
      << result.fault.str();
}

TEST_F(Checks, UninitialisedLocalRead) {
  auto body = [](const std::string &offset) {
    return "  .local .align 8 .b8 l[16];\n  mov.u64 %rd0, l; st.local.b64 [%rd0], 5;\n"
           "  cvta.local.u64 %rd1, %rd0; ld.b32 %r0, [%rd1+" +
           offset + "];";
  };
  expectClean(body("4"), {}, {});
  Fault fault = expectFault(FaultKind::UninitialisedRead, body("8"), {}, {});
  EXPECT_NE(fault.message.find("byte at offset 8 of the thread's local memory"), std::string::npos)
      << fault.str();
  // Only one thread has written its own.
  fault = expectFault(FaultKind::UninitialisedRead,
                      "  .local .b32 l;\n  setp.eq.u32 %p0, %t, 0; @%p0 st.local.b32 [l], 1;\n"
                      "  ld.local.b32 %r0, [l];",
                      {}, {4, 1, 1});
  EXPECT_EQ(fault.thread.x, 1u);
}

TEST_F(Checks, LocalMemoryOfAFunctionBeginsAnew) {
  // The parameter that nobody stores, and what the call before has left.
  std::string function =
      ".func (.param .b32 r) f(.param .b32 a)\n{ .reg .b32 %a; .reg .pred %p; .local .b32 l;\n"
      "  ld.param.b32 %a, [a]; setp.eq.u32 %p, %a, 0; @%p st.local.b32 [l], 7;\n"
      "  ld.local.b32 %a, [l]; st.param.b32 [r], %a; ret; }\n";
  auto call = [](const std::string &store) {
    return "{ .param .b32 x; .param .b32 y; " + store +
           " call.uni (y), f, (x); "
           "ld.param.b32 %r9, [y]; }\n";
  };
  auto faultOf = [&](const std::string &body) {
    load(function + kernel(body));
    return launch(Params().add(uint64_t(0)), {}, {}).fault;
  };
  std::string zero = "st.param.b32 [x], 0;", one = "st.param.b32 [x], 1;";
  EXPECT_EQ(faultOf(call(zero) + call(zero)).kind, FaultKind::None);
  EXPECT_EQ(faultOf(call(zero) + call(one)).instruction, "ld.local.b32 %a, [l];");
  EXPECT_EQ(faultOf(call("")).instruction, "ld.param.b32 %a, [a];");
}

TEST_F(Checks, CopiesReadNoMoreThanTheyWrite) {
  auto body = [](const std::string &size, const std::string &offset) {
    return "  .shared .align 16 .b8 s[16];\n  mov.u32 %r0, s; add.s64 %rd0, %o, " + offset +
           "; mov.u32 %r1, " + size +
           ";\n  cp.async.ca.shared.global [%r0], [%rd0], 8, %r1; cp.async.wait_all;";
  };
  expectClean(body("8", "8"), {}, {});
  expectClean(body("5", "8"), {}, {});
  Fault fault = expectFault(FaultKind::IllegalInstruction, body("9", "8"), {}, {});
  EXPECT_EQ(fault.message, "expected at most 8 bytes to read, got 9");
  // Of a part, too, the place counts; of nothing it does not.
  expectFault(FaultKind::Misaligned, body("4", "4"), {}, {});
  expectClean(body("0", "4"), {}, {});
}

TEST_F(Checks, ABarrierIsOfOneKind) {
  std::string body = "  setp.lt.u32 %p0, %t, 32; @%p0 bra RED; bar.sync 3, 64; bra END;\n"
                     "RED: bar.red.popc.u32 %r0, 3, 64, %p0;\nEND:";
  Fault fault = expectFault(FaultKind::IllegalInstruction, body, {}, {64, 1, 1});
  EXPECT_NE(fault.message.find("of bar.red for others"), std::string::npos) << fault.str();
  body.replace(body.find("bar.sync 3, 64"), 14, "bar.red.popc.u32 %r0, 3, 64, %p0");
  expectClean(body, {}, {64, 1, 1});
}

TEST_F(Checks, OneWarpTooManyAtABarrier) {
  // Part of a warp counts by threads, so the next one does not fit.
  std::string body = "  setp.lt.u32 %p0, %t, 8; @%p0 barrier.arrive 2, 64; bar.sync 0;\n"
                     "  setp.ge.u32 %p1, %t, 32; @%p1 barrier.sync 2, 64;";
  Fault fault = expectFault(FaultKind::IllegalInstruction, body, {}, {96, 1, 1});
  EXPECT_NE(fault.message.find("barrier 2 expects 64 threads, and this warp is one too many: 72"),
            std::string::npos)
      << fault.str();
}

TEST_F(Checks, ReportsNameTheSource) {
  load(".file 1 \"model.mlir\"\n" +
       kernel("  .loc 1 12 7\n  setp.eq.u32 %p0, %t, 5; mad.wide.u32 %rd0, %t, 4, %o;\n"
              "  .loc 1 13 9\n  @%p0 st.global.b32 [%rd0+64], %t;"));
  std::vector<uint32_t> buffer(16);
  map(buffer);
  Fault fault = launch(Params().add(buffer), {2, 1, 1}, {4, 2, 1}).fault;
  EXPECT_EQ(fault.source, "");
  fault = launch(Params().add(buffer), {1, 1, 1}, {8, 1, 1}).fault;
  EXPECT_EQ(fault.kind, FaultKind::OutOfBounds);
  EXPECT_EQ(fault.source, "model.mlir:13:9");
  EXPECT_NE(fault.str().find("thread (5,0,0) of block (0,0,0)"), std::string::npos);
}

TEST_F(Checks, LineZeroIsNoSource) {
  load(".file 1 \"model.mlir\"\n" +
       kernel("  .loc 1 12 7\n  mov.u32 %r0, 1;\n  .loc 1 0 0\n  st.global.b32 [%o+64], %t;"));
  std::vector<uint32_t> buffer(16);
  map(buffer);
  Fault fault = launch(Params().add(buffer), {}, {}).fault;
  EXPECT_EQ(fault.kind, FaultKind::OutOfBounds);
  EXPECT_EQ(fault.source, "");
  load(".file 0 \"model.mlir\"\n" + kernel("  .loc 0 3 1\n  st.global.b32 [%o+64], %t;"));
  EXPECT_EQ(launch(Params().add(buffer), {}, {}).fault.source, "model.mlir:3:1");
}

TEST_F(Checks, InstructionLimitEndsLoops) {
  Options options;
  options.instructionLimit = 100000;
  reset(options);
  expectFault(FaultKind::Timeout, "L: bra L;", {}, {32, 1, 1});
}

} // namespace
