//===- ApiLookup.cpp - Look-up of functions by name -----------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Entry.h"

#include <dlfcn.h>

namespace xc::cudasim {
namespace {

/// A later version of a function and the driver version it came with. Functions
/// with one version need no entry.
struct Version {
  const char *name;
  int suffix;
  int since;
};

const Version kVersions[] = {
    {"cuCtxCreate", 4, 12050},
    {"cuCtxCreate", 3, 11040},
    {"cuCtxCreate", 2, 3020},
    {"cuCtxDestroy", 2, 4000},
    {"cuCtxPopCurrent", 2, 4000},
    {"cuCtxPushCurrent", 2, 4000},
    {"cuDeviceGetUuid", 2, 11040},
    {"cuDevicePrimaryCtxRelease", 2, 11000},
    {"cuDevicePrimaryCtxReset", 2, 11000},
    {"cuDevicePrimaryCtxSetFlags", 2, 11000},
    {"cuDeviceTotalMem", 2, 3020},
    {"cuEventDestroy", 2, 4000},
    {"cuEventElapsedTime", 2, 12080},
    {"cuGetProcAddress", 2, 12000},
    {"cuGraphAddDependencies", 2, 12030},
    {"cuGraphAddKernelNode", 2, 12000},
    {"cuGraphAddNode", 2, 12030},
    {"cuGraphExecKernelNodeSetParams", 2, 12000},
    {"cuGraphExecUpdate", 2, 12000},
    {"cuMemAlloc", 2, 3020},
    {"cuMemAllocHost", 2, 3020},
    {"cuMemFree", 2, 3020},
    {"cuMemGetAddressRange", 2, 3020},
    {"cuMemGetInfo", 2, 3020},
    {"cuMemHostGetDevicePointer", 2, 3020},
    {"cuMemHostRegister", 2, 6050},
    {"cuMemcpy2D", 2, 3020},
    {"cuMemcpy2DAsync", 2, 3020},
    {"cuMemcpy3D", 2, 3020},
    {"cuMemcpy3DAsync", 2, 3020},
    {"cuMemcpyDtoD", 2, 3020},
    {"cuMemcpyDtoDAsync", 2, 3020},
    {"cuMemcpyDtoH", 2, 3020},
    {"cuMemcpyDtoHAsync", 2, 3020},
    {"cuMemcpyHtoD", 2, 3020},
    {"cuMemcpyHtoDAsync", 2, 3020},
    {"cuMemsetD16", 2, 3020},
    {"cuMemsetD32", 2, 3020},
    {"cuMemsetD8", 2, 3020},
    {"cuModuleGetGlobal", 2, 3020},
    {"cuStreamBeginCapture", 2, 10010},
    {"cuStreamDestroy", 2, 4000},
    {"cuStreamGetCaptureInfo", 3, 12030},
    {"cuStreamGetCaptureInfo", 2, 11030},
    {"cuStreamUpdateCaptureDependencies", 2, 12030},
    {"cuStreamWaitValue32", 2, 11070},
    {"cuStreamWaitValue64", 2, 11070},
    {"cuStreamWriteValue32", 2, 11070},
    {"cuStreamWriteValue64", 2, 11070},
};

/// Looks in this library only.
void *findExport(const std::string &symbol) {
  static void *self = [] {
    Dl_info info;
    dladdr(reinterpret_cast<void *>(&findExport), &info);
    return dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  }();
  return self ? dlsym(self, symbol.c_str()) : nullptr;
}

CUresult lookUp(const char *name, void **function, int version, cuuint64_t flags,
                CUdriverProcAddressQueryResult *found) {
  if (!name || !function || version <= 0)
    return CUDA_ERROR_INVALID_VALUE;
  auto answer = [&](CUdriverProcAddressQueryResult result, void *pointer) {
    *function = pointer;
    if (found)
      *found = result;
    return result == CU_GET_PROC_ADDRESS_SUCCESS ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
  };
  if (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM)
    return CUDA_ERROR_NOT_SUPPORTED;
  std::string plain = name;
  if (plain.compare(0, 2, "cu") != 0) // nor the control interface
    return answer(CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND, nullptr);
  bool tooNew = false;
  for (const Version &candidate : kVersions) {
    if (plain != candidate.name)
      continue;
    if (candidate.since > version) {
      tooNew = true;
      continue;
    }
    if (void *pointer = findExport(plain + "_v" + std::to_string(candidate.suffix)))
      return answer(CU_GET_PROC_ADDRESS_SUCCESS, pointer);
  }
  // cuda.h gives this function its newest name by another scheme.
  if (plain == "cuGraphInstantiate")
    plain = "cuGraphInstantiateWithFlags";
  if (void *pointer = findExport(plain))
    return answer(CU_GET_PROC_ADDRESS_SUCCESS, pointer);
  return answer(tooNew ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                       : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND,
                nullptr);
}

} // namespace

extern "C" {

PTXSIM_API CUresult cuGetProcAddress(const char *name, void **function, int version,
                                     cuuint64_t flags) {
  return anytime("cuGetProcAddress",
                 [&]() -> CUresult { return lookUp(name, function, version, flags, nullptr); });
}

PTXSIM_API CUresult cuGetProcAddress_v2(const char *name, void **function, int version,
                                        cuuint64_t flags, CUdriverProcAddressQueryResult *found) {
  return anytime("cuGetProcAddress", [&]() -> CUresult {
    CUresult result = lookUp(name, function, version, flags, found);
    // The newer version tells a missing symbol by `found`, not by failing.
    return found && result == CUDA_ERROR_NOT_FOUND ? CUDA_SUCCESS : result;
  });
}

} // extern "C"
} // namespace xc::cudasim
