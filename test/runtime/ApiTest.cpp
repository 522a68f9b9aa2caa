//===- ApiTest.cpp - Devices, buffers, streams and metadata of the C API -===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/runtime/XcrTest.h"

#include <atomic>
#include <cstdlib>

using namespace xc;
using namespace xc::test;

extern "C" int xcrHeaderIsC99(void);

TEST(ApiTest, HeaderCompilesAsC99) { EXPECT_EQ(xcrHeaderIsC99(), 0); }

TEST(ApiTest, VersionIsTheHeaders) {
  EXPECT_EQ(xcr_version(), 1000u * XCR_VERSION_MAJOR + XCR_VERSION_MINOR);
}

TEST(ApiTest, NamesOfTypesGoBothWays) {
  for (int i = XCR_DTYPE_I1; i <= XCR_DTYPE_F8E5M2; ++i) {
    xcr_dtype_t type = static_cast<xcr_dtype_t>(i);
    EXPECT_EQ(xcr_dtype_from_name(xcr_dtype_name(type)), type);
    EXPECT_GT(xcr_dtype_size(type), 0u);
  }
  EXPECT_EQ(xcr_dtype_from_name(xcr_string("q4")), XCR_DTYPE_NONE);
}

TEST(ApiTest, NullStatusIsSuccess) {
  EXPECT_EQ(xcr_status_code(nullptr), XCR_STATUS_OK);
  EXPECT_EQ(toString(xcr_status_message(nullptr)), "ok");
  xcr_status_release(nullptr);
}

//===----------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------===//

TEST(DeviceTest, ListNamesEveryDriver) {
  xcr_device_list_t *list = nullptr;
  XCR_ASSERT_OK(xcr_device_list_create(nullptr, &list));
  bool hasCpu = false;
  for (size_t i = 0; i < xcr_device_list_device_count(list); ++i) {
    xcr_device_info_t info = XCR_DEVICE_INFO_INIT;
    XCR_EXPECT_OK(xcr_device_list_get_device(list, i, &info));
    hasCpu |= toString(info.uri) == "cpu" && info.processor_count > 0 && info.total_memory > 0;
  }
  EXPECT_TRUE(hasCpu);
  for (size_t i = 0; i < xcr_device_list_driver_count(list); ++i) {
    xcr_driver_info_t info = XCR_DRIVER_INFO_INIT;
    XCR_EXPECT_OK(xcr_device_list_get_driver(list, i, &info));
    EXPECT_GT(info.reason.size, 0u);
  }
  xcr_driver_info_t info = XCR_DRIVER_INFO_INIT;
  XCR_EXPECT_FAILS(xcr_device_list_get_driver(list, 99, &info), XCR_STATUS_OUT_OF_RANGE,
                   "driver 99");
  xcr_device_list_release(list);
}

TEST(DeviceTest, AutoSaysWhatItChose) {
  Device device = makeDevice("auto");
  xcr_device_info_t info = XCR_DEVICE_INFO_INIT;
  xcr_device_get_info(device.get(), &info);
  EXPECT_NE(toString(info.description).find("chosen by 'auto'"), std::string::npos);
  if (toString(info.driver) == "cpu")
    EXPECT_NE(toString(info.description).find("cuda: "), std::string::npos);
}

TEST(DeviceTest, ThreadsComeFromUriOptionOrEnvironment) {
  auto threads = [](const char *uri, uint32_t option) {
    xcr_device_options_t options = XCR_DEVICE_OPTIONS_INIT;
    options.cpu_threads = option;
    xcr_device_t *device = nullptr;
    EXPECT_TRUE(isOk(xcr_device_create(xcr_string(uri), &options, &device)));
    xcr_device_info_t info = XCR_DEVICE_INFO_INIT;
    xcr_device_get_info(device, &info);
    xcr_device_release(device);
    return info.processor_count;
  };
  setenv("XCR_CPU_THREADS", "5", 1);
  EXPECT_EQ(threads("cpu:3", 4), 3u);
  EXPECT_EQ(threads("cpu", 4), 4u);
  EXPECT_EQ(threads("cpu", 0), 5u);
  unsetenv("XCR_CPU_THREADS");
  EXPECT_GE(threads("cpu", 0), 1u);
}

TEST(DeviceTest, UnknownKindsOfTemporariesAreNamed) {
  setenv("XCR_TEMPORARIES", "bogus", 1);
  xcr_device_t *device = nullptr;
  XCR_EXPECT_FAILS(xcr_device_create(xcr_string("cpu"), nullptr, &device),
                   XCR_STATUS_INVALID_ARGUMENT, "expected arena or separate, got 'bogus'");
  unsetenv("XCR_TEMPORARIES");
}

TEST(DeviceTest, BadUris) {
  struct {
    const char *uri;
    xcr_status_code_t code;
    const char *message;
  } cases[] = {{"tpu", XCR_STATUS_NOT_FOUND, "no device 'tpu'"},
               {"", XCR_STATUS_NOT_FOUND, "no device ''"},
               {"cpu:", XCR_STATUS_INVALID_ARGUMENT, "after the colon"},
               {"cpu:0", XCR_STATUS_INVALID_ARGUMENT, "between 1 and 1024"},
               {"cpu:x", XCR_STATUS_INVALID_ARGUMENT, "cpu:x"},
               {"cpu?x", XCR_STATUS_INVALID_ARGUMENT, "device 'cpu?x': the CPU takes no options"},
               {"a\nb\x1b[2J\x7f\xc2\x9bz", XCR_STATUS_NOT_FOUND, "no device 'a b?[2J???z'"}};
  for (const auto &bad : cases) {
    xcr_device_t *device = nullptr;
    XCR_EXPECT_FAILS(xcr_device_create(xcr_string(bad.uri), nullptr, &device), bad.code,
                     bad.message);
  }
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

TEST(DeviceTest, OptionsWithoutASizeAreRefused) {
  // A limit in a structure that says nothing of its size would be passed over.
  xcr_device_options_t options = {};
  options.memory_limit = 1;
  xcr_device_t *device = nullptr;
  XCR_EXPECT_FAILS(xcr_device_create(xcr_string("cpu"), &options, &device),
                   XCR_STATUS_INVALID_ARGUMENT, "options.struct_size");
  // Of a size that cuts a field in two.
  options.struct_size = offsetof(xcr_device_options_t, memory_limit) + 1;
  XCR_EXPECT_FAILS(xcr_device_create(xcr_string("cpu"), &options, &device),
                   XCR_STATUS_INVALID_ARGUMENT, "options.struct_size");
  xcr_module_options_t refusing = {};
  refusing.flags = XCR_MODULE_REFUSE_NATIVE_CODE;
  xcr_module_t *module = nullptr;
  XCR_EXPECT_FAILS(xcr_module_load_memory("", 0, &refusing, nullptr, nullptr, &module),
                   XCR_STATUS_INVALID_ARGUMENT, "options.struct_size");
}

TEST(BufferTest, ShapesStridesAndViews) {
  Device device = makeDevice();
  Buffer buffer = makeBuffer(device, {3, 4}, iota(12));
  xcr_buffer_info_t info = XCR_BUFFER_INFO_INIT;
  xcr_buffer_get_info(buffer.get(), &info);
  EXPECT_EQ(info.rank, 2u);
  EXPECT_EQ(info.strides[0], 4);
  EXPECT_EQ(info.byte_length, 48u);
  EXPECT_EQ(info.address % 64, 0u);
  EXPECT_TRUE(info.is_contiguous);
  EXPECT_EQ(xcr_buffer_device(buffer.get()), device.get());

  // The second column.
  xcr_buffer_options_t options = XCR_BUFFER_OPTIONS_INIT;
  int64_t shape = 3, stride = 4;
  options.dtype = XCR_DTYPE_F32;
  options.rank = 1;
  options.shape = &shape;
  options.strides = &stride;
  xcr_buffer_t *made = nullptr;
  XCR_ASSERT_OK(xcr_buffer_view(buffer.get(), &options, 4, &made));
  Buffer column(made);
  xcr_buffer_get_info(column.get(), &info);
  EXPECT_FALSE(info.is_contiguous);
  EXPECT_EQ(info.byte_length, 36u);
  XCR_EXPECT_FAILS(xcr_buffer_view(buffer.get(), &options, 16, &made), XCR_STATUS_OUT_OF_RANGE,
                   "does not fit");
  float last = 0;
  XCR_EXPECT_OK(xcr_buffer_read(column.get(), 32, &last, 4));
  EXPECT_EQ(last, 9.0f);
}

TEST(BufferTest, ViewsKeepTheMemoryAlive) {
  Device device = makeDevice();
  Buffer buffer = makeBuffer(device, iota(8));
  xcr_buffer_options_t options = XCR_BUFFER_OPTIONS_INIT;
  int64_t shape = 2;
  options.dtype = XCR_DTYPE_F32;
  options.rank = 1;
  options.shape = &shape;
  xcr_buffer_t *made = nullptr;
  XCR_ASSERT_OK(xcr_buffer_view(buffer.get(), &options, 8, &made));
  Buffer view(made);
  buffer.reset();
  device.reset();
  EXPECT_EQ(read<float>(view.get()), (std::vector<float>{2, 3}));
}

TEST(BufferTest, BadOptions) {
  Device device = makeDevice();
  int64_t negative = -1, huge[2] = {INT64_MAX, 8};
  struct {
    xcr_dtype_t dtype;
    uint32_t rank;
    const int64_t *shape;
    xcr_status_code_t code;
    const char *message;
  } cases[] = {{XCR_DTYPE_NONE, 0, nullptr, XCR_STATUS_INVALID_ARGUMENT, "dtype"},
               {XCR_DTYPE_F32, 17, huge, XCR_STATUS_INVALID_ARGUMENT, "rank"},
               {XCR_DTYPE_F32, 1, nullptr, XCR_STATUS_INVALID_ARGUMENT, "shape"},
               {XCR_DTYPE_F32, 1, &negative, XCR_STATUS_INVALID_ARGUMENT, "got -1"},
               {XCR_DTYPE_F32, 2, huge, XCR_STATUS_OUT_OF_RANGE, "overflows 64 bits"},
               {XCR_DTYPE_F32, 1, huge, XCR_STATUS_OUT_OF_RANGE, "overflows 64 bits"}};
  for (const auto &bad : cases) {
    xcr_buffer_options_t options = XCR_BUFFER_OPTIONS_INIT;
    options.dtype = bad.dtype;
    options.rank = bad.rank;
    options.shape = bad.shape;
    xcr_buffer_t *buffer = nullptr;
    XCR_EXPECT_FAILS(xcr_buffer_create(device.get(), &options, &buffer), bad.code, bad.message);
  }
}

TEST(BufferTest, WrappedMemoryIsGivenBackOnce) {
  Device device = makeDevice();
  float data[4] = {1, 2, 3, 4};
  int released = 0;
  xcr_buffer_options_t options = XCR_BUFFER_OPTIONS_INIT;
  int64_t shape = 4;
  options.dtype = XCR_DTYPE_F32;
  options.rank = 1;
  options.shape = &shape;
  auto release = [](void *user) { ++*static_cast<int *>(user); };
  xcr_buffer_t *made = nullptr;
  XCR_EXPECT_FAILS(xcr_buffer_wrap(device.get(), &options, data, 15, release, &released, &made),
                   XCR_STATUS_OUT_OF_RANGE, "takes 16 bytes, got 15");
  EXPECT_EQ(released, 0);
  XCR_ASSERT_OK(xcr_buffer_wrap(device.get(), &options, data, 16, release, &released, &made));
  Buffer buffer(made);
  EXPECT_EQ(read<float>(buffer.get())[3], 4.0f);
  buffer.reset();
  EXPECT_EQ(released, 1);
}

TEST(BufferTest, OneMappingAtATime) {
  Device device = makeDevice();
  Buffer buffer = makeBuffer(device, iota(4));
  void *data = nullptr;
  XCR_ASSERT_OK(xcr_buffer_map(buffer.get(), XCR_MAP_READ_WRITE, &data));
  static_cast<float *>(data)[2] = 42;
  void *again = nullptr;
  XCR_EXPECT_FAILS(xcr_buffer_map(buffer.get(), XCR_MAP_READ, &again),
                   XCR_STATUS_FAILED_PRECONDITION, "mapped already");
  XCR_ASSERT_OK(xcr_buffer_unmap(buffer.get()));
  XCR_EXPECT_FAILS(xcr_buffer_unmap(buffer.get()), XCR_STATUS_FAILED_PRECONDITION, "not mapped");
  EXPECT_EQ(read<float>(buffer.get())[2], 42.0f);
}

TEST(BufferTest, AccessOutsideIsRefused) {
  Device device = makeDevice();
  Buffer buffer = makeBuffer(device, iota(4));
  char data[32];
  XCR_EXPECT_FAILS(xcr_buffer_read(buffer.get(), 8, data, 9), XCR_STATUS_OUT_OF_RANGE,
                   "outside a buffer of 16 bytes");
  XCR_EXPECT_FAILS(xcr_buffer_write(buffer.get(), UINT64_MAX, data, 2), XCR_STATUS_OUT_OF_RANGE,
                   "outside a buffer of 16 bytes");
  Stream stream = makeStream(device);
  XCR_EXPECT_FAILS(xcr_stream_fill(stream.get(), buffer.get(), 0, 15, 0, 4),
                   XCR_STATUS_INVALID_ARGUMENT, "multiples");
  XCR_EXPECT_FAILS(xcr_stream_fill(stream.get(), buffer.get(), 0, 15, 0, 3),
                   XCR_STATUS_INVALID_ARGUMENT, "pattern_size");
  XCR_EXPECT_FAILS(xcr_stream_copy(stream.get(), buffer.get(), 0, buffer.get(), 8, 16),
                   XCR_STATUS_OUT_OF_RANGE, "target");
}

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

TEST(StreamApiTest, CopiesDoNotOverlap) {
  Device device = makeDevice();
  Stream stream = makeStream(device);
  Buffer x = makeBuffer(device, iota(8));
  XCR_EXPECT_FAILS(
      xcr_stream_copy(stream.get(), x.get(), 0, x.get(), 8, 16), XCR_STATUS_INVALID_ARGUMENT,
      "source and target overlap: 16 bytes at byte 0 and at byte 8 of the same memory");
  XCR_EXPECT_OK(xcr_stream_copy(stream.get(), x.get(), 0, x.get(), 16, 16));
  XCR_EXPECT_OK(xcr_stream_copy(stream.get(), x.get(), 4, x.get(), 4, 0));
  XCR_EXPECT_OK(xcr_stream_synchronize(stream.get()));
  EXPECT_EQ(read<float>(x.get()), (std::vector<float>{0, 1, 2, 3, 0, 1, 2, 3}));
}

TEST(StreamApiTest, BuffersOfOtherDeviceObjectsAreRefused) {
  // Both are called "cpu".
  Device device = makeDevice(), other = makeDevice();
  Stream stream = makeStream(device);
  Buffer x = makeBuffer(other, iota(8));
  XCR_EXPECT_FAILS(xcr_stream_fill(stream.get(), x.get(), 0, 32, 0, 4), XCR_STATUS_INVALID_ARGUMENT,
                   "target: the buffer is of device object 0x");
}

TEST(StreamApiTest, ACallbackMayDropTheLastReferenceToItsStream) {
  struct Shared {
    xcr_stream_t *stream = nullptr;
    std::atomic<bool> isBound{false}, isDone{false};
  } shared;
  Device device = makeDevice();
  XCR_ASSERT_OK(xcr_stream_create(device.get(), nullptr, &shared.stream));
  XCR_ASSERT_OK(xcr_stream_add_callback(
      shared.stream,
      [](void *user, xcr_status_t) {
        Shared *shared = static_cast<Shared *>(user);
        while (!shared->isBound.load())
          ;
        xcr_stream_release(shared->stream);
        shared->isDone.store(true);
      },
      &shared));
  // The callback's reference is the only one, and nobody waits for the stream.
  device.reset();
  shared.isBound.store(true);
  while (!shared.isDone.load())
    ;
}

//===----------------------------------------------------------------------===//
// Metadata
//===----------------------------------------------------------------------===//

TEST(MetadataTest, TellsWhatIsInAModule) {
  ModuleSpec spec = addModule();
  spec.executables[0].features = {"sse2"};
  spec.variables = {{"v", fb::DType::F64, {2, 3}}};
  spec.parameters = {{"weights.npy", "", fb::DType::F32, {5}}};
  std::vector<uint8_t> bytes = spec.finish();
  Module module = loadModule(bytes, XCR_MODULE_METADATA_ONLY);
  xcr_module_info_t info = XCR_MODULE_INFO_INIT;
  xcr_module_get_info(module.get(), &info);
  EXPECT_EQ(toString(info.compiler), "test builder");
  EXPECT_EQ(info.file_size, bytes.size());
  EXPECT_EQ(info.function_count, 1u);
  EXPECT_EQ(info.variable_bytes, 48u);
  EXPECT_EQ(info.parameter_bytes, 20u);

  xcr_target_info_t target = XCR_TARGET_INFO_INIT;
  XCR_ASSERT_OK(xcr_module_get_target(module.get(), 0, &target));
  EXPECT_EQ(toString(target.kind), "cpu");
  EXPECT_TRUE(target.has_native_code);
  EXPECT_FALSE(target.has_ptx);
  XCR_EXPECT_FAILS(xcr_module_get_target(module.get(), 1, &target), XCR_STATUS_OUT_OF_RANGE,
                   "there are 1");

  xcr_executable_info_t code = XCR_EXECUTABLE_INFO_INIT;
  XCR_ASSERT_OK(xcr_module_get_executable(module.get(), 0, &code));
  EXPECT_EQ(code.export_count, 8u);
  EXPECT_EQ(code.cpu_feature_count, 1u);
  xcr_string_view_t text;
  XCR_ASSERT_OK(xcr_module_get_cpu_feature(module.get(), 0, 0, &text));
  EXPECT_EQ(toString(text), "sse2");
  xcr_export_info_t entry = XCR_EXPORT_INFO_INIT;
  XCR_ASSERT_OK(xcr_module_get_export(module.get(), 0, kReverse, &entry));
  EXPECT_EQ(toString(entry.name), "reverse");
  EXPECT_EQ(entry.scratch, 256u);
  EXPECT_EQ(entry.registers, -1);

  xcr_data_info_t data = XCR_DATA_INFO_INIT;
  XCR_ASSERT_OK(xcr_module_get_variable(module.get(), 0, &data));
  EXPECT_EQ(data.rank, 2u);
  EXPECT_EQ(data.shape[1], 3);
  XCR_ASSERT_OK(xcr_module_get_parameter(module.get(), 0, &data));
  EXPECT_EQ(toString(data.scope), "weights.npy");
  EXPECT_GT(xcr_module_tables(module.get()).size, 100u);
}

TEST(MetadataTest, TellsAboutFunctions) {
  ModuleSpec spec = addModule();
  FunctionSpec &main = spec.functions[0];
  main.outputs.push_back(
      {"twice",
       fb::DType::F32,
       {main.formulas.add({symbol(0), constant(2), op(fb::FormulaOp::Mul)}), literal(3)}});
  PlanSpec &plan = main.plans[0];
  plan.arenaSize = plan.formulas.add({symbol(0), constant(256), op(fb::FormulaOp::Mul)});
  std::vector<uint8_t> bytes = spec.finish();
  Module module = loadModule(bytes);
  const xcr_function_t *function = nullptr;
  XCR_ASSERT_OK(xcr_module_find_function(module.get(), xcr_string("main"), &function));
  xcr_function_info_t info = XCR_FUNCTION_INFO_INIT;
  xcr_function_get_info(function, &info);
  EXPECT_EQ(toString(info.doc), "z = x + y");
  EXPECT_EQ(info.symbol_count, 1u);
  xcr_argument_info_t argument = XCR_ARGUMENT_INFO_INIT;
  XCR_ASSERT_OK(xcr_function_get_input(function, 1, &argument));
  EXPECT_EQ(toString(argument.name), "y");
  EXPECT_EQ(argument.dims[0].value, -1);
  EXPECT_EQ(argument.dims[0].symbol, 0);
  XCR_ASSERT_OK(xcr_function_get_output(function, 1, &argument));
  EXPECT_EQ(argument.dims[0].value, -1);
  EXPECT_EQ(argument.dims[0].symbol, -1);
  EXPECT_EQ(argument.dims[1].value, 3);
  xcr_symbol_info_t n = XCR_SYMBOL_INFO_INIT;
  XCR_ASSERT_OK(xcr_function_get_symbol(function, 0, &n));
  EXPECT_EQ(toString(n.name), "n");

  int64_t value = 10, shape[2] = {};
  XCR_ASSERT_OK(xcr_function_get_output_shape(function, 1, &value, 1, shape));
  EXPECT_EQ(shape[0], 20);
  EXPECT_EQ(shape[1], 3);
  xcr_memory_need_t need = XCR_MEMORY_NEED_INIT;
  XCR_ASSERT_OK(xcr_function_get_memory_need(function, 0, &value, 1, &need));
  EXPECT_EQ(need.input_bytes, 80u);
  EXPECT_EQ(need.output_bytes, 40u + 240u);
  EXPECT_EQ(need.arena_bytes, 2560u);
  value = INT64_MAX / 2;
  XCR_EXPECT_FAILS(xcr_function_get_memory_need(function, 0, &value, 1, &need),
                   XCR_STATUS_OUT_OF_RANGE, "overflows 64 bits");
  XCR_EXPECT_FAILS(xcr_function_get_memory_need(function, 0, nullptr, 0, &need),
                   XCR_STATUS_INVALID_ARGUMENT, "has 1 symbols, got 0");
}
