//===- Copy.cpp - Copies and fills ----------------------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver.h"
#include "Memory.h"

#include <cinttypes>
#include <cstdio>
#include <cstring>

namespace xc::cudasim {
namespace {

/// What one side of a copy turned out to be.
struct Side {
  Device *device = nullptr;
  bool pageable = false;
};

/// Finds what is at `address`; `bytes` is the extent from the first to the last
/// byte that is touched.
CUresult resolveSide(uint64_t address, CUmemorytype type, uint64_t bytes, Side &side) {
  if (!bytes)
    return CUDA_SUCCESS;
  if (!address)
    return CUDA_ERROR_INVALID_VALUE;
  Driver &state = driver();
  std::optional<Range> range = state.memory.find(address);
  if (range && range->isHost() && type == CU_MEMORYTYPE_HOST)
    return CUDA_SUCCESS; // may run over its end, into pageable memory
  if (range) {
    if (!state.memory.covers(address, bytes))
      return CUDA_ERROR_INVALID_VALUE;
    if (!range->isHost())
      side.device = state.devices[range->device].get();
    return CUDA_SUCCESS;
  }
  if (type == CU_MEMORYTYPE_DEVICE)
    return CUDA_ERROR_INVALID_VALUE;
  side.pageable = true;
  return CUDA_SUCCESS;
}

/// Bytes from the first to past the last that a side with this shape touches.
uint64_t extentOf(uint64_t width, uint64_t height, uint64_t depth, uint64_t pitch, uint64_t slice) {
  if (!width || !height || !depth)
    return 0;
  return (depth - 1) * slice + (height - 1) * pitch + width;
}

CUresult resolveSides(Copy &copy) {
  Side destination, source;
  CUresult result = resolveSide(
      copy.destination, copy.destinationType,
      extentOf(copy.width, copy.height, copy.depth, copy.destinationPitch, copy.destinationSlice),
      destination);
  if (result == CUDA_SUCCESS)
    result = resolveSide(
        copy.source, copy.sourceType,
        extentOf(copy.width, copy.height, copy.depth, copy.sourcePitch, copy.sourceSlice), source);
  copy.destinationDevice = destination.device;
  copy.destinationPageable = destination.pageable;
  copy.sourceDevice = source.device;
  copy.sourcePageable = source.pageable;
  return result;
}

bool baseOf(CUmemorytype type, const void *host, CUdeviceptr device, uint64_t &base) {
  if (type == CU_MEMORYTYPE_HOST)
    base = reinterpret_cast<uintptr_t>(host);
  else if (type == CU_MEMORYTYPE_DEVICE || type == CU_MEMORYTYPE_UNIFIED)
    base = device;
  else
    return false; // arrays
  return true;
}

std::string hex(uint64_t value) {
  char text[32];
  snprintf(text, sizeof(text), "0x%" PRIx64, value);
  return text;
}

/// Reports device memory that was freed between the call and the operation.
bool checkAccessible(Context &context, const char *what, Device *device, uint64_t address,
                     uint64_t bytes) {
  if (!device || device->simulator().memory().isAccessible(address, bytes))
    return true;
  ptxsim::RangeInfo info = device->simulator().memory().lookup(address);
  std::string text =
      std::string(what) + " of " + std::to_string(bytes) + " bytes at " + hex(address) + ": ";
  if (info.found)
    text += "the memory (" + info.tag + ") " +
            (info.live ? "ends before" : "is not allocated when the operation runs");
  else
    text += "no allocation is there when the operation runs";
  driver().fault(context, CUDA_ERROR_ILLEGAL_ADDRESS, text);
  return false;
}

} // namespace

CUresult resolveCopy(uint64_t destination, CUmemorytype destinationType, uint64_t source,
                     CUmemorytype sourceType, uint64_t bytes, Copy &copy) {
  copy.destination = destination;
  copy.source = source;
  copy.width = bytes;
  copy.destinationType = destinationType;
  copy.sourceType = sourceType;
  return resolveSides(copy);
}

CUresult resolveCopy(const CUDA_MEMCPY3D &params, Copy &copy) {
  if (params.reserved0 || params.reserved1 || params.srcLOD || params.dstLOD)
    return CUDA_ERROR_INVALID_VALUE;
  uint64_t source = 0, destination = 0;
  if (!baseOf(params.srcMemoryType, params.srcHost, params.srcDevice, source) ||
      !baseOf(params.dstMemoryType, params.dstHost, params.dstDevice, destination))
    return params.srcMemoryType == CU_MEMORYTYPE_ARRAY ||
                   params.dstMemoryType == CU_MEMORYTYPE_ARRAY
               ? CUDA_ERROR_NOT_SUPPORTED
               : CUDA_ERROR_INVALID_VALUE;
  // A pitch of zero means rows, or slices, without a gap.
  auto pitchOf = [&](size_t pitch) { return pitch ? pitch : params.WidthInBytes; };
  auto rowsOf = [&](size_t rows) { return rows ? rows : params.Height; };
  copy.width = params.WidthInBytes;
  copy.height = params.Height;
  copy.depth = params.Depth;
  copy.sourceType = params.srcMemoryType;
  copy.destinationType = params.dstMemoryType;
  copy.sourcePitch = pitchOf(params.srcPitch);
  copy.destinationPitch = pitchOf(params.dstPitch);
  if (copy.height > 1 && (copy.sourcePitch < params.srcXInBytes + copy.width ||
                          copy.destinationPitch < params.dstXInBytes + copy.width))
    return CUDA_ERROR_INVALID_VALUE;
  copy.sourceSlice = copy.sourcePitch * rowsOf(params.srcHeight);
  copy.destinationSlice = copy.destinationPitch * rowsOf(params.dstHeight);
  copy.source =
      source + params.srcZ * copy.sourceSlice + params.srcY * copy.sourcePitch + params.srcXInBytes;
  copy.destination = destination + params.dstZ * copy.destinationSlice +
                     params.dstY * copy.destinationPitch + params.dstXInBytes;
  return resolveSides(copy);
}

CUresult resolveCopy(const CUDA_MEMCPY2D &params, Copy &copy) {
  CUDA_MEMCPY3D wide = {};
  wide.srcXInBytes = params.srcXInBytes;
  wide.srcY = params.srcY;
  wide.srcMemoryType = params.srcMemoryType;
  wide.srcHost = params.srcHost;
  wide.srcDevice = params.srcDevice;
  wide.srcPitch = params.srcPitch;
  wide.dstXInBytes = params.dstXInBytes;
  wide.dstY = params.dstY;
  wide.dstMemoryType = params.dstMemoryType;
  wide.dstHost = params.dstHost;
  wide.dstDevice = params.dstDevice;
  wide.dstPitch = params.dstPitch;
  wide.WidthInBytes = params.WidthInBytes;
  wide.Height = params.Height;
  wide.Depth = 1;
  return resolveCopy(wide, copy);
}

ptxsim::Task beginTask(const char *name) {
  WorkOrder &order = *currentOrder();
  ptxsim::Task task = driver().tasks->begin(name, order.known);
  order.learn(task.after());
  return task;
}

bool noteTask(Context &context, const ptxsim::Task &task, Device *device, uint64_t address,
              uint64_t bytes, bool writes, const char *verb) {
  std::string problem;
  if (!device || !driver().config.checks.race ||
      device->simulator().memory().noteTask(task, address, bytes, writes, problem, verb))
    return true;
  driver().fault(context, CUDA_ERROR_LAUNCH_FAILED, problem);
  return false;
}

/// Reports that the host is given bytes that nobody wrote.
static bool checkWritten(Context &context, const Copy &copy, uint64_t address) {
  if (!copy.sourceDevice || copy.destinationDevice || !driver().config.checks.uninitialised)
    return true;
  ptxsim::Memory &memory = copy.sourceDevice->simulator().memory();
  uint64_t written = memory.initialisedPrefix(address, copy.width);
  if (written == copy.width)
    return true;
  ptxsim::RangeInfo info = memory.lookup(address + written);
  driver().fault(
      context, CUDA_ERROR_LAUNCH_FAILED,
      "uninitialised read: copy of " + std::to_string(copy.width) +
          " bytes from device memory at " + hex(address) + " to the host: byte at offset " +
          std::to_string(address + written - info.base) + " of " + info.tag + " was never written");
  return false;
}

void runCopy(Context &context, const Copy &copy) {
  ptxsim::Task task = beginTask("copy");
  for (uint64_t z = 0; z < copy.depth; ++z)
    for (uint64_t y = 0; y < copy.height; ++y) {
      uint64_t destination =
          copy.destination + z * copy.destinationSlice + y * copy.destinationPitch;
      uint64_t source = copy.source + z * copy.sourceSlice + y * copy.sourcePitch;
      if (!copy.width ||
          !checkAccessible(context, "copy from device memory", copy.sourceDevice, source,
                           copy.width) ||
          !checkAccessible(context, "copy to device memory", copy.destinationDevice, destination,
                           copy.width) ||
          !noteTask(context, task, copy.sourceDevice, source, copy.width, /*writes=*/false) ||
          !noteTask(context, task, copy.destinationDevice, destination, copy.width,
                    /*writes=*/true) ||
          !checkWritten(context, copy, source))
        return;
      memmove(reinterpret_cast<void *>(destination), reinterpret_cast<const void *>(source),
              copy.width);
      if (!copy.destinationDevice)
        continue;
      ptxsim::Memory &memory = copy.destinationDevice->simulator().memory();
      if (copy.sourceDevice == copy.destinationDevice)
        memory.copyInitialised(destination, source, copy.width);
      else
        memory.markInitialised(destination, copy.width);
    }
}

CUresult resolveFill(const CUDA_MEMSET_NODE_PARAMS &params, Fill &fill) {
  unsigned size = params.elementSize;
  if ((size != 1 && size != 2 && size != 4) || params.dst % size)
    return CUDA_ERROR_INVALID_VALUE;
  fill.destination = params.dst;
  fill.pitch = params.height > 1 ? params.pitch : params.width * size;
  fill.width = params.width;
  fill.height = params.height;
  fill.value = params.value;
  fill.elementSize = size;
  if (params.height > 1 && (params.pitch < params.width * size || params.pitch % size))
    return CUDA_ERROR_INVALID_VALUE;
  Side side;
  CUresult result = resolveSide(fill.destination, CU_MEMORYTYPE_DEVICE,
                                extentOf(fill.width * size, fill.height, 1, fill.pitch, 0), side);
  fill.device = side.device;
  return result;
}

void runFill(Context &context, const Fill &fill) {
  ptxsim::Task task = beginTask("fill");
  uint64_t rowBytes = fill.width * fill.elementSize;
  for (uint64_t y = 0; y < fill.height && rowBytes; ++y) {
    uint64_t row = fill.destination + y * fill.pitch;
    if (!checkAccessible(context, "fill", fill.device, row, rowBytes) ||
        !noteTask(context, task, fill.device, row, rowBytes, /*writes=*/true))
      return;
    auto *bytes = reinterpret_cast<uint8_t *>(row);
    for (uint64_t i = 0; i < fill.width; ++i)
      memcpy(bytes + i * fill.elementSize, &fill.value, fill.elementSize);
    if (fill.device)
      fill.device->simulator().memory().markInitialised(row, rowBytes);
  }
}

} // namespace xc::cudasim
