//===- NullTest.cpp - Functions of the C API without an argument ----------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// xcr.h promises INVALID_ARGUMENT, and the name of the argument, for a pointer that must not be
// NULL; what a function gives otherwise is set to NULL or zero all the same.
//
//===----------------------------------------------------------------------===//

#include "test/runtime/XcrTest.h"

using namespace xc;
using namespace xc::test;

#define EXPECT_NAMES(argument, status)                                                             \
  XCR_EXPECT_FAILS(status, XCR_STATUS_INVALID_ARGUMENT, argument)

namespace {
class NullTest : public ::testing::Test {
protected:
  void SetUp() override {
    bytes = addModule().finish();
    device = makeDevice();
    module = loadModule(bytes);
    instance = makeInstance(device, module);
    call = makeCall(instance, "main", XCR_CALL_PROFILE);
    stream = makeStream(device);
    event = makeEvent(device);
    buffer = makeBuffer(device, iota(4));
    XCR_ASSERT_OK(xcr_module_get_function(module.get(), 0, &function));
  }

  std::vector<uint8_t> bytes;
  Device device;
  Module module;
  Instance instance;
  Call call;
  Stream stream;
  Event event;
  Buffer buffer;
  const xcr_function_t *function = nullptr;
};
} // namespace

TEST_F(NullTest, Devices) {
  xcr_device_list_t *list = nullptr;
  XCR_ASSERT_OK(xcr_device_list_create(nullptr, &list));
  xcr_driver_info_t driver = XCR_DRIVER_INFO_INIT;
  xcr_device_info_t info = XCR_DEVICE_INFO_INIT;
  EXPECT_NAMES("out_list", xcr_device_list_create(nullptr, nullptr));
  EXPECT_NAMES("list", xcr_device_list_get_driver(nullptr, 0, &driver));
  EXPECT_NAMES("out_info", xcr_device_list_get_driver(list, 0, nullptr));
  EXPECT_NAMES("list", xcr_device_list_get_device(nullptr, 0, &info));
  EXPECT_NAMES("out_info", xcr_device_list_get_device(list, 0, nullptr));
  xcr_device_list_release(list);
  EXPECT_NAMES("out_device", xcr_device_create(xcr_string("cpu"), nullptr, nullptr));
  EXPECT_NAMES("device", xcr_device_trim(nullptr));
  EXPECT_NAMES("device", xcr_device_synchronize(nullptr));
}

TEST_F(NullTest, Modules) {
  xcr_module_t *made = module.get();
  EXPECT_NAMES("out_module", xcr_module_load_file(xcr_string("x"), nullptr, nullptr));
  EXPECT_NAMES("out_module", xcr_module_load_memory(bytes.data(), bytes.size(), nullptr, nullptr,
                                                    nullptr, nullptr));
  EXPECT_NAMES("data",
               xcr_module_load_memory(nullptr, bytes.size(), nullptr, nullptr, nullptr, &made));
  EXPECT_EQ(made, nullptr);
  xcr_target_info_t target = XCR_TARGET_INFO_INIT;
  xcr_executable_info_t executable = XCR_EXECUTABLE_INFO_INIT;
  xcr_export_info_t entry = XCR_EXPORT_INFO_INIT;
  xcr_data_info_t data = XCR_DATA_INFO_INIT;
  xcr_string_view_t text = xcr_string("set");
  uint32_t number = 1;
  const xcr_function_t *found = function;
  EXPECT_NAMES("module", xcr_module_get_target(nullptr, 0, &target));
  EXPECT_NAMES("out_info", xcr_module_get_target(module.get(), 0, nullptr));
  EXPECT_NAMES("module", xcr_module_get_executable(nullptr, 0, &executable));
  EXPECT_NAMES("out_info", xcr_module_get_executable(module.get(), 0, nullptr));
  EXPECT_NAMES("module", xcr_module_get_cpu_feature(nullptr, 0, 0, &text));
  EXPECT_EQ(text.data, nullptr);
  EXPECT_NAMES("out_name", xcr_module_get_cpu_feature(module.get(), 0, 0, nullptr));
  EXPECT_NAMES("module", xcr_module_get_export(nullptr, 0, 0, &entry));
  EXPECT_NAMES("out_info", xcr_module_get_export(module.get(), 0, 0, nullptr));
  EXPECT_NAMES("module", xcr_module_get_export_location(nullptr, 0, 0, 0, &text));
  EXPECT_NAMES("out_location", xcr_module_get_export_location(module.get(), 0, 0, 0, nullptr));
  EXPECT_NAMES("module", xcr_module_get_image(nullptr, 0, &text));
  EXPECT_NAMES("out_image", xcr_module_get_image(module.get(), 0, nullptr));
  EXPECT_NAMES("module", xcr_module_get_variable(nullptr, 0, &data));
  EXPECT_NAMES("out_info", xcr_module_get_variable(module.get(), 0, nullptr));
  EXPECT_NAMES("module", xcr_module_get_parameter(nullptr, 0, &data));
  EXPECT_NAMES("out_info", xcr_module_get_parameter(module.get(), 0, nullptr));
  EXPECT_NAMES("module", xcr_module_check_device(nullptr, device.get(), &number));
  EXPECT_EQ(number, 0u);
  EXPECT_NAMES("device", xcr_module_check_device(module.get(), nullptr, &number));
  EXPECT_NAMES("out_target", xcr_module_check_device(module.get(), device.get(), nullptr));
  EXPECT_NAMES("module", xcr_module_get_function(nullptr, 0, &found));
  EXPECT_EQ(found, nullptr);
  EXPECT_NAMES("out_function", xcr_module_get_function(module.get(), 0, nullptr));
  EXPECT_NAMES("module", xcr_module_find_function(nullptr, xcr_string("main"), &found));
  EXPECT_NAMES("out_function", xcr_module_find_function(module.get(), xcr_string("main"), nullptr));
}

TEST_F(NullTest, Functions) {
  xcr_argument_info_t argument = XCR_ARGUMENT_INFO_INIT;
  xcr_symbol_info_t symbol = XCR_SYMBOL_INFO_INIT;
  xcr_memory_need_t need = XCR_MEMORY_NEED_INIT;
  int64_t size = 4;
  EXPECT_NAMES("function", xcr_function_get_input(nullptr, 0, &argument));
  EXPECT_NAMES("out_info", xcr_function_get_input(function, 0, nullptr));
  EXPECT_NAMES("function", xcr_function_get_output(nullptr, 0, &argument));
  EXPECT_NAMES("out_info", xcr_function_get_output(function, 0, nullptr));
  uint32_t place = 7;
  EXPECT_NAMES("function", xcr_function_find_input(nullptr, xcr_string("x"), &place));
  EXPECT_EQ(place, 0u);
  EXPECT_NAMES("out_input", xcr_function_find_input(function, xcr_string("x"), nullptr));
  EXPECT_NAMES("function", xcr_function_find_output(nullptr, xcr_string("z"), &place));
  EXPECT_NAMES("out_output", xcr_function_find_output(function, xcr_string("z"), nullptr));
  EXPECT_NAMES("function", xcr_function_get_symbol(nullptr, 0, &symbol));
  EXPECT_NAMES("out_info", xcr_function_get_symbol(function, 0, nullptr));
  EXPECT_NAMES("function", xcr_function_get_output_shape(nullptr, 0, &size, 1, &size));
  EXPECT_NAMES("symbol_values", xcr_function_get_output_shape(function, 0, nullptr, 1, &size));
  EXPECT_NAMES("out_shape", xcr_function_get_output_shape(function, 0, &size, 1, nullptr));
  EXPECT_NAMES("function", xcr_function_get_memory_need(nullptr, 0, &size, 1, &need));
  EXPECT_NAMES("symbol_values", xcr_function_get_memory_need(function, 0, nullptr, 1, &need));
  EXPECT_NAMES("out_need", xcr_function_get_memory_need(function, 0, &size, 1, nullptr));
}

TEST_F(NullTest, Buffers) {
  int64_t shape[] = {4};
  xcr_buffer_options_t options = XCR_BUFFER_OPTIONS_INIT;
  options.dtype = XCR_DTYPE_F32;
  options.rank = 1;
  options.shape = shape;
  float data[4] = {};
  xcr_buffer_t *made = buffer.get();
  void *mapped = data;
  EXPECT_NAMES("device", xcr_buffer_create(nullptr, &options, &made));
  EXPECT_EQ(made, nullptr);
  EXPECT_NAMES("options", xcr_buffer_create(device.get(), nullptr, &made));
  EXPECT_NAMES("out_buffer", xcr_buffer_create(device.get(), &options, nullptr));
  EXPECT_NAMES("device", xcr_buffer_create_from_host(nullptr, &options, data, 16, &made));
  EXPECT_NAMES("out_buffer",
               xcr_buffer_create_from_host(device.get(), &options, data, 16, nullptr));
  EXPECT_NAMES("device", xcr_buffer_wrap(nullptr, &options, data, 16, nullptr, nullptr, &made));
  EXPECT_NAMES("options",
               xcr_buffer_wrap(device.get(), nullptr, data, 16, nullptr, nullptr, &made));
  EXPECT_NAMES("data",
               xcr_buffer_wrap(device.get(), &options, nullptr, 16, nullptr, nullptr, &made));
  EXPECT_NAMES("out_buffer",
               xcr_buffer_wrap(device.get(), &options, data, 16, nullptr, nullptr, nullptr));
  EXPECT_NAMES("buffer", xcr_buffer_view(nullptr, &options, 0, &made));
  EXPECT_NAMES("options", xcr_buffer_view(buffer.get(), nullptr, 0, &made));
  EXPECT_NAMES("out_view", xcr_buffer_view(buffer.get(), &options, 0, nullptr));
  EXPECT_NAMES("buffer", xcr_buffer_read(nullptr, 0, data, 16));
  EXPECT_NAMES("data", xcr_buffer_read(buffer.get(), 0, nullptr, 16));
  EXPECT_NAMES("buffer", xcr_buffer_write(nullptr, 0, data, 16));
  EXPECT_NAMES("data", xcr_buffer_write(buffer.get(), 0, nullptr, 16));
  EXPECT_NAMES("buffer", xcr_buffer_map(nullptr, XCR_MAP_READ, &mapped));
  EXPECT_EQ(mapped, nullptr);
  EXPECT_NAMES("out_data", xcr_buffer_map(buffer.get(), XCR_MAP_READ, nullptr));
  EXPECT_NAMES("buffer", xcr_buffer_unmap(nullptr));
  DLManagedTensor *tensor = nullptr;
  EXPECT_NAMES("device", xcr_buffer_from_dlpack(nullptr, tensor, &made));
  EXPECT_NAMES("tensor", xcr_buffer_from_dlpack(device.get(), nullptr, &made));
  EXPECT_NAMES("out_buffer", xcr_buffer_from_dlpack(device.get(), tensor, nullptr));
  EXPECT_NAMES("buffer", xcr_buffer_to_dlpack(nullptr, &tensor));
  EXPECT_NAMES("out_tensor", xcr_buffer_to_dlpack(buffer.get(), nullptr));
}

TEST_F(NullTest, StreamsAndEvents) {
  xcr_stream_t *made = stream.get();
  xcr_event_t *other = event.get();
  bool done = true;
  float data[4] = {};
  EXPECT_NAMES("device", xcr_stream_create(nullptr, nullptr, &made));
  EXPECT_EQ(made, nullptr);
  EXPECT_NAMES("out_stream", xcr_stream_create(device.get(), nullptr, nullptr));
  EXPECT_NAMES("stream", xcr_stream_synchronize(nullptr));
  EXPECT_NAMES("stream", xcr_stream_query(nullptr, &done));
  EXPECT_FALSE(done);
  EXPECT_NAMES("out_done", xcr_stream_query(stream.get(), nullptr));
  EXPECT_NAMES("stream", xcr_stream_record(nullptr, event.get()));
  EXPECT_NAMES("event", xcr_stream_record(stream.get(), nullptr));
  EXPECT_NAMES("stream", xcr_stream_wait(nullptr, event.get()));
  EXPECT_NAMES("event", xcr_stream_wait(stream.get(), nullptr));
  EXPECT_NAMES("stream", xcr_stream_add_callback(nullptr, nullptr, nullptr));
  EXPECT_NAMES("callback", xcr_stream_add_callback(stream.get(), nullptr, nullptr));
  EXPECT_NAMES("stream", xcr_stream_copy(nullptr, buffer.get(), 0, buffer.get(), 8, 8));
  EXPECT_NAMES("source", xcr_stream_copy(stream.get(), nullptr, 0, buffer.get(), 8, 8));
  EXPECT_NAMES("target", xcr_stream_copy(stream.get(), buffer.get(), 0, nullptr, 8, 8));
  EXPECT_NAMES("stream", xcr_stream_fill(nullptr, buffer.get(), 0, 16, 0, 4));
  EXPECT_NAMES("target", xcr_stream_fill(stream.get(), nullptr, 0, 16, 0, 4));
  EXPECT_NAMES("stream", xcr_stream_read(nullptr, buffer.get(), 0, data, 16));
  EXPECT_NAMES("source", xcr_stream_read(stream.get(), nullptr, 0, data, 16));
  EXPECT_NAMES("data", xcr_stream_read(stream.get(), buffer.get(), 0, nullptr, 16));
  EXPECT_NAMES("stream", xcr_stream_write(nullptr, buffer.get(), 0, data, 16));
  EXPECT_NAMES("target", xcr_stream_write(stream.get(), nullptr, 0, data, 16));
  EXPECT_NAMES("data", xcr_stream_write(stream.get(), buffer.get(), 0, nullptr, 16));
  EXPECT_NAMES("device", xcr_event_create(nullptr, &other));
  EXPECT_NAMES("out_event", xcr_event_create(device.get(), nullptr));
  EXPECT_NAMES("event", xcr_event_synchronize(nullptr));
  EXPECT_NAMES("event", xcr_event_query(nullptr, &done));
  EXPECT_NAMES("out_done", xcr_event_query(event.get(), nullptr));
}

TEST_F(NullTest, InstancesAndCalls) {
  xcr_instance_t *made = instance.get();
  xcr_buffer_t *variable = nullptr, *inputs[] = {buffer.get(), buffer.get()}, *output = nullptr;
  xcr_call_t *other = call.get();
  int64_t shape[1];
  xcr_string_view_t name = xcr_string("main");
  EXPECT_NAMES("device", xcr_instance_create(nullptr, module.get(), nullptr, &made));
  EXPECT_EQ(made, nullptr);
  EXPECT_NAMES("module", xcr_instance_create(device.get(), nullptr, nullptr, &made));
  EXPECT_NAMES("out_instance", xcr_instance_create(device.get(), module.get(), nullptr, nullptr));
  EXPECT_NAMES("instance", xcr_instance_get_variable(nullptr, name, &variable));
  EXPECT_NAMES("out_buffer", xcr_instance_get_variable(instance.get(), name, nullptr));
  EXPECT_NAMES("instance", xcr_instance_set_variable(nullptr, name, buffer.get()));
  EXPECT_NAMES("instance", xcr_instance_save_variables(nullptr, name));
  EXPECT_NAMES("path", xcr_instance_save_variables(instance.get(), {nullptr, 3}));
  EXPECT_NAMES("instance", xcr_instance_restore_variables(nullptr, name, 0));
  EXPECT_NAMES("path", xcr_instance_restore_variables(instance.get(), {nullptr, 3}, 0));
  EXPECT_NAMES("instance", xcr_call_create(nullptr, name, nullptr, &other));
  EXPECT_EQ(other, nullptr);
  EXPECT_NAMES("out_call", xcr_call_create(instance.get(), name, nullptr, nullptr));
  EXPECT_NAMES("call", xcr_call_set_input(nullptr, 0, buffer.get()));
  EXPECT_NAMES("expected a buffer", xcr_call_set_input(call.get(), 0, nullptr));
  EXPECT_NAMES("call", xcr_call_set_output(nullptr, 0, buffer.get()));
  EXPECT_NAMES("call", xcr_call_query_output_shape(nullptr, 0, shape));
  EXPECT_NAMES("out_shape", xcr_call_query_output_shape(call.get(), 0, nullptr));
  EXPECT_NAMES("call", xcr_call_prepare(nullptr, stream.get()));
  EXPECT_NAMES("stream", xcr_call_prepare(call.get(), nullptr));
  EXPECT_NAMES("call", xcr_call_launch(nullptr, stream.get()));
  EXPECT_NAMES("stream", xcr_call_launch(call.get(), nullptr));
  EXPECT_NAMES("call", xcr_call_run(nullptr));
  EXPECT_NAMES("instance", xcr_invoke(nullptr, name, 2, inputs, 1, &output));
  EXPECT_NAMES("inputs", xcr_invoke(instance.get(), name, 2, nullptr, 1, &output));
  EXPECT_NAMES("outputs", xcr_invoke(instance.get(), name, 2, inputs, 1, nullptr));
}

TEST_F(NullTest, ProfilesAndSteps) {
  xcr_profile_entry_t entry = XCR_PROFILE_ENTRY_INIT;
  xcr_command_info_t command = XCR_COMMAND_INFO_INIT;
  xcr_binding_info_t binding = XCR_BINDING_INFO_INIT;
  uint32_t count = 1;
  float data[4];
  for (uint32_t input : {0, 1})
    XCR_ASSERT_OK(xcr_call_set_input(call.get(), input, buffer.get()));
  EXPECT_NAMES("call", xcr_call_get_profile(nullptr, 0, &entry));
  EXPECT_NAMES("out_entry", xcr_call_get_profile(call.get(), 0, nullptr));
  EXPECT_NAMES("call", xcr_call_begin_steps(nullptr, &count));
  EXPECT_EQ(count, 0u);
  EXPECT_NAMES("out_count", xcr_call_begin_steps(call.get(), nullptr));
  XCR_ASSERT_OK(xcr_call_begin_steps(call.get(), &count));
  EXPECT_NAMES("call", xcr_call_step(nullptr));
  EXPECT_NAMES("call", xcr_call_get_command(nullptr, 0, &command));
  EXPECT_NAMES("out_info", xcr_call_get_command(call.get(), 0, nullptr));
  EXPECT_NAMES("call", xcr_call_get_binding(nullptr, 0, 0, &binding));
  EXPECT_NAMES("out_info", xcr_call_get_binding(call.get(), 0, 0, nullptr));
  EXPECT_NAMES("call", xcr_call_read_binding(nullptr, 0, 0, 0, data, 16));
  EXPECT_NAMES("data", xcr_call_read_binding(call.get(), 0, 0, 0, nullptr, 16));
}
