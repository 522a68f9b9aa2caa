//===- Config.cpp - Settings of the driver stand-in -----------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Config.h"

#include <cerrno>
#include <cstdlib>
#include <unistd.h>

namespace xc::cudasim {
namespace {

using Setter = std::string (*)(Config &, const std::string &);

std::string parseUnsigned(const std::string &text, uint64_t max, uint64_t &out) {
  errno = 0;
  char *end = nullptr;
  unsigned long long value = strtoull(text.c_str(), &end, 0);
  uint64_t unit = 1;
  if (end && *end && !end[1]) {
    const char *const units = "KMG";
    for (unsigned i = 0; units[i]; ++i)
      if (*end == units[i]) {
        unit = uint64_t(1) << (10 * (i + 1));
        ++end;
        break;
      }
  }
  if (text.empty() || text[0] == '-' || errno || *end || value > max / unit)
    return "expected a number up to " + std::to_string(max) + " (K, M or G may follow), got '" +
           text + "'";
  out = value * unit;
  return "";
}

template <typename T> std::string setNumber(T &field, const std::string &text, uint64_t max) {
  uint64_t value = 0;
  std::string error = parseUnsigned(text, max, value);
  if (error.empty())
    field = static_cast<T>(value);
  return error;
}

/// Reads a list like "-pools,-vmm" or "none,race": words that switch a field on,
/// or off with a minus; "all" and "none" switch every one.
template <size_t N>
std::string setSwitches(const std::pair<const char *, bool *> (&fields)[N],
                        const std::string &text) {
  for (size_t begin = 0; begin <= text.size();) {
    size_t end = std::min(text.find(',', begin), text.size());
    std::string word = text.substr(begin, end - begin);
    begin = end + 1;
    bool on = word.empty() || word[0] != '-';
    std::string name = on ? word : word.substr(1);
    bool known = name.empty();
    for (const auto &[field, flag] : fields)
      if (name == "all" || name == "none" || name == field) {
        *flag = name == "none" ? !on : on;
        known = true;
      }
    if (known)
      continue;
    std::string expected = "all, none";
    for (const auto &[field, flag] : fields)
      expected += std::string(", ") + field;
    return "unknown word '" + name + "', expected " + expected;
  }
  return "";
}

struct Setting {
  const char *key;
  Setter set;
};

const Setting kSettings[] = {
    {"arch",
     [](Config &config, const std::string &text) -> std::string {
       if (text == "sm_80")
         config.arch = ptxsim::Arch::SM80;
       else if (text == "sm_90a")
         config.arch = ptxsim::Arch::SM90a;
       else
         return "expected sm_80 or sm_90a, got '" + text + "'";
       return "";
     }},
    {"devices",
     [](Config &config, const std::string &text) { return setNumber(config.devices, text, 16); }},
    {"driver_version",
     [](Config &config, const std::string &text) {
       return setNumber(config.driverVersion, text, 99990);
     }},
    {"features",
     [](Config &config, const std::string &text) {
       return setSwitches(
           {{"pools", &config.pools}, {"vmm", &config.vmm}, {"managed", &config.managed}}, text);
     }},
    {"memory",
     [](Config &config, const std::string &text) {
       return setNumber(config.memory, text, uint64_t(1) << 40);
     }},
    {"max_allocation",
     [](Config &config, const std::string &text) {
       return setNumber(config.maxAllocation, text, UINT64_MAX);
     }},
    {"checks",
     [](Config &config, const std::string &text) {
       ptxsim::Checks &checks = config.checks;
       return setSwitches({{"uninitialised", &checks.uninitialised},
                           {"misaligned", &checks.misaligned},
                           {"race", &checks.race},
                           {"barrier", &checks.barrierDivergence},
                           {"async", &checks.asyncCopy}},
                          text);
     }},
    {"counters",
     [](Config &config, const std::string &text) { return setNumber(config.counters, text, 1); }},
    {"threads",
     [](Config &config, const std::string &text) { return setNumber(config.threads, text, 1024); }},
    {"instruction_limit",
     [](Config &config, const std::string &text) {
       return setNumber(config.instructionLimit, text, UINT64_MAX);
     }},
    {"async_seed",
     [](Config &config, const std::string &text) {
       return setNumber(config.asyncSeed, text, UINT64_MAX);
     }},
    {"fault",
     [](Config &config, const std::string &text) -> std::string {
       config.faults = text;
       return "";
     }},
    {"stream_delay",
     [](Config &config, const std::string &text) {
       return setNumber(config.streamDelayMicros, text, 10000000);
     }},
    {"seed", [](Config &config,
                const std::string &text) { return setNumber(config.seed, text, UINT64_MAX); }},
    {"graph_seed",
     [](Config &config, const std::string &text) {
       return setNumber(config.graphSeed, text, UINT64_MAX);
     }},
    {"report",
     [](Config &config, const std::string &text) -> std::string {
       config.report = text;
       return "";
     }},
    {"patch",
     [](Config &config, const std::string &text) -> std::string {
       size_t colon = text.find(':');
       config.patch = colon == std::string::npos ? "" : text.substr(colon + 1);
       return colon == std::string::npos
                  ? "expected LINE:TEXT, got '" + text + "'"
                  : setNumber(config.patchLine, text.substr(0, colon), UINT32_MAX);
     }},
    {"leaks",
     [](Config &config, const std::string &text) { return setNumber(config.leaks, text, 1); }},
};

/// "max_allocation" -> "PTXSIM_MAX_ALLOCATION".
std::string variableOf(const Setting &setting) {
  std::string variable = "PTXSIM_";
  for (const char *c = setting.key; *c; ++c)
    variable += *c >= 'a' && *c <= 'z' ? static_cast<char>(*c - 'a' + 'A') : *c;
  return variable;
}

} // namespace

std::string Config::set(const std::string &key, const std::string &value) {
  for (const Setting &setting : kSettings)
    if (key == setting.key) {
      std::string error = setting.set(*this, value);
      return error.empty() ? "" : "setting '" + key + "': " + error;
    }
  std::string known;
  for (const Setting &setting : kSettings)
    known += std::string(known.empty() ? "" : ", ") + setting.key;
  return "unknown setting '" + key + "', expected one of " + known;
}

std::string Config::setFromEnvironment() {
  const std::string prefix = "PTXSIM_";
  for (char **entry = environ; entry && *entry; ++entry) {
    std::string text = *entry;
    size_t equals = text.find('=');
    if (text.compare(0, prefix.size(), prefix) != 0 || equals == std::string::npos)
      continue;
    const Setting *found = nullptr;
    std::string known;
    for (const Setting &setting : kSettings) {
      std::string variable = variableOf(setting);
      if (text.compare(0, equals, variable) == 0)
        found = &setting;
      known += (known.empty() ? "" : ", ") + variable;
    }
    if (!found)
      return "unknown variable '" + text.substr(0, equals) + "', expected one of " + known;
    if (equals + 1 == text.size()) // set to nothing: not set
      continue;
    if (std::string error = set(found->key, text.substr(equals + 1)); !error.empty())
      return error;
  }
  return "";
}

std::string Config::setFromText(const std::string &text) {
  const char *const blanks = " \t\n";
  for (size_t begin = text.find_first_not_of(blanks); begin != std::string::npos;) {
    size_t end = std::min(text.find_first_of(blanks, begin), text.size());
    std::string pair = text.substr(begin, end - begin);
    size_t equals = pair.find('=');
    if (equals == std::string::npos)
      return "expected key=value, got '" + pair + "'";
    if (std::string error = set(pair.substr(0, equals), pair.substr(equals + 1)); !error.empty())
      return error;
    begin = text.find_first_not_of(blanks, end);
  }
  return "";
}

} // namespace xc::cudasim
