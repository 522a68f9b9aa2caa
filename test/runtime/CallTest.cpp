//===- CallTest.cpp - Calling functions through the C API ----------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/runtime/XcrTest.h"

#include <atomic>
#include <thread>

using namespace xc;
using namespace xc::test;

namespace {
/// A device with an instance of addModule().
class CallTest : public ::testing::Test {
protected:
  void SetUp() override { use(addModule()); }
  void use(const ModuleSpec &spec, const char *uri = "cpu:2") {
    call.reset();
    instance.reset();
    module.reset();
    bytes = spec.finish();
    device = makeDevice(uri);
    module = loadModule(bytes);
    instance = makeInstance(device, module);
  }
  xcr_call_statistics_t statistics() {
    xcr_call_statistics_t result = XCR_CALL_STATISTICS_INIT;
    xcr_call_get_statistics(call.get(), &result);
    return result;
  }
  xcr_status_t set(uint32_t input, const Buffer &buffer) {
    return xcr_call_set_input(call.get(), input, buffer.get());
  }

  std::vector<uint8_t> bytes;
  Device device;
  Module module;
  Instance instance;
  Call call;
};
} // namespace

//===----------------------------------------------------------------------===//
// Launching
//===----------------------------------------------------------------------===//

TEST_F(CallTest, InvokeAllocatesOutputs) {
  for (size_t size : {0, 1, 255, 256, 257, 100000}) {
    Buffer x = makeBuffer(device, iota(size)), y = makeBuffer(device, iota(size));
    xcr_buffer_t *inputs[] = {x.get(), y.get()}, *output = nullptr;
    XCR_ASSERT_OK(xcr_invoke(instance.get(), xcr_string("main"), 2, inputs, 1, &output));
    Buffer z(output);
    std::vector<float> result = read<float>(z.get());
    ASSERT_EQ(result.size(), size);
    for (size_t i = 0; i < size; ++i)
      ASSERT_EQ(result[i], 2.0f * static_cast<float>(i));
  }
}

TEST_F(CallTest, InvokeWritesToGivenOutputs) {
  Buffer x = makeBuffer(device, iota(8)), z = makeBuffer(device, iota(8));
  xcr_buffer_t *inputs[] = {x.get(), x.get()}, *output = z.get();
  XCR_ASSERT_OK(xcr_invoke(instance.get(), xcr_string("main"), 2, inputs, 1, &output));
  EXPECT_EQ(output, z.get());
  EXPECT_EQ(read<float>(z.get())[7], 14.0f);
}

TEST_F(CallTest, LaunchingAgainChecksAndPatchesNothing) {
  call = makeCall(instance);
  Stream stream = makeStream(device);
  Buffer x = makeBuffer(device, iota(300)), y = makeBuffer(device, iota(300));
  XCR_ASSERT_OK(set(0, x));
  XCR_ASSERT_OK(set(1, y));
  XCR_ASSERT_OK(xcr_call_launch(call.get(), stream.get()));
  XCR_ASSERT_OK(xcr_stream_synchronize(stream.get()));
  xcr_device_statistics_t before = XCR_DEVICE_STATISTICS_INIT;
  xcr_device_get_statistics(device.get(), &before);
  for (int i = 0; i < 100; ++i)
    XCR_ASSERT_OK(xcr_call_launch(call.get(), stream.get()));
  XCR_ASSERT_OK(xcr_stream_synchronize(stream.get()));
  xcr_device_statistics_t after = XCR_DEVICE_STATISTICS_INIT;
  xcr_device_get_statistics(device.get(), &after);
  EXPECT_EQ(after.allocation_count, before.allocation_count);
  EXPECT_EQ(after.launch_count, before.launch_count + 100);
  EXPECT_EQ(statistics().launches, 101u);
  EXPECT_EQ(statistics().checks, 1u);
  EXPECT_EQ(statistics().instantiations, 1u);
  EXPECT_EQ(statistics().patches, 0u);
  EXPECT_EQ(statistics().command_count, 1u);
  EXPECT_EQ(read<float>(xcr_call_output(call.get(), 0))[299], 598.0f);
}

TEST_F(CallTest, AnotherPointerPatchesItsCommandOnly) {
  call = makeCall(instance);
  Buffer x = makeBuffer(device, iota(300));
  XCR_ASSERT_OK(set(0, x));
  XCR_ASSERT_OK(set(1, x));
  XCR_ASSERT_OK(xcr_call_run(call.get()));
  Buffer y = makeBuffer(device, iota(300, 100));
  XCR_ASSERT_OK(set(1, y));
  XCR_ASSERT_OK(xcr_call_run(call.get()));
  EXPECT_EQ(statistics().patches, 1u);
  EXPECT_EQ(statistics().instantiations, 1u);
  EXPECT_EQ(read<float>(xcr_call_output(call.get(), 0))[1], 102.0f);
}

TEST_F(CallTest, AnotherShapeEvaluatesSizesAgain) {
  call = makeCall(instance);
  for (size_t size : {100, 10, 0, 1000, 1000}) {
    Buffer x = makeBuffer(device, iota(size));
    XCR_ASSERT_OK(set(0, x));
    XCR_ASSERT_OK(set(1, x));
    int64_t shape = -1;
    XCR_ASSERT_OK(xcr_call_query_output_shape(call.get(), 0, &shape));
    EXPECT_EQ(shape, static_cast<int64_t>(size));
    XCR_ASSERT_OK(xcr_call_run(call.get()));
    std::vector<float> result = read<float>(xcr_call_output(call.get(), 0));
    ASSERT_EQ(result.size(), size);
    if (size)
      EXPECT_EQ(result[size - 1], 2.0f * static_cast<float>(size - 1));
    EXPECT_EQ(statistics().empty_count, size == 0 ? 1u : 0u);
  }
  EXPECT_EQ(statistics().instantiations, 1u);
}

TEST_F(CallTest, CallsMayBeReleasedInFlight) {
  Stream stream = makeStream(device);
  Buffer x = makeBuffer(device, iota(1 << 18));
  Buffer z = makeBuffer(device, std::vector<float>(1 << 18));
  for (int i = 0; i < 10; ++i) {
    call = makeCall(instance);
    XCR_ASSERT_OK(set(0, x));
    XCR_ASSERT_OK(set(1, x));
    XCR_ASSERT_OK(xcr_call_set_output(call.get(), 0, z.get()));
    XCR_ASSERT_OK(xcr_call_launch(call.get(), stream.get()));
    XCR_ASSERT_OK(xcr_call_launch(call.get(), stream.get()));
    call.reset();
  }
  x.reset();
  instance.reset();
  module.reset();
  device.reset();
  XCR_ASSERT_OK(xcr_stream_synchronize(stream.get()));
  EXPECT_EQ(read<float>(z.get())[1000], 2000.0f);
}

TEST_F(CallTest, LaunchesOfOneCallFollowEachOtherAcrossStreams) {
  ModuleSpec spec = kernelModule();
  FunctionSpec function;
  function.inputs = {{"x", fb::DType::I64, {literal(1)}, 8, /*donated=*/true}};
  function.outputs = {{"y", fb::DType::I64, {literal(1)}, 8, false, 0}};
  PlanSpec plan;
  VariantSpec variant;
  variant.exportOrdinal = kWork;
  variant.scalars = {literal(20000)};
  plan.dispatch({variant}, {binding(fb::Space::Input, 0, literal(8), fb::Access::ReadWrite)});
  function.plans = {plan};
  spec.functions = {function};
  use(spec);
  call = makeCall(instance);
  int64_t zero = 0;
  Buffer x = makeBuffer(device, XCR_DTYPE_I64, {1}, &zero, 8);
  XCR_ASSERT_OK(set(0, x));
  Stream streams[] = {makeStream(device), makeStream(device)};
  for (int i = 0; i < 50; ++i) {
    XCR_ASSERT_OK(xcr_call_launch(call.get(), streams[i % 2].get()));
    if (i % 10 == 0)
      XCR_ASSERT_OK(xcr_call_run(call.get()));
  }
  XCR_ASSERT_OK(xcr_device_synchronize(device.get()));
  EXPECT_EQ(read<int64_t>(x.get())[0], 55);
  // The output is the input's memory.
  EXPECT_EQ(read<int64_t>(xcr_call_output(call.get(), 0))[0], 55);
}

TEST_F(CallTest, ProfilesEveryCommand) {
  call = makeCall(instance, "main", XCR_CALL_PROFILE);
  Buffer x = makeBuffer(device, iota(1000));
  XCR_ASSERT_OK(set(0, x));
  XCR_ASSERT_OK(set(1, x));
  for (int i = 0; i < 3; ++i)
    XCR_ASSERT_OK(xcr_call_run(call.get()));
  ASSERT_EQ(xcr_call_profile_count(call.get()), 1u);
  xcr_profile_entry_t entry = XCR_PROFILE_ENTRY_INIT;
  XCR_ASSERT_OK(xcr_call_get_profile(call.get(), 0, &entry));
  EXPECT_EQ(std::string(entry.name.data, entry.name.size), "add");
  EXPECT_EQ(std::string(entry.location.data, entry.location.size), "model.mlir:1");
  EXPECT_EQ(entry.launches, 3u);
  EXPECT_EQ(entry.grid[0], 4u);
  EXPECT_GE(entry.total_ns, entry.min_ns);
  XCR_EXPECT_FAILS(xcr_call_get_profile(call.get(), 1, &entry), XCR_STATUS_OUT_OF_RANGE,
                   "there are 1");
}

TEST_F(CallTest, ManyThreadsInvokeOneInstance) {
  std::atomic<int> failures{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 6; ++t)
    threads.emplace_back([&, t] {
      size_t size = 500 + static_cast<size_t>(t) * 20000;
      Buffer x = makeBuffer(device, iota(size, static_cast<float>(t)));
      for (int i = 0; i < 50; ++i) {
        xcr_buffer_t *inputs[] = {x.get(), x.get()}, *output = nullptr;
        if (!isOk(xcr_invoke(instance.get(), xcr_string("main"), 2, inputs, 1, &output))) {
          failures.fetch_add(1);
          continue;
        }
        Buffer z(output);
        if (read<float>(z.get())[size - 1] !=
            2.0f * static_cast<float>(size - 1 + static_cast<size_t>(t)))
          failures.fetch_add(1);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(failures.load(), 0);
}

//===----------------------------------------------------------------------===//
// Arguments that do not fit
//===----------------------------------------------------------------------===//

TEST_F(CallTest, MissingFunctionListsTheOthers) {
  xcr_call_t *missing = nullptr;
  XCR_EXPECT_FAILS(xcr_call_create(instance.get(), xcr_string("mian"), nullptr, &missing),
                   XCR_STATUS_NOT_FOUND, "no function 'mian'; the module has: main");
}

TEST_F(CallTest, WrongCountNamesBoth) {
  Buffer x = makeBuffer(device, iota(4));
  xcr_buffer_t *input = x.get(), *output = nullptr;
  XCR_EXPECT_FAILS(xcr_invoke(instance.get(), xcr_string("main"), 1, &input, 1, &output),
                   XCR_STATUS_INVALID_ARGUMENT, "takes 2 inputs and 1 outputs, got 1 and 1");
  call = makeCall(instance);
  XCR_EXPECT_FAILS(set(2, x), XCR_STATUS_OUT_OF_RANGE, "input 2: 'main' has 2");
  XCR_EXPECT_FAILS(xcr_call_set_output(call.get(), 1, x.get()), XCR_STATUS_OUT_OF_RANGE,
                   "output 1: 'main' has 1");
}

TEST_F(CallTest, UnboundInputIsNamed) {
  call = makeCall(instance);
  Buffer x = makeBuffer(device, iota(4));
  XCR_ASSERT_OK(set(0, x));
  XCR_EXPECT_FAILS(xcr_call_run(call.get()), XCR_STATUS_FAILED_PRECONDITION,
                   "input 1 ('y') of 'main' is not bound");
}

TEST_F(CallTest, WrongTypeAndRank) {
  call = makeCall(instance);
  int32_t data[4] = {};
  Buffer integers = makeBuffer(device, XCR_DTYPE_I32, {4}, data, 16);
  XCR_EXPECT_FAILS(set(0, integers), XCR_STATUS_INVALID_ARGUMENT,
                   "input 0 ('x') of 'main': expected element type f32, got i32");
  Buffer matrix = makeBuffer(device, {2, 2}, iota(4));
  XCR_EXPECT_FAILS(set(1, matrix), XCR_STATUS_INVALID_ARGUMENT,
                   "input 1 ('y') of 'main': expected rank 1, got 2");
}

TEST_F(CallTest, WrongFixedDim) {
  ModuleSpec spec = addModule();
  spec.functions[0].inputs[1].dims[0] = literal(7);
  use(spec);
  call = makeCall(instance);
  Buffer x = makeBuffer(device, iota(4));
  XCR_EXPECT_FAILS(set(1, x), XCR_STATUS_INVALID_ARGUMENT, "expected dim 0 to be 7, got 4");
}

TEST_F(CallTest, SymbolicDimsThatDisagree) {
  call = makeCall(instance);
  Buffer x = makeBuffer(device, iota(4)), y = makeBuffer(device, iota(5));
  XCR_ASSERT_OK(set(0, x));
  XCR_ASSERT_OK(set(1, y));
  XCR_EXPECT_FAILS(xcr_call_run(call.get()), XCR_STATUS_OUT_OF_RANGE,
                   "input 1 ('y') of 'main': expected dim 0 to be 4 (symbol "
                   "'n', which is dim 0 of input 0), got 5");
  // The call can be set right.
  XCR_ASSERT_OK(set(1, x));
  XCR_EXPECT_OK(xcr_call_run(call.get()));
}

TEST_F(CallTest, OutputOfAnotherShape) {
  call = makeCall(instance);
  Buffer x = makeBuffer(device, iota(4)), z = makeBuffer(device, iota(3));
  XCR_ASSERT_OK(set(0, x));
  XCR_ASSERT_OK(set(1, x));
  XCR_ASSERT_OK(xcr_call_set_output(call.get(), 0, z.get()));
  XCR_EXPECT_FAILS(xcr_call_run(call.get()), XCR_STATUS_OUT_OF_RANGE,
                   "output 0 ('z') of 'main': expected dim 0 to be 4");
}

TEST_F(CallTest, SymbolsHaveBounds) {
  ModuleSpec spec = addModule();
  spec.functions[0].symbols[0] = {"n", 0, 0, 8, 64, 8};
  use(spec);
  call = makeCall(instance);
  struct {
    size_t size;
    const char *message;
  } cases[] = {{4, "expected between 8 and 64, got 4"},
               {72, "expected between 8 and 64, got 72"},
               {12, "expected a multiple of 8, got 12"}};
  for (const auto &bad : cases) {
    Buffer x = makeBuffer(device, iota(bad.size));
    XCR_ASSERT_OK(set(0, x));
    XCR_ASSERT_OK(set(1, x));
    XCR_EXPECT_FAILS(xcr_call_run(call.get()), XCR_STATUS_OUT_OF_RANGE, bad.message);
  }
  Buffer x = makeBuffer(device, iota(16));
  XCR_ASSERT_OK(set(0, x));
  XCR_ASSERT_OK(set(1, x));
  XCR_EXPECT_OK(xcr_call_run(call.get()));
}

TEST_F(CallTest, RequirementsAreCheckedWhenInputsAreBound) {
  ModuleSpec spec = addModule();
  FunctionSpec &function = spec.functions[0];
  uint32_t n = static_cast<uint32_t>(function.formulas.add({symbol(0)}).formula()),
           four = static_cast<uint32_t>(function.formulas.add({constant(4)}).formula());
  struct {
    fb::Comparison comparison;
    std::vector<size_t> good, bad;
  } cases[] = {{fb::Comparison::Equal, {4}, {3, 5, 1}},
               {fb::Comparison::AtMost, {1, 4}, {5}},
               {fb::Comparison::OneOrEqual, {1, 4}, {2, 8}}};
  spec.requiredFeatures = {"requirements"};
  for (const auto &entry : cases) {
    function.requirements = {{entry.comparison, n, four, "expected n to fit", "a.mlir:3:4"}};
    use(spec);
    call = makeCall(instance);
    for (size_t size : entry.good) {
      Buffer x = makeBuffer(device, iota(size));
      XCR_ASSERT_OK(set(0, x));
      XCR_ASSERT_OK(set(1, x));
      XCR_EXPECT_OK(xcr_call_run(call.get()));
    }
    for (size_t size : entry.bad) {
      Buffer x = makeBuffer(device, iota(size));
      XCR_ASSERT_OK(set(0, x));
      XCR_ASSERT_OK(set(1, x));
      std::string message = "'main' at a.mlir:3:4: expected n to fit, got " + std::to_string(size) +
                            " and 4 for n = " + std::to_string(size);
      XCR_EXPECT_FAILS(xcr_call_run(call.get()), XCR_STATUS_OUT_OF_RANGE, message.c_str());
    }
  }
}

TEST_F(CallTest, PlanFormulasThatOverflowNameTheSymbols) {
  ModuleSpec spec = addModule();
  PlanSpec &plan = spec.functions[0].plans[0];
  plan.formulas.add({symbol(0), constant(int64_t(1) << 62), op(fb::FormulaOp::Mul)});
  use(spec);
  call = makeCall(instance);
  Buffer x = makeBuffer(device, iota(4));
  XCR_ASSERT_OK(set(0, x));
  XCR_ASSERT_OK(set(1, x));
  XCR_EXPECT_FAILS(xcr_call_run(call.get()), XCR_STATUS_OUT_OF_RANGE, "for n = 4: formula");
}

TEST_F(CallTest, StridedAndMisalignedBuffers) {
  call = makeCall(instance);
  std::vector<float> data = iota(16);
  xcr_buffer_options_t options = XCR_BUFFER_OPTIONS_INIT;
  int64_t shape = 4, stride = 2;
  options.dtype = XCR_DTYPE_F32;
  options.rank = 1;
  options.shape = &shape;
  options.strides = &stride;
  xcr_buffer_t *buffer = nullptr;
  XCR_ASSERT_OK(
      xcr_buffer_wrap(device.get(), &options, data.data(), 64, nullptr, nullptr, &buffer));
  Buffer strided(buffer);
  XCR_EXPECT_FAILS(set(0, strided), XCR_STATUS_INVALID_ARGUMENT, "contiguous");
  options.strides = nullptr;
  XCR_ASSERT_OK(xcr_buffer_wrap(device.get(), &options, reinterpret_cast<char *>(data.data()) + 1,
                                60, nullptr, nullptr, &buffer));
  Buffer misaligned(buffer);
  XCR_EXPECT_FAILS(set(0, misaligned), XCR_STATUS_INVALID_ARGUMENT,
                   "expected an address that is a multiple of 4");
}

TEST_F(CallTest, BufferOfAnotherDevice) {
  call = makeCall(instance);
  Device other = makeDevice();
  Buffer x = makeBuffer(other, iota(4));
  XCR_EXPECT_FAILS(set(0, x), XCR_STATUS_INVALID_ARGUMENT, "another device");
  Stream stream = makeStream(other);
  XCR_EXPECT_FAILS(xcr_call_launch(call.get(), stream.get()), XCR_STATUS_INVALID_ARGUMENT,
                   "stream");
}

TEST_F(CallTest, OutputsMustNotOverlapOthers) {
  call = makeCall(instance);
  Buffer x = makeBuffer(device, iota(64)), y = makeBuffer(device, iota(64));
  XCR_ASSERT_OK(set(0, x));
  XCR_ASSERT_OK(set(1, y));
  XCR_ASSERT_OK(xcr_call_set_output(call.get(), 0, y.get()));
  XCR_EXPECT_FAILS(xcr_call_run(call.get()), XCR_STATUS_INVALID_ARGUMENT, "overlap in memory");
}

TEST_F(CallTest, SizesThatOverflow) {
  ModuleSpec spec = addModule();
  // An output of n * 2^62 elements.
  spec.functions[0].outputs[0].dims[0] = spec.functions[0].formulas.add(
      {symbol(0), constant(int64_t(1) << 62), op(fb::FormulaOp::Mul)});
  use(spec);
  call = makeCall(instance);
  Buffer x = makeBuffer(device, iota(4));
  XCR_ASSERT_OK(set(0, x));
  XCR_ASSERT_OK(set(1, x));
  XCR_EXPECT_FAILS(xcr_call_run(call.get()), XCR_STATUS_OUT_OF_RANGE, "overflows 64 bits");
}

TEST_F(CallTest, BindingsOutsideTheirBuffer) {
  ModuleSpec spec = addModule();
  PlanSpec &plan = spec.functions[0].plans[0];
  // Reads n + 1 elements.
  plan.bindings[0] = reads(fb::Space::Input, 0,
                           plan.formulas.add({symbol(0), constant(1), op(fb::FormulaOp::Add),
                                              constant(4), op(fb::FormulaOp::Mul)}));
  use(spec);
  call = makeCall(instance);
  Buffer x = makeBuffer(device, iota(4));
  XCR_ASSERT_OK(set(0, x));
  XCR_ASSERT_OK(set(1, x));
  XCR_EXPECT_FAILS(xcr_call_run(call.get()), XCR_STATUS_OUT_OF_RANGE,
                   "uses 20 bytes at 0 of Input 0, which has 16");
}

/// main(p: 1, x: 4, y: 4) -> x where p is true, else y.
TEST_F(CallTest, AnIfRunsOneOfItsRegions) {
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

TEST_F(CallTest, SizesChooseWhatIsLaunched) {
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

TEST_F(CallTest, OnlyWhatIsChosenNeedsItsFormulas) {
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

TEST_F(CallTest, ZeroTimesNoNumberIsZero) {
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

TEST_F(CallTest, StepsGoThroughWhatSizesHaveChosen) {
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
TEST_F(CallTest, TheFirstVariantWhoseGuardsHoldRuns) {
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

TEST_F(CallTest, WorkspacesLieInTheArena) {
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

TEST_F(CallTest, ConstantsAndTheInitPlan) {
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
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

TEST_F(CallTest, OutOfMemoryTellsBytesAndLeavesTheDeviceUsable) {
  device = makeDevice("cpu:2", 1 << 20);
  instance = makeInstance(device, module);
  call = makeCall(instance);
  Buffer x = makeBuffer(device, std::vector<float>(200000));
  XCR_ASSERT_OK(set(0, x));
  XCR_ASSERT_OK(set(1, x));
  xcr_status_t status = xcr_call_run(call.get());
  uint64_t asked = 0, available = 0;
  EXPECT_TRUE(xcr_status_memory(status, &asked, &available));
  EXPECT_EQ(asked, 800000u);
  EXPECT_EQ(available, (1u << 20) - 800000u);
  XCR_EXPECT_FAILS(status, XCR_STATUS_OUT_OF_MEMORY, "asked for 800000 bytes, 248576 available");
  Buffer small = makeBuffer(device, iota(10));
  XCR_ASSERT_OK(set(0, small));
  XCR_ASSERT_OK(set(1, small));
  XCR_EXPECT_OK(xcr_call_run(call.get()));
}

/// Fails every allocation from a certain one on.
struct FailingAllocator {
  std::atomic<int64_t> left{INT64_MAX};
  std::atomic<int64_t> live{0};
  xcr_host_allocator_t callbacks() {
    return {sizeof(xcr_host_allocator_t), this,
            [](void *user, size_t size, size_t alignment) -> void * {
              auto *self = static_cast<FailingAllocator *>(user);
              if (self->left.fetch_sub(1) <= 0)
                return nullptr;
              void *pointer = nullptr;
              if (posix_memalign(&pointer, alignment < 8 ? 8 : alignment, size ? size : 1) != 0)
                return nullptr;
              self->live.fetch_add(1);
              return pointer;
            },
            [](void *user, void *pointer, size_t, size_t) {
              static_cast<FailingAllocator *>(user)->live.fetch_sub(1);
              free(pointer);
            }};
  }
};

/// Everything that a program does, up to the first failure.
static xcr_status_t runWith(FailingAllocator &memory, const std::vector<uint8_t> &bytes) {
  xcr_host_allocator_t callbacks = memory.callbacks();
  xcr_device_options_t deviceOptions = XCR_DEVICE_OPTIONS_INIT;
  deviceOptions.host_allocator = &callbacks;
  xcr_module_options_t moduleOptions = XCR_MODULE_OPTIONS_INIT;
  moduleOptions.host_allocator = &callbacks;
  xcr_device_t *device = nullptr;
  xcr_module_t *module = nullptr;
  xcr_instance_t *instance = nullptr;
  xcr_buffer_t *x = nullptr, *output = nullptr;
  xcr_stream_t *stream = nullptr;
  std::vector<float> data = iota(8);
  int64_t shape = 8;
  xcr_buffer_options_t options = XCR_BUFFER_OPTIONS_INIT;
  options.dtype = XCR_DTYPE_F32;
  options.rank = 1;
  options.shape = &shape;
  xcr_status_t status = xcr_device_create(xcr_string("cpu:2"), &deviceOptions, &device);
  if (!status)
    status = xcr_module_load_memory(bytes.data(), bytes.size(), &moduleOptions, nullptr, nullptr,
                                    &module);
  if (!status)
    status = xcr_instance_create(device, module, nullptr, &instance);
  if (!status)
    status = xcr_buffer_create_from_host(device, &options, data.data(), 32, &x);
  xcr_buffer_t *inputs[] = {x, x};
  if (!status)
    status = xcr_invoke(instance, xcr_string("main"), 2, inputs, 1, &output);
  xcr_call_t *call = nullptr;
  if (!status)
    status = xcr_call_create(instance, xcr_string("main"), nullptr, &call);
  if (!status)
    status = xcr_stream_create(device, nullptr, &stream);
  for (uint32_t i = 0; i < 2 && !status; ++i)
    status = xcr_call_set_input(call, i, x);
  if (!status)
    status = xcr_call_launch(call, stream);
  if (!status)
    status = xcr_stream_synchronize(stream);
  xcr_call_release(call);
  xcr_stream_release(stream);
  xcr_buffer_release(output);
  xcr_buffer_release(x);
  xcr_instance_release(instance);
  xcr_module_release(module);
  xcr_device_release(device);
  return status;
}

TEST(HostMemoryTest, EveryFailedAllocationIsAStatusAndLeaksNothing) {
  std::vector<uint8_t> bytes = addModule().finish();
  int64_t allocations = 0;
  for (;; ++allocations) {
    FailingAllocator memory;
    memory.left = allocations;
    xcr_status_t status = runWith(memory, bytes);
    bool isDone = xcr_is_ok(status);
    if (!isDone)
      EXPECT_EQ(xcr_status_code(status), XCR_STATUS_OUT_OF_MEMORY)
          << xcr_status_message(status).data;
    xcr_status_release(status);
    ASSERT_EQ(memory.live.load(), 0) << "allocation " << allocations;
    if (isDone)
      break;
  }
  EXPECT_GT(allocations, 50);
}
