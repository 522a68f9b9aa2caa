//===- AsyncAccess.cpp - Checked memory accesses of hardware --------------===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AsyncAccess.h"
#include "Access.h"

#include <cstring>

using namespace xc::ptxsim;

static bool fail(const BulkCopy &copy, FaultKind kind, uint64_t address, std::string message) {
  copy.issuer->raise(kind, *copy.warp, copy.lane, *copy.inst, address, std::move(message));
  return false;
}

/// The order as one sees it who issued a copy or a product.
namespace {
class ObserverOrder final : public HappensBefore {
public:
  ObserverOrder(const BlockClocks &clocks, const Observer &who) : clocks(clocks), who(who) {}
  uint32_t unordered(const Segment &segment, uint32_t lanes) const override {
    return clocks.unseen(segment, lanes, who);
  }
  Reach reachTo(const Segment &segment) const override { return clocks.reachTo(segment); }
  bool isSettled(const Segment &segment, uint32_t lanes) const override {
    return clocks.isSettled(segment, lanes, /*isShared=*/false);
  }

private:
  const BlockClocks &clocks;
  const Observer &who;
};
} // namespace

static const char *const kNoProxyFence =
    ", which fence.proxy.async has not made visible to asynchronous operations";

/// Whether proxy fences have made the writes that a cell tells of, and that happened
/// before, visible to |who|'s operation.
static bool isVisible(const Ledger &ledger, const BlockClocks &clocks, uint64_t cell,
                      const Observer &who, Conflict &conflict) {
  AccessList writes;
  ledger.decode(static_cast<uint32_t>(cell), writes);
  for (const Accessors &item : writes) {
    const Segment &segment = ledger.segment(item.segment());
    if (clocks.unseen(segment, item.lanes, who) || clocks.isProxied(segment, item.lanes, who))
      continue;
    conflict.segment = segment;
    conflict.lane = static_cast<unsigned>(__builtin_ctz(item.lanes));
    conflict.isRead = false;
    return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Global memory
//===----------------------------------------------------------------------===//

/// The allocation that holds the bytes; NULL after a fault, or if they are over the seam
/// of two.
static Range *rangeOf(const BulkCopy &copy, uint64_t address, uint32_t bytes, bool &ok) {
  Block &block = *copy.issuer;
  ok = true;
  Range *range = block.lastRange;
  if (range && range->contains(address, bytes) && range->live.load(std::memory_order_relaxed))
    return range;
  range = block.launch->memory->find(address);
  if (range && range->contains(address, bytes))
    return block.lastRange = range;
  if (range && block.launch->memory->covers(address, bytes))
    return nullptr;
  RangeInfo info = block.launch->memory->describe(address);
  std::string where = !info.found ? ": no allocation there"
                      : info.live ? ": runs beyond the end of " + info.tag
                                  : ": " + info.tag + " has been freed";
  ok = fail(copy, info.found && !info.live ? FaultKind::UseAfterFree : FaultKind::OutOfBounds,
            address,
            "bulk copy of " + std::to_string(bytes) + " bytes of global memory at " + hex(address) +
                where);
  return nullptr;
}

/// Checks the cells of global memory against what the issuer knew, and makes them say
/// that the copy, |segment|, was there.
static bool noteCells(BulkCopy &copy, Range &range, uint64_t address, uint32_t bytes, bool write,
                      uint32_t segment) {
  BlockClocks *clocks = copy.issuer->clocks.get();
  if (!clocks)
    return true;
  Ledger &ledger = clocks->ledger(/*isShared=*/false);
  ObserverOrder order(*clocks, copy.observer);
  auto note = write ? noteCellWrite : noteCellRead;
  NewAccess access;
  access.segment = segment;
  access.lanes = 1;
  access.strong = copy.op->reduces ? strengthOf(Order::Relaxed, MemScope::Gpu) : 0;
  RaceCell *cells = range.races.get(range.size);
  uint64_t offset = address - range.base;
  for (uint64_t at = offset, end = offset + bytes; at < end; at = (at & ~3ull) + 4) {
    Conflict conflict;
    uint64_t page = at / RaceCells::kPage;
    bool ok = true;
    access.bytes = 15u << (at & 3) & 15u;
    if (end < (at & ~3ull) + 4)
      access.bytes &= (1u << (end & 3)) - 1;
    if (at == offset || at % RaceCells::kPage == 0) {
      range.touched.set(page, 1);
      NewAccess onlyChecked = access;
      onlyChecked.segment = 0;
      if (range.pages.used.load(std::memory_order_relaxed))
        ok = note(ledger, range.pages.get(range.size)[page], onlyChecked, order, true, conflict);
    }
    if (ok && note(ledger, cells[at / 4], access, order, true, conflict))
      continue;
    return fail(copy, FaultKind::Race, range.base + at,
                std::string("bulk copy's ") + (write ? "write to" : "read from") +
                    " global memory at " + hex(range.base + at) + " races with the " +
                    describeConflict(*copy.issuer, conflict, true) + ": nothing orders them");
  }
  return true;
}

bool xc::ptxsim::readGlobal(BulkCopy &copy, uint64_t address, uint32_t bytes, uint8_t *to) {
  bool ok = false;
  Range *range = rangeOf(copy, address, bytes, ok);
  if (!ok)
    return false;
  Block &block = *copy.issuer;
  if (range && block.launch->options.checks.uninitialised && range->initialised.allocated()) {
    uint64_t offset = address - range->base;
    if (!range->initialised.all(offset, bytes))
      return fail(copy, FaultKind::UninitialisedRead, address,
                  "bulk copy from global memory at " + hex(address) + ": byte at offset " +
                      std::to_string(offset + range->initialised.prefix(offset, bytes)) + " of " +
                      range->tag + " was never written");
  }
  uint32_t mine =
      block.clocks ? block.clocks->copySegment(false, block.clocks->peekCopy(copy.mbarrier)) : 0;
  if (range && !noteCells(copy, *range, address, bytes, false, mine))
    return false;
  std::memcpy(to, reinterpret_cast<const void *>(address), bytes);
  return true;
}

bool xc::ptxsim::noteGlobalWrite(BulkCopy &copy, uint64_t address, uint32_t bytes, uint32_t clock) {
  bool ok = false;
  Range *range = rangeOf(copy, address, bytes, ok);
  if (!ok)
    return false;
  Block &block = *copy.issuer;
  uint32_t strength = copy.op->reduces ? strengthOf(Order::Relaxed, MemScope::Gpu) : 0;
  uint32_t mine = clock ? block.clocks->copySegment(false, clock, strength) : 0;
  if (range && !noteCells(copy, *range, address, bytes, true, mine))
    return false;
  if (range && block.launch->options.checks.uninitialised && range->initialised.allocated()) {
    uint64_t offset = address - range->base;
    if (copy.op->reduces && !range->initialised.all(offset, bytes))
      return fail(copy, FaultKind::UninitialisedRead, address,
                  "reduction into global memory at " + hex(address) + " of " + range->tag +
                      ", which was never written");
    range->initialised.set(offset, bytes);
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

bool xc::ptxsim::noteSharedRead(BulkCopy &copy, uint32_t offset, uint32_t bytes) {
  Block &block = *copy.issuer;
  const Checks &checks = block.launch->options.checks;
  SharedShadow &shadow = block.sharedShadow;
  if (checks.asyncCopy && shadow.anyPending && shadow.pending.any(offset, bytes))
    return fail(copy, FaultKind::AsyncCopy, offset,
                "bulk copy from shared memory at " + hex(offset) +
                    ": the destination of an asynchronous copy that has not been waited for");
  if (checks.uninitialised && !shadow.initialised.all(offset, bytes))
    return fail(copy, FaultKind::UninitialisedRead, offset,
                "bulk copy from shared memory: byte at offset " +
                    std::to_string(offset + shadow.initialised.prefix(offset, bytes)) +
                    " was never written");
  BlockClocks *clocks = block.clocks.get();
  if (!clocks)
    return true;
  RaceCell *cells = shadow.races->get(shadow.capacity);
  if (shadow.anyLine)
    shadow.expandLines(cells, offset, bytes);
  Ledger &ledger = clocks->ledger(/*isShared=*/true);
  ObserverOrder order(*clocks, copy.observer);
  NewAccess access;
  access.segment = clocks->segmentOf(true, copy.observer.thread, 0);
  access.lanes = 1u << copy.observer.thread % 32;
  access.bytes = 15;
  for (uint32_t i = offset / 4; i < (offset + bytes) / 4; ++i) {
    Conflict conflict;
    if (!checks.asyncCopy || isVisible(ledger, *clocks, cells[i], copy.observer, conflict)) {
      if (noteCellRead(ledger, cells[i], access, order, false, conflict))
        continue;
      return fail(copy, FaultKind::Race, 4 * i,
                  "bulk copy's read from shared memory at " + hex(4 * i) + " races with the " +
                      describeConflict(block, conflict, false) + ": nothing orders them");
    }
    return fail(copy, FaultKind::MissingProxyFence, 4 * i,
                "bulk copy reads shared memory at " + hex(4 * i) + " after the " +
                    describeConflict(block, conflict, false) + kNoProxyFence);
  }
  return true;
}

/// Whether products that have read the line happened before the copy.
static bool checkLineReads(BulkCopy &copy, Block &target, uint32_t line, uint32_t parts) {
  SharedShadow &shadow = target.sharedShadow;
  if (shadow.productReads.empty())
    return true;
  size_t count = target.warpgroups.size();
  for (size_t g = 0; g < count; ++g) {
    uint32_t entry = shadow.productReads[line * count + g];
    auto warpgroup = static_cast<uint32_t>(g);
    if (!(entry & parts) || target.clocks->sawProducts(copy.observer, warpgroup, entry >> 8))
      continue;
    return fail(copy, FaultKind::Race, line * SharedShadow::kLine,
                "bulk copy's write to shared memory at " + hex(line * SharedShadow::kLine) +
                    " races with the read by a wgmma of warpgroup " + std::to_string(g) +
                    ": nothing orders them");
  }
  return true;
}

bool xc::ptxsim::noteSharedWrite(BulkCopy &copy, Block &target, uint32_t offset, uint32_t bytes,
                                 uint32_t clock) {
  SharedShadow &shadow = target.sharedShadow;
  shadow.initialised.set(offset, bytes);
  BlockClocks *clocks = target.clocks.get();
  if (!clocks)
    return true;
  RaceCell *cells = shadow.races->get(shadow.capacity);
  constexpr uint32_t kLine = SharedShadow::kLine;
  Ledger &ledger = clocks->ledger(/*isShared=*/true);
  ObserverOrder order(*clocks, copy.observer);
  NewAccess access;
  access.segment = clocks->copySegment(true, clock);
  access.lanes = 1;
  access.bytes = 15;
  NewAccess onlyChecked = access;
  onlyChecked.segment = 0;
  for (uint32_t line = offset / kLine; line <= (offset + bytes - 1) / kLine; ++line) {
    uint32_t low = std::max(offset, line * kLine),
             high = std::min(offset + bytes, (line + 1) * kLine);
    bool whole = high - low == kLine && access.segment;
    uint32_t parts = (1u << (high - line * kLine + 15) / 16) - (1u << (low - line * kLine) / 16);
    if (!checkLineReads(copy, target, line, parts))
      return false;
    if (shadow.lineWriter[line] && !whole)
      shadow.expandLines(cells, low, 1);
    bool wasLine = shadow.lineWriter[line] != 0;
    RaceCell lineCell{shadow.lineWriter[line]};
    for (uint32_t i = low / 4; i < (wasLine ? low / 4 + 1 : high / 4); ++i) {
      Conflict conflict;
      if (noteCellWrite(ledger, wasLine ? lineCell : cells[i], whole ? onlyChecked : access, order,
                        false, conflict))
        continue;
      return fail(copy, FaultKind::Race, 4 * i,
                  "bulk copy's write to shared memory at " + hex(4 * i) + " races with the " +
                      describeConflict(target, conflict, false) + ": nothing orders them");
    }
    if (whole) {
      shadow.lineWriter[line] = cellWord(access.segment, 0, kFormAll);
      shadow.anyLine = true;
    }
  }
  return true;
}

bool xc::ptxsim::checkProductReads(Warp &warp, const Inst &inst, unsigned lane, uint32_t offset,
                                   uint32_t bytes) {
  Block &block = *warp.block;
  const std::vector<uint32_t> &reads = block.sharedShadow.productReads;
  if (reads.empty())
    return true;
  size_t count = block.warpgroups.size();
  for (uint32_t part = offset / 16; part <= (offset + bytes - 1) / 16; ++part)
    for (size_t g = 0; g < count; ++g) {
      uint32_t entry = reads[part / 8 * count + g];
      if (!(entry >> (part & 7) & 1) ||
          block.clocks->knowsProducts(warp.threadOf(lane), static_cast<uint32_t>(g), entry >> 8))
        continue;
      block.raise(FaultKind::Race, warp, lane, inst, offset,
                  "store to shared memory at " + hex(offset) +
                      " races with the read by a wgmma of warpgroup " + std::to_string(g) +
                      ": nothing orders them");
      return false;
    }
  return true;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

ProductReads::ProductReads(Warp &warp, const Inst &inst, const Observer &observer,
                           uint32_t warpgroup, uint32_t clock)
    : warp(warp), inst(inst), observer(observer), warpgroup(warpgroup), clock(clock),
      shadow(warp.block->sharedShadow), checks(warp.block->launch->options.checks),
      warpgroups(warp.block->warpgroups.size()) {
  if (!warp.block->clocks)
    return;
  cells = shadow.races->get(shadow.capacity);
  if (shadow.productReads.empty())
    shadow.productReads.assign((shadow.capacity / SharedShadow::kLine + 1) * warpgroups, 0);
}

/// Who wrote the 16 bytes, or the line, must have happened before, and be visible.
bool ProductReads::checkWriters(uint32_t offset) {
  const BlockClocks &clocks = *warp.block->clocks;
  const Ledger &ledger = clocks.ledger(/*isShared=*/true);
  ObserverOrder order(clocks, observer);
  uint32_t lineWriter = shadow.lineWriter[offset / SharedShadow::kLine];
  uint32_t last = 0;
  for (uint32_t i = offset / 4; i < offset / 4 + (lineWriter ? 1 : 4); ++i) {
    auto writer =
        lineWriter ? lineWriter : static_cast<uint32_t>(cells[i].load(std::memory_order_relaxed));
    if (writer == last)
      continue;
    last = writer;
    auto raise = [&](FaultKind kind, const std::string &message) {
      warp.block->raise(kind, warp, 0, inst, 4 * i, message);
      return false;
    };
    AccessList writes;
    ledger.decode(writer, writes);
    Conflict conflict;
    for (const Accessors &item : writes) {
      conflict.segment = ledger.segment(item.segment());
      conflict.lane = static_cast<unsigned>(__builtin_ctz(item.lanes));
      if (order.unordered(conflict.segment, item.lanes))
        return raise(FaultKind::Race,
                     "wgmma's read from shared memory at " + hex(4 * i) + " races with the " +
                         describeConflict(*warp.block, conflict, false) + ": nothing orders them");
    }
    if (checks.asyncCopy && !isVisible(ledger, clocks, writer, observer, conflict))
      return raise(FaultKind::MissingProxyFence,
                   "wgmma reads shared memory at " + hex(4 * i) + " after the " +
                       describeConflict(*warp.block, conflict, false) + kNoProxyFence);
  }
  return true;
}

bool ProductReads::read(uint32_t offset) {
  if (offset + 16 > warp.block->sharedBytes) {
    warp.block->raise(FaultKind::OutOfBounds, warp, 0, inst, offset,
                      "wgmma reads shared memory at " + hex(offset) + ": it has " +
                          std::to_string(warp.block->sharedBytes) + " bytes");
    return false;
  }
  if (checks.asyncCopy && shadow.anyPending && shadow.pending.any(offset, 16)) {
    warp.block->raise(FaultKind::AsyncCopy, warp, 0, inst, offset,
                      "wgmma reads shared memory at " + hex(offset) +
                          ": the destination of an asynchronous copy that has not been waited for");
    return false;
  }
  if (checks.uninitialised && !shadow.initialised.all(offset, 16)) {
    warp.block->raise(FaultKind::UninitialisedRead, warp, 0, inst, offset,
                      "wgmma reads shared memory: byte at offset " +
                          std::to_string(offset + shadow.initialised.prefix(offset, 16)) +
                          " was never written");
    return false;
  }
  if (!cells)
    return true;
  uint32_t line = offset / SharedShadow::kLine;
  if (!(line == lastLine && shadow.lineWriter[line]) && !checkWriters(offset))
    return false;
  lastLine = line;
  uint32_t &entry = shadow.productReads[line * warpgroups + warpgroup];
  entry = clock << 8 | (entry & 255) | 1u << (offset / 16 % 8);
  return true;
}
