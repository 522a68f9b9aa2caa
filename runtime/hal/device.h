//===- device.h - What a driver implements for a device ------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_RUNTIME_HAL_DEVICE_H
#define XC_RUNTIME_HAL_DEVICE_H

#include "runtime/base/threads.h"
#include "runtime/hal/access_check.h"
#include "runtime/hal/executable.h"
#include "runtime/hal/stream.h"
#include "runtime/hal/upload_source.h"
#include "schemas/module_generated.h"

namespace xc::hal {

/// xcr_device_options_t, read with its defaults.
struct DeviceOptions {
  HostAllocator allocator;
  uint64_t memoryLimit = 0; ///< 0: what the device has
  uint32_t cpuThreads = 0;  ///< 0: the driver decides
  void *nativeContext = nullptr;
};

/// What xcr_device_info_t tells.
struct DeviceInfo {
  explicit DeviceInfo(const HostAllocator &allocator)
      : uri(allocator), name(allocator), arch(allocator), description(allocator) {}
  const char *driver = "";
  String uri, name, arch, description;
  uint64_t totalMemory = 0;
  uint32_t processorCount = 0;
  uint32_t driverVersion = 0;
  uint32_t ordinal = 0; ///< among the driver's devices

  void get(xcr_device_info_t *out) const;
};

} // namespace xc::hal

/// See xcr.h. Thread-safe.
struct xcr_device : xc::RefCounted {
  const xc::HostAllocator allocator;
  xc::hal::DeviceInfo info;
  xc::hal::MemoryCounter counter;
  std::atomic<uint64_t> launchCount{0};
  /// For debugging: no temporary shares an allocation with another.
  bool separatesTemporaries = false;
  /// For debugging: whether the host waits for streams before it accesses what they use.
  xc::hal::AccessCheck accessCheck;

  //===--- Code -----------------------------------------------------------===//

  /// Succeeds if the device can run \p code; the higher the score, the better
  /// it fits. INCOMPATIBLE tells what the code needs and what the device has.
  /// Looks at the table only.
  virtual xc::Status checkCode(const xc::fb::Executable &code, uint32_t *score) const = 0;
  /// \p image: its checksum is checked; it need not outlive the call.
  virtual xc::Status loadExecutable(const xc::fb::Executable &code, xc::Span<const uint8_t> image,
                                    xc::Ref<xc::hal::Executable> *out) = 0;
  virtual xc::Status createRecording(const xc::hal::CommandList &list,
                                     const xc::hal::RecordingOptions &options,
                                     xc::Ref<xc::hal::Recording> *out) = 0;

  //===--- Memory ---------------------------------------------------------===//

  /// At least 64-byte aligned, whatever the size; not initialised.
  virtual xc::Status allocate(uint64_t size, xc::Ref<xc::hal::Memory> *out) = 0;
  /// Memory that belongs to somebody else; see Memory::onRelease.
  virtual xc::Status import(void *data, uint64_t size, xc::Ref<xc::hal::Memory> *out) = 0;
  /// Whether import takes any memory of this process.
  virtual bool canImportHostMemory() const = 0;
  /// Blocking, not ordered with streams.
  virtual xc::Status read(xc::hal::Memory &source, uint64_t offset, void *data, uint64_t size) = 0;
  virtual xc::Status write(xc::hal::Memory &target, uint64_t offset, const void *data,
                           uint64_t size) = 0;
  /// The same of \p size bytes of \p source, which reads them to where the device takes them from.
  virtual xc::Status write(xc::hal::Memory &target, uint64_t offset, xc::hal::UploadSource &source,
                           uint64_t size) = 0;
  virtual xc::Status trim() = 0;

  //===--- Work -----------------------------------------------------------===//

  virtual xc::Status createStream(xc::Ref<xc::hal::Stream> *out) = 0;
  /// A stream of the driver's own kind that somebody else has made.
  virtual xc::Status importStream(void *native, xc::Ref<xc::hal::Stream> *out);
  virtual xc::Status createEvent(xc::Ref<xc::hal::Event> *out) = 0;
  virtual xc::Status synchronize() = 0;

  /// A stream of the device's own for a caller that waits for its work:
  /// \p preferred if that is free, else any, else a new one. It belongs to
  /// the caller until returnStream.
  xc::Status borrowStream(xc::hal::Stream *preferred, xc::hal::Stream **out);
  void returnStream(xc::hal::Stream *stream);

protected:
  xcr_device(const xc::hal::DeviceOptions &options, uint64_t memoryLimit)
      : allocator(options.allocator), info(options.allocator), counter(memoryLimit),
        accessCheck(allocator), ownStreams(options.allocator), freeStreams(options.allocator) {}

  /// For destroy() of the driver's class, whose streams these are.
  void releaseOwnStreams();

private:
  xc::Mutex streamMutex;
  xc::Vector<xc::hal::Stream *> ownStreams; ///< holds a reference each
  xc::Vector<xc::hal::Stream *> freeStreams;
};

#endif // XC_RUNTIME_HAL_DEVICE_H
