//===- ArgumentsTest.cpp - Arguments of calls that do not fit -------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/runtime/CallTest.h"

using namespace xc;
using namespace xc::test;

using ArgumentsTest = CallTest;

TEST_F(ArgumentsTest, MissingFunctionListsTheOthers) {
  xcr_call_t *missing = nullptr;
  XCR_EXPECT_FAILS(xcr_call_create(instance.get(), xcr_string("mian"), nullptr, &missing),
                   XCR_STATUS_NOT_FOUND, "no function 'mian'; the module has: 'main'");
}

TEST_F(ArgumentsTest, NamesWithoutBytesOrWithAZeroByteAreRefused) {
  const xcr_string_view_t missing = {nullptr, 5}, cut = {"main\0x", 6};
  auto expectRefused = [&](const char *name, const auto &use) {
    std::string start = name;
    XCR_EXPECT_FAILS(use(missing), XCR_STATUS_INVALID_ARGUMENT,
                     (start + ": expected 5 bytes, got NULL").c_str());
    XCR_EXPECT_FAILS(use(cut), XCR_STATUS_INVALID_ARGUMENT,
                     (start + ": 'main' holds a zero byte").c_str());
  };
  expectRefused("uri", [](xcr_string_view_t text) {
    xcr_device_t *made = nullptr;
    return xcr_device_create(text, nullptr, &made);
  });
  expectRefused("path", [](xcr_string_view_t text) {
    xcr_module_t *made = nullptr;
    return xcr_module_load_file(text, nullptr, &made);
  });
  expectRefused("name", [&](xcr_string_view_t text) {
    const xcr_function_t *found = nullptr;
    return xcr_module_find_function(module.get(), text, &found);
  });
  const xcr_function_t *function = nullptr;
  XCR_ASSERT_OK(xcr_module_find_function(module.get(), xcr_string("main"), &function));
  uint32_t place = 0;
  expectRefused("name", [&](xcr_string_view_t text) {
    return xcr_function_find_input(function, text, &place);
  });
  expectRefused("function", [&](xcr_string_view_t text) {
    xcr_call_t *made = nullptr;
    return xcr_call_create(instance.get(), text, nullptr, &made);
  });
  expectRefused("function", [&](xcr_string_view_t text) {
    return xcr_invoke(instance.get(), text, 0, nullptr, 0, nullptr);
  });
  expectRefused("name", [&](xcr_string_view_t text) {
    xcr_buffer_t *found = nullptr;
    return xcr_instance_get_variable(instance.get(), text, &found);
  });
  expectRefused("options.sources.scope", [&](xcr_string_view_t text) {
    const xcr_parameter_source_t source = {text, xcr_string("weights.npy")};
    xcr_instance_options_t options = XCR_INSTANCE_OPTIONS_INIT;
    options.sources = &source;
    options.source_count = 1;
    xcr_instance_t *made = nullptr;
    return xcr_instance_create(device.get(), module.get(), &options, &made);
  });
  EXPECT_EQ(xcr_dtype_from_name(missing), XCR_DTYPE_NONE);
}

TEST_F(ArgumentsTest, WrongCountNamesBoth) {
  Buffer x = makeBuffer(device, iota(4));
  xcr_buffer_t *input = x.get(), *output = nullptr;
  XCR_EXPECT_FAILS(xcr_invoke(instance.get(), xcr_string("main"), 1, &input, 1, &output),
                   XCR_STATUS_INVALID_ARGUMENT, "takes 2 inputs and 1 outputs, got 1 and 1");
  call = makeCall(instance);
  XCR_EXPECT_FAILS(set(2, x), XCR_STATUS_OUT_OF_RANGE, "input 2: 'main' has 2");
  XCR_EXPECT_FAILS(xcr_call_set_output(call.get(), 1, x.get()), XCR_STATUS_OUT_OF_RANGE,
                   "output 1: 'main' has 1");
}

TEST_F(ArgumentsTest, UnboundInputIsNamed) {
  call = makeCall(instance);
  Buffer x = makeBuffer(device, iota(4));
  XCR_ASSERT_OK(set(0, x));
  XCR_EXPECT_FAILS(xcr_call_run(call.get()), XCR_STATUS_FAILED_PRECONDITION,
                   "input 1 ('y') of 'main' is not bound");
}

TEST_F(ArgumentsTest, WrongTypeAndRank) {
  call = makeCall(instance);
  int32_t data[4] = {};
  Buffer integers = makeBuffer(device, XCR_DTYPE_I32, {4}, data, 16);
  XCR_EXPECT_FAILS(set(0, integers), XCR_STATUS_INVALID_ARGUMENT,
                   "input 0 ('x') of 'main': expected element type f32, got i32");
  Buffer matrix = makeBuffer(device, {2, 2}, iota(4));
  XCR_EXPECT_FAILS(set(1, matrix), XCR_STATUS_INVALID_ARGUMENT,
                   "input 1 ('y') of 'main': expected rank 1, got 2");
}

TEST_F(ArgumentsTest, WrongFixedDim) {
  ModuleSpec spec = addModule();
  spec.functions[0].inputs[1].dims[0] = literal(7);
  use(spec);
  call = makeCall(instance);
  Buffer x = makeBuffer(device, iota(4));
  XCR_EXPECT_FAILS(set(1, x), XCR_STATUS_INVALID_ARGUMENT, "expected dim 0 to be 7, got 4");
}

TEST_F(ArgumentsTest, SymbolicDimsThatDisagree) {
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

TEST_F(ArgumentsTest, OutputOfAnotherShape) {
  call = makeCall(instance);
  Buffer x = makeBuffer(device, iota(4)), z = makeBuffer(device, iota(3));
  XCR_ASSERT_OK(set(0, x));
  XCR_ASSERT_OK(set(1, x));
  XCR_ASSERT_OK(xcr_call_set_output(call.get(), 0, z.get()));
  XCR_EXPECT_FAILS(xcr_call_run(call.get()), XCR_STATUS_OUT_OF_RANGE,
                   "output 0 ('z') of 'main': expected dim 0 to be 4");
}

TEST_F(ArgumentsTest, SymbolsHaveBounds) {
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

TEST_F(ArgumentsTest, RequirementsAreCheckedWhenInputsAreBound) {
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

TEST_F(ArgumentsTest, PlanFormulasThatOverflowNameTheSymbols) {
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

TEST_F(ArgumentsTest, StridedAndMisalignedBuffers) {
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

TEST_F(ArgumentsTest, BufferOfAnotherDevice) {
  call = makeCall(instance);
  Device other = makeDevice();
  Buffer x = makeBuffer(other, iota(4));
  XCR_EXPECT_FAILS(set(0, x), XCR_STATUS_INVALID_ARGUMENT, "got one of another device object 0x");
  Stream stream = makeStream(other);
  XCR_EXPECT_FAILS(xcr_call_launch(call.get(), stream.get()), XCR_STATUS_INVALID_ARGUMENT,
                   "stream");
}

TEST_F(ArgumentsTest, OutputsMustNotOverlapOthers) {
  call = makeCall(instance);
  Buffer x = makeBuffer(device, iota(64)), y = makeBuffer(device, iota(64));
  XCR_ASSERT_OK(set(0, x));
  XCR_ASSERT_OK(set(1, y));
  XCR_ASSERT_OK(xcr_call_set_output(call.get(), 0, y.get()));
  XCR_EXPECT_FAILS(xcr_call_run(call.get()), XCR_STATUS_INVALID_ARGUMENT, "overlap in memory");
}

TEST_F(ArgumentsTest, SizesThatOverflow) {
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

TEST_F(ArgumentsTest, BindingsOutsideTheirBuffer) {
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
