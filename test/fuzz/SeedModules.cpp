//===- SeedModules.cpp - Good modules for fuzzers to begin with ---------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/SeedModules.h"

#include "test/runtime/XcrTest.h"

using namespace xc;
using namespace xc::test;

/// Short images: the fuzzer should not spend its time in code.
static ModuleSpec shorten(ModuleSpec spec) {
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

/// A kernel of a GPU with a parameter of each kind.
static ModuleSpec gpu() {
  ModuleSpec spec;
  spec.targets = {{"cuda", "sm_90a"}};
  ExecutableSpec code;
  code.kind = fb::CodeKind::PTX;
  code.arch = "sm_90a";
  code.image.resize(16);
  ExportSpec kernel;
  kernel.name = "k";
  kernel.bindings = 2;
  kernel.scalars = 2;
  kernel.block = {128, 1, 1};
  kernel.cluster = {2, 1, 1};
  kernel.parameters = {fb::Parameter(fb::ParameterKind::BindingPointer, 0),
                       fb::Parameter(fb::ParameterKind::BindingPointer, 1),
                       fb::Parameter(fb::ParameterKind::ScalarI64, 0),
                       fb::Parameter(fb::ParameterKind::ScalarI32, 1),
                       fb::Parameter(fb::ParameterKind::TensorMap, 0),
                       fb::Parameter(fb::ParameterKind::Workspace, 0)};
  TensorMapSpec map;
  map.dims = {literal(64), formula(0)};
  map.strides = {literal(256)};
  map.box = {32, 8};
  map.elementStrides = {1, 1};
  kernel.tensorMaps = {map};
  code.exports = {kernel};
  spec.executables = {code};
  FunctionSpec function;
  function.symbols = {{"n", 0, 0, 1, 1024}};
  fb::Value n = function.formulas.add({symbol(0)});
  function.inputs = {{"x", fb::DType::F32, {n, literal(64)}, 16}};
  function.outputs = {{"y", fb::DType::F32, {n, literal(64)}, 16}};
  PlanSpec plan;
  fb::Value rows = plan.formulas.add({symbol(0)});
  fb::Value bytes = plan.formulas.add({symbol(0), constant(256), op(fb::FormulaOp::Mul)});
  plan.arenaSize = literal(512);
  VariantSpec variant;
  variant.scalars = {rows, literal(7)};
  variant.grid[0] = rows;
  variant.workspace = literal(256);
  variant.workspaceOffset = literal(256);
  plan.dispatch({variant},
                {reads(fb::Space::Input, 0, bytes), writes(fb::Space::Output, 0, bytes)});
  function.plans = {plan};
  spec.functions = {function};
  return spec;
}

std::vector<SeedModule> xc::test::makeSeedModules() {
  return {{"add", shorten(addModule())},         {"kernels", shorten(kernelModule())},
          {"everything", shorten(everything())}, {"control", shorten(control())},
          {"choices", shorten(choices())},       {"gpu", gpu()}};
}
