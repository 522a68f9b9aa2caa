//===- Entry.h - What every exported driver function does first -----------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each exported function is one call of one of the templates below with its own
// code as a lambda. The templates count the call, let a fault strike, and find
// what the function needs: nothing, an initialised driver, or a current context
// in good health.
//
//===----------------------------------------------------------------------===//

#ifndef PTXSIM_DRIVER_ENTRY_H
#define PTXSIM_DRIVER_ENTRY_H

#include "Context.h"
#include "Driver.h"
#include "HostCall.h"
#include "cuda_abi/cuda_abi.h"

#define PTXSIM_API __attribute__((visibility("default")))

// The prototypes of all functions, so that the compiler compares our definitions with
// the list that the runtime casts by.
namespace xc::cudasim {
extern "C" {
#define XCR_CUDA_SYMBOL(name, symbol, params) PTXSIM_API CUresult symbol params;
#include "driver_symbols.inl"
}

/// The context current to the calling thread: CUDA_ERROR_INVALID_CONTEXT if
/// there is none, CUDA_ERROR_CONTEXT_IS_DESTROYED if it is gone.
CUresult findCurrent(std::shared_ptr<Context> &context);

/// Counts the call; returns true if a fault strikes it. A fault whose error ends
/// a context ends the current one.
bool strikeFault(CallSite &site, CUresult &result);

/// A function that works before cuInit.
template <typename Function> CUresult anytime(const char *name, Function function) {
  static CallSite &site = callSites().get(name); // one per lambda type
  CUresult result = CUDA_SUCCESS;
  return strikeFault(site, result) ? result : function();
}

/// A function that needs cuInit.
template <typename Function> CUresult initialised(const char *name, Function function) {
  return anytime(name, [&]() -> CUresult {
    if (!driver().initialised.load(std::memory_order_acquire))
      return CUDA_ERROR_NOT_INITIALIZED;
    if (insideHostFunction())
      return CUDA_ERROR_NOT_PERMITTED;
    return function();
  });
}

/// A function that works on the current context.
template <typename Function> CUresult inContext(const char *name, Function function) {
  return initialised(name, [&]() -> CUresult {
    std::shared_ptr<Context> context;
    CUresult result = findCurrent(context);
    if (result == CUDA_SUCCESS)
      result = context->sticky();
    return result == CUDA_SUCCESS ? function(*context) : result;
  });
}

/// A function that releases something: `function` does it and returns its result,
/// even when a fault strikes.
template <typename Function> CUresult releasing(const char *name, Function function) {
  static CallSite &site = callSites().get(name);
  CUresult fault = CUDA_SUCCESS;
  bool struck = strikeFault(site, fault);
  if (!driver().initialised.load(std::memory_order_acquire))
    return CUDA_ERROR_NOT_INITIALIZED;
  if (insideHostFunction())
    return CUDA_ERROR_NOT_PERMITTED;
  CUresult result = function();
  return struck ? fault : result;
}

/// Where `pointer` points.
inline uint64_t addressOf(const void *pointer) { return reinterpret_cast<uintptr_t>(pointer); }

} // namespace xc::cudasim

#endif // PTXSIM_DRIVER_ENTRY_H
