//===- Cells.cpp - Who touched which bytes --------------------------------===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cells.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

using namespace xc::ptxsim;

//===----------------------------------------------------------------------===//
// Ledger
//===----------------------------------------------------------------------===//

template <typename T> static std::atomic<T *> *allocatePointers(uint32_t count) {
  static_assert(sizeof(std::atomic<T *>) == sizeof(T *), "null pointers must be all zero");
  return static_cast<std::atomic<T *> *>(std::calloc(count, sizeof(T *)));
}

template <typename T> static void freePointers(std::atomic<T *> *pointers, uint32_t count) {
  // They are set from the first on, without a gap.
  for (uint32_t i = 0; i < count && pointers[i].load(std::memory_order_relaxed); ++i)
    std::free(pointers[i].load(std::memory_order_relaxed));
  std::free(pointers);
}

Ledger::Ledger()
    : chunks(allocatePointers<Segment>(kChunks)),
      setChunks(allocatePointers<uint32_t>(kSetChunks)) {}

Ledger::~Ledger() {
  freePointers(chunks, kChunks);
  freePointers(setChunks, kSetChunks);
}

void Ledger::clear() {
  segmentCount = setWords = 0;
  if (setCount)
    std::fill(table.begin(), table.end(), 0);
  setCount = 0;
}

void Ledger::swap(Ledger &other) {
  std::swap(chunks, other.chunks);
  std::swap(setChunks, other.setChunks);
  segmentCount = other.segmentCount.exchange(segmentCount);
  setWords = other.setWords.exchange(setWords);
  std::swap(table, other.table);
  std::swap(setCount, other.setCount);
}

uint64_t Ledger::bytes() const {
  std::lock_guard<std::mutex> lock(mutex);
  return uint64_t(segmentCount) * sizeof(Segment) + uint64_t(setWords) * 4 + table.size() * 4;
}

uint32_t Ledger::add(const Segment &segment) {
  uint32_t number = segmentCount.fetch_add(1, std::memory_order_relaxed) + 1;
  if (number >= kChunk * kChunks) {
    segmentCount.store(kChunk * kChunks - 1, std::memory_order_relaxed);
    return 0;
  }
  std::atomic<Segment *> &chunk = chunks[number / kChunk];
  if (!chunk.load(std::memory_order_acquire)) {
    std::lock_guard<std::mutex> lock(mutex);
    for (uint32_t i = number / kChunk; !chunks[i].load(std::memory_order_relaxed); --i) {
      chunks[i].store(static_cast<Segment *>(std::malloc(kChunk * sizeof(Segment))),
                      std::memory_order_release);
      if (i == 0)
        break;
    }
  }
  chunk.load(std::memory_order_acquire)[number % kChunk] = segment;
  return number;
}

void Ledger::decode(uint32_t word, AccessList &list) const {
  if (!word)
    return;
  uint32_t segment = word >> 9, lane = word >> 4 & 31, form = word & 15;
  auto run = [&](uint32_t bytes, unsigned step) {
    for (; bytes & 15; bytes = bytes << step & 15, ++lane)
      list.add({segment, bytes & 15, 1u << lane});
  };
  switch (form) {
  case kFormPair:
    return run(3, 2);
  case kFormRun2:
  case kFormRun3:
  case kFormRun4: {
    unsigned count = form == kFormRun2 ? 2 : form == kFormRun3 ? 3 : 4;
    for (unsigned i = 0; i < count; ++i)
      list.add({segment, 1u << i, 1u << (lane + i)});
    return;
  }
  case kFormSet: {
    const uint32_t *set = setAt(word >> 4);
    for (uint32_t i = 0; i < set[0]; ++i) {
      Accessors item;
      item.who = set[1 + 2 * i];
      item.lanes = set[2 + 2 * i];
      list.add(item);
    }
    return;
  }
  case kFormWarp:
    list.add({segment, 15, 2 * (1u << lane) - 1});
    return;
  default:
    list.add({segment, form, 1u << lane});
  }
}

/// The forms of words that hold several accesses of neighbouring lanes of one segment.
static uint32_t encodeRun(const AccessList &list) {
  const Accessors &first = list.items[0];
  bool halves = first.bytes() == 3;
  if (list.count > 4 || (!halves && first.bytes() != 1) || (halves && list.count != 2))
    return 0;
  unsigned step = halves ? 2 : 1;
  for (unsigned i = 0; i < list.count; ++i) {
    const Accessors &item = list.items[i];
    if (item.segment() != first.segment() || (item.lanes & (item.lanes - 1)) ||
        item.bytes() != first.bytes() << (i * step) || item.lanes != first.lanes << i)
      return 0;
  }
  const uint32_t forms[] = {0, 0, halves ? kFormPair : kFormRun2, kFormRun3, kFormRun4};
  return cellWord(first.segment(), static_cast<unsigned>(__builtin_ctz(first.lanes)),
                  forms[list.count]);
}

uint32_t Ledger::encode(const AccessList &list) {
  if (!list.count)
    return 0;
  const Accessors &first = list.items[0];
  if (list.count == 1) {
    uint32_t bytes = first.bytes(), lanes = first.lanes;
    bool aligned = !(bytes & (bytes - 1)) || bytes == 3 || bytes == 12 || bytes == 15;
    if (aligned && !(lanes & (lanes - 1)))
      return cellWord(first.segment(), static_cast<unsigned>(__builtin_ctz(lanes)), bytes);
    if (bytes == 15 && !(lanes & (lanes + 1)))
      return cellWord(first.segment(), static_cast<unsigned>(__builtin_popcount(lanes)) - 1,
                      kFormWarp);
  } else if (uint32_t word = encodeRun(list)) {
    return word;
  }
  return intern(list);
}

static uint32_t hashSet(const uint32_t *items, uint32_t count) {
  uint64_t hash = count;
  for (uint32_t i = 0; i < 2 * count; ++i)
    hash = (hash ^ items[i]) * 0x9e3779b97f4a7c15ull;
  return static_cast<uint32_t>(hash >> 32);
}

void Ledger::growTable() {
  std::vector<uint32_t> old(table.empty() ? 256 : table.size() * 2, 0);
  old.swap(table);
  for (uint32_t place : old) {
    if (!place)
      continue;
    const uint32_t *set = setAt(place);
    uint32_t at = hashSet(set + 1, set[0]);
    while (table[at & (table.size() - 1)])
      ++at;
    table[at & (table.size() - 1)] = place;
  }
}

uint32_t Ledger::intern(const AccessList &list) {
  static_assert(sizeof(Accessors) == 8, "sets are words");
  const auto *items = reinterpret_cast<const uint32_t *>(list.items.data());
  std::lock_guard<std::mutex> lock(mutex);
  if (4 * setCount >= 3 * table.size())
    growTable();
  uint32_t at = hashSet(items, list.count), words = 1 + 2 * list.count;
  for (; uint32_t place = table[at & (table.size() - 1)]; ++at) {
    const uint32_t *set = setAt(place);
    if (set[0] == list.count && std::memcmp(set + 1, items, list.count * 8) == 0)
      return place << 4 | kFormSet;
  }
  // Place 0 is nobody's, and no set lies in two chunks.
  uint32_t place = setWords ? setWords.load() : 1;
  if (place / kSetChunk != (place + words - 1) / kSetChunk)
    place = (place / kSetChunk + 1) * kSetChunk;
  if (place / kSetChunk >= kSetChunks)
    return 0;
  if (!setChunks[place / kSetChunk].load(std::memory_order_relaxed))
    setChunks[place / kSetChunk].store(static_cast<uint32_t *>(std::calloc(kSetChunk, 4)),
                                       std::memory_order_release);
  uint32_t *set = setAt(place);
  set[0] = list.count;
  std::memcpy(set + 1, items, list.count * 8);
  setWords = place + words;
  table[at & (table.size() - 1)] = place;
  ++setCount;
  return place << 4 | kFormSet;
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

/// Whether a strong access does not race with those of |other|.
static bool areStrong(const Segment &other, uint32_t strong, const HappensBefore &order) {
  return std::min<uint32_t>(strong, other.strong) > order.reachTo(other);
}

/// Looks for an access in |list| that conflicts with |access|; |writes|: these are writes.
static bool findConflict(const Ledger &ledger, const AccessList &list, const NewAccess &access,
                         const HappensBefore &order, bool writes, Conflict &conflict) {
  for (const Accessors &item : list) {
    if (!(item.bytes() & access.bytes))
      continue;
    const Segment &other = ledger.segment(item.segment());
    if (writes && access.silent && other.warp != Segment::kCopies)
      continue;
    uint32_t lanes = order.unordered(other, item.lanes);
    if (!lanes || areStrong(other, access.strong, order))
      continue;
    conflict.segment = other;
    conflict.lane = static_cast<unsigned>(__builtin_ctz(lanes));
    conflict.isRead = !writes;
    return true;
  }
  return false;
}

/// |list| without what the access makes needless: the bytes of accesses that happened
/// before it, unless they conflict with accesses that it does not conflict with, as weak
/// ones do with strong ones of others. |dropStrong|: nor are strong ones kept that nothing
/// orders.
static AccessList without(const Ledger &ledger, const AccessList &list, const NewAccess &access,
                          const HappensBefore &order, bool dropStrong) {
  AccessList rest;
  for (const Accessors &item : list) {
    uint32_t common = item.bytes() & access.bytes;
    rest.add({item.segment(), item.bytes() & ~common, item.lanes});
    if (!common)
      continue;
    const Segment &segment = ledger.segment(item.segment());
    bool isWeaker = segment.strong < access.strong;
    uint32_t others = item.lanes & ~order.replaced(segment);
    uint32_t beside = others ? order.unordered(segment, others) : 0;
    uint32_t before = item.lanes & ~beside;
    if (dropStrong && beside && !isWeaker && areStrong(segment, access.strong, order))
      beside = 0;
    if (!isWeaker || order.isSettled(segment, before))
      before = 0;
    rest.add({item.segment(), common, beside | before});
  }
  return rest;
}

/// Adds the access; false if |list| holds as many of others as are kept of |limited| ones.
static bool addAccess(const Ledger &ledger, AccessList &list, const NewAccess &access,
                      const HappensBefore &order, bool limited) {
  unsigned foreign = 0;
  for (unsigned i = 0; i < list.count; ++i) {
    Accessors &item = list.items[i];
    if (item.segment() == access.segment && item.bytes() == access.bytes) {
      item.lanes |= access.lanes;
      return true;
    }
    foreign += order.reachTo(ledger.segment(item.segment())) != kReachBlock;
  }
  if (limited && foreign >= kForeignAccessors)
    return false;
  list.add({access.segment, access.bytes, access.lanes});
  // Orders runs of lanes as their forms have them, whichever came first.
  for (unsigned i = list.count;
       i > 1 && list.items[i - 1].segment() == list.items[i - 2].segment() &&
       list.items[i - 1].bytes() < list.items[i - 2].bytes();
       --i)
    std::swap(list.items[i - 1], list.items[i - 2]);
  return true;
}

/// Replaces |old| in the cell; false if another host thread was faster.
static bool replace(RaceCell &cell, uint64_t &old, uint64_t now, bool parallel) {
  if (parallel)
    return cell.compare_exchange_strong(old, now, std::memory_order_acq_rel);
  cell.store(now, std::memory_order_relaxed);
  return true;
}

bool xc::ptxsim::noteCellRead(Ledger &ledger, RaceCell &cell, const NewAccess &access,
                              const HappensBefore &order, bool parallel, Conflict &conflict) {
  uint64_t old = cell.load(std::memory_order_acquire);
  for (;;) {
    AccessList writes, reads;
    ledger.decode(static_cast<uint32_t>(old), writes);
    if (findConflict(ledger, writes, access, order, /*writes=*/true, conflict))
      return false;
    if (!access.segment)
      return true;
    ledger.decode(static_cast<uint32_t>(old >> 32), reads);
    for (const Accessors &item : reads)
      if (item.segment() == access.segment && (item.bytes() & access.bytes) == access.bytes &&
          (item.lanes & access.lanes) == access.lanes)
        return true;
    AccessList rest = without(ledger, reads, access, order, /*dropStrong=*/false);
    if (!addAccess(ledger, rest, access, order, /*limited=*/true))
      return true;
    uint64_t now = uint64_t(ledger.encode(rest)) << 32 | static_cast<uint32_t>(old);
    if (replace(cell, old, now, parallel))
      return true;
  }
}

bool xc::ptxsim::noteCellWrite(Ledger &ledger, RaceCell &cell, const NewAccess &access,
                               const HappensBefore &order, bool parallel, Conflict &conflict) {
  uint64_t old = cell.load(std::memory_order_acquire);
  for (;;) {
    AccessList writes, reads;
    ledger.decode(static_cast<uint32_t>(old), writes);
    ledger.decode(static_cast<uint32_t>(old >> 32), reads);
    if (findConflict(ledger, writes, access, order, /*writes=*/true, conflict) ||
        findConflict(ledger, reads, access, order, /*writes=*/false, conflict))
      return false;
    if (!access.segment)
      return true;
    writes = without(ledger, writes, access, order, /*dropStrong=*/true);
    addAccess(ledger, writes, access, order, /*limited=*/access.silent);
    reads = without(ledger, reads, access, order, /*dropStrong=*/false);
    uint64_t now = uint64_t(ledger.encode(reads)) << 32 | ledger.encode(writes);
    if (replace(cell, old, now, parallel))
      return true;
  }
}

//===----------------------------------------------------------------------===//
// LedgerSweep
//===----------------------------------------------------------------------===//

uint32_t LedgerSweep::segmentFor(uint32_t number) {
  auto &known = recent[number % recent.size()];
  if (known.first == number)
    return known.second;
  Segment segment = from.segment(number);
  uint32_t result = 0;
  if (tasks) {
    bool isCopy = segment.warp == Segment::kCopies;
    uint64_t task = uint64_t(isCopy) << 50 | uint64_t(segment.chain) << 34 |
                    uint64_t(segment.strong) << 32 | segment.seq;
    auto &same = byTask[(task * 0x9e3779b97f4a7c15ull >> 40) % byTask.size()];
    if (!same.second || same.first != task) {
      segment.block = Segment::kWholeTask;
      segment.warp = isCopy ? Segment::kCopies : 0;
      segment.clock = 0;
      same = {task, to.add(segment)};
    }
    result = same.second;
  } else {
    result = to.add(segment);
  }
  known = {number, result};
  return result;
}

uint32_t LedgerSweep::rewrite(uint32_t word) {
  if (!word)
    return 0;
  if ((word & 15) != kFormSet && !tasks)
    return segmentFor(word >> 9) << 9 | (word & 511);
  AccessList list, result;
  from.decode(word, list);
  for (const Accessors &item : list) {
    Accessors moved(segmentFor(item.segment()), item.bytes(), tasks ? 1 : item.lanes);
    bool found = false;
    for (unsigned i = 0; i < result.count && !found; ++i) {
      found = result.items[i].segment() == moved.segment();
      if (found && tasks)
        result.items[i].who |= moved.bytes();
      else
        found = false;
    }
    if (!found)
      result.add(moved);
  }
  return to.encode(result);
}

void LedgerSweep::rewrite(RaceCell &cell) {
  uint64_t old = cell.load(std::memory_order_relaxed);
  if (old)
    cell.store(uint64_t(rewrite(static_cast<uint32_t>(old >> 32))) << 32 |
                   rewrite(static_cast<uint32_t>(old)),
               std::memory_order_relaxed);
}
