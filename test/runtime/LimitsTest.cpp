//===- LimitsTest.cpp - Modules with as much as they can have, and more ---===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For each number of schemas/module_limits.h: a module that reaches it loads, one that passes it is
// refused. test/Target does the same with the compiler.
//
//===----------------------------------------------------------------------===//

#include "schemas/module_header.h"
#include "schemas/module_limits.h"
#include "test/runtime/XcrTest.h"

#include <cstdlib>
#include <cstring>
#include <unistd.h>

using namespace xc;
using namespace xc::test;

namespace {

struct Limit {
  const char *name;
  uint64_t most;
  const char *message; ///< for the first number above
  void (*change)(ModuleSpec &module, uint64_t count);
  uint64_t above = most + 1;
};

ExportSpec &kernel(ModuleSpec &module) { return module.executables[0].exports[kTell]; }

std::vector<int64_t> ones(uint64_t count) { return std::vector<int64_t>(count, 1); }

/// 1 + (1 + (1 + ...)), of which the code holds \p depth numbers before it adds.
Code deepFormula(uint64_t depth) {
  Code code(depth, constant(1));
  code.resize(2 * depth - 1, op(fb::FormulaOp::Add));
  return code;
}

/// Ifs within one another whose innermost branches hold nothing.
void nestIfs(PlanSpec &plan, uint32_t depth) {
  plan = PlanSpec();
  for (uint32_t i = 0; i < depth; ++i) {
    // Region 2i - 1 holds the next if, region 2i is empty.
    plan.regions.emplace_back(fb::Range(i, 1));
    if (i)
      plan.regions.emplace_back(fb::Range(i + 1, 0));
    plan.commands.emplace_back(fb::CommandKind::Control, i, fb::Range(0, 0));
    plan.controls.emplace_back(false, reads(fb::Space::Input, 0, literal(1)), fb::Range(2 * i, 2));
    plan.regionOrdinals.insert(plan.regionOrdinals.end(), {2 * i + 1, 2 * i + 2});
  }
  for (int i = 0; i < 2; ++i)
    plan.regions.emplace_back(fb::Range(depth, 0));
}

void addMap(ModuleSpec &module, uint64_t rank) {
  TensorMapSpec map;
  map.dims.assign(rank, literal(8));
  map.strides.assign(rank - 1, literal(64));
  map.box.assign(rank, 1);
  map.elementStrides.assign(rank, 1);
  kernel(module).tensorMaps = {map};
}

const Limit kLimits[] = {
    {"Targets", ModuleLimits::kTargets, "257 targets",
     [](ModuleSpec &m, uint64_t n) { m.targets.resize(n, {"cuda", "sm_80"}); }},
    {"InitPlans", ModuleLimits::kTargets, "257 init plans",
     [](ModuleSpec &m, uint64_t n) {
       m.targets.resize(ModuleLimits::kTargets, {"cuda", "sm_80"});
       m.initPlans.resize(n);
       for (uint32_t i = 0; i < n; ++i)
         m.initPlans[i].target = m.initPlans[i].plan.target = i;
     }},
    {"InputRank", ModuleLimits::kRank, "17 dimensions",
     [](ModuleSpec &m, uint64_t n) {
       m.functions[0].inputs.push_back(
           {"w", fb::DType::F32, std::vector<fb::Value>(n, literal(1))});
     }},
    {"OutputRank", ModuleLimits::kRank, "17 dimensions",
     [](ModuleSpec &m, uint64_t n) {
       m.functions[0].outputs.push_back(
           {"w", fb::DType::F32, std::vector<fb::Value>(n, literal(1))});
     }},
    {"ConstantRank", ModuleLimits::kRank, "constant 0 has 17 dimensions",
     [](ModuleSpec &m, uint64_t n) {
       m.constants = {{fb::DType::F32, ones(n), std::vector<uint8_t>(4)}};
     }},
    {"ParameterRank", ModuleLimits::kRank, "parameter 0 has 17 dimensions",
     [](ModuleSpec &m, uint64_t n) { m.parameters = {{"w", "a", fb::DType::F32, ones(n)}}; }},
    {"VariableRank", ModuleLimits::kRank, "variable 0 has 17 dimensions",
     [](ModuleSpec &m, uint64_t n) { m.variables = {{"v", fb::DType::F32, ones(n)}}; }},
    {"ConstantAlignment", ModuleLimits::kAlignment, "constant 0 has alignment 131072",
     [](ModuleSpec &m, uint64_t n) {
       m.constants = {{fb::DType::F32, {1}, std::vector<uint8_t>(4), uint32_t(n)}};
     },
     2 * ModuleLimits::kAlignment},
    {"InputAlignment", ModuleLimits::kAlignment, "alignment 131072",
     [](ModuleSpec &m, uint64_t n) { m.functions[0].inputs[0].alignment = uint32_t(n); },
     2 * ModuleLimits::kAlignment},
    {"RegionDepth", ModuleLimits::kRegionDepth, "nested more than 32 deep",
     [](ModuleSpec &m, uint64_t n) { nestIfs(m.functions[0].plans[0], uint32_t(n)); }},
    {"FormulaDepth", ModuleLimits::kFormulaDepth, "needs too deep a stack",
     [](ModuleSpec &m, uint64_t n) { m.functions[0].formulas.add(deepFormula(n)); }},
    {"PlanFormulaDepth", ModuleLimits::kFormulaDepth, "needs too deep a stack",
     [](ModuleSpec &m, uint64_t n) { m.functions[0].plans[0].formulas.add(deepFormula(n)); }},
    {"KernelFormulaDepth", ModuleLimits::kFormulaDepth, "needs too deep a stack",
     [](ModuleSpec &m, uint64_t n) {
       kernel(m).flops = m.executables[0].formulas.add(deepFormula(n));
     }},
    {"Bindings", ModuleLimits::kBindings, "4097 bindings",
     [](ModuleSpec &m, uint64_t n) { kernel(m).bindings = uint32_t(n); }},
    {"Scalars", ModuleLimits::kScalars, "4097 scalars",
     [](ModuleSpec &m, uint64_t n) { kernel(m).scalars = uint32_t(n); }},
    {"Scratch", ModuleLimits::kScratchBytes, "takes 268435457 bytes of scratch",
     [](ModuleSpec &m, uint64_t n) { kernel(m).scratch = uint32_t(n); }},
    {"TensorMapRank", ModuleLimits::kTensorMapRank, "rank 6 with 6 dims", addMap},
    {"PatternBytes", ModuleLimits::kPatternBytes, "a pattern of 16 bytes",
     [](ModuleSpec &m, uint64_t n) {
       m.functions[0].plans[0].fill(writes(fb::Space::Output, 0, literal(16)), 0, uint8_t(n));
     },
     2 * ModuleLimits::kPatternBytes},
};

xcr_status_t loadSpec(const ModuleSpec &spec) {
  std::vector<uint8_t> bytes = spec.finish();
  xcr_module_t *module = nullptr;
  xcr_status_t status =
      xcr_module_load_memory(bytes.data(), bytes.size(), nullptr, nullptr, nullptr, &module);
  xcr_module_release(module);
  return status;
}

class LimitsTest : public ::testing::TestWithParam<Limit> {};

} // namespace

INSTANTIATE_TEST_SUITE_P(Loader, LimitsTest, ::testing::ValuesIn(kLimits),
                         [](const ::testing::TestParamInfo<Limit> &info) {
                           return std::string(info.param.name);
                         });

TEST_P(LimitsTest, IsReachedAndNotPassed) {
  ModuleSpec reached = addModule(), passed = addModule();
  GetParam().change(reached, GetParam().most);
  XCR_EXPECT_OK(loadSpec(reached));
  GetParam().change(passed, GetParam().above);
  XCR_EXPECT_FAILS(loadSpec(passed), XCR_STATUS_CORRUPT, GetParam().message);
}

//===----------------------------------------------------------------------===//
// Bytes of the tables
//===----------------------------------------------------------------------===//

/// Gives no allocation of more than 1 MiB, so that none of 2 GiB is made.
static void *allocateLittle(void *, size_t size, size_t alignment) {
  void *memory = nullptr;
  return size <= 1 << 20 && !posix_memalign(&memory, std::max<size_t>(alignment, 16), size)
             ? memory
             : nullptr;
}

/// Loads a file whose header has \p tablesSize, with a hole behind it.
static xcr_status_t loadWithTables(uint64_t tablesSize) {
  std::vector<uint8_t> bytes = addModule().finish();
  ModuleHeader header;
  memcpy(&header, bytes.data(), sizeof(header));
  header.tablesSize = tablesSize;
  header.fileSize = sizeof(header) + tablesSize;
  memcpy(bytes.data(), &header, sizeof(header));
  bytes.resize(sizeof(header));
  fixChecksums(bytes);
  char name[] = "/tmp/xcr-test-XXXXXX";
  int file = mkstemp(name);
  EXPECT_EQ(write(file, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  EXPECT_EQ(ftruncate(file, static_cast<off_t>(header.fileSize)), 0);
  close(file);
  xcr_host_allocator_t allocator = {sizeof(xcr_host_allocator_t), nullptr, allocateLittle,
                                    [](void *, void *memory, size_t, size_t) { free(memory); }};
  xcr_module_options_t options = XCR_MODULE_OPTIONS_INIT;
  options.host_allocator = &allocator;
  xcr_module_t *module = nullptr;
  xcr_status_t status = xcr_module_load_file(xcr_string(name), &options, &module);
  xcr_module_release(module);
  unlink(name);
  return status;
}

TEST(TablesLimitTest, IsReachedAndNotPassed) {
  // What the allocator refuses, the loader has asked for.
  XCR_EXPECT_FAILS(loadWithTables(ModuleLimits::kTablesSize), XCR_STATUS_OUT_OF_MEMORY,
                   "2147483646 bytes");
  XCR_EXPECT_FAILS(loadWithTables(ModuleLimits::kTablesSize + 1), XCR_STATUS_CORRUPT,
                   "its tables (2147483647 bytes at 64) do not lie in");
}
