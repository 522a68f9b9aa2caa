//===- StatisticsTest.cpp - Figures of measurements, and when to doubt them ---===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/common/Statistics.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <random>

using namespace xc::tools;

namespace {
TEST(Summary, PercentilesAreThoseOfTheNearestRank) {
  std::vector<double> samples;
  for (int i = 1; i <= 100; ++i)
    samples.push_back(i);
  std::shuffle(samples.begin(), samples.end(), std::mt19937(1));
  Summary summary = summarise(samples);
  EXPECT_EQ(summary.count, 100u);
  EXPECT_EQ(summary.min, 1);
  EXPECT_EQ(summary.max, 100);
  EXPECT_EQ(summary.median, 50);
  EXPECT_EQ(summary.p90, 90);
  EXPECT_EQ(summary.p95, 95);
  EXPECT_EQ(summary.p99, 99);
  EXPECT_DOUBLE_EQ(summary.mean, 50.5);
  EXPECT_DOUBLE_EQ(summary.spread, 1.0);
}

TEST(Summary, OneSampleIsEveryFigure) {
  Summary summary = summarise({3.5});
  EXPECT_EQ(summary.min, 3.5);
  EXPECT_EQ(summary.median, 3.5);
  EXPECT_EQ(summary.p99, 3.5);
  EXPECT_EQ(summary.deviation, 0);
}

TEST(Summary, NoSamples) { EXPECT_EQ(summarise({}).count, 0u); }

/// 1000 calls of one second each, all of it in kernels.
Measurement steady() {
  Measurement measurement;
  measurement.latency = summarise(std::vector<double>(1000, 1.0));
  measurement.host = summarise(std::vector<double>(1000, 0.25));
  measurement.perCall = 1;
  measurement.kernelTime = 1;
  return measurement;
}

TEST(Doubts, SteadyMeasurementsAreTrusted) { EXPECT_TRUE(findDoubts(steady()).empty()); }

TEST(Doubts, FewCalls) {
  Measurement measurement = steady();
  measurement.latency = summarise(std::vector<double>(29, 1.0));
  ASSERT_EQ(findDoubts(measurement).size(), 1u);
  EXPECT_EQ(findDoubts(measurement)[0], "only 29 calls were timed: measure for longer");
}

TEST(Doubts, Variation) {
  std::vector<double> samples;
  for (int i = 0; i < 1000; ++i)
    samples.push_back(i % 2 ? 1.0 : 1.2);
  Measurement measurement = steady();
  measurement.latency = summarise(samples);
  ASSERT_EQ(findDoubts(measurement).size(), 1u);
  EXPECT_NE(findDoubts(measurement)[0].find("spreads over 20.0 %"), std::string::npos);
}

TEST(Doubts, Interruptions) {
  std::vector<double> samples(1000, 1.0);
  std::fill(samples.begin(), samples.begin() + 20, 5.0);
  Measurement measurement = steady();
  measurement.latency = summarise(samples);
  ASSERT_EQ(findDoubts(measurement).size(), 1u);
  EXPECT_NE(findDoubts(measurement)[0].find("5.00 times the median"), std::string::npos);
}

TEST(Doubts, HostBound) {
  Measurement measurement = steady();
  measurement.kernelTime = 0.3;
  ASSERT_EQ(findDoubts(measurement).size(), 1u);
  EXPECT_NE(findDoubts(measurement)[0].find("host-bound: the kernels take 30.0 %"),
            std::string::npos);
  measurement.kernelTime = -1; // not measured
  EXPECT_TRUE(findDoubts(measurement).empty());
}

TEST(Doubts, HostTimes) {
  std::vector<double> samples;
  for (int i = 0; i < 1000; ++i)
    samples.push_back(i % 2 ? 1.0 : 1.5);
  Measurement measurement = steady();
  measurement.host = summarise(samples);
  ASSERT_EQ(findDoubts(measurement).size(), 1u);
  EXPECT_EQ(findDoubts(measurement)[0],
            "the middle half of the host times spreads over 50.0 % of the median: something else "
            "uses this machine, or calls wait for those before them");
}

TEST(Doubts, KernelsThatTakeLongerThanTheirCall) {
  Measurement measurement = steady();
  measurement.kernelTime = 1.05;
  EXPECT_TRUE(findDoubts(measurement).empty());
  measurement.kernelTime = 1.5;
  ASSERT_EQ(findDoubts(measurement).size(), 1u);
  EXPECT_EQ(findDoubts(measurement)[0],
            "the kernels, timed one after another, take 150 % of the latency: in a call they "
            "overlap, or being timed slows them down");
}
} // namespace
