//===- cuda_arena.cpp - Scratch memory of a stream ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/hal/cuda/cuda_arena.h"

#include "runtime/base/checked.h"

#include <cinttypes>

using namespace xc;
using namespace xc::cuda;

static CUmemAllocationProp getProperties(const CudaDevice &device) {
  CUmemAllocationProp properties = {};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.location.id = device.device;
  return properties;
}

/// Doubles at least, so that a growing need moves the base a few times only.
Status CudaArena::growWithoutMapping(uint64_t size) {
  uint64_t wanted = committed > size / 2 && committed < UINT64_MAX / 2 ? 2 * committed : size;
  Ref<hal::Memory> larger;
  Status status = device.allocateOnce(wanted, &larger);
  if (status.code() == XCR_STATUS_OUT_OF_MEMORY && wanted > size)
    status = device.allocateOnce(wanted = size, &larger);
  XCR_RETURN_IF_ERROR(std::move(status));
  if (plain && isPinned)
    XCR_RETURN_IF_ERROR(pinned.push(plain));
  plain = std::move(larger);
  address = plain->address();
  device.counter.refundArena(committed);
  committed = wanted;
  device.counter.chargeArena(committed);
  return Status();
}

Status CudaArena::reserve() {
  CUmemAllocationProp properties = getProperties(device);
  size_t bytes = 0;
  XCR_RETURN_IF_ERROR(XCR_CUDA_CALL(device, cuMemGetAllocationGranularity, &bytes, &properties,
                                    CU_MEM_ALLOC_GRANULARITY_RECOMMENDED));
  granularity = bytes;
  if (!alignUp(device.info.totalMemory, granularity, &reserved))
    return makeOutOfMemory(device.allocator,
                           {device.info.totalMemory, UINT64_MAX, device.counter.bytesInUse()},
                           "no addresses for the arena");
  CUresult result = device.cu.cuMemAddressReserve(&address, reserved, 0, 0, 0);
  if (result == CUDA_ERROR_OUT_OF_MEMORY)
    return makeOutOfMemory(device.allocator, {reserved, UINT64_MAX, device.counter.bytesInUse()},
                           "cuMemAddressReserve for an arena on device %s: "
                           "CUDA_ERROR_OUT_OF_MEMORY (each stream with an arena reserves addresses "
                           "for all of the device's memory)",
                           device.info.uri.c_str());
  return device.check(result, "cuMemAddressReserve");
}

/// Puts \p bytes of physical memory behind what is mapped.
Status CudaArena::map(uint64_t bytes) {
  CUmemAllocationProp properties = getProperties(device);
  XCR_RETURN_IF_ERROR(handles.reserve(handles.size() + 1));
  Piece piece = {0, bytes};
  if (CUresult result = device.cu.cuMemCreate(&piece.handle, bytes, &properties, 0)) {
    if (result == CUDA_ERROR_OUT_OF_MEMORY)
      return makeOutOfMemory(device.allocator, device.memoryBytes(bytes, bytes),
                             "cuMemCreate for an arena on device %s, which grows in steps of "
                             "%" PRIu64 ": CUDA_ERROR_OUT_OF_MEMORY",
                             device.info.uri.c_str(), granularity);
    return device.check(result, "cuMemCreate");
  }
  if (Status status =
          XCR_CUDA_CALL(device, cuMemMap, address + committed, bytes, 0, piece.handle, 0);
      status.failed()) {
    device.cu.cuMemRelease(piece.handle);
    return status;
  }
  CUmemAccessDesc access = {};
  access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  access.location.id = device.device;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  if (Status status = XCR_CUDA_CALL(device, cuMemSetAccess, address + committed, bytes, &access, 1);
      status.failed()) {
    device.cu.cuMemUnmap(address + committed, bytes);
    device.cu.cuMemRelease(piece.handle);
    return status;
  }
  return handles.push(piece);
}

Status CudaArena::restore(uint64_t size) {
  bool hasMoved = false;
  // What cannot be mapped is not trimmed while a call holds it.
  return device.capabilities.hasVirtualMemory ? grow(size, &hasMoved) : Status();
}

Status CudaArena::grow(uint64_t size, bool *hasMoved) {
  if (size <= committed && address)
    return Status();
  ContextScope scope(device);
  XCR_RETURN_IF_ERROR(scope.status());
  if (!device.capabilities.hasVirtualMemory) {
    *hasMoved = true;
    return growWithoutMapping(size);
  }
  if (!address)
    XCR_RETURN_IF_ERROR(reserve());
  uint64_t wanted, available = reserved;
  if (!alignUp(size, granularity, &wanted) || wanted > reserved)
    return makeOutOfMemory(device.allocator, {size, reserved, device.counter.bytesInUse()},
                           "an arena does not fit into device %s", device.info.uri.c_str());
  uint64_t more = wanted - committed;
  if (more == 0)
    return Status();
  if (!device.counter.charge(more, &available))
    return makeOutOfMemory(device.allocator, {more, available, device.counter.bytesInUse()},
                           "the memory limit of device %s is reached by an arena of %" PRIu64
                           " bytes, which grows in steps of %" PRIu64,
                           device.info.uri.c_str(), size, granularity);
  if (Status status = map(more); status.failed()) {
    device.counter.refund(more);
    return status;
  }
  device.counter.chargeArena(more);
  committed = wanted;
  return Status();
}

void CudaArena::trim() {
  if (isPinned)
    return;
  if (!device.capabilities.hasVirtualMemory) {
    device.counter.refundArena(committed);
    plain = Ref<hal::Memory>();
    address = committed = 0;
    return;
  }
  ContextScope scope(device, ContextScope::kRelease);
  uint64_t offset = 0;
  for (const Piece &piece : handles) {
    device.cu.cuMemUnmap(address + offset, piece.bytes);
    device.cu.cuMemRelease(piece.handle);
    offset += piece.bytes;
  }
  handles.clear();
  device.counter.refund(committed);
  device.counter.refundArena(committed);
  committed = 0;
}

void CudaArena::release() {
  isPinned = false;
  trim();
  if (address) {
    ContextScope scope(device, ContextScope::kRelease);
    device.cu.cuMemAddressFree(address, reserved);
  }
}
