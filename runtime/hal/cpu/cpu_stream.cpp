//===- cpu_stream.cpp - A queue of work for the processor ----------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/hal/cpu/cpu_stream.h"

#include "runtime/hal/cpu/cpu_device.h"
#include "runtime/hal/cpu/fill_pattern.h"

using namespace xc;
using namespace xc::cpu;
using hal::LaunchMode;

CpuStream::CpuStream(const HostAllocator &allocator, CpuDevice &device)
    : hal::Stream(device), allocator(allocator), parent(device), queue(allocator, mutex, *this),
      arena(allocator, device.counter) {}

CpuStream::~CpuStream() { queue.end(); }

/// The last reference may have gone with an item or in a callback.
void CpuStream::destroy() {
  if (!queue.endByThread())
    finish();
}

void CpuStream::finish() {
  // The device may go with the owner's reference: it must outlive the stream,
  // whose allocator and memory counter are the device's.
  Ref<hal::Device> keep = std::move(owner);
  parent.forget(*this);
  allocator.destroy(this);
}

//===----------------------------------------------------------------------===//
// The queue
//===----------------------------------------------------------------------===//

/// The mutex is held.
Status CpuStream::push(Item item, LaunchMode mode) {
  XCR_RETURN_IF_ERROR(queue.prepare(mode));
  queue.push(std::move(item));
  return Status();
}

void CpuStream::run(Item &item) {
  switch (item.kind) {
  case Kind::Launch:
    static_cast<CpuRecording *>(item.first.get())
        ->run(*static_cast<PlanState *>(item.second.get()),
              item.scratch ? item.scratch->part(0) : nullptr);
    return;
  case Kind::Record:
    static_cast<CpuEventRecord *>(item.first.get())->reach();
    return;
  case Kind::Wait:
    static_cast<CpuEventRecord *>(item.first.get())->wait();
    return;
  case Kind::Callback:
    item.callback(item.userData, nullptr);
    return;
  case Kind::Copy:
    memmove(item.target, item.source, item.size);
    return;
  case Kind::Fill:
    fillPattern(item.target, item.size, item.value, item.patternSize);
    return;
  case Kind::Release:
    return;
  }
}

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

Status CpuStream::launch(Ref<hal::Recording> recording, uint64_t arenaBytes, LaunchMode mode) {
  Item item;
  item.kind = Kind::Launch;
  Ref<PlanState> state = static_cast<CpuRecording *>(recording.get())->state();
  uint64_t scratchBytes = state->scratchBytes;
  item.first = std::move(recording);
  item.second = std::move(state);
  Lock lock(mutex);
  // A trim since the arena was reserved may have taken its memory.
  if (arenaBytes > arena.size())
    XCR_RETURN_IF_ERROR(arena.grow(arenaBytes));
  if (scratchBytes && (!scratch || scratch->bytesOfPart() < scratchBytes))
    XCR_RETURN_IF_ERROR(Scratch::create(allocator, 1, scratchBytes, &scratch));
  item.scratch = scratch;
  return push(std::move(item), mode);
}

Status CpuStream::synchronize() {
  Lock lock(mutex);
  queue.drain();
  return Status();
}

Status CpuStream::query(bool *isDone) {
  Lock lock(mutex);
  *isDone = queue.isIdle();
  // Somebody who only polls must see an end, too.
  return *isDone ? Status() : queue.startThread();
}

Status CpuStream::record(Ref<hal::Event> event) {
  Ref<CpuEventRecord> record;
  XCR_RETURN_IF_ERROR(static_cast<CpuEvent &>(*event).record(&record));
  Lock lock(mutex);
  if (queue.isIdle()) {
    record->reach();
    return Status();
  }
  Item item;
  item.kind = Kind::Record;
  item.first = record;
  Status status = queue.startThread();
  if (status.succeeded())
    status = push(std::move(item), LaunchMode::Asynchronous);
  // Nobody may wait for what never comes.
  if (status.failed())
    record->reach();
  return status;
}

Status CpuStream::wait(Ref<hal::Event> event) {
  Ref<CpuEventRecord> record = static_cast<CpuEvent &>(*event).lastRecord();
  if (!record || record->isReached())
    return Status();
  Item item;
  item.kind = Kind::Wait;
  item.first = std::move(record);
  Lock lock(mutex);
  // Whatever follows decides whether a thread is needed.
  return push(std::move(item), LaunchMode::Awaited);
}

Status CpuStream::addCallback(xcr_host_callback_t callback, void *userData) {
  Item item;
  item.kind = Kind::Callback;
  item.callback = callback;
  item.userData = userData;
  Lock lock(mutex);
  return push(std::move(item), LaunchMode::Asynchronous);
}

Status CpuStream::copy(Ref<hal::Memory> source, uint64_t sourceOffset, Ref<hal::Memory> target,
                       uint64_t targetOffset, uint64_t size) {
  Item item;
  item.kind = Kind::Copy;
  item.source = static_cast<const char *>(source->host()) + sourceOffset;
  item.target = static_cast<char *>(target->host()) + targetOffset;
  item.size = size;
  item.first = std::move(source);
  item.second = std::move(target);
  Lock lock(mutex);
  return push(std::move(item), LaunchMode::Asynchronous);
}

Status CpuStream::fill(Ref<hal::Memory> target, uint64_t offset, uint64_t size, uint64_t pattern,
                       uint32_t patternSize) {
  Item item;
  item.kind = Kind::Fill;
  item.target = static_cast<char *>(target->host()) + offset;
  item.size = size;
  item.value = pattern;
  item.patternSize = static_cast<uint8_t>(patternSize);
  item.first = std::move(target);
  Lock lock(mutex);
  return push(std::move(item), LaunchMode::Asynchronous);
}

Status CpuStream::read(Ref<hal::Memory> source, uint64_t offset, void *data, uint64_t size) {
  Item item;
  item.kind = Kind::Copy;
  item.source = static_cast<const char *>(source->host()) + offset;
  item.target = data;
  item.size = size;
  item.first = std::move(source);
  Lock lock(mutex);
  return push(std::move(item), LaunchMode::Asynchronous);
}

Status CpuStream::write(Ref<hal::Memory> target, uint64_t offset, const void *data, uint64_t size) {
  Item item;
  item.kind = Kind::Copy;
  item.source = data;
  item.target = static_cast<char *>(target->host()) + offset;
  item.size = size;
  item.first = std::move(target);
  Lock lock(mutex);
  return push(std::move(item), LaunchMode::Asynchronous);
}

void CpuStream::releaseLater(RefCounted *object) {
  Item item;
  item.first = Ref<RefCounted>::adopt(object);
  // Goes after the lock: destructors may come back to this stream.
  Ref<RefCounted> last = item.first;
  Lock lock(mutex);
  if (queue.isIdle()) {
    item = Item();
    return;
  }
  if (push(std::move(item), LaunchMode::Awaited).failed())
    queue.drain();
}

Status CpuStream::reserveArena(uint64_t size, uint64_t *base, Ref<hal::Memory> *) {
  Lock lock(mutex);
  XCR_RETURN_IF_ERROR(arena.grow(size));
  *base = arena.base();
  return Status();
}

void CpuStream::trim() {
  Lock lock(mutex);
  if (queue.isIdle())
    arena.trim();
}
