//===- AsyncTest.cpp - mbarriers, bulk copies and clusters by themselves --===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HopperFixture.h"

using namespace xc::ptxsim;

namespace {

class Async : public HopperTest {
protected:
  /// Runs |body| in a kernel with shared memory `s`, mbarriers `bar` and `bar2`, and a
  /// pointer %o to |buffer|; %t is the thread.
  LaunchResult run(const std::string &body, Dim3 block, Dim3 cluster = {}) {
    load(".visible .entry k(.param .u64 p)\n{ .reg .pred %p<8>; .reg .b32 %r<32>, %t; .reg .f32 "
         "%d<4>; .reg .b64 %q<16>, %o;\n  .shared .align 1024 .b8 s[8192]; .shared .align 8 .b64 "
         "bar; .shared .align 8 .b64 bar2;\n  ld.param.u64 %o, [p]; mov.u32 %t, %tid.x; mov.u32 "
         "%r0, s;\n" +
             body + "\n  ret;\n}\n",
         "sm_90a");
    if (!module)
      return {};
    simulator->memory().registerRange(reinterpret_cast<uint64_t>(buffer), sizeof(buffer), "buffer",
                                      true);
    uint64_t params[] = {reinterpret_cast<uint64_t>(buffer)};
    LaunchConfig config;
    config.grid = cluster;
    config.block = block;
    config.cluster = cluster;
    config.params = params;
    config.paramBytes = sizeof(params);
    LaunchResult result = simulator->launch(*module->findKernel("k"), config);
    simulator->memory().unregisterRange(reinterpret_cast<uint64_t>(buffer));
    return result;
  }

  void expectClean(const std::string &body, Dim3 block, Dim3 cluster = {}) {
    LaunchResult result = run(body, block, cluster);
    EXPECT_TRUE(result.ok()) << result.fault.str();
  }
  void expectFault(FaultKind kind, const std::string &says, const std::string &body, Dim3 block,
                   Dim3 cluster = {}) {
    LaunchResult result = run(body, block, cluster);
    EXPECT_EQ(faultKindName(result.fault.kind), std::string(faultKindName(kind)))
        << result.fault.str();
    EXPECT_NE(result.fault.str().find(says), std::string::npos) << result.fault.str();
  }

  alignas(128) uint32_t buffer[1024] = {};
};

const char *const kInit = "  mbarrier.init.shared::cta.b64 [bar], 1;\n"
                          "  fence.mbarrier_init.release.cluster;\n";

TEST_F(Async, StateOfAnOldPhase) {
  std::string body = std::string(kInit) + "  mbarrier.arrive.shared::cta.b64 %q0, [bar];\n"
                                          "  mbarrier.arrive.shared::cta.b64 %q1, [bar];\n"
                                          "  mbarrier.test_wait.shared::cta.b64 %p0, [bar], ";
  expectClean(body + "%q1;", {1, 1, 1});
  expectFault(FaultKind::MbarrierMisuse,
              "waits with the state of phase 0, but the mbarrier is in phase 2", body + "%q0;",
              {1, 1, 1});
}

TEST_F(Async, CountOfBytesOverflows) {
  std::string body = std::string(kInit) +
                     "  mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 1048575;\n"
                     "  mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], ";
  expectClean(body + "0;", {1, 1, 1});
  expectFault(FaultKind::MbarrierMisuse, "leaves the range", body + "1;", {1, 1, 1});
}

TEST_F(Async, UninitialisedMbarrier) {
  expectFault(FaultKind::MbarrierMisuse, "none has been initialised there",
              std::string(kInit) + "  mbarrier.arrive.shared::cta.b64 _, [bar2];", {1, 1, 1});
}

TEST_F(Async, InvalidatedWhileInUse) {
  std::string body = std::string(kInit) +
                     "  mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 64;\n"
                     "  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], "
                     "[%o], 64, [bar];\n";
  std::string wait = "W: mbarrier.try_wait.parity.shared::cta.b64 %p0, [bar], 0; @!%p0 bra W;\n";
  expectClean(body + wait + "  mbarrier.inval.shared::cta.b64 [bar];" + kInit, {1, 1, 1});
  expectFault(FaultKind::MbarrierMisuse, "invalidated while copies will arrive at it",
              body + "  mbarrier.inval.shared::cta.b64 [bar];", {1, 1, 1});
}

TEST_F(Async, ReadBeforeTheBytesHaveCome) {
  std::string body = std::string(kInit) +
                     "  mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 64;\n"
                     "  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], "
                     "[%o], 64, [bar];\n";
  std::string wait = "W: mbarrier.try_wait.parity.shared::cta.b64 %p0, [bar], 0; @!%p0 bra W;\n";
  expectClean(body + wait + "  ld.shared.b32 %r1, [s+60];", {1, 1, 1});
  expectFault(FaultKind::AsyncCopy, "that has not been waited for",
              body + "  ld.shared.b32 %r1, [s+60];\n" + wait, {1, 1, 1});
  expectFault(FaultKind::AsyncCopy, "the block exits while this copy may still write to", body,
              {1, 1, 1});
}

TEST_F(Async, ALaterCopySaysNothingOfAnEarlierOne) {
  std::string body = "  mbarrier.init.shared::cta.b64 [bar2], 1;\n" + std::string(kInit) +
                     "  mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 64;\n"
                     "  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], "
                     "[%o], 64, [bar];\n"
                     "  mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar2], 64;\n"
                     "  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s+64], "
                     "[%o], 64, [bar2];\n"
                     "V: mbarrier.try_wait.parity.shared::cta.b64 %p0, [bar2], 0; @!%p0 bra V;\n";
  std::string wait = "W: mbarrier.try_wait.parity.shared::cta.b64 %p0, [bar], 0; @!%p0 bra W;\n";
  expectClean(body + wait + "  ld.shared.b32 %r1, [s+60];", {1, 1, 1});
  expectClean(body + "  ld.shared.b32 %r1, [s+64];\n" + wait, {1, 1, 1});
  expectFault(FaultKind::Race, "an asynchronous copy",
              body + "  ld.shared.b32 %r1, [s+60];\n" + wait, {1, 1, 1});
}

TEST_F(Async, AnotherThreadMustWaitItself) {
  // Thread 0 waits; thread 32 goes on after a barrier, or after nothing.
  auto body = [](const std::string &order) {
    return "  setp.ne.u32 %p1, %t, 0; @%p1 bra OTHER;\n" + std::string(kInit) +
           "  mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 64;\n"
           "  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%o], 64, "
           "[bar];\nW: mbarrier.try_wait.parity.shared::cta.b64 %p0, [bar], 0; @!%p0 bra W;\n"
           "  st.volatile.shared.b32 [s+128], 1;\nOTHER: " +
           order + "\n  setp.ne.u32 %p2, %t, 32; @%p2 bra END; ld.shared.b32 %r1, [s+60]; END:";
  };
  expectClean(body("bar.sync 0;"), {64, 1, 1});
  // The flag is read without an acquire: the bytes are there, but nothing orders them.
  expectFault(FaultKind::Race, "an asynchronous copy",
              body("setp.ne.u32 %p3, %t, 32; @%p3 bra GO; SPIN: ld.volatile.shared.b32 %r2, "
                   "[s+128]; setp.eq.u32 %p4, %r2, 0; @%p4 bra SPIN; GO:")
                  .insert(0, "  st.shared.b32 [s+128], 0; bar.sync 0;\n"),
              {64, 1, 1});
}

TEST_F(Async, ArrivalOfCopiesOfThreads) {
  std::string body = "  setp.ne.u32 %p1, %t, 0; @!%p1 mbarrier.init.shared::cta.b64 [bar], 32; "
                     "bar.sync 0;\n  mad.lo.u32 %r1, %t, 16, %r0; mul.wide.u32 %q0, %t, 16; "
                     "add.s64 %q0, %q0, %o;\n  cp.async.cg.shared.global [%r1], [%q0], 16;\n"
                     "  cp.async.mbarrier.arrive.noinc.shared::cta.b64 [bar];\n";
  std::string wait = "W: mbarrier.try_wait.parity.shared::cta.b64 %p0, [bar], 0; @!%p0 bra W;\n";
  std::string use = "  xor.b32 %r2, %r1, 256; ld.shared.b32 %r3, [%r2];";
  expectClean(body + wait + use, {32, 1, 1});
  expectFault(FaultKind::AsyncCopy, "that has not been waited for", body + use, {32, 1, 1});
}

/// A product of f16 from memory that threads fill, with A in registers.
std::string product(const std::string &fence, const std::string &between) {
  return "  mad.lo.u32 %r1, %t, 16, %r0; st.shared.v4.b32 [%r1], {9, 9, 9, 9}; "
         "st.shared.v4.b32 [%r1+2048], {9, 9, 9, 9};\n" +
         fence +
         "  bar.sync 0;\n  mov.f32 %d0, 0f00000000; mov.f32 %d1, %d0; mov.f32 %d2, %d0; mov.f32 "
         "%d3, %d0;\n  mov.u32 %r4, 0; mov.u32 %r5, 0; mov.u32 %r6, 0; mov.u32 %r7, 0; setp.eq.u32 "
         "%p0, 0, 0;\n  shr.u32 %r2, %r0, 4; cvt.u64.u32 %q0, %r2; or.b64 %q0, %q0, "
         "0x0000001000080000;\n  wgmma.fence.sync.aligned;\n"
         "  wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%d0, %d1, %d2, %d3}, {%r4, %r5, "
         "%r6, %r7}, %q0, %p0, 1, 1, 0;\n  wgmma.commit_group.sync.aligned;\n" +
         between + "  wgmma.wait_group.sync.aligned 0;\n";
}

TEST_F(Async, RegistersOfAAreOverwritten) {
  const char *fence = "  fence.proxy.async;\n";
  expectClean(product(fence, "  mov.u32 %r8, %r4;\n") + "  mov.u32 %r5, 1;\n", {128, 1, 1});
  expectFault(FaultKind::AsyncCopy, "writes a register of A", product(fence, "  mov.u32 %r5, 1;\n"),
              {128, 1, 1});
}

TEST_F(Async, OperandsOfAProductNeedAProxyFence) {
  expectFault(FaultKind::MissingProxyFence, "wgmma reads shared memory", product("", ""),
              {128, 1, 1});
}

TEST_F(Async, OperandsOfAProductAreOverwritten) {
  expectFault(FaultKind::AsyncCopy, "the source of a wgmma",
              product("  fence.proxy.async;\n", "  st.shared.b32 [s+8], 7;\n"), {128, 1, 1});
}

TEST_F(Async, NobodyWaitsForTheProduct) {
  std::string text = product("  fence.proxy.async;\n", "");
  text.erase(text.find("  wgmma.wait_group"));
  expectFault(FaultKind::AsyncCopy, "the block exits before all warps of warpgroup 0 have waited",
              text, {128, 1, 1});
}

TEST_F(Async, AWarpgroupHas128Threads) {
  expectFault(FaultKind::IllegalInstruction, "expected a warpgroup of 128 threads",
              product("  fence.proxy.async;\n", ""), {96, 1, 1});
}

TEST_F(Async, SharedMemoryOfABlockThatHasExited) {
  auto body = [](const std::string &stay) {
    return "  mov.u32 %r1, %cluster_ctarank; st.shared.b32 [s], %r1; barrier.cluster.arrive; "
           "barrier.cluster.wait;\n  setp.eq.u32 %p0, %r1, 1; @%p0 bra END;\n"
           "  mov.u32 %r2, 1; mapa.shared::cluster.u32 %r3, %r0, %r2; mov.u32 %r5, 0;\n"
           "L: add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 100000; @%p1 bra L;\n"
           "  ld.shared::cluster.b32 %r4, [%r3]; st.global.b32 [%o], %r4;\nEND:\n" +
           stay;
  };
  expectClean(body("  barrier.cluster.arrive; barrier.cluster.wait;"), {1, 1, 1}, {2, 1, 1});
  EXPECT_EQ(buffer[0], 1u);
  expectFault(FaultKind::UseAfterFree, "which has exited", body(""), {1, 1, 1}, {2, 1, 1});
}

TEST_F(Async, RacesBetweenBlocksOfACluster) {
  auto body = [](const std::string &order) {
    return "  mov.u32 %r1, %cluster_ctarank; st.shared.b32 [s], 5; barrier.cluster.arrive; "
           "barrier.cluster.wait;\n  xor.b32 %r2, %r1, 1; mapa.shared::cluster.u32 %r3, %r0, %r2;\n"
           "  add.u32 %r4, %r1, 10; st.shared::cluster.b32 [%r3], %r4;\n" +
           order + "\n  ld.shared.b32 %r5, [s]; barrier.cluster.arrive; barrier.cluster.wait;";
  };
  expectClean(body("  barrier.cluster.arrive; barrier.cluster.wait;"), {1, 1, 1}, {2, 1, 1});
  expectFault(FaultKind::Race, "races with", body(""), {1, 1, 1}, {2, 1, 1});
  expectFault(FaultKind::Race, "races with",
              body("  barrier.cluster.arrive.relaxed; barrier.cluster.wait;"), {1, 1, 1},
              {2, 1, 1});
}

TEST_F(Async, ABlockThatDoesNotComeToTheClusterBarrierHangs) {
  expectFault(FaultKind::Deadlock, "for other threads of the cluster",
              std::string(kInit) +
                  "  mov.u32 %r1, %cluster_ctarank; setp.eq.u32 %p0, %r1, 0; @%p0 bra WAIT;\n"
                  "W: mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0; @!%p1 bra W;\n"
                  "WAIT: barrier.cluster.arrive; barrier.cluster.wait;",
              {1, 1, 1}, {2, 1, 1});
}

TEST_F(Async, AnotherBlockNeedNotHaveStarted) {
  std::string meet = "  barrier.cluster.arrive; barrier.cluster.wait;\n",
              store =
                  "  mov.u32 %r1, %cluster_ctarank; xor.b32 %r2, %r1, 1;\n"
                  "  mapa.shared::cluster.u32 %r3, %r0, %r2; st.shared::cluster.b32 [%r3], 1;\n";
  expectClean(meet + store + meet, {1, 1, 1}, {2, 1, 1});
  expectFault(FaultKind::Race, "of the cluster, which need not have started", store + meet,
              {1, 1, 1}, {2, 1, 1});
  // One's own memory is there, by whatever address.
  std::string own = store;
  own.replace(own.find("%r1, 1"), 6, "%r1, 0");
  expectClean(own, {1, 1, 1}, {2, 1, 1});
  // Copies for others.
  std::string copy =
      std::string(kInit) +
      "  mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 32;\n  mov.u32 %r1, "
      "%cluster_ctarank;\n"
      "MEET  mad.wide.u32 %q1, %r1, 16, %o; mad.lo.u32 %r2, %r1, 16, %r0; mov.b16 %h, 3;\n"
      "  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
      "[%r2], "
      "[%q1], 16, [bar], %h;\n"
      "W: mbarrier.try_wait.parity.shared::cta.b64 %p0, [bar], 0; @!%p0 bra W;\n" +
      meet;
  copy = ".reg .b16 %h;\n" + copy;
  size_t at = copy.find("MEET");
  expectClean(std::string(copy).replace(at, 4, meet), {1, 1, 1}, {2, 1, 1});
  expectFault(FaultKind::Race,
              "the multicast mask 0x3 names block 1 of the cluster, which need not",
              std::string(copy).replace(at, 4, ""), {1, 1, 1}, {2, 1, 1});
}

TEST_F(Async, CopiesSeeAnMbarrierBehindAFence) {
  auto body = [](const std::string &fence) {
    return "  mbarrier.init.shared::cta.b64 [bar], 1;\n  " + fence +
           "\n  mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 64;\n"
           "  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], "
           "[%o], 64, [bar];\n"
           "W: mbarrier.try_wait.parity.shared::cta.b64 %p0, [bar], 0; @!%p0 bra W;\n";
  };
  expectClean(body("fence.mbarrier_init.release.cluster;"), {1, 1, 1});
  expectClean(body("fence.proxy.async.shared::cta;"), {1, 1, 1});
  for (const char *fence : {"", "fence.proxy.async.global;", "fence.acq_rel.cluster;"})
    expectFault(FaultKind::MissingProxyFence,
                "thread (0,0,0), which initialised it, has not made it visible", body(fence),
                {1, 1, 1});
  // Another thread's fence does not do.
  expectFault(
      FaultKind::MissingProxyFence, "has not made it visible",
      "  setp.ne.u32 %p1, %t, 0; @!%p1 mbarrier.init.shared::cta.b64 [bar], 1; bar.sync 0;\n"
      "  @%p1 fence.mbarrier_init.release.cluster; bar.sync 0; @%p1 bra END;\n" +
          body("").substr(body("").find('\n') + 1) + "END:",
      {2, 1, 1});
}

TEST_F(Async, ReductionsIntoGlobalMemory) {
  expectClean("  mad.lo.u32 %r1, %t, 16, %r0; st.shared.v4.b32 [%r1], {1, 2, 3, %t};\n"
              "  fence.proxy.async.shared::cta; bar.sync 0; setp.ne.u32 %p0, %t, 0; @%p0 bra END;\n"
              "  cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%o], [s], 512;\n"
              "  cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%o], [s], 512;\n"
              "  cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; END:",
              {32, 1, 1});
  for (uint32_t i = 0; i < 32; ++i) {
    EXPECT_EQ(buffer[4 * i + 1], 4u);
    EXPECT_EQ(buffer[4 * i + 3], 2 * i);
  }
}

} // namespace
