//===- named_range.cpp - What the runtime does, for profilers ------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// The part of NVTX 3 that ranges need, by its binary interface: a tool sets NVTX_INJECTION64_PATH
// to a library of its own; a program that uses NVTX opens that, calls its InitializeInjectionNvtx2
// and offers tables of pointers to functions, into which the tool writes those that it wants to be
// called. No header and no library of NVTX is needed for it.
//
//===----------------------------------------------------------------------===//

#include "runtime/base/named_range.h"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>

using namespace xc;

namespace {

using Function = void (*)();

// NvtxCallbackModule, NvtxCallbackIdCore and NvtxExportTableID, as far as they matter here.
constexpr unsigned kModuleCore = 1, kModuleLast = 6;
constexpr unsigned kRangePushA = 9, kRangePop = 11, kTableSize = 16;
constexpr uint32_t kCallbacksTable = 1;

/// The functions of the tool.
struct Tool {
  Function push = nullptr, pop = nullptr;
};
Tool tool;

/// What the tool writes that is never called.
Function unused;

/// The slots of a module: those of the others all lead nowhere. Tools count on each being there.
struct Table {
  Function *slots[kTableSize + 1]; ///< ends with null

  explicit Table(bool isCore) {
    for (unsigned i = 0; i < kTableSize; ++i)
      slots[i] = &unused;
    slots[kTableSize] = nullptr;
    if (isCore) {
      slots[kRangePushA] = &tool.push;
      slots[kRangePop] = &tool.pop;
    }
  }
};

int getModuleTable(unsigned module, Function ***out, unsigned *size) {
  static Table core(/*isCore=*/true), other(/*isCore=*/false);
  if (module < kModuleCore || module > kModuleLast)
    return 0;
  if (out)
    *out = (module == kModuleCore ? core : other).slots;
  if (size)
    *size = kTableSize;
  return 1;
}

/// NvtxExportTableCallbacks.
struct CallbacksTable {
  size_t size;
  int (*getModuleTable)(unsigned module, Function ***out, unsigned *size);
};

const void *getExportTable(uint32_t id) {
  static const CallbacksTable callbacks = {sizeof(CallbacksTable), getModuleTable};
  return id == kCallbacksTable ? &callbacks : nullptr;
}

} // namespace

/// Whether a tool takes ranges.
static bool attachTool() {
  const char *path = getenv("NVTX_INJECTION64_PATH");
  void *library = path && *path ? dlopen(path, RTLD_LAZY | RTLD_LOCAL) : nullptr;
  if (!library)
    return false;
  auto initialise = reinterpret_cast<int (*)(const void *(*)(uint32_t))>(
      dlsym(library, "InitializeInjectionNvtx2"));
  return initialise && initialise(getExportTable) && tool.push && tool.pop;
}

static bool hasTool() {
  static const bool isAttached = attachTool();
  return isAttached;
}

NamedRange::NamedRange(const char *action, const char *subject) : isPushed(hasTool()) {
  if (!isPushed)
    return;
  char text[160];
  snprintf(text, sizeof(text), "xcr %s%s%s", action, *subject ? " " : "", subject);
  reinterpret_cast<int (*)(const char *)>(tool.push)(text);
}

NamedRange::~NamedRange() {
  if (isPushed)
    reinterpret_cast<int (*)()>(tool.pop)();
}
