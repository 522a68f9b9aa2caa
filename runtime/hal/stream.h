//===- stream.h - A queue of work ----------------------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_RUNTIME_HAL_STREAM_H
#define XC_RUNTIME_HAL_STREAM_H

#include "runtime/hal/event.h"
#include "runtime/hal/memory.h"
#include "runtime/hal/recording.h"

namespace xc::hal {

using Stream = ::xcr_stream;
using Device = ::xcr_device;

/// Whether the caller of launch is about to wait for the stream. If so, a
/// driver without a queue of its own need not start a thread for it.
enum class LaunchMode { Asynchronous, Awaited };

} // namespace xc::hal

/// See xcr.h. Thread-safe. The work of a stream runs in order; \p Ref arguments
/// are held until the work that uses them has ended.
struct xcr_stream : xc::RefCounted {
  /// Not owning: the C API's streams hold their device in `owner`, those that
  /// the device keeps for itself do not.
  xc::hal::Device &device() const { return parent; }

  /// \p arenaBytes: what the recording uses of the arena, whose base
  /// reserveArena has told.
  virtual xc::Status launch(xc::Ref<xc::hal::Recording> recording, uint64_t arenaBytes,
                            xc::hal::LaunchMode mode) = 0;
  /// Waits for everything before and reports, once, what went wrong in it.
  virtual xc::Status synchronize() = 0;
  virtual xc::Status query(bool *isDone) = 0;
  virtual xc::Status record(xc::Ref<xc::hal::Event> event) = 0;
  virtual xc::Status wait(xc::Ref<xc::hal::Event> event) = 0;
  virtual xc::Status addCallback(xcr_host_callback_t callback, void *userData) = 0;
  virtual xc::Status copy(xc::Ref<xc::hal::Memory> source, uint64_t sourceOffset,
                          xc::Ref<xc::hal::Memory> target, uint64_t targetOffset,
                          uint64_t size) = 0;
  virtual xc::Status fill(xc::Ref<xc::hal::Memory> target, uint64_t offset, uint64_t size,
                          uint64_t pattern, uint32_t patternSize) = 0;
  virtual xc::Status read(xc::Ref<xc::hal::Memory> source, uint64_t offset, void *data,
                          uint64_t size) = 0;
  virtual xc::Status write(xc::Ref<xc::hal::Memory> target, uint64_t offset, const void *data,
                           uint64_t size) = 0;
  /// Drops the caller's reference when everything before has ended. Cannot
  /// fail: it waits if it must.
  virtual void releaseLater(xc::RefCounted *object) = 0;

  /// Orders what comes now behind what \p earlier has; \p event is free for that. A stream whose
  /// work somebody captures into a graph is only ordered with others that are captured, too.
  virtual xc::Status follow(xc::hal::Stream &earlier, xc::Ref<xc::hal::Event> event);

  /// Makes the stream's arena at least \p size bytes; work in flight is not disturbed. The base
  /// stays the same while arenaMoves does; \p holder, which may come back null, keeps the memory
  /// there.
  virtual xc::Status reserveArena(uint64_t size, uint64_t *base,
                                  xc::Ref<xc::hal::Memory> *holder) = 0;
  /// How often the arena has moved: never where the device maps memory behind reserved addresses.
  std::atomic<uint32_t> arenaMoves{0};

  xc::Ref<xc::hal::Device> owner;

protected:
  explicit xcr_stream(xc::hal::Device &parent) : parent(parent) {}
  // Defined where xcr_device is complete: `owner` is released there.
  ~xcr_stream() override;

private:
  xc::hal::Device &parent;
};

#endif // XC_RUNTIME_HAL_STREAM_H
