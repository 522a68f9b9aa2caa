//===- cuda_device.cpp - One GPU ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/hal/cuda/cuda_device.h"

#include "runtime/base/checked.h"
#include "runtime/hal/cuda/cuda_event.h"
#include "runtime/hal/cuda/cuda_executable.h"
#include "runtime/hal/cuda/cuda_recording.h"
#include "runtime/hal/cuda/cuda_stream.h"
#include "runtime/hal/cuda/fill_kernel.h"

#include <cstdio>
#include <cstdlib>

using namespace xc;
using namespace xc::cuda;

// What cuMemAlloc aligns to; equal granules make freed memory fit again.
static constexpr uint64_t kGranule = 256;

namespace {

class CudaMemory final : public hal::Memory {
public:
  CudaMemory(CudaDevice &device, uint64_t address, uint64_t size, uint64_t room)
      : Memory(address, size, nullptr), device(device), room(room) {}

private:
  friend class xc::HostAllocator;
  ~CudaMemory() override = default;
  void destroy() override {
    device.freeMemory(address());
    device.counter.refund(room);
    HostAllocator allocator = device.allocator;
    allocator.destroy(this);
  }
  CudaDevice &device;
  const uint64_t room;
};

/// Device memory that somebody else has allocated.
class ImportedCudaMemory final : public hal::Memory {
public:
  ImportedCudaMemory(const HostAllocator &allocator, void *data, uint64_t size)
      : Memory(reinterpret_cast<uint64_t>(data), size, nullptr), allocator(allocator) {}

private:
  friend class xc::HostAllocator;
  ~ImportedCudaMemory() override = default;
  void destroy() override { allocator.destroy(this); }
  const HostAllocator allocator;
};

} // namespace

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

/// After these the context, and with it everything on the device, is unusable.
static bool isSticky(CUresult result) {
  switch (result) {
  case CUDA_ERROR_ECC_UNCORRECTABLE:
  case CUDA_ERROR_CONTAINED:
  case CUDA_ERROR_ILLEGAL_ADDRESS:
  case CUDA_ERROR_LAUNCH_TIMEOUT:
  case CUDA_ERROR_CONTEXT_IS_DESTROYED:
  case CUDA_ERROR_ASSERT:
  case CUDA_ERROR_HARDWARE_STACK_ERROR:
  case CUDA_ERROR_ILLEGAL_INSTRUCTION:
  case CUDA_ERROR_MISALIGNED_ADDRESS:
  case CUDA_ERROR_INVALID_ADDRESS_SPACE:
  case CUDA_ERROR_INVALID_PC:
  case CUDA_ERROR_LAUNCH_FAILED:
  case CUDA_ERROR_EXTERNAL_DEVICE:
    return true;
  default:
    return false;
  }
}

Status CudaDevice::check(CUresult result, const char *call) const {
  if (result == CUDA_SUCCESS)
    return Status();
  if (isSticky(result)) {
    int none = 0;
    if (lostResult.compare_exchange_strong(none, result))
      lostCall.store(call);
    return makeStatus(allocator, XCR_STATUS_DEVICE_LOST, "device %s is lost: %s reported %s (%s)",
                      info.uri.c_str(), call, cu.nameOf(result), cu.textOf(result));
  }
  if (result == CUDA_ERROR_OUT_OF_MEMORY)
    return makeOutOfMemory(allocator, 0, UINT64_MAX, "%s: out of memory on device %s", call,
                           info.uri.c_str());
  return makeStatus(allocator, XCR_STATUS_INTERNAL, "%s on device %s: %s (%s)", call,
                    info.uri.c_str(), cu.nameOf(result), cu.textOf(result));
}

Status CudaDevice::checkAlive() const {
  int result = lostResult.load(std::memory_order_relaxed);
  if (result == 0)
    return Status();
  const char *call = lostCall.load();
  return makeStatus(allocator, XCR_STATUS_DEVICE_LOST, "device %s was lost: %s reported %s",
                    info.uri.c_str(), call ? call : "an earlier call",
                    cu.nameOf(static_cast<CUresult>(result)));
}

//===----------------------------------------------------------------------===//
// Making and ending a device
//===----------------------------------------------------------------------===//

static LaunchKind parseLaunchKind(const char *text) {
  if (text && strcmp(text, "graph") == 0)
    return LaunchKind::Graph;
  if (text && strcmp(text, "stream") == 0)
    return LaunchKind::Stream;
  return LaunchKind::Auto;
}

Status CudaDevice::create(const hal::DeviceOptions &options, const Symbols &cu, int ordinal,
                          Ref<hal::Device> *out) {
  uint64_t limit = options.memoryLimit ? options.memoryLimit : UINT64_MAX;
  auto device = Ref<CudaDevice>::adopt(options.allocator.create<CudaDevice>(options, cu, limit));
  if (!device)
    return outOfHostMemory(sizeof(CudaDevice));
  XCR_RETURN_IF_ERROR(device->initialise(ordinal));
  *out = std::move(device);
  return Status();
}

Status CudaDevice::initialise(int ordinal) {
  char text[160];
  snprintf(text, sizeof(text), "cuda:%d", ordinal);
  XCR_RETURN_IF_ERROR(info.uri.assign(xcr_string(text)));
  info.driver = "cuda";
  info.driverVersion = static_cast<uint32_t>(cu.driverVersion);
  XCR_RETURN_IF_ERROR(XCR_CUDA_CALL(*this, cuDeviceGet, &device, ordinal));
  char name[128] = "";
  XCR_RETURN_IF_ERROR(XCR_CUDA_CALL(*this, cuDeviceGetName, name, sizeof(name), device));
  XCR_RETURN_IF_ERROR(info.name.assign(xcr_string(name)));
  size_t bytes = 0;
  XCR_RETURN_IF_ERROR(XCR_CUDA_CALL(*this, cuDeviceTotalMem, &bytes, device));
  info.totalMemory = bytes;
  auto get = [&](CUdevice_attribute attribute, int *value) {
    return XCR_CUDA_CALL(*this, cuDeviceGetAttribute, value, attribute, device);
  };
  int major = 0, minor = 0, processors = 0, pools = 0, virtualMemory = 0;
  XCR_RETURN_IF_ERROR(get(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &major));
  XCR_RETURN_IF_ERROR(get(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &minor));
  XCR_RETURN_IF_ERROR(get(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &processors));
  XCR_RETURN_IF_ERROR(get(CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, &pools));
  XCR_RETURN_IF_ERROR(get(CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, &virtualMemory));
  capabilities = {10 * major + minor, pools != 0, virtualMemory != 0};
  info.processorCount = static_cast<uint32_t>(processors);
  snprintf(text, sizeof(text), "sm_%d", capabilities.computeCapability);
  XCR_RETURN_IF_ERROR(info.arch.assign(xcr_string(text)));
  snprintf(text, sizeof(text), "%s, sm_%d, driver %d.%d", name, capabilities.computeCapability,
           cu.driverVersion / 1000, cu.driverVersion % 1000 / 10);
  XCR_RETURN_IF_ERROR(info.description.assign(xcr_string(text)));
  launchKind = parseLaunchKind(getenv("XCR_CUDA_LAUNCH"));

  XCR_RETURN_IF_ERROR(XCR_CUDA_CALL(*this, cuDevicePrimaryCtxRetain, &context, device));
  ContextScope scope(*this);
  XCR_RETURN_IF_ERROR(
      XCR_CUDA_CALL(*this, cuStreamCreateWithPriority, &memoryStream, CU_STREAM_NON_BLOCKING, 0));
  if (!capabilities.hasPools)
    return Status();
  CUmemPoolProps properties = {};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.location.id = device;
  XCR_RETURN_IF_ERROR(XCR_CUDA_CALL(*this, cuMemPoolCreate, &pool, &properties));
  // Freed memory stays with the pool until trim: giving it back at every synchronisation is slow.
  cuuint64_t keep = UINT64_MAX;
  return XCR_CUDA_CALL(*this, cuMemPoolSetAttribute, pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD,
                       &keep);
}

void CudaDevice::destroy() {
  releaseOwnStreams();
  if (context) {
    ContextScope scope(*this);
    // Whatever the driver says, there is nobody left to tell.
    if (fillModule)
      cu.cuModuleUnload(fillModule);
    if (memoryStream) {
      cu.cuStreamSynchronize(memoryStream);
      cu.cuStreamDestroy(memoryStream);
    }
    if (pool)
      cu.cuMemPoolDestroy(pool);
  }
  if (context)
    cu.cuDevicePrimaryCtxRelease(device);
  allocator.destroy(this);
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

/// "sm_90a" -> 90 and true; 0 where the text is no architecture.
static int parseArch(xcr_string_view_t arch, bool *isSpecific) {
  int value = 0;
  *isSpecific = false;
  if (arch.size < 5 || memcmp(arch.data, "sm_", 3) != 0)
    return 0;
  for (size_t i = 3; i < arch.size; ++i) {
    char c = arch.data[i];
    if (c >= '0' && c <= '9' && value < 10000)
      value = 10 * value + (c - '0');
    else if (c == 'a' && i + 1 == arch.size)
      *isSpecific = true;
    else
      return 0;
  }
  return value;
}

Status CudaDevice::checkCode(const fb::Executable &code, uint32_t *score) const {
  xcr_string_view_t arch = {code.arch()->data(), code.arch()->size()};
  if (code.kind() == fb::CodeKind::SharedObject)
    return makeStatus(allocator, XCR_STATUS_INCOMPATIBLE, "needs a CPU of arch %.*s, this is %s",
                      printLength(arch), arch.data, info.name.c_str());
  bool isSpecific = false, isCubin = code.kind() == fb::CodeKind::Cubin;
  int needed = parseArch(arch, &isSpecific), have = capabilities.computeCapability;
  // Machine code runs on its own and later minor versions of one major version, PTX on everything
  // later; code for an "a" architecture only on that one.
  bool fits = needed && needed <= have && (!isSpecific || needed == have) &&
              (!isCubin || needed / 10 == have / 10);
  if (!fits)
    return makeStatus(allocator, XCR_STATUS_INCOMPATIBLE,
                      "needs a CUDA device of arch %.*s%s, this is %s (sm_%d)", printLength(arch),
                      arch.data, isSpecific || isCubin ? " exactly" : " or later",
                      info.name.c_str(), have);
  if (!isCubin && code.min_driver() > info.driverVersion)
    return makeStatus(allocator, XCR_STATUS_INCOMPATIBLE,
                      "needs a driver for CUDA %u.%u or later, this one is for %u.%u",
                      code.min_driver() / 1000, code.min_driver() % 1000 / 10,
                      info.driverVersion / 1000, info.driverVersion % 1000 / 10);
  *score = static_cast<uint32_t>(100000 + 10 * needed + (isSpecific ? 2 : 0) + (isCubin ? 1 : 0));
  return Status();
}

Status CudaDevice::loadExecutable(const fb::Executable &code, Span<const uint8_t> image,
                                  Ref<hal::Executable> *out) {
  XCR_RETURN_IF_ERROR(checkAlive());
  return CudaExecutable::load(*this, code, image, out);
}

Status CudaDevice::createRecording(const hal::CommandList &list,
                                   const hal::RecordingOptions &options, Ref<hal::Recording> *out) {
  XCR_RETURN_IF_ERROR(checkAlive());
  return CudaRecording::create(*this, list, options, out);
}

Status CudaDevice::getFillKernel(CUfunction *out) {
  Lock lock(fillMutex);
  if (!fillFunction) {
    XCR_RETURN_IF_ERROR(
        XCR_CUDA_CALL(*this, cuModuleLoadDataEx, &fillModule, kFillKernel, 0, nullptr, nullptr));
    XCR_RETURN_IF_ERROR(
        XCR_CUDA_CALL(*this, cuModuleGetFunction, &fillFunction, fillModule, kFillKernelName));
  }
  *out = fillFunction;
  return Status();
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Status CudaDevice::allocateRaw(uint64_t size, CUdeviceptr *out) {
  CUresult result;
  if (pool) {
    result = cu.cuMemAllocFromPoolAsync(out, size, pool, memoryStream);
    // The memory is then there for every stream.
    if (result == CUDA_SUCCESS)
      return XCR_CUDA_CALL(*this, cuStreamSynchronize, memoryStream);
  } else {
    result = cu.cuMemAlloc(out, size);
  }
  if (result != CUDA_ERROR_OUT_OF_MEMORY)
    return check(result, pool ? "cuMemAllocFromPoolAsync" : "cuMemAlloc");
  size_t free = 0, total = 0;
  bool isKnown = cu.cuMemGetInfo(&free, &total) == CUDA_SUCCESS;
  return makeOutOfMemory(allocator, size, isKnown ? free : UINT64_MAX,
                         "out of memory on device %s, of which this process's buffers hold %llu "
                         "bytes",
                         info.uri.c_str(), static_cast<unsigned long long>(counter.bytesInUse()));
}

Status CudaDevice::allocate(uint64_t size, Ref<hal::Memory> *out) {
  XCR_RETURN_IF_ERROR(checkAlive());
  uint64_t room, available;
  if (!alignUp(size ? size : 1, kGranule, &room))
    return makeOutOfMemory(allocator, size, info.totalMemory, "a buffer does not fit into memory");
  if (!counter.charge(room, &available))
    return makeOutOfMemory(allocator, room, available, "the memory limit of device %s is reached",
                           info.uri.c_str());
  ContextScope scope(*this);
  CUdeviceptr address = 0;
  if (Status status = allocateRaw(room, &address); status.failed()) {
    counter.refund(room);
    return status;
  }
  CudaMemory *memory = allocator.create<CudaMemory>(*this, address, size, room);
  if (!memory) {
    freeMemory(address);
    counter.refund(room);
    return outOfHostMemory(sizeof(CudaMemory));
  }
  *out = Ref<CudaMemory>::adopt(memory);
  return Status();
}

void CudaDevice::freeMemory(uint64_t address) {
  ContextScope scope(*this);
  // On a lost device this fails, and the memory is gone with the context.
  if (pool)
    cu.cuMemFreeAsync(address, memoryStream);
  else
    cu.cuMemFree(address);
}

Status CudaDevice::import(void *data, uint64_t size, Ref<hal::Memory> *out) {
  ContextScope scope(*this);
  unsigned type = 0;
  CUresult result = cu.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                             reinterpret_cast<CUdeviceptr>(data));
  if (result != CUDA_SUCCESS || type != CU_MEMORYTYPE_DEVICE)
    return makeStatus(
        allocator, XCR_STATUS_INVALID_ARGUMENT,
        "expected device memory of %s, got %p, which the driver does not know as such",
        info.uri.c_str(), data);
  auto *memory = allocator.create<ImportedCudaMemory>(allocator, data, size);
  if (!memory)
    return outOfHostMemory(sizeof(ImportedCudaMemory));
  *out = Ref<ImportedCudaMemory>::adopt(memory);
  return Status();
}

Status CudaDevice::read(hal::Memory &source, uint64_t offset, void *data, uint64_t size) {
  XCR_RETURN_IF_ERROR(checkAlive());
  if (size == 0)
    return Status();
  ContextScope scope(*this);
  return XCR_CUDA_CALL(*this, cuMemcpyDtoH, data, source.address() + offset, size);
}

Status CudaDevice::write(hal::Memory &target, uint64_t offset, const void *data, uint64_t size) {
  XCR_RETURN_IF_ERROR(checkAlive());
  if (size == 0)
    return Status();
  ContextScope scope(*this);
  return XCR_CUDA_CALL(*this, cuMemcpyHtoD, target.address() + offset, data, size);
}

Status CudaDevice::trim() {
  XCR_RETURN_IF_ERROR(checkAlive());
  if (!pool)
    return Status();
  ContextScope scope(*this);
  XCR_RETURN_IF_ERROR(XCR_CUDA_CALL(*this, cuStreamSynchronize, memoryStream));
  return XCR_CUDA_CALL(*this, cuMemPoolTrimTo, pool, 0);
}

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

Status CudaDevice::createStream(Ref<hal::Stream> *out) {
  XCR_RETURN_IF_ERROR(checkAlive());
  return CudaStream::create(*this, out);
}

Status CudaDevice::createEvent(Ref<hal::Event> *out) {
  XCR_RETURN_IF_ERROR(checkAlive());
  return CudaEvent::create(*this, out);
}

Status CudaDevice::synchronize() {
  XCR_RETURN_IF_ERROR(checkAlive());
  ContextScope scope(*this);
  return XCR_CUDA_CALL(*this, cuCtxSynchronize);
}
