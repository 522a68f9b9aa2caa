//===- ArrayPrinterTest.cpp - Printing arrays as NumPy does ---------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The expected texts are what str() of the same array gives in NumPy 1.24.
//
//===----------------------------------------------------------------------===//

#include "tools/common/ArrayPrinter.h"

#include "tools/common/InputSpec.h"

#include "gtest/gtest.h"

using namespace xc::tools;

namespace {
std::string print(const std::string &text) {
  Result<InputSpec> spec = parseInputSpec(text);
  EXPECT_TRUE(spec) << spec.error().message();
  Result<HostArray> array = makeArray(*spec);
  EXPECT_TRUE(array) << array.error().message();
  return printArray(*array);
}

HostArray iota(DType dtype, std::vector<int64_t> dims, double scale) {
  Result<HostArray> array = HostArray::create(dtype, std::move(dims));
  for (int64_t i = 0; i < array->elementCount(); ++i)
    if (dtypeClass(dtype) == DTypeClass::Float)
      array->setFloat(i, double(i) * scale);
    else
      array->setInteger(i, i);
  return std::move(*array);
}

TEST(ArrayPrinter, ColumnsAreAligned) {
  EXPECT_EQ(print("3xf32=1 2.5 3"), "[1.  2.5 3. ]");
  EXPECT_EQ(print("3xf64=nan -inf 1.25"), "[ nan -inf 1.25]");
  EXPECT_EQ(print("3xf16=0.1 0.2 0.33333"), "[0.1    0.2    0.3333]");
  EXPECT_EQ(print("2xi1=1 0"), "[ True False]");
  EXPECT_EQ(print("3xi8=-100 5 20"), "[-100    5   20]");
}

TEST(ArrayPrinter, WideRangesAreExponential) {
  EXPECT_EQ(print("3xf32=1e-5 123.456 -7"), "[ 1.00000e-05  1.23456e+02 -7.00000e+00]");
  EXPECT_EQ(print("2xf64=1e300 1"), "[1.e+300 1.e+000]");
}

TEST(ArrayPrinter, ScalarsStandAlone) {
  EXPECT_EQ(print("f32=1"), "1.0");
  EXPECT_EQ(print("f32=1e-5"), "1e-05");
  EXPECT_EQ(print("f64=1e16"), "1e+16");
  EXPECT_EQ(print("i1=1"), "True");
  EXPECT_EQ(print("u64=18446744073709551615"), "18446744073709551615");
}

TEST(ArrayPrinter, EmptyArrays) {
  EXPECT_EQ(print("zeros:0xf32"), "[]");
  EXPECT_EQ(print("zeros:3x0xf32"), "[]");
}

TEST(ArrayPrinter, DimensionsAreSeparatedByLines) {
  EXPECT_EQ(printArray(iota(XCR_DTYPE_F32, {2, 3, 4}, 0.125)), "[[[0.    0.125 0.25  0.375]\n"
                                                               "  [0.5   0.625 0.75  0.875]\n"
                                                               "  [1.    1.125 1.25  1.375]]\n"
                                                               "\n"
                                                               " [[1.5   1.625 1.75  1.875]\n"
                                                               "  [2.    2.125 2.25  2.375]\n"
                                                               "  [2.5   2.625 2.75  2.875]]]");
}

TEST(ArrayPrinter, LongRowsAreWrapped) {
  EXPECT_EQ(printArray(iota(XCR_DTYPE_F64, {20}, 1.0 / 19)),
            "[0.         0.05263158 0.10526316 0.15789474 0.21052632 0.26315789\n"
            " 0.31578947 0.36842105 0.42105263 0.47368421 0.52631579 0.57894737\n"
            " 0.63157895 0.68421053 0.73684211 0.78947368 0.84210526 0.89473684\n"
            " 0.94736842 1.        ]");
}

TEST(ArrayPrinter, LargeArraysAreSummarised) {
  EXPECT_EQ(printArray(iota(XCR_DTYPE_I32, {40, 30}, 1)), "[[   0    1    2 ...   27   28   29]\n"
                                                          " [  30   31   32 ...   57   58   59]\n"
                                                          " [  60   61   62 ...   87   88   89]\n"
                                                          " ...\n"
                                                          " [1110 1111 1112 ... 1137 1138 1139]\n"
                                                          " [1140 1141 1142 ... 1167 1168 1169]\n"
                                                          " [1170 1171 1172 ... 1197 1198 1199]]");
}

TEST(ArrayPrinter, BFloat16HasFewDigits) {
  EXPECT_EQ(print("3xbf16=0.1 3.14159 -2"), "[ 0.1   3.14 -2.  ]");
}
} // namespace
