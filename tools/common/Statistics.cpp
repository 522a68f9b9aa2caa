//===- Statistics.cpp - What many measurements say ------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/common/Statistics.h"

#include "tools/common/Table.h"

#include <algorithm>
#include <cmath>

namespace xc::tools {

Summary summarise(std::vector<double> samples) {
  Summary summary;
  summary.count = samples.size();
  if (samples.empty())
    return summary;
  std::sort(samples.begin(), samples.end());
  double count = double(samples.size());
  auto percentile = [&](double share) {
    size_t rank = size_t(std::ceil(share * count));
    return samples[std::max(rank, size_t(1)) - 1];
  };
  summary.min = samples.front();
  summary.max = samples.back();
  summary.median = percentile(0.5);
  summary.p90 = percentile(0.9);
  summary.p95 = percentile(0.95);
  summary.p99 = percentile(0.99);
  double sum = 0, squares = 0;
  for (double sample : samples)
    sum += sample;
  summary.mean = sum / count;
  for (double sample : samples)
    squares += (sample - summary.mean) * (sample - summary.mean);
  summary.deviation = std::sqrt(squares / count);
  if (summary.median > 0)
    summary.spread = (percentile(0.75) - percentile(0.25)) / summary.median;
  return summary;
}

void writeSummary(JsonWriter &json, const Summary &summary) {
  json.beginObject();
  json.field("count", uint64_t(summary.count));
  json.field("min", summary.min);
  json.field("mean", summary.mean);
  json.field("median", summary.median);
  json.field("p90", summary.p90);
  json.field("p95", summary.p95);
  json.field("p99", summary.p99);
  json.field("max", summary.max);
  json.field("deviation", summary.deviation);
  json.endObject();
}

static std::string percent(double share) { return formatSignificant(100 * share, 3) + " %"; }

/// Adds what speaks against the times of one kind, which |what| names: "latencies".
static void doubtTimes(const Summary &times, const char *what, std::vector<std::string> &doubts) {
  if (times.spread > 0.1)
    doubts.push_back(
        "the middle half of the " + std::string(what) + " spreads over " + percent(times.spread) +
        " of the median: something else uses this machine, or calls wait for those before them");
  if (times.median > 0 && times.p99 > 2 * times.median)
    doubts.push_back("one in a hundred of the " + std::string(what) + " is " +
                     formatSignificant(times.p99 / times.median, 3) +
                     " times the median or more: the calls are interrupted");
}

std::vector<std::string> findDoubts(const Measurement &measurement) {
  std::vector<std::string> doubts;
  const Summary &latency = measurement.latency;
  if (latency.count < 30)
    doubts.push_back("only " + std::to_string(latency.count) +
                     " calls were timed: measure for longer");
  doubtTimes(latency, "latencies", doubts);
  doubtTimes(measurement.host, "host times", doubts);
  if (measurement.kernelTime >= 0 && measurement.kernelTime < 0.5 * latency.median)
    doubts.push_back("host-bound: the kernels take " +
                     percent(measurement.kernelTime / latency.median) +
                     " of the latency, the rest is launching and waiting");
  if (measurement.kernelTime > 1.1 * latency.median)
    doubts.push_back("the kernels, timed one after another, take " +
                     percent(measurement.kernelTime / latency.median) +
                     " of the latency: in a call they overlap, or being timed slows them down");
  return doubts;
}

} // namespace xc::tools
