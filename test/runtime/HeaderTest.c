/*===- HeaderTest.c - xcr.h as C99 -------------------------------------------===
 *
 * Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===
 *
 * That this compiles with -std=c99 -pedantic -Werror is the test; the program
 * that links it calls it, too. The rest of the tests are C++17.
 *
 *===----------------------------------------------------------------------===*/

#include "xcr/xcr.h"

int xcrHeaderIsC99(void) {
  xcr_device_options_t device = XCR_DEVICE_OPTIONS_INIT;
  xcr_device_info_t device_info = XCR_DEVICE_INFO_INIT;
  xcr_driver_info_t driver = XCR_DRIVER_INFO_INIT;
  xcr_device_statistics_t statistics = XCR_DEVICE_STATISTICS_INIT;
  xcr_module_options_t module = XCR_MODULE_OPTIONS_INIT;
  xcr_module_info_t module_info = XCR_MODULE_INFO_INIT;
  xcr_target_info_t target = XCR_TARGET_INFO_INIT;
  xcr_executable_info_t executable = XCR_EXECUTABLE_INFO_INIT;
  xcr_export_info_t entry = XCR_EXPORT_INFO_INIT;
  xcr_data_info_t data = XCR_DATA_INFO_INIT;
  xcr_function_info_t function = XCR_FUNCTION_INFO_INIT;
  xcr_argument_info_t argument = XCR_ARGUMENT_INFO_INIT;
  xcr_symbol_info_t symbol = XCR_SYMBOL_INFO_INIT;
  xcr_memory_need_t need = XCR_MEMORY_NEED_INIT;
  xcr_buffer_options_t buffer = XCR_BUFFER_OPTIONS_INIT;
  xcr_buffer_info_t buffer_info = XCR_BUFFER_INFO_INIT;
  xcr_stream_options_t stream = XCR_STREAM_OPTIONS_INIT;
  xcr_instance_options_t instance = XCR_INSTANCE_OPTIONS_INIT;
  xcr_call_options_t call = XCR_CALL_OPTIONS_INIT;
  xcr_call_statistics_t call_statistics = XCR_CALL_STATISTICS_INIT;
  xcr_profile_entry_t profile = XCR_PROFILE_ENTRY_INIT;
  /* Every structure knows its size and begins with nothing. */
  return device.struct_size == sizeof(device) && device_info.struct_size == sizeof(device_info) &&
                 driver.struct_size == sizeof(driver) &&
                 statistics.struct_size == sizeof(statistics) &&
                 module.struct_size == sizeof(module) &&
                 module_info.struct_size == sizeof(module_info) &&
                 target.struct_size == sizeof(target) &&
                 executable.struct_size == sizeof(executable) &&
                 entry.struct_size == sizeof(entry) && data.struct_size == sizeof(data) &&
                 function.struct_size == sizeof(function) &&
                 argument.struct_size == sizeof(argument) && symbol.struct_size == sizeof(symbol) &&
                 need.struct_size == sizeof(need) && buffer.struct_size == sizeof(buffer) &&
                 buffer_info.struct_size == sizeof(buffer_info) &&
                 stream.struct_size == sizeof(stream) && instance.struct_size == sizeof(instance) &&
                 call.struct_size == sizeof(call) &&
                 call_statistics.struct_size == sizeof(call_statistics) &&
                 profile.struct_size == sizeof(profile) && symbol.max == INT64_MAX &&
                 xcr_string("abc").size == 3 && xcr_is_ok(NULL)
             ? 0
             : 1;
}
