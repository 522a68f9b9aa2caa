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

void SyncTable::publish(uint64_t address, const BlockPlace &from, Reach reach,
                        const KnowledgeMap &knowledge) {
  used.store(true, std::memory_order_release);
  Shard &shard = shardOf(address);
  std::lock_guard<std::mutex> lock(shard.mutex);
  Variable &variable = shard.variables[address];
  if (reach == kReachAll)
    joinInto(variable.wide, knowledge);
  // Those who look no further than their block or cluster see all that comes from there.
  if (reach == kReachBlock || from.narrowScopes)
    joinInto(variable.block[from.block], knowledge);
  if (reach != kReachBlock && from.narrowScopes && from.near.size() > 1)
    joinInto(variable.cluster[from.cluster], knowledge);
}

bool SyncTable::acquire(uint64_t address, const BlockPlace &by, Reach reach,
                        std::array<KnowledgeMap, kReaches> &into) {
  if (!used.load(std::memory_order_acquire))
    return false;
  Shard &shard = shardOf(address);
  std::lock_guard<std::mutex> lock(shard.mutex);
  auto it = shard.variables.find(address);
  if (it == shard.variables.end())
    return false;
  const Variable &variable = it->second;
  auto take = [](const std::map<uint32_t, KnowledgeMap> &from, uint32_t number, KnowledgeMap &to) {
    if (auto found = from.find(number); found != from.end())
      joinInto(to, found->second);
  };
  take(variable.block, by.block, into[kReachBlock]);
  if (reach >= kReachCluster)
    take(variable.cluster, by.cluster, into[kReachCluster]);
  if (reach == kReachAll)
    joinInto(into[kReachAll], variable.wide);
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
  for (unsigned reach = 0; reach < kReaches; ++reach) {
    const FencedClock &fence = thread.fenced[reach];
    pending[reach] = join(pending[reach], thread.pending[reach]);
    if (reach == kReachBlock || !fence.clock)
      continue;
    fenced[reach].add(fence.base, index, fence.clock, threads);
    fencedRemote[reach] = join(fencedRemote[reach], fence.remote);
  }
  proxied.add(thread.proxied);
  waited |= thread.waited;
}

void ClockJoin::apply(ThreadClock &thread, uint32_t index) {
  // Whoever departs has arrived before, so the joined clocks include its own.
  thread.base = known.joined;
  thread.remote = remote;
  for (unsigned reach = kReachCluster; reach < kReaches; ++reach)
    if (const std::shared_ptr<VectorClock> &joined = fenced[reach].joined)
      thread.fenced[reach] = {joined, fencedRemote[reach], std::max(1u, (*joined)[index])};
  thread.pending = pending;
  if (proxied.joined)
    thread.proxied = proxied.joined;
  thread.waited |= waited;
}

//===----------------------------------------------------------------------===//
// PhaseJoin
//===----------------------------------------------------------------------===//

void PhaseJoin::arrive(BlockClocks &from, uint32_t thread, const BlockClocks &owner) {
  ThreadClock &me = from.threads[thread];
  waited |= me.waited;
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
  known.add(nullptr, owner.copyIndex(clock), clock, owner.clockSize());
}

std::shared_ptr<const Passed> PhaseJoin::finish() {
  std::shared_ptr<const Passed> passed;
  if (known.joined || others)
    passed = std::make_shared<Passed>(Passed{known.joined, proxied.joined, others, waited});
  *this = PhaseJoin();
  return passed;
}

//===----------------------------------------------------------------------===//
// BlockClocks
//===----------------------------------------------------------------------===//

void BlockClocks::start(const Task &launchTask, const BlockPlace &blockPlace, uint32_t threadCount,
                        Ledger &sharedLedger, Ledger &globalLedger) {
  task = launchTask;
  place = blockPlace;
  settled = nullptr;
  shared = &sharedLedger;
  global = &globalLedger;
  copies = 0;
  orderedPages.fill(0);
  lastLearned = {};
  lastOne = {};
  threads.clear();
  threads.resize(threadCount);
  for (ThreadClock &thread : threads)
    thread.waited = !task.early;
  warpSegments.assign((threadCount + 31) / 32, {});
  sharedSync = std::make_unique<SyncTable>();
}

//===----------------------------------------------------------------------===//
// What happened before
//===----------------------------------------------------------------------===//

bool BlockClocks::knowsTask(const Segment &segment, bool waited) const {
  const TaskKnowledge &known = waited ? *task.before : *task.early;
  return segment.chain < known.size() && known[segment.chain] >= segment.seq;
}

/// The lanes whose clocks in |clock| are behind that of |segment|, of this block.
uint32_t BlockClocks::behind(const Segment &segment, uint32_t lanes,
                             const VectorClock *clock) const {
  if (!clock)
    return lanes;
  if (segment.warp == Segment::kCopies)
    return (*clock)[copyIndex(segment.clock)] >= segment.clock ? 0 : lanes;
  const uint32_t *first = clock->data() + segment.warp * 32u;
  uint32_t result = 0;
  for (uint32_t rest = lanes; rest; rest &= rest - 1) {
    auto lane = static_cast<unsigned>(__builtin_ctz(rest));
    result |= static_cast<uint32_t>(first[lane] < segment.clock) << lane;
  }
  return result;
}

uint32_t BlockClocks::unordered(const Segment &segment, uint32_t lanes, uint32_t thread) const {
  const ThreadClock &me = threads[thread];
  if (!segment.isOf(task.id))
    return knowsTask(segment, me.waited) ? 0 : lanes;
  if (segment.block == place.block) {
    uint32_t result = behind(segment, lanes, me.base.get());
    return segment.warp == thread / 32 ? result & ~(1u << thread % 32) : result;
  }
  if (!me.remote)
    return lanes;
  auto it = me.remote->find(segment.block);
  return it == me.remote->end() ? lanes : behind(segment, lanes, it->second.get());
}

Reach BlockClocks::reachTo(const Segment &segment) const {
  if (!segment.isOf(task.id))
    return kReachAll;
  if (segment.block == place.block)
    return kReachBlock;
  bool isNear = std::find(place.near.begin(), place.near.end(), segment.block) != place.near.end();
  return isNear ? kReachCluster : kReachAll;
}

namespace xc::ptxsim {
/// The order as lanes of one warp, all at the same clock, see it.
class ThreadsOrder final : public HappensBefore {
public:
  ThreadsOrder(const BlockClocks &clocks, uint32_t thread, uint32_t lanes, bool isShared)
      : clocks(clocks), first(thread / 32 * 32), lanes(lanes), isShared(isShared) {}

  uint32_t unordered(const Segment &segment, uint32_t of) const override {
    uint32_t result = 0;
    bool sameWarp = clocks.isOwn(segment) && segment.warp == first / 32;
    const ThreadClock *last = nullptr;
    for (uint32_t rest = lanes; rest && result != of; rest &= rest - 1) {
      uint32_t thread = first + static_cast<uint32_t>(__builtin_ctz(rest));
      const ThreadClock *me = &clocks.threads[thread];
      // Threads that know the same need not be asked twice.
      bool same = last && !sameWarp && last->base == me->base && last->remote == me->remote &&
                  last->waited == me->waited;
      if (!same)
        result |= clocks.unordered(segment, of, thread);
      last = me;
    }
    return result;
  }
  Reach reachTo(const Segment &segment) const override { return clocks.reachTo(segment); }
  bool isSettled(const Segment &segment, uint32_t of) const override {
    return clocks.isSettled(segment, of, isShared);
  }
  uint32_t replaced(const Segment &segment) const override {
    return clocks.isOwn(segment) && segment.warp == first / 32 ? lanes : 0;
  }

private:
  const BlockClocks &clocks;
  uint32_t first, lanes;
  bool isShared;
};
} // namespace xc::ptxsim

bool BlockClocks::isBefore(const Ledger &ledger, uint32_t word, uint32_t thread, uint32_t strong,
                           bool isShared) const {
  if (!word || (word & 15) != kFormAll)
    return !word;
  const Segment &segment = ledger.segment(word >> 9);
  uint32_t lane = 1u << (word >> 4 & 31);
  return !unordered(segment, lane, thread) &&
         (segment.strong >= strong || isSettled(segment, lane, isShared));
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

uint32_t BlockClocks::segmentOf(bool isShared, uint32_t thread, uint32_t strong) {
  uint32_t clock = threads[thread].clock;
  WarpSegment *slots = &warpSegments[thread / 32][2 * strong];
  if (slots->clock != clock) {
    std::swap(slots[0], slots[1]);
    if (slots->clock != clock)
      *slots = {clock, 0, 0};
  }
  uint32_t &number = isShared ? slots->shared : slots->global;
  if (!number)
    number = ledger(isShared).add(describe(thread, strong));
  return number;
}

Segment BlockClocks::describe(uint32_t thread, uint32_t strong) const {
  Segment segment;
  segment.seq = task.id.seq;
  segment.chain = task.id.chain;
  segment.block = place.block;
  segment.clock = threads[thread].clock;
  segment.warp = static_cast<uint8_t>(thread / 32);
  segment.strong = static_cast<uint8_t>(strong);
  return segment;
}

uint32_t BlockClocks::copySegment(bool isShared, uint32_t clock, uint32_t strong) const {
  Segment segment;
  segment.seq = task.id.seq;
  segment.chain = task.id.chain;
  segment.block = place.block;
  segment.clock = clock;
  segment.warp = Segment::kCopies;
  segment.strong = static_cast<uint8_t>(strong);
  return ledger(isShared).add(segment);
}

uint32_t BlockClocks::atSameClock(uint32_t thread, uint32_t lanes) const {
  uint32_t result = 0, first = thread / 32 * 32;
  for (uint32_t rest = lanes; rest; rest &= rest - 1) {
    auto lane = static_cast<unsigned>(__builtin_ctz(rest));
    result |= static_cast<uint32_t>(threads[first + lane].clock == threads[thread].clock) << lane;
  }
  return result;
}

bool BlockClocks::read(RaceCell &cell, bool isShared, uint32_t thread, uint32_t lanes,
                       uint32_t bytes, uint32_t strong, Conflict &conflict) {
  uint32_t segment = segmentOf(isShared, thread, strong);
  Ledger &book = ledger(isShared);
  uint64_t old = cell.load(std::memory_order_acquire);
  if (bytes == 15 && segment) {
    bool single = !(lanes & (lanes - 1));
    uint32_t mine = cellWord(segment, single ? thread % 32 : 31, single ? kFormAll : kFormWarp);
    auto read = static_cast<uint32_t>(old >> 32);
    // Nobody can have written since without a conflict.
    if (read == mine && (single || lanes == ~0u))
      return true;
    // A read makes no write needless, whatever its strength.
    if (single && isBefore(book, static_cast<uint32_t>(old), thread, /*strong=*/0, isShared) &&
        isBefore(book, read, thread, strong, isShared)) {
      uint64_t now = uint64_t(mine) << 32 | static_cast<uint32_t>(old);
      if (isShared) {
        cell.store(now, std::memory_order_relaxed);
        return true;
      }
      if (cell.compare_exchange_strong(old, now, std::memory_order_acq_rel))
        return true;
    }
  }
  return noteCellRead(book, cell, {segment, lanes, bytes, strong, /*silent=*/false},
                      ThreadsOrder(*this, thread, lanes, isShared), !isShared, conflict);
}

bool BlockClocks::isWrittenHere(const RaceCell &cell, uint32_t bytes, Conflict &conflict) const {
  AccessList writes;
  global->decode(static_cast<uint32_t>(cell.load(std::memory_order_acquire)), writes);
  for (const Accessors &item : writes) {
    const Segment &segment = global->segment(item.segment());
    if (!(item.bytes() & bytes) || !segment.isOf(task.id))
      continue;
    conflict.segment = segment;
    conflict.lane = static_cast<unsigned>(__builtin_ctz(item.lanes));
    conflict.isRead = false;
    return true;
  }
  return false;
}

bool BlockClocks::write(RaceCell &cell, bool isShared, uint32_t thread, uint32_t lanes,
                        uint32_t bytes, uint32_t strong, bool silent, Conflict &conflict) {
  uint32_t segment = segmentOf(isShared, thread, strong);
  Ledger &book = ledger(isShared);
  uint64_t old = cell.load(std::memory_order_acquire);
  if (bytes == 15 && segment && !(lanes & (lanes - 1))) {
    uint64_t mine = cellWord(segment, thread % 32, kFormAll);
    if (old == mine)
      return true;
    if (isBefore(book, static_cast<uint32_t>(old), thread, strong, isShared) &&
        isBefore(book, static_cast<uint32_t>(old >> 32), thread, strong, isShared)) {
      if (isShared) {
        cell.store(mine, std::memory_order_relaxed);
        return true;
      }
      if (cell.compare_exchange_strong(old, mine, std::memory_order_acq_rel))
        return true;
    }
  }
  return noteCellWrite(book, cell, {segment, lanes, bytes, strong, silent},
                       ThreadsOrder(*this, thread, lanes, isShared), !isShared, conflict);
}

bool BlockClocks::checkPage(uint64_t word, uint32_t thread, bool writes, Conflict &conflict) {
  uint64_t &ordered = orderedPages[word * 0x9e3779b97f4a7c15ull >> 61];
  bool waited = threads[thread].waited;
  if (waited && word == ordered)
    return true;
  RaceCell page{word};
  NewAccess access;
  access.lanes = 1u << thread % 32;
  access.bytes = 15;
  ThreadsOrder order(*this, thread, access.lanes, /*isShared=*/false);
  // Nearly always all of it happened before, so that a write would be right, too.
  if (!noteCellWrite(*global, page, access, order, false, conflict))
    return !writes && noteCellRead(*global, page, access, order, false, conflict);
  if (waited)
    ordered = word;
  return true;
}

void BlockClocks::step(ThreadClock &thread) const {
  // At the limit the clock stands still: races may be missed, none is invented.
  if (thread.clock < kMaxClock)
    ++thread.clock;
}

void BlockClocks::learn(ThreadClock &thread, const KnowledgeMap &knowledge) const {
  std::shared_ptr<KnowledgeMap> remote;
  for (const auto &entry : knowledge) {
    if (entry.first == place.block) {
      thread.base = join(thread.base, entry.second);
    } else {
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
  knowledge[place.block] = own;
  return knowledge;
}

void BlockClocks::fence(uint32_t thread, MemScope scope) {
  ThreadClock &me = threads[thread];
  for (unsigned reach = 0; reach <= reachOf(scope); ++reach)
    if (KnowledgePtr pending = std::move(me.pending[reach])) {
      me.pending[reach] = nullptr;
      learn(me, *pending);
    }
  FencedClock now = {me.base, me.remote, me.clock};
  std::fill_n(me.fenced.begin(), reachOf(scope) + 1u, now);
  step(me);
}

void BlockClocks::release(uint32_t thread, uint64_t address, SyncTable &table, bool releases,
                          MemScope scope) {
  ThreadClock &me = threads[thread];
  Reach reach = reachOf(scope);
  if (releases) {
    table.publish(address, place, reach, knowledgeOf({me.base, me.remote, me.clock}, thread));
    step(me);
    return;
  }
  // What a later fence covered that reaches less far is for those within its reach only.
  const FencedClock *published = nullptr;
  for (unsigned i = reach + 1u; i-- > 0;) {
    const FencedClock &fenced = me.fenced[i];
    if (!fenced.clock || (published && fenced == *published))
      continue;
    table.publish(address, place, static_cast<Reach>(i), knowledgeOf(fenced, thread));
    published = &fenced;
  }
}

void BlockClocks::acquire(uint32_t thread, uint64_t address, SyncTable &table, bool acquires,
                          MemScope scope) {
  ThreadClock &me = threads[thread];
  std::array<KnowledgeMap, kReaches> found;
  if (!table.acquire(address, place, reachOf(scope), found))
    return;
  for (unsigned reach = 0; reach < kReaches; ++reach) {
    if (found[reach].empty())
      continue;
    if (acquires)
      learn(me, found[reach]);
    else
      me.pending[reach] =
          join(me.pending[reach], std::make_shared<const KnowledgeMap>(std::move(found[reach])));
  }
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
  return {me.base, me.proxied, me.remote, place.block, thread, me.clock, me.waited};
}

uint32_t BlockClocks::unseen(const Segment &segment, uint32_t lanes, const Observer &who) const {
  if (!segment.isOf(task.id))
    return knowsTask(segment, who.waited) ? 0 : lanes;
  if (segment.block == who.block) {
    uint32_t result = behind(segment, lanes, who.base.get());
    return segment.warp == who.thread / 32 ? result & ~(1u << who.thread % 32) : result;
  }
  if (!who.remote)
    return lanes;
  auto it = who.remote->find(segment.block);
  return it == who.remote->end() ? lanes : behind(segment, lanes, it->second.get());
}

bool BlockClocks::isProxied(const Segment &segment, uint32_t lanes, const Observer &who) const {
  if (!segment.isOf(task.id) || segment.block != who.block || segment.warp == Segment::kCopies)
    return true;
  return !behind(segment, lanes, who.proxied.get());
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
  learnOne(thread, copyIndex(clock), clock);
}

void BlockClocks::learnProducts(uint32_t thread, uint32_t warpgroup, uint32_t clock) {
  if (!knowsProducts(thread, warpgroup, clock))
    learnOne(thread, productIndex(warpgroup), clock);
}

bool BlockClocks::sawProducts(const Observer &who, uint32_t warpgroup, uint32_t clock) const {
  uint32_t index = productIndex(warpgroup);
  if (who.block == place.block)
    return who.base && (*who.base)[index] >= clock;
  if (!who.remote)
    return false;
  auto it = who.remote->find(place.block);
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
  me.waited |= passed.waited;
  if (passed.others)
    learn(me, *passed.others);
}
