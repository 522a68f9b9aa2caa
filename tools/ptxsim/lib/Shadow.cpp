//===- Shadow.cpp - What is known of memory -------------------------------===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Shadow.h"

#include <cstdlib>
#include <cstring>

using namespace xc::ptxsim;

//===----------------------------------------------------------------------===//
// ByteBits, RaceCells
//===----------------------------------------------------------------------===//

// Both rely on all-zero bytes being a valid std::atomic<uint64_t> of value 0.
static_assert(sizeof(std::atomic<uint64_t>) == 8, "atomics must be plain words");

ByteBits::~ByteBits() { std::free(words); }

void ByteBits::allocate(uint64_t bytes) {
  std::free(words);
  wordCount = (bytes + 63) / 64;
  words = static_cast<std::atomic<uint64_t> *>(std::calloc(wordCount + 1, 8));
}

void ByteBits::clearAll() {
  if (words)
    std::memset(static_cast<void *>(words), 0, wordCount * 8);
}

void ByteBits::assign(uint64_t offset, uint64_t bytes, bool value) {
  while (bytes > 0) {
    uint64_t shift = offset & 63;
    uint64_t count = std::min<uint64_t>(bytes, 64 - shift);
    uint64_t mask = (count == 64 ? ~0ull : (1ull << count) - 1) << shift;
    if (value)
      words[offset >> 6].fetch_or(mask, std::memory_order_relaxed);
    else
      words[offset >> 6].fetch_and(~mask, std::memory_order_relaxed);
    offset += count;
    bytes -= count;
  }
}

uint64_t ByteBits::prefix(uint64_t offset, uint64_t bytes) const {
  uint64_t done = 0;
  while (done < bytes) {
    uint64_t at = offset + done, shift = at & 63;
    uint64_t count = std::min<uint64_t>(bytes - done, 64 - shift);
    uint64_t unset = ~words[at >> 6].load(std::memory_order_relaxed) >> shift;
    uint64_t run = unset ? static_cast<uint64_t>(__builtin_ctzll(unset)) : 64;
    if (run < count)
      return done + run;
    done += count;
  }
  return bytes;
}

uint64_t ByteBits::gap(uint64_t offset, uint64_t bytes) const {
  uint64_t done = 0;
  while (done < bytes) {
    uint64_t at = offset + done, shift = at & 63;
    uint64_t count = std::min<uint64_t>(bytes - done, 64 - shift);
    uint64_t rest = words[at >> 6].load(std::memory_order_relaxed) >> shift;
    uint64_t run = rest ? static_cast<uint64_t>(__builtin_ctzll(rest)) : 64;
    if (run < count)
      return done + run;
    done += count;
  }
  return bytes;
}

bool ByteBits::any(uint64_t offset, uint64_t bytes) const { return gap(offset, bytes) != bytes; }

RaceCell *RaceCells::allocate(uint64_t bytes) {
  RaceCell *found = nullptr;
  auto *fresh = static_cast<RaceCell *>(std::calloc(bytes / 4 + 2, sizeof(RaceCell)));
  if (cells.compare_exchange_strong(found, fresh, std::memory_order_acq_rel))
    return fresh;
  std::free(fresh);
  return found;
}

void SharedShadow::expandLines(RaceCell *cells, uint64_t offset, uint64_t bytes) {
  for (uint64_t line = offset / kLine; line <= (offset + bytes - 1) / kLine; ++line) {
    if (!lineWriter[line])
      continue;
    for (unsigned i = 0; i < kLine / 4; ++i)
      cells[line * (kLine / 4) + i].store(lineWriter[line], std::memory_order_relaxed);
    lineWriter[line] = 0;
  }
}

void RaceCells::reset() { std::free(cells.exchange(nullptr)); }

//===----------------------------------------------------------------------===//
// MemoryImpl
//===----------------------------------------------------------------------===//

static bool overlaps(uint64_t a, uint64_t aSize, uint64_t b, uint64_t bSize) {
  return a < b + bSize && b < a + aSize;
}

void MemoryImpl::forgetFreed(uint64_t base, uint64_t size) {
  // Freed ranges do not overlap one another: one at most begins below and reaches in.
  auto it = freed.lower_bound(base);
  if (it != freed.begin()) {
    auto below = std::prev(it);
    if (overlaps(below->first, below->second.size, base, size))
      it = below;
  }
  while (it != freed.end() && it->first < base + size)
    it = freed.erase(it);
}

bool MemoryImpl::add(uint64_t base, uint64_t size, std::string tag, bool initialised) {
  if (size == 0 || base + size < base || (base + size) >> 56)
    return false;
  std::unique_lock<std::shared_mutex> lock(mutex);
  auto next = ranges.lower_bound(base);
  if (next != ranges.end() && next->first < base + size)
    return false;
  if (next != ranges.begin()) {
    const Range &previous = *std::prev(next)->second;
    if (previous.base + previous.size > base)
      return false;
  }
  forgetFreed(base, size);
  auto range = std::make_unique<Range>();
  range->base = base;
  range->size = size;
  range->tag = std::move(tag);
  if (!initialised)
    range->initialised.allocate(size);
  range->touched.allocate(size / RaceCells::kPage + 1);
  ranges.emplace(base, std::move(range));
  return true;
}

bool MemoryImpl::remove(uint64_t base) {
  std::unique_lock<std::shared_mutex> lock(mutex);
  auto it = ranges.find(base);
  if (it == ranges.end())
    return false;
  freed[base] = {it->second->size, it->second->tag};
  it->second->live.store(false);
  if (launches)
    retired.push_back(std::move(it->second));
  ranges.erase(it);
  return true;
}

bool MemoryImpl::reserve(uint64_t base, uint64_t size) {
  std::unique_lock<std::shared_mutex> lock(mutex);
  return size > 0 && reservations.emplace(base, size).second;
}

bool MemoryImpl::release(uint64_t base) {
  std::unique_lock<std::shared_mutex> lock(mutex);
  return reservations.erase(base) == 1;
}

Range *MemoryImpl::findBelow(uint64_t address) const {
  std::shared_lock<std::shared_mutex> lock(mutex);
  auto it = ranges.upper_bound(address);
  return it == ranges.begin() ? nullptr : std::prev(it)->second.get();
}

Range *MemoryImpl::find(uint64_t address) const {
  Range *range = findBelow(address);
  return range && range->contains(address, 1) ? range : nullptr;
}

bool MemoryImpl::covers(uint64_t address, uint64_t size) const {
  uint64_t covered = 0;
  forParts(address, size, [&](Range &, uint64_t, uint64_t bytes) {
    covered += bytes;
    return true;
  });
  return covered == size;
}

RangeInfo MemoryImpl::describe(uint64_t address) const {
  RangeInfo info;
  if (Range *range = find(address)) {
    info.base = range->base;
    info.size = range->size;
    info.tag = range->tag;
    info.live = info.found = true;
    return info;
  }
  std::shared_lock<std::shared_mutex> lock(mutex);
  auto it = freed.upper_bound(address);
  if (it == freed.begin())
    return info;
  --it;
  if (address - it->first >= it->second.size)
    return info;
  info.base = it->first;
  info.size = it->second.size;
  info.tag = it->second.tag;
  info.found = true;
  return info;
}

bool MemoryImpl::isReserved(uint64_t address) const {
  std::shared_lock<std::shared_mutex> lock(mutex);
  auto it = reservations.upper_bound(address);
  if (it == reservations.begin())
    return false;
  --it;
  return address - it->first < it->second;
}

uint64_t MemoryImpl::liveBytes() const {
  std::shared_lock<std::shared_mutex> lock(mutex);
  uint64_t total = 0;
  for (const auto &entry : ranges)
    total += entry.second->size;
  return total;
}

void MemoryImpl::enterLaunch() {
  std::unique_lock<std::shared_mutex> lock(mutex);
  ++launches;
}

void MemoryImpl::leaveLaunch() {
  std::unique_lock<std::shared_mutex> lock(mutex);
  if (--launches == 0)
    retired.clear();
}

//===----------------------------------------------------------------------===//
// Races between tasks
//===----------------------------------------------------------------------===//

bool MemoryImpl::noteTask(Range &range, uint64_t offset, uint64_t bytes, const NewAccess &access,
                          const HappensBefore &order, bool writes, Conflict &conflict) {
  constexpr uint64_t kPage = RaceCells::kPage;
  RaceCell *pages = range.pages.get(range.size);
  range.pages.used.store(true, std::memory_order_relaxed);
  auto note = writes ? noteCellWrite : noteCellRead;
  NewAccess onlyChecked = access;
  onlyChecked.segment = 0;
  for (uint64_t end = offset + bytes; offset < end;) {
    uint64_t page = offset / kPage, stop = std::min(end, (page + 1) * kPage);
    // The end of an allocation is the end of a page.
    bool whole = offset % kPage == 0 && (stop % kPage == 0 || stop == range.size);
    if (!note(ledger, pages[page], whole ? access : onlyChecked, order, true, conflict))
      return false;
    // Of a page that kernels have not touched, cells need not be read.
    bool touched = range.races.allocated() && range.touched.any(page, 1);
    if (!whole && !touched)
      range.touched.set(page, 1);
    for (; offset < stop && (touched || !whole); offset = (offset & ~3ull) + 4) {
      NewAccess part = whole ? onlyChecked : access;
      part.bytes = 15u << (offset & 3) & 15u;
      if (stop < (offset & ~3ull) + 4)
        part.bytes &= (1u << (stop & 3)) - 1;
      RaceCell &cell = range.races.get(range.size)[offset / 4];
      if (!note(ledger, cell, part, order, true, conflict))
        return false;
    }
    offset = stop;
  }
  return true;
}

void MemoryImpl::sweep() {
  std::unique_lock<std::shared_mutex> alone(sweepMutex, std::try_to_lock);
  if (!alone)
    return; // a launch runs
  if (ledger.bytes() < sweptBytes + (1 << 20))
    return;
  std::unique_lock<std::shared_mutex> lock(mutex);
  uint64_t shadowed = 0;
  for (auto &entry : ranges)
    shadowed += entry.second->races.allocated() ? entry.second->size : 0;
  if (ledger.bytes() < sweptBytes + (1 << 20) + shadowed / 4)
    return;
  Ledger fresh;
  LedgerSweep work(ledger, fresh, /*tasks=*/true);
  for (auto &entry : ranges) {
    Range &range = *entry.second;
    uint64_t pages = (range.size + RaceCells::kPage - 1) / RaceCells::kPage;
    for (uint64_t page = 0; page < pages; ++page) {
      if (range.pages.allocated())
        work.rewrite(range.pages.get(range.size)[page]);
      uint64_t end = std::min(range.size, (page + 1) * RaceCells::kPage);
      if (range.races.allocated() && range.touched.any(page, 1))
        for (uint64_t at = page * RaceCells::kPage; at < end; at += 4)
          work.rewrite(range.races.get(range.size)[at / 4]);
    }
  }
  ledger.swap(fresh);
  sweptBytes = ledger.bytes();
}

namespace {
/// The order as a copy or a fill sees it.
class TaskView final : public HappensBefore {
public:
  explicit TaskView(const Task &task) : task(task) {}
  uint32_t unordered(const Segment &segment, uint32_t lanes) const override {
    const TaskKnowledge &known = *task.before;
    return isOwn(segment) || (segment.chain < known.size() && known[segment.chain] >= segment.seq)
               ? 0
               : lanes;
  }
  Reach reachTo(const Segment &segment) const override {
    return isOwn(segment) ? kReachBlock : kReachAll;
  }

private:
  bool isOwn(const Segment &segment) const { return segment.isOf(task.id); }

  const Task &task;
};
} // namespace

bool Memory::noteTask(const Task &task, uint64_t address, uint64_t size, bool writes,
                      std::string &problem, const char *verb) {
  Segment segment;
  segment.seq = task.id.seq;
  segment.chain = task.id.chain;
  segment.block = Segment::kWholeTask;
  segment.warp = Segment::kCopies;
  Conflict conflict;
  bool ok = true;
  std::shared_lock<std::shared_mutex> noSweep(impl_->sweepMutex);
  NewAccess access;
  access.segment = impl_->ledger.add(segment);
  access.lanes = 1;
  access.bytes = 15;
  TaskView order(task);
  impl_->forParts(address, size, [&](Range &range, uint64_t offset, uint64_t bytes) {
    ok = impl_->noteTask(range, offset, bytes, access, order, writes, conflict);
    return ok;
  });
  if (!ok)
    problem = "data race: " + tasks().nameOf(task.id) + " " +
              (verb     ? verb
               : writes ? "writes"
                        : "reads") +
              " what " + tasks().nameOf({conflict.segment.chain, conflict.segment.seq}) +
              (conflict.isRead ? " reads" : " writes") + ", and nothing orders them";
  return ok;
}

TaskOrder &Memory::tasks() const { return *impl_->tasks; }

//===----------------------------------------------------------------------===//
// Memory: the public face
//===----------------------------------------------------------------------===//

Memory::Memory() : impl_(std::make_unique<MemoryImpl>()) {}
Memory::~Memory() = default;

bool Memory::registerRange(uint64_t base, uint64_t size, std::string tag, bool initialised) {
  return impl_->add(base, size, std::move(tag), initialised);
}
bool Memory::unregisterRange(uint64_t base) { return impl_->remove(base); }
bool Memory::reserveRange(uint64_t base, uint64_t size) { return impl_->reserve(base, size); }
bool Memory::releaseReservation(uint64_t base) { return impl_->release(base); }

static void assignInitialised(const MemoryImpl &memory, uint64_t address, uint64_t size,
                              bool value) {
  memory.forParts(address, size, [&](Range &range, uint64_t offset, uint64_t bytes) {
    if (range.initialised.allocated())
      range.initialised.assign(offset, bytes, value);
    return true;
  });
}

void Memory::markInitialised(uint64_t address, uint64_t size) {
  assignInitialised(*impl_, address, size, true);
}

void Memory::markUninitialised(uint64_t address, uint64_t size) {
  assignInitialised(*impl_, address, size, false);
}

void Memory::copyInitialised(uint64_t destination, uint64_t source, uint64_t size) {
  // Runs of bytes of one state, nearly always a single one; applied after the
  // source has been read, which holds the lock.
  std::vector<std::pair<uint64_t, bool>> runs;
  impl_->forParts(source, size, [&](Range &range, uint64_t offset, uint64_t bytes) {
    if (!range.initialised.allocated()) {
      runs.emplace_back(bytes, true);
      return true;
    }
    for (uint64_t done = 0; done < bytes;) {
      uint64_t set = range.initialised.prefix(offset + done, bytes - done);
      runs.emplace_back(set, true);
      done += set;
      uint64_t unset = range.initialised.gap(offset + done, bytes - done);
      runs.emplace_back(unset, false);
      done += unset;
    }
    return true;
  });
  for (const auto &run : runs) {
    assignInitialised(*impl_, destination, run.first, run.second);
    destination += run.first;
  }
}

uint64_t Memory::initialisedPrefix(uint64_t address, uint64_t size) const {
  uint64_t total = 0;
  impl_->forParts(address, size, [&](Range &range, uint64_t offset, uint64_t bytes) {
    uint64_t prefix =
        range.initialised.allocated() ? range.initialised.prefix(offset, bytes) : bytes;
    total += prefix;
    return prefix == bytes;
  });
  return total;
}

RangeInfo Memory::lookup(uint64_t address) const { return impl_->describe(address); }

bool Memory::isAccessible(uint64_t address, uint64_t size) const {
  return impl_->covers(address, size);
}

uint64_t Memory::liveBytes() const { return impl_->liveBytes(); }
