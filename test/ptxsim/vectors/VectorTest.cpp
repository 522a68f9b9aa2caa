//===- VectorTest.cpp - The simulator against recorded hardware -----------===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Record.h"

#include "ptxsim/ptxsim.h"

#include <gtest/gtest.h>

using namespace xc;
using namespace xc::vectors;

namespace {

/// Runs a form on the simulator; "" or why it could not be run.
std::string runOnCore(const ptxsim::Simulator &simulator, const Form &form,
                      std::vector<uint64_t> &inputs, std::vector<uint64_t> &outputs) {
  std::string text = kernelText(form);
  ptxsim::ParseError error;
  auto module = simulator.load(text.data(), text.size(), error);
  if (!module)
    return error.str();
  size_t cases = inputs.size() / form.inputs.size();
  outputs.assign(cases * form.outputs.size(), 0);
  auto in = reinterpret_cast<uint64_t>(inputs.data());
  auto out = reinterpret_cast<uint64_t>(outputs.data());
  ptxsim::Memory &memory = simulator.memory();
  memory.registerRange(in, inputs.size() * 8, "inputs", true);
  memory.registerRange(out, outputs.size() * 8, "outputs");
  uint64_t params[] = {in, out};
  ptxsim::LaunchConfig config;
  config.grid.x = static_cast<uint32_t>(cases / kBlockSize);
  config.block.x = kBlockSize;
  config.params = params;
  config.paramBytes = sizeof(params);
  ptxsim::LaunchResult result = simulator.launch(*module->findKernel("form"), config);
  memory.unregisterRange(in);
  memory.unregisterRange(out);
  return result.ok() ? "" : result.fault.str();
}

class Vectors : public testing::Test {
protected:
  void SetUp() override {
    std::string error;
    ASSERT_TRUE(readRecord(XC_VECTOR_RECORD, record, error)) << error;
    ptxsim::Options options;
    options.arch = ptxsim::Arch::SM90a;
    simulator = std::make_unique<ptxsim::Simulator>(options);
  }

  Record record;
  std::unique_ptr<ptxsim::Simulator> simulator;
};

TEST_F(Vectors, EveryFormIsRecorded) {
  for (const Form &form : allForms()) {
    auto it = record.forms.find(form.name);
    ASSERT_NE(it, record.forms.end()) << form.name;
    EXPECT_EQ(it->second.fingerprint, fingerprint(form, makeInputs(form))) << form.name;
    EXPECT_FALSE(it->second.refused) << form.name;
  }
}

TEST_F(Vectors, SimulatorMatchesHardware) {
  size_t cases = 0;
  for (const Form &form : allForms()) {
    auto it = record.forms.find(form.name);
    if (it == record.forms.end() || it->second.refused)
      continue;
    std::vector<uint64_t> inputs = makeInputs(form), outputs;
    std::string problem = runOnCore(*simulator, form, inputs, outputs), report;
    EXPECT_EQ(problem, "") << form.name;
    if (!problem.empty())
      continue;
    size_t different = compareForm(form, inputs, it->second.outputs, outputs, report);
    EXPECT_EQ(different, 0u) << report;
    cases += outputs.size();
  }
  EXPECT_GT(cases, 100000u);
}

} // namespace
