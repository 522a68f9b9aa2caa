//===- Disassemble.cpp - The code inside a module -------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Images are data until something loads them; here they are only read, and a
// disassembler runs as a program of its own on a temporary copy.
//
//===----------------------------------------------------------------------===//

#include "tools/xdump/Dump.h"

#include "tools/common/Session.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace xc::tools {

namespace {
/// A file that lives as long as the object.
class TemporaryFile {
public:
  static Result<TemporaryFile> create(xcr_string_view_t contents);
  TemporaryFile(TemporaryFile &&other) { std::swap(path, other.path); }
  ~TemporaryFile() {
    if (!path.empty())
      unlink(path.c_str());
  }
  std::string path;

private:
  TemporaryFile() = default;
};
} // namespace

Result<TemporaryFile> TemporaryFile::create(xcr_string_view_t contents) {
  const char *directory = getenv("TMPDIR");
  TemporaryFile file;
  file.path = std::string(directory && *directory ? directory : "/tmp") + "/xdump.XXXXXX";
  int descriptor = mkstemp(file.path.data());
  if (descriptor < 0) {
    std::string path;
    std::swap(path, file.path);
    return Error("cannot write '" + path + "': " + strerror(errno));
  }
  FILE *stream = fdopen(descriptor, "wb");
  bool good = fwrite(contents.data, 1, contents.size, stream) == contents.size;
  if (fclose(stream) != 0 || !good)
    return Error("cannot write '" + file.path + "': " + strerror(errno));
  return file;
}

/// Runs a program found on PATH and returns what it wrote. An error when it
/// cannot be started or fails.
static Result<std::string> capture(std::vector<std::string> command) {
  int ends[2];
  if (pipe(ends) != 0)
    return Error(std::string("cannot make a pipe: ") + strerror(errno));
  std::vector<char *> arguments;
  for (std::string &argument : command)
    arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  posix_spawn_file_actions_addclose(&actions, ends[1]);
  pid_t child = 0;
  int failed = posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string output;
  if (!failed) {
    char chunk[4096];
    for (ssize_t got; (got = read(ends[0], chunk, sizeof(chunk))) > 0;)
      output.append(chunk, size_t(got));
  }
  close(ends[0]);
  if (failed)
    return Error("cannot run " + command[0] + ": " + strerror(failed));
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR)
    ;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return Error(command[0] + " failed");
  return output;
}

/// The images of one kind, each made into text by |toText|.
template <typename ToText>
static Result<std::string> forEachImage(const xcr_module_t *module, const fb::Module &tables,
                                        fb::CodeKind kind, const char *what, ToText toText) {
  std::string text;
  for (uint32_t i = 0; i < sizeOf(tables.executables()); ++i) {
    const fb::Executable &executable = *tables.executables()->Get(i);
    if (executable.kind() != kind)
      continue;
    xcr_string_view_t image = {nullptr, 0};
    if (Error error = toError(xcr_module_get_image(module, i, &image)))
      return error;
    Result<std::string> body = toText(image);
    if (!body)
      return body;
    text += "// executable " + std::to_string(i) + ", " + textOf(executable.arch()) + "\n" + *body;
  }
  if (text.empty())
    return Error(std::string("the module holds no ") + what);
  return text;
}

Result<std::string> dumpPtx(const xcr_module_t *module, const fb::Module &tables) {
  return forEachImage(module, tables, fb::CodeKind::PTX, "PTX",
                      [](xcr_string_view_t image) -> Result<std::string> {
                        // An image may end with the zero that the driver wants.
                        std::string text(image.data, image.size);
                        text.erase(text.find_last_not_of('\0') + 1);
                        return text;
                      });
}

/// The first of |commands| that works, on a file with |image|'s bytes as its last argument; what
/// else is wrong is told as why |what| is not.
static Result<std::string> disassemble(xcr_string_view_t image,
                                       const std::vector<std::vector<std::string>> &commands,
                                       const std::string &what) {
  Result<TemporaryFile> file = TemporaryFile::create(image);
  if (!file)
    return file.error();
  std::string tried;
  for (std::vector<std::string> command : commands) {
    command.push_back(file->path);
    Result<std::string> text = capture(command);
    if (text)
      return text;
    tried += (tried.empty() ? "" : "; ") + text.error().message();
  }
  return Error("no " + what + " works here (" + tried + ")");
}

/// |text| from the line on that holds |mark|: without the name of the temporary file.
static std::string from(const std::string &text, const char *mark) {
  size_t at = text.find(mark);
  if (at == std::string::npos)
    return text;
  size_t line = text.rfind('\n', at);
  return text.substr(line == std::string::npos ? 0 : line + 1);
}

Result<std::string> dumpSass(const xcr_module_t *module, const fb::Module &tables) {
  return forEachImage(
      module, tables, fb::CodeKind::Cubin, "cubin (compile it where ptxas is found)",
      [](xcr_string_view_t image) -> Result<std::string> {
        Result<std::string> text =
            disassemble(image, {{"nvdisasm", "-c"}, {"cuobjdump", "-sass"}},
                        "disassembler for GPUs (nvdisasm or cuobjdump of the CUDA toolkit)");
        return text ? from(*text, ".text") : text;
      });
}

Result<std::string> dumpAssembly(const xcr_module_t *module, const fb::Module &tables) {
  auto toText = [](xcr_string_view_t image) -> Result<std::string> {
    std::vector<std::vector<std::string>> commands;
    for (const char *program : {"llvm-objdump-22", "llvm-objdump", "objdump"})
      commands.push_back({program, "-d", "--no-show-raw-insn"});
    Result<std::string> text = disassemble(image, commands, "disassembler");
    return text ? from(*text, "Disassembly") : text;
  };
  return forEachImage(module, tables, fb::CodeKind::SharedObject, "native code", toText);
}

} // namespace xc::tools
