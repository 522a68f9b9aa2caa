//===- Progress.h - How far a long compilation is ---------------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_TOOLS_XCOMPILE_PROGRESS_H
#define XC_TOOLS_XCOMPILE_PROGRESS_H

#include "llvm/ADT/StringRef.h"

#include <chrono>
#include <mutex>
#include <optional>

namespace xc {

/// Says on standard error how far a compilation is, once it takes long: a bar that moves on a
/// terminal, a line from time to time elsewhere. Any thread may report.
class Progress {
public:
  /// Says something no more often than every `seconds`; by default every 0.2 on a terminal, after
  /// the first 2, and every 10 elsewhere.
  explicit Progress(std::optional<double> seconds);
  /// Wipes the bar, so that what follows stands alone.
  ~Progress() { clear(); }

  /// In `phase`, `done` of `all` kernels are compiled; 0 of 0 in phases that compile none.
  void report(llvm::StringRef phase, size_t done, size_t all);
  void clear();

private:
  using Clock = std::chrono::steady_clock;

  const bool isTerminal;
  std::chrono::duration<double> interval;
  Clock::time_point next;
  std::mutex mutex;
  size_t shown = 0; // columns of the bar
};

} // namespace xc

#endif // XC_TOOLS_XCOMPILE_PROGRESS_H
