//===- HopperTest.cpp - Products and copies of warpgroups -----------------===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HopperFixture.h"

using namespace xc::ptxsim;

namespace {

class Hopper : public HopperTest {
protected:
  /// The fault of the product with |part| replaced by |by|.
  Fault planted(const std::string &part, const std::string &by) {
    return multiply(ProductKernel().replace(part, by)).fault;
  }
  void expectFault(FaultKind kind, const std::string &part, const std::string &by,
                   const std::string &says) {
    Fault fault = planted(part, by);
    EXPECT_EQ(faultKindName(fault.kind), std::string(faultKindName(kind))) << fault.str();
    EXPECT_NE(fault.str().find(says), std::string::npos) << fault.str();
  }
};

TEST_F(Hopper, WarpSpecialisedProduct) {
  LaunchResult result = multiply(ProductKernel());
  EXPECT_TRUE(result.ok()) << result.fault.str();
  EXPECT_EQ(wrongElements(), 0u);
}

TEST_F(Hopper, CopiesMayCompleteEarlyInAnyOrder) {
  for (uint64_t seed = 1; seed < 9; ++seed) {
    Options options = hopper();
    options.asyncSeed = seed;
    reset(options);
    LaunchResult result = multiply(ProductKernel());
    EXPECT_TRUE(result.ok()) << result.fault.str();
    EXPECT_EQ(wrongElements(), 0u) << "seed " << seed;
  }
}

TEST_F(Hopper, TheWaitForTheTileIsMissing) {
  expectFault(FaultKind::AsyncCopy,
              "FULL: mbarrier.try_wait.parity.shared::cta.b64 %p5, [%r11], %r10, 10000000; @!%p5 "
              "bra FULL;",
              "", "that has not been waited for");
}

TEST_F(Hopper, TheWaitForTheFreeStageIsMissing) {
  // The full barrier is to be completed again before it has been once.
  expectFault(FaultKind::MbarrierMisuse,
              "EMPTY: mbarrier.try_wait.parity.shared::cta.b64 %p5, [%r12], %r10; @!%p5 bra EMPTY;",
              "", "1 arrivals, but only 0 of 1 are still to come in phase 0");
}

TEST_F(Hopper, TheStageIsReleasedBeforeTheWait) {
  expectFault(
      FaultKind::AsyncCopy,
      "  wgmma.wait_group.sync.aligned 0;\n  @%p6 mbarrier.arrive.shared::cta.b64 _, [%r12];",
      "  @%p6 mbarrier.arrive.shared::cta.b64 _, [%r12];\n  bar.sync %r3, 128;\n"
      "  setp.eq.u32 %p9, %r8, 3; @!%p9 bra NEXT; wgmma.wait_group.sync.aligned 0; NEXT:",
      "the source of a wgmma");
}

TEST_F(Hopper, OneWarpgroupDoesNotReleaseTheStage) {
  // The other one arrives twice, so the count is right.
  expectFault(FaultKind::Race, "  @%p6 mbarrier.arrive.shared::cta.b64 _, [%r12];",
              "  setp.eq.u32 %p9, %r1, 128; @%p9 mbarrier.arrive.shared::cta.b64 _, [%r12], 2;",
              "races with the read by a wgmma of warpgroup 2");
}

TEST_F(Hopper, AccumulatorsAreReadBeforeTheWait) {
  expectFault(FaultKind::AsyncCopy, "  wgmma.wait_group.sync.aligned 0;",
              "  setp.eq.u32 %p9, %r8, 3; @%p9 bra LAST; wgmma.wait_group.sync.aligned 0; LAST:",
              "reads an accumulator of a wgmma that the warp has not waited for");
}

TEST_F(Hopper, AccumulatorsAreWrittenBeforeTheWait) {
  expectFault(FaultKind::AsyncCopy, "  wgmma.commit_group.sync.aligned;\n",
              "  wgmma.commit_group.sync.aligned;\n  mov.f32 %d7, 0f00000000;\n",
              "writes an accumulator of a wgmma that the warp has not waited for");
}

TEST_F(Hopper, TheFenceOfRegistersIsMissing) {
  expectFault(FaultKind::IllegalInstruction, "  wgmma.fence.sync.aligned;\n", "",
              "no wgmma.fence has come before");
}

TEST_F(Hopper, ARegisterIsWrittenBehindTheFence) {
  expectFault(FaultKind::IllegalInstruction, "  wgmma.fence.sync.aligned;\n",
              "  wgmma.fence.sync.aligned;\n  mov.f32 %d7, 0f00000000;\n",
              "has written an accumulator or a register of A since its last wgmma.fence");
}

TEST_F(Hopper, TheProxyFenceIsMissing) {
  expectFault(FaultKind::MissingProxyFence, "  fence.proxy.async.shared::cta;\n", "",
              "which fence.proxy.async has not made visible");
}

TEST_F(Hopper, TheProxyFenceIsThatOfAnotherThread) {
  // Only those writes that the fencing thread knew of are fenced.
  expectFault(FaultKind::MissingProxyFence, "  fence.proxy.async.shared::cta;\n",
              "  @%p6 fence.proxy.async.shared::cta;\n", "made visible");
}

TEST_F(Hopper, OneProxyFenceAfterTheBarrierWillDo) {
  ProductKernel kernel;
  kernel.replace("  fence.proxy.async.shared::cta;\n  bar.sync %r3, 128;",
                 "  bar.sync %r3, 128;\n  fence.proxy.async.shared::cta;");
  LaunchResult result = multiply(kernel);
  EXPECT_TRUE(result.ok()) << result.fault.str();
}

TEST_F(Hopper, TheBarrierBeforeTheStoreIsMissing) {
  Fault fault = planted("  bar.sync %r3, 128;", "");
  EXPECT_TRUE(fault.kind == FaultKind::Race || fault.kind == FaultKind::UninitialisedRead ||
              fault.kind == FaultKind::AsyncCopy)
      << fault.str();
}

TEST_F(Hopper, NobodyWaitsForTheStore) {
  expectFault(FaultKind::AsyncCopy, "  cp.async.bulk.wait_group 0;\n", "",
              "the block exits while this copy may still read from its shared memory");
}

TEST_F(Hopper, TheSourceOfAStoreIsOverwritten) {
  expectFault(FaultKind::AsyncCopy, "  cp.async.bulk.wait_group 0;\n",
              "  st.shared.b32 [%r24+64], 0;\n  cp.async.bulk.wait_group 0;\n",
              "the source of an asynchronous copy");
  ProductKernel waited;
  waited.replace("  cp.async.bulk.wait_group 0;\n",
                 "  cp.async.bulk.wait_group.read 0;\n  st.shared.b32 [%r24+64], 0;\n"
                 "  cp.async.bulk.wait_group 0;\n");
  LaunchResult result = multiply(waited);
  EXPECT_TRUE(result.ok()) << result.fault.str();
  EXPECT_EQ(wrongElements(), 0u);
}

TEST_F(Hopper, TooFewBytesArriveHangs) {
  Fault fault = planted("[%r11], 24576;", "[%r11], 24592;");
  EXPECT_EQ(fault.kind, FaultKind::Deadlock) << fault.str();
  EXPECT_NE(fault.str().find("0 of 1 arrivals and 16 bytes to come"), std::string::npos)
      << fault.str();
  // One line for each group of threads: the loading thread and eight warps.
  EXPECT_GE(fault.details.size(), 9u) << fault.str();
}

TEST_F(Hopper, AWaitForThePhaseBefore) {
  // The parity of the second wait is that of the phase before, which has ended.
  expectFault(FaultKind::AsyncCopy,
              "and.b32 %r9, %r8, 1; bfe.u32 %r10, %r8, 1, 1;\n  mad.lo.u32 %r11, %r9, 8, "
              "%r2; add.u32 %r12, %r11, 65552; add.u32 %r11, %r11, 65536;\nFULL:",
              "and.b32 %r9, %r8, 1; bfe.u32 %r10, %r8, 0, 1;\n  mad.lo.u32 %r11, %r9, 8, "
              "%r2; add.u32 %r12, %r11, 65552; add.u32 %r11, %r11, 65536;\nFULL:",
              "the destination of an asynchronous copy that has not been waited for");
}

TEST_F(Hopper, TooManyArrivals) {
  expectFault(FaultKind::MbarrierMisuse, "@%p6 mbarrier.arrive.shared::cta.b64 _, [%r12];",
              "@%p6 mbarrier.arrive.shared::cta.b64 _, [%r12], 3;", "3 arrivals, but only 2 of 2");
}

TEST_F(Hopper, TooFewArrivalsAreExpected) {
  // The stage is free as soon as one of the warpgroups has released it.
  expectFault(FaultKind::Race, "mbarrier.init.shared::cta.b64 [smem+65552], 2;",
              "mbarrier.init.shared::cta.b64 [smem+65552], 1;",
              "races with the read by a wgmma of warpgroup 2");
}

TEST_F(Hopper, InitialisedTwice) {
  expectFault(FaultKind::MbarrierMisuse, "READY: bar.sync 0;",
              "READY: bar.sync 0; setp.eq.u32 %p8, %r1, 383; @%p8 mbarrier.init.shared::cta.b64 "
              "[smem+65536], 1;",
              "initialised again while it is in use");
}

TEST_F(Hopper, OverwrittenMbarrier) {
  expectFault(FaultKind::MbarrierMisuse, "READY: bar.sync 0;",
              "READY: bar.sync 0; setp.eq.u32 %p8, %r1, 0; @%p8 st.shared.b32 [smem+65540], 17;",
              "an ordinary store has overwritten it");
}

TEST_F(Hopper, OneWarpDoesNotTakePart) {
  Fault fault =
      planted("  wgmma.fence.sync.aligned;\n",
              "  setp.ge.u32 %p9, %r1, 352; @%p9 bra DONE;\n  wgmma.fence.sync.aligned;\n");
  EXPECT_EQ(fault.kind, FaultKind::Deadlock) << fault.str();
  EXPECT_NE(fault.str().find("to issue the same products"), std::string::npos) << fault.str();
}

TEST_F(Hopper, OneWarpHasOtherRegisters) {
  expectFault(FaultKind::IllegalInstruction, "  setmaxnreg.dec.sync.aligned.u32 40;\n",
              "  setp.ge.u32 %p9, %r1, 96; @%p9 bra DONE;\n  setmaxnreg.dec.sync.aligned.u32 40;\n",
              "only 3 of the four warps of warpgroup 0");
}

TEST_F(Hopper, TooManyRegisters) {
  expectFault(FaultKind::IllegalInstruction, "setmaxnreg.inc.sync.aligned.u32 232",
              "setmaxnreg.inc.sync.aligned.u32 240",
              "would have 66560 registers, of 64512 that the block has: 168 a thread");
}

TEST_F(Hopper, RegistersThatNobodyGivesUp) {
  expectFault(FaultKind::IllegalInstruction, "  setmaxnreg.dec.sync.aligned.u32 40;\n", "",
              "would have 80896 registers, of 64512");
}

TEST_F(Hopper, RegistersOfTwoBlocks) {
  expectFault(FaultKind::IllegalInstruction, ".reqntid 384, 1, 1",
              ".reqntid 384, 1, 1 .minnctapersm 2",
              "would have 64512 registers, of 30720 that the block has: 80 a thread");
}

TEST_F(Hopper, RegistersThatTheKernelStates) {
  expectFault(FaultKind::IllegalInstruction, ".reqntid 384, 1, 1",
              ".reqntid 384, 1, 1 .maxnreg 160",
              "would have 64512 registers, of 61440 that the block has: 160 a thread");
}

TEST_F(Hopper, TilesBeginAtAMultipleOfSixteenBytes) {
  // The innermost coordinate counts, inside of the tensor and below it.
  expectFault(
      FaultKind::IllegalInstruction, "shl.b32 %r15, %r8, 6;",
      "shl.b32 %r15, %r8, 6; add.u32 %r15, %r15, 4;",
      "expected an innermost coordinate that is a multiple of 16 bytes, got 4 elements of 2");
  expectFault(FaultKind::IllegalInstruction, "shl.b32 %r15, %r8, 6;",
              "shl.b32 %r15, %r8, 6; sub.u32 %r15, %r15, 7;", "got -7 elements of 2");
  expectFault(FaultKind::IllegalInstruction, "[%q3, {%r6, %r28}]", "[%q3, {%r3, %r28}]",
              "a multiple of 16 bytes, got 1");
  // Rows may begin anywhere; eight elements are sixteen bytes.
  LaunchResult result = multiply(ProductKernel()
                                     .replace("{%r15, %r5}", "{%r15, %r7}")
                                     .replace("elect.sync %r7", "mov.u32 %r7, 5; elect.sync _"));
  EXPECT_TRUE(result.ok()) << result.fault.str();
  result = multiply(ProductKernel().replace("shl.b32 %r15, %r8, 6;",
                                            "shl.b32 %r15, %r8, 6; sub.u32 %r15, %r15, 8;"));
  EXPECT_TRUE(result.ok()) << result.fault.str();
}

TEST_F(Hopper, DescriptorsOutsideOfSharedMemory) {
  expectFault(FaultKind::OutOfBounds, "shr.u32 %r13, %r13, 4;",
              "add.u32 %r13, %r13, 65536; shr.u32 %r13, %r13, 4;", "wgmma reads shared memory");
}

} // namespace
