//===- Report.h - Where findings of the stand-in go ------------*- C++ -*--===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PTXSIM_DRIVER_REPORT_H
#define PTXSIM_DRIVER_REPORT_H

#include <cstdint>
#include <mutex>
#include <string>

namespace xc::cudasim {

/// Collects findings: kernel faults as the checkers describe them, and misuse of
/// the driver that the driver itself would leave undefined. Thread-safe.
class Report {
public:
  /// Writes later reports to the end of `file`, or to stderr if it is empty.
  void setFile(const std::string &file);
  /// Adds a finding of one or more lines.
  void add(const std::string &text);
  /// Writes text that is no finding (the leak report).
  void write(const std::string &text);
  uint64_t count();
  std::string last();

private:
  void writeLocked(const std::string &text);

  std::mutex mutex_;
  std::string file_;
  std::string last_;
  uint64_t count_ = 0;
};

} // namespace xc::cudasim

#endif // PTXSIM_DRIVER_REPORT_H
