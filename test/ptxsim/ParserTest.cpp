//===- ParserTest.cpp - What the parser takes and refuses -----------------===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fixture.h"

using namespace xc::ptxsim;

namespace {

class Parser : public PtxTest {
protected:
  /// The error of a module; fails the test if it loads.
  ParseError errorOf(const std::string &text) {
    ParseError error;
    EXPECT_EQ(tryLoad(text, error), nullptr);
    return error;
  }
  ParseError errorOfBody(const std::string &body) { return errorOf(head("sm_80") + kernel(body)); }
};

TEST_F(Parser, UnknownInstructionIsNamedWithItsLine) {
  ParseError error = errorOfBody("  add.s32 %r0, %r1, %r2;\n  frobnicate.b32 %r0, %r1;");
  EXPECT_EQ(error.message, "unknown instruction 'frobnicate.b32'");
  EXPECT_EQ(error.line, kHeadLines + 6);
  EXPECT_TRUE(error.unsupported);
}

TEST_F(Parser, UnknownModifierIsNamed) {
  ParseError error = errorOfBody("  add.wild.s32 %r0, %r1, %r2;");
  EXPECT_NE(error.message.find("unsupported modifier '.wild'"), std::string::npos) << error.str();
  EXPECT_EQ(error.line, kHeadLines + 5);
}

TEST_F(Parser, InstructionsOfLaterTargetsAreRefused) {
  for (const char *text : {"wgmma.fence.sync.aligned;", "tcgen05.wait::ld.sync.aligned;",
                           "cp.async.bulk.commit_group;", "barrier.cluster.arrive;",
                           "setmaxnreg.inc.sync.aligned.u32 232;", "griddepcontrol.wait;"}) {
    ParseError error = errorOfBody(text);
    EXPECT_TRUE(error.unsupported) << text;
    EXPECT_EQ(error.line, kHeadLines + 5) << text;
  }
}

TEST_F(Parser, OperandsAreChecked) {
  EXPECT_NE(errorOfBody("add.s32 %r0, %r1;").message.find("expected 3 operands, got 2"),
            std::string::npos);
  EXPECT_NE(errorOfBody("add.s64 %rd0, %r1, %rd2;").message.find("expected a source of 64 bits"),
            std::string::npos);
  EXPECT_NE(
      errorOfBody("add.s32 %rd0, %r1, %r2;").message.find("expected a destination of 32 bits"),
      std::string::npos);
  EXPECT_NE(errorOfBody("selp.b32 %r0, %r1, %r2, %r3;").message.find("expected a predicate"),
            std::string::npos);
}

TEST_F(Parser, UnknownNamesAreErrors) {
  EXPECT_EQ(errorOfBody("bra NOWHERE;").message, "'bra': unknown label 'NOWHERE'");
  EXPECT_EQ(errorOfBody("mov.u32 %r99, 0;").message.substr(0, 16), "unknown register");
  EXPECT_NE(errorOfBody("mov.u64 %rd0, nothing;").message.find("unknown symbol 'nothing'"),
            std::string::npos);
  EXPECT_NE(errorOfBody("@%nope bra L; L:").message.find("unknown predicate"), std::string::npos);
}

TEST_F(Parser, MalformedTextIsRefusedWithPosition) {
  EXPECT_EQ(errorOf("hello").message,
            "expected '.version' at the start of the module, got 'hello'");
  EXPECT_EQ(errorOf("").line, 1u);
  EXPECT_EQ(errorOf(".version 99999999999999.0\n.target sm_80").line, 1u);
  ParseError error = errorOf(head("sm_80") + "\n.visible .entry k(\n");
  EXPECT_NE(error.message.find("expected '.param', got the end of the text"), std::string::npos);
  error = errorOfBody("add.s32 %r0, #1, 2;");
  EXPECT_EQ(error.message, "unexpected character 0x23");
  EXPECT_EQ(error.column, 14u);
  EXPECT_NE(errorOf(head("sm_80") + "/* open").message.find("'*/'"), std::string::npos);
}

TEST_F(Parser, NewerTargetsAreRefused) {
  ParseError error = errorOf(head("sm_90") + kernel(""));
  EXPECT_EQ(error.message, "the module's target sm_90 cannot run on sm_80");
  EXPECT_TRUE(error.unsupported);
  Options options;
  options.arch = Arch::SM90a;
  reset(options);
  ParseError none;
  EXPECT_NE(tryLoad(head("sm_90") + kernel(""), none), nullptr) << none.str();
  EXPECT_NE(tryLoad(head("sm_90a") + kernel(""), none), nullptr) << none.str();
  EXPECT_EQ(tryLoad(head("sm_100") + kernel(""), none), nullptr);
}

TEST_F(Parser, UnresolvedExternsAreRefused) {
  EXPECT_NE(errorOf(head("sm_80") + ".extern .global .b32 missing;\n" + kernel(""))
                .message.find("extern variable 'missing' is not defined"),
            std::string::npos);
  std::string call = ".extern .func other(.param .b32 x);\n" +
                     kernel("{ .param .b32 a; st.param.b32 [a], 1; call.uni other, (a); }");
  EXPECT_NE(errorOf(head("sm_80") + call).message.find("extern function 'other' is not provided"),
            std::string::npos);
  simulator->defineExtern("other", [](const uint8_t *, uint8_t *) { return true; });
  ParseError none;
  EXPECT_NE(tryLoad(head("sm_80") + call, none), nullptr) << none.str();
}

TEST_F(Parser, RecursionIsRefused) {
  ParseError error =
      errorOf(head("sm_80") + ".func f() { call.uni f; ret; }\n" + kernel("call.uni f;"));
  EXPECT_NE(error.message.find("recursive call of 'f'"), std::string::npos);
}

TEST_F(Parser, KernelInfoIsRead) {
  load(".extern .shared .align 16 .b8 dynamic[];\n"
       ".shared .align 4 .b8 unused[4096];\n"
       ".global .align 8 .u64 pointer = generic(table)+4;\n"
       ".const .align 4 .u32 table[4] = {1, 2, 0x30, 4};\n"
       ".visible .entry k(.param .u32 a, .param .align 16 .b8 s[20], .param .u64 .ptr .global "
       ".align 4 c)\n"
       ".maxntid 128, 2, 1\n.minnctapersm 3\n"
       "{ .shared .align 8 .f64 x[10]; .local .align 4 .b8 depot[12]; .reg .b32 %r<4>; .reg .b64 "
       "%rd<2>;\n"
       "  mov.u64 %rd0, x; mov.u64 %rd1, dynamic; mov.u32 %r0, depot; ret; }\n");
  const KernelInfo &info = module->findKernel("k")->info();
  ASSERT_EQ(info.params.size(), 3u);
  EXPECT_EQ(info.params[1].offset, 16u);
  EXPECT_EQ(info.params[1].size, 20u);
  EXPECT_EQ(info.params[2].offset, 40u);
  EXPECT_EQ(info.paramBytes, 48u);
  EXPECT_EQ(info.staticSharedBytes, 80u);
  EXPECT_TRUE(info.usesDynamicShared);
  EXPECT_EQ(info.maxThreadsPerBlock, 256u);
  EXPECT_EQ(info.minBlocksPerSM, 3u);
  EXPECT_EQ(info.constBytes, 16u);
  const GlobalInfo *table = module->findGlobal("table"), *pointer = module->findGlobal("pointer");
  ASSERT_TRUE(table && pointer);
  EXPECT_TRUE(table->constant);
  EXPECT_EQ(reinterpret_cast<const uint32_t *>(table->address)[2], 0x30u);
  EXPECT_EQ(*reinterpret_cast<const uint64_t *>(pointer->address), table->address + 4);
  EXPECT_EQ(module->version(), 80u);
}

TEST_F(Parser, DebugSectionsAndPragmasAreSkipped) {
  load(".file 1 \"a.c\", 1, 2\n" +
       kernel("  .pragma \"nounroll\";\n  .loc 1 7 3\n  .loc 1 8 3, function_name $L__info0, "
              "inlined_at 1 7 3\n"
              "  { .reg .b32 %inner; L: mov.u32 %inner, 1; }\n  { .reg .b32 %inner; L: mov.u32 "
              "%inner, 2; }") +
       ".section .debug_str { $L__info0: .b8 1, 2, 3\n { .b8 4 } }\n");
}

} // namespace
