//===- Memory.cpp - Allocations and virtual memory ------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Memory.h"

#include "Driver.h"

#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

namespace xc::cudasim {
namespace {

/// Allocations start this far into a page: aligned as the driver promises (256)
/// and does (512), but never better, so that code that counts on more is found.
constexpr uint64_t kOffsetInPage = 512;

/// Fresh memory up to this size is filled with ones (NaN, -1): results computed
/// from it look wrong even with the checks off. Larger memory stays untouched,
/// and thereby free, until it is used.
constexpr uint64_t kMaxPoison = uint64_t(16) << 20;

const char *kindName(RangeKind kind) {
  switch (kind) {
  case RangeKind::Device:
    return "cuMemAlloc";
  case RangeKind::Managed:
    return "cuMemAllocManaged";
  case RangeKind::Pool:
    return "cuMemAllocAsync";
  case RangeKind::Mapping:
    return "cuMemMap";
  case RangeKind::ModuleVariable:
    return "module variable";
  case RangeKind::HostAlloc:
    return "cuMemHostAlloc";
  case RangeKind::HostRegistered:
    return "cuMemHostRegister";
  }
  return "memory";
}

std::string tagOf(const Range &range) {
  return std::string(kindName(range.kind)) + " #" + std::to_string(range.id);
}

uint64_t takeAddresses(uint64_t bytes) {
  uint64_t base = driver().arena.allocate(bytes + kOffsetInPage, kPage);
  if (!base)
    return 0;
  if (bytes <= kMaxPoison)
    memset(reinterpret_cast<void *>(base + kOffsetInPage), 0xFF, bytes);
  return base + kOffsetInPage;
}

void giveAddresses(uint64_t base, uint64_t bytes) {
  driver().arena.release(base - kOffsetInPage, bytes + kOffsetInPage);
}

} // namespace

CUresult allocateDevice(Context &context, RangeKind kind, uint64_t bytes, CUdeviceptr &pointer) {
  Driver &state = driver();
  Device &device = context.device();
  if (!bytes)
    return CUDA_ERROR_INVALID_VALUE;
  if (bytes > state.maxAllocation.load() || !device.take(bytes))
    return CUDA_ERROR_OUT_OF_MEMORY;
  Range range;
  range.base = takeAddresses(bytes);
  if (!range.base) {
    device.give(bytes);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  range.size = bytes;
  range.kind = kind;
  range.context = context.handle();
  range.device = device.ordinal();
  range.id = state.memory.insert(range);
  // The host may write managed memory without telling anybody.
  device.simulator().memory().registerRange(range.base, bytes, tagOf(range),
                                            kind == RangeKind::Managed);
  pointer = range.base;
  return CUDA_SUCCESS;
}

CUresult allocateFromPool(Context &context, CUmemoryPool handle, const std::shared_ptr<Pool> &pool,
                          uint64_t bytes, Range &range) {
  Driver &state = driver();
  if (bytes > state.maxAllocation.load() || !pool->take(bytes))
    return CUDA_ERROR_OUT_OF_MEMORY;
  range.base = takeAddresses(bytes);
  if (!range.base) {
    pool->give(bytes);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  range.size = bytes;
  range.kind = RangeKind::Pool;
  range.context = context.handle();
  range.device = pool->device().ordinal();
  range.pool = handle;
  range.owner = pool;
  range.id = state.memory.insert(range);
  return CUDA_SUCCESS;
}

void makeAccessible(const Range &range) {
  driver().devices[range.device]->simulator().memory().registerRange(range.base, range.size,
                                                                     tagOf(range));
}

void releaseRange(const Range &range) {
  Driver &state = driver();
  if (range.isHost()) {
    for (const auto &device : state.devices)
      device->simulator().memory().unregisterRange(range.base);
    if (range.kind == RangeKind::HostAlloc)
      munmap(reinterpret_cast<void *>(range.base), (range.size + kPage - 1) / kPage * kPage);
    return;
  }
  Device &device = *state.devices[range.device];
  device.simulator().memory().unregisterRange(range.base);
  if (range.owner)
    range.owner->give(range.size);
  else
    device.give(range.size);
  giveAddresses(range.base, range.size);
}

void runAllocation(Context &context, const Range &range) {
  makeAccessible(range);
  noteTask(context, beginTask("stream-ordered allocation"), driver().devices[range.device].get(),
           range.base, range.size, /*writes=*/true, "allocates");
}

void runFree(Context &context, const Range &range) {
  noteTask(context, beginTask("stream-ordered free"), driver().devices[range.device].get(),
           range.base, range.size, /*writes=*/true, "frees");
  releaseRange(range);
}

CUresult pinHost(Context &context, void *&pointer, uint64_t bytes, unsigned flags, bool owned) {
  Driver &state = driver();
  if (!bytes)
    return CUDA_ERROR_INVALID_VALUE;
  if (bytes > state.maxAllocation.load())
    return CUDA_ERROR_OUT_OF_MEMORY;
  Range range;
  range.size = bytes;
  range.kind = owned ? RangeKind::HostAlloc : RangeKind::HostRegistered;
  range.context = context.handle();
  range.device = context.device().ordinal();
  range.flags = flags;
  if (owned) {
    void *memory = mmap(nullptr, (bytes + kPage - 1) / kPage * kPage, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
      return CUDA_ERROR_OUT_OF_MEMORY;
    pointer = memory;
  }
  range.base = reinterpret_cast<uintptr_t>(pointer);
  range.id = state.memory.insert(range);
  if (!range.id)
    return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
  for (const auto &device : state.devices)
    device->simulator().memory().registerRange(range.base, bytes, tagOf(range),
                                               /*initialised=*/true);
  return CUDA_SUCCESS;
}

//===----------------------------------------------------------------------===//
// Virtual memory
//===----------------------------------------------------------------------===//

Physical::~Physical() {
  if (fd >= 0)
    close(fd);
  if (device)
    device->give(bytes);
}

CUresult VirtualMemory::reserve(uint64_t bytes, uint64_t alignment, CUdeviceptr &pointer) {
  if (!bytes || bytes % kGranularity || (alignment & (alignment - 1)))
    return CUDA_ERROR_INVALID_VALUE;
  pointer = driver().arena.allocate(bytes, std::max(alignment, kGranularity));
  if (!pointer)
    return CUDA_ERROR_OUT_OF_MEMORY;
  std::lock_guard<std::mutex> lock(mutex_);
  reservations_[pointer] = bytes;
  for (const auto &device : driver().devices)
    device->simulator().memory().reserveRange(pointer, bytes);
  return CUDA_SUCCESS;
}

CUresult VirtualMemory::free(CUdeviceptr pointer, uint64_t bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto found = reservations_.find(pointer);
  if (found == reservations_.end() || found->second != bytes)
    return CUDA_ERROR_INVALID_VALUE;
  auto mapping = mappings_.lower_bound(pointer);
  if (mapping != mappings_.end() && mapping->first < pointer + bytes)
    return CUDA_ERROR_INVALID_VALUE;
  reservations_.erase(found);
  for (const auto &device : driver().devices)
    device->simulator().memory().releaseReservation(pointer);
  driver().arena.release(pointer, bytes);
  return CUDA_SUCCESS;
}

CUresult VirtualMemory::map(CUdeviceptr pointer, uint64_t bytes, uint64_t offset,
                            std::shared_ptr<Physical> physical) {
  std::lock_guard<std::mutex> lock(mutex_);
  // Like the driver: whole granules, and no offset into the memory.
  if (!bytes || pointer % kGranularity || bytes % kGranularity || offset != 0 ||
      bytes > physical->bytes)
    return CUDA_ERROR_INVALID_VALUE;
  auto reservation = reservations_.upper_bound(pointer);
  if (reservation == reservations_.begin())
    return CUDA_ERROR_INVALID_VALUE;
  --reservation;
  if (pointer + bytes > reservation->first + reservation->second)
    return CUDA_ERROR_INVALID_VALUE;
  Range range;
  range.base = pointer;
  range.size = bytes;
  range.kind = RangeKind::Mapping;
  range.device = physical->device->ordinal();
  range.readWrite = false;
  if (!driver().memory.insert(range))
    return CUDA_ERROR_ALREADY_MAPPED;
  if (!driver().arena.map(pointer, bytes, physical->fd, offset)) {
    driver().memory.erase(pointer);
    return CUDA_ERROR_MAP_FAILED;
  }
  mappings_[pointer] = {bytes, std::move(physical)};
  return CUDA_SUCCESS;
}

bool VirtualMemory::tiledLocked(CUdeviceptr pointer, uint64_t bytes) {
  uint64_t end = pointer + bytes;
  while (pointer < end) {
    auto found = mappings_.find(pointer);
    if (found == mappings_.end())
      return false;
    pointer += found->second.bytes;
  }
  return pointer == end;
}

CUresult VirtualMemory::unmap(CUdeviceptr pointer, uint64_t bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!bytes || !tiledLocked(pointer, bytes))
    return CUDA_ERROR_INVALID_VALUE;
  for (uint64_t end = pointer + bytes; pointer < end;) {
    auto found = mappings_.find(pointer);
    Mapping mapping = std::move(found->second);
    mappings_.erase(found);
    driver().memory.erase(pointer);
    if (mapping.accessible)
      mapping.physical->device->simulator().memory().unregisterRange(pointer);
    driver().arena.map(pointer, mapping.bytes, -1, 0);
    pointer += mapping.bytes;
  }
  return CUDA_SUCCESS;
}

CUresult VirtualMemory::setAccess(CUdeviceptr pointer, uint64_t bytes, unsigned device,
                                  CUmemAccess_flags flags) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!bytes || !tiledLocked(pointer, bytes))
    return CUDA_ERROR_INVALID_VALUE;
  bool accessible = flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  if (!accessible && flags != CU_MEM_ACCESS_FLAGS_PROT_NONE)
    return CUDA_ERROR_NOT_SUPPORTED;
  for (uint64_t end = pointer + bytes; pointer < end;) {
    Mapping &mapping = mappings_[pointer];
    // A device may only be given access to its own memory: there are no peers.
    if (mapping.physical->device->ordinal() != device)
      return CUDA_ERROR_INVALID_DEVICE;
    auto &memory = mapping.physical->device->simulator().memory();
    if (accessible && !mapping.accessible)
      memory.registerRange(pointer, mapping.bytes, "cuMemMap", mapping.physical->used);
    else if (!accessible && mapping.accessible)
      memory.unregisterRange(pointer);
    mapping.physical->used = true;
    mapping.accessible = accessible;
    driver().memory.setAccess(pointer, mapping.bytes, accessible);
    pointer += mapping.bytes;
  }
  return CUDA_SUCCESS;
}

void VirtualMemory::totals(uint64_t &count, uint64_t &bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  count = reservations_.size();
  bytes = 0;
  for (auto [base, size] : reservations_)
    bytes += size;
}

} // namespace xc::cudasim
