//===- UnwrittenTest.cpp - Registers that are read before they are written -===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HopperFixture.h"

using namespace xc::ptxsim;

namespace {

class Unwritten : public PtxTest {
protected:
  Fault run(const std::string &text, Dim3 grid, Dim3 block, const char *target = "sm_80") {
    load(text, target);
    std::vector<uint32_t> buffer(1024);
    map(buffer);
    LaunchResult result = launch(Params().add(buffer), grid, block);
    unmap(buffer);
    return result.fault;
  }

  void expectClean(const std::string &body, Dim3 block = {32, 1, 1}) {
    Fault fault = run(kernel(body), {}, block);
    EXPECT_EQ(fault.kind, FaultKind::None) << fault.str();
  }

  /// Expects a report of |thread| that |says| of a register that it is unwritten.
  void expectFault(const std::string &body, const std::string &says, uint32_t thread = 0,
                   Dim3 block = {32, 1, 1}) {
    Fault fault = run(kernel(body), {}, block);
    EXPECT_EQ(fault.kind, FaultKind::UninitialisedRead) << fault.str();
    EXPECT_NE(fault.message.find(says), std::string::npos) << fault.str();
    EXPECT_EQ(fault.thread.x, thread);
  }
};

/// Stores a register for each thread.
const char kStore[] = "\n  mad.wide.u32 %rd9, %t, 4, %o; st.global.b32 [%rd9], %r9;";

TEST_F(Unwritten, AStoredValue) {
  expectFault(kStore, "reads %r9, which the thread has never written");
  expectClean(std::string("mov.b32 %r9, 1;") + kStore);
}

TEST_F(Unwritten, OneSideOfABranchLeavesItOut) {
  std::string body = "setp.lt.u32 %p0, %t, 7; @!%p0 bra JOIN; mov.b32 %r9, %t;\nJOIN:";
  expectFault(body + kStore, "reads %r9", 7);
  expectFault(body + "add.u32 %r9, %r9, 1;" + kStore, "reads %r9", 7);
  // Guarded, both the write and the read.
  expectClean("setp.lt.u32 %p0, %t, 7; @%p0 mov.b32 %r9, 5; @%p0 st.global.b32 [%o], %r9;");
  expectFault("setp.lt.u32 %p0, %t, 7; @%p0 mov.b32 %r9, 5; @!%p0 st.global.b32 [%o], %r9;",
              "reads %r9", 7);
}

TEST_F(Unwritten, ReportsWhereAValueComesFrom) {
  Fault fault = run(kernel(std::string("add.u32 %r1, %t, %r0; mul.lo.u32 %r9, %r1, %t;") + kStore),
                    {}, {32, 1, 1});
  EXPECT_NE(fault.message.find(
                "reads %r9, whose value depends on %r0, which the thread has never written"),
            std::string::npos)
      << fault.str();
  EXPECT_EQ(fault.instruction, "st.global.b32 [%rd9], %r9;");
  EXPECT_GT(fault.ptxLine, 0u);
}

TEST_F(Unwritten, ASumOfALoopThatNobodyBegan) {
  std::string loop = "mov.u32 %r0, 0;\nL: add.u32 %r9, %r9, %r0; add.u32 %r0, %r0, 1;\n"
                     "  setp.lt.u32 %p0, %r0, 4; @%p0 bra L;";
  expectFault(loop + kStore, "reads %r9");
  expectClean("mov.b32 %r9, 0;" + loop + kStore);
}

TEST_F(Unwritten, WhatMayNotMatter) {
  // The operand that is not chosen, a copy that nobody looks at, and a factor of false.
  expectClean(std::string("setp.eq.u32 %p0, 0, 0; selp.b32 %r9, %t, %r0, %p0;") + kStore);
  expectFault(std::string("setp.eq.u32 %p0, %t, 3; selp.b32 %r9, %r0, %t, %p0;") + kStore,
              "depends on %r0", 3);
  expectFault(std::string("selp.b32 %r9, 1, %t, %p0;") + kStore, "depends on %p0");
  expectClean("mov.b32 %r1, %r0; add.u32 %r2, %r1, %r0; setp.eq.u32 %p3, %r2, 0;");
  expectClean("setp.gt.u32 %p0, %t, 99; setp.eq.u32 %p2, %r0, 0; and.pred %p1, %p0, %p2;\n"
              "  @%p1 st.global.b32 [%o], %t;");
  expectFault("setp.ne.u32 %p0, %t, 4; setp.eq.u32 %p2, %r0, 0; or.pred %p1, %p0, %p2;\n"
              "  @%p1 bra L; L:",
              "depends on %r0", 4);
  expectClean(std::string("and.b32 %r9, %r0, 0;") + kStore);
}

TEST_F(Unwritten, HalvesOfARegister) {
  std::string body = "mov.b16 %h0, 1; mov.b32 %r0, {%h0, %h1}; mov.b32 {%h2, %h3}, %r0;\n";
  expectClean(body + "st.global.b16 [%o], %h2;");
  expectFault(body + "st.global.b16 [%o], %h3;", "depends on %h1");
  expectClean(body + "prmt.b32 %r9, %r0, %t, 0x5410;" + kStore);
  expectFault(body + "prmt.b32 %r9, %r0, %t, 0x5420;" + kStore, "depends on %h1");
}

TEST_F(Unwritten, BitsThatMove) {
  // Nobody writes one half of the register.
  const std::string low = "mov.b16 %h0, 1; mov.b32 %r0, {%h1, %h0};\n",
                    high = "mov.b16 %h0, 1; mov.b32 %r0, {%h0, %h1};\n";
  auto isClean = [&](const std::string &body) { expectClean(body + kStore); };
  auto isRefused = [&](const std::string &body) { expectFault(body + kStore, "depends on %h1"); };
  isClean(low + "shr.u32 %r9, %r0, 16;");
  isClean(low + "shr.s32 %r9, %r0, 16;");
  isClean(low + "shr.u32 %r9, %r0, 99;");
  isRefused(low + "shr.u32 %r9, %r0, 15;");
  isRefused(high + "shr.u32 %r9, %r0, 16;");
  isRefused(high + "shr.s32 %r9, %r0, 99;");
  isRefused(low + "shr.u32 %r9, %r0, %t;");
  isClean(high + "shl.b32 %r9, %r0, 16;");
  isRefused(high + "shl.b32 %r9, %r0, 15;");
  isClean(low + "shf.r.wrap.b32 %r9, %r0, %t, 16;");
  isClean(high + "shf.l.wrap.b32 %r9, %t, %r0, 16;");
  isRefused(low + "shf.l.wrap.b32 %r9, %t, %r0, 16;");
  isClean(low + "shf.r.clamp.b32 %r9, %r0, %t, 40;");
  isClean(low + "bfe.u32 %r9, %r0, 16, 8;");
  isClean(low + "bfe.s32 %r9, %r0, 16, 16;");
  isRefused(low + "bfe.u32 %r9, %r0, 15, 8;");
  isClean(high + "bfe.u32 %r9, %r0, 0, 16;");
  isRefused(high + "bfe.s32 %r9, %r0, 0, 17;");
  isClean(low + "bfi.b32 %r9, %t, %r0, 0, 16;");
  isRefused(low + "bfi.b32 %r9, %t, %r0, 0, 8;");
  isClean(high + "bfi.b32 %r9, %r0, %t, 4, 12;");
}

TEST_F(Unwritten, BitsThatStayInTheirPlace) {
  const std::string low = "mov.b16 %h0, 1; mov.b32 %r0, {%h1, %h0};\n",
                    shift = "shr.u32 %r9, %r1, 16;";
  expectClean(low + "not.b32 %r1, %r0;" + shift + kStore);
  expectClean(low + "xor.b32 %r1, %r0, %t;" + shift + kStore);
  expectClean(low + "lop3.b32 %r1, %t, %r0, %t, 0x96;" + shift + kStore);
  expectClean(low + "setp.eq.u32 %p0, %t, 3; selp.b32 %r1, %r0, %t, %p0;" + shift + kStore);
  expectFault(low + "xor.b32 %r9, %t, %r0;" + kStore, "depends on %h1");
  expectFault(low + "setp.eq.u32 %p0, %t, 3; selp.b32 %r9, %r0, %t, %p0;" + kStore,
              "depends on %h1", 3);
  expectFault(low + "add.u32 %r1, %r0, %t;" + shift + kStore, "depends on %h1");
}

TEST_F(Unwritten, WhatConversionsKeep) {
  const std::string low = "mov.b16 %h0, 1; mov.b32 %r0, {%h1, %h0};\n",
                    high = "mov.b16 %h0, 1; mov.b32 %r0, {%h0, %h1};\n";
  expectClean(high + "cvt.u16.u32 %h2, %r0; cvt.u32.u16 %r9, %h2;" + kStore);
  expectClean(high + "cvt.s32.s16 %r9, %r0;" + kStore);
  expectFault(low + "cvt.s32.s16 %r9, %r0;" + kStore, "depends on %h1");
  expectFault(low + "cvt.u16.u32 %h2, %r0; cvt.u32.u16 %r9, %h2;" + kStore, "depends on %h1");
  expectClean(low + "shr.u32 %r1, %r0, 16; cvt.u8.u32 %h2, %r1; st.global.b16 [%o], %h2;");
}

TEST_F(Unwritten, AddressesGuardsAndBarriers) {
  expectFault("ld.global.b32 %r9, [%rd0];", "reads %rd0");
  expectFault("@%p0 mov.b32 %r9, 1;", "reads %p0");
  expectFault("@%p0 bra L; L:", "reads %p0");
  expectFault("bar.sync %r0;", "reads %r0");
  expectFault("atom.global.add.u32 %r9, [%o], %r1;", "reads %r1");
  expectFault("add.cc.u32 %r1, %r0, 1;", "reads %r0");
  expectFault("vote.sync.ballot.b32 %r9, %p0, 0xffffffff;", "reads %p0");
}

TEST_F(Unwritten, WhatALaneReadsOfAnother) {
  std::string head = "setp.lt.u32 %p0, %t, 16; @!%p0 bra J; mov.b32 %r0, %t;\nJ: "
                     "bar.warp.sync 0xffffffff;\n",
              store = "@%p0 mad.wide.u32 %rd9, %t, 4, %o; @%p0 st.global.b32 [%rd9], %r9;";
  expectClean(head + "shfl.sync.bfly.b32 %r9, %r0, 8, 31, 0xffffffff;" + store);
  expectFault(head + "shfl.sync.bfly.b32 %r9, %r0, 16, 31, 0xffffffff;" + store, "depends on %r0");
  expectFault("shfl.sync.idx.b32 %r9, %t, %r1, 31, 0xffffffff;", "reads %r1");
}

TEST_F(Unwritten, EveryBlockAndCallBeginsAnew) {
  // Block 0 writes the register that block 1, in the same place, reads.
  Options options;
  options.hostThreads = 1;
  reset(options);
  Fault fault = run(kernel(std::string("setp.eq.u32 %p0, %b, 0; @%p0 mov.b32 %r9, 1;") + kStore),
                    {2, 1, 1}, {32, 1, 1});
  EXPECT_EQ(fault.kind, FaultKind::UninitialisedRead) << fault.str();
  EXPECT_EQ(fault.block.x, 1u);
  std::string function = ".func (.param .b32 r) f(.param .b32 a)\n{ .reg .b32 %a, %b; .reg .pred "
                         "%p; ld.param.b32 %a, [a]; setp.eq.u32 %p, %a, 0; @%p mov.b32 %b, 1;\n"
                         "  st.param.b32 [r], %b; ret; }\n";
  auto call = [](const std::string &value) {
    return "{ .param .b32 x; .param .b32 y; st.param.b32 [x], " + value +
           "; call.uni (y), f, (x); ld.param.b32 %r9, [y]; }\n";
  };
  fault = run(function + kernel(call("0") + call("0")), {}, {32, 1, 1});
  EXPECT_EQ(fault.kind, FaultKind::None) << fault.str();
  fault = run(function + kernel(call("0") + call("1")), {}, {32, 1, 1});
  EXPECT_EQ(fault.kind, FaultKind::UninitialisedRead) << fault.str();
  EXPECT_NE(fault.message.find("reads %b"), std::string::npos) << fault.str();
}

TEST_F(Unwritten, TheCheckCanBeSwitchedOff) {
  Options options;
  options.checks.uninitialised = false;
  reset(options);
  expectClean(kStore);
}

TEST_F(Unwritten, OperandsOfAMatrixProduct) {
  std::string body =
      "mov.b32 %f0, 0f00000000; mov.b32 %r0, 0; mov.b32 %r1, 0;\n"
      "  mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f4, %f5, %f6, %f7}, {%r0, %r1}, {%r2}, "
      "{%f0, %f0, %f0, %f0};";
  expectFault(body, "reads %r2");
  expectClean("mov.b32 %r2, 0;" + body);
}

class UnwrittenHopper : public HopperTest {};

TEST_F(UnwrittenHopper, AccumulatorsWithoutScaleD) {
  // The first of the products begins the sum, so nobody writes accumulators before it.
  EXPECT_TRUE(multiply(ProductKernel()).ok());
  Fault fault =
      multiply(ProductKernel().replace("setp.ne.u32 %p7, %r8, 0;", "setp.eq.u32 %p7, 0, 0;")).fault;
  EXPECT_EQ(fault.kind, FaultKind::UninitialisedRead) << fault.str();
  EXPECT_NE(fault.message.find("reads %d0, which"), std::string::npos) << fault.str();
}

} // namespace
