//===- plan_job.cpp - Running the commands of a plan on several threads --===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/hal/cpu/plan_job.h"

#include "runtime/hal/cpu/fill_pattern.h"

using namespace xc;
using namespace xc::cpu;
using hal::CommandKind;

// How long a thread that waits for another's command looks before it sleeps.
static constexpr uint32_t kIdleSpins = 400;

// Kernels come from images that no sanitizer has seen.
#if defined(__clang__)
__attribute__((no_sanitize("function")))
#endif
static void runWorkgroups(const PlanCommand &command, void *const *bindings, const int64_t *scalars,
                          uint64_t begin, uint64_t end, void *scratch) {
  uint64_t plane = static_cast<uint64_t>(command.grid[0]) * command.grid[1];
  int64_t z = static_cast<int64_t>(begin / plane);
  int64_t y = static_cast<int64_t>(begin % plane / command.grid[0]);
  int64_t x = static_cast<int64_t>(begin % command.grid[0]);
  for (uint64_t i = begin; i < end; ++i) {
    command.function(bindings, scalars, scratch, x, y, z);
    if (++x < command.grid[0])
      continue;
    x = 0;
    if (++y < command.grid[1])
      continue;
    y = 0;
    ++z;
  }
}

void PlanState::run(const PlanCommand &command, uint64_t begin, uint64_t end,
                    void *scratchPart) const {
  if (command.isEmpty)
    return;
  void *const *where = addresses.data() + command.addresses;
  if (command.kind == CommandKind::Dispatch) {
    runWorkgroups(command, where, scalars.data() + command.scalars, begin, end,
                  command.scratch ? scratchPart : nullptr);
    return;
  }
  uint64_t first = begin * kBlockBytes;
  uint64_t last = end * kBlockBytes;
  if (last > command.length)
    last = command.length;
  if (command.kind == CommandKind::Copy)
    memmove(static_cast<char *>(where[1]) + first, static_cast<const char *>(where[0]) + first,
            last - first);
  else
    fillPattern(static_cast<char *>(where[0]) + first, last - first, command.pattern,
                command.patternSize);
}

Status PlanJob::initialise(const hal::CommandList &list) {
  size_t count = list.commands.size;
  XCR_RETURN_IF_ERROR(successorBegins.resize(count + 1));
  XCR_RETURN_IF_ERROR(predecessorCounts.resize(count));
  XCR_RETURN_IF_ERROR(progress.resize(count));
  XCR_RETURN_IF_ERROR(ready.resize(count));
  size_t edgeCount = 0;
  if (list.hasControl())
    return Status();
  for (size_t i = 0; i < count; ++i) {
    const hal::Range &edges = list.commands[i].edges;
    predecessorCounts[i] = edges.count;
    edgeCount += edges.count;
    for (uint32_t e = 0; e < edges.count; ++e)
      ++successorBegins[list.edges[edges.begin + e] + 1];
  }
  for (size_t i = 0; i < count; ++i)
    successorBegins[i + 1] += successorBegins[i];
  XCR_RETURN_IF_ERROR(successors.resize(edgeCount));
  // Fill backwards by moving the ends to the begins.
  for (size_t i = count; i-- > 0;) {
    const hal::Range &edges = list.commands[i].edges;
    for (uint32_t e = 0; e < edges.count; ++e)
      successors[--successorBegins[list.edges[edges.begin + e] + 1]] = static_cast<uint32_t>(i);
  }
  // Now entry i + 1 holds the begin of i.
  for (size_t i = 0; i < count; ++i)
    successorBegins[i] = successorBegins[i + 1];
  successorBegins[count] = static_cast<uint32_t>(edgeCount);
  return Status();
}

void PlanJob::reset(uint32_t command, uint64_t threads) {
  Progress &entry = progress[command];
  const PlanCommand &what = state->commands[command];
  // An empty command still ends, so that its successors begin.
  entry.pieces = what.isEmpty ? 1 : what.pieces;
  entry.chunk = entry.pieces / (threads * 8);
  if (entry.chunk == 0)
    entry.chunk = 1;
  entry.next.store(0, std::memory_order_relaxed);
  entry.finished.store(0, std::memory_order_relaxed);
  entry.pending.store(predecessorCounts[command], std::memory_order_relaxed);
}

void PlanJob::run(const PlanState &what, void *callerScratch) {
  state = &what;
  followEdges = true;
  uint32_t count = static_cast<uint32_t>(what.commands.size());
  for (uint32_t i = 0; i < count; ++i) {
    reset(i, pool.workers() + 1);
    ready[i].command.store(kNone, std::memory_order_relaxed);
  }
  readyCount.store(0);
  firstOpen.store(0);
  commandsLeft.store(count);
  for (uint32_t i = 0; i < count; ++i)
    if (predecessorCounts[i] == 0)
      makeReady(i);
  finish(callerScratch);
}

void PlanJob::runOne(const PlanState &what, uint32_t command, void *callerScratch) {
  state = &what;
  followEdges = false;
  reset(command, pool.workers() + 1);
  ready[0].command.store(kNone, std::memory_order_relaxed);
  readyCount.store(0);
  firstOpen.store(0);
  commandsLeft.store(1);
  makeReady(command);
  finish(callerScratch);
}

void PlanJob::finish(void *callerScratch) {
  pool.offer(*this);
  while (commandsLeft.load(std::memory_order_acquire)) {
    uint32_t seen = pool.signalCount();
    uint32_t spins = 0;
    while (!step(callerScratch) && commandsLeft.load(std::memory_order_acquire) &&
           ++spins < kIdleSpins)
      pauseThread();
    if (spins == kIdleSpins && pool.signalCount() == seen)
      pool.waitForSignal(seen);
  }
  pool.retire(*this);
}

void PlanJob::makeReady(uint32_t command) {
  uint32_t slot = readyCount.fetch_add(1, std::memory_order_acq_rel);
  ready[slot].command.store(command, std::memory_order_release);
}

bool PlanJob::step(void *scratch) {
  uint32_t end = readyCount.load(std::memory_order_acquire);
  for (uint32_t i = firstOpen.load(std::memory_order_relaxed); i < end; ++i) {
    uint32_t command = ready[i].command.load(std::memory_order_acquire);
    if (command == kNone)
      return false; // somebody is about to write it
    Progress &entry = progress[command];
    if (entry.next.load(std::memory_order_relaxed) >= entry.pieces) {
      uint32_t expected = i;
      firstOpen.compare_exchange_strong(expected, i + 1, std::memory_order_relaxed);
      continue;
    }
    uint64_t begin = entry.next.fetch_add(entry.chunk, std::memory_order_relaxed);
    if (begin >= entry.pieces)
      continue;
    uint64_t pieces = entry.pieces - begin;
    if (pieces > entry.chunk)
      pieces = entry.chunk;
    state->run(state->commands[command], begin, begin + pieces, scratch);
    if (entry.finished.fetch_add(pieces, std::memory_order_acq_rel) + pieces == entry.pieces)
      complete(command);
    return true;
  }
  return false;
}

void PlanJob::complete(uint32_t command) {
  uint64_t openPieces = 0;
  if (followEdges) {
    for (uint32_t i = successorBegins[command]; i < successorBegins[command + 1]; ++i) {
      uint32_t successor = successors[i];
      if (progress[successor].pending.fetch_sub(1, std::memory_order_acq_rel) != 1)
        continue;
      makeReady(successor);
      openPieces += progress[successor].pieces;
    }
  }
  // The last command wakes the caller; one piece this thread takes itself.
  if (commandsLeft.fetch_sub(1, std::memory_order_acq_rel) == 1 || openPieces > 1)
    pool.signal();
}

void PlanJob::help(uint32_t worker) {
  void *scratch = state->scratch ? state->scratch->part(worker) : nullptr;
  uint32_t spins = 0;
  while (commandsLeft.load(std::memory_order_acquire) && spins < kIdleSpins) {
    if (step(scratch)) {
      spins = 0;
      continue;
    }
    ++spins;
    pauseThread();
  }
}

bool PlanJob::hasOpenWork() const {
  uint32_t end = readyCount.load(std::memory_order_acquire);
  for (uint32_t i = firstOpen.load(std::memory_order_relaxed); i < end; ++i) {
    uint32_t command = ready[i].command.load(std::memory_order_acquire);
    if (command != kNone &&
        progress[command].next.load(std::memory_order_relaxed) < progress[command].pieces)
      return true;
  }
  return false;
}
