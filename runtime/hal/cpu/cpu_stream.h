//===- cpu_stream.h - A queue of work for the processor ------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_RUNTIME_HAL_CPU_CPU_STREAM_H
#define XC_RUNTIME_HAL_CPU_CPU_STREAM_H

#include "runtime/hal/cpu/cpu_arena.h"
#include "runtime/hal/cpu/cpu_event.h"
#include "runtime/hal/cpu/cpu_recording.h"
#include "runtime/hal/work_queue.h"

namespace xc::cpu {

class CpuDevice;

/// Everything is done in the order in which it came, by the threads that work the queue.
class CpuStream final : public hal::Stream {
public:
  CpuStream(const HostAllocator &allocator, CpuDevice &device);

  Status launch(Ref<hal::Recording> recording, uint64_t arenaBytes, hal::LaunchMode mode) override;
  Status synchronize() override;
  Status query(bool *isDone) override;
  Status record(Ref<hal::Event> event) override;
  Status wait(Ref<hal::Event> event) override;
  Status addCallback(xcr_host_callback_t callback, void *userData) override;
  Status copy(Ref<hal::Memory> source, uint64_t sourceOffset, Ref<hal::Memory> target,
              uint64_t targetOffset, uint64_t size) override;
  Status fill(Ref<hal::Memory> target, uint64_t offset, uint64_t size, uint64_t pattern,
              uint32_t patternSize) override;
  Status read(Ref<hal::Memory> source, uint64_t offset, void *data, uint64_t size) override;
  Status write(Ref<hal::Memory> target, uint64_t offset, const void *data, uint64_t size) override;
  void releaseLater(RefCounted *object) override;
  Status reserveArena(uint64_t size, uint64_t *base, Ref<hal::Memory> *holder) override;

  /// Gives the arena back if nothing runs.
  void trim();

private:
  friend class CpuDevice;
  friend class xc::HostAllocator;
  struct Item;
  using Queue = hal::WorkQueue<Item, CpuStream>;
  friend Queue;

  enum class Kind : uint8_t { Launch, Record, Wait, Callback, Copy, Fill, Release };
  /// What an item holds is released when it has run.
  struct Item {
    Kind kind = Kind::Release;
    uint8_t patternSize = 0;
    Ref<RefCounted> first, second;
    Ref<Scratch> scratch; ///< of a launch
    xcr_host_callback_t callback = nullptr;
    void *userData = nullptr;
    void *target = nullptr;
    const void *source = nullptr;
    uint64_t size = 0, value = 0; ///< value: pattern of a fill
  };

  ~CpuStream() override;
  void destroy() override;
  void finish();
  Status push(Item item, hal::LaunchMode mode);
  void run(Item &item);

  const HostAllocator &allocator;
  CpuDevice &parent;
  Mutex mutex; ///< guards all below
  Queue queue;
  Ref<Scratch> scratch; ///< of the next launch
  CpuArena arena;
  /// The device's list of streams, under its mutex.
  CpuStream *next = nullptr, **link = nullptr;
};

} // namespace xc::cpu

#endif // XC_RUNTIME_HAL_CPU_CPU_STREAM_H
