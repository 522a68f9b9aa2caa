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

void ClockSum::add(const ClockPtr &base) {
  if (!base || base == last)
    return;
  if (!joined) {
    joined = std::make_shared<VectorClock>(*base);
  } else {
    uint32_t *into = joined->data();
    const uint32_t *from = base->data();
    for (size_t i = 0, size = joined->size(); i < size; ++i)
      into[i] = std::max(into[i], from[i]);
  }
  last = base;
}

void ClockSum::add(const ClockPtr &base, uint32_t index, uint32_t clock, uint32_t size) {
  add(base);
  if (!joined)
    joined = std::make_shared<VectorClock>(size, 0);
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
  proxied.add(thread.proxied);
}

void ClockJoin::apply(ThreadClock &thread, uint32_t index) {
  // Whoever departs has arrived before, so the joined clocks include its own.
  thread.base = known.joined;
  thread.remote = remote;
  if (fenced.joined)
    thread.wide = {fenced.joined, fencedRemote, std::max(1u, (*fenced.joined)[index])};
  thread.pending = pending;
  if (proxied.joined)
    thread.proxied = proxied.joined;
}

//===----------------------------------------------------------------------===//
// PhaseJoin
//===----------------------------------------------------------------------===//

void PhaseJoin::arrive(BlockClocks &from, uint32_t thread, const BlockClocks &owner) {
  ThreadClock &me = from.threads[thread];
  if (&from == &owner) {
    known.add(me.base, thread, me.clock, owner.clockSize());
    proxied.add(me.proxied);
    others = join(others, me.remote);
  } else {
    others = join(others, std::make_shared<KnowledgeMap>(
                              from.knowledgeOf({me.base, me.remote, me.clock}, thread)));
  }
  from.step(me);
}

void PhaseJoin::completeCopy(const BlockClocks &owner, uint32_t clock) {
  known.add(nullptr, owner.copyIndex(), clock, owner.clockSize());
}

std::shared_ptr<const Passed> PhaseJoin::finish() {
  std::shared_ptr<const Passed> passed;
  if (known.joined || others)
    passed = std::make_shared<Passed>(Passed{known.joined, proxied.joined, others});
  *this = PhaseJoin();
  return passed;
}

//===----------------------------------------------------------------------===//
// BlockClocks
//===----------------------------------------------------------------------===//

void BlockClocks::start(uint32_t launchId, uint64_t blockId, uint32_t threadCount) {
  launch = launchId;
  block = blockId < Epoch::kMaxBlock ? static_cast<uint32_t>(blockId) : kUntracked;
  copies = 0;
  lastLearned = {};
  lastOne = {};
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
                         : std::make_shared<VectorClock>(clockSize(), 0);
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
  join.add(me, thread, clockSize());
  step(me);
}

//===----------------------------------------------------------------------===//
// The async proxy
//===----------------------------------------------------------------------===//

void BlockClocks::fenceProxy(uint32_t thread) {
  ThreadClock &me = threads[thread];
  auto visible = me.base ? std::make_shared<VectorClock>(*me.base)
                         : std::make_shared<VectorClock>(clockSize(), 0);
  (*visible)[thread] = me.clock;
  me.proxied = join(me.proxied, visible);
  step(me);
}

Observer BlockClocks::observe(uint32_t thread) const {
  const ThreadClock &me = threads[thread];
  return {me.base, me.proxied, me.remote, block & Epoch::kMaxBlock, thread, me.clock};
}

uint64_t BlockClocks::copyEpoch(uint32_t clock, uint32_t strong) const {
  Epoch e;
  e.launch = launch;
  e.block = block & Epoch::kMaxBlock;
  e.thread = copyIndex();
  e.clock = clock;
  e.strong = strong;
  e.bytes = 15;
  return e.pack();
}

bool BlockClocks::saw(uint64_t packed, const Observer &who) const {
  Epoch e = Epoch::unpack(packed);
  if (packed == 0 || e.launch != launch)
    return true;
  if (e.block == who.block)
    return e.thread == who.thread || (who.base && (*who.base)[e.thread] >= e.clock);
  if (!who.remote)
    return false;
  auto it = who.remote->find(e.block);
  return it != who.remote->end() && (*it->second)[e.thread] >= e.clock;
}

bool BlockClocks::isProxied(uint64_t packed, const Observer &who) const {
  Epoch e = Epoch::unpack(packed);
  if (packed == 0 || e.launch != launch || e.block != who.block || e.thread == copyIndex())
    return true;
  return who.proxied && (*who.proxied)[e.thread] >= e.clock;
}

void BlockClocks::learnOne(uint32_t thread, uint32_t index, uint32_t clock) {
  ThreadClock &me = threads[thread];
  // Threads of a warp mostly know the same, and learn the same.
  if (me.base && lastOne.from == me.base && lastOne.index == index && lastOne.clock == clock) {
    me.base = lastOne.to;
    return;
  }
  ClockPtr old = me.base;
  ClockSum sum;
  sum.add(me.base, index, clock, clockSize());
  me.base = sum.joined;
  lastOne = {old, me.base, index, clock};
}

void BlockClocks::learnCopies(uint32_t thread, uint32_t clock) {
  learnOne(thread, copyIndex(), clock);
}

void BlockClocks::learnProducts(uint32_t thread, uint32_t warpgroup, uint32_t clock) {
  if (!knowsProducts(thread, warpgroup, clock))
    learnOne(thread, productIndex(warpgroup), clock);
}

bool BlockClocks::sawProducts(const Observer &who, uint32_t warpgroup, uint32_t clock) const {
  uint32_t index = productIndex(warpgroup);
  if (who.block == (block & Epoch::kMaxBlock))
    return who.base && (*who.base)[index] >= clock;
  if (!who.remote)
    return false;
  auto it = who.remote->find(block);
  return it != who.remote->end() && (*it->second)[index] >= clock;
}

void BlockClocks::learnPhase(uint32_t thread, const Passed &passed) {
  // Threads of a warp mostly know the same, and learn the same.
  ThreadClock &me = threads[thread];
  if (me.base && lastLearned.from == me.base && lastLearned.passed == passed.known) {
    me.base = lastLearned.to;
  } else {
    ClockPtr old = me.base;
    me.base = join(me.base, passed.known);
    lastLearned = {old, passed.known, me.base};
  }
  me.proxied = join(me.proxied, passed.proxied);
  if (passed.others)
    learn(me, *passed.others, true);
}
