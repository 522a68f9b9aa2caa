//===- TargetTest.cpp - Forms that older targets and versions lack --------===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fixture.h"

using namespace xc::ptxsim;

namespace {

struct Row {
  const char *instruction;
  const char *target;
  unsigned version;
};

const Row kRows[] = {
#include "Targets.inl"
};

struct Step {
  std::string target;
  unsigned version; ///< the first that knows the target
};
const Step kTargets[] = {{"sm_75", 63}, {"sm_80", 70}, {"sm_86", 71},
                         {"sm_89", 78}, {"sm_90", 78}, {"sm_90a", 80}};
const unsigned kVersions[] = {63, 64, 65, 70, 71, 72, 73, 74, 75, 76, 77,
                              78, 80, 81, 82, 83, 84, 85, 86, 87, 88, 90};

/// On a device that has all of the targets.
class Target : public PtxTest {
protected:
  Target() {
    Options options;
    options.arch = Arch::SM90a;
    reset(options);
  }

  /// The error of a module with |body|; "" if it loads.
  std::string errorOf(const std::string &body, const std::string &target, unsigned version) {
    std::string text = ".version " + std::to_string(version / 10) + "." +
                       std::to_string(version % 10) + "\n.target " + target +
                       "\n.address_size 64\n" +
                       ".visible .entry k(.param .u64 a) {\n"
                       "  .reg .pred %p<16>; .reg .b32 %r<32>; .reg .b64 %rd<16>;\n"
                       "  .reg .f32 %f<16>; .reg .f64 %d<16>; .reg .b16 %h<16>;\n"
                       "  .shared .align 128 .b8 s[2048]; .shared .align 8 .b64 m;\n" +
                       body + "\n  ret;\n}\n";
    ParseError error;
    return tryLoad(text, error) ? "" : error.str();
  }
};

TEST_F(Target, FormsAreRefusedBeforeTheirFirstTarget) {
  for (const Row &row : kRows) {
    SCOPED_TRACE(row.instruction);
    EXPECT_EQ(errorOf(row.instruction, row.target, row.version), "");
    const Step *before = nullptr;
    for (const Step &step : kTargets) {
      if (step.target == row.target)
        break;
      before = &step;
    }
    if (!before)
      continue;
    std::string error = errorOf(row.instruction, before->target, 90);
    std::string wanted = row.target;
    EXPECT_NE(error.find("needs .target " + wanted), std::string::npos) << error;
    EXPECT_NE(error.find("the module has " + before->target), std::string::npos) << error;
    EXPECT_EQ(error.compare(0, 7, "line 8:"), 0) << error;
    std::string opcode = row.instruction;
    EXPECT_NE(error.find(opcode.substr(0, opcode.find('.'))), std::string::npos) << error;
  }
}

TEST_F(Target, FormsAreRefusedBeforeTheirFirstVersion) {
  for (const Row &row : kRows) {
    SCOPED_TRACE(row.instruction);
    unsigned before = 0, least = 0;
    for (unsigned version : kVersions)
      if (version < row.version)
        before = version;
    for (const Step &step : kTargets)
      if (step.target == row.target)
        least = step.version;
    if (before < least)
      continue; // the target itself is as new
    std::string error = errorOf(row.instruction, row.target, before);
    EXPECT_NE(error.find("needs PTX " + std::to_string(row.version / 10)), std::string::npos)
        << error;
  }
}

TEST_F(Target, DirectivesNeedATargetToo) {
  for (const char *directive : {".reqnctapercluster 2", ".explicitcluster", ".maxclusterrank 4"}) {
    std::string text = std::string(".visible .entry k() ") + directive + "\n{ ret; }\n";
    ParseError error;
    EXPECT_NE(tryLoad(head("sm_90") + text, error), nullptr) << error.str();
    EXPECT_EQ(tryLoad(head("sm_80") + text, error), nullptr);
    EXPECT_NE(error.message.find("needs .target sm_90"), std::string::npos) << error.str();
  }
}

TEST_F(Target, FormsThatNoTargetHas) {
  for (const char *text :
       {"cvt.sat.f32.bf16 %f0, %h0;", "cvt.rzi.s8.bf16 %h0, %h1;", "cvt.rn.bf16.s8 %h0, %h1;",
        "cvt.rn.satfinite.tf32.f32 %r0, %f0;", "atom.global.min.noftz.bf16 %h0, [%rd0], %h1;",
        "atom.global.max.noftz.f16x2 %r0, [%rd0], %r1;", "ex2.approx.ftz.f16x2 %r0, %r1;",
        "ld.global.v4.b64 {%rd0, %rd1, %rd2, %rd3}, [%rd4];"})
    EXPECT_NE(errorOf(text, "sm_90a", 90), "") << text;
}

} // namespace
