//===- cuda_recording.cpp - A plan as a CUDA graph, or as launches on a stream ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/hal/cuda/cuda_recording.h"

#include "runtime/hal/cuda/fill_kernel.h"

using namespace xc;
using namespace xc::cuda;
using hal::CommandKind;

//===----------------------------------------------------------------------===//
// Fills
//===----------------------------------------------------------------------===//

Status FillLaunch::prepare(CudaDevice &device, uint64_t target, uint64_t bytes, uint64_t pattern,
                           uint32_t patternSize) {
  // A pattern of equal bytes is one of single bytes, which fits every address.
  uint64_t mask = patternSize == 8 ? UINT64_MAX : (uint64_t(1) << (8 * patternSize)) - 1;
  uint64_t repeated = (pattern & 0xff) * 0x0101010101010101u;
  if ((pattern & mask) == (repeated & mask))
    patternSize = 1;
  isKernel = patternSize == 8 || target % patternSize != 0 || bytes % patternSize != 0;
  if (!isKernel) {
    memset = {};
    memset.dst = target;
    memset.value = static_cast<unsigned>(patternSize == 1 ? pattern & 0xff : pattern & mask);
    memset.elementSize = patternSize;
    memset.width = bytes / patternSize;
    memset.height = 1;
    return Status();
  }
  XCR_RETURN_IF_ERROR(device.getFillKernel(&function));
  arguments[0] = target;
  arguments[1] = bytes;
  arguments[2] = pattern;
  arguments[3] = patternSize - 1;
  uint64_t blocks = (bytes + kFillThreads - 1) / kFillThreads;
  grid = static_cast<unsigned>(blocks < 65535 ? blocks : 65535);
  return Status();
}

CUDA_KERNEL_NODE_PARAMS FillLaunch::getKernelParams(void **pointers) const {
  for (int i = 0; i < 4; ++i)
    pointers[i] = const_cast<uint64_t *>(&arguments[i]);
  CUDA_KERNEL_NODE_PARAMS params = {};
  params.func = function;
  params.gridDimX = grid;
  params.gridDimY = params.gridDimZ = 1;
  params.blockDimX = kFillThreads;
  params.blockDimY = params.blockDimZ = 1;
  params.kernelParams = pointers;
  return params;
}

Status FillLaunch::launch(CudaDevice &device, CUstream stream) const {
  if (isKernel) {
    void *pointers[4];
    CUDA_KERNEL_NODE_PARAMS params = getKernelParams(pointers);
    return XCR_CUDA_CALL(device, cuLaunchKernel, params.func, grid, 1, 1, kFillThreads, 1, 1, 0,
                         stream, params.kernelParams, nullptr);
  }
  switch (memset.elementSize) {
  case 1:
    return XCR_CUDA_CALL(device, cuMemsetD8Async, memset.dst,
                         static_cast<unsigned char>(memset.value), memset.width, stream);
  case 2:
    return XCR_CUDA_CALL(device, cuMemsetD16Async, memset.dst,
                         static_cast<unsigned short>(memset.value), memset.width, stream);
  default:
    return XCR_CUDA_CALL(device, cuMemsetD32Async, memset.dst, memset.value, memset.width, stream);
  }
}

//===----------------------------------------------------------------------===//
// The list
//===----------------------------------------------------------------------===//

Status CudaRecording::create(CudaDevice &device, const hal::CommandList &list,
                             const hal::RecordingOptions &options, Ref<hal::Recording> *out) {
  // A graph pays from the second command on; single commands are timed only on a stream.
  bool isGraph = !options.profile && device.launchKind != LaunchKind::Stream &&
                 (device.launchKind == LaunchKind::Graph || list.commands.size > 1);
  auto recording =
      Ref<CudaRecording>::adopt(device.allocator.create<CudaRecording>(device, isGraph));
  if (!recording)
    return outOfHostMemory(sizeof(CudaRecording));
  XCR_RETURN_IF_ERROR(recording->copyList(list));
  ContextScope scope(device);
  if (options.profile) {
    XCR_RETURN_IF_ERROR(recording->timers.resize(list.commands.size));
    for (Timer &timer : recording->timers) {
      XCR_RETURN_IF_ERROR(XCR_CUDA_CALL(device, cuEventCreate, &timer.begin, CU_EVENT_DEFAULT));
      XCR_RETURN_IF_ERROR(XCR_CUDA_CALL(device, cuEventCreate, &timer.end, CU_EVENT_DEFAULT));
    }
  }
  if (isGraph)
    XCR_RETURN_IF_ERROR(recording->buildGraph());
  *out = std::move(recording);
  return Status();
}

void CudaRecording::destroy() {
  HostAllocator allocator = device.allocator;
  {
    ContextScope scope(device);
    destroyGraph();
    for (Timer &timer : timers) {
      if (timer.begin)
        device.cu.cuEventDestroy(timer.begin);
      if (timer.end)
        device.cu.cuEventDestroy(timer.end);
    }
  }
  allocator.destroy(this);
}

template <typename T> static Status copySpan(Span<const T> from, Vector<T> &to) {
  XCR_RETURN_IF_ERROR(to.resize(from.size));
  if (from.size)
    memcpy(to.data(), from.data, from.size * sizeof(T));
  return Status();
}

Status CudaRecording::copyList(const hal::CommandList &list) {
  XCR_RETURN_IF_ERROR(commands.reserve(list.commands.size));
  XCR_RETURN_IF_ERROR(executables.reserve(list.commands.size));
  uint32_t mostParameters = 4;
  for (const hal::Command &command : list.commands) {
    XCR_RETURN_IF_ERROR(commands.push(command));
    XCR_RETURN_IF_ERROR(executables.push(Ref<hal::Executable>::share(command.executable)));
    if (uint32_t count = command.addresses.count + command.scalars.count; count > mostParameters)
      mostParameters = count;
  }
  XCR_RETURN_IF_ERROR(copySpan(list.edges, edges));
  XCR_RETURN_IF_ERROR(copySpan(list.addresses, addresses));
  XCR_RETURN_IF_ERROR(copySpan(list.scalars, scalars));
  return pointers.resize(mostParameters + 1);
}

/// Takes over one command's values.
Status CudaRecording::apply(const hal::CommandList &list, const hal::CommandChange &change) {
  const hal::Command &from = list.commands[change.command];
  commands[change.command] = from;
  for (uint32_t i = from.addresses.begin; i < from.addresses.begin + from.addresses.count; ++i)
    addresses[i] = list.addresses[i];
  for (uint32_t i = from.scalars.begin; i < from.scalars.begin + from.scalars.count; ++i)
    scalars[i] = list.scalars[i];
  executables[change.command] = Ref<hal::Executable>::share(from.executable);
  size_t parameters = from.addresses.count + from.scalars.count + 1;
  return parameters > pointers.size() ? pointers.resize(parameters) : Status();
}

//===----------------------------------------------------------------------===//
// Commands as the driver wants them
//===----------------------------------------------------------------------===//

const Kernel &CudaRecording::getKernel(const hal::Command &command) const {
  return static_cast<const CudaExecutable *>(command.executable)->kernel(command.exportOrdinal);
}

/// The parameters point into the recording's own arrays; the driver copies them at once.
Status CudaRecording::getKernelParams(const hal::Command &command, CUDA_KERNEL_NODE_PARAMS *out) {
  const Kernel &kernel = getKernel(command);
  if (kernel.parameters.size() > pointers.size())
    XCR_RETURN_IF_ERROR(pointers.resize(kernel.parameters.size()));
  for (size_t i = 0; i < kernel.parameters.size(); ++i) {
    const KernelParameter &parameter = kernel.parameters[i];
    switch (parameter.kind) {
    case fb::ParameterKind::ScalarI32: // the low half of the value, on a little-endian host
    case fb::ParameterKind::ScalarI64:
      pointers[i] = &scalars[command.scalars.begin + parameter.operand];
      break;
    case fb::ParameterKind::Workspace:
      pointers[i] = &addresses[command.addresses.begin + command.addresses.count - 1];
      break;
    default:
      pointers[i] = &addresses[command.addresses.begin + parameter.operand];
      break;
    }
  }
  *out = {};
  out->func = kernel.function;
  out->gridDimX = command.grid[0];
  out->gridDimY = command.grid[1];
  out->gridDimZ = command.grid[2];
  out->blockDimX = kernel.block[0];
  out->blockDimY = kernel.block[1];
  out->blockDimZ = kernel.block[2];
  out->sharedMemBytes = kernel.sharedBytes;
  out->kernelParams = pointers.data();
  return Status();
}

CUDA_MEMCPY3D CudaRecording::getCopyParams(const hal::Command &command) const {
  CUDA_MEMCPY3D params = {};
  params.srcMemoryType = params.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  params.srcDevice = addresses[command.addresses.begin];
  params.dstDevice = addresses[command.addresses.begin + 1];
  params.srcPitch = params.dstPitch = params.WidthInBytes = command.length;
  params.srcHeight = params.dstHeight = params.Height = params.Depth = 1;
  return params;
}

Status CudaRecording::getFill(const hal::Command &command, FillLaunch *out) {
  return out->prepare(device, addresses[command.addresses.begin], command.length, command.pattern,
                      command.patternSize);
}

//===----------------------------------------------------------------------===//
// Graph mode
//===----------------------------------------------------------------------===//

void CudaRecording::destroyGraph() {
  // An executable graph in flight is freed by the driver when it has ended.
  if (exec)
    device.cu.cuGraphExecDestroy(exec);
  if (graph)
    device.cu.cuGraphDestroy(graph);
  exec = nullptr;
  graph = nullptr;
}

Status CudaRecording::addKernelNode(CUgraph graph, uint32_t ordinal,
                                    const Vector<CUgraphNode> &before) {
  const hal::Command &command = commands[ordinal];
  CUDA_KERNEL_NODE_PARAMS params;
  XCR_RETURN_IF_ERROR(getKernelParams(command, &params));
  XCR_RETURN_IF_ERROR(XCR_CUDA_CALL(device, cuGraphAddKernelNode, &nodes[ordinal].handle, graph,
                                    before.data(), before.size(), &params));
  nodes[ordinal].kind = NodeKind::Kernel;
  const Kernel &kernel = getKernel(command);
  if (!kernel.hasCluster())
    return Status();
  CUlaunchAttributeValue value = {};
  value.clusterDim.x = kernel.cluster[0];
  value.clusterDim.y = kernel.cluster[1];
  value.clusterDim.z = kernel.cluster[2];
  return XCR_CUDA_CALL(device, cuGraphKernelNodeSetAttribute, nodes[ordinal].handle,
                       CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &value);
}

Status CudaRecording::addNode(CUgraph graph, uint32_t ordinal) {
  const hal::Command &command = commands[ordinal];
  Node &node = nodes[ordinal];
  node = Node();
  Vector<CUgraphNode> before(device.allocator);
  for (uint32_t i = 0; i < command.edges.count; ++i)
    XCR_RETURN_IF_ERROR(before.push(nodes[edges[command.edges.begin + i]].handle));
  // An empty command's values may be stale, so its node is a placeholder until it has some.
  if (command.isEmpty)
    return XCR_CUDA_CALL(device, cuGraphAddEmptyNode, &node.handle, graph, before.data(),
                         before.size());
  if (command.kind == CommandKind::Dispatch)
    return addKernelNode(graph, ordinal, before);
  if (command.kind == CommandKind::Copy) {
    CUDA_MEMCPY3D params = getCopyParams(command);
    node.kind = NodeKind::Copy;
    return XCR_CUDA_CALL(device, cuGraphAddMemcpyNode, &node.handle, graph, before.data(),
                         before.size(), &params, device.context);
  }
  FillLaunch fill;
  XCR_RETURN_IF_ERROR(getFill(command, &fill));
  if (!fill.isKernel) {
    node.kind = NodeKind::Memset;
    return XCR_CUDA_CALL(device, cuGraphAddMemsetNode, &node.handle, graph, before.data(),
                         before.size(), &fill.memset, device.context);
  }
  void *fillPointers[4];
  CUDA_KERNEL_NODE_PARAMS params = fill.getKernelParams(fillPointers);
  node.kind = NodeKind::FillKernel;
  return XCR_CUDA_CALL(device, cuGraphAddKernelNode, &node.handle, graph, before.data(),
                       before.size(), &params);
}

Status CudaRecording::buildGraph() {
  destroyGraph();
  XCR_RETURN_IF_ERROR(nodes.resize(commands.size()));
  XCR_RETURN_IF_ERROR(XCR_CUDA_CALL(device, cuGraphCreate, &graph, 0));
  for (uint32_t i = 0; i < commands.size(); ++i)
    XCR_RETURN_IF_ERROR(addNode(graph, i));
  return XCR_CUDA_CALL(device, cuGraphInstantiate, &exec, graph, 0);
}

/// Gives a node of the executable graph its command's values. What the driver refuses for this node
/// needs a new graph.
Status CudaRecording::setNodeParams(uint32_t ordinal, bool *needsGraph) {
  const hal::Command &command = commands[ordinal];
  Node &node = nodes[ordinal];
  CUresult result = CUDA_SUCCESS;
  const char *call = "";
  if (node.kind == NodeKind::Kernel) {
    CUDA_KERNEL_NODE_PARAMS params;
    XCR_RETURN_IF_ERROR(getKernelParams(command, &params));
    call = "cuGraphExecKernelNodeSetParams";
    result = device.cu.cuGraphExecKernelNodeSetParams(exec, node.handle, &params);
  } else if (node.kind == NodeKind::Copy) {
    CUDA_MEMCPY3D params = getCopyParams(command);
    call = "cuGraphExecMemcpyNodeSetParams";
    result = device.cu.cuGraphExecMemcpyNodeSetParams(exec, node.handle, &params, device.context);
  } else {
    FillLaunch fill;
    XCR_RETURN_IF_ERROR(getFill(command, &fill));
    if (fill.isKernel != (node.kind == NodeKind::FillKernel)) {
      *needsGraph = true;
      return Status();
    }
    void *fillPointers[4];
    CUDA_KERNEL_NODE_PARAMS params = fill.getKernelParams(fillPointers);
    call = fill.isKernel ? "cuGraphExecKernelNodeSetParams" : "cuGraphExecMemsetNodeSetParams";
    result = fill.isKernel ? device.cu.cuGraphExecKernelNodeSetParams(exec, node.handle, &params)
                           : device.cu.cuGraphExecMemsetNodeSetParams(exec, node.handle,
                                                                      &fill.memset, device.context);
  }
  if (result == CUDA_ERROR_INVALID_VALUE || result == CUDA_ERROR_NOT_SUPPORTED ||
      result == CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE) {
    *needsGraph = true;
    return Status();
  }
  return device.check(result, call);
}

Status CudaRecording::patchNode(uint32_t ordinal, uint8_t bits, bool *needsGraph) {
  const hal::Command &command = commands[ordinal];
  Node &node = nodes[ordinal];
  if (command.isEmpty) {
    if (node.kind == NodeKind::Empty || !node.isEnabled)
      return Status();
    node.isEnabled = false;
    return XCR_CUDA_CALL(device, cuGraphNodeSetEnabled, exec, node.handle, 0);
  }
  // The driver sets neither code of another cluster size nor a node's kind.
  bool hasCluster = command.kind == CommandKind::Dispatch && getKernel(command).hasCluster();
  if (node.kind == NodeKind::Empty || ((bits & hal::kChangedCode) && hasCluster)) {
    *needsGraph = true;
    return Status();
  }
  XCR_RETURN_IF_ERROR(setNodeParams(ordinal, needsGraph));
  if (*needsGraph || node.isEnabled)
    return Status();
  node.isEnabled = true;
  return XCR_CUDA_CALL(device, cuGraphNodeSetEnabled, exec, node.handle, 1);
}

Status CudaRecording::update(const hal::CommandList &list, Span<const hal::CommandChange> changes,
                             hal::UpdateCost *cost) {
  XCR_RETURN_IF_ERROR(device.checkAlive());
  for (const hal::CommandChange &change : changes)
    XCR_RETURN_IF_ERROR(apply(list, change));
  cost->patches += changes.size;
  if (!isGraph)
    return Status();
  ContextScope scope(device);
  bool needsGraph = !exec;
  for (const hal::CommandChange &change : changes)
    if (!needsGraph)
      XCR_RETURN_IF_ERROR(patchNode(change.command, change.bits, &needsGraph));
  if (!needsGraph)
    return Status();
  ++cost->instantiations;
  Status status = buildGraph();
  if (status.failed())
    destroyGraph();
  return status;
}

//===----------------------------------------------------------------------===//
// Launching
//===----------------------------------------------------------------------===//

Status CudaRecording::launchKernel(const hal::Command &command, CUstream stream) {
  const Kernel &kernel = getKernel(command);
  CUDA_KERNEL_NODE_PARAMS params;
  XCR_RETURN_IF_ERROR(getKernelParams(command, &params));
  CUlaunchAttribute attributes[2] = {};
  CUlaunchConfig config = {};
  config.gridDimX = params.gridDimX;
  config.gridDimY = params.gridDimY;
  config.gridDimZ = params.gridDimZ;
  config.blockDimX = params.blockDimX;
  config.blockDimY = params.blockDimY;
  config.blockDimZ = params.blockDimZ;
  config.sharedMemBytes = params.sharedMemBytes;
  config.hStream = stream;
  config.attrs = attributes;
  if (kernel.hasCluster()) {
    CUlaunchAttribute &attribute = attributes[config.numAttrs++];
    attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attribute.value.clusterDim.x = kernel.cluster[0];
    attribute.value.clusterDim.y = kernel.cluster[1];
    attribute.value.clusterDim.z = kernel.cluster[2];
  }
  if (kernel.isProgrammatic) {
    CUlaunchAttribute &attribute = attributes[config.numAttrs++];
    attribute.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    attribute.value.programmaticStreamSerializationAllowed = 1;
  }
  return XCR_CUDA_CALL(device, cuLaunchKernelEx, &config, kernel.function, params.kernelParams,
                       nullptr);
}

Status CudaRecording::launchCommand(const hal::Command &command, CUstream stream) {
  if (command.isEmpty)
    return Status();
  if (command.kind == CommandKind::Dispatch)
    return launchKernel(command, stream);
  if (command.kind == CommandKind::Copy)
    return XCR_CUDA_CALL(device, cuMemcpyDtoDAsync, addresses[command.addresses.begin + 1],
                         addresses[command.addresses.begin], command.length, stream);
  FillLaunch fill;
  XCR_RETURN_IF_ERROR(getFill(command, &fill));
  return fill.launch(device, stream);
}

Status CudaRecording::launch(CUstream stream) {
  if (!timers.empty())
    return launchTimed(stream);
  if (isGraph) {
    if (!exec)
      return makeStatus(device.allocator, XCR_STATUS_INTERNAL,
                        "the plan's last update failed, so there is nothing to launch");
    return XCR_CUDA_CALL(device, cuGraphLaunch, exec, stream);
  }
  for (const hal::Command &command : commands)
    XCR_RETURN_IF_ERROR(launchCommand(command, stream));
  return Status();
}

Status CudaRecording::launchTimed(CUstream stream) {
  collectTimes();
  for (uint32_t i = 0; i < commands.size(); ++i) {
    if (commands[i].isEmpty)
      continue;
    XCR_RETURN_IF_ERROR(XCR_CUDA_CALL(device, cuEventRecord, timers[i].begin, stream));
    XCR_RETURN_IF_ERROR(launchCommand(commands[i], stream));
    XCR_RETURN_IF_ERROR(XCR_CUDA_CALL(device, cuEventRecord, timers[i].end, stream));
    timers[i].isPending = true;
  }
  return Status();
}

/// Adds up the launch before this one, waiting for it where it has not ended.
void CudaRecording::collectTimes() {
  for (Timer &timer : timers) {
    float milliseconds = 0;
    if (!timer.isPending)
      continue;
    timer.isPending = false;
    if (device.cu.cuEventSynchronize(timer.end) != CUDA_SUCCESS ||
        device.cu.cuEventElapsedTime(&milliseconds, timer.begin, timer.end) != CUDA_SUCCESS)
      continue;
    uint64_t taken = static_cast<uint64_t>(milliseconds * 1e6f);
    hal::CommandTimes &times = timer.times;
    times.minNs = times.launches && times.minNs < taken ? times.minNs : taken;
    times.totalNs += taken;
    ++times.launches;
  }
}

hal::CommandTimes CudaRecording::times(uint32_t command) const {
  if (timers.empty())
    return hal::CommandTimes();
  ContextScope scope(device);
  // What the last launch took is only asked for here.
  const_cast<CudaRecording *>(this)->collectTimes();
  return timers[command].times;
}
