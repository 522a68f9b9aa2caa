//===- LocalGpu.cpp - The GPUs of the machine that compiles ---------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/xcompile/LocalGpu.h"

#include "compiler/Codegen/CUDA/Common/Targets.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/DynamicLibrary.h"

#include <cstdlib>

namespace xc {

// CUdevice_attribute of the driver's interface.
static constexpr int kComputeCapabilityMajor = 75, kComputeCapabilityMinor = 76;

static llvm::sys::DynamicLibrary openDriver() {
  const char *given = std::getenv("XCR_CUDA_LIBRARY");
  llvm::SmallVector<const char *> names{"libcuda.so.1", "libcuda.so"};
  if (given && *given)
    names = {given};
  for (const char *name : names)
    if (auto library = llvm::sys::DynamicLibrary::getPermanentLibrary(name); library.isValid())
      return library;
  return llvm::sys::DynamicLibrary();
}

llvm::SmallVector<llvm::StringRef> findLocalGpus() {
  llvm::SmallVector<llvm::StringRef> archs;
  llvm::sys::DynamicLibrary driver = openDriver();
  if (!driver.isValid())
    return archs;
  auto init = reinterpret_cast<int (*)(unsigned)>(driver.getAddressOfSymbol("cuInit"));
  auto getCount = reinterpret_cast<int (*)(int *)>(driver.getAddressOfSymbol("cuDeviceGetCount"));
  auto getDevice = reinterpret_cast<int (*)(int *, int)>(driver.getAddressOfSymbol("cuDeviceGet"));
  auto getAttribute =
      reinterpret_cast<int (*)(int *, int, int)>(driver.getAddressOfSymbol("cuDeviceGetAttribute"));
  int count = 0;
  if (!init || !getCount || !getDevice || !getAttribute || init(0) != 0 || getCount(&count) != 0)
    return archs;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    int device = 0, major = 0, minor = 0;
    if (getDevice(&device, ordinal) != 0 ||
        getAttribute(&major, kComputeCapabilityMajor, device) != 0 ||
        getAttribute(&minor, kComputeCapabilityMinor, device) != 0)
      continue;
    const cuda::Target *target = cuda::findTargetOf(10 * major + minor);
    if (target && !llvm::is_contained(archs, target->arch))
      archs.push_back(target->arch);
  }
  return archs;
}

} // namespace xc
