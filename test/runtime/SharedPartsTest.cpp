//===- SharedPartsTest.cpp - Small files that name their parts often -----===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tables of a module may share parts. A small file can thereby ask for very much work, and for sums
// that 32 bits do not hold. Loading bounds what it looks at by the bytes of the tables.
//
//===----------------------------------------------------------------------===//

#include "runtime/base/checked.h"
#include "runtime/module/verifier.h"
#include "schemas/module_header.h"
#include "test/runtime/XcrTest.h"

#include <cstring>

using namespace xc;
using namespace xc::test;

namespace {

/// The first kernel alone, with no bindings and \p scalars scalars.
ModuleSpec kernelOfScalars(uint32_t scalars) {
  ModuleSpec spec = kernelModule();
  ExportSpec kernel = spec.executables[0].exports[0];
  kernel.bindings = 0;
  kernel.scalars = scalars;
  spec.executables[0].exports = {kernel};
  return spec;
}

void add(ModuleSpec &spec, const PlanSpec &plan) {
  FunctionSpec function;
  function.plans = {plan};
  spec.functions = {function};
}

/// An empty dispatch of the kernel.
PlanSpec dispatchOnce(uint32_t scalars) {
  PlanSpec plan;
  VariantSpec variant;
  variant.scalars.assign(scalars, literal(0));
  variant.grid[0] = literal(0);
  plan.dispatch({variant}, {});
  return plan;
}

void expectTooMuchSharing(ModuleSpec spec) {
  std::vector<uint8_t> bytes = spec.finish();
  xcr_module_t *module = nullptr;
  XCR_EXPECT_FAILS(
      xcr_module_load_memory(bytes.data(), bytes.size(), nullptr, nullptr, nullptr, &module),
      XCR_STATUS_CORRUPT, "its tables share so many parts");
}

} // namespace

TEST(CheckedCount, StaysAtItsLargestValue) {
  CheckedCount count(UINT64_MAX - 1);
  count += 1;
  EXPECT_EQ(count.get(), UINT64_MAX);
  count += 5;
  EXPECT_EQ(count.get(), UINT64_MAX);
  CheckedCount product(uint64_t(1) << 40);
  product *= uint64_t(1) << 24;
  EXPECT_EQ(product.get(), UINT64_MAX);
  uint32_t ordinal;
  EXPECT_FALSE(product.to32(&ordinal));
  EXPECT_FALSE(CheckedCount(UINT32_MAX).to32(&ordinal));
  ASSERT_TRUE(CheckedCount(UINT32_MAX - 1).to32(&ordinal));
  EXPECT_EQ(ordinal, UINT32_MAX - 1);
}

TEST(SharedPartsTest, VisitsAreBoundedByBytes) {
  EXPECT_EQ(Verifier::visitsFor(1000) - Verifier::visitsFor(0), 32u * 1000);
  EXPECT_EQ(Verifier::visitsFor(UINT64_MAX), UINT64_MAX);
}

// 2^32 + 4096 scalars: in 32 bits they would be 4096.
TEST(SharedPartsTest, ScalarsOfCommandsThatShareADispatch) {
  ModuleSpec spec = kernelOfScalars(4096);
  PlanSpec plan = dispatchOnce(4096);
  plan.commands.resize((1u << 20) + 1, plan.commands[0]);
  add(spec, plan);
  expectTooMuchSharing(spec);
}

TEST(SharedPartsTest, EdgesOfCommands) {
  const uint32_t kCommands = 50000;
  ModuleSpec spec = kernelOfScalars(0);
  PlanSpec plan = dispatchOnce(0);
  plan.edges.assign(kCommands, 0);
  for (uint32_t i = 1; i < kCommands; ++i)
    plan.commands.emplace_back(fb::CommandKind::Dispatch, 0, fb::Range(0, kCommands));
  add(spec, plan);
  expectTooMuchSharing(spec);
}

TEST(SharedPartsTest, CodeOfFormulas) {
  ModuleSpec spec = kernelOfScalars(0);
  FunctionSpec function;
  Code code = {constant(1)};
  for (int i = 0; i < 2000; ++i) {
    code.push_back(constant(1));
    code.push_back(op(fb::FormulaOp::Max));
  }
  function.formulas.add(code);
  function.formulas.ranges.resize(20000, function.formulas.ranges[0]);
  function.plans = {dispatchOnce(0)};
  spec.functions = {function};
  expectTooMuchSharing(spec);
}

TEST(SharedPartsTest, GuardsOfVariantsOfDispatches) {
  const uint32_t kCount = 1000;
  ModuleSpec spec = kernelOfScalars(0);
  PlanSpec plan;
  plan.formulas.add({constant(1)});
  fb::Value one = literal(1), zero = literal(0);
  for (uint32_t i = 0; i < kCount; ++i) {
    plan.guards.emplace_back(fb::GuardKind::ValueInRange, 0, 0, 1, 1);
    plan.variants.emplace_back(0, 0, fb::Range(0, i + 1 < kCount ? kCount : 0), fb::Range(0, 0),
                               one, one, one, zero, zero);
  }
  for (uint32_t i = 0; i < kCount; ++i)
    plan.dispatches.emplace_back(fb::Range(0, kCount), fb::Range(0, 0), 0);
  add(spec, plan);
  expectTooMuchSharing(spec);
}

//===----------------------------------------------------------------------===//
// Strings and vectors of tables
//===----------------------------------------------------------------------===//

static void expectPartsNamedTooOften(const ModuleSpec &spec) {
  std::vector<uint8_t> bytes = spec.finish();
  ASSERT_LT(bytes.size(), 400u << 10);
  xcr_module_t *module = nullptr;
  XCR_EXPECT_FAILS(
      xcr_module_load_memory(bytes.data(), bytes.size(), nullptr, nullptr, nullptr, &module),
      XCR_STATUS_CORRUPT, "or name their parts too often");
}

TEST(SharedPartsTest, TextOfNames) {
  ModuleSpec spec = addModule();
  spec.functions[0].name.assign(100000, 'f');
  spec.namings = 1000;
  expectPartsNamedTooOften(spec);
}

TEST(SharedPartsTest, StringsOfVectors) {
  ModuleSpec spec = addModule();
  spec.executables[0].exports[0].locations.assign(10000, "a");
  spec.namings = 1000;
  expectPartsNamedTooOften(spec);
}

// No command is in them, so nothing but the plan names them.
TEST(SharedPartsTest, EmptyRegionsOfPlans) {
  ModuleSpec spec = addModule();
  PlanSpec &plan = spec.functions[0].plans[0];
  plan.regions.assign(10000, fb::Region(fb::Range(1, 0)));
  plan.regions[0] = fb::Region(fb::Range(0, 1));
  spec.namings = 1000;
  expectPartsNamedTooOften(spec);
}

// Of files that share nothing every table and string fits, whatever is in them.
TEST(SharedPartsTest, ManyShortStringsAreTaken) {
  ModuleSpec spec = addModule();
  spec.executables[0].exports[0].locations.assign(10000, "");
  spec.functions[0].plans[0].locations.assign(10000, "");
  std::vector<uint8_t> bytes = spec.finish();
  EXPECT_TRUE(loadModule(bytes));
}

//===----------------------------------------------------------------------===//
// Bytes of constants
//===----------------------------------------------------------------------===//

/// Two constants of 128 bytes, of which the second is those at \p move behind the first.
static std::vector<uint8_t> moveSecondConstant(int64_t move) {
  ModuleSpec spec = addModule();
  ConstantSpec constant = {fb::DType::F32, {32}, std::vector<uint8_t>(128, 1)};
  spec.constants = {constant, constant};
  std::vector<uint8_t> bytes = spec.finish();
  const fb::Module *module = fb::GetSizePrefixedModule(bytes.data() + sizeof(ModuleHeader));
  const fb::BlobRef &first = *module->constants()->Get(0)->data();
  const fb::BlobRef *second = module->constants()->Get(1)->data();
  fb::BlobRef moved(first.offset() + static_cast<uint64_t>(move), first.size(), first.checksum());
  size_t place = reinterpret_cast<const uint8_t *>(second) - bytes.data();
  memcpy(bytes.data() + place, &moved, sizeof(moved));
  // What nothing names has to be zeros.
  std::fill(bytes.begin() + static_cast<long>(moved.offset() + moved.size()), bytes.end(), 0);
  fixChecksums(bytes);
  return bytes;
}

TEST(SharedPartsTest, ConstantsAreTheSameBytesOrApart) {
  std::vector<uint8_t> apart = moveSecondConstant(128), same = moveSecondConstant(0);
  EXPECT_TRUE(loadModule(apart, XCR_MODULE_VERIFY_BLOBS));
  EXPECT_TRUE(loadModule(same, XCR_MODULE_VERIFY_BLOBS));
  std::vector<uint8_t> overlapping = moveSecondConstant(64);
  xcr_module_t *module = nullptr;
  XCR_EXPECT_FAILS(xcr_module_load_memory(overlapping.data(), overlapping.size(), nullptr, nullptr,
                                          nullptr, &module),
                   XCR_STATUS_CORRUPT, "the bytes of constant 0 and constant 1 overlap");
}

// What compilers share is far below: each command its own dispatch, or one for a thousand.
TEST(SharedPartsTest, SharingThatHelpsIsTaken) {
  ModuleSpec spec = kernelOfScalars(16);
  PlanSpec plan = dispatchOnce(16);
  plan.commands.resize(1000, plan.commands[0]);
  add(spec, plan);
  std::vector<uint8_t> bytes = spec.finish();
  Module module = loadModule(bytes);
  ASSERT_TRUE(module);
  Device device = makeDevice();
  Instance instance = makeInstance(device, module);
  XCR_EXPECT_OK(xcr_invoke(instance.get(), xcr_string("main"), 0, nullptr, 0, nullptr));
}
