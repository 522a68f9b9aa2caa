//===- Barrier.cpp - Named barriers of a block ----------------------------===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Exec.h"

#include <algorithm>

using namespace xc::ptxsim;

static constexpr unsigned kBarrierCount = 16;

/// Writes the result of bar.red to the lanes of |mask|.
static void writeReduction(Warp &warp, const BarrierOp &op, uint32_t mask, uint32_t count,
                           uint32_t total) {
  if (op.kind == BarrierKind::RedPopc) {
    uint32_t *d = warp.row<uint32_t>(op.dst);
    forLanes(mask, [&](unsigned l) { d[l] = count; });
  } else if (op.kind == BarrierKind::RedAnd || op.kind == BarrierKind::RedOr) {
    bool value = op.kind == BarrierKind::RedAnd ? count == total : count > 0;
    uint32_t &d = warp.predicate(op.dst);
    d = value ? d | mask : d & ~mask;
  }
}

/// Lets everybody who waits at barrier |id| go on.
static void completeBarrier(Block &block, unsigned id) {
  BarrierState &state = block.barriers[id];
  for (Warp &warp : block.warps) {
    for (Group &group : warp.groups) {
      if (group.state != Group::WaitBarrier || group.barrier != id)
        continue;
      const Inst &inst = warp.program->code[group.pc];
      writeReduction(warp, warp.program->barriers[inst.aux], group.mask, state.predicateCount,
                     state.arrived);
      if (block.clocks)
        forLanes(group.mask,
                 [&](unsigned l) { block.clocks->depart(state.join, warp.threadOf(l)); });
      group.state = Group::Ready;
      ++group.pc;
    }
  }
  if (block.clocks && state.wholeBlock)
    block.clocks->settle(state.join);
  ++block.counters.barriers;
  state.arrived = state.expected = state.predicateCount = 0;
  state.join.reset();
}

static bool fail(Warp &warp, const Inst &inst, unsigned lane, std::string message) {
  warp.block->raise(FaultKind::IllegalInstruction, warp, lane, inst, 0, std::move(message));
  return false;
}

/// Reads a barrier's operands, which must be the same in all lanes.
static bool readOperands(Warp &warp, const Inst &inst, const BarrierOp &op, uint32_t mask,
                         unsigned &id, uint32_t &count) {
  auto first = static_cast<unsigned>(__builtin_ctz(mask));
  id = warp.row<uint32_t>(op.id)[first];
  count = op.count == kNoRow ? 0 : warp.row<uint32_t>(op.count)[first];
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    auto l = static_cast<unsigned>(__builtin_ctz(rest));
    if (warp.row<uint32_t>(op.id)[l] != id ||
        (op.count != kNoRow && warp.row<uint32_t>(op.count)[l] != count))
      return fail(warp, inst, l, "the barrier's number or count differs between lanes");
  }
  if (id >= kBarrierCount)
    return fail(warp, inst, first, "expected a barrier below 16, got " + std::to_string(id));
  if (op.count != kNoRow && (count == 0 || count % kWarpSize != 0))
    return fail(warp, inst, first,
                "expected a thread count that is a multiple of 32, got " + std::to_string(count));
  return true;
}

/// The lanes of |mask| arrive; |waits| says whether they stay.
static Step arrive(Warp &warp, const Inst &inst, uint32_t mask) {
  Block &block = *warp.block;
  const BarrierOp &op = warp.program->barriers[inst.aux];
  unsigned id = 0;
  uint32_t count = 0;
  if (!readOperands(warp, inst, op, mask, id, count))
    return Step::Repick;
  BarrierState &state = block.barriers[id];
  bool wholeBlock = op.count == kNoRow;
  uint32_t expected = wholeBlock ? block.threads : count;
  if (state.expected && (state.expected != expected || state.wholeBlock != wholeBlock)) {
    fail(warp, inst, static_cast<unsigned>(__builtin_ctz(mask)),
         "barrier " + std::to_string(id) + " expects " + std::to_string(state.expected) +
             " threads, this thread " + std::to_string(expected));
    return Step::Repick;
  }
  bool reduces = op.kind != BarrierKind::Sync && op.kind != BarrierKind::Arrive;
  if (state.expected && state.reduces != reduces) {
    fail(warp, inst, static_cast<unsigned>(__builtin_ctz(mask)),
         "barrier " + std::to_string(id) +
             " is one of bar.sync or bar.arrive for some threads and "
             "of bar.red for others");
    return Step::Repick;
  }
  state.expected = expected;
  state.wholeBlock = wholeBlock;
  state.reduces = reduces;
  // Explicit counts are in warps: a last warp that is not full counts as one.
  bool fullWarp = mask == warp.allLanes;
  state.arrived +=
      !wholeBlock && fullWarp ? kWarpSize : static_cast<uint32_t>(__builtin_popcount(mask));
  if (state.arrived > expected) {
    fail(warp, inst, static_cast<unsigned>(__builtin_ctz(mask)),
         "barrier " + std::to_string(id) + " expects " + std::to_string(expected) +
             " threads, and this warp is one too many: " + std::to_string(state.arrived) +
             " have come");
    return Step::Repick;
  }
  if (op.predicate != kNoRow)
    state.predicateCount += static_cast<uint32_t>(
        __builtin_popcount((warp.predicate(op.predicate) ^ op.predicateFlip) & mask));
  if (block.clocks)
    forLanes(mask, [&](unsigned l) { block.clocks->arrive(state.join, warp.threadOf(l)); });
  Group &group = warp.groups[warp.current];
  if (op.kind == BarrierKind::Arrive) {
    ++group.pc;
  } else {
    group.state = Group::WaitBarrier;
    group.barrier = static_cast<uint8_t>(id);
  }
  if (state.arrived >= expected)
    completeBarrier(block, id);
  return Step::Repick;
}

bool xc::ptxsim::gatherWarp(Warp &warp, uint32_t &mask) {
  if (mask == warp.live)
    return true;
  Group &group = warp.groups[warp.current];
  for (size_t i = 0; i < warp.groups.size(); ++i) {
    Group &other = warp.groups[i];
    if (i == warp.current || other.state != Group::WaitAligned || other.pc != group.pc ||
        other.depth != group.depth)
      continue;
    group.mask |= other.mask;
    other.mask = 0;
  }
  mask = group.mask;
  uint32_t pc = group.pc;
  warp.groups.erase(std::remove_if(warp.groups.begin(), warp.groups.end(),
                                   [](const Group &g) { return g.mask == 0; }),
                    warp.groups.end());
  for (size_t i = 0; i < warp.groups.size(); ++i)
    if (warp.groups[i].mask == mask && warp.groups[i].pc == pc)
      warp.current = static_cast<unsigned>(i);
  if (mask == warp.live)
    return true;
  warp.groups[warp.current].state = Group::WaitAligned;
  return false;
}

Step xc::ptxsim::executeBarrier(Warp &warp, const Inst &inst, uint32_t mask) {
  {
    Group &group = warp.groups[warp.current];
    if (mask == 0) {
      ++group.pc;
      return Step::Continue;
    }
    if (mask != group.mask) {
      uint32_t rest = group.mask & ~mask, next = group.pc + 1;
      group.mask = mask;
      addGroup(warp, rest, next, group.depth);
    }
  }
  if (inst.aligned && !gatherWarp(warp, mask))
    return Step::Repick;
  return arrive(warp, inst, mask);
}

//===----------------------------------------------------------------------===//
// Stalls
//===----------------------------------------------------------------------===//

static std::string lanesText(const Block &block, const Warp &warp, uint32_t mask) {
  auto first = static_cast<unsigned>(__builtin_ctz(mask));
  return std::to_string(__builtin_popcount(mask)) + " threads, the first " +
         describeThread(block, warp.threadOf(first));
}

/// An aligned barrier that part of a warp has reached, when nobody else can go
/// on.
static void resolveAligned(Block &block, Warp &warp, size_t index) {
  Group &group = warp.groups[index];
  const Inst &inst = warp.program->code[group.pc];
  auto lane = static_cast<unsigned>(__builtin_ctz(group.mask));
  if (block.launch->options.checks.barrierDivergence || inst.control != Control::Barrier) {
    uint32_t missing = warp.live & ~group.mask;
    block.raise(FaultKind::BarrierDivergence, warp, lane, inst, 0,
                "only " + lanesText(block, warp, group.mask) +
                    ", of the warp have reached this instruction; " +
                    lanesText(block, warp, missing ? missing : group.mask) + ", are elsewhere");
    return;
  }
  group.state = Group::Ready;
  warp.current = static_cast<unsigned>(index);
  arrive(warp, inst, group.mask);
}

static void raiseBarrier(Block &block, unsigned id, FaultKind kind, const std::string &message,
                         const std::vector<std::string> &details = {}) {
  for (Warp &warp : block.warps)
    for (Group &group : warp.groups)
      if (group.state == Group::WaitBarrier && group.barrier == id) {
        block.raise(kind, warp, static_cast<unsigned>(__builtin_ctz(group.mask)),
                    warp.program->code[group.pc], 0, message, details);
        return;
      }
}

bool xc::ptxsim::resolveStall(Block &block) {
  for (Warp &warp : block.warps) {
    for (size_t i = 0; i < warp.groups.size(); ++i) {
      Group &group = warp.groups[i];
      if (group.state == Group::WaitAligned) {
        resolveAligned(block, warp, i);
        return true;
      }
      if (group.state == Group::WaitSync) {
        auto lane = static_cast<unsigned>(__builtin_ctz(group.mask));
        block.raise(FaultKind::BarrierDivergence, warp, lane, warp.program->code[group.pc], 0,
                    lanesText(block, warp, group.mask) +
                        ", wait for lanes of their member mask that never come");
        return true;
      }
    }
  }
  uint32_t exited = block.threads - block.liveThreads;
  for (unsigned id = 0; id < kBarrierCount; ++id) {
    BarrierState &state = block.barriers[id];
    if (!state.wholeBlock || state.expected == 0 || state.arrived + exited < state.expected)
      continue;
    if (!block.launch->options.checks.barrierDivergence) {
      completeBarrier(block, id);
      return true;
    }
    raiseBarrier(block, id, FaultKind::BarrierDivergence,
                 std::to_string(exited) +
                     " threads of the block have exited without reaching barrier " +
                     std::to_string(id));
    return true;
  }
  return false;
}

/// What the threads of |group| wait for.
static std::string waitText(const Block &block, const Warp &warp, const Group &group) {
  const InstDebug &debug = warp.program->debug[group.pc];
  std::string text = lanesText(block, warp, group.mask) + ", wait at PTX line " +
                     std::to_string(debug.line) + " (" + debug.text + ")";
  if (group.state == Group::WaitPhase) {
    const Mbarrier &barrier = block.mbarriers.at(group.mbarrier);
    text += " for phase " + std::to_string(group.phase) + " of the mbarrier at " +
            hex(group.mbarrier) + ", which is in " + barrier.describe();
  } else if (group.state == Group::WaitBarrier) {
    const BarrierState &state = block.barriers[group.barrier];
    text += " for barrier " + std::to_string(group.barrier) + ", which has " +
            std::to_string(state.arrived) + " of " + std::to_string(state.expected) + " threads";
  } else if (group.state == Group::WaitCluster) {
    text += " for other threads of the cluster";
  } else if (group.state == Group::WaitProducts) {
    text += " for the other warps of their warpgroup to issue the same products";
  }
  return text;
}

/// The warps of a block that wait at the same place, once each.
static void listWaits(const Block &block, std::vector<std::string> &lines) {
  for (const Warp &warp : block.warps)
    for (const Group &group : warp.groups)
      lines.push_back("block " + std::to_string(block.linearId) + ", warp " +
                      std::to_string(warp.index) + ": " + waitText(block, warp, group));
}

void xc::ptxsim::raiseHang(Block &block) {
  std::vector<std::string> lines;
  for (const auto &each : block.cluster->blocks)
    listWaits(*each, lines);
  for (Warp &warp : block.warps)
    for (Group &group : warp.groups)
      if (group.state != Group::WaitBarrier) {
        block.raise(FaultKind::Deadlock, warp, static_cast<unsigned>(__builtin_ctz(group.mask)),
                    warp.program->code[group.pc], group.mbarrier,
                    "no thread can go on: " + waitText(block, warp, group), std::move(lines));
        return;
      }
  for (unsigned id = 0; id < kBarrierCount && !block.faulted; ++id) {
    const BarrierState &state = block.barriers[id];
    if (state.expected)
      raiseBarrier(block, id, FaultKind::Deadlock,
                   "barrier " + std::to_string(id) + " has " + std::to_string(state.arrived) +
                       " of " + std::to_string(state.expected) +
                       " threads, and no thread of the block can go on",
                   lines);
  }
}
