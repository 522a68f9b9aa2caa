//===- CoverageTest.cpp - The decoder's forms against the vector suite's --===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the decoder accepts and no recording shows is listed here with the reason;
// an instruction, a modifier or a type that is neither recorded nor listed fails
// the test, and so does a line of the list that is out of date.
//
//===----------------------------------------------------------------------===//

#include "Forms.h"
#include "TileForms.h"

#include "Decoder.h"

#include <gtest/gtest.h>

using namespace xc;
using namespace xc::ptxsim;
using namespace xc::vectors;

namespace {

struct Unrecorded {
  const char *opcode;
  const char *modifier; // "": the whole instruction
  const char *reason;
};

const Unrecorded kUnrecorded[] = {
#include "Unrecorded.inl"
};

class Coverage : public testing::Test {
protected:
  void SetUp() override {
    Options options;
    options.arch = Arch::SM90a;
    simulator = std::make_unique<Simulator>(options);
    decoderCoverage = &coverage;
    for (const Form &form : allForms())
      load(kernelText(form));
    for (const TileForm &form : allTileForms())
      if (!form.text.empty())
        load(form.text);
  }
  void TearDown() override { decoderCoverage = nullptr; }

  bool load(const std::string &text) {
    ParseError error;
    return simulator->load(text.data(), text.size(), error) != nullptr;
  }

  DecoderCoverage coverage;
  std::unique_ptr<Simulator> simulator;
};

TEST_F(Coverage, WhatIsAcceptedIsRecordedOrListed) {
  std::set<std::string> missing, listed;
  for (const auto &entry : opcodeTable()) {
    std::string opcode(entry.first);
    if (!coverage.taken.count(opcode) && !coverage.asked.count(opcode))
      missing.insert(opcode);
    for (const std::string &modifier : coverage.asked[opcode])
      if (!coverage.taken[opcode].count(modifier))
        missing.insert(opcode + " ." + modifier);
  }
  for (const Unrecorded &line : kUnrecorded) {
    EXPECT_STRNE(line.reason, "");
    listed.insert(*line.modifier ? std::string(line.opcode) + " ." + line.modifier : line.opcode);
  }
  for (const std::string &form : missing)
    EXPECT_TRUE(listed.count(form)) << form << " is neither recorded nor listed";
  for (const std::string &form : listed)
    EXPECT_TRUE(missing.count(form)) << form << " is listed, but recorded or unknown";
}

} // namespace
