//===- cpu_arena.cpp - Scratch memory of a stream at a fixed address -----===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/hal/cpu/cpu_arena.h"

#include "runtime/base/checked.h"

#include <cinttypes>
#include <sys/mman.h>

using namespace xc;
using namespace xc::cpu;

// Addresses cost nothing; this much is tried first and halved while the
// system or a limit of the process refuses.
static constexpr uint64_t kReservation = uint64_t(1) << 40;
// Memory comes in steps of the size of a huge page.
static constexpr uint64_t kStep = 2u << 20;

CpuArena::~CpuArena() {
  trim();
  if (memory)
    munmap(memory, reserved);
}

Status CpuArena::reserve(uint64_t size) {
  for (uint64_t wanted = kReservation; wanted >= size; wanted /= 2) {
    void *address =
        mmap(nullptr, wanted, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (address == MAP_FAILED)
      continue;
    memory = static_cast<char *>(address);
    reserved = wanted;
    return Status();
  }
  return makeOutOfMemory(allocator, {size, freeHostMemory(), counter.bytesInUse()},
                         "cannot reserve addresses for an arena");
}

Status CpuArena::grow(uint64_t size) {
  if (size <= committed)
    return Status();
  uint64_t wanted, available = UINT64_MAX, held = counter.bytesInUse();
  if (!alignUp(size, kStep, &wanted))
    return makeOutOfMemory(allocator, {size, counter.bytesLimit(), held},
                           "an arena does not fit into memory");
  if (!counter.charge(wanted - committed, &available))
    return makeOutOfMemory(allocator, {wanted - committed, available, held},
                           "the memory limit of device cpu is reached by an arena of %" PRIu64
                           " bytes, which grows in steps of %" PRIu64,
                           size, kStep);
  Status status;
  if (!memory)
    status = reserve(wanted);
  if (status.succeeded() && (wanted > reserved || mprotect(memory + committed, wanted - committed,
                                                           PROT_READ | PROT_WRITE) != 0))
    status = makeOutOfMemory(allocator, {wanted - committed, freeHostMemory(), held},
                             "the system gives no memory for an arena of %" PRIu64
                             " bytes, which grows in steps of %" PRIu64,
                             size, kStep);
  if (status.failed()) {
    counter.refund(wanted - committed);
    return status;
  }
  // Only a hint: without huge pages the arena works as well.
  madvise(memory + committed, wanted - committed, MADV_HUGEPAGE);
  counter.chargeArena(wanted - committed);
  committed = wanted;
  return Status();
}

void CpuArena::trim() {
  if (committed == 0)
    return;
  madvise(memory, committed, MADV_DONTNEED);
  mprotect(memory, committed, PROT_NONE);
  counter.refund(committed);
  counter.refundArena(committed);
  committed = 0;
}
