//===- FormulaTextsTest.cpp - Formulas and names of xdump -----------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/common/Printable.h"
#include "tools/xdump/Dump.h"

#include "gtest/gtest.h"

using namespace xc;
using namespace xc::tools;
using Instructions = std::vector<fb::FormulaInstruction>;

namespace {

/// A plan with nothing but formulas.
class FormulaTextsTest : public testing::Test {
protected:
  FormulaTexts write(const Instructions &code, const std::vector<fb::Range> &ranges,
                     const SymbolNames &names = {"n"}) {
    builder.Clear();
    auto codeVector = builder.CreateVectorOfStructs(code);
    auto rangeVector = builder.CreateVectorOfStructs(ranges);
    fb::PlanBuilder plan(builder);
    plan.add_formulas(rangeVector);
    plan.add_formula_code(codeVector);
    builder.Finish(plan.Finish());
    const auto *table = flatbuffers::GetRoot<fb::Plan>(builder.GetBufferPointer());
    return FormulaTexts(table->formulas(), table->formula_code(), names);
  }
  /// n + 1 + 1 + ... with this many ones.
  static Instructions sum(int ones) {
    Instructions code = {{fb::FormulaOp::Symbol, 0}};
    for (int i = 0; i < ones; ++i) {
      code.emplace_back(fb::FormulaOp::Const, 1);
      code.emplace_back(fb::FormulaOp::Add, 0);
    }
    return code;
  }
  flatbuffers::FlatBufferBuilder builder;
};

} // namespace

TEST_F(FormulaTextsTest, ShortOnesStandWhereTheyAreUsed) {
  FormulaTexts texts = write(sum(2), {fb::Range(0, 5)});
  EXPECT_EQ(texts.use(0), "n + 1 + 1");
  EXPECT_EQ(texts.use(fb::Value(-1, 7)), "7");
  EXPECT_EQ(texts.definitions("  "), "");
  EXPECT_EQ(texts.use(1), "?");
}

TEST_F(FormulaTextsTest, LongOnesAreNamedAndWrittenOnce) {
  FormulaTexts texts = write(sum(60), {fb::Range(0, 121)});
  EXPECT_EQ(texts.use(0), "f0");
  EXPECT_EQ(texts.definitions("  ").substr(0, 15), "  f0 = n + 1 + ");
}

TEST_F(FormulaTextsTest, FormulasThatOthersNameAreDefined) {
  Instructions code = {{fb::FormulaOp::Symbol, 0}, {fb::FormulaOp::Formula, 0}};
  FormulaTexts texts = write(code, {fb::Range(0, 1), fb::Range(1, 1)});
  EXPECT_EQ(texts.use(1), "f0");
  EXPECT_EQ(texts.definitions(""), "f0 = n\n");
}

// 20,000 formulas of one code, and names of a megabyte: what is written stays in proportion.
TEST_F(FormulaTextsTest, WhatIsSharedIsNotWrittenAgain) {
  FormulaTexts many = write(sum(1000), std::vector<fb::Range>(20000, fb::Range(0, 2001)));
  EXPECT_EQ(many.use(19999), "(a formula of 2001 instructions)");
  EXPECT_LT(many.definitions("").size(), 20000u * 64);
  FormulaTexts wide = write(sum(100), {fb::Range(0, 201)}, {std::string(1000, 'n')});
  EXPECT_LT(wide.definitions("").size(), 4000u);
}

TEST(PrintableTest, ControlCharactersAreEscaped) {
  EXPECT_EQ(printable("w\x1b[2J\n"), "w\\x1b[2J\\x0a");
  EXPECT_EQ(printable("two\nlines\r", /*keepsLines=*/true), "two\nlines\\x0d");
  EXPECT_EQ(printable("gr\xc3\xb6\xc3\x9f"
                      "e \xc2\x9b"),
            "gr\xc3\xb6\xc3\x9f"
            "e \\xc2\x9b");
  EXPECT_EQ(printable("\x7f"), "\\x7f");
}
