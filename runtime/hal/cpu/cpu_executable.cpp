//===- cpu_executable.cpp - A shared object loaded from a module ---------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/hal/cpu/cpu_executable.h"

#include "runtime/hal/cpu/cpu_features.h"

#include <cerrno>
#include <cstdio>
#include <dlfcn.h>
#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace xc;
using namespace xc::cpu;

static const char *machineName(uint16_t machine) {
  switch (machine) {
  case EM_X86_64:
    return "x86-64";
  case EM_AARCH64:
    return "aarch64";
  default:
    return "another machine";
  }
}

/// What the dynamic linker would say less clearly, or not at all.
static Status checkImage(const HostAllocator &allocator, Span<const uint8_t> image) {
  Elf64_Ehdr header;
  if (image.size < sizeof(header))
    return makeStatus(allocator, XCR_STATUS_CORRUPT,
                      "a native image of %zu bytes is no shared object", image.size);
  memcpy(&header, image.data, sizeof(header));
  if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_type != ET_DYN)
    return makeStatus(allocator, XCR_STATUS_CORRUPT,
                      "a native image is no 64-bit ELF shared object");
  if (strcmp(machineName(header.e_machine), hostFamily()) != 0)
    return makeStatus(allocator, XCR_STATUS_INCOMPATIBLE,
                      "native code is for %s (ELF machine %u), this machine is %s",
                      machineName(header.e_machine), header.e_machine, hostFamily());
  return Status();
}

Status CpuExecutable::open(Span<const uint8_t> image) {
  fd = memfd_create("xcr-code", MFD_CLOEXEC);
  if (fd < 0)
    return makeStatus(allocator, XCR_STATUS_INTERNAL,
                      "cannot make a file in memory for native code: %s", strerror(errno));
  for (size_t written = 0; written < image.size;) {
    ssize_t got = write(fd, image.data + written, image.size - written);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return makeOutOfMemory(allocator, {image.size, freeHostMemory()},
                             "cannot write native code to memory (%s)", strerror(errno));
    written += static_cast<size_t>(got);
  }
  // The linker takes two files of one name for the same library. The name is
  // unique because the descriptor stays open as long as the library.
  char path[40];
  snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
  library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return makeStatus(allocator, XCR_STATUS_INCOMPATIBLE, "the system refuses native code: %s",
                      dlerror());
  return Status();
}

Status CpuExecutable::load(const HostAllocator &allocator, const fb::Executable &code,
                           Span<const uint8_t> image, Ref<hal::Executable> *out) {
  XCR_RETURN_IF_ERROR(checkImage(allocator, image));
  auto executable = Ref<CpuExecutable>::adopt(allocator.create<CpuExecutable>(allocator));
  if (!executable)
    return outOfHostMemory(sizeof(CpuExecutable));
  XCR_RETURN_IF_ERROR(executable->open(image));
  XCR_RETURN_IF_ERROR(executable->kernels.reserve(code.exports()->size()));
  for (const fb::Export *entry : *code.exports()) {
    Kernel kernel;
    kernel.scratch = entry->scratch();
    void *symbol = dlsym(executable->library, entry->name()->c_str());
    if (!symbol)
      return makeStatus(allocator, XCR_STATUS_CORRUPT, "native code lacks its kernel '%s'",
                        entry->name()->c_str());
    memcpy(&kernel.function, &symbol, sizeof(symbol));
    XCR_RETURN_IF_ERROR(executable->kernels.push(kernel));
  }
  *out = std::move(executable);
  return Status();
}

CpuExecutable::~CpuExecutable() {
  if (library)
    dlclose(library);
  if (fd >= 0)
    close(fd);
}
