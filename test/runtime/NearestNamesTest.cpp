//===- NearestNamesTest.cpp - Wrong names of modules with many right ones -===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/base/nearest_names.h"

#include "test/runtime/XcrTest.h"

using namespace xc;
using namespace xc::test;

static std::string messageFor(const char *unknown, const std::vector<const char *> &known) {
  NearestNames nearest(xcr_string(unknown));
  for (const char *name : known)
    nearest.add(xcr_string(name));
  Status status = nearest.notFound(HostAllocator(), "array", "the file");
  EXPECT_EQ(status.code(), XCR_STATUS_NOT_FOUND);
  return std::string(status.message().data, status.message().size);
}

TEST(NearestNamesTest, UpToThreeAreListed) {
  EXPECT_EQ(messageFor("x", {}), "no array 'x'; the file has none");
  EXPECT_EQ(messageFor("x", {""}), "no array 'x'; the file has none");
  EXPECT_EQ(messageFor("scal", {"bias"}), "no array 'scal'; the file has: 'bias'");
  EXPECT_EQ(messageFor("scal", {"bias", "", "scales", "scale"}),
            "no array 'scal'; the file has: 'scale', 'scales', 'bias'");
}

TEST(NearestNamesTest, OfMoreTheNearestInOrder) {
  EXPECT_EQ(messageFor("scal", {"bias", "scales", "weight", "scale"}),
            "no array 'scal' among the 4 of the file; nearest are 'scale', 'scales', 'bias'");
  // The first of those that differ equally.
  EXPECT_EQ(messageFor("x", {"a", "b", "c", "d", "e"}),
            "no array 'x' among the 5 of the file; nearest are 'a', 'b', 'c'");
  EXPECT_EQ(messageFor("xx", {"a", "xb", "c", "xd", "xe", "xx1", "xg"}),
            "no array 'xx' among the 7 of the file; nearest are 'xb', 'xd', 'xe'");
  EXPECT_EQ(messageFor("ab", {"1234", "123", "12", "a2", "ab2"}),
            "no array 'ab' among the 5 of the file; nearest are 'a2', 'ab2', '12'");
}

TEST(NearestNamesTest, LongNamesAreCut) {
  const std::string longer(1000, 'a'), shorter(300, 'a');
  EXPECT_EQ(messageFor(longer.c_str(), {shorter.c_str()}), "no array '" + std::string(256, 'a') +
                                                               "'; the file has: '" +
                                                               std::string(256, 'a') + "'");
}

/// 150 functions, variables, inputs and outputs: "n0" to "n149", of which every call says three.
TEST(NearestNamesTest, ModulesSayThreeOfMany) {
  ModuleSpec spec = kernelModule();
  spec.functions.resize(150);
  for (size_t i = 0; i < 150; ++i) {
    const std::string name = "n" + std::to_string(i);
    spec.functions[i].name = name;
    spec.variables.push_back({name, fb::DType::F32, {1}});
    spec.functions[0].inputs.push_back({name, fb::DType::F32, {literal(1)}});
    spec.functions[0].outputs.push_back({name, fb::DType::F32, {literal(1)}});
  }
  for (FunctionSpec &function : spec.functions)
    function.plans.resize(1);
  for (uint32_t i = 0; i < 150; ++i)
    spec.functions[0].plans[0].fill(writes(fb::Space::Output, i, literal(4)), 0, 4);
  const std::vector<uint8_t> bytes = spec.finish();
  Device device = makeDevice();
  Module module = loadModule(bytes);
  ASSERT_TRUE(module);
  Instance instance = makeInstance(device, module);
  ASSERT_TRUE(instance);
  const xcr_function_t *function = nullptr, *found = nullptr;
  XCR_ASSERT_OK(xcr_module_find_function(module.get(), xcr_string("n0"), &function));

  const xcr_string_view_t wrong = xcr_string("m149");
  XCR_EXPECT_FAILS(
      xcr_module_find_function(module.get(), wrong, &found), XCR_STATUS_NOT_FOUND,
      "no function 'm149' among the 150 of the module; nearest are 'n149', 'n14', 'n19'");
  xcr_buffer_t *buffer = nullptr;
  XCR_EXPECT_FAILS(
      xcr_instance_get_variable(instance.get(), wrong, &buffer), XCR_STATUS_NOT_FOUND,
      "no variable 'm149' among the 150 of the module; nearest are 'n149', 'n14', 'n19'");
  uint32_t place = 7;
  XCR_EXPECT_FAILS(
      xcr_function_find_input(function, wrong, &place), XCR_STATUS_NOT_FOUND,
      "no input 'm149' among the 150 of the function; nearest are 'n149', 'n14', 'n19'");
  EXPECT_EQ(place, 0u);
  XCR_EXPECT_FAILS(
      xcr_function_find_output(function, wrong, &place), XCR_STATUS_NOT_FOUND,
      "no output 'm149' among the 150 of the function; nearest are 'n149', 'n14', 'n19'");
  XCR_ASSERT_OK(xcr_function_find_input(function, xcr_string("n149"), &place));
  EXPECT_EQ(place, 149u);
  XCR_ASSERT_OK(xcr_function_find_output(function, xcr_string("n1"), &place));
  EXPECT_EQ(place, 1u);
}

TEST(NearestNamesTest, ArgumentsWithoutANameAreNotFound) {
  ModuleSpec spec = addModule();
  spec.functions[0].inputs[0].name.clear();
  const std::vector<uint8_t> bytes = spec.finish();
  Module module = loadModule(bytes);
  const xcr_function_t *function = nullptr;
  XCR_ASSERT_OK(xcr_module_find_function(module.get(), xcr_string("main"), &function));
  uint32_t place = 0;
  XCR_EXPECT_FAILS(xcr_function_find_input(function, xcr_string(""), &place), XCR_STATUS_NOT_FOUND,
                   "no input ''; the function has: 'y'");
}
