//===- cpu_device.cpp - The processor as a device ------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/hal/cpu/cpu_device.h"

#include "runtime/base/checked.h"
#include "runtime/hal/cpu/cpu_features.h"
#include "runtime/hal/cpu/cpu_stream.h"

#include <cstdio>
#include <cstdlib>
#include <sys/mman.h>
#include <unistd.h>

using namespace xc;
using namespace xc::cpu;

namespace {

/// Memory of the host allocator.
class CpuMemory final : public hal::Memory {
public:
  CpuMemory(hal::Device &device, void *data, uint64_t size, uint64_t roomSize, uint64_t alignment)
      : Memory(reinterpret_cast<uint64_t>(data), size, data), device(device), roomSize(roomSize),
        alignment(alignment) {}

private:
  friend class xc::HostAllocator;
  ~CpuMemory() override = default;
  void destroy() override {
    HostAllocator allocator = device.allocator;
    allocator.deallocate(host(), roomSize, alignment);
    device.counter.refund(roomSize);
    allocator.destroy(this);
  }
  hal::Device &device;
  const uint64_t roomSize, alignment;
};

/// Memory of somebody else.
class ImportedMemory final : public hal::Memory {
public:
  ImportedMemory(const HostAllocator &allocator, void *data, uint64_t size)
      : Memory(reinterpret_cast<uint64_t>(data), size, data), allocator(allocator) {}

private:
  friend class xc::HostAllocator;
  ~ImportedMemory() override = default;
  void destroy() override { allocator.destroy(this); }
  const HostAllocator allocator;
};

} // namespace

uint64_t xc::cpu::hostMemoryBytes() {
  uint64_t bytes =
      static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  if (FILE *file = fopen("/sys/fs/cgroup/memory.max", "re")) {
    unsigned long long limit;
    if (fscanf(file, "%llu", &limit) == 1 && limit < bytes)
      bytes = limit;
    fclose(file);
  }
  return bytes;
}

//===----------------------------------------------------------------------===//
// Making and ending a device
//===----------------------------------------------------------------------===//

static Status describeDevice(hal::DeviceInfo &info, uint32_t threads) {
  info.driver = "cpu";
  XCR_RETURN_IF_ERROR(info.uri.assign(xcr_string("cpu")));
  XCR_RETURN_IF_ERROR(hostName(&info.name));
  XCR_RETURN_IF_ERROR(info.arch.assign(xcr_string(hostArch())));
  info.totalMemory = hostMemoryBytes();
  info.processorCount = threads;
  char text[64];
  snprintf(text, sizeof(text), ", %s, %u thread%s", hostArch(), threads, threads == 1 ? "" : "s");
  XCR_RETURN_IF_ERROR(info.description.assign(info.name.view()));
  return info.description.append(xcr_string(text));
}

Status CpuDevice::create(const hal::DeviceOptions &options, uint32_t threads,
                         Ref<hal::Device> *out) {
  uint64_t limit = options.memoryLimit ? options.memoryLimit : hostMemoryBytes();
  auto device = Ref<CpuDevice>::adopt(options.allocator.create<CpuDevice>(options, limit));
  if (!device)
    return outOfHostMemory(sizeof(CpuDevice));
  XCR_RETURN_IF_ERROR(describeDevice(device->info, threads));
  XCR_RETURN_IF_ERROR(device->pool.start(threads - 1));
  *out = std::move(device);
  return Status();
}

void CpuDevice::destroy() {
  releaseOwnStreams();
  allocator.destroy(this);
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

Status CpuDevice::checkCode(const fb::Executable &code, uint32_t *score) const {
  xcr_string_view_t arch = {code.arch()->data(), code.arch()->size()};
  if (code.kind() != fb::CodeKind::SharedObject)
    return makeStatus(allocator, XCR_STATUS_INCOMPATIBLE,
                      "needs a CUDA device of arch %.*s, this is a CPU", printLength(arch),
                      arch.data);
  const char *family = familyOf(arch);
  if (family && strcmp(family, hostFamily()) != 0)
    return makeStatus(allocator, XCR_STATUS_INCOMPATIBLE,
                      "needs a CPU of arch %.*s, this machine is %s", printLength(arch), arch.data,
                      hostArch());
  uint32_t level = levelOf(arch);
  if (level > levelOf(xcr_string(hostArch())))
    return makeStatus(allocator, XCR_STATUS_INCOMPATIBLE,
                      "needs a CPU of arch %.*s, this machine is %s", printLength(arch), arch.data,
                      hostArch());
  String missing(allocator);
  uint32_t present = 0;
  if (code.cpu_features())
    for (const flatbuffers::String *feature : *code.cpu_features()) {
      xcr_string_view_t name = {feature->data(), feature->size()};
      if (checkFeature(name) == FeatureState::Present) {
        ++present;
        continue;
      }
      XCR_RETURN_IF_ERROR(missing.append(xcr_string(" ")));
      XCR_RETURN_IF_ERROR(missing.append(name));
      if (checkFeature(name) == FeatureState::Unknown)
        XCR_RETURN_IF_ERROR(missing.append(xcr_string(" (unknown to this library)")));
    }
  if (missing.view().size)
    return makeStatus(allocator, XCR_STATUS_INCOMPATIBLE,
                      "needs a CPU of arch %.*s with features that this "
                      "machine (%s) lacks:%s",
                      printLength(arch), arch.data, hostArch(), missing.c_str());
  *score = 1 + 1000 * level + present;
  return Status();
}

Status CpuDevice::loadExecutable(const fb::Executable &code, Span<const uint8_t> image,
                                 Ref<hal::Executable> *out) {
  return CpuExecutable::load(allocator, code, image, out);
}

Status CpuDevice::createRecording(const hal::CommandList &list,
                                  const hal::RecordingOptions &options, Ref<hal::Recording> *out) {
  return CpuRecording::create(allocator, pool, list, options, out);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Status CpuDevice::allocate(uint64_t size, Ref<hal::Memory> *out) {
  constexpr uint64_t kHugeBytes = 4u << 20;
  uint64_t alignment = size >= kHugeBytes ? 2u << 20 : 64;
  uint64_t roomSize, available;
  if (!alignUp(size ? size : 1, 64, &roomSize) || roomSize > SIZE_MAX / 2)
    return makeOutOfMemory(allocator, {size, counter.bytesLimit(), counter.bytesInUse()},
                           "a buffer does not fit into memory");
  if (!counter.charge(roomSize, &available))
    return makeOutOfMemory(allocator, {roomSize, available, counter.bytesInUse()},
                           "the memory limit of device cpu is reached");
  void *data = allocator.allocate(roomSize, alignment);
  if (!data) {
    counter.refund(roomSize);
    return makeOutOfMemory(allocator, {roomSize, freeHostMemory(), counter.bytesInUse()},
                           "the system gives no memory for a buffer on device cpu");
  }
  // Fewer page faults and TLB misses; only a hint.
  if (size >= kHugeBytes)
    madvise(data, roomSize & ~((uint64_t(2) << 20) - 1), MADV_HUGEPAGE);
  CpuMemory *memory = allocator.create<CpuMemory>(*this, data, size, roomSize, alignment);
  if (!memory) {
    allocator.deallocate(data, roomSize, alignment);
    counter.refund(roomSize);
    return outOfHostMemory(sizeof(CpuMemory));
  }
  *out = Ref<CpuMemory>::adopt(memory);
  return Status();
}

Status CpuDevice::import(void *data, uint64_t size, Ref<hal::Memory> *out) {
  ImportedMemory *memory = allocator.create<ImportedMemory>(allocator, data, size);
  if (!memory)
    return outOfHostMemory(sizeof(ImportedMemory));
  *out = Ref<ImportedMemory>::adopt(memory);
  return Status();
}

Status CpuDevice::read(hal::Memory &source, uint64_t offset, void *data, uint64_t size) {
  if (size)
    memcpy(data, static_cast<const char *>(source.host()) + offset, size);
  return Status();
}

Status CpuDevice::write(hal::Memory &target, uint64_t offset, const void *data, uint64_t size) {
  if (size)
    memcpy(static_cast<char *>(target.host()) + offset, data, size);
  return Status();
}

Status CpuDevice::write(hal::Memory &target, uint64_t offset, hal::UploadSource &source,
                        uint64_t size) {
  return source.read(static_cast<char *>(target.host()) + offset, size);
}

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

Status CpuDevice::createStream(Ref<hal::Stream> *out) {
  CpuStream *stream = allocator.create<CpuStream>(allocator, *this);
  if (!stream)
    return outOfHostMemory(sizeof(CpuStream));
  Lock lock(listMutex);
  stream->next = streams;
  if (streams)
    streams->link = &stream->next;
  stream->link = &streams;
  streams = stream;
  *out = Ref<CpuStream>::adopt(stream);
  return Status();
}

void CpuDevice::forget(CpuStream &stream) {
  Lock lock(listMutex);
  *stream.link = stream.next;
  if (stream.next)
    stream.next->link = stream.link;
}

Status CpuDevice::createEvent(Ref<hal::Event> *out) {
  CpuEvent *event = allocator.create<CpuEvent>(allocator, *this);
  if (!event)
    return outOfHostMemory(sizeof(CpuEvent));
  *out = Ref<CpuEvent>::adopt(event);
  return Status();
}

/// The streams that are there now; each is kept alive while it is looked at,
/// and the list is not locked meanwhile.
template <typename Function> Status CpuDevice::forEachStream(Function function) {
  Vector<Ref<CpuStream>> alive(allocator);
  {
    Lock lock(listMutex);
    for (CpuStream *stream = streams; stream; stream = stream->next) {
      XCR_RETURN_IF_ERROR(alive.reserve(alive.size() + 1));
      if (stream->tryRetain())
        XCR_RETURN_IF_ERROR(alive.push(Ref<CpuStream>::adopt(stream)));
    }
  }
  for (Ref<CpuStream> &stream : alive)
    XCR_RETURN_IF_ERROR(function(*stream));
  return Status();
}

Status CpuDevice::synchronize() {
  return forEachStream([](CpuStream &stream) { return stream.synchronize(); });
}

Status CpuDevice::trim() {
  return forEachStream([](CpuStream &stream) {
    stream.trim();
    return Status();
  });
}
