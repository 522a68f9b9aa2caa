//===- ExecAsyncCopy.cpp - cp.async ---------------------------------------===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A copy reads its source when it is issued and writes its destination when the
// issuing thread waits for it: the latest moment that the PTX manual allows, so
// that a missing wait shows. In between the destination is pending.
//
//===----------------------------------------------------------------------===//

#include "Access.h"
#include "BulkCopy.h"

using namespace xc::ptxsim;

namespace {

AsyncState &stateOf(Warp &warp, unsigned lane) {
  Block &block = *warp.block;
  if (block.async.empty())
    block.async.resize(block.threads);
  return block.async[warp.threadOf(lane)];
}

/// Checks numbers of bytes to read, and the places of those that read a part only.
bool checkSizes(Warp &warp, const Inst &inst, uint32_t mask, const uint32_t *sizes, unsigned bytes,
                const LaneAccess &from) {
  bool misaligned = warp.block->launch->options.checks.misaligned;
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    auto l = static_cast<unsigned>(__builtin_ctz(rest));
    std::string wanted = std::to_string(bytes);
    if (sizes[l] > bytes) {
      warp.block->raise(FaultKind::IllegalInstruction, warp, l, inst, from.address[l],
                        "expected at most " + wanted + " bytes to read, got " +
                            std::to_string(sizes[l]));
      return false;
    }
    if (misaligned && sizes[l] && from.address[l] % bytes) {
      warp.block->raise(FaultKind::Misaligned, warp, l, inst, from.address[l],
                        "cp.async of " + wanted + " bytes of global memory at " +
                            hex(from.address[l]) + ": expected a multiple of " + wanted);
      return false;
    }
  }
  return true;
}

void execCopy(Warp &warp, const Inst &inst, uint32_t mask) {
  const MemOp &op = warp.program->memOps[inst.aux];
  unsigned bytes = op.elementBytes;
  LaneAccess to, from;
  laneAddresses(warp, inst.a, op.wideAddress, inst.imm, to.address);
  laneAddresses(warp, op.source, op.sourceWide, op.sourceOffset, from.address);
  // The destination is checked as a store, the source as a load of what is
  // read.
  if (!resolveAccess(warp, inst, mask, {Space::Shared, bytes, AccessKind::Store, 0}, to))
    return;
  uint32_t ignored =
      op.ignoreSource == kNoRow ? 0 : warp.predicate(op.ignoreSource) ^ op.ignoreFlip;
  const uint32_t *sizes = op.sourceBytes == kNoRow ? nullptr : warp.row<uint32_t>(op.sourceBytes);
  if (sizes && !checkSizes(warp, inst, mask & ~ignored, sizes, bytes, from))
    return;
  uint32_t whole = 0;
  forLanes(mask & ~ignored,
           [&](unsigned l) { whole |= static_cast<uint32_t>(!sizes || sizes[l] >= bytes) << l; });
  if (whole && !resolveAccess(warp, inst, whole, {Space::Global, bytes, AccessKind::Load, 0}, from))
    return;
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    auto l = static_cast<unsigned>(__builtin_ctz(rest));
    AsyncState &state = stateOf(warp, l);
    AsyncCopy copy;
    copy.destination = static_cast<uint32_t>(to.host[l] - to.owner[l]->shared.data());
    copy.bytes = static_cast<uint8_t>(bytes);
    copy.group = state.currentGroup;
    copy.inst = &inst;
    std::memset(copy.data, 0, sizeof(copy.data));
    if (whole >> l & 1) {
      std::memcpy(copy.data, from.host[l], bytes);
    } else if (!(ignored >> l & 1)) {
      // A part of the bytes, the rest is zero.
      for (uint32_t i = 0; i < sizes[l]; ++i) {
        LaneAccess byte;
        byte.address[l] = from.address[l] + i;
        if (!resolveAccess(warp, inst, 1u << l, {Space::Global, 1, AccessKind::Load, 0}, byte))
          return;
        copy.data[i] = *byte.host[l];
      }
    }
    if (!beginAsyncCopy(warp, inst, l, copy.destination, bytes))
      return;
    state.pending.push_back(copy);
    ++state.issued;
  }
}

void execCommit(Warp &warp, const Inst &, uint32_t mask) {
  forLanes(mask, [&](unsigned l) { ++stateOf(warp, l).currentGroup; });
}

/// Delivers all groups of the lanes but the |keep| latest committed ones.
void waitFor(Warp &warp, uint32_t mask, uint64_t keep, bool all) {
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    auto l = static_cast<unsigned>(__builtin_ctz(rest));
    AsyncState &state = stateOf(warp, l);
    while (!state.pending.empty()) {
      const AsyncCopy &copy = state.pending.front();
      if (!all && copy.group + keep >= state.currentGroup)
        break;
      if (!deliverAsyncCopy(warp, l, copy))
        return;
      state.pending.pop_front();
      ++state.delivered;
    }
  }
}

/// cp.async.mbarrier.arrive: an arrival once the copies issued so far have completed.
void execArrive(Warp &warp, const Inst &inst, uint32_t mask) {
  const MbarrierOp &op = warp.program->mbarrierOps[inst.aux];
  uint64_t addresses[kWarpSize];
  laneAddresses(warp, inst.a, op.wideAddress, inst.imm, addresses);
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    auto l = static_cast<unsigned>(__builtin_ctz(rest));
    auto copy = std::make_unique<BulkCopy>();
    Block *owner = sharedOwner(warp, inst, l, op.space, addresses[l], copy->mbarrier);
    if (!owner)
      return;
    copy->issuer = warp.block;
    copy->warp = &warp;
    copy->lane = l;
    copy->inst = &inst;
    copy->targets = {owner};
    copy->after = stateOf(warp, l).issued;
    Mbarrier *barrier = findMbarrier(copy->actor(), *owner, copy->mbarrier);
    if (!barrier || (op.mayComplete && !expectArrival(copy->actor(), *owner, copy->mbarrier)))
      return;
    ++barrier->operations;
    ++warp.block->cluster->events;
    warp.block->cluster->copies.push_back(std::move(copy));
  }
}

void execWaitGroup(Warp &warp, const Inst &inst, uint32_t mask) {
  waitFor(warp, mask, static_cast<uint64_t>(inst.imm), false);
}

void execWaitAll(Warp &warp, const Inst &, uint32_t mask) { waitFor(warp, mask, 0, true); }

bool decodeCopy(InstDecoder &d) {
  bool ca = d.flag("ca"), cg = d.flag("cg");
  bool toShared = d.flag("shared") || d.flag("shared::cta");
  if (ca == cg || !toShared || !d.flag("global"))
    return d.fail("expected .ca or .cg, and .shared.global");
  bool hasPolicy = d.flag("L2::cache_hint");
  d.flag("L2::64B");
  d.flag("L2::128B");
  d.flag("L2::256B");
  int64_t size = 0;
  if (!d.expectOperands(3, 5) || !d.immediate(2, size))
    return false;
  if (size != 16 && (cg || (size != 4 && size != 8)))
    return d.fail("expected 4, 8 or 16 bytes (.cg: 16), got " + std::to_string(size));
  MemOp op;
  op.elementBytes = static_cast<uint8_t>(size);
  AddressRef to = d.address(0u, Space::Shared), from = d.address(1, Space::Global);
  unsigned extra = d.operandCount() - 3 - (hasPolicy ? 1 : 0);
  if (extra == 1) {
    const Operand *operand = d.operand(3);
    bool isPredicate =
        operand->kind == Operand::Register && d.owner().typeOf(operand->reg) == Type::Pred;
    if (isPredicate) {
      PredicateRef p = d.predicate(operand);
      op.ignoreSource = p.row;
      op.ignoreFlip = p.flip;
    } else {
      op.sourceBytes = d.src(operand, Type::U32);
    }
  } else if (extra > 1) {
    return d.fail("too many operands");
  }
  op.wideAddress = to.wide;
  op.source = from.row;
  op.sourceOffset = from.offset;
  op.sourceWide = from.wide;
  d.out.fn = execCopy;
  d.out.a = to.row;
  d.out.imm = to.offset;
  d.out.aux = static_cast<uint32_t>(d.program().memOps.size());
  d.program().memOps.push_back(op);
  return !d.failed();
}

bool decodeArrive(InstDecoder &d) {
  MbarrierOp op;
  if (!d.flag("arrive"))
    return d.failModifier();
  // Without .noinc the arrival is one more than the mbarrier expects.
  op.mayComplete = !d.flag("noinc");
  op.space = d.takeSpace(Space::Generic);
  if (d.takeType() != Type::B64 || !d.expectOperands(1))
    return d.failed() ? false : d.fail("expected type .b64");
  AddressRef address = d.address(0u, op.space);
  op.wideAddress = address.wide;
  d.out.a = address.row;
  d.out.imm = address.offset;
  d.out.fn = execArrive;
  d.out.aux = static_cast<uint32_t>(d.program().mbarrierOps.size());
  d.program().mbarrierOps.push_back(op);
  return !d.failed();
}

bool decodeCp(InstDecoder &d) {
  d.out.instClass = InstClass::Memory;
  d.out.mayFault = true;
  bool reduces = d.flag("reduce");
  if (!d.flag("async"))
    return d.failModifier();
  if (d.flag("bulk"))
    return decodeBulkCopy(d, reduces);
  if (d.flag("mbarrier"))
    return decodeArrive(d);
  if (d.flag("commit_group")) {
    d.out.fn = execCommit;
    return d.expectOperands(0);
  }
  if (d.flag("wait_all")) {
    d.out.fn = execWaitAll;
    return d.expectOperands(0);
  }
  if (d.flag("wait_group")) {
    d.out.fn = execWaitGroup;
    return d.expectOperands(1) && d.immediate(0, d.out.imm);
  }
  if (d.peekModifier() != "ca" && d.peekModifier() != "cg")
    return d.failModifier();
  return decodeCopy(d);
}

} // namespace

bool xc::ptxsim::deliverArrival(BulkCopy &copy) {
  AsyncState &state = stateOf(*copy.warp, copy.lane);
  while (state.delivered < copy.after && !state.pending.empty()) {
    if (!deliverAsyncCopy(*copy.warp, copy.lane, state.pending.front()))
      return false;
    state.pending.pop_front();
    ++state.delivered;
  }
  Block &target = *copy.targets[0];
  Mbarrier *barrier = findMbarrier(copy.actor(), target, copy.mbarrier);
  if (!barrier)
    return false;
  --barrier->operations;
  uint64_t word = 0;
  return arriveAt(copy.actor(), target, copy.mbarrier, {}, word);
}

void xc::ptxsim::addAsyncCopyOpcodes(OpcodeTable &table) { table["cp"] = decodeCp; }
