//===- cuda_recording.cpp - A plan as CUDA graphs, or as launches on a stream ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/hal/cuda/cuda_recording.h"

#include <algorithm>

using namespace xc;
using namespace xc::cuda;
using hal::CommandKind;

//===----------------------------------------------------------------------===//
// The list
//===----------------------------------------------------------------------===//

Status CudaRecording::create(CudaDevice &device, const hal::CommandList &list,
                             const hal::RecordingOptions &options, Ref<hal::Recording> *out) {
  // A graph pays from the second command on; single commands are timed only on a stream.
  bool isGraph = !options.profile && device.launchKind != LaunchKind::Stream &&
                 (device.launchKind == LaunchKind::Graph || list.commands.size > 1) &&
                 (!list.hasControl() || device.hasConditionalNodes());
  auto recording = Ref<CudaRecording>::adopt(
      device.allocator.create<CudaRecording>(device, isGraph, list.hasNestedControl()));
  if (!recording)
    return outOfHostMemory(sizeof(CudaRecording));
  ContextScope scope(device);
  XCR_RETURN_IF_ERROR(scope.status());
  XCR_RETURN_IF_ERROR(recording->copyList(list));
  if (options.profile)
    XCR_RETURN_IF_ERROR(recording->createTimers());
  else if (isGraph)
    XCR_RETURN_IF_ERROR(recording->addGraph());
  else if (!list.hasControl())
    XCR_RETURN_IF_ERROR(recording->createLanes());
  *out = std::move(recording);
  return Status();
}

void CudaRecording::destroy() {
  HostAllocator allocator = device.allocator;
  {
    ContextScope scope(device, ContextScope::kRelease);
    graphs.clear();
    for (CUevent mark : marks)
      if (mark)
        device.cu.cuEventDestroy(mark);
    if (launchBegin)
      device.cu.cuEventDestroy(launchBegin);
    for (Timer &timer : timers) {
      if (timer.begin)
        device.cu.cuEventDestroy(timer.begin);
      if (timer.end)
        device.cu.cuEventDestroy(timer.end);
    }
  }
  allocator.destroy(this);
}

Status CudaRecording::createTimers() {
  XCR_RETURN_IF_ERROR(timers.resize(commands.size()));
  XCR_RETURN_IF_ERROR(XCR_CUDA_CALL(device, cuEventCreate, &launchBegin, CU_EVENT_DEFAULT));
  for (Timer &timer : timers) {
    XCR_RETURN_IF_ERROR(XCR_CUDA_CALL(device, cuEventCreate, &timer.begin, CU_EVENT_DEFAULT));
    XCR_RETURN_IF_ERROR(XCR_CUDA_CALL(device, cuEventCreate, &timer.end, CU_EVENT_DEFAULT));
  }
  return Status();
}

Status CudaRecording::createLanes() {
  Status status = lanes.build(commands.span(), edges.span());
  if (status.succeeded() && lanes.laneCount() > 1)
    status = createMarks();
  // Whoever asks for lanes again must not find half of them.
  if (status.failed())
    lanes.clear();
  return status;
}

Status CudaRecording::createMarks() {
  XCR_RETURN_IF_ERROR(marks.resize(commands.size() + 1));
  for (uint32_t i = 0; i < marks.size(); ++i)
    if (!marks[i] && (i == commands.size() || lanes.step(i).isAwaited))
      XCR_RETURN_IF_ERROR(XCR_CUDA_CALL(device, cuEventCreate, &marks[i], CU_EVENT_DISABLE_TIMING));
  return Status();
}

template <typename T> static Status copySpan(Span<const T> from, Vector<T> &to) {
  XCR_RETURN_IF_ERROR(to.resize(from.size));
  if (from.size)
    memcpy(to.data(), from.data, from.size * sizeof(T));
  return Status();
}

Status CudaRecording::copyList(const hal::CommandList &list) {
  XCR_RETURN_IF_ERROR(commands.reserve(list.commands.size));
  for (const hal::Command &command : list.commands)
    XCR_RETURN_IF_ERROR(commands.push(command));
  XCR_RETURN_IF_ERROR(copySpan(list.edges, edges));
  XCR_RETURN_IF_ERROR(copySpan(list.addresses, addresses));
  XCR_RETURN_IF_ERROR(copySpan(list.scalars, scalars));
  XCR_RETURN_IF_ERROR(copySpan(list.regions, regions));
  XCR_RETURN_IF_ERROR(forms.resize(commands.size()));
  XCR_RETURN_IF_ERROR(kernels.resize(commands.size()));
  for (uint32_t i = 0; i < commands.size(); ++i)
    XCR_RETURN_IF_ERROR(adopt(i));
  return Status();
}

/// Whether nothing follows from a change but other addresses in a kernel's parameters.
bool CudaRecording::isMove(const hal::CommandChange &change) const {
  const hal::Command &command = commands[change.command];
  return change.bits == hal::kChangedAddresses && command.kind == CommandKind::Dispatch &&
         !command.isEmpty;
}

/// Takes over what has changed of one command.
Status CudaRecording::apply(const hal::CommandList &list, hal::CommandChange change) {
  uint32_t ordinal = change.command;
  const hal::Command &from = list.commands[ordinal];
  for (uint32_t i = from.addresses.begin; i < from.addresses.begin + from.addresses.count; ++i)
    addresses[i] = list.addresses[i];
  if (isMove(change))
    return mapStride == 0 || getKernel(from).maps.empty() ? Status() : encodeMaps(ordinal);
  commands[ordinal] = from;
  for (uint32_t i = from.scalars.begin; i < from.scalars.begin + from.scalars.count; ++i)
    scalars[i] = list.scalars[i];
  return adopt(ordinal);
}

/// What follows from a command's new values.
Status CudaRecording::adopt(uint32_t ordinal) {
  const hal::Command &command = commands[ordinal];
  // The values of an empty command may be stale.
  if (command.isEmpty || command.kind == CommandKind::Control) {
    forms[ordinal] = NodeForm();
    return Status();
  }
  forms[ordinal] = getForm(command);
  if (command.kind != CommandKind::Dispatch)
    return Status();
  XCR_RETURN_IF_ERROR(keep(command.executable));
  readsInputsEarly |= getKernel(command).readsInputsEarly;
  XCR_RETURN_IF_ERROR(makeRoom(getKernel(command)));
  pointAt(ordinal);
  return encodeMaps(ordinal);
}

/// For parameters and maps of a kernel; what the other commands have of them moves.
Status CudaRecording::makeRoom(const Kernel &kernel) {
  bool growsMaps = kernel.maps.size() > mapStride;
  if (!growsMaps && kernel.parameters.size() <= pointerStride)
    return Status();
  // The strides hold once there is room for them. Parameters point to maps, so these move last.
  size_t pointersEach = std::max(pointerStride, kernel.parameters.size());
  size_t mapsEach = std::max(mapStride, kernel.maps.size());
  XCR_RETURN_IF_ERROR(pointers.resize(pointersEach * commands.size()));
  XCR_RETURN_IF_ERROR(maps.resize(mapsEach * commands.size()));
  pointerStride = pointersEach;
  mapStride = mapsEach;
  for (uint32_t i = 0; i < commands.size(); ++i) {
    if (forms[i].kind != NodeForm::Kernel || commands[i].kind != CommandKind::Dispatch)
      continue;
    pointAt(i);
    if (growsMaps)
      XCR_RETURN_IF_ERROR(encodeMaps(i));
  }
  return Status();
}

Status CudaRecording::keep(hal::Executable *executable) {
  for (Ref<hal::Executable> &kept : executables)
    if (kept.get() == executable)
      return Status();
  return executables.push(Ref<hal::Executable>::share(executable));
}

//===----------------------------------------------------------------------===//
// Commands as the driver wants them
//===----------------------------------------------------------------------===//

const Kernel &CudaRecording::getKernel(const hal::Command &command) const {
  return static_cast<const CudaExecutable *>(command.executable)->kernel(command.exportOrdinal);
}

NodeForm CudaRecording::getForm(const hal::Command &command) const {
  NodeForm form;
  if (command.kind == CommandKind::Copy) {
    form.kind = NodeForm::Copy;
  } else if (command.kind == CommandKind::Fill) {
    bool isKernel = FillLaunch::needsKernel(addresses[command.addresses.begin], command.length,
                                            command.pattern, command.patternSize);
    form.kind = isKernel ? NodeForm::Kernel : NodeForm::Memset;
  } else {
    form.kind = NodeForm::Kernel;
    form.isProgrammatic = getKernel(command).isProgrammatic;
    memcpy(form.cluster, getKernel(command).cluster, sizeof(form.cluster));
  }
  return form;
}

Status CudaRecording::encodeMaps(uint32_t ordinal) {
  const hal::Command &command = commands[ordinal];
  const Kernel &kernel = getKernel(command);
  for (size_t i = 0; i < kernel.maps.size(); ++i)
    if (Status status = encodeMap(command, kernel.maps[i], &maps[ordinal * mapStride + i]);
        status.failed())
      return addContext(std::move(status), device.allocator, "tensor map %zu of command %u: ", i,
                        ordinal);
  return Status();
}

Status CudaRecording::encodeMap(const hal::Command &command, const TensorMapSpec &spec,
                                CUtensorMap *out) const {
  auto numberOf = [&](const TensorMapValue &value) {
    return value.scalar < 0 ? value.literal
                            : scalars[command.scalars.begin + static_cast<uint32_t>(value.scalar)];
  };
  auto valueOf = [&](const TensorMapValue &value) {
    return static_cast<uint64_t>(numberOf(value));
  };
  cuuint64_t dims[kMaxMapRank], strides[kMaxMapRank];
  for (uint32_t i = 0; i < spec.rank; ++i)
    dims[i] = valueOf(spec.dims[i]);
  for (uint32_t i = 0; i + 1 < spec.rank; ++i)
    strides[i] = valueOf(spec.strides[i]);
  uint64_t address = addresses[command.addresses.begin + spec.binding] + valueOf(spec.offset);
  int upperCorner[kMaxMapRank - 2];
  // Whatever does not fit is out of the driver's range all the more.
  for (uint32_t i = 0; spec.isIm2col && i + 2 < spec.rank; ++i)
    upperCorner[i] =
        static_cast<int>(std::clamp<int64_t>(numberOf(spec.upperCorner[i]), INT32_MIN, INT32_MAX));
  if (spec.isIm2col)
    return XCR_CUDA_CALL(device, cuTensorMapEncodeIm2col, out, spec.type, spec.rank,
                         reinterpret_cast<void *>(address), dims, strides, spec.lowerCorner,
                         upperCorner, spec.channels, spec.pixels, spec.elementStrides,
                         spec.interleave, spec.swizzle, spec.l2Promotion, spec.oobFill);
  return XCR_CUDA_CALL(device, cuTensorMapEncodeTiled, out, spec.type, spec.rank,
                       reinterpret_cast<void *>(address), dims, strides, spec.box,
                       spec.elementStrides, spec.interleave, spec.swizzle, spec.l2Promotion,
                       spec.oobFill);
}

/// The address of a workspace of no bytes; nobody writes it.
static uint64_t noWorkspace = 0;

/// Has a dispatch's parameters point to where their values are; the driver copies those at once.
void CudaRecording::pointAt(uint32_t ordinal) {
  const hal::Command &command = commands[ordinal];
  const Kernel &kernel = getKernel(command);
  void **values = pointers.data() + ordinal * pointerStride;
  for (size_t i = 0; i < kernel.parameters.size(); ++i) {
    const KernelParameter &parameter = kernel.parameters[i];
    switch (parameter.kind) {
    case fb::ParameterKind::ScalarI32: // the low half of the value, on a little-endian host
    case fb::ParameterKind::ScalarI64:
      values[i] = &scalars[command.scalars.begin + parameter.operand];
      break;
    case fb::ParameterKind::Workspace:
      // Behind the bindings, where it has bytes.
      values[i] = command.hasWorkspace
                      ? &addresses[command.addresses.begin + command.addresses.count - 1]
                      : &noWorkspace;
      break;
    case fb::ParameterKind::TensorMap:
      values[i] = &maps[ordinal * mapStride + parameter.operand];
      break;
    default:
      values[i] = &addresses[command.addresses.begin + parameter.operand];
      break;
    }
  }
  CUDA_KERNEL_NODE_PARAMS &params = kernels[ordinal];
  params = {};
  params.func = kernel.function;
  params.gridDimX = command.grid[0];
  params.gridDimY = command.grid[1];
  params.gridDimZ = command.grid[2];
  params.blockDimX = kernel.block[0];
  params.blockDimY = kernel.block[1];
  params.blockDimZ = kernel.block[2];
  params.sharedMemBytes = kernel.sharedBytes;
  params.kernelParams = values;
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

Status CudaRecording::getFill(const hal::Command &command, FillLaunch *out) const {
  return out->prepare(device, addresses[command.addresses.begin], command.length, command.pattern,
                      command.patternSize);
}

Status CudaRecording::getWork(uint32_t ordinal, NodeWork *out) {
  const hal::Command &command = commands[ordinal];
  out->form = forms[ordinal];
  if (command.isEmpty)
    return Status();
  if (command.kind == CommandKind::Dispatch) {
    out->kernel = kernels[ordinal];
    return Status();
  }
  if (command.kind == CommandKind::Copy) {
    out->copy = getCopyParams(command);
    return Status();
  }
  XCR_RETURN_IF_ERROR(getFill(command, &out->fill));
  if (out->fill.isKernel)
    out->kernel = out->fill.getKernelParams(out->fillPointers);
  return Status();
}

//===----------------------------------------------------------------------===//
// Graph mode
//===----------------------------------------------------------------------===//

/// Makes a graph of what the commands are now, in place of the one unused for longest.
Status CudaRecording::addGraph() {
  CudaGraph graph(device);
  XCR_RETURN_IF_ERROR(graph.begin(commands.size()));
  if (hasControl())
    XCR_RETURN_IF_ERROR(addControlGraph(graph));
  for (uint32_t i = 0; i < commands.size() && !hasControl(); ++i) {
    NodeWork work;
    XCR_RETURN_IF_ERROR(getWork(i, &work));
    const hal::Range &before = commands[i].edges;
    XCR_RETURN_IF_ERROR(graph.add(i, work, {edges.data() + before.begin, before.count}));
  }
  XCR_RETURN_IF_ERROR(graph.instantiate());
  graph.lastUse = ++useCount;
  if (graphs.size() < kMaxGraphs) {
    XCR_RETURN_IF_ERROR(graphs.push(std::move(graph)));
    current = graphs.size() - 1;
    return Status();
  }
  current = 0;
  for (size_t i = 1; i < graphs.size(); ++i)
    if (graphs[i].lastUse < graphs[current].lastUse)
      current = i;
  graphs[current] = std::move(graph);
  return Status();
}

bool CudaRecording::accepts(const CudaGraph &graph, uint32_t ordinal) const {
  return commands[ordinal].isEmpty ? graph.canBeDisabled(ordinal)
                                   : graph.form(ordinal) == forms[ordinal];
}

/// A graph whose nodes take all commands as they are: the one in use if that does; as many as there
/// are if none does.
size_t CudaRecording::findGraph(Span<const hal::CommandChange> changes) const {
  bool isFine = current < graphs.size();
  for (const hal::CommandChange &change : changes)
    isFine = isFine && (isMove(change) || accepts(graphs[current], change.command));
  if (isFine)
    return current;
  for (size_t i = 0; i < graphs.size(); ++i) {
    isFine = i != current;
    for (uint32_t j = 0; isFine && j < commands.size(); ++j)
      isFine = accepts(graphs[i], j);
    if (isFine)
      return i;
  }
  return graphs.size();
}

Status CudaRecording::patch(CudaGraph &graph, uint32_t ordinal, bool *isRejected) {
  if (commands[ordinal].isEmpty)
    return graph.disable(ordinal, isRejected);
  if (commands[ordinal].kind == CommandKind::Control)
    return graph.setCondition(ordinal, addresses[commands[ordinal].addresses.begin], isRejected);
  if (commands[ordinal].kind == CommandKind::Dispatch)
    return graph.setKernel(ordinal, kernels[ordinal], isRejected);
  NodeWork work;
  XCR_RETURN_IF_ERROR(getWork(ordinal, &work));
  return graph.set(ordinal, work, isRejected);
}

/// Sets what differs: in the graph in use what has changed now, in another one what has changed
/// since it was used.
Status CudaRecording::patchAll(size_t ordinal, Span<const hal::CommandChange> changes,
                               hal::UpdateCost *cost, bool *isRejected) {
  CudaGraph &graph = graphs[ordinal];
  if (ordinal == current) {
    for (const hal::CommandChange &change : changes) {
      if (graph.isCurrent(change.command))
        continue; // named twice
      XCR_RETURN_IF_ERROR(patch(graph, change.command, isRejected));
      if (*isRejected)
        return Status();
      ++cost->patches;
    }
    return Status();
  }
  for (uint32_t i = 0; i < commands.size(); ++i) {
    if (graph.isCurrent(i))
      continue;
    XCR_RETURN_IF_ERROR(patch(graph, i, isRejected));
    if (*isRejected)
      return Status();
    ++cost->patches;
  }
  return Status();
}

Status CudaRecording::updateGraphs(Span<const hal::CommandChange> changes, hal::UpdateCost *cost) {
  for (CudaGraph &graph : graphs)
    for (const hal::CommandChange &change : changes)
      graph.markStale(change.command);
  for (size_t found; (found = findGraph(changes)) < graphs.size();) {
    bool isRejected = false;
    XCR_RETURN_IF_ERROR(patchAll(found, changes, cost, &isRejected));
    if (!isRejected) {
      current = found;
      graphs[current].lastUse = ++useCount;
      return Status();
    }
    // Half of it is patched. None is in use now.
    graphs[found] = std::move(graphs.back());
    graphs.pop();
    current = kMaxGraphs;
  }
  ++cost->instantiations;
  return addGraph();
}

Status CudaRecording::update(const hal::CommandList &list, Span<const hal::CommandChange> changes,
                             hal::UpdateCost *cost) {
  XCR_RETURN_IF_ERROR(device.checkAlive());
  awaitPutOff();
  ContextScope scope(device);
  Status status = scope.status();
  for (const hal::CommandChange &change : changes)
    if (status.succeeded())
      status = apply(list, change);
  if (status.succeeded() && isGraph)
    status = updateGraphs(changes, cost);
  else if (status.succeeded())
    cost->patches += changes.size;
  isBroken = status.failed();
  if (isBroken)
    graphs.clear();
  return status;
}
