//===- abi_structures.cpp - Structures of cuda_abi.h ----------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See abi_check.cpp.
//
//===----------------------------------------------------------------------===//

#include "cuda_abi/cuda_abi.h"

#include <cuda.h>

#include <cstddef>

#define XC_SIZE(type) static_assert(sizeof(xc::type) == sizeof(::type), #type)
#define XC_FIELD(type, field)                                                                      \
  static_assert(offsetof(xc::type, field) == offsetof(::type, field) &&                            \
                    sizeof(xc::type::field) == sizeof(::type::field),                              \
                #type "::" #field)

XC_SIZE(CUuuid);
XC_FIELD(CUuuid, bytes);

XC_SIZE(CUmemLocation);
XC_FIELD(CUmemLocation, type);
XC_FIELD(CUmemLocation, id);

XC_SIZE(CUmemAllocationProp);
XC_FIELD(CUmemAllocationProp, type);
XC_FIELD(CUmemAllocationProp, requestedHandleTypes);
XC_FIELD(CUmemAllocationProp, location);
XC_FIELD(CUmemAllocationProp, win32HandleMetaData);
XC_FIELD(CUmemAllocationProp, allocFlags.compressionType);
XC_FIELD(CUmemAllocationProp, allocFlags.gpuDirectRDMACapable);
XC_FIELD(CUmemAllocationProp, allocFlags.usage);
XC_FIELD(CUmemAllocationProp, allocFlags.reserved);

XC_SIZE(CUmemAccessDesc);
XC_FIELD(CUmemAccessDesc, location);
XC_FIELD(CUmemAccessDesc, flags);

XC_SIZE(CUmemPoolProps);
XC_FIELD(CUmemPoolProps, allocType);
XC_FIELD(CUmemPoolProps, handleTypes);
XC_FIELD(CUmemPoolProps, location);
XC_FIELD(CUmemPoolProps, win32SecurityAttributes);
XC_FIELD(CUmemPoolProps, maxSize);
XC_FIELD(CUmemPoolProps, usage);
XC_FIELD(CUmemPoolProps, reserved);

XC_SIZE(CUDA_MEMCPY2D);
XC_FIELD(CUDA_MEMCPY2D, srcXInBytes);
XC_FIELD(CUDA_MEMCPY2D, srcY);
XC_FIELD(CUDA_MEMCPY2D, srcMemoryType);
XC_FIELD(CUDA_MEMCPY2D, srcHost);
XC_FIELD(CUDA_MEMCPY2D, srcDevice);
XC_FIELD(CUDA_MEMCPY2D, srcArray);
XC_FIELD(CUDA_MEMCPY2D, srcPitch);
XC_FIELD(CUDA_MEMCPY2D, dstXInBytes);
XC_FIELD(CUDA_MEMCPY2D, dstY);
XC_FIELD(CUDA_MEMCPY2D, dstMemoryType);
XC_FIELD(CUDA_MEMCPY2D, dstHost);
XC_FIELD(CUDA_MEMCPY2D, dstDevice);
XC_FIELD(CUDA_MEMCPY2D, dstArray);
XC_FIELD(CUDA_MEMCPY2D, dstPitch);
XC_FIELD(CUDA_MEMCPY2D, WidthInBytes);
XC_FIELD(CUDA_MEMCPY2D, Height);

XC_SIZE(CUDA_MEMCPY3D);
XC_FIELD(CUDA_MEMCPY3D, srcXInBytes);
XC_FIELD(CUDA_MEMCPY3D, srcY);
XC_FIELD(CUDA_MEMCPY3D, srcZ);
XC_FIELD(CUDA_MEMCPY3D, srcLOD);
XC_FIELD(CUDA_MEMCPY3D, srcMemoryType);
XC_FIELD(CUDA_MEMCPY3D, srcHost);
XC_FIELD(CUDA_MEMCPY3D, srcDevice);
XC_FIELD(CUDA_MEMCPY3D, srcArray);
XC_FIELD(CUDA_MEMCPY3D, reserved0);
XC_FIELD(CUDA_MEMCPY3D, srcPitch);
XC_FIELD(CUDA_MEMCPY3D, srcHeight);
XC_FIELD(CUDA_MEMCPY3D, dstXInBytes);
XC_FIELD(CUDA_MEMCPY3D, dstY);
XC_FIELD(CUDA_MEMCPY3D, dstZ);
XC_FIELD(CUDA_MEMCPY3D, dstLOD);
XC_FIELD(CUDA_MEMCPY3D, dstMemoryType);
XC_FIELD(CUDA_MEMCPY3D, dstHost);
XC_FIELD(CUDA_MEMCPY3D, dstDevice);
XC_FIELD(CUDA_MEMCPY3D, dstArray);
XC_FIELD(CUDA_MEMCPY3D, reserved1);
XC_FIELD(CUDA_MEMCPY3D, dstPitch);
XC_FIELD(CUDA_MEMCPY3D, dstHeight);
XC_FIELD(CUDA_MEMCPY3D, WidthInBytes);
XC_FIELD(CUDA_MEMCPY3D, Height);
XC_FIELD(CUDA_MEMCPY3D, Depth);

XC_SIZE(CUaccessPolicyWindow);
XC_FIELD(CUaccessPolicyWindow, base_ptr);
XC_FIELD(CUaccessPolicyWindow, num_bytes);
XC_FIELD(CUaccessPolicyWindow, hitRatio);
XC_FIELD(CUaccessPolicyWindow, hitProp);
XC_FIELD(CUaccessPolicyWindow, missProp);

XC_SIZE(CUlaunchMemSyncDomainMap);
XC_FIELD(CUlaunchMemSyncDomainMap, default_);
XC_FIELD(CUlaunchMemSyncDomainMap, remote);

XC_SIZE(CUlaunchAttributeValue);
XC_FIELD(CUlaunchAttributeValue, pad);
XC_FIELD(CUlaunchAttributeValue, accessPolicyWindow);
XC_FIELD(CUlaunchAttributeValue, cooperative);
XC_FIELD(CUlaunchAttributeValue, clusterDim.x);
XC_FIELD(CUlaunchAttributeValue, clusterDim.y);
XC_FIELD(CUlaunchAttributeValue, clusterDim.z);
XC_FIELD(CUlaunchAttributeValue, clusterSchedulingPolicyPreference);
XC_FIELD(CUlaunchAttributeValue, programmaticStreamSerializationAllowed);
XC_FIELD(CUlaunchAttributeValue, programmaticEvent.event);
XC_FIELD(CUlaunchAttributeValue, programmaticEvent.flags);
XC_FIELD(CUlaunchAttributeValue, programmaticEvent.triggerAtBlockStart);
XC_FIELD(CUlaunchAttributeValue, launchCompletionEvent.event);
XC_FIELD(CUlaunchAttributeValue, launchCompletionEvent.flags);
XC_FIELD(CUlaunchAttributeValue, priority);
XC_FIELD(CUlaunchAttributeValue, memSyncDomainMap);
XC_FIELD(CUlaunchAttributeValue, memSyncDomain);
XC_FIELD(CUlaunchAttributeValue, preferredClusterDim.x);
XC_FIELD(CUlaunchAttributeValue, preferredClusterDim.y);
XC_FIELD(CUlaunchAttributeValue, preferredClusterDim.z);
XC_FIELD(CUlaunchAttributeValue, deviceUpdatableKernelNode.deviceUpdatable);
XC_FIELD(CUlaunchAttributeValue, deviceUpdatableKernelNode.devNode);
XC_FIELD(CUlaunchAttributeValue, sharedMemCarveout);

XC_SIZE(CUlaunchAttribute);
XC_FIELD(CUlaunchAttribute, id);
XC_FIELD(CUlaunchAttribute, pad);
XC_FIELD(CUlaunchAttribute, value);

XC_SIZE(CUlaunchConfig);
XC_FIELD(CUlaunchConfig, gridDimX);
XC_FIELD(CUlaunchConfig, gridDimY);
XC_FIELD(CUlaunchConfig, gridDimZ);
XC_FIELD(CUlaunchConfig, blockDimX);
XC_FIELD(CUlaunchConfig, blockDimY);
XC_FIELD(CUlaunchConfig, blockDimZ);
XC_FIELD(CUlaunchConfig, sharedMemBytes);
XC_FIELD(CUlaunchConfig, hStream);
XC_FIELD(CUlaunchConfig, attrs);
XC_FIELD(CUlaunchConfig, numAttrs);

XC_SIZE(CUgraphEdgeData);
XC_FIELD(CUgraphEdgeData, from_port);
XC_FIELD(CUgraphEdgeData, to_port);
XC_FIELD(CUgraphEdgeData, type);
XC_FIELD(CUgraphEdgeData, reserved);

XC_SIZE(CUDA_GRAPH_INSTANTIATE_PARAMS);
XC_FIELD(CUDA_GRAPH_INSTANTIATE_PARAMS, flags);
XC_FIELD(CUDA_GRAPH_INSTANTIATE_PARAMS, hUploadStream);
XC_FIELD(CUDA_GRAPH_INSTANTIATE_PARAMS, hErrNode_out);
XC_FIELD(CUDA_GRAPH_INSTANTIATE_PARAMS, result_out);

XC_SIZE(CUgraphExecUpdateResultInfo);
XC_FIELD(CUgraphExecUpdateResultInfo, result);
XC_FIELD(CUgraphExecUpdateResultInfo, errorNode);
XC_FIELD(CUgraphExecUpdateResultInfo, errorFromNode);

XC_SIZE(CUDA_KERNEL_NODE_PARAMS);
XC_FIELD(CUDA_KERNEL_NODE_PARAMS, func);
XC_FIELD(CUDA_KERNEL_NODE_PARAMS, gridDimX);
XC_FIELD(CUDA_KERNEL_NODE_PARAMS, gridDimY);
XC_FIELD(CUDA_KERNEL_NODE_PARAMS, gridDimZ);
XC_FIELD(CUDA_KERNEL_NODE_PARAMS, blockDimX);
XC_FIELD(CUDA_KERNEL_NODE_PARAMS, blockDimY);
XC_FIELD(CUDA_KERNEL_NODE_PARAMS, blockDimZ);
XC_FIELD(CUDA_KERNEL_NODE_PARAMS, sharedMemBytes);
XC_FIELD(CUDA_KERNEL_NODE_PARAMS, kernelParams);
XC_FIELD(CUDA_KERNEL_NODE_PARAMS, extra);
XC_FIELD(CUDA_KERNEL_NODE_PARAMS, kern);
XC_FIELD(CUDA_KERNEL_NODE_PARAMS, ctx);

XC_SIZE(CUDA_MEMSET_NODE_PARAMS);
XC_FIELD(CUDA_MEMSET_NODE_PARAMS, dst);
XC_FIELD(CUDA_MEMSET_NODE_PARAMS, pitch);
XC_FIELD(CUDA_MEMSET_NODE_PARAMS, value);
XC_FIELD(CUDA_MEMSET_NODE_PARAMS, elementSize);
XC_FIELD(CUDA_MEMSET_NODE_PARAMS, width);
XC_FIELD(CUDA_MEMSET_NODE_PARAMS, height);

XC_SIZE(CUDA_MEMSET_NODE_PARAMS_v2);
XC_FIELD(CUDA_MEMSET_NODE_PARAMS_v2, dst);
XC_FIELD(CUDA_MEMSET_NODE_PARAMS_v2, pitch);
XC_FIELD(CUDA_MEMSET_NODE_PARAMS_v2, value);
XC_FIELD(CUDA_MEMSET_NODE_PARAMS_v2, elementSize);
XC_FIELD(CUDA_MEMSET_NODE_PARAMS_v2, width);
XC_FIELD(CUDA_MEMSET_NODE_PARAMS_v2, height);
XC_FIELD(CUDA_MEMSET_NODE_PARAMS_v2, ctx);

XC_SIZE(CUDA_MEMCPY_NODE_PARAMS);
XC_FIELD(CUDA_MEMCPY_NODE_PARAMS, flags);
XC_FIELD(CUDA_MEMCPY_NODE_PARAMS, reserved);
XC_FIELD(CUDA_MEMCPY_NODE_PARAMS, copyCtx);
XC_FIELD(CUDA_MEMCPY_NODE_PARAMS, copyParams);

XC_SIZE(CUDA_HOST_NODE_PARAMS);
XC_FIELD(CUDA_HOST_NODE_PARAMS, fn);
XC_FIELD(CUDA_HOST_NODE_PARAMS, userData);

XC_SIZE(CUDA_CHILD_GRAPH_NODE_PARAMS);
XC_FIELD(CUDA_CHILD_GRAPH_NODE_PARAMS, graph);
XC_FIELD(CUDA_CHILD_GRAPH_NODE_PARAMS, ownership);

XC_SIZE(CUDA_EVENT_RECORD_NODE_PARAMS);
XC_FIELD(CUDA_EVENT_RECORD_NODE_PARAMS, event);

XC_SIZE(CUDA_EVENT_WAIT_NODE_PARAMS);
XC_FIELD(CUDA_EVENT_WAIT_NODE_PARAMS, event);

XC_SIZE(CUDA_CONDITIONAL_NODE_PARAMS);
XC_FIELD(CUDA_CONDITIONAL_NODE_PARAMS, handle);
XC_FIELD(CUDA_CONDITIONAL_NODE_PARAMS, type);
XC_FIELD(CUDA_CONDITIONAL_NODE_PARAMS, size);
XC_FIELD(CUDA_CONDITIONAL_NODE_PARAMS, phGraph_out);
XC_FIELD(CUDA_CONDITIONAL_NODE_PARAMS, ctx);

XC_SIZE(CUgraphNodeParams);
XC_FIELD(CUgraphNodeParams, type);
XC_FIELD(CUgraphNodeParams, reserved0);
XC_FIELD(CUgraphNodeParams, reserved1);
XC_FIELD(CUgraphNodeParams, kernel);
XC_FIELD(CUgraphNodeParams, memcpy);
XC_FIELD(CUgraphNodeParams, memset);
XC_FIELD(CUgraphNodeParams, host);
XC_FIELD(CUgraphNodeParams, graph);
XC_FIELD(CUgraphNodeParams, eventWait);
XC_FIELD(CUgraphNodeParams, eventRecord);
XC_FIELD(CUgraphNodeParams, conditional);
XC_FIELD(CUgraphNodeParams, reserved2);

XC_SIZE(CUtensorMap);
XC_FIELD(CUtensorMap, opaque);
static_assert(alignof(xc::CUtensorMap) == 64, "the driver's demand");
