//===- LimitsTest.cpp - Plans with as much as a module can have, and more -===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For each number of schemas/module_limits.h that a plan can reach: a plan that reaches it becomes
// a module that the runtime loads, and for one that passes it the writer says where and by how
// much. The plans are written here, since programs with so much take long to compile;
// test/tools/xcompile/limits.test has those that do not.
//
//===----------------------------------------------------------------------===//

#include "compiler/Pipeline/Registration.h"
#include "compiler/Target/CheckLimits.h"
#include "compiler/Target/ModuleWriter.h"
#include "schemas/module_generated.h"
#include "schemas/module_limits.h"
#include "xcr/xcr.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/StringExtras.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace xc;

namespace {

struct Limit {
  const char *name;
  uint64_t most;
  const char *message; // for one more
  /// The text of a target's module, or of several.
  std::string (*plan)(uint64_t count);
};

std::string repeat(uint64_t count, StringRef part, StringRef separator = ", ") {
  return llvm::join(
      llvm::map_range(llvm::seq<uint64_t>(0, count), [&](uint64_t) { return part.str(); }),
      separator);
}

/// A module for a CPU with `kernels` and the function `main`, which has `inputs` and `commands`.
struct Target {
  std::string name = "target_0", constants = {}, parameters = {}, variables = {}, kernels = {},
              symbols = {}, inputs = {}, outputs = {}, arena = "0", commands = {};

  std::string text() const {
    return "module @" + name +
           " attributes {plan.target = #plan.target<\"cpu\", \"x86-64-v3\">, plan.constants = [" +
           constants + "], plan.parameters = [" + parameters + "], plan.variables = [" + variables +
           "]} {\n" + kernels + "plan.function @main symbols [" + symbols + "] inputs [" + inputs +
           "] outputs [" + outputs + "] arena " + arena + " {\n" + commands + "}\n}\n";
  }
};

std::string argument(uint64_t rank) {
  return "{name = \"x\", type = tensor<" + repeat(rank, "1x", "") + "f32>, dims = [" +
         repeat(rank, "#plan.formula<1>") + "]}";
}

/// One kernel, and a launch of it.
std::string launch(uint64_t bindings, uint64_t scalars, uint64_t scratch) {
  Target target;
  target.inputs = argument(1);
  target.kernels =
      "module @k attributes {plan.kernel, plan.target = #plan.target<\"cpu\", \"x86-64-v3\">, "
      "plan.counts = {bindings = " +
      std::to_string(bindings) + " : i64, scalars = " + std::to_string(scalars) +
      " : i64}, plan.exports = [{name = \"k\", launch = #plan.launch_config<grid = [1, 1, 1], "
      "block = [1, 1, 1], cluster = [1, 1, 1], shared = 0, scratch = " +
      std::to_string(scratch) + ">}]} {\n}\n";
  target.commands = "plan.launch @k [" +
                    repeat(bindings, "#plan.range<read, input 0, offset = 0, length = 4>") +
                    "] scalars [" + repeat(scalars, "0") + "] after []\n";
  return target.text();
}

/// An arena of s0 floordiv (s1 floordiv (s2 ...)) bytes: no order of computing it holds fewer than
/// all `depth` numbers at a time.
std::string formula(uint64_t depth) {
  Target target;
  std::vector<std::string> symbols, names;
  std::string arena;
  for (uint64_t i = 0; i < depth; ++i) {
    names.push_back("s" + std::to_string(i));
    symbols.push_back("{name = \"n" + std::to_string(i) + "\", input = " + std::to_string(i / 16) +
                      " : i64, dim = " + std::to_string(i % 16) + " : i64}");
    arena += i + 1 < depth ? names.back() + " floordiv (" : names.back();
  }
  arena += std::string(depth - 1, ')');
  std::vector<std::string> inputs;
  for (uint64_t first = 0; first < depth; first += 16) {
    ArrayRef<std::string> dims =
        ArrayRef(names).slice(first, std::min<uint64_t>(16, depth - first));
    inputs.push_back(
        "{name = \"x" + std::to_string(first) + "\", type = tensor<" +
        repeat(dims.size(), "?x", "") + "f32>, dims = [" +
        llvm::join(llvm::map_range(
                       dims, [](const std::string &name) { return "#plan.formula<" + name + ">"; }),
                   ", ") +
        "]}");
  }
  target.symbols = llvm::join(symbols, ", ");
  target.inputs = llvm::join(inputs, ", ");
  target.arena = arena;
  return target.text();
}

std::string nestedChoices(uint64_t depth) {
  Target target;
  for (uint64_t i = 0; i < depth; ++i)
    target.commands += "plan.choose 1 after [] {\n";
  target.commands += repeat(depth, "} {\n}\n", "");
  return target.text();
}

/// A choice of `count` commands apart from each other behind another: each waits for each.
std::string adjacentChoices(uint64_t count) {
  Target target;
  target.outputs = argument(1);
  std::string fills = repeat(
      count, "plan.fill <write, output 0, offset = 0, length = 4> with 0 size 4 after []\n", "");
  target.commands = "plan.choose 1 after [] {\n" + fills + "} {\n}\nplan.choose 1 after [0] {\n" +
                    fills + "} {\n}\n";
  return target.text();
}

std::string targets(uint64_t count) {
  std::string text;
  for (uint64_t i = 0; i < count; ++i) {
    Target target;
    target.name = "target_" + std::to_string(i);
    text += target.text();
  }
  return text;
}

std::string withInput(uint64_t rank) {
  Target target;
  target.inputs = argument(rank);
  return target.text();
}

std::string withOutput(uint64_t rank) {
  Target target;
  target.outputs = argument(rank);
  return target.text();
}

std::string withConstant(uint64_t rank) {
  Target target;
  target.constants = "dense<1.0> : tensor<" + repeat(rank, "1x", "") + "f32>";
  return target.text();
}

std::string withParameter(uint64_t rank) {
  Target target;
  target.parameters =
      "{scope = \"w\", key = \"a\", type = tensor<" + repeat(rank, "1x", "") + "f32>}";
  return target.text();
}

std::string withVariable(uint64_t rank) {
  Target target;
  target.variables = "{name = \"v\", type = tensor<" + repeat(rank, "1x", "") + "f32>}";
  return target.text();
}

const Limit kLimits[] = {
    {"Targets", ModuleLimits::kTargets, "expected at most 256 targets, got 257", targets},
    {"InputRank", ModuleLimits::kRank, "expected at most 16 dims of an input, got 17", withInput},
    {"OutputRank", ModuleLimits::kRank, "expected at most 16 dims of an output, got 17",
     withOutput},
    {"ConstantRank", ModuleLimits::kRank, "expected at most 16 dims of a constant, got 17",
     withConstant},
    {"ParameterRank", ModuleLimits::kRank, "expected at most 16 dims of a parameter, got 17",
     withParameter},
    {"VariableRank", ModuleLimits::kRank, "expected at most 16 dims of a variable, got 17",
     withVariable},
    {"RegionDepth", ModuleLimits::kRegionDepth,
     "expected at most 32 ifs and loops within one another, got 33", nestedChoices},
    // So many as CommandOrderTest has.
    {"Edges", 1056,
     "expected at most 1116320 edges between commands once sizes have chosen, got 1118306",
     adjacentChoices},
    {"FormulaDepth", ModuleLimits::kFormulaDepth,
     "expected formulas of sizes that hold at most 32 operands at a time, got one that holds 33",
     formula},
    {"Bindings", ModuleLimits::kBindings, "expected at most 4096 buffers of a kernel, got 4097",
     [](uint64_t count) { return launch(count, 0, 0); }},
    {"Scalars", ModuleLimits::kScalars,
     "expected at most 4096 numbers that a kernel takes, got 4097",
     [](uint64_t count) { return launch(0, count, 0); }},
    {"Scratch", ModuleLimits::kScratchBytes,
     "expected at most 268435456 bytes of scratch memory of a workgroup, got 268435457",
     [](uint64_t count) { return launch(0, 0, count); }},
};

class WriterTest : public ::testing::Test {
protected:
  WriterTest() : context(makeRegistry(), MLIRContext::Threading::DISABLED) {
    context.loadAllAvailableDialects();
  }

  static DialectRegistry makeRegistry() {
    DialectRegistry registry;
    registerAllDialects(registry);
    return registry;
  }

  /// The bytes of the module, or nothing where an error says why.
  FailureOr<std::string> write(const std::string &text) {
    errors.clear();
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      errors += diagnostic.str() + "\n";
      return success();
    });
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, ParserConfig(&context));
    if (!module)
      return failure();
    SmallVector<ModuleOp> targets;
    // One target is the module itself, as the parser sees it.
    if ((*module)->hasAttr("plan.target"))
      targets.push_back(*module);
    else
      llvm::append_range(targets, module->getOps<ModuleOp>());
    std::vector<target::CodeAlternatives> code;
    for (ModuleOp target : targets) {
      target::LinkedCode linked;
      linked.kind = static_cast<uint8_t>(fb::CodeKind::SharedObject);
      linked.arch = "x86-64-v3";
      linked.image = "code";
      bool hasKernels = !target.getOps<ModuleOp>().empty();
      code.push_back(hasKernels ? target::CodeAlternatives{linked} : target::CodeAlternatives());
    }
    return target::writeModule(targets, code, {});
  }

  MLIRContext context;
  std::string errors;
};

class LimitsTest : public WriterTest, public ::testing::WithParamInterface<Limit> {};

} // namespace

INSTANTIATE_TEST_SUITE_P(Writer, LimitsTest, ::testing::ValuesIn(kLimits),
                         [](const ::testing::TestParamInfo<Limit> &info) {
                           return std::string(info.param.name);
                         });

TEST_P(LimitsTest, IsReachedAndNotPassed) {
  FailureOr<std::string> bytes = write(GetParam().plan(GetParam().most));
  ASSERT_TRUE(succeeded(bytes)) << errors;
  xcr_module_t *module = nullptr;
  xcr_status_t status =
      xcr_module_load_memory(bytes->data(), bytes->size(), nullptr, nullptr, nullptr, &module);
  EXPECT_TRUE(xcr_is_ok(status)) << xcr_status_message(status).data;
  xcr_status_release(status);
  xcr_module_release(module);

  EXPECT_TRUE(failed(write(GetParam().plan(GetParam().most + 1))));
  EXPECT_EQ(errors, std::string(GetParam().message) + "\n");
}

// Tables of so many bytes take too much memory for a test, so their count alone is checked.
TEST_F(WriterTest, TablesHaveAtMostSoManyBytes) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    errors += diagnostic.str();
    return success();
  });
  EXPECT_TRUE(succeeded(target::checkTablesSize(*module, ModuleLimits::kTablesSize)));
  EXPECT_EQ(errors, "");
  EXPECT_TRUE(failed(target::checkTablesSize(*module, ModuleLimits::kTablesSize + 1)));
  EXPECT_EQ(errors, "expected at most 2147483646 bytes of tables, got 2147483647");
}
