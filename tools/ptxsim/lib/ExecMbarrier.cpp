//===- ExecMbarrier.cpp - mbarrier and its waits --------------------------===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The objects are in Mbarrier.cpp; here are the instructions' operands, and the
// waits, which the scheduler executes since they suspend threads.
//
//===----------------------------------------------------------------------===//

#include "Access.h"

#include <algorithm>

using namespace xc::ptxsim;

namespace {

enum class Action : uint8_t { Init, Inval, Arrive, ExpectBytes, CompleteBytes };

/// Inst::a + Inst::imm is the address.
const MbarrierOp &opOf(const Warp &warp, const Inst &inst) {
  return warp.program->mbarrierOps[inst.aux];
}

void execAction(Warp &warp, const Inst &inst, uint32_t mask, Action action) {
  const MbarrierOp &op = opOf(warp, inst);
  uint64_t addresses[kWarpSize];
  laneAddresses(warp, inst.a, op.wideAddress, inst.imm, addresses);
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    auto l = static_cast<unsigned>(__builtin_ctz(rest));
    Actor who{warp, l, inst};
    uint32_t offset = 0;
    Block *owner = sharedOwner(warp, inst, l, op.space, addresses[l], offset);
    if (!owner)
      return;
    auto operand = [&](uint32_t row, uint32_t otherwise) {
      return row == kNoRow ? otherwise : warp.row<uint32_t>(row)[l];
    };
    bool ok = true;
    uint64_t state = 0;
    switch (action) {
    case Action::Init:
      ok = initMbarrier(who, *owner, offset, operand(op.count, 1));
      break;
    case Action::Inval:
      ok = invalMbarrier(who, *owner, offset);
      break;
    case Action::ExpectBytes:
      ok = expectBytes(who, *owner, offset, operand(op.bytes, 0));
      break;
    case Action::CompleteBytes:
      ok = completeBytes(who, *owner, offset, operand(op.bytes, 0), 0);
      break;
    case Action::Arrive:
      ok = arriveAt(who, *owner, offset,
                    {operand(op.count, 1), operand(op.bytes, 0), op.drop, op.mayComplete,
                     op.order != Order::Relaxed},
                    state);
      if (ok && op.dst != kNoRow)
        warp.row<uint64_t>(op.dst)[l] = state;
      break;
    }
    if (!ok)
      return;
  }
}

template <Action kAction> void execMbarrier(Warp &warp, const Inst &inst, uint32_t mask) {
  execAction(warp, inst, mask, kAction);
}

void execPendingCount(Warp &warp, const Inst &inst, uint32_t mask) {
  const uint64_t *a = warp.row<uint64_t>(inst.a);
  uint32_t *d = warp.row<uint32_t>(inst.dst);
  forLanes(mask, [&](unsigned l) { d[l] = Mbarrier::pendingOf(a[l]); });
}

//===----------------------------------------------------------------------===//
// Waits
//===----------------------------------------------------------------------===//

void answer(Warp &warp, const Inst &inst, uint32_t mask, bool value) {
  uint32_t &d = warp.predicate(opOf(warp, inst).dst);
  d = value ? d | mask : d & ~mask;
}

/// The waiting lanes of |group| learn what the phase passes on.
void acquirePhase(Warp &warp, const Inst &inst, uint32_t mask, const Mbarrier &barrier) {
  BlockClocks *clocks = warp.block->clocks.get();
  if (!clocks || !barrier.passed || opOf(warp, inst).order == Order::Relaxed)
    return;
  forLanes(mask, [&](unsigned l) { clocks->learnPhase(warp.threadOf(l), *barrier.passed); });
}

/// The number of the phase that lane |l| asks about; false after a fault.
bool phaseOf(Warp &warp, const Inst &inst, unsigned l, uint32_t offset, const Mbarrier &barrier,
             uint64_t &phase) {
  const MbarrierOp &op = opOf(warp, inst);
  if (op.parity) {
    uint32_t parity = warp.row<uint32_t>(op.state)[l];
    if (parity > 1) {
      warp.block->raise(FaultKind::IllegalInstruction, warp, l, inst, offset,
                        "expected a parity of 0 or 1, got " + std::to_string(parity));
      return false;
    }
    // The phase under way, or the one before it.
    phase = (barrier.phase & 1) == parity ? barrier.phase : barrier.phase - 1;
    return true;
  }
  phase = Mbarrier::phaseOf(warp.row<uint64_t>(op.state)[l]);
  if (phase == barrier.phase || phase + 1 == barrier.phase)
    return true;
  warp.block->raise(FaultKind::MbarrierMisuse, warp, l, inst, offset,
                    "mbarrier at " + hex(offset) + ": waits with the state of phase " +
                        std::to_string(phase) + ", but the mbarrier is in phase " +
                        std::to_string(barrier.phase) +
                        ": only that one and the one before it can be told apart");
  return false;
}

} // namespace

void xc::ptxsim::wakePhaseWaiters(Block &block, uint32_t offset, uint64_t phase) {
  const Mbarrier &barrier = block.mbarriers.at(offset);
  for (Warp &warp : block.warps)
    for (Group &group : warp.groups) {
      if (group.state != Group::WaitPhase || group.mbarrier != offset || group.phase != phase)
        continue;
      const Inst &inst = warp.program->code[group.pc];
      answer(warp, inst, group.mask, true);
      acquirePhase(warp, inst, group.mask, barrier);
      group.state = Group::Ready;
      ++group.pc;
    }
}

bool xc::ptxsim::timeOutWaiters(Block &block) {
  bool any = false;
  for (Warp &warp : block.warps)
    for (Group &group : warp.groups)
      if (group.state == Group::WaitPhase) {
        answer(warp, warp.program->code[group.pc], group.mask, false);
        group.state = Group::Ready;
        ++group.pc;
        any = true;
      }
  return any;
}

Step xc::ptxsim::executePhaseWait(Warp &warp, const Inst &inst, uint32_t mask) {
  Group current = warp.groups[warp.current];
  const MbarrierOp &op = opOf(warp, inst);
  uint64_t addresses[kWarpSize];
  laneAddresses(warp, inst.a, op.wideAddress, inst.imm, addresses);
  uint32_t done = current.mask & ~mask;
  std::vector<Group> waiting;
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    auto l = static_cast<unsigned>(__builtin_ctz(rest));
    uint32_t offset = 0;
    Block *owner = sharedOwner(warp, inst, l, op.space, addresses[l], offset);
    if (!owner)
      return Step::Repick;
    if (owner != warp.block) {
      warp.block->raise(FaultKind::IllegalInstruction, warp, l, inst, offset,
                        "waits for an mbarrier of another block of the cluster");
      return Step::Repick;
    }
    Mbarrier *barrier = findMbarrier({warp, l, inst}, *owner, offset);
    uint64_t phase = 0;
    if (!barrier || !phaseOf(warp, inst, l, offset, *barrier, phase))
      return Step::Repick;
    if (phase != barrier->phase) {
      answer(warp, inst, 1u << l, true);
      acquirePhase(warp, inst, 1u << l, *barrier);
      done |= 1u << l;
      continue;
    }
    auto same = [&](const Group &g) { return g.mbarrier == offset && g.phase == phase; };
    auto found = std::find_if(waiting.begin(), waiting.end(), same);
    if (found == waiting.end()) {
      Group group;
      group.pc = current.pc;
      group.depth = current.depth;
      group.state = Group::WaitPhase;
      group.mbarrier = offset;
      group.phase = phase;
      found = waiting.insert(waiting.end(), group);
    }
    found->mask |= 1u << l;
  }
  if (waiting.empty()) {
    ++warp.groups[warp.current].pc;
    return Step::Continue;
  }
  warp.groups.erase(warp.groups.begin() + warp.current);
  if (done)
    addGroup(warp, done, current.pc + 1, current.depth);
  warp.groups.insert(warp.groups.end(), waiting.begin(), waiting.end());
  return Step::Repick;
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

namespace {

/// .sem and .scope, which all but init and inval may have.
void takeOrder(InstDecoder &d, MbarrierOp &op) {
  if (d.flag("relaxed"))
    op.order = Order::Relaxed;
  else if (!d.flag("release"))
    d.flag("acquire");
  if (!d.flag("cta"))
    d.flag("cluster");
}

/// The space comes before the address, as .shared, .shared::cta or .shared::cluster.
bool takeAddress(InstDecoder &d, unsigned index, MbarrierOp &op) {
  op.space = d.takeSpace(Space::Generic);
  if (op.space != Space::Shared && op.space != Space::SharedCluster && op.space != Space::Generic)
    return d.fail("expected shared memory");
  AddressRef address = d.address(index, op.space);
  op.wideAddress = address.wide;
  d.out.a = address.row;
  d.out.imm = address.offset;
  return !d.failed();
}

bool decodeArrive(InstDecoder &d, MbarrierOp &op, bool drop) {
  op.drop = drop;
  bool expects = d.flag("expect_tx");
  op.mayComplete = !d.flag("noComplete");
  takeOrder(d, op);
  if (!takeAddress(d, 1, op) || !d.expectOperands(expects || !op.mayComplete ? 3 : 2, 3))
    return false;
  const Operand *state = d.operand(0);
  if (state->kind != Operand::Sink) {
    if (op.space == Space::SharedCluster)
      return d.fail("an arrival at another block's mbarrier returns no state: expected '_'");
    op.dst = d.dst(0u, 64);
  }
  if (d.operandCount() == 3)
    (expects ? op.bytes : op.count) = d.src(2, Type::U32);
  d.out.fn = execMbarrier<Action::Arrive>;
  return !d.failed();
}

bool decodeWait(InstDecoder &d, MbarrierOp &op, bool suspends) {
  op.parity = d.flag("parity");
  takeOrder(d, op);
  if (!takeAddress(d, 1, op) || !d.expectOperands(3, suspends ? 4 : 3))
    return false;
  op.dst = d.dstPredicate(d.operand(0));
  op.state = d.src(2, op.parity ? Type::U32 : Type::B64);
  if (d.operandCount() == 4)
    d.src(3, Type::U32); // how long to wait at most: nothing takes time here
  d.out.control = Control::PhaseWait;
  return !d.failed();
}

bool decodeOne(InstDecoder &d, MbarrierOp &op) {
  if (d.flag("init")) {
    op.count = takeAddress(d, 0, op) && d.expectOperands(2) ? d.src(1, Type::U32) : kNoRow;
    d.out.fn = execMbarrier<Action::Init>;
    return !d.failed();
  }
  if (d.flag("inval")) {
    d.out.fn = execMbarrier<Action::Inval>;
    return takeAddress(d, 0, op) && d.expectOperands(1);
  }
  bool expect = d.peekModifier() == "expect_tx";
  if (expect || d.peekModifier() == "complete_tx") {
    d.nextModifier();
    takeOrder(d, op);
    op.bytes = takeAddress(d, 0, op) && d.expectOperands(2) ? d.src(1, Type::U32) : kNoRow;
    d.out.fn = expect ? execMbarrier<Action::ExpectBytes> : execMbarrier<Action::CompleteBytes>;
    return !d.failed();
  }
  if (d.flag("arrive"))
    return decodeArrive(d, op, false);
  if (d.flag("arrive_drop"))
    return decodeArrive(d, op, true);
  if (d.flag("test_wait"))
    return decodeWait(d, op, false);
  if (d.flag("try_wait"))
    return decodeWait(d, op, true);
  return d.failModifier();
}

bool decodeMbarrier(InstDecoder &d) {
  d.out.instClass = InstClass::Sync;
  if (d.flag("pending_count")) {
    d.takeType();
    if (d.failed() || !d.expectOperands(2))
      return false;
    d.out.fn = execPendingCount;
    d.out.dst = d.dst(0u, 32);
    d.out.a = d.src(1, Type::B64);
    return !d.failed();
  }
  MbarrierOp op;
  if (!decodeOne(d, op) || d.takeType() != Type::B64)
    return d.failed() ? false : d.fail("expected type .b64");
  d.out.mayFault = true;
  d.out.aux = static_cast<uint32_t>(d.program().mbarrierOps.size());
  d.program().mbarrierOps.push_back(op);
  return true;
}

} // namespace

void xc::ptxsim::addMbarrierOpcodes(OpcodeTable &table) { table["mbarrier"] = decodeMbarrier; }
