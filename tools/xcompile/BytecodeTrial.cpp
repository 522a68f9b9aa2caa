//===- BytecodeTrial.cpp - Read bytecode where a crash costs nothing ------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/xcompile/BytecodeTrial.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <malloc.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace mlir;

namespace xc {

/// Processor time that reading may take: far more than it does.
static rlim_t getSeconds(size_t bytes) { return 5 + bytes / (1 << 20); }

/// What happens to a process that goes wrong is told by the one that waits for it.
static void endQuietly(size_t bytes) {
  for (int number : {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP, SIGXCPU})
    signal(number, SIG_DFL);
  if (int sink = open("/dev/null", O_WRONLY); sink >= 0) {
    dup2(sink, STDOUT_FILENO);
    dup2(sink, STDERR_FILENO);
  }
#ifdef M_PERTURB
  // Memory that was never written, or freed already, reads as what leads nowhere.
  mallopt(M_PERTURB, 0xa5);
#endif
  rlimit none{0, 0}, time{getSeconds(bytes), getSeconds(bytes) + 1};
  setrlimit(RLIMIT_CORE, &none);
  setrlimit(RLIMIT_CPU, &time);
}

static void read(llvm::MemoryBufferRef buffer, const DialectRegistry &registry) {
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  auto sources = std::make_shared<llvm::SourceMgr>();
  sources->AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(buffer, false), llvm::SMLoc());
  parseSourceFile<ModuleOp>(sources, ParserConfig(&context));
}

std::string tryBytecode(llvm::MemoryBufferRef buffer, const DialectRegistry &registry) {
  pid_t child = fork();
  if (child < 0)
    return std::string("cannot start a process to read it: ") + strerror(errno);
  if (child == 0) {
    endQuietly(buffer.getBufferSize());
    read(buffer, registry);
    // Not _exit: what the reader has written over may show at the very end only.
    exit(0);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      return std::string("cannot wait for the process that reads it: ") + strerror(errno);
  if (!WIFSIGNALED(status))
    return "";
  if (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL)
    return "it is damaged: MLIR's reader of bytecode did not come to an end within " +
           std::to_string(getSeconds(buffer.getBufferSize())) + " s of processor time";
  return std::string("it is damaged: MLIR's reader of bytecode ended with signal ") +
         strsignal(WTERMSIG(status));
}

} // namespace xc
