//===- GraphParams.h - From the driver's node parameters to payloads ------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PTXSIM_DRIVER_GRAPHPARAMS_H
#define PTXSIM_DRIVER_GRAPHPARAMS_H

#include "Entry.h"
#include "Graph.h"

namespace xc::cudasim {

// Each checks the parameters of one kind of node as the driver does when a node is
// added, copies what they point to, and fills `payload`.

/// `attributes` are those that the node has already.
CUresult kernelPayload(const CUDA_KERNEL_NODE_PARAMS *params, const LaunchShape &attributes,
                       Payload &payload);
CUresult copyPayload(const CUDA_MEMCPY3D *params, CUcontext context, Payload &payload);
CUresult fillPayload(const CUDA_MEMSET_NODE_PARAMS *params, CUcontext context, Payload &payload);
CUresult hostPayload(const CUDA_HOST_NODE_PARAMS *params, Payload &payload);
/// Clones the graph.
CUresult childPayload(CUgraph graph, Payload &payload);
CUresult eventPayload(CUevent event, bool record, Payload &payload);
/// Any of them but conditional nodes.
CUresult payloadOf(CUgraphNodeParams &params, Payload &payload);

CUresult setKernelAttribute(KernelPayload &kernel, CUlaunchAttributeID id,
                            const CUlaunchAttributeValue &value);
CUresult getKernelAttribute(const KernelPayload &kernel, CUlaunchAttributeID id,
                            CUlaunchAttributeValue &value);

} // namespace xc::cudasim

#endif // PTXSIM_DRIVER_GRAPHPARAMS_H
