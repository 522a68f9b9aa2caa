//===- cuda_symbols.inl - The CUDA driver calls of programs here ----------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The runtime loads each of these functions and calls no other, so a driver has
// to export them all; the stand-in (tools/ptxsim) exports more, listed in its own
// driver_symbols.inl.
//
// Define before inclusion, and find undefined after it (unless
// XCR_CUDA_KEEP_SYMBOL_MACROS is defined):
//
//   XCR_CUDA_SYMBOL(name, symbol, params)
//       a call that every supported driver (CUDA 12.2, R535, or newer) has
//   XCR_CUDA_OPTIONAL_SYMBOL(name, symbol, since, params)
//       a call that came with driver version `since` (as cuDriverGetVersion
//       counts, 12030 for 12.3); the pointer is null on older drivers, and its
//       user says what is missing or takes another way. Left undefined, it
//       expands as XCR_CUDA_SYMBOL.
//
// `name` is what the code calls, `symbol` what the library exports: the newest
// version of the call that CUDA 12.2 knows. `params` is the parameter list in
// parentheses. Every call returns CUresult.
//
//===----------------------------------------------------------------------===//

#ifndef XCR_CUDA_OPTIONAL_SYMBOL
#define XCR_CUDA_OPTIONAL_SYMBOL(name, symbol, since, params) XCR_CUDA_SYMBOL(name, symbol, params)
#endif

// clang-format off

// Initialisation, errors.
XCR_CUDA_SYMBOL(cuInit, cuInit, (unsigned flags))
XCR_CUDA_SYMBOL(cuDriverGetVersion, cuDriverGetVersion, (int *version))
XCR_CUDA_SYMBOL(cuGetErrorName, cuGetErrorName, (CUresult error, const char **name))
XCR_CUDA_SYMBOL(cuGetErrorString, cuGetErrorString, (CUresult error, const char **text))

// Devices.
XCR_CUDA_SYMBOL(cuDeviceGetCount, cuDeviceGetCount, (int *count))
XCR_CUDA_SYMBOL(cuDeviceGet, cuDeviceGet, (CUdevice *device, int ordinal))
XCR_CUDA_SYMBOL(cuDeviceGetName, cuDeviceGetName, (char *name, int length, CUdevice device))
XCR_CUDA_SYMBOL(cuDeviceTotalMem, cuDeviceTotalMem_v2, (size_t *bytes, CUdevice device))
XCR_CUDA_SYMBOL(cuDeviceGetAttribute, cuDeviceGetAttribute, (int *value, CUdevice_attribute attribute, CUdevice device))

// Contexts.
XCR_CUDA_SYMBOL(cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain, (CUcontext *context, CUdevice device))
XCR_CUDA_SYMBOL(cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2, (CUdevice device))
XCR_CUDA_SYMBOL(cuCtxGetCurrent, cuCtxGetCurrent, (CUcontext *context))
XCR_CUDA_SYMBOL(cuCtxSetCurrent, cuCtxSetCurrent, (CUcontext context))
XCR_CUDA_SYMBOL(cuCtxPushCurrent, cuCtxPushCurrent_v2, (CUcontext context))
XCR_CUDA_SYMBOL(cuCtxPopCurrent, cuCtxPopCurrent_v2, (CUcontext *context))
XCR_CUDA_SYMBOL(cuCtxGetDevice, cuCtxGetDevice, (CUdevice *device))

// Device memory.
XCR_CUDA_SYMBOL(cuMemGetInfo, cuMemGetInfo_v2, (size_t *free, size_t *total))
XCR_CUDA_SYMBOL(cuMemAlloc, cuMemAlloc_v2, (CUdeviceptr *pointer, size_t bytes))
XCR_CUDA_SYMBOL(cuMemFree, cuMemFree_v2, (CUdeviceptr pointer))
XCR_CUDA_SYMBOL(cuPointerGetAttribute, cuPointerGetAttribute, (void *data, CUpointer_attribute attribute, CUdeviceptr pointer))

// Stream-ordered memory and its pools.
XCR_CUDA_SYMBOL(cuMemAllocFromPoolAsync, cuMemAllocFromPoolAsync, (CUdeviceptr *pointer, size_t bytes, CUmemoryPool pool, CUstream stream))
XCR_CUDA_SYMBOL(cuMemFreeAsync, cuMemFreeAsync, (CUdeviceptr pointer, CUstream stream))
XCR_CUDA_SYMBOL(cuMemPoolCreate, cuMemPoolCreate, (CUmemoryPool *pool, const CUmemPoolProps *properties))
XCR_CUDA_SYMBOL(cuMemPoolDestroy, cuMemPoolDestroy, (CUmemoryPool pool))
XCR_CUDA_SYMBOL(cuMemPoolSetAttribute, cuMemPoolSetAttribute, (CUmemoryPool pool, CUmemPool_attribute attribute, void *value))
XCR_CUDA_SYMBOL(cuMemPoolTrimTo, cuMemPoolTrimTo, (CUmemoryPool pool, size_t minBytesToKeep))

// Pinned host memory.
XCR_CUDA_SYMBOL(cuMemHostAlloc, cuMemHostAlloc, (void **pointer, size_t bytes, unsigned flags))
XCR_CUDA_SYMBOL(cuMemFreeHost, cuMemFreeHost, (void *pointer))

// Virtual memory management.
XCR_CUDA_SYMBOL(cuMemAddressReserve, cuMemAddressReserve, (CUdeviceptr *pointer, size_t bytes, size_t alignment, CUdeviceptr hint, unsigned long long flags))
XCR_CUDA_SYMBOL(cuMemAddressFree, cuMemAddressFree, (CUdeviceptr pointer, size_t bytes))
XCR_CUDA_SYMBOL(cuMemCreate, cuMemCreate, (CUmemGenericAllocationHandle *handle, size_t bytes, const CUmemAllocationProp *properties, unsigned long long flags))
XCR_CUDA_SYMBOL(cuMemRelease, cuMemRelease, (CUmemGenericAllocationHandle handle))
XCR_CUDA_SYMBOL(cuMemMap, cuMemMap, (CUdeviceptr pointer, size_t bytes, size_t offset, CUmemGenericAllocationHandle handle, unsigned long long flags))
XCR_CUDA_SYMBOL(cuMemUnmap, cuMemUnmap, (CUdeviceptr pointer, size_t bytes))
XCR_CUDA_SYMBOL(cuMemSetAccess, cuMemSetAccess, (CUdeviceptr pointer, size_t bytes, const CUmemAccessDesc *descriptors, size_t count))
XCR_CUDA_SYMBOL(cuMemGetAllocationGranularity, cuMemGetAllocationGranularity, (size_t *granularity, const CUmemAllocationProp *properties, CUmemAllocationGranularity_flags option))

// Copies and fills.
XCR_CUDA_SYMBOL(cuMemcpyHtoDAsync, cuMemcpyHtoDAsync_v2, (CUdeviceptr destination, const void *source, size_t bytes, CUstream stream))
XCR_CUDA_SYMBOL(cuMemcpyDtoHAsync, cuMemcpyDtoHAsync_v2, (void *destination, CUdeviceptr source, size_t bytes, CUstream stream))
XCR_CUDA_SYMBOL(cuMemcpyDtoDAsync, cuMemcpyDtoDAsync_v2, (CUdeviceptr destination, CUdeviceptr source, size_t bytes, CUstream stream))
XCR_CUDA_SYMBOL(cuMemsetD8Async, cuMemsetD8Async, (CUdeviceptr destination, unsigned char value, size_t count, CUstream stream))
XCR_CUDA_SYMBOL(cuMemsetD16Async, cuMemsetD16Async, (CUdeviceptr destination, unsigned short value, size_t count, CUstream stream))
XCR_CUDA_SYMBOL(cuMemsetD32Async, cuMemsetD32Async, (CUdeviceptr destination, unsigned value, size_t count, CUstream stream))

// Modules, functions, occupancy.
XCR_CUDA_SYMBOL(cuModuleLoadDataEx, cuModuleLoadDataEx, (CUmodule *module, const void *image, unsigned optionCount, CUjit_option *options, void **values))
XCR_CUDA_SYMBOL(cuModuleUnload, cuModuleUnload, (CUmodule module))
XCR_CUDA_SYMBOL(cuModuleGetFunction, cuModuleGetFunction, (CUfunction *function, CUmodule module, const char *name))
XCR_CUDA_SYMBOL(cuFuncSetAttribute, cuFuncSetAttribute, (CUfunction function, CUfunction_attribute attribute, int value))
XCR_CUDA_OPTIONAL_SYMBOL(cuFuncGetParamInfo, cuFuncGetParamInfo, 12040, (CUfunction function, size_t index, size_t *offset, size_t *bytes))

// Launches.
XCR_CUDA_SYMBOL(cuLaunchKernel, cuLaunchKernel, (CUfunction function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX, unsigned blockY, unsigned blockZ, unsigned dynamicSharedBytes, CUstream stream, void **params, void **extra))
XCR_CUDA_SYMBOL(cuLaunchKernelEx, cuLaunchKernelEx, (const CUlaunchConfig *config, CUfunction function, void **params, void **extra))
XCR_CUDA_SYMBOL(cuLaunchHostFunc, cuLaunchHostFunc, (CUstream stream, CUhostFn function, void *userData))

// Streams and events.
XCR_CUDA_SYMBOL(cuStreamCreateWithPriority, cuStreamCreateWithPriority, (CUstream *stream, unsigned flags, int priority))
XCR_CUDA_SYMBOL(cuStreamDestroy, cuStreamDestroy_v2, (CUstream stream))
XCR_CUDA_SYMBOL(cuStreamQuery, cuStreamQuery, (CUstream stream))
XCR_CUDA_SYMBOL(cuStreamSynchronize, cuStreamSynchronize, (CUstream stream))
XCR_CUDA_SYMBOL(cuStreamWaitEvent, cuStreamWaitEvent, (CUstream stream, CUevent event, unsigned flags))
XCR_CUDA_SYMBOL(cuStreamGetCtx, cuStreamGetCtx, (CUstream stream, CUcontext *context))
XCR_CUDA_SYMBOL(cuStreamBeginCapture, cuStreamBeginCapture_v2, (CUstream stream, CUstreamCaptureMode mode))
XCR_CUDA_SYMBOL(cuStreamIsCapturing, cuStreamIsCapturing, (CUstream stream, CUstreamCaptureStatus *status))
XCR_CUDA_OPTIONAL_SYMBOL(cuStreamGetCaptureInfo, cuStreamGetCaptureInfo_v3, 12030, (CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id, CUgraph *graph, const CUgraphNode **dependencies, const CUgraphEdgeData **dependencyData, size_t *dependencyCount))
XCR_CUDA_OPTIONAL_SYMBOL(cuStreamUpdateCaptureDependencies, cuStreamUpdateCaptureDependencies_v2, 12030, (CUstream stream, CUgraphNode *dependencies, const CUgraphEdgeData *dependencyData, size_t dependencyCount, unsigned flags))
XCR_CUDA_SYMBOL(cuThreadExchangeStreamCaptureMode, cuThreadExchangeStreamCaptureMode, (CUstreamCaptureMode *mode))
XCR_CUDA_SYMBOL(cuEventCreate, cuEventCreate, (CUevent *event, unsigned flags))
XCR_CUDA_SYMBOL(cuEventDestroy, cuEventDestroy_v2, (CUevent event))
XCR_CUDA_SYMBOL(cuEventRecord, cuEventRecord, (CUevent event, CUstream stream))
XCR_CUDA_SYMBOL(cuEventQuery, cuEventQuery, (CUevent event))
XCR_CUDA_SYMBOL(cuEventSynchronize, cuEventSynchronize, (CUevent event))
XCR_CUDA_SYMBOL(cuEventElapsedTime, cuEventElapsedTime, (float *milliseconds, CUevent start, CUevent end))

// Graphs: construction.
XCR_CUDA_SYMBOL(cuGraphCreate, cuGraphCreate, (CUgraph *graph, unsigned flags))
XCR_CUDA_SYMBOL(cuGraphDestroy, cuGraphDestroy, (CUgraph graph))
XCR_CUDA_SYMBOL(cuGraphAddKernelNode, cuGraphAddKernelNode_v2, (CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t dependencyCount, const CUDA_KERNEL_NODE_PARAMS *params))
XCR_CUDA_SYMBOL(cuGraphAddMemcpyNode, cuGraphAddMemcpyNode, (CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t dependencyCount, const CUDA_MEMCPY3D *params, CUcontext context))
XCR_CUDA_SYMBOL(cuGraphAddMemsetNode, cuGraphAddMemsetNode, (CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t dependencyCount, const CUDA_MEMSET_NODE_PARAMS *params, CUcontext context))
XCR_CUDA_SYMBOL(cuGraphAddEmptyNode, cuGraphAddEmptyNode, (CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t dependencyCount))
XCR_CUDA_SYMBOL(cuGraphKernelNodeSetAttribute, cuGraphKernelNodeSetAttribute, (CUgraphNode node, CUlaunchAttributeID attribute, const CUlaunchAttributeValue *value))

// Graphs: edges added later or carrying data, conditional nodes. Edges that are
// known when a node is added need none of these.
XCR_CUDA_OPTIONAL_SYMBOL(cuGraphAddDependencies, cuGraphAddDependencies_v2, 12030, (CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, const CUgraphEdgeData *data, size_t count))
XCR_CUDA_OPTIONAL_SYMBOL(cuGraphAddNode, cuGraphAddNode_v2, 12030, (CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, const CUgraphEdgeData *dependencyData, size_t dependencyCount, CUgraphNodeParams *params))
XCR_CUDA_OPTIONAL_SYMBOL(cuGraphConditionalHandleCreate, cuGraphConditionalHandleCreate, 12030, (CUgraphConditionalHandle *handle, CUgraph graph, CUcontext context, unsigned defaultValue, unsigned flags))

// Graphs: executables.
XCR_CUDA_SYMBOL(cuGraphInstantiate, cuGraphInstantiateWithFlags, (CUgraphExec *exec, CUgraph graph, unsigned long long flags))
XCR_CUDA_SYMBOL(cuGraphExecKernelNodeSetParams, cuGraphExecKernelNodeSetParams_v2, (CUgraphExec exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *params))
XCR_CUDA_SYMBOL(cuGraphExecMemcpyNodeSetParams, cuGraphExecMemcpyNodeSetParams, (CUgraphExec exec, CUgraphNode node, const CUDA_MEMCPY3D *params, CUcontext context))
XCR_CUDA_SYMBOL(cuGraphExecMemsetNodeSetParams, cuGraphExecMemsetNodeSetParams, (CUgraphExec exec, CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS *params, CUcontext context))
XCR_CUDA_SYMBOL(cuGraphNodeSetEnabled, cuGraphNodeSetEnabled, (CUgraphExec exec, CUgraphNode node, unsigned isEnabled))
XCR_CUDA_SYMBOL(cuGraphLaunch, cuGraphLaunch, (CUgraphExec exec, CUstream stream))
XCR_CUDA_SYMBOL(cuGraphExecDestroy, cuGraphExecDestroy, (CUgraphExec exec))

// Tensor maps.
XCR_CUDA_SYMBOL(cuTensorMapEncodeTiled, cuTensorMapEncodeTiled, (CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank, void *address, const cuuint64_t *dims, const cuuint64_t *strides, const cuuint32_t *box, const cuuint32_t *elementStrides, CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle, CUtensorMapL2promotion l2Promotion, CUtensorMapFloatOOBfill oobFill))
XCR_CUDA_SYMBOL(cuTensorMapEncodeIm2col, cuTensorMapEncodeIm2col, (CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank, void *address, const cuuint64_t *dims, const cuuint64_t *strides, const int *lowerCorner, const int *upperCorner, cuuint32_t channels, cuuint32_t pixels, const cuuint32_t *elementStrides, CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle, CUtensorMapL2promotion l2Promotion, CUtensorMapFloatOOBfill oobFill))

// clang-format on

#ifndef XCR_CUDA_KEEP_SYMBOL_MACROS
#undef XCR_CUDA_SYMBOL
#undef XCR_CUDA_OPTIONAL_SYMBOL
#endif
