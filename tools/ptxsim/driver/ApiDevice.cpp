//===- ApiDevice.cpp - Initialisation, errors, devices --------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Entry.h"
#include "Names.h"

#include <cstdio>
#include <cstring>

namespace xc::cudasim {

CUresult findCurrent(std::shared_ptr<Context> &context) {
  const std::vector<CUcontext> &stack = contextStack();
  if (stack.empty() || !stack.back())
    return CUDA_ERROR_INVALID_CONTEXT;
  context = driver().contexts.find(stack.back());
  return context ? CUDA_SUCCESS : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

bool strikeFault(CallSite &site, CUresult &result) {
  ++site.calls;
  if (!driver().faults.strikes(site, result))
    return false;
  std::shared_ptr<Context> context;
  if (isStickyError(result) && findCurrent(context) == CUDA_SUCCESS)
    context->fail(result);
  return true;
}

namespace {

void copyText(char *buffer, int length, const std::string &text) {
  snprintf(buffer, static_cast<size_t>(length), "%s", text.c_str());
}

/// Looks up a device argument.
template <typename Function>
CUresult withDevice(const char *name, CUdevice ordinal, Function function) {
  return initialised(name, [&]() -> CUresult {
    Device *device = driver().device(ordinal);
    return device ? function(*device) : CUDA_ERROR_INVALID_DEVICE;
  });
}

} // namespace

extern "C" {

CUresult cuGetErrorName(CUresult error, const char **name) {
  return anytime("cuGetErrorName", [&]() -> CUresult {
    if (!name)
      return CUDA_ERROR_INVALID_VALUE;
    const ErrorText *text = textOf(error);
    *name = text ? text->name : nullptr;
    return text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult cuGetErrorString(CUresult error, const char **string) {
  return anytime("cuGetErrorString", [&]() -> CUresult {
    if (!string)
      return CUDA_ERROR_INVALID_VALUE;
    const ErrorText *text = textOf(error);
    *string = text ? text->text : nullptr;
    return text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult cuInit(unsigned flags) {
  return anytime("cuInit", [&]() -> CUresult {
    Driver &state = driver();
    if (flags)
      return CUDA_ERROR_INVALID_VALUE;
    if (!state.configError.empty()) {
      state.report.add(state.configError);
      return CUDA_ERROR_SYSTEM_NOT_READY;
    }
    if (!state.config.devices)
      return CUDA_ERROR_NO_DEVICE;
    state.createDevices();
    state.initialised.store(true, std::memory_order_release);
    return CUDA_SUCCESS;
  });
}

CUresult cuDriverGetVersion(int *version) {
  return anytime("cuDriverGetVersion", [&]() -> CUresult {
    if (!version)
      return CUDA_ERROR_INVALID_VALUE;
    *version = driver().config.driverVersion;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetCount(int *count) {
  return initialised("cuDeviceGetCount", [&]() -> CUresult {
    if (!count)
      return CUDA_ERROR_INVALID_VALUE;
    *count = static_cast<int>(driver().devices.size());
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGet(CUdevice *device, int ordinal) {
  return withDevice("cuDeviceGet", ordinal, [&](Device &) -> CUresult {
    if (!device)
      return CUDA_ERROR_INVALID_VALUE;
    *device = ordinal;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetName(char *name, int length, CUdevice ordinal) {
  return withDevice("cuDeviceGetName", ordinal, [&](Device &device) -> CUresult {
    if (!name || length <= 0)
      return CUDA_ERROR_INVALID_VALUE;
    copyText(name, length, device.name());
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice ordinal) {
  return withDevice("cuDeviceGetUuid", ordinal, [&](Device &device) -> CUresult {
    if (!uuid)
      return CUDA_ERROR_INVALID_VALUE;
    memcpy(uuid->bytes, "ptxsim-device-00", sizeof(uuid->bytes));
    uuid->bytes[15] = static_cast<char>('0' + device.ordinal());
    return CUDA_SUCCESS;
  });
}

PTXSIM_API CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice ordinal) {
  return cuDeviceGetUuid_v2(uuid, ordinal);
}

CUresult cuDeviceGetPCIBusId(char *id, int length, CUdevice ordinal) {
  return withDevice("cuDeviceGetPCIBusId", ordinal, [&](Device &device) -> CUresult {
    if (!id || length < 13)
      return CUDA_ERROR_INVALID_VALUE;
    snprintf(id, static_cast<size_t>(length), "0000:%02X:00.0", device.ordinal() + 1);
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice ordinal) {
  return withDevice("cuDeviceTotalMem", ordinal, [&](Device &device) -> CUresult {
    if (!bytes)
      return CUDA_ERROR_INVALID_VALUE;
    *bytes = device.memoryBytes();
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice ordinal) {
  return withDevice("cuDeviceGetAttribute", ordinal, [&](Device &device) -> CUresult {
    if (!value || !device.attribute(attribute, *value))
      return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceCanAccessPeer(int *canAccess, CUdevice ordinal, CUdevice peer) {
  return withDevice("cuDeviceCanAccessPeer", ordinal, [&](Device &) -> CUresult {
    if (!canAccess || !driver().device(peer))
      return canAccess ? CUDA_ERROR_INVALID_DEVICE : CUDA_ERROR_INVALID_VALUE;
    *canAccess = 0; // like two devices on different root complexes
    return CUDA_SUCCESS;
  });
}

//===----------------------------------------------------------------------===//
// Pools of devices
//===----------------------------------------------------------------------===//

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice ordinal) {
  return withDevice("cuDeviceGetDefaultMemPool", ordinal, [&](Device &device) -> CUresult {
    if (!device.hasPools())
      return CUDA_ERROR_NOT_SUPPORTED;
    if (!pool)
      return CUDA_ERROR_INVALID_VALUE;
    *pool = device.defaultPool;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice ordinal) {
  return withDevice("cuDeviceGetMemPool", ordinal, [&](Device &device) -> CUresult {
    if (!device.hasPools())
      return CUDA_ERROR_NOT_SUPPORTED;
    if (!pool)
      return CUDA_ERROR_INVALID_VALUE;
    *pool = device.currentPool;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceSetMemPool(CUdevice ordinal, CUmemoryPool pool) {
  return withDevice("cuDeviceSetMemPool", ordinal, [&](Device &device) -> CUresult {
    std::shared_ptr<Pool> found = driver().pools.find(pool);
    if (!found || &found->device() != &device)
      return CUDA_ERROR_INVALID_VALUE;
    device.currentPool = pool;
    return CUDA_SUCCESS;
  });
}

} // extern "C"
} // namespace xc::cudasim
