//===- Mbarrier.cpp - Barrier objects in shared memory --------------------===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Mbarrier.h"
#include "Machine.h"

#include <cstring>

using namespace xc::ptxsim;

std::string Mbarrier::describe() const {
  return "phase " + std::to_string(phase) + ", " + std::to_string(pending) + " of " +
         std::to_string(expected) + " arrivals and " + std::to_string(bytes) + " bytes to come";
}

static bool misuse(const Actor &who, uint32_t offset, const std::string &message) {
  who.warp.block->raise(FaultKind::MbarrierMisuse, who.warp, who.lane, who.inst, offset,
                        "mbarrier at " + hex(offset) + ": " + message);
  return false;
}

static bool checkPlace(const Actor &who, Block &owner, uint32_t offset) {
  if (offset % 8) {
    who.warp.block->raise(FaultKind::Misaligned, who.warp, who.lane, who.inst, offset,
                          "mbarrier at " + hex(offset) + ": expected a multiple of 8");
    return false;
  }
  if (offset + 8 <= owner.sharedBytes)
    return true;
  who.warp.block->raise(FaultKind::OutOfBounds, who.warp, who.lane, who.inst, offset,
                        "mbarrier at " + hex(offset) + ": the shared memory has " +
                            std::to_string(owner.sharedBytes) + " bytes");
  return false;
}

/// Puts the object's state into the bytes that programs see.
static void writeWord(Block &owner, uint32_t offset, const Mbarrier &barrier) {
  uint64_t word = barrier.word();
  std::memcpy(owner.shared.data() + offset, &word, sizeof(word));
  ++owner.cluster->events;
}

Mbarrier *xc::ptxsim::findMbarrier(const Actor &who, Block &owner, uint32_t offset) {
  if (!checkPlace(who, owner, offset))
    return nullptr;
  auto it = owner.mbarriers.find(offset);
  if (it == owner.mbarriers.end()) {
    misuse(who, offset, "none has been initialised there");
    return nullptr;
  }
  const Mbarrier &found = it->second;
  BlockClocks *clocks = who.warp.block->clocks.get();
  if (clocks && !clocks->knows(found.init, found.initLane, who.warp.threadOf(who.lane))) {
    who.warp.block->raise(FaultKind::Race, who.warp, who.lane, who.inst, offset,
                          "mbarrier at " + hex(offset) +
                              ": nothing orders this after its "
                              "initialisation by " +
                              describeThread(owner, found.init.warp * 32u + found.initLane));
    return nullptr;
  }
  uint64_t word;
  std::memcpy(&word, owner.shared.data() + offset, sizeof(word));
  if (word != it->second.word()) {
    misuse(who, offset, "an ordinary store has overwritten it (" + it->second.describe() + ")");
    return nullptr;
  }
  return &it->second;
}

bool xc::ptxsim::initMbarrier(const Actor &who, Block &owner, uint32_t offset, uint32_t count) {
  if (!checkPlace(who, owner, offset))
    return false;
  if (count == 0 || count > Mbarrier::kMaxCount)
    return misuse(who, offset, "expected a count of 1 to 1048575, got " + std::to_string(count));
  auto it = owner.mbarriers.find(offset);
  if (it != owner.mbarriers.end())
    return misuse(who, offset,
                  "initialised again while it is in use (" + it->second.describe() +
                      "); mbarrier.inval must come first");
  Mbarrier &barrier = owner.mbarriers[offset];
  barrier.expected = barrier.pending = count;
  barrier.initThread = who.warp.threadOf(who.lane);
  ++owner.hiddenMbarriers;
  if (BlockClocks *clocks = who.warp.block->clocks.get()) {
    barrier.init = clocks->describe(who.warp.threadOf(who.lane));
    barrier.initLane = who.lane;
  }
  owner.sharedShadow.initialised.set(offset, 8);
  writeWord(owner, offset, barrier);
  return true;
}

void xc::ptxsim::fenceMbarriers(Block &block, uint32_t thread) {
  for (auto &entry : block.mbarriers) {
    Mbarrier &barrier = entry.second;
    if (barrier.visible || barrier.initThread != thread)
      continue;
    barrier.visible = true;
    --block.hiddenMbarriers;
  }
}

bool xc::ptxsim::checkVisible(const Actor &who, const Block &owner, uint32_t offset,
                              const Mbarrier &barrier) {
  if (barrier.visible || !who.warp.block->launch->options.checks.asyncCopy)
    return true;
  who.warp.block->raise(FaultKind::MissingProxyFence, who.warp, who.lane, who.inst, offset,
                        "mbarrier at " + hex(offset) + ": " +
                            describeThread(owner, barrier.initThread) +
                            ", which initialised it, has not made it visible to asynchronous "
                            "operations, by fence.mbarrier_init or fence.proxy.async");
  return false;
}

bool xc::ptxsim::invalMbarrier(const Actor &who, Block &owner, uint32_t offset) {
  Mbarrier *barrier = findMbarrier(who, owner, offset);
  if (!barrier)
    return false;
  bool waited = false;
  for (const Warp &warp : owner.warps)
    for (const Group &group : warp.groups)
      waited |= group.state == Group::WaitPhase && group.mbarrier == offset;
  if (waited || barrier->operations)
    return misuse(who, offset,
                  std::string("invalidated while ") +
                      (waited ? "threads wait for it" : "copies will arrive at it") + " (" +
                      barrier->describe() + ")");
  owner.hiddenMbarriers -= !barrier->visible;
  owner.mbarriers.erase(offset);
  ++owner.cluster->events;
  return true;
}

/// Completes the phase if nothing is to come any more.
static void settle(Block &owner, uint32_t offset, Mbarrier &barrier) {
  if (barrier.pending == 0 && barrier.bytes == 0) {
    barrier.passed = barrier.join.finish();
    barrier.pending = barrier.expected;
    ++barrier.phase;
    writeWord(owner, offset, barrier);
    wakePhaseWaiters(owner, offset, barrier.phase - 1);
    return;
  }
  writeWord(owner, offset, barrier);
}

static bool addBytes(const Actor &who, uint32_t offset, Mbarrier &barrier, int64_t bytes) {
  barrier.bytes += bytes;
  int64_t limit = Mbarrier::kMaxCount;
  if (barrier.bytes <= limit && barrier.bytes >= -limit)
    return true;
  return misuse(who, offset,
                "its count of bytes leaves the range of -1048575 to 1048575 (" +
                    barrier.describe() + ")");
}

bool xc::ptxsim::arriveAt(const Actor &who, Block &owner, uint32_t offset, const Arrival &arrival,
                          uint64_t &state) {
  Mbarrier *barrier = findMbarrier(who, owner, offset);
  if (!barrier)
    return false;
  state = barrier->word();
  if (arrival.count == 0 || arrival.count > barrier->pending)
    return misuse(who, offset,
                  std::to_string(arrival.count) + " arrivals, but only " +
                      std::to_string(barrier->pending) + " of " +
                      std::to_string(barrier->expected) + " are still to come in phase " +
                      std::to_string(barrier->phase));
  if (!addBytes(who, offset, *barrier, arrival.expectBytes))
    return false;
  if (!arrival.mayComplete && arrival.count == barrier->pending)
    return misuse(who, offset,
                  "an arrival with .noComplete would complete the phase (" + barrier->describe() +
                      ")");
  Block &mine = *who.warp.block;
  if (mine.clocks && arrival.releases)
    barrier->join.arrive(*mine.clocks, who.warp.threadOf(who.lane), *owner.clocks);
  barrier->pending -= arrival.count;
  if (arrival.drop)
    barrier->expected -= arrival.count;
  settle(owner, offset, *barrier);
  return true;
}

bool xc::ptxsim::expectBytes(const Actor &who, Block &owner, uint32_t offset, int64_t bytes) {
  Mbarrier *barrier = findMbarrier(who, owner, offset);
  if (!barrier || !addBytes(who, offset, *barrier, bytes))
    return false;
  writeWord(owner, offset, *barrier);
  return true;
}

bool xc::ptxsim::completeBytes(const Actor &who, Block &owner, uint32_t offset, int64_t bytes,
                               uint32_t copyClock) {
  Mbarrier *barrier = findMbarrier(who, owner, offset);
  if (!barrier || !addBytes(who, offset, *barrier, -bytes))
    return false;
  if (owner.clocks && copyClock)
    barrier->join.completeCopy(*owner.clocks, copyClock);
  settle(owner, offset, *barrier);
  return true;
}

bool xc::ptxsim::expectArrival(const Actor &who, Block &owner, uint32_t offset) {
  Mbarrier *barrier = findMbarrier(who, owner, offset);
  if (!barrier)
    return false;
  if (barrier->pending == Mbarrier::kMaxCount)
    return misuse(who, offset, "its pending count overflows");
  ++barrier->pending;
  writeWord(owner, offset, *barrier);
  return true;
}
