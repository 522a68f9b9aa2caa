//===- Faults.cpp - Counts of driver calls, and faults on demand ----------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Faults.h"

#include <cstdlib>

namespace xc::cudasim {

std::string plainName(const std::string &name) {
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

void Faults::add(const std::string &function, uint64_t nth, CUresult result, unsigned flags) {
  std::lock_guard<std::mutex> lock(mutex_);
  faults_.push_back(
      {function == "*" ? function : plainName(function), nth, result, (flags & kRepeat) != 0});
  armed_.store(true, std::memory_order_release);
}

std::string Faults::addFromText(const std::string &text) {
  for (size_t begin = 0; begin < text.size();) {
    size_t end = std::min(text.find(',', begin), text.size());
    std::string item = text.substr(begin, end - begin);
    begin = end + 1;
    size_t colon = item.find(':');
    size_t equals = item.find('=');
    char *nthEnd = nullptr;
    char *resultEnd = nullptr;
    uint64_t nth = 0;
    unsigned long result = 0;
    if (colon != std::string::npos && equals != std::string::npos && colon < equals) {
      nth = strtoull(item.c_str() + colon + 1, &nthEnd, 10);
      result = strtoul(item.c_str() + equals + 1, &resultEnd, 10);
    }
    if (!nth || !result || nthEnd != item.c_str() + equals || *resultEnd)
      return "setting 'fault': expected FUNCTION:N=RESULT with numbers above 0, "
             "got '" +
             item + "'";
    add(item.substr(0, colon), nth, static_cast<CUresult>(result), 0);
  }
  return "";
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
      ++fired_;
    }
  }
  return struck;
}

} // namespace xc::cudasim
