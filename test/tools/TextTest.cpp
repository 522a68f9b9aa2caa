//===- TextTest.cpp - Options, JSON and tables ----------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/common/Json.h"
#include "tools/common/Options.h"
#include "tools/common/Table.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace xc::tools;

namespace {
class OptionsTest : public testing::Test {
protected:
  OptionsTest() : parser("tool [options]", "Does something.") {
    parser.addFlag("verbose", "say more", &verbose);
    parser.addString("device", "DEVICE", "where to run", &device);
    parser.addList("input", "SPEC", "an input", &inputs);
    parser.addDouble("atol", "X", "a tolerance", &atol);
    parser.addUnsigned("count", "N", "a number", &count);
    parser.addPositional(&files);
  }

  std::string parse(std::vector<const char *> arguments) {
    arguments.insert(arguments.begin(), "tool");
    Error error = parser.parse(int(arguments.size()), arguments.data());
    return error.message();
  }

  OptionParser parser;
  bool verbose = false;
  std::string device;
  std::vector<std::string> inputs, files;
  double atol = 0;
  uint64_t count = 0;
};

TEST_F(OptionsTest, BothSpellingsOfAValue) {
  EXPECT_EQ(parse({"--device=cpu", "--input", "2xf32=1 2", "a.vmfb", "--input=x=@x", "--verbose",
                   "--atol=1e-3", "--count=7"}),
            "");
  EXPECT_EQ(device, "cpu");
  EXPECT_EQ(inputs, (std::vector<std::string>{"2xf32=1 2", "x=@x"}));
  EXPECT_EQ(files, std::vector<std::string>{"a.vmfb"});
  EXPECT_TRUE(verbose);
  EXPECT_EQ(atol, 1e-3);
  EXPECT_EQ(count, 7u);
}

TEST_F(OptionsTest, UnknownOptionListsKnownOnes) {
  EXPECT_EQ(parse({"--devise=cpu"}),
            "unknown option '--devise'; known are --help, --version, --verbose, --device, "
            "--input, --atol, --count");
  EXPECT_NE(parse({"-x"}).find("unknown option '-x'"), std::string::npos);
}

TEST_F(OptionsTest, WrongValues) {
  EXPECT_EQ(parse({"--verbose=1"}), "option --verbose takes no value, got '1'");
  EXPECT_EQ(parse({"--device"}), "option --device needs a value: DEVICE");
  EXPECT_EQ(parse({"--device="}), "option --device needs a value, got an empty one: DEVICE");
  EXPECT_NE(parse({"--atol=-1"}).find("got '-1'"), std::string::npos);
  EXPECT_NE(parse({"--atol=x"}).find("got 'x'"), std::string::npos);
  EXPECT_NE(parse({"--count=-1"}).find("got '-1'"), std::string::npos);
  EXPECT_NE(parse({"--count=18446744073709551616"}).find("whole number"), std::string::npos);
}

TEST_F(OptionsTest, DoubleDashEndsOptions) {
  EXPECT_EQ(parse({"--", "--device"}), "");
  EXPECT_EQ(files, std::vector<std::string>{"--device"});
}

TEST_F(OptionsTest, Help) {
  EXPECT_EQ(parse({"--help", "--nonsense"}), "");
  EXPECT_NE(parser.textRequested().find("--device=DEVICE"), std::string::npos);
}

TEST_F(OptionsTest, Version) {
  EXPECT_EQ(parse({"--version", "--nonsense"}), "");
  EXPECT_EQ(parser.textRequested().find("--device"), std::string::npos);
  EXPECT_NE(parser.textRequested().find(", runtime library "), std::string::npos);
}

TEST(Json, NestingAndEscapes) {
  JsonWriter json;
  json.beginObject();
  json.field("text", "a\"b\\c\n\x01");
  json.field("number", 0.1);
  json.field("large", uint64_t(UINT64_MAX));
  json.field("nan", NAN);
  json.key("list");
  json.beginArray();
  json.value(1);
  json.value(true);
  json.endArray();
  json.key("empty");
  json.beginObject();
  json.endObject();
  json.endObject();
  EXPECT_EQ(json.str(), "{\n"
                        "  \"text\": \"a\\\"b\\\\c\\n\\u0001\",\n"
                        "  \"number\": 0.1,\n"
                        "  \"large\": 18446744073709551615,\n"
                        "  \"nan\": null,\n"
                        "  \"list\": [\n"
                        "    1,\n"
                        "    true\n"
                        "  ],\n"
                        "  \"empty\": {}\n"
                        "}");
}

TEST(Table, ColumnsAreAligned) {
  Table table({"name", ">time"});
  table.addRow({"a", "12.5 us"});
  table.addRow({"longer", "3 us"});
  EXPECT_EQ(table.str(2), "  name       time\n"
                          "  a       12.5 us\n"
                          "  longer     3 us\n");
}

TEST(Format, Units) {
  EXPECT_EQ(formatSeconds(1.5), "1.500 s");
  EXPECT_EQ(formatSeconds(0.00123456), "1.235 ms");
  EXPECT_EQ(formatSeconds(1.23456e-5), "12.35 us");
  EXPECT_EQ(formatSeconds(0), "0.000 ns");
  EXPECT_EQ(formatBytes(512), "512 B");
  EXPECT_EQ(formatBytes(1536), "1.5 KiB");
  EXPECT_EQ(formatBytes(uint64_t(3) << 30), "3 GiB");
  EXPECT_EQ(formatBytes(1023 << 10), "1023 KiB");
  EXPECT_EQ(formatBytes(1000 << 10), "1000 KiB");
  EXPECT_EQ(formatBytes((1 << 20) + 5000), "1.005 MiB");
  EXPECT_EQ(formatCount(1, "dispatch", "dispatches"), "1 dispatch");
  EXPECT_EQ(formatCount(0, "dispatch", "dispatches"), "0 dispatches");
  EXPECT_EQ(formatSignificant(1234.5), "1234");
}
} // namespace
