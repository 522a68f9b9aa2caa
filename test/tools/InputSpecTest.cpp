//===- InputSpecTest.cpp - Arrays as the command line gives them ----------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/common/InputSpec.h"

#include "gtest/gtest.h"

#include <cmath>
#include <cstdio>

using namespace xc::tools;

namespace {
HostArray make(const std::string &text) {
  Result<InputSpec> spec = parseInputSpec(text);
  EXPECT_TRUE(spec) << text << ": " << spec.error().message();
  Result<HostArray> array = makeArray(*spec);
  EXPECT_TRUE(array) << text << ": " << array.error().message();
  return std::move(*array);
}

std::string failure(const std::string &text) {
  Result<InputSpec> spec = parseInputSpec(text);
  if (!spec)
    return spec.error().message();
  Result<HostArray> array = makeArray(*spec);
  return array ? "" : array.error().message();
}

TEST(InputSpec, Literal) {
  HostArray array = make("2x3xf32=1 2 3 4.5 -5 6e1");
  EXPECT_EQ(array.shapeString(), "2x3xf32");
  const double expected[] = {1, 2, 3, 4.5, -5, 60};
  for (int64_t i = 0; i < 6; ++i)
    EXPECT_EQ(array.floatAt(i), expected[i]);
}

TEST(InputSpec, BracketsAndCommasAreOptional) {
  HostArray array = make("2x2xi64=[[1, -2], [3, 4]]");
  EXPECT_EQ(array.integerAt(1), -2);
  EXPECT_EQ(array.integerAt(3), 4);
}

TEST(InputSpec, ScalarSplatAndEmpty) {
  EXPECT_EQ(make("f64=2.5").floatAt(0), 2.5);
  EXPECT_EQ(make("4x4xi32=7").integerAt(15), 7);
  EXPECT_EQ(make("0x3xf32=").elementCount(), 0);
}

TEST(InputSpec, SpecialFloatsAndBooleans) {
  EXPECT_TRUE(std::isnan(make("f32=nan").floatAt(0)));
  EXPECT_EQ(make("f16=-inf").floatAt(0), -INFINITY);
  HostArray array = make("3xi1=true false 1");
  EXPECT_EQ(array.integerAt(0), 1);
  EXPECT_EQ(array.integerAt(1), 0);
  EXPECT_EQ(array.integerAt(2), 1);
}

TEST(InputSpec, IntegerBounds) {
  EXPECT_EQ(make("i8=-128").integerAt(0), -128);
  EXPECT_EQ(uint64_t(make("u64=18446744073709551615").integerAt(0)), UINT64_MAX);
  EXPECT_EQ(make("i64=-9223372036854775808").integerAt(0), INT64_MIN);
  EXPECT_EQ(failure("i8=128"), "expected a whole number in range for i8, got '128'");
  EXPECT_EQ(failure("u8=-1"), "expected a whole number in range for u8, got '-1'");
  EXPECT_EQ(failure("ui16=65536"), "expected a whole number in range for u16, got '65536'");
  EXPECT_EQ(failure("i1=2"), "expected a whole number in range for i1, got '2'");
  EXPECT_EQ(failure("i32=1.5"), "expected a whole number in range for i32, got '1.5'");
}

TEST(InputSpec, Names) {
  Result<InputSpec> spec = parseInputSpec("weights=2xf32=1 2");
  ASSERT_TRUE(spec);
  EXPECT_EQ(spec->name, "weights");
  EXPECT_EQ(spec->dims, std::vector<int64_t>{2});
  spec = parseInputSpec("x=@a=b.npy");
  ASSERT_TRUE(spec);
  EXPECT_EQ(spec->name, "x");
  EXPECT_EQ(spec->path, "a=b.npy");
  spec = parseInputSpec("@a=b.npy");
  ASSERT_TRUE(spec);
  EXPECT_EQ(spec->name, "");
  spec = parseInputSpec("x=random:2xf32:1");
  ASSERT_TRUE(spec);
  EXPECT_EQ(spec->name, "x");
}

TEST(InputSpec, RandomIsReproducibleAndInRange) {
  HostArray a = make("random:1000xf32:7"), b = make("random:1000xf32:7");
  HostArray c = make("random:1000xf32:8");
  int64_t different = 0;
  for (int64_t i = 0; i < 1000; ++i) {
    EXPECT_EQ(a.floatAt(i), b.floatAt(i));
    EXPECT_LE(std::fabs(a.floatAt(i)), 1.0);
    different += a.floatAt(i) != c.floatAt(i);
  }
  EXPECT_GT(different, 900);
  HostArray integers = make("random:1000xi32:1:3:5");
  for (int64_t i = 0; i < 1000; ++i)
    EXPECT_TRUE(integers.integerAt(i) == 3 || integers.integerAt(i) == 4);
}

TEST(InputSpec, Zeros) {
  HostArray array = make("zeros:3x2xi16");
  EXPECT_EQ(array.shapeString(), "3x2xi16");
  for (int64_t i = 0; i < 6; ++i)
    EXPECT_EQ(array.integerAt(i), 0);
}

TEST(InputSpec, OneValueForNoElements) {
  HostArray array = make("0x3xf32=1.5");
  EXPECT_EQ(array.shapeString(), "0x3xf32");
  EXPECT_EQ(failure("0x3xf32=1 2"), "expected 0 values or one for 0x3xf32, got 2");
}

TEST(InputSpec, WrongCount) {
  EXPECT_EQ(failure("2x3xf32=1 2 3"), "expected 6 values or one for 2x3xf32, got 3");
  EXPECT_EQ(failure("f32="), "expected 1 values or one for f32, got 0");
}

TEST(InputSpec, UnknownTypeListsKnownOnes) {
  EXPECT_NE(failure("2xfloat=1 2").find("unknown type 'float'; known are i1, i8"),
            std::string::npos);
}

TEST(InputSpec, MalformedText) {
  EXPECT_NE(failure("").find("expected @FILE.npy"), std::string::npos);
  EXPECT_NE(failure("@").find("expected a file name"), std::string::npos);
  EXPECT_NE(failure("x=").find("expected @FILE.npy"), std::string::npos);
  EXPECT_NE(failure("random:2xf32").find("random:SHAPE:SEED"), std::string::npos);
  EXPECT_NE(failure("random:2xf32:x").find("as seed, got 'x'"), std::string::npos);
  EXPECT_NE(failure("random:2xf32:1:5:5").find("LOW below HIGH"), std::string::npos);
  EXPECT_NE(failure("random:2xi32:1:1e18:2e18").find("within -2147483648 to 2147483647 for i32"),
            std::string::npos);
  EXPECT_NE(failure("random:2xi32:1:0.5:3").find("whole numbers as range LOW:HIGH for i32"),
            std::string::npos);
  EXPECT_NE(
      failure("random:2xf32:1:1e300:2e300").find("within -3.40282e+38 to 3.40282e+38 for f32"),
      std::string::npos);
  EXPECT_NE(failure("random:2xui8:1:-1:3").find("within 0 to 255"), std::string::npos);
  EXPECT_NE(failure("zeros:-1xf32").find("a dimension is negative"), std::string::npos);
  EXPECT_NE(failure("zeros:99999999999999999999xf32").find("63 bits"), std::string::npos);
  EXPECT_NE(failure("zeros:2x3").find("such as 2x3xf32, got '2x3'"), std::string::npos);
}

TEST(InputSpec, SizesThatCannotBe) {
  EXPECT_EQ(failure("zeros:4294967296x4294967296xf32"),
            "the size of 4294967296x4294967296xf32 does not fit into 63 bits");
  std::string message = failure("zeros:1000000000000000xf32");
  unsigned long long available = 0;
  ASSERT_EQ(sscanf(message.c_str(),
                   "out of host memory: 4000000000000000 bytes asked for 1000000000000000xf32, "
                   "%llu free on this machine",
                   &available),
            1)
      << message;
  EXPECT_GT(available, 0u);
  EXPECT_LT(available, 4000000000000000u);
}

TEST(InputSpec, AdoptType) {
  HostArray array = make("2xu16=16256 16384");
  adoptType(array, XCR_DTYPE_BF16);
  EXPECT_EQ(array.shapeString(), "2xbf16");
  EXPECT_EQ(array.floatAt(0), 1.0);
  EXPECT_EQ(array.floatAt(1), 2.0);
  HostArray other = make("2xf32=1 2");
  adoptType(other, XCR_DTYPE_BF16);
  EXPECT_EQ(other.shapeString(), "2xf32");
}

TEST(SmallFloat, EveryBitPatternComesBack) {
  for (DType dtype : {XCR_DTYPE_F16, XCR_DTYPE_BF16, XCR_DTYPE_F8E4M3, XCR_DTYPE_F8E5M2}) {
    unsigned count = 1u << (8 * xcr_dtype_size(dtype));
    for (unsigned bits = 0; bits < count; ++bits) {
      float value = decodeSmallFloat(dtype, uint16_t(bits));
      if (std::isnan(value))
        EXPECT_TRUE(std::isnan(decodeSmallFloat(dtype, encodeSmallFloat(dtype, value))));
      else
        ASSERT_EQ(encodeSmallFloat(dtype, value), bits) << value;
    }
  }
}

TEST(SmallFloat, RoundsToNearestEven) {
  EXPECT_EQ(encodeSmallFloat(XCR_DTYPE_F16, 1 + 0x1p-11), 0x3c00);
  EXPECT_EQ(encodeSmallFloat(XCR_DTYPE_F16, 1 + 0x1p-11 + 0x1p-30), 0x3c01);
  EXPECT_EQ(encodeSmallFloat(XCR_DTYPE_F16, 1 + 3 * 0x1p-11), 0x3c02);
  EXPECT_EQ(encodeSmallFloat(XCR_DTYPE_F16, 65519.99), 0x7bff);
  EXPECT_EQ(encodeSmallFloat(XCR_DTYPE_F16, 65520), 0x7c00);
  EXPECT_EQ(encodeSmallFloat(XCR_DTYPE_F16, 0x1p-25), 0);
  EXPECT_EQ(encodeSmallFloat(XCR_DTYPE_F16, 0x1p-24 * 0.75), 1);
}
} // namespace
