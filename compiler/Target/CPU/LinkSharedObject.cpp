//===- LinkSharedObject.cpp - ELF objects to one shared object ------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs lld inside this process. lld reads and writes files, so the objects go through a temporary
// directory, which is gone when the function returns; none of its names reaches the output.
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/CPU/LinkSharedObject.h"

#include "lld/Common/Driver.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Triple.h"

#include <mutex>

LLD_HAS_DRIVER(elf)

using namespace mlir;

namespace xc::cpu {
namespace {

/// A directory that is removed with everything in it.
class TemporaryDirectory {
public:
  ~TemporaryDirectory() {
    if (!path.empty())
      llvm::sys::fs::remove_directories(path);
  }

  std::error_code create() { return llvm::sys::fs::createUniqueDirectory("xcompile-link", path); }

  std::string getPath(const Twine &name) const {
    SmallString<128> result(path);
    llvm::sys::path::append(result, name);
    return std::string(result);
  }

private:
  SmallString<128> path;
};

} // namespace

static std::error_code writeFile(StringRef path, StringRef bytes) {
  std::error_code error;
  llvm::raw_fd_ostream stream(path, error);
  if (error)
    return error;
  stream << bytes;
  stream.close();
  error = stream.error();
  stream.clear_error(); // else the destructor ends the process
  return error;
}

/// Runs lld; the text of its messages goes to |messages|.
static LogicalResult runLinker(ArrayRef<std::string> arguments, std::string &messages) {
  static std::mutex mutex;
  static bool canRun = true;
  std::lock_guard<std::mutex> lock(mutex);
  if (!canRun) {
    messages = "the linker crashed before, and cannot run again in this process";
    return failure();
  }
  SmallVector<const char *> argv = {"ld.lld"};
  for (const std::string &argument : arguments)
    argv.push_back(argument.c_str());
  llvm::raw_string_ostream stream(messages);
  lld::Result result = lld::lldMain(argv, stream, stream, {{lld::Gnu, &lld::elf::link}});
  canRun = result.canRunAgain;
  return success(result.retCode == 0);
}

FailureOr<std::string> linkSharedObject(ArrayRef<StringRef> objects, const Arch &arch,
                                        function_ref<InFlightDiagnostic()> emitError) {
  TemporaryDirectory directory;
  if (std::error_code error = directory.create())
    return emitError() << "cannot create a temporary directory for linking: " << error.message();
  std::string output = directory.getPath("kernels.so");
  // Position-independent, everything resolved now, no symbols but the exported ones, nothing that
  // names this machine.
  const char *emulation = llvm::Triple(arch.triple).isAArch64() ? "aarch64linux" : "elf_x86_64";
  std::vector<std::string> arguments = {"-m",
                                        emulation,
                                        "-shared",
                                        "-z",
                                        "defs",
                                        "-z",
                                        "now",
                                        "-z",
                                        "noexecstack",
                                        "--build-id=none",
                                        "--hash-style=gnu",
                                        "--strip-all",
                                        "--threads=1",
                                        "-o",
                                        output};
  for (auto [index, object] : llvm::enumerate(objects)) {
    std::string path = directory.getPath(Twine(index) + ".o");
    if (std::error_code error = writeFile(path, object))
      return emitError() << "cannot write " << path << " for linking: " << error.message();
    arguments.push_back(path);
  }
  std::string messages;
  if (failed(runLinker(arguments, messages)))
    return emitError() << "cannot link the kernels: " << StringRef(messages).trim();
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> buffer = llvm::MemoryBuffer::getFile(output);
  if (!buffer)
    return emitError() << "cannot read the linked kernels: " << buffer.getError().message();
  return (*buffer)->getBuffer().str();
}

} // namespace xc::cpu
