//===- CompareTest.cpp - Comparing outputs with what was expected ---------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/common/Compare.h"

#include "tools/common/InputSpec.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace xc::tools;

namespace {
Result<Comparison> compare(const char *actual, const char *expected, Tolerance tolerance = {}) {
  Result<HostArray> a = makeArray(*parseInputSpec(actual));
  Result<HostArray> e = makeArray(*parseInputSpec(expected));
  return compareArrays(*a, *e, tolerance);
}

TEST(Compare, EqualArraysPass) {
  EXPECT_EQ(compare("3xf32=1 2 3", "3xf32=1 2 3")->failures, 0);
  EXPECT_EQ(compare("0xf32=", "0xf32=")->failures, 0);
}

TEST(Compare, WorstElementIsNamed) {
  auto result = compare("2x2xf32=1 2 3.5 4.25", "2x2xf32=1 2 3 4", {0.1, 0});
  EXPECT_EQ(result->failures, 2);
  EXPECT_EQ(result->worstIndex, (std::vector<int64_t>{1, 0}));
  EXPECT_EQ(result->worst, "expected 3, got 3.5");
  EXPECT_EQ(result->largestAbsolute, 0.5);
}

TEST(Compare, TolerancesAdd) {
  EXPECT_EQ(compare("f64=101.5", "f64=100", {0.5, 0.01})->failures, 0);
  EXPECT_EQ(compare("f64=101.6", "f64=100", {0.5, 0.01})->failures, 1);
}

TEST(Compare, NanEqualsOnlyNan) {
  EXPECT_EQ(compare("f32=nan", "f32=nan")->failures, 0);
  EXPECT_EQ(compare("f32=nan", "f32=1", {1e9, 1e9})->failures, 1);
  EXPECT_EQ(compare("f32=1", "f32=nan", {1e9, 1e9})->failures, 1);
}

TEST(Compare, InfinitiesNeedTheirSign) {
  EXPECT_EQ(compare("f32=inf", "f32=inf")->failures, 0);
  EXPECT_EQ(compare("f32=inf", "f32=-inf", {1e9, 1e9})->failures, 1);
  EXPECT_EQ(compare("f32=3e38", "f32=inf", {1e9, 1e9})->failures, 1);
}

TEST(Compare, IntegersAreExactBeyond53Bits) {
  auto result = compare("i64=9007199254740993", "i64=9007199254740992");
  EXPECT_EQ(result->failures, 1);
  EXPECT_EQ(result->worst, "expected 9007199254740992, got 9007199254740993");
  EXPECT_EQ(compare("i64=9007199254740993", "i64=9007199254740992", {1, 0})->failures, 0);
}

TEST(Compare, ShapeAndTypeMustAgree) {
  EXPECT_EQ(compare("2xf32=1 2", "1x2xf32=1 2").error().message(), "expected 1x2xf32, got 2xf32");
  EXPECT_EQ(compare("2xf32=1 2", "2xf64=1 2").error().message(), "expected 2xf64, got 2xf32");
}
} // namespace
