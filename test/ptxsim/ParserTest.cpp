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

TEST_F(Parser, ParametersAreReadWithinTheirBounds) {
  const char *head = ".visible .entry k(.param .u32 a, .param .u32 b, .param .align 8 .b8 c[12])\n"
                     "{ .reg .b32 %r<4>; .reg .b64 %rd<2>;\n";
  auto messageOf = [&](const std::string &load) {
    ParseError error;
    return tryLoad(Parser::head("sm_80") + head + load + " ret; }\n", error) ? "" : error.message;
  };
  EXPECT_EQ(messageOf("ld.param.u32 %r0, [b]; ld.param.v2.u32 {%r0, %r1}, [c];"), "");
  EXPECT_EQ(messageOf("ld.param.u32 %r0, [c+8];"), "");
  EXPECT_EQ(messageOf("ld.param.u64 %rd0, [a];"),
            "'ld.param.u64': 8 bytes at offset 0 are not in parameter 'a', which has 4");
  EXPECT_EQ(messageOf("ld.param.u64 %rd0, [c+8];"),
            "'ld.param.u64': 8 bytes at offset 8 are not in parameter 'c', which has 12");
  EXPECT_EQ(messageOf("ld.param.u32 %r0, [a+2];"),
            "'ld.param.u32': offset 2 among the parameters is no multiple of 4");
  EXPECT_EQ(messageOf("ld.param.u32 %r0, [c+12];"),
            "'ld.param.u32': offset 20 is in no parameter (20 bytes)");
  EXPECT_EQ(messageOf("ld.param.u32 %r0, [a-4];"),
            "'ld.param.u32': offset -4 is in no parameter (20 bytes)");
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

TEST_F(Parser, WhatNoLaunchCanGiveIsRefused) {
  auto shared = [](const std::string &bytes) {
    return kernel("  .shared .align 4 .b8 s[" + bytes + "]; mov.u32 %r0, s;");
  };
  ParseError error;
  EXPECT_TRUE(tryLoad(head("sm_80") + shared("49152"), error)) << error.str();
  EXPECT_FALSE(tryLoad(head("sm_80") + shared("49156"), error));
  EXPECT_NE(error.message.find("at most 49152 bytes of shared variables, got 49156"),
            std::string::npos)
      << error.str();
  std::string constants = ".const .align 4 .b8 c[65536];\n";
  EXPECT_TRUE(tryLoad(head("sm_80") + constants, error)) << error.str();
  EXPECT_FALSE(tryLoad(head("sm_80") + constants + ".const .b8 d;\n", error));
  EXPECT_NE(error.message.find("at most 65536 bytes of .const variables, got 65537"),
            std::string::npos);
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

//===----------------------------------------------------------------------===//
// Nothing is accepted silently
//===----------------------------------------------------------------------===//

TEST_F(Parser, FunctionsThatNobodyCallsAreDecodedToo) {
  ParseError error = errorOf(head("sm_80") +
                             ".func idle()\n{\n  .reg .b32 %r<2>;\n"
                             "  frobnicate.b32 %r0, %r1;\n  ret;\n}\n" +
                             kernel(""));
  EXPECT_EQ(error.message, "unknown instruction 'frobnicate.b32'");
  EXPECT_EQ(error.line, kHeadLines + 4);
  // One that only such a function calls.
  error = errorOf(head("sm_80") +
                  ".func inner() { bra NOWHERE; }\n"
                  ".func outer() { call.uni inner; ret; }\n" +
                  kernel(""));
  EXPECT_EQ(error.message, "'bra': unknown label 'NOWHERE'");
  EXPECT_EQ(error.line, kHeadLines + 1);
}

struct Refused {
  const char *name;
  const char *text;    ///< behind the head unless it brings its own
  const char *message; ///< a part of it
};
class RefusedTest : public Parser, public ::testing::WithParamInterface<Refused> {};
const char kBody[] = "{ ret; }\n";

TEST_P(RefusedTest, WithASentence) {
  std::string text = GetParam().text;
  if (text.compare(0, 8, ".version") != 0)
    text = head("sm_80") + text;
  // Where the text ends with a function's head, it gets a body.
  if (text.back() == ')' || text.back() == ' ')
    text += kBody;
  ParseError error = errorOf(text);
  EXPECT_NE(error.message.find(GetParam().message), std::string::npos) << error.str();
  EXPECT_GT(error.line, 0u);
}

INSTANTIATE_TEST_SUITE_P(
    Module, RefusedTest,
    ::testing::Values(
        Refused{"VersionOfTheFuture", ".version 9.9\n.target sm_80\n",
                "unsupported '.version 9.9'"},
        Refused{"VersionOfThePast", ".version 4.3\n.target sm_50\n", "expected 6.0 to 9.1"},
        Refused{"VersionTwice", ".version 8.0\n.version 8.0\n.target sm_80\n",
                "one '.version' directive"},
        Refused{"VersionOlderThanTarget", ".version 7.0\n.target sm_90\n",
                "target sm_90 needs '.version 7.8' or later"},
        Refused{"TargetUnknown", ".version 8.0\n.target sm_83\n", "unknown target 'sm_83'"},
        Refused{"TargetSuffix", ".version 8.0\n.target sm_80a\n", "unknown target 'sm_80a'"},
        Refused{"TargetTwice", ".version 8.0\n.target sm_80, sm_86\n", "one target"},
        Refused{"TargetOption", ".version 8.0\n.target sm_80, map_f64_to_f32\n",
                "unsupported target option 'map_f64_to_f32'"},
        Refused{"AddressSize", ".version 8.0\n.target sm_80\n.address_size 32\n",
                "expected '.address_size 64', got 32"},
        Refused{"Directive", ".blob x;\n", "unsupported directive '.blob'"},
        Refused{"MetadataSection", ".metadata_section \"x\" { 1 };\n",
                "unsupported directive '.metadata_section'"},
        Refused{"Space", ".surf .b32 x;\n", "unsupported directive '.surf'"},
        Refused{"TextureSpace", ".tex .u64 x;\n", "unsupported directive '.tex'"}),
    [](const auto &info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Variables, RefusedTest,
    ::testing::Values(
        Refused{"Attribute", ".global .attribute(.managed) .b32 x;\n",
                "unsupported attribute '.attribute' of a variable"},
        Refused{"TypeOfInstructions", ".global .bf16 x;\n", "unsupported attribute '.bf16'"},
        Refused{"Predicate", ".global .pred x;\n", "unsupported attribute '.pred'"},
        Refused{"TwoTypes", ".global .b32 .f32 x;\n", "expected one type"},
        Refused{"NoType", ".global .align 4 x;\n", "expected a type"},
        Refused{"Alignment", ".global .align 3 .b32 x;\n", "a power of two, got 3"},
        Refused{"NoSize", ".shared .b8 x[];\n", "neither a size nor values"},
        Refused{"InnerExtent", ".extern .shared .b8 x[4][];\n", "only the first extent"},
        Refused{"ExternWithValue", ".extern .global .b32 x = 1;\n", "has an initialiser"},
        Refused{"FloatForInteger", ".global .b32 x = 1.5;\n", "cannot be a value of 'x'"},
        Refused{"IntegerForFloat", ".global .f32 x = 1;\n", "of type .f32"},
        Refused{"SingleForDouble", ".global .f64 x = 0f3F800000;\n", "of type .f64"},
        Refused{"TooManyValues", ".global .b32 x[2] = {1, 2, 3};\n", "more initial values"},
        Refused{"SharedWithValue", ".shared .b32 x = 1;\n", "cannot have an initialiser"}),
    [](const auto &info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Functions, RefusedTest,
    ::testing::Values(
        Refused{"Directive", ".entry k() .wishful 3 ", "unsupported function directive '.wishful'"},
        Refused{"BlocksAreClusters", ".entry k() .blocksareclusters ", "'.blocksareclusters'"},
        Refused{"ZeroThreads", ".entry k() .reqntid 0 ", "above 0"},
        Refused{"TooManyThreads", ".entry k() .maxntid 1024, 2 ", "a product of at most 1024"},
        Refused{"BothBounds", ".entry k() .maxntid 32 .reqntid 32 ", "one of '.reqntid'"},
        Refused{"NoRegisters", ".entry k() .maxnreg 0 ", "unexpected value 0 of '.maxnreg'"},
        Refused{"LargeCluster", ".version 8.0\n.target sm_90\n.entry k() .reqnctapercluster 32 ",
                "at most 16"},
        Refused{"BoundOfAFunction", ".func f() .maxntid 32 ", "for kernels, not functions"},
        Refused{"KernelThatReturnsNot", ".entry k() .noreturn ", "for functions, not kernels"},
        Refused{"ParameterType", ".entry k(.param .pred p)", "unsupported attribute '.pred'"},
        Refused{"ParameterOfInstructions", ".entry k(.param .tf32 p)", "'.tf32'"},
        Refused{"ParameterInARegister", ".func f(.reg .b32 p)", "unsupported '.reg' parameter"},
        Refused{"ParameterOfAnotherSpace", ".entry k(.const .b32 p)", "expected '.param'"},
        Refused{"ParameterBytes", ".entry k(.param .b8 p[4353])", "expected at most 4352"},
        Refused{"OtherPrototype", ".func f(.param .b32 a);\n.func f(.param .b64 a)",
                "declared with other parameters"},
        Refused{"Twice", ".func f() { ret; }\n.func f()", "'f' is defined twice"}),
    [](const auto &info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Bodies, RefusedTest,
    ::testing::Values(
        Refused{"Directive", ".entry k() { .wishful 3; }", "unsupported directive '.wishful'"},
        Refused{"Space", ".entry k() { .tex .u64 t; }", "unsupported directive '.tex'"},
        Refused{"RegisterTwice", ".entry k() { .reg .b32 %r<2>; .reg .b64 %r<2>; }",
                "register '%r' is declared twice"},
        Refused{"RegisterType", ".entry k() { .reg .bf16 %h; }", "expected a register type"},
        Refused{"SpecialRegister", ".entry k() { .reg .b32 %r; mov.u32 %r, %warpspeed; }",
                "unknown register '%warpspeed'"},
        Refused{"SpecialComponent", ".entry k() { .reg .b32 %r; mov.u32 %r, %laneid.x; }",
                "'%laneid.x' cannot be an operand"},
        Refused{"SpecialWithoutComponent", ".entry k() { .reg .b32 %r; mov.u32 %r, %tid; }",
                "'%tid' cannot be an operand"},
        Refused{"TrailingComma", ".entry k() { .reg .b32 %r<3>; add.u32 %r0, %r1, %r2,; }",
                "expected an operand, got ';'"},
        Refused{"StateSpace", ".entry k() { .reg .b32 %r; .reg .b64 %d; ld.moon.b32 %r, [%d]; }",
                "unsupported modifier '.moon'"},
        Refused{"TwoSpaces",
                ".entry k() { .reg .b32 %r; .reg .b64 %d; ld.global.shared.b32 %r, [%d]; }",
                "unsupported modifier '.shared'"},
        Refused{"TwoRoundings", ".entry k() { .reg .f32 %f<3>; add.rn.rz.f32 %f0, %f1, %f2; }",
                "unsupported modifier '.rz'"},
        Refused{"LocationKeyword", ".entry k() { .loc 1 2 3, somewhere $L, inlined_at 1 2 3 }",
                "expected 'function_name'"}),
    [](const auto &info) { return info.param.name; });

} // namespace
