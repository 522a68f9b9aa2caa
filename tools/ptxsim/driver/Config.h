//===- Config.h - Settings of the driver stand-in --------------*- C++ -*--===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PTXSIM_DRIVER_CONFIG_H
#define PTXSIM_DRIVER_CONFIG_H

#include "ptxsim/ptxsim.h"

#include <cstdint>
#include <string>

namespace xc::cudasim {

/// What the environment, and ptxsimConfigure on top of it, ask for. The README
/// lists the settings; one that is not understood is an error, never ignored.
struct Config {
  ptxsim::Arch arch = ptxsim::Arch::SM90a;
  unsigned devices = 1;
  int driverVersion = 12080;
  bool pools = true;
  bool vmm = true;
  bool managed = true;
  /// Not the memory of the modelled product: a laptop shall meet the limit as
  /// out-of-memory errors, not by running out itself.
  uint64_t memory = uint64_t(8) << 30;
  uint64_t maxAllocation = UINT64_MAX;
  ptxsim::Checks checks;
  bool counters = true;
  unsigned threads = 0;
  uint64_t instructionLimit = 0;
  uint64_t asyncSeed = 0;
  std::string faults;
  unsigned streamDelayMicros = 0;
  uint64_t seed = 0;
  uint64_t graphSeed = 0;
  std::string report; // a file; empty: stderr
  bool leaks = false;
  unsigned patchLine = 0; // of each module, replaced by `patch`; 0: none
  std::string patch;

  /// Applies one setting. Returns an empty string, or what is wrong with it.
  std::string set(const std::string &key, const std::string &value);
  /// Applies every PTXSIM_* variable of the environment.
  std::string setFromEnvironment();
  /// Applies "key=value" pairs separated by blanks.
  std::string setFromText(const std::string &text);
};

} // namespace xc::cudasim

#endif // PTXSIM_DRIVER_CONFIG_H
