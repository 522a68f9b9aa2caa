//===- ExecCluster.cpp - Clusters, and what warpgroups and grids agree on -===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// mapa, getctarank, barrier.cluster, setmaxnreg, griddepcontrol.
//
//===----------------------------------------------------------------------===//

#include "Exec.h"

#include <algorithm>

using namespace xc::ptxsim;

static bool fail(Warp &warp, unsigned lane, const Inst &inst, std::string message) {
  warp.block->raise(FaultKind::IllegalInstruction, warp, lane, inst, 0, std::move(message));
  return false;
}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

/// The rank in an address is a plus one; an address without one is the block's own.
template <typename T> static void execMapa(Warp &warp, const Inst &inst, uint32_t mask) {
  T *d = warp.row<T>(inst.dst);
  const T *a = warp.row<T>(inst.a);
  const uint32_t *rank = warp.row<uint32_t>(inst.b);
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    auto l = static_cast<unsigned>(__builtin_ctz(rest));
    if (rank[l] >= warp.block->cluster->blocks.size()) {
      fail(warp, l, inst,
           "expected a rank below the cluster's " +
               std::to_string(warp.block->cluster->blocks.size()) + " blocks, got " +
               std::to_string(rank[l]));
      return;
    }
    T place = a[l] & ((T(1) << kRankShift) - 1);
    T window = sizeof(T) == 8 && inst.imm ? static_cast<T>(kSharedWindow) : 0;
    d[l] = window | static_cast<T>(rank[l] + 1) << kRankShift | place;
  }
}

static void execRank(Warp &warp, const Inst &inst, uint32_t mask) {
  uint32_t *d = warp.row<uint32_t>(inst.dst);
  forLanes(mask, [&](unsigned l) {
    uint64_t address = inst.b ? warp.row<uint64_t>(inst.a)[l] : warp.row<uint32_t>(inst.a)[l];
    auto rank = static_cast<uint32_t>((address & ~kWindowMask) >> kRankShift);
    d[l] = rank ? rank - 1 : warp.block->rank;
  });
}

/// Types .u32 and .u64; without a space the address is generic.
static bool decodeAddress(InstDecoder &d, bool isMapa) {
  Space space = d.takeSpace(Space::Generic);
  Type type = d.takeType();
  if (d.failed() || !d.expectOperands(isMapa ? 3 : 2))
    return false;
  if ((space != Space::Generic && space != Space::SharedCluster) ||
      (type != Type::U32 && type != Type::U64) || (space == Space::Generic && type != Type::U64))
    return d.fail("expected .shared::cluster and .u32 or .u64, or .u64 alone");
  bool wide = type == Type::U64;
  d.out.mayFault = true;
  d.out.a = d.src(1, type);
  if (!isMapa) {
    d.out.fn = execRank;
    d.out.dst = d.dst(0u, 32);
    d.out.b = wide;
    return !d.failed();
  }
  d.out.fn = wide ? execMapa<uint64_t> : execMapa<uint32_t>;
  d.out.dst = d.dst(0u, type);
  d.out.b = d.src(2, Type::U32);
  d.out.imm = space == Space::Generic;
  return !d.failed();
}

//===----------------------------------------------------------------------===//
// The cluster's barrier
//===----------------------------------------------------------------------===//

void xc::ptxsim::checkClusterBarrier(Cluster &cluster) {
  uint32_t live = 0;
  for (const auto &block : cluster.blocks)
    live += block->liveThreads;
  if (cluster.arrived == 0 || cluster.arrived < live)
    return;
  cluster.arrived = 0;
  ++cluster.phase;
  ++cluster.events;
  for (size_t i = 0; i < cluster.blocks.size(); ++i) {
    Block &block = *cluster.blocks[i];
    cluster.passed[i] = cluster.joins[i].finish();
    ++block.counters.barriers;
    for (Warp &warp : block.warps)
      for (Group &group : warp.groups)
        if (group.state == Group::WaitCluster)
          group.state = Group::Ready;
  }
}

static bool arriveAtCluster(Warp &warp, const Inst &inst, uint32_t mask) {
  Block &block = *warp.block;
  Cluster &cluster = *block.cluster;
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    auto l = static_cast<unsigned>(__builtin_ctz(rest));
    uint32_t thread = warp.threadOf(l);
    if (block.clusterPhase[thread])
      return fail(warp, l, inst, "arrives at the cluster's barrier a second time before waiting");
    block.clusterPhase[thread] = cluster.phase + 1;
    for (size_t i = 0; inst.aux && block.clocks && i < cluster.blocks.size(); ++i)
      cluster.joins[i].arrive(*block.clocks, thread, *cluster.blocks[i]->clocks);
  }
  cluster.arrived += static_cast<uint32_t>(__builtin_popcount(mask));
  ++cluster.events;
  checkClusterBarrier(cluster);
  return true;
}

/// Lanes of |mask| whose phase has completed.
static uint32_t releasedLanes(Warp &warp, const Inst &inst, uint32_t mask) {
  Block &block = *warp.block;
  Cluster &cluster = *block.cluster;
  uint32_t released = 0;
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    auto l = static_cast<unsigned>(__builtin_ctz(rest));
    uint64_t &arrived = block.clusterPhase[warp.threadOf(l)];
    if (arrived == 0) {
      fail(warp, l, inst, "waits at the cluster's barrier without having arrived");
      return 0;
    }
    if (cluster.phase < arrived)
      continue;
    arrived = 0;
    released |= 1u << l;
    if (inst.aux && block.clocks && cluster.passed[block.rank])
      block.clocks->learnPhase(warp.threadOf(l), *cluster.passed[block.rank]);
  }
  return released;
}

Step xc::ptxsim::executeClusterBarrier(Warp &warp, const Inst &inst, uint32_t mask) {
  if (mask && inst.aligned && !gatherWarp(warp, mask))
    return Step::Repick;
  Group current = warp.groups[warp.current];
  if (inst.imm == 0) {
    if (mask && !arriveAtCluster(warp, inst, mask))
      return Step::Repick;
    ++warp.groups[warp.current].pc;
    // Others may have become ready.
    return Step::Repick;
  }
  uint32_t released = mask ? releasedLanes(warp, inst, mask) : 0;
  uint32_t rest = mask & ~released;
  if (warp.block->faulted)
    return Step::Repick;
  if (rest == 0) {
    ++warp.groups[warp.current].pc;
    return Step::Continue;
  }
  Group &group = warp.groups[warp.current];
  group.mask = rest;
  group.state = Group::WaitCluster;
  if (uint32_t others = current.mask & ~rest)
    addGroup(warp, others, current.pc + 1, current.depth);
  return Step::Repick;
}

/// After barrier.cluster.
bool xc::ptxsim::decodeClusterBarrier(InstDecoder &d) {
  bool arrive = d.flag("arrive"), wait = d.flag("wait");
  if (arrive + wait != 1)
    return d.fail("expected .arrive or .wait");
  bool relaxed = arrive && d.flag("relaxed");
  d.flag(arrive ? "release" : "acquire");
  d.out.aligned = d.flag("aligned");
  d.out.control = Control::ClusterBarrier;
  d.out.instClass = InstClass::Sync;
  d.out.imm = wait;
  d.out.aux = !relaxed;
  return d.expectOperands(0);
}

//===----------------------------------------------------------------------===//
// setmaxnreg, griddepcontrol
//===----------------------------------------------------------------------===//

static void execRegisters(Warp &warp, const Inst &inst, uint32_t mask) {
  Block &block = *warp.block;
  if (mask != kFullMask || (warp.index / 4 + 1) * 128 > block.threads) {
    fail(warp, static_cast<unsigned>(__builtin_ctz(mask)), inst,
         "expected all threads of a warpgroup of 128");
    return;
  }
  Warpgroup &group = block.warpgroups[warp.index / 4];
  uint32_t number = warp.registerSteps++;
  if (number == group.registerSteps.size())
    group.registerSteps.push_back({&inst, 0});
  auto &step = group.registerSteps[number];
  if (step.first != &inst) {
    fail(warp, 0, inst,
         "the warps of a warpgroup must execute the same setmaxnreg: another warp "
         "has executed the one at PTX line " +
             std::to_string(lineOf(block, *step.first)));
    return;
  }
  if (++step.second < 4)
    return;
  auto count = static_cast<uint32_t>(inst.imm);
  if (group.registers && (inst.aux ? count < group.registers : count > group.registers)) {
    fail(warp, 0, inst,
         std::string(inst.aux ? "increases to " : "decreases to ") + std::to_string(count) +
             " registers from " + std::to_string(group.registers));
    return;
  }
  group.registers = count;
}

/// Registers of each thread when the block starts: what ptxas gives a kernel with setmaxnreg, as
/// many as its blocks have room for.
static uint32_t countLaunchRegisters(const Block &block, const Program &program) {
  if (program.maxRegisters)
    return program.maxRegisters / 8 * 8;
  uint32_t blocks = std::max<uint32_t>(program.minBlocksPerSM, 1);
  uint32_t most = archLimits(block.launch->options.arch).registersPerSM / (blocks * block.threads);
  return std::min<uint32_t>(most, 255) / 8 * 8;
}

/// An increase waits until other warpgroups of the block have given up as many registers: for ever,
/// if they do not.
static bool checkRegisterPool(Block &block) {
  uint32_t atLaunch = countLaunchRegisters(block, *block.warps[0].program);
  uint32_t pool = atLaunch * block.threads, total = 0, grouped = 0;
  const Warpgroup *largest = nullptr;
  for (const Warpgroup &group : block.warpgroups) {
    if (group.registers == 0)
      continue;
    total += group.registers * 128;
    grouped += 128;
    if (!largest || group.registers > largest->registers)
      largest = &group;
  }
  total += (block.threads - grouped) * atLaunch;
  if (!largest || total <= pool)
    return true;
  auto number = static_cast<size_t>(largest - block.warpgroups.data());
  return fail(block.warps[number * 4], 0, *largest->registerSteps.back().first,
              "the warpgroups would have " + std::to_string(total) + " registers, of " +
                  std::to_string(pool) + " that the block has: " + std::to_string(atLaunch) +
                  " a thread when it starts");
}

bool xc::ptxsim::finishWarpgroups(Block &block) {
  for (size_t g = 0; g < block.warpgroups.size(); ++g) {
    const Warpgroup &group = block.warpgroups[g];
    if (!group.products.empty() && block.launch->options.checks.asyncCopy) {
      block.raise(FaultKind::AsyncCopy, block.warps[g * 4], 0, *group.products.front().inst, 0,
                  "the block exits before all warps of warpgroup " + std::to_string(g) +
                      " have waited for this wgmma");
      return false;
    }
    for (const auto &step : block.warpgroups[g].registerSteps)
      if (step.second < 4)
        return fail(block.warps[g * 4], 0, *step.first,
                    "only " + std::to_string(step.second) + " of the four warps of warpgroup " +
                        std::to_string(g) + " have executed this setmaxnreg");
  }
  return checkRegisterPool(block);
}

static bool decodeSetMaxRegisters(InstDecoder &d) {
  bool increase = d.flag("inc"), decrease = d.flag("dec");
  if (increase + decrease != 1 || !d.flag("sync") || !d.flag("aligned") ||
      d.takeType() != Type::U32)
    return d.failed() ? false : d.fail("expected .inc or .dec, and .sync.aligned.u32");
  if (!d.expectOperands(1) || !d.immediate(0, d.out.imm))
    return false;
  if (d.out.imm < 24 || d.out.imm > 256 || d.out.imm % 8)
    return d.fail("expected a multiple of 8 from 24 to 256, got " + std::to_string(d.out.imm));
  d.out.control = Control::WarpSync;
  d.out.sync = d.constantRow(kFullMask, 4);
  d.out.instClass = InstClass::Sync;
  d.out.mayFault = true;
  d.out.fn = execRegisters;
  d.out.aux = increase;
  return true;
}

/// What a dependent launch waits for has happened, since kernels that are ordered in any
/// way run one after another here. For the race check it counts from the wait on.
static void execGridWait(Warp &warp, const Inst &, uint32_t mask) {
  if (BlockClocks *clocks = warp.block->clocks.get())
    forLanes(mask, [&](unsigned l) { clocks->waitForTasks(warp.threadOf(l)); });
}

static bool decodeGridControl(InstDecoder &d) {
  bool wait = d.flag("wait");
  if (!wait && !d.flag("launch_dependents"))
    return d.fail("expected .wait or .launch_dependents");
  d.out.fn = [](Warp &, const Inst &, uint32_t) {};
  if (wait)
    d.out.fn = execGridWait;
  d.out.instClass = InstClass::Sync;
  return d.expectOperands(0);
}

void xc::ptxsim::addClusterOpcodes(OpcodeTable &table) {
  table["mapa"] = [](InstDecoder &d) { return decodeAddress(d, true); };
  table["getctarank"] = [](InstDecoder &d) { return decodeAddress(d, false); };
  table["setmaxnreg"] = decodeSetMaxRegisters;
  table["griddepcontrol"] = decodeGridControl;
}
