//===- Access.cpp - From addresses to memory, with checks -----------------===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Access.h"
#include "AccessChecks.h"

#include <algorithm>

using namespace xc::ptxsim;

void xc::ptxsim::laneAddresses(const Warp &warp, uint32_t row, bool wide, int64_t offset,
                               uint64_t (&out)[kWarpSize]) {
  if (row == kNoRow) {
    std::fill(std::begin(out), std::end(out), static_cast<uint64_t>(offset));
  } else if (wide) {
    const uint64_t *base = warp.row<uint64_t>(row);
    for (unsigned l = 0; l < kWarpSize; ++l)
      out[l] = base[l] + static_cast<uint64_t>(offset);
  } else {
    const uint32_t *base = warp.row<uint32_t>(row);
    for (unsigned l = 0; l < kWarpSize; ++l)
      out[l] = static_cast<uint32_t>(base[l] + static_cast<uint32_t>(offset));
  }
}

//===----------------------------------------------------------------------===//
// Checks of one lane
//===----------------------------------------------------------------------===//

static uint32_t byteMask(uint64_t address, uint64_t end) {
  uint64_t cell = address & ~3ull;
  uint32_t mask = 15u << (address & 3) & 15u;
  if (end < cell + 4)
    mask &= (1u << (end - cell)) - 1;
  return mask;
}

/// The cells of the bytes that a lane accesses.
struct LaneCells {
  RaceCell *cells = nullptr; // NULL: not tracked
  uint64_t offset = 0;       // of the access in what they shadow
  uint64_t page = 0;         // what copies did there
  bool isShared = false;
};

/// Calls |function| with each cell that the access touches, the mask of the bytes in it, and
/// which byte of the access the first of these is, until it returns false.
template <typename F> static bool forCells(const LaneCells &at, unsigned bytes, F function) {
  uint64_t end = at.offset + bytes;
  for (uint64_t place = at.offset; place < end; place = (place & ~3ull) + 4)
    if (!function(at.cells[place >> 2], byteMask(place, end), place - at.offset))
      return false;
  return true;
}

static LaneCells cellsOf(Block &block, const LaneAccess &lanes, unsigned lane, unsigned bytes) {
  LaneCells at;
  if (!block.clocks)
    return at;
  if (lanes.space[lane] == Space::Shared) {
    Block &owner = *lanes.owner[lane];
    at.isShared = true;
    at.offset = static_cast<uint64_t>(lanes.host[lane] - owner.shared.data());
    SharedShadow &shadow = owner.sharedShadow;
    at.cells = shadow.races->get(shadow.capacity);
    if (shadow.anyLine)
      shadow.expandLines(at.cells, at.offset, bytes);
    return at;
  }
  Range *range = lanes.range[lane];
  if (lanes.space[lane] != Space::Global || !range)
    return at;
  at.offset = lanes.address[lane] - range->base;
  at.cells = range->races.get(range->size);
  uint64_t page = at.offset / RaceCells::kPage;
  range->touched.set(page, 1);
  if (range->pages.used.load(std::memory_order_acquire))
    at.page = range->pages.get(range->size)[page].load(std::memory_order_acquire);
  return at;
}

uint32_t xc::ptxsim::lanesAlike(const Warp &warp, const LaneAccess &lanes, unsigned lane,
                                uint32_t rest) {
  uint32_t others = rest & (rest - 1);
  if (!others || lanes.host[__builtin_ctz(others)] != lanes.host[lane])
    return 1u << lane;
  uint32_t alike = 0;
  forLanes(rest, [&](unsigned l) {
    alike |= static_cast<uint32_t>(lanes.host[l] == lanes.host[lane]) << l;
  });
  return warp.block->clocks->atSameClock(warp.threadOf(lane), alike);
}

/// A load through the read-only cache may give what was there before a write of this kernel,
/// however the two are ordered.
static bool checkReadOnly(Warp &warp, const Inst &inst, const Access &access,
                          const LaneAccess &lanes, unsigned lane, const LaneCells &at) {
  Conflict conflict;
  if (forCells(at, access.bytes, [&](RaceCell &cell, uint32_t bytes, uint64_t) {
        return !warp.block->clocks->isWrittenHere(cell, bytes, conflict);
      }))
    return true;
  warp.block->raise(FaultKind::Race, warp, lane, inst, lanes.address[lane],
                    describe(access, Space::Global) + " at " + hex(lanes.address[lane]) +
                        " with .nc may miss the " +
                        describeConflict(*warp.block, conflict, /*withBlock=*/true) +
                        ": the kernel must not write what it reads so");
  return false;
}

/// The race check of the loads of |mask|.
static bool checkReadRaces(Warp &warp, const Inst &inst, const Access &access, LaneAccess &lanes,
                           uint32_t mask) {
  Block &block = *warp.block;
  BlockClocks &clocks = *block.clocks;
  for (uint32_t rest = mask; rest;) {
    auto lane = static_cast<unsigned>(__builtin_ctz(rest));
    LaneCells at = cellsOf(block, lanes, lane, access.bytes);
    if (!at.cells) {
      rest &= rest - 1;
      continue;
    }
    if (access.readOnly && !checkReadOnly(warp, inst, access, lanes, lane, at))
      return false;
    uint32_t alike = lanesAlike(warp, lanes, lane, rest);
    rest &= ~alike;
    uint32_t thread = warp.threadOf(lane);
    Conflict conflict;
    if ((at.page && !clocks.checkPage(at.page, thread, false, conflict)) ||
        !forCells(at, access.bytes, [&](RaceCell &cell, uint32_t bytes, uint64_t) {
          return clocks.read(cell, at.isShared, thread, alike, bytes, access.strong, conflict);
        }))
      return raiseRace(warp, inst, access, lane, lanes.address[lane], lanes.space[lane], conflict);
  }
  return true;
}

static bool checkRead(Warp &warp, const Inst &inst, const Access &access, LaneAccess &lanes,
                      unsigned lane) {
  Block &block = *warp.block;
  const Checks &checks = block.launch->options.checks;
  Space space = lanes.space[lane];
  uint64_t address = lanes.address[lane];
  if (space == Space::Shared) {
    Block &owner = *lanes.owner[lane];
    uint64_t offset = static_cast<uint64_t>(lanes.host[lane] - owner.shared.data());
    SharedShadow &shadow = owner.sharedShadow;
    if (checks.asyncCopy && shadow.anyPending && shadow.pending.any(offset, access.bytes)) {
      block.raise(FaultKind::AsyncCopy, warp, lane, inst, address,
                  describe(access, space) + " at " + hex(address) +
                      ": the destination of an asynchronous copy that has not been waited for");
      return false;
    }
    if (checks.uninitialised && !shadow.initialised.all(offset, access.bytes))
      return raiseUninitialised(warp, inst, access, lane, address, space,
                                offset + shadow.initialised.prefix(offset, access.bytes),
                                "shared memory");
  } else if (space == Space::Local && checks.uninitialised) {
    uint64_t place = block.localPlace(lanes.host[lane]);
    if (!block.localWritten.all(place, access.bytes))
      return raiseUninitialised(warp, inst, access, lane, address, space,
                                static_cast<uint64_t>(lanes.host[lane] - warp.localOf(lane)) +
                                    block.localWritten.prefix(place, access.bytes),
                                "the thread's local memory");
  } else if (space == Space::Global && checks.uninitialised) {
    Range *range = lanes.range[lane];
    if (range && range->initialised.allocated()) {
      uint64_t offset = address - range->base;
      if (!range->initialised.all(offset, access.bytes))
        return raiseUninitialised(warp, inst, access, lane, address, space,
                                  offset + range->initialised.prefix(offset, access.bytes),
                                  range->tag);
    }
  }
  return true;
}

static bool resolveGlobal(Warp &warp, const Inst &inst, const Access &access, LaneAccess &lanes,
                          unsigned lane) {
  Block &block = *warp.block;
  uint64_t address = lanes.address[lane];
  lanes.host[lane] = reinterpret_cast<uint8_t *>(address);
  lanes.range[lane] = nullptr;
  Range *range = block.lastRange;
  if (!range || !range->contains(address, access.bytes) ||
      !range->live.load(std::memory_order_relaxed)) {
    range = block.launch->memory->find(address);
    if (!range || !range->contains(address, access.bytes)) {
      if (range && block.launch->memory->covers(address, access.bytes))
        return true; // over the seam of two mapped ranges
      return raiseGlobal(warp, inst, access, lane, address);
    }
    block.lastRange = range;
  }
  lanes.range[lane] = range;
  return true;
}

static bool resolveLane(Warp &warp, const Inst &inst, const Access &access, LaneAccess &lanes,
                        unsigned lane, const Checks &checks) {
  Block &block = *warp.block;
  uint64_t address = lanes.address[lane];
  Space space = access.space;
  uint64_t offset = address;
  if (space == Space::Generic) {
    space = spaceOfGeneric(address);
    if (space != Space::Global)
      offset = address & ~kWindowMask;
  } else if (space == Space::Const) {
    space = Space::Global;
  }
  if (space == Space::SharedCluster)
    space = Space::Shared;
  lanes.space[lane] = space;
  if (checks.misaligned && (address & (access.bytes - 1))) {
    block.raise(FaultKind::Misaligned, warp, lane, inst, address,
                describe(access, space) + " at " + hex(address) + ": expected a multiple of " +
                    std::to_string(access.bytes));
    return false;
  }
  if (space == Space::Global)
    return resolveGlobal(warp, inst, access, lanes, lane);
  uint64_t limit = 0;
  uint8_t *base = nullptr;
  if (space == Space::Shared) {
    Block *owner = &block;
    if (offset >> kRankShift) {
      uint32_t place = 0;
      owner = sharedOwner(warp, inst, lane, access.space, address, place);
      if (!owner)
        return false;
      offset = place;
    }
    lanes.owner[lane] = owner;
    limit = owner->sharedBytes;
    base = owner->shared.data();
  } else if (space == Space::Local) {
    limit = warp.program->localBytes;
    base = warp.localOf(lane);
  } else {
    limit = block.launch->params.size();
    base = block.launch->params.data();
  }
  // These windows are the simulator's own memory: their bounds always hold.
  if (offset > limit || access.bytes > limit - offset)
    return raiseWindow(warp, inst, access, lane, offset, space, limit);
  lanes.host[lane] = base + offset;
  return true;
}

const char *const xc::ptxsim::kNotStarted =
    " of the cluster, which need not have started: no barrier.cluster has completed";

/// All blocks of a cluster have begun once they have met.
bool xc::ptxsim::hasStarted(const Block &other) {
  return other.cluster->phase > 0 || !other.launch->options.checks.race;
}

Block *xc::ptxsim::sharedOwner(Warp &warp, const Inst &inst, unsigned lane, Space space,
                               uint64_t address, uint32_t &offset) {
  Block &block = *warp.block;
  auto fail = [&](FaultKind kind, const std::string &message) {
    block.raise(kind, warp, lane, inst, address, message);
    return nullptr;
  };
  uint64_t place = address;
  if (space == Space::Generic) {
    if (spaceOfGeneric(address) != Space::Shared)
      return fail(FaultKind::OutOfBounds, hex(address) + " is no address of shared memory");
    place = address & ~kWindowMask;
  }
  uint64_t rank = place >> kRankShift;
  if (rank == 0) {
    offset = static_cast<uint32_t>(place);
    return &block;
  }
  offset = static_cast<uint32_t>(place & ((1u << kRankShift) - 1));
  if (rank > block.cluster->blocks.size())
    return fail(FaultKind::OutOfBounds, hex(address) + " is outside the shared memory (of " +
                                            std::to_string(block.sharedBytes) +
                                            " bytes) of this block, and of its cluster");
  Block *owner = block.cluster->blocks[rank - 1].get();
  if (owner != &block && !hasStarted(*owner))
    return fail(FaultKind::Race, hex(address) + " is in the shared memory of block " +
                                     std::to_string(rank - 1) + kNotStarted);
  if (space == Space::Shared && owner != &block)
    return fail(FaultKind::OutOfBounds,
                hex(address) + " is in the shared memory of another block of the cluster");
  if (owner->liveThreads == 0)
    return fail(FaultKind::UseAfterFree, hex(address) + " is in the shared memory of block " +
                                             std::to_string(rank - 1) +
                                             " of the cluster, which has exited");
  return owner;
}

bool xc::ptxsim::resolveAccess(Warp &warp, const Inst &inst, uint32_t mask, const Access &access,
                               LaneAccess &lanes) {
  Block &block = *warp.block;
  const Checks &checks = block.launch->options.checks;
  bool reads = access.kind != AccessKind::Store && (checks.uninitialised || checks.asyncCopy);
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    auto lane = static_cast<unsigned>(__builtin_ctz(rest));
    if (!resolveLane(warp, inst, access, lanes, lane, checks))
      return false;
    if (reads && !checkRead(warp, inst, access, lanes, lane))
      return false;
  }
  if (block.clocks && access.kind == AccessKind::Load &&
      !checkReadRaces(warp, inst, access, lanes, mask))
    return false;
  if (block.launch->options.memoryCounters)
    countAccess(block, mask, lanes, access);
  return true;
}

//===----------------------------------------------------------------------===//
// Stores and atomics
//===----------------------------------------------------------------------===//

static void markWritten(Block &block, const LaneAccess &lanes, unsigned lane, unsigned bytes) {
  ++block.cluster->events;
  if (!block.launch->options.checks.uninitialised)
    return;
  if (lanes.space[lane] == Space::Shared) {
    Block &owner = *lanes.owner[lane];
    owner.sharedShadow.initialised.set(
        static_cast<uint64_t>(lanes.host[lane] - owner.shared.data()), bytes);
  } else if (lanes.space[lane] == Space::Local) {
    block.localWritten.set(block.localPlace(lanes.host[lane]), bytes);
  } else if (Range *range = lanes.range[lane]; range && lanes.space[lane] == Space::Global) {
    if (range->initialised.allocated())
      range->initialised.set(lanes.address[lane] - range->base, bytes);
  }
}

static bool checkPendingStore(Warp &warp, const Inst &inst, const Access &access,
                              const LaneAccess &lanes, unsigned lane) {
  Block &block = *warp.block;
  if (lanes.space[lane] != Space::Shared || !block.launch->options.checks.asyncCopy)
    return true;
  Block &owner = *lanes.owner[lane];
  auto offset = static_cast<uint32_t>(lanes.host[lane] - owner.shared.data());
  std::string reader;
  if (!owner.sharedShadow.anyPending || !owner.sharedShadow.pending.any(offset, access.bytes)) {
    if (!isAsyncSource(owner, offset, access.bytes, reader))
      return true;
    reader = "the source of " + reader;
  } else {
    reader = "the destination of an asynchronous copy";
  }
  block.raise(FaultKind::AsyncCopy, warp, lane, inst, lanes.address[lane],
              describe(access, Space::Shared) + " at " + hex(lanes.address[lane]) + ": " + reader +
                  " that has not been waited for");
  return false;
}

/// The race check of a write by the lanes of |alike|, |lane| the first of them. |value| is
/// what a store writes, else NULL.
static bool checkWrite(Warp &warp, const Inst &inst, const Access &access, const LaneAccess &lanes,
                       unsigned lane, uint32_t alike, const void *value) {
  Block &block = *warp.block;
  LaneCells at = cellsOf(block, lanes, lane, access.bytes);
  if (!at.cells)
    return true;
  uint32_t thread = warp.threadOf(lane);
  if (at.isShared && lanes.owner[lane] == &block &&
      !checkProductReads(warp, inst, lane, static_cast<uint32_t>(at.offset), access.bytes))
    return false;
  Conflict conflict;
  BlockClocks &clocks = *block.clocks;
  // Of stores of one value nobody can tell which came last: several threads may write the
  // same result. But nobody may read it meanwhile.
  auto isSilent = [&](uint32_t bytes, uint64_t from) {
    return value && std::memcmp(lanes.host[lane] + from, static_cast<const char *>(value) + from,
                                static_cast<size_t>(__builtin_popcount(bytes))) == 0;
  };
  return ((!at.page || clocks.checkPage(at.page, thread, true, conflict)) &&
          forCells(at, access.bytes,
                   [&](RaceCell &cell, uint32_t bytes, uint64_t from) {
                     return clocks.write(cell, at.isShared, thread, alike, bytes, access.strong,
                                         isSilent(bytes, from), conflict);
                   })) ||
         raiseRace(warp, inst, access, lane, lanes.address[lane], lanes.space[lane], conflict);
}

bool xc::ptxsim::noteStore(Warp &warp, const Inst &inst, const Access &access,
                           const LaneAccess &lanes, unsigned lane, uint32_t alike,
                           const void *value) {
  if (!checkPendingStore(warp, inst, access, lanes, lane) ||
      !checkWrite(warp, inst, access, lanes, lane, alike, value))
    return false;
  markWritten(*warp.block, lanes, lane, access.bytes);
  return true;
}

bool xc::ptxsim::noteAtomic(Warp &warp, const Inst &inst, const Access &access,
                            const LaneAccess &lanes, unsigned lane) {
  if (!checkPendingStore(warp, inst, access, lanes, lane) ||
      !checkWrite(warp, inst, access, lanes, lane, 1u << lane, nullptr))
    return false;
  markWritten(*warp.block, lanes, lane, access.bytes);
  return true;
}

static SyncTable *tableOf(Block &block, const LaneAccess &lanes, unsigned lane) {
  if (lanes.space[lane] == Space::Shared)
    return lanes.owner[lane]->clocks->sharedSync.get();
  return lanes.space[lane] == Space::Global ? block.launch->syncTable.get() : nullptr;
}

void xc::ptxsim::releaseAt(Warp &warp, const LaneAccess &lanes, unsigned lane, Order order,
                           MemScope scope) {
  Block &block = *warp.block;
  if (!block.clocks)
    return;
  if (SyncTable *table = tableOf(block, lanes, lane))
    block.clocks->release(warp.threadOf(lane), lanes.address[lane], *table,
                          order == Order::Release || order == Order::AcqRel, scope);
}

void xc::ptxsim::acquireAt(Warp &warp, const LaneAccess &lanes, unsigned lane, Order order,
                           MemScope scope) {
  Block &block = *warp.block;
  ++block.polls;
  if (!block.clocks)
    return;
  if (SyncTable *table = tableOf(block, lanes, lane))
    block.clocks->acquire(warp.threadOf(lane), lanes.address[lane], *table,
                          order == Order::Acquire || order == Order::AcqRel, scope);
}

//===----------------------------------------------------------------------===//
// Asynchronous copies
//===----------------------------------------------------------------------===//

static void sharedLane(Block &block, unsigned lane, uint32_t offset, LaneAccess &lanes) {
  lanes.space[lane] = Space::Shared;
  lanes.address[lane] = offset;
  lanes.range[lane] = nullptr;
  lanes.owner[lane] = &block;
  lanes.host[lane] = block.shared.data() + offset;
}

bool xc::ptxsim::beginAsyncCopy(Warp &warp, const Inst &inst, unsigned lane, uint32_t offset,
                                unsigned bytes) {
  Block &block = *warp.block;
  LaneAccess lanes;
  sharedLane(block, lane, offset, lanes);
  Access access{Space::Shared, bytes, AccessKind::Store, 0};
  // It may be written from now on: others must have finished reading.
  if (!checkPendingStore(warp, inst, access, lanes, lane) ||
      !checkWrite(warp, inst, access, lanes, lane, 1u << lane, nullptr))
    return false;
  if (block.launch->options.checks.asyncCopy) {
    block.sharedShadow.pending.assign(offset, bytes, true);
    block.sharedShadow.anyPending = true;
  }
  return true;
}

bool xc::ptxsim::deliverAsyncCopy(Warp &warp, unsigned lane, const AsyncCopy &copy) {
  Block &block = *warp.block;
  LaneAccess lanes;
  sharedLane(block, lane, copy.destination, lanes);
  Access access{Space::Shared, copy.bytes, AccessKind::Store, 0};
  if (block.launch->options.checks.asyncCopy)
    block.sharedShadow.pending.assign(copy.destination, copy.bytes, false);
  if (!checkWrite(warp, *copy.inst, access, lanes, lane, 1u << lane, nullptr))
    return false;
  std::memcpy(lanes.host[lane], copy.data, copy.bytes);
  markWritten(block, lanes, lane, copy.bytes);
  return true;
}
