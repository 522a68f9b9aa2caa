//===- ApiContext.cpp - Contexts ------------------------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Entry.h"

namespace xc::cudasim {
namespace {

/// Destroys a context; what a healthy one leaves behind is a leak of the program.
void destroyContext(const std::shared_ptr<Context> &context) {
  bool healthy = context->sticky() == CUDA_SUCCESS;
  uint64_t abandoned = context->destroy();
  if (healthy)
    driver().abandoned += abandoned;
}

CUresult createContext(CUcontext *result, unsigned flags, CUdevice ordinal) {
  Device *device = driver().device(ordinal);
  if (!result || (flags & ~CU_CTX_FLAGS_MASK))
    return CUDA_ERROR_INVALID_VALUE;
  if (!device)
    return CUDA_ERROR_INVALID_DEVICE;
  if (CUresult error = device->lost())
    return error;
  *result = Context::create(*device, flags, /*primary=*/false)->handle();
  contextStack().push_back(*result);
  return CUDA_SUCCESS;
}

/// Applies `function` to the device of a primary context call, under its lock.
template <typename Function> CUresult withPrimary(CUdevice ordinal, Function function) {
  Device *device = driver().device(ordinal);
  if (!device)
    return CUDA_ERROR_INVALID_DEVICE;
  std::lock_guard<std::mutex> lock(device->primaryMutex);
  return function(*device);
}

std::atomic<size_t> *limitOf(Context &context, CUlimit limit) {
  switch (limit) {
  case CU_LIMIT_STACK_SIZE:
    return &context.stackSize;
  case CU_LIMIT_PRINTF_FIFO_SIZE:
    return &context.printfFifoSize;
  case CU_LIMIT_MALLOC_HEAP_SIZE:
    return &context.mallocHeapSize;
  default:
    return nullptr;
  }
}

} // namespace

extern "C" {

//===----------------------------------------------------------------------===//
// Primary contexts
//===----------------------------------------------------------------------===//

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice ordinal) {
  return initialised("cuDevicePrimaryCtxRetain", [&]() -> CUresult {
    if (!context)
      return CUDA_ERROR_INVALID_VALUE;
    return withPrimary(ordinal, [&](Device &device) -> CUresult {
      // One that is there already is handed out, lost or not.
      if (CUresult error = device.lost(); error && !device.primary)
        return error;
      if (!device.primary)
        device.primary = Context::create(device, device.primaryFlags, /*primary=*/true);
      ++device.primaryUses;
      *context = device.primary->handle();
      return CUDA_SUCCESS;
    });
  });
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice ordinal) {
  return releasing("cuDevicePrimaryCtxRelease", [&]() -> CUresult {
    return withPrimary(ordinal, [&](Device &device) -> CUresult {
      if (!device.primaryUses)
        return CUDA_ERROR_INVALID_CONTEXT;
      if (--device.primaryUses)
        return CUDA_SUCCESS;
      destroyContext(device.primary);
      device.primary = nullptr;
      return CUDA_SUCCESS;
    });
  });
}

PTXSIM_API CUresult cuDevicePrimaryCtxRelease(CUdevice ordinal) {
  return cuDevicePrimaryCtxRelease_v2(ordinal);
}

PTXSIM_API CUresult cuDevicePrimaryCtxReset_v2(CUdevice ordinal) {
  return releasing("cuDevicePrimaryCtxReset", [&]() -> CUresult {
    return withPrimary(ordinal, [&](Device &device) -> CUresult {
      if (device.primary)
        destroyContext(device.primary);
      device.primary = nullptr;
      device.primaryUses = 0;
      return CUDA_SUCCESS;
    });
  });
}

PTXSIM_API CUresult cuDevicePrimaryCtxReset(CUdevice ordinal) {
  return cuDevicePrimaryCtxReset_v2(ordinal);
}

PTXSIM_API CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice ordinal, unsigned flags) {
  return initialised("cuDevicePrimaryCtxSetFlags", [&]() -> CUresult {
    if (flags & ~CU_CTX_FLAGS_MASK)
      return CUDA_ERROR_INVALID_VALUE;
    return withPrimary(ordinal, [&](Device &device) -> CUresult {
      device.primaryFlags = flags;
      if (device.primary)
        device.primary->flags = flags;
      return CUDA_SUCCESS;
    });
  });
}

CUresult cuDevicePrimaryCtxGetState(CUdevice ordinal, unsigned *flags, int *active) {
  return initialised("cuDevicePrimaryCtxGetState", [&]() -> CUresult {
    return withPrimary(ordinal, [&](Device &device) -> CUresult {
      if (!flags || !active)
        return CUDA_ERROR_INVALID_VALUE;
      *flags = device.primaryFlags;
      *active = device.primary != nullptr;
      return CUDA_SUCCESS;
    });
  });
}

//===----------------------------------------------------------------------===//
// Contexts and the calling thread
//===----------------------------------------------------------------------===//

PTXSIM_API CUresult cuCtxCreate_v2(CUcontext *context, unsigned flags, CUdevice device) {
  return initialised("cuCtxCreate",
                     [&]() -> CUresult { return createContext(context, flags, device); });
}

PTXSIM_API CUresult cuCtxCreate_v3(CUcontext *context, void *affinity, int count, unsigned flags,
                                   CUdevice device) {
  return initialised("cuCtxCreate", [&]() -> CUresult {
    if (count)
      return CUDA_ERROR_NOT_SUPPORTED; // execution affinity
    return createContext(context, flags, device);
  });
}

PTXSIM_API CUresult cuCtxCreate_v4(CUcontext *context, void *params, unsigned flags,
                                   CUdevice device) {
  return initialised("cuCtxCreate", [&]() -> CUresult {
    if (params)
      return CUDA_ERROR_NOT_SUPPORTED; // execution affinity, graphics interop
    return createContext(context, flags, device);
  });
}

PTXSIM_API CUresult cuCtxDestroy_v2(CUcontext handle) {
  return releasing("cuCtxDestroy", [&]() -> CUresult {
    std::shared_ptr<Context> context = driver().contexts.find(handle);
    if (!context || context->isPrimary())
      return CUDA_ERROR_INVALID_CONTEXT;
    std::vector<CUcontext> &stack = contextStack();
    if (!stack.empty() && stack.back() == handle)
      stack.pop_back();
    destroyContext(context);
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetCurrent(CUcontext *context) {
  return initialised("cuCtxGetCurrent", [&]() -> CUresult {
    if (!context)
      return CUDA_ERROR_INVALID_VALUE;
    *context = contextStack().empty() ? nullptr : contextStack().back();
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxSetCurrent(CUcontext handle) {
  return initialised("cuCtxSetCurrent", [&]() -> CUresult {
    std::vector<CUcontext> &stack = contextStack();
    if (handle && !driver().contexts.find(handle))
      return CUDA_ERROR_INVALID_CONTEXT;
    if (!stack.empty())
      stack.pop_back();
    if (handle)
      stack.push_back(handle);
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxPushCurrent_v2(CUcontext handle) {
  return initialised("cuCtxPushCurrent", [&]() -> CUresult {
    if (!driver().contexts.find(handle))
      return CUDA_ERROR_INVALID_CONTEXT;
    contextStack().push_back(handle);
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxPopCurrent_v2(CUcontext *context) {
  return initialised("cuCtxPopCurrent", [&]() -> CUresult {
    std::vector<CUcontext> &stack = contextStack();
    if (stack.empty())
      return CUDA_ERROR_INVALID_CONTEXT;
    if (context)
      *context = stack.back();
    stack.pop_back();
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetDevice(CUdevice *device) {
  return initialised("cuCtxGetDevice", [&]() -> CUresult {
    std::shared_ptr<Context> context;
    if (CUresult result = findCurrent(context); result != CUDA_SUCCESS)
      return result;
    if (!device)
      return CUDA_ERROR_INVALID_VALUE;
    *device = static_cast<CUdevice>(context->device().ordinal());
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetApiVersion(CUcontext handle, unsigned *version) {
  return initialised("cuCtxGetApiVersion", [&]() -> CUresult {
    std::shared_ptr<Context> context;
    if (handle)
      context = driver().contexts.find(handle);
    else
      findCurrent(context);
    if (!context)
      return CUDA_ERROR_INVALID_CONTEXT;
    if (!version)
      return CUDA_ERROR_INVALID_VALUE;
    *version = 3020; // of the _v2 generation of the interface
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetId(CUcontext handle, unsigned long long *id) {
  return initialised("cuCtxGetId", [&]() -> CUresult {
    std::shared_ptr<Context> context;
    if (handle)
      context = driver().contexts.find(handle);
    else
      findCurrent(context);
    if (!context)
      return handle ? CUDA_ERROR_CONTEXT_IS_DESTROYED : CUDA_ERROR_INVALID_CONTEXT;
    if (!id)
      return CUDA_ERROR_INVALID_VALUE;
    *id = reinterpret_cast<uintptr_t>(context->handle());
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxSynchronize(void) {
  return inContext("cuCtxSynchronize", [&](Context &context) -> CUresult {
    context.synchronize();
    for (const auto &[handle, pool] : driver().pools.all())
      if (&pool->device() == &context.device())
        pool->trimToThreshold();
    return context.sticky();
  });
}

CUresult cuCtxGetLimit(size_t *value, CUlimit limit) {
  return inContext("cuCtxGetLimit", [&](Context &context) -> CUresult {
    std::atomic<size_t> *field = limitOf(context, limit);
    if (!value || !field)
      return value ? CUDA_ERROR_UNSUPPORTED_LIMIT : CUDA_ERROR_INVALID_VALUE;
    *value = *field;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxSetLimit(CUlimit limit, size_t value) {
  return inContext("cuCtxSetLimit", [&](Context &context) -> CUresult {
    std::atomic<size_t> *field = limitOf(context, limit);
    if (!field)
      return CUDA_ERROR_UNSUPPORTED_LIMIT;
    *field = value;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest) {
  return inContext("cuCtxGetStreamPriorityRange", [&](Context &) -> CUresult {
    if (least)
      *least = 0;
    if (greatest)
      *greatest = -5;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags) {
  return inContext("cuCtxEnablePeerAccess", [&](Context &context) -> CUresult {
    if (flags)
      return CUDA_ERROR_INVALID_VALUE;
    std::shared_ptr<Context> other = driver().contexts.find(peer);
    if (!other || &other->device() == &context.device())
      return CUDA_ERROR_INVALID_CONTEXT;
    return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
  });
}

} // extern "C"
} // namespace xc::cudasim
