//===- cuda_device.cpp - One GPU ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/hal/cuda/cuda_device.h"

#include "runtime/base/checked.h"
#include "runtime/hal/cuda/condition_kernel.h"
#include "runtime/hal/cuda/cuda_event.h"
#include "runtime/hal/cuda/cuda_executable.h"
#include "runtime/hal/cuda/cuda_recording.h"
#include "runtime/hal/cuda/cuda_stream.h"
#include "runtime/hal/cuda/fill_kernel.h"

#include <cstdio>

using namespace xc;
using namespace xc::cuda;

// What cuMemAlloc aligns to; equal granules make freed memory fit again.
static constexpr uint64_t kGranule = 256;

namespace {

class CudaMemory final : public hal::Memory {
public:
  CudaMemory(CudaDevice &device, uint64_t address, uint64_t size, uint64_t charged, uint64_t room)
      : Memory(address, size, nullptr), device(device), charged(charged), room(room) {}

private:
  friend class xc::HostAllocator;
  ~CudaMemory() override = default;
  void destroy() override {
    device.freeMemory(address(), room);
    device.counter.refund(charged);
    HostAllocator allocator = device.allocator;
    allocator.destroy(this);
  }
  CudaDevice &device;
  const uint64_t charged, room; ///< counted, and taken from the device
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
  case CUDA_ERROR_NVLINK_UNCORRECTABLE:
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
  case CUDA_ERROR_TENSOR_MEMORY_LEAK:
  case CUDA_ERROR_MPS_CLIENT_TERMINATED:
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
    return makeOutOfMemory(allocator, memoryBytes(0), "%s on device %s: %s (%s)", call,
                           info.uri.c_str(), cu.nameOf(result), cu.textOf(result));
  return makeStatus(allocator, XCR_STATUS_INTERNAL, "%s on device %s: %s (%s)", call,
                    info.uri.c_str(), cu.nameOf(result), cu.textOf(result));
}

MemoryBytes CudaDevice::memoryBytes(uint64_t asked, uint64_t charged) const {
  size_t free = 0, total = 0;
  bool isKnown = cu.cuMemGetInfo && cu.cuMemGetInfo(&free, &total) == CUDA_SUCCESS;
  return {asked, isKnown ? free : UINT64_MAX, counter.bytesInUse() - charged};
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

ContextScope::ContextScope(const CudaDevice &device, Purpose purpose) : device(device) {
  CUcontext current = nullptr;
  if (device.cu.cuCtxGetCurrent(&current) != CUDA_SUCCESS || current != device.context) {
    result = device.cu.cuCtxPushCurrent(device.context);
    if (result != CUDA_SUCCESS && purpose == kRelease)
      result = device.cu.cuCtxPushCurrent(device.context);
    isPushed = result == CUDA_SUCCESS;
    if (!isPushed)
      return;
  }
  result = device.cu.cuThreadExchangeStreamCaptureMode(&captureMode);
  if (result != CUDA_SUCCESS && purpose == kRelease)
    result = device.cu.cuThreadExchangeStreamCaptureMode(&captureMode);
  isRelaxed = result == CUDA_SUCCESS;
  call = "cuThreadExchangeStreamCaptureMode";
}

ContextScope::~ContextScope() {
  CUcontext popped = nullptr;
  // What is the thread's own must be back, so a failure is met with a second try.
  if (isRelaxed && device.cu.cuThreadExchangeStreamCaptureMode(&captureMode) != CUDA_SUCCESS)
    device.cu.cuThreadExchangeStreamCaptureMode(&captureMode);
  if (isPushed && device.cu.cuCtxPopCurrent(&popped) != CUDA_SUCCESS && popped != device.context)
    device.cu.cuCtxPopCurrent(&popped);
}

//===----------------------------------------------------------------------===//
// Making and ending a device
//===----------------------------------------------------------------------===//

Status CudaDevice::create(const hal::DeviceOptions &options, const Symbols &cu, int ordinal,
                          LaunchKind launchKind, Ref<hal::Device> *out) {
  uint64_t limit = options.memoryLimit ? options.memoryLimit : UINT64_MAX;
  auto device =
      Ref<CudaDevice>::adopt(options.allocator.create<CudaDevice>(options, cu, launchKind, limit));
  if (!device)
    return outOfHostMemory(sizeof(CudaDevice));
  XCR_RETURN_IF_ERROR(device->describe(ordinal));
  XCR_RETURN_IF_ERROR(device->initialise());
  *out = std::move(device);
  return Status();
}

/// What can be asked without a context.
Status CudaDevice::describe(int ordinal) {
  char text[160];
  snprintf(text, sizeof(text), "cuda:%d", ordinal);
  XCR_RETURN_IF_ERROR(info.uri.assign(xcr_string(text)));
  info.driver = "cuda";
  info.ordinal = static_cast<uint32_t>(ordinal);
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
  capabilities = {10 * major + minor, pools != 0, virtualMemory != 0,
                  major >= 9 && cu.cuGraphAddDependencies};
  info.processorCount = static_cast<uint32_t>(processors);
  snprintf(text, sizeof(text), "sm_%d", capabilities.computeCapability);
  XCR_RETURN_IF_ERROR(info.arch.assign(xcr_string(text)));
  snprintf(text, sizeof(text), "%s, sm_%d, driver %d.%d", name, capabilities.computeCapability,
           cu.driverVersion / 1000, cu.driverVersion % 1000 / 10);
  return info.description.assign(xcr_string(text));
}

/// Checks that the caller's context is one of this device.
Status CudaDevice::enterForeignContext() {
  context = foreignContext;
  ContextScope scope(*this);
  XCR_RETURN_IF_ERROR(scope.status());
  CUdevice owner = 0;
  XCR_RETURN_IF_ERROR(XCR_CUDA_CALL(*this, cuCtxGetDevice, &owner));
  if (owner == device)
    return Status();
  return makeStatus(allocator, XCR_STATUS_INVALID_ARGUMENT,
                    "options.native_context: expected a context of device %s, got one of cuda:%d",
                    info.uri.c_str(), owner);
}

/// The driver gives a process no new context on a device that one of its kernels has failed on.
Status CudaDevice::retainPrimaryContext() {
  Status status = XCR_CUDA_CALL(*this, cuDevicePrimaryCtxRetain, &context, device);
  if (status.code() != XCR_STATUS_DEVICE_LOST)
    return status;
  context = nullptr;
  return addContext(std::move(status), allocator,
                    "this process has lost the device by an earlier error and must be started "
                    "again to use it: ");
}

Status CudaDevice::initialise() {
  if (foreignContext)
    XCR_RETURN_IF_ERROR(enterForeignContext());
  else
    XCR_RETURN_IF_ERROR(retainPrimaryContext());
  ContextScope scope(*this);
  XCR_RETURN_IF_ERROR(scope.status());
  XCR_RETURN_IF_ERROR(memory.initialise());
  return transfer.initialise();
}

void CudaDevice::destroy() {
  releaseOwnStreams();
  if (context) {
    ContextScope scope(*this, ContextScope::kRelease);
    // Whatever the driver says, there is nobody left to tell.
    for (CUmodule module : {fillModule, conditionModule})
      if (module)
        cu.cuModuleUnload(module);
    transfer.release();
    memory.release();
  }
  if (context && !foreignContext)
    cu.cuDevicePrimaryCtxRelease(device);
  if (callbacks)
    callbacks->stop();
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

Status CudaDevice::getKernel(const char *image, const char *name, CUmodule *module,
                             CUfunction *function) {
  Lock lock(fillMutex);
  if (!*module)
    XCR_RETURN_IF_ERROR(
        XCR_CUDA_CALL(*this, cuModuleLoadDataEx, module, image, 0, nullptr, nullptr));
  if (!*function)
    XCR_RETURN_IF_ERROR(XCR_CUDA_CALL(*this, cuModuleGetFunction, function, *module, name));
  return Status();
}

Status CudaDevice::getFillKernel(CUfunction *out) {
  XCR_RETURN_IF_ERROR(getKernel(kFillKernel, kFillKernelName, &fillModule, &fillFunction));
  *out = fillFunction;
  return Status();
}

Status CudaDevice::getConditionKernel(CUfunction *out) {
  XCR_RETURN_IF_ERROR(
      getKernel(kConditionKernel, kConditionKernelName, &conditionModule, &conditionFunction));
  *out = conditionFunction;
  return Status();
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Status CudaDevice::allocate(uint64_t size, Ref<hal::Memory> *out) {
  Status status = allocateOnce(size, out);
  if (status.code() != XCR_STATUS_OUT_OF_MEMORY)
    return status;
  // Arenas of idle streams and what the pool keeps may be enough.
  Status trimmed = trim();
  return trimmed.failed() ? std::move(status) : allocateOnce(size, out);
}

Status CudaDevice::allocateOnce(uint64_t size, Ref<hal::Memory> *out) {
  XCR_RETURN_IF_ERROR(checkAlive());
  uint64_t room, available;
  if (!alignUp(size ? size : 1, kGranule, &room))
    return makeOutOfMemory(allocator, {size, info.totalMemory, counter.bytesInUse()},
                           "a buffer does not fit into memory");
  if (!counter.charge(room, &available))
    return makeOutOfMemory(allocator, {room, available, counter.bytesInUse()},
                           "the memory limit of device %s is reached", info.uri.c_str());
  ContextScope scope(*this);
  CUdeviceptr address = 0;
  uint64_t taken = room;
  Status status = scope.status();
  if (status.succeeded())
    // A pool is asked for the bytes themselves, so that tools see an access behind them.
    status = memory.allocate(capabilities.hasPools && size ? size : room, room, &address, &taken);
  if (status.failed()) {
    counter.refund(room);
    return status;
  }
  CudaMemory *object = allocator.create<CudaMemory>(*this, address, size, room, taken);
  if (!object) {
    memory.free(address, taken);
    counter.refund(room);
    return outOfHostMemory(sizeof(CudaMemory));
  }
  *out = Ref<CudaMemory>::adopt(object);
  return Status();
}

void CudaDevice::freeMemory(uint64_t address, uint64_t room) {
  ContextScope scope(*this, ContextScope::kRelease);
  memory.free(address, room);
}

/// The device that has the byte at \p address in its memory; -1 if none has.
Status CudaDevice::findOwner(CUdeviceptr address, int *ordinal) const {
  unsigned type = 0;
  *ordinal = -1;
  CUresult result = cu.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address);
  // The driver's way to say that it knows no such memory.
  if (result == CUDA_ERROR_INVALID_VALUE ||
      (result == CUDA_SUCCESS && type != CU_MEMORYTYPE_DEVICE))
    return Status();
  XCR_RETURN_IF_ERROR(check(result, "cuPointerGetAttribute"));
  return XCR_CUDA_CALL(*this, cuPointerGetAttribute, ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                       address);
}

Status CudaDevice::import(void *data, uint64_t size, Ref<hal::Memory> *out) {
  ContextScope scope(*this);
  XCR_RETURN_IF_ERROR(scope.status());
  // Both ends: what lies between them may be several pieces, mapped one behind the other.
  const CUdeviceptr begin = reinterpret_cast<CUdeviceptr>(data), last = begin + size - 1;
  const int own = static_cast<int>(info.ordinal);
  int owner = -1, lastOwner = own;
  XCR_RETURN_IF_ERROR(findOwner(begin, &owner));
  if (owner >= 0 && owner != own)
    return makeStatus(allocator, XCR_STATUS_INVALID_ARGUMENT,
                      "expected device memory of %s, got %p, which is memory of cuda:%d",
                      info.uri.c_str(), data, owner);
  if (owner < 0)
    return makeStatus(
        allocator, XCR_STATUS_INVALID_ARGUMENT,
        "expected device memory of %s, got %p, which the driver does not know as such",
        info.uri.c_str(), data);
  if (size > 1)
    XCR_RETURN_IF_ERROR(findOwner(last, &lastOwner));
  if (lastOwner != own || (size && last < begin))
    return makeStatus(allocator, XCR_STATUS_INVALID_ARGUMENT,
                      "expected %llu bytes of device memory of %s, got memory at %p that ends "
                      "before that",
                      static_cast<unsigned long long>(size), info.uri.c_str(), data);
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
  XCR_RETURN_IF_ERROR(scope.status());
  return transfer.read(source.address() + offset, data, size);
}

Status CudaDevice::write(hal::Memory &target, uint64_t offset, const void *data, uint64_t size) {
  XCR_RETURN_IF_ERROR(checkAlive());
  if (size == 0)
    return Status();
  ContextScope scope(*this);
  XCR_RETURN_IF_ERROR(scope.status());
  return transfer.write(target.address() + offset, data, size);
}

Status CudaDevice::write(hal::Memory &target, uint64_t offset, hal::UploadSource &source,
                         uint64_t size) {
  XCR_RETURN_IF_ERROR(checkAlive());
  if (size == 0)
    return Status();
  ContextScope scope(*this);
  XCR_RETURN_IF_ERROR(scope.status());
  return transfer.write(target.address() + offset, source, size);
}

Status CudaDevice::trim() {
  XCR_RETURN_IF_ERROR(checkAlive());
  XCR_RETURN_IF_ERROR(forEachStream([](CudaStream &stream) {
    stream.trim();
    return Status();
  }));
  ContextScope scope(*this);
  XCR_RETURN_IF_ERROR(scope.status());
  return memory.trim();
}

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

Status CudaDevice::createStream(Ref<hal::Stream> *out) {
  XCR_RETURN_IF_ERROR(checkAlive());
  return CudaStream::create(*this, nullptr, out);
}

Status CudaDevice::importStream(void *native, Ref<hal::Stream> *out) {
  XCR_RETURN_IF_ERROR(checkAlive());
  CUstream stream = static_cast<CUstream>(native);
  ContextScope scope(*this);
  XCR_RETURN_IF_ERROR(scope.status());
  CUcontext owner = nullptr;
  XCR_RETURN_IF_ERROR(XCR_CUDA_CALL(*this, cuStreamGetCtx, stream, &owner));
  if (owner != context)
    return makeStatus(allocator, XCR_STATUS_INVALID_ARGUMENT,
                      "options.native_stream: expected a stream of the context of device %s, got "
                      "one of another context",
                      info.uri.c_str());
  return CudaStream::create(*this, stream, out);
}

Status CudaDevice::createEvent(Ref<hal::Event> *out) {
  XCR_RETURN_IF_ERROR(checkAlive());
  return CudaEvent::create(*this, out);
}

void CudaDevice::remember(CudaStream &stream) {
  Lock lock(listMutex);
  stream.next = streams;
  if (streams)
    streams->link = &stream.next;
  stream.link = &streams;
  streams = &stream;
}

void CudaDevice::forget(CudaStream &stream) {
  Lock lock(listMutex);
  if (!stream.link)
    return;
  *stream.link = stream.next;
  if (stream.next)
    stream.next->link = stream.link;
}

/// The streams that are there now; each is kept alive while it is looked at, and the list is not
/// locked meanwhile.
template <typename Function> Status CudaDevice::forEachStream(Function function) {
  Vector<Ref<CudaStream>> alive(allocator);
  {
    Lock lock(listMutex);
    for (CudaStream *stream = streams; stream; stream = stream->next) {
      XCR_RETURN_IF_ERROR(alive.reserve(alive.size() + 1));
      if (stream->tryRetain())
        XCR_RETURN_IF_ERROR(alive.push(Ref<CudaStream>::adopt(stream)));
    }
  }
  for (Ref<CudaStream> &stream : alive)
    XCR_RETURN_IF_ERROR(function(*stream));
  return Status();
}

Status CudaDevice::synchronize() {
  XCR_RETURN_IF_ERROR(checkAlive());
  // What is captured has not been launched.
  return forEachStream(
      [](CudaStream &stream) { return stream.isCaptured() ? Status() : stream.synchronize(); });
}

Status CudaDevice::startCallbacks() {
  Lock lock(callbackMutex);
  return callbacks ? Status() : CallbackQueue::create(allocator, &callbacks);
}
