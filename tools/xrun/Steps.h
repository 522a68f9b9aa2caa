//===- Steps.h - A call, command by command, with what it reads and writes ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_TOOLS_XRUN_STEPS_H
#define XC_TOOLS_XRUN_STEPS_H

#include "tools/common/HostArray.h"
#include "tools/common/Session.h"

#include <memory>

namespace xc::tools {

/// What one binding of a command holds at the moment.
struct BoundArray {
  uint32_t binding;
  xcr_binding_info_t info;
  HostArray array;
};

/// A command of a call that is run in steps.
class Step {
public:
  Step(const xcr_module_t *module, xcr_call_t *call, uint32_t ordinal, uint32_t number)
      : call(call), ordinal(ordinal), number(number), module(module) {}
  Error initialise();

  std::string name() const { return toString(info.name); }
  /// "kernel NAME of FILE:LINE:COLUMN, ...": with all the source ops that it computes.
  std::string describe() const;
  /// The bindings that the command reads (before it has run) or writes (after it). Where a module
  /// does not tell their type and shape, those are what the bytes allow.
  Result<std::vector<BoundArray>> readBindings(bool areRead) const;

  xcr_call_t *const call;
  const uint32_t ordinal; ///< of the command
  const uint32_t number;  ///< of the step: commands of loops run more than once
  xcr_command_info_t info = XCR_COMMAND_INFO_INIT;

private:
  Result<HostArray> readBinding(uint32_t binding, const xcr_binding_info_t &range) const;

  const xcr_module_t *const module;
};

/// Looks at every command of a call.
class Probe {
public:
  virtual ~Probe() = default;
  virtual Error before(const Step &step) { return Error::success(); }
  virtual Error after(const Step &step) { return Error::success(); }
  /// Prints what was found; false makes the exit code 1.
  virtual Result<bool> finish() = 0;
};

/// Runs |call| of |session|, whose inputs are bound, with |probes| looking on.
Error runSteps(const Session &session, xcr_call_t *call,
               const std::vector<std::unique_ptr<Probe>> &probes);

/// "0003-main_k2_add-model.mlir.12.5": of a step, fit for file names.
std::string fileStem(const Step &step);

/// Writes what each command writes to |directory|, a file for each binding, and a list of them.
std::unique_ptr<Probe> dumpTensors(std::string directory);

/// Finds the first commands that make NaN, and infinity, out of numbers that are neither.
std::unique_ptr<Probe> findNonFinite();

/// Writes a module that holds the first command that runs |kernel| to |path|, and what that reads
/// and writes to files beside it.
std::unique_ptr<Probe> extractKernel(const Session &session, std::string kernel, std::string path);

} // namespace xc::tools

#endif // XC_TOOLS_XRUN_STEPS_H
