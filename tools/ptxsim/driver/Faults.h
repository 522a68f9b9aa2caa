//===- Faults.h - Counts of driver calls, and faults on demand -*- C++ -*--===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PTXSIM_DRIVER_FAULTS_H
#define PTXSIM_DRIVER_FAULTS_H

#include "cuda_abi/cuda_abi.h"

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace xc::cudasim {

/// One driver function, as the statistics and the faults know it: all versions
/// of a function are one site.
struct CallSite {
  std::string name;
  bool countsForAny = true;
  std::atomic<uint64_t> calls{0};
};

/// Every site, for the life of the process. Thread-safe.
class CallSites {
public:
  /// The site of the function that `name` is a version of.
  CallSite &get(const std::string &name);
  /// Calls of one function, or of all if `name` is null.
  uint64_t count(const char *name);
  void reset();

private:
  std::mutex mutex_;
  std::map<std::string, CallSite> sites_;
};

/// Removes the version from the name of a driver function: cuMemAlloc_v2.
std::string plainName(const std::string &name);

/// The faults that are waiting for their call. Thread-safe.
class Faults {
public:
  static constexpr unsigned kRepeat = 1;

  /// Returns what is wrong with the name of the function, or nothing.
  std::string add(const std::string &function, uint64_t nth, CUresult result, unsigned flags);
  /// Reads "cuMemAlloc:3=CUDA_ERROR_OUT_OF_MEMORY,*:10=719": function, which call,
  /// result. Returns what is wrong with the text, or nothing.
  std::string addFromText(const std::string &text);
  void clear();
  uint64_t fired() const { return fired_.load(); }
  /// The function that the latest fault struck; empty if none has.
  std::string lastStruck();

  /// Called once per call. True if the call must return `result`.
  bool strikes(const CallSite &site, CUresult &result) {
    return armed_.load(std::memory_order_acquire) && strikesSlow(site, result);
  }

private:
  struct Fault {
    std::string function; // "*": any
    uint64_t remaining;   // calls until it fires; 0: has fired
    CUresult result;
    bool repeat;
  };
  bool strikesSlow(const CallSite &site, CUresult &result);

  std::mutex mutex_;
  std::vector<Fault> faults_;
  std::string lastStruck_;
  std::atomic<bool> armed_{false};
  std::atomic<uint64_t> fired_{0};
};

} // namespace xc::cudasim

#endif // PTXSIM_DRIVER_FAULTS_H
