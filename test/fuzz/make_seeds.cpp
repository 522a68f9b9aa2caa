//===- make_seeds.cpp - Writes small good modules for the fuzzer to begin with ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/runtime/XcrTest.h"

#include <cstdio>

using namespace xc;
using namespace xc::test;

static bool write(const std::string &path, const std::vector<uint8_t> &bytes) {
  FILE *file = fopen(path.c_str(), "wb");
  if (!file)
    return false;
  bool isWritten = fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  return fclose(file) == 0 && isWritten;
}

/// Short images: the fuzzer should not spend its time in code.
static ModuleSpec small(ModuleSpec spec) {
  for (ExecutableSpec &code : spec.executables)
    code.image.resize(16);
  return spec;
}

/// Variables, constants, packed weights, variants, workspaces, fills, copies.
static ModuleSpec everything() {
  ModuleSpec spec = addModule();
  spec.constants = {{fb::DType::F32, {4}, std::vector<uint8_t>(16)}};
  spec.variables = {{"v", fb::DType::F32, {4}, 0}, {"w", fb::DType::I8, {3}}};
  InitPlanSpec init;
  init.packedSizes = {64, 16};
  init.plan.copy(reads(fb::Space::Constant, 0, literal(16)),
                 writes(fb::Space::Packed, 1, literal(16)));
  spec.initPlans = {init};
  FunctionSpec &main = spec.functions[0];
  main.inputs.push_back({"d", fb::DType::F32, {literal(4)}, 4, /*donated=*/true});
  main.outputs.push_back({"e", fb::DType::F32, {literal(4)}, 4, false, 2});
  PlanSpec &plan = main.plans[0];
  fb::Value size = plan.formulas.add({symbol(0), constant(4), op(fb::FormulaOp::Mul)});
  plan.arenaSize = plan.formulas.add(
      {symbol(0), constant(8), op(fb::FormulaOp::Mul), constant(64), op(fb::FormulaOp::Add)});
  plan.fill(writes(fb::Space::Arena, 0, size, literal(64)), 7, 4, {0});
  VariantSpec first, last;
  first.exportOrdinal = last.exportOrdinal = kThroughWorkspace;
  first.scalars = last.scalars = {literal(1)};
  first.guards = {fb::Guard(fb::GuardKind::ValueInRange, 0, 4, 1000, 4),
                  fb::Guard(fb::GuardKind::BindingAligned, 0, 0, 0, 16)};
  first.workspace = size;
  first.workspaceOffset = literal(64);
  plan.dispatch({first, last},
                {reads(fb::Space::Packed, 1, literal(16)),
                 binding(fb::Space::Variable, 0, literal(16), fb::Access::ReadWrite)},
                {0, 1});
  plan.copy(reads(fb::Space::Variable, 0, literal(16)), writes(fb::Space::Output, 1, literal(16)),
            {2});
  return spec;
}

/// An if in a while.
static ModuleSpec control() {
  ModuleSpec spec = addModule();
  FunctionSpec function;
  function.inputs = {{"p", fb::DType::I1, {literal(1)}, 1}, {"x", fb::DType::F32, {literal(4)}}};
  function.outputs = {{"y", fb::DType::F32, {literal(4)}}};
  PlanSpec plan;
  fb::Value word = literal(16);
  plan.copy(reads(fb::Space::Input, 1, word), writes(fb::Space::Output, 0, word));
  plan.commands.emplace_back(fb::CommandKind::Control, 0, fb::Range(0, 0));
  plan.controls.emplace_back(true, reads(fb::Space::Arena, 0, literal(1)), fb::Range(0, 2));
  plan.copy(reads(fb::Space::Input, 0, literal(1)), writes(fb::Space::Arena, 0, literal(1)));
  plan.commands.emplace_back(fb::CommandKind::Control, 1, fb::Range(0, 0));
  plan.controls.emplace_back(false, reads(fb::Space::Input, 0, literal(1)), fb::Range(2, 2));
  plan.fill(writes(fb::Space::Output, 0, word), 1, 4);
  plan.fill(writes(fb::Space::Output, 0, word), 2, 4);
  plan.regions = {fb::Region(fb::Range(0, 2)), fb::Region(fb::Range(2, 1)),
                  fb::Region(fb::Range(3, 1)), fb::Region(fb::Range(4, 1)),
                  fb::Region(fb::Range(5, 1))};
  plan.regionOrdinals = {1, 2, 3, 4};
  plan.arenaSize = literal(64);
  function.plans = {plan};
  spec.functions = {function};
  return spec;
}

/// A choice in a choice, the inner one with a while in it.
static ModuleSpec choices() {
  ModuleSpec spec = addModule();
  spec.requiredFeatures = {"choices"};
  FunctionSpec function;
  function.symbols = {{"n", 0, 0}};
  fb::Value n = function.formulas.add({symbol(0)});
  function.inputs = {{"x", fb::DType::F32, {n}}, {"p", fb::DType::I1, {literal(1)}, 1}};
  function.outputs = {{"y", fb::DType::F32, {n}}};
  PlanSpec plan;
  fb::Value size = plan.formulas.add({symbol(0), constant(4), op(fb::FormulaOp::Mul)});
  fb::Value quarter = plan.formulas.add({symbol(0), constant(4), op(fb::FormulaOp::FloorDiv)});
  plan.choices.emplace_back(quarter, fb::Range(0, 2));
  plan.choices.emplace_back(size, fb::Range(2, 2));
  plan.controls.emplace_back(true, reads(fb::Space::Input, 1, literal(1)), fb::Range(4, 2));
  auto fill = [&](uint64_t pattern, const std::vector<uint32_t> &after = {}) {
    plan.fill(writes(fb::Space::Output, 0, size), pattern, 4, after);
  };
  plan.edges = {0};
  fill(1);
  plan.commands.emplace_back(fb::CommandKind::Choice, 0, fb::Range(0, 1));
  fill(2, {1});
  plan.commands.emplace_back(fb::CommandKind::Choice, 1, fb::Range(0, 0));
  fill(3);
  plan.commands.emplace_back(fb::CommandKind::Control, 0, fb::Range(0, 0));
  fill(4);
  plan.regions = {fb::Region(fb::Range(0, 3)), fb::Region(fb::Range(3, 1)),
                  fb::Region(fb::Range(4, 1)), fb::Region(fb::Range(5, 1)),
                  fb::Region(fb::Range(6, 0)), fb::Region(fb::Range(6, 1)),
                  fb::Region(fb::Range(7, 0))};
  plan.regionOrdinals = {1, 2, 3, 4, 5, 6};
  function.plans = {plan};
  spec.functions = {function};
  return spec;
}

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: %s directory\n", argv[0]);
    return 1;
  }
  std::string folder = argv[1];
  bool isWritten = write(folder + "/add.vmfb", small(addModule()).finish()) &&
                   write(folder + "/kernels.vmfb", small(kernelModule()).finish()) &&
                   write(folder + "/everything.vmfb", small(everything()).finish()) &&
                   write(folder + "/control.vmfb", small(control()).finish()) &&
                   write(folder + "/choices.vmfb", small(choices()).finish());
  if (!isWritten)
    fprintf(stderr, "cannot write to %s\n", argv[1]);
  return isWritten ? 0 : 1;
}
