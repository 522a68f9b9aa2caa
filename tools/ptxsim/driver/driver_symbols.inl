//===- driver_symbols.inl - Every function of the driver that is there ----===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Those of cuda_abi/cuda_symbols.inl, and in the same form more for programs of
// others and for tests.
//
//===----------------------------------------------------------------------===//

#define XCR_CUDA_KEEP_SYMBOL_MACROS
#include "cuda_abi/cuda_symbols.inl"
#undef XCR_CUDA_KEEP_SYMBOL_MACROS

// clang-format off

// Devices.
XCR_CUDA_SYMBOL(cuDeviceGetUuid, cuDeviceGetUuid_v2, (CUuuid *uuid, CUdevice device))
XCR_CUDA_SYMBOL(cuDeviceGetPCIBusId, cuDeviceGetPCIBusId, (char *id, int length, CUdevice device))
XCR_CUDA_SYMBOL(cuDeviceCanAccessPeer, cuDeviceCanAccessPeer, (int *canAccess, CUdevice device, CUdevice peer))

// Contexts.
XCR_CUDA_SYMBOL(cuDevicePrimaryCtxGetState, cuDevicePrimaryCtxGetState, (CUdevice device, unsigned *flags, int *active))
XCR_CUDA_SYMBOL(cuCtxGetApiVersion, cuCtxGetApiVersion, (CUcontext context, unsigned *version))
XCR_CUDA_SYMBOL(cuCtxGetId, cuCtxGetId, (CUcontext context, unsigned long long *id))
XCR_CUDA_SYMBOL(cuCtxSynchronize, cuCtxSynchronize, (void))
XCR_CUDA_SYMBOL(cuCtxGetLimit, cuCtxGetLimit, (size_t *value, CUlimit limit))
XCR_CUDA_SYMBOL(cuCtxSetLimit, cuCtxSetLimit, (CUlimit limit, size_t value))
XCR_CUDA_SYMBOL(cuCtxGetStreamPriorityRange, cuCtxGetStreamPriorityRange, (int *least, int *greatest))
XCR_CUDA_SYMBOL(cuCtxEnablePeerAccess, cuCtxEnablePeerAccess, (CUcontext peer, unsigned flags))

// Device memory.
XCR_CUDA_SYMBOL(cuMemGetAddressRange, cuMemGetAddressRange_v2, (CUdeviceptr *base, size_t *bytes, CUdeviceptr pointer))
XCR_CUDA_SYMBOL(cuPointerGetAttributes, cuPointerGetAttributes, (unsigned count, CUpointer_attribute *attributes, void **data, CUdeviceptr pointer))

// Stream-ordered memory and its pools.
XCR_CUDA_SYMBOL(cuMemAllocAsync, cuMemAllocAsync, (CUdeviceptr *pointer, size_t bytes, CUstream stream))
XCR_CUDA_SYMBOL(cuDeviceGetDefaultMemPool, cuDeviceGetDefaultMemPool, (CUmemoryPool *pool, CUdevice device))
XCR_CUDA_SYMBOL(cuDeviceGetMemPool, cuDeviceGetMemPool, (CUmemoryPool *pool, CUdevice device))
XCR_CUDA_SYMBOL(cuDeviceSetMemPool, cuDeviceSetMemPool, (CUdevice device, CUmemoryPool pool))
XCR_CUDA_SYMBOL(cuMemPoolGetAttribute, cuMemPoolGetAttribute, (CUmemoryPool pool, CUmemPool_attribute attribute, void *value))
XCR_CUDA_SYMBOL(cuMemPoolSetAccess, cuMemPoolSetAccess, (CUmemoryPool pool, const CUmemAccessDesc *descriptors, size_t count))

// Pinned host memory.
XCR_CUDA_SYMBOL(cuMemHostRegister, cuMemHostRegister_v2, (void *pointer, size_t bytes, unsigned flags))
XCR_CUDA_SYMBOL(cuMemHostUnregister, cuMemHostUnregister, (void *pointer))
XCR_CUDA_SYMBOL(cuMemHostGetDevicePointer, cuMemHostGetDevicePointer_v2, (CUdeviceptr *devicePointer, void *pointer, unsigned flags))
XCR_CUDA_SYMBOL(cuMemHostGetFlags, cuMemHostGetFlags, (unsigned *flags, void *pointer))

// Copies and fills.
XCR_CUDA_SYMBOL(cuMemcpy, cuMemcpy, (CUdeviceptr destination, CUdeviceptr source, size_t bytes))
XCR_CUDA_SYMBOL(cuMemcpyAsync, cuMemcpyAsync, (CUdeviceptr destination, CUdeviceptr source, size_t bytes, CUstream stream))
XCR_CUDA_SYMBOL(cuMemcpyHtoD, cuMemcpyHtoD_v2, (CUdeviceptr destination, const void *source, size_t bytes))
XCR_CUDA_SYMBOL(cuMemcpyDtoH, cuMemcpyDtoH_v2, (void *destination, CUdeviceptr source, size_t bytes))
XCR_CUDA_SYMBOL(cuMemcpyDtoD, cuMemcpyDtoD_v2, (CUdeviceptr destination, CUdeviceptr source, size_t bytes))
XCR_CUDA_SYMBOL(cuMemcpyPeerAsync, cuMemcpyPeerAsync, (CUdeviceptr destination, CUcontext destinationContext, CUdeviceptr source, CUcontext sourceContext, size_t bytes, CUstream stream))
XCR_CUDA_SYMBOL(cuMemcpy2DAsync, cuMemcpy2DAsync_v2, (const CUDA_MEMCPY2D *copy, CUstream stream))
XCR_CUDA_SYMBOL(cuMemcpy3DAsync, cuMemcpy3DAsync_v2, (const CUDA_MEMCPY3D *copy, CUstream stream))
XCR_CUDA_SYMBOL(cuMemsetD8, cuMemsetD8_v2, (CUdeviceptr destination, unsigned char value, size_t count))
XCR_CUDA_SYMBOL(cuMemsetD16, cuMemsetD16_v2, (CUdeviceptr destination, unsigned short value, size_t count))
XCR_CUDA_SYMBOL(cuMemsetD32, cuMemsetD32_v2, (CUdeviceptr destination, unsigned value, size_t count))

// Modules, functions, occupancy.
XCR_CUDA_SYMBOL(cuModuleGetGlobal, cuModuleGetGlobal_v2, (CUdeviceptr *pointer, size_t *bytes, CUmodule module, const char *name))
XCR_CUDA_SYMBOL(cuFuncGetAttribute, cuFuncGetAttribute, (int *value, CUfunction_attribute attribute, CUfunction function))
XCR_CUDA_SYMBOL(cuFuncGetModule, cuFuncGetModule, (CUmodule *module, CUfunction function))
XCR_CUDA_OPTIONAL_SYMBOL(cuFuncGetName, cuFuncGetName, 12030, (const char **name, CUfunction function))
XCR_CUDA_SYMBOL(cuOccupancyMaxActiveBlocksPerMultiprocessor, cuOccupancyMaxActiveBlocksPerMultiprocessor, (int *blocks, CUfunction function, int blockSize, size_t dynamicSharedBytes))
XCR_CUDA_SYMBOL(cuOccupancyMaxPotentialBlockSize, cuOccupancyMaxPotentialBlockSize, (int *minGridSize, int *blockSize, CUfunction function, CUoccupancyB2DSize dynamicSharedBytesOf, size_t dynamicSharedBytes, int blockSizeLimit))
XCR_CUDA_SYMBOL(cuOccupancyMaxPotentialClusterSize, cuOccupancyMaxPotentialClusterSize, (int *clusterSize, CUfunction function, const CUlaunchConfig *config))
XCR_CUDA_SYMBOL(cuOccupancyMaxActiveClusters, cuOccupancyMaxActiveClusters, (int *clusters, CUfunction function, const CUlaunchConfig *config))

// Streams and events.
XCR_CUDA_SYMBOL(cuStreamGetFlags, cuStreamGetFlags, (CUstream stream, unsigned *flags))
XCR_CUDA_SYMBOL(cuStreamGetPriority, cuStreamGetPriority, (CUstream stream, int *priority))
XCR_CUDA_SYMBOL(cuStreamEndCapture, cuStreamEndCapture, (CUstream stream, CUgraph *graph))
XCR_CUDA_SYMBOL(cuStreamWriteValue32, cuStreamWriteValue32_v2, (CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned flags))
XCR_CUDA_SYMBOL(cuStreamWriteValue64, cuStreamWriteValue64_v2, (CUstream stream, CUdeviceptr address, cuuint64_t value, unsigned flags))
XCR_CUDA_SYMBOL(cuStreamWaitValue32, cuStreamWaitValue32_v2, (CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned flags))
XCR_CUDA_SYMBOL(cuStreamWaitValue64, cuStreamWaitValue64_v2, (CUstream stream, CUdeviceptr address, cuuint64_t value, unsigned flags))
XCR_CUDA_SYMBOL(cuEventRecordWithFlags, cuEventRecordWithFlags, (CUevent event, CUstream stream, unsigned flags))

// Graphs: construction.
XCR_CUDA_SYMBOL(cuGraphClone, cuGraphClone, (CUgraph *clone, CUgraph original))
XCR_CUDA_SYMBOL(cuGraphNodeFindInClone, cuGraphNodeFindInClone, (CUgraphNode *node, CUgraphNode originalNode, CUgraph clone))
XCR_CUDA_SYMBOL(cuGraphAddHostNode, cuGraphAddHostNode, (CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t dependencyCount, const CUDA_HOST_NODE_PARAMS *params))
XCR_CUDA_SYMBOL(cuGraphAddChildGraphNode, cuGraphAddChildGraphNode, (CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t dependencyCount, CUgraph child))
XCR_CUDA_SYMBOL(cuGraphAddEventRecordNode, cuGraphAddEventRecordNode, (CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t dependencyCount, CUevent event))
XCR_CUDA_SYMBOL(cuGraphAddEventWaitNode, cuGraphAddEventWaitNode, (CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t dependencyCount, CUevent event))
XCR_CUDA_SYMBOL(cuGraphGetNodes, cuGraphGetNodes, (CUgraph graph, CUgraphNode *nodes, size_t *count))
XCR_CUDA_SYMBOL(cuGraphGetRootNodes, cuGraphGetRootNodes, (CUgraph graph, CUgraphNode *nodes, size_t *count))
XCR_CUDA_SYMBOL(cuGraphNodeGetType, cuGraphNodeGetType, (CUgraphNode node, CUgraphNodeType *type))
XCR_CUDA_SYMBOL(cuGraphKernelNodeGetAttribute, cuGraphKernelNodeGetAttribute, (CUgraphNode node, CUlaunchAttributeID attribute, CUlaunchAttributeValue *value))

// Graphs: executables.
XCR_CUDA_SYMBOL(cuGraphInstantiateWithParams, cuGraphInstantiateWithParams, (CUgraphExec *exec, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *params))
XCR_CUDA_SYMBOL(cuGraphExecHostNodeSetParams, cuGraphExecHostNodeSetParams, (CUgraphExec exec, CUgraphNode node, const CUDA_HOST_NODE_PARAMS *params))
XCR_CUDA_SYMBOL(cuGraphExecChildGraphNodeSetParams, cuGraphExecChildGraphNodeSetParams, (CUgraphExec exec, CUgraphNode node, CUgraph child))
XCR_CUDA_SYMBOL(cuGraphNodeGetEnabled, cuGraphNodeGetEnabled, (CUgraphExec exec, CUgraphNode node, unsigned *isEnabled))
XCR_CUDA_SYMBOL(cuGraphExecUpdate, cuGraphExecUpdate_v2, (CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo *info))
XCR_CUDA_SYMBOL(cuGraphUpload, cuGraphUpload, (CUgraphExec exec, CUstream stream))

// Tensor maps.
XCR_CUDA_SYMBOL(cuTensorMapReplaceAddress, cuTensorMapReplaceAddress, (CUtensorMap *map, void *address))

// clang-format on

#undef XCR_CUDA_SYMBOL
#undef XCR_CUDA_OPTIONAL_SYMBOL
