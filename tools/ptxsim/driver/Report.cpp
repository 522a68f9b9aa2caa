//===- Report.cpp - Where findings of the stand-in go ---------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report.h"

#include <cstdio>

namespace xc::cudasim {

void Report::setFile(const std::string &file) {
  std::lock_guard<std::mutex> lock(mutex_);
  file_ = file;
}

void Report::add(const std::string &text) {
  std::lock_guard<std::mutex> lock(mutex_);
  ++count_;
  last_ = text;
  writeLocked("ptxsim: " + text);
}

void Report::write(const std::string &text) {
  std::lock_guard<std::mutex> lock(mutex_);
  writeLocked(text);
}

uint64_t Report::count() {
  std::lock_guard<std::mutex> lock(mutex_);
  return count_;
}

std::string Report::last() {
  std::lock_guard<std::mutex> lock(mutex_);
  return last_;
}

void Report::writeLocked(const std::string &text) {
  FILE *stream = file_.empty() ? stderr : fopen(file_.c_str(), "a");
  if (!stream)
    stream = stderr;
  fwrite(text.data(), 1, text.size(), stream);
  if (text.empty() || text.back() != '\n')
    fputc('\n', stream);
  if (stream == stderr)
    fflush(stream);
  else
    fclose(stream);
}

} // namespace xc::cudasim
