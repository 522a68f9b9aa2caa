//===- Module.h - Modules, functions, launches -----------------*- C++ -*--===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PTXSIM_DRIVER_MODULE_H
#define PTXSIM_DRIVER_MODULE_H

#include "cuda_abi/cuda_abi.h"
#include "ptxsim/ptxsim.h"

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace xc::cudasim {

class Context;

/// A loaded module. Kernels that were launched share it, so that unloading it
/// while they run is as harmless as the driver promises.
class Module {
public:
  Module(std::shared_ptr<Context> context, std::unique_ptr<ptxsim::Module> code)
      : context_(std::move(context)), code_(std::move(code)) {}

  Context &context() const { return *context_; }
  ptxsim::Module &code() const { return *code_; }

  std::mutex mutex;
  std::map<std::string, CUfunction> functions; // handles given out, by name

private:
  const std::shared_ptr<Context> context_;
  const std::unique_ptr<ptxsim::Module> code_;
};

/// A kernel of a module, and the attributes a program may set.
struct Function {
  std::shared_ptr<Module> module;
  CUmodule moduleHandle = nullptr;
  const ptxsim::Kernel *kernel = nullptr;
  std::atomic<int> maxDynamicShared{0};
  std::atomic<int> sharedCarveout{-1};
  std::atomic<int> nonPortableCluster{0};
  std::atomic<int> clusterPolicy{0};

  Context &context() const { return module->context(); }
  CUresult getAttribute(CUfunction_attribute attribute, int &value) const;
  CUresult setAttribute(CUfunction_attribute attribute, int value);
};

/// JIT options that the stand-in heeds, as cuModuleLoadDataEx passes them.
struct JitLogs {
  JitLogs(unsigned count, CUjit_option *options, void **values);
  /// Fills the error log, cut off at the buffer's end, and the sizes.
  void write(const std::string &error);

private:
  char *errorBuffer_ = nullptr, *infoBuffer_ = nullptr;
  size_t errorSize_ = 0, infoSize_ = 0;
  void **errorSizeOut_ = nullptr, **infoSizeOut_ = nullptr;
};

/// Loads an image: PTX text, or the driver's error for anything else.
CUresult loadModule(Context &context, const void *image, JitLogs &logs, CUmodule &module);
/// Frees a module and the handles of its functions. Null if there is none.
std::shared_ptr<Module> unloadModule(CUmodule handle);
CUresult findFunction(CUmodule handle, const char *name, CUfunction &function);

/// The geometry and the attributes of a launch.
struct LaunchShape {
  unsigned grid[3] = {1, 1, 1};
  unsigned block[3] = {1, 1, 1};
  unsigned dynamicShared = 0;
  unsigned cluster[3] = {0, 0, 0}; // 0: not given
  bool cooperative = false;
  bool programmatic = false; // programmatic stream serialisation
  int priority = 0;
};

/// Takes the attributes of a launch into `shape`.
CUresult readLaunchAttribute(CUlaunchAttributeID id, const CUlaunchAttributeValue &value,
                             LaunchShape &shape);

/// A launch that has been checked against every limit; parameters are copied.
struct Launch {
  std::shared_ptr<Function> function;
  LaunchShape shape;
  std::vector<uint8_t> params;
};

/// Checks a launch against the limits of the device and the kernel, as the driver
/// does; fills in the cluster that the kernel itself demands.
CUresult checkLaunch(const Function &function, LaunchShape &shape);

CUresult prepareLaunch(std::shared_ptr<Function> function, const LaunchShape &shape, void **params,
                       void **extra, Launch &launch);
/// Runs the kernel to its end. A fault ends `context`, after a report.
void runLaunch(Context &context, const Launch &launch);

} // namespace xc::cudasim

#endif // PTXSIM_DRIVER_MODULE_H
