//===- ExecSync.cpp - Barriers and fences ---------------------------------===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// bar and barrier are decoded here and executed by the scheduler (Barrier.cpp).
//
//===----------------------------------------------------------------------===//

#include "Exec.h"

using namespace xc::ptxsim;

static void execFence(Warp &warp, const Inst &inst, uint32_t mask) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  BlockClocks *clocks = warp.block->clocks.get();
  if (!clocks)
    return;
  auto scope = static_cast<MemScope>(inst.aux);
  forLanes(mask, [&](unsigned l) { clocks->fence(warp.threadOf(l), scope); });
}

/// Makes the mbarriers that these threads have initialised visible to copies. Operations on
/// mbarriers take place in order here, so nothing else is to be done.
static void execFenceMbarriers(Warp &warp, const Inst &, uint32_t mask) {
  if (warp.block->hiddenMbarriers)
    forLanes(mask, [&](unsigned l) { fenceMbarriers(*warp.block, warp.threadOf(l)); });
}

static void execFenceProxy(Warp &warp, const Inst &inst, uint32_t mask) {
  execFenceMbarriers(warp, inst, mask);
  if (BlockClocks *clocks = warp.block->clocks.get())
    forLanes(mask, [&](unsigned l) { clocks->fenceProxy(warp.threadOf(l)); });
}

static bool decodeMembar(InstDecoder &d) {
  MemScope scope;
  if (d.flag("cta")) {
    scope = MemScope::Cta;
    d.program().narrowScopes = true;
  } else if (d.flag("gl"))
    scope = MemScope::Gpu;
  else if (d.flag("sys"))
    scope = MemScope::Sys;
  else
    return d.fail("expected .cta, .gl or .sys");
  d.out.fn = execFence;
  d.out.instClass = InstClass::Sync;
  d.out.aux = static_cast<uint32_t>(scope);
  return d.expectOperands(0);
}

static bool decodeFence(InstDecoder &d) {
  if (d.flag("proxy")) {
    // Aliases of an address are one address here; copies of global memory see all.
    bool alias = d.flag("alias"), async = d.flag("async"), global = async && d.flag("global");
    if (alias == async)
      return d.fail("expected .alias or .async");
    if (async && !global && !d.flag("shared::cta"))
      d.flag("shared::cluster");
    d.out.fn = alias || global ? [](Warp &, const Inst &, uint32_t) {} : execFenceProxy;
    d.out.instClass = InstClass::Sync;
    return d.expectOperands(0);
  }
  if (d.flag("mbarrier_init")) {
    if (!d.flag("release") || !d.flag("cluster"))
      return d.fail("expected .release.cluster");
    d.out.fn = execFenceMbarriers;
    d.out.instClass = InstClass::Sync;
    return d.expectOperands(0);
  }
  if (!d.flag("sc") && !d.flag("acq_rel") && !d.flag("acquire") && !d.flag("release"))
    return d.fail("expected .sc, .acq_rel, .acquire, .release or .proxy");
  MemScope scope = d.takeScope();
  if (scope == MemScope::None)
    return d.fail("expected a scope");
  d.out.fn = execFence;
  d.out.instClass = InstClass::Sync;
  d.out.aux = static_cast<uint32_t>(scope);
  return d.expectOperands(0);
}

/// bar.warp.sync orders the memory accesses of its members.
static void execWarpBarrier(Warp &warp, const Inst &, uint32_t mask) {
  BlockClocks *clocks = warp.block->clocks.get();
  if (!clocks)
    return;
  ClockJoin join;
  forLanes(mask, [&](unsigned l) { clocks->arrive(join, warp.threadOf(l)); });
  forLanes(mask, [&](unsigned l) { clocks->depart(join, warp.threadOf(l)); });
}

static bool decodeWarpBarrier(InstDecoder &d) {
  if (!d.flag("sync") || !d.expectOperands(1))
    return d.failed() ? false : d.fail("expected .sync");
  d.out.control = Control::WarpSync;
  d.out.instClass = InstClass::Sync;
  d.out.fn = execWarpBarrier;
  d.out.sync = d.src(0u, Type::B32);
  return !d.failed();
}

/// Takes the operands a[, b] from |index|.
static bool takeBarrier(InstDecoder &d, unsigned index, unsigned end, BarrierOp &op) {
  op.id = d.src(index, Type::U32);
  if (end > index + 1)
    op.count = d.src(index + 1, Type::U32);
  return !d.failed();
}

static bool decodeBarrierRed(InstDecoder &d, BarrierOp &op) {
  bool popc = d.flag("popc"), all = d.flag("and"), any = d.flag("or");
  Type type = d.takeType();
  if (d.failed() || popc + all + any != 1 || type != (popc ? Type::U32 : Type::Pred))
    return d.failed() ? false : d.fail("expected .popc.u32, .and.pred or .or.pred");
  if (!d.expectOperands(3, 4))
    return false;
  op.kind = popc ? BarrierKind::RedPopc : all ? BarrierKind::RedAnd : BarrierKind::RedOr;
  op.dst = popc ? d.dst(0u, Type::U32) : d.dstPredicate(d.operand(0));
  PredicateRef p = d.predicate(d.operandCount() - 1);
  op.predicate = p.row;
  op.predicateFlip = p.flip;
  return takeBarrier(d, 1, d.operandCount() - 1, op);
}

/// bar.* is the aligned form of barrier.*; each has one more kind.
static bool decodeBarrier(InstDecoder &d, bool aligned) {
  const bool isShort = aligned;
  if (isShort && d.flag("warp"))
    return decodeWarpBarrier(d);
  if (!isShort && d.flag("cluster"))
    return decodeClusterBarrier(d);
  d.flag("cta");
  BarrierOp op;
  bool sync = d.flag("sync"), arrive = d.flag("arrive"), red = d.flag("red");
  if (sync + arrive + red != 1)
    return d.fail("expected one of .sync, .arrive, .red");
  if (!isShort && d.flag("aligned"))
    aligned = true;
  if (red) {
    if (!decodeBarrierRed(d, op))
      return false;
  } else {
    op.kind = sync ? BarrierKind::Sync : BarrierKind::Arrive;
    if (!d.expectOperands(arrive ? 2 : 1, 2) || !takeBarrier(d, 0, d.operandCount(), op))
      return false;
  }
  d.out.control = Control::Barrier;
  d.out.instClass = InstClass::Sync;
  d.out.aligned = aligned;
  d.out.aux = static_cast<uint32_t>(d.program().barriers.size());
  d.program().barriers.push_back(op);
  return true;
}

void xc::ptxsim::addSyncOpcodes(OpcodeTable &table) {
  table["bar"] = [](InstDecoder &d) { return decodeBarrier(d, true); };
  table["barrier"] = [](InstDecoder &d) { return decodeBarrier(d, false); };
  table["membar"] = decodeMembar;
  table["fence"] = decodeFence;
}
