//===- cuda_memory.cpp - Buffers and transfers of a GPU ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/hal/cuda/cuda_memory.h"

#include "runtime/hal/cuda/cuda_device.h"

using namespace xc;
using namespace xc::cuda;

//===----------------------------------------------------------------------===//
// Allocation
//===----------------------------------------------------------------------===//

CudaAllocator::CudaAllocator(CudaDevice &device) : device(device), cached(device.allocator) {}

Status CudaAllocator::initialise() {
  if (!device.capabilities.hasPools)
    return Status();
  XCR_RETURN_IF_ERROR(
      XCR_CUDA_CALL(device, cuStreamCreateWithPriority, &stream, CU_STREAM_NON_BLOCKING, 0));
  CUmemPoolProps properties = {};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.location.id = device.device;
  XCR_RETURN_IF_ERROR(XCR_CUDA_CALL(device, cuMemPoolCreate, &pool, &properties));
  // Freed memory stays with the pool until trim: giving it back at every synchronisation is slow.
  cuuint64_t keep = UINT64_MAX;
  return XCR_CUDA_CALL(device, cuMemPoolSetAttribute, pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD,
                       &keep);
}

void CudaAllocator::release() {
  // Whatever the driver says, there is nobody left to tell.
  dropCached();
  if (stream) {
    device.cu.cuStreamSynchronize(stream);
    device.cu.cuStreamDestroy(stream);
  }
  if (pool)
    device.cu.cuMemPoolDestroy(pool);
  stream = nullptr;
  pool = nullptr;
}

/// A freed block that wastes at most an eighth; the smallest of them.
bool CudaAllocator::takeCached(uint64_t bytes, Block *out) {
  size_t best = cached.size();
  for (size_t i = 0; i < cached.size(); ++i)
    if (cached[i].bytes >= bytes && cached[i].bytes - bytes <= bytes / 8 &&
        (best == cached.size() || cached[i].bytes < cached[best].bytes))
      best = i;
  if (best == cached.size())
    return false;
  *out = cached[best];
  cached[best] = cached.back();
  cached.pop();
  return true;
}

void CudaAllocator::dropCached() {
  for (const Block &block : cached)
    device.cu.cuMemFree(block.address);
  cached.clear();
}

CUresult CudaAllocator::allocateRaw(uint64_t bytes, CUdeviceptr *address, const char **call) {
  if (!pool) {
    *call = "cuMemAlloc";
    return device.cu.cuMemAlloc(address, bytes);
  }
  *call = "cuMemAllocFromPoolAsync";
  CUresult result = device.cu.cuMemAllocFromPoolAsync(address, bytes, pool, stream);
  if (result != CUDA_SUCCESS)
    return result;
  // After this the memory is there for every stream.
  *call = "cuStreamSynchronize";
  result = device.cu.cuStreamSynchronize(stream);
  if (result != CUDA_SUCCESS)
    device.cu.cuMemFreeAsync(*address, stream);
  return result;
}

Status CudaAllocator::allocate(uint64_t bytes, uint64_t charged, CUdeviceptr *address,
                               uint64_t *room) {
  Lock lock(mutex);
  Block block = {0, bytes};
  const char *call = "";
  CUresult result = CUDA_SUCCESS;
  if (pool || !takeCached(bytes, &block))
    result = allocateRaw(bytes, &block.address, &call);
  if (result == CUDA_ERROR_OUT_OF_MEMORY && !cached.empty()) {
    dropCached();
    result = allocateRaw(bytes, &block.address, &call);
  }
  if (result == CUDA_SUCCESS) {
    *address = block.address;
    *room = block.bytes;
    return Status();
  }
  if (result != CUDA_ERROR_OUT_OF_MEMORY)
    return device.check(result, call);
  return makeOutOfMemory(device.allocator, device.memoryBytes(bytes, charged),
                         "%s on device %s: CUDA_ERROR_OUT_OF_MEMORY", call,
                         device.info.uri.c_str());
}

void CudaAllocator::free(CUdeviceptr address, uint64_t room) {
  // On a lost device the driver's calls fail, and the memory is gone with the context.
  if (pool) {
    device.cu.cuMemFreeAsync(address, stream);
    return;
  }
  Lock lock(mutex);
  if (device.isLost() || cached.push({address, room}).failed())
    device.cu.cuMemFree(address);
}

Status CudaAllocator::trim() {
  Lock lock(mutex);
  if (!pool) {
    dropCached();
    return Status();
  }
  XCR_RETURN_IF_ERROR(XCR_CUDA_CALL(device, cuStreamSynchronize, stream));
  return XCR_CUDA_CALL(device, cuMemPoolTrimTo, pool, 0);
}

//===----------------------------------------------------------------------===//
// Transfers
//===----------------------------------------------------------------------===//

static constexpr uint64_t kSlotBytes = 4u << 20;
/// Smaller uploads are over before a ring would pay.
static constexpr uint64_t kRingBytes = 1u << 20;

Status CudaTransfer::initialise() {
  return XCR_CUDA_CALL(device, cuStreamCreateWithPriority, &stream, CU_STREAM_NON_BLOCKING, 0);
}

void CudaTransfer::release() {
  if (stream)
    device.cu.cuStreamSynchronize(stream);
  for (Slot &slot : slots) {
    if (slot.event)
      device.cu.cuEventDestroy(slot.event);
    if (slot.memory)
      device.cu.cuMemFreeHost(slot.memory);
    slot = Slot();
  }
  if (stream)
    device.cu.cuStreamDestroy(stream);
  stream = nullptr;
}

namespace {

/// Bytes that lie in memory.
class MemorySource final : public hal::UploadSource {
public:
  explicit MemorySource(const void *data) : data(static_cast<const char *>(data)) {}
  Status read(void *into, uint64_t size) override {
    memcpy(into, data, size);
    data += size;
    return Status();
  }

private:
  const char *data;
};

} // namespace

/// False if pinned memory is short: then the driver copies from pageable memory by itself, which is
/// slower and as right.
bool CudaTransfer::prepareRing() {
  for (Slot &slot : slots) {
    if (!slot.event && device.cu.cuEventCreate(&slot.event, CU_EVENT_DISABLE_TIMING))
      return false;
    if (!slot.memory && device.cu.cuMemHostAlloc(&slot.memory, kSlotBytes, 0)) {
      slot.memory = nullptr;
      return false;
    }
  }
  return true;
}

Status CudaTransfer::writeThroughRing(CUdeviceptr target, hal::UploadSource &source,
                                      uint64_t bytes) {
  uint64_t done = 0;
  for (unsigned turn = 0; done < bytes; turn = (turn + 1) % kSlots) {
    Slot &slot = slots[turn];
    uint64_t part = bytes - done < kSlotBytes ? bytes - done : kSlotBytes;
    // An event that was never recorded counts as reached.
    XCR_RETURN_IF_ERROR(XCR_CUDA_CALL(device, cuEventSynchronize, slot.event));
    XCR_RETURN_IF_ERROR(source.read(slot.memory, part));
    XCR_RETURN_IF_ERROR(
        XCR_CUDA_CALL(device, cuMemcpyHtoDAsync, target + done, slot.memory, part, stream));
    XCR_RETURN_IF_ERROR(XCR_CUDA_CALL(device, cuEventRecord, slot.event, stream));
    done += part;
  }
  return Status();
}

/// Waits whatever happened before: the caller's memory must not be in use when he has it back.
Status CudaTransfer::finish(Status status) {
  Status end = XCR_CUDA_CALL(device, cuStreamSynchronize, stream);
  if (end.failed() && !device.isLost())
    device.cu.cuStreamSynchronize(stream);
  return status.failed() ? std::move(status) : std::move(end);
}

Status CudaTransfer::write(CUdeviceptr target, const void *data, uint64_t bytes) {
  Lock lock(mutex);
  if (bytes >= kRingBytes && prepareRing()) {
    MemorySource source(data);
    return finish(writeThroughRing(target, source, bytes));
  }
  return finish(XCR_CUDA_CALL(device, cuMemcpyHtoDAsync, target, data, bytes, stream));
}

Status CudaTransfer::write(CUdeviceptr target, hal::UploadSource &source, uint64_t bytes) {
  {
    Lock lock(mutex);
    if (bytes >= kRingBytes && prepareRing())
      return finish(writeThroughRing(target, source, bytes));
  }
  Vector<char> buffer(device.allocator);
  for (uint64_t done = 0; done < bytes; done += buffer.size()) {
    XCR_RETURN_IF_ERROR(buffer.resize(std::min(bytes - done, kSlotBytes)));
    XCR_RETURN_IF_ERROR(source.read(buffer.data(), buffer.size()));
    XCR_RETURN_IF_ERROR(write(target + done, buffer.data(), buffer.size()));
  }
  return Status();
}

Status CudaTransfer::read(CUdeviceptr source, void *data, uint64_t bytes) {
  Lock lock(mutex);
  return finish(XCR_CUDA_CALL(device, cuMemcpyDtoHAsync, data, source, bytes, stream));
}
