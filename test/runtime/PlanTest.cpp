//===- PlanTest.cpp - Control, choices, variants, memory of plans ---------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/runtime/CallTest.h"

#include <cstdio>
#include <fstream>
#include <unistd.h>

using namespace xc;
using namespace xc::test;

using PlanTest = CallTest;

//===----------------------------------------------------------------------===//
// Control and choices
//===----------------------------------------------------------------------===//

/// main(p: 1, x: 4, y: 4) -> x where p is true, else y.
TEST_F(PlanTest, AnIfRunsOneOfItsRegions) {
  ModuleSpec spec = addModule();
  FunctionSpec &function = spec.functions[0];
  function = FunctionSpec();
  function.inputs = {{"p", fb::DType::I1, {literal(1)}, 1},
                     {"x", fb::DType::F32, {literal(4)}},
                     {"y", fb::DType::F32, {literal(4)}}};
  function.outputs = {{"z", fb::DType::F32, {literal(4)}}};
  PlanSpec plan;
  plan.controls.emplace_back(false, reads(fb::Space::Input, 0, literal(1)), fb::Range(0, 2));
  plan.commands.emplace_back(fb::CommandKind::Control, 0, fb::Range(0, 0));
  for (uint32_t input : {1u, 2u})
    plan.copy(reads(fb::Space::Input, input, literal(16)),
              writes(fb::Space::Output, 0, literal(16)));
  plan.regions = {fb::Region(fb::Range(0, 1)), fb::Region(fb::Range(1, 1)),
                  fb::Region(fb::Range(2, 1))};
  plan.regionOrdinals = {1, 2};
  function.plans = {plan};
  use(spec);
  call = makeCall(instance);
  Buffer x = makeBuffer(device, iota(4)), y = makeBuffer(device, std::vector<float>{9, 8, 7, 6});
  XCR_ASSERT_OK(set(1, x));
  XCR_ASSERT_OK(set(2, y));
  for (bool choice : {true, false, true}) {
    uint8_t byte = choice;
    Buffer p = makeBuffer(device, XCR_DTYPE_I1, {1}, &byte, 1);
    XCR_ASSERT_OK(set(0, p));
    XCR_ASSERT_OK(xcr_call_run(call.get()));
    EXPECT_EQ(read<float>(xcr_call_output(call.get(), 0)),
              choice ? iota(4) : (std::vector<float>{9, 8, 7, 6}));
  }
  EXPECT_EQ(statistics().command_count, 3u);
}

/// main(x: n) -> (y: n, z: n): x where n <= 4, else 7s; and z a copy of y.
static ModuleSpec choiceModule() {
  ModuleSpec spec = addModule();
  spec.requiredFeatures = {"choices"};
  FunctionSpec &function = spec.functions[0];
  function = FunctionSpec();
  function.symbols = {{"n", 0, 0}};
  fb::Value n = function.formulas.add({symbol(0)});
  function.inputs = {{"x", fb::DType::F32, {n}}};
  function.outputs = {{"y", fb::DType::F32, {n}}, {"z", fb::DType::F32, {n}}};
  PlanSpec plan;
  fb::Value bytes = plan.formulas.add({symbol(0), constant(4), op(fb::FormulaOp::Mul)});
  // 1 / (n / 5 + 1)
  fb::Value isShort =
      plan.formulas.add({constant(1), symbol(0), constant(5), op(fb::FormulaOp::FloorDiv),
                         constant(1), op(fb::FormulaOp::Add), op(fb::FormulaOp::FloorDiv)});
  plan.edges = {0, 1};
  plan.choices.emplace_back(isShort, fb::Range(0, 2));
  plan.fill(writes(fb::Space::Output, 0, bytes), 0x40e00000, 4);
  plan.commands.emplace_back(fb::CommandKind::Choice, 0, fb::Range(0, 1));
  plan.copy(reads(fb::Space::Output, 0, bytes), writes(fb::Space::Output, 1, bytes), {1});
  plan.copy(reads(fb::Space::Input, 0, bytes), writes(fb::Space::Output, 0, bytes));
  plan.regions = {fb::Region(fb::Range(0, 3)), fb::Region(fb::Range(3, 1)),
                  fb::Region(fb::Range(4, 0))};
  plan.regionOrdinals = {1, 2};
  function.plans = {plan};
  return spec;
}

TEST_F(PlanTest, SizesChooseWhatIsLaunched) {
  use(choiceModule());
  call = makeCall(instance);
  struct {
    size_t size;
    uint64_t instantiations;
  } cases[] = {{3, 1}, {4, 1}, {5, 2}, {9, 2}, {4, 2}, {6, 2}, {0, 2}};
  for (const auto &test : cases) {
    Buffer x = makeBuffer(device, iota(test.size));
    XCR_ASSERT_OK(set(0, x));
    XCR_ASSERT_OK(xcr_call_run(call.get()));
    bool isShort = test.size <= 4;
    std::vector<float> expected = isShort ? iota(test.size) : std::vector<float>(test.size, 7);
    for (uint32_t output : {0u, 1u})
      EXPECT_EQ(read<float>(xcr_call_output(call.get(), output)), expected) << test.size;
    EXPECT_EQ(statistics().instantiations, test.instantiations) << test.size;
    EXPECT_EQ(statistics().command_count, isShort ? 3u : 2u);
  }
}

/// The bytes of n numbers; no number itself for one n.
static fb::Value bytesUnless(PlanSpec &plan, int64_t n) {
  return plan.formulas.add({symbol(0), constant(4), op(fb::FormulaOp::Mul), symbol(0), constant(n),
                            op(fb::FormulaOp::Sub), symbol(0), constant(n), op(fb::FormulaOp::Sub),
                            op(fb::FormulaOp::FloorDiv), op(fb::FormulaOp::Add), constant(1),
                            op(fb::FormulaOp::Sub)});
}

TEST_F(PlanTest, OnlyWhatIsChosenNeedsItsFormulas) {
  ModuleSpec spec = choiceModule();
  PlanSpec &plan = spec.functions[0].plans[0];
  fb::Value copied = bytesUnless(plan, 9), filled = bytesUnless(plan, 6);
  plan.copies.back() =
      fb::Copy(reads(fb::Space::Input, 0, copied), writes(fb::Space::Output, 0, copied));
  plan.fills[0] = fb::Fill(writes(fb::Space::Output, 0, filled), 0x40e00000, 4);
  use(spec);
  call = makeCall(instance);
  for (size_t size : {3, 9, 6, 4, 5}) {
    Buffer x = makeBuffer(device, iota(size));
    XCR_ASSERT_OK(set(0, x));
    if (size == 6)
      XCR_EXPECT_FAILS(xcr_call_run(call.get()), XCR_STATUS_OUT_OF_RANGE, "divides by zero");
    else
      XCR_EXPECT_OK(xcr_call_run(call.get()));
  }
}

TEST_F(PlanTest, FormulasNameEarlierOnes) {
  ModuleSpec spec = addModule();
  spec.requiredFeatures = {"shared formulas"};
  FunctionSpec &function = spec.functions[0];
  function = FunctionSpec();
  function.symbols = {{"n", 0, 0}};
  fb::Value n = function.formulas.add({symbol(0)});
  // 12 / n, which nothing needs where n is 0: n * (12 / n) is the size then.
  fb::Value quotient =
      function.formulas.add({constant(12), symbol(0), op(fb::FormulaOp::FloorDiv)});
  fb::Value size = function.formulas.add(
      {symbol(0), {fb::FormulaOp::Formula, quotient.formula()}, op(fb::FormulaOp::Mul)});
  function.inputs = {{"x", fb::DType::F32, {n}}};
  function.outputs = {{"y", fb::DType::F32, {size}}};
  PlanSpec plan;
  fb::Value elements = plan.formulas.add(
      {symbol(0), constant(12), symbol(0), op(fb::FormulaOp::FloorDiv), op(fb::FormulaOp::Mul)});
  fb::Value bytes = plan.formulas.add(
      {{fb::FormulaOp::Formula, elements.formula()}, constant(4), op(fb::FormulaOp::Mul)});
  plan.fill(writes(fb::Space::Output, 0, bytes), 0x40e00000, 4);
  plan.arenaSize = bytes;
  function.plans = {plan};
  use(spec);
  call = makeCall(instance);
  for (size_t size : {0, 1, 5, 12, 13}) {
    Buffer x = makeBuffer(device, iota(size));
    XCR_ASSERT_OK(set(0, x));
    XCR_ASSERT_OK(xcr_call_run(call.get()));
    EXPECT_EQ(read<float>(xcr_call_output(call.get(), 0)),
              std::vector<float>(size ? 12 / size * size : 0, 7));
  }
}

TEST_F(PlanTest, ZeroTimesNoNumberIsZero) {
  ModuleSpec spec = addModule();
  PlanSpec &plan = spec.functions[0].plans[0];
  // (n / 4) * (1 / (n / 4))
  plan.formulas.add({symbol(0), constant(4), op(fb::FormulaOp::FloorDiv), constant(1), symbol(0),
                     constant(4), op(fb::FormulaOp::FloorDiv), op(fb::FormulaOp::FloorDiv),
                     op(fb::FormulaOp::Mul)});
  use(spec);
  call = makeCall(instance);
  for (size_t size : {3, 8}) {
    Buffer x = makeBuffer(device, iota(size));
    XCR_ASSERT_OK(set(0, x));
    XCR_ASSERT_OK(set(1, x));
    XCR_EXPECT_OK(xcr_call_run(call.get()));
  }
}

TEST_F(PlanTest, StepsGoThroughWhatSizesHaveChosen) {
  use(choiceModule());
  call = makeCall(instance);
  for (size_t size : {5, 2}) {
    Buffer x = makeBuffer(device, iota(size));
    XCR_ASSERT_OK(set(0, x));
    uint32_t commands = 0;
    XCR_ASSERT_OK(xcr_call_begin_steps(call.get(), &commands));
    EXPECT_EQ(commands, size == 2 ? 3u : 2u);
    while (xcr_call_next_step(call.get()) < commands)
      XCR_ASSERT_OK(xcr_call_step(call.get()));
    EXPECT_EQ(read<float>(xcr_call_output(call.get(), 1))[1], size == 2 ? 1.0f : 7.0f);
  }
}

//===----------------------------------------------------------------------===//
// Variants, workspaces, constants
//===----------------------------------------------------------------------===//

/// main(x: n) -> which variant ran: 1 if n is a multiple of 4 and x is 32-byte
/// aligned, 2 if n <= 100, else 3.
TEST_F(PlanTest, TheFirstVariantWhoseGuardsHoldRuns) {
  ModuleSpec spec = kernelModule();
  FunctionSpec function;
  function.symbols = {{"n", 0, 0}};
  fb::Value n = function.formulas.add({symbol(0)});
  function.inputs = {{"x", fb::DType::F32, {n}}};
  function.outputs = {{"y", fb::DType::I64, {literal(1)}, 8}};
  PlanSpec plan;
  plan.formulas.add({symbol(0)});
  spec.executables[0].exports[kTell].bindings = 2;
  VariantSpec aligned, small, any;
  for (VariantSpec *variant : {&aligned, &small, &any})
    variant->exportOrdinal = kTell;
  aligned.guards = {fb::Guard(fb::GuardKind::ValueInRange, 0, 0, INT64_MAX, 4),
                    fb::Guard(fb::GuardKind::BindingAligned, 1, 0, 0, 32)};
  small.guards = {fb::Guard(fb::GuardKind::ValueInRange, 0, 0, 100, 1)};
  aligned.scalars = {literal(1)};
  small.scalars = {literal(2)};
  any.scalars = {literal(3)};
  plan.dispatch({aligned, small, any},
                {writes(fb::Space::Output, 0, literal(8)), reads(fb::Space::Input, 0, literal(0))});
  function.plans = {plan};
  spec.functions = {function};
  use(spec);
  call = makeCall(instance);
  alignas(64) static float data[1024];
  struct {
    size_t offset;
    int64_t size, expected;
  } cases[] = {{0, 8, 1}, {1, 8, 2}, {0, 9, 2}, {1, 104, 3}, {0, 104, 1}};
  for (const auto &test : cases) {
    xcr_buffer_options_t options = XCR_BUFFER_OPTIONS_INIT;
    options.dtype = XCR_DTYPE_F32;
    options.rank = 1;
    options.shape = &test.size;
    xcr_buffer_t *buffer = nullptr;
    XCR_ASSERT_OK(xcr_buffer_wrap(device.get(), &options, data + test.offset,
                                  static_cast<size_t>(test.size) * 4, nullptr, nullptr, &buffer));
    Buffer x(buffer);
    XCR_ASSERT_OK(set(0, x));
    XCR_ASSERT_OK(xcr_call_run(call.get()));
    EXPECT_EQ(read<int64_t>(xcr_call_output(call.get(), 0))[0], test.expected)
        << test.size << " at " << test.offset;
  }
}

TEST_F(PlanTest, WorkspacesLieInTheArena) {
  ModuleSpec spec = kernelModule();
  FunctionSpec function;
  function.symbols = {{"n", 0, 0}};
  fb::Value n = function.formulas.add({symbol(0)});
  function.inputs = {{"x", fb::DType::F32, {n}}};
  function.outputs = {{"y", fb::DType::F32, {n}}};
  PlanSpec plan;
  fb::Value count = plan.formulas.add({symbol(0)});
  fb::Value size = plan.formulas.add({symbol(0), constant(4), op(fb::FormulaOp::Mul)});
  plan.arenaSize = plan.formulas.add(
      {symbol(0), constant(4), op(fb::FormulaOp::Mul), constant(64), op(fb::FormulaOp::Add)});
  VariantSpec variant;
  variant.exportOrdinal = kThroughWorkspace;
  variant.scalars = {count};
  variant.workspace = size;
  variant.workspaceOffset = literal(64);
  plan.dispatch({variant}, {reads(fb::Space::Input, 0, size), writes(fb::Space::Output, 0, size)});
  function.plans = {plan};
  spec.functions = {function};
  use(spec);
  call = makeCall(instance);
  Stream streams[] = {makeStream(device), makeStream(device)};
  for (size_t elements : {10, 100000, 50}) {
    Buffer x = makeBuffer(device, iota(elements));
    XCR_ASSERT_OK(set(0, x));
    for (Stream &stream : streams) {
      XCR_ASSERT_OK(xcr_call_launch(call.get(), stream.get()));
      XCR_ASSERT_OK(xcr_stream_synchronize(stream.get()));
      EXPECT_EQ(read<float>(xcr_call_output(call.get(), 0))[9], 10.0f);
    }
    EXPECT_EQ(statistics().arena_bytes, elements * 4 + 64);
  }
  xcr_device_statistics_t memory = XCR_DEVICE_STATISTICS_INIT;
  xcr_device_get_statistics(device.get(), &memory);
  EXPECT_GE(memory.bytes_arena, 2 * 400064u);
}

TEST_F(PlanTest, ConstantsAndTheInitPlan) {
  // packed = constant * 3 + 1, once; main(x) = x + packed.
  ModuleSpec spec = kernelModule();
  spec.constants = {{fb::DType::F32, {4}, bytesOf(iota(4))}};
  InitPlanSpec init;
  init.packedSizes = {16};
  VariantSpec pack;
  pack.exportOrdinal = kScale;
  pack.scalars = {literal(4), literal(3), literal(1)};
  init.plan.dispatch({pack}, {reads(fb::Space::Constant, 0, literal(16)),
                              writes(fb::Space::Packed, 0, literal(16))});
  spec.initPlans = {init};
  FunctionSpec function;
  function.inputs = {{"x", fb::DType::F32, {literal(4)}}};
  function.outputs = {{"y", fb::DType::F32, {literal(4)}}};
  PlanSpec plan;
  VariantSpec add;
  add.exportOrdinal = kAdd;
  add.scalars = {literal(4)};
  plan.dispatch({add},
                {reads(fb::Space::Input, 0, literal(16)), reads(fb::Space::Packed, 0, literal(16)),
                 writes(fb::Space::Output, 0, literal(16))});
  function.plans = {plan};
  spec.functions = {function};
  use(spec);
  Buffer x = makeBuffer(device, {10, 20, 30, 40});
  for (int i = 0; i < 2; ++i) {
    xcr_buffer_t *input = x.get(), *output = nullptr;
    XCR_ASSERT_OK(xcr_invoke(instance.get(), xcr_string("main"), 1, &input, 1, &output));
    Buffer y(output);
    EXPECT_EQ(read<float>(y.get()), (std::vector<float>{11, 24, 37, 50}));
  }
  const xcr_function_t *main = nullptr;
  XCR_ASSERT_OK(xcr_module_find_function(module.get(), xcr_string("main"), &main));
  xcr_memory_need_t need = XCR_MEMORY_NEED_INIT;
  XCR_ASSERT_OK(xcr_function_get_memory_need(main, 0, nullptr, 0, &need));
  EXPECT_EQ(need.constant_bytes, 16u + 16u);
  EXPECT_EQ(need.packed_bytes, 16u);
  EXPECT_EQ(need.released_bytes, 16u);
}

TEST_F(PlanTest, TheInitPlanGivesBackWhatItAloneReads) {
  // packed = a * 3 + 1; main(x) = x + b.
  constexpr uint64_t kBytes = 8 << 20;
  ModuleSpec spec = kernelModule();
  std::vector<float> a(kBytes / sizeof(float), 2.0f), b(kBytes / sizeof(float), 3.0f);
  spec.constants = {{fb::DType::F32, {int64_t(a.size())}, bytesOf(a)},
                    {fb::DType::F32, {int64_t(b.size())}, bytesOf(b)}};
  InitPlanSpec init;
  init.packedSizes = {16};
  VariantSpec pack;
  pack.exportOrdinal = kScale;
  pack.scalars = {literal(4), literal(3), literal(1)};
  init.plan.dispatch({pack}, {reads(fb::Space::Constant, 0, literal(16)),
                              writes(fb::Space::Packed, 0, literal(16))});
  spec.initPlans = {init};
  FunctionSpec function;
  function.inputs = {{"x", fb::DType::F32, {literal(4)}}};
  function.outputs = {{"y", fb::DType::F32, {literal(4)}}};
  PlanSpec plan;
  VariantSpec add;
  add.exportOrdinal = kAdd;
  add.scalars = {literal(4)};
  plan.dispatch({add}, {reads(fb::Space::Input, 0, literal(16)),
                        reads(fb::Space::Constant, 1, literal(16)),
                        writes(fb::Space::Output, 0, literal(16))});
  function.plans = {plan};
  spec.functions = {function};
  // What is in a file is copied. Runs side by side have files of their own.
  std::string path = ::testing::TempDir() + "init-plan-" + std::to_string(getpid()) + ".vmfb";
  bytes = spec.finish();
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char *>(bytes.data()), static_cast<long>(bytes.size()));
  device = makeDevice();
  xcr_module_t *loaded = nullptr;
  XCR_ASSERT_OK(xcr_module_load_file(xcr_string(path.c_str()), nullptr, &loaded));
  module = Module(loaded);
  instance = makeInstance(device, module);
  xcr_device_statistics_t memory = XCR_DEVICE_STATISTICS_INIT;
  xcr_device_get_statistics(device.get(), &memory);
  EXPECT_GE(memory.bytes_peak, 2 * kBytes);
  EXPECT_GE(memory.bytes_in_use, kBytes);
  EXPECT_LT(memory.bytes_in_use, kBytes + kBytes / 2);
  std::remove(path.c_str());
}
