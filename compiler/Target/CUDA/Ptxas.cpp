//===- Ptxas.cpp - Assemble PTX where ptxas is at hand --------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/CUDA/Ptxas.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace xc::target {

namespace {

/// Temporary files, removed when they go out of scope.
class TemporaryFiles {
public:
  ~TemporaryFiles() {
    for (const std::string &path : paths)
      llvm::sys::fs::remove(path);
  }

  /// Creates an empty file; an empty path if that fails.
  std::string create(StringRef suffix) {
    llvm::SmallString<128> path;
    if (llvm::sys::fs::createTemporaryFile("xc-ptxas", suffix, path))
      return "";
    paths.push_back(path.str().str());
    return paths.back();
  }

private:
  SmallVector<std::string> paths;
};

} // namespace

FailureOr<std::optional<std::string>>
findPtxas(StringRef given, llvm::function_ref<InFlightDiagnostic()> emitError) {
  if (!given.empty()) {
    if (!llvm::sys::fs::can_execute(given))
      return emitError() << "expected a program at --ptxas=" << given;
    return std::optional(given.str());
  }
  llvm::ErrorOr<std::string> found = llvm::sys::findProgramByName("ptxas");
  return found ? std::optional(*found) : std::nullopt;
}

static llvm::Error makeError(const Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

/// Runs `arguments`, the program first; its output and diagnostics go to `log`.
static llvm::Error runProgram(ArrayRef<StringRef> arguments, std::string &log) {
  TemporaryFiles files;
  std::string logPath = files.create("log");
  if (logPath.empty())
    return makeError("cannot create a temporary file for the output of " + arguments.front());
  std::optional<StringRef> redirects[] = {StringRef(""), StringRef(logPath), StringRef(logPath)};
  std::string message;
  int status = llvm::sys::ExecuteAndWait(arguments.front(), arguments, std::nullopt, redirects, 0,
                                         0, &message);
  if (auto text = llvm::MemoryBuffer::getFile(logPath))
    log = (*text)->getBuffer().str();
  if (status == 0)
    return llvm::Error::success();
  return makeError(arguments.front() + " failed with status " + Twine(status) + ": " +
                   (message.empty() ? log : message));
}

FailureOr<std::string> getPtxasVersion(StringRef ptxas,
                                       llvm::function_ref<InFlightDiagnostic()> emitError) {
  std::string log;
  if (llvm::Error error = runProgram({ptxas, "--version"}, log))
    return emitError() << llvm::toString(std::move(error));
  StringRef rest = StringRef(log).drop_front(std::min(log.find(", V"), log.size()));
  if (rest.empty())
    return emitError() << "expected a version in the output of " << ptxas << " --version, got '"
                       << log << "'";
  return rest.drop_front(2).take_until([](char c) { return llvm::isSpace(c); }).str();
}

/// The number before `unit` in `line`; 0 if there is none.
static unsigned findNumber(StringRef line, StringRef unit) {
  size_t at = line.find(unit);
  if (at == StringRef::npos)
    return 0;
  StringRef before = line.take_front(at).rtrim();
  unsigned number = 0;
  before.take_back(before.size() - (before.find_last_not_of("0123456789") + 1))
      .getAsInteger(10, number);
  return number;
}

static void parseLog(StringRef log, Assembled &result) {
  std::string kernel;
  for (StringRef line : llvm::split(log, '\n')) {
    // "Compiling entry function 'name' for 'sm_90a'" and "Function properties for name" open a
    // kernel's lines.
    if (size_t at = line.find("entry function '"); at != StringRef::npos)
      kernel = line.drop_front(at + 16).take_until([](char c) { return c == '\''; }).str();
    else if (size_t at = line.find("Function properties for "); at != StringRef::npos)
      kernel = line.drop_front(at + 24).trim().str();
    bool isInformation = line.contains("info ");
    if (!isInformation && (line.contains("warning") || line.contains("(C7")))
      result.warnings.push_back(line.trim().str());
    else if (line.contains("(C75"))
      result.warnings.push_back(line.trim().str());
    if (line.contains("bytes stack frame")) {
      KernelResources &resources = result.kernels[kernel];
      resources.stackFrame = findNumber(line, " bytes stack frame");
      resources.spillStores = findNumber(line, " bytes spill stores");
      resources.spillLoads = findNumber(line, " bytes spill loads");
    }
    if (line.contains("Used ") && line.contains(" registers")) {
      KernelResources &resources = result.kernels[kernel];
      resources.registers = findNumber(line, " registers");
      resources.staticShared = findNumber(line, " bytes smem");
    }
  }
}

/// The first error in `log`, with the line of `ptx` that it names; empty if there is none such.
static std::string findError(StringRef log, StringRef ptx) {
  // "ptxas FILE, line 13; error   : Not a name of any known instruction: 'addd'"
  for (StringRef said : llvm::split(log, '\n')) {
    auto [place, text] = said.split("; error");
    unsigned number;
    if (text.empty() || place.rsplit(", line ").second.getAsInteger(10, number) || number == 0)
      continue;
    StringRef rest = ptx;
    while (--number != 0)
      rest = rest.split('\n').second;
    return (text.ltrim(" :") + ", in '" + rest.split('\n').first.trim() + "'").str();
  }
  return {};
}

llvm::Expected<Assembled> assemblePTX(StringRef ptxas, StringRef arch, StringRef ptx) {
  TemporaryFiles files;
  std::string input = files.create("ptx"), output = files.create("cubin");
  std::error_code error;
  if (input.empty() || output.empty())
    return makeError("cannot create temporary files for " + ptxas);
  {
    llvm::raw_fd_ostream stream(input, error);
    stream << ptx;
    stream.close();
    if (error || stream.has_error())
      return makeError("cannot write " + input + ": " + (error ? error : stream.error()).message());
  }
  std::string log;
  std::string archFlag = ("-arch=" + arch).str();
  if (llvm::Error failure = runProgram({ptxas, archFlag, "-v", "-O3", "-o", output, input}, log)) {
    std::string found = findError(log, ptx);
    if (found.empty())
      return failure;
    llvm::consumeError(std::move(failure));
    return makeError(found);
  }
  auto cubin =
      llvm::MemoryBuffer::getFile(output, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!cubin)
    return makeError("cannot read what " + ptxas + " wrote: " + cubin.getError().message());
  Assembled result;
  result.cubin = (*cubin)->getBuffer().str();
  parseLog(log, result);
  return result;
}

} // namespace xc::target
