//===- Progress.cpp - How far a long compilation is -----------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/xcompile/Progress.h"

#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

#include <string>

namespace xc {

Progress::Progress(std::optional<double> seconds)
    : isTerminal(llvm::sys::Process::StandardErrIsDisplayed()),
      interval(seconds.value_or(isTerminal ? 0.2 : 10)) {
  std::chrono::duration<double> first(seconds.value_or(isTerminal ? 2 : 10));
  next = Clock::now() + std::chrono::duration_cast<Clock::duration>(first);
}

void Progress::report(llvm::StringRef phase, size_t done, size_t all) {
  std::lock_guard<std::mutex> lock(mutex);
  if (Clock::now() < next)
    return;
  next = Clock::now() + std::chrono::duration_cast<Clock::duration>(interval);
  std::string text = phase.str();
  if (all != 0)
    text += ": " + std::to_string(done) + " of " + std::to_string(all) + " kernels";
  if (!isTerminal) {
    llvm::errs() << "xcompile: " << text << "\n";
    return;
  }
  constexpr size_t kWidth = 30;
  size_t filled = all != 0 ? kWidth * done / all : 0;
  text = "[" + std::string(filled, '#') + std::string(kWidth - filled, ' ') + "] " + text;
  size_t columns = text.size();
  if (columns < shown)
    text.append(shown - columns, ' ');
  shown = columns;
  llvm::errs() << "\r" << text;
}

void Progress::clear() {
  std::lock_guard<std::mutex> lock(mutex);
  if (shown != 0)
    llvm::errs() << "\r" << std::string(shown, ' ') << "\r";
  shown = 0;
}

} // namespace xc
