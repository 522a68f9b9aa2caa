//===- ExtractKernel.cpp - One kernel as a module of its own --------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The module has one function, `main`, whose plan is one dispatch with the grid and the scalars
// that the command had. What the command reads are its inputs, what it writes are its outputs; a
// binding that it reads and writes is an input that holds an output. The code is the target's
// whole image, of which the tables name the one kernel.
//
//===----------------------------------------------------------------------===//

#include "tools/xrun/Steps.h"

#include "tools/common/NpyFile.h"
#include "tools/common/OutputFile.h"
#include "tools/xrun/KernelModule.h"

#include <cstdio>

namespace xc::tools {

namespace {
class ExtractKernel final : public Probe {
public:
  ExtractKernel(const Session &session, std::string kernel, std::string path)
      : session(session), kernel(std::move(kernel)), path(std::move(path)) {}
  Error before(const Step &step) override;
  Error after(const Step &step) override;
  Result<bool> finish() override;

private:
  std::string fileOf(const char *kind, size_t number) const;
  bool isWanted(const std::string &name) const;

  const Session &session;
  const std::string kernel, path;
  std::string known;   ///< the first kernels that the call runs
  std::string more;    ///< how many others
  size_t numOther = 0; ///< commands of kernels that are not wanted
  bool isHere = false, isDone = false;
  std::string command;
};
} // namespace

/// "k-input0.npy" beside "k.vmfb".
std::string ExtractKernel::fileOf(const char *kind, size_t number) const {
  size_t dot = path.rfind('.');
  size_t slash = path.rfind('/');
  bool hasSuffix = dot != std::string::npos && (slash == std::string::npos || dot > slash);
  return path.substr(0, hasSuffix ? dot : path.size()) + "-" + kind + std::to_string(number) +
         ".npy";
}

/// The name of what runs, or the kernel's as `xcompile --report` has it, without the variant's
/// suffix.
bool ExtractKernel::isWanted(const std::string &name) const {
  return name == kernel || name.compare(0, kernel.size() + 1, kernel + "_") == 0;
}

Error ExtractKernel::before(const Step &step) {
  isHere = false;
  if (isDone || step.info.kind != XCR_COMMAND_DISPATCH)
    return Error::success();
  if (!isWanted(step.name())) {
    constexpr size_t kMost = 8;
    if (numOther++ < kMost)
      known += (known.empty() ? "" : ", ") + step.name();
    else
      more = " and " + std::to_string(numOther - kMost) + " more, which xdump lists";
    return Error::success();
  }
  isHere = true;
  auto arrays = step.readBindings(/*areRead=*/true);
  if (!arrays)
    return arrays.error();
  command = "xrun " + path + " --device=" + deviceUri(session.device.get());
  for (size_t i = 0; i < arrays->size(); ++i) {
    if (Error error = writeNpy(fileOf("input", i), (*arrays)[i].array))
      return error;
    command += " --input=@" + fileOf("input", i);
  }
  return Error::success();
}

Error ExtractKernel::after(const Step &step) {
  if (!isHere)
    return Error::success();
  isDone = true;
  auto read = step.readBindings(/*areRead=*/true);
  if (!read)
    return read.error();
  auto written = step.readBindings(/*areRead=*/false);
  if (!written)
    return written.error();
  for (size_t i = 0; i < written->size(); ++i) {
    if (Error error = writeNpy(fileOf("output", i), (*written)[i].array))
      return error;
    command += " --expect=@" + fileOf("output", i);
  }
  Result<std::string> module = makeKernelModule(session, step, *read, *written);
  if (!module)
    return module.error();
  return writeFile(path, *module);
}

Result<bool> ExtractKernel::finish() {
  if (!isDone)
    return Error("no command of this call runs a kernel called '" + kernel + "'; it runs " +
                 (known.empty() ? "none" : known + more));
  printf("kernel %s written to %s; to run it:\n  %s\n", kernel.c_str(), path.c_str(),
         command.c_str());
  return true;
}

std::unique_ptr<Probe> extractKernel(const Session &session, std::string kernel, std::string path) {
  return std::make_unique<ExtractKernel>(session, std::move(kernel), std::move(path));
}

} // namespace xc::tools
