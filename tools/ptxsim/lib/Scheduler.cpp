//===- Scheduler.cpp - Which threads run when -----------------------------===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each thread has its own program counter. Threads of a warp with equal program
// counters form a group, and one group runs at a time. Among the groups that
// can run, the one with the lowest program counter goes first: compilers place
// the join of a branch behind its sides, so the others are waiting there when
// it arrives, and they go on together. A group that loops for long while others
// wait is demoted, so that threads may wait for each other in any direction.
//
//===----------------------------------------------------------------------===//

#include "BulkCopy.h"
#include "Exec.h"

#include <algorithm>

using namespace xc::ptxsim;

// Warp-instructions that a group may execute while others of its warp wait; much
// less if it reads signals, as it may be one of those that it holds up.
static constexpr unsigned kGroupShare = 1u << 16;
static constexpr unsigned kPollingShare = 128;
// Warp-instructions of one warp before the next warp of the block has its turn.
static constexpr unsigned kWarpShare = 8192;

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

void xc::ptxsim::addGroup(Warp &warp, uint32_t mask, uint32_t pc, unsigned depth) {
  Group group;
  group.mask = mask;
  group.pc = pc;
  group.depth = static_cast<uint16_t>(depth);
  warp.groups.push_back(group);
}

/// Unites runnable groups that stand at the same place.
static void mergeGroups(Warp &warp) {
  for (size_t i = 0; i < warp.groups.size(); ++i) {
    Group &a = warp.groups[i];
    if (a.state != Group::Ready)
      continue;
    for (size_t j = i + 1; j < warp.groups.size();) {
      Group &b = warp.groups[j];
      if (b.state == Group::Ready && b.pc == a.pc && b.depth == a.depth) {
        a.mask |= b.mask;
        a.demoted = a.demoted && b.demoted;
        warp.groups.erase(warp.groups.begin() + static_cast<long>(j));
      } else {
        ++j;
      }
    }
  }
}

/// Chooses the group to run; false if none can.
static bool pickGroup(Warp &warp) {
  if (warp.groups.size() > 1)
    mergeGroups(warp);
  for (int attempt = 0; attempt < 2; ++attempt) {
    bool found = false, demoted = false;
    for (size_t i = 0; i < warp.groups.size(); ++i) {
      Group &group = warp.groups[i];
      if (group.state != Group::Ready)
        continue;
      if (group.demoted) {
        demoted = true;
      } else if (!found || group.pc < warp.groups[warp.current].pc) {
        warp.current = static_cast<unsigned>(i);
        found = true;
      }
    }
    if (found || !demoted)
      return found;
    for (Group &group : warp.groups)
      group.demoted = false;
  }
  return false;
}

/// At a leader: whether another group must be looked at before this one goes
/// on.
static bool othersMatter(const Warp &warp, uint32_t pc) {
  for (const Group &group : warp.groups)
    if (&group != &warp.groups[warp.current] && group.state == Group::Ready &&
        (group.pc == pc || (group.pc < pc && !group.demoted)))
      return true;
  return false;
}

//===----------------------------------------------------------------------===//
// Control instructions
//===----------------------------------------------------------------------===//

static Step executeBranch(Warp &warp, const Inst &inst, uint32_t mask) {
  Group &group = warp.groups[warp.current];
  auto target = static_cast<uint32_t>(inst.imm);
  if (mask == group.mask) {
    group.pc = target;
    return Step::Continue;
  }
  ++group.pc;
  if (mask == 0 || target == group.pc)
    return Step::Continue;
  group.mask &= ~mask;
  addGroup(warp, mask, target, group.depth);
  return Step::Repick;
}

static Step executeBranchIndexed(Warp &warp, const Inst &inst, uint32_t mask) {
  Group group = warp.groups[warp.current];
  const std::vector<uint32_t> &targets = warp.program->tables[inst.aux];
  const uint32_t *index = warp.row<uint32_t>(inst.a);
  uint32_t rest = group.mask & ~mask;
  warp.groups.erase(warp.groups.begin() + warp.current);
  if (rest)
    addGroup(warp, rest, group.pc + 1, group.depth);
  while (mask) {
    auto lane = static_cast<unsigned>(__builtin_ctz(mask));
    if (index[lane] >= targets.size()) {
      warp.block->raise(FaultKind::IllegalInstruction, warp, lane, inst, 0,
                        "index " + std::to_string(index[lane]) + " of " +
                            std::to_string(targets.size()) + " branch targets");
      return Step::Repick;
    }
    uint32_t same = 0;
    for (uint32_t m = mask; m; m &= m - 1) {
      auto l = static_cast<unsigned>(__builtin_ctz(m));
      same |= static_cast<uint32_t>(index[l] == index[lane]) << l;
    }
    addGroup(warp, same, targets[index[lane]], group.depth);
    mask &= ~same;
  }
  return Step::Repick;
}

/// Lanes that wait for others of their warp look again: some have gone.
static void wakeWaiters(Warp &warp) {
  for (Group &group : warp.groups)
    if (group.state == Group::WaitSync || group.state == Group::WaitAligned)
      group.state = Group::Ready;
}

static Step executeExit(Warp &warp, uint32_t mask) {
  Group &group = warp.groups[warp.current];
  ++group.pc;
  if (mask == 0)
    return Step::Continue;
  group.mask &= ~mask;
  warp.live &= ~mask;
  warp.block->liveThreads -= static_cast<uint32_t>(__builtin_popcount(mask));
  if (group.mask == 0)
    warp.groups.erase(warp.groups.begin() + warp.current);
  wakeWaiters(warp);
  ++warp.block->cluster->events;
  checkClusterBarrier(*warp.block->cluster);
  return Step::Repick;
}

/// Detaches the lanes of |mask| from the current group as a group of their own,
/// which becomes current; the rest goes on behind the instruction.
static Group &splitCurrent(Warp &warp, uint32_t mask) {
  Group &group = warp.groups[warp.current];
  uint32_t rest = group.mask & ~mask;
  uint32_t next = group.pc + 1;
  unsigned depth = group.depth;
  group.mask = mask;
  if (rest)
    addGroup(warp, rest, next, depth);
  return warp.groups[warp.current];
}

static Step executeCall(Warp &warp, const Inst &inst, uint32_t mask) {
  if (mask == 0) {
    ++warp.groups[warp.current].pc;
    return Step::Continue;
  }
  Group &group = splitCurrent(warp, mask);
  const CallOp &call = warp.program->calls[inst.aux];
  // What a call before this one left there means nothing.
  forLanes(mask, [&](unsigned l) {
    warp.block->localWritten.assign(warp.block->localPlace(warp.localOf(l)) + call.localBegin,
                                    call.localEnd - call.localBegin, false);
  });
  copySlots(warp, call.arguments, mask);
  resetUnwritten(warp, call.trackedBegin, call.trackedEnd, mask);
  forLanes(mask, [&](unsigned l) { warp.returns[group.depth * kWarpSize + l] = group.pc + 1; });
  ++group.depth;
  group.pc = static_cast<uint32_t>(inst.imm);
  return Step::Repick;
}

static Step executeReturn(Warp &warp, uint32_t mask) {
  if (mask == 0) {
    ++warp.groups[warp.current].pc;
    return Step::Continue;
  }
  splitCurrent(warp, mask);
  Group group = warp.groups[warp.current];
  warp.groups.erase(warp.groups.begin() + warp.current);
  const uint32_t *returns = &warp.returns[(group.depth - 1u) * kWarpSize];
  while (mask) {
    uint32_t target = returns[__builtin_ctz(mask)], same = 0;
    forLanes(mask, [&](unsigned l) { same |= static_cast<uint32_t>(returns[l] == target) << l; });
    addGroup(warp, same, target, group.depth - 1u);
    mask &= ~same;
  }
  return Step::Repick;
}

/// Pointers into shared and local memory become host pointers for host
/// functions.
static void translatePointers(Warp &warp, unsigned lane, const ExternCall &call,
                              std::vector<uint8_t> &arguments) {
  for (const SlotCopy &copy : call.arguments) {
    uint64_t value = 0;
    if (copy.bytes != 8)
      continue;
    std::memcpy(&value, arguments.data() + copy.to, 8);
    uint64_t window = value & kWindowMask, offset = value & ~kWindowMask;
    if (window == kLocalWindow && offset < warp.program->localBytes)
      value = reinterpret_cast<uint64_t>(warp.localOf(lane) + offset);
    else if (window == kSharedWindow && offset < warp.block->sharedBytes)
      value = reinterpret_cast<uint64_t>(warp.block->shared.data() + offset);
    std::memcpy(arguments.data() + copy.to, &value, 8);
  }
}

static Step executeExternCall(Warp &warp, const Inst &inst, uint32_t mask) {
  const ExternCall &call = warp.program->externs[inst.aux];
  std::vector<uint8_t> arguments(call.argumentBytes + 1);
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    auto lane = static_cast<unsigned>(__builtin_ctz(rest));
    uint8_t *local = warp.localOf(lane);
    for (const SlotCopy &copy : call.arguments)
      std::memcpy(arguments.data() + copy.to, local + copy.from, copy.bytes);
    translatePointers(warp, lane, call, arguments);
    bool isAssert = call.name == "__assertfail";
    uint8_t *result = call.resultBytes ? local + call.resultSlot : nullptr;
    if (isAssert || !call.function(arguments.data(), result)) {
      warp.block->raise(isAssert ? FaultKind::Assert : FaultKind::Trap, warp, lane, inst, 0,
                        isAssert ? describeAssert(*warp.block, arguments)
                                 : "'" + call.name + "' failed");
      return Step::Repick;
    }
    if (result)
      warp.block->localWritten.set(warp.block->localPlace(result), call.resultBytes);
  }
  ++warp.groups[warp.current].pc;
  return Step::Continue;
}

/// Runs a .sync instruction for those lanes whose members have all come; the
/// others wait.
static Step executeWarpSync(Warp &warp, const Inst &inst, uint32_t mask) {
  Group &group = warp.groups[warp.current];
  // Lanes that wait here already join in.
  for (size_t i = 0; i < warp.groups.size(); ++i) {
    Group &other = warp.groups[i];
    if (i == warp.current || other.state != Group::WaitSync || other.pc != group.pc ||
        other.depth != group.depth)
      continue;
    other.state = Group::Ready;
    mask |= other.mask;
    group.mask |= other.mask;
    other.mask = 0;
  }
  auto empty = [](const Group &g) { return g.mask == 0; };
  uint32_t pc = group.pc;
  unsigned depth = group.depth;
  uint32_t all = group.mask;
  const uint32_t *members = warp.row<uint32_t>(inst.sync);
  uint32_t done = all & ~mask;
  for (uint32_t rest = mask; rest;) {
    auto lane = static_cast<unsigned>(__builtin_ctz(rest));
    uint32_t wanted = members[lane], same = 0;
    forLanes(rest, [&](unsigned l) { same |= static_cast<uint32_t>(members[l] == wanted) << l; });
    rest &= ~same;
    if (same & ~wanted) {
      auto stranger = static_cast<unsigned>(__builtin_ctz(same & ~wanted));
      warp.block->raise(FaultKind::IllegalInstruction, warp, stranger, inst, 0,
                        "lane " + std::to_string(stranger) + " is not in its own member mask " +
                            hex(wanted));
      return Step::Repick;
    }
    if (wanted & warp.live & ~same)
      continue;
    if (inst.unwritten && !checkUnwritten(warp, inst, same, same))
      return Step::Repick;
    inst.fn(warp, inst, same);
    done |= same;
  }
  warp.groups.erase(std::remove_if(warp.groups.begin(), warp.groups.end(), empty),
                    warp.groups.end());
  for (size_t i = 0; i < warp.groups.size(); ++i)
    if (warp.groups[i].mask == all)
      warp.current = static_cast<unsigned>(i);
  Group &current = warp.groups[warp.current];
  if (done == all) {
    ++current.pc;
    return Step::Continue;
  }
  current.mask = all & ~done;
  current.state = Group::WaitSync;
  if (done)
    addGroup(warp, done, pc + 1, depth);
  return Step::Repick;
}

static Step executeControl(Warp &warp, const Inst &inst, uint32_t mask) {
  switch (inst.control) {
  case Control::Branch:
    return executeBranch(warp, inst, mask);
  case Control::BranchIndexed:
    return executeBranchIndexed(warp, inst, mask);
  case Control::Call:
    return executeCall(warp, inst, mask);
  case Control::CallExtern:
    return executeExternCall(warp, inst, mask);
  case Control::Return:
    return executeReturn(warp, mask);
  case Control::Exit:
    return executeExit(warp, mask);
  case Control::Barrier:
    return executeBarrier(warp, inst, mask);
  case Control::WarpSync:
    return executeWarpSync(warp, inst, mask);
  case Control::PhaseWait:
    if (mask)
      return executePhaseWait(warp, inst, mask);
    ++warp.groups[warp.current].pc;
    return Step::Continue;
  case Control::ClusterBarrier:
    return executeClusterBarrier(warp, inst, mask);
  case Control::ProductWait:
    return executeProductWait(warp, inst, mask);
  case Control::Trap:
    if (mask)
      warp.block->raise(FaultKind::Trap, warp, static_cast<unsigned>(__builtin_ctz(mask)), inst, 0,
                        "the kernel executed a trap");
    else
      ++warp.groups[warp.current].pc;
    return mask ? Step::Repick : Step::Continue;
  case Control::None:
    break;
  }
  return Step::Repick;
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

/// Checks what an instruction does with registers that are watched; false after a fault. What
/// lanes execute together is checked when all of them have come.
static bool checkWatched(Warp &warp, const Inst &inst, uint32_t lanes, uint32_t mask) {
  if (inst.touches && mask && warp.block->launch->options.checks.asyncCopy &&
      !checkTouches(warp, inst, mask))
    return false;
  return !inst.unwritten || inst.control == Control::WarpSync ||
         checkUnwritten(warp, inst, lanes, mask);
}

/// Runs the current group until it waits, parts, or has had its share. Returns
/// the number of warp-instructions executed.
static unsigned runGroup(Warp &warp, unsigned share) {
  Block &block = *warp.block;
  const Inst *code = warp.program->code.data();
  bool alone = warp.groups.size() == 1;
  uint32_t pc = warp.groups[warp.current].pc, lanes = warp.groups[warp.current].mask;
  unsigned executed = 0;
  uint64_t threadInstructions = 0, polls = block.polls;
  for (;;) {
    const Inst &inst = code[pc];
    if (inst.leader && !alone && executed > 0 && othersMatter(warp, pc)) {
      warp.groups[warp.current].pc = pc;
      break;
    }
    uint32_t mask = lanes & (warp.predicate(inst.guard) ^ inst.guardFlip);
    auto active = static_cast<unsigned>(__builtin_popcount(mask));
    ++executed;
    threadInstructions += active;
    block.classCounts[static_cast<unsigned>(inst.instClass)] += active;
    if (inst.watched && !checkWatched(warp, inst, lanes, mask))
      break;
    if (inst.control == Control::None) {
      if (mask) {
        inst.fn(warp, inst, mask);
        if (inst.mayFault && block.faulted)
          break;
      }
      ++pc;
      continue;
    }
    warp.groups[warp.current].pc = pc;
    if (executeControl(warp, inst, mask) == Step::Repick || block.faulted)
      break;
    pc = warp.groups[warp.current].pc;
    lanes = warp.groups[warp.current].mask;
    if (executed >= share || (!alone && executed >= kPollingShare && block.polls != polls)) {
      if (!alone)
        warp.groups[warp.current].demoted = true;
      break;
    }
  }
  block.executed += threadInstructions;
  block.counters.warpInstructions += executed;
  return executed;
}

static bool overLimit(Block &block, Warp &warp) {
  uint64_t limit = block.launch->options.instructionLimit;
  if (limit == 0 || block.executed < limit || warp.groups.empty())
    return false;
  const Group &group = warp.groups[warp.current < warp.groups.size() ? warp.current : 0];
  block.raise(FaultKind::Timeout, warp, static_cast<unsigned>(__builtin_ctz(group.mask)),
              warp.program->code[group.pc], 0,
              "the block has executed " + std::to_string(block.executed) + " thread-instructions");
  return true;
}

BlockStatus xc::ptxsim::runBlock(Block &block, uint64_t budget) {
  uint64_t spent = 0;
  while (block.liveThreads > 0 && spent < budget) {
    bool progress = false;
    for (Warp &warp : block.warps) {
      unsigned turn = 0;
      while (turn < kWarpShare && pickGroup(warp)) {
        progress = true;
        bool alone = warp.groups.size() == 1;
        turn += runGroup(warp, alone ? kWarpShare : kGroupShare);
        if (block.faulted || overLimit(block, warp))
          return BlockStatus::Faulted;
      }
      spent += turn;
      // What was read before is in few cells any more after a while.
      if (turn)
        sweepShared(*block.cluster);
    }
    if (block.launch->stop.load(std::memory_order_relaxed))
      return BlockStatus::Faulted;
    if (!progress)
      return BlockStatus::Stalled;
  }
  return block.liveThreads == 0 ? BlockStatus::Done : BlockStatus::Running;
}

//===----------------------------------------------------------------------===//
// Clusters
//===----------------------------------------------------------------------===//

/// When no thread of the cluster can go on: lets a copy complete, else the time of
/// waits be up, else gives in. False after a fault.
static bool resolveClusterStall(Cluster &cluster) {
  uint64_t events = cluster.events;
  if (advanceCopies(cluster))
    return true;
  auto live = [](const std::unique_ptr<Block> &block) { return block->liveThreads > 0; };
  bool faulted = false;
  for (const auto &block : cluster.blocks)
    faulted |= block->faulted;
  if (faulted)
    return false;
  // Threads whose wait has timed out and which come back with nothing changed will
  // wait for ever.
  bool timedOut = false;
  if (events != cluster.eventsAtTimeout)
    for (const auto &block : cluster.blocks)
      timedOut |= live(block) && timeOutWaiters(*block);
  cluster.eventsAtTimeout = cluster.events;
  if (timedOut)
    return true;
  for (const auto &block : cluster.blocks)
    if (live(block) && resolveStall(*block))
      return !block->faulted;
  for (const auto &block : cluster.blocks)
    if (live(block)) {
      raiseHang(*block);
      return false;
    }
  return true;
}

BlockStatus xc::ptxsim::runCluster(Cluster &cluster, uint64_t budget) {
  auto spent = [&] {
    uint64_t total = 0;
    for (const auto &block : cluster.blocks)
      total += block->counters.warpInstructions;
    return total;
  };
  uint64_t end = spent() + budget;
  for (;;) {
    bool alive = false, running = false, progress = false;
    for (const auto &block : cluster.blocks) {
      if (block->liveThreads == 0)
        continue;
      uint64_t before = block->counters.warpInstructions;
      BlockStatus status = runBlock(*block, budget);
      progress |= block->counters.warpInstructions != before;
      running |= status == BlockStatus::Running;
      alive |= status != BlockStatus::Done;
      if (status == BlockStatus::Faulted ||
          (status == BlockStatus::Done && (!finishCopies(*block) || !finishWarpgroups(*block))))
        return BlockStatus::Faulted;
    }
    if (!alive)
      return BlockStatus::Done;
    uint64_t events = cluster.events;
    if (!maybeAdvanceCopies(cluster))
      return BlockStatus::Faulted;
    progress |= cluster.events != events;
    if (!progress && !resolveClusterStall(cluster))
      return BlockStatus::Faulted;
    if (spent() >= end) {
      // Some may poll for what a copy brings.
      if (running)
        advanceCopies(cluster);
      return BlockStatus::Running;
    }
  }
}
