//===- Faults.cpp - Counts of driver calls, and faults on demand ----------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Faults.h"

#include "Names.h"

#include <cassert>
#include <cstdlib>

namespace xc::cudasim {

std::string plainName(const std::string &name) {
  // cuda.h gives this function its newest name by another scheme.
  if (name == "cuGraphInstantiateWithFlags")
    return "cuGraphInstantiate";
  size_t underscore = name.rfind("_v");
  if (underscore == std::string::npos || underscore + 2 == name.size() ||
      name.find_first_not_of("0123456789", underscore + 2) != std::string::npos)
    return name;
  return name.substr(0, underscore);
}

CallSite &CallSites::get(const std::string &name) {
  std::lock_guard<std::mutex> lock(mutex_);
  std::string plain = plainName(name);
  CallSite &site = sites_[plain];
  if (site.name.empty()) {
    assert(checkFunction(plain).empty() && "a function that faults cannot name");
    site.name = plain;
    // A program names the error that it was given by these: they must not use up
    // the position that a sweep over all calls is after.
    site.countsForAny = plain != "cuGetErrorName" && plain != "cuGetErrorString";
  }
  return site;
}

uint64_t CallSites::count(const char *name) {
  std::lock_guard<std::mutex> lock(mutex_);
  uint64_t total = 0;
  std::string plain = name ? plainName(name) : "";
  for (const auto &[key, site] : sites_)
    if (!name || key == plain)
      total += site.calls.load();
  return total;
}

void CallSites::reset() {
  std::lock_guard<std::mutex> lock(mutex_);
  for (auto &[key, site] : sites_)
    site.calls = 0;
}

std::string Faults::add(const std::string &function, uint64_t nth, CUresult result,
                        unsigned flags) {
  std::string plain = plainName(function);
  if (plain != "*")
    if (std::string error = checkFunction(plain); !error.empty())
      return error;
  std::lock_guard<std::mutex> lock(mutex_);
  faults_.push_back({plain, nth, result, (flags & kRepeat) != 0});
  armed_.store(true, std::memory_order_release);
  return "";
}

std::string Faults::addFromText(const std::string &text) {
  for (size_t begin = 0; begin < text.size();) {
    size_t end = std::min(text.find(',', begin), text.size());
    std::string item = text.substr(begin, end - begin);
    begin = end + 1;
    size_t colon = item.find(':');
    size_t equals = item.find('=');
    char *nthEnd = nullptr;
    uint64_t nth = 0;
    if (colon != std::string::npos && equals != std::string::npos && colon < equals)
      nth = strtoull(item.c_str() + colon + 1, &nthEnd, 10);
    if (!nth || nthEnd != item.c_str() + equals || item[colon + 1] == '-')
      return "setting 'fault': expected FUNCTION:N=RESULT with N above 0, got '" + item + "'";
    CUresult result = CUDA_SUCCESS;
    std::string error = parseResult(item.substr(equals + 1), result);
    if (error.empty())
      error = add(item.substr(0, colon), nth, result, 0);
    if (!error.empty())
      return "setting 'fault': " + error;
  }
  return "";
}

std::string Faults::lastStruck() {
  std::lock_guard<std::mutex> lock(mutex_);
  return lastStruck_;
}

void Faults::clear() {
  std::lock_guard<std::mutex> lock(mutex_);
  faults_.clear();
  armed_.store(false, std::memory_order_release);
}

bool Faults::strikesSlow(const CallSite &site, CUresult &result) {
  std::lock_guard<std::mutex> lock(mutex_);
  bool struck = false;
  for (Fault &fault : faults_) {
    bool matches = fault.function == "*" ? site.countsForAny : fault.function == site.name;
    if (!matches)
      continue;
    // A fault that has fired keeps firing if it repeats, else it is spent.
    bool fires = fault.remaining == 1 || (fault.remaining == 0 && fault.repeat);
    if (fault.remaining > 0)
      --fault.remaining;
    if (fires && !struck) {
      struck = true;
      result = fault.result;
      lastStruck_ = site.name;
      ++fired_;
    }
  }
  return struck;
}

} // namespace xc::cudasim
