//===- GoldenTest.cpp - Modules of older format versions stay readable ---===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// golden/ holds one module for each format version that was ever released. A
// new version adds a file; the files that are there never change, and what this
// test reads from them never changes either.
//
//===----------------------------------------------------------------------===//

#include "test/runtime/XcrTest.h"

using namespace xc;
using namespace xc::test;

TEST(GoldenTest, Version1_0) {
  std::vector<uint8_t> bytes = readFile(XC_TEST_GOLDEN "/v1.0.vmfb");
  ASSERT_FALSE(bytes.empty());
  Module module = loadModule(bytes, XCR_MODULE_VERIFY_BLOBS);
  ASSERT_TRUE(module);
  xcr_module_info_t info = XCR_MODULE_INFO_INIT;
  xcr_module_get_info(module.get(), &info);
  EXPECT_EQ(info.format_major, 1u);
  EXPECT_EQ(info.format_minor, 0u);
  EXPECT_EQ(toString(info.compiler), "test builder");
  EXPECT_EQ(info.constant_bytes, 16u);
  EXPECT_EQ(info.variable_bytes, 16u + 3u);

  xcr_export_info_t entry = XCR_EXPORT_INFO_INIT;
  XCR_ASSERT_OK(xcr_module_get_export(module.get(), 0, kReverse, &entry));
  EXPECT_EQ(toString(entry.name), "reverse");
  EXPECT_EQ(entry.scratch, 256u);
  xcr_data_info_t variable = XCR_DATA_INFO_INIT;
  XCR_ASSERT_OK(xcr_module_get_variable(module.get(), 1, &variable));
  EXPECT_EQ(toString(variable.name), "w");
  EXPECT_EQ(variable.dtype, XCR_DTYPE_I8);

  const xcr_function_t *function = nullptr;
  XCR_ASSERT_OK(xcr_module_find_function(module.get(), xcr_string("main"), &function));
  xcr_argument_info_t argument = XCR_ARGUMENT_INFO_INIT;
  XCR_ASSERT_OK(xcr_function_get_output(function, 1, &argument));
  EXPECT_EQ(toString(argument.name), "e");
  EXPECT_EQ(argument.alias, 2);
  int64_t n = 10;
  xcr_memory_need_t need = XCR_MEMORY_NEED_INIT;
  XCR_ASSERT_OK(xcr_function_get_memory_need(function, 0, &n, 1, &need));
  EXPECT_EQ(need.input_bytes, 40u + 40u + 16u);
  EXPECT_EQ(need.output_bytes, 40u);
  EXPECT_EQ(need.arena_bytes, 144u);
  EXPECT_EQ(need.constant_bytes, 16u + 16u + 3u + 64u + 16u);
}
