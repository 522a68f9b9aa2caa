//===- Statistics.h - What many measurements say --------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_TOOLS_COMMON_STATISTICS_H
#define XC_TOOLS_COMMON_STATISTICS_H

#include "tools/common/Json.h"

#include <string>
#include <vector>

namespace xc::tools {

/// Figures of a set of times, all in seconds.
struct Summary {
  size_t count = 0;
  double min = 0, mean = 0, median = 0, p90 = 0, p95 = 0, p99 = 0, max = 0;
  double deviation = 0; // standard deviation

  /// How far the middle half spreads, as a share of the median. Unlike the
  /// deviation it does not move when one sample in a hundred is interrupted.
  double spread = 0;
};

/// Percentiles are those of the nearest rank.
Summary summarise(std::vector<double> samples);

void writeSummary(JsonWriter &json, const Summary &summary);

/// What a benchmark found out about one call.
struct Measurement {
  Summary latency;   // from launch to the end of the call, blocking
  Summary host;      // until a launch returns
  double perCall;    // seconds a call, launched back to back
  double kernelTime; // sum over the commands of one call; negative: not known
};

/// Why figures are not to be trusted, one sentence each; empty: no reason
/// found.
std::vector<std::string> findDoubts(const Measurement &measurement);

} // namespace xc::tools

#endif // XC_TOOLS_COMMON_STATISTICS_H
