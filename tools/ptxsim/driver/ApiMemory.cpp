//===- ApiMemory.cpp - Allocation, pinning, virtual memory, pointers ------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Entry.h"

#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

namespace xc::cudasim {
namespace {

std::shared_ptr<Physical> findPhysical(CUmemGenericAllocationHandle handle) {
  return driver().physicals.find(reinterpret_cast<PhysicalHandle *>(handle));
}

/// Removes a range that starts at `base` if its kind is one of those that the
/// caller frees.
template <typename Accept>
CUresult freeRange(uint64_t base, CUresult otherwise, Accept accept, Range *freed = nullptr) {
  std::optional<Range> range = driver().memory.find(base);
  if (!range || range->base != base || !accept(*range))
    return otherwise;
  driver().memory.erase(base);
  releaseRange(*range);
  if (freed)
    *freed = *range;
  return CUDA_SUCCESS;
}

/// What the call that releases something returns when its context is lost.
CUresult stickyOr(CUresult result) {
  std::shared_ptr<Context> context;
  if (result == CUDA_SUCCESS && findCurrent(context) == CUDA_SUCCESS)
    return context->sticky();
  return result;
}

CUresult allocateInStream(Context &context, CUdeviceptr *pointer, size_t bytes, CUmemoryPool handle,
                          CUstream streamHandle) {
  std::shared_ptr<Pool> pool = driver().pools.find(handle);
  std::shared_ptr<Stream> stream = context.findStream(streamHandle);
  if (!stream)
    return CUDA_ERROR_INVALID_HANDLE;
  if (!pointer || !bytes || !pool)
    return CUDA_ERROR_INVALID_VALUE;
  if (CUresult result = driver().captures.refuse(*stream); result != CUDA_SUCCESS)
    return result;
  Range range;
  CUresult result = allocateFromPool(context, handle, pool, bytes, range);
  if (result != CUDA_SUCCESS)
    return result;
  *pointer = range.base;
  context.submit(stream,
                 [owner = context.shared_from_this(), range] { runAllocation(*owner, range); });
  return CUDA_SUCCESS;
}

CUresult pointerAttribute(CUpointer_attribute attribute, const Range &range, CUdeviceptr pointer,
                          void *data) {
  auto answer = [data](auto value) {
    memcpy(data, &value, sizeof(value));
    return CUDA_SUCCESS;
  };
  switch (attribute) {
  case CU_POINTER_ATTRIBUTE_CONTEXT:
    return answer(range.context);
  case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    return answer(range.isHost() ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE);
  case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    return answer(pointer);
  case CU_POINTER_ATTRIBUTE_HOST_POINTER:
    if (!range.isHost() && range.kind != RangeKind::Managed)
      return CUDA_ERROR_INVALID_VALUE;
    return answer(reinterpret_cast<void *>(pointer));
  case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    return answer(0);
  case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    return answer(static_cast<unsigned long long>(range.id));
  case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    return answer(static_cast<unsigned>(range.kind == RangeKind::Managed));
  case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
    return answer(static_cast<int>(range.device));
  case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    return answer(static_cast<CUdeviceptr>(range.base));
  case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    return answer(static_cast<size_t>(range.size));
  case CU_POINTER_ATTRIBUTE_MAPPED:
    return answer(1u);
  case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
    return answer(range.readWrite ? 3u : 0u);
  case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
    return answer(range.pool);
  }
  return CUDA_ERROR_INVALID_VALUE;
}

/// Bytes that an attribute's value takes.
size_t attributeBytes(CUpointer_attribute attribute) {
  switch (attribute) {
  case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
  case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
  case CU_POINTER_ATTRIBUTE_IS_MANAGED:
  case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
  case CU_POINTER_ATTRIBUTE_MAPPED:
  case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
    return 4;
  default:
    return 8;
  }
}

} // namespace

extern "C" {

//===----------------------------------------------------------------------===//
// Device memory
//===----------------------------------------------------------------------===//

CUresult cuMemGetInfo_v2(size_t *free, size_t *total) {
  return inContext("cuMemGetInfo", [&](Context &context) -> CUresult {
    if (!free || !total)
      return CUDA_ERROR_INVALID_VALUE;
    *total = context.device().memoryBytes();
    *free = *total - context.device().usedBytes();
    return CUDA_SUCCESS;
  });
}

CUresult cuMemAlloc_v2(CUdeviceptr *pointer, size_t bytes) {
  return inContext("cuMemAlloc", [&](Context &context) -> CUresult {
    if (!pointer)
      return CUDA_ERROR_INVALID_VALUE;
    CUresult result = driver().captures.checkUnsafe();
    return result == CUDA_SUCCESS ? allocateDevice(context, RangeKind::Device, bytes, *pointer)
                                  : result;
  });
}

PTXSIM_API CUresult cuMemAllocManaged(CUdeviceptr *pointer, size_t bytes, unsigned flags) {
  return inContext("cuMemAllocManaged", [&](Context &context) -> CUresult {
    if (!pointer || (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST))
      return CUDA_ERROR_INVALID_VALUE;
    if (!context.device().hasManaged())
      return CUDA_ERROR_NOT_SUPPORTED;
    return allocateDevice(context, RangeKind::Managed, bytes, *pointer);
  });
}

CUresult cuMemFree_v2(CUdeviceptr pointer) {
  return releasing("cuMemFree", [&]() -> CUresult {
    if (!pointer)
      return CUDA_SUCCESS;
    std::optional<Range> range = driver().memory.find(pointer);
    if (!range || range->base != pointer)
      return CUDA_ERROR_INVALID_VALUE;
    // Like the driver: memory of cuMemAlloc is freed when nothing runs any more,
    // memory of a pool at once.
    if (range->kind != RangeKind::Pool)
      if (std::shared_ptr<Context> owner = driver().contexts.find(range->context))
        owner->synchronize();
    return stickyOr(freeRange(pointer, CUDA_ERROR_INVALID_VALUE, [](const Range &found) {
      return found.kind == RangeKind::Device || found.kind == RangeKind::Managed ||
             found.kind == RangeKind::Pool;
    }));
  });
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *bytes, CUdeviceptr pointer) {
  return inContext("cuMemGetAddressRange", [&](Context &) -> CUresult {
    std::optional<Range> range = driver().memory.find(pointer);
    if (!range)
      return CUDA_ERROR_NOT_FOUND;
    if (base)
      *base = range->base;
    if (bytes)
      *bytes = range->size;
    return CUDA_SUCCESS;
  });
}

CUresult cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr pointer) {
  return inContext("cuPointerGetAttribute", [&](Context &) -> CUresult {
    std::optional<Range> range = driver().memory.find(pointer);
    if (!data || !range)
      return CUDA_ERROR_INVALID_VALUE;
    return pointerAttribute(attribute, *range, pointer, data);
  });
}

CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute *attributes, void **data,
                                CUdeviceptr pointer) {
  return inContext("cuPointerGetAttributes", [&](Context &) -> CUresult {
    if (!attributes || !data)
      return CUDA_ERROR_INVALID_VALUE;
    std::optional<Range> range = driver().memory.find(pointer);
    for (unsigned i = 0; i < count; ++i) {
      // An attribute that does not apply reads as zero, without an error.
      if (range && pointerAttribute(attributes[i], *range, pointer, data[i]) == CUDA_SUCCESS)
        continue;
      memset(data[i], 0, attributeBytes(attributes[i]));
    }
    return CUDA_SUCCESS;
  });
}

//===----------------------------------------------------------------------===//
// Stream-ordered memory
//===----------------------------------------------------------------------===//

CUresult cuMemAllocFromPoolAsync(CUdeviceptr *pointer, size_t bytes, CUmemoryPool handle,
                                 CUstream stream) {
  return inContext("cuMemAllocFromPoolAsync", [&](Context &context) -> CUresult {
    return allocateInStream(context, pointer, bytes, handle, stream);
  });
}

CUresult cuMemAllocAsync(CUdeviceptr *pointer, size_t bytes, CUstream stream) {
  return inContext("cuMemAllocAsync", [&](Context &context) -> CUresult {
    if (!context.device().hasPools())
      return CUDA_ERROR_NOT_SUPPORTED;
    return allocateInStream(context, pointer, bytes, context.device().currentPool, stream);
  });
}

CUresult cuMemFreeAsync(CUdeviceptr pointer, CUstream streamHandle) {
  return releasing("cuMemFreeAsync", [&]() -> CUresult {
    std::shared_ptr<Context> context;
    if (CUresult result = findCurrent(context); result != CUDA_SUCCESS)
      return result;
    std::shared_ptr<Stream> stream = context->findStream(streamHandle);
    if (!stream)
      return CUDA_ERROR_INVALID_HANDLE;
    std::optional<Range> range = driver().memory.find(pointer);
    if (!range || range->base != pointer ||
        (range->kind != RangeKind::Pool && range->kind != RangeKind::Device))
      return CUDA_ERROR_INVALID_VALUE;
    driver().memory.erase(pointer);
    if (context->sticky() != CUDA_SUCCESS)
      releaseRange(*range); // nothing runs any more
    else
      context->submit(stream, [context, range = *range] { runFree(*context, range); });
    return context->sticky();
  });
}

CUresult cuMemPoolCreate(CUmemoryPool *handle, const CUmemPoolProps *properties) {
  return initialised("cuMemPoolCreate", [&]() -> CUresult {
    if (!handle || !properties || properties->allocType != CU_MEM_ALLOCATION_TYPE_PINNED ||
        properties->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
      return CUDA_ERROR_INVALID_VALUE;
    Device *device = driver().device(properties->location.id);
    if (!device)
      return CUDA_ERROR_INVALID_DEVICE;
    if (!device->hasPools())
      return CUDA_ERROR_NOT_SUPPORTED;
    if (properties->handleTypes & ~CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
      return CUDA_ERROR_NOT_SUPPORTED;
    *handle = driver().pools.insert(
        std::make_shared<Pool>(*device, properties->maxSize, /*isDefault=*/false));
    return CUDA_SUCCESS;
  });
}

CUresult cuMemPoolDestroy(CUmemoryPool handle) {
  return releasing("cuMemPoolDestroy", [&]() -> CUresult {
    std::shared_ptr<Pool> pool = driver().pools.find(handle);
    if (!pool || pool->isDefault())
      return CUDA_ERROR_INVALID_VALUE;
    driver().pools.erase(handle);
    if (pool->device().currentPool == handle)
      pool->device().currentPool = pool->device().defaultPool;
    return CUDA_SUCCESS;
  });
}

CUresult cuMemPoolGetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute, void *value) {
  return initialised("cuMemPoolGetAttribute", [&]() -> CUresult {
    std::shared_ptr<Pool> pool = driver().pools.find(handle);
    return pool && value ? pool->getAttribute(attribute, value) : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult cuMemPoolSetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute, void *value) {
  return initialised("cuMemPoolSetAttribute", [&]() -> CUresult {
    std::shared_ptr<Pool> pool = driver().pools.find(handle);
    return pool && value ? pool->setAttribute(attribute, value) : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult cuMemPoolSetAccess(CUmemoryPool handle, const CUmemAccessDesc *descriptors, size_t count) {
  return initialised("cuMemPoolSetAccess", [&]() -> CUresult {
    std::shared_ptr<Pool> pool = driver().pools.find(handle);
    if (!pool || (count && !descriptors))
      return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count; ++i)
      if (descriptors[i].location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
          driver().device(descriptors[i].location.id) != &pool->device() ||
          descriptors[i].flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
        return CUDA_ERROR_INVALID_DEVICE; // there are no peers
    return CUDA_SUCCESS;
  });
}

CUresult cuMemPoolTrimTo(CUmemoryPool handle, size_t keep) {
  return initialised("cuMemPoolTrimTo", [&]() -> CUresult {
    std::shared_ptr<Pool> pool = driver().pools.find(handle);
    if (!pool)
      return CUDA_ERROR_INVALID_VALUE;
    pool->trim(keep);
    return CUDA_SUCCESS;
  });
}

//===----------------------------------------------------------------------===//
// Pinned host memory
//===----------------------------------------------------------------------===//

CUresult cuMemHostAlloc(void **pointer, size_t bytes, unsigned flags) {
  return inContext("cuMemHostAlloc", [&](Context &context) -> CUresult {
    if (!pointer || (flags & ~7u))
      return CUDA_ERROR_INVALID_VALUE;
    CUresult result = driver().captures.checkUnsafe();
    return result == CUDA_SUCCESS ? pinHost(context, *pointer, bytes, flags, /*owned=*/true)
                                  : result;
  });
}

PTXSIM_API CUresult cuMemAllocHost_v2(void **pointer, size_t bytes) {
  return cuMemHostAlloc(pointer, bytes, 0);
}

CUresult cuMemFreeHost(void *pointer) {
  return releasing("cuMemFreeHost", [&]() -> CUresult {
    std::optional<Range> range = driver().memory.find(addressOf(pointer));
    if (range)
      if (std::shared_ptr<Context> owner = driver().contexts.find(range->context))
        owner->synchronize();
    return stickyOr(freeRange(addressOf(pointer), CUDA_ERROR_INVALID_VALUE, [](const Range &found) {
      return found.kind == RangeKind::HostAlloc;
    }));
  });
}

CUresult cuMemHostRegister_v2(void *pointer, size_t bytes, unsigned flags) {
  return inContext("cuMemHostRegister", [&](Context &context) -> CUresult {
    if (!pointer || (flags & ~15u))
      return CUDA_ERROR_INVALID_VALUE;
    if (flags & CU_MEMHOSTREGISTER_READ_ONLY)
      return CUDA_ERROR_NOT_SUPPORTED;
    return pinHost(context, pointer, bytes, flags, /*owned=*/false);
  });
}

CUresult cuMemHostUnregister(void *pointer) {
  return releasing("cuMemHostUnregister", [&]() -> CUresult {
    return stickyOr(
        freeRange(addressOf(pointer), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED,
                  [](const Range &found) { return found.kind == RangeKind::HostRegistered; }));
  });
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *devicePointer, void *pointer, unsigned flags) {
  return inContext("cuMemHostGetDevicePointer", [&](Context &) -> CUresult {
    std::optional<Range> range = driver().memory.find(addressOf(pointer));
    if (!devicePointer || flags || !range || !range->isHost())
      return CUDA_ERROR_INVALID_VALUE;
    *devicePointer = addressOf(pointer);
    return CUDA_SUCCESS;
  });
}

CUresult cuMemHostGetFlags(unsigned *flags, void *pointer) {
  return inContext("cuMemHostGetFlags", [&](Context &) -> CUresult {
    std::optional<Range> range = driver().memory.find(addressOf(pointer));
    if (!flags || !range || range->kind != RangeKind::HostAlloc)
      return CUDA_ERROR_INVALID_VALUE;
    *flags = range->flags;
    return CUDA_SUCCESS;
  });
}

//===----------------------------------------------------------------------===//
// Virtual memory
//===----------------------------------------------------------------------===//

CUresult cuMemAddressReserve(CUdeviceptr *pointer, size_t bytes, size_t alignment, CUdeviceptr,
                             unsigned long long flags) {
  return initialised("cuMemAddressReserve", [&]() -> CUresult {
    if (!pointer || flags)
      return CUDA_ERROR_INVALID_VALUE;
    if (!driver().config.vmm)
      return CUDA_ERROR_NOT_SUPPORTED;
    return driver().virtualMemory.reserve(bytes, alignment, *pointer);
  });
}

CUresult cuMemAddressFree(CUdeviceptr pointer, size_t bytes) {
  return releasing("cuMemAddressFree",
                   [&]() -> CUresult { return driver().virtualMemory.free(pointer, bytes); });
}

CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t bytes,
                     const CUmemAllocationProp *properties, unsigned long long flags) {
  return initialised("cuMemCreate", [&]() -> CUresult {
    if (!handle || !properties || flags || !bytes || bytes % VirtualMemory::kGranularity ||
        properties->type != CU_MEM_ALLOCATION_TYPE_PINNED ||
        properties->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
      return CUDA_ERROR_INVALID_VALUE;
    Device *device = driver().device(properties->location.id);
    if (!device)
      return CUDA_ERROR_INVALID_DEVICE;
    if (!device->hasVirtualMemory())
      return CUDA_ERROR_NOT_SUPPORTED;
    if (bytes > driver().maxAllocation.load() || !device->take(bytes))
      return CUDA_ERROR_OUT_OF_MEMORY;
    auto physical = std::make_shared<Physical>();
    physical->device = device;
    physical->bytes = bytes;
    physical->fd = memfd_create("ptxsim", MFD_CLOEXEC);
    if (physical->fd < 0 || ftruncate(physical->fd, static_cast<off_t>(bytes)))
      return CUDA_ERROR_OUT_OF_MEMORY;
    *handle = reinterpret_cast<uintptr_t>(driver().physicals.insert(std::move(physical)));
    return CUDA_SUCCESS;
  });
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  return releasing("cuMemRelease", [&]() -> CUresult {
    return driver().physicals.erase(reinterpret_cast<PhysicalHandle *>(handle))
               ? CUDA_SUCCESS
               : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult cuMemMap(CUdeviceptr pointer, size_t bytes, size_t offset,
                  CUmemGenericAllocationHandle handle, unsigned long long flags) {
  return initialised("cuMemMap", [&]() -> CUresult {
    std::shared_ptr<Physical> physical = findPhysical(handle);
    if (flags || !physical)
      return CUDA_ERROR_INVALID_VALUE;
    return driver().virtualMemory.map(pointer, bytes, offset, std::move(physical));
  });
}

CUresult cuMemUnmap(CUdeviceptr pointer, size_t bytes) {
  return releasing("cuMemUnmap",
                   [&]() -> CUresult { return driver().virtualMemory.unmap(pointer, bytes); });
}

CUresult cuMemSetAccess(CUdeviceptr pointer, size_t bytes, const CUmemAccessDesc *descriptors,
                        size_t count) {
  return initialised("cuMemSetAccess", [&]() -> CUresult {
    if (!descriptors || !count)
      return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count; ++i) {
      const CUmemAccessDesc &access = descriptors[i];
      if (access.location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
          !driver().device(access.location.id))
        return CUDA_ERROR_INVALID_DEVICE;
      CUresult result = driver().virtualMemory.setAccess(
          pointer, bytes, static_cast<unsigned>(access.location.id), access.flags);
      if (result != CUDA_SUCCESS)
        return result;
    }
    return CUDA_SUCCESS;
  });
}

CUresult cuMemGetAllocationGranularity(size_t *granularity, const CUmemAllocationProp *properties,
                                       CUmemAllocationGranularity_flags) {
  return initialised("cuMemGetAllocationGranularity", [&]() -> CUresult {
    if (!granularity || !properties || properties->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
      return CUDA_ERROR_INVALID_VALUE;
    Device *device = driver().device(properties->location.id);
    if (!device)
      return CUDA_ERROR_INVALID_DEVICE;
    if (!device->hasVirtualMemory())
      return CUDA_ERROR_NOT_SUPPORTED;
    *granularity = VirtualMemory::kGranularity;
    return CUDA_SUCCESS;
  });
}

} // extern "C"
} // namespace xc::cudasim
