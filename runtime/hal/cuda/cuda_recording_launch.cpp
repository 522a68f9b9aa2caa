//===- cuda_recording_launch.cpp - Launching a recorded plan --------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A recording is launched as its graph, or command by command on streams: where it is captured into
// a caller's graph, where commands are timed, and where an if or a while is decided by the host.
//
//===----------------------------------------------------------------------===//

#include "runtime/hal/cuda/cuda_recording.h"

using namespace xc;
using namespace xc::cuda;
using hal::CommandKind;

/// \p isBehindKernel: the stream's last work may be a kernel, so that one which waits for it by
/// itself may begin before it has ended. Behind anything else the driver starts it in order.
Status CudaRecording::launchKernel(uint32_t ordinal, CUstream stream, bool isBehindKernel) {
  const Kernel &kernel = getKernel(commands[ordinal]);
  const CUDA_KERNEL_NODE_PARAMS &params = kernels[ordinal];
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
  if (kernel.isProgrammatic && isBehindKernel) {
    CUlaunchAttribute &attribute = attributes[config.numAttrs++];
    attribute.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    attribute.value.programmaticStreamSerializationAllowed = 1;
  }
  return XCR_CUDA_CALL(device, cuLaunchKernelEx, &config, kernel.function, params.kernelParams,
                       nullptr);
}

Status CudaRecording::launchCommand(uint32_t ordinal, CUstream stream, bool isBehindKernel) {
  const hal::Command &command = commands[ordinal];
  if (command.isEmpty)
    return Status();
  if (command.kind == CommandKind::Dispatch)
    return launchKernel(ordinal, stream, isBehindKernel);
  if (command.kind == CommandKind::Copy)
    return XCR_CUDA_CALL(device, cuMemcpyDtoDAsync, addresses[command.addresses.begin + 1],
                         addresses[command.addresses.begin], command.length, stream);
  FillLaunch fill;
  XCR_RETURN_IF_ERROR(getFill(command, &fill));
  return fill.launch(device, stream);
}

Status CudaRecording::launchLanes(const CUstream *streams) {
  if (lanes.laneCount() > 1)
    XCR_RETURN_IF_ERROR(XCR_CUDA_CALL(device, cuEventRecord, marks.back(), streams[0]));
  // Whether a lane's last work may be a kernel. What is before this launch mostly is one.
  bool endsInKernel[kMaxLanes] = {};
  endsInKernel[0] = lanes.laneCount() == 1 && !readsInputsEarly;
  for (uint32_t i = 0; i < commands.size(); ++i) {
    const LanePlan::Step &step = lanes.step(i);
    CUstream stream = streams[step.lane];
    bool &isBehindKernel = endsInKernel[step.lane];
    if (step.waitsForStart)
      XCR_RETURN_IF_ERROR(XCR_CUDA_CALL(device, cuStreamWaitEvent, stream, marks.back(), 0));
    for (uint32_t earlier : lanes.waitsOf(step))
      XCR_RETURN_IF_ERROR(XCR_CUDA_CALL(device, cuStreamWaitEvent, stream, marks[earlier], 0));
    isBehindKernel = isBehindKernel && step.waits.count == 0;
    XCR_RETURN_IF_ERROR(launchCommand(i, stream, isBehindKernel));
    if (!commands[i].isEmpty)
      isBehindKernel = forms[i].kind == NodeForm::Kernel;
    if (step.isAwaited) {
      XCR_RETURN_IF_ERROR(XCR_CUDA_CALL(device, cuEventRecord, marks[i], stream));
      isBehindKernel = false;
    }
  }
  for (uint32_t last : lanes.endWaits())
    XCR_RETURN_IF_ERROR(XCR_CUDA_CALL(device, cuStreamWaitEvent, streams[0], marks[last], 0));
  return Status();
}

void CudaRecording::beginPutOff() {
  Lock lock(putOffMutex);
  ++putOff;
}

void CudaRecording::endPutOff() {
  Lock lock(putOffMutex);
  --putOff;
  putOffChanged.notifyAll();
}

void CudaRecording::awaitPutOff() const {
  Lock lock(putOffMutex);
  while (putOff)
    putOffChanged.wait(putOffMutex);
}

Status CudaRecording::prepareCapture() {
  if (!timers.empty())
    return makeStatus(device.allocator, XCR_STATUS_FAILED_PRECONDITION,
                      "the stream is being captured into a graph, in which commands cannot be "
                      "timed: launch a call without XCR_CALL_PROFILE");
  if (hasControl() && !device.canCaptureConditionalNodes())
    return makeStatus(device.allocator, XCR_STATUS_FAILED_PRECONDITION,
                      "the stream is being captured into a graph, which cannot hold a plan's if or "
                      "while with driver %d.%d (12.8 is the first that can): launch the call "
                      "before or after the graph, not in the capture",
                      device.cu.driverVersion / 1000, device.cu.driverVersion % 1000 / 10);
  return hasControl() || lanes.laneCount() != 0 ? Status() : createLanes();
}

Status CudaRecording::launch(const CUstream *streams, bool isCaptured) {
  if (isBroken)
    return makeStatus(device.allocator, XCR_STATUS_INTERNAL,
                      "the plan's last update failed, so there is nothing to launch");
  if (isCaptured)
    return hasControl() ? addToCapture(streams[0]) : launchLanes(streams);
  if (isGraph)
    return graphs[current].launch(streams[0]);
  Status status;
  if (!timers.empty()) {
    collectTimes();
    status = XCR_CUDA_CALL(device, cuEventRecord, launchBegin, streams[0]);
  }
  if (hasControl() && status.succeeded()) {
    status = launchRegion(0, streams[0]);
  } else if (timers.empty()) {
    status = launchLanes(streams);
  } else {
    for (uint32_t i = 0; i < commands.size() && status.succeeded(); ++i)
      status = launchTimed(i, streams[0]);
  }
  // The caller takes a launch that has failed for one that was not begun.
  if (status.failed())
    for (uint32_t lane = 0; lane < laneCount(isCaptured); ++lane)
      device.cu.cuStreamSynchronize(streams[lane]);
  return status;
}

Status CudaRecording::launchTimed(uint32_t ordinal, CUstream stream) {
  const hal::Command &command = commands[ordinal];
  Timer &timer = timers[ordinal];
  if (command.isEmpty)
    return Status();
  XCR_RETURN_IF_ERROR(XCR_CUDA_CALL(device, cuEventRecord, timer.begin, stream));
  XCR_RETURN_IF_ERROR(launchCommand(ordinal, stream, /*isBehindKernel=*/false));
  XCR_RETURN_IF_ERROR(XCR_CUDA_CALL(device, cuEventRecord, timer.end, stream));
  timer.isPending = true;
  return Status();
}

/// Adds up what has been timed since the last time, waiting for it where it has not ended.
void CudaRecording::collectTimes() {
  for (Timer &timer : timers) {
    float begin = 0, taken = 0; // milliseconds
    if (!timer.isPending)
      continue;
    timer.isPending = false;
    Status status = XCR_CUDA_CALL(device, cuEventSynchronize, timer.end);
    if (status.succeeded())
      status = XCR_CUDA_CALL(device, cuEventElapsedTime, &begin, launchBegin, timer.begin);
    if (status.succeeded())
      status = XCR_CUDA_CALL(device, cuEventElapsedTime, &taken, timer.begin, timer.end);
    if (status.succeeded()) // a launch that has failed is reported by its stream
      timer.times.add(static_cast<uint64_t>(begin * 1e6f), static_cast<uint64_t>(taken * 1e6f));
  }
}

hal::CommandTimes CudaRecording::times(uint32_t command) const {
  if (timers.empty())
    return hal::CommandTimes();
  awaitPutOff();
  ContextScope scope(device);
  // What the last launch took is only asked for here.
  const_cast<CudaRecording *>(this)->collectTimes();
  return timers[command].times;
}
