//===- Race.cpp - Happens-before between threads of a grid ----------------===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Race.h"

#include <algorithm>

using namespace xc::ptxsim;

static ClockPtr join(const ClockPtr &a, const ClockPtr &b) {
  if (!a || a == b)
    return b;
  if (!b)
    return a;
  auto result = std::make_shared<VectorClock>(*a);
  for (size_t i = 0; i < result->size() && i < b->size(); ++i)
    (*result)[i] = std::max((*result)[i], (*b)[i]);
  return result;
}

static void joinInto(KnowledgeMap &into, const KnowledgeMap &from) {
  for (const auto &entry : from) {
    ClockPtr &slot = into[entry.first];
    slot = join(slot, entry.second);
  }
}

static KnowledgePtr join(const KnowledgePtr &a, const KnowledgePtr &b) {
  if (!a || a == b)
    return b;
  if (!b)
    return a;
  auto result = std::make_shared<KnowledgeMap>(*a);
  joinInto(*result, *b);
  return result;
}

//===----------------------------------------------------------------------===//
// SyncTable
//===----------------------------------------------------------------------===//

void SyncTable::publish(uint64_t address, uint32_t block, bool wide,
                        const KnowledgeMap &knowledge) {
  used.store(true, std::memory_order_release);
  Shard &shard = shardOf(address);
  std::lock_guard<std::mutex> lock(shard.mutex);
  Variable &variable = shard.variables[address];
  joinInto(wide ? variable.wide : variable.narrow[block], knowledge);
}

bool SyncTable::acquire(uint64_t address, uint32_t block, KnowledgeMap &into) {
  if (!used.load(std::memory_order_acquire))
    return false;
  Shard &shard = shardOf(address);
  std::lock_guard<std::mutex> lock(shard.mutex);
  auto it = shard.variables.find(address);
  if (it == shard.variables.end())
    return false;
  joinInto(into, it->second.wide);
  auto narrow = it->second.narrow.find(block);
  if (narrow != it->second.narrow.end())
    joinInto(into, narrow->second);
  return true;
}

//===----------------------------------------------------------------------===//
// ClockJoin
//===----------------------------------------------------------------------===//

void ClockJoin::Sum::add(const ClockPtr &base, uint32_t index, uint32_t clock, uint32_t threads) {
  if (!joined)
    joined = std::make_shared<VectorClock>(threads, 0);
  if (base && base != last) {
    for (size_t i = 0; i < joined->size(); ++i)
      (*joined)[i] = std::max((*joined)[i], (*base)[i]);
    last = base;
  }
  (*joined)[index] = std::max((*joined)[index], clock);
}

void ClockJoin::add(const ThreadClock &thread, uint32_t index, uint32_t threads) {
  known.add(thread.base, index, thread.clock, threads);
  remote = join(remote, thread.remote);
  if (thread.wide.clock) {
    fenced.add(thread.wide.base, index, thread.wide.clock, threads);
    fencedRemote = join(fencedRemote, thread.wide.remote);
  }
  pending = join(pending, thread.pending);
}

void ClockJoin::apply(ThreadClock &thread, uint32_t index) {
  // Whoever departs has arrived before, so the joined clocks include its own.
  thread.base = known.joined;
  thread.remote = remote;
  if (fenced.joined)
    thread.wide = {fenced.joined, fencedRemote, std::max(1u, (*fenced.joined)[index])};
  thread.pending = pending;
}

//===----------------------------------------------------------------------===//
// BlockClocks
//===----------------------------------------------------------------------===//

void BlockClocks::start(uint32_t launchId, uint64_t blockId, uint32_t threadCount) {
  launch = launchId;
  block = blockId < Epoch::kMaxBlock ? static_cast<uint32_t>(blockId) : kUntracked;
  threads.clear();
  threads.resize(threadCount);
  sharedSync = std::make_unique<SyncTable>();
}

Epoch BlockClocks::epochOf(uint32_t thread, uint32_t bytes, uint32_t strong) const {
  Epoch e;
  e.launch = launch;
  e.block = block & Epoch::kMaxBlock;
  e.thread = thread;
  e.clock = threads[thread].clock;
  e.strong = strong;
  e.bytes = bytes;
  return e;
}

bool BlockClocks::happenedBefore(uint64_t packed, uint32_t thread) const {
  Epoch e = Epoch::unpack(packed);
  // Launches on one stream are ordered; those on several are not our business.
  if (e.launch != launch)
    return true;
  const ThreadClock &me = threads[thread];
  if (e.block == (block & Epoch::kMaxBlock)) {
    if (e.thread == thread)
      return true;
    return me.base && (*me.base)[e.thread] >= e.clock;
  }
  if (!me.remote)
    return false;
  auto it = me.remote->find(e.block);
  return it != me.remote->end() && (*it->second)[e.thread] >= e.clock;
}

bool BlockClocks::conflicts(uint64_t packed, uint32_t thread, uint32_t bytes,
                            uint32_t strong) const {
  if (packed == 0 || !(packed & bytes) || happenedBefore(packed, thread))
    return false;
  if (strong == 0)
    return true;
  Epoch e = Epoch::unpack(packed);
  uint32_t needed = e.block == (block & Epoch::kMaxBlock) ? 1 : 2;
  return strong < needed || e.strong < needed;
}

uint64_t BlockClocks::read(RaceCell &cell, uint32_t thread, uint32_t bytes, uint32_t strong) const {
  uint64_t write = cell.write.load(std::memory_order_relaxed);
  if (conflicts(write, thread, bytes, strong))
    return write;
  uint64_t mine = epochOf(thread, bytes, strong).pack();
  if (cell.read.load(std::memory_order_relaxed) != mine)
    cell.read.store(mine, std::memory_order_relaxed);
  return 0;
}

uint64_t BlockClocks::write(RaceCell &cell, uint32_t thread, uint32_t bytes, uint32_t strong,
                            bool &wasRead) const {
  uint64_t write = cell.write.load(std::memory_order_relaxed);
  wasRead = false;
  if (conflicts(write, thread, bytes, strong))
    return write;
  uint64_t read = cell.read.load(std::memory_order_relaxed);
  if (conflicts(read, thread, bytes, strong)) {
    wasRead = true;
    return read;
  }
  cell.write.store(epochOf(thread, bytes, strong).pack(), std::memory_order_relaxed);
  return 0;
}

void BlockClocks::step(ThreadClock &thread) const {
  // At the limit the clock stands still: races may be missed, none is invented.
  if (thread.clock < Epoch::kMaxClock)
    ++thread.clock;
}

void BlockClocks::learn(ThreadClock &thread, const KnowledgeMap &knowledge, bool wide) const {
  std::shared_ptr<KnowledgeMap> remote;
  for (const auto &entry : knowledge) {
    if (entry.first == block) {
      thread.base = join(thread.base, entry.second);
    } else if (wide) {
      if (!remote)
        remote = thread.remote ? std::make_shared<KnowledgeMap>(*thread.remote)
                               : std::make_shared<KnowledgeMap>();
      ClockPtr &slot = (*remote)[entry.first];
      slot = join(slot, entry.second);
    }
  }
  if (remote)
    thread.remote = remote;
}

KnowledgeMap BlockClocks::knowledgeOf(const FencedClock &fenced, uint32_t thread) const {
  KnowledgeMap knowledge;
  if (fenced.remote)
    knowledge = *fenced.remote;
  auto own = fenced.base ? std::make_shared<VectorClock>(*fenced.base)
                         : std::make_shared<VectorClock>(threads.size(), 0);
  (*own)[thread] = std::max((*own)[thread], fenced.clock);
  knowledge[block] = own;
  return knowledge;
}

void BlockClocks::fence(uint32_t thread, MemScope scope) {
  ThreadClock &me = threads[thread];
  bool isWide = scope != MemScope::Cta;
  if (me.pending) {
    learn(me, *me.pending, isWide);
    // A block-scope fence leaves other blocks' knowledge for a wider one.
    if (isWide)
      me.pending.reset();
  }
  me.narrow = {me.base, me.remote, me.clock};
  if (isWide)
    me.wide = me.narrow;
  step(me);
}

void BlockClocks::release(uint32_t thread, uint64_t address, SyncTable &table, bool releases,
                          MemScope scope) {
  ThreadClock &me = threads[thread];
  bool isWide = scope != MemScope::Cta;
  if (releases) {
    table.publish(address, block, isWide, knowledgeOf({me.base, me.remote, me.clock}, thread));
    step(me);
    return;
  }
  if (isWide && me.wide.clock)
    table.publish(address, block, true, knowledgeOf(me.wide, thread));
  // What a later block-scope fence covered is for this block only.
  if (me.narrow.clock > me.wide.clock)
    table.publish(address, block, false, knowledgeOf(me.narrow, thread));
}

void BlockClocks::acquire(uint32_t thread, uint64_t address, SyncTable &table, bool acquires,
                          MemScope scope) {
  ThreadClock &me = threads[thread];
  auto knowledge = std::make_shared<KnowledgeMap>();
  if (!table.acquire(address, block, *knowledge))
    return;
  if (acquires)
    learn(me, *knowledge, scope != MemScope::Cta);
  else
    me.pending = join(me.pending, knowledge);
}

void BlockClocks::arrive(ClockJoin &join, uint32_t thread) {
  ThreadClock &me = threads[thread];
  join.add(me, thread, static_cast<uint32_t>(threads.size()));
  step(me);
}
