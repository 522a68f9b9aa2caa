//===- cuda_symbols.cpp - The CUDA driver, loaded at run time -------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/hal/cuda/cuda_symbols.h"

#include "runtime/base/threads.h"

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>

using namespace xc;
using namespace xc::cuda;

namespace {

/// One line of cuda_symbols.inl as data.
struct Entry {
  const char *symbol;
  int since; // 0: always there
  size_t offset;
};

const Entry kEntries[] = {
#define XCR_CUDA_SYMBOL(name, symbol, params) {#symbol, 0, offsetof(Symbols, name)},
#define XCR_CUDA_OPTIONAL_SYMBOL(name, symbol, since, params)                                      \
  {#symbol, since, offsetof(Symbols, name)},
#include "cuda_abi/cuda_symbols.inl"
};

} // namespace

const char *Symbols::nameOf(CUresult result) const {
  const char *name = nullptr;
  if (cuGetErrorName(result, &name) != CUDA_SUCCESS || !name)
    return "an error that the driver has no name for";
  return name;
}

const char *Symbols::textOf(CUresult result) const {
  const char *text = nullptr;
  if (cuGetErrorString(result, &text) != CUDA_SUCCESS || !text)
    return "the driver says no more about it";
  return text;
}

/// Opens one of the libraries to try; \p name is what was opened.
static Status openLibrary(const HostAllocator &allocator, const char *path, void **library,
                          const char **name) {
  if (path) {
    *name = path;
    *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    return *library ? Status()
                    : makeStatus(allocator, XCR_STATUS_NOT_FOUND,
                                 "cannot open the CUDA driver that XCR_CUDA_LIBRARY "
                                 "names: %s",
                                 dlerror());
  }
  for (const char *candidate : {"libcuda.so.1", "libcuda.so"}) {
    *name = candidate;
    *library = dlopen(candidate, RTLD_NOW | RTLD_LOCAL);
    if (*library)
      return Status();
  }
  return makeStatus(allocator, XCR_STATUS_NOT_FOUND,
                    "no CUDA driver is installed (neither libcuda.so.1 nor "
                    "libcuda.so can be opened: %s)",
                    dlerror());
}

/// Looks the functions up. The version comes first: of an old driver its age is
/// the news, not which function it lacks.
static Status findSymbols(const HostAllocator &allocator, void *library, const char *name,
                          Symbols *out) {
  auto getVersion =
      reinterpret_cast<decltype(out->cuDriverGetVersion)>(dlsym(library, "cuDriverGetVersion"));
  if (!getVersion)
    return makeStatus(allocator, XCR_STATUS_INCOMPATIBLE,
                      "'%s' is not a CUDA driver: it has no cuDriverGetVersion", name);
  if (CUresult result = getVersion(&out->driverVersion); result != CUDA_SUCCESS) {
    auto getName =
        reinterpret_cast<decltype(out->cuGetErrorName)>(dlsym(library, "cuGetErrorName"));
    const char *text = nullptr;
    if (!getName || getName(result, &text) != CUDA_SUCCESS || !text)
      text = "no error of CUDA";
    return makeStatus(allocator, XCR_STATUS_INCOMPATIBLE,
                      "the CUDA driver '%s' does not say its version "
                      "(cuDriverGetVersion returned %s, %u)",
                      name, text, unsigned(result));
  }
  const int version = out->driverVersion;
  if (version < kMinDriverVersion)
    return makeStatus(allocator, XCR_STATUS_INCOMPATIBLE,
                      "the CUDA driver is too old: expected CUDA %d.%d or "
                      "newer, got %d.%d",
                      kMinDriverVersion / 1000, kMinDriverVersion % 1000 / 10, version / 1000,
                      version % 1000 / 10);
  for (const Entry &entry : kEntries) {
    if (entry.since > version)
      continue;
    void *function = dlsym(library, entry.symbol);
    if (!function)
      return makeStatus(allocator, XCR_STATUS_INCOMPATIBLE,
                        "the CUDA driver '%s' says it is CUDA %d.%d, but has "
                        "no %s",
                        name, version / 1000, version % 1000 / 10, entry.symbol);
    memcpy(reinterpret_cast<char *>(out) + entry.offset, &function, sizeof(function));
  }
  return Status();
}

static Status initialise(const HostAllocator &allocator, const Symbols &symbols) {
  int count = 0;
  CUresult result = symbols.cuInit(0);
  const char *call = "cuInit";
  if (result == CUDA_SUCCESS) {
    result = symbols.cuDeviceGetCount(&count);
    call = "cuDeviceGetCount";
  }
  if (result == CUDA_ERROR_NO_DEVICE || (result == CUDA_SUCCESS && count == 0)) {
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    return visible ? makeStatus(allocator, XCR_STATUS_NOT_FOUND,
                                "the CUDA driver finds no device "
                                "(CUDA_VISIBLE_DEVICES is '%s')",
                                visible)
                   : makeStatus(allocator, XCR_STATUS_NOT_FOUND, "the CUDA driver finds no device");
  }
  if (result != CUDA_SUCCESS)
    return makeStatus(allocator, XCR_STATUS_FAILED_PRECONDITION,
                      "the CUDA driver cannot be used: %s returned %s (%s)", call,
                      symbols.nameOf(result), symbols.textOf(result));
  return Status();
}

Status xc::cuda::openSymbols(const HostAllocator &allocator, const char *path, Symbols *out) {
  void *library = nullptr;
  const char *name = nullptr;
  XCR_RETURN_IF_ERROR(openLibrary(allocator, path, &library, &name));
  Symbols symbols;
  XCR_RETURN_IF_ERROR(findSymbols(allocator, library, name, &symbols));
  XCR_RETURN_IF_ERROR(initialise(allocator, symbols));
  *out = symbols;
  return Status();
}

Status xc::cuda::loadSymbols(const HostAllocator &allocator, const Symbols **out) {
  static Mutex mutex;
  static Symbols loaded;
  static bool isLoaded = false;
  Lock lock(mutex);
  if (!isLoaded) {
    const char *path = getenv("XCR_CUDA_LIBRARY");
    XCR_RETURN_IF_ERROR(openSymbols(allocator, path && *path ? path : nullptr, &loaded));
    isLoaded = true;
  }
  *out = &loaded;
  return Status();
}
