//===- Names.cpp - The driver's functions and results by name -------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Names.h"

#include <cstdlib>

namespace xc::cudasim {
namespace {

#define XC_ERROR(name, text) {name, #name, text}
const ErrorText kErrors[] = {
    XC_ERROR(CUDA_SUCCESS, "no error"),
    XC_ERROR(CUDA_ERROR_INVALID_VALUE, "invalid argument"),
    XC_ERROR(CUDA_ERROR_OUT_OF_MEMORY, "out of memory"),
    XC_ERROR(CUDA_ERROR_NOT_INITIALIZED, "initialization error"),
    XC_ERROR(CUDA_ERROR_DEINITIALIZED, "driver shutting down"),
    XC_ERROR(CUDA_ERROR_STUB_LIBRARY, "CUDA driver is a stub library"),
    XC_ERROR(CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER,
             "Requested API call is not supported by the installed driver"),
    XC_ERROR(CUDA_ERROR_DEVICE_UNAVAILABLE, "CUDA-capable device(s) is/are busy or unavailable"),
    XC_ERROR(CUDA_ERROR_NO_DEVICE, "no CUDA-capable device is detected"),
    XC_ERROR(CUDA_ERROR_INVALID_DEVICE, "invalid device ordinal"),
    XC_ERROR(CUDA_ERROR_INVALID_IMAGE, "device kernel image is invalid"),
    XC_ERROR(CUDA_ERROR_INVALID_CONTEXT, "invalid device context"),
    XC_ERROR(CUDA_ERROR_MAP_FAILED, "mapping of buffer object failed"),
    XC_ERROR(CUDA_ERROR_UNMAP_FAILED, "unmapping of buffer object failed"),
    XC_ERROR(CUDA_ERROR_ALREADY_MAPPED, "resource already mapped"),
    XC_ERROR(CUDA_ERROR_NO_BINARY_FOR_GPU,
             "no kernel image is available for execution on the device"),
    XC_ERROR(CUDA_ERROR_NOT_MAPPED, "resource not mapped"),
    XC_ERROR(CUDA_ERROR_ECC_UNCORRECTABLE, "uncorrectable ECC error encountered"),
    XC_ERROR(CUDA_ERROR_UNSUPPORTED_LIMIT, "limit is not supported on this architecture"),
    XC_ERROR(CUDA_ERROR_CONTEXT_ALREADY_IN_USE,
             "exclusive-thread device already in use by a different thread"),
    XC_ERROR(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED,
             "peer access is not supported between these two devices"),
    XC_ERROR(CUDA_ERROR_INVALID_PTX, "a PTX JIT compilation failed"),
    XC_ERROR(CUDA_ERROR_NVLINK_UNCORRECTABLE,
             "uncorrectable NVLink error detected during the execution"),
    XC_ERROR(CUDA_ERROR_JIT_COMPILER_NOT_FOUND, "PTX JIT compiler library not found"),
    XC_ERROR(CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
             "the provided PTX was compiled with an unsupported toolchain"),
    XC_ERROR(CUDA_ERROR_JIT_COMPILATION_DISABLED, "PTX JIT compilation was disabled"),
    XC_ERROR(CUDA_ERROR_CONTAINED,
             "Invalid access of peer GPU memory over nvlink or a hardware error"),
    XC_ERROR(CUDA_ERROR_INVALID_SOURCE, "device kernel image is invalid"),
    XC_ERROR(CUDA_ERROR_FILE_NOT_FOUND, "file not found"),
    XC_ERROR(CUDA_ERROR_OPERATING_SYSTEM, "OS call failed or operation not supported on this OS"),
    XC_ERROR(CUDA_ERROR_INVALID_HANDLE, "invalid resource handle"),
    XC_ERROR(CUDA_ERROR_ILLEGAL_STATE, "the operation cannot be performed in the present state"),
    XC_ERROR(CUDA_ERROR_NOT_FOUND, "named symbol not found"),
    XC_ERROR(CUDA_ERROR_NOT_READY, "device not ready"),
    XC_ERROR(CUDA_ERROR_ILLEGAL_ADDRESS, "an illegal memory access was encountered"),
    XC_ERROR(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "too many resources requested for launch"),
    XC_ERROR(CUDA_ERROR_LAUNCH_TIMEOUT, "the launch timed out and was terminated"),
    XC_ERROR(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, "peer access is already enabled"),
    XC_ERROR(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, "peer access has not been enabled"),
    XC_ERROR(CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE,
             "cannot set while device is active in this process"),
    XC_ERROR(CUDA_ERROR_CONTEXT_IS_DESTROYED, "context is destroyed"),
    XC_ERROR(CUDA_ERROR_ASSERT, "device-side assert triggered"),
    XC_ERROR(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED,
             "part or all of the requested memory range is already mapped"),
    XC_ERROR(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED,
             "pointer does not correspond to a registered memory region"),
    XC_ERROR(CUDA_ERROR_HARDWARE_STACK_ERROR, "hardware stack error"),
    XC_ERROR(CUDA_ERROR_ILLEGAL_INSTRUCTION, "an illegal instruction was encountered"),
    XC_ERROR(CUDA_ERROR_MISALIGNED_ADDRESS, "misaligned address"),
    XC_ERROR(CUDA_ERROR_INVALID_ADDRESS_SPACE,
             "operation not supported on global/shared address space"),
    XC_ERROR(CUDA_ERROR_INVALID_PC, "invalid program counter"),
    XC_ERROR(CUDA_ERROR_LAUNCH_FAILED, "unspecified launch failure"),
    XC_ERROR(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, "too many blocks in cooperative launch"),
    XC_ERROR(CUDA_ERROR_TENSOR_MEMORY_LEAK, "tensor memory not completely freed"),
    XC_ERROR(CUDA_ERROR_NOT_PERMITTED, "operation not permitted"),
    XC_ERROR(CUDA_ERROR_NOT_SUPPORTED, "operation not supported"),
    XC_ERROR(CUDA_ERROR_SYSTEM_NOT_READY, "system not yet initialized"),
    XC_ERROR(CUDA_ERROR_SYSTEM_DRIVER_MISMATCH,
             "system has unsupported display driver / cuda driver combination"),
    XC_ERROR(CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE,
             "forward compatibility was attempted on non supported HW"),
    XC_ERROR(CUDA_ERROR_MPS_CLIENT_TERMINATED, "MPS client has been terminated"),
    XC_ERROR(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
             "operation not permitted when stream is capturing"),
    XC_ERROR(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
             "operation failed due to a previous error during capture"),
    XC_ERROR(CUDA_ERROR_STREAM_CAPTURE_MERGE,
             "operation would result in a merge of separate capture sequences"),
    XC_ERROR(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED,
             "capture was not ended in the same stream as it began"),
    XC_ERROR(CUDA_ERROR_STREAM_CAPTURE_UNJOINED, "capturing stream has unjoined work"),
    XC_ERROR(CUDA_ERROR_STREAM_CAPTURE_ISOLATION,
             "dependency created on uncaptured work in another stream"),
    XC_ERROR(CUDA_ERROR_CAPTURED_EVENT,
             "operation not permitted on an event last recorded in a capturing stream"),
    XC_ERROR(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD,
             "attempt to terminate a thread-local capture sequence from another thread"),
    XC_ERROR(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
             "operation would make the legacy stream depend on a capturing "
             "blocking stream"),
    XC_ERROR(CUDA_ERROR_TIMEOUT, "wait operation timed out"),
    XC_ERROR(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE,
             "the graph update was not performed because it included changes "
             "which violated constraints specific to instantiated graph update"),
    XC_ERROR(CUDA_ERROR_EXTERNAL_DEVICE,
             "an async error has occured in external entity outside of CUDA"),
    XC_ERROR(CUDA_ERROR_INVALID_CLUSTER_SIZE, "a kernel launch error has occurred due to cluster "
                                              "misconfiguration"),
    XC_ERROR(CUDA_ERROR_FUNCTION_NOT_LOADED, "the function handle is not loaded"),
    XC_ERROR(CUDA_ERROR_INVALID_RESOURCE_TYPE, "the resource type is invalid"),
    XC_ERROR(CUDA_ERROR_UNKNOWN, "unknown error"),
};
#undef XC_ERROR

/// What Entry.h's templates are given as names: the list of functions, and what is exported
/// besides. All versions of a function are one.
const char *const kFunctions[] = {
#define XCR_CUDA_SYMBOL(name, symbol, params) #name,
#include "driver_symbols.inl"
    "cuCtxCreate",
    "cuCtxDestroy",
    "cuDevicePrimaryCtxReset",
    "cuDevicePrimaryCtxSetFlags",
    "cuGetProcAddress",
    "cuGraphChildGraphNodeGetGraph",
    "cuGraphDestroyNode",
    "cuGraphExecEventRecordNodeSetEvent",
    "cuGraphExecEventWaitNodeSetEvent",
    "cuGraphExecGetFlags",
    "cuGraphExecNodeSetParams",
    "cuGraphNodeGetDependencies",
    "cuGraphRemoveDependencies",
    "cuLaunchCooperativeKernel",
    "cuMemAllocManaged",
    "cuMemcpy2D",
    "cuMemcpy3D",
    "cuMemsetD2D32Async",
    "cuMemsetD2D8Async",
    "cuModuleLoad",
    "cuModuleLoadData",
    "cuStreamCreate",
};

} // namespace

const ErrorText *textOf(CUresult error) {
  for (const ErrorText &text : kErrors)
    if (text.error == error)
      return &text;
  return nullptr;
}

std::string parseResult(const std::string &text, CUresult &out) {
  char *end = nullptr;
  unsigned long number = strtoul(text.c_str(), &end, 10);
  bool isNumber = !text.empty() && text[0] != '-' && !*end;
  std::string known;
  for (const ErrorText &error : kErrors) {
    if (error.error == CUDA_SUCCESS)
      continue;
    if (isNumber ? number == static_cast<unsigned long>(error.error) : text == error.name) {
      out = error.error;
      return "";
    }
    known += std::string(known.empty() ? "" : ", ") + error.name + " (" +
             std::to_string(static_cast<unsigned>(error.error)) + ")";
  }
  return "'" + text + "' is no CUresult that a call can fail with, expected one of " + known;
}

std::string checkFunction(const std::string &function) {
  std::string known;
  for (const char *name : kFunctions) {
    if (function == name)
      return "";
    known += std::string(known.empty() ? "" : ", ") + name;
  }
  return "unknown driver function '" + function + "', expected * or one of " + known;
}

} // namespace xc::cudasim
